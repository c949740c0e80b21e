//! Thaws a file system that is mounted nowhere any more: its device is mounted once more for it.
//!
//! Whoever waits for a device that does not answer cannot be killed, so all of it is left to
//! programs that are waited for with a limit. They are below a shell, which ends in any case. The
//! mount is in a namespace of its own, made only after a block of the device was read: a process
//! that hangs in one holds all mounts of the machine.

use crate::TargetError;
use fsarena_process::cmd::{self, CmdError};
use fsarena_process::program::TrustedProgram;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Limit for one block to be read.
const READ_LIMIT: Duration = Duration::from_secs(3);
/// Limit for the mount, the thaw and the unmount.
const THAW_LIMIT: Duration = Duration::from_secs(10);
/// Limit for an unmount that the kernel was at work on meanwhile.
const UNMOUNT_LIMIT: Duration = Duration::from_secs(3);
const UNMOUNT_PAUSE: Duration = Duration::from_millis(20);

/// Tried where the kernel lists no type.
const UNKNOWN_TYPE: &str = "auto";
/// Where a kernel with the keys of sysrq takes them.
const THAW_ALL: &str = "/proc/sysrq-trigger";
const SHELL: &str = "/bin/sh";
/// Reads a block of `$1`, without the page cache. A shell that does more afterwards starts a
/// process for it, and does not become it.
const READ: &str = "dd if=\"$1\" of=/dev/null bs=4096 count=1 iflag=direct; exit $?";
/// Thaws what is on `$1`, of type `$2`. `/sys` is there; nobody else sees what is mounted on it.
const THAW: &str = "mount -n -t \"$2\" -- \"$1\" /sys || exit 100; \
                    fsfreeze --unfreeze /sys; thawed=$?; umount -n /sys; exit $thawed";
/// Its exit code where that mount finds nothing.
const NOT_MOUNTED: i32 = 100;
/// What fsfreeze says of a file system that is not frozen (`EINVAL`).
const NOT_FROZEN: &str = "Invalid argument";

/// Mounts, thaws and unmounts what a dead process has left frozen on `device`; false where nothing
/// is found frozen.
///
/// # Errors
/// When the device does not answer, or what the kernel has on it cannot be mounted to be thawed.
pub(crate) fn thaw(device: &Path) -> Result<bool, TargetError> {
    let read = TrustedProgram::confirmed(READ);
    let named = [OsStr::new("sh"), device.as_os_str()];
    // That it cannot be read is an answer too.
    if let Err(CmdError::TimedOut { .. }) = cmd::run(&read, &named, READ_LIMIT) {
        return Err(silent(device));
    }
    let unshare = cmd::find("unshare").ok_or_else(|| {
        let problem = format!("cannot be looked into: {}", cmd::why_missing("unshare"));
        TargetError::state(device, problem, "install util-linux")
    })?;
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    let listed = types_on(Path::new("/sys"), &name);
    let types = if listed.is_empty() { vec![UNKNOWN_TYPE.to_owned()] } else { listed.clone() };
    for fstype in types {
        let words = ["--mount", "--propagation", "private", SHELL, "-c", THAW, "sh"];
        let mut args: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        args.extend([device.as_os_str(), OsStr::new(&fstype)]);
        match cmd::run(&unshare, &args, THAW_LIMIT) {
            Ok(_) => return Ok(true),
            Err(CmdError::Failed { code: Some(NOT_MOUNTED), .. }) => {}
            Err(CmdError::Failed { last_lines, .. }) if last_lines.contains(NOT_FROZEN) => {
                return Ok(false);
            }
            Err(CmdError::TimedOut { .. }) => return Err(silent(device)),
            Err(error) => return Err(error.into()),
        }
    }
    match listed.first() {
        Some(fstype) if !is_taken_down(Path::new("/sys"), &name) => {
            Err(unmountable(device, fstype))
        }
        _ => Ok(false),
    }
}

/// Whether the kernel has no file system on the device of this name any more, or soon: what was
/// being unmounted when it was looked for is nothing that is frozen.
fn is_taken_down(sys_root: &Path, name: &str) -> bool {
    let began = Instant::now();
    loop {
        if types_on(sys_root, name).is_empty() {
            return true;
        }
        if began.elapsed() > UNMOUNT_LIMIT {
            return false;
        }
        std::thread::sleep(UNMOUNT_PAUSE);
    }
}

/// What is said where the kernel still has a file system on the device, and cannot mount it: btrfs
/// reads the superblock again for that, and what lies under the device is dead.
fn unmountable(device: &Path, fstype: &str) -> TargetError {
    let problem = format!(
        "the kernel still has {fstype} on it, which a killed process has left frozen and which \
         cannot be mounted any more to be thawed"
    );
    let advice = match Path::new(THAW_ALL).exists() {
        true => format!(
            "it stays until a reboot; \"echo j > {THAW_ALL}\" ends it too, but thaws every frozen \
             file system of this machine"
        ),
        false => "it stays until a reboot".to_owned(),
    };
    TargetError::state(device, problem, &advice)
}

/// What is said once a limit has passed.
fn silent(device: &Path) -> TargetError {
    let problem = "does not answer, so that the file system that a killed process has left on it \
                   cannot be taken down: it stays until what lies under it answers again, or until \
                   a reboot";
    TargetError::state(device, problem, "")
}

/// Types of file systems that the kernel may have on a device of this kernel name, by its lists of
/// mounted file systems; not every type has a list.
fn types_on(sys_root: &Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(sys_root.join("fs")).into_iter().flatten().flatten() {
        let of_members = || fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let is_member = |member: fs::DirEntry| member.path().join("devices").join(name).exists();
        if entry.path().join(name).is_dir() || of_members().any(is_member) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    // One driver, and yet a mount of one finds none of the others.
    if found.iter().any(|fstype| fstype == "ext4") {
        found.extend(["ext3", "ext2"].map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_that_the_kernel_lists_for_the_device() {
        let sys = tempfile::tempdir().unwrap();
        assert!(types_on(sys.path(), "loop3").is_empty());
        for dir in ["ext4/loop3", "ext4/features", "xfs/loop4", "btrfs/0c1d/devices/loop5"] {
            fs::create_dir_all(sys.path().join("fs").join(dir)).unwrap();
        }
        for (name, types) in [
            ("loop3", &["ext4", "ext3", "ext2"][..]),
            ("loop4", &["xfs"]),
            ("loop5", &["btrfs"]),
            ("loop6", &[]),
        ] {
            assert_eq!(types_on(sys.path(), name), types, "{name}");
        }
    }

    /// The unmount that a process has begun goes on when that is dead.
    #[test]
    fn what_is_just_being_unmounted_is_not_said_to_be_frozen() {
        let sys = tempfile::tempdir().unwrap();
        let listed = sys.path().join("fs/ext4/loop3");
        fs::create_dir_all(&listed).unwrap();
        std::thread::scope(|scope| {
            let _unmount = scope.spawn(|| {
                std::thread::sleep(4 * UNMOUNT_PAUSE);
                fs::remove_dir(&listed).unwrap();
            });
            assert!(is_taken_down(sys.path(), "loop3"));
        });
        fs::create_dir(&listed).unwrap();
        assert!(!is_taken_down(sys.path(), "loop3"));
    }
}
