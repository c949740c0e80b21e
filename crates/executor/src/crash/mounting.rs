//! Ways to mount a file system after a power cut, and its fsck.

use super::error::CrashError;
use fsarena_crash::observation::{FsckResult, MountStep};
use fsarena_devices::TargetError;
use fsarena_filesystems::{MountPlan, driver};
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

/// A check: program and arguments before the device, and the exit codes that say that all is well.
#[derive(Clone, Copy)]
struct Fsck {
    program: &'static str,
    args: &'static [&'static str],
    clean: &'static [i32],
}

const fn fsck(program: &'static str, args: &'static [&'static str], clean: &'static [i32]) -> Fsck {
    Fsck { program, args, clean }
}

/// See [`Recovery`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum SideBySide {
    Never,
    Always,
    /// With this option of a mount.
    With(&'static str),
    /// Where its kernel has this file.
    Where(&'static str),
}

impl SideBySide {
    fn is_here(self) -> bool {
        match self {
            Self::Never => false,
            Self::Always | Self::With(_) => true,
            Self::Where(path) => Path::new(path).exists(),
        }
    }
}

/// What of recovery is peculiar to a file system.
struct Recovery {
    names: &'static [&'static str],
    /// Options of a mount that replays no journal.
    without: Option<&'static str>,
    /// Looks and changes nothing.
    check: Option<Fsck>,
    repair: Option<Fsck>,
    /// Its documents ask for the repair before the mount.
    is_repaired_first: bool,
    /// Whether two of the same UUID can be mounted at one time, and what the second needs for it.
    side_by_side: SideBySide,
    /// Words of the repair where it cannot replay the journal and goes on without: its exit code is
    /// that of success then.
    replay_failed: Option<&'static str>,
}

const RECOVERIES: &[Recovery] = &[
    Recovery {
        names: &["ext3", "ext4"],
        without: Some("noload"),
        check: Some(fsck("e2fsck", &["-fn"], &[0])),
        repair: Some(fsck("e2fsck", &["-fy"], &[0, 1])),
        is_repaired_first: false,
        side_by_side: SideBySide::Always,
        replay_failed: None,
    },
    Recovery {
        names: &["ext2"],
        without: None,
        check: Some(fsck("e2fsck", &["-fn"], &[0])),
        repair: Some(fsck("e2fsck", &["-fy"], &[0, 1])),
        is_repaired_first: true,
        side_by_side: SideBySide::Always,
        replay_failed: None,
    },
    Recovery {
        names: &["xfs"],
        without: Some("norecovery"),
        check: Some(fsck("xfs_repair", &["-n"], &[0])),
        repair: Some(fsck("xfs_repair", &["-L"], &[0])),
        is_repaired_first: false,
        side_by_side: SideBySide::With("nouuid"),
        replay_failed: None,
    },
    Recovery {
        names: &["btrfs"],
        without: Some("rescue=all"),
        check: Some(fsck("btrfs", &["check", "--readonly"], &[0])),
        repair: None,
        is_repaired_first: false,
        // Since Linux 6.7 the second one gets another UUID while it is mounted.
        side_by_side: SideBySide::Where("/sys/fs/btrfs/features/temp_fsid"),
        replay_failed: None,
    },
    Recovery {
        names: &["jfs"],
        without: None,
        check: Some(fsck("jfs_fsck", &["-n"], &[0])),
        repair: Some(fsck("jfs_fsck", &["-a"], &[0, 1])),
        is_repaired_first: true,
        side_by_side: SideBySide::Never,
        replay_failed: Some("logredo failed"),
    },
    Recovery {
        names: &["reiserfs"],
        without: None,
        check: Some(fsck("reiserfsck", &["--check", "-y"], &[0])),
        repair: Some(fsck("reiserfsck", &["--fix-fixable", "-y"], &[0, 1])),
        is_repaired_first: false,
        side_by_side: SideBySide::Never,
        replay_failed: None,
    },
];

/// One that is not known: mounted as it is, and never checked.
const UNKNOWN: Recovery = Recovery {
    names: &[],
    without: None,
    check: None,
    repair: None,
    is_repaired_first: false,
    side_by_side: SideBySide::Never,
    replay_failed: None,
};

impl Recovery {
    fn tells_of_a_failed_replay(&self, text: &str) -> bool {
        self.replay_failed.is_some_and(|words| text.contains(words))
    }
}

/// Programs that check and repair a file system of this name.
pub(super) fn programs(name: &str) -> impl Iterator<Item = &'static str> {
    let known = RECOVERIES.iter().find(|recovery| recovery.names.contains(&name));
    let both = known.map(|recovery| [recovery.check, recovery.repair]);
    both.into_iter().flatten().flatten().map(|fsck| fsck.program)
}

/// Whether two states of a file system of this name can be looked at at one time under one kernel.
pub(super) fn is_side_by_side(name: &str) -> bool {
    let known = RECOVERIES.iter().find(|recovery| recovery.names.contains(&name));
    known.is_some_and(|recovery| recovery.side_by_side.is_here())
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
    recovery: &'static Recovery,
    replay_failed: Cell<bool>,
}

impl<'a> FileSystemOn<'a> {
    /// `None`: it is not mounted by the kernel.
    fn new(plan: &'a MountPlan, name: &str, target: &TargetSpec) -> Option<Self> {
        let MountPlan::Kernel { fstype, options, .. } = plan else { return None };
        let known = RECOVERIES.iter().find(|recovery| recovery.names.contains(&name));
        let device = target.device()?.to_str()?.to_owned();
        let is_in_guest = matches!(target, TargetSpec::Block { under: Under::Guest { .. }, .. });
        Some(Self {
            fstype,
            options,
            device,
            is_in_guest,
            recovery: known.unwrap_or(&UNKNOWN),
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
            self.replay_failed.set(self.recovery.tells_of_a_failed_replay(&text));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(name: &str) -> &'static Recovery {
        RECOVERIES.iter().find(|recovery| recovery.names.contains(&name)).unwrap()
    }

    /// jfs_fsck says so in passing, reformats the log, and ends with 0.
    #[test]
    fn a_repair_that_replays_nothing_is_told_apart() {
        let failed = "**Phase 0 - Replay Journal Log\n\
                      logredo failed (rc=-274).  fsck continuing.\n\
                      **Phase 9 - Reformat File System Log\nFilesystem is clean.\n";
        let replayed = "**Phase 0 - Replay Journal Log\nFilesystem is clean.\n";
        assert!(recovery("jfs").tells_of_a_failed_replay(failed));
        assert!(!recovery("jfs").tells_of_a_failed_replay(replayed));
        assert!(!recovery("ext4").tells_of_a_failed_replay(failed));
    }
}
