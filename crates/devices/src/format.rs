//! Formatted targets: a typed state, made by wiping and mkfs, that undoes itself when dropped.
//!
//! Works from a [`TargetSpec`], in whichever process holds it. Before every write to a device it is
//! opened by `reopen`, which checks again what it is; a path alone is never trusted.

use crate::TargetError;
use crate::inventory::{Roots, forget_parts};
use crate::{cache, fiemap, image, leftovers, members, reopen};
use fsarena_filesystems::{FileSystem, FsError, MountPlan, external};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_process::cmd::{self, Conditions, Ran};
use fsarena_process::limits::Limits;
use fsarena_process::program::TrustedProgram;
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Limit for a command that makes, mounts or unmounts a file system.
pub(crate) const COMMAND_LIMIT: Duration = Duration::from_secs(30 * 60);

/// A target with a fresh file system. Dropping it runs the `destroy` command of an external one,
/// where the device is still the one that was claimed.
#[derive(Debug)]
pub struct Formatted {
    target: TargetSpec,
    plan: MountPlan,
    argv: Vec<String>,
    mkfs_ns: u64,
    destroyed: AtomicBool,
    /// What the external file system has made holds the device, mounted or not.
    held_by_what_was_made: bool,
}

impl Formatted {
    /// The command that made it, with the program's name first; empty where nothing was made.
    #[must_use]
    pub fn mkfs_argv(&self) -> &[String] {
        &self.argv
    }

    /// The `-o` text that mount will get; the whole command of an external file system.
    #[must_use]
    pub fn mount_asked(&self) -> String {
        match &self.plan {
            MountPlan::Kernel { options, .. } => options.join(","),
            MountPlan::Commands { mount, .. } => external::shown(mount),
            MountPlan::Nothing | MountPlan::Node => String::new(),
        }
    }

    /// Length of mkfs alone.
    #[must_use]
    pub fn mkfs_ns(&self) -> u64 {
        self.mkfs_ns
    }

    #[must_use]
    pub fn target(&self) -> &TargetSpec {
        &self.target
    }

    /// Features and sizes as the file system on the device itself tells them
    /// ([`FileSystem::effective_features`]), read only from the device that was claimed. It must
    /// not be mounted.
    ///
    /// # Errors
    /// When it is another device by now or in use, or the program is missing or fails.
    pub fn features(
        &self,
        driver: &dyn FileSystem,
    ) -> Result<BTreeMap<String, String>, TargetError> {
        let Some(device) = self.target.device() else { return Ok(BTreeMap::new()) };
        self.check_before_use()?;
        Ok(driver.effective_features(device)?)
    }

    /// The device is still the one that was claimed, and no process uses it but what was made of
    /// it.
    pub(crate) fn check_before_use(&self) -> Result<(), TargetError> {
        match self.held_by_what_was_made {
            true => reopen::recheck_identity(&self.target),
            false => reopen::recheck_unused(&self.target),
        }
    }

    pub(crate) fn plan(&self) -> &MountPlan {
        &self.plan
    }

    /// Runs the `destroy` command of an external file system, if it has one and it has not run
    /// yet, and wipes what it leaves on a device of the user's: its signatures are not known by
    /// name, and the next one has to find nothing strange. It must not be mounted.
    ///
    /// # Errors
    /// When the device is not the one that was claimed any more: then the command is not run, now
    /// or later. When the command fails.
    pub fn destroy(&self) -> Result<(), TargetError> {
        let MountPlan::Commands { destroy, .. } = &self.plan else { return Ok(()) };
        if self.destroyed.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Err(error) = reopen::recheck_identity(&self.target) {
            self.destroyed.store(true, Ordering::Relaxed);
            let Some(command) = destroy else { return Ok(()) };
            return Err(TargetError::state(
                self.target.device().unwrap_or(Path::new("target")),
                format!("\"{command}\" was not run: {error}"),
                "look at what is left of it, and take that down yourself",
            ));
        }
        if let Some(command) = destroy {
            let command = TrustedProgram::confirmed(command);
            cmd::run_with(&command, &cmd::NO_ARGS, &Conditions::of_writer(COMMAND_LIMIT))?;
        }
        self.destroyed.store(true, Ordering::Relaxed);
        for part in self.target.parts() {
            if let TargetSpec::Block { device, size_bytes, under: Under::Real { .. }, .. } = &part {
                // Where something still holds it, the next reset says so.
                let _ = reopen::for_writing(&part)
                    .and_then(|held| wipe(&part, held, device, *size_bytes));
            }
        }
        Ok(())
    }

    /// Leaves an external file system as it is.
    pub fn keep(self) {
        self.destroyed.store(true, Ordering::Relaxed);
    }
}

impl Drop for Formatted {
    fn drop(&mut self) {
        let _ = self.destroy();
        // Where it is still mounted it is known for good reason.
        let _ = members::forget(&self.target);
    }
}

/// Makes the file system anew: old signatures are overwritten, then mkfs runs. A directory is
/// emptied; for memory there is nothing to do.
///
/// # Errors
/// When the level is illegal, the device is another one than was claimed or in use, something has
/// come onto a device of the user's that was neither given up nor is made here (not looked at for
/// an external file system, whose own signatures are not known), or mkfs fails.
pub fn format(
    target: &TargetSpec,
    driver: &dyn FileSystem,
    level: &FsLevel,
    discard: Discard,
) -> Result<Formatted, TargetError> {
    let sizes = sizes_of(target);
    driver.check_devices(level, &sizes)?;
    fits(target, driver)?;
    let plan = driver.mount_plan(level, discard, target)?;
    if let TargetSpec::Directory { path } = target {
        leftovers::ours(path)?;
        leftovers::empty_dir(path)?;
    }
    let parts = target.parts();
    // Of several devices none is written before all are looked at; each is waited for, where a
    // trial that was killed still holds it.
    let held_of = |part: &TargetSpec| match level.external {
        None => reopen::to_overwrite(part),
        Some(_) => reopen::for_writing(part),
    };
    if parts.len() > 1 {
        parts.iter().try_for_each(|part| held_of(part).map(drop))?;
        members::forget(target)?;
    }
    for part in &parts {
        let held = held_of(part)?;
        if let Some((device, size_bytes)) = part.device().zip(part.size_bytes()) {
            wipe(part, held, device, size_bytes)?;
        }
    }
    let argv = driver.mkfs_argv_on(level, discard, &target.devices(), &sizes);
    // Made before mkfs runs: what a failing create has begun, destroy undoes.
    let mut formatted = Formatted {
        target: target.clone(),
        plan,
        argv,
        mkfs_ns: 0,
        destroyed: AtomicBool::new(false),
        held_by_what_was_made: false,
    };
    if let Some((program, args)) = formatted.argv.split_first() {
        reopen::recheck_unused(target)?;
        formatted.mkfs_ns = run_tool(driver, program, args)?.elapsed_ns;
        if level.external.is_some() {
            reopen::recheck_identity(target)?;
            formatted.held_by_what_was_made = reopen::recheck_unused(target).is_err();
        }
    }
    for part in parts.iter().filter(|_| discard.is_none()) {
        if let TargetSpec::Block { device, size_bytes, under: Under::Image { image, .. }, .. } =
            part
        {
            write_unwritten(part, device, image, *size_bytes)?;
        }
    }
    Ok(formatted)
}

/// Sizes of what a file system is made on, of each device; a directory has none of its own.
fn sizes_of(target: &TargetSpec) -> Vec<u64> {
    match target {
        TargetSpec::Block { .. } => {
            target.parts().iter().filter_map(TargetSpec::size_bytes).collect()
        }
        other => other.size_bytes().into_iter().collect(),
    }
}

/// A file system for devices needs a device, and the other way round.
fn fits(target: &TargetSpec, driver: &dyn FileSystem) -> Result<(), TargetError> {
    use fsarena_filesystems::Backing;
    let name = driver.name();
    let (path, problem, remedy) = match (driver.backing(), target) {
        (Backing::Block, TargetSpec::Block { .. })
        | (Backing::Memory | Backing::Elsewhere, TargetSpec::Memory { .. })
        | (Backing::Directory, TargetSpec::Directory { .. }) => return Ok(()),
        (_, TargetSpec::Block { device, .. }) => {
            (device.as_path(), format!("{name} does not lie on a device"), "use --on ram:SIZE")
        }
        (_, TargetSpec::Memory { .. }) => {
            (Path::new(name), "it does not live in memory alone".to_owned(), "use --on loop:SIZE")
        }
        (_, TargetSpec::Directory { path }) => (
            path.as_path(),
            format!("{name} cannot be made in a directory"),
            "use --on loop:SIZE, or the file system \"directory\"",
        ),
    };
    Err(TargetError::state(path, problem, remedy))
}

fn run_tool(driver: &dyn FileSystem, program: &str, args: &[String]) -> Result<Ran, TargetError> {
    // The shell of a `create` command, which may write whatever image it likes.
    let (tool, limits) = if program.starts_with('/') {
        let tool = TrustedProgram::at(Path::new(program))
            .map_err(|error| TargetError::io("start", Path::new(program), error.into_io()))?;
        (tool, Limits::of_writer())
    } else {
        let package = || driver.tools().into_iter().find(|need| need.program == program)?.package;
        let missing = || FsError::MissingTool { program: program.to_owned(), package: package() };
        (cmd::find(program).ok_or_else(missing)?, Limits::of_tool())
    };
    let conditions =
        Conditions { env: driver.mkfs_env(), limits, ..Conditions::within(COMMAND_LIMIT) };
    Ok(cmd::run_with(&tool, args, &conditions)?)
}

/// Overwrites signatures; the parts of a disk of the user's go with their table.
fn wipe(
    target: &TargetSpec,
    held: File,
    device: &Path,
    size_bytes: u64,
) -> Result<(), TargetError> {
    image::wipe_signatures(&held, size_bytes)
        .map_err(|error| TargetError::io("wipe", device, error))?;
    if let TargetSpec::Block { under: Under::Real { identity, .. }, .. } = target {
        forget_parts(&held, identity, &Roots::default())?;
    }
    drop(held);
    cache::flush_device(device)
}

/// Writes the blocks of the image that mkfs has turned into unwritten ones.
///
/// Only an image needs it: there is no second file system under a device that was made or is real,
/// which could have unwritten extents.
fn write_unwritten(
    target: &TargetSpec,
    device: &Path,
    our_image: &Path,
    size_bytes: u64,
) -> Result<(), TargetError> {
    // What mkfs has left in the cache is written by then, so that these blocks hold only zeros.
    cache::flush_device(device)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let image = open(our_image, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| TargetError::io("open", our_image, error))?;
    let ranges = fiemap::unwritten(&image)
        .map_err(|error| TargetError::io("FS_IOC_FIEMAP", our_image, error))?
        .unwrap_or_default();
    if ranges.is_empty() {
        return Ok(());
    }
    let file = reopen::for_writing(target)?;
    fiemap::write_zeros(&file, &ranges, size_bytes)
        .map_err(|error| TargetError::io("write zeros to", device, error))?;
    drop(file);
    cache::flush_device(device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_filesystems::driver;

    #[test]
    fn no_configuration_of_the_machine_decides_how_ext_is_made() {
        for name in ["ext2", "ext3", "ext4"] {
            let driver = driver(&FsLevel::plain(name)).unwrap();
            let args = ["-c", "echo $MKE2FS_CONFIG"].map(str::to_owned);
            let ran = run_tool(&*driver, "/bin/sh", &args).unwrap();
            assert_eq!(ran.stdout, "/proc/nonexistent\n", "{name}");
        }
    }

    #[test]
    fn a_directory_that_is_not_ours_is_not_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("my-fsarena-results");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join("file"), "").unwrap();
        let driver = driver(&FsLevel::plain("directory")).unwrap();
        let target = TargetSpec::Directory { path: theirs.clone() };
        let level = FsLevel::plain("directory");
        let error = format(&target, &*driver, &level, Discard::None).unwrap_err();
        assert!(error.to_string().contains("left alone"), "{error}");
        assert!(theirs.join("file").exists());
    }
}
