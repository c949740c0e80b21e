//! One thread of a phase by io_uring: its clocks, and the loop between them.

use super::recorder::{NoRingLatency, RingLatency, RingRecorder};
use super::sources::UringLoop;
use crate::clock::{Monotonic, TickClock};
use crate::outcome::{Failure, Tally};
use crate::root::Root;
use crate::threads::{Latency, StartBarrier, ThreadContext, ThreadOutcome};
use fsarena_model::work::{Fsync, Op};

/// One thread of a phase: makes its loop, waits at the barrier and does the work of `context`.
///
/// [`super::check`] has found before that the kernel can do it; a loop that cannot be made all the
/// same (no memory) fails the phase before its first op.
///
/// To take a ring down costs time, which is not part of the phase: the caller gets the loop and
/// drops it after the last clock read.
pub(crate) fn run_thread(
    root: &Root,
    context: &mut ThreadContext,
    barrier: &StartBarrier,
) -> (ThreadOutcome, Option<UringLoop>) {
    let mut ring_loop = UringLoop::new(context);
    let outcome = recorded(root, context, barrier, &mut ring_loop);
    (outcome, ring_loop.ok())
}

/// Chooses where latencies go, once.
fn recorded(
    root: &Root,
    context: &mut ThreadContext,
    barrier: &StartBarrier,
    ring_loop: &mut Result<UringLoop, Failure>,
) -> ThreadOutcome {
    let Some(mut latency) = context.latency.take() else {
        return timed(root, context, barrier, ring_loop, &mut NoRingLatency);
    };
    let Latency { clock, all, writes, series } = &mut latency;
    let outcome = match (clock, series) {
        (_, Some(series)) => {
            let counts = (all, writes.as_mut());
            let mut recorder = RingLatency::with_series(Monotonic, counts, series);
            timed(root, context, barrier, ring_loop, &mut recorder)
        }
        (TickClock::Tsc(tsc), None) => {
            let mut recorder = RingLatency::new(tsc.ticker(), all, writes.as_mut());
            timed(root, context, barrier, ring_loop, &mut recorder)
        }
        (TickClock::Monotonic, None) => {
            let mut recorder = RingLatency::new(Monotonic, all, writes.as_mut());
            timed(root, context, barrier, ring_loop, &mut recorder)
        }
    };
    context.latency = Some(latency);
    outcome
}

/// The work between the two clock reads of a thread.
fn timed<W: RingRecorder>(
    root: &Root,
    context: &mut ThreadContext,
    barrier: &StartBarrier,
    ring_loop: &mut Result<UringLoop, Failure>,
    recorder: &mut W,
) -> ThreadOutcome {
    context.timed(barrier, |context| {
        recorder.start();
        let outcome = match ring_loop {
            Ok(ring_loop) => ring_loop.run(root, context, barrier, recorder),
            Err(failure) => {
                return Tally { failure: Some(*failure), ..Tally::default() };
            }
        };
        let mixed = context.op == Op::RandRw;
        let mut tally = Tally {
            ops: outcome.ops,
            bytes: outcome.bytes,
            written_bytes: if mixed { outcome.written_bytes } else { 0 },
            failure: outcome.failed.map(|failed| failed.failure),
            failed_op: outcome.failed.map(|failed| failed.op),
        };
        // Also after a failure: what was done is part of the phase.
        if context.io.fsync == Fsync::End
            && context.op.changes()
            && let (Err(errno), None) = (rustix::fs::syncfs(root.dir()), tally.failure)
        {
            tally.failure = Some(Failure { call: "syncfs", errno: Some(errno) });
        }
        tally
    })
}
