//! A device watched while another application uses it: found below what the user names, read every
//! so often, shown live in a terminal, and recorded as a RUN of its own kind.
//!
//! Nothing is written to what is watched, and nothing is opened but counters. Figures of each
//! stretch come from `fsarena-study`; here they are laid out and kept. Samples go into a
//! [`journal`] as they come, so that a watch that is killed loses none; whoever opens the database
//! next makes its record of that. This crate draws into the terminal it is given and prints
//! nothing itself; it does not know the database.
#![forbid(unsafe_code)]

pub mod journal;
mod line;
mod lines;
mod record;
mod screen;
mod state;
mod target;
mod view;
mod watcher;

pub use lines::{head_line, json_line, plain_line};
pub use record::{EXPERIMENT, Terms, WatchSession, cut_short, header, record, standing};
pub use screen::{Key, Screen, Woken, key};
pub use state::State;
pub use target::{WatchError, WatchTarget, find};
pub use view::Theme;
pub use watcher::{EVERY_MAX_NS, EVERY_MIN_NS, Tick, Watcher};

use fsarena_metrics::KernelRoots;
use std::fs;
use std::path::PathBuf;

/// Kernel sectors of `size`, whatever the device's own are (Documentation/ABI/stable/sysfs-block).
const SECTOR_BYTES: u64 = 512;

/// Whether the device is still the one that the watch began with.
///
/// A loop device that was detached keeps its directory in sysfs and its counters, and so does a
/// drive whose medium was taken out: only size and number of the medium tell. A disk that is
/// unplugged takes its directory with it.
#[derive(Debug)]
pub(crate) struct DevicePresence {
    name: String,
    size_file: PathBuf,
    diskseq_file: PathBuf,
    size_bytes: u64,
    diskseq: Option<u64>,
}

impl DevicePresence {
    pub(crate) fn new(roots: &KernelRoots, target: &WatchTarget) -> Self {
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
