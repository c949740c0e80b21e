//! Writing a bundle: a database of the RUN alone, and all else computed from that.

use super::names::{DATABASE, TRIALS, VERDICTS};
use crate::args::BundleArgs;
use crate::commands::loaded::{Identity, LoadedRun, name_removal};
use crate::commands::output_file::NewFile;
use crate::commands::{open, report};
use crate::context;
use anyhow::{Context as _, Result};
use fsarena_bundle::{Contents, Part, pack};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::visible;
use fsarena_report::{PaperWidth, Style};
use fsarena_store::{Owner, RunId, Store, StoreError};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Records that are stored in one transaction: each of them waits for the disk, and all records of
/// a large RUN would take its size in memory several times.
const RECORDS_AT_A_TIME: usize = 64;

/// Makes a database of the RUN alone, everything else from that, and packs it.
pub(super) fn run(args: &BundleArgs, db: Option<&Path>) -> Result<()> {
    let store = open::existing(db)?;
    let run = store.find(args.run.as_deref().unwrap_or("latest"))?;
    if store.run(run)?.state == RunState::Running {
        refuse!("RUN {run} is being carried out; wait for its end");
    }
    let names = if args.identify { Identity::Kept } else { Identity::Removed };
    let scratch = context::scratch_dir()?;
    let database = scratch.path().join(DATABASE);
    let copy = copy_run(&store, run, names, &database)?;
    let loaded = LoadedRun::read(&copy.0, copy.1, Identity::Kept)?;
    // What is not closed may still be in its journal.
    drop(copy);
    let id = format!("fsarena-{}", loaded.header.uid.get(..8).unwrap_or(&loaded.header.uid));
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{id}.tar.zst")));
    let parts = parts(&loaded, database)?;
    let file = NewFile::begin(&path)?;
    let made_s = loaded.header.created_unix_ns / 1_000_000_000;
    pack(file.file(), (&id, made_s), &parts).with_context(|| path.display().to_string())?;
    file.replace()?;
    say!(
        "bundle: {}, {} files of RUN {run}; `fsarena bundle check {}` recomputes its verdicts",
        path.display(),
        parts.len() + 1,
        path.display()
    );
    Ok(())
}

/// A database of the RUN alone: all attempts at its trials, its crash runs, its looks and its end.
/// Of the attempts only a few are in memory at a time.
fn copy_run(store: &Store, run: RunId, names: Identity, to: &Path) -> Result<(Store, RunId)> {
    let _snapshot = store.snapshot()?;
    let (header, sessions) = (store.header(run)?, store.sessions(run)?);
    let crash_runs = store.crash_runs(run)?;
    let row = store.run(run)?;
    let removal = match names {
        Identity::Kept => None,
        Identity::Removed => {
            let mut each_record = |take: &mut dyn FnMut(TrialRecord)| {
                store.each_attempt(run, |_, record| {
                    take(record);
                    Ok::<(), StoreError>(())
                })
            };
            Some(name_removal((&header, &sessions), &mut each_record, &crash_runs)?)
        }
    };
    let (header, sessions) = match &removal {
        None => (header, sessions),
        Some(removal) => (removal.header.clone(), removal.sessions.clone()),
    };
    let copy = Store::open(to)?;
    let nobody = Owner { pid: 0, start_ticks: 0, boot_id: String::new() };
    let own = copy.create_run(&header, &nobody)?;
    sessions.iter().try_for_each(|session| copy.put_session(own, session))?;
    let mut some = Vec::with_capacity(RECORDS_AT_A_TIME);
    store.each_attempt(run, |_, record| {
        some.push(match &removal {
            None => record,
            Some(removal) => removal.record(record),
        });
        if some.len() == RECORDS_AT_A_TIME {
            copy.put_records(own, &some)?;
            some.clear();
        }
        Ok::<(), StoreError>(())
    })?;
    copy.put_records(own, &some)?;
    for crash_run in &crash_runs {
        match &removal {
            None => copy.put_crash_run(own, crash_run)?,
            Some(removal) => copy.put_crash_run(own, &removal.crash_run(crash_run))?,
        }
    }
    store.looks(run)?.iter().try_for_each(|look| copy.put_look(own, look))?;
    if let Some(stop) = store.stop(run)? {
        copy.set_stop(own, stop)?;
    }
    // A note may have any name in it.
    let note = row.note.filter(|_| names == Identity::Kept);
    copy.set_state(own, row.state, note.as_deref())?;
    Ok((copy, own))
}

/// All files but the list of hashes.
fn parts(loaded: &LoadedRun, database: PathBuf) -> Result<Vec<Part>> {
    let header = &loaded.header;
    let on_page = [loaded.as_run()];
    let mut parts = vec![
        text("README.txt", &readme(header)),
        Part { name: DATABASE.to_owned(), contents: Contents::File(database) },
        literals(VERDICTS, &verdicts(loaded)?),
        text(TRIALS, &report::csv_of(loaded)),
        text("report.html", &fsarena_report::page::page(&on_page, env!("CARGO_PKG_VERSION"))),
        text("report.md", &report::markdown_of(loaded)),
    ];
    if !header.experiment_toml.is_empty() {
        parts.push(literals("experiment.toml", &header.experiment_toml));
    }
    for (name, svg) in fsarena_report::page::charts(&on_page) {
        parts.push(text(&format!("figures/{name}.svg"), &svg.file(PaperWidth::default())));
    }
    for table in fsarena_report::latex_tables(&loaded.as_run(), Style::default()) {
        parts.push(text(&format!("tables/{}.tex", table.name), &table.text));
    }
    Ok(parts)
}

/// A file of text in which nothing is hidden.
fn text(name: &str, text: &str) -> Part {
    shown(name, visible::lines(text))
}

/// The same of a form whose strings have escapes of their own, which are used: JSON and TOML.
fn literals(name: &str, text: &str) -> Part {
    shown(name, visible::json(text))
}

fn shown(name: &str, text: Cow<'_, str>) -> Part {
    Part { name: name.to_owned(), contents: Contents::Bytes(text.into_owned().into_bytes()) }
}

/// The verdicts as they are now; `null` where the RUN asked nothing.
fn verdicts(loaded: &LoadedRun) -> Result<String> {
    let value = loaded.verdicts.as_ref().map(fsarena_report::json::verdicts);
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// What is in the bundle, and what to do with it.
fn readme(header: &RunHeader) -> String {
    let mut out = format!("{}\n\nOne RUN of fsarena {}", header.title, header.program_version);
    let _ = writeln!(out, ", with all that is needed to check it.\n");
    for (name, what) in [
        (DATABASE, "the plan and every record (SQLite); `fsarena show --db results.db`"),
        (VERDICTS, "what was decided, with intervals"),
        (TRIALS, "a line for each trial and phase"),
        ("report.html", "the page; report.md has its tables for a wiki"),
        ("figures/", "charts (SVG)"),
        ("tables/", "tables (LaTeX, package booktabs)"),
        ("experiment.toml", "what was asked for, where it was a file"),
        (fsarena_bundle::SUMS, "hashes of all others; `sha256sum -c SHA256SUMS`"),
    ] {
        let _ = writeln!(out, "{name:<16} {what}");
    }
    let _ = write!(
        out,
        "\nVerdicts recomputed from the records: fsarena bundle check FILE.tar.zst\n\
         Done again: {}\n",
        fsarena_report::command(header)
    );
    if let Some(file) = fsarena_report::experiment_file(header) {
        let _ = writeln!(out, "{file} is experiment.toml here.");
    }
    out
}
