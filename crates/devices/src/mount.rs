//! Mounted targets: a typed state that undoes itself when dropped.
//!
//! Works from a [`Formatted`], in whichever process holds it. Mounts only where some part of the
//! path is ours, and never starts a helper such as `mount.nilfs2`, which would leave a daemon
//! behind.

mod explain;

pub use explain::refused_option;

use crate::TargetError;
use crate::cache;
use crate::format::{COMMAND_LIMIT, Formatted};
use crate::inventory::{ancestors, block_number};
use crate::mountinfo::{self, MountEntry};
use crate::reopen;
use crate::settle::nanos;
use fsarena_filesystems::{FsError, MountPlan, external};
use fsarena_model::spec::TargetSpec;
use fsarena_process::cmd::{self, CmdError, Conditions, Ran};
use fsarena_process::limits::Limits;
use fsarena_process::program::TrustedProgram;
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit for a mount to appear whose command has ended; its daemon may still be starting.
const APPEAR_LIMIT: Duration = Duration::from_secs(10);
/// Of the directory in memory that has a node of a device: no room but for its name.
const NODE_OPTIONS: [&str; 3] = ["size=64k", "nr_inodes=8", "mode=0755"];
/// How long a busy mount is tried again.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// A mounted file system, or a directory. Dropping it unmounts.
#[derive(Debug)]
pub struct Mounted {
    path: PathBuf,
    fstype: String,
    options: String,
    mount_ns: u64,
    how: Unmount,
    /// The device, where no file system holds it.
    held: Option<File>,
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
                let program = TrustedProgram::confirmed(command);
                let conditions = Conditions::of_writer(COMMAND_LIMIT);
                let ran = cmd::run_with(&program, &cmd::NO_ARGS, &conditions)?;
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
        self.held = None;
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
/// When the device is another one than was claimed, before or after, or somebody uses it; when the
/// kernel, mount(8) or the command refuses: the text has the options.
pub fn mount(formatted: &Formatted, mnt: &Path) -> Result<Mounted, TargetError> {
    if let TargetSpec::Directory { path } = formatted.target() {
        // Only for the record.
        let entry = mountinfo::find_for_path(path).ok().flatten();
        return Ok(Mounted {
            path: path.clone(),
            fstype: entry.as_ref().map(|entry| entry.fstype.clone()).unwrap_or_default(),
            options: entry.as_ref().map(MountEntry::options).unwrap_or_default(),
            mount_ns: 0,
            how: Unmount::Nothing,
            held: None,
        });
    }
    let mnt = our_mount_point(mnt)?;
    let before = mounted_at(&mnt)?.map(|entry| entry.id);
    formatted.check_before_use()?;
    let start = Instant::now();
    let device = formatted.target().device().map(Path::to_owned);
    let mut held = None;
    let how = match formatted.plan() {
        MountPlan::Kernel { fstype, source, options } => {
            kernel_mount(fstype, source, options, &mnt)?;
            Unmount::Kernel { daemon_device: None }
        }
        MountPlan::Commands { mount, unmount, .. } => {
            let command = external::fill_mount_point(mount, &mnt);
            // A daemon that it leaves behind is what is measured.
            if let Err(error) = mount_shell(&command) {
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
        MountPlan::Node => {
            let device = reopen::for_writing(formatted.target())?;
            let set = cache::set_block_size(&device, formatted.target().size_bytes().unwrap_or(0));
            let path = formatted.target().device().unwrap_or(Path::new("target"));
            set.map_err(|error| TargetError::io("BLKBSZSET", path, error))?;
            held = Some(device);
            let options = NODE_OPTIONS.map(str::to_owned);
            kernel_mount("tmpfs", "fsarena", &options, &mnt)?;
            Unmount::Kernel { daemon_device: None }
        }
    };
    let (fstype, options) = ("none".to_owned(), String::new());
    let mut mounted = Mounted { path: mnt, fstype, options, mount_ns: 0, how, held };
    let entry = appeared(&mounted.path, before)?;
    mounted.mount_ns = nanos(start.elapsed());
    // What is wrong is unmounted as `mounted` is dropped.
    lies_on_target(formatted, &entry)?;
    if mounted.held.is_none() {
        mounted.options = entry.options();
        mounted.fstype = entry.fstype;
    }
    Ok(mounted)
}

/// Runs a command that mounts; what it leaves behind is measured and has no limits.
fn mount_shell(command: &str) -> Result<Ran, CmdError> {
    let conditions = Conditions { limits: Limits::NONE, ..Conditions::within(COMMAND_LIMIT) };
    cmd::run_with(&TrustedProgram::confirmed(command), &cmd::NO_ARGS, &conditions)
}

/// Mounts by a shell command at `mnt`, which may be anywhere: only for who has mounts of its own,
/// from which whatever is mounted there is taken away first. `{mnt}` in the command is the mount
/// point. A daemon that it leaves behind lives on.
///
/// # Errors
/// When the command fails, or nothing is mounted after it.
pub fn mount_by_command(command: &str, mnt: &Path) -> Result<Mounted, TargetError> {
    while mounted_at(mnt)?.is_some() {
        let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
        unmount(mnt, flags).map_err(|error| TargetError::io("umount2", mnt, error))?;
    }
    let start = Instant::now();
    let command = command.replace("{mnt}", &cmd::quoted(&mnt.to_string_lossy()));
    if let Err(error) = mount_shell(&command) {
        let _ = unmount_quietly(mnt, None);
        return Err(error.into());
    }
    let entry = appeared(mnt, None)?;
    Ok(Mounted {
        path: mnt.to_owned(),
        options: entry.options(),
        fstype: entry.fstype,
        mount_ns: nanos(start.elapsed()),
        how: Unmount::Kernel { daemon_device: None },
        held: None,
    })
}

/// Makes sure that what was mounted is the device that was claimed: it was released between the
/// last check and the mount. Holds from now on, because the mount holds the device.
fn lies_on_target(formatted: &Formatted, entry: &MountEntry) -> Result<(), TargetError> {
    let target = formatted.target();
    reopen::recheck_identity(target)?;
    let (Some(device), MountPlan::Kernel { .. }) = (target.device(), formatted.plan()) else {
        return Ok(());
    };
    let wanted = block_number(device).map(|(major, minor)| format!("{major}:{minor}"));
    // A btrfs has a number of no device, whose major is 0.
    if entry.device.starts_with("0:") || wanted.as_ref() == Some(&entry.device) {
        return Ok(());
    }
    let problem = format!("another device was mounted in its place: {}", entry.device);
    Err(TargetError::state(device, problem, "find out who changed it, and start again"))
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
    // mount(8) allocates next to nothing, and what it says of memory is the kernel's word.
    let conditions = Conditions { limits: Limits::NONE, ..Conditions::within(COMMAND_LIMIT) };
    match cmd::run_with(&tool, &args, &conditions) {
        Ok(_) => Ok(()),
        Err(CmdError::Failed { last_lines, .. }) => Err(TargetError::Mount {
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

/// Limit for a daemon to close its device.
const DAEMON_LIMIT: Duration = Duration::from_secs(60);

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
    let ancestors = ancestors(Path::new("/proc"), own);
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
