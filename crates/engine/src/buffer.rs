//! Page-aligned memory that is there before the clock runs.
//!
//! Memory fresh from the kernel costs a fault at its first touch, and on a guest with free page
//! reporting up to nine times the usual cost of one. [`Pages`] are written once when they are made;
//! [`warm_memory`] touches memory that the *kernel* is going to need (page cache, inodes).

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Smallest page there is; touching at this distance touches every page of any size.
const PAGE_BYTES: usize = 4096;

/// Private memory of its own mapping, page-aligned, every page written.
#[derive(Debug)]
pub struct Pages {
    start: *mut c_void,
    mapped_bytes: usize,
    len: usize,
}

// SAFETY: the mapping is this value's own, tied to no thread; access is by the usual borrows.
unsafe impl Send for Pages {}

impl Pages {
    /// `len` bytes of zeros.
    ///
    /// # Errors
    /// mmap(2)'s.
    pub fn new(len: usize) -> Result<Self, Errno> {
        let mapped_bytes = len.max(1).checked_next_multiple_of(PAGE_BYTES).ok_or(Errno::NOMEM)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address of the kernel's choice overlaps nothing.
        let start =
            unsafe { mmap_anonymous(null_mut(), mapped_bytes, protection, MapFlags::PRIVATE) }?;
        let mut pages = Self { start, mapped_bytes, len };
        for at in (0..len).step_by(PAGE_BYTES) {
            *std::hint::black_box(&mut pages.as_mut_slice()[at]) = 0;
        }
        Ok(pages)
    }

    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping holds at least `len` initialised (zeroed) bytes and lives as long as
        // self; a shared borrow of self is held meanwhile.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len) }
    }

    /// The bytes, to be changed.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above; the borrow of self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with these numbers and no borrow outlives self.
        // An error is impossible with them, and nothing could be done about one.
        let _ = unsafe { munmap(self.start, self.mapped_bytes) };
    }
}

/// Touches `bytes` of anonymous memory and gives it back, so that the next pages the kernel
/// contexts out are ones the host has in memory.
///
/// # Errors
/// mmap(2)'s, where there is not so much memory.
pub fn warm_memory(bytes: u64) -> Result<(), Errno> {
    if bytes > 0 {
        Pages::new(usize::try_from(bytes).map_err(|_| Errno::NOMEM)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_aligned_zero_and_writable() {
        let mut pages = Pages::new(10_000).unwrap();
        assert_eq!(pages.as_slice().as_ptr().addr() % PAGE_BYTES, 0);
        assert_eq!(pages.as_slice(), &[0; 10_000]);
        pages.as_mut_slice()[9_999] = 7;
        assert_eq!(pages.as_slice()[9_999], 7);
        assert!(Pages::new(0).unwrap().as_slice().is_empty());
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(warm_memory(u64::MAX).is_err());
        warm_memory(0).unwrap();
        warm_memory(1 << 20).unwrap();
    }
}
