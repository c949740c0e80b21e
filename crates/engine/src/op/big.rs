//! Big files from start to end, one op a call.
//!
//! The first op of a file holds its open, the last its close and what is synced before it. Where
//! threads share the files, each does its part of every file, by offset.

use super::file_loop::{LoopEnv, Parents, close_early, settle_after};
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::names::FileNames;
use crate::outcome::{Failure, Tally, at, full};
use crate::pattern::FileOrder;
use crate::share::{PartShare, Share};
use crate::threads::{Sizes, ThreadContext};
use fsarena_model::work::{Fsync, Op};
use rustix::io::Errno;

/// Runs the op of `context` over its big files.
#[inline(always)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    match context.op {
        Op::BigWrite => write(context, env, file_order, recorder),
        Op::BigRead => read(context, env, file_order, recorder),
        Op::BigOverwrite => overwrite(context, env, file_order, recorder),
        // Their shares are never files.
        _ => Tally::default(),
    }
}

/// What the loop below has to know of a phase.
struct Shape<'a> {
    sizes: &'a Sizes,
    /// The thread's part of each file; `None`: all of it.
    part: Option<PartShare>,
    /// Policy; `None` where nothing is written.
    fsync: Fsync,
    parents: Parents<'a>,
}

impl Shape<'_> {
    /// From, to: bytes of file `number` that are this thread's.
    #[inline(always)]
    fn range(&self, number: u32) -> (u64, u64) {
        let size_bytes = self.sizes.file_bytes(number);
        self.part.map_or((0, size_bytes), |part| part.range(size_bytes))
    }
}

fn part(share: &Share) -> Option<PartShare> {
    if let Share::Parts(part) = share { Some(*part) } else { None }
}

/// Each file in calls: `open` opens, `call` moves the bytes at an offset, up to an end, and
/// returns how many.
#[inline(always)]
fn each_call<B: Backend, R: Recorder>(
    env: LoopEnv<'_, B>,
    names: &mut FileNames,
    file_order: FileOrder<'_>,
    mut shape: Shape<'_>,
    recorder: &mut R,
    open: impl Fn(&FileNames, u64) -> Result<B::File, Errno>,
    mut call: impl FnMut(B::File, u32, (u64, u64)) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    for index in 0..file_order.count() {
        let number = file_order.select(names, index);
        let (mut offset, end) = shape.range(number);
        if offset == end && shape.part.is_some() {
            continue;
        }
        let file = match at("open", open(names, shape.sizes.file_bytes(number))) {
            Ok(file) => file,
            Err(failure) => {
                tally.count(Err(failure));
                return tally;
            }
        };
        let is_empty = offset == end;
        while offset < end {
            let mut outcome = call(file, number, (offset, end));
            offset += *outcome.as_ref().unwrap_or(&0) as u64;
            let stopped = env.barrier.is_stopped();
            if offset >= end || outcome.is_err() || stopped {
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
                if offset < end {
                    let closed = settle_after(env.backend, shape.fsync, file, Ok(0));
                    close_early(&mut tally, shape.parents.after(env.backend, names, closed));
                }
                return tally;
            }
        }
        if is_empty {
            let closed = settle_after(env.backend, shape.fsync, file, Ok(0));
            if let Err(failure) = shape.parents.after(env.backend, names, closed) {
                tally.count(Err(failure));
                return tally;
            }
        }
    }
    tally
}

/// Each file opened by `open` and written in calls.
#[inline(always)]
fn write_with<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
    open: impl Fn(&FileNames, u64) -> Result<B::File, Errno>,
) -> Tally {
    let ThreadContext { names, contents, sizes, left_in_dirs, bs_bytes, io, share, .. } = context;
    let Some(contents) = contents else { return Tally::default() };
    let (bs_bytes, fsync, part) = (*bs_bytes, io.fsync, part(share));
    // Each write is synced by itself: nothing is left to do at the close.
    let at_close = if fsync == Fsync::Op { Fsync::None } else { fsync };
    let by_offset = B::BY_OFFSET || part.is_some();
    let parents = Parents { each: false, left: left_in_dirs };
    let shape = Shape { sizes, part, fsync: at_close, parents };
    each_call(env, names, file_order, shape, recorder, open, |file, number, (from, end)| {
        let len = (end - from).min(bs_bytes) as usize;
        let bytes = contents.call(u64::from(number), from, len);
        let moved = if by_offset {
            env.backend.write_at(file, from, bytes)
        } else {
            env.backend.write(file, bytes)
        };
        let written = full("write", len, moved)?;
        if fsync == Fsync::Op {
            at("fsync", env.backend.fsync(file))?;
        }
        Ok(written)
    })
}

/// Each file made and written from start to end.
#[inline(never)]
fn write<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    write_with(context, env, file_order, recorder, |name, size| {
        env.backend.create(name.as_c_str(), size)
    })
}

/// Each file written over from start to end.
#[inline(never)]
fn overwrite<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    write_with(context, env, file_order, recorder, |name, _| {
        env.backend.open(name.as_c_str(), OpenMode::Write)
    })
}

/// Each file read from start to end.
#[inline(never)]
fn read<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    env: LoopEnv<'_, B>,
    file_order: FileOrder<'_>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { names, read_buf, sizes, bs_bytes, share, read_align, .. } = context;
    let (read_buf, bs_bytes, align) = (read_buf.as_mut_slice(), *bs_bytes, *read_align as usize);
    let parents = Parents { each: false, left: &mut [] };
    let shape = Shape { sizes, part: part(share), fsync: Fsync::None, parents };
    let by_offset = B::BY_OFFSET || shape.part.is_some();
    let open = |name: &FileNames, _| env.backend.open(name.as_c_str(), OpenMode::Read);
    each_call(env, names, file_order, shape, recorder, open, |file, _, (from, end)| {
        let len = (end - from).min(bs_bytes) as usize;
        let asked = if align > 1 { len.next_multiple_of(align) } else { len };
        let into = &mut read_buf[..asked];
        let moved = if by_offset {
            env.backend.read_at(file, from, into)
        } else {
            env.backend.read(file, into)
        };
        full("read", len, moved)
    })
}
