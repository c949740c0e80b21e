//! A check of one disk after a power cut: mounts it as it can be mounted, reads all files, uses it,
//! and checks it.

use super::kernel_log::KernelLog;
use super::mounting::FileSystemOn;
use fsarena_engine::uring::WholeFileReader;
use fsarena_metrics::monotonic_ns;
use fsarena_safety::observation::{MountAttempt, Observation, ObservedFile, Rung, Runs};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

/// Files of recovery, which belong to no work.
pub(super) const LOST_AND_FOUND: &str = "lost+found";
/// A whole number of sectors.
const PIECE_BYTES: usize = 64 << 10;
/// Directories within each other that are read.
pub(super) const DEPTH_MOST: u32 = 8;
/// Of all lines, and of the text of a check, where all is asked for.
const LINES_MOST: usize = 400;

pub(super) fn check(
    fs: &FileSystemOn<'_>,
    mnt: &Path,
    asked: Asked,
    reader: &mut FileReader,
) -> Observation {
    check_with(fs, mnt, asked, |seen| reader.read_tree(mnt, seen))
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
    let kernel_log = KernelLog::from_now(fs.kernel_name());
    for rung in fs.rungs() {
        let began_ns = monotonic_ns();
        let errno = fs.mount(rung, mnt).err().map(rustix::io::Errno::raw_os_error);
        let duration_ns = monotonic_ns() - began_ns;
        seen.mounts.push(MountAttempt { rung, errno, began_ns, duration_ns });
        seen.replay_failed = fs.replay_failed();
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
    let lines = kernel_log.lines();
    seen.kernel_messages = KernelLog::damage_in(&lines);
    if is_detailed {
        seen.kernel_log = lines.into_iter().take(LINES_MOST).collect();
    }
    seen
}

/// The files of what is mounted.
pub(super) fn files(mnt: &Path) -> Vec<ObservedFile> {
    let mut seen = Observation::default();
    FileReader::new().read_tree(mnt, &mut seen);
    seen.files
}

/// Reads the files of a mounted file system, a batch in flight where the kernel has io_uring. In a
/// guest a system call costs as much as to read a small file.
pub(super) struct FileReader {
    batches: Option<WholeFileReader>,
}

impl FileReader {
    pub(super) fn new() -> Self {
        Self { batches: WholeFileReader::new() }
    }

    /// Adds the files below `root`.
    fn read_tree(&mut self, root: &Path, seen: &mut Observation) {
        let first = seen.files.len();
        list_tree(root, "", 0, seen);
        let found = &mut seen.files[first..];
        let mut files: Vec<&mut ObservedFile> =
            found.iter_mut().filter(|file| file.errno.is_none()).collect();
        if self.read_batches(root, &mut files).is_none() {
            self.batches = None;
            for file in files {
                *file = unread(std::mem::take(&mut file.path));
                read_file(root, file);
            }
        }
    }

    /// `None`: there is no ring, or it failed.
    fn read_batches(&mut self, root: &Path, files: &mut [&mut ObservedFile]) -> Option<()> {
        let name = |file: &&mut ObservedFile| {
            CString::new(root.join(&file.path).into_os_string().into_vec()).ok()
        };
        let names: Vec<CString> = files.iter().map(name).collect::<Option<_>>()?;
        let failed = self.batches.as_mut()?.read(names, &mut |file, piece| {
            let file = &mut files[file];
            file.size_bytes += piece.len() as u64;
            file.contents.take(piece);
        });
        for (file, failed) in files.iter_mut().zip(failed.ok()?) {
            if let Some(errno) = failed {
                // With its size, and what could be read.
                **file = unread(std::mem::take(&mut file.path));
                read_file(root, file);
                file.errno = file.errno.or(Some(errno.raw_os_error()));
            }
        }
        Some(())
    }
}

/// Adds the names of files below a directory; one that cannot be listed is a file with its error.
fn list_tree(root: &Path, within: &str, depth: u32, seen: &mut Observation) {
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
                list_tree(root, &path, depth + 1, seen);
            }
            Ok(kind) if kind.is_file() => seen.files.push(unread(path)),
            Ok(_) => {}
            Err(error) => seen.files.push(unreadable(&path, &error)),
        }
    }
}

fn unread(path: String) -> ObservedFile {
    ObservedFile { path, size_bytes: 0, contents: Runs::default(), errno: None }
}

fn unreadable(path: &str, error: &io::Error) -> ObservedFile {
    ObservedFile { errno: Some(error.raw_os_error().unwrap_or(0)), ..unread(path.to_owned()) }
}

/// Reads one file by calls.
fn read_file(root: &Path, of: &mut ObservedFile) {
    let opened =
        File::open(root.join(&of.path)).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (size_bytes, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return of.errno = Some(error.raw_os_error().unwrap_or(0)),
    };
    of.size_bytes = size_bytes;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    of.errno = loop {
        piece.clear();
        match (&file).take(PIECE_BYTES as u64).read_to_end(&mut piece) {
            Ok(0) => break None,
            Ok(_) => of.contents.take(&piece),
            Err(error) => break Some(error.raw_os_error().unwrap_or(0)),
        }
    };
}

/// A file is made, synced and deleted.
pub(super) fn use_it(mnt: &Path) -> io::Result<()> {
    let path = mnt.join("usable");
    let file = File::create_new(&path)?;
    io::Write::write_all(&mut &file, b"usable")?;
    file.sync_all()?;
    drop(file);
    fs::remove_file(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_with_their_sizes() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::create_dir(dir.path().join(LOST_AND_FOUND)).unwrap();
        fs::write(dir.path().join("a/b/c"), [0; 700]).unwrap();
        fs::write(dir.path().join(LOST_AND_FOUND).join("x"), "y").unwrap();
        for mut reader in [FileReader::new(), FileReader { batches: None }] {
            let mut seen = Observation::default();
            reader.read_tree(dir.path(), &mut seen);
            assert_eq!((seen.files.len(), seen.lost_and_found), (1, 1));
            let file = &seen.files[0];
            assert_eq!((file.path.as_str(), file.size_bytes, file.errno), ("a/b/c", 700, None));
            assert_eq!(file.contents.sectors().count(), 2);
        }
        use_it(dir.path()).unwrap();
        assert!(!dir.path().join("usable").exists());
    }
}
