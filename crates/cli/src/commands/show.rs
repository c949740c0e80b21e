//! `fsarena show`: the tables of a RUN, from its records alone.

use super::loaded::{Loaded, Names};
use super::{open, watched};
use crate::args::ShowArgs;
use crate::context;
use anyhow::Result;
use fsarena_report::Detail;
use fsarena_store::{RunId, Store};
use std::path::Path;
use std::process::ExitCode;

/// Shows one RUN.
pub fn run(args: &ShowArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    show(&store, run, args.json, args.raw)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the tables and verdicts of `run`, and the raw values where asked for.
pub fn show(store: &Store, run: RunId, json: bool, raw: bool) -> Result<Loaded> {
    let loaded = Loaded::read(store, run, Names::Kept)?;
    let Loaded { header, sessions, records, study, verdicts, .. } = &loaded;
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
    context::print(&fsarena_report::phase_tables(study, width, style))?;
    let detail = if raw { Detail::Full } else { Detail::Brief };
    for text in [
        fsarena_report::cycles_tables(study, width, style),
        fsarena_report::sweep_tables(study, detail, width, style),
        fsarena_report::account_tables(study, width, style),
    ] {
        if !text.is_empty() {
            context::print(&format!("\n{text}"))?;
        }
    }
    if let Some(verdicts) = verdicts {
        let text = fsarena_report::verdict_tables(verdicts, detail, width, style);
        context::print(&format!("\n{text}"))?;
    }
    if let Some(text) = loaded.in_shape_of_article() {
        context::print(&format!("\n{text}"))?;
    }
    if raw {
        context::print("")?;
        context::print(&fsarena_report::ledger_tables(study, width, style))?;
        context::print(&fsarena_report::raw_values(header, records, width, style))?;
    }
    Ok(loaded)
}
