//! Blocking system calls, one after the other, through rustix.
//!
//! rustix puts the system call instruction into the loop itself (no call through the PLT, no
//! errno in thread-local storage) behind a safe interface, so no assembly of our own is needed.
//! Measured on tmpfs in alternating turns of 500 files: 25 ns less than glibc for open, read and
//! close of a file (of 1440 ns), no difference for stat.

use super::Backend;
use crate::phase::Root;
use rustix::fd::{BorrowedFd, IntoRawFd as _, RawFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;

/// The real calls, relative to a [`Root`].
#[derive(Debug, Clone, Copy)]
pub struct Sync<'a> {
    root: &'a Root,
    /// Where paths start; copied out of `root` so that the loop does not look it up.
    lookup: BorrowedFd<'a>,
}

impl<'a> Sync<'a> {
    /// A backend for the tree below `root`.
    #[must_use]
    pub fn new(root: &'a Root) -> Self {
        Self { root, lookup: root.lookup() }
    }

    #[inline(always)]
    fn open_with(&self, path: &CStr, flags: OFlags) -> Result<RawFd, Errno> {
        let mode = Mode::from_raw_mode(0o644);
        Ok(rustix::fs::openat(self.lookup, path, flags, mode)?.into_raw_fd())
    }
}

/// Borrows a descriptor that this module opened.
#[inline(always)]
fn borrow<'a>(file: RawFd) -> BorrowedFd<'a> {
    // SAFETY: the loop passes only descriptors that `create` or `open` gave it and that it has not
    // closed yet; the borrow ends with the call it is made for.
    unsafe { BorrowedFd::borrow_raw(file) }
}

impl Backend for Sync<'_> {
    type File = RawFd;

    #[inline(always)]
    fn create(&self, path: &CStr) -> Result<RawFd, Errno> {
        self.open_with(path, OFlags::CREATE | OFlags::WRONLY | OFlags::EXCL)
    }

    #[inline(always)]
    fn open(&self, path: &CStr) -> Result<RawFd, Errno> {
        self.open_with(path, OFlags::RDONLY)
    }

    #[inline(always)]
    fn write(&self, file: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::io::write(borrow(file), bytes)
    }

    #[inline(always)]
    fn read(&self, file: RawFd, bytes: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(borrow(file), bytes)
    }

    #[inline(always)]
    fn close(&self, file: RawFd) -> Result<(), Errno> {
        // SAFETY: the loop owns the descriptor (see `borrow`) and does not use it again. The error
        // is wanted: network file systems report failed writes here.
        unsafe { rustix::io::try_close(file) }
    }

    #[inline(always)]
    fn stat(&self, path: &CStr) -> Result<(), Errno> {
        // Dropped at once: looking at the result would copy its 144 bytes three times (20 ns).
        rustix::fs::statat(self.lookup, path, AtFlags::empty()).map(drop)
    }

    #[inline(always)]
    fn unlink(&self, path: &CStr) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.lookup, path, AtFlags::empty())
    }

    fn sync(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(self.root.dir())
    }
}
