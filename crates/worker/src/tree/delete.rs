//! Removes a tree or a file: what `rm -rf` does, in these calls.
//!
//! | entry | calls |
//! |---|---|
//! | anything but a directory | unlinkat |
//! | directory | openat, getdents64; after what was in it: close, unlinkat with `AT_REMOVEDIR` |
//!
//! A directory is read whole before anything in it is removed. As with rm the entries of one with
//! more than 10,000 are taken in the order of their inodes, those of others as they were read.
//! Nothing is followed, so a link to a directory is removed and what it points to stays. Unlike `rm
//! -f` a thing that is not there is an error: something is wrong with the work then.

use super::entry_names::{Entry, EntryNames, Mark};
use super::entry_timer::EntryTimer;
use super::error::{EntryError, Failure, NameCall as _, Side, joined};
use super::path_walker::{DIR_FLAGS, OPEN_LEVELS, open_parent};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode};
use std::ffi::CStr;

/// Entries from which the order of inodes is worth a sort, as in rm's fts.
const SORT_FROM: usize = 10_001;
/// Said where the bookkeeping of open directories is wrong.
const NOT_OPEN: &str = "its directory is not open; this is a mistake of the program";

/// A directory of the path.
#[derive(Debug)]
struct Level {
    names: Mark,
    next: usize,
    /// Absent where too many are open below it.
    open: Option<OwnedFd>,
    /// Device and inode, kept when it is closed.
    id: (u64, u64),
    /// Its own entry in the directory around it; `None`: it is the root of the tree.
    entry: Option<Entry>,
    path_bytes: usize,
    carried_ns: u64,
}

/// Removes trees.
#[derive(Debug)]
pub(super) struct Deleter {
    names: EntryNames,
    levels: Vec<Level>,
    path: Vec<u8>,
}

impl Deleter {
    /// Makes ready for a tree of `entries` entries.
    pub fn new(entries: u64) -> Self {
        Self {
            names: EntryNames::new(entries),
            levels: Vec::with_capacity(OPEN_LEVELS * 2),
            path: Vec::with_capacity(4096),
        }
    }

    /// Removes `input`, below `base` or absolute.
    pub fn run(
        &mut self,
        base: BorrowedFd<'_>,
        input: &CStr,
        timer: &mut EntryTimer,
    ) -> Result<(), Failure> {
        self.names.clear();
        self.levels.clear();
        self.path.clear();
        let mut current = None;
        self.all(base, input, timer, &mut current).map_err(|error| {
            let name = current.map_or(&b""[..], |entry| self.names.name(entry).to_bytes());
            Failure::new(error, joined(&joined(input.to_bytes(), &self.path), name))
        })
    }

    fn all(
        &mut self,
        base: BorrowedFd<'_>,
        input: &CStr,
        timer: &mut EntryTimer,
        current: &mut Option<Entry>,
    ) -> Result<(), EntryError> {
        let facts = rustix::fs::statat(base, input, AtFlags::SYMLINK_NOFOLLOW);
        let kind = FileType::from_raw_mode(facts.reading("fstatat")?.st_mode);
        if kind != FileType::Directory {
            rustix::fs::unlinkat(base, input, AtFlags::empty()).reading("unlinkat")?;
            timer.record();
            return Ok(());
        }
        let dir = rustix::fs::openat(base, input, DIR_FLAGS, Mode::empty());
        self.enter(dir.reading("openat")?, None, timer)?;
        while let Some(level) = self.levels.last_mut() {
            if level.next == self.names.end() {
                *current = None;
                self.leave(base, input, timer)?;
                continue;
            }
            let entry = self.names.entry(level.next);
            level.next += 1;
            *current = Some(entry);
            let Some(dir) = &level.open else {
                return Err(EntryError::refused("unlinkat", Side::Source, NOT_OPEN));
            };
            if let Some(inner) = remove(dir.as_fd(), self.names.name(entry), entry.kind)? {
                self.enter(inner, Some(entry), timer)?;
                *current = None;
            } else {
                timer.record();
            }
        }
        Ok(())
    }

    /// Goes into a directory.
    fn enter(
        &mut self,
        dir: OwnedFd,
        entry: Option<Entry>,
        timer: &mut EntryTimer,
    ) -> Result<(), EntryError> {
        let names = self.names.read(dir.as_fd(), SORT_FROM).reading("getdents64")?;
        if let Some(outer) = self.levels.len().checked_sub(OPEN_LEVELS) {
            let level = &mut self.levels[outer];
            if let Some(dir) = &level.open {
                let facts = rustix::fs::fstat(dir).reading("fstat")?;
                level.id = (facts.st_dev, facts.st_ino);
            }
            level.open = None;
        }
        let path_bytes = self.path.len();
        if let Some(entry) = entry {
            if path_bytes > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(self.names.name(entry).to_bytes());
        }
        let (open, next, carried_ns) = (Some(dir), names.first, timer.split());
        self.levels.push(Level { names, next, open, id: (0, 0), entry, path_bytes, carried_ns });
        Ok(())
    }

    /// Removes the innermost directory, which is empty by now, and goes back to the one around it.
    fn leave(
        &mut self,
        base: BorrowedFd<'_>,
        input: &CStr,
        timer: &mut EntryTimer,
    ) -> Result<(), EntryError> {
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let removed = match (self.levels.last_mut(), level.entry) {
            (Some(outer), Some(entry)) => {
                if outer.open.is_none() {
                    let Some(dir) = &level.open else {
                        return Err(EntryError::refused("openat", Side::Source, NOT_OPEN));
                    };
                    outer.open = Some(open_parent(dir.as_fd(), outer.id, Side::Source)?);
                }
                drop(level.open);
                let Some(dir) = &outer.open else {
                    return Err(EntryError::refused("openat", Side::Source, NOT_OPEN));
                };
                rustix::fs::unlinkat(dir, self.names.name(entry), AtFlags::REMOVEDIR)
            }
            _ => {
                drop(level.open);
                rustix::fs::unlinkat(base, input, AtFlags::REMOVEDIR)
            }
        };
        removed.reading("unlinkat")?;
        self.names.drop_from(level.names);
        self.path.truncate(level.path_bytes);
        // The root of the tree is no entry of it.
        if level.entry.is_none() {
            timer.split();
        } else {
            timer.record_with(level.carried_ns);
        }
        Ok(())
    }
}

/// Removes what is no directory; a directory is opened instead.
#[inline(always)]
fn remove(dir: BorrowedFd<'_>, name: &CStr, kind: FileType) -> Result<Option<OwnedFd>, EntryError> {
    let is_dir = match kind {
        FileType::Directory => true,
        FileType::Unknown => {
            let facts = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
            let mode = facts.reading("fstatat")?.st_mode;
            FileType::from_raw_mode(mode) == FileType::Directory
        }
        _ => false,
    };
    if is_dir {
        let opened = rustix::fs::openat(dir, name, DIR_FLAGS, Mode::empty());
        return opened.reading("openat").map(Some);
    }
    rustix::fs::unlinkat(dir, name, AtFlags::empty()).reading("unlinkat").map(|()| None)
}
