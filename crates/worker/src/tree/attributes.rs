//! Owner, mode, extended attributes and times of what is made.
//!
//! New files get the mode of their original in the open(2) that makes them, where that
//! alone is right: nothing is to be given away, the process's mask takes no bit of it and no
//! directory above hands anything down. Otherwise they are made for their owner alone, and owner
//! and mode follow when all is in them.

use super::error::{EntryError, NameCall as _};
use rustix::fd::BorrowedFd;
use rustix::fs::{Gid, Mode, Stat, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::CStr;

/// Longest list of names and longest value of extended attributes (xattr(7)), bytes.
const XATTR_BYTES: usize = 65_536;
/// Bits of a mode that open(2) gives a new file.
const PERMISSION_BITS: u32 = 0o777;
/// All bits of a mode.
const ALL_BITS: u32 = 0o7777;
const SETGID: u32 = 0o2000;

/// Sets owner and mode of what is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttributeSetter {
    is_root: bool,
    uid: u32,
    gid: u32,
    /// Bits that the process takes from every new mode; all where it is not known.
    mask: u32,
    /// Whether new entries get their group or mode from the directory they are made in.
    inherits: bool,
}

impl AttributeSetter {
    /// For this process as it is now.
    pub fn new() -> Self {
        let uid = rustix::process::geteuid();
        Self {
            is_root: uid.is_root(),
            uid: uid.as_raw(),
            gid: rustix::process::getegid().as_raw(),
            mask: mask(),
            inherits: true,
        }
    }

    /// Looks at the new directory that all is made below: whether it hands down group or mode.
    pub fn note_inheritance(&mut self, dir: BorrowedFd<'_>, facts: &Stat) {
        let mut none = [0_u8; 0];
        let acl = rustix::fs::fgetxattr(dir, c"system.posix_acl_default", &mut none);
        let has_acl = !matches!(acl, Err(Errno::NODATA | Errno::OPNOTSUPP));
        self.inherits = has_acl || facts.st_mode & SETGID != 0 || facts.st_gid != self.gid;
    }

    /// Bits that an archive's modes lose, as with tar(1): none for root.
    pub fn masked(&self, mode: u32) -> u32 {
        if self.is_root { mode & ALL_BITS } else { mode & PERMISSION_BITS & !self.mask }
    }

    fn changes_owner(&self, uid: u32, gid: u32) -> bool {
        self.is_root && (self.inherits || uid != self.uid || gid != self.gid)
    }

    /// Mode to make a file with, and whether that is all it needs.
    #[inline]
    pub fn first_mode(&self, mode: u32, uid: u32, gid: u32) -> (Mode, bool) {
        let mode = mode & ALL_BITS;
        let done = !self.inherits
            && mode & (self.mask | !PERMISSION_BITS) == 0
            && !self.changes_owner(uid, gid);
        let bits = if done { mode } else { mode & 0o700 };
        (Mode::from_raw_mode(bits), done)
    }

    /// Owner of an open file or directory.
    #[inline]
    pub fn owner(&self, made: BorrowedFd<'_>, uid: u32, gid: u32) -> Result<(), EntryError> {
        if !self.changes_owner(uid, gid) {
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        rustix::fs::fchown(made, Some(uid), Some(gid)).making("fchown")
    }

    /// Owner of a symbolic link.
    #[inline]
    pub fn link_owner(
        &self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        uid: u32,
        gid: u32,
    ) -> Result<(), EntryError> {
        if !self.changes_owner(uid, gid) {
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::chownat(dir, name, Some(uid), Some(gid), flags).making("fchownat")
    }

    /// All bits of the mode, after the owner: chown(2) takes set-id bits away.
    #[inline]
    pub fn mode(&self, made: BorrowedFd<'_>, mode: u32) -> Result<(), EntryError> {
        rustix::fs::fchmod(made, Mode::from_raw_mode(mode & ALL_BITS)).making("fchmod")
    }
}

/// The mask of this process, without setting it: that would be for all its threads.
fn mask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(PERMISSION_BITS)
}

/// Times of an entry, to ns.
#[inline]
pub(super) fn times_of(facts: &Stat) -> Timestamps {
    let time = |tv_sec: i64, nsec: u64| Timespec { tv_sec, tv_nsec: nsec.cast_signed() };
    Timestamps {
        last_access: time(facts.st_atime, facts.st_atime_nsec),
        last_modification: time(facts.st_mtime, facts.st_mtime_nsec),
    }
}

/// Memory for names and values of extended attributes.
#[derive(Debug)]
pub(super) struct Xattrs {
    list: Vec<u8>,
    value: Vec<u8>,
}

impl Xattrs {
    pub fn new() -> Self {
        Self { list: vec![1; XATTR_BYTES], value: vec![1; XATTR_BYTES] }
    }

    /// Copies what flistxattr(2) shows, access control lists among it. As with `cp -a`, what this
    /// user or the file system may not keep is left out; only want of space and failures of the
    /// device are errors.
    #[inline]
    pub fn copy(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), EntryError> {
        match rustix::fs::flistxattr(from, self.list.as_mut_slice()) {
            Ok(0) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Ok(len) => self.copy_named(len, from, to),
            Err(errno) => Err(errno).reading("flistxattr"),
        }
    }

    #[cold]
    fn copy_named(
        &mut self,
        len: usize,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
    ) -> Result<(), EntryError> {
        let Self { list, value } = self;
        for name in list[..len].split_inclusive(|&byte| byte == 0) {
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            let got = match rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
                Ok(got) => got,
                Err(errno) if is_tolerated(errno) => continue,
                Err(errno) => return Err(errno).reading("fgetxattr"),
            };
            match rustix::fs::fsetxattr(to, name, &value[..got], XattrFlags::empty()) {
                Ok(()) => {}
                Err(errno) if is_tolerated(errno) => {}
                Err(errno) => return Err(errno).making("fsetxattr"),
            }
        }
        Ok(())
    }
}

/// Whether an attribute that cannot be kept for this reason is left out.
fn is_tolerated(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::OPNOTSUPP
            | Errno::PERM
            | Errno::ACCESS
            | Errno::INVAL
            | Errno::NODATA
            | Errno::RANGE
            | Errno::TOOBIG
    )
}
