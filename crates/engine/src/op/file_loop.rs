//! The loop over files, and how an op on a file ends: fsync, close, fsync of the directory.

use crate::backend::{Backend, OpenMode};
use crate::hist::Recorder;
use crate::names::FileNames;
use crate::outcome::{Failure, Tally, at};
use crate::pattern::FileOrder;
use crate::threads::StartBarrier;
use fsarena_model::work::Fsync;

/// What a loop calls, and what stops it.
#[derive(Debug)]
pub(crate) struct LoopEnv<'a, B> {
    pub backend: &'a B,
    pub barrier: &'a StartBarrier,
}

impl<B> Clone for LoopEnv<'_, B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for LoopEnv<'_, B> {}

/// Closes `file` after `outcome`; the first failure counts.
#[inline(always)]
pub(crate) fn close_after<B: Backend>(
    backend: &B,
    file: B::File,
    outcome: Result<usize, Failure>,
) -> Result<usize, Failure> {
    let closed = at("close", backend.close(file));
    let bytes = outcome?;
    closed?;
    Ok(bytes)
}

/// Syncs and closes a file that was written, after `outcome`.
#[inline(always)]
pub(super) fn settle_after<B: Backend>(
    backend: &B,
    fsync: Fsync,
    file: B::File,
    mut outcome: Result<usize, Failure>,
) -> Result<usize, Failure> {
    if matches!(fsync, Fsync::Op | Fsync::File) && outcome.is_ok() {
        outcome = at("fsync", backend.fsync(file)).and(outcome);
    }
    close_after(backend, file, outcome)
}

/// A file was closed after the last op in it, which ended before its end.
#[cold]
pub(super) fn close_early(tally: &mut Tally, closed: Result<usize, Failure>) {
    if let Err(failure) = closed {
        tally.failure = Some(failure);
    }
}

/// fsync of the directory of a file or directory, as failures name it: the path is the op's.
pub(crate) const SYNC_PARENT: &str = "fsync of the directory that holds";

/// fsync of the directory at `path`.
pub(super) fn sync_dir<B: Backend>(backend: &B, path: &std::ffi::CStr) -> Result<(), Failure> {
    let dir = at("open", backend.open(path, OpenMode::Dir))?;
    let synced = at(SYNC_PARENT, backend.fsync(dir));
    let closed = at("close", backend.close(dir));
    synced.and(closed)
}

/// The fsync of the directories of files.
#[derive(Debug)]
pub(super) struct Parents<'a> {
    /// Whether the op's directory is synced after each op.
    pub each: bool,
    /// Files that are left in each directory; empty where directories are not synced.
    pub left: &'a mut [u32],
}

impl Parents<'_> {
    /// After a file is done: syncs its directory where that is due.
    #[inline(always)]
    pub fn after<B: Backend>(
        &mut self,
        backend: &B,
        names: &mut FileNames,
        outcome: Result<usize, Failure>,
    ) -> Result<usize, Failure> {
        if self.each || !self.left.is_empty() {
            self.sync(backend, names, outcome)
        } else {
            outcome
        }
    }

    #[cold]
    fn sync<B: Backend>(
        &mut self,
        backend: &B,
        names: &mut FileNames,
        outcome: Result<usize, Failure>,
    ) -> Result<usize, Failure> {
        let bytes = outcome?;
        let mut due = self.each;
        if let Some(left) = self.left.get_mut(names.dir() as usize) {
            *left = left.saturating_sub(1);
            due |= *left == 0;
        }
        if due {
            names.with_parent(|path| sync_dir(backend, path))?;
        }
        Ok(bytes)
    }
}

/// Runs `one` for each file in its order, and records each op.
#[inline(always)]
pub(super) fn each_file<B: Backend, R: Recorder>(
    env: LoopEnv<'_, B>,
    names: &mut FileNames,
    file_order: FileOrder<'_>,
    mut parents: Parents<'_>,
    recorder: &mut R,
    mut one: impl FnMut(&FileNames, u32) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    for index in 0..file_order.count() {
        let file = file_order.select(names, index);
        let outcome = one(names, file);
        let outcome = parents.after(env.backend, names, outcome);
        if !tally.count(outcome) {
            break;
        }
        recorder.end_op();
        if env.barrier.is_stopped() || recorder.is_over() {
            break;
        }
    }
    tally
}
