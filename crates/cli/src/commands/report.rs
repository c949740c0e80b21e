//! `fsarena report` and `fsarena export`: a page of one or several RUNs with its charts as files,
//! and one RUN as CSV, JSON or Markdown.

use super::loaded::{Identity, LoadedRun};
use super::{open, output_file, watched};
use crate::args::{ExportArgs, Format, ReportArgs};
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_report::{Style, csv, json, markdown};
use fsarena_store::{RunId, Store};
use std::path::{Path, PathBuf};

/// Writes the page.
pub fn run(args: &ReportArgs, db: Option<&Path>) -> Result<()> {
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
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let pages = Pages::read(&store, &runs, names)?;
    if let Some(dir) = &args.assets {
        pages.write_charts(dir)?;
    }
    let text = pages.text();
    match &args.output {
        Some(path) if path == Path::new("-") => context::print(&text)?,
        Some(path) => write_page(path, &text)?,
        None => write_page(&pages.default_path(&store), &text)?,
    }
    Ok(())
}

fn write_page(path: &Path, text: &str) -> Result<()> {
    output_file::write(path, text.as_bytes())?;
    say!("report: {}", path.display());
    Ok(())
}

/// Writes the report of `fsarena run`: to `asked`, or next to the database.
pub fn write_run_report(store: &Store, run: RunId, asked: Option<&Path>) -> Result<()> {
    let pages = Pages::read(store, &[run], Identity::Removed)?;
    let path = asked.map_or_else(|| pages.default_path(store), Path::to_owned);
    write_page(&path, &pages.text())
}

/// RUNs that share a page.
struct Pages(Vec<LoadedRun>);

impl Pages {
    fn read(store: &Store, runs: &[RunId], names: Identity) -> Result<Self> {
        runs.iter().map(|run| LoadedRun::read(store, *run, names)).collect::<Result<_>>().map(Self)
    }

    fn on_page(&self) -> Vec<fsarena_report::Run<'_>> {
        self.0.iter().map(LoadedRun::as_run).collect()
    }

    fn text(&self) -> String {
        fsarena_report::page::page(&self.on_page(), env!("CARGO_PKG_VERSION"))
    }

    /// Next to the database, named after the ids of the RUNs.
    fn default_path(&self, store: &Store) -> PathBuf {
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
            output_file::write(&dir.join(format!("{}.svg", chart.id)), chart.file().as_bytes())?;
        }
        say!("{} charts: {}", charts.len(), dir.display());
        Ok(())
    }
}

/// Writes one RUN, to a file or to standard output.
pub fn export(args: &ExportArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let text = exported(&LoadedRun::read(&store, run, names)?, args.format)?;
    match &args.output {
        Some(path) if path != Path::new("-") => {
            output_file::write(path, text.as_bytes())?;
            say!("export: {}", path.display());
        }
        _ => context::print(&text)?,
    }
    Ok(())
}

fn exported(loaded: &LoadedRun, format: Format) -> Result<String> {
    let LoadedRun { header, sessions, records, study, verdicts, .. } = loaded;
    Ok(match format {
        Format::Csv => csv(header, &fsarena_study::points(&header.plan, records)),
        Format::Markdown if header.plan.is_watched() => watched::markdown(loaded),
        Format::Markdown => markdown(&loaded.as_run(), Style::default()),
        Format::Json => {
            let document = json::show(header, sessions, study, records, verdicts.as_ref());
            serde_json::to_string_pretty(&document)? + "\n"
        }
    })
}
