//! Formatted and mounted targets as typed states: what is formatted can be mounted, what is
//! mounted can be unmounted, and each undoes itself when dropped.
//!
//! Works from a [`TargetSpec`], in whichever process holds it; before every mkfs the device is
//! checked again to be the loop device of our image.

mod explain;

use crate::cmd::{self, Ran};
use crate::error::TargetError;
use crate::fs::{FileSystem, FsError, MountPlan, external};
use crate::mountinfo::{self, MountEntry};
use crate::{cache, fiemap, image, leftovers, loopdev};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limit for a command that makes, mounts or unmounts a file system.
const COMMAND_LIMIT: Duration = Duration::from_secs(30 * 60);
/// Limit for a mount to appear whose command has ended; its daemon may still be starting.
const APPEAR_LIMIT: Duration = Duration::from_secs(10);
/// Limit for a daemon to close its device.
const DAEMON_LIMIT: Duration = Duration::from_secs(60);
/// How long a busy mount is tried again.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// A target with a fresh file system. Dropping it runs the `destroy` command of an external one.
#[derive(Debug)]
pub struct Formatted {
    target: TargetSpec,
    plan: MountPlan,
    argv: Vec<String>,
    mkfs_ns: u64,
    destroyed: AtomicBool,
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
            MountPlan::Nothing => String::new(),
        }
    }

    /// Length of mkfs alone.
    #[must_use]
    pub fn mkfs_ns(&self) -> u64 {
        self.mkfs_ns
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &TargetSpec {
        &self.target
    }

    /// Runs the `destroy` command of an external file system, if it has one and it has not run
    /// yet. It must not be mounted.
    ///
    /// # Errors
    /// When the command fails.
    pub fn destroy(&self) -> Result<(), TargetError> {
        let MountPlan::Commands { destroy: Some(command), .. } = &self.plan else { return Ok(()) };
        if !self.destroyed.load(Ordering::Relaxed) {
            cmd::shell(command, COMMAND_LIMIT)?;
            self.destroyed.store(true, Ordering::Relaxed);
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
    }
}

/// Makes the file system anew: old signatures are overwritten, then mkfs runs. A directory is
/// emptied; for memory there is nothing to do.
///
/// # Errors
/// When the level is illegal, the device is not that of our image, or mkfs fails.
pub fn format(
    target: &TargetSpec,
    driver: &dyn FileSystem,
    level: &FsLevel,
    discard: Discard,
) -> Result<Formatted, TargetError> {
    let (device, size_bytes) = match target {
        TargetSpec::Image { device, size_bytes, .. } => (Some(device.as_path()), Some(*size_bytes)),
        TargetSpec::Memory { size_bytes } => (None, Some(*size_bytes)),
        TargetSpec::Directory { .. } => (None, None),
    };
    driver.check(level, size_bytes)?;
    fits(target, driver)?;
    let plan = driver.mount_plan(level, discard, target)?;
    if let TargetSpec::Directory { path } = target {
        leftovers::ours(path)?;
        leftovers::empty_dir(path)?;
    }
    if let TargetSpec::Image { device, image, size_bytes, .. } = target {
        wipe(device, image, *size_bytes)?;
    }
    let nowhere = Path::new("");
    let argv = driver.mkfs_argv(level, discard, device.unwrap_or(nowhere), size_bytes.unwrap_or(0));
    // Made before mkfs runs: what a failing create has begun, destroy undoes.
    let mut formatted = Formatted {
        target: target.clone(),
        plan,
        argv,
        mkfs_ns: 0,
        destroyed: AtomicBool::new(false),
    };
    if let Some((program, args)) = formatted.argv.split_first() {
        formatted.mkfs_ns = run_tool(driver, program, args)?.elapsed_ns;
    }
    if let (TargetSpec::Image { device, image, size_bytes, .. }, Discard::None) = (target, discard)
    {
        write_unwritten(device, image, *size_bytes)?;
    }
    Ok(formatted)
}

/// A file system for devices needs a device, and the other way round.
fn fits(target: &TargetSpec, driver: &dyn FileSystem) -> Result<(), TargetError> {
    use crate::fs::Place;
    let name = driver.name();
    let (path, problem, remedy) = match (driver.place(), target) {
        (Place::Block, TargetSpec::Image { .. })
        | (Place::Memory | Place::Elsewhere, TargetSpec::Memory { .. })
        | (Place::Directory, TargetSpec::Directory { .. }) => return Ok(()),
        (_, TargetSpec::Image { device, .. }) => {
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
    let tool = if program.starts_with('/') {
        PathBuf::from(program)
    } else {
        let package = || driver.tools().into_iter().find(|need| need.program == program)?.package;
        let missing = || FsError::MissingTool { program: program.to_owned(), package: package() };
        cmd::find(program).ok_or_else(missing)?.path
    };
    Ok(cmd::run_with(&tool, args, driver.mkfs_env(), COMMAND_LIMIT)?)
}

/// Overwrites signatures.
fn wipe(device: &Path, our_image: &Path, size_bytes: u64) -> Result<(), TargetError> {
    let file = open_ours(device, our_image)?;
    image::wipe_signatures(&file, size_bytes)
        .map_err(|error| TargetError::io("wipe", device, error))?;
    drop(file);
    cache::flush_device(device)
}

/// Opens the device for writing, having made sure that it is the loop device of our image and that
/// nobody has it mounted.
fn open_ours(device: &Path, our_image: &Path) -> Result<File, TargetError> {
    leftovers::ours(our_image)?;
    // O_EXCL on a block device fails while it is mounted, swapped to or held by another driver.
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let file = open(device, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| TargetError::io("open for mkfs", device, error))?;
    if loopdev::backing_file(device).as_deref() != Some(our_image) {
        return Err(TargetError::state(
            device,
            format!("is not the loop device of {} any more", our_image.display()),
            "start the run again",
        ));
    }
    Ok(file)
}

/// Writes the blocks of the image that mkfs has turned into unwritten ones.
fn write_unwritten(device: &Path, our_image: &Path, size_bytes: u64) -> Result<(), TargetError> {
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
    let file = open_ours(device, our_image)?;
    fiemap::write_zeros(&file, &ranges, size_bytes)
        .map_err(|error| TargetError::io("write zeros to", device, error))?;
    drop(file);
    cache::flush_device(device)
}

/// A mounted file system, or a directory. Dropping it unmounts.
#[derive(Debug)]
pub struct Mounted {
    path: PathBuf,
    fstype: String,
    options: String,
    mount_ns: u64,
    how: Unmount,
}

/// How it is unmounted.
#[derive(Debug)]
enum Unmount {
    /// Not: it is a directory, or it is done, or it is kept.
    Nothing,
    /// umount2(2), then wait until no daemon has this device open.
    Kernel { daemon_device: Option<PathBuf> },
    /// By this command, likewise.
    Command { command: String, daemon_device: Option<PathBuf> },
}

impl Mounted {
    /// Mount and superblock options in mountinfo, comma-separated.
    #[must_use]
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Type in mountinfo: `ext4`, `fuse.fuse2fs`.
    #[must_use]
    pub fn fstype(&self) -> &str {
        &self.fstype
    }

    /// The root of the tree: the mount point, or the directory of ours.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length of mounting, with the start of the program that does it.
    #[must_use]
    pub fn mount_ns(&self) -> u64 {
        self.mount_ns
    }

    /// Unmounts. Gives the length of umount2(2) alone; where a daemon serves the file system or a
    /// command unmounts it, until the command has ended and the daemon has closed the device.
    ///
    /// # Errors
    /// Gives the mount back with the reason, usually `EBUSY`.
    pub fn unmount(mut self) -> Result<u64, Box<(Self, TargetError)>> {
        match self.unmount_now() {
            Ok(ns) => Ok(ns),
            Err(error) => Err(Box::new((self, error))),
        }
    }

    /// Leaves it mounted, for inspection.
    pub fn keep(mut self) {
        self.how = Unmount::Nothing;
    }

    fn unmount_now(&mut self) -> Result<u64, TargetError> {
        let start = Instant::now();
        let (ns, device) = match &self.how {
            Unmount::Nothing => return Ok(0),
            Unmount::Kernel { daemon_device } => (umount(&self.path)?, daemon_device.clone()),
            Unmount::Command { command, daemon_device } => {
                let ran = cmd::shell(command, COMMAND_LIMIT)?;
                if mounted_at(&self.path)?.is_some() {
                    return Err(TargetError::state(
                        &self.path,
                        format!("still mounted after \"{command}\""),
                        "correct the unmount command of this file system",
                    ));
                }
                (ran.elapsed_ns, daemon_device.clone())
            }
        };
        self.how = Unmount::Nothing;
        let Some(device) = device else { return Ok(ns) };
        wait_closed(&device)?;
        Ok(nanos(start.elapsed()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.unmount_now().is_err() {
            let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
            let _ = unmount(&self.path, flags);
        }
    }
}

/// Mounts at `mnt`, an empty directory below one of ours. A directory target is where it is, and
/// `mnt` is not used.
///
/// # Errors
/// When the kernel, mount(8) or the command refuses; the text has the options.
pub fn mount(formatted: &Formatted, mnt: &Path) -> Result<Mounted, TargetError> {
    if let TargetSpec::Directory { path } = formatted.target() {
        // Only for the record.
        let entry = mountinfo::of_path(path).ok().flatten();
        return Ok(Mounted {
            path: path.clone(),
            fstype: entry.as_ref().map(|entry| entry.fstype.clone()).unwrap_or_default(),
            options: entry.as_ref().map(MountEntry::options).unwrap_or_default(),
            mount_ns: 0,
            how: Unmount::Nothing,
        });
    }
    let mnt = our_mount_point(mnt)?;
    let before = mounted_at(&mnt)?.map(|entry| entry.id);
    let start = Instant::now();
    let device = match formatted.target() {
        TargetSpec::Image { device, .. } => Some(device.clone()),
        _ => None,
    };
    let how = match &formatted.plan {
        MountPlan::Kernel { fstype, source, options } => {
            kernel_mount(fstype, source, options, &mnt)?;
            Unmount::Kernel { daemon_device: None }
        }
        MountPlan::Commands { mount, unmount, .. } => {
            let command = external::fill_mount_point(mount, &mnt);
            if let Err(error) = cmd::shell(&command, COMMAND_LIMIT) {
                // It may have got half way.
                let _ = unmount_quietly(&mnt, before);
                return Err(error.into());
            }
            match unmount {
                Some(command) => Unmount::Command {
                    command: external::fill_mount_point(command, &mnt),
                    daemon_device: device,
                },
                None => Unmount::Kernel { daemon_device: device },
            }
        }
        MountPlan::Nothing => Unmount::Nothing,
    };
    let mut mounted =
        Mounted { path: mnt, fstype: String::new(), options: String::new(), mount_ns: 0, how };
    let entry = appeared(&mounted.path, before)?;
    mounted.mount_ns = nanos(start.elapsed());
    mounted.options = entry.options();
    mounted.fstype = entry.fstype;
    Ok(mounted)
}

/// The mount point without symbolic links; some part of its path must be ours.
fn our_mount_point(mnt: &Path) -> Result<PathBuf, TargetError> {
    let mnt = mnt.canonicalize().map_err(|error| TargetError::io("mount at", mnt, error))?;
    let is_ours = |part: &OsStr| part.to_string_lossy().contains("fsarena");
    if mnt.iter().any(is_ours) {
        Ok(mnt)
    } else {
        Err(TargetError::state(&mnt, "not made by fsarena, so nothing is mounted there", ""))
    }
}

fn kernel_mount(
    fstype: &str,
    source: &str,
    options: &[String],
    mnt: &Path,
) -> Result<(), TargetError> {
    let missing =
        || FsError::MissingTool { program: "mount".to_owned(), package: Some("mount".to_owned()) };
    let tool = cmd::find("mount").ok_or_else(missing)?;
    let joined = options.join(",");
    let mut args: Vec<&OsStr> = ["-i", "-n", "-t", fstype].map(OsStr::new).into();
    if !joined.is_empty() {
        args.extend([OsStr::new("-o"), OsStr::new(&joined)]);
    }
    args.extend([OsStr::new("--"), OsStr::new(source), mnt.as_os_str()]);
    match cmd::run(&tool.path, &args, COMMAND_LIMIT) {
        Ok(_) => Ok(()),
        Err(cmd::CmdError::Failed { last_lines, .. }) => Err(TargetError::Mount {
            fstype: fstype.to_owned(),
            source_path: PathBuf::from(source),
            problem: explain::refusal(fstype, source, options, &last_lines),
            options: joined,
        }),
        Err(error) => Err(error.into()),
    }
}

/// The topmost mount at `mnt`.
fn mounted_at(mnt: &Path) -> Result<Option<MountEntry>, TargetError> {
    mountinfo::at(mnt).map_err(|error| TargetError::io("read mountinfo for", mnt, error))
}

/// Waits for a new mount at `mnt`; a daemon may still be starting.
fn appeared(mnt: &Path, before: Option<u64>) -> Result<MountEntry, TargetError> {
    let deadline = Instant::now() + APPEAR_LIMIT;
    loop {
        match mounted_at(mnt)? {
            Some(entry) if Some(entry.id) != before => return Ok(entry),
            _ if Instant::now() > deadline => {
                return Err(TargetError::state(
                    mnt,
                    "the mount command has ended well, and nothing is mounted",
                    "correct the mount command of this file system",
                ));
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn unmount_quietly(mnt: &Path, before: Option<u64>) -> Result<(), TargetError> {
    match mounted_at(mnt)? {
        Some(entry) if Some(entry.id) != before => umount(mnt).map(|_| ()),
        _ => Ok(()),
    }
}

/// umount2(2), tried again while it is busy for a moment; gives the length of the last call.
fn umount(mnt: &Path) -> Result<u64, TargetError> {
    let deadline = Instant::now() + BUSY_LIMIT;
    loop {
        let start = Instant::now();
        match unmount(mnt, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(nanos(start.elapsed())),
            Err(rustix::io::Errno::BUSY) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(TargetError::io("umount2", mnt, error)),
        }
    }
}

/// Waits until no other process has the device open: umount2 of a FUSE file system comes back
/// before its daemon has written everything and ended.
fn wait_closed(device: &Path) -> Result<(), TargetError> {
    let deadline = Instant::now() + DAEMON_LIMIT;
    // As this /proc counts: it may be that of an outer PID namespace.
    let own = std::fs::read_link("/proc/self").unwrap_or_default().display().to_string();
    // Whoever holds the claim has the device open too, and is not waited for.
    while let Some(pid) = opener(device, &own) {
        if Instant::now() > deadline {
            return Err(TargetError::state(
                device,
                format!("process {pid} still has it open after the unmount"),
                "end it; the file system may not be written completely",
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// A process that has the device open and was started after the mount: not this one, and none of
/// its ancestors.
fn opener(device: &Path, own: &str) -> Option<String> {
    let ancestors = ancestors(own);
    let processes = std::fs::read_dir("/proc").ok()?;
    processes.flatten().find_map(|entry| {
        let pid = entry.file_name().into_string().ok()?;
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) || ancestors.contains(&pid) {
            return None;
        }
        let fds = std::fs::read_dir(entry.path().join("fd")).ok()?;
        let open =
            fds.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == device));
        open.then_some(pid)
    })
}

/// The process and its parents up to process 1.
fn ancestors(pid: &str) -> Vec<String> {
    let mut all = vec![pid.to_owned()];
    while let Some(parent) = all.last().and_then(|pid| parent_of(pid)) {
        if parent == "0" || all.contains(&parent) {
            break;
        }
        all.push(parent);
    }
    all
}

fn parent_of(pid: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Some(line.trim().to_owned())
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
