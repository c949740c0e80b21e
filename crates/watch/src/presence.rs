//! Whether the device is still the one that the watch began with.
//!
//! A loop device that was detached keeps its directory in sysfs and its counters, and so does a
//! drive whose medium was taken out: only size and number of the medium tell. A disk that is
//! unplugged takes its directory with it.

use crate::target::WatchTarget;
use fsarena_metrics::Roots;
use std::fs;
use std::path::PathBuf;

/// Kernel sectors of `size`, whatever the device's own are (Documentation/ABI/stable/sysfs-block).
const SECTOR_BYTES: u64 = 512;

/// What the device was when the watch began.
#[derive(Debug)]
pub(crate) struct DevicePresence {
    name: String,
    size_file: PathBuf,
    diskseq_file: PathBuf,
    size_bytes: u64,
    diskseq: Option<u64>,
}

impl DevicePresence {
    pub(crate) fn new(roots: &Roots, target: &WatchTarget) -> Self {
        let dir = roots.sys.join("class/block").join(&target.name);
        // A tree of a test may have no class.
        let dir = if dir.exists() { dir } else { roots.sys.join("block").join(&target.name) };
        Self {
            name: target.name.clone(),
            size_file: dir.join("size"),
            diskseq_file: dir.join("diskseq"),
            size_bytes: target.size_bytes,
            diskseq: number(&dir.join("diskseq")),
        }
    }

    /// What has become of it, in words; `None` where it is there as it was.
    pub(crate) fn gone(&self) -> Option<String> {
        let name = &self.name;
        let Some(sectors) = number(&self.size_file) else {
            return Some(format!("{name} disappeared: the kernel does not list it any more"));
        };
        let size_bytes = sectors.saturating_mul(SECTOR_BYTES);
        if size_bytes == 0 {
            return Some(format!("{name} disappeared: it has no medium any more (its size is 0)"));
        }
        if number(&self.diskseq_file) != self.diskseq {
            return Some(format!("{name} disappeared: another medium is there under its name"));
        }
        let before = self.size_bytes;
        (size_bytes < before).then(|| {
            format!("{name} disappeared: it has shrunk from {before} to {size_bytes} bytes")
        })
    }
}

fn number(file: &std::path::Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}
