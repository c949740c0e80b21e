//! zram: compressed memory as a block device (Documentation/admin-guide/blockdev/zram.rst).
//!
//! A device of its own is made for each claim (`hot_add` gives its number), and never one taken
//! that is there. It has no name of ours; what identifies it is its number, its `diskseq`, which
//! the kernel never gives twice in a boot, and its size.
//!
//! A process that is killed leaves one of these behind:
//! * between `hot_add` and the journal: a device without a size. It takes no memory and holds
//!   nothing; no program knows that it is ours, so it stays until another program takes it, as
//!   every unused one (`zramctl --find`).
//! * after the journal: found again by [`crate::claim::remove_made`], with its size or still
//!   without it.
//!
//! Another program may take our device before it has its size. Then setting the size fails, and the
//! device is theirs. If we are killed at that moment and they chose the very size of ours, recovery
//! cannot tell; it still cannot remove what is open, mounted or swapped to.

use super::facts;
use super::kind::{
    Claimed, Held, Kind, Made, Order, memory_device, missing, wait_for_node, write_existing,
    wrong_level,
};
use crate::TargetError;
use crate::device_lock::DeviceLock;
use crate::inventory::{Roots, identify};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use rustix::fs::{Mode, OFlags, open};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SYS: &str = "/sys";
/// Limit for a device to become free.
const LIMIT: Duration = Duration::from_secs(5);
const PAGE_BYTES: u64 = 4096;

/// Compressed memory.
pub(super) struct Zram;

impl Kind for Zram {
    fn name(&self) -> &'static str {
        "zram"
    }

    fn summary(&self) -> &'static str {
        "compressed memory of the kernel"
    }

    fn availability(&self, roots: &Roots, modules: &Path) -> Availability {
        let hot_add = roots.sys.join("class/zram-control/hot_add");
        if hot_add.exists() {
            return Availability::Ready;
        }
        if fsarena_filesystems::has_module("zram", &roots.proc, modules) {
            return missing("the module zram is not loaded (modprobe zram num_devices=0)");
        }
        missing(format!("this kernel has no zram ({} is not there)", hot_add.display()))
    }

    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        facts::memory_for(Path::new("/proc"), "zram", size_bytes)
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        if size_bytes == 0 || !size_bytes.is_multiple_of(PAGE_BYTES) {
            let problem = format!("{size_bytes} bytes is not a whole number of pages");
            return Err(TargetError::state(Path::new("zram"), problem, "give it in whole MiB"));
        }
        let mut device = HeldZram::add()?;
        let mut identity = device.identify()?;
        identity.size_bytes = size_bytes;
        numbered(&identity)?;
        order.will_make(&identity.path, &Made::Device(identity.clone()))?;
        device.set_size(size_bytes)?;
        let now = device.identify()?;
        let differences = identity.differences(&now, true);
        if !differences.is_empty() {
            return Err(TargetError::state(
                &identity.path,
                format!("is not the device that was made: {}", differences.join("; ")),
                "see who else makes zram devices, and start again",
            ));
        }
        device.lock = Some(DeviceLock::take_new(&identity, &Roots::default())?);
        let text = "zram is memory, not a disk, and compresses what is written: contents that \
                    fsarena makes do not compress, so each page costs the attempt and is stored \
                    whole; metadata compresses";
        Ok(memory_device(Box::new(device), identity, "zram-memory", text))
    }

    fn has_made(&self, identity: &DeviceIdentity) -> bool {
        number_of(&identity.name).is_some()
    }

    fn remove(&self, identity: &DeviceIdentity) -> Result<bool, TargetError> {
        remove(Path::new(SYS), identity)
    }
}

/// Without a number of its medium a device could not be recognised later, neither before mkfs nor
/// to be removed. It is not written down then, and goes with the claim that fails.
fn numbered(identity: &DeviceIdentity) -> Result<(), TargetError> {
    if identity.diskseq.is_some() {
        return Ok(());
    }
    Err(TargetError::state(
        &identity.path,
        "this kernel does not number media (diskseq), so a zram device of ours could not be told \
         from another",
        "use Linux 5.15 or later, or --on ram:SIZE",
    ))
}

/// The number behind `zram3`.
fn number_of(name: &str) -> Option<u32> {
    name.strip_prefix("zram")?.parse().ok()
}

/// A device that was made.
#[derive(Debug)]
struct HeldZram {
    number: u32,
    /// Open, so that no other process resets it.
    file: Option<File>,
    state: State,
    lock: Option<DeviceLock>,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Made, without a size.
    Empty,
    /// It has the size that we have set.
    Sized,
    /// Removed, kept, or somebody else's.
    LetGo,
}

impl HeldZram {
    fn add() -> Result<Self, TargetError> {
        let path = Path::new(SYS).join("class/zram-control/hot_add");
        let text = fs::read_to_string(&path)
            .map_err(|error| TargetError::io("make a device by reading", &path, error))?;
        let number = text.trim().parse().map_err(|_| {
            TargetError::state(&path, format!("{:?} is no number of a device", text.trim()), "")
        })?;
        let this = Self { number, file: None, state: State::Empty, lock: None };
        wait_for_node(&this.node())?;
        Ok(this)
    }

    fn node(&self) -> PathBuf {
        Path::new("/dev").join(format!("zram{}", self.number))
    }

    fn block(&self) -> PathBuf {
        Path::new(SYS).join("block").join(format!("zram{}", self.number))
    }

    fn identify(&self) -> Result<DeviceIdentity, TargetError> {
        identify(&self.node(), &Roots::default())
    }

    /// Fails where somebody else was faster; the device is theirs then.
    fn set_size(&mut self, bytes: u64) -> Result<(), TargetError> {
        let file = self.block().join("disksize");
        if let Err(error) = fs::write(&file, bytes.to_string()) {
            if error.raw_os_error() == Some(libc::EBUSY) {
                self.state = State::LetGo;
            }
            return Err(TargetError::io("write", &file, error));
        }
        self.state = State::Sized;
        // A device of bios counts its requests only where it is told to.
        let counting = self.block().join("queue/iostats");
        fs::write(&counting, "1").map_err(|error| TargetError::io("write", &counting, error))?;
        let node = self.node();
        let opened = open(&node, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        self.file = Some(opened.map_err(|error| TargetError::io("open", &node, error))?.into());
        Ok(())
    }
}

impl Held for HeldZram {
    fn keep(&mut self) {
        self.state = State::LetGo;
    }

    fn release(&mut self) -> Vec<TargetError> {
        self.file = None;
        self.lock = None;
        let state = std::mem::replace(&mut self.state, State::LetGo);
        let result = match state {
            State::LetGo => Ok(()),
            State::Empty if disk_size(&self.block()) != Some(0) => Ok(()),
            State::Empty | State::Sized => take_away(Path::new(SYS), self.number),
        };
        result.err().into_iter().collect()
    }
}

impl Drop for HeldZram {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

fn disk_size(block: &Path) -> Option<u64> {
    fs::read_to_string(block.join("disksize")).ok()?.trim().parse().ok()
}

/// Resets the device, which the kernel refuses while it is open or mounted, and removes it.
fn take_away(sys_root: &Path, number: u32) -> Result<(), TargetError> {
    let block = sys_root.join("block").join(format!("zram{number}"));
    when_free(&block.join("reset"), "1")?;
    when_free(&sys_root.join("class/zram-control/hot_remove"), &number.to_string())
}

/// Writes as soon as the device is not busy: udev looks into every device that was closed.
fn when_free(file: &Path, text: &str) -> Result<(), TargetError> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match write_existing(file, text) {
            Ok(()) => return Ok(()),
            Err(error)
                if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(TargetError::io("write", file, error)),
        }
    }
}

/// Removes the device of this identity, where it is still that one.
fn remove(sys_root: &Path, identity: &DeviceIdentity) -> Result<bool, TargetError> {
    let Some(number) = number_of(&identity.name) else { return Ok(false) };
    let block = sys_root.join("block").join(&identity.name);
    if !block.exists() {
        return Ok(false);
    }
    let sequence = fs::read_to_string(block.join("diskseq"))
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    let (Some(was), Some(is)) = (identity.diskseq, sequence) else {
        return Err(TargetError::state(
            &identity.path,
            "this kernel does not number media (diskseq), so it is not known to be ours",
            &format!("if it is not used: echo {number} > /sys/class/zram-control/hot_remove"),
        ));
    };
    let size = disk_size(&block).unwrap_or(u64::MAX);
    // Another device, or another program has given it a size before we did.
    if was != is || (size != 0 && size != identity.size_bytes) {
        return Ok(false);
    }
    take_away(sys_root, number).map(|()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(diskseq: &str, disksize: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let block = root.path().join("block/zram3");
        fs::create_dir_all(&block).unwrap();
        fs::create_dir_all(root.path().join("class/zram-control")).unwrap();
        for (file, text) in [("diskseq", diskseq), ("disksize", disksize), ("reset", "")] {
            fs::write(block.join(file), text).unwrap();
        }
        fs::write(root.path().join("class/zram-control/hot_remove"), "").unwrap();
        root
    }

    fn ours() -> DeviceIdentity {
        DeviceIdentity {
            path: "/dev/zram3".into(),
            name: "zram3".to_owned(),
            number: (253, 3),
            size_bytes: 1 << 20,
            diskseq: Some(7),
            hardware: std::collections::BTreeMap::new(),
        }
    }

    fn removed(root: &Path) -> String {
        fs::read_to_string(root.join("class/zram-control/hot_remove")).unwrap()
    }

    #[test]
    fn a_device_of_a_dead_run_is_removed_with_and_without_its_size() {
        for size in ["1048576\n", "0\n"] {
            let root = fake("7\n", size);
            assert!(remove(root.path(), &ours()).unwrap());
            assert_eq!(removed(root.path()), "3");
            assert_eq!(fs::read_to_string(root.path().join("block/zram3/reset")).unwrap(), "1");
            fs::remove_dir_all(root.path().join("block/zram3")).unwrap();
            assert!(!remove(root.path(), &ours()).unwrap(), "a second time it is gone");
        }
    }

    #[test]
    fn another_device_of_that_number_stays() {
        for (diskseq, size) in [("8", "1048576"), ("8", "0"), ("7", "2097152"), ("7", "?")] {
            let root = fake(diskseq, size);
            assert!(!remove(root.path(), &ours()).unwrap(), "{diskseq} {size}");
            assert_eq!(removed(root.path()), "");
        }
        let root = fake("", "1048576");
        assert!(remove(root.path(), &ours()).unwrap_err().to_string().contains("diskseq"));
        let unknown = DeviceIdentity { diskseq: None, ..ours() };
        assert!(remove(fake("7", "0").path(), &unknown).is_err());
        let refusal = numbered(&unknown).unwrap_err();
        assert!(refusal.to_string().contains("diskseq"), "{refusal}");
        assert!(refusal.remedy().unwrap().contains("5.15"), "{refusal}");
        numbered(&ours()).unwrap();
        let other = DeviceIdentity { name: "sda".to_owned(), ..ours() };
        assert!(!Zram.has_made(&other));
    }
}
