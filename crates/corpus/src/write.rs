//! Writes a tree below a directory that is open.
//!
//! One thread makes the calls, in the order of the entries, while others make contents ahead of it:
//! every trial gives the file system the same calls in the same order, so that files lie alike, and
//! making a tree costs little more than the bare calls. A file is one `openat`, its `pwrite`s, one
//! `close`; a directory is a `mkdirat`, and an `openat` where much lies in it. Paths are relative
//! to the nearest directory that is open.
//!
//! Times are left as the calls set them: a call more a file would be a tenth of the whole, and no
//! file system is faster for an older time. Archives have the times of the description. Permissions
//! come with the call that makes a file; only where a umask or a default ACL takes some of them
//! away, a `fchmod` a file is added.

use crate::CorpusError;
use crate::pieces;
use crate::tree::{Entry, EntryKind, Tree};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, openat};
use rustix::io::{Errno, pwrite};

/// Entries between two questions whether to stop.
const ASK_EVERY: usize = 64;

/// A directory is opened when it holds more entries than this at any depth: with fewer, walking
/// its path with each of them costs less than `openat` and `close`.
const OPENED_FROM: usize = 16;
/// It is opened, too, when its path below the last one that is open is longer than this, bytes.
const LONGEST_BYTES: usize = 255;

/// What [`Tree::write`] has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub dirs: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

impl Tree {
    /// Writes all entries below `root`, an empty directory. `threads` further threads make
    /// contents ahead; what they have not begun with, this one makes. Asks `stop` every 64 pieces.
    ///
    /// # Errors
    /// [`CorpusError::Stopped`], or the call that failed with its path: what was written until then
    /// stays for the caller to remove.
    pub fn write(
        &self,
        root: BorrowedFd<'_>,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Written, CorpusError> {
        let mut writer = Writer {
            tree: self,
            root,
            dirs: Vec::new(),
            file: None,
            mode_kept: [None; 2],
            written: Written::default(),
        };
        let mut asked = 0;
        pieces::for_each(self, threads, |piece, entry, bytes| {
            if asked % ASK_EVERY == 0 && stop() {
                return Err(CorpusError::Stopped);
            }
            asked += 1;
            match entry.kind {
                EntryKind::Dir => writer.dir(piece.entry, entry),
                EntryKind::File { size_bytes } => {
                    if piece.offset == 0 {
                        writer.file = Some(writer.create(entry)?);
                    }
                    writer.append(entry, piece.offset, bytes)?;
                    if piece.offset + bytes.len() as u64 == size_bytes {
                        writer.file = None;
                        writer.written.files += 1;
                    }
                    Ok(())
                }
            }
        })?;
        Ok(writer.written)
    }
}

struct Writer<'a> {
    tree: &'a Tree,
    root: BorrowedFd<'a>,
    /// The open directories that lead to where the last entry lies, outermost first, with their
    /// paths.
    dirs: Vec<(OwnedFd, &'a str)>,
    /// The file at hand.
    file: Option<OwnedFd>,
    /// Whether 0644 and 0755 come out as asked for; found with the first file of each.
    mode_kept: [Option<bool>; 2],
    written: Written,
}

impl<'a> Writer<'a> {
    /// Leaves the open directories that `path` does not lie in; the innermost left, and what is
    /// to be said there for `path`.
    fn enter<'e>(&mut self, path: &'e str) -> (BorrowedFd<'_>, &'e str) {
        while self.dirs.last().is_some_and(|(_, dir)| below(path, dir).is_none()) {
            self.dirs.pop();
        }
        match self.dirs.last() {
            Some((fd, dir)) => (fd.as_fd(), below(path, dir).unwrap_or(path)),
            None => (self.root, path),
        }
    }

    fn dir(&mut self, at: usize, entry: Entry<'a>) -> Result<(), CorpusError> {
        let (here, name) = self.enter(entry.path);
        mkdirat(here, name, Mode::from_raw_mode(entry.mode))
            .map_err(|errno| CorpusError::call("mkdirat", entry.path, errno))?;
        self.written.dirs += 1;
        let many = at + OPENED_FROM < self.tree.entries().len()
            && below(self.tree.entry(at + OPENED_FROM).path, entry.path).is_some();
        let first = self.mode_kept[usize::from(entry.mode == 0o755)] != Some(true);
        if many || first || name.len() > LONGEST_BYTES {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let (here, name) = self.enter(entry.path);
            let dir = openat(here, name, flags, Mode::empty())
                .map_err(|errno| CorpusError::call("openat", entry.path, errno))?;
            self.keep_mode(&dir, entry)?;
            self.dirs.push((dir, entry.path));
        }
        Ok(())
    }

    fn create(&mut self, entry: Entry<'_>) -> Result<OwnedFd, CorpusError> {
        let (here, name) = self.enter(entry.path);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(here, name, flags, Mode::from_raw_mode(entry.mode))
            .map_err(|errno| CorpusError::call("openat", entry.path, errno))?;
        self.keep_mode(&file, entry)?;
        Ok(file)
    }

    /// Sets the permissions where the call that made it did not.
    fn keep_mode(&mut self, fd: &OwnedFd, entry: Entry<'_>) -> Result<(), CorpusError> {
        let kept = &mut self.mode_kept[usize::from(entry.mode == 0o755)];
        let known = match *kept {
            Some(known) => known,
            None => {
                let stat =
                    fstat(fd).map_err(|errno| CorpusError::call("fstat", entry.path, errno))?;
                *kept.insert(stat.st_mode & 0o777 == entry.mode)
            }
        };
        if known {
            return Ok(());
        }
        let failed = |errno| CorpusError::call("fchmod", entry.path, errno);
        let mode = Mode::from_raw_mode(entry.mode);
        if entry.kind != EntryKind::Dir {
            return fchmod(fd, mode).map_err(failed);
        }
        // A directory was opened as a place only.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = openat(fd, ".", flags, Mode::empty()).map_err(failed)?;
        fchmod(dir, mode).map_err(failed)
    }

    /// Writes a piece of the file at hand, at `offset`: a `write` would lock the file's position,
    /// as the threads that make contents have the same table of descriptors.
    fn append(&mut self, entry: Entry<'_>, offset: u64, bytes: &[u8]) -> Result<(), CorpusError> {
        let file = self.file.as_ref().expect("the first piece of a file has made it");
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            match pwrite(file, rest, at) {
                Ok(0) => return Err(CorpusError::call("pwrite", entry.path, Errno::NOSPC)),
                Ok(taken) => (at, rest) = (at + taken as u64, &rest[taken..]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(CorpusError::call("pwrite", entry.path, errno)),
            }
        }
        self.written.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// What leads from `dir` to `path`, where `path` lies below it.
fn below<'e>(path: &'e str, dir: &str) -> Option<&'e str> {
    path.strip_prefix(dir)?.strip_prefix('/')
}

#[cfg(test)]
mod tests;
