//! Directories, one op a directory.

use super::file_loop::{LoopEnv, close_after, sync_dir};
use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::names::DirNames;
use crate::outcome::{Failure, Tally, at};
use crate::share::DirShare;
use crate::threads::ThreadContext;
use fsarena_model::work::{Fsync, Op};

/// Runs the op of `context` over its directories.
#[inline(never)]
pub(super) fn run<B: Backend, R: Recorder>(
    context: &mut ThreadContext,
    share: DirShare,
    order: Option<&[u32]>,
    env: LoopEnv<'_, B>,
    recorder: &mut R,
) -> Tally {
    let ThreadContext { dirs, read_buf, op, io, .. } = context;
    let (op, fsync) = (*op, io.fsync);
    let mut tally = Tally::default();
    for index in 0..share.count {
        let at_index = |index: u32| {
            let k = order.map_or(index, |order| order[index as usize]);
            // The last directory is the deepest: they go away from the end.
            share.first + if op == Op::Rmdir { share.count - 1 - k } else { k }
        };
        dirs.set(at_index(index));
        let path = dirs.as_c_str();
        let mut outcome = match op {
            Op::Mkdir => at("mkdir", env.backend.mkdir(path)).map(|()| 0),
            Op::Rmdir => at("rmdir", env.backend.rmdir(path)).map(|()| 0),
            _ => list(env.backend, path, read_buf.as_mut_slice()),
        };
        if op != Op::List && matches!(fsync, Fsync::Op | Fsync::Dir) && outcome.is_ok() {
            let next = (index + 1 < share.count).then(|| at_index(index + 1));
            outcome = sync_parent(env.backend, dirs, fsync, next).and(outcome);
        }
        if !tally.count(outcome) {
            break;
        }
        recorder.end_op();
        if env.barrier.is_stopped() {
            break;
        }
    }
    tally
}

/// open, getdents64 to the end, close.
#[inline(always)]
fn list<B: Backend>(
    backend: &B,
    path: &std::ffi::CStr,
    buffer: &mut [u8],
) -> Result<usize, Failure> {
    let dir = at("open", backend.open(path, OpenMode::Dir))?;
    let listed = at("getdents64", backend.list(dir, buffer)).map(|_| 0);
    close_after(backend, dir, listed)
}

/// Syncs the directory that holds the current one: after each op, or when the next op is
/// in another.
#[cold]
fn sync_parent<B: Backend>(
    backend: &B,
    dirs: &mut DirNames,
    fsync: Fsync,
    next: Option<u32>,
) -> Result<(), Failure> {
    let parent = dirs.parent();
    if fsync == Fsync::Dir && next.is_some_and(|next| dirs.parent_of(next) == parent) {
        return Ok(());
    }
    dirs.with(parent, |path| sync_dir(backend, path))
}
