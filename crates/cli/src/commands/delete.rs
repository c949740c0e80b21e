//! `fsarena delete`: RUNs taken out of the database for good, after the user has seen which.

use super::open;
use crate::args::DeleteArgs;
use crate::context;
use anyhow::Result;
use fsarena_model::visible;
use fsarena_report::runs_list;
use fsarena_store::{RunId, RunRow};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

/// Deletes RUNs, all of them or none.
pub fn run(args: &DeleteArgs, db: Option<&Path>) -> Result<()> {
    // Before the database is opened for writing, which would make one.
    drop(open::existing(db)?);
    let store = open::for_writing(db)?;
    let mut runs: Vec<RunId> = Vec::new();
    for selector in &args.runs {
        let run = store.find(selector)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    let rows: Vec<RunRow> = runs.iter().map(|run| store.run(*run)).collect::<Result<_, _>>()?;
    let lines: Vec<_> = rows.iter().map(open::line_of).collect();
    context::print_text(&runs_list(&lines, context::width(), context::style()));
    let what = match rows.len() {
        1 => "this RUN".to_owned(),
        number => format!("these {number} RUNs"),
    };
    if !args.yes && !is_confirmed(&format!("{what} with every record"))? {
        refuse!("nothing was deleted");
    }
    store.delete_runs(&runs)?;
    store.shrink()?;
    let what =
        if rows.len() == 1 { "1 RUN is".to_owned() } else { format!("{} RUNs are", rows.len()) };
    say!("{what} deleted from {}", store.path().display());
    Ok(())
}

/// Asks the user, where there is one, whether to delete this.
pub(super) fn is_confirmed(what: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        say!("(pass --yes to delete without a terminal)");
        return Ok(false);
    }
    if write!(std::io::stderr(), "Delete {}? [y/N] ", visible::one_line(what)).is_err() {
        return Ok(false);
    }
    let answer = context::typed_line()?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
