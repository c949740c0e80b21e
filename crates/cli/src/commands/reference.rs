//! `fsarena reference YEAR`: an article's tables, what they give when computed again, and the
//! latest RUN of its experiment on each machine beside them.

use super::open;
use crate::args::{Beside, ReferenceArgs};
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use fsarena_reference::Article;
use fsarena_report::{OwnPhase, OwnRun};
use fsarena_store::{RunId, RunRow, Store};
use fsarena_study::Study;
use std::cmp::Reverse;
use std::path::Path;
use std::process::ExitCode;

/// A RUN as it was read, with what was computed from it.
struct Owned {
    header: RunHeader,
    records: Vec<TrialRecord>,
    study: Study,
    notes: Vec<String>,
}

/// Prints the tables of an article, or the list of articles.
pub fn run(args: &ReferenceArgs, db: Option<&Path>) -> Result<ExitCode> {
    let Some(year) = args.year else {
        list(args.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(article) = fsarena_reference::study(year) else {
        let years: Vec<String> =
            fsarena_reference::list().iter().map(|(year, _)| year.to_string()).collect();
        return Err(Usage(format!("no article of {year}; there is: {}", years.join(", "))).into());
    };
    let owned = match args.beside {
        Beside::Nothing => Vec::new(),
        Beside::Latest => own_runs(&article, args.run.as_deref(), db)?,
    };
    let runs: Vec<OwnRun<'_>> = owned
        .iter()
        .map(|own| OwnRun {
            header: &own.header,
            records: &own.records,
            study: &own.study,
            notes: &own.notes,
        })
        .collect();
    let phases = phases(&article);
    if args.json {
        context::print_json(&fsarena_report::json::reference(&article, &phases, &runs))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (width, style) = (context::width(), context::style());
    let text = fsarena_report::article(&article, &phases, &runs, width, style);
    context::print(&format!("{}\n\n{text}", article.title))?;
    if runs.is_empty() && args.beside == Beside::Latest {
        eprintln!("no RUN of it on this machine yet: fsarena run {}", article.experiment);
    }
    Ok(ExitCode::SUCCESS)
}

fn list(json: bool) -> Result<()> {
    let articles = fsarena_reference::list();
    if json {
        return context::print_json(&fsarena_report::json::references(&articles));
    }
    context::print(&fsarena_report::articles(&articles, context::width()))
}

/// The phases that repeat the tests of an article, as its experiment names them.
fn phases(article: &Article) -> Vec<OwnPhase> {
    let rows = fsarena_plan::builtin::experiment(article.experiment).map(|found| found.rows);
    let own = |row: fsarena_plan::ArticleRow| OwnPhase {
        title: row.title,
        workload: row.workload,
        phase: row.phase,
    };
    rows.into_iter().flatten().map(own).collect()
}

/// The RUN asked for, or the latest of each machine.
fn own_runs(article: &Article, selector: Option<&str>, db: Option<&Path>) -> Result<Vec<Owned>> {
    let Some(store) = open::for_reading(db)? else { return Ok(Vec::new()) };
    let found = match selector {
        Some(selector) => {
            let run = store.find(selector)?;
            vec![(run, store.header(run)?)]
        }
        None => latest_by_machine(&store, article.experiment)?,
    };
    found.into_iter().map(|(run, header)| read(&store, run, header)).collect()
}

fn read(store: &Store, run: RunId, header: RunHeader) -> Result<Owned> {
    let records = store.records(run)?;
    let sessions = store.sessions(run)?;
    let study = fsarena_study::study(&header, store.run(run)?.state, &sessions, &records);
    let notes = fsarena_plan::notes_of(&header.experiment_toml);
    Ok(Owned { header, records, study, notes })
}

/// The latest RUN of an experiment with a record, of each machine; this machine first. A machine
/// is known by its name and its processors: both stay when its kernel changes.
fn latest_by_machine(store: &Store, experiment: &str) -> Result<Vec<(RunId, RunHeader)>> {
    let mut rows = store.runs()?;
    rows.retain(|row| row.experiment == experiment && row.trials_done > 0);
    // Numbers say the order of RUNs that began here, but nothing of those that were merged.
    let began = |row: &RunRow| if row.merged { row.created_unix_ns } else { 0 };
    rows.sort_by_key(|row| (row.merged, Reverse((began(row), row.id))));
    let mut found: Vec<(RunId, RunHeader)> = Vec::new();
    for row in rows {
        let header = store.header(row.id)?;
        let machine = |header: &RunHeader| {
            let host = &header.host;
            (host.hostname.clone(), host.cpu_model.clone(), host.cpus)
        };
        if !found.iter().any(|(_, known)| machine(known) == machine(&header)) {
            found.push((row.id, header));
        }
    }
    Ok(found)
}

/// A RUN in the shape of the article that its experiment repeats; `None` where it repeats none.
pub fn in_shape(header: &RunHeader, records: &[TrialRecord], study: &Study) -> Option<String> {
    let article = fsarena_reference::of_experiment(&header.experiment)?;
    let notes = fsarena_plan::notes_of(&header.experiment_toml);
    let runs = [OwnRun { header, records, study, notes: &notes }];
    let (width, style) = (context::width(), context::style());
    Some(fsarena_report::in_shape_of(&article, &phases(&article), &runs, width, style))
}
