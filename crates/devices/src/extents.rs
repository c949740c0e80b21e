//! In how many pieces a file lies on its device.

use crate::fiemap::{FIEMAP_EXTENT_DATA_INLINE, FIEMAP_EXTENT_ENCODED, ReportedExtent, each};
use std::io;
use std::os::fd::AsFd;

/// The extents of the first `size_bytes` of a file, by FIEMAP: what a file system has set aside
/// behind the end for later is none. `None` where its file system has none of it. Those that follow
/// each other in the file and on the device are one, as for filefrag(8); of compressed ones it is
/// not known whether they do. Contents among the metadata are none. Dirty pages are not written
/// first: what has no place yet is one extent.
///
/// # Errors
/// When the kernel refuses.
pub fn count(file: impl AsFd, size_bytes: u64) -> io::Result<Option<u64>> {
    let mut counter = Counter { size_bytes, ..Counter::default() };
    let is_told = each(file, 0, &mut |extent| counter.add(extent))?;
    Ok(is_told.then_some(counter.extents))
}

#[derive(Default)]
struct Counter {
    size_bytes: u64,
    extents: u64,
    /// Where the next would lie that goes on with the last: in the file, and on the device.
    next: Option<(u64, u64)>,
}

impl Counter {
    fn add(&mut self, extent: ReportedExtent) {
        let is_behind = extent.logical_bytes >= self.size_bytes;
        if is_behind || extent.flags & FIEMAP_EXTENT_DATA_INLINE != 0 {
            return;
        }
        let start = (extent.logical_bytes, extent.physical_bytes);
        self.extents += u64::from(self.next != Some(start));
        let end = |bytes: u64| bytes.saturating_add(extent.length_bytes);
        let is_plain = extent.flags & FIEMAP_EXTENT_ENCODED == 0;
        self.next = is_plain.then(|| (end(start.0), end(start.1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_of(extents: &[(u64, u64, u64, u32)]) -> u64 {
        let mut counter = Counter { size_bytes: 100, ..Counter::default() };
        for &(logical_bytes, physical_bytes, length_bytes, flags) in extents {
            counter.add(ReportedExtent { logical_bytes, physical_bytes, length_bytes, flags });
        }
        counter.extents
    }

    #[test]
    fn neighbours_in_file_and_device_are_one() {
        assert_eq!(count_of(&[]), 0);
        assert_eq!(count_of(&[(0, 100, 10, 0), (10, 110, 10, 0)]), 1);
        assert_eq!(count_of(&[(0, 100, 10, 0), (10, 120, 10, 0)]), 2);
        assert_eq!(count_of(&[(0, 100, 10, 0), (20, 110, 10, 0)]), 2, "a hole between");
        assert_eq!(count_of(&[(0, 100, 100, 0), (100, 300, 10, 0)]), 1, "behind the end");
        let encoded = FIEMAP_EXTENT_ENCODED;
        assert_eq!(count_of(&[(0, 100, 10, encoded), (10, 110, 10, encoded)]), 2);
        assert_eq!(count_of(&[(0, 0, 10, FIEMAP_EXTENT_DATA_INLINE)]), 0);
    }
}
