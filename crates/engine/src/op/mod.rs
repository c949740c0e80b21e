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
mod files;
mod random;

pub(crate) use files::write_all;
pub(crate) use random::is_read;

use crate::backend::Backend;
use crate::crew::{Gate, Hand};
use crate::hist::Recorder;
use crate::names::FileNames;
use crate::pattern::{InOrder, Scattered, Walk};
use crate::share::{FileShare, Share};
use fsarena_model::work::{Fsync, Op};
use rustix::io::Errno;

/// A call that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    /// System call.
    pub call: &'static str,
    /// Its error; `None` where it did less than asked without one.
    pub errno: Option<Errno>,
}

impl Failure {
    /// Error number and words. A write that took less than it was given says no error; where the
    /// space that is left is less than a call of `call_bytes`, it is what the next would say: no
    /// space.
    pub fn told(&self, call_bytes: u64, free_bytes: impl FnOnce() -> Option<u64>) -> (i32, String) {
        let is_full = || self.call == "write" && free_bytes().is_some_and(|free| free < call_bytes);
        let errno = self.errno.or_else(|| is_full().then_some(Errno::NOSPC));
        let text = match errno {
            Some(errno) => errno.to_string(),
            None if self.call == "read" => "fewer bytes than the file should hold".to_owned(),
            None => "fewer bytes taken than given".to_owned(),
        };
        (errno.map_or(0, Errno::raw_os_error), text)
    }
}

/// What a loop did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Ops completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Of these, written; counted only where reads and writes are mixed.
    pub written_bytes: u64,
    /// Why it ended early; the cursor stands on the file.
    pub failure: Option<Failure>,
    /// Number of the op that failed, where it is not the one after `ops`: others were in flight.
    pub failed_op: Option<u64>,
}

impl Tally {
    /// Counts an op; `false` at a failure.
    #[inline(always)]
    pub fn count(&mut self, outcome: Result<usize, Failure>) -> bool {
        match outcome {
            Ok(bytes) => {
                self.ops += 1;
                self.bytes += bytes as u64;
                true
            }
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }
}

/// Names the call of an error.
#[inline(always)]
pub(crate) fn at<T>(call: &'static str, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { call, errno: Some(errno) })
}

/// A call that must move exactly `asked` bytes.
#[inline(always)]
pub(crate) fn full(
    call: &'static str,
    asked: usize,
    result: Result<usize, Errno>,
) -> Result<usize, Failure> {
    let moved = at(call, result)?;
    if moved == asked { Ok(moved) } else { Err(Failure { call, errno: None }) }
}

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
fn settle_after<B: Backend>(
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

/// fsync of the directory of a file or directory, as failures name it: the path is the op's.
pub(crate) const SYNC_PARENT: &str = "fsync of the directory that holds";

/// fsync of the directory at `path`.
fn sync_dir<B: Backend>(backend: &B, path: &std::ffi::CStr) -> Result<(), Failure> {
    let dir = at("open", backend.open_dir(path))?;
    let synced = at(SYNC_PARENT, backend.fsync(dir));
    let closed = at("close", backend.close(dir));
    synced.and(closed)
}

/// What becomes of the directories of files.
#[derive(Debug)]
struct Parents<'a> {
    /// Whether the op's directory is synced after each op.
    each: bool,
    /// Files that are left in each directory; empty where directories are not synced.
    left: &'a mut [u32],
}

impl Parents<'_> {
    /// After a file is done: syncs its directory where that is due.
    #[inline(always)]
    fn after<B: Backend>(
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

/// Runs `one` for each file in the order of `walk`, with one lap an op.
#[inline(always)]
fn each_file<B: Backend, R: Recorder, W: Walk>(
    (backend, gate): (&B, &Gate),
    (names, walk): (&mut FileNames, W),
    mut parents: Parents<'_>,
    recorder: &mut R,
    mut one: impl FnMut(&FileNames, u32) -> Result<usize, Failure>,
) -> Tally {
    let mut tally = Tally::default();
    for index in 0..walk.count() {
        let file = walk.place(names, index);
        let outcome = one(names, file);
        let outcome = parents.after(backend, names, outcome);
        if !tally.count(outcome) {
            break;
        }
        recorder.lap();
        if gate.is_stopped() {
            break;
        }
    }
    tally
}

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
