//! Kernel counters, a sampler that knows its own cost, and facts about the host.
//!
//! Everything is read from the kernel's text files below [`Roots`], so that a kernel that is not at
//! hand becomes a directory of files in a test. One module reads one source; the line in
//! [`mod@catalog`] that registers it is the only other place that knows it.
//!
//! Two rules hold everywhere. **Missing is a value:** a file, line or field that this kernel does
//! not have gives `None`, because kernels differ. **Malformed is an error** that names path, line
//! and item, because silence about it would be a wrong number later.
//!
//! This crate only reads. It must not derive rates or percentages (they are computed from stored
//! records), write to any kernel file, or start a process. [`disturb`] alone judges; it is pure.
#![expect(unsafe_code, reason = "pinning memory of the sampler")]

mod block;
pub mod catalog;
mod cgroup;
pub mod delta;
pub mod disturb;
mod error;
mod facts;
#[cfg(test)]
mod fuzz;
mod host;
mod load;
mod meminfo;
mod read_file;
mod sampler;
mod samples;
mod source;
mod sources;
mod stat;
mod vmstat;
mod worker;

pub use block::{BlockStat, block_stat};
pub use catalog::catalog;
pub use delta::delta;
pub use error::MetricError;
pub use host::{available_bytes, host, processors};
pub use host::{boot_id, page_reporting_active, process_start_ticks};
pub use load::{Load, load_and_pressure};
pub use sampler::{Sampler, next_deadline};
pub use samples::{SAMPLES_MAX, Samples, series};
pub use source::{Decrease, Kind, Metric};
pub use source::{Roots, Watch};
pub use sources::{Snapshot, Sources, monotonic_ns, process_cpu_ns, thread_cpu_ns};
