//! What is watched: the device that was named, or the one that a directory is on; and why it
//! cannot be.

use fsarena_devices::mountinfo::MountEntry;
use fsarena_doctor::{Below, Piece, Target, below};
use fsarena_metrics::{KernelRoots, MetricError};
use fsarena_model::record::Notice;
use fsarena_model::units::Bytes;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Only some of the devices of a file system are watched.
const PART_OF_DEVICES: &str = "watched-one-of-several";
/// A part of a disk is watched.
const PARTITION: &str = "watched-partition";

/// Why a watch cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Nothing of this name, or no device or directory.
    #[error(transparent)]
    NotATarget(#[from] fsarena_doctor::NotATarget),
    /// Devices or mounts could not be listed, or what was named is not among them.
    #[error("{}: {reason}", path.display())]
    Unseen {
        /// What was named.
        path: PathBuf,
        reason: String,
    },
    /// The file system has no device here.
    #[error("{}: is on {fstype}, {why}", path.display())]
    NoDevice {
        /// What was named.
        path: PathBuf,
        /// Type of the file system.
        fstype: String,
        /// What that means, and what to watch instead.
        why: String,
    },
    /// There is a device without a medium.
    #[error("{}: has no medium (its size is 0); attach or insert one first", path.display())]
    Empty { path: PathBuf },
    /// Counters cannot be read.
    #[error(transparent)]
    Counters(#[from] MetricError),
    /// The journal cannot be written or read.
    #[error("{}: {source}; set FSARENA_STATE_DIR to keep samples elsewhere", path.display())]
    Journal { path: PathBuf, source: io::Error },
    /// The terminal does not do what it is told.
    #[error("the terminal: {0}; `fsarena watch … | cat` prints plain lines")]
    Terminal(io::Error),
}

/// A device to watch, and what is known of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WatchTarget {
    /// As the user named it, absolute.
    pub asked: PathBuf,
    /// Kernel name, such as `loop0`.
    pub name: String,
    /// Its node, such as `/dev/loop0`.
    pub path: PathBuf,
    /// What sort of device it is.
    pub kind: String,
    pub size_bytes: u64,
    /// Number of the medium, where the kernel counts them.
    pub diskseq: Option<u64>,
    /// Type of the file system that is mounted from it.
    pub fstype: Option<String>,
    /// Where that is mounted.
    pub mounted_at: Option<PathBuf>,
    /// Options of the mount and the superblock.
    pub mount_options: Option<String>,
    /// Names of the devices below it, and files under loop devices.
    pub below: Vec<String>,
    /// What has to be said with the figures.
    pub notices: Vec<Notice>,
}

impl WatchTarget {
    /// `/dev/loop0, 512 MiB, ext4 at /mnt/x`.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = format!("{}, {}", self.path.display(), Bytes(self.size_bytes));
        if let (Some(fstype), Some(at)) = (&self.fstype, &self.mounted_at) {
            text.push_str(&format!(", {fstype} at {}", at.display()));
        }
        text
    }

    /// `loop, over /var/tmp/x.img, vda`.
    #[must_use]
    pub fn layers(&self) -> String {
        match self.below.as_slice() {
            [] => self.kind.clone(),
            below => format!("{}, over {}", self.kind, below.join(", ")),
        }
    }
}

/// Finds the device of what the user named. Nothing is opened.
///
/// # Errors
/// When there is nothing, it may not be looked at, its file system has no block device here, or the
/// device has no medium or does not count.
pub fn find(roots: &KernelRoots, asked: &Path) -> Result<WatchTarget, WatchError> {
    let target = Target::from_path(asked)?;
    let found = below(roots, &target)
        .map_err(|reason| WatchError::Unseen { path: asked.to_owned(), reason })?;
    let target = target_from(roots, asked, &found)?;
    if target.size_bytes == 0 {
        return Err(WatchError::Empty { path: target.path });
    }
    fsarena_metrics::block_stat(roots, &target.name)?;
    Ok(target)
}

fn target_from(
    roots: &KernelRoots,
    asked: &Path,
    found: &Below,
) -> Result<WatchTarget, WatchError> {
    let Some((device, rest)) = found.devices.split_first() else {
        let mount = found.mount.as_ref();
        let fstype = mount.map_or("an unknown file system", |mount| &mount.fstype).to_owned();
        let why = mount.map_or_else(String::new, without_device);
        return Err(WatchError::NoDevice { path: asked.to_owned(), fstype, why });
    };
    // Of several mounts of a device the first one: the others are bind mounts of parts of it.
    let mount = found.mount.as_ref().or(found.mounted.first());
    let mut notices = Vec::new();
    notices.extend(mount.and_then(|mount| one_of_several(roots, &mount.fstype, device)));
    notices.extend(device.parent.as_ref().map(|disk| {
        let text = format!(
            "{} is a part of {disk}: requests that go elsewhere on {disk} delay those that are \
             watched and are not seen",
            device.name
        );
        let remedy = Some(format!("watch /dev/{disk} to see all of it"));
        Notice { code: PARTITION.to_owned(), text, remedy, measure: None }
    }));
    let name = |piece: &Piece| match (&piece.backing, piece.kind) {
        (Some(file), _) => format!("{} over {}", piece.name, file.display()),
        (None, _) => piece.name.clone(),
    };
    let own = device.backing.iter().map(|file| file.display().to_string());
    Ok(WatchTarget {
        asked: asked.to_owned(),
        name: device.name.clone(),
        path: device.path.clone(),
        kind: device.kind.name().to_owned(),
        size_bytes: device.size_bytes,
        diskseq: device.diskseq,
        fstype: mount.map(|mount| mount.fstype.clone()),
        mounted_at: mount.map(|mount| mount.mount_point.clone()),
        mount_options: mount.map(MountEntry::options),
        below: own.chain(rest.iter().map(name)).collect(),
        notices,
    })
}

/// What a file system without a device is, and what to watch instead.
fn without_device(mount: &MountEntry) -> String {
    let upper = mount.super_options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    match (mount.fstype.as_str(), upper) {
        ("overlay", Some(upper)) => {
            format!("layers over other file systems; what is written goes to {upper}: watch that")
        }
        ("overlay", None) => "layers over other file systems; watch one of its lowerdir".to_owned(),
        ("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs", _) => {
            "which lives in memory: there is no device to watch".to_owned()
        }
        ("proc" | "sysfs" | "cgroup" | "cgroup2" | "tracefs" | "debugfs" | "devpts", _) => {
            "which the kernel generates: there is no device to watch".to_owned()
        }
        ("nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph", _) => {
            "whose device is on another machine; watch it there".to_owned()
        }
        _ => format!(
            "for which no block device of this machine is known (its source is {}); name the \
             device itself (fsarena devices lists them)",
            mount.source
        ),
    }
}

/// btrfs may have several devices, and names one of them as its source; which belong together is in
/// `/sys/fs/btrfs/UUID/devices` (Documentation/ABI/testing/sysfs-fs-btrfs).
fn one_of_several(roots: &KernelRoots, fstype: &str, device: &Piece) -> Option<Notice> {
    if fstype != "btrfs" {
        return None;
    }
    let all = std::fs::read_dir(roots.sys.join("fs/btrfs")).ok()?.flatten();
    let own = all
        .map(|entry| entry.path().join("devices"))
        .find(|dir| dir.join(&device.name).symlink_metadata().is_ok())?;
    let names = std::fs::read_dir(own).ok()?.flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if names.len() < 2 {
        return None;
    }
    let text = format!(
        "this btrfs is on {} devices ({}): only {} is watched",
        names.len(),
        names.join(", "),
        device.name
    );
    let remedy = Some("watch each of them at the same time, in a database of its own".to_owned());
    Some(Notice { code: PART_OF_DEVICES.to_owned(), text, remedy, measure: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::FakeTree;

    fn tree() -> FakeTree {
        let tree = FakeTree::new();
        for (dir, number) in [("loop0", "7:0"), ("sda", "8:0")] {
            tree.put(&format!("sys/block/{dir}/dev"), format!("{number}\n"));
            tree.put(&format!("sys/block/{dir}/size"), "131072\n");
            tree.put(&format!("sys/block/{dir}/removable"), "0\n");
            tree.put(&format!("sys/block/{dir}/ro"), "0\n");
            std::fs::create_dir_all(tree.path(format!("sys/block/{dir}/holders"))).unwrap();
            tree.put(&format!("sys/block/{dir}/stat"), "1 0 8 1 1 0 8 1 0 1 1 0 0 0 0 0 0\n");
        }
        tree.put("sys/block/loop0/loop/backing_file", "/images/x.img\n");
        tree.put("proc/swaps", "Filename Type Size Used Priority\n");
        tree
    }

    fn found(tree: &FakeTree, mountinfo: &str) -> Result<WatchTarget, WatchError> {
        tree.put("proc/self/mountinfo", mountinfo);
        let roots = KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() };
        find(&roots, Path::new("/tmp"))
    }

    #[test]
    fn a_directory_leads_to_its_device() {
        let target = found(
            &tree(),
            "22 1 8:0 / / rw - ext4 /dev/sda rw\n30 22 7:0 / /tmp rw,noatime - xfs /dev/loop0 rw\n",
        );
        let target = target.unwrap();
        assert_eq!(target.describe(), "/dev/loop0, 64 MiB, xfs at /tmp");
        assert_eq!(target.layers(), "loop, over /images/x.img, sda");
        assert_eq!(target.mount_options.as_deref(), Some("rw,noatime"));
        assert_eq!(target.notices, []);
    }

    #[test]
    fn a_btrfs_is_found_by_its_source_and_its_other_devices_are_said() {
        let tree = tree();
        tree.put("sys/fs/btrfs/u-u/devices/loop0", "");
        tree.put("sys/fs/btrfs/u-u/devices/sda", "");
        let target = found(&tree, "30 22 0:41 / /tmp rw - btrfs /dev/loop0 rw\n").unwrap();
        assert_eq!(target.name, "loop0");
        assert!(target.notices[0].text.contains("is on 2 devices (loop0, sda)"), "{target:?}");
    }

    #[test]
    fn what_has_no_device_says_what_it_is() {
        let said = |line: &str| found(&tree(), line).unwrap_err().to_string();
        assert_eq!(
            said("30 22 0:41 / /tmp rw - tmpfs tmpfs rw\n"),
            "/tmp: is on tmpfs, which lives in memory: there is no device to watch"
        );
        assert_eq!(
            said("30 22 0:41 / /tmp rw - overlay overlay rw,lowerdir=/a,upperdir=/b/up\n"),
            "/tmp: is on overlay, layers over other file systems; what is written goes to \
             /b/up: watch that"
        );
        let zfs = said("30 22 0:41 / /tmp rw - zfs pool/home rw\n");
        assert!(zfs.contains("its source is pool/home"), "{zfs}");
        let nfs = said("30 22 0:41 / /tmp rw - nfs4 server:/x rw\n");
        assert!(nfs.contains("on another machine"), "{nfs}");
    }

    #[test]
    fn a_device_that_does_not_count_is_refused() {
        let tree = tree();
        tree.put("sys/block/loop0/queue/iostats", "0\n");
        let said = found(&tree, "30 22 7:0 / /tmp rw - xfs /dev/loop0 rw\n").unwrap_err();
        assert!(said.to_string().contains("does not count its requests"), "{said}");
    }
}
