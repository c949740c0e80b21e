//! A backend that does nothing, successfully: what remains is the harness.

use super::Backend;
use rustix::io::Errno;
use std::ffi::CStr;
use std::hint::black_box;

/// Every call succeeds at once and moves as many bytes as it was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Null;

impl Backend for Null {
    type File = ();

    #[inline(always)]
    fn create(&self, path: &CStr) -> Result<(), Errno> {
        black_box(path.as_ptr());
        Ok(())
    }

    #[inline(always)]
    fn open(&self, path: &CStr) -> Result<(), Errno> {
        black_box(path.as_ptr());
        Ok(())
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
    fn close(&self, (): ()) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn stat(&self, path: &CStr) -> Result<(), Errno> {
        black_box(path.as_ptr());
        Ok(())
    }

    #[inline(always)]
    fn unlink(&self, path: &CStr) -> Result<(), Errno> {
        black_box(path.as_ptr());
        Ok(())
    }

    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }
}
