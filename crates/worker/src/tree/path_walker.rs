//! Directories below a root by path, without following a link.
//!
//! Each step is an openat(2) of one name with `O_NOFOLLOW`, so that nothing leads out, whatever the
//! tree holds. The directories of the last path stay open: for the next one only the steps that
//! differ are made, none at all in the same directory. Of a long path the last [`OPEN_LEVELS`] are
//! open.

use super::error::{EntryError, NameCall as _, Side};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Directories of a path that are open at once, in each tree.
pub(super) const OPEN_LEVELS: usize = 64;
/// How a directory is opened to be read.
pub(super) const DIR_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A call that failed.
pub(super) type CallError = (&'static str, Errno);

/// A directory of the path.
#[derive(Debug)]
struct Step {
    /// Where its path ends.
    end: usize,
    /// Absent where too many are open behind it.
    dir: Option<OwnedFd>,
}

/// Opens directories by path, from the one before.
#[derive(Debug)]
pub(super) struct PathWalker {
    root: OwnedFd,
    path: Vec<u8>,
    steps: Vec<Step>,
}

impl PathWalker {
    /// Starts at `root`.
    pub fn new(root: OwnedFd) -> Self {
        Self { root, path: Vec::with_capacity(4096), steps: Vec::with_capacity(OPEN_LEVELS) }
    }

    /// The directory at `path`: names with one slash between them, none of them `.` or `..`;
    /// nothing: the root. Directories that are missing are made where `make`. The descriptor is
    /// good for lookups only (`O_PATH`).
    pub fn open_dir(&mut self, path: &[u8], make: bool) -> Result<BorrowedFd<'_>, CallError> {
        if path != self.path {
            self.walk(path, make)?;
        }
        let last = self.steps.last().and_then(|step| step.dir.as_ref());
        Ok(last.map_or(self.root.as_fd(), OwnedFd::as_fd))
    }

    #[inline(never)]
    fn walk(&mut self, path: &[u8], make: bool) -> Result<(), CallError> {
        let is_common = |step: &&Step| {
            path.starts_with(&self.path[..step.end])
                && path.get(step.end).is_none_or(|&byte| byte == b'/')
        };
        let mut common = self.steps.iter().take_while(is_common).count();
        if common > 0 && self.steps[common - 1].dir.is_none() {
            common = 0;
        }
        self.steps.truncate(common);
        let mut end = self.steps.last().map_or(0, |step| step.end);
        self.path.truncate(end);
        for name in path[end..].split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            let last = self.steps.last().and_then(|step| step.dir.as_ref());
            let dir = step(last.map_or(self.root.as_fd(), OwnedFd::as_fd), name, make)?;
            if let Some(outer) = self.steps.len().checked_sub(OPEN_LEVELS) {
                self.steps[outer].dir = None;
            }
            if end > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name);
            end = self.path.len();
            self.steps.push(Step { end, dir: Some(dir) });
        }
        Ok(())
    }
}

fn step(dir: BorrowedFd<'_>, name: &[u8], make: bool) -> Result<OwnedFd, CallError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(dir, name, flags, Mode::empty());
    match open() {
        Err(Errno::NOENT) if make => {
            let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
            rustix::fs::mkdirat(dir, name, mode).map_err(|errno| ("mkdirat", errno))?;
            open()
        }
        other => other,
    }
    .map_err(|errno| ("openat", errno))
}

/// `path` up to its last slash, and its last name.
pub(super) fn split_parent(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The directory around `dir`, which must be the one of device and inode `id`.
pub(super) fn open_parent(
    dir: BorrowedFd<'_>,
    id: (u64, u64),
    side: Side,
) -> Result<OwnedFd, EntryError> {
    let on_side = |error| EntryError { side, ..error };
    let outer = rustix::fs::openat(dir, c"..", DIR_FLAGS, Mode::empty());
    let outer = outer.reading("openat").map_err(on_side)?;
    let facts = rustix::fs::fstat(&outer).reading("fstat").map_err(on_side)?;
    if (facts.st_dev, facts.st_ino) == id {
        return Ok(outer);
    }
    Err(EntryError::refused("openat", side, "the directory was moved meanwhile"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn walker(dir: &std::path::Path) -> PathWalker {
        PathWalker::new(std::fs::File::open(dir).unwrap().into())
    }

    #[test]
    fn the_directory_is_the_one_of_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let deep: Vec<_> = (0..3 * OPEN_LEVELS).map(|level| format!("d{}", level % 3)).collect();
        let paths = ["a/b/c", "a/b", "a/bb", "a", "", "b", &deep.join("/"), "d0/d1", "d0/d1/x"];
        let mut walker = walker(dir.path());
        for path in paths.into_iter().chain(paths) {
            let found = rustix::fs::fstat(walker.open_dir(path.as_bytes(), true).unwrap()).unwrap();
            let wanted = std::fs::metadata(dir.path().join(path)).unwrap();
            assert_eq!(found.st_ino, wanted.ino(), "{path}");
        }
        assert_eq!(walker.open_dir(b"a/none", false).unwrap_err(), ("openat", Errno::NOENT));
        assert!(walker.open_dir(b"a", false).is_ok(), "a miss leaves a walker that can go on");
    }

    #[test]
    fn no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        for path in ["link", "link/b"] {
            let missed = walker(dir.path()).open_dir(path.as_bytes(), true).unwrap_err();
            assert_eq!(missed, ("openat", Errno::NOTDIR), "{path}");
        }
    }

    #[test]
    fn paths_are_split_at_the_last_slash() {
        assert_eq!(split_parent(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split_parent(b"c"), (&b""[..], &b"c"[..]));
    }
}
