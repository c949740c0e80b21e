//! What a block device is known by, and the node that leads to it.

use super::Roots;
use super::listing::{BlockDevice, Inventory};
use crate::{Refusal, TargetError};
use fsarena_model::device::DeviceIdentity;
use rustix::fs::{FileType, major, minor, stat};
use std::path::{Path, PathBuf};

/// A node that is a block device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Node {
    /// Without symbolic links.
    pub path: PathBuf,
    /// Major and minor.
    pub number: (u32, u32),
}

/// Follows a path to a block device; anything else is refused by name. Nothing is opened.
pub(crate) fn node(written: &Path) -> Result<Node, Refusal> {
    let refuse = |reason: String, remedy: &str| Refusal::new(written, reason, remedy);
    const CHECK: &str = "check the path, and that the device is there";
    if !written.is_absolute() {
        return Err(refuse("is no absolute path".to_owned(), "write it from / on"));
    }
    let path = written.canonicalize().map_err(|error| refuse(error.to_string(), CHECK))?;
    if path.to_str().is_none_or(|text| text.chars().any(char::is_control)) {
        return Err(refuse("its name is not plain UTF-8".to_owned(), "give it another name"));
    }
    let meta =
        stat(&path).map_err(|error| refuse(std::io::Error::from(error).to_string(), CHECK))?;
    let (reason, remedy) = match FileType::from_raw_mode(meta.st_mode) {
        FileType::BlockDevice => {
            let number = (major(meta.st_rdev), minor(meta.st_rdev));
            return Ok(Node { path, number });
        }
        FileType::RegularFile => (
            "is a regular file, not a block device",
            "for an image file use --on loop:SIZE, which makes one; an image of yours can be \
             attached with losetup, and the loop device named",
        ),
        FileType::Directory => ("is a directory, not a block device", "give it without --wipe"),
        FileType::CharacterDevice => {
            ("is a character device, not a block device", "name the block device itself")
        }
        FileType::Fifo => ("is a FIFO, not a block device", CHECK),
        FileType::Socket => ("is a socket, not a block device", CHECK),
        _ => ("is not a block device", CHECK),
    };
    Err(refuse(reason.to_owned(), remedy))
}

/// What the device at this path is known by. Within one boot its number and `diskseq` count too;
/// see [`DeviceIdentity::differences`].
///
/// # Errors
/// When it is no block device, or the kernel does not list it, or it cannot be read.
pub fn identify(path: &Path, roots: &Roots) -> Result<DeviceIdentity, TargetError> {
    let node = node(path)?;
    let inventory = Inventory::read(roots).map_err(|error| unread(path, &error))?;
    let device = listed(path, &node, &inventory)?;
    Ok(identity_of(&node, device))
}

/// The device behind a node, as the kernel lists it.
pub(crate) fn listed<'a>(
    written: &Path,
    node: &Node,
    inventory: &'a Inventory,
) -> Result<&'a BlockDevice, Refusal> {
    inventory.by_number(node.number).ok_or_else(|| {
        let (major, minor) = node.number;
        let reason = format!("the kernel lists no block device {major}:{minor}");
        Refusal::new(written, reason, "name a device that fsarena devices shows")
    })
}

/// The identity of a listed device; its path is the kernel's where that node is the same device.
pub(crate) fn identity_of(node: &Node, device: &BlockDevice) -> DeviceIdentity {
    let kernels = super::mounts::block_number(&device.path) == Some(device.number);
    let path = if kernels { device.path.clone() } else { node.path.clone() };
    DeviceIdentity {
        path,
        name: device.name.clone(),
        number: device.number,
        size_bytes: device.size_bytes,
        diskseq: device.diskseq,
        hardware: device.hardware.clone(),
    }
}

/// A refusal because something could not be read.
pub(crate) fn unread(path: &Path, error: &super::attribute::Unread) -> Refusal {
    Refusal::new(
        path,
        format!("what is known of the block devices is incomplete: {error}"),
        "run as root, with /proc and /sys mounted; a device is only touched when all is known",
    )
}

/// Checks that a path about to be handed to a program leads to this device and no other: a link
/// may have been changed since it was vetted.
///
/// # Errors
/// When it leads elsewhere or nowhere.
pub fn check_path(identity: &DeviceIdentity, path: &Path) -> Result<(), TargetError> {
    let found = node(path)?;
    if found.number == identity.number {
        return Ok(());
    }
    let (was, is) = (identity.number, found.number);
    let reason = format!(
        "leads to the device {}:{} and not to {} ({}:{}), which was vetted",
        is.0, is.1, identity.name, was.0, was.1
    );
    Err(Refusal::new(path, reason, "find out who changed it, and start again").into())
}
