//! `fsarena list`, `fsarena show` and `fsarena study`: the RUNs of the database, the tables of one
//! of them from its records alone, and its verdicts computed again from its scores alone.

use super::loaded::{Identity, LoadedRun, is_undecided, verdicts};
use super::{open, watched};
use crate::args::{ListArgs, ShowArgs, StudyArgs};
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_model::verdict::METHOD_VERSION;
use fsarena_report::{Detail, answer, answer_text};
use std::path::Path;
use std::process::ExitCode;

/// Lists the RUNs of the database.
pub fn list(args: &ListArgs, db: Option<&Path>) -> Result<()> {
    let lines: Vec<_> = match open::for_reading(db)? {
        Some(store) => store.runs()?.iter().map(open::line_of).collect(),
        None => Vec::new(),
    };
    if args.json {
        context::print_json(&fsarena_report::json::document("list", "runs", &lines))?;
    } else if lines.is_empty() {
        let path = context::database(db)?;
        say!("no RUNs yet in {}; `fsarena run` makes the first", path.display());
    } else {
        context::print(&fsarena_report::runs_list(&lines, context::width(), context::style()))?;
    }
    Ok(())
}

/// Shows one RUN.
pub fn run(args: &ShowArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let output = Output { is_json: args.json, is_full: true, is_raw: args.raw };
    show(&LoadedRun::read(&store, run, Identity::Kept)?, output, None)
}

/// Prints the verdicts of one RUN.
pub fn study(args: &StudyArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let header = store.header(run)?;
    if header.plan.is_watched() {
        return Err(watched::refuse_watched(run).into());
    }
    if header.plan.is_crash_alone() {
        refuse!("RUN {run} has crash runs alone, and no verdict: see fsarena show {run}");
    }
    let Some(verdicts) = verdicts(&store, run, &header)? else {
        refuse!(
            "RUN {run} asked no question: it was planned before there were verdicts, and questions \
             must be stored before the first block; `fsarena show {run}` prints its tables"
        );
    };
    if verdicts.method != METHOD_VERSION {
        say!(
            "RUN {run} was planned by version {} of the method; this program computes by version \
             {METHOD_VERSION}",
            verdicts.method
        );
    }
    let detail = if args.all_pairs { Detail::AllPairs } else { Detail::Full };
    let tables = |width, style| fsarena_report::verdict_tables(&verdicts, detail, width, style);
    context::print_as(args.json, || fsarena_report::json::verdicts(&verdicts), tables)?;
    if verdicts.agrees_with_stored_looks == Some(false) {
        say!("recomputed decisions of RUN {run} do not match the stored ones");
        return Ok(ExitCode::from(exit::FAILED));
    }
    Ok(match args.require_decision && is_undecided(&verdicts) {
        true => ExitCode::from(exit::UNDECIDED),
        false => ExitCode::SUCCESS,
    })
}

/// How much of a RUN is printed.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// One document.
    pub is_json: bool,
    /// Tables and verdicts behind the answer.
    pub is_full: bool,
    /// Raw values behind these.
    pub is_raw: bool,
}

impl Output {
    /// Tables and verdicts without raw values.
    pub const TABLES: Self = Self { is_json: false, is_full: true, is_raw: false };
}

/// Prints what a RUN of crash runs alone has shown; `cases_most`: of each demand that sequences do
/// not meet.
pub fn show_crash_runs(loaded: &LoadedRun, is_json: bool, cases_most: Option<usize>) -> Result<()> {
    let run = loaded.as_run();
    let document = || fsarena_report::campaign_document(&run).unwrap_or_default();
    let text = |width, style| {
        fsarena_report::campaign_text(&run, cases_most, width, style).unwrap_or_default()
    };
    context::print_as(is_json, document, text)
}

/// Prints the answer of a RUN, and what else is asked for; `page` is where its page lies.
pub fn show(loaded: &LoadedRun, output: Output, page: Option<&Path>) -> Result<()> {
    let run = loaded.as_run();
    if output.is_json {
        return context::print_json(&fsarena_report::json::show(&run));
    }
    if loaded.header.plan.is_watched() {
        return watched::show(loaded);
    }
    if loaded.header.plan.is_crash_alone() {
        return show_crash_runs(loaded, false, None);
    }
    let (width, style) = (context::width(), context::style());
    let page = page.map(|page| context::near(page).display().to_string());
    let text = match output.is_full || output.is_raw {
        true => {
            let detail = if output.is_raw { Detail::Full } else { Detail::Brief };
            fsarena_report::run_text(&run, detail, output.is_raw, width, style)
        }
        false => answer_text(&answer(&run, None), page.as_deref(), width, style),
    };
    context::print(&text)
}
