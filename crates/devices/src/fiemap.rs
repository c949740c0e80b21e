//! The extents of a file, and how an image is given back the written blocks that mkfs took.
//!
//! mkfs zeroes a log or inode tables with one request for zeros, which the loop device turns into
//! `FALLOC_FL_ZERO_RANGE`: the blocks of the image are then unwritten extents, and the first write
//! to each converts it in the file system below, which is not the one that is measured. Here such
//! ranges are found with FIEMAP (Documentation/filesystems/fiemap.rst) and written with zeros,
//! which is what they read as. Nothing else is ever written.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::FileExt as _;

/// `FS_IOC_FIEMAP`.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// Dirty pages are written first, so that what they will be is seen.
const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 1;
/// The place is not known, or not chosen yet (`DELALLOC` is set with it).
pub(crate) const FIEMAP_EXTENT_UNKNOWN: u32 = 2;
/// What lies there is not what is in the file: compressed or encrypted.
pub(crate) const FIEMAP_EXTENT_ENCODED: u32 = 8;
/// It shares its block with others.
pub(crate) const FIEMAP_EXTENT_NOT_ALIGNED: u32 = 0x100;
/// It lies among the metadata.
pub(crate) const FIEMAP_EXTENT_DATA_INLINE: u32 = 0x200;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
/// Extents of one call.
const EXTENTS: usize = 128;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for extents.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

/// One extent of a file, as the kernel tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReportedExtent {
    /// Where in the file.
    pub logical_bytes: u64,
    /// Where on the device, or as the file system counts.
    pub physical_bytes: u64,
    /// How long.
    pub length_bytes: u64,
    /// `FIEMAP_EXTENT_*`.
    pub flags: u32,
}

/// Tells every extent of the file in its order; `false` where its file system has no FIEMAP
/// (tmpfs).
///
/// # Errors
/// When the kernel refuses for another reason.
pub(crate) fn each(
    file: impl AsFd,
    flags: u32,
    tell: &mut dyn FnMut(ReportedExtent),
) -> io::Result<bool> {
    let mut start = 0;
    loop {
        let map = match extents_from(file.as_fd(), start, flags) {
            Ok(map) => map,
            Err(error) => {
                let unknown = [libc::EOPNOTSUPP, libc::ENOTTY];
                let none = error.raw_os_error().is_some_and(|code| unknown.contains(&code));
                return if none { Ok(false) } else { Err(error) };
            }
        };
        let count = usize::try_from(map.mapped_extents).unwrap_or(EXTENTS).min(EXTENTS);
        for extent in &map.extents[..count] {
            tell(ReportedExtent {
                logical_bytes: extent.logical,
                physical_bytes: extent.physical,
                length_bytes: extent.length,
                flags: extent.flags,
            });
            let end = extent.logical.saturating_add(extent.length);
            if extent.flags & FIEMAP_EXTENT_LAST != 0 || end <= start {
                return Ok(true);
            }
            start = end;
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

/// Ranges of the file, in bytes, that are allocated and not written yet; `None` where its file
/// system has no FIEMAP (tmpfs).
///
/// # Errors
/// When the kernel refuses for another reason.
pub(crate) fn unwritten(file: &File) -> io::Result<Option<Vec<Range<u64>>>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let is_told = each(file, FIEMAP_FLAG_SYNC, &mut |extent| {
        if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
            let end = extent.logical_bytes.saturating_add(extent.length_bytes);
            found.push(extent.logical_bytes..end);
        }
    })?;
    Ok(is_told.then_some(found))
}

fn extents_from(file: BorrowedFd<'_>, start: u64, flags: u32) -> io::Result<Fiemap> {
    let mut map = Fiemap {
        start,
        length: u64::MAX - start,
        flags,
        mapped_extents: 0,
        extent_count: 128,
        reserved: 0,
        extents: [Extent::default(); EXTENTS],
    };
    // SAFETY: FS_IOC_FIEMAP reads and writes one `struct fiemap`, which `map` begins with, and
    // writes at most `extent_count` extents behind it, for which `map` has room (asserted below);
    // every bit pattern is valid for them, and the kernel keeps no pointer.
    let result =
        unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, std::ptr::from_mut(&mut map)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(map) }
}

const _: () = assert!(EXTENTS == 128 && size_of::<Extent>() == 56);
const _: () = assert!(size_of::<Fiemap>() == 32 + 56 * EXTENTS);

/// Writes zeros to `device`, the loop device of an image, over the ranges of that image, and waits
/// until they are there.
///
/// # Errors
/// When a write or the fsync fails.
pub(crate) fn write_zeros(device: &File, ranges: &[Range<u64>], size_bytes: u64) -> io::Result<()> {
    let zeros = vec![0_u8; 1 << 20];
    for range in ranges {
        let end = range.end.min(size_bytes);
        let mut at = range.start;
        while at < end {
            let length = usize::try_from(end - at).unwrap_or(zeros.len()).min(zeros.len());
            device.write_all_at(&zeros[..length], at)?;
            at += length as u64;
        }
    }
    device.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FallocateFlags, fallocate};

    #[test]
    fn unwritten_extents_are_found_and_are_gone_when_written() {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all_at(&vec![7; 4 << 20], 0).unwrap();
        file.sync_all().unwrap();
        match unwritten(&file).unwrap() {
            Some(ranges) => assert_eq!(ranges, []),
            None => return println!("not run: /var/tmp has no FIEMAP"),
        }
        if fallocate(&file, FallocateFlags::ZERO_RANGE, 1 << 20, 2 << 20).is_err() {
            return println!("not run: /var/tmp has no FALLOC_FL_ZERO_RANGE");
        }
        let ranges = unwritten(&file).unwrap().unwrap();
        let length: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        assert_eq!((ranges[0].start, length), (1 << 20, 2 << 20));
        write_zeros(&file, &ranges, 4 << 20).unwrap();
        assert_eq!(unwritten(&file).unwrap().unwrap(), []);
        let mut around = [0; 2];
        file.read_exact_at(&mut around, (1 << 20) - 1).unwrap();
        assert_eq!(around, [7, 0]);
    }
}
