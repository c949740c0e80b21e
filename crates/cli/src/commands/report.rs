//! `fsarena report` and `fsarena export`: a page of one or several RUNs with its charts as files,
//! and one RUN as CSV, JSON or Markdown.

use super::chart_files::ChartFiles;
use super::loaded::{Identity, LoadedRun};
use super::{browse, open, output_file, watched};
use crate::args::{AssetFormat, ExportArgs, Format, ReportArgs};
use crate::context;
use anyhow::Result;
use fsarena_model::crash::Campaign;
use fsarena_model::visible;
use fsarena_report::{PaperWidth, Style, crash_csv, csv, json, markdown};
use fsarena_store::{RunId, Store};
use std::path::{Path, PathBuf};

/// Writes the page.
pub fn run(args: &ReportArgs, db: Option<&Path>) -> Result<()> {
    if args.open && args.output.as_deref() == Some(Path::new("-")) {
        refuse!("--open: -o - writes the page to standard output; name a file to be opened");
    }
    let assets = args.assets.as_deref().map(|dir| assets(dir, args)).transpose()?;
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
    if let Some(assets) = &assets {
        write_assets(assets, &pages)?;
    }
    let text = pages.text();
    if args.output.as_deref() == Some(Path::new("-")) {
        return context::print(&text);
    }
    let path = args.output.clone().unwrap_or_else(|| pages.default_path(&store));
    output_file::write(&path, &text)?;
    say!("report: {}", path.display());
    if args.open { browse::open(&path) } else { Ok(()) }
}

/// Writes the report of `fsarena run`: to `asked`, or next to the database; where it lies.
pub fn write_run_report(store: &Store, run: RunId, asked: Option<&Path>) -> Result<PathBuf> {
    let pages = Pages::read(store, &[run], Identity::Removed)?;
    let path = asked.map_or_else(|| pages.default_path(store), Path::to_owned);
    output_file::write(&path, &pages.text())?;
    Ok(path)
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
}

/// How charts become files of their own.
fn assets(dir: &Path, args: &ReportArgs) -> Result<ChartFiles> {
    let width = match &args.width {
        None => PaperWidth::default(),
        Some(text) => match text.parse() {
            Ok(width) => width,
            Err(unfit) => refuse!("--width: {unfit}"),
        },
    };
    let mut formats = args.assets_format.clone();
    if formats.is_empty() {
        formats.push(AssetFormat::Svg);
    }
    ChartFiles::new(dir, width, formats)
}

fn write_assets(files: &ChartFiles, pages: &Pages) -> Result<()> {
    let charts = fsarena_report::page::charts(&pages.on_page());
    output_file::create_dir("--assets", files.dir())?;
    if charts.is_empty() {
        refuse!("--assets: the RUN has no figures, so there is no chart");
    }
    files.write(&charts)?;
    say!("{} charts: {}", charts.len(), files.dir().display());
    Ok(())
}

/// Writes one RUN, to a file or to standard output.
pub fn export(args: &ExportArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let text = exported(&LoadedRun::read(&store, run, names)?, args)?;
    match &args.output {
        Some(path) if path != Path::new("-") => {
            output_file::write(path, &text)?;
            say!("export: {}", path.display());
        }
        _ => context::print(&text)?,
    }
    Ok(())
}

fn exported(loaded: &LoadedRun, args: &ExportArgs) -> Result<String> {
    if args.raw && args.format != Format::Json {
        refuse!("--raw: only JSON has the latency of single ops: add --format json");
    }
    let text = match args.format {
        Format::Csv => return Ok(csv_of(loaded)),
        Format::CrashCsv => match &loaded.crash {
            Some(_) if !is_of_power_cuts(loaded) => refuse!(
                "--format crash-csv has only power cuts at uniform times, and this RUN has none: \
                 use --format json"
            ),
            Some(view) => crash_csv(view),
            None => refuse!("--format crash-csv: no power was cut in this RUN; see [crash]"),
        },
        Format::Markdown => return Ok(markdown_of(loaded)),
        Format::Json => {
            let document = json::export(json::show(&loaded.as_run()), args.raw);
            return Ok(visible::json(&document).into_owned());
        }
    };
    Ok(visible::lines(&text).into_owned())
}

/// A line for each trial and phase.
pub fn csv_of(loaded: &LoadedRun) -> String {
    let LoadedRun { header, records, .. } = loaded;
    let text = csv(header, &fsarena_study::points(&header.plan, records));
    visible::lines(&text).into_owned()
}

/// Verdicts and tables.
pub fn markdown_of(loaded: &LoadedRun) -> String {
    let text = match loaded.header.plan.is_watched() {
        true => watched::markdown(loaded),
        false => markdown(&loaded.as_run(), Style::default()),
    };
    visible::lines(&text).into_owned()
}
/// Whether its crash runs are power cuts at uniform times.
fn is_of_power_cuts(loaded: &LoadedRun) -> bool {
    let crash = loaded.header.plan.crash.as_ref();
    crash.is_some_and(|crash| matches!(crash.campaign, Campaign::PowerCuts { .. }))
}
