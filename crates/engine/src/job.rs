//! A phase as it is ordered: dataset, state, seeds, and the delay that may be injected into it.
//!
//! A delay of known size makes a phase longer on purpose: it shows what a comparison is able to
//! find. Nothing here runs a phase.

use crate::clock::monotonic_ns;
use crate::root::SECTOR_BYTES;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, DatasetState, Phase};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// A phase over a dataset, as it is ordered.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    pub dataset: &'a Dataset,
    /// What earlier phases have made of them.
    pub state: DatasetState,
    pub phase: &'a Phase,
    /// Where its random order comes from.
    pub seed: Seed,
    /// Stamped into every sector.
    pub dataset_seed: Seed,
    /// Whether every op's latency is recorded.
    pub latency: bool,
    /// Logical sector of the device, bytes ([`crate::root::Root::sector_bytes`]); for direct I/O.
    pub sector_bytes: u64,
    /// What each of its threads sleeps after its last op.
    pub delay: InjectedDelay,
}

impl<'a> Job<'a> {
    /// A phase over a dataset as it was created, with latencies, on sectors of 512 bytes.
    #[must_use]
    pub fn new(dataset: &'a Dataset, phase: &'a Phase, seed: Seed, dataset_seed: Seed) -> Self {
        Self {
            dataset,
            state: DatasetState::default(),
            phase,
            seed,
            dataset_seed,
            latency: true,
            sector_bytes: SECTOR_BYTES,
            delay: InjectedDelay::default(),
        }
    }
}

/// How long each timed phase sleeps after its last op and before `returned` is read.
///
/// A phase of cycles sleeps in each of them. A phase that failed does not sleep: it is in no
/// figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InjectedDelay {
    ns: u64,
}

impl InjectedDelay {
    /// A delay of so many ns; 0 is none.
    #[must_use]
    pub fn from_ns(ns: u64) -> Self {
        Self { ns }
    }

    /// Sleeps it out: `CLOCK_MONOTONIC` is further by at least that much afterwards.
    #[inline]
    pub fn sleep(self) {
        if self.ns > 0 {
            sleep_until(monotonic_ns().saturating_add(self.ns));
        }
    }
}

fn sleep_until(at_ns: u64) {
    let until = Timespec {
        tv_sec: (at_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
    };
    // A signal ends the call early; the time to wake up at stays the same.
    while clock_nanosleep_absolute(ClockId::Monotonic, &until) == Err(Errno::INTR) {}
}
