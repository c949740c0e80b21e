//! `fsarena history`: a figure of a workload over all RUNs of the database, and where it changed.

use super::stored_run::{StoredRun, refused};
use super::{margin, open, output_file};
use crate::args::{HistoryArgs, HistoryBy};
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_model::run::RunHeader;
use fsarena_plan::Span;
use fsarena_report::PaperWidth;
use fsarena_store::{RunId, Store};
use fsarena_verdict::compare::{Facts, GroupBy, History, HistoryAsk, QuestionName, history};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

/// What the document for a wiki is called.
const TITLE: &str = "fsarena history";
/// A chart as wide as most of a page.
const CHART_MM: &str = "160mm";

/// Prints the history, and writes its chart.
pub fn run(args: &HistoryArgs, db: Option<&Path>) -> Result<ExitCode> {
    let since_unix_ns = args.since.as_deref().map(since).transpose()?;
    if let Some(path) = &args.output {
        output_file::check_writable(path)?;
    }
    let store = open::existing(db)?;
    let _snapshot = store.snapshot()?;
    let workload = args.what.split(':').next().unwrap_or_default();
    let headers = headers(&store, workload, since_unix_ns)?;
    let all: Vec<&RunHeader> = headers.iter().map(|(_, header)| header).collect();
    let ask = HistoryAsk {
        margin: margin::of_runs(args.margin.as_deref(), &all)?,
        questions: questions(&args.what, workload, &all)?,
        contender: args.contender.clone(),
        by: args.by.into(),
    };
    let (mut runs, mut figures) = (Vec::new(), Vec::new());
    for (id, header) in headers {
        let run = StoredRun::read(&store, id, header, Facts::new())?;
        figures.push(ask.figures(&run.run()));
        runs.push(run.without_scores());
    }
    let runs = runs.iter().map(StoredRun::run).zip(figures).collect();
    let found = history(runs, &ask).map_err(refused)?;
    if args.markdown {
        context::print(&fsarena_report::history_markdown(TITLE, &found))?;
    } else {
        let document = || fsarena_report::history_json(&found);
        let tables = |width, style| fsarena_report::history_tables(&found, width, style);
        context::print_as(args.json, document, tables)?;
    }
    write_chart(args, workload, &found)?;
    Ok(code(&found))
}

/// Showing nothing is no success.
fn code(found: &History) -> ExitCode {
    if found.questions.iter().any(|question| !question.series.is_empty()) {
        return ExitCode::SUCCESS;
    }
    say!("no RUN has a figure that can be shown; `fsarena show RUN` says what failed");
    ExitCode::from(exit::MISSING)
}

fn write_chart(args: &HistoryArgs, workload: &str, found: &History) -> Result<()> {
    let Some(path) = &args.output else { return Ok(()) };
    let width: PaperWidth = CHART_MM.parse()?;
    let svg = fsarena_report::history_svg(workload, found, width);
    output_file::write(path, &svg)?;
    say!("chart: {}", path.display());
    Ok(())
}

/// The measured RUNs that have the workload and began late enough, in the order in which they
/// began.
fn headers(
    store: &Store,
    workload: &str,
    since_unix_ns: Option<u64>,
) -> Result<Vec<(RunId, RunHeader)>> {
    let (mut found, mut earlier) = (Vec::new(), Vec::new());
    for (run, created_unix_ns) in store.runs_with_workload(workload)? {
        if since_unix_ns.is_some_and(|since| created_unix_ns < since) {
            earlier.push(run);
        } else if let Some(header) = measured(store, run)? {
            found.push((run, header));
        }
    }
    found.sort_by_key(|(_, header)| header.created_unix_ns);
    if !found.is_empty() {
        return Ok(found);
    }
    let path = store.path().display();
    for run in earlier {
        if measured(store, run)?.is_some() {
            refuse!(
                "--since: all RUNs of {path} that have the workload {workload} began before it"
            );
        }
    }
    let mut names = BTreeSet::new();
    for row in store.runs()? {
        let workloads = measured(store, row.id)?.map(|header| header.plan.workloads);
        names.extend(workloads.into_iter().flatten().map(|own| own.name));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let remedy = match fsarena_plan::nearest(workload, &names) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => "no RUN there was measured".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    refuse!("{path}: no RUN has the workload {workload}; {remedy}")
}

/// The header of a RUN that was measured, and not watched, without the texts that say how and
/// where: of many RUNs they would take most of the memory.
fn measured(store: &Store, run: RunId) -> Result<Option<RunHeader>> {
    let mut header = store.header(run)?;
    if header.plan.is_watched() || header.plan.is_crash_alone() {
        return Ok(None);
    }
    header.host.settings.clear();
    let experiment_toml = String::new();
    Ok(Some(RunHeader { experiment_toml, arguments: Vec::new(), findings: Vec::new(), ..header }))
}

/// What is shown: questions as the latest RUN that has the workload would ask them.
fn questions(text: &str, workload: &str, headers: &[&RunHeader]) -> Result<Vec<QuestionName>> {
    let Some(latest) = headers.last() else { return Ok(Vec::new()) };
    let mut workloads = latest.plan.workloads.iter();
    let Some(work) = workloads.find(|own| own.name == workload) else { return Ok(Vec::new()) };
    let place = Span::Option("WORKLOAD");
    let compared = latest.plan.compared_clock;
    let all = fsarena_plan::questions_of_workload(text, &place, work, compared)?;
    let name = |question: fsarena_model::verdict::Question| QuestionName {
        workload: workload.to_owned(),
        phase: question.phase,
        metric: question.metric,
        clock: question.clock,
    };
    Ok(all.into_iter().map(name).collect())
}

/// The beginning of a day, or a time, in ns since 1970.
fn since(text: &str) -> Result<u64> {
    // What parses a date takes one with a time too, and drops the time.
    let day = || jiff::civil::Date::strptime("%Y-%m-%d", text).ok();
    let day = || day().map(|day| format!("{day}T00:00Z"));
    let time = text.parse::<jiff::Timestamp>().ok();
    let time = time.or_else(|| day()?.parse().ok());
    let ns = time.and_then(|time| u64::try_from(time.as_nanosecond()).ok());
    let Some(ns) = ns else {
        refuse!(
            "--since {text}: expected a day or a time in UTC after 1970, such as 2026-01-31 or \
             2026-01-31T12:00Z"
        );
    };
    Ok(ns)
}

impl From<HistoryBy> for GroupBy {
    fn from(by: HistoryBy) -> Self {
        match by {
            HistoryBy::Run => Self::Run,
            HistoryBy::Boot => Self::Boot,
            HistoryBy::Kernel => Self::Kernel,
            HistoryBy::Version => Self::Version,
            HistoryBy::Title => Self::Title,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Usage;

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let new_year = 1_767_225_600_000_000_000;
        assert_eq!(since("2026-01-01").unwrap(), new_year);
        assert_eq!(since("2026-01-01T00:00Z").unwrap(), new_year);
        assert_eq!(since("2026-01-01T01:00:00+01:00").unwrap(), new_year);
        for bad in ["yesterday", "2026-13-01", "", "1969-01-01", "2026-01-01T00:00"] {
            let refused = since(bad).unwrap_err();
            assert!(refused.is::<Usage>(), "{bad}");
            assert!(refused.to_string().starts_with(&format!("--since {bad}: ")), "{refused}");
        }
    }
}
