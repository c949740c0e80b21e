//! The seam between the loop and the kernel.
//!
//! A backend is chosen once a phase and monomorphised into the loop: no table of functions, no
//! branch an op. [`sync`] makes the real, blocking calls; [`null`] makes none and so bounds what
//! the harness itself can do. A backend must not allocate, lock, log or format.

pub mod null;
pub mod sync;

use rustix::io::Errno;
use std::ffi::CStr;

/// What the ops of a phase are made of. Paths are relative to the root of the dataset.
pub trait Backend {
    /// An open file; closed with [`Backend::close`] and by nothing else.
    type File: Copy;

    /// open(`O_CREAT|O_WRONLY|O_EXCL`, 0644).
    ///
    /// # Errors
    /// The call's.
    fn create(&self, path: &CStr) -> Result<Self::File, Errno>;

    /// open(`O_RDONLY`).
    ///
    /// # Errors
    /// The call's.
    fn open(&self, path: &CStr) -> Result<Self::File, Errno>;

    /// One write(2); how many bytes it took.
    ///
    /// # Errors
    /// The call's.
    fn write(&self, file: Self::File, bytes: &[u8]) -> Result<usize, Errno>;

    /// One read(2); how many bytes it gave.
    ///
    /// # Errors
    /// The call's.
    fn read(&self, file: Self::File, bytes: &mut [u8]) -> Result<usize, Errno>;

    /// close(2).
    ///
    /// # Errors
    /// The call's.
    fn close(&self, file: Self::File) -> Result<(), Errno>;

    /// stat(2).
    ///
    /// # Errors
    /// The call's.
    fn stat(&self, path: &CStr) -> Result<(), Errno>;

    /// unlink(2).
    ///
    /// # Errors
    /// The call's.
    fn unlink(&self, path: &CStr) -> Result<(), Errno>;

    /// syncfs(2) of the file system of the root; called after the last clock read of the loop.
    ///
    /// # Errors
    /// The call's.
    fn sync(&self) -> Result<(), Errno>;
}
