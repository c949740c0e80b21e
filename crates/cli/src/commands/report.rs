//! `fsarena report`: the page of one or several RUNs, and its charts as files.

use super::loaded::{Loaded, Names};
use super::{open, output};
use crate::args::ReportArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_store::{RunId, Store};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the page.
pub fn run(args: &ReportArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let mut runs = Vec::new();
    for selector in &args.runs {
        let run = store.find(selector)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if runs.is_empty() {
        runs.push(store.find("latest")?);
    }
    let names = if args.identify { Names::Kept } else { Names::TakenOut };
    let pages = Pages::read(&store, &runs, names)?;
    if let Some(dir) = &args.assets {
        pages.write_charts(dir)?;
    }
    let text = pages.text();
    match &args.output {
        Some(path) if path == Path::new("-") => context::print(&text)?,
        Some(path) => written(path, &text)?,
        None => written(&pages.usual_path(&store), &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn written(path: &Path, text: &str) -> Result<()> {
    output::file(path, text.as_bytes())?;
    say!("report: {}", path.display());
    Ok(())
}

/// The report that `fsarena run` leaves: at `asked`, or beside the database.
pub fn of_run(store: &Store, run: RunId, asked: Option<&Path>) -> Result<()> {
    let pages = Pages::read(store, &[run], Names::TakenOut)?;
    let path = asked.map_or_else(|| pages.usual_path(store), Path::to_owned);
    written(&path, &pages.text())
}

/// RUNs that share a page.
struct Pages(Vec<Loaded>);

impl Pages {
    fn read(store: &Store, runs: &[RunId], names: Names) -> Result<Self> {
        runs.iter().map(|run| Loaded::read(store, *run, names)).collect::<Result<_>>().map(Self)
    }

    fn on_page(&self) -> Vec<fsarena_report::page::Run<'_>> {
        self.0.iter().map(Loaded::on_page).collect()
    }

    fn text(&self) -> String {
        fsarena_report::page::page(&self.on_page(), env!("CARGO_PKG_VERSION"))
    }

    /// Beside the database, where the RUN itself is: the ids tell whose it is.
    fn usual_path(&self, store: &Store) -> PathBuf {
        let ids: Vec<&str> =
            self.0.iter().map(|run| run.header.uid.get(..8).unwrap_or(&run.header.uid)).collect();
        let name = match ids.as_slice() {
            [first, _, .., last] => format!("fsarena-{first}-to-{last}.html"),
            ids => format!("fsarena-{}.html", ids.join("-")),
        };
        store.path().with_file_name(name)
    }

    fn write_charts(&self, dir: &Path) -> Result<()> {
        std::fs::create_dir_all(dir).with_context(|| {
            format!("--assets {}: cannot be made; name another directory", dir.display())
        })?;
        let charts = fsarena_report::page::charts(&self.on_page());
        if charts.is_empty() {
            return Err(
                Usage("--assets: the RUN has no figures, so there is no chart".into()).into()
            );
        }
        for chart in &charts {
            output::file(&dir.join(format!("{}.svg", chart.id)), chart.file().as_bytes())?;
        }
        say!("{} charts: {}", charts.len(), dir.display());
        Ok(())
    }
}
