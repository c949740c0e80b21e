//! Charts as files of their own: SVG as they are, PDF and PNG by a program that is looked for.

use super::output_file;
use crate::args::AssetFormat;
use crate::context;
use anyhow::{Context as _, Result, bail};
use fsarena_process::cmd::{self, find};
use fsarena_process::program::TrustedProgram;
use fsarena_report::{PaperWidth, Svg};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What makes PDF and PNG.
pub const CONVERTER: &str = "rsvg-convert";
/// Dots an inch of pictures, as printers of papers ask for.
const PNG_DPI: u32 = 300;
/// What one chart may take.
const CONVERT_TIMEOUT: Duration = Duration::from_secs(60);

/// Charts as files of their own.
pub struct ChartFiles {
    dir: PathBuf,
    width: PaperWidth,
    formats: Vec<AssetFormat>,
    /// What makes PDF and PNG; absent where neither is asked for.
    converter: Option<TrustedProgram>,
}

impl ChartFiles {
    /// # Errors
    /// Where a format needs a program that is not installed.
    pub fn new(dir: &Path, width: PaperWidth, formats: Vec<AssetFormat>) -> Result<Self> {
        let needs = formats.iter().any(|format| *format != AssetFormat::Svg);
        let converter = if needs { find(CONVERTER) } else { None };
        if needs && converter.is_none() {
            bail!(
                "--assets-format: pdf and png are made by {CONVERTER}, which is not installed \
                 (package librsvg2-bin); install it, or write svg alone"
            );
        }
        Ok(Self { dir: dir.to_owned(), width, formats, converter })
    }

    /// Where they lie.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes each in all formats.
    ///
    /// # Errors
    /// Where a file cannot be written or converted.
    pub fn write(&self, charts: &[(String, Svg)]) -> Result<()> {
        charts.iter().try_for_each(|(name, svg)| self.write_chart(name, &svg.file(self.width)))
    }

    fn write_chart(&self, name: &str, svg: &str) -> Result<()> {
        let path = |end: &str| self.dir.join(format!("{name}.{end}"));
        if self.formats.contains(&AssetFormat::Svg) {
            output_file::write(&path("svg"), svg)?;
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
        cmd::run(tool, &all, CONVERT_TIMEOUT)
            .with_context(|| format!("--assets-format {format}: {}", to.display()))?;
        let bytes = std::fs::read(&made).with_context(|| made.display().to_string())?;
        output_file::write_bytes(to, &bytes)
    }
}
