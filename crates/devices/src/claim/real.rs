//! Block devices of the user's, vetted and given up by them.
//!
//! Nothing is written when one is claimed: an image is written over so that each mkfs gets the same
//! sectors, and here they are the user's real ones. What state its flash is in is the business of
//! [`crate::ssd`]. Released, it stays as the last trial has left it.

use super::facts;
use super::kind::{Claimed, Held, Kind, Order, wrong_level};
use crate::TargetError;
use crate::device_lock::DeviceLock;
use crate::inventory::{Roots, block_number};
use crate::{mountinfo, queue};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::spec::{TargetSpec, Under};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A real block device.
pub(super) struct Real;

impl Kind for Real {
    fn name(&self) -> &'static str {
        "block"
    }

    fn summary(&self) -> &'static str {
        "a block device of yours, whose contents are lost (--wipe)"
    }

    /// Whether it may be used is for [`crate::vet`] to say.
    fn availability(&self, _roots: &Roots, _modules: &Path) -> Availability {
        Availability::Ready
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let DeviceLevel::Block { path, size_bytes } = level else {
            return Err(wrong_level(level));
        };
        let vetted = order.vetted.iter().find(|vetted| vetted.written() == path);
        let Some(vetted) = vetted else {
            let problem = "not vetted, so it is not touched";
            return Err(TargetError::state(path, problem, "name it with --wipe"));
        };
        let identity = vetted.identity().clone();
        if identity.size_bytes != *size_bytes {
            let is = identity.size_bytes;
            return Err(TargetError::state(
                path,
                format!("it has {is} bytes, and the experiment was planned for {size_bytes}"),
                "start the run again",
            ));
        }
        let roots = Roots::default();
        let lock = DeviceLock::take(&identity, &roots)?;
        // It may be long ago that it was vetted.
        drop(vetted.recheck(&roots)?);
        let backing_file = backing_file(&identity);
        let in_memory = in_memory(&identity, backing_file.as_deref());
        Ok(Claimed {
            held: Box::new(HeldDeviceLock(Some(lock))),
            facts: facts_of(&roots.sys, &identity, backing_file.as_deref(), in_memory),
            notices: Vec::new(),
            target: TargetSpec::Block {
                device: identity.path.clone(),
                size_bytes: identity.size_bytes,
                in_memory,
                under: Under::Real {
                    identity,
                    signatures: vetted.signatures().iter().cloned().collect(),
                    backing_file,
                },
                members: Vec::new(),
            },
        })
    }
}

/// What a loop device of the user's lies over, while it has its name.
fn backing_file(identity: &DeviceIdentity) -> Option<PathBuf> {
    let path = PathBuf::from(identity.hardware.get("backing_file")?);
    // The kernel's name of a file may be that of another mount namespace, or of a file that has
    // lost its name.
    path.is_absolute().then_some(path).filter(|path| path.exists())
}

/// A memory device that the user has made, or a loop device over a file in memory.
fn in_memory(identity: &DeviceIdentity, backing_file: Option<&Path>) -> bool {
    let Some(file) = backing_file else { return MemoryDevice::is_disk(&identity.name) };
    if block_number(file).is_some() {
        return file.file_name().is_some_and(|name| MemoryDevice::is_disk(&name.to_string_lossy()));
    }
    let entry = mountinfo::find_for_path(file).ok().flatten();
    entry.is_some_and(|entry| matches!(entry.fstype.as_str(), "tmpfs" | "ramfs"))
}

/// What the hardware and the queue say, plainly: what is shown of it is for reports to decide.
fn facts_of(
    sys_root: &Path,
    identity: &DeviceIdentity,
    backing_file: Option<&Path>,
    in_memory: bool,
) -> BTreeMap<String, String> {
    let mut facts = facts::of_queue(sys_root, &identity.name);
    facts.extend(identity.hardware.clone());
    if let Some(file) = backing_file.filter(|file| block_number(file).is_none()) {
        facts::of_backing(file, &mut facts);
    }
    let dio = queue::disk(sys_root, &identity.name).join("loop/dio");
    if let Ok(text) = std::fs::read_to_string(dio) {
        facts.insert("direct_io".to_owned(), (text.trim() == "1").to_string());
    }
    facts.insert("in_memory".to_owned(), in_memory.to_string());
    facts.insert("size_bytes".to_owned(), identity.size_bytes.to_string());
    facts
}

#[derive(Debug)]
struct HeldDeviceLock(Option<DeviceLock>);

impl Held for HeldDeviceLock {
    fn keep(&mut self) {}

    fn release(&mut self) -> Vec<TargetError> {
        self.0 = None;
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_partition_has_the_facts_of_its_disk_and_its_own() {
        let root = tempfile::tempdir().unwrap();
        let sda = root.path().join("block/sda");
        fs::create_dir_all(sda.join("queue")).unwrap();
        fs::create_dir_all(sda.join("sda1")).unwrap();
        fs::create_dir_all(root.path().join("class/block")).unwrap();
        fs::write(sda.join("queue/scheduler"), "none [bfq]\n").unwrap();
        fs::write(sda.join("queue/rotational"), "1\n").unwrap();
        fs::write(sda.join("sda1/partition"), "1\n").unwrap();
        let link = root.path().join("class/block/sda1");
        std::os::unix::fs::symlink("../../block/sda/sda1", link).unwrap();
        let identity = DeviceIdentity {
            path: "/dev/sda1".into(),
            name: "sda1".to_owned(),
            number: (8, 1),
            size_bytes: 1 << 30,
            diskseq: Some(1),
            hardware: [("serial", "S1"), ("model", "M")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        };
        let in_memory = in_memory(&identity, None);
        let facts = facts_of(root.path(), &identity, None, in_memory);
        for (name, value) in [
            ("scheduler", "bfq"),
            ("rotational", "1"),
            ("serial", "S1"),
            ("model", "M"),
            ("in_memory", "false"),
            ("size_bytes", "1073741824"),
        ] {
            assert_eq!(facts.get(name).map(String::as_str), Some(value), "{name}");
        }
    }
}
