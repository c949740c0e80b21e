//! The timed loops, one an op. Nothing here allocates, locks, logs or formats.
//!
//! Each loop is generic over backend and recorder, both decided before it starts. It ends at the
//! first failure of its own thread, or of another; the caller describes it after the last clock
//! read. What the fsync policy asks for belongs to the op that it follows.
//!
//! | module | ops |
//! |---|---|
//! | [`files`] | whole files, their names and attributes, one op a file |
//! | [`dirs`] | mkdir, rmdir, list |
//! | [`find`] | find |
//! | [`big`] | big-write, big-read, big-overwrite |
//! | [`interleaved`] | the same, block by block in turn with other threads |
//! | [`random`] | randread, randwrite, randrw, randtrim |
//! | [`cycle`] | cycle: one of its cycles |

mod big;
pub(crate) mod cycle;
mod dirs;
mod file_loop;
mod files;
mod find;
mod interleaved;
mod random;

pub(crate) use file_loop::{LoopEnv, SYNC_PARENT, close_after};
pub(crate) use files::write_all;
pub(crate) use random::{PUNCH_HOLE, is_read};

use crate::backend::Backend;
use crate::hist::Recorder;
use crate::outcome::{Tally, at};
use crate::pattern::FileOrder;
use crate::share::Share;
use crate::threads::ThreadContext;
use fsarena_model::work::Fsync;

/// Does the work of `context`: chooses the loop, once. `open` has room for the files
/// that a random phase keeps open.
#[inline(always)]
pub(crate) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    recorder.start();
    let order = context.order.take();
    let mut tally = match context.share {
        Share::Blocks(blocks) => random::run(context, blocks, env, recorder, open),
        Share::Find(_) | Share::Dirs(_) if !B::HAS_SMALL_FILES => Tally::default(),
        Share::Find(share) => find::run(context, share, env, recorder),
        Share::Dirs(dirs) => dirs::run(context, dirs, order.as_deref(), env, recorder),
        Share::Parts(part) => {
            let file_order = FileOrder { files: part.files, order: order.as_deref() };
            file_op(context, env, file_order, recorder)
        }
        Share::Interleaved(share) => {
            let file_order = FileOrder { files: share.files, order: order.as_deref() };
            interleaved::run(context, share, env, file_order, recorder)
        }
        Share::Files(files) => {
            let file_order = FileOrder { files, order: order.as_deref() };
            file_op(context, env, file_order, recorder)
        }
    };
    context.order = order;
    // Also after a failure: what was done is part of the phase.
    if context.io.fsync == Fsync::End
        && context.op.changes()
        && let (Err(failure), None) = (at("syncfs", env.backend.sync()), tally.failure)
    {
        tally.failure = Some(failure);
    }
    tally
}

#[inline(always)]
fn file_op<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    if context.op.is_big() || !B::HAS_SMALL_FILES {
        big::run(context, env, file_order, recorder)
    } else {
        files::run(context, env, file_order, recorder)
    }
}
