//! A check of one disk after a power cut: mounts it as it can be mounted, reads all files, uses it,
//! and checks it.

use super::mounting::FileSystemOn;
use fsarena_metrics::monotonic_ns;
use fsarena_safety::observation::{MountAttempt, Observation, ObservedFile, Rung, Runs};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Files of recovery, which belong to no work.
const LOST_AND_FOUND: &str = "lost+found";
/// A whole number of sectors.
const PIECE_BYTES: usize = 64 << 10;
/// Directories within each other that are read.
const DEPTH_MOST: u32 = 8;
/// Words of lines of the kernel that tell of damage.
const DAMAGE: [&str; 6] = ["error", "corrupt", "WARNING", "BUG", "inconsisten", "shutdown"];
const MESSAGES_MOST: usize = 20;

pub(super) fn check(fs: &FileSystemOn<'_>, mnt: &Path) -> Observation {
    let mut seen = Observation::default();
    let from_ns = monotonic_ns();
    let mut mounted = None;
    for rung in fs.rungs() {
        let began_ns = monotonic_ns();
        let errno = fs.mount(rung, mnt).err().map(rustix::io::Errno::raw_os_error);
        let duration_ns = monotonic_ns() - began_ns;
        seen.mounts.push(MountAttempt { rung, errno, duration_ns });
        if errno.is_none() {
            mounted = Some(rung);
            break;
        }
    }
    if let Some(rung) = mounted {
        read_tree(mnt, "", 0, &mut seen);
        if matches!(rung, Rung::ReadWrite | Rung::AfterRepair) {
            seen.is_usable = Some(use_it(mnt).is_ok());
        }
        seen.unmount_errno = fs.unmount(mnt).err().map(rustix::io::Errno::raw_os_error);
    }
    if seen.unmount_errno.is_none() {
        seen.fsck = fs.fsck();
    }
    seen.kernel_messages = messages(from_ns);
    seen
}

/// Adds the files below a directory; one that cannot be read is a file with its error.
fn read_tree(root: &Path, within: &str, depth: u32, seen: &mut Observation) {
    let entries = match fs::read_dir(root.join(within)) {
        Ok(entries) => entries,
        Err(error) => return seen.files.push(unreadable(within, &error)),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return seen.files.push(unreadable(within, &error)),
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if within.is_empty() { name } else { format!("{within}/{name}") };
        if path == LOST_AND_FOUND {
            let found = fs::read_dir(entry.path()).map_or(0, Iterator::count);
            seen.lost_and_found = u32::try_from(found).unwrap_or(u32::MAX);
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < DEPTH_MOST => {
                read_tree(root, &path, depth + 1, seen);
            }
            Ok(kind) if kind.is_file() => seen.files.push(read_file(root, path)),
            Ok(_) => {}
            Err(error) => seen.files.push(unreadable(&path, &error)),
        }
    }
}

fn unreadable(path: &str, error: &io::Error) -> ObservedFile {
    let errno = Some(error.raw_os_error().unwrap_or(0));
    ObservedFile { path: path.to_owned(), size_bytes: 0, contents: Runs::default(), errno }
}

fn read_file(root: &Path, path: String) -> ObservedFile {
    let mut contents = Runs::default();
    let opened = File::open(root.join(&path)).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (size_bytes, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return unreadable(&path, &error),
    };
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let errno = loop {
        piece.clear();
        match (&file).take(PIECE_BYTES as u64).read_to_end(&mut piece) {
            Ok(0) => break None,
            Ok(_) => contents.take(&piece),
            Err(error) => break Some(error.raw_os_error().unwrap_or(0)),
        }
    };
    ObservedFile { path, size_bytes, contents, errno }
}

/// A file is made, synced and deleted.
fn use_it(mnt: &Path) -> io::Result<()> {
    let path = mnt.join("usable");
    let file = File::create_new(&path)?;
    io::Write::write_all(&mut &file, b"usable")?;
    file.sync_all()?;
    drop(file);
    fs::remove_file(&path)
}

fn kernel_log() -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(CWD, "/dev/kmsg", flags, Mode::empty())?.into())
}

/// Lines of the kernel since then that tell of damage.
fn messages(from_ns: u64) -> Vec<String> {
    let Ok(log) = kernel_log() else { return Vec::new() };
    let mut line = vec![0; 8192];
    let mut found = Vec::new();
    // One record a read; at the end the log would block.
    while let Ok(bytes) = (&log).read(&mut line) {
        let text = String::from_utf8_lossy(&line[..bytes]);
        found.extend(damage_in(&text, from_ns));
        if bytes == 0 || found.len() >= MESSAGES_MOST {
            break;
        }
    }
    found
}

/// The text of a record of `/dev/kmsg` (`LEVEL,NUMBER,TIME_US,…;TEXT`) of this time or later that
/// tells of damage.
fn damage_in(record: &str, from_ns: u64) -> Option<String> {
    let (head, text) = record.split_once(';')?;
    let time_us: u64 = head.split(',').nth(2)?.parse().ok()?;
    let text = text.lines().next().unwrap_or_default();
    let is_damage = DAMAGE.iter().any(|word| text.contains(word));
    (is_damage && time_us >= from_ns / 1000).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_damage_since_a_time_are_found() {
        let record = "3,120,5000,-;EXT4-fs error (device vdisk0): bad block\n SUBSYSTEM=x\n";
        let text = "EXT4-fs error (device vdisk0): bad block";
        assert_eq!(damage_in(record, 5_000_000).as_deref(), Some(text));
        assert_eq!(damage_in(record, 5_001_000), None);
        assert_eq!(damage_in("6,1,9000,-;XFS (vdisk0): Ending clean mount\n", 0), None);
        assert_eq!(damage_in("no record", 0), None);
    }

    #[test]
    fn files_are_found_with_their_sizes() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::create_dir(dir.path().join(LOST_AND_FOUND)).unwrap();
        fs::write(dir.path().join("a/b/c"), [0; 700]).unwrap();
        fs::write(dir.path().join(LOST_AND_FOUND).join("x"), "y").unwrap();
        let mut seen = Observation::default();
        read_tree(dir.path(), "", 0, &mut seen);
        assert_eq!((seen.files.len(), seen.lost_and_found), (1, 1));
        let file = &seen.files[0];
        assert_eq!((file.path.as_str(), file.size_bytes, file.errno), ("a/b/c", 700, None));
        assert_eq!(file.contents.sectors().count(), 2);
        use_it(dir.path()).unwrap();
        assert!(!dir.path().join("usable").exists());
    }
}
