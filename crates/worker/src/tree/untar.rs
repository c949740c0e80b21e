//! Unpacks an archive: what `tar -x` does.
//!
//! Decompression is [`fsarena_corpus::reader`]'s and the headers are read by the crate `tar`: code
//! of libraries, in this process and within the timed part, as they are with tar(1), which starts
//! a second process to decompress. The calls in the new tree are the engine's own:
//!
//! | member | calls |
//! |---|---|
//! | file | openat (`O_EXCL`), write of 256 KiB, utimensat, close (1) |
//! | directory | mkdirat; when all is unpacked: openat, fchown for root, fchmod, utimensat, close |
//! | symbolic link | symlinkat, utimensat; fchownat for root |
//! | hard link | linkat |
//!
//! (1) fchown and fchmod where open could not do it. To these comes one openat for each step of a
//! path that was not open before ([`super::path_walker`]). A name that is there already (an archive
//! may hold a file twice) is removed and made anew; a directory stays.
//!
//! Owners are the numbers of the archive and kept by root only; names of users are not looked up
//! (`--numeric-owner`). Modes lose the bits of the process's mask unless root unpacks. Extended
//! attributes are not unpacked, which tar does not do either unless asked to.
//! A name with a line feed is read from GNU headers only: in a PAX header the library takes it for
//! the end of a record, and the member is refused. So are names and records of more than 1 MiB for
//! one member ([`HeaderLimit`]).

use super::attributes::AttributeSetter;
use super::body::CALL_BYTES;
use super::copy::{ByteCounts, close};
use super::entry_timer::EntryTimer;
use super::error::{EntryError, Failure, NameCall as _, Side, joined};
use super::member::{Kind, Member, Refusal};
use super::path_walker::{CallError, DIR_FLAGS, PathWalker, split_parent};
use fsarena_bounded::HeaderLimit;
use fsarena_engine::buffer::Pages;
use fsarena_model::job::Compression;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::{Errno, retry_on_intr};
use std::cell::Cell;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// A directory that gets its owner, mode and time when all is unpacked.
#[derive(Debug, Clone, Copy)]
struct DeferredDir {
    /// Range of its path in `deferred_paths`.
    path: (usize, usize),
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: (i64, u32),
    carried_ns: u64,
}

/// Unpacks archives.
#[derive(Debug)]
pub(super) struct Unpacker {
    compression: Compression,
    buffer: Pages,
    member: Member,
    deferred: Vec<DeferredDir>,
    deferred_paths: Vec<u8>,
    setter: AttributeSetter,
}

/// Counts what is read of a file.
struct Counted<'a> {
    file: File,
    bytes: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read(buffer)?;
        self.bytes.set(self.bytes.get() + got as u64);
        Ok(got)
    }
}

/// Directories of the new tree: for members, and for targets of hard links.
struct Walkers {
    members: PathWalker,
    targets: PathWalker,
}

impl Unpacker {
    /// Makes ready for an archive of `dirs` directories.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn new(compression: Compression, dirs: u64) -> Result<Self, Errno> {
        let dirs = usize::try_from(dirs.min(100_000)).unwrap_or(0);
        Ok(Self {
            compression,
            buffer: Pages::new(CALL_BYTES)?,
            member: Member::default(),
            deferred: Vec::with_capacity(dirs),
            deferred_paths: Vec::with_capacity(dirs * 32),
            setter: AttributeSetter::new(),
        })
    }

    /// Unpacks `input` (below `base` or absolute) into the directory `into`, which errors call
    /// `product`. Bytes are counted also where it failed.
    pub fn run(
        &mut self,
        base: BorrowedFd<'_>,
        (input, product): (&CStr, &CStr),
        into: OwnedFd,
        timer: &mut EntryTimer,
    ) -> (ByteCounts, Result<(), Failure>) {
        let (read, mut written_bytes) = (Cell::new(0), 0);
        let result = self.all(base, (input, product), into, timer, (&read, &mut written_bytes));
        (ByteCounts { read_bytes: read.get(), written_bytes }, result)
    }

    fn all(
        &mut self,
        base: BorrowedFd<'_>,
        (input, product): (&CStr, &CStr),
        into: OwnedFd,
        timer: &mut EntryTimer,
        (read, written_bytes): (&Cell<u64>, &mut u64),
    ) -> Result<(), Failure> {
        self.deferred.clear();
        self.deferred_paths.clear();
        let (archive_path, top) = (input.to_bytes(), product.to_bytes());
        let open = || {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(base, input, flags, Mode::empty()).reading("openat")?;
            let facts = rustix::fs::fstat(&into).making("fstat")?;
            Ok((File::from(file), facts))
        };
        let archive_error = |error: EntryError| Failure::new(error, archive_path.to_vec());
        let (file, facts) = open().map_err(archive_error)?;
        self.setter.note_inheritance(into.as_fd(), &facts);
        let stream_error = |error: io::Error| Failure::stream(&error, archive_path);
        let counted = BufReader::with_capacity(CALL_BYTES, Counted { file, bytes: read });
        let plain = fsarena_corpus::reader(self.compression, counted).map_err(stream_error)?;
        let mut plain = BufReader::with_capacity(CALL_BYTES, plain);
        let root =
            rustix::io::fcntl_dupfd_cloexec(&into, 3).making("fcntl").map_err(archive_error)?;
        let mut walkers =
            Walkers { members: PathWalker::new(into), targets: PathWalker::new(root) };
        let header_limit = HeaderLimit::new();
        let mut archive = tar::Archive::new(header_limit.reader(&mut plain));
        let entries = archive.entries().map_err(stream_error)?;
        for entry in entries {
            let mut entry = entry.map_err(stream_error)?;
            // Of what is no file, nothing is read here: the next step skips it.
            header_limit.before_member(entry.size());
            match self.member.take(&mut entry) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(Refusal::Read(error)) => return Err(stream_error(error)),
                Err(Refusal::Member(what)) => {
                    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                    let mut failure =
                        archive_error(EntryError::refused("read", Side::Source, what));
                    failure.text = format!("member {name:?} {what}");
                    return Err(failure);
                }
            }
            let is_file = self.member.kind == Some(Kind::File);
            if is_file {
                header_limit.in_member();
            }
            let made = self.unpack_member(&mut walkers, &mut entry, timer, written_bytes);
            made.map_err(|error| match error {
                MemberError::Stream(error) => stream_error(error),
                MemberError::Call(error) => Failure::new(error, joined(top, &self.member.path)),
            })?;
            if is_file {
                header_limit.before_member(0);
            }
        }
        self.finish_dirs(&mut walkers.members, timer)
            .map_err(|(error, path)| Failure::new(error, joined(top, &path)))?;
        // To the end: checksums of a compressed stream come last.
        io::copy(&mut plain, &mut io::sink()).map(drop).map_err(stream_error)
    }

    /// Makes the current member.
    fn unpack_member(
        &mut self,
        walkers: &mut Walkers,
        entry: &mut impl Read,
        timer: &mut EntryTimer,
        written_bytes: &mut u64,
    ) -> Result<(), MemberError> {
        let Self { member, buffer, setter, .. } = self;
        if member.kind == Some(Kind::Dir) {
            return Ok(self.dir(walkers, timer)?);
        }
        let (parent, name) = split_parent(&member.path);
        let dir = walkers.members.open_dir(parent, true).map_err(entry_error)?;
        let mut room = [0_u8; 256];
        let name = terminated(name, &mut room)?;
        match member.kind {
            Some(Kind::File) => {
                *written_bytes += file((dir, name), member, setter, entry, buffer.as_mut_slice())?;
            }
            Some(Kind::Symlink) => symlink((dir, name), member, setter)?,
            _ => hardlink((dir, name), member, &mut walkers.targets)?,
        }
        timer.record();
        Ok(())
    }

    /// A directory: made now, the rest later.
    fn dir(&mut self, walkers: &mut Walkers, timer: &mut EntryTimer) -> Result<(), EntryError> {
        let member = &self.member;
        if !member.path.is_empty() {
            let (parent, name) = split_parent(&member.path);
            let dir = walkers.members.open_dir(parent, true).map_err(entry_error)?;
            let made = rustix::fs::mkdirat(dir, name, Mode::RWXU);
            if let Err(Errno::EXIST) = made {
                let facts = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
                let mode = facts.making("fstatat")?.st_mode;
                if rustix::fs::FileType::from_raw_mode(mode) != rustix::fs::FileType::Directory {
                    return Err(Errno::EXIST).making("mkdirat");
                }
            } else {
                made.making("mkdirat")?;
            }
        }
        let start = self.deferred_paths.len();
        self.deferred_paths.extend_from_slice(&member.path);
        self.deferred.push(DeferredDir {
            path: (start, self.deferred_paths.len()),
            mode: member.mode,
            uid: member.uid,
            gid: member.gid,
            mtime: member.mtime,
            carried_ns: timer.split(),
        });
        Ok(())
    }

    /// Owners, modes and times of directories: those inside before those around them.
    fn finish_dirs(
        &mut self,
        walker: &mut PathWalker,
        timer: &mut EntryTimer,
    ) -> Result<(), (EntryError, Vec<u8>)> {
        let Self { deferred, deferred_paths, setter, .. } = self;
        let path_of = |dir: &DeferredDir| &deferred_paths[dir.path.0..dir.path.1];
        // What is in a directory has a greater path than it.
        deferred.sort_by(|one, other| path_of(other).cmp(path_of(one)));
        for dir in deferred.iter() {
            let path = path_of(dir);
            finish_dir(walker, path, dir, setter).map_err(|error| (error, path.to_vec()))?;
            // The root of the tree is no entry of it.
            if path.is_empty() {
                timer.split();
            } else {
                timer.record_with(dir.carried_ns);
            }
        }
        Ok(())
    }
}

/// What goes wrong with a member.
enum MemberError {
    Stream(io::Error),
    Call(EntryError),
}

impl From<EntryError> for MemberError {
    fn from(error: EntryError) -> Self {
        Self::Call(error)
    }
}

fn entry_error((call, errno): CallError) -> EntryError {
    EntryError { call, side: Side::Made, errno: Some(errno), what: "" }
}

/// The last name of a path as system calls want it.
fn terminated<'a>(name: &[u8], room: &'a mut [u8; 256]) -> Result<&'a CStr, EntryError> {
    let Some(slot) = room.get_mut(..=name.len()) else {
        return Err(Errno::NAMETOOLONG).making("openat");
    };
    slot[..name.len()].copy_from_slice(name);
    slot[name.len()] = 0;
    CStr::from_bytes_with_nul(slot).map_err(|_| entry_error(("openat", Errno::INVAL)))
}

/// Makes an entry; one that is there already is removed first.
fn anew<T>(
    (dir, name): (BorrowedFd<'_>, &CStr),
    call: &'static str,
    make: impl Fn() -> Result<T, Errno>,
) -> Result<T, EntryError> {
    match make() {
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).making("unlinkat")?;
            make().making(call)
        }
        other => other.making(call),
    }
}

/// Only the time of the last change: the last access is that of the unpacking, as with tar.
fn times((tv_sec, ns): (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec, tv_nsec: i64::from(ns) },
    }
}

/// A regular file; its bytes.
fn file(
    at: (BorrowedFd<'_>, &CStr),
    member: &Member,
    setter: &AttributeSetter,
    entry: &mut impl Read,
    buffer: &mut [u8],
) -> Result<u64, MemberError> {
    let full_mode = setter.masked(member.mode);
    let (mode, is_whole) = setter.first_mode(full_mode, member.uid, member.gid);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let made = anew(at, "openat", || rustix::fs::openat(at.0, at.1, flags, mode))?;
    let mut left_bytes = member.size_bytes;
    while left_bytes > 0 {
        let len = left_bytes.min(buffer.len() as u64) as usize;
        let got = entry.read(&mut buffer[..len]).map_err(MemberError::Stream)?;
        if got == 0 {
            return Err(MemberError::Stream(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = &buffer[..got];
        while !bytes.is_empty() {
            let wrote = retry_on_intr(|| rustix::io::write(&made, bytes)).making("write")?;
            if wrote == 0 {
                let what = "fewer bytes taken than given";
                return Err(EntryError::refused("write", Side::Made, what).into());
            }
            bytes = &bytes[wrote..];
        }
        left_bytes -= got as u64;
    }
    if !is_whole {
        setter.owner(made.as_fd(), member.uid, member.gid)?;
        setter.mode(made.as_fd(), full_mode)?;
    }
    rustix::fs::futimens(&made, &times(member.mtime)).making("utimensat")?;
    close(made)?;
    Ok(member.size_bytes)
}

fn symlink(
    at: (BorrowedFd<'_>, &CStr),
    member: &Member,
    setter: &AttributeSetter,
) -> Result<(), EntryError> {
    let (dir, name) = at;
    anew(at, "symlinkat", || rustix::fs::symlinkat(&member.target[..], dir, name))?;
    setter.link_owner(dir, name, member.uid, member.gid)?;
    let times = times(member.mtime);
    rustix::fs::utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW).making("utimensat")
}

fn hardlink(
    at: (BorrowedFd<'_>, &CStr),
    member: &Member,
    targets: &mut PathWalker,
) -> Result<(), EntryError> {
    if member.target == member.path {
        return Ok(());
    }
    let (parent, name) = split_parent(&member.target);
    let dir = targets.open_dir(parent, false).map_err(entry_error)?;
    anew(at, "linkat", || rustix::fs::linkat(dir, name, at.0, at.1, AtFlags::empty()))
}

fn finish_dir(
    walker: &mut PathWalker,
    path: &[u8],
    deferred: &DeferredDir,
    setter: &AttributeSetter,
) -> Result<(), EntryError> {
    let (parent, name) = split_parent(path);
    let name: &[u8] = if path.is_empty() { b"." } else { name };
    let parent = walker.open_dir(parent, false).map_err(entry_error)?;
    let dir = rustix::fs::openat(parent, name, DIR_FLAGS, Mode::empty());
    let dir = dir.making("openat")?;
    setter.owner(dir.as_fd(), deferred.uid, deferred.gid)?;
    setter.mode(dir.as_fd(), setter.masked(deferred.mode))?;
    rustix::fs::futimens(&dir, &times(deferred.mtime)).making("utimensat")
}
