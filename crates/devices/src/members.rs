//! What the kernel knows of the devices of a file system on several.
//!
//! btrfs finds the other devices of a file system among those that it was told of (by mkfs, by the
//! mount option `device=`, by udev), and remembers them after the unmount. A name that is left
//! there would stand for whatever lies under it next.

use crate::TargetError;
use fsarena_model::spec::TargetSpec;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// `_IOW(0x94, 5, struct btrfs_ioctl_vol_args)` of `linux/btrfs.h`.
const BTRFS_IOC_FORGET_DEV: libc::Ioctl = 0x5000_9405;
const CONTROL: &str = "/dev/btrfs-control";
/// Bytes of a path, with the zero at its end (`BTRFS_PATH_NAME_MAX` + 1).
const NAME_BYTES: usize = 4088;

/// `struct btrfs_ioctl_vol_args`.
#[repr(C)]
struct VolumeArguments {
    fd: i64,
    name: [u8; NAME_BYTES],
}

/// Has the kernel forget the devices of a target on several, which must not be mounted; of a
/// target on one device, or a kernel without btrfs, there is nothing to forget.
///
/// # Errors
/// When a device is in use by a file system.
pub fn forget(target: &TargetSpec) -> Result<(), TargetError> {
    let devices = target.devices();
    if devices.len() < 2 {
        return Ok(());
    }
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let Ok(control) = open(CONTROL, flags, Mode::empty()).map(File::from) else { return Ok(()) };
    devices.iter().try_for_each(|device| forget_one(&control, device))
}

fn forget_one(control: &File, device: &Path) -> Result<(), TargetError> {
    let path = device.as_os_str().as_bytes();
    // A path that is too long was never told to it.
    if path.len() >= NAME_BYTES {
        return Ok(());
    }
    let mut arguments = VolumeArguments { fd: 0, name: [0; NAME_BYTES] };
    arguments.name[..path.len()].copy_from_slice(path);
    // SAFETY: the kernel reads one `struct btrfs_ioctl_vol_args`, which this is, with a zero at the
    // end of its name, and keeps no pointer to it.
    let result = unsafe {
        libc::ioctl(control.as_raw_fd(), BTRFS_IOC_FORGET_DEV, std::ptr::from_ref(&arguments))
    };
    if result >= 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        // It does not know it, or it is an older kernel, which forgets none (Linux 5.1).
        error if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => Ok(()),
        error if error.raw_os_error() == Some(Errno::NOTTY.raw_os_error()) => Ok(()),
        error => Err(TargetError::io("BTRFS_IOC_FORGET_DEV", device, error)),
    }
}
