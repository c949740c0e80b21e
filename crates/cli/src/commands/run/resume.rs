//! `fsarena run --resume`: the rest of an interrupted RUN.

use super::{carry_out, consent, program_sha256};
use crate::args::RunArgs;
use crate::commands::open;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_metrics::Roots;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunPlan, RunState, Slot};
use fsarena_runner::{OwnPaths, Resumed};
use fsarena_store::{RunId, Store};
use fsarena_targets::vet::WipeConsent;
use fsarena_targets::{devices, fs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Goes on with the RUN that `selector` names; empty: the latest that was interrupted.
pub(super) fn run(
    selector: &str,
    args: &RunArgs,
    consents: &[WipeConsent],
    db: Option<&Path>,
) -> Result<ExitCode> {
    let Some(store) = open::for_reading(db)? else {
        return Err(Usage("--resume: there is no database yet, so there is no RUN".into()).into());
    };
    let run = chosen(&store, selector)?;
    let header = store.header(run)?;
    let (database, state_dir) = (context::database(db)?, context::state_dir()?);
    super::check(&header.plan, &database)?;
    let records = store.records(run)?;
    let mut rest = fsarena_runner::rest(&header.plan, &records, &store.looks(run)?);
    if store.stop(run)?.is_some() {
        // It had ended, and died before it could say so.
        rest.schedule.clear();
    }
    // Before anything that the experiment file names is run, a question for its version too.
    let user = header.place.as_ref().and_then(|place| place.user);
    consent::to_commands(args.yes, &rest, user)?;
    same_or_refused(run, &header, &records, &rest)?;
    let place = header.place.as_ref().context("a RUN that can be resumed has a place")?;
    images_can_be_made(&rest, &place.image_dir)?;
    let ours = OwnPaths { database: &database, state_dir: &state_dir, image_dir: &place.image_dir };
    consent::to_wipe(&rest, consents, ours, true)?;
    let left = rest.schedule.len();
    say!("resuming RUN {run} ({}): {left} trials are left", header.experiment);
    let resumed = Resumed { run, session: store.sessions(run)?.len() + 1 };
    drop(store);
    carry_out(&header, Some(resumed), args, consents, db)
}

/// The RUN to go on with; it must not be at work or done.
fn chosen(store: &Store, selector: &str) -> Result<RunId> {
    if selector.is_empty() {
        return latest_interrupted(store);
    }
    let run = store.find(selector)?;
    let row = store.run(run)?;
    if row.merged {
        let host = row.host;
        return Err(Usage(format!(
            "--resume: RUN {run} was taken over by `fsarena merge`; it can only go on where it \
             began, with the database of {host}"
        ))
        .into());
    }
    match row.state {
        RunState::Interrupted | RunState::Failed => Ok(run),
        RunState::Done => Err(Usage(format!("--resume: RUN {run} is done")).into()),
        RunState::Running => {
            Err(Usage(format!("--resume: RUN {run} is at work in another process")).into())
        }
    }
}

/// A RUN that has failed would mostly fail again, so that it has to be named.
fn latest_interrupted(store: &Store) -> Result<RunId> {
    let mut resumable = store.resumable()?;
    // A watch that was killed cannot be gone on with.
    resumable.retain(|row| store.header(row.id).is_ok_and(|header| !header.plan.is_watched()));
    let latest = |state| resumable.iter().rev().find(|row| row.state == state).map(|row| row.id);
    if let Some(run) = latest(RunState::Interrupted) {
        return Ok(run);
    }
    let failed = latest(RunState::Failed)
        .map(|run| format!("; RUN {run} failed, and goes on where it is named: --resume={run}"));
    let failed = failed.unwrap_or_default();
    Err(Usage(format!("--resume: no RUN was interrupted; see fsarena list{failed}")).into())
}

/// The directory of images is that of the RUN; it must still be there where an image is left to be
/// made.
fn images_can_be_made(rest: &RunPlan, image_dir: &Path) -> Result<()> {
    let on_image = |slot: &Slot| {
        matches!(rest.contenders[slot.contender].levels.device, DeviceLevel::Loop { .. })
    };
    if image_dir.is_dir() || !rest.schedule.iter().any(on_image) {
        return Ok(());
    }
    Err(Usage(format!(
        "--resume: {}, where the images of this RUN lay, is not there; make that directory (on the \
         same file system), or begin a new RUN",
        image_dir.display()
    ))
    .into())
}

/// Refuses where the rest of the RUN would be another experiment, and says what has changed.
fn same_or_refused(
    run: RunId,
    header: &RunHeader,
    records: &[TrialRecord],
    rest: &RunPlan,
) -> Result<()> {
    let host = fsarena_metrics::host(&Roots::default());
    let hash = program_sha256()?;
    // By the paths of the user: after a reboot the kernel's names may be others, and a link may
    // lead elsewhere by now.
    let roots = devices::Roots::default();
    let look = |path: &Path| (path.to_owned(), devices::identify(path, &roots).ok());
    let devices: Vec<(PathBuf, Option<DeviceIdentity>)> =
        rest.block_paths().into_iter().map(look).collect();
    let is_left = |index: usize| rest.schedule.iter().any(|slot| slot.contender == index);
    let tools: BTreeMap<String, Option<String>> = rest
        .contenders
        .iter()
        .enumerate()
        .filter(|(index, _)| is_left(*index))
        .filter_map(|(_, contender)| fs::driver(&contender.levels.fs).ok())
        .map(|driver| (driver.name().to_owned(), driver.version()))
        .collect();
    let now = fsarena_runner::Now {
        host: &host,
        program_sha256: &hash,
        devices: &devices,
        tools: &tools,
    };
    let changes = fsarena_runner::differences(header, records, &now);
    if changes.is_empty() {
        return Ok(());
    }
    Err(Usage(format!(
        "--resume: RUN {run} cannot go on, because its trials would not be comparable:\n  {}\nbegin \
         a new RUN instead",
        changes.join("\n  ")
    ))
    .into())
}
