//! One cycle: each of its files updated in its own way, one op a file.
//!
//! A temporary file is one op as well, in two parts: it is made in its place, and unlinked when all
//! others are done. Its latency is the sum of both.
//!
//! Where cycles overlap, two of them may work on the same file. A file that another cycle has just
//! unlinked, or made, is then taken as it is found, and the op is counted as a collision; alone, a
//! cycle that does not find what it needs has failed.

use super::file_loop::settle_after;
use super::files::write_all;
use crate::backend::{Backend, OpenMode};
use crate::clock::Ticker;
use crate::cycle::Update;
use crate::hist::Histogram;
use crate::names::{FileNames, SiblingNames};
use crate::outcome::{Failure, Tally, at};
use crate::stamp::Contents;
use crate::threads::Sizes;
use fsarena_model::cycle::UpdateKind;
use fsarena_model::work::Fsync;
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, Ordering};

/// First letter of a file that is going to replace another.
const NEW: u8 = b'n';
/// First letter of a temporary file.
const TEMPORARY: u8 = b't';

/// What the loop of one cycle works with, made before the clock runs.
#[derive(Debug)]
pub(crate) struct CycleContext {
    /// At the current file, or at the one that failed.
    pub names: FileNames,
    /// At the further file in the same directory.
    pub sibling: SiblingNames,
    pub sizes: Sizes,
    /// What is written; its stamps carry the version of the cycle.
    pub contents: Contents,
    /// Temporary files of the cycle, and how long the making of each took, ns; with room for all.
    pub temporaries: Vec<(u32, u64)>,
    /// Largest write call.
    pub bs_bytes: u64,
    pub fsync: Fsync,
}

/// What the loop of a cycle calls, and what other threads set while it runs.
#[derive(Debug)]
pub(crate) struct CycleEnv<'a, B> {
    pub backend: &'a B,
    /// Something failed: it ends at its next op.
    pub stopped: &'a AtomicBool,
    /// Another cycle ran at the same time.
    pub overlapped: &'a AtomicBool,
}

impl<B> Clone for CycleEnv<'_, B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for CycleEnv<'_, B> {}

/// What a cycle did.
#[derive(Debug, Default)]
pub(crate) struct CycleOutcome {
    pub tally: Tally,
    /// Files by kind.
    pub kinds: [u64; 5],
    pub collisions: u64,
    /// Whether the call that failed was about the further file, not the one of the dataset.
    pub failed_sibling: bool,
}

/// What is done after each op: nothing, or a clock read and a count.
pub(crate) trait UpdateRecorder {
    /// The cycle begins.
    fn start(&mut self);
    /// An op has ended.
    #[inline(always)]
    fn end_op(&mut self, kind: UpdateKind) {
        self.end_op_with(kind, 0);
    }

    /// The first part of an op has ended; how long it took, ns.
    fn end_part(&mut self) -> u64;
    /// An op has ended of which a part took `carried_ns` before.
    fn end_op_with(&mut self, kind: UpdateKind, carried_ns: u64);
}

/// Latency is not recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoUpdateLatency;

impl UpdateRecorder for NoUpdateLatency {
    #[inline(always)]
    fn start(&mut self) {}

    #[inline(always)]
    fn end_part(&mut self) -> u64 {
        0
    }

    #[inline(always)]
    fn end_op_with(&mut self, _kind: UpdateKind, _carried_ns: u64) {}
}

/// The longest op of a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Worst {
    pub ns: u64,
    pub kind: Option<UpdateKind>,
}

/// Chained latencies, as those of [`crate::hist::Chained`], and the longest of them.
#[derive(Debug)]
pub(crate) struct UpdateLatency<'a, T> {
    ticker: T,
    last: u64,
    histogram: &'a mut Histogram,
    worst: &'a mut Worst,
}

impl<'a, T: Ticker> UpdateLatency<'a, T> {
    /// A recorder that counts into `histogram`.
    pub fn new(ticker: T, histogram: &'a mut Histogram, worst: &'a mut Worst) -> Self {
        Self { ticker, last: 0, histogram, worst }
    }
}

impl<T: Ticker> UpdateRecorder for UpdateLatency<'_, T> {
    #[inline(always)]
    fn start(&mut self) {
        self.last = self.ticker.now();
    }

    #[inline(always)]
    fn end_part(&mut self) -> u64 {
        let now = self.ticker.now();
        // Saturating: counters of two processors may be some ticks apart.
        let part_ns = self.ticker.ns(now.saturating_sub(self.last));
        self.last = now;
        part_ns
    }

    #[inline(always)]
    fn end_op_with(&mut self, kind: UpdateKind, carried_ns: u64) {
        let latency_ns = self.end_part() + carried_ns;
        self.histogram.record(latency_ns);
        if latency_ns > self.worst.ns {
            *self.worst = Worst { ns: latency_ns, kind: Some(kind) };
        }
    }
}

/// Works through `updates`.
#[inline(never)]
pub(crate) fn run<B: Backend, L: UpdateRecorder>(
    context: &mut CycleContext,
    updates: &[Update],
    env: CycleEnv<'_, B>,
    recorder: &mut L,
) -> CycleOutcome {
    let mut done = CycleOutcome::default();
    context.temporaries.clear();
    recorder.start();
    for &update in updates {
        let (file, kind) = (update.file(), update.kind());
        context.names.set(file);
        let outcome = match kind {
            UpdateKind::InPlace => {
                let opened = env.backend.open(context.names.as_c_str(), OpenMode::Write);
                write_over(context, file, opened, env, &mut done.collisions)
            }
            UpdateKind::Truncate => {
                let opened = env.backend.open(context.names.as_c_str(), OpenMode::Truncate);
                write_over(context, file, opened, env, &mut done.collisions)
            }
            UpdateKind::Replace => replace(context, file, env.backend),
            UpdateKind::Recreate => recreate(context, file, env, &mut done.collisions),
            UpdateKind::Temporary => write_sibling(context, file, TEMPORARY, env.backend),
        };
        if !done.tally.count(outcome) {
            done.failed_sibling = matches!(kind, UpdateKind::Replace | UpdateKind::Temporary);
            return done;
        }
        done.kinds[kind as usize] += 1;
        if kind == UpdateKind::Temporary {
            // There is room for all of them.
            context.temporaries.push((file, recorder.end_part()));
        } else {
            recorder.end_op(kind);
        }
        if env.stopped.load(Ordering::Relaxed) {
            return done;
        }
    }
    unlink_temporaries(context, env.backend, recorder, &mut done);
    done
}

/// Unlinks the temporary files in the order in which they were made.
fn unlink_temporaries<B: Backend, L: UpdateRecorder>(
    context: &mut CycleContext,
    backend: &B,
    recorder: &mut L,
    done: &mut CycleOutcome,
) {
    let CycleContext { names, sibling, temporaries, .. } = context;
    for &(file, carried_ns) in temporaries.iter() {
        names.set(file);
        let path = sibling.set(names, TEMPORARY, file);
        if let Err(failure) = at("unlink", backend.unlink(path)) {
            (done.tally.failure, done.failed_sibling) = (Some(failure), true);
            return;
        }
        recorder.end_op_with(UpdateKind::Temporary, carried_ns);
    }
}

/// Writes all of `file`, syncs and closes it.
#[inline(always)]
fn write<B: Backend>(
    context: &mut CycleContext,
    number: u32,
    file: B::File,
    backend: &B,
) -> Result<usize, Failure> {
    let size = (number, context.sizes.file_bytes(number), context.bs_bytes);
    let written = write_all(backend, file, &mut context.contents, size);
    settle_after(backend, context.fsync, file, written)
}

/// Writes over a file of the dataset that was `opened`, or that another cycle removed.
#[inline(always)]
fn write_over<B: Backend>(
    context: &mut CycleContext,
    number: u32,
    opened: Result<B::File, Errno>,
    env: CycleEnv<'_, B>,
    collisions: &mut u64,
) -> Result<usize, Failure> {
    let file = match opened {
        Ok(file) => file,
        Err(errno) => open_after_collision(errno, &context.names, env, collisions)?,
    };
    write(context, number, file, env.backend)
}

/// A new file in its directory, then rename over it.
#[inline(always)]
fn replace<B: Backend>(
    context: &mut CycleContext,
    number: u32,
    backend: &B,
) -> Result<usize, Failure> {
    let written = write_sibling(context, number, NEW, backend)?;
    let (from, to) = (context.sibling.as_c_str(), context.names.as_c_str());
    at("rename", backend.rename(from, to)).map(|()| written)
}

/// unlink, then a new file under the same name.
#[inline(always)]
fn recreate<B: Backend>(
    context: &mut CycleContext,
    number: u32,
    env: CycleEnv<'_, B>,
    collisions: &mut u64,
) -> Result<usize, Failure> {
    let path = context.names.as_c_str();
    let mut collided = 0;
    match env.backend.unlink(path) {
        Err(Errno::NOENT) if env.overlapped.load(Ordering::SeqCst) => collided = 1,
        other => at("unlink", other)?,
    }
    let file = match env.backend.create(path, context.sizes.file_bytes(number)) {
        Ok(file) => file,
        Err(errno) => open_after_collision(errno, &context.names, env, &mut collided)?,
    };
    *collisions += collided.min(1);
    write(context, number, file, env.backend)
}

/// A file of the same size under a name of its own, in the same directory.
#[inline(always)]
fn write_sibling<B: Backend>(
    context: &mut CycleContext,
    number: u32,
    letter: u8,
    backend: &B,
) -> Result<usize, Failure> {
    let CycleContext { names, sibling, sizes, .. } = context;
    let path: &mut SiblingNames = sibling;
    let created = backend.create(path.set(names, letter, number), sizes.file_bytes(number));
    write(context, number, at("open", created)?, backend)
}

/// The open of a file of the dataset failed with `errno`: it was gone, or made again. Where
/// another cycle can have done that, the file is taken as it is, or made.
#[cold]
fn open_after_collision<B: Backend>(
    errno: Errno,
    names: &FileNames,
    env: CycleEnv<'_, B>,
    collisions: &mut u64,
) -> Result<B::File, Failure> {
    if !matches!(errno, Errno::NOENT | Errno::EXIST) || !env.overlapped.load(Ordering::SeqCst) {
        return Err(Failure { call: "open", errno: Some(errno) });
    }
    *collisions += 1;
    at("open", env.backend.open(names.as_c_str(), OpenMode::Create))
}
