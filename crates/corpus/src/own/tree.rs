//! A directory of the user's, walked by names relative to open directories: neither the depth of a
//! tree nor the length of its paths matters, and a link is never followed. Only what stands in
//! directories and inodes is read, but for files with holes.

use super::entry::TopLevel;
use crate::CorpusError;
use fsarena_model::job::Contents;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, Dir, FileType, Mode, OFlags, SeekFrom, Stat, accessat, fstat, openat, seek,
    statat,
};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::path::Path;

/// Directories that are kept open at most; those further out are found again by `..`.
const OPEN: usize = 64;
/// Blocks that [`Contents::block_bytes`] counts in, bytes.
const BLOCK_BYTES: u64 = 4096;
/// Unit of `st_blocks`, bytes.
const STORED_BYTES: u64 = 512;

/// Counts what is below `root`, which is open. Asks `stop` every entry.
pub(super) fn survey(
    path: &Path,
    root: OwnedFd,
    stop: &dyn Fn() -> bool,
) -> Result<(Contents, TopLevel), CorpusError> {
    let mut walk = Walk {
        path,
        stop,
        levels: Vec::new(),
        seen: HashSet::new(),
        contents: Contents::default(),
        top: TopLevel::default(),
    };
    walk.enter(root, c"")?;
    while let Some(level) = walk.levels.last_mut() {
        if stop() {
            return Err(CorpusError::Stopped);
        }
        match level.dirs.pop() {
            Some(name) => {
                let dir = walk.open(&name)?;
                walk.enter(dir, &name)?;
            }
            None => walk.leave()?,
        }
    }
    Ok((walk.contents, walk.top))
}

/// A directory on the way to where the walk is.
struct Level {
    /// Closed, where it is far out.
    fd: Option<OwnedFd>,
    name: CString,
    /// Device and inode, to know it again.
    id: (u64, u64),
    /// Directories in it that are still to be walked.
    dirs: Vec<CString>,
    /// Length of its path below the root, bytes.
    path_bytes: u64,
}

struct Walk<'a> {
    path: &'a Path,
    stop: &'a dyn Fn() -> bool,
    levels: Vec<Level>,
    /// Files with several names that were counted.
    seen: HashSet<(u64, u64)>,
    contents: Contents,
    top: TopLevel,
}

impl Walk<'_> {
    /// Reads a directory and counts what is in it.
    fn enter(&mut self, fd: OwnedFd, name: &CStr) -> Result<(), CorpusError> {
        let outer_bytes = self.levels.last().map_or(0, |level| level.path_bytes);
        let slash = u64::from(outer_bytes > 0);
        let path_bytes = outer_bytes + slash + name.to_bytes().len() as u64;
        let failed = |walk: &Self, call, errno| walk.failed(call, name, errno);
        let stat = fstat(&fd).map_err(|errno| failed(self, "fstat", errno))?;
        let entries = Dir::read_from(&fd).map_err(|errno| failed(self, "getdents", errno))?;
        let mut dirs = Vec::new();
        for entry in entries {
            if (self.stop)() {
                return Err(CorpusError::Stopped);
            }
            let entry = entry.map_err(|errno| failed(self, "getdents", errno))?;
            let entry_name = entry.file_name();
            if entry_name == c"." || entry_name == c".." {
                continue;
            }
            let slash = u64::from(path_bytes > 0);
            let entry_bytes = path_bytes + slash + entry_name.to_bytes().len() as u64;
            let longest = self.contents.longest_path_bytes.max(entry_bytes);
            self.contents.longest_path_bytes = longest;
            if self.count(fd.as_fd(), name, entry_name)? {
                dirs.push(entry_name.to_owned());
            }
        }
        let fresh = Level { fd: Some(fd), name: name.to_owned(), id: id(&stat), dirs, path_bytes };
        self.levels.push(fresh);
        if let Some(far) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[far].fd = None;
        }
        Ok(())
    }

    /// Counts an entry of the directory `dir`; whether it is a directory.
    fn count(
        &mut self,
        dir: BorrowedFd<'_>,
        within: &CStr,
        name: &CStr,
    ) -> Result<bool, CorpusError> {
        let shown = || {
            let (within, name) = (within.to_string_lossy(), name.to_string_lossy());
            if within.is_empty() { name.into_owned() } else { format!("{within}/{name}") }
        };
        let failed = |walk: &Self, call, errno| CorpusError::Call {
            call,
            path: walk.shown(&shown()),
            error: Errno::into(errno),
        };
        let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| failed(self, "fstatat", errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                self.contents.dirs += 1;
                return Ok(true);
            }
            FileType::Symlink => self.contents.symlinks += 1,
            FileType::RegularFile => {
                accessat(dir, name, Access::READ_OK, AtFlags::EACCESS)
                    .map_err(|errno| failed(self, "faccessat", errno))?;
                self.contents.files += 1;
                if self.levels.is_empty() {
                    self.top.count(&[name.to_bytes()]);
                }
                if stat.st_nlink > 1 && !self.seen.insert(id(&stat)) {
                    return Ok(false);
                }
                let bytes =
                    stored_bytes(dir, name, &stat).map_err(|errno| failed(self, "lseek", errno))?;
                self.contents.bytes += bytes;
                self.contents.block_bytes += bytes.next_multiple_of(BLOCK_BYTES);
                self.contents.largest_bytes = self.contents.largest_bytes.max(bytes);
            }
            other => {
                return Err(CorpusError::Refused {
                    path: self.path.to_owned(),
                    member: self.shown_below(&shown()),
                    what: format!("is {}", kind_name(other)),
                    remedy: "take it out of the tree, or give another one",
                });
            }
        }
        Ok(false)
    }

    /// Opens a directory in the innermost one.
    fn open(&self, name: &CStr) -> Result<OwnedFd, CorpusError> {
        let level = self.levels.last().expect("a directory is at hand");
        let here = level.fd.as_ref().expect("the innermost directory is open");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(here, name, flags, Mode::empty()).map_err(|errno| self.failed("openat", name, errno))
    }

    /// Goes back to the directory around the innermost one.
    fn leave(&mut self) -> Result<(), CorpusError> {
        let left = self.levels.pop().expect("a directory is at hand");
        let Some(level) = self.levels.last() else { return Ok(()) };
        if level.fd.is_some() {
            return Ok(());
        }
        let inner = left.fd.expect("the innermost directory is open");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let outer = openat(&inner, c"..", flags, Mode::empty())
            .map_err(|errno| self.failed("openat", c"..", errno))?;
        let stat = fstat(&outer).map_err(|errno| self.failed("fstat", c"..", errno))?;
        if id(&stat) != level.id {
            return Err(CorpusError::Own {
                path: self.path.to_owned(),
                what: format!("{} was moved while it was looked at", self.shown_below("")),
                remedy: "leave the tree alone while it is used".to_owned(),
            });
        }
        self.levels.last_mut().expect("it was there").fd = Some(outer);
        Ok(())
    }

    fn failed(&self, call: &'static str, name: &CStr, errno: Errno) -> CorpusError {
        let path = self.shown(&name.to_string_lossy());
        CorpusError::Call { call, path, error: errno.into() }
    }

    /// The path of `name` in the directory at hand, for people.
    fn shown(&self, name: &str) -> String {
        self.path.join(self.shown_below(name)).display().to_string()
    }

    /// The same below the root.
    fn shown_below(&self, name: &str) -> String {
        let names = self.levels.iter().skip(1).map(|level| level.name.to_string_lossy());
        let names: Vec<_> = names.chain((!name.is_empty()).then(|| name.into())).collect();
        names.join("/")
    }
}

fn id(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Bytes of a file: its length, or those between its holes.
fn stored_bytes(dir: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> Result<u64, Errno> {
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
    if blocks.saturating_mul(STORED_BYTES) >= length {
        return Ok(length);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::empty())?;
    let (mut at, mut stored) = (0, 0);
    while at < length {
        let data = match seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // The file system does not know where its holes are.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(length),
            Err(errno) => return Err(errno),
        };
        at = seek(&file, SeekFrom::Hole(data))?;
        stored += at.saturating_sub(data);
    }
    Ok(stored.min(length))
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::CharacterDevice | FileType::BlockDevice => "a device node",
        FileType::Socket => "a socket",
        FileType::Fifo => "a FIFO",
        _ => "neither a file, a directory nor a symbolic link",
    }
}
