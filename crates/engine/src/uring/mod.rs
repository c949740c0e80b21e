//! io_uring(7): one ring a thread, as many ops in flight as `iodepth` says.
//!
//! A loop is made before its thread waits at the barrier, and by the thread itself (the kernel then
//! needs no lock for the ring): ring, slots, a buffer a slot, a table of files. It fills all free
//! slots, enters the kernel once, which submits them and waits for at least one completion, and
//! handles the completions. Nothing in it allocates. After a failure no op is begun, and
//! those in flight are waited for.
//!
//! | module | what |
//! |---|---|
//! | `thread` | one thread of a phase: its clocks, its ring |
//! | `ring` | what the kernel can do; setup and registration |
//! | `blocks` | calls in big files, in order or at random |
//! | `files` | whole small files, and ops on names |
//! | `sources`, `dirs` | where both get their work from: the context of a thread |
//! | `paths` | memory for the names of ops in flight |
//! | `recorder` | latencies of ops that overlap |
//! | `whole_files` | reads of many whole files that nobody times |
//!
//! What a loop did, the first op that failed, and the blocking sync of a directory between ops are
//! here. There is no opcode for reading directories: `list` is refused.

mod actions;
mod blocks;
mod dirs;
mod files;
mod paths;
mod recorder;
mod ring;
mod sources;
mod thread;
mod whole_files;

pub use ring::check;
pub(crate) use thread::run_thread;
pub use whole_files::WholeFileReader;

use crate::op::SYNC_PARENT;
use crate::outcome::Failure;
use rustix::fd::BorrowedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;

#[derive(Debug, Clone, Copy)]
pub(super) struct FailedOp {
    /// Number of the op within the thread, in the order of submission.
    pub op: u64,
    /// Number of its file or directory.
    pub file: u64,
    pub failure: Failure,
}

/// What a loop did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LoopOutcome {
    pub ops: u64,
    pub bytes: u64,
    /// Of these, written.
    pub written_bytes: u64,
    /// The first op, by number, that failed.
    pub failed: Option<FailedOp>,
}

impl LoopOutcome {
    /// Notes a failure; of several, the one with the lowest number counts.
    pub fn fail(&mut self, failed: FailedOp) {
        if self.failed.is_none_or(|first| failed.op < first.op) {
            self.failed = Some(failed);
        }
    }

    /// Whether the loop goes on after an `io_uring_enter` that failed: one that was interrupted, or
    /// found no memory for a moment, is made again.
    pub fn survives(&mut self, errno: Errno, op: u64) -> bool {
        let again = matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY);
        if !again {
            let failure = Failure { call: "io_uring_enter", errno: Some(errno) };
            self.fail(FailedOp { op, file: 0, failure });
        }
        again
    }
}

/// fsync(2) of the directory at `path`, with blocking calls.
pub(super) fn sync_dir(lookup: BorrowedFd<'_>, path: &CStr) -> Result<(), Failure> {
    let at = |call| move |errno| Failure { call, errno: Some(errno) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let dir = rustix::fs::openat(lookup, path, flags, Mode::empty()).map_err(at("open"))?;
    rustix::fs::fsync(&dir).map_err(at(SYNC_PARENT))
}
