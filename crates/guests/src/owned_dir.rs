//! A directory that goes with its owner: at once when the owner drops it, and when the next one is
//! made beside it, where the owner was killed.
//!
//! The owner holds a lock on it, which the kernel gives back whatever ends the owner.

use fsarena_process::private;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Of directories in which something is put aside to be deleted: half of it is never found.
pub(crate) const REMOVED_PREFIX: &str = "removed-";
/// Of directories that guests have as their roots, and of the program that they start.
pub(crate) const GUEST_PREFIX: &str = "guest-";
pub(crate) const PROGRAM_PREFIX: &str = "program-";
/// Of a crash state that is being kept or deleted.
pub const KEEPING_PREFIX: &str = "keeping-";
/// How the directories begin that are made beside what is kept.
pub const OWNED_PREFIXES: &[&str] = &[REMOVED_PREFIX, GUEST_PREFIX, PROGRAM_PREFIX, KEEPING_PREFIX];

/// A directory of this process alone.
#[derive(Debug)]
pub struct OwnedDir {
    path: PathBuf,
    lock: File,
    /// The directory that it is in, where that was made for it.
    made_base: Option<PathBuf>,
}

impl OwnedDir {
    /// Makes a directory in `base` whose name begins with `prefix`, after removing those of owners
    /// that are gone.
    ///
    /// # Errors
    /// When it cannot be made or locked.
    pub fn make(base: &Path, prefix: &str) -> io::Result<Self> {
        let made_base = (!base.exists()).then(|| base.to_owned());
        loop {
            private::create_dirs(base)?;
            remove_abandoned(base, &[prefix])?;
            let path = match private::temp_dir(base, prefix) {
                Ok(dir) => dir.keep(),
                // Whoever made the base has gone, and it was empty.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Somebody who removes abandoned ones may have come before the lock.
            if let Some(lock) = locked(&path) {
                return Ok(Self { path, lock, made_base });
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path to it that is short, and good in this process only: names of sockets have a limit.
    #[must_use]
    pub fn short_path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        PathBuf::from(format!("/proc/self/fd/{}", self.lock.as_raw_fd()))
    }
}

impl Drop for OwnedDir {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next owner.
        let _ = fs::remove_dir_all(&self.path);
        // Fails where something else has come into it.
        if let Some(base) = &self.made_base {
            let _ = fs::remove_dir(base);
        }
    }
}

/// The directory locked, where nobody else has it and it is still there. Anybody may put a link or
/// a FIFO of such a name into `/tmp`: none is followed or waited at.
fn locked(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = File::from(open(path, flags, Mode::empty()).ok()?);
    flock(&dir, FlockOperation::NonBlockingLockExclusive).ok()?;
    let same = |there: fs::Metadata| dir.metadata().is_ok_and(|it| it.ino() == there.ino());
    fs::metadata(path).is_ok_and(same).then_some(dir)
}

/// Removes directories in `base` that begin with one of `prefixes` and whose owners are gone; gives
/// those that were removed.
///
/// # Errors
/// When `base` is there and cannot be read.
pub fn remove_abandoned(base: &Path, prefixes: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    let entries = match fs::read_dir(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(removed),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let ours = prefixes.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()));
        if ours && let Some(lock) = locked(&entry.path()) {
            // Of another user: not ours to remove.
            if fs::remove_dir_all(entry.path()).is_ok() {
                removed.push(entry.path());
            }
            drop(lock);
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_its_owner_and_leaves_those_of_others() {
        let base = tempfile::tempdir().unwrap();
        let one = OwnedDir::make(base.path(), "guest-").unwrap();
        let other = OwnedDir::make(base.path(), "guest-").unwrap();
        fs::write(one.path().join("file"), "x").unwrap();
        assert!(one.path().is_dir() && one.path() != other.path());
        assert!(one.short_path().join("file").is_file());
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && other.path().is_dir());
    }

    #[test]
    fn a_base_that_was_made_for_it_goes_too_if_it_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        drop(OwnedDir::make(&base, "guest-").unwrap());
        assert!(!base.exists());
        let one = OwnedDir::make(&base, "guest-").unwrap();
        fs::write(base.join("kept"), "x").unwrap();
        drop(one);
        assert!(base.join("kept").is_file());
    }

    #[test]
    fn what_a_killed_owner_left_goes_with_the_next() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join("guest-killed");
        fs::create_dir_all(left.join("deep")).unwrap();
        let others = base.path().join("kernels");
        fs::create_dir(&others).unwrap();
        let next = OwnedDir::make(base.path(), "guest-").unwrap();
        assert!(!left.exists() && others.is_dir() && next.path().is_dir());
        fs::create_dir(&left).unwrap();
        assert_eq!(remove_abandoned(base.path(), &["guest-"]).unwrap(), [left]);
        assert!(next.path().is_dir(), "its owner lives");
    }

    /// Anybody may put these into a directory such as `/tmp`.
    #[test]
    fn what_is_no_directory_is_neither_followed_nor_waited_at() {
        use rustix::fs::{CWD, FileType, mknodat};
        let (base, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = base.path().join("guest-link");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        assert!(remove_abandoned(base.path(), &["guest-"]).unwrap().is_empty(), "a link stays");
        mknodat(CWD, base.path().join("guest-pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        drop(OwnedDir::make(base.path(), "guest-").unwrap());
        assert!(link.is_symlink() && elsewhere.path().is_dir());
    }
}
