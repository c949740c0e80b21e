//! The only code that runs between two clock reads.
//!
//! A phase is *prepared* ([`phase::Prepared`]: buffers, order, names, histogram, clock), then *run*
//! (first clock read, loop, last clock read, syncfs, clock read), then *reported*. Everything that
//! can be decided is decided in the preparation, everything that can be formatted is formatted in
//! the report, so that between the first and the last clock read there is no allocation, no lock,
//! no log line and no formatting: only system calls, a name, a stamp and one clock read an op.
//!
//! | module | what |
//! |---|---|
//! | [`clock`] | `CLOCK_MONOTONIC` for the ends of a phase, the time stamp counter for ops |
//! | [`hist`] | fixed-size latency histogram |
//! | [`names`] | names of files and directories |
//! | `paced` | ops that are due at set times |
//! | [`pattern`] | the order files are taken in |
//! | [`permute`] | a permutation of blocks that needs no memory |
//! | [`share`] | which part of a phase is one thread's |
//! | [`buffer`] | page-aligned, pre-faulted memory |
//! | [`stamp`] | contents with a stamp: dataset, file, offset and version of every sector |
//! | [`backend`] | the seam: real calls, memory copies, or nothing at all |
//! | [`uring`] | io_uring: loops of its own, since ops overlap |
//! | [`root`] | the directory of the dataset |
//! | [`Job`] | a phase as it is ordered, and the delay that may be injected into it |
//! | [`cycle`] | a periodic application: cycles of updates, and a concurrent second load |
//! | [`phase`] | one phase from preparation to report, by one thread or several |
//! | [`verify`] | reads everything again and compares |
//! | [`calibrate`] | what the harness itself costs |
//! | [`durable`] | the end of a phase: its clocks, and the counters of that moment |
//! | [`resident`] | the pages of the program itself, in memory before the clock runs |
//! | [`canary`] | a fixed piece of work that says how fast the machine is |
//! | [`outcome`], [`resources`] | failures in words, processor time; the worker uses both |
//!
//! This crate knows nothing of experiments, records, reports or programs, and starts no process.
#![expect(unsafe_code, reason = "system calls, mappings and rings between two clock reads")]

pub mod backend;
pub mod buffer;
pub mod calibrate;
pub mod canary;
mod check;
pub mod clock;
pub mod cycle;
pub mod durable;
mod error;
pub mod hist;
pub mod latency_series;
pub mod names;
mod op;
pub mod outcome;
mod paced;
pub mod pattern;
pub mod permute;
pub mod phase;
pub mod resident;
pub mod resources;
pub mod root;
mod runtime;
pub mod share;
pub mod stamp;
pub mod stonewall;
mod threads;
pub mod uring;
pub mod verify;

pub use error::{EngineError, UringError};
pub use phase::{Prepared, run_phase};
pub use root::Root;

use clock::monotonic_ns;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, DatasetState, Phase};
use root::SECTOR_BYTES;
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
    /// Logical sector of the device, bytes ([`Root::sector_bytes`]); for direct I/O.
    pub sector_bytes: u64,
    /// What each of its threads sleeps after its last op.
    pub delay: InjectedDelay,
    /// Files that were modified later match in a phase of `find`, ns since 1970.
    pub newer_than_unix_ns: u64,
    /// Which of the ranks of the phase this is: only its threads run here.
    pub rank: u32,
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
            newer_than_unix_ns: 0,
            rank: 0,
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
