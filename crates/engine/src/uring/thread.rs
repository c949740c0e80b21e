//! One thread of a phase by io_uring: its lane, its clocks, and the loop between them.

use super::feed::Lane;
use super::watch::{NoWatch, Timed, Watch};
use crate::clock::{Monotonic, TickClock};
use crate::crew::{self, Gate, Hand, Latency};
use crate::op;
use crate::outcome::{Failure, Tally};
use crate::root::Root;
use fsarena_model::work::{Fsync, Op};

/// One thread of a phase: makes its lane, waits at the gate and does the work of `hand`.
///
/// [`check`] has said before that the kernel can do it; a lane that cannot be made all the same
/// (no memory, say) fails the phase before its first op.
///
/// To take a ring down costs time, which belongs to no clock of the phase: the caller gets the lane
/// and drops it after the last clock read.
pub(crate) fn run_thread(
    root: &Root,
    hand: &mut Hand,
    gate: &Gate,
) -> (crew::Outcome, Option<Lane>) {
    let mut lane = Lane::new(hand);
    let outcome = recorded(root, hand, gate, &mut lane);
    (outcome, lane.ok())
}

/// Chooses where latencies go, once.
fn recorded(
    root: &Root,
    hand: &mut Hand,
    gate: &Gate,
    lane: &mut Result<Lane, Failure>,
) -> crew::Outcome {
    let Some(mut latency) = hand.latency.take() else {
        return timed(root, hand, gate, lane, &mut NoWatch);
    };
    let Latency { clock, all, writes } = &mut latency;
    let outcome = match clock {
        TickClock::Tsc(tsc) => {
            let mut watch = Timed::new(tsc.ticker(), all, writes.as_mut());
            timed(root, hand, gate, lane, &mut watch)
        }
        TickClock::Monotonic => {
            let mut watch = Timed::new(Monotonic, all, writes.as_mut());
            timed(root, hand, gate, lane, &mut watch)
        }
    };
    hand.latency = Some(latency);
    outcome
}

/// What lies between the two clock reads of a thread.
fn timed<W: Watch>(
    root: &Root,
    hand: &mut Hand,
    gate: &Gate,
    lane: &mut Result<Lane, Failure>,
    watch: &mut W,
) -> crew::Outcome {
    hand.timed(gate, |hand| {
        let outcome = match lane {
            Ok(lane) => lane.run(root, hand, gate, watch),
            Err(failure) => {
                return Tally { failure: Some(*failure), ..Tally::default() };
            }
        };
        let mixed = hand.op == Op::RandRw;
        let mut tally = Tally {
            ops: outcome.ops,
            bytes: outcome.bytes,
            written_bytes: if mixed { outcome.written_bytes } else { 0 },
            failure: outcome.failed.map(|failed| failed.failure),
            failed_op: outcome.failed.map(|failed| failed.op),
        };
        // Also after a failure: what was done is part of the phase.
        if hand.io.fsync == Fsync::End
            && (hand.op.writes() || op::changes_names(hand.op))
            && let (Err(errno), None) = (rustix::fs::syncfs(root.dir()), tally.failure)
        {
            tally.failure = Some(Failure { call: "syncfs", errno: Some(errno) });
        }
        tally
    })
}
