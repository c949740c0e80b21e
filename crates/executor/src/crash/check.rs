//! A check of one disk after a power cut: mounts it as it can be mounted, reads all files, uses it,
//! and checks it.

use super::kernel_log::KernelLog;
use super::mounting::FileSystemOn;
use fsarena_bounded::Bounded;
use fsarena_crash::observation::{MountAttempt, MountStep, Observation, ObservedFile, Runs};
use fsarena_engine::uring::WholeFileReader;
use fsarena_metrics::monotonic_ns;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};
use rustix::io::Errno;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

/// Files of recovery, which belong to no work.
pub(super) const LOST_AND_FOUND: &str = "lost+found";
/// A whole number of sectors.
const PIECE_BYTES: usize = 64 << 10;
/// Names and numbers of a directory that one call gives.
const NAMES_BYTES: usize = 32 << 10;
/// Directories within each other that are read.
pub(super) const DEPTH_MOST: u32 = 8;
/// Of all lines, and of the text of a check, where all is asked for.
const LINES_MOST: usize = 400;

pub(super) fn check(
    fs: &FileSystemOn<'_>,
    mnt: &Path,
    asked: CheckOptions,
    reader: &mut FileReader,
) -> Observation {
    check_with(fs, mnt, asked, |seen| reader.read_tree(mnt, seen))
}

/// What is wanted besides the files.
#[derive(Clone, Copy)]
pub(super) struct CheckOptions {
    /// All lines of the kernel and the text of the check.
    pub is_detailed: bool,
    /// The check of the file system.
    pub has_fsck: bool,
}

/// The same, and what is mounted is read by another one.
pub(super) fn check_with(
    fs: &FileSystemOn<'_>,
    mnt: &Path,
    asked: CheckOptions,
    mut read: impl FnMut(&mut Observation),
) -> Observation {
    let CheckOptions { is_detailed, has_fsck } = asked;
    let mut seen = Observation::default();
    let kernel_log = KernelLog::from_now(fs.kernel_name());
    for step in fs.mount_steps() {
        let began_ns = monotonic_ns();
        let errno = fs.mount(step, mnt).err().map(rustix::io::Errno::raw_os_error);
        let duration_ns = monotonic_ns() - began_ns;
        seen.mounts.push(MountAttempt { step, errno, began_ns, duration_ns });
        seen.replay_failed = fs.replay_failed();
        if errno.is_some() {
            continue;
        }
        // What a later way shows takes the place of what was read where nothing was recovered.
        (seen.files, seen.lost_and_found) = (Vec::new(), 0);
        read(&mut seen);
        if matches!(step, MountStep::ReadWrite | MountStep::AfterRepair) {
            seen.is_usable = Some(use_it(mnt).is_ok());
        }
        seen.unmount_errno = fs.unmount(mnt).err().map(rustix::io::Errno::raw_os_error);
        if step != MountStep::WithoutRecovery || seen.unmount_errno.is_some() {
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
    /// Of names of a directory.
    names: Vec<u8>,
}

impl FileReader {
    pub(super) fn new() -> Self {
        Self { batches: WholeFileReader::new(), names: Vec::with_capacity(NAMES_BYTES) }
    }

    /// Adds the files below `root`.
    fn read_tree(&mut self, root: &Path, seen: &mut Observation) {
        // By names below it: a guest walks to it by its way to the host.
        let root = match open_dir(CWD, root) {
            Ok(root) => root,
            Err(errno) => return seen.files.push(unreadable("", errno)),
        };
        let first = seen.files.len();
        self.list_tree(root.as_fd(), seen);
        let found = &mut seen.files[first..];
        let mut files: Vec<&mut ObservedFile> =
            found.iter_mut().filter(|file| file.errno.is_none()).collect();
        if self.read_batches(root.as_fd(), &mut files).is_none() {
            self.batches = None;
            for file in files {
                *file = unread(std::mem::take(&mut file.path));
                read_file(root.as_fd(), file);
            }
        }
    }

    /// Adds the names of files below a directory; one that cannot be listed is a file with its
    /// error.
    fn list_tree(&mut self, root: BorrowedFd<'_>, seen: &mut Observation) {
        let mut level = vec![(String::new(), 0)];
        while !level.is_empty() {
            let mut below = Vec::new();
            for ((within, depth), listed) in level.iter().zip(self.list_level(root, &level)) {
                for (path, kind) in listed.entries {
                    match kind {
                        Ok(FileType::Directory) if path == LOST_AND_FOUND => below.push((path, 0)),
                        _ if path == LOST_AND_FOUND => {}
                        _ if within == LOST_AND_FOUND => seen.lost_and_found += 1,
                        Ok(FileType::Directory) if *depth < DEPTH_MOST => {
                            below.push((path, depth + 1));
                        }
                        Ok(FileType::RegularFile) => seen.files.push(unread(path)),
                        Ok(_) => {}
                        Err(errno) => seen.files.push(unreadable(&path, errno)),
                    }
                }
                if let Some(errno) = listed.failed.filter(|_| within != LOST_AND_FOUND) {
                    seen.files.push(unreadable(within, errno));
                }
            }
            level = below;
        }
    }

    /// What is in each of these directories below `root`.
    fn list_level(&mut self, root: BorrowedFd<'_>, level: &[(String, u32)]) -> Vec<Listed> {
        let Self { batches, names } = self;
        let mut all = Vec::with_capacity(level.len());
        let mut left = level.iter();
        let mut list = |opened: Option<BorrowedFd<'_>>| {
            let (within, _) = left.next()?;
            all.push(list_dir((root, within), opened, names));
            Some(())
        };
        let paths = level.iter().map(|(within, _)| CString::new(dir_name(within)));
        let paths: Option<Vec<CString>> = paths.collect::<Result<_, _>>().ok();
        let opened = batches.as_mut().zip(paths).is_some_and(|(batches, paths)| {
            let mut list = |dir: Result<BorrowedFd<'_>, Errno>| {
                list(dir.ok());
            };
            batches.with_dirs(root, paths, &mut list).is_ok()
        });
        if !opened {
            *batches = None;
            while list(None).is_some() {}
        }
        all
    }

    /// `None`: there is no ring, or it failed.
    fn read_batches(
        &mut self,
        root: BorrowedFd<'_>,
        files: &mut [&mut ObservedFile],
    ) -> Option<()> {
        let name = |file: &&mut ObservedFile| CString::new(file.path.as_str()).ok();
        let names: Vec<CString> = files.iter().map(name).collect::<Option<_>>()?;
        let failed = self.batches.as_mut()?.read(root, names, &mut |file, piece| {
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

/// What is in a directory.
#[derive(Default)]
struct Listed {
    /// Paths below the root, and their kinds.
    entries: Vec<(String, Result<FileType, Errno>)>,
    /// Why it could not be read to its end.
    failed: Option<Errno>,
}

/// Lists a directory below `root`, which is opened by a call where it was not by the ring.
fn list_dir(
    (root, within): (BorrowedFd<'_>, &str),
    opened: Option<BorrowedFd<'_>>,
    names: &mut Vec<u8>,
) -> Listed {
    let mut listed = Listed::default();
    let mut read = || -> Result<(), Errno> {
        let own;
        let dir = match opened {
            Some(dir) => dir,
            None => {
                own = open_dir(root, Path::new(dir_name(within)))?;
                own.as_fd()
            }
        };
        let mut entries = RawDir::new(dir, names.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if matches!(&*name, "." | "..") {
                continue;
            }
            let path =
                if within.is_empty() { name.into_owned() } else { format!("{within}/{name}") };
            let kind = match entry.file_type() {
                FileType::Unknown => statat(root, &path, AtFlags::SYMLINK_NOFOLLOW)
                    .map(|stat| FileType::from_raw_mode(stat.st_mode)),
                kind => Ok(kind),
            };
            listed.entries.push((path, kind));
        }
        Ok(())
    };
    listed.failed = read().err();
    listed
}

/// The path of a directory below a root, which may be the root.
fn dir_name(within: &str) -> &str {
    if within.is_empty() { "." } else { within }
}

fn open_dir(within: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(within, path, flags, Mode::empty())
}

fn unread(path: String) -> ObservedFile {
    ObservedFile { path, size_bytes: 0, contents: Runs::default(), errno: None }
}

fn unreadable(path: &str, errno: Errno) -> ObservedFile {
    ObservedFile { errno: Some(errno.raw_os_error()), ..unread(path.to_owned()) }
}

/// Reads one file by calls.
fn read_file(root: BorrowedFd<'_>, of: &mut ObservedFile) {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = openat(root, of.path.as_str(), flags, Mode::empty());
    let opened = opened.map(File::from).map_err(io::Error::from);
    let opened = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
    let (size_bytes, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return of.errno = Some(error.raw_os_error().unwrap_or(0)),
    };
    of.size_bytes = size_bytes;
    let mut pieces = Bounded::new(&file, PIECE_BYTES as u64);
    of.errno = loop {
        match pieces.beginning() {
            Ok(piece) if piece.is_empty() => break None,
            Ok(piece) => of.contents.take(&piece),
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
        for mut reader in [FileReader::new(), FileReader { batches: None, ..FileReader::new() }] {
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
