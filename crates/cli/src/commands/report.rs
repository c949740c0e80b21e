//! `fsarena report` and `fsarena export`: a page of one or several RUNs with its charts as files,
//! and one RUN as CSV, JSON or Markdown.

use super::loaded::{Identity, LoadedRun};
use super::{browse, open, output_file, watched};
use crate::args::{AssetFormat, ExportArgs, Format, ReportArgs};
use crate::context;
use anyhow::{Context as _, Result, bail};
use fsarena_model::visible;
use fsarena_process::cmd::{self, Tool, find};
use fsarena_report::{PaperWidth, Style, csv, json, markdown, safety_csv};
use fsarena_store::{RunId, Store};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes the page.
pub fn run(args: &ReportArgs, db: Option<&Path>) -> Result<()> {
    if args.open && args.output.as_deref() == Some(Path::new("-")) {
        refuse!("--open: -o - writes the page to standard output; name a file to be opened");
    }
    let assets = args.assets.as_deref().map(|dir| Assets::new(dir, args)).transpose()?;
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
        assets.write(&pages)?;
    }
    let text = pages.text();
    if args.output.as_deref() == Some(Path::new("-")) {
        return context::print(&text);
    }
    let path = args.output.clone().unwrap_or_else(|| pages.default_path(&store));
    output_file::write(&path, text.as_bytes())?;
    say!("report: {}", path.display());
    if args.open { browse::open(&path) } else { Ok(()) }
}

/// Writes the report of `fsarena run`: to `asked`, or next to the database; where it lies.
pub fn write_run_report(store: &Store, run: RunId, asked: Option<&Path>) -> Result<PathBuf> {
    let pages = Pages::read(store, &[run], Identity::Removed)?;
    let path = asked.map_or_else(|| pages.default_path(store), Path::to_owned);
    output_file::write(&path, pages.text().as_bytes())?;
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

/// Dots an inch of pictures, as printers of papers ask for.
const PNG_DPI: u32 = 300;
/// What one chart may take.
const CONVERT_TIMEOUT: Duration = Duration::from_secs(60);

/// Charts as files of their own.
struct Assets<'a> {
    dir: &'a Path,
    width: PaperWidth,
    formats: Vec<AssetFormat>,
    /// What makes PDF and PNG; absent where neither is asked for.
    converter: Option<Tool>,
}

impl<'a> Assets<'a> {
    fn new(dir: &'a Path, args: &ReportArgs) -> Result<Self> {
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
        let needs = formats.iter().any(|format| *format != AssetFormat::Svg);
        let converter = if needs { find("rsvg-convert") } else { None };
        if needs && converter.is_none() {
            bail!(
                "--assets-format: pdf and png are made by rsvg-convert, which is not installed \
                 (package librsvg2-bin); install it, or write svg alone"
            );
        }
        Ok(Self { dir, width, formats, converter })
    }

    fn write(&self, pages: &Pages) -> Result<()> {
        let dir = self.dir;
        output_file::create_dir("--assets", dir)?;
        let charts = fsarena_report::page::charts(&pages.on_page());
        if charts.is_empty() {
            refuse!("--assets: the RUN has no figures, so there is no chart");
        }
        for (name, svg) in &charts {
            self.write_chart(name, &svg.file(self.width))?;
        }
        say!("{} charts: {}", charts.len(), dir.display());
        Ok(())
    }

    fn write_chart(&self, name: &str, svg: &str) -> Result<()> {
        let path = |end: &str| self.dir.join(format!("{name}.{end}"));
        if self.formats.contains(&AssetFormat::Svg) {
            output_file::write(&path("svg"), svg.as_bytes())?;
        }
        [(AssetFormat::Pdf, "pdf"), (AssetFormat::Png, "png")]
            .iter()
            .filter(|(format, _)| self.formats.contains(format))
            .try_for_each(|(_, end)| self.convert(svg, end, &path(end)))
    }

    /// Has the converter work in a directory of ours: it would write through a link.
    fn convert(&self, svg: &str, format: &str, to: &Path) -> Result<()> {
        let Some(tool) = &self.converter else { return Ok(()) };
        let own = context::scratch_dir()?;
        let (from, made) = (own.path().join("chart.svg"), own.path().join("chart"));
        std::fs::write(&from, svg).with_context(|| from.display().to_string())?;
        let dpi = PNG_DPI.to_string();
        let args: [&OsStr; 8] = [
            "--format".as_ref(),
            format.as_ref(),
            "--dpi-x".as_ref(),
            dpi.as_ref(),
            "--dpi-y".as_ref(),
            dpi.as_ref(),
            "--output".as_ref(),
            made.as_os_str(),
        ];
        let all: Vec<&OsStr> = args.into_iter().chain([from.as_os_str()]).collect();
        cmd::run(&tool.path, &all, CONVERT_TIMEOUT)
            .with_context(|| format!("--assets-format {format}: {}", to.display()))?;
        let bytes = std::fs::read(&made).with_context(|| made.display().to_string())?;
        output_file::write(to, &bytes)
    }
}

/// Writes one RUN, to a file or to standard output.
pub fn export(args: &ExportArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let text = exported(&LoadedRun::read(&store, run, names)?, args)?;
    match &args.output {
        Some(path) if path != Path::new("-") => {
            output_file::write(path, text.as_bytes())?;
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
        Format::SafetyCsv => match &loaded.safety {
            Some(view) => safety_csv(view),
            None => refuse!("--format safety-csv: no power was cut in this RUN; see [safety]"),
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
