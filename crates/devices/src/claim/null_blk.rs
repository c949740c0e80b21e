//! null_blk with memory behind it (Documentation/block/null_blk.rst): answers at once.
//!
//! A device of its own is made for each claim, by a directory of our name in configfs, and removed
//! with it. The name is known before the device is, so that it is written down before it is made,
//! and a dead run's device is recognised by its name alone.

use super::facts;
use super::kind::{
    Claimed, Held, Kind, Made, Order, memory_device, missing, our_name, wait_for_node,
    write_existing, wrong_level,
};
use crate::TargetError;
use crate::inventory::{Roots, identify};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Directory of the devices in configfs.
const CONFIG: &str = "kernel/config/nullb";
/// Longest name of a disk in the kernel (`DISK_NAME_LEN` less the end).
const NAME_MAX: usize = 31;
/// Stands in the identity of what is not there yet.
const MADE_BY: (&str, &str) = ("made_by", "null_blk");

/// Devices that answer at once.
pub(super) struct NullBlk;

impl Kind for NullBlk {
    fn name(&self) -> &'static str {
        "null-blk"
    }

    fn summary(&self) -> &'static str {
        "memory behind the kernel's null_blk, which answers at once"
    }

    fn availability(&self, roots: &Roots, modules: &Path) -> Availability {
        if roots.sys.join(CONFIG).is_dir() {
            return Availability::Ready;
        }
        if roots.sys.join("module/null_blk").is_dir() {
            let config = roots.sys.join("kernel/config");
            return missing(format!(
                "null_blk cannot be configured (mount -t configfs none {})",
                config.display()
            ));
        }
        if fsarena_filesystems::has_module("null_blk", &roots.proc, modules) {
            return missing("the module null_blk is not loaded (modprobe null_blk nr_devices=0)");
        }
        missing("this kernel has no null_blk (not in configfs, and no module of that name)")
    }

    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        facts::memory_for(Path::new("/proc"), "null-blk", size_bytes)
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        if size_bytes == 0 || !size_bytes.is_multiple_of(1 << 20) {
            let problem = format!("{size_bytes} bytes is not a whole number of MiB");
            return Err(TargetError::state(Path::new("null-blk"), problem, "give it in MiB"));
        }
        let roots = Roots::default();
        let name = short_name(order.name);
        our_name(Path::new("null-blk"), &name)?;
        let planned = planned(&name, size_bytes);
        order.will_make(&planned.path, &Made::Device(planned.clone()))?;
        let mut held = HeldNullBlk { config: Some(roots.sys.join(CONFIG).join(&name)) };
        held.make(size_bytes)?;
        let node = held.node(&roots, &name)?;
        let identity = identify(&node, &roots)?;
        let text = "null_blk is memory that answers at once, not a disk: it shows what the file \
                    system and the block layer cost, and nothing of any disk";
        Ok(memory_device(Box::new(held), identity, "null-blk-memory", text))
    }

    fn has_made(&self, identity: &DeviceIdentity) -> bool {
        identity.hardware.get(MADE_BY.0).is_some_and(|by| by == MADE_BY.1)
    }

    fn remove(&self, identity: &DeviceIdentity) -> Result<bool, TargetError> {
        our_name(&identity.path, &identity.name)?;
        remove(&Path::new("/sys").join(CONFIG).join(&identity.name))
    }
}

/// A name that the kernel takes for a disk.
fn short_name(name: &str) -> String {
    if name.len() <= NAME_MAX {
        return name.to_owned();
    }
    // FNV-1a: only distinctness matters here.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("fsarena-{hash:016x}")
}

/// What is known of it before it is made, and enough to remove it.
fn planned(name: &str, size_bytes: u64) -> DeviceIdentity {
    DeviceIdentity {
        path: Path::new("/dev").join(name),
        name: name.to_owned(),
        number: (0, 0),
        size_bytes,
        diskseq: None,
        hardware: BTreeMap::from([(MADE_BY.0.to_owned(), MADE_BY.1.to_owned())]),
    }
}

/// A device that was made.
#[derive(Debug)]
struct HeldNullBlk {
    config: Option<PathBuf>,
}

impl HeldNullBlk {
    fn make(&mut self, size_bytes: u64) -> Result<(), TargetError> {
        let Some(config) = self.config.clone() else { return Ok(()) };
        if let Err(error) = fs::create_dir(&config) {
            // It is not ours.
            self.config = None;
            return Err(TargetError::io("mkdir", &config, error));
        }
        // Older kernels have no discard here.
        let _ = write_existing(&config.join("discard"), "1");
        let mib = (size_bytes >> 20).to_string();
        for (file, text) in [("size", &*mib), ("blocksize", "512"), ("memory_backed", "1")] {
            let file = config.join(file);
            write_existing(&file, text).map_err(|error| TargetError::io("write", &file, error))?;
        }
        let power = config.join("power");
        write_existing(&power, "1").map_err(|error| TargetError::io("write", &power, error))
    }

    /// The node: of our name, or, before Linux 6.0, of its number.
    fn node(&self, roots: &Roots, name: &str) -> Result<PathBuf, TargetError> {
        let config = self.config.clone().unwrap_or_default();
        let index = fs::read_to_string(config.join("index")).unwrap_or_default();
        let numbered = format!("nullb{}", index.trim());
        let disk = [name, &numbered]
            .into_iter()
            .find(|disk| roots.sys.join("block").join(disk).exists())
            .ok_or_else(|| TargetError::state(&config, "has made no disk", ""))?;
        let node = roots.dev.join(disk);
        wait_for_node(&node)?;
        Ok(node)
    }
}

impl Held for HeldNullBlk {
    fn keep(&mut self) {
        self.config = None;
    }

    fn release(&mut self) -> Vec<TargetError> {
        let Some(config) = self.config.take() else { return Vec::new() };
        remove(&config).err().into_iter().collect()
    }
}

impl Drop for HeldNullBlk {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

/// Switches the device off and removes it; true where it was there.
fn remove(config: &Path) -> Result<bool, TargetError> {
    if !config.is_dir() {
        return Ok(false);
    }
    let power = config.join("power");
    write_existing(&power, "0").map_err(|error| TargetError::io("write", &power, error))?;
    fs::remove_dir(config).map_err(|error| TargetError::io("rmdir", config, error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_kernel_and_stay_ours() {
        assert_eq!(short_name("fsarena-a-0"), "fsarena-a-0");
        let long = short_name(&format!("fsarena-{}-1", "x".repeat(40)));
        assert!(long.starts_with("fsarena-") && long.len() <= NAME_MAX, "{long}");
        assert_ne!(long, short_name(&format!("fsarena-{}-2", "x".repeat(40))));
        let identity = planned(&long, 1 << 20);
        assert!(NullBlk.has_made(&identity));
        let theirs = DeviceIdentity { name: "nullb0".to_owned(), ..identity };
        assert!(NullBlk.remove(&theirs).unwrap_err().to_string().contains("not a name of ours"));
    }

    #[test]
    fn a_device_that_is_gone_needs_nothing_and_another_of_that_name_is_not_touched() {
        let root = tempfile::tempdir().unwrap();
        let config = root.path().join("fsarena-x");
        assert!(!remove(&config).unwrap());
        fs::create_dir(&config).unwrap();
        let mut held = HeldNullBlk { config: Some(config.clone()) };
        assert_eq!(held.make(1 << 20).unwrap_err().errno(), Some(libc::EEXIST));
        assert!(held.release().is_empty() && config.is_dir());
    }
}
