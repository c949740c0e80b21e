//! Contents of big files by memory copies: mmap(2), `MAP_SHARED`.
//!
//! An op is a copy from or to the mapping, so what it costs is page faults and memory bandwidth. A
//! file is mapped whole when it is opened (made as long as it will be, when it is created) and
//! unmapped when it is closed; fsync(2) covers pages that were written through a mapping too (the
//! kernel notes a page as dirty at the first store to it), so msync(2) before it would only flush
//! the device twice.
//!
//! A page that cannot be had (the disk is broken or full, the file became shorter) is no error of a
//! call but a signal, SIGBUS, in the middle of a copy. The handler puts a page of zeros in place of
//! the one that is missing and notes it; the copy goes on, and the op that made it fails with
//! `EIO`, or `ENOSPC` where a write finds less space left than it has bytes. Any other SIGBUS ends
//! the process, as it would without the handler.
//!
//! Names, directories and small files have nothing to do with mappings: those methods fail with
//! `ENOTSUP`, and the engine refuses such phases before.

use super::{Backend, OpenMode};
use crate::durable::Durable;
use crate::root::Root;
use fsarena_model::work::Op;
use rustix::fd::{BorrowedFd, IntoRawFd as _, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr::{copy_nonoverlapping, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

/// Mappings of the files below a [`Root`].
#[derive(Debug, Clone, Copy)]
pub struct Mmap<'a> {
    root: &'a Root,
    advice: Advice,
}

/// An open file and its mapping; of a directory or an empty file, none.
#[derive(Debug, Clone, Copy)]
pub struct Mapping {
    file: RawFd,
    start: *mut u8,
    len: usize,
}

impl<'a> Mmap<'a> {
    /// A backend for the tree below `root`, for phases of `op`. Installs the handler of SIGBUS.
    #[must_use]
    pub fn new(root: &'a Root, op: Op) -> Self {
        install();
        let advice = if op.is_random() { Advice::Random } else { Advice::Sequential };
        Self { root, advice }
    }

    fn open_with(&self, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.root.lookup(), path, flags, Mode::from_raw_mode(0o644))
    }

    /// Maps all `size_bytes` of `file`.
    fn map(&self, file: OwnedFd, size_bytes: u64, protection: ProtFlags) -> Result<Mapping, Errno> {
        let len = usize::try_from(size_bytes).map_err(|_| Errno::FBIG)?;
        if len == 0 {
            return Ok(Mapping { file: file.into_raw_fd(), start: null_mut(), len });
        }
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing. Only this
        // module reaches its memory, through raw pointers.
        let start = unsafe { mmap(null_mut(), len, protection, MapFlags::SHARED, &file, 0) }?;
        // Advice that a file system does not take changes nothing but speed.
        // SAFETY: the range is the mapping just made; this advice does not change its contents.
        unsafe { madvise(start, len, self.advice) }.ok();
        Ok(Mapping { file: file.into_raw_fd(), start: start.cast(), len })
    }

    fn map_existing(
        &self,
        path: &CStr,
        flags: OFlags,
        protection: ProtFlags,
    ) -> Result<Mapping, Errno> {
        let file = self.open_with(path, flags)?;
        let size_bytes = rustix::fs::fstat(&file)?.st_size.cast_unsigned();
        self.map(file, size_bytes, protection)
    }
}

/// Borrows the descriptor of a mapping.
fn borrow<'a>(file: Mapping) -> BorrowedFd<'a> {
    // SAFETY: the loop passes only files that an open of this backend gave it and that it has not
    // closed yet; the borrow ends with the call it is made for.
    unsafe { BorrowedFd::borrow_raw(file.file) }
}

impl Mapping {
    /// Address of `len` bytes at `offset`, and how many of them there are.
    #[inline(always)]
    fn part(self, offset: u64, len: usize) -> (*mut u8, usize) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len);
        (self.start.wrapping_add(offset), len.min(self.len - offset))
    }

    /// What a copy that met SIGBUS failed with.
    #[cold]
    fn copy_error(self, written_bytes: usize) -> Errno {
        let space = rustix::fs::fstatvfs(borrow(self));
        let is_full = space.is_ok_and(|space| {
            space.f_bavail.saturating_mul(space.f_frsize) < written_bytes as u64
        });
        if is_full { Errno::NOSPC } else { Errno::IO }
    }
}

/// Protection of a mapping that is written.
const BOTH: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Backend for Mmap<'_> {
    type File = Mapping;

    const HAS_SMALL_FILES: bool = false;

    /// A mapping has no position.
    const BY_OFFSET: bool = true;

    fn create(&self, path: &CStr, size_bytes: u64) -> Result<Mapping, Errno> {
        // A shared mapping that is written needs a file that may be read.
        let file = self.open_with(path, OFlags::CREATE | OFlags::EXCL | OFlags::RDWR)?;
        rustix::fs::ftruncate(&file, size_bytes)?;
        self.map(file, size_bytes, BOTH)
    }

    fn open(&self, path: &CStr, mode: OpenMode) -> Result<Mapping, Errno> {
        match mode {
            OpenMode::Read => self.map_existing(path, OFlags::RDONLY, ProtFlags::READ),
            OpenMode::Write | OpenMode::ReadWrite => self.map_existing(path, OFlags::RDWR, BOTH),
            OpenMode::Dir => {
                let dir = self.open_with(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
                self.map(dir, 0, ProtFlags::empty())
            }
            OpenMode::Append | OpenMode::Truncate | OpenMode::Create | OpenMode::Direct => {
                Err(Errno::NOTSUP)
            }
        }
    }

    fn write(&self, _file: Mapping, _bytes: &[u8]) -> Result<usize, Errno> {
        Err(Errno::NOTSUP)
    }

    fn read(&self, _file: Mapping, _bytes: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::NOTSUP)
    }

    #[inline(always)]
    fn write_at(&self, file: Mapping, offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let (to, len) = file.part(offset, bytes.len());
        let whole = guarded(to, len, || {
            // SAFETY: `to` has `len` bytes of a writable mapping that the file keeps until it is
            // closed; no reference to them exists, and `bytes` is other memory. A page of it that
            // cannot be had is replaced by the handler.
            unsafe { copy_nonoverlapping(bytes.as_ptr(), to, len) }
        });
        if whole { Ok(len) } else { Err(file.copy_error(len)) }
    }

    #[inline(always)]
    fn read_at(&self, file: Mapping, offset: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (from, len) = file.part(offset, bytes.len());
        let whole = guarded(from, len, || {
            // SAFETY: as in `write_at`, the other way. What another process writes there meanwhile
            // only decides which bytes are copied.
            unsafe { copy_nonoverlapping(from.cast_const(), bytes.as_mut_ptr(), len) }
        });
        if whole { Ok(len) } else { Err(file.copy_error(0)) }
    }

    fn fsync(&self, file: Mapping) -> Result<(), Errno> {
        rustix::fs::fsync(borrow(file))
    }

    fn forget(&self, _file: Mapping) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn close(&self, file: Mapping) -> Result<(), Errno> {
        let unmapped = if file.len == 0 {
            Ok(())
        } else {
            // SAFETY: the mapping was made by `map` with these numbers, and the loop does not use
            // the file again.
            unsafe { munmap(file.start.cast(), file.len) }
        };
        // SAFETY: the loop owns the descriptor and does not use it again.
        let closed = unsafe { rustix::io::try_close(file.file) };
        unmapped.and(closed)
    }

    fn stat(&self, _path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn unlink(&self, _path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn rename(&self, _from: &CStr, _to: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn mkdir(&self, _path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn rmdir(&self, _path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    fn list(&self, _dir: Mapping, _buffer: &mut [u8]) -> Result<u64, Errno> {
        Err(Errno::NOTSUP)
    }

    fn sync(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(self.root.dir())
    }

    fn make_durable(&self) -> Result<Durable, Errno> {
        self.root.make_durable()
    }

    fn free_bytes(&self) -> Option<u64> {
        self.root.free_bytes()
    }
}

/// The copy that a thread is making.
struct Copying {
    /// First byte in the mapping; 0 when none is made.
    start: Cell<usize>,
    /// Behind the last.
    end: Cell<usize>,
    /// Whether a page was missing.
    missed: Cell<bool>,
}

thread_local! {
    // Constant and without a destructor: the handler reads it without any initialisation.
    static COPYING: Copying = const {
        Copying { start: Cell::new(0), end: Cell::new(0), missed: Cell::new(false) }
    };
}

/// Size of a page, for the handler.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

/// Makes a copy from or to `len` bytes at `start` of a mapping; whether all of them were there.
#[inline(always)]
fn guarded(start: *mut u8, len: usize, copy: impl FnOnce()) -> bool {
    COPYING.with(|copying| {
        copying.end.set(start.addr() + len);
        copying.start.set(start.addr());
        // The handler runs in this thread, in the middle of the copy: the order in which the
        // compiler writes is all that matters.
        compiler_fence(Ordering::SeqCst);
        copy();
        compiler_fence(Ordering::SeqCst);
        copying.start.set(0);
        copying.end.set(0);
        !copying.missed.replace(false)
    })
}

/// Installs the handler, once a process.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        PAGE_BYTES.store(rustix::param::page_size(), Ordering::Relaxed);
        // SAFETY: sigaction is plain integers and a set of them, for which zeros are a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_sigbus as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: `action` is complete, and the handler does only what a handler may: it reads
        // cells of its own thread and makes system calls. With these arguments it cannot fail.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, null_mut()) };
    });
}

/// A page cannot be had. Where it belongs to the copy that this thread is making, a page of zeros
/// takes its place; otherwise the process ends as it would have.
extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes a siginfo of SIGBUS, which has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let ours = code == libc::BUS_ADRERR
        && COPYING.with(|copying| {
            let ours = (copying.start.get()..copying.end.get()).contains(&address);
            if ours {
                copying.missed.set(true);
            }
            ours
        });
    if ours && replace_page(address) {
        return;
    }
    // SAFETY: both are allowed in a handler. The signal comes again when this one returns, or with
    // the instruction that caused it, and then ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Puts a page of zeros over the one of `address`.
fn replace_page(address: usize) -> bool {
    let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
    let page = std::ptr::without_provenance_mut::<c_void>(address - address % page_bytes);
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the address is in the mapping that this thread is copying from or to, which belongs
    // to this module; the page is replaced as a whole, and the mapping is unmapped as a whole. The
    // call is a bare system call, and errno is not looked at by what was interrupted: a copy.
    unsafe { libc::mmap(page, page_bytes, protection, flags, -1, 0) == page }
}
