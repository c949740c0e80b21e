//! Copies a tree or a file: what `cp -a --reflink=never|auto|always` does, in the same kind of
//! calls.
//!
//! | entry | calls |
//! |---|---|
//! | file | openat, fstat, openat (`O_EXCL`), contents (0), flistxattr, utimensat, 2 close (1) |
//! | further name of a file | linkat |
//! | symbolic link | fstatat, readlinkat, symlinkat, utimensat; fchownat for root |
//! | directory | openat, fstat, mkdirat, openat, getdents64; at its end (2) |
//!
//! (0) See [`super::body`]. (1) fchown and fchmod where open could not do it. (2) fchown for root,
//! flistxattr, fchmod, utimensat, 2 close.
//!
//! A directory is read whole and its entries are taken in the order of their inodes, as cp does.
//! Paths are looked up by one name below an open directory; the only whole path is that of the
//! first name of a file with several. No symbolic link is followed. Of the directories of the path
//! the innermost [`OPEN_LEVELS`] are open; the way back to an outer one goes by `..` and is checked
//! by device and inode, so a tree may be of any depth.
//!
//! Kept: mode, times to ns, hard links, holes, extended attributes and access control lists of
//! files and directories, owners where root copies. Not kept: extended attributes of symbolic links
//! (user attributes cannot be on one) and flags such as those of chattr(1), which cp does not keep
//! either. Devices, FIFOs and sockets are refused.

use super::attributes::{AttributeSetter, Xattrs, times_of};
use super::body::Body;
use super::entry_names::{Entry, EntryNames, Mark};
use super::entry_timer::EntryTimer;
use super::error::{EntryError, Failure, NameCall as _, Side, joined};
use super::path_walker::{DIR_FLAGS, OPEN_LEVELS, open_parent};
use fsarena_model::job::Reflink;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

/// Longest target of a symbolic link, bytes.
const TARGET_BYTES: usize = 4096;

/// Device and inode of a file.
type Id = (u64, u64);

/// A directory of the path, in both trees.
#[derive(Debug)]
struct Level {
    names: Mark,
    /// Number of the entry that comes next.
    next: usize,
    /// Absent where too many are open below it.
    open: Option<(OwnedFd, OwnedFd)>,
    /// Of both, kept when they are closed.
    ids: (Id, Id),
    facts: Stat,
    /// Length of the path up to it.
    path_bytes: usize,
    carried_ns: u64,
}

/// Bytes that a copy moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByteCounts {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// Root of the copy, and the directory of it that is worked in.
#[derive(Clone, Copy)]
struct Destination<'a> {
    base: BorrowedFd<'a>,
    top: &'a CStr,
    path: &'a [u8],
}

/// An entry below an open directory.
type Named<'a> = (BorrowedFd<'a>, &'a CStr);

/// Copies trees.
#[derive(Debug)]
pub(super) struct Copier {
    names: EntryNames,
    levels: Vec<Level>,
    /// The current directory, below the root of the tree.
    path: Vec<u8>,
    copier: EntryCopier,
}

impl Copier {
    /// Makes ready for a tree of `entries` entries.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn new(reflink: Reflink, entries: u64) -> Result<Self, Errno> {
        Ok(Self {
            names: EntryNames::new(entries),
            levels: Vec::with_capacity(OPEN_LEVELS * 2),
            path: Vec::with_capacity(TARGET_BYTES),
            copier: EntryCopier::new(reflink)?,
        })
    }

    /// What was moved so far.
    pub fn bytes(&self) -> ByteCounts {
        self.copier.bytes
    }

    /// Copies `from` (a tree or a file, below `base` or absolute) to `to`, which must not exist.
    pub fn run(
        &mut self,
        base: BorrowedFd<'_>,
        (from, to): (&CStr, &CStr),
        timer: &mut EntryTimer,
    ) -> Result<(), Failure> {
        self.names.clear();
        self.levels.clear();
        self.path.clear();
        self.copier.links.clear();
        self.copier.bytes = ByteCounts::default();
        let mut current = None;
        let result = self.all(base, (from, to), timer, &mut current);
        result.map_err(|error| {
            let top = if error.side == Side::Source { from } else { to };
            let name = current.map_or(&b""[..], |entry| self.names.name(entry).to_bytes());
            Failure::new(error, joined(&joined(top.to_bytes(), &self.path), name))
        })
    }

    /// Everything; `current` is the entry at hand, where the path alone does not say it.
    fn all(
        &mut self,
        base: BorrowedFd<'_>,
        (from, to): (&CStr, &CStr),
        timer: &mut EntryTimer,
        current: &mut Option<Entry>,
    ) -> Result<(), EntryError> {
        let facts = rustix::fs::statat(base, from, AtFlags::SYMLINK_NOFOLLOW).reading("fstatat")?;
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory => {
                let opened = self.copier.open_dirs((base, from), (base, to))?;
                self.copier.setter.note_inheritance(opened.1.as_fd(), &fstat_dir(&opened.1)?);
                self.enter(opened, 0, timer)?;
            }
            FileType::RegularFile => {
                // Alone it has no second name here.
                self.copier.file((base, from), (base, to), None)?;
                timer.record();
            }
            _ => {
                let what = "neither a directory nor a regular file; name the thing itself";
                return Err(EntryError::refused("fstatat", Side::Source, what));
            }
        }
        while let Some(level) = self.levels.last_mut() {
            if level.next == self.names.end() {
                *current = None;
                self.leave(timer)?;
                continue;
            }
            let entry = self.names.entry(level.next);
            level.next += 1;
            *current = Some(entry);
            if let Some(opened) = self.one(Destination { base, top: to, path: &[] }, entry)? {
                let path_bytes = self.path.len();
                if path_bytes > 0 {
                    self.path.push(b'/');
                }
                self.path.extend_from_slice(self.names.name(entry).to_bytes());
                *current = None;
                self.enter(opened, path_bytes, timer)?;
            } else {
                timer.record();
            }
        }
        Ok(())
    }

    /// One entry of the innermost directory; the two directories, where it is one.
    #[inline]
    fn one(
        &mut self,
        destination: Destination<'_>,
        entry: Entry,
    ) -> Result<Option<(OwnedFd, OwnedFd, Stat)>, EntryError> {
        let Self { names, levels, path, copier } = self;
        let (from, to) = match levels.last().and_then(|level| level.open.as_ref()) {
            Some((from, to)) => (from.as_fd(), to.as_fd()),
            None => return Err(EntryError::refused("openat", Side::Source, NOT_OPEN)),
        };
        let name = names.name(entry);
        let destination = Destination { path, ..destination };
        let mut kind = entry.kind;
        if kind == FileType::Unknown {
            let facts = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW);
            kind = FileType::from_raw_mode(facts.reading("fstatat")?.st_mode);
        }
        match kind {
            FileType::RegularFile => copier.file((from, name), (to, name), Some(destination))?,
            FileType::Symlink => copier.symlink((from, name), to, destination)?,
            FileType::Directory => return copier.open_dirs((from, name), (to, name)).map(Some),
            _ => {
                let what = "a device, FIFO or socket, which is not copied; leave it out";
                return Err(EntryError::refused("getdents64", Side::Source, what));
            }
        }
        Ok(None)
    }

    /// Goes into a directory that was opened and made; the path up to it has `path_bytes`.
    fn enter(
        &mut self,
        (from, to, facts): (OwnedFd, OwnedFd, Stat),
        path_bytes: usize,
        timer: &mut EntryTimer,
    ) -> Result<(), EntryError> {
        let names = self.names.read(from.as_fd(), 0).reading("getdents64")?;
        if let Some(outer) = self.levels.len().checked_sub(OPEN_LEVELS) {
            let level = &mut self.levels[outer];
            if let Some((from, to)) = &level.open {
                level.ids = (id_of(&fstat_dir(from)?), id_of(&fstat_dir(to)?));
            }
            level.open = None;
        }
        let (open, next) = (Some((from, to)), names.first);
        let (ids, carried_ns) = (((0, 0), (0, 0)), timer.split());
        self.levels.push(Level { names, next, open, ids, facts, path_bytes, carried_ns });
        Ok(())
    }

    /// Finishes the innermost directory and goes back to the one around it.
    fn leave(&mut self, timer: &mut EntryTimer) -> Result<(), EntryError> {
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let Some((from, to)) = &level.open else {
            return Err(EntryError::refused("openat", Side::Source, NOT_OPEN));
        };
        self.copier.finish_dir((from.as_fd(), to.as_fd()), &level.facts)?;
        if let Some(outer) = self.levels.last_mut().filter(|outer| outer.open.is_none()) {
            let (from_id, to_id) = outer.ids;
            let from = open_parent(from.as_fd(), from_id, Side::Source)?;
            outer.open = Some((from, open_parent(to.as_fd(), to_id, Side::Made)?));
        }
        self.names.drop_from(level.names);
        self.path.truncate(level.path_bytes);
        drop(level.open);
        // The root of the tree is no entry of it.
        if self.levels.is_empty() {
            timer.split();
        } else {
            timer.record_with(level.carried_ns);
        }
        Ok(())
    }
}

/// Text where the bookkeeping of open directories is wrong.
const NOT_OPEN: &str = "its directory is not open; this is a mistake of the program";

/// fstat of a directory that was made or opened.
fn fstat_dir(dir: &OwnedFd) -> Result<Stat, EntryError> {
    rustix::fs::fstat(dir).making("fstat")
}

/// Device and inode.
fn id_of(facts: &Stat) -> Id {
    (facts.st_dev, facts.st_ino)
}

/// Copies one entry.
#[derive(Debug)]
struct EntryCopier {
    body: Body,
    setter: AttributeSetter,
    xattrs: Xattrs,
    /// First name, below the base, of files with several.
    links: HashMap<Id, CString>,
    target: Vec<u8>,
    bytes: ByteCounts,
}

impl EntryCopier {
    fn new(reflink: Reflink) -> Result<Self, Errno> {
        Ok(Self {
            body: Body::new(reflink)?,
            setter: AttributeSetter::new(),
            xattrs: Xattrs::new(),
            links: HashMap::new(),
            target: vec![1; TARGET_BYTES],
            bytes: ByteCounts::default(),
        })
    }

    /// A regular file; `destination` where it may have further names.
    fn file(
        &mut self,
        from: Named<'_>,
        to: Named<'_>,
        destination: Option<Destination<'_>>,
    ) -> Result<(), EntryError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let source = rustix::fs::openat(from.0, from.1, flags, Mode::empty()).reading("openat")?;
        let facts = rustix::fs::fstat(&source).reading("fstat")?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            let what = "no longer a regular file; it was changed meanwhile";
            return Err(EntryError::refused("fstat", Side::Source, what));
        }
        if let Some(destination) = destination.filter(|_| facts.st_nlink > 1)
            && self.further_name(&facts, to, destination)?
        {
            return Ok(());
        }
        let (uid, gid) = (facts.st_uid, facts.st_gid);
        let (mode, is_whole) = self.setter.first_mode(facts.st_mode, uid, gid);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = rustix::fs::openat(to.0, to.1, flags, mode).making("openat")?;
        let bytes = self.body.copy(source.as_fd(), made.as_fd(), &facts)?;
        self.bytes.read_bytes += bytes;
        self.bytes.written_bytes += bytes;
        if !is_whole {
            self.setter.owner(made.as_fd(), uid, gid)?;
        }
        // Before the mode, which may forbid them; the mode is what an access list makes it.
        self.xattrs.copy(source.as_fd(), made.as_fd())?;
        if !is_whole {
            self.setter.mode(made.as_fd(), facts.st_mode)?;
        }
        rustix::fs::futimens(&made, &times_of(&facts)).making("utimensat")?;
        close(made)
    }

    /// Links a further name of a file; the first is kept, and `false`.
    fn further_name(
        &mut self,
        facts: &Stat,
        to: Named<'_>,
        destination: Destination<'_>,
    ) -> Result<bool, EntryError> {
        if let Some(first) = self.links.get(&id_of(facts)) {
            let linked = rustix::fs::linkat(destination.base, first, to.0, to.1, AtFlags::empty());
            return linked.making("linkat").map(|()| true);
        }
        let path = joined(&joined(destination.top.to_bytes(), destination.path), to.1.to_bytes());
        if let Ok(path) = CString::new(path) {
            self.links.insert(id_of(facts), path);
        }
        Ok(false)
    }

    /// A symbolic link, not followed.
    fn symlink(
        &mut self,
        from: Named<'_>,
        to: BorrowedFd<'_>,
        destination: Destination<'_>,
    ) -> Result<(), EntryError> {
        let (dir, name) = from;
        let facts = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).reading("fstatat")?;
        if facts.st_nlink > 1 && self.further_name(&facts, (to, name), destination)? {
            return Ok(());
        }
        // One byte is left for the end.
        let room = &mut self.target[..TARGET_BYTES - 1];
        let len = rustix::fs::readlinkat_raw(dir, name, room).reading("readlinkat")?;
        self.target[len] = 0;
        let Ok(target) = CStr::from_bytes_with_nul(&self.target[..=len]) else {
            return Err(EntryError::refused("readlinkat", Side::Source, "its target holds a NUL"));
        };
        rustix::fs::symlinkat(target, to, name).making("symlinkat")?;
        self.setter.link_owner(to, name, facts.st_uid, facts.st_gid)?;
        let (times, flags) = (times_of(&facts), AtFlags::SYMLINK_NOFOLLOW);
        rustix::fs::utimensat(to, name, &times, flags).making("utimensat")
    }

    /// Opens a directory, makes its copy for its owner alone and opens that.
    fn open_dirs(
        &mut self,
        from: Named<'_>,
        to: Named<'_>,
    ) -> Result<(OwnedFd, OwnedFd, Stat), EntryError> {
        let flags = DIR_FLAGS;
        let source = rustix::fs::openat(from.0, from.1, flags, Mode::empty()).reading("openat")?;
        let facts = rustix::fs::fstat(&source).reading("fstat")?;
        rustix::fs::mkdirat(to.0, to.1, Mode::RWXU).making("mkdirat")?;
        let made = rustix::fs::openat(to.0, to.1, flags, Mode::empty()).making("openat")?;
        Ok((source, made, facts))
    }

    /// What a directory gets when all is in it.
    fn finish_dir(
        &mut self,
        (from, to): (BorrowedFd<'_>, BorrowedFd<'_>),
        facts: &Stat,
    ) -> Result<(), EntryError> {
        self.setter.owner(to, facts.st_uid, facts.st_gid)?;
        self.xattrs.copy(from, to)?;
        self.setter.mode(to, facts.st_mode)?;
        rustix::fs::futimens(to, &times_of(facts)).making("utimensat")
    }
}

/// Closes a file that was written: some file systems say only then what went wrong.
pub(super) fn close(file: OwnedFd) -> Result<(), EntryError> {
    fsarena_engine::resources::close(file).making("close")
}
