//! `fsarena list`: the RUNs of the database, one line each.

use super::open;
use crate::args::ListArgs;
use crate::context;
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// Lists the RUNs of the database.
pub fn run(args: &ListArgs, db: Option<&Path>) -> Result<ExitCode> {
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
