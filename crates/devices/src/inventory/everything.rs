//! All that has to be given up on a device: live signatures, and where none says what the contents
//! are, copies of signatures and contents that nothing explains.

use super::backup::{self, SignatureCopy};
use super::contents::{self, Extent};
use super::listing::{BlockDevice, Inventory};
use super::signature::{open_to_look, signatures};
use crate::Refusal;
use fsarena_process::cmd::SearchPath;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// The word for contents that no signature explains.
pub(crate) const UNKNOWN: &str = "unknown";

/// Signatures that say where partitions lie, and nothing of what is in them.
const TABLES: [&str; 8] = ["PMBR", "atari", "bsd", "dos", "gpt", "mac", "sgi", "sun"];

/// What is on a device and its partitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Everything {
    /// What has to be named by `--wipe`.
    pub words: BTreeSet<String>,
    /// Each copy and what is unknown, with its place, for people.
    pub details: Vec<String>,
}

/// Looks at a device and at all its partitions: who gives up a disk gives them up with it. `held`
/// is the device.
///
/// Copies are looked for unless a live signature is that of a file system or a member of
/// something: each mkfs leaves copies of what lay there before. Contents are sampled unless a
/// signature explains them; those of partitions that the kernel knows are looked at there.
///
/// # Errors
/// As [`super::signature::signatures`], and where a place cannot be read or a partition cannot be
/// opened.
pub(crate) fn everything_on(
    held: &File,
    device: &BlockDevice,
    path: &Path,
    inventory: &Inventory,
    programs: &SearchPath,
) -> Result<Everything, Refusal> {
    let mut everything = Everything::default();
    let parts: Vec<&BlockDevice> =
        device.partitions.iter().filter_map(|name| inventory.get(name)).collect();
    let names = signatures(held, path, device.size_bytes, programs)?;
    everything.add(held, path, device.size_bytes, names, parts.is_empty())?;
    for part in parts {
        let file = open_to_look(part)?;
        let names = signatures(&file, &part.path, part.size_bytes, programs)?;
        everything.add(&file, &part.path, part.size_bytes, names, part.partitions.is_empty())?;
    }
    Ok(everything)
}

impl Everything {
    /// Takes in one device or partition, on which these signatures are.
    fn add(
        &mut self,
        file: &File,
        path: &Path,
        size_bytes: u64,
        names: BTreeSet<String>,
        has_no_parts: bool,
    ) -> Result<(), Refusal> {
        let unread = |error: std::io::Error| {
            let reason = format!("what is on it is not known: {error}");
            Refusal::new(path, reason, "check the device and the kernel's log")
        };
        let is_table = !names.is_empty() && names.iter().all(|name| TABLES.contains(&&**name));
        if names.is_empty() || is_table {
            for copy in backup::find_copies(file, size_bytes).map_err(unread)? {
                if !names.contains(copy.name) {
                    self.details.push(described(path, &copy));
                    self.words.insert(copy.name.to_owned());
                }
            }
        }
        let extent = match (names.is_empty(), is_table && has_no_parts) {
            (true, _) => Some(Extent::Whole),
            (false, true) => Some(Extent::BetweenTables),
            (false, false) => None,
        };
        let first = extent.map(|extent| contents::first_unknown(file, size_bytes, extent));
        if let Some(at_byte) = first.transpose().map_err(unread)?.flatten() {
            self.words.insert(UNKNOWN.to_owned());
            self.details.push(format!(
                "{}: contents that no signature explains, at byte {at_byte}: data without a file \
                 system, such as an archive, encrypted data, or what remains of a file system \
                 (file -s may tell what)",
                path.display()
            ));
        }
        self.words.extend(names);
        Ok(())
    }
}

fn described(path: &Path, copy: &SignatureCopy) -> String {
    let SignatureCopy { name, at_byte, what, rescue } = copy;
    let path = path.display();
    format!("{path}: {name}: {what}, at byte {at_byte} (rescue: {rescue})")
}
