//! `fsarena reference YEAR`: an article's table, this machine's beside it.

use super::open;
use crate::args::{Beside, ReferenceArgs};
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_plan::reference::{self, Reference};
use fsarena_report::{ArticleCell, ArticleRow};
use fsarena_study::Study;
use std::path::Path;
use std::process::ExitCode;

/// Prints the table of an article.
pub fn run(args: &ReferenceArgs, db: Option<&Path>) -> Result<ExitCode> {
    let Some(found) = reference::study(args.year) else {
        let years: Vec<String> = reference::years().iter().map(ToString::to_string).collect();
        return Err(
            Usage(format!("no article of {}; there is: {}", args.year, years.join(", "))).into()
        );
    };
    let ours = match args.beside {
        Beside::Nothing => None,
        Beside::Latest => own_study(&found, args.run.as_deref(), db)?,
    };
    let rows = rows(&found);
    let text =
        fsarena_report::article_2003(&rows, ours.as_ref(), context::width(), context::style());
    context::print(&format!("{}\n\n{text}", found.title))?;
    if ours.is_none() && args.beside == Beside::Latest {
        eprintln!("no RUN of it on this machine yet: fsarena run {}", found.experiment);
    }
    Ok(ExitCode::SUCCESS)
}

fn own_study(
    found: &Reference,
    selector: Option<&str>,
    db: Option<&Path>,
) -> Result<Option<Study>> {
    let Some(store) = open::for_reading(db)? else { return Ok(None) };
    let run = match selector {
        Some(selector) => Some(store.find(selector)?),
        None => store.latest_of(found.experiment)?,
    };
    let Some(run) = run else { return Ok(None) };
    let (header, records) = (store.header(run)?, store.records(run)?);
    Ok(Some(fsarena_study::study(&header, store.run(run)?.state, &store.sessions(run)?, &records)))
}

/// The article's rows in its own order, with the phases of ours that repeat them.
fn rows(found: &Reference) -> Vec<ArticleRow> {
    let experiment = fsarena_plan::builtin::experiment(found.experiment);
    let mut rows: Vec<ArticleRow> = Vec::new();
    for row in &found.rows {
        let cell = ArticleCell {
            column: row.filesystem.clone(),
            os: row.os.clone(),
            value: row.value,
            cpu_percent: row.cpu_percent,
        };
        if let Some(known) = rows.iter_mut().find(|known| known.title == row.phase) {
            known.cells.push(cell);
            continue;
        }
        let ours = experiment.as_ref().and_then(|experiment| {
            let ours = experiment.rows.iter().find(|ours| ours.title == row.phase)?;
            Some((ours.workload.clone(), ours.phase.clone()))
        });
        let (title, unit) = (row.phase.clone(), row.unit.clone());
        rows.push(ArticleRow { title, unit, ours, cells: vec![cell] });
    }
    rows
}
