//! Loop devices that are attached, and what each of them lies over.

use super::listing::{BlockDevice, DeviceKind, Inventory};
use super::mounts::block_number;
use super::{Roots, ioctl};
use rustix::fs::{major, minor};
use std::path::{Path, PathBuf};

/// An attached loop device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Attached {
    /// Kernel name.
    pub name: String,
    /// Its backing file as the kernel names it, with ` (deleted)` where it has lost its name.
    pub file: String,
    /// Node that the name stands for, below our root of devices, where it begins with `/dev/`.
    pub node: Option<PathBuf>,
    /// The block device that it lies over as a whole.
    pub block: Option<(u32, u32)>,
    /// Device of the file system of its backing file, and its inode there.
    pub inode: Option<((u32, u32), u64)>,
}

impl Attached {
    /// Whether it lies over this very device, not over a file on it.
    pub(super) fn lies_over(&self, device: &BlockDevice) -> bool {
        self.block == Some(device.number) || self.node.as_deref() == Some(&device.path)
    }

    /// Whether its backing file is on the file system of this device.
    pub(super) fn file_lies_on(&self, device: &BlockDevice) -> bool {
        self.block.is_none() && self.inode.is_some_and(|inode| inode.0 == device.number)
    }

    /// Whether both have the same bytes below them.
    pub(super) fn same_backing(&self, other: &Self) -> bool {
        match (self.inode, other.inode) {
            (Some(one), Some(two)) if self.block.is_none() && other.block.is_none() => one == two,
            _ => match (self.block, other.block) {
                (Some(one), Some(two)) => one == two,
                _ => self.file == other.file,
            },
        }
    }
}

/// All that are attached. The kernel is asked by `LOOP_GET_STATUS64`, which also knows files that
/// have lost their names or lie in another namespace; where a node cannot be opened, the name in
/// sysfs has to do.
pub(super) fn attached(roots: &Roots, inventory: &Inventory) -> Vec<Attached> {
    let loops = inventory.iter().filter(|device| device.kind == DeviceKind::Loop);
    loops.filter_map(|device| one(roots, device)).collect()
}

fn one(roots: &Roots, device: &BlockDevice) -> Option<Attached> {
    let file = device.hardware.get("backing_file")?.clone();
    let node = file.strip_prefix("/dev/").map(|below| roots.dev.join(below));
    let (block, inode) = match ioctl::loop_status(&device.path, device.number) {
        Some(status) => {
            let block = (status.rdevice != 0).then(|| split(status.rdevice));
            (block, Some((split(status.device), status.inode)))
        }
        None => (node.as_deref().and_then(block_number), inode_of(Path::new(&file))),
    };
    Some(Attached { name: device.name.clone(), file, node, block, inode })
}

fn inode_of(path: &Path) -> Option<((u32, u32), u64)> {
    let stat = rustix::fs::stat(path).ok()?;
    Some((split(stat.st_dev), stat.st_ino))
}

fn split(number: u64) -> (u32, u32) {
    (major(number), minor(number))
}
