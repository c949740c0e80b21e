//! Blocks of big files in random order, one op a block.
//!
//! All files are opened before the first block (its op holds that) and closed after the last: what
//! is measured is I/O in open files, as databases and virtual machines do it.

use super::file_loop::LoopEnv;
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::outcome::{Failure, Tally, at, full};
use crate::share::BlockShare;
use crate::threads::ThreadContext;
use fsarena_model::dataset::mix;
use fsarena_model::work::{Fsync, Op};
use rustix::fs::FallocateFlags;

/// A block is given back, and the file stays as long as it is: a hole cannot be punched without
/// `KEEP_SIZE`.
pub(crate) const PUNCH_HOLE: FallocateFlags =
    FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// Whether op `op` (its number within the phase) of a mixture reads.
#[inline(always)]
pub(crate) fn is_read(salt: u64, op: u64, read_percent: u32) -> bool {
    ((mix(op ^ salt) >> 32) * 100) >> 32 < u64::from(read_percent)
}

/// Runs the op of `context` over its blocks. `open` has room for all files.
#[inline(always)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    open.clear();
    if let Err(failure) = open_all(context, share.files, env.backend, open) {
        close_all(env.backend, open, Fsync::None, Ok(0)).ok();
        return Tally { failure: Some(failure), ..Tally::default() };
    }
    match context.op {
        Op::RandRead => read(context, share, env, recorder, open),
        Op::RandWrite => write(context, share, env, recorder, open),
        Op::RandTrim => trim(context, share, env, recorder, open),
        _ => mixed(context, share, env, recorder, open),
    }
}

fn open_all<B: Backend>(
    context: &mut ThreadContext,
    files: u32,
    backend: &B,
    open: &mut Vec<B::File>,
) -> Result<(), Failure> {
    for number in 0..files {
        context.names.set(number);
        let path = context.names.as_c_str();
        let opened = match context.op {
            Op::RandRead => backend.open(path, OpenMode::Read),
            Op::RandWrite | Op::RandTrim => backend.open(path, OpenMode::Write),
            _ => backend.open(path, OpenMode::ReadWrite),
        };
        open.push(at("open", opened)?);
    }
    Ok(())
}

/// Syncs where the policy asks for it and closes all; the first failure counts.
#[cold]
fn close_all<B: Backend>(
    backend: &B,
    open: &mut Vec<B::File>,
    fsync: Fsync,
    mut outcome: Result<usize, Failure>,
) -> Result<usize, Failure> {
    for file in open.drain(..) {
        if fsync == Fsync::File && outcome.is_ok() {
            outcome = at("fsync", backend.fsync(file)).and(outcome);
        }
        let closed = at("close", backend.close(file));
        outcome = outcome.and_then(|bytes| closed.map(|()| bytes));
    }
    outcome
}

/// Bytes that an op on a block moved, and whether it wrote them.
type BlockOutcome = (Result<usize, Failure>, bool);

/// Runs `one` for each block.
#[inline(always)]
fn each_block<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    fsync: Fsync,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
    mut one: impl FnMut(&mut ThreadContext, B::File, u64, (u32, u64)) -> BlockOutcome,
) -> Tally {
    let mut tally = Tally::default();
    for k in 0..share.count {
        let (number, offset) = share.block(k);
        let (mut outcome, wrote) = one(context, open[number as usize], k, (number, offset));
        let stopped = env.barrier.is_stopped();
        if outcome.is_err() || k + 1 == share.count || stopped {
            context.names.set(number);
            outcome = close_all(env.backend, open, fsync, outcome);
        }
        if wrote {
            tally.written_bytes += *outcome.as_ref().unwrap_or(&0) as u64;
        }
        if !tally.count(outcome) {
            return tally;
        }
        if wrote {
            recorder.end_write()
        } else {
            recorder.end_op()
        }
        if stopped {
            return tally;
        }
    }
    tally
}

#[inline(always)]
fn read_block<B: Backend>(
    backend: &B,
    context: &mut ThreadContext,
    file: B::File,
    offset: u64,
) -> Result<usize, Failure> {
    let into = context.read_buf.as_mut_slice();
    full("read", into.len(), backend.read_at(file, offset, into))
}

#[inline(always)]
fn write_block<B: Backend>(
    backend: &B,
    context: &mut ThreadContext,
    file: B::File,
    (number, offset): (u32, u64),
) -> Result<usize, Failure> {
    let len = context.bs_bytes as usize;
    let Some(contents) = &mut context.contents else { return Ok(0) };
    let bytes = contents.call(u64::from(number), offset, len);
    let written = full("write", len, backend.write_at(file, offset, bytes))?;
    if context.io.fsync == Fsync::Op {
        at("fsync", backend.fsync(file))?;
    }
    Ok(written)
}

#[inline(never)]
fn read<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    each_block(context, share, Fsync::None, env, recorder, open, |context, file, _, (_, offset)| {
        (read_block(env.backend, context, file, offset), false)
    })
}

#[inline(never)]
fn write<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    let fsync = context.io.fsync;
    each_block(context, share, fsync, env, recorder, open, |context, file, _, place| {
        (write_block(env.backend, context, file, place), false)
    })
}

/// fallocate(2) that gives each block back.
#[inline(never)]
fn trim<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    let (fsync, bytes) = (context.io.fsync, context.bs_bytes);
    each_block(context, share, fsync, env, recorder, open, |_, file, _, (_, offset)| {
        let punched = env
            .backend
            .call_on_file(file, |file| rustix::fs::fallocate(file, PUNCH_HOLE, offset, bytes));
        let mut outcome = at("fallocate", punched).map(|()| 0);
        if outcome.is_ok() && fsync == Fsync::Op {
            outcome = at("fsync", env.backend.fsync(file)).map(|()| 0);
        }
        (outcome, false)
    })
}

#[inline(never)]
fn mixed<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: BlockShare,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
    open: &mut Vec<B::File>,
) -> Tally {
    let (fsync, salt) = (context.io.fsync, context.mixture);
    let read_percent = context.io.rwmixread_percent;
    each_block(context, share, fsync, env, recorder, open, |context, file, k, place| {
        if is_read(salt, share.first + k, read_percent) {
            (read_block(env.backend, context, file, place.1), false)
        } else {
            (write_block(env.backend, context, file, place), true)
        }
    })
}
