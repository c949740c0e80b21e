//! Programs of i386 for a RUN: found in root's cache, compared with those that are installed, kept
//! while the RUN lasts.

use crate::context;
use anyhow::{Context as _, Result};
use fsarena_guests::program_tree::{
    HeldPrograms, InstalledTree, NativePackages, ProgramCache, missing_here,
};
use fsarena_model::run::{ProgramPackage, RunPlan, RunPrograms};
use fsarena_runner::{I386Programs, drop_without_i386, has_i386_trials};
use std::path::PathBuf;

/// Those of this machine, or why there are none.
struct InstalledPrograms(Result<InstalledTree, String>);

impl I386Programs for InstalledPrograms {
    fn missing(&self) -> Option<String> {
        self.0.as_ref().err().cloned()
    }

    fn has(&self, program: &str) -> bool {
        self.0.as_ref().is_ok_and(|tree| tree.has(program))
    }
}

/// Takes out of `plan` what programs of i386 cannot do here.
pub(super) fn drop_without(plan: &mut RunPlan) {
    if has_i386_trials(plan) {
        drop_without_i386(plan, &InstalledPrograms(found()));
    }
}

fn found() -> Result<InstalledTree, String> {
    if let Some(reason) = missing_here() {
        return Err(reason);
    }
    if !context::is_root() {
        return Err("programs of i386 need root".to_owned());
    }
    let cache = context::programs().map_err(|error| context::reason(&error))?;
    cache.check_owner().map_err(|error| error.to_string())?;
    let none = || "there are no programs of i386 here: fsarena programs add i386".to_owned();
    let tree = cache.tree().ok_or_else(none)?;
    tree.start_loader().map_err(|error| error.to_string())?;
    Ok(tree)
}

/// The programs of a plan, for its RUN; nothing where none of its trials has them.
///
/// # Errors
/// Where this machine has other versions installed: two versions would be compared, not two widths.
pub(super) fn of_run(plan: &RunPlan) -> Result<Option<RunPrograms>> {
    if !has_i386_trials(plan) {
        return Ok(None);
    }
    let tree = context::programs()?.tree().context("the programs of i386 were deleted")?;
    let native = NativePackages::installed()?;
    let differs = |(package, version): &(&_, String)| {
        let package: &fsarena_guests::program_tree::Package = package;
        format!("{} {version} is installed, {} is of i386", package.name, package.version)
    };
    let differences: Vec<String> = tree.manifest.differences(&native).iter().map(differs).collect();
    if !differences.is_empty() {
        refuse!(
            "--programs: versions would be compared, not widths: {}; bring both to one version \
             (apt-get upgrade, fsarena programs add i386)",
            differences.join("; ")
        );
    }
    let loaded = tree.manifest.packages.iter().filter(|package| package.is_loaded);
    let package = |one: &fsarena_guests::program_tree::Package| ProgramPackage {
        name: one.name.clone(),
        version: one.version.clone(),
        sha256: one.sha256.clone(),
    };
    Ok(Some(RunPrograms {
        key: tree.manifest.key.clone(),
        packages: loaded.map(package).collect(),
    }))
}

/// The programs that a RUN was planned with, kept until what is given back is dropped.
///
/// # Errors
/// Where they are gone, or others.
pub(super) fn hold(programs: &RunPrograms) -> Result<(HeldPrograms, PathBuf)> {
    let cache: ProgramCache = context::programs()?;
    cache.check_owner()?;
    let tree = cache.tree().filter(|tree| tree.manifest.key == programs.key);
    let Some(tree) = tree else {
        refuse!("the programs of i386 are not those of the RUN any more (key {})", programs.key);
    };
    let held = tree.hold().context("the programs of i386 are being deleted")?;
    Ok((held, tree.usr()))
}
