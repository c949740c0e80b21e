//! The timed loops, one an op. Nothing here allocates, locks, logs or formats.
//!
//! Each loop is generic over backend, recorder and walk, all decided before it starts. It ends at
//! the first failure of its own thread, or of another; the caller turns that into words after the
//! last clock read. What the fsync policy asks for belongs to the op that it follows.
//!
//! | module | ops |
//! |---|---|
//! | [`files`] | create, read, overwrite, append, stat, rename, delete |
//! | [`dirs`] | mkdir, rmdir, list |
//! | [`big`] | big-write, big-read, big-overwrite |
//! | [`random`] | randread, randwrite, randrw |
//! | [`cycle`] | cycle: one of its cycles |

mod big;
pub(crate) mod cycle;
mod dirs;
mod file_loop;
mod files;
mod random;

pub(crate) use file_loop::{SYNC_PARENT, close_after};
pub(crate) use files::write_all;
pub(crate) use random::is_read;

use crate::backend::Backend;
use crate::crew::{Gate, Hand};
use crate::hist::Recorder;
use crate::outcome::{Tally, at};
use crate::pattern::{InOrder, Scattered, Walk};
use crate::share::{FileShare, Share};
use fsarena_model::work::{Fsync, Op};

/// Does the work of `hand`: chooses loop and walk, once. `open` has room for the files that a
/// random phase keeps open.
#[inline(always)]
pub(crate) fn run<B: Backend, R: Recorder>(
    hand: &mut Hand,
    (backend, gate): (&B, &Gate),
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    recorder.start();
    let by = (backend, gate);
    let order = hand.order.take();
    let mut tally = match hand.share {
        Share::Blocks(blocks) => random::run(hand, blocks, by, recorder, open),
        Share::Dirs(dirs) => dirs::run(hand, dirs, order.as_deref(), by, recorder),
        Share::Parts(part) => {
            let walk = Scattered { files: part.files, order: order.as_deref() };
            file_op(hand, by, walk, recorder)
        }
        Share::Files(FileShare { first, step: 1, count }) if order.is_none() => {
            let walk = InOrder { first, count };
            file_op(hand, by, walk, recorder)
        }
        Share::Files(files) => {
            let walk = Scattered { files, order: order.as_deref() };
            file_op(hand, by, walk, recorder)
        }
    };
    hand.order = order;
    // Also after a failure: what was done is part of the phase.
    if hand.io.fsync == Fsync::End
        && (hand.op.writes() || changes_names(hand.op))
        && let (Err(failure), None) = (at("syncfs", backend.sync()), tally.failure)
    {
        tally.failure = Some(failure);
    }
    tally
}

#[inline(always)]
fn file_op<B: Backend, R: Recorder, W: Walk>(
    hand: &mut Hand,
    by: (&B, &Gate),
    walk: W,
    recorder: &mut R,
) -> Tally {
    match hand.op {
        Op::Create => files::create(hand, by, walk, recorder),
        Op::Read => files::read(hand, by, walk, recorder),
        Op::Overwrite => files::overwrite(hand, by, walk, recorder),
        Op::Append => files::append(hand, by, walk, recorder),
        Op::Stat => files::stat(hand, by, walk, recorder),
        Op::Rename => files::rename(hand, by, walk, recorder),
        Op::Delete => files::delete(hand, by, walk, recorder),
        Op::BigWrite => big::write(hand, by, walk, recorder),
        Op::BigRead => big::read(hand, by, walk, recorder),
        Op::BigOverwrite => big::overwrite(hand, by, walk, recorder),
        // Their shares are never files.
        Op::Mkdir
        | Op::Rmdir
        | Op::List
        | Op::RandRead
        | Op::RandWrite
        | Op::RandRw
        | Op::Fio
        | Op::Job
        | Op::Cycle
        | Op::Watched => Tally::default(),
    }
}

/// Whether `op` makes, moves or removes names.
pub(crate) fn changes_names(op: Op) -> bool {
    matches!(op, Op::Rename | Op::Delete | Op::Mkdir | Op::Rmdir) || op.creates()
}
