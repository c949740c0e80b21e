//! What the file systems accept, for the plan: a thin way from `plan` to the drivers in
//! `filesystems`.

use fsarena_devices::inventory::{self, Inventory, Roots};
use fsarena_devices::loopdev::LOOP_SECTOR_BYTES;
use fsarena_filesystems::Kernel;
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use fsarena_plan::Rules;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The rules of the drivers of this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverRules;

impl Rules for DriverRules {
    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), String> {
        let driver = fsarena_filesystems::driver(level).map_err(|error| error.to_string())?;
        let kernel = Kernel::running(Path::new("/proc"));
        driver
            .check(level, device_bytes)
            .and_then(|()| driver.kernel_takes(level, &kernel))
            .map_err(|error| error.to_string())
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        fsarena_filesystems::driver(level).ok()?.capacity(level, device_bytes)
    }

    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>> {
        let is_block = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device());
        is_block.then(|| {
            let identity = inventory::identify(path, &Roots::default());
            identity.map(|device| device.size_bytes).map_err(|error| error.to_string())
        })
    }

    fn logical_sector_bytes(&self, device: &DeviceLevel) -> Option<u64> {
        match device {
            DeviceLevel::Loop { .. } | DeviceLevel::Ram { .. } => Some(LOOP_SECTOR_BYTES.into()),
            DeviceLevel::Block { path, .. } => {
                let roots = Roots::default();
                let name = inventory::identify(path, &roots).ok()?.name;
                Inventory::read(&roots).ok()?.get(&name)?.logical_sector_bytes
            }
            // Those of the kernel say it when they are there.
            _ => None,
        }
    }

    fn free_bytes(&self, directory: &Path) -> Option<u64> {
        let stat = rustix::fs::statvfs(directory).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}
