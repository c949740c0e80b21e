//! Gives an image back the written blocks that mkfs took from it.
//!
//! mkfs zeroes a log or inode tables with one request for zeros, which the loop device turns into
//! `FALLOC_FL_ZERO_RANGE`: the blocks of the image are then unwritten extents, and the first write
//! to each converts it in the file system below, which is not the one that is measured. Here such
//! ranges are found with FIEMAP (Documentation/filesystems/fiemap.rst) and written with zeros,
//! which is what they read as. Nothing else is ever written.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;

/// `FS_IOC_FIEMAP`.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// Dirty pages are written first, so that what they will be is seen.
const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 1;
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

/// Ranges of the file, in bytes, that are allocated and not written yet; `None` where its file
/// system has no FIEMAP (tmpfs).
///
/// # Errors
/// When the kernel refuses for another reason.
pub(crate) fn unwritten(file: &File) -> io::Result<Option<Vec<Range<u64>>>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let mut start = 0;
    loop {
        let map = match extents_from(file, start) {
            Ok(map) => map,
            Err(error) => {
                let unknown = [libc::EOPNOTSUPP, libc::ENOTTY];
                let none = error.raw_os_error().is_some_and(|code| unknown.contains(&code));
                return if none { Ok(None) } else { Err(error) };
            }
        };
        let count = usize::try_from(map.mapped_extents).unwrap_or(EXTENTS).min(EXTENTS);
        for extent in &map.extents[..count] {
            let end = extent.logical.saturating_add(extent.length);
            if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
                found.push(extent.logical..end);
            }
            if extent.flags & FIEMAP_EXTENT_LAST != 0 || end <= start {
                return Ok(Some(found));
            }
            start = end;
        }
        if count == 0 {
            return Ok(Some(found));
        }
    }
}

fn extents_from(file: &File, start: u64) -> io::Result<Fiemap> {
    let mut map = Fiemap {
        start,
        length: u64::MAX - start,
        flags: FIEMAP_FLAG_SYNC,
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
