//! `fsarena list` and `fsarena show`: the RUNs of the database, and the tables of one of them from
//! its records alone.

use super::loaded::{Identity, LoadedRun};
use super::{open, watched};
use crate::args::{ListArgs, ShowArgs};
use crate::context;
use anyhow::Result;
use fsarena_report::Detail;
use fsarena_store::{RunId, Store};
use std::path::Path;
use std::process::ExitCode;

/// Lists the RUNs of the database.
pub fn list(args: &ListArgs, db: Option<&Path>) -> Result<ExitCode> {
    let lines: Vec<_> = match open::for_reading(db)? {
        Some(store) => store.runs()?.iter().map(open::line_of).collect(),
        None => Vec::new(),
    };
    if args.json {
        context::print_json(&fsarena_report::json::list(&lines))?;
    } else if lines.is_empty() {
        let path = context::database(db)?;
        say!("no RUNs yet in {}; `fsarena run` makes the first", path.display());
    } else {
        context::print(&fsarena_report::runs_list(&lines, context::width(), context::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows one RUN.
pub fn run(args: &ShowArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    show(&store, run, args.json, args.raw)?;
    Ok(ExitCode::SUCCESS)
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
