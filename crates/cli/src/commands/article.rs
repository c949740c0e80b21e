//! `fsarena article`: a RUN as an article in the manner of its ancestors, in a directory with its
//! charts.

use super::chart_files::{CONVERTER, ChartFiles};
use super::loaded::{Identity, LoadedRun};
use super::{open, output_file};
use crate::args::{ArticleArgs, AssetFormat};
use anyhow::Result;
use fsarena_process::cmd::find;
use fsarena_report::{PaperWidth, own_article};
use std::path::Path;

/// Directory of charts in that of the article.
const CHARTS: &str = "charts";

/// Writes the article.
pub fn run(args: &ArticleArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let id = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let loaded = LoadedRun::read(&store, id, names)?;
    let run = loaded.as_run();
    if loaded.header.plan.is_watched() {
        refuse!("RUN {id} only watched a device: an article compares; use fsarena report {id}");
    }
    if loaded.header.plan.is_crash_alone() {
        refuse!(
            "RUN {id} has only crash runs, and an article is about trials: use fsarena report {id}"
        );
    }
    let article = own_article(&run, args.lang);
    output_file::create_dir("-o", &args.output)?;
    let mut formats = vec![AssetFormat::Svg];
    match find(CONVERTER) {
        Some(_) => formats.push(AssetFormat::Png),
        None => say!(
            "charts as PNG: not made: {CONVERTER} is not installed (package librsvg2-bin); \
             article.bbcode names them"
        ),
    }
    let charts = article.charts();
    if !charts.is_empty() {
        let dir = output_file::create_dir_in("-o", &args.output, CHARTS)?;
        ChartFiles::new(&dir, PaperWidth::default(), formats)?.write(&charts)?;
    }
    for file in article.files() {
        output_file::write(&args.output.join(file.name), &file.text)?;
    }
    say!("article of RUN {id}: {}, {} charts", args.output.display(), charts.len());
    Ok(())
}
