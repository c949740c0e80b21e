//! `fsarena show`: the tables of a RUN, from its records alone.

use super::{open, reference};
use crate::args::ShowArgs;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_store::{RunId, Store};
use std::path::Path;
use std::process::ExitCode;

/// Shows one RUN.
pub fn run(args: &ShowArgs, db: Option<&Path>) -> Result<ExitCode> {
    let Some(store) = open::for_reading(db)? else {
        let path = context::database(db)?;
        return Err(Usage(format!(
            "{}: there is no database yet; `fsarena run` makes one, --db names another",
            path.display()
        ))
        .into());
    };
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    show(&store, run, args.json, args.raw)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the tables of `run`, and the raw values where asked for.
pub fn show(store: &Store, run: RunId, json: bool, raw: bool) -> Result<fsarena_study::Study> {
    let header = store.header(run)?;
    let records = store.records(run)?;
    let state = store.run(run)?.state;
    let sessions = store.sessions(run)?;
    let study = fsarena_study::study(&header, state, &sessions, &records);
    if json {
        context::print_json(&fsarena_report::json::show(&header, &sessions, &study, &records))?;
        return Ok(study);
    }
    let (width, style) = (context::width(), context::style());
    context::print(&fsarena_report::phase_tables(&study, width, style))?;
    if let Some(text) = reference::in_shape(&header, &records, &study) {
        context::print(&format!("\n{text}"))?;
    }
    if raw {
        context::print("")?;
        context::print(&fsarena_report::ledger_tables(&study, width, style))?;
        context::print(&fsarena_report::raw_values(&header, &records, width, style))?;
    }
    Ok(study)
}
