//! Block devices: what is there, what each is known by, who uses it, and what is on it.
//!
//! [`survey`] lists every block device with what is on it, who uses it, and whether it could become
//! a target. Everything here looks and changes nothing. The roots are parameters, so that trees
//! made by a test can be read. What cannot be read or is not understood is an error, and never an
//! answer: [`crate::vet`] takes every error for a refusal.
//!
//! Five witnesses are asked whether a device is in use, since each of them is blind somewhere:
//! mountinfo of every process (blind to file systems that are mounted in no process's view), the
//! kernel's lists of mounted file systems in `/sys/fs` (not every file system has one), holders in
//! sysfs (dm, md, bcache), the loop devices above it (a loop device claims nothing below), and an
//! exclusive open, which the kernel refuses while a file system, swap, md, dm or another program
//! holds the device, or a part of it, or the disk it is a part of.

mod attribute;
mod backup;
mod contents;
mod everything;
mod exclusive;
mod identity;
mod ioctl;
mod listing;
mod loops;
mod magic;
mod mounts;
mod openers;
mod parts;
mod signature;
mod usage;

pub use exclusive::{recheck, same};
pub use identity::{check_path, identify};
pub use listing::{BlockDevice, DeviceKind, Inventory};
pub use mounts::{Roots, SMALLEST_BYTES};
pub use usage::Usage;

pub(crate) use everything::{Everything, everything_on};
pub(crate) use exclusive::{Exclusive, agrees, open_exclusive, recheck_for, unused};
pub(crate) use identity::{Node, identity_of, listed, node, unread};
pub(crate) use listing::chosen;
pub(crate) use mounts::{block_number, is_mounted};
pub(crate) use openers::{Allowed, BUSY_LIMIT, BUSY_PAUSE, ancestors, not_open, openers};
pub(crate) use parts::forget_parts;
pub(crate) use signature::with_parts;

// Entries for the targets of `fsarena-fuzz`.
#[doc(hidden)]
pub use signature::{blkid_names, wipefs_names};

use crate::device_lock;
use crate::vet::WipeConsent;
use crate::{Refusal, TargetError};
use fsarena_model::device::DeviceIdentity;
use fsarena_process::cmd::SearchPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const WORKED_ON: &str = "a run of fsarena works on it";

/// One block device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct SurveyRow {
    /// What it is known by.
    pub identity: DeviceIdentity,
    /// Sort of device.
    pub kind: DeviceKind,
    /// What the hardware calls itself.
    pub model: Option<String>,
    /// Capacity.
    pub size_bytes: u64,
    /// Disk that it is a part of, by kernel name.
    pub parent: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// Whether its medium can be taken out.
    pub removable: bool,
    /// Whether it can only be read.
    pub read_only: bool,
    /// Smallest unit of I/O.
    pub logical_sector_bytes: Option<u64>,
    /// Unit in which the medium is written.
    pub physical_sector_bytes: Option<u64>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Where it is mounted, in any mount namespace.
    pub mount_points: Vec<PathBuf>,
    /// What is on it and its partitions, as wipefs and blkid name it; where it could become a
    /// target also copies of signatures, and `unknown` for contents that no signature explains.
    /// `None` where that is not known.
    pub signatures: Option<BTreeSet<String>>,
    /// Who uses it; empty where no process does.
    pub in_use: Vec<String>,
    /// Whether it could become a target.
    pub verdict: Verdict,
}

/// Whether a device could become a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Not in its present state, whatever the user says.
    Never { reason: String },
    /// With this option.
    WithConsent {
        /// Whole text, such as `--wipe /dev/sdb=ext4`.
        option: String,
    },
}

/// Looks at every block device; loop devices and their like that nothing is attached to are left
/// out. Where something cannot be known of one device, its verdict says so.
///
/// # Errors
/// When the block devices cannot be listed at all.
pub fn survey(roots: &Roots) -> Result<Vec<SurveyRow>, TargetError> {
    survey_with(roots, &SearchPath::from_env())
}

fn survey_with(roots: &Roots, programs: &SearchPath) -> Result<Vec<SurveyRow>, TargetError> {
    let inventory = Inventory::read(roots).map_err(|error| identity::unread(&roots.sys, &error))?;
    let usage = Usage::read(roots, &inventory);
    let here = |device: &&BlockDevice| device.size_bytes > 0 || !device.kind.may_be_a_free_name();
    let rows = inventory.iter().filter(here).map(|device| {
        let usage = usage.as_ref().map_err(|error| identity::unread(&device.path, error));
        row(roots, programs, &inventory, usage, device)
    });
    Ok(rows.collect())
}

fn row(
    roots: &Roots,
    programs: &SearchPath,
    inventory: &Inventory,
    usage: Result<&Usage, Refusal>,
    device: &BlockDevice,
) -> SurveyRow {
    let node = Node { path: device.path.clone(), number: device.number };
    let in_use = usage.clone().and_then(|usage| users(roots, inventory, usage, device));
    let is_free = in_use.as_ref().is_ok_and(Vec::is_empty) && device.impossible().is_none();
    let signatures = read_signatures(roots, inventory, device, programs, is_free);
    let verdict = match judge(device, in_use.as_ref(), signatures.as_ref()) {
        Ok(option) => Verdict::WithConsent { option },
        Err(reason) => Verdict::Never { reason },
    };
    SurveyRow {
        identity: identity::identity_of(&node, device),
        kind: device.kind,
        model: device.hardware.get("model").cloned(),
        size_bytes: device.size_bytes,
        parent: device.parent.clone(),
        rotational: device.rotational,
        removable: device.removable,
        read_only: device.read_only,
        logical_sector_bytes: device.logical_sector_bytes,
        physical_sector_bytes: device.physical_sector_bytes,
        scheduler: device.scheduler.clone(),
        mount_points: usage.map(|usage| usage.mount_points(device)).unwrap_or_default(),
        signatures: signatures.ok(),
        in_use: in_use.unwrap_or_default(),
        verdict,
    }
}

/// The option, or why there is none; in the order of vetting.
fn judge(
    device: &BlockDevice,
    in_use: Result<&Vec<String>, &Refusal>,
    signatures: Result<&BTreeSet<String>, &Refusal>,
) -> Result<String, String> {
    if let Some((reason, _)) = device.impossible() {
        return Err(reason);
    }
    let in_use = in_use.map_err(|refusal| refusal.reason.clone())?;
    if !in_use.is_empty() {
        return Err(format!("in use: {}", in_use.join("; ")));
    }
    let signatures = signatures.map_err(|refusal| refusal.reason.clone())?;
    Ok(WipeConsent::option(&device.path, signatures))
}

/// Who uses it; an error where that cannot be known.
fn users(
    roots: &Roots,
    inventory: &Inventory,
    usage: &Usage,
    device: &BlockDevice,
) -> Result<Vec<String>, Refusal> {
    let mut users = usage.reasons(inventory, device);
    users.dedup();
    if usage.below(inventory, Path::new("/")).contains(&device.name) {
        users.push("the root directory (/) is on it".to_owned());
    }
    if device_lock::is_locked(device.number, roots) {
        users.push(WORKED_ON.to_owned());
    }
    if !users.is_empty() || device.impossible().is_some() {
        return Ok(users);
    }
    match open_exclusive(&device.path, device.number, Exclusive::Read, Duration::ZERO) {
        Ok(_) => {}
        Err(not_held) if not_held.busy => users.push(not_held.refusal.reason),
        Err(not_held) => return Err(not_held.refusal),
    }
    let openers = openers(roots, device.number, Allowed::Own)
        .map_err(|error| identity::unread(&device.path, &error))?;
    users.extend(openers.iter().map(|opener| format!("{opener} has it open")));
    Ok(users)
}

/// What the bytes of a device tell of it, without a program: signatures, copies of signatures with
/// their places, and where the first block lies that is none of ours. For the targets of
/// `fsarena-fuzz`.
///
/// # Errors
/// When a place on the device cannot be read.
#[doc(hidden)]
pub fn recognised(device: &File, size_bytes: u64) -> io::Result<Recognised> {
    let copies = backup::find_copies(device, size_bytes)?;
    Ok(Recognised {
        signatures: magic::find_signatures(device, size_bytes)?,
        copies: copies.into_iter().map(|copy| (copy.name, copy.at_byte)).collect(),
        unknown_at: contents::first_unknown(device, size_bytes, contents::Extent::Whole)?,
    })
}

/// See [`recognised`].
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognised {
    pub signatures: BTreeSet<String>,
    pub copies: Vec<(&'static str, u64)>,
    pub unknown_at: Option<u64>,
}

/// What is on it, whoever uses it; all of it where it could become a target. Drives with media to
/// spin up are left in peace.
fn read_signatures(
    roots: &Roots,
    inventory: &Inventory,
    device: &BlockDevice,
    programs: &SearchPath,
    is_free: bool,
) -> Result<BTreeSet<String>, Refusal> {
    let refuse = |reason: String| Refusal::new(&device.path, reason, "run as root");
    if device.size_bytes == 0 || device.kind.never().is_some() {
        return Err(refuse("not looked at".to_owned()));
    }
    if device_lock::is_locked(device.number, roots) {
        return Err(refuse(WORKED_ON.to_owned()));
    }
    let file = signature::open_to_look(device)?;
    if is_free {
        let everything = everything_on(&file, device, &device.path, inventory, programs)?;
        return Ok(everything.words);
    }
    signature::with_parts(&file, device, &device.path, inventory, programs)
}
