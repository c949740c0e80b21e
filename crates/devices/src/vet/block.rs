//! Whether a block device may be written over: who uses it, what is on it, and what the user
//! gave up.
//!
//! Refusals come in this order: what can never be a target, what is in use, what cannot be known,
//! and at last what consent is missing. Consent helps against the last alone. Vetting holds the
//! device exclusively while it looks, for reading, and lets go of it at the end: mkfs runs in other
//! processes, which open it exclusively themselves and would be refused. What was vetted is written
//! down instead, and [`crate::inventory::recheck`] compares it before every wipe and mkfs.

use super::consent::WipeConsent;
use crate::device_lock;
use crate::inventory::{
    self, Allowed, BUSY_LIMIT, BlockDevice, Everything, Exclusive, Inventory, Roots, Usage,
};
use crate::{Refusal, TargetError};
use fsarena_model::device::DeviceIdentity;
use fsarena_process::cmd::SearchPath;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A block device that no process uses and whose contents the user gave up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VettedDevice {
    written: PathBuf,
    identity: DeviceIdentity,
    signatures: BTreeSet<String>,
}

impl VettedDevice {
    /// What it is known by, to be written down and compared before every mkfs.
    #[must_use]
    pub fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    /// The node that programs are given: the kernel's name, no link.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.identity.path
    }

    /// As the user wrote it.
    #[must_use]
    pub fn written(&self) -> &Path {
        &self.written
    }

    /// What lay on it and on its partitions and was given up, by name.
    #[must_use]
    pub fn signatures(&self) -> &BTreeSet<String> {
        &self.signatures
    }

    /// As [`inventory::recheck`], and what is on it is what was given up: for the first time that
    /// it is written. Later our own file systems lie on it.
    ///
    /// # Errors
    /// As [`inventory::recheck`], and where something else has come onto it.
    pub fn recheck(&self, roots: &Roots) -> Result<File, TargetError> {
        let held = inventory::recheck(&self.identity, roots)?;
        let path = self.path();
        let inventory = Inventory::read(roots).map_err(|error| inventory::unread(path, &error))?;
        let device = inventory.by_number(self.identity.number);
        let device = device.ok_or_else(|| Refusal::new(path, "is gone", "check the device"))?;
        let programs = SearchPath::from_env();
        let now = inventory::everything_on(&held, device, path, &inventory, &programs)?.words;
        if now == self.signatures {
            return Ok(held);
        }
        let reason = format!(
            "what is on it has changed: it was {} and is {}",
            listed(&self.signatures),
            listed(&now)
        );
        Err(Refusal::new(path, reason, "find out who wrote to it, and start again").into())
    }
}

/// Vets a block device: a path to it as the user wrote it, and what the user gave up.
/// `protected` are files and directories that must not lie on it, each with a name for people, such
/// as the database; the root directory is always among them.
///
/// # Errors
/// Says what is wrong and what to do; where consent is all that is missing, the exact option.
pub fn vet_block(
    written: &Path,
    consent: &[WipeConsent],
    protected: &[(&str, &Path)],
    roots: &Roots,
) -> Result<VettedDevice, Refusal> {
    let node = inventory::node(written)?;
    let unread = |error| inventory::unread(written, &error);
    let inventory = Inventory::read(roots).map_err(unread)?;
    let device = inventory::listed(written, &node, &inventory)?;
    let identity = inventory::identity_of(&node, device);
    if let Some((reason, remedy)) = device.impossible() {
        return Err(Refusal::new(written, reason, remedy));
    }
    let usage = Usage::read(roots, &inventory).map_err(unread)?;
    not_below(written, device, protected, &usage, &inventory)?;
    inventory::unused(written, &usage, &inventory, &device.name)?;
    if device_lock::is_locked(identity.number, roots) {
        let reason = "another run of fsarena works on it";
        return Err(Refusal::new(written, reason, "wait until it has ended"));
    }
    let held =
        inventory::open_exclusive(&identity.path, identity.number, Exclusive::Read, BUSY_LIMIT)
            .map_err(|not_held| Refusal { path: written.to_owned(), ..not_held.refusal })?;
    inventory::agrees(written, &held, &identity)?;
    inventory::not_open(written, identity.number, roots, Allowed::Own, BUSY_LIMIT)?;
    let programs = SearchPath::from_env();
    let found = inventory::everything_on(&held, device, &identity.path, &inventory, &programs)
        .map_err(|refusal| Refusal { path: written.to_owned(), ..refusal })?;
    given_up(written, identity.number, &found, consent)?;
    Ok(VettedDevice { written: written.to_owned(), identity, signatures: found.words })
}

/// What must stay does not lie on the device, however many layers are in between.
fn not_below(
    written: &Path,
    device: &BlockDevice,
    protected: &[(&str, &Path)],
    usage: &Usage,
    inventory: &Inventory,
) -> Result<(), Refusal> {
    let root = [("the root directory", Path::new("/"))];
    for (what, path) in root.iter().chain(protected) {
        if usage.below(inventory, path).contains(&device.name) {
            let reason = format!("{what} ({}) is on it", path.display());
            return Err(Refusal::new(written, reason, "name another device"));
        }
    }
    Ok(())
}

/// Exactly one consent leads to this device, and it names exactly what is there.
fn given_up(
    written: &Path,
    number: (u32, u32),
    everything: &Everything,
    consent: &[WipeConsent],
) -> Result<(), Refusal> {
    let found = &everything.words;
    let details = match &*everything.details {
        [] => String::new(),
        details => format!("; {}", details.join("; ")),
    };
    let exact = WipeConsent::option(written, found);
    let refuse = |reason: String, remedy: String| Err(Refusal::new(written, reason, remedy));
    let to_lose = format!("to lose all that is on it, say: {exact}");
    let leads_here = |consent: &&WipeConsent| {
        inventory::node(&consent.device).is_ok_and(|node| node.number == number)
    };
    let mut ours = consent.iter().filter(leads_here);
    let Some(given) = ours.next() else {
        let reason = match consent {
            [] => format!("its contents ({}) were not given up{details}", listed(found)),
            _ => format!(
                "its contents ({}) were not given up: --wipe is for others{details}",
                listed(found)
            ),
        };
        return refuse(reason, to_lose);
    };
    if ours.next().is_some() {
        return refuse("several --wipe lead to it".to_owned(), format!("say it once: {exact}"));
    }
    let named: BTreeSet<String> = given.signatures.iter().cloned().collect();
    let missing: BTreeSet<String> = found.difference(&named).cloned().collect();
    let absent: BTreeSet<String> = named.difference(found).cloned().collect();
    let mut problems = Vec::new();
    if !missing.is_empty() {
        problems.push(format!("--wipe does not name {}, which is on it", listed(&missing)));
    }
    if !absent.is_empty() {
        problems.push(format!("--wipe names {}, which is not there", listed(&absent)));
    }
    match problems.is_empty() {
        true => Ok(()),
        false => refuse(format!("{}{details}", problems.join(", and ")), to_lose),
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    match names.len() {
        0 => "nothing that has a signature".to_owned(),
        _ => names.iter().cloned().collect::<Vec<_>>().join(", "),
    }
}
