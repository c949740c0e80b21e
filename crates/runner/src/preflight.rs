//! What a RUN refuses before it makes anything: one check for a RUN and for its dry run.
//!
//! Looks and changes nothing. What can only be known from what was made (a queue of a device that
//! is not there yet) is checked again when it is there; everything else is refused here first, so
//! that `--dry-run` and a RUN say the same.

use crate::own_paths::{OwnPaths, check};
use crate::request::{MEMORY_DIR, RunError};
use crate::resources::{check_sources, check_tuning, image_bytes, needs_claim};
use crate::staged_sources::StagingDirs;
use fsarena_devices::vet::vet_image_dir;
use fsarena_devices::{claim, mount};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::run::RunPlan;
use rustix::fs::{Access, access};
use std::path::Path;

/// Checks everything that a RUN of `plan` would refuse, but the consent to wipe devices.
///
/// # Errors
/// The first thing that is wrong, with what to do.
pub fn preflight(plan: &RunPlan, ours: OwnPaths<'_>, is_root: bool) -> Result<(), RunError> {
    check(plan, ours.database)?;
    can_be_made(ours.state_dir, "set FSARENA_STATE_DIR to a writable directory")?;
    can_be_made(ours.database, "name another database with --db")?;
    let left: Vec<usize> = (0..plan.schedule.len()).collect();
    for contender in scheduled(plan) {
        check_tuning(&contender.levels)?;
        // Those of a guest are asked of its kernel by the first trial.
        if is_root && !contender.levels.device.is_virtual() {
            check_mount_options(contender)?;
        }
        if needs_claim(&contender.levels) {
            claim::check(&contender.levels.device)?;
        }
    }
    let dirs =
        StagingDirs { disk: ours.image_dir, memory: Path::new(MEMORY_DIR), state: ours.state_dir };
    check_sources(plan, &left, dirs, &|| false)?;
    let (on_disk, in_memory) = image_bytes(plan, &left);
    let uses = |is_kind: fn(&DeviceLevel) -> bool| {
        let mut claimed = scheduled(plan).filter(|contender| needs_claim(&contender.levels));
        claimed.any(|contender| contender.levels.device.parts().iter().any(is_kind))
    };
    if uses(|device| matches!(device, DeviceLevel::Loop { .. })) {
        vet_image_dir(ours.image_dir, on_disk)?;
    }
    if uses(|device| matches!(device, DeviceLevel::Ram { .. })) {
        vet_image_dir(Path::new(MEMORY_DIR), in_memory)?;
    }
    Ok(())
}

/// The contenders that have a trial.
fn scheduled(plan: &RunPlan) -> impl Iterator<Item = &Contender> {
    let has_trial = |index: usize| plan.schedule.iter().any(|slot| slot.contender == index);
    let all = plan.contenders.iter().enumerate();
    all.filter(move |(index, _)| has_trial(*index)).map(|(_, contender)| contender)
}

/// Asks the kernel for each mount option: a word that it does not know would fail every trial.
fn check_mount_options(contender: &Contender) -> Result<(), RunError> {
    let fs = &contender.levels.fs;
    let Ok(driver) = fsarena_filesystems::driver(fs) else { return Ok(()) };
    let Some(fstype) = driver.kernel_type() else { return Ok(()) };
    let Some(refused) = mount::refused_option(fstype, &fs.mount) else { return Ok(()) };
    let of_mkfs = |word: &&String| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        refused.contains(word.as_str()) && driver.mkfs().options.iter().any(|o| o.name == name)
    };
    let remedy = match fs.mount.iter().find(of_mkfs) {
        Some(word) => format!("it is an option of mkfs: write mkfs.{word}"),
        None => "correct it, or leave it out".to_owned(),
    };
    Err(RunError::target(format!("{fs}: mount {refused}"), Some(&remedy)))
}

/// Refuses a path that cannot be written and cannot be made.
fn can_be_made(path: &Path, remedy: &str) -> Result<(), RunError> {
    let refuse = |place: &Path, what: &str| {
        RunError::target(format!("{}: {what}", place.display()), Some(remedy))
    };
    let Some(there) = path.ancestors().find(|place| place.exists()) else { return Ok(()) };
    if there != path && !there.is_dir() {
        return Err(refuse(there, "is not a directory"));
    }
    access(there, Access::WRITE_OK).map_err(|_| refuse(there, "cannot be written"))
}
