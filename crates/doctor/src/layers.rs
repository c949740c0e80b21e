//! Block devices from the one that was named down to the hardware: partition, disk, device mapper,
//! RAID, loop device and the file that it lies over.

use fsarena_devices::inventory::{BlockDevice, DeviceKind, Inventory};
use fsarena_devices::mountinfo::MountEntry;
use fsarena_metrics::KernelRoots;
use std::path::{Path, PathBuf};

/// One block device on the way down.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub device: BlockDevice,
    /// Its directory in sysfs.
    pub dir: PathBuf,
    /// Directory of its queue, that of its disk where it is a partition.
    pub queue: PathBuf,
    /// Whether a file system would lie on it: nothing that was named lies above.
    pub is_top: bool,
    /// Whether no other block device is known below it.
    pub is_bottom: bool,
    /// File that a loop device lies over.
    pub backing: Option<Backing>,
}

/// What lies below a loop device.
#[derive(Clone, Debug)]
pub(crate) struct Backing {
    /// As the kernel names it.
    pub file: PathBuf,
    /// File system that the file is on; `None` where no mount is known for it.
    pub fstype: Option<String>,
}

impl Layer {
    /// Its path, as a place of findings.
    pub fn place(&self) -> String {
        self.device.path.display().to_string()
    }

    /// Whether it is a disk or its like with a queue of its own, not a part of one.
    pub fn is_whole(&self) -> bool {
        self.device.kind != DeviceKind::Partition
    }

    /// Whether it keeps its contents in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.device.kind, DeviceKind::Memory(_))
    }

    /// Whether it passes requests on to other devices of this machine.
    pub fn is_virtual_layer(&self) -> bool {
        matches!(self.device.kind, DeviceKind::Loop | DeviceKind::Dm | DeviceKind::Md)
    }

    /// Whether it is a piece of hardware as this machine sees it: no layer, no memory, no part.
    pub fn is_hardware(&self) -> bool {
        self.is_whole() && self.is_bottom && !self.is_memory() && !self.is_virtual_layer()
    }
}

/// The devices found so far, the named one before those below it.
pub(crate) struct Stack<'a> {
    pub roots: &'a KernelRoots,
    pub inventory: &'a Inventory,
    pub mounts: &'a [MountEntry],
    pub layers: Vec<Layer>,
}

impl Stack<'_> {
    /// Adds a device and what is below it; one that is there already stays as it is.
    pub fn add(&mut self, device: &BlockDevice, is_top: bool) {
        if let Some(known) = self.layers.iter_mut().find(|l| l.device.name == device.name) {
            known.is_top |= is_top;
            return;
        }
        let block = self.roots.sys.join("block");
        let disk = block.join(device.parent.as_ref().unwrap_or(&device.name));
        let dir = device.parent.as_ref().map_or_else(|| disk.clone(), |_| disk.join(&device.name));
        let file = (device.kind == DeviceKind::Loop).then(|| device.hardware.get("backing_file"));
        let file = file.flatten().map(PathBuf::from);
        let mount = file.as_deref().and_then(|file| covering(self.mounts, file));
        let mut below: Vec<&BlockDevice> = Vec::new();
        below.extend(
            device.parent.iter().chain(&device.slaves).filter_map(|n| self.inventory.get(n)),
        );
        below.extend(mount.and_then(|mount| device_of(mount, self.inventory)));
        let direct = file.as_deref().and_then(|file| by_path(self.inventory, file));
        below.extend(direct);
        let fstype = mount.filter(|_| direct.is_none()).map(|mount| mount.fstype.clone());
        self.layers.push(Layer {
            device: device.clone(),
            dir,
            queue: disk.join("queue"),
            is_top,
            is_bottom: below.is_empty(),
            backing: file.map(|file| Backing { file, fstype }),
        });
        for device in below {
            self.add(device, false);
        }
    }
}

/// The topmost mount that covers a path.
pub(crate) fn covering<'a>(mounts: &'a [MountEntry], path: &Path) -> Option<&'a MountEntry> {
    let covering = mounts.iter().filter(|entry| path.starts_with(&entry.mount_point));
    covering.max_by_key(|entry| entry.mount_point.components().count())
}

/// The device of a mount: by its number, else by its source, which is all that btrfs has.
pub(crate) fn device_of<'a>(
    mount: &MountEntry,
    inventory: &'a Inventory,
) -> Option<&'a BlockDevice> {
    let number = mount.device.split_once(':');
    let number = number.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let found = number.and_then(|number| inventory.by_number(number));
    found.or_else(|| by_path(inventory, Path::new(&mount.source)))
}

/// The device at a path as the kernel names it, or where a link leads.
pub(crate) fn by_path<'a>(inventory: &'a Inventory, path: &Path) -> Option<&'a BlockDevice> {
    if !path.starts_with("/dev") {
        return None;
    }
    let at = |path: &Path| inventory.iter().find(|device| device.path == path);
    at(path).or_else(|| at(&path.canonicalize().ok()?)).or_else(|| {
        let stat = rustix::fs::stat(path).ok()?;
        let is_block = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_block_device();
        let number = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        is_block.then(|| inventory.by_number(number)).flatten()
    })
}
