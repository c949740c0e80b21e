//! A backend that does nothing, successfully: what remains is the harness.

use super::{Backend, OpenMode};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::ffi::CStr;
use std::hint::black_box;

/// Every call succeeds at once and moves as many bytes as it was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Null;

/// Keeps the compiler from leaving out the making of a name.
#[inline(always)]
fn use_up(path: &CStr) -> Result<(), Errno> {
    black_box(path.as_ptr());
    Ok(())
}

impl Backend for Null {
    type File = ();

    const HAS_ENTRIES: bool = false;

    #[inline(always)]
    fn create(&self, path: &CStr, _size_bytes: u64) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn open(&self, path: &CStr, _mode: OpenMode) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn write(&self, (): (), bytes: &[u8]) -> Result<usize, Errno> {
        Ok(black_box(bytes).len())
    }

    #[inline(always)]
    fn read(&self, (): (), bytes: &mut [u8]) -> Result<usize, Errno> {
        Ok(black_box(bytes).len())
    }

    #[inline(always)]
    fn write_at(&self, (): (), offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        black_box(offset);
        Ok(black_box(bytes).len())
    }

    #[inline(always)]
    fn read_at(&self, (): (), offset: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
        black_box(offset);
        Ok(black_box(bytes).len())
    }

    #[inline(always)]
    fn fsync(&self, (): ()) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn forget(&self, (): ()) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn close(&self, (): ()) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn stat(&self, path: &CStr) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn unlink(&self, path: &CStr) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn rename(&self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        use_up(from)?;
        use_up(to)
    }

    #[inline(always)]
    fn mkdir(&self, path: &CStr) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn rmdir(&self, path: &CStr) -> Result<(), Errno> {
        use_up(path)
    }

    #[inline(always)]
    fn list(&self, (): (), buffer: &mut [u8]) -> Result<u64, Errno> {
        black_box(buffer);
        Ok(0)
    }

    #[inline(always)]
    fn call_by_name<T>(
        &self,
        none: T,
        _call: impl FnOnce(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        Ok(none)
    }

    #[inline(always)]
    fn call_on_file(
        &self,
        _file: (),
        _call: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        Ok(())
    }

    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }
}
