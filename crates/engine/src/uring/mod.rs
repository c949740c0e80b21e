//! io_uring(7): one ring a thread, as many ops in flight as `iodepth` says.
//!
//! A lane is made before the thread passes the gate, and by the thread itself (the kernel then
//! needs no lock for the ring): ring, slots, a buffer a slot, a table of files. The loop fills all
//! free slots, enters the kernel once, which submits them and waits for at least one to end, and
//! works off what has ended. Nothing in it allocates. After a failure no op is begun any more, and
//! those in flight are waited for.
//!
//! | module | what |
//! |---|---|
//! | `ring` | what the kernel can do; setup and registration |
//! | `blocks` | calls in big files, in order or at random |
//! | `files` | whole small files, and ops on names |
//! | `feed`, `dirs` | where both get their work from: the hand of a thread |
//! | `paths` | memory for the names of ops in flight |
//! | `watch` | latencies of ops that overlap |
//!
//! There is no opcode for reading directories: `list` is refused.

mod blocks;
mod dirs;
mod feed;
mod files;
mod paths;
mod ring;
mod watch;

pub use ring::{MAX_IODEPTH, UringError, check};

use crate::clock::{Monotonic, TickClock};
use crate::crew::{self, Gate, Hand, Latency};
use crate::op::{self, Failure, Tally};
use crate::root::Root;
pub(crate) use feed::Lane;
use fsarena_model::work::{Fsync, Op};
use rustix::fd::BorrowedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use watch::{NoWatch, Timed, Watch};

/// An op that failed.
#[derive(Debug, Clone, Copy)]
struct Failed {
    /// Number of the op within the thread, in the order of submission.
    op: u64,
    /// Number of its file or directory.
    file: u64,
    failure: Failure,
}

/// What a lane did.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    ops: u64,
    bytes: u64,
    /// Of these, written.
    written_bytes: u64,
    /// The first op, by number, that failed.
    failed: Option<Failed>,
}

impl Outcome {
    /// Notes a failure; of several, the one with the lowest number counts.
    fn fail(&mut self, failed: Failed) {
        if self.failed.is_none_or(|first| failed.op < first.op) {
            self.failed = Some(failed);
        }
    }

    /// Whether the loop goes on after an `io_uring_enter` that failed: one that was interrupted, or
    /// found no memory for a moment, is made again.
    fn survives(&mut self, errno: Errno, op: u64) -> bool {
        let again = matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY);
        if !again {
            let failure = Failure { call: "io_uring_enter", errno: Some(errno) };
            self.fail(Failed { op, file: 0, failure });
        }
        again
    }
}

/// One thread of a phase: makes its lane, waits at the gate and does the work of `hand`.
///
/// [`check`] has said before that the kernel can do it; a lane that cannot be made all the same
/// (no memory, say) fails the phase before its first op.
pub(crate) fn run_thread(root: &Root, hand: &mut Hand, gate: &Gate) -> crew::Outcome {
    hand.lane = None;
    let mut lane = Lane::new(hand);
    let outcome = recorded(root, hand, gate, &mut lane);
    // To take a ring down costs time, which belongs to no clock of the phase.
    hand.lane = lane.ok();
    outcome
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

/// fsync(2) of the directory at `path`, with blocking calls.
fn sync_dir(lookup: BorrowedFd<'_>, path: &CStr) -> Result<(), Failure> {
    let at = |call| move |errno| Failure { call, errno: Some(errno) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let dir = rustix::fs::openat(lookup, path, flags, Mode::empty()).map_err(at("open"))?;
    rustix::fs::fsync(&dir).map_err(at(op::SYNC_PARENT))
}
