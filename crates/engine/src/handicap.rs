//! A handicap of known size: a phase that is longer on purpose shows what a comparison is able to
//! find.

use crate::clock::monotonic_ns;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// How long each timed phase sleeps after its last op and before `returned` is read.
///
/// A phase of cycles sleeps in each of them. A phase that failed does not sleep: it is in no
/// figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handicap {
    ns: u64,
}

impl Handicap {
    /// A handicap of so many ns; 0 is none.
    #[must_use]
    pub fn of_ns(ns: u64) -> Self {
        Self { ns }
    }

    /// Sleeps it out: `CLOCK_MONOTONIC` is further by at least that much afterwards.
    #[inline]
    pub(crate) fn sleep(self) {
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
