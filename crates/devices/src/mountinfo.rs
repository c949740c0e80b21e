//! `/proc/thread-self/mountinfo` (proc_pid_mountinfo(5)): what is mounted where, as it really is.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Of the thread, not of the process: a thread may have left for private mounts of its own.
const MOUNTINFO: &str = "/proc/thread-self/mountinfo";

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
/// carry anything. A path is bytes, as the kernel has it; other text is made UTF-8.
#[must_use]
pub fn parse(text: &[u8]) -> Vec<MountEntry> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<MountEntry> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    // Optional fields come after the sixth, and a lone dash ends them.
    let dash = 6 + words.get(6..)?.iter().position(|word| *word == b"-")?;
    let text = |index: usize| words.get(index).map(|word| lossy((*word).to_owned()));
    Some(MountEntry {
        id: text(0)?.parse().ok()?,
        device: text(2)?,
        mount_point: unescaped_path(words.get(4)?),
        mount_options: text(5)?,
        fstype: text(dash + 1)?,
        source: lossy(unescaped(words.get(dash + 2)?)),
        super_options: text(dash + 3).unwrap_or_default(),
    })
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A path as the kernel writes it into its tables, as it is.
pub(crate) fn unescaped_path(text: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescaped(text)))
}

/// Undoes `\040` and its like.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
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
    bytes
}

/// The text of mountinfo, for those who read it themselves; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn text() -> io::Result<String> {
    std::fs::read(MOUNTINFO).map(lossy)
}

/// The mounts that the calling thread sees; never none.
///
/// # Errors
/// When `/proc` cannot be read or names no mount at all: nothing may then be taken for unmounted.
pub fn current() -> io::Result<Vec<MountEntry>> {
    some(parse(&std::fs::read(MOUNTINFO)?))
}

fn some(all: Vec<MountEntry>) -> io::Result<Vec<MountEntry>> {
    if all.is_empty() {
        return Err(io::Error::other("names no mount at all, so what is mounted is not known"));
    }
    Ok(all)
}

/// The topmost mount at exactly this mount point.
///
/// # Errors
/// As [`current`].
pub fn at(mount_point: &Path) -> io::Result<Option<MountEntry>> {
    Ok(current()?.into_iter().rev().find(|entry| entry.mount_point == mount_point))
}

/// The mount that an absolute path without symbolic links is on.
///
/// # Errors
/// As [`current`].
pub fn find_for_path(path: &Path) -> io::Result<Option<MountEntry>> {
    let covering = current()?.into_iter().filter(|entry| path.starts_with(&entry.mount_point));
    Ok(covering.max_by_key(|entry| entry.mount_point.components().count()))
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
        let all = parse(TEXT.as_bytes());
        assert_eq!(all.len(), 3);
        assert_eq!(all[1].mount_point, Path::new("/var/tmp/with space"));
        assert_eq!((all[1].id, all[1].fstype.as_str()), (31, "xfs"));
        assert_eq!(all[1].options(), "rw,noatime,attr2,noquota");
        assert_eq!(all[2].fstype, "fuse.fuse2fs");
    }

    #[test]
    fn the_root_is_always_found() {
        assert!(find_for_path(Path::new("/")).unwrap().is_some());
    }

    #[test]
    fn a_name_that_is_not_utf8_hides_neither_itself_nor_others() {
        let mut text = b"30 22 7:0 / /mnt/caf\xe9\\040\\351 rw - ext4 /dev/sd\xe9 rw\n".to_vec();
        text.extend_from_slice(TEXT.as_bytes());
        let all = parse(&text);
        assert_eq!(all.len(), 4);
        let raw = OsString::from_vec(b"/mnt/caf\xe9 \xe9".to_vec());
        assert_eq!(all[0].mount_point, Path::new(&raw));
        assert_eq!(all[0].source, "/dev/sd\u{fffd}");
        assert_eq!(all[2].fstype, "xfs");
    }

    #[test]
    fn no_mount_at_all_is_an_error_and_not_an_answer() {
        assert!(some(parse(b"")).is_err());
        assert!(some(parse(TEXT.as_bytes())).is_ok());
        assert!(!current().unwrap().is_empty());
        assert!(text().unwrap().contains(" - "));
    }
}
