//! Big files whose blocks are dealt out to threads in turn, one op a call.
//!
//! A loop of its own, so that those over whole files and parts stay as they are. The first op of a
//! thread in a file holds its open, the last its close and what is synced before it. Each thread
//! may be the one that makes the file: they do not wait for each other.

use super::file_loop::{LoopEnv, Parents, close_early, settle_after};
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::names::FileNames;
use crate::outcome::{Failure, Tally, at, full};
use crate::pattern::FileOrder;
use crate::share::InterleavedShare;
use crate::threads::{Sizes, ThreadContext};
use fsarena_model::work::{Fsync, Op};

/// Runs the op of `context` over its blocks of big files.
#[inline(never)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: InterleavedShare,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    match context.op {
        Op::BigWrite => write(context, (share, OpenMode::Create), env, file_order, recorder),
        Op::BigOverwrite => write(context, (share, OpenMode::Write), env, file_order, recorder),
        Op::BigRead => read(context, share, env, file_order, recorder),
        // Their shares are never blocks in turn.
        _ => Tally::default(),
    }
}

/// What the loop below has to know of a phase.
struct Shape<'a> {
    sizes: &'a Sizes,
    share: InterleavedShare,
    mode: OpenMode,
    /// Policy at the close; `None` where nothing is left to sync.
    fsync: Fsync,
    parents: Parents<'a>,
}

/// The blocks of each file: `call` moves so many bytes at an offset.
#[inline(always)]
fn each_block<B: Backend, R: Recorder>(
    env: LoopEnv<'_, B>,
    names: &mut FileNames,
    file_order: FileOrder<'_>,
    mut shape: Shape<'_>,
    recorder: &mut R,
    mut call: impl FnMut(B::File, (u32, u64), usize) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    let share = shape.share;
    for index in 0..file_order.count() {
        let number = file_order.select(names, index);
        let size_bytes = shape.sizes.file_bytes(number);
        if !share.opens(size_bytes) {
            continue;
        }
        let file = match at("open", env.backend.open(names.as_c_str(), shape.mode)) {
            Ok(file) => file,
            Err(failure) => {
                tally.count(Err(failure));
                return tally;
            }
        };
        if size_bytes == 0 {
            let closed = settle_after(env.backend, shape.fsync, file, Ok(0));
            if let Err(failure) = shape.parents.after(env.backend, names, closed) {
                tally.count(Err(failure));
                return tally;
            }
        }
        let mut offset = share.first_bytes;
        while offset < size_bytes {
            let len = (size_bytes - offset).min(share.bs_bytes) as usize;
            let mut outcome = call(file, (number, offset), len);
            offset += share.step_bytes;
            let stopped = env.barrier.is_stopped();
            if offset >= size_bytes || outcome.is_err() || stopped {
                outcome = settle_after(env.backend, shape.fsync, file, outcome);
                outcome = shape.parents.after(env.backend, names, outcome);
            }
            if !tally.count(outcome) {
                return tally;
            }
            recorder.end_op();
            if stopped {
                return tally;
            }
            if recorder.is_over() {
                if offset < size_bytes {
                    let closed = settle_after(env.backend, shape.fsync, file, Ok(0));
                    close_early(&mut tally, shape.parents.after(env.backend, names, closed));
                }
                return tally;
            }
        }
    }
    tally
}

/// Blocks written into files that are opened by `mode`.
#[inline(always)]
fn write<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    (share, mode): (InterleavedShare, OpenMode),
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, contents, sizes, left_in_dirs, io, .. } = context;
    let Some(contents) = contents else { return Tally::default() };
    let fsync = io.fsync;
    // Each write is synced by itself: nothing is left to do at the close.
    let at_close = if fsync == Fsync::Op { Fsync::None } else { fsync };
    let parents = Parents { each: false, left: left_in_dirs };
    let shape = Shape { sizes, share, mode, fsync: at_close, parents };
    each_block(env, names, file_order, shape, recorder, |file, (number, offset), len| {
        let bytes = contents.call(u64::from(number), offset, len);
        let written = full("write", len, env.backend.write_at(file, offset, bytes))?;
        if fsync == Fsync::Op {
            at("fsync", env.backend.fsync(file))?;
        }
        Ok(written)
    })
}

/// Blocks read.
#[inline(always)]
fn read<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: InterleavedShare,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, read_buf, sizes, read_align, .. } = context;
    let (read_buf, align) = (read_buf.as_mut_slice(), *read_align as usize);
    let parents = Parents { each: false, left: &mut [] };
    let shape = Shape { sizes, share, mode: OpenMode::Read, fsync: Fsync::None, parents };
    each_block(env, names, file_order, shape, recorder, |file, (_, offset), len| {
        let asked = if align > 1 { len.next_multiple_of(align) } else { len };
        full("read", len, env.backend.read_at(file, offset, &mut read_buf[..asked]))
    })
}
