//! The last look before a device is written: held exclusively, still the same, still unused.

use super::identity::{self, Node, unread};
use super::listing::Inventory;
use super::openers::{Allowed, BUSY_LIMIT, BUSY_PAUSE, not_open};
use super::{Roots, Usage, ioctl};
use crate::{Refusal, TargetError};
use fsarena_model::device::DeviceIdentity;
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use rustix::io::Errno;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

const IN_USE: &str = "end what uses it (unmount it, swapoff, stop the array or the volume group), \
                      and start again; --wipe does not help here";

/// For what a device is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exclusive {
    Read,
    /// To read and write.
    Write,
}

/// Why a device could not be held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NotHeld {
    /// Whether somebody else has it; otherwise that is not known.
    pub busy: bool,
    /// In words.
    pub refusal: Refusal,
}

impl From<NotHeld> for Refusal {
    fn from(not_held: NotHeld) -> Self {
        not_held.refusal
    }
}

/// Opens the device so that no file system, swap, RAID or other exclusive opener has it, or can
/// get it while the file is open (`O_EXCL` of a block device, open(2)). The same holds of its
/// partitions, and of the disk of a partition.
///
/// # Errors
/// When it is in use, another device by now, or may not be opened.
pub(crate) fn open_exclusive(
    path: &Path,
    number: (u32, u32),
    how: Exclusive,
    patience: Duration,
) -> Result<File, NotHeld> {
    let access = match how {
        Exclusive::Read => OFlags::RDONLY,
        Exclusive::Write => OFlags::RDWR,
    };
    let flags = access | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let started = Instant::now();
    let file = loop {
        match open(path, flags, Mode::empty()) {
            Ok(fd) => break File::from(fd),
            Err(Errno::BUSY) if started.elapsed() < patience => std::thread::sleep(BUSY_PAUSE),
            Err(error) => return Err(not_opened(path, error)),
        }
    };
    let stat = fstat(&file).map_err(|error| not_opened(path, error))?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if !is_block || (major(stat.st_rdev), minor(stat.st_rdev)) != number {
        let refusal = Refusal::new(path, "was replaced by something else", "start again");
        return Err(NotHeld { busy: false, refusal });
    }
    Ok(file)
}

fn not_opened(path: &Path, error: Errno) -> NotHeld {
    NotHeld { busy: error == Errno::BUSY, refusal: why_not_opened(path, error) }
}

fn why_not_opened(path: &Path, error: Errno) -> Refusal {
    let text = std::io::Error::from(error).to_string();
    match error {
        Errno::BUSY => Refusal::new(
            path,
            "somebody holds it, a part of it, or its disk exclusively: a file system that is \
             mounted out of sight, a journal, swap, an array, or a program",
            IN_USE,
        ),
        Errno::ACCESS | Errno::PERM => {
            Refusal::new(path, format!("cannot be opened: {text}"), "run as root")
        }
        Errno::NOMEDIUM => Refusal::new(path, "has no medium", "insert one"),
        _ => {
            let reason = format!("cannot be opened: {text}");
            Refusal::new(path, reason, "check the device and the kernel's log")
        }
    }
}

/// Refuses a device that somebody uses, with every reason.
pub(crate) fn unused(
    written: &Path,
    usage: &Usage,
    inventory: &Inventory,
    name: &str,
) -> Result<(), Refusal> {
    let Some(device) = inventory.get(name) else {
        return Err(Refusal::new(written, "is gone", "check the device"));
    };
    let mut reasons = usage.reasons(inventory, device);
    reasons.dedup();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(written, format!("in use: {}", reasons.join("; ")), IN_USE))
}

/// What the open file says of itself has to be what sysfs says.
pub(crate) fn agrees(path: &Path, file: &File, identity: &DeviceIdentity) -> Result<(), Refusal> {
    let refuse = |reason: String| Refusal::new(path, reason, "check the device, and start again");
    let size = ioctl::size_bytes(file).map_err(|error| refuse(format!("BLKGETSIZE64: {error}")))?;
    if size != identity.size_bytes {
        let was = identity.size_bytes;
        return Err(refuse(format!("its size in bytes was {was} and is {size}")));
    }
    let sequence =
        ioctl::diskseq(file).map_err(|error| refuse(format!("BLKGETDISKSEQ: {error}")))?;
    if sequence != identity.diskseq {
        let was =
            identity.diskseq.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let is = sequence.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let reason = format!("its diskseq (the kernel's number of the medium) was {was}, is {is}");
        return Err(refuse(reason));
    }
    if ioctl::read_only(file).map_err(|error| refuse(format!("BLKROGET: {error}")))? {
        return Err(refuse("can only be read".to_owned()));
    }
    Ok(())
}

/// Checks right before every wipe, mkfs and mount that this is still the device that was vetted and
/// that no process uses it, and gives it opened for writing, exclusively.
///
/// Everything is looked at while the device is held, so that no file system, swap or array can
/// come in between. A process that has it open without holding it, such as a virtual machine that
/// was started since, is a refusal too, as far as `/proc` shows it: inside an executor, whose
/// `/proc` is that of its own PID namespace, only what runs there is seen. The programs that make
/// file systems open it exclusively themselves: the file has to be closed before one starts, and
/// they in turn refuse a device that somebody has taken meanwhile. The path to hand to them is
/// `identity.path`, checked by [`super::check_path`].
///
/// # Errors
/// When anything differs from what was vetted, is in use, or cannot be read.
pub fn recheck(identity: &DeviceIdentity, roots: &Roots) -> Result<File, TargetError> {
    recheck_for(Exclusive::Write, identity, roots)
}

/// As [`recheck`]. Opened for reading and closed again, the device makes no event of udev, which
/// would look into it right when it is mounted.
///
/// # Errors
/// As [`recheck`].
pub(crate) fn recheck_for(
    how: Exclusive,
    identity: &DeviceIdentity,
    roots: &Roots,
) -> Result<File, TargetError> {
    let path = &identity.path;
    let node = identity::node(path)?;
    same_node(identity, &node)?;
    // At once: whoever has it may be known by name. Then with patience for udev.
    for patience in [Duration::ZERO, BUSY_LIMIT] {
        let held = open_exclusive(&node.path, identity.number, how, patience);
        same_and_unused(identity, &node, roots)?;
        match held {
            Ok(held) => {
                agrees(path, &held, identity)?;
                not_open(path, identity.number, roots, Allowed::Ancestors, BUSY_LIMIT)?;
                return Ok(held);
            }
            Err(not_held) if !patience.is_zero() => return Err(not_held.refusal.into()),
            Err(_) => {}
        }
    }
    Err(Refusal::new(path, "cannot be held", "start again").into())
}

/// Whether the path of this device still leads to it, with the same medium, whoever uses it: what
/// was made of it may hold it. Opens nothing.
///
/// # Errors
/// When anything differs from what was vetted, or cannot be read.
pub fn same(identity: &DeviceIdentity, roots: &Roots) -> Result<(), TargetError> {
    let node = identity::node(&identity.path)?;
    same_node(identity, &node)?;
    same_medium(identity, &node, roots).map(drop).map_err(Into::into)
}

fn same_and_unused(identity: &DeviceIdentity, node: &Node, roots: &Roots) -> Result<(), Refusal> {
    let path = &identity.path;
    let inventory = same_medium(identity, node, roots)?;
    let usage = Usage::read(roots, &inventory).map_err(|error| unread(path, &error))?;
    unused(path, &usage, &inventory, &identity.name)
}

/// Compares all that it is known by; gives what was read for that.
fn same_medium(
    identity: &DeviceIdentity,
    node: &Node,
    roots: &Roots,
) -> Result<Inventory, Refusal> {
    let path = &identity.path;
    let inventory = Inventory::read(roots).map_err(|error| unread(path, &error))?;
    let now = identity::identity_of(node, identity::listed(path, node, &inventory)?);
    let mut differences = identity.differences(&now, true);
    if now.name != identity.name {
        differences.push(format!("its kernel name was {} and is {}", identity.name, now.name));
    }
    if !differences.is_empty() {
        let reason = format!("is not the device that was vetted: {}", differences.join("; "));
        return Err(Refusal::new(path, reason, "check which device this is, and start again"));
    }
    Ok(inventory)
}

fn same_node(identity: &DeviceIdentity, node: &Node) -> Result<(), Refusal> {
    if node.number == identity.number {
        return Ok(());
    }
    let (was, is) = (identity.number, node.number);
    let reason = format!(
        "is not the device that was vetted: its device number was {}:{} and is {}:{}",
        was.0, was.1, is.0, is.1
    );
    Err(Refusal::new(&identity.path, reason, "check which device this is, and start again"))
}
