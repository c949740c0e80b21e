//! The seam between the loop and the kernel.
//!
//! A backend is chosen once a phase and monomorphised into the loop: no table of functions, no
//! branch an op. Flags of open (`O_DIRECT`, `O_DSYNC`) are decided when the backend is made.
//! [`sync`] makes the real, blocking calls; [`mmap`] moves the contents of big files by memory
//! copies; [`null`] makes no call and so bounds what the harness itself can do. A backend must not
//! allocate, lock, log or format. Threads of a phase share one.

pub mod mmap;
pub mod null;
pub mod sync;

use crate::durable::Durable;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::ffi::CStr;

/// How a file is opened; the phase adds its own flags (`O_DIRECT`, `O_DSYNC`) but for `Direct` and
/// `Dir`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// `O_RDONLY`.
    Read,
    /// `O_WRONLY`, to write over what is there.
    Write,
    /// `O_RDWR`, for reads and writes in one file.
    ReadWrite,
    /// `O_WRONLY|O_APPEND`.
    Append,
    /// `O_WRONLY|O_TRUNC`, to write all of it again.
    Truncate,
    /// `O_CREAT|O_WRONLY`, 0644: a file that may be there or not.
    Create,
    /// `O_RDONLY|O_DIRECT`, whatever the phase has for its files.
    Direct,
    /// `O_RDONLY|O_DIRECTORY`.
    Dir,
}

/// What statx(2) says of an entry of a directory.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Whether it is the directory itself; else it is something in it that is none.
    pub is_itself: bool,
    /// Its length, bytes.
    pub size_bytes: u64,
    /// When it was modified, ns since 1970.
    pub modified_unix_ns: i128,
}

/// A call that failed while a directory was read.
#[derive(Debug, Clone, Copy)]
pub struct EntryError {
    /// System call.
    pub call: &'static str,
    /// Its error.
    pub errno: Errno,
}

/// What the ops of a phase are made of. Paths are relative to the root of the dataset. Every
/// method fails with the error of its call.
#[expect(clippy::missing_errors_doc, reason = "the errors are those of the calls")]
pub trait Backend {
    /// An open file or directory; closed with [`Backend::close`] and by nothing else.
    type File: Copy;

    /// Whether there are directories to be read: else as many entries are counted as there would
    /// be.
    const HAS_ENTRIES: bool = true;

    /// Whether it does more than move the contents of big files. Phases of other ops, and cycles,
    /// are refused before they begin where it does not, and the program has no loops for them.
    const HAS_SMALL_FILES: bool = true;

    /// Whether calls always give an offset: its files have no position of their own.
    const BY_OFFSET: bool = false;

    /// open(`O_CREAT|O_WRONLY|O_EXCL`, 0644). The file will get `size_bytes`; only a backend that
    /// must know it beforehand looks at that.
    fn create(&self, path: &CStr, size_bytes: u64) -> Result<Self::File, Errno>;

    /// open(2) of a file or directory that is there, or may be ([`OpenMode::Create`]). The mode is
    /// a constant where it is called, so that nothing is decided an op.
    fn open(&self, path: &CStr, mode: OpenMode) -> Result<Self::File, Errno>;

    /// One write(2); how many bytes it took.
    fn write(&self, file: Self::File, bytes: &[u8]) -> Result<usize, Errno>;

    /// One read(2); how many bytes it gave.
    fn read(&self, file: Self::File, bytes: &mut [u8]) -> Result<usize, Errno>;

    /// One pwrite(2) at `offset` bytes; how many bytes it took.
    fn write_at(&self, file: Self::File, offset: u64, bytes: &[u8]) -> Result<usize, Errno>;

    /// One pread(2) at `offset` bytes; how many bytes it gave.
    fn read_at(&self, file: Self::File, offset: u64, bytes: &mut [u8]) -> Result<usize, Errno>;

    /// fsync(2) of a file or directory.
    fn fsync(&self, file: Self::File) -> Result<(), Errno>;

    /// Puts the pages of a file that are written back out of the page cache (posix_fadvise(2),
    /// `POSIX_FADV_DONTNEED`).
    fn forget(&self, file: Self::File) -> Result<(), Errno>;

    /// close(2).
    fn close(&self, file: Self::File) -> Result<(), Errno>;

    /// stat(2).
    fn stat(&self, path: &CStr) -> Result<(), Errno>;

    /// unlink(2).
    fn unlink(&self, path: &CStr) -> Result<(), Errno>;

    /// rename(2).
    fn rename(&self, from: &CStr, to: &CStr) -> Result<(), Errno>;

    /// mkdir(2), mode 0755.
    fn mkdir(&self, path: &CStr) -> Result<(), Errno>;

    /// rmdir(2).
    fn rmdir(&self, path: &CStr) -> Result<(), Errno>;

    /// getdents64(2) through `buffer` until the end; how many entries there are, with `.` and `..`
    /// where the file system gives them.
    fn list(&self, dir: Self::File, buffer: &mut [u8]) -> Result<u64, Errno>;

    /// statx(2) of a directory itself, then getdents64(2) through `buffer` to its end and statx(2)
    /// of each entry but directories; ends early where `each` answers `false`.
    fn each_entry(
        &self,
        dir: Self::File,
        buffer: &mut [u8],
        each: impl FnMut(Entry) -> bool,
    ) -> Result<(), EntryError> {
        let _ = (dir, buffer, each);
        Err(EntryError { call: "getdents64", errno: Errno::NOTSUP })
    }

    /// A call on names that has no method of its own; `call` gets the directory where lookups
    /// start. A backend that makes no calls answers with `none`.
    fn call_by_name<T>(
        &self,
        none: T,
        call: impl FnOnce(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let _ = (none, call);
        Err(Errno::NOTSUP)
    }

    /// The same on an open file.
    fn call_on_file(
        &self,
        file: Self::File,
        call: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let _ = (file, call);
        Err(Errno::NOTSUP)
    }

    /// syncfs(2) of the file system of the root: what a program can call.
    fn sync(&self) -> Result<(), Errno>;

    /// The end of a phase, or of a cycle: [`crate::Root::make_durable`].
    fn make_durable(&self) -> Result<Durable, Errno> {
        self.sync().map(|()| Durable::now())
    }

    /// Bytes that the file system of the root has left, asked after the clocks of a phase; `None`
    /// where it is not known.
    fn free_bytes(&self) -> Option<u64>;
}
