//! `fsarena list`, `fsarena show` and `fsarena study`: the RUNs of the database, the tables of one
//! of them from its records alone, and its verdicts computed again from its scores alone.

use super::loaded::{Identity, LoadedRun, is_undecided, verdicts};
use super::{open, watched};
use crate::args::{ListArgs, ShowArgs, StudyArgs};
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_model::verdict::METHOD_VERSION;
use fsarena_report::Detail;
use fsarena_store::{RunId, Store};
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
    show(&store, run, args.json, args.raw)?;
    Ok(())
}

/// Prints the verdicts of one RUN.
pub fn study(args: &StudyArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let header = store.header(run)?;
    if header.plan.is_watched() {
        return Err(watched::refuse_watched(run).into());
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

/// Prints the tables and verdicts of `run`, and the raw values where asked for.
pub fn show(store: &Store, run: RunId, json: bool, raw: bool) -> Result<LoadedRun> {
    let loaded = LoadedRun::read(store, run, Identity::Kept)?;
    let LoadedRun { header, sessions, records, study, verdicts, .. } = &loaded;
    if json {
        let verdicts = verdicts.as_ref();
        let document = fsarena_report::json::show(header, sessions, study, records, verdicts);
        context::print_json(&document)?;
        return Ok(loaded);
    }
    if header.plan.is_watched() {
        watched::show(&loaded)?;
        return Ok(loaded);
    }
    let (width, style) = (context::width(), context::style());
    let detail = if raw { Detail::Full } else { Detail::Brief };
    context::print(&fsarena_report::run_text(&loaded.as_run(), detail, raw, width, style))?;
    Ok(loaded)
}
