//! Parts of a disk that the kernel still shows after their table was wiped.

use super::listing::Inventory;
use super::{BUSY_LIMIT, BUSY_PAUSE};
use super::{Roots, attribute};
use crate::TargetError;
use fsarena_model::device::DeviceIdentity;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::time::Instant;

/// `_IO(0x12, 105)` of `linux/blkpg.h`.
const BLKPG: libc::Ioctl = 0x1269;
const BLKPG_DEL_PARTITION: libc::c_int = 2;

/// `struct blkpg_ioctl_arg`.
#[repr(C)]
struct Argument {
    op: libc::c_int,
    flags: libc::c_int,
    length: libc::c_int,
    data: *mut Partition,
}

/// `struct blkpg_partition`.
#[repr(C)]
struct Partition {
    start: i64,
    length: i64,
    number: libc::c_int,
    device_name: [u8; 64],
    volume_name: [u8; 64],
}

/// Takes the nodes of all parts of a disk away, which the caller holds and whose table it has
/// wiped: they would lead into the middle of the next file system. Nothing is written. Not every
/// driver reads a table again when asked (`BLKRRPART`); this works with all of them.
///
/// # Errors
/// When somebody has a part open.
pub(crate) fn forget_parts(
    held: &File,
    identity: &DeviceIdentity,
    roots: &Roots,
) -> Result<(), TargetError> {
    let path = &identity.path;
    let inventory = Inventory::read(roots).map_err(|error| super::unread(path, &error))?;
    let Some(disk) = inventory.by_number(identity.number) else { return Ok(()) };
    for part in &disk.partitions {
        let file = roots.sys.join("block").join(&disk.name).join(part).join("partition");
        let number = attribute::number(&file).map_err(|error| super::unread(path, &error))?;
        let number = libc::c_int::try_from(number).unwrap_or(0);
        let started = Instant::now();
        while let Err(error) = forget(held, number) {
            match error.raw_os_error() {
                Some(libc::ENXIO) => break,
                // udev looks into it.
                Some(libc::EBUSY) if started.elapsed() < BUSY_LIMIT => {
                    std::thread::sleep(BUSY_PAUSE);
                }
                _ => {
                    let part = path.with_file_name(part);
                    return Err(TargetError::io("remove the partition", &part, error));
                }
            }
        }
    }
    Ok(())
}

fn forget(held: &File, number: libc::c_int) -> io::Result<()> {
    let mut partition =
        Partition { start: 0, length: 0, number, device_name: [0; 64], volume_name: [0; 64] };
    let argument = Argument {
        op: BLKPG_DEL_PARTITION,
        flags: 0,
        length: libc::c_int::try_from(size_of::<Partition>()).unwrap_or(0),
        data: &raw mut partition,
    };
    // SAFETY: BLKPG reads one `blkpg_ioctl_arg` and the `blkpg_partition` that it points to; both
    // live until the call has come back, and the kernel keeps neither.
    let result = unsafe { libc::ioctl(held.as_raw_fd(), BLKPG, &raw const argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
