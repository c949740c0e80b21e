//! A phase that ends by the clock: a random phase with a runtime.
//!
//! The loops look at the barrier after each op anyway, to end where another thread has failed. So
//! nothing is added to them: a thread of its own sleeps until the time is over, and stops the
//! phase there. What is in flight then ends, and counts.

use crate::clock::monotonic_ns;
use crate::resources::{close_own_descriptors, own_descriptors};
use crate::threads::StartBarrier;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// Between two looks whether the phase has started.
const START_PAUSE: Duration = Duration::from_millis(1);

/// Wakes the timer when the work is over, also in a panic.
struct EndsTimer<'a> {
    is_over: &'a AtomicBool,
    timer: Thread,
}

impl Drop for EndsTimer<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.timer.unpark();
    }
}

/// Does `work`, whose threads start at `barrier`, and stops them `runtime_ns` after their start.
///
/// # Errors
/// Where there is no thread for the timer: then nothing is done.
pub(crate) fn stop_after<T>(
    barrier: &StartBarrier,
    runtime_ns: u64,
    work: impl FnOnce() -> T,
) -> io::Result<T> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let wait = || {
            // A table of files that two threads share costs every call a reference.
            if own_descriptors() {
                close_own_descriptors();
            }
            wait_and_stop(barrier, runtime_ns, &is_over);
        };
        let timer = thread::Builder::new().spawn_scoped(scope, wait)?;
        let _ends = EndsTimer { is_over: &is_over, timer: timer.thread().clone() };
        Ok(work())
    })
}

fn wait_and_stop(barrier: &StartBarrier, runtime_ns: u64, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        let start_ns = barrier.start_ns();
        if start_ns == 0 {
            thread::park_timeout(START_PAUSE);
            continue;
        }
        let left_ns = start_ns.saturating_add(runtime_ns).saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return barrier.stop();
        }
        thread::park_timeout(Duration::from_nanos(left_ns));
    }
}
