//! Where the kernel and udev are asked, numbers of devices as they write them, and what is mounted
//! in any mount namespace that some process lives in.

use super::attribute::{self, Unread};
use crate::mountinfo::{self, MountEntry};
use rustix::fs::{FileType, major, minor};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A device below this is no target, bytes: no file system here works on less.
pub const SMALLEST_BYTES: u64 = 16 << 20;
/// Mount options that name a further device: the log and the realtime part of xfs, the journal of
/// ext4.
const DEVICE_OPTIONS: [&str; 3] = ["logdev=", "rtdev=", "journal_path="];

/// Where the kernel and udev are asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/run`, for the database of udev.
    pub run: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), dev: "/dev".into(), run: "/run".into() }
    }
}

/// `8:16`, as sysfs and mountinfo have it.
pub(super) fn number_text(number: (u32, u32)) -> String {
    format!("{}:{}", number.0, number.1)
}

/// The number behind `8:16`.
pub(super) fn number_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A mount, as the first process that sees it sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mount {
    /// Where.
    pub point: PathBuf,
    /// Type of the file system.
    pub fstype: String,
    /// Process in whose namespace it is; `None` for our own.
    pub process: Option<String>,
    /// Device number in mountinfo; of no device for btrfs, overlay and their like.
    pub number: Option<(u32, u32)>,
    /// Devices that its source and options name: their paths below our root of devices, and the
    /// numbers of those that are there.
    pub named: Vec<(PathBuf, Option<(u32, u32)>)>,
}

impl Mount {
    /// Whether the device of this node and number is mounted by it.
    pub(super) fn is_on(&self, node: &Path, number: (u32, u32)) -> bool {
        self.number == Some(number)
            || self.named.iter().any(|(path, named)| match named {
                Some(named) => *named == number,
                None => path == node,
            })
    }
}

/// Every mount of every process, our own first. Processes that end meanwhile have none.
///
/// # Errors
/// When a process's mounts cannot be read or understood, or there are none at all.
pub(super) fn all(roots: &Roots) -> Result<Vec<Mount>, Unread> {
    let mut seen = BTreeSet::new();
    let mut mounts = Vec::new();
    let mut processes = vec!["thread-self".to_owned()];
    processes.extend(attribute::names(&roots.proc)?.into_iter().filter(|name| is_pid(name)));
    for process in processes {
        let path = roots.proc.join(&process).join("mountinfo");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // It has ended, or waits to be reaped (EINVAL: it has no namespace any more).
            Err(error) if attribute::is_gone(&error) => continue,
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => continue,
            Err(error) => return Err(Unread::new(&path, error)),
        };
        if seen.contains(&bytes) {
            continue;
        }
        let entries = understood(&path, &bytes)?;
        mounts.extend(entries.into_iter().map(|entry| mount(roots, &process, entry)));
        seen.insert(bytes);
    }
    if mounts.is_empty() {
        return Err(Unread::new(&roots.proc, "no process shows any mount"));
    }
    Ok(mounts)
}

/// Whether a device is mounted where some process sees it.
///
/// # Errors
/// As [`all`].
pub(crate) fn is_mounted(device: &Path, number: (u32, u32), roots: &Roots) -> Result<bool, Unread> {
    Ok(all(roots)?.iter().any(|mount| mount.is_on(device, number)))
}

/// All lines: one that was left out could be the one that matters.
fn understood(path: &Path, bytes: &[u8]) -> Result<Vec<MountEntry>, Unread> {
    let entries = mountinfo::parse(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    if entries.len() != lines {
        let problem = format!("{} of {lines} lines are not understood", lines - entries.len());
        return Err(Unread::new(path, problem));
    }
    Ok(entries)
}

fn mount(roots: &Roots, process: &str, entry: MountEntry) -> Mount {
    let options = entry.super_options.split(',');
    let options = options
        .filter_map(|option| DEVICE_OPTIONS.iter().find_map(|name| option.strip_prefix(name)));
    let mut named = Vec::new();
    for text in options.chain([entry.source.as_str()]) {
        let Some(below) = text.strip_prefix("/dev/") else { continue };
        let ours = roots.dev.join(below);
        let theirs = roots.proc.join(process).join("root/dev").join(below);
        let number = block_number(&ours);
        let other = block_number(&theirs).filter(|other| Some(*other) != number);
        named.push((ours.clone(), number));
        named.extend(other.map(|other| (ours, Some(other))));
    }
    Mount {
        number: number_of(&entry.device),
        point: entry.mount_point,
        fstype: entry.fstype,
        process: (process != "thread-self").then(|| process.to_owned()),
        named,
    }
}

/// Number of the block device at this path; `None` where there is none.
pub(crate) fn block_number(path: &Path) -> Option<(u32, u32)> {
    let stat = rustix::fs::stat(path).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice)
        .then(|| (major(stat.st_rdev), minor(stat.st_rdev)))
}

pub(super) fn is_pid(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}
