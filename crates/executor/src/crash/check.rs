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
pub(super) const LOST_AND_FOUND: &str = "lost+found";
/// A whole number of sectors.
const PIECE_BYTES: usize = 64 << 10;
/// Directories within each other that are read.
pub(super) const DEPTH_MOST: u32 = 8;
/// Words of lines of the kernel that tell of damage.
const DAMAGE: [&str; 6] = ["error", "corrupt", "WARNING", "BUG", "inconsisten", "shutdown"];
/// An option of a mount with such a word in it, which kernels repeat in lines that tell of none.
const ERRORS_OPTION: &str = "errors=";
const MESSAGES_MOST: usize = 20;
/// Of all lines, and of the text of a check, where all is asked for.
const LINES_MOST: usize = 400;

pub(super) fn check(fs: &FileSystemOn<'_>, mnt: &Path, asked: Asked) -> Observation {
    check_with(fs, mnt, asked, |seen| read_tree(mnt, "", 0, seen))
}

/// What is wanted besides the files.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// All lines of the kernel and the text of the check.
    pub is_detailed: bool,
    /// The check of the file system.
    pub has_fsck: bool,
}

/// The same, and what is mounted is read by another one.
pub(super) fn check_with(
    fs: &FileSystemOn<'_>,
    mnt: &Path,
    asked: Asked,
    mut read: impl FnMut(&mut Observation),
) -> Observation {
    let Asked { is_detailed, has_fsck } = asked;
    let mut seen = Observation::default();
    let from_ns = monotonic_ns();
    for rung in fs.rungs() {
        let began_ns = monotonic_ns();
        let errno = fs.mount(rung, mnt).err().map(rustix::io::Errno::raw_os_error);
        let duration_ns = monotonic_ns() - began_ns;
        seen.mounts.push(MountAttempt { rung, errno, began_ns, duration_ns });
        if errno.is_some() {
            continue;
        }
        // What a later way shows takes the place of what was read where nothing was recovered.
        (seen.files, seen.lost_and_found) = (Vec::new(), 0);
        read(&mut seen);
        if matches!(rung, Rung::ReadWrite | Rung::AfterRepair) {
            seen.is_usable = Some(use_it(mnt).is_ok());
        }
        seen.unmount_errno = fs.unmount(mnt).err().map(rustix::io::Errno::raw_os_error);
        if rung != Rung::WithoutRecovery || seen.unmount_errno.is_some() {
            break;
        }
    }
    if has_fsck && seen.unmount_errno.is_none() {
        let checked = fs.fsck();
        seen.fsck = checked.as_ref().map(|(result, _)| *result);
        if let Some((_, text)) = checked.filter(|_| is_detailed) {
            seen.fsck_output = text.lines().take(LINES_MOST).map(str::to_owned).collect();
        }
    }
    let lines = kernel_lines(from_ns);
    seen.kernel_messages = damage_in(&lines);
    if is_detailed {
        seen.kernel_log = lines.into_iter().take(LINES_MOST).collect();
    }
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
pub(super) fn messages(from_ns: u64) -> Vec<String> {
    damage_in(&kernel_lines(from_ns))
}

fn damage_in(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|line| tells_of_damage(line)).take(MESSAGES_MOST).cloned().collect()
}

/// Lines of the kernel since then.
fn kernel_lines(from_ns: u64) -> Vec<String> {
    let Ok(log) = kernel_log() else { return Vec::new() };
    lines_of(|record| (&log).read(record), from_ns)
}

/// The texts of records of `/dev/kmsg` of this time or later. `read` gives one at a time; at the
/// end it would block. Where records were overwritten before they were read, it fails with EPIPE
/// once and goes on with the oldest that is there.
fn lines_of(mut read: impl FnMut(&mut [u8]) -> io::Result<usize>, from_ns: u64) -> Vec<String> {
    let mut record = vec![0; 8192];
    let mut lines = Vec::new();
    loop {
        match read(&mut record) {
            Ok(0) => return lines,
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&record[..bytes]);
                lines.extend(line_since(&text, from_ns));
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(_) => return lines,
        }
    }
}

/// The text of a record (`LEVEL,NUMBER,TIME_US,…;TEXT`) of this time or later.
fn line_since(record: &str, from_ns: u64) -> Option<String> {
    let (head, text) = record.split_once(';')?;
    let time_us: u64 = head.split(',').nth(2)?.parse().ok()?;
    let text = text.lines().next().unwrap_or_default();
    (time_us >= from_ns / 1000).then(|| text.to_owned())
}

fn tells_of_damage(line: &str) -> bool {
    let line = line.replace(ERRORS_OPTION, "");
    DAMAGE.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_damage_since_a_time_are_found() {
        let record = "3,120,5000,-;EXT4-fs error (device vdisk0): bad block\n SUBSYSTEM=x\n";
        let text = "EXT4-fs error (device vdisk0): bad block";
        assert_eq!(line_since(record, 5_000_000).as_deref(), Some(text));
        assert_eq!(line_since(record, 5_001_000), None);
        assert_eq!(line_since("no record", 0), None);
        assert!(tells_of_damage(text));
        assert!(!tells_of_damage("XFS (vdisk0): Ending clean mount"));
        let option = "EXT4-fs (vdisk0): mounted filesystem r/w. Opts: errors=remount-ro";
        assert!(!tells_of_damage(option));
        assert!(tells_of_damage(&format!("{option}; journal error")));
    }

    #[test]
    fn records_that_were_overwritten_do_not_end_the_log() {
        let mut answers = vec![
            Ok("6,1,10,-;one"),
            Err(io::ErrorKind::BrokenPipe),
            Ok("6,9,20,-;two"),
            Err(io::ErrorKind::WouldBlock),
            Ok("6,10,30,-;after the end"),
        ]
        .into_iter();
        let read = |to: &mut [u8]| {
            let text = answers.next().unwrap().map_err(io::Error::from)?.as_bytes();
            to[..text.len()].copy_from_slice(text);
            Ok(text.len())
        };
        assert_eq!(lines_of(read, 0), ["one", "two"]);
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
