//! `fsarena export`: a RUN in a format for other programs and people.

use super::loaded::{Loaded, Names};
use super::{open, output, watched};
use crate::args::{ExportArgs, Format};
use crate::context;
use anyhow::Result;
use fsarena_report::{Style, csv, json, markdown};
use std::path::Path;
use std::process::ExitCode;

/// Writes one RUN, to a file or to standard output.
pub fn run(args: &ExportArgs, db: Option<&Path>) -> Result<ExitCode> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    let names = if args.identify { Names::Kept } else { Names::TakenOut };
    let text = text(&Loaded::read(&store, run, names)?, args.format)?;
    match &args.output {
        Some(path) if path != Path::new("-") => {
            output::file(path, text.as_bytes())?;
            say!("export: {}", path.display());
        }
        _ => context::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(loaded: &Loaded, format: Format) -> Result<String> {
    let Loaded { header, sessions, records, study, verdicts, .. } = loaded;
    Ok(match format {
        Format::Csv => csv(header, &fsarena_study::points(&header.plan, records)),
        Format::Markdown if header.plan.is_watched() => watched::markdown(loaded),
        Format::Markdown => markdown(header, study, verdicts.as_ref(), Style::default()),
        Format::Json => {
            let document = json::show(header, sessions, study, records, verdicts.as_ref());
            serde_json::to_string_pretty(&document)? + "\n"
        }
    })
}
