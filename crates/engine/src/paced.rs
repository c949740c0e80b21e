//! Ops that are due at set times, whether those before have ended or not: an open loop.
//!
//! The loops are those of any other phase. What is different is the recorder: at the end of an op
//! it waits until the next one is due, and a latency counts from the moment at which the op was due
//! and not from when it could begin. So the time that an op waits for a slow one before it is part
//! of its latency (else it would be left out: coordinated omission). What is late is not left out:
//! it begins at once, and all later ops keep their times.

use crate::clock::monotonic_ns;
use crate::hist::{Histogram, Recorder};
use crate::latency_series::LatencySeries;
use crate::threads::{Latency, StartBarrier};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// The last part of a wait is spent awake: a sleep may end so much too late (the slack of a timer
/// is 50 µs, and to be woken takes time too).
const AWAKE_NS: u64 = 100_000;
/// A thread that sleeps looks so often whether another has failed.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// Waits for the time of each op, and counts from then.
#[derive(Debug)]
pub(crate) struct Paced<'a> {
    /// Ops a second.
    rate: u32,
    /// Ops that there will be: after the last there is nothing to wait for.
    ops: u64,
    barrier: &'a StartBarrier,
    start_ns: u64,
    /// Ops that have ended.
    ended: u64,
    all: Option<&'a mut Histogram>,
    writes: Option<&'a mut Histogram>,
    series: Option<&'a mut LatencySeries>,
}

impl<'a> Paced<'a> {
    /// For `ops` ops at `rate` a second.
    pub fn new(
        (rate, ops): (u32, u64),
        barrier: &'a StartBarrier,
        latency: Option<&'a mut Latency>,
    ) -> Self {
        let (all, writes, series) = match latency {
            Some(Latency { all, writes, series, .. }) => {
                (Some(all), writes.as_mut(), series.as_mut())
            }
            None => (None, None, None),
        };
        Self { rate: rate.max(1), ops, barrier, start_ns: 0, ended: 0, all, writes, series }
    }

    /// When the op after those that have ended is due.
    fn due_ns(&self) -> u64 {
        let after_ns = u128::from(self.ended) * 1_000_000_000 / u128::from(self.rate);
        self.start_ns.saturating_add(u64::try_from(after_ns).unwrap_or(u64::MAX))
    }

    /// Ends an op and waits for the next; how long after its time it ended, ns.
    fn end(&mut self) -> u64 {
        let now_ns = monotonic_ns();
        let latency_ns = now_ns.saturating_sub(self.due_ns());
        if let Some(all) = &mut self.all {
            all.record(latency_ns);
        }
        if let Some(series) = &mut self.series {
            series.record(now_ns, latency_ns);
        }
        self.ended += 1;
        if self.ended < self.ops {
            self.wait_until(self.due_ns());
        }
        latency_ns
    }

    fn wait_until(&self, due_ns: u64) {
        loop {
            let left_ns = due_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 || self.barrier.is_stopped() {
                return;
            }
            if left_ns <= AWAKE_NS {
                std::hint::spin_loop();
                continue;
            }
            let until_ns = due_ns - AWAKE_NS;
            let until_ns = until_ns.min(due_ns - left_ns + LONGEST_SLEEP_NS);
            let until = Timespec {
                tv_sec: (until_ns / 1_000_000_000).cast_signed(),
                tv_nsec: (until_ns % 1_000_000_000).cast_signed(),
            };
            match clock_nanosleep_absolute(ClockId::Monotonic, &until) {
                Ok(()) | Err(Errno::INTR) => {}
                // What cannot sleep waits awake.
                Err(_) => std::hint::spin_loop(),
            }
        }
    }
}

impl Recorder for Paced<'_> {
    fn start(&mut self) {
        self.start_ns = monotonic_ns();
        if let Some(series) = &mut self.series {
            series.restart(self.start_ns);
        }
    }

    fn end_op(&mut self) {
        self.end();
    }

    fn end_write(&mut self) {
        let latency_ns = self.end();
        if let Some(writes) = &mut self.writes {
            writes.record(latency_ns);
        }
    }
}
