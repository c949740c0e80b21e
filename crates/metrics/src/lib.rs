//! Kernel counters, a sampler that knows its own cost, and facts about the host.
//!
//! Everything is read from the kernel's text files below [`KernelRoots`], so that a kernel that is
//! not at hand becomes a directory of files in a test. One module reads one source; the line in
//! `sources` that registers it is the only other place that knows it.
//!
//! Two rules hold everywhere. **Missing is a value:** a file, line or field that this kernel does
//! not have gives `None`, because kernels differ. **Malformed is an error** that names path, line
//! and item, because silence about it would be a wrong number later. A file that is not there is no
//! error.
//!
//! This crate only reads. It must not derive rates or percentages (they are computed from stored
//! records), write to any kernel file, or start a process. [`disturb`] alone judges; it is pure.
#![expect(unsafe_code, reason = "pinning memory of the sampler")]

mod block;
mod cgroup;
pub mod disturb;
mod facts;
mod kernel_threads;
mod keyed;
mod load;
mod network;
mod nfs;
mod read_file;
mod sampler;
mod samples;
mod source;
mod sources;
mod stat;
mod thermal;
mod wall;
mod window;
mod worker;

pub use block::{BlockStat, block_stat};
pub use facts::{available_bytes, frequency_khz, host, processors};
pub use facts::{boot_id, page_reporting_active, process_start_ticks};
pub use kernel_threads::KernelThreads;
pub use load::{Load, load_and_pressure};
pub use nfs::{counters_growth, nfs_counters};
pub use sampler::{Sampler, next_deadline};
pub use samples::{SAMPLES_MAX, Samples, series};
pub use source::{Decrease, Kind, Metric};
pub use source::{KernelRoots, Watch};
pub use sources::{
    CacheDrops, Snapshot, Sources, catalog, monotonic_ns, process_cpu_ns, realtime_ns,
    thread_cpu_ns,
};
pub use thermal::Thermal;
pub use wall::WallClock;
pub use window::delta;

use std::io;
use std::path::PathBuf;

/// What went wrong while reading counters. A file that is not there is no error.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// A file is there, and could not be opened or read.
    #[error("{}: cannot read it: {source}", path.display())]
    Read {
        /// File.
        path: PathBuf,
        source: io::Error,
    },
    /// A file does not have the form that the kernel documents.
    #[error("{}:{malformed}", path.display())]
    Malformed {
        /// File.
        path: PathBuf,
        malformed: Malformed,
    },
    /// The block device has no counters.
    #[error("{}: no such file; is {device} a block device of this machine?", path.display())]
    NoDevice {
        device: String,
        /// File looked for.
        path: PathBuf,
    },
    /// The block device does not count.
    #[error("{device} does not count its requests; switch it on: echo 1 > {}", path.display())]
    CountingOff { device: String, path: PathBuf },
    /// The sampling thread could not be started.
    #[error("cannot start the sampling thread: {0}")]
    Thread(io::Error),
    /// The sampling thread panicked.
    #[error("the sampling thread panicked: {0}")]
    Panicked(String),
}

/// What does not have the form that the kernel documents.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{line}: {item}: found {found:?}, expected {expected}; \
     this kernel prints a form that fsarena does not know: please report the line"
)]
pub struct Malformed {
    /// Line, from 1.
    pub line: usize,
    /// Which value of the line.
    pub item: String,
    /// What stands there (at most 64 characters).
    pub found: String,
    /// What should.
    pub expected: &'static str,
}

impl Malformed {
    /// Describes an item; only ever called on the way to an error, so it may allocate.
    pub(crate) fn new(line: usize, item: &str, found: &[u8], expected: &'static str) -> Self {
        let text = String::from_utf8_lossy(found);
        Self { line, item: item.to_owned(), found: text.chars().take(64).collect(), expected }
    }
}
