//! A thread that takes samples at a fixed period and knows what that costs.
//!
//! Deadlines are absolute: a late sample does not shift the ones after it, and a deadline that
//! passed while a sample was still being taken is counted as missed, not made up for. Between two
//! samples the thread waits in a futex (`thread::park_timeout`, absolute `CLOCK_MONOTONIC` inside),
//! so that stopping takes one last sample and no waiting.

use crate::MetricError;
use crate::samples::Samples;
use crate::sources::{Snapshot, Sources, monotonic_ns, thread_cpu_ns};
use fsarena_model::sample::SamplerCost;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;

/// Shortest period that is obeyed: a sample takes a noticeable part of less.
const PERIOD_MIN_NS: u64 = 1_000_000;

/// A running sampler. Dropping it stops it and loses the samples.
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Samples, SamplerCost)>>,
}

impl Sampler {
    /// Starts sampling: the first sample is taken when this returns, the others every `period_ns`
    /// (1 ms at least).
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(sources: Sources, period_ns: u64) -> Result<Self, MetricError> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let mut sampling = Sampling {
            sources,
            samples: Samples::new(period_ns.max(PERIOD_MIN_NS)),
            scratch: Snapshot::empty(),
            cost: SamplerCost::default(),
            begun_ns: monotonic_ns(),
        };
        // Not by the thread, which on a busy machine begins when the phase has begun.
        let begun_cpu_ns = thread_cpu_ns();
        sampling.take();
        sampling.cost.cpu_ns = thread_cpu_ns().saturating_sub(begun_cpu_ns);
        let thread = Builder::new()
            .name("fsarena-sampler".to_owned())
            .spawn(move || sampling.go_on(&seen))
            .map_err(MetricError::Thread)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Takes one last sample and stops. An error while sampling is in [`Samples::error`].
    ///
    /// # Errors
    /// When the thread panicked.
    pub fn stop(mut self) -> Result<(Samples, SamplerCost), MetricError> {
        self.halt().expect("the thread is taken only here and in drop")
    }

    fn halt(&mut self) -> Option<Result<(Samples, SamplerCost), MetricError>> {
        let thread = self.thread.take()?;
        self.stop.store(true, Ordering::Release);
        thread.thread().unpark();
        Some(thread.join().map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            MetricError::Panicked(text.unwrap_or_else(|| "without a text".to_owned()))
        }))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.halt();
    }
}

/// Samples under way.
struct Sampling {
    sources: Sources,
    samples: Samples,
    scratch: Snapshot,
    cost: SamplerCost,
    begun_ns: u64,
}

impl Sampling {
    /// Takes one; whether that was possible.
    fn take(&mut self) -> bool {
        if let Err(error) = self.sources.read_into(&mut self.scratch) {
            self.samples.fail(error);
            return false;
        }
        self.samples.push(&self.scratch);
        self.cost.samples += 1;
        true
    }

    /// The thread's whole life.
    fn go_on(mut self, stop: &AtomicBool) -> (Samples, SamplerCost) {
        use_normal_scheduling();
        let begun_cpu_ns = thread_cpu_ns();
        let mut deadline_ns = self.begun_ns;
        let mut last = self.samples.error().is_some();
        while !last {
            let (period_ns, now_ns) = (self.samples.period_ns(), monotonic_ns());
            let missed;
            (deadline_ns, missed) = next_deadline(deadline_ns, period_ns, now_ns);
            self.cost.missed_deadlines += missed;
            wait_until(deadline_ns, stop);
            last = stop.load(Ordering::Acquire);
            last |= !self.take();
        }
        self.cost.cpu_ns += thread_cpu_ns().saturating_sub(begun_cpu_ns);
        self.cost.wall_ns = monotonic_ns().saturating_sub(self.begun_ns);
        (self.samples, self.cost)
    }
}

/// The next deadline on a grid of `period_ns` that is still ahead, and how many have passed.
#[must_use]
pub fn next_deadline(deadline_ns: u64, period_ns: u64, now_ns: u64) -> (u64, u64) {
    let next_ns = deadline_ns.saturating_add(period_ns);
    if next_ns > now_ns {
        return (next_ns, 0);
    }
    let missed = (now_ns - next_ns) / period_ns.max(1) + 1;
    (next_ns.saturating_add(missed.saturating_mul(period_ns)), missed)
}

fn wait_until(deadline_ns: u64, stop: &AtomicBool) {
    // Parking may end early without a reason.
    while !stop.load(Ordering::Acquire) {
        let Some(left_ns) = deadline_ns.checked_sub(monotonic_ns()).filter(|&left| left > 0) else {
            return;
        };
        park_timeout(Duration::from_nanos(left_ns));
    }
}

/// Leaves whatever policy the parent thread had: under `SCHED_IDLE` or `SCHED_BATCH` samples would
/// come late exactly when the machine is busy, under `SCHED_FIFO` they would disturb the work. A
/// refusal is no harm: missed deadlines are counted. Affinity is kept: that is the user's wish.
fn use_normal_scheduling() {
    // SAFETY: an all-zero sched_param is valid, it is only read, and pid 0 is the calling thread.
    unsafe {
        let normal: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const normal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_samples_do_not_shift_the_grid() {
        assert_eq!(next_deadline(100, 10, 105), (110, 0));
        assert_eq!(next_deadline(100, 10, 110), (120, 1));
        assert_eq!(next_deadline(100, 10, 139), (140, 3));
    }
}
