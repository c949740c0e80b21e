//! What the kernel says of an open block device (`linux/fs.h`, `linux/blkdev.h`).

use crate::loopdev::{self, LoopInfo64};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

const BLKROGET: libc::Ioctl = 0x125e;
/// `_IOR(0x12, 114, size_t)`.
const BLKGETSIZE64: libc::Ioctl = 0x8008_1272_u32 as libc::Ioctl;
/// `_IOR(0x12, 128, __u64)`, Linux 5.15.
const BLKGETDISKSEQ: libc::Ioctl = 0x8008_1280_u32 as libc::Ioctl;

/// Capacity, bytes.
pub(super) fn size_bytes(device: &File) -> io::Result<u64> {
    let mut size = 0_u64;
    // SAFETY: BLKGETSIZE64 writes one u64, which `size` is.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), BLKGETSIZE64, std::ptr::from_mut(&mut size)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(size) }
}

/// Number of the medium; `None` where the kernel is older than 5.15.
pub(super) fn diskseq(device: &File) -> io::Result<Option<u64>> {
    let mut sequence = 0_u64;
    // SAFETY: BLKGETDISKSEQ writes one u64, which `sequence` is.
    let result = unsafe {
        libc::ioctl(device.as_raw_fd(), BLKGETDISKSEQ, std::ptr::from_mut(&mut sequence))
    };
    if result == 0 {
        return Ok(Some(sequence));
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) => Ok(None),
        error => Err(error),
    }
}

/// Whether it can only be read.
pub(super) fn read_only(device: &File) -> io::Result<bool> {
    let mut flag: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int, which `flag` is.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), BLKROGET, std::ptr::from_mut(&mut flag)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(flag != 0) }
}

/// `LOOP_GET_STATUS64` of the loop device at this node; `None` where the node is not that device,
/// cannot be opened, or is not attached.
pub(super) fn loop_status(path: &Path, number: (u32, u32)) -> Option<LoopInfo64> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // What is no block device is not opened at all: opening a FIFO or a tape does something.
    super::mounts::block_number(path).filter(|found| *found == number)?;
    let device = File::from(open(path, flags, Mode::empty()).ok()?);
    let stat = fstat(&device).ok()?;
    let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
        && (major(stat.st_rdev), minor(stat.st_rdev)) == number;
    if is_it { loopdev::status(&device).ok() } else { None }
}
