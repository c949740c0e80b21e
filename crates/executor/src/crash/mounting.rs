//! Ways to mount a file system after a power cut, and its fsck.

use super::error::CrashError;
use fsarena_crash::observation::{FsckResult, MountStep};
use fsarena_devices::TargetError;
use fsarena_filesystems::{
    FileSystem, Fsck, MountPlan, Recovery, SideBySide, builtin_driver, driver,
};
use fsarena_metrics::monotonic_ns;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_process::cmd::{self, CmdError};
use rustix::io::{Errno, pwrite};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Of a check or repair.
const FSCK_LIMIT: Duration = Duration::from_secs(300);

const BUSY_TRIES: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// Exit code of one that did not end by itself.
const NOT_ENDED: i32 = -1;

/// Programs that check and repair a file system of this name.
pub(super) fn programs(name: &str) -> impl Iterator<Item = &'static str> {
    recovery(name).programs()
}

/// Whether two states of a file system of this name can be inspected at one time under one kernel.
pub(super) fn is_side_by_side(name: &str) -> bool {
    recovery(name).side_by_side.is_here()
}

fn recovery(name: &str) -> Recovery {
    builtin_driver(name).map_or(Recovery::UNKNOWN, FileSystem::recovery)
}

/// A disk of the guest.
pub(super) fn target(number: u32, size_bytes: u64) -> TargetSpec {
    TargetSpec::Block {
        device: format!("/dev/vdisk{number}").into(),
        size_bytes,
        in_memory: false,
        under: Under::Guest {
            kernel: String::new(),
            model: String::new(),
            kernel_file: None,
            store_dir: None,
            syscall_ns: 0,
            twice: false,
        },
        members: Vec::new(),
    }
}

/// Calls `then` with the file system on a disk.
pub(super) fn with_file_system<T>(
    fs: &FsLevel,
    target: &TargetSpec,
    then: impl FnOnce(&FileSystemOn<'_>) -> Result<T, CrashError>,
) -> Result<T, CrashError> {
    let planned = driver(fs)?.mount_plan(fs, Discard::None, target);
    let plan = planned.map_err(TargetError::from)?;
    let none = || CrashError::NoKernelMount(fs.name.clone());
    then(&FileSystemOn::new(&plan, &fs.name, target).ok_or_else(none)?)
}

/// Calls `look` with the file system on each disk of the guest, and once more for each of its
/// further contents: `counts` has how many each shows.
pub(super) fn each_contents(
    fs: &FsLevel,
    counts: &[u32],
    size_bytes: u64,
    mut look: impl FnMut(&FileSystemOn<'_>) -> Result<(), CrashError>,
) -> Result<(), CrashError> {
    for (number, count) in (0..).zip(counts) {
        let disk = target(number, size_bytes);
        if *count > 0 {
            with_file_system(fs, &disk, &mut look)?;
        }
        if *count > 1 {
            let path = format!("/sys/block/vdisk{number}/next_contents");
            let path = Path::new(&path);
            let next = File::options().write(true).open(path).map_err(CrashError::io(path))?;
            for _ in 1..*count {
                show_next_contents(&next).map_err(CrashError::io(path))?;
                with_file_system(fs, &disk, &mut look)?;
            }
        }
    }
    Ok(())
}

/// The next contents come into the place of these; nothing may have the disk open, which another
/// thread of the kernel may still have for a moment.
fn show_next_contents(next: &File) -> io::Result<()> {
    Ok(until_not_busy(BUSY_TRIES, || pwrite(next, b"1", 0).map(drop))?)
}

/// Tries so often, with pauses, while it is busy.
fn until_not_busy(tries: u32, attempt: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    for _ in 1..tries {
        match attempt() {
            Err(Errno::BUSY) => std::thread::sleep(BUSY_PAUSE),
            done => return done,
        }
    }
    attempt()
}

/// A file system on a disk of the guest.
pub(super) struct FileSystemOn<'a> {
    fstype: &'a str,
    options: &'a [String],
    device: String,
    /// Whether nobody but this one uses its kernel.
    is_in_guest: bool,
    recovery: Recovery,
    replay_failed: Cell<bool>,
}

impl<'a> FileSystemOn<'a> {
    /// `None`: it is not mounted by the kernel.
    fn new(plan: &'a MountPlan, name: &str, target: &TargetSpec) -> Option<Self> {
        let MountPlan::Kernel { fstype, options, .. } = plan else { return None };
        let device = target.device()?.to_str()?.to_owned();
        let is_in_guest = matches!(target, TargetSpec::Block { under: Under::Guest { .. }, .. });
        Some(Self {
            fstype,
            options,
            device,
            is_in_guest,
            recovery: recovery(name),
            replay_failed: Cell::new(false),
        })
    }

    /// The name of its device in lines of the kernel; `None` where all lines are of it.
    pub(super) fn kernel_name(&self) -> Option<&str> {
        let is_native = !self.is_in_guest;
        self.device.rsplit('/').next().filter(|_| is_native)
    }

    /// Mount options of the contender.
    pub(super) fn options(&self) -> &[String] {
        self.options
    }

    /// The ways that are tried, in their order.
    pub(super) fn mount_steps(&self) -> Vec<MountStep> {
        if self.recovery.is_repaired_first {
            return vec![MountStep::AfterRepair];
        }
        let mut mount_steps = vec![MountStep::ReadWrite, MountStep::ReadOnly];
        mount_steps.extend(self.recovery.without.map(|_| MountStep::WithoutRecovery));
        mount_steps.extend(self.recovery.repair.map(|_| MountStep::AfterRepair));
        mount_steps
    }

    /// Mounts it in this way.
    ///
    /// # Errors
    /// As the kernel says.
    pub(super) fn mount(&self, step: MountStep, mnt: &Path) -> Result<(), Errno> {
        if step == MountStep::AfterRepair {
            let (repaired, text) = self.run(self.recovery.repair).ok_or(Errno::NOENT)?;
            self.replay_failed.set(self.recovery.names_a_failed_replay(&text));
            if !repaired.is_clean {
                return Err(Errno::UCLEAN);
            }
        }
        let context = fsopen(self.fstype, FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "source", self.device.as_str())?;
        let mut attributes = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
        for option in self.options {
            match option.split_once('=') {
                Some((key, value)) => fsconfig_set_string(&context, key, value)?,
                None if option == "noatime" => attributes |= MountAttrFlags::MOUNT_ATTR_NOATIME,
                None if option == "rw" => {}
                None => fsconfig_set_flag(&context, option.as_str())?,
            }
        }
        if matches!(step, MountStep::ReadOnly | MountStep::WithoutRecovery) {
            fsconfig_set_flag(&context, "ro")?;
        }
        if let Some(option) = self.recovery.without.filter(|_| step == MountStep::WithoutRecovery) {
            match option.split_once('=') {
                Some((key, value)) => fsconfig_set_string(&context, key, value)?,
                None => fsconfig_set_flag(&context, option)?,
            }
        }
        if let (SideBySide::With(option), false) = (self.recovery.side_by_side, self.is_in_guest) {
            fsconfig_set_flag(&context, option)?;
        }
        fsconfig_create(&context)?;
        let mounted = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        move_mount(&mounted, "", rustix::fs::CWD, mnt, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }

    /// Whether the repair before the last mount could not replay the journal.
    pub(super) fn replay_failed(&self) -> bool {
        self.replay_failed.get()
    }

    /// Files that were read may be let go by another thread of the kernel, which a guest of one
    /// processor waits for.
    pub(super) fn unmount(&self, mnt: &Path) -> Result<(), Errno> {
        let tries = if self.is_in_guest { 1 } else { BUSY_TRIES };
        until_not_busy(tries, || unmount(mnt, UnmountFlags::NOFOLLOW))
    }

    /// What its check says of it, and its text; `None`: there is none, or
    /// it had to take more than a tool may. One that did not end, or was
    /// killed, found damage.
    pub(super) fn fsck(&self) -> Option<(FsckResult, String)> {
        self.run(self.recovery.check)
    }

    fn run(&self, fsck: Option<Fsck>) -> Option<(FsckResult, String)> {
        let fsck = fsck?;
        let tool = cmd::find(fsck.program)?;
        let mut args = fsck.args.to_vec();
        args.push(&self.device);
        let began_ns = monotonic_ns();
        let (exit_code, text) = match cmd::run(&tool, &args, FSCK_LIMIT) {
            Ok(ran) => (0, [ran.stderr, ran.stdout].concat()),
            Err(CmdError::Failed { code: Some(code), last_lines, .. }) => (code, last_lines),
            // A limit of ours, and no word about the file system.
            Err(CmdError::BrokenLimit { .. }) => return None,
            Err(error) => (NOT_ENDED, error.to_string()),
        };
        let is_clean = fsck.clean.contains(&exit_code);
        let duration_ns = monotonic_ns() - began_ns;
        Some((FsckResult { exit_code, is_clean, duration_ns }, text))
    }
}
