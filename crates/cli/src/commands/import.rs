//! `fsarena import`: files of another program become a RUN that is done.

use super::loaded::{Identity, LoadedRun};
use super::{open, show};
use crate::args::{FilesArgs, Foreign, ImportArgs};
use crate::context;
use anyhow::{Context as _, Result};
use fsarena_bounded::{Bounded, TooLong};
use fsarena_foreign::import::{Given, Imported, Terms};
use fsarena_model::run::RunState;
use fsarena_model::score::TrialScore;
use fsarena_model::units::parse_share;
use fsarena_model::verdict::{DEFAULT_MARGIN, Stop, StopWhy};
use fsarena_store::{RunId, Store};
use fsarena_verdict::Judge;
use std::path::{Path, PathBuf};

/// A file above this is none that such a program writes by itself.
const MOST_BYTES: u64 = 256 << 20;

/// Reads all files, stores one RUN of them and shows it.
pub fn run(args: &ImportArgs, db: Option<&Path>) -> Result<()> {
    let (files, import): (&FilesArgs, fn(&[Given], &Terms) -> _) = match &args.from {
        Foreign::Fio(files) => (files, fsarena_foreign::import::fio),
        Foreign::Hyperfine(files) => (files, fsarena_foreign::import::hyperfine),
        Foreign::Mdtest(files) => (files, fsarena_foreign::import::mdtest),
        Foreign::Ior(files) => (files, fsarena_foreign::import::ior),
        Foreign::Bonnie(files) => (files, fsarena_foreign::import::bonnie),
        Foreign::Phoronix(files) => (files, fsarena_foreign::import::phoronix),
    };
    let given: Vec<Given> = files.files.iter().map(|text| given(text)).collect::<Result<_>>()?;
    // Everything is read before anything is stored.
    let imported = import(&given, &terms(files)?)?;
    let store = open::for_writing(db)?;
    let run = stored(&store, &imported)?;
    show::show(&LoadedRun::read(&store, run, Identity::Kept)?, show::Output::TABLES, None)?;
    say!(
        "imported as RUN {run}, {} trials; `fsarena study {run}` prints every pair, `fsarena \
         report {run}` makes a page",
        imported.records.len()
    );
    Ok(())
}

fn terms(files: &FilesArgs) -> Result<Terms> {
    let now_unix_ns = fsarena_metrics::realtime_ns();
    let margin = match &files.margin {
        None => DEFAULT_MARGIN,
        Some(text) => match parse_share(text) {
            Ok(margin) if margin > 0.0 => margin,
            Ok(_) => refuse!("--margin {text}: must be above 0"),
            Err(error) => refuse!("--margin {error}"),
        },
    };
    Ok(Terms {
        uid: context::new_uid(now_unix_ns),
        now_unix_ns,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: std::env::args().collect(),
        margin,
    })
}

/// `LABEL=FILE` or `FILE`, with the text of the file. A file that is there under the whole name is
/// meant by it, whatever signs are in the name.
fn given(text: &str) -> Result<Given> {
    let (label, path) = match text.split_once('=') {
        Some((label, path)) if !Path::new(text).exists() => (Some(label), path),
        _ => (None, text),
    };
    if label.is_some_and(|label| label.trim().is_empty()) || path.is_empty() {
        refuse!("{text:?}: write LABEL=FILE or FILE");
    }
    let place = || format!("{path}: cannot be read");
    let bytes = match Bounded::open(path, MOST_BYTES).and_then(|mut file| file.whole()) {
        Err(error) if TooLong::in_error(&error).is_some() => {
            anyhow::bail!("{path}: is larger than {} MiB, and not read", MOST_BYTES >> 20)
        }
        read => read.with_context(place)?,
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        anyhow::anyhow!("{path}: is no text (byte {})", error.utf8_error().valid_up_to())
    })?;
    let label = label.map(|label| label.trim().to_owned());
    Ok(Given { label, path: PathBuf::from(path), text })
}

/// Stores the RUN with the look that is due after its last block.
fn stored(store: &Store, imported: &Imported) -> Result<RunId> {
    let Imported { header, records } = imported;
    let run = store.create_run(header, &fsarena_runner::this_process())?;
    let whole = || -> Result<()> {
        store.put_records(run, records)?;
        let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
        let stop = Stop { blocks: header.plan.blocks, why: StopWhy::Cap };
        if let Some(judge) = Judge::replay(&header.plan, &scores, Some(stop), &[]) {
            for look in judge.looks() {
                store.put_look(run, look)?;
            }
            let why = judge.finished().unwrap_or(StopWhy::Cap);
            store.set_stop(run, Stop { blocks: judge.block(), why })?;
        }
        Ok(store.set_state(run, RunState::Done, None)?)
    };
    whole().inspect_err(|error| {
        // The first cause is the one to tell.
        let _ = store.set_state(run, RunState::Failed, Some(&error.to_string()));
    })?;
    Ok(run)
}
