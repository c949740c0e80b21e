//! The page cache: emptied, and looked into (cachestat(2), Linux 6.5).

use crate::TargetError;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKBSZSET: libc::Ioctl = 0x4008_1271;
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range`; a length of 0 is up to the end.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat`, in pages.
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Writes back what the page cache holds of a block device, and keeps it.
///
/// # Errors
/// When the device cannot be opened or written.
pub fn sync_device(device: &Path) -> Result<(), TargetError> {
    synced(device).map(drop)
}

/// The device, opened for reading, with all written back that the page cache held of it.
fn synced(device: &Path) -> Result<File, TargetError> {
    let file = open_read(device)?;
    fsync(&file).map_err(|error| TargetError::io("fsync", device, error))?;
    Ok(file)
}

/// Writes back and throws away what the page cache holds of a block device (`BLKFLSBUF`).
///
/// # Errors
/// When the device cannot be opened or flushed.
pub fn flush_device(device: &Path) -> Result<(), TargetError> {
    flush_buffers(&synced(device)?, device)
}

/// Throws away what the page cache holds of a block device that nobody has written to; the device
/// is asked for nothing.
///
/// # Errors
/// When the device cannot be opened or flushed.
pub fn forget_device(device: &Path) -> Result<(), TargetError> {
    flush_buffers(&open_read(device)?, device)
}

fn flush_buffers(file: &File, device: &Path) -> Result<(), TargetError> {
    // SAFETY: BLKFLSBUF takes no argument and touches no memory of ours.
    if unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF) } < 0 {
        return Err(TargetError::io("BLKFLSBUF", device, io::Error::last_os_error()));
    }
    Ok(())
}

/// Lets the page cache of a device of `size_bytes` have blocks of 4 KiB, or of the largest power of
/// two below that its size is a multiple of: mkfs and mounts leave theirs behind, down to 512 B.
/// `held` is the device, held exclusively.
///
/// # Errors
/// ioctl(2)'s.
pub(crate) fn set_block_size(held: &File, size_bytes: u64) -> io::Result<()> {
    let bytes = libc::c_int::from(1_i16 << size_bytes.trailing_zeros().min(12));
    // SAFETY: BLKBSZSET reads one int, which this is and outlives the call.
    if unsafe { libc::ioctl(held.as_raw_fd(), BLKBSZSET, std::ptr::from_ref(&bytes)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Drops clean pages, dentries and inodes of the whole machine (`/proc/sys/vm/drop_caches` = 3).
/// Dirty pages stay: sync first.
///
/// # Errors
/// When this is not root.
pub fn drop_caches() -> Result<(), TargetError> {
    let path = Path::new("/proc/sys/vm/drop_caches");
    std::fs::write(path, "3\n").map_err(|error| TargetError::io("write", path, error))
}

/// Pages of a file or block device in the page cache. Opens it and reads nothing of it.
///
/// # Errors
/// `ENOSYS` before Linux 6.5; else when it cannot be opened.
pub fn resident_pages(path: &Path) -> Result<u64, TargetError> {
    let file = open_read(path)?;
    let range = CachestatRange { offset: 0, length: 0 };
    let mut stat = Cachestat::default();
    // SAFETY: the kernel reads one `struct cachestat_range` and writes one `struct cachestat`,
    // which these are; both outlive the call.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            std::ptr::from_ref(&range),
            std::ptr::from_mut(&mut stat),
            0_u32,
        )
    };
    if result < 0 {
        return Err(TargetError::io("cachestat", path, io::Error::last_os_error()));
    }
    Ok(stat.cached)
}

/// Pages of all block devices in the page cache (`Buffers` of /proc/meminfo).
///
/// # Errors
/// When it cannot be read.
pub fn pages_of_devices() -> Result<u64, TargetError> {
    let path = Path::new("/proc/meminfo");
    let text = std::fs::read_to_string(path).map_err(|e| TargetError::io("read", path, e))?;
    let buffers = text.lines().find_map(|line| line.strip_prefix("Buffers:"));
    let kib = buffers.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let page_kib = rustix::param::page_size() as u64 >> 10;
    kib.map(|kib| kib / page_kib)
        .ok_or_else(|| TargetError::state(path, "has no line of buffers in kB", ""))
}

/// Writes a file back and asks the kernel to forget its pages. Needs no root; proves nothing.
///
/// # Errors
/// When it cannot be opened or written back.
pub fn evict_file(path: &Path) -> Result<(), TargetError> {
    let file = open_read(path)?;
    fsync(&file).map_err(|error| TargetError::io("fsync", path, error))?;
    fadvise(&file, 0, None, Advice::DontNeed)
        .map_err(|error| TargetError::io("posix_fadvise", path, error))
}

fn open_read(path: &Path) -> Result<File, TargetError> {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|error| TargetError::io("open", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_file_are_counted_and_evicted() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        match resident_pages(&path) {
            Err(error) if error.errno() == Some(libc::ENOSYS) => {
                println!("not run: this kernel has no cachestat");
                return;
            }
            pages => assert_eq!(pages.unwrap(), 256),
        }
        evict_file(&path).unwrap();
        if crate::vet::vet_directory(dir.path()).unwrap().in_memory() {
            println!("not run: files on tmpfs are never evicted");
            return;
        }
        assert!(resident_pages(&path).unwrap() < 256);
    }
}
