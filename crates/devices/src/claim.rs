//! Claims: a device, memory or a directory that is ours until it is released.
//!
//! Each kind of device is one file below this one and one line in `KINDS`. Dropping a claim
//! releases it as far as it goes, also while a panic unwinds. When the process is killed, a loop
//! device detaches itself, unless a file system on it is frozen ([`crate::frozen`]); what stays (an
//! image, a directory, a device that was made) was told to [`Hooks::will_make`] before, and is left
//! to [`crate::leftovers`].

mod brd;
mod directory;
mod facts;
mod guest;
mod image;
mod kind;
mod null_blk;
mod real;
mod served_disk;
mod several;
mod vdisk;
mod zram;

pub use directory::claim_directory;
pub use image::claim_image;
pub use kind::{Claimed, Hooks, Made, Order};
pub use served_disk::{NativeDisk, NullDisk};

use crate::TargetError;
use crate::inventory::Roots;
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::spec::TargetSpec;
use kind::{Kind, Nothing, missing};
use std::path::Path;

/// Facts of the queue of a device, by name; `name` is the kernel's.
#[must_use]
pub fn queue_facts(name: &str) -> std::collections::BTreeMap<String, String> {
    facts::of_queue(Path::new("/sys"), name)
}

/// Every kind of device; a new one is its file and its line here.
static KINDS: [&dyn Kind; 9] = [
    &image::LOOP,
    &image::RAM,
    &zram::Zram,
    &brd::Brd,
    &null_blk::NullBlk,
    &vdisk::Vdisk,
    &guest::Guest,
    &real::Real,
    &directory::Directory,
];

/// The kinds of devices, with one line each.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|kind| (kind.name(), kind.summary()))
}

/// Whether this machine has devices of this kind (as [`DeviceLevel::kind`]); a kind that is not
/// known is missing.
#[must_use]
pub fn device_availability(kind: &str, roots: &Roots) -> Availability {
    availability_with(kind, roots, Path::new("/lib/modules"))
}

fn availability_with(kind: &str, roots: &Roots, modules: &Path) -> Availability {
    match KINDS.iter().find(|known| known.name() == kind) {
        Some(known) => known.availability(roots, modules),
        None => missing(format!("there is no kind of device called {kind:?}")),
    }
}

/// Claims a target for the level, each device of several: vets what needs no consent, tells the
/// hooks what is made, makes it, and holds it.
///
/// # Errors
/// When this machine has no such device, or it cannot be had; nothing is left then.
pub fn claim(level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
    match level {
        DeviceLevel::Several { members } => several::claim_each(members, order, claim_one),
        one => claim_one(one, order),
    }
}

fn claim_one(level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
    let kind = ready(level)?;
    kind.fits(level)?;
    kind.claim(level, order)
}

/// Whether a target for the level could be had now, as far as that is known without making it:
/// whether there is such a device, and memory for it. Looks, and changes nothing.
///
/// # Errors
/// Those of [`claim`].
pub fn check(level: &DeviceLevel) -> Result<(), TargetError> {
    level.parts().iter().try_for_each(|part| ready(part)?.fits(part))
}

/// The kind of a level, where this machine has it.
fn ready(level: &DeviceLevel) -> Result<&'static dyn Kind, TargetError> {
    let place = Path::new(level.kind());
    let none = || TargetError::state(place, "no such kind of device", "");
    let kind = KINDS.iter().find(|kind| kind.name() == level.kind()).ok_or_else(none)?;
    match kind.availability(&Roots::default(), Path::new("/lib/modules")) {
        Availability::Missing { reason, .. } => {
            Err(TargetError::state(place, reason, "use --on loop:SIZE"))
        }
        Availability::Ready => Ok(*kind),
    }
}

/// Removes a device of the kernel that a dead run has made ([`Made::Device`]); true
/// where it was there and still the same. Only to be called in the boot in which it was made:
/// nothing of it outlives one, and the numbers that identify it begin anew.
///
/// # Errors
/// When it is no device that is made here, it is not known whether it is the same, or it is in use.
pub fn remove_made(identity: &DeviceIdentity) -> Result<bool, TargetError> {
    match KINDS.iter().find(|kind| kind.has_made(identity)) {
        Some(kind) => kind.remove(identity),
        None => Err(TargetError::state(
            &identity.path,
            "not a device that fsarena makes, so it is left alone",
            "",
        )),
    }
}

/// Claims memory for a file system without a device; nothing is taken before it is mounted.
///
/// # Errors
/// None today; the signature is that of the other claims.
pub fn claim_memory(size_bytes: u64) -> Result<Claimed, TargetError> {
    let facts = [("in_memory", "true".to_owned()), ("size_bytes", size_bytes.to_string())];
    Ok(Claimed {
        held: Box::new(Nothing),
        target: TargetSpec::Memory { size_bytes },
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        notices: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
