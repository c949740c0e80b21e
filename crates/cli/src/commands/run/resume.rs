//! `fsarena run --resume`: the rest of an interrupted RUN.

use super::consent::{self, Consents, StoredCommands};
use super::execute::{execute, program_sha256};
use super::hosts;
use super::preflight::check_paths;
use crate::args::RunArgs;
use crate::commands::open;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_crash::record::StoredCrashRun;
use fsarena_devices::inventory;
use fsarena_guests::kernel;
use fsarena_metrics::KernelRoots;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::crash::CrashSlot;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{KernelFile, RunHeader, RunPlan, RunState, Slot};
use fsarena_plan::Rules as _;
use fsarena_runner::{DriverRules, OwnPaths, Resumed};
use fsarena_store::{RunId, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Resumes the RUN that `selector` names; empty: the latest that was interrupted.
pub(super) fn run(
    selector: &str,
    args: &RunArgs,
    consents: &Consents,
    db: Option<&Path>,
) -> Result<ExitCode> {
    let Some(store) = open::for_resuming(db)? else {
        return Err(Usage("--resume: there is no database yet, and so no RUN".into()).into());
    };
    let run = find_resumable(&store, selector)?;
    let header = store.header(run)?;
    let (database, state_dir) = (context::database(db)?, context::state_dir()?);
    check_paths(&header.plan, &database)?;
    let records = store.records(run)?;
    let mut rest = fsarena_runner::rest(&header.plan, &records, &store.looks(run)?);
    if store.stop(run)?.is_some() {
        // It had ended, and died before its state was set.
        rest.schedule.clear();
    }
    let crashes = CrashesLeft::new(&header.plan, &store.crash_runs(run)?);
    // Before anything that the database names is run, a question for its version too.
    let user = header.place.as_ref().and_then(|place| place.user);
    let kernels = header.place.as_ref().map_or(&[][..], |place| place.kernel_files.as_slice());
    let kernel_paths = kernels.iter().map(|file| file.path.clone()).collect();
    let ssh = hosts::ssh(args, &consents.trust)?;
    consent::vet_programs(&rest, user, (kernel_paths, ssh.as_ref()), &consents.trust)?;
    let run_name = format!("RUN {run}");
    consent::confirm_stored(args, StoredCommands { run: &run_name, rest: &rest, user, kernels })?;
    check_levels(&rest, &crashes)?;
    check_unchanged(run, &header, &records, (&rest, &crashes))?;
    let place = header.place.as_ref().context("a RUN that can be resumed has a place")?;
    check_image_dir(&rest, &place.image_dir)?;
    super::preflight::vet_age_image_dir(place.age_image_dir.as_deref())?;
    let ours = OwnPaths {
        database: &database,
        state_dir: &state_dir,
        image_dir: &place.image_dir,
        age_image_dir: place.age_image_dir.as_deref(),
    };
    consent::vet_devices(&rest, &consents.wipe, ours, true)?;
    let hosts = hosts::of_stored(args, ssh.as_ref(), &rest, place, &database)?;
    let left = rest.schedule.len();
    let crash_runs = match crashes.slots.len() {
        0 => String::new(),
        number => format!(" and {number} crash runs"),
    };
    let trials = match (header.plan.is_crash_alone(), crashes.slots.len()) {
        (true, 0) => "no crash runs".to_owned(),
        (true, number) => format!("{number} crash runs"),
        (false, _) => format!("{left} trials{crash_runs}"),
    };
    say!("resuming RUN {run} ({}): {trials} are left", header.experiment);
    let resumed = Resumed { run, session: store.sessions(run)?.len() + 1 };
    drop(store);
    let ended = execute(&header, Some(resumed), args, (&consents.wipe, hosts.as_slice()), db);
    hosts.end_with(ended)
}

/// The RUN to resume; it must not be running or done.
fn find_resumable(store: &Store, selector: &str) -> Result<RunId> {
    if selector.is_empty() {
        return latest_interrupted(store);
    }
    let run = store.find(selector)?;
    let row = store.run(run)?;
    if row.merged {
        let host = row.host;
        refuse!(
            "--resume: RUN {run} was copied by `fsarena merge`; it can only be resumed where it \
             started, with the database of {host}"
        );
    }
    match row.state {
        RunState::Interrupted | RunState::Failed => Ok(run),
        RunState::Done => refuse!("--resume: RUN {run} is done"),
        RunState::Running => {
            refuse!("--resume: RUN {run} is running in another process")
        }
    }
}

/// A RUN that failed would usually fail again, so it is resumed only if it is named.
fn latest_interrupted(store: &Store) -> Result<RunId> {
    let mut resumable = store.resumable()?;
    // A watch that was killed cannot be resumed.
    resumable.retain(|row| store.header(row.id).is_ok_and(|header| !header.plan.is_watched()));
    let latest = |state| resumable.iter().rev().find(|row| row.state == state).map(|row| row.id);
    if let Some(run) = latest(RunState::Interrupted) {
        return Ok(run);
    }
    let failed = latest(RunState::Failed)
        .map(|run| format!("; RUN {run} failed: to resume it, pass --resume={run}"));
    let failed = failed.unwrap_or_default();
    refuse!("--resume: no RUN was interrupted; see fsarena list{failed}")
}

/// The image directory is that of the RUN; it must still exist if an image remains to be made.
fn check_image_dir(rest: &RunPlan, image_dir: &Path) -> Result<()> {
    let on_image = |slot: &Slot| {
        let parts = rest.contenders[slot.contender].levels.device.parts();
        parts.iter().any(|part| matches!(part, DeviceLevel::Loop { .. }))
    };
    if image_dir.is_dir() || !rest.schedule.iter().any(on_image) {
        return Ok(());
    }
    refuse!(
        "--resume: {}, the image directory of this RUN, does not exist; create it on the same file \
         system, or start a new RUN",
        image_dir.display()
    )
}

/// Refuses levels that no plan could have: options of a database become words of mkfs and mount.
fn check_levels(rest: &RunPlan, crashes: &CrashesLeft) -> Result<()> {
    let is_left = |index: usize| {
        crashes.has(index) || rest.schedule.iter().any(|slot| slot.contender == index)
    };
    let left = rest.contenders.iter().enumerate().filter(|(index, _)| is_left(*index));
    for (_, contender) in left {
        let levels = &contender.levels;
        if let Err(error) = DriverRules::default().check(&levels.fs, &levels.device) {
            refuse!("--resume: {}: {error}; start a new RUN", contender.label);
        }
    }
    Ok(())
}

/// Refuses if the rest of the RUN would be another experiment, and says what has changed.
fn check_unchanged(
    run: RunId,
    header: &RunHeader,
    records: &[TrialRecord],
    (rest, crashes): (&RunPlan, &CrashesLeft),
) -> Result<()> {
    let host = fsarena_metrics::host(&KernelRoots::default());
    let hash = program_sha256()?;
    // By the paths of the user: after a reboot the kernel's names may be others, and a link may
    // lead elsewhere by now.
    let roots = inventory::Roots::default();
    let look = |path: &Path| (path.to_owned(), inventory::identify(path, &roots).ok());
    let devices: Vec<(PathBuf, Option<DeviceIdentity>)> =
        rest.block_paths().into_iter().map(look).collect();
    let is_left = |index: usize| {
        crashes.has(index) || rest.schedule.iter().any(|slot| slot.contender == index)
    };
    let tools: BTreeMap<String, Option<String>> = rest
        .contenders
        .iter()
        .enumerate()
        .filter(|(index, _)| is_left(*index))
        .filter_map(|(_, contender)| fsarena_filesystems::driver(&contender.levels.fs).ok())
        .map(|driver| (driver.name().to_owned(), driver.version()))
        .collect();
    let files = header.place.iter().flat_map(|place| &place.kernel_files);
    let kernel_files: BTreeMap<PathBuf, Option<String>> = files
        .filter(|file| {
            let mut all = (0..rest.contenders.len()).filter(|index| is_left(*index));
            all.any(|index| is_kernel_of(rest, index, file))
        })
        .map(|file| (file.path.clone(), kernel::sha256_of(&file.path).ok()))
        .collect();
    let now = fsarena_runner::Now {
        host: &host,
        program_sha256: &hash,
        devices: &devices,
        tools: &tools,
        kernel_files: &kernel_files,
    };
    let changes = fsarena_runner::differences(header, records, &now);
    if changes.is_empty() {
        return Ok(());
    }
    refuse!(
        "--resume: RUN {run} cannot be resumed, because its trials would not be comparable:\n  \
         {}\nstart a new RUN instead",
        changes.join("\n  ")
    )
}

/// Crash runs that are to be done.
struct CrashesLeft {
    slots: Vec<CrashSlot>,
}

impl CrashesLeft {
    fn new(plan: &RunPlan, stored: &[StoredCrashRun]) -> Self {
        let mut slots = plan.crash_slots();
        slots.retain(|slot| stored.iter().all(|done| done.slot != *slot));
        Self { slots }
    }

    fn has(&self, contender: usize) -> bool {
        self.slots.iter().any(|slot| slot.contender == contender)
    }
}

/// Whether a contender is in guests of this kernel.
pub(super) fn is_kernel_of(plan: &RunPlan, contender: usize, file: &KernelFile) -> bool {
    match &plan.contenders[contender].levels.device {
        DeviceLevel::Virtual { kernel, .. } => *kernel == file.level,
        _ => false,
    }
}
