//! `fsarena reference YEAR`: an article's tables, recomputed values, and next to them the latest
//! RUN of its experiment on each machine.

use super::loaded::{Identity, LoadedRun, article_phases};
use super::open;
use crate::args::{Beside, ReferenceArgs};
use crate::context;
use anyhow::Result;
use fsarena_model::run::RunHeader;
use fsarena_reference::Article;
use fsarena_report::OwnRun;
use fsarena_store::{RunId, RunRow, Store};
use std::cmp::Reverse;
use std::path::Path;

/// Prints the tables of an article, or the list of articles.
pub fn run(args: &ReferenceArgs, db: Option<&Path>) -> Result<()> {
    let Some(year) = args.year else {
        return list(args.json);
    };
    let Some(article) = fsarena_reference::study(year) else {
        let years: Vec<String> =
            fsarena_reference::list().iter().map(|(year, _)| year.to_string()).collect();
        refuse!("no article of {year}; there is: {}", years.join(", "));
    };
    let owned = match args.beside {
        Beside::Nothing => Vec::new(),
        Beside::Latest => own_runs(&article, args.run.as_deref(), db)?,
    };
    let runs: Vec<OwnRun<'_>> = owned.iter().map(LoadedRun::own_run).collect();
    let phases = article_phases(&article);
    if args.json {
        return context::print_json(&fsarena_report::json::reference(&article, &phases, &runs));
    }
    let (width, style) = (context::width(), context::style());
    let text = fsarena_report::article(&article, &phases, &runs, width, style);
    context::print(&format!("{}\n\n{text}", article.title))?;
    if runs.is_empty() && args.beside == Beside::Latest {
        say!("no RUN of it on this machine yet: fsarena run {}", article.experiment);
    }
    Ok(())
}

fn list(json: bool) -> Result<()> {
    let articles = fsarena_reference::list();
    if json {
        return context::print_json(&fsarena_report::json::references(&articles));
    }
    context::print(&fsarena_report::articles(&articles, context::width()))
}

/// The RUN asked for, or the latest of each machine.
fn own_runs(
    article: &Article,
    selector: Option<&str>,
    db: Option<&Path>,
) -> Result<Vec<LoadedRun>> {
    let Some(store) = open::for_reading(db)? else { return Ok(Vec::new()) };
    let found = match selector {
        Some(selector) => vec![store.find(selector)?],
        None => latest_by_machine(&store, article.experiment)?,
    };
    found.into_iter().map(|run| LoadedRun::read(&store, run, Identity::Kept)).collect()
}

/// The latest RUN of an experiment with a record, of each machine; this machine first. A machine
/// is known by its name and its CPUs: both stay when its kernel changes.
fn latest_by_machine(store: &Store, experiment: &str) -> Result<Vec<RunId>> {
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
    Ok(found.into_iter().map(|(run, _)| run).collect())
}
