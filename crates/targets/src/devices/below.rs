//! Down from a path to the devices that it lies on, through partitions, device mapper and loops.

use super::inventory::Inventory;
use super::loops::Attached;
use super::mounts::Mount;
use std::collections::BTreeSet;
use std::path::Path;

/// Kernel names of all devices that hold bytes of the file or directory at `path`, as far as the
/// kernel shows: the device of its file system, the disk that is a part of, what those are made of.
pub(super) fn of_path(
    path: &Path,
    inventory: &Inventory,
    mounts: &[Mount],
    loops: &[Attached],
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // What does not exist yet will lie where the nearest directory above it lies.
    let Some(existing) = path.ancestors().find(|above| above.exists()) else { return found };
    let Ok(existing) = existing.canonicalize() else { return found };
    if let Ok(stat) = rustix::fs::stat(&existing) {
        let number = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
        add(number, inventory, loops, &mut found);
    }
    // A btrfs has a number of no device: its mount names one.
    let own = mounts.iter().filter(|mount| mount.process.is_none());
    let covering = own.filter(|mount| existing.starts_with(&mount.point));
    let nearest = covering.max_by_key(|mount| mount.point.components().count());
    for number in nearest.into_iter().flat_map(|mount| &mount.named).filter_map(|named| named.1) {
        add(number, inventory, loops, &mut found);
    }
    found
}

fn add(
    number: (u32, u32),
    inventory: &Inventory,
    loops: &[Attached],
    found: &mut BTreeSet<String>,
) {
    let Some(device) = inventory.by_number(number) else { return };
    if !found.insert(device.name.clone()) {
        return;
    }
    let names = device.parent.iter().chain(&device.slaves);
    for below in names.filter_map(|name| inventory.get(name)) {
        add(below.number, inventory, loops, found);
    }
    if let Some(attached) = loops.iter().find(|attached| attached.name == device.name) {
        let below = attached.block.or(attached.inode.map(|inode| inode.0));
        if let Some(below) = below {
            add(below, inventory, loops, found);
        }
    }
}
