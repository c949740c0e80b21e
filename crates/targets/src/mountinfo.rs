//! `/proc/thread-self/mountinfo` (proc_pid_mountinfo(5)): what is mounted where, as it really is.

use std::path::{Path, PathBuf};

/// A line of mountinfo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MountEntry {
    /// Unique id of the mount.
    pub id: u64,
    /// `major:minor` of the device.
    pub device: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of the mount, such as `rw,noatime`.
    pub mount_options: String,
    /// Type: `ext4`, `fuse.fuse2fs`.
    pub fstype: String,
    /// Device, or whatever name was given.
    pub source: String,
    /// Options of the superblock, such as `rw,data=ordered`.
    pub super_options: String,
}

impl MountEntry {
    /// Both kinds of options, those of the mount first, without repeats.
    #[must_use]
    pub fn options(&self) -> String {
        let mut all: Vec<&str> = self.mount_options.split(',').collect();
        for option in self.super_options.split(',') {
            if !all.contains(&option) {
                all.push(option);
            }
        }
        all.join(",")
    }
}

/// Reads mountinfo; lines that are not understood are left out, since other people's mounts may
/// carry anything.
#[must_use]
pub fn parse(text: &str) -> Vec<MountEntry> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<MountEntry> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let mut right = right.split(' ');
    Some(MountEntry {
        id: left.first()?.parse().ok()?,
        device: (*left.get(2)?).to_owned(),
        mount_point: PathBuf::from(unescaped(left.get(4)?)),
        mount_options: (*left.get(5)?).to_owned(),
        fstype: right.next()?.to_owned(),
        source: unescaped(right.next()?),
        super_options: right.next().unwrap_or_default().to_owned(),
    })
}

/// Undoes `\040` and its like.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = (first == b'\\')
            .then(|| tail.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mounts that the calling thread sees; empty where `/proc` cannot be read.
#[must_use]
pub fn current() -> Vec<MountEntry> {
    // Not of the process: a thread may have left for private mounts of its own.
    parse(&std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default())
}

/// The topmost mount at exactly this mount point.
#[must_use]
pub fn at(mount_point: &Path) -> Option<MountEntry> {
    current().into_iter().rev().find(|entry| entry.mount_point == mount_point)
}

/// The mount that an absolute path without symbolic links lies on.
#[must_use]
pub fn of_path(path: &Path) -> Option<MountEntry> {
    let covering = current().into_iter().filter(|entry| path.starts_with(&entry.mount_point));
    covering.max_by_key(|entry| entry.mount_point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 22 7:0 / /var/tmp/with\\040space rw,noatime shared:3 master:1 - xfs /dev/loop0 rw,attr2,noquota
40 22 0:31 / /mnt rw - fuse.fuse2fs /dev/loop1 rw,user_id=0
odd line
";

    #[test]
    fn lines_are_read_with_optional_fields_and_escapes() {
        let all = parse(TEXT);
        assert_eq!(all.len(), 3);
        assert_eq!(all[1].mount_point, Path::new("/var/tmp/with space"));
        assert_eq!((all[1].id, all[1].fstype.as_str()), (31, "xfs"));
        assert_eq!(all[1].options(), "rw,noatime,attr2,noquota");
        assert_eq!(all[2].fstype, "fuse.fuse2fs");
    }

    #[test]
    fn the_root_is_always_found() {
        assert!(of_path(Path::new("/")).is_some());
    }
}
