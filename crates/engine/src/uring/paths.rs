//! Memory for the names of ops in flight: the kernel reads a name some time after its op was begun.

use crate::buffer::Pages;
use std::marker::PhantomData;

/// Longest path with its NUL (PATH_MAX of limits.h).
pub(super) const PATH_BYTES: usize = 4096;
/// Paths of a slot: its own, a new one or that of a link, the parent directory, that of a second
/// link.
pub(super) const PATHS: usize = 4;

/// The names of all slots: raw, since the kernel reads those of slots in flight.
pub(super) struct Paths<'a> {
    start: *mut u8,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> Paths<'a> {
    /// The names in `pages`, which has PATHS times PATH_BYTES for each slot.
    pub fn new(pages: &'a mut Pages) -> Self {
        Self { start: pages.as_mut_slice().as_mut_ptr(), borrow: PhantomData }
    }

    /// Where path `which` of `slot` is.
    #[inline(always)]
    pub fn at(&self, slot: usize, which: usize) -> *mut u8 {
        self.start.wrapping_add((slot * PATHS + which) * PATH_BYTES)
    }

    /// Copies a path there. One without room (the names of a dataset are checked to have it) is not
    /// cut but left empty, which is the path of nothing.
    #[inline(always)]
    pub fn put(&mut self, slot: usize, which: usize, path: &[u8]) -> *const libc::c_char {
        let path = if path.len() < PATH_BYTES { path } else { &[] };
        let (to, len) = (self.at(slot, which), path.len());
        // SAFETY: the place has PATH_BYTES bytes, which hold `len` and the NUL; callers pass slots
        // that are not in flight, so the kernel does not read there; a name of the dataset is other
        // memory.
        unsafe {
            std::ptr::copy_nonoverlapping(path.as_ptr(), to, len);
            to.add(len).write(0);
        }
        to.cast()
    }

    /// Puts `path` there behind `prefix`, in the same way.
    pub fn put_joined(&mut self, slot: usize, which: usize, prefix: &[u8], path: &[u8]) {
        if prefix.len() + path.len() >= PATH_BYTES {
            self.put(slot, which, &[]);
            return;
        }
        self.put(slot, which, prefix);
        let to = self.at(slot, which).wrapping_add(prefix.len());
        // SAFETY: as in `put`: the place has PATH_BYTES bytes, which hold both and the NUL.
        unsafe {
            std::ptr::copy_nonoverlapping(path.as_ptr(), to, path.len());
            to.add(path.len()).write(0);
        }
    }
}

/// The directory of a path.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(b".", |slash| &path[..slash])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn paths_are_apart_and_end_with_nul() {
        let mut pages = Pages::new(2 * PATHS * PATH_BYTES).unwrap();
        let mut paths = Paths::new(&mut pages);
        let long = [b'x'; PATH_BYTES - 1];
        let places = [(0, 0), (0, 2), (1, 0), (1, 1)];
        for (slot, which) in places {
            paths.put(slot, which, &long);
        }
        paths.put(0, 1, b"d00000/f00000001");
        for (slot, which) in places {
            // SAFETY: `put` ended it with a NUL.
            let path = unsafe { CStr::from_ptr(paths.at(slot, which).cast_const().cast()) };
            assert_eq!(path.to_bytes(), long);
        }
        // SAFETY: as above.
        let path = unsafe { CStr::from_ptr(paths.put(0, 1, &[b'x'; PATH_BYTES])) };
        assert!(path.is_empty(), "too long is not cut");
    }

    #[test]
    fn parents() {
        assert_eq!(parent(b"d00000/d00001/f00000001"), b"d00000/d00001");
        assert_eq!(parent(b"f00000001"), b".");
    }
}
