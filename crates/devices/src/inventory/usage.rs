//! Who uses a block device: directly, or through its parts, its disk, what it is made of, or
//! another way to the same medium.

use super::Roots;
use super::attribute::{self, Unread};
use super::listing::{BlockDevice, DeviceKind, Inventory};
use super::loops::{self, Attached};
use super::mounts::{self, Mount, block_number};
use crate::mountinfo;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Layers of loop, dm and md devices that are followed; the kernel itself stacks no deeper.
const DEEPEST: usize = 16;

/// Swap that is on.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Swap {
    /// Device or file, as `/proc/swaps` names it.
    path: PathBuf,
    /// The node below our root of devices, where the name begins with `/dev/`.
    node: Option<PathBuf>,
    /// Number of the device, or of the device under the file system of the file.
    number: Option<(u32, u32)>,
}

/// All users of all block devices, read at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    mounts: Vec<Mount>,
    swaps: Vec<Swap>,
    /// Kernel name, and how the kernel lists it as a part of a file system that is mounted.
    listed: Vec<(String, String)>,
    loops: Vec<Attached>,
}

impl Usage {
    /// Asks mountinfo of every process, `/proc/swaps`, `/sys/fs`, and the loop devices.
    ///
    /// # Errors
    /// When any of them cannot be read or is not understood.
    pub fn read(roots: &Roots, inventory: &Inventory) -> Result<Self, Unread> {
        Ok(Self {
            mounts: mounts::all(roots)?,
            swaps: swaps(roots)?,
            listed: listed(roots)?,
            loops: loops::attached(roots, inventory),
        })
    }

    /// Every reason why this device must be left alone, in words; empty where nobody is known to
    /// use it. An exclusive open has to be tried as well.
    #[must_use]
    pub fn reasons(&self, inventory: &Inventory, device: &BlockDevice) -> Vec<String> {
        let mut reasons = self.direct(device, None);
        reasons.extend(self.by_parts(inventory, device));
        reasons.extend(self.by_disk(inventory, device));
        reasons.extend(self.by_what_it_is_made_of(inventory, device, 0));
        reasons.extend(self.by_another_path(inventory, device));
        reasons
    }

    /// Where the file systems on it are mounted.
    #[must_use]
    pub fn mount_points(&self, device: &BlockDevice) -> Vec<PathBuf> {
        self.mounts_on(device).into_iter().map(|mount| mount.point.clone()).collect()
    }

    /// Its mounts; a place that several namespaces have is told once, as the first of them sees it.
    fn mounts_on(&self, device: &BlockDevice) -> Vec<&Mount> {
        let mut found: Vec<&Mount> = Vec::new();
        for mount in self.mounts.iter().filter(|mount| mount.is_on(&device.path, device.number)) {
            if found.iter().all(|known| known.point != mount.point) {
                found.push(mount);
            }
        }
        found
    }

    /// Kernel names of all devices that hold bytes of this file or directory, or will.
    pub(crate) fn below(&self, inventory: &Inventory, path: &Path) -> BTreeSet<String> {
        devices_below(path, inventory, &self.mounts, &self.loops)
    }

    /// Uses of the device itself; `through` is the loop device that leads to it, and no user.
    fn direct(&self, device: &BlockDevice, through: Option<&str>) -> Vec<String> {
        let mut reasons = Vec::new();
        for mount in self.mounts_on(device) {
            let of = mount.process.as_ref();
            let of = of.map_or_else(String::new, |pid| format!(", as process {pid} sees it"));
            reasons.push(format!("mounted at {} ({}{of})", shown(&mount.point), mount.fstype));
        }
        for swap in &self.swaps {
            let is_it = swap.number == Some(device.number);
            if is_it || swap.node.as_deref() == Some(&device.path) {
                reasons.push(format!("in use as swap ({})", shown(&swap.path)));
            }
        }
        for holder in &device.holders {
            reasons.push(format!("{holder} is made of it"));
        }
        for (_, reason) in self.listed.iter().filter(|listed| listed.0 == device.name) {
            reasons.push(reason.clone());
        }
        for attached in &self.loops {
            let lies_over = attached.lies_over(device) && attached.name != device.name;
            if lies_over && through != Some(attached.name.as_str()) {
                reasons.push(format!("the loop device {} is on it", attached.name));
            }
            if attached.file_lies_on(device) {
                let (name, file) = (&attached.name, &attached.file);
                reasons.push(format!("{file}, which the loop device {name} uses, is on it"));
            }
        }
        reasons
    }

    fn by_parts(&self, inventory: &Inventory, device: &BlockDevice) -> Vec<String> {
        let parts = device.partitions.iter().filter_map(|name| inventory.get(name));
        let named = parts.flat_map(|part| {
            let uses = self.direct(part, None).into_iter();
            uses.map(|reason| format!("its partition {} is in use: {reason}", part.name))
        });
        named.collect()
    }

    /// The disk as a whole, and other parts that lie over the same sectors.
    fn by_disk(&self, inventory: &Inventory, device: &BlockDevice) -> Vec<String> {
        let Some(disk) = device.parent.as_ref().and_then(|name| inventory.get(name)) else {
            return Vec::new();
        };
        let prefix = format!("the disk {} that it is a part of is in use", disk.name);
        let mut uses = self.direct(disk, None);
        uses.extend(self.by_what_it_is_made_of(inventory, disk, 0));
        let mut reasons = prefixed(&prefix, uses);
        let end = |part: &BlockDevice| part.start_bytes.saturating_add(part.size_bytes);
        for part in disk.partitions.iter().filter_map(|name| inventory.get(name)) {
            let overlaps = part.start_bytes < end(device) && device.start_bytes < end(part);
            if overlaps && part.name != device.name {
                let prefix = format!("{} has the same sectors and is in use", part.name);
                reasons.extend(prefixed(&prefix, self.direct(part, None)));
            }
        }
        reasons
    }

    /// What a loop, dm or md device lies over has no other user, however deep.
    fn by_what_it_is_made_of(
        &self,
        inventory: &Inventory,
        device: &BlockDevice,
        depth: usize,
    ) -> Vec<String> {
        if depth > DEEPEST {
            return vec![format!("{} is on more layers than are understood", device.name)];
        }
        let mut reasons = Vec::new();
        for slave in device.slaves.iter().filter_map(|name| inventory.get(name)) {
            // Other devices of the device mapper may share it: that is what volumes do.
            let alone = BlockDevice { holders: Vec::new(), ..slave.clone() };
            let mut uses = self.direct(&alone, None);
            uses.extend(self.by_disk(inventory, slave));
            uses.extend(self.by_what_it_is_made_of(inventory, slave, depth + 1));
            let prefix = format!("{} that it is made of is in use", slave.name);
            reasons.extend(prefixed(&prefix, uses));
        }
        let own = self.loops.iter().find(|attached| attached.name == device.name);
        let Some(own) = own.filter(|_| device.kind == DeviceKind::Loop) else { return reasons };
        for other in self.loops.iter().filter(|other| other.name != own.name) {
            if own.same_backing(other) {
                reasons.push(format!("the loop device {} has the same {}", other.name, own.file));
            }
        }
        for swap in self.swaps.iter().filter(|swap| swap.path == Path::new(&own.file)) {
            reasons.push(format!("{} is in use as swap", shown(&swap.path)));
        }
        for below in inventory.iter().filter(|below| own.lies_over(below)) {
            if below.name == device.name {
                continue;
            }
            let mut uses = self.direct(below, Some(&own.name));
            uses.extend(self.by_parts(inventory, below));
            uses.extend(self.by_disk(inventory, below));
            uses.extend(self.by_what_it_is_made_of(inventory, below, depth + 1));
            uses.extend(self.by_another_path(inventory, below));
            reasons.extend(prefixed(&format!("{} below it is in use", below.name), uses));
        }
        reasons
    }

    /// Other disks with the same world wide name: paths to one medium.
    fn by_another_path(&self, inventory: &Inventory, device: &BlockDevice) -> Vec<String> {
        let Some(wwid) = device.hardware.get("wwid") else { return Vec::new() };
        let own = device.parent.as_ref().unwrap_or(&device.name);
        let mut reasons = Vec::new();
        for other in inventory.iter().filter(|other| other.parent.is_none() && other.name != *own) {
            if other.hardware.get("wwid") != Some(wwid) {
                continue;
            }
            let prefix = format!("{} is the same medium ({wwid}) and is in use", other.name);
            reasons.extend(prefixed(&prefix, self.direct(other, None)));
            reasons.extend(prefixed(&prefix, self.by_parts(inventory, other)));
        }
        reasons
    }
}

fn prefixed(prefix: &str, reasons: Vec<String>) -> Vec<String> {
    reasons.into_iter().map(|reason| format!("{prefix}: {reason}")).collect()
}

/// A path for people, on one line whatever is in it.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().any(char::is_control) { format!("{text:?}") } else { text.into_owned() }
}

/// `/proc/swaps`; a kernel without swap has none.
fn swaps(roots: &Roots) -> Result<Vec<Swap>, Unread> {
    let path = roots.proc.join("swaps");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Unread::new(&path, error)),
    };
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    if !lines.next().is_some_and(|head| head.starts_with(b"Filename")) {
        return Err(Unread::new(&path, "does not begin with Filename"));
    }
    lines.map(|line| swap(roots, &path, line)).collect()
}

fn swap(roots: &Roots, swaps: &Path, line: &[u8]) -> Result<Swap, Unread> {
    let name = line.split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default();
    if name.is_empty() {
        return Err(Unread::new(swaps, "a line without a name"));
    }
    let path = mountinfo::unescaped_path(name);
    let node = path.strip_prefix("/dev").ok().map(|below| roots.dev.join(below));
    // A file may lie below /dev too, such as in /dev/shm: then its file system counts.
    let block = node.as_deref().and_then(block_number);
    let number = block.or_else(|| {
        let stat = rustix::fs::stat(&path).ok()?;
        Some((rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)))
    });
    Ok(Swap { path, node, number })
}

/// What the kernel lists as parts of mounted file systems: `/sys/fs/TYPE/NAME` (ext4, xfs, f2fs,
/// nilfs2 and others), the devices of btrfs and bcachefs, and the journals of ext3 and ext4.
fn listed(roots: &Roots) -> Result<Vec<(String, String)>, Unread> {
    let mut found = Vec::new();
    let fs_dir = roots.sys.join("fs");
    for fstype in attribute::names_if_any(&fs_dir)? {
        let dir = fs_dir.join(&fstype);
        if !dir.is_dir() || matches!(fstype.as_str(), "cgroup" | "bpf" | "pstore" | "fuse") {
            continue;
        }
        for name in attribute::names_if_any(&dir)? {
            match fstype.as_str() {
                "btrfs" => {
                    let devices = attribute::names_if_any(&dir.join(&name).join("devices"))?;
                    let reason = format!("a part of the btrfs {name}, which is mounted");
                    found.extend(devices.into_iter().map(|device| (device, reason.clone())));
                }
                "bcachefs" => found.extend(bcachefs(&dir.join(&name), &name)?),
                _ => found.push((name, format!("has a mounted file system ({fstype})"))),
            }
        }
    }
    for name in attribute::names_if_any(&roots.proc.join("fs/jbd2"))? {
        // An inner journal has the number of its inode behind the name of the device.
        let reason = "has the journal of a mounted file system";
        if let Some((device, _)) = name.rsplit_once('-') {
            found.push((device.to_owned(), reason.to_owned()));
        }
        found.push((name, reason.to_owned()));
    }
    Ok(found)
}

/// The devices of one bcachefs: `dev-N/block` leads to each.
fn bcachefs(dir: &Path, uuid: &str) -> Result<Vec<(String, String)>, Unread> {
    let mut found = Vec::new();
    for member in attribute::names_if_any(dir)?.iter().filter(|name| name.starts_with("dev-")) {
        let Ok(target) = fs::read_link(dir.join(member).join("block")) else { continue };
        let Some(name) = target.file_name() else { continue };
        let reason = format!("a part of the bcachefs {uuid}, which is mounted");
        found.push((name.to_string_lossy().into_owned(), reason));
    }
    Ok(found)
}

/// Kernel names of all devices that hold bytes of the file or directory at `path`, as far as the
/// kernel shows: the device of its file system, the disk that is a part of, what those are made of.
fn devices_below(
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
        add_with_below(number, inventory, loops, &mut found);
    }
    // A btrfs has a number of no device: its mount names one.
    let own = mounts.iter().filter(|mount| mount.process.is_none());
    let covering = own.filter(|mount| existing.starts_with(&mount.point));
    let nearest = covering.max_by_key(|mount| mount.point.components().count());
    for number in nearest.into_iter().flat_map(|mount| &mount.named).filter_map(|named| named.1) {
        add_with_below(number, inventory, loops, &mut found);
    }
    found
}

fn add_with_below(
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
        add_with_below(below.number, inventory, loops, found);
    }
    if let Some(attached) = loops.iter().find(|attached| attached.name == device.name) {
        let below = attached.block.or(attached.inode.map(|inode| inode.0));
        if let Some(below) = below {
            add_with_below(below, inventory, loops, found);
        }
    }
}
