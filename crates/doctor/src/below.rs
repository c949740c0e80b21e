//! What a device or directory is on, for who watches it.

use crate::layers::{Layer, Stack, device_of};
use crate::snapshot;
use crate::target::Target;
use fsarena_devices::inventory::{BlockDevice, DeviceKind, Inventory};
use fsarena_devices::mountinfo::MountEntry;
use fsarena_metrics::KernelRoots;
use std::path::PathBuf;

/// The block devices below a target, and what is mounted there.
#[derive(Clone, Debug)]
pub struct Below {
    /// The mount that a directory is on; absent for a device.
    pub mount: Option<MountEntry>,
    /// The device that was named or that the file system is on, then those below it; none where
    /// the file system has no block device on this machine.
    pub devices: Vec<Piece>,
    /// Mounts of the first of them, that of the directory included.
    pub mounted: Vec<MountEntry>,
}

/// One of the devices.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Kernel name, such as `loop0`.
    pub name: String,
    /// Its node, such as `/dev/loop0`.
    pub path: PathBuf,
    /// What sort it is.
    pub kind: DeviceKind,
    pub size_bytes: u64,
    /// Number of the medium, where the kernel counts them; a partition has that of its disk.
    pub diskseq: Option<u64>,
    /// The disk that a partition is a part of.
    pub parent: Option<String>,
    /// File that a loop device lies over.
    pub backing: Option<PathBuf>,
}

impl From<&Layer> for Piece {
    fn from(layer: &Layer) -> Self {
        let BlockDevice { name, path, kind, size_bytes, diskseq, parent, .. } =
            layer.device.clone();
        let backing = layer.backing.as_ref().map(|backing| backing.file.clone());
        Self { name, path, kind, size_bytes, diskseq, parent, backing }
    }
}

/// Finds what lies below a target; of the machine itself, nothing. Nothing is opened for writing.
///
/// # Errors
/// In words: when devices or mounts cannot be listed, or the target is not among them.
pub fn below(roots: &KernelRoots, target: &Target) -> Result<Below, String> {
    let mounts = snapshot::mounts(roots)?;
    let inventory = Inventory::read(&snapshot::under(roots)).map_err(|error| error.to_string())?;
    let mut stack = Stack { roots, inventory: &inventory, mounts: &mounts, layers: Vec::new() };
    let mount = match target {
        Target::Host => None,
        Target::Device(path) => {
            snapshot::device(path, &mut stack).map_err(|(_, reason)| reason)?;
            None
        }
        Target::Directory(path) => {
            let found = snapshot::directory(path, &Ok(mounts.clone()), &mut stack);
            Some(found.map_err(|(_, reason)| reason)?.mount)
        }
    };
    let devices: Vec<Piece> = stack.layers.iter().map(Piece::from).collect();
    let is_of_first = |entry: &&MountEntry| {
        let first = devices.first();
        device_of(entry, &inventory).is_some_and(|d| first.is_some_and(|f| f.name == d.name))
    };
    let mounted = mounts.iter().filter(is_of_first).cloned().collect();
    Ok(Below { mount, devices, mounted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_directory_leads_to_its_device_and_to_those_below() {
        let tree = fixtures::disk();
        let found = below(&fixtures::roots(&tree), &Target::Directory("/data".into())).unwrap();
        assert_eq!(found.mount.unwrap().fstype, "ext4");
        let names: Vec<&str> = found.devices.iter().map(|piece| piece.name.as_str()).collect();
        assert_eq!(names, ["sda1", "sda"]);
        assert_eq!(found.devices[0].parent.as_deref(), Some("sda"));
        assert_eq!(found.mounted.len(), 1);
        let found = below(&fixtures::roots(&tree), &Target::Device("/dev/sda".into())).unwrap();
        assert!(found.mount.is_none() && found.mounted.is_empty());
        assert_eq!(found.devices[0].size_bytes, 134_217_728 * 512);
    }
}
