//! brd: RAM disks of the kernel, `/dev/ram0` and so on
//! (Documentation/admin-guide/blockdev/ramdisk.rst).
//!
//! Their number and size are parameters of the module, so none can be made here: one is taken that
//! has the right size, that no process uses, and that holds nothing but zeros. When it is released
//! it is discarded (or zeroed), so that it is again as it was.
//!
//! A process that is killed leaves its contents behind. They are not removed later: the disk is not
//! ours, and whoever uses it since must not lose anything. The next claim passes it over and says
//! how to clear it.

use super::facts;
use super::kind::{Claimed, Held, Kind, Order, memory_device, missing, wrong_level};
use crate::TargetError;
use crate::device_lock::DeviceLock;
use crate::inventory::{Roots, identify, recheck};
use crate::{cache, ssd};
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::units::Bytes;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::{fs, io};

/// RAM disks.
pub(super) struct Brd;

impl Kind for Brd {
    fn name(&self) -> &'static str {
        "brd"
    }

    fn summary(&self) -> &'static str {
        "a RAM disk of the kernel that no process uses"
    }

    fn availability(&self, roots: &Roots, modules: &Path) -> Availability {
        if !numbers(&roots.sys).is_empty() {
            return Availability::Ready;
        }
        if fsarena_filesystems::has_module("brd", &roots.proc, modules) {
            return missing(
                "the module brd is not loaded (modprobe brd rd_nr=1 rd_size=KIB, with the size in \
                 KiB)",
            );
        }
        missing("this kernel has no brd (no /dev/ram0, and no module of that name)")
    }

    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        facts::memory_for(Path::new("/proc"), "brd", size_bytes)
    }

    fn claim(&self, level: &DeviceLevel, _: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let size_bytes = level.size_bytes().ok_or_else(|| wrong_level(level))?;
        let roots = Roots::default();
        let mut why_not = Vec::new();
        for number in numbers(&roots.sys) {
            match take(number, size_bytes, &roots) {
                Ok(held) => {
                    let identity = held.identity.clone();
                    let text = "brd is memory, not a disk";
                    return Ok(memory_device(Box::new(held), identity, "brd-memory", text));
                }
                Err(error) => why_not.push(error.to_string()),
            }
        }
        let kib = size_bytes >> 10;
        Err(TargetError::state(
            Path::new("brd"),
            format!("no RAM disk of {} is free: {}", Bytes(size_bytes), why_not.join("; ")),
            &format!(
                "blkdiscard one that is not needed, or load it anew: modprobe -r brd && modprobe \
                 brd rd_nr=1 rd_size={kib}"
            ),
        ))
    }
}

/// Numbers of the RAM disks that there are.
fn numbers(sys_root: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(sys_root.join("block")) else { return Vec::new() };
    let mut found: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("ram")?.parse().ok())
        .collect();
    found.sort_unstable();
    found
}

fn take(number: u32, size_bytes: u64, roots: &Roots) -> Result<HeldBrd, TargetError> {
    let path = roots.dev.join(format!("ram{number}"));
    let identity = identify(&path, roots)?;
    if identity.size_bytes != size_bytes {
        let problem = format!("has {}", Bytes(identity.size_bytes));
        return Err(TargetError::state(&path, problem, ""));
    }
    let lock = DeviceLock::take(&identity, roots)?;
    // With its openers: a virtual machine may have it without holding it.
    let file = recheck(&identity, roots)?;
    let zeros = all_zero(&file, size_bytes).map_err(|e| TargetError::io("read", &path, e))?;
    drop(file);
    cache::flush_device(&path)?;
    if !zeros {
        return Err(TargetError::state(&path, "holds something", ""));
    }
    Ok(HeldBrd { identity, lock: Some(lock), kept: false })
}

fn all_zero(file: &fs::File, size_bytes: u64) -> io::Result<bool> {
    let mut buffer = vec![0_u8; 1 << 20];
    let mut at = 0;
    while at < size_bytes {
        let length = usize::try_from(size_bytes - at).unwrap_or(buffer.len()).min(buffer.len());
        file.read_exact_at(&mut buffer[..length], at)?;
        if buffer[..length].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += length as u64;
    }
    Ok(true)
}

/// A RAM disk that was taken.
#[derive(Debug)]
struct HeldBrd {
    identity: DeviceIdentity,
    lock: Option<DeviceLock>,
    kept: bool,
}

impl Held for HeldBrd {
    fn keep(&mut self) {
        self.kept = true;
    }

    fn release(&mut self) -> Vec<TargetError> {
        let Some(lock) = self.lock.take() else { return Vec::new() };
        let result = if self.kept { Ok(()) } else { erase(&self.identity) };
        drop(lock);
        result.err().into_iter().collect()
    }
}

/// Gives the memory back: by a discard, or, before Linux 6.7, where brd has none, only its
/// contents.
fn erase(identity: &DeviceIdentity) -> Result<(), TargetError> {
    let path = &identity.path;
    let file = recheck(identity, &Roots::default())?;
    let mut go_on = |_| ControlFlow::Continue(());
    if ssd::discard(&file, path, identity.size_bytes, &mut go_on).is_err() {
        let zeros = vec![0_u8; 1 << 20];
        let mut at = 0;
        while at < identity.size_bytes {
            let left = identity.size_bytes - at;
            let length = usize::try_from(left).unwrap_or(zeros.len()).min(zeros.len());
            file.write_all_at(&zeros[..length], at)
                .map_err(|error| TargetError::io("write zeros to", path, error))?;
            at += length as u64;
        }
    }
    drop(file);
    cache::flush_device(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ram_disks_are_counted_and_contents_are_seen() {
        let root = tempfile::tempdir().unwrap();
        assert!(numbers(root.path()).is_empty());
        for name in ["ram10", "ram2", "zram0", "ramX"] {
            fs::create_dir_all(root.path().join("block").join(name)).unwrap();
        }
        assert_eq!(numbers(root.path()), [2, 10]);
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 << 20).unwrap();
        assert!(all_zero(&file, 3 << 20).unwrap());
        assert!(all_zero(&file, 4 << 20).is_err(), "shorter than it shall be");
        file.write_all_at(&[1], (3 << 20) - 1).unwrap();
        assert!(!all_zero(&file, 3 << 20).unwrap());
    }
}
