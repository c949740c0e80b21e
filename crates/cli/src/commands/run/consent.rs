//! What the user has to agree to before anything is touched: commands, programs that others may
//! change, and the loss of data.

mod commands;
mod programs;

use crate::args::RunArgs;
use crate::commands::trust;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_devices::vet::{self, WipeConsent};
use fsarena_hosts::TrustedSsh;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::run::RunPlan;
use fsarena_model::trust::TrustConsent;
use fsarena_model::work::UserIds;
use fsarena_runner::OwnPaths;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

pub(super) use commands::{StoredCommands, confirm_commands, confirm_kernels, confirm_stored};

/// What `--wipe` and `--trust` say.
pub(super) struct Consents {
    pub(super) wipe: Vec<WipeConsent>,
    pub(super) trust: Vec<TrustConsent>,
}

impl Consents {
    /// Reads both options.
    pub(super) fn parse(args: &RunArgs) -> Result<Self> {
        let trust = args.trust.iter().map(|text| trust::parse_consent(text));
        let trust = trust.collect::<Result<Vec<_>>>()?;
        // What is refused in spite of it is refused before anything is started.
        fsarena_process::trust::accept(&trust);
        Ok(Self { wipe: parse(&args.wipe)?, trust })
    }
}

/// Refuses programs that root would run and that somebody else may change: those that are written
/// out in commands, the guest kernels of `plan`, of which `files` are those that are no built ones,
/// and the ssh to hosts.
pub(super) fn vet_programs(
    plan: &RunPlan,
    user: Option<UserIds>,
    (files, ssh): (Vec<PathBuf>, Option<&TrustedSsh>),
    consents: &[TrustConsent],
) -> Result<()> {
    let mut all = programs::written_out(plan, user);
    all.extend(files);
    all.extend(ssh.map(|ssh| ssh.program().path().to_owned()));
    for contender in &plan.contenders {
        if let DeviceLevel::Virtual { kernel, .. } = &contender.levels.device {
            all.extend(context::kernels()?.called(kernel).map(|found| found.binary));
        }
    }
    all.sort();
    all.dedup();
    trust::check_programs(&all, consents)
}

fn parse(wipe: &[String]) -> Result<Vec<WipeConsent>> {
    let parsed = wipe.iter().map(|text| WipeConsent::parse(text));
    Ok(parsed.collect::<Result<_, _>>().map_err(|error| Usage(format!("--wipe {error}")))?)
}

/// Directories of an experiment file are vetted as those of `--on` are, before anything is made.
pub(super) fn vet_directories(plan: &RunPlan) -> Result<()> {
    for contender in &plan.contenders {
        if let DeviceLevel::Directory { path } = &contender.levels.device {
            vet::vet_directory(path).map_err(|error| Usage(error.to_string()))?;
        }
    }
    Ok(())
}

/// Vets the user's devices that trials of `plan` work on against what `--wipe` gives up; gives each
/// path of the plan with what it leads to. `is_rest` says that the plan is what is left of a RUN.
pub(super) fn vet_devices(
    plan: &RunPlan,
    consents: &[WipeConsent],
    ours: OwnPaths<'_>,
    is_rest: bool,
) -> Result<Vec<(PathBuf, DeviceIdentity)>> {
    let mut vetted: Vec<(PathBuf, DeviceIdentity)> = Vec::new();
    for path in plan.block_paths() {
        let device = ours.vet_block(path, consents).map_err(|error| Usage(error.to_string()))?;
        vetted.push((path.to_owned(), device.identity().clone()));
    }
    check_devices(plan, consents, is_rest)?;
    Ok(vetted)
}

/// Each device is under test once, and every device of `--wipe` is under test.
fn check_devices(plan: &RunPlan, consents: &[WipeConsent], is_rest: bool) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut found: Vec<PathBuf> = Vec::new();
    for path in plan.block_paths() {
        let device = real(path);
        let number = device_number(&device);
        if found
            .iter()
            .any(|known| *known == device || (number.is_some() && device_number(known) == number))
        {
            let path = path.display();
            refuse!("--on {path}: this device is named twice");
        }
        found.push(device);
    }
    match consents.iter().find(|consent| !found.contains(&real(&consent.device))) {
        Some(consent) => {
            let path = consent.device.display();
            let what = if is_rest {
                "not under test in the trials that are left; leave this option out"
            } else {
                "not under test; name it with --on"
            };
            refuse!("--wipe {path}: this device is {what}")
        }
        None => Ok(()),
    }
}

fn device_number(path: &Path) -> Option<u64> {
    let meta = std::fs::metadata(path).ok()?;
    meta.file_type().is_block_device().then(|| meta.rdev())
}
