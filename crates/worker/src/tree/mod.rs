//! The engine's own copy, delete and untar of trees: next to `cp`, `rm` and `tar` on the same tree
//! they tell the cost of a program from that of the file system.
//!
//! ```text
//! // before `go`: memory made and touched, nothing below the root looked at
//! let mut run = TreeRun::prepare(&task)?;                  // TreeError
//! // after `go`: the job between two clock reads, then syncfs
//! let report: WorkerReport = run.run(&root);
//! ```
//!
//! | module | what |
//! |---|---|
//! | `copy` | `cp -a --reflink=…` |
//! | `body` | contents of one file |
//! | `attributes` | owner, mode, times, extended attributes |
//! | `delete` | `rm -rf` |
//! | `untar` | `tar -x` |
//! | `member` | which members of an archive may be unpacked |
//! | `error` | why a job is refused, what goes wrong with an entry |
//! | `path_walker` | directories by path, without following a link |
//! | `entry_names` | names in the directories of the path |
//! | `entry_timer` | latency of each entry |
//! | `stage` | the source of a workload, staged where the work is done |
//! | `compare` | whether copies hold what their originals do |
//!
//! An op is an entry: a file, a symbolic link or a directory; the root of a tree is none, so that
//! the ops are [`Contents::entries`](fsarena_model::job::Contents::entries). All is done by one
//! thread, as the programs do it (but that tar leaves the decompression to a second process). The
//! calls are of the same kind as those of the programs, not the very same: cp(1) reads and writes
//! with buffers of 128 KiB or more by its version, and looks at more than it has to.
//!
//! Paths of errors are relative to the root, or absolute where the source lies elsewhere.
//!
//! Once memory is as large as the tree wants it, a file costs no allocation but for its header in
//! an archive (a library's) and for the table of files with several names.

mod attributes;
mod body;
mod compare;
mod copy;
mod delete;
mod entry_names;
mod entry_timer;
mod error;
mod member;
mod path_walker;
mod stage;
#[cfg(test)]
mod tests;
mod untar;

pub use compare::compare;
pub use error::TreeError;
#[doc(hidden)]
pub use member::{UnpackedName, unpacked_names};
pub use stage::stage;

use copy::{ByteCounts, Copier};
use delete::Deleter;
use entry_timer::EntryTimer;
use error::{EntryError, Failure, NameCall as _, terminated};
use fsarena_engine::InjectedDelay;
use fsarena_engine::clock::monotonic_ns;
use fsarena_engine::durable::process_cpu_ns;
use fsarena_engine::outcome::sync_error;
use fsarena_engine::resources::Usage;
use fsarena_engine::root::Root;
use fsarena_model::job::JobKind;
use fsarena_model::work::{JobTask, WorkerReport};
use path_walker::DIR_FLAGS;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::Mode;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::atomic::{Ordering, compiler_fence};
use untar::Unpacker;

#[derive(Debug)]
enum Work {
    Copy(Box<Copier>),
    Delete(Deleter),
    Untar(Box<Unpacker>),
}

/// A job on a tree that is ready to run.
#[derive(Debug)]
pub struct TreeRun {
    work: Work,
    timer: EntryTimer,
    input: CString,
    /// What it makes; for a delete of no use.
    product: CString,
    /// Slept after the last entry.
    pub delay: InjectedDelay,
}

impl TreeRun {
    /// Makes and touches memory; looks at nothing below the root.
    ///
    /// # Errors
    /// When the engine has no such job, a path cannot be used, a source elsewhere is closed to this
    /// user or there is no memory.
    pub fn prepare(task: &JobTask) -> Result<Self, TreeError> {
        let elsewhere = Some(&task.input).filter(|input| input.is_absolute());
        if let Some(closed) = elsewhere.and_then(|input| crate::closed(input)) {
            let (phase, path) = (task.name.clone(), task.input.clone());
            return Err(TreeError::Closed { phase, path, closed });
        }
        let entries = task.contents.entries();
        let work = match &task.job.kind {
            JobKind::Copy => {
                let copier = Copier::new(task.reflink, entries).map_err(TreeError::Memory)?;
                Work::Copy(Box::new(copier))
            }
            JobKind::Delete => Work::Delete(Deleter::new(entries)),
            JobKind::Untar { compression } => {
                let unpacker = Unpacker::new(*compression, task.contents.dirs);
                Work::Untar(Box::new(unpacker.map_err(TreeError::Memory)?))
            }
            other => {
                let (phase, kind) = (task.name.clone(), other.name());
                return Err(TreeError::Kind { phase, kind });
            }
        };
        let product = task.job.product(&task.name).unwrap_or_default();
        Ok(Self {
            work,
            timer: EntryTimer::new(task.latency),
            input: terminated(&task.input)?,
            product: terminated(Path::new(&product))?,
            delay: InjectedDelay::default(),
        })
    }

    /// Does the job below `root` and reports. The directory that an archive is unpacked into is
    /// made right after the first clock read, and is of no entry.
    pub fn run(&mut self, root: &Root) -> WorkerReport {
        let base = root.lookup();
        let Self { work, timer, input, product, delay } = self;
        let paths = (input.as_c_str(), product.as_c_str());
        let before = Usage::now();
        let before_cpu_ns = process_cpu_ns();
        compiler_fence(Ordering::SeqCst);
        let start_ns = monotonic_ns();
        timer.start();
        let (bytes, result) = match work {
            Work::Copy(copier) => {
                let result = copier.run(base, paths, timer);
                (copier.bytes(), result)
            }
            Work::Delete(deleter) => (ByteCounts::default(), deleter.run(base, paths.0, timer)),
            Work::Untar(unpacker) => match new_dir(base, paths.1) {
                Ok(into) => {
                    timer.split();
                    unpacker.run(base, paths, into, timer)
                }
                Err(error) => {
                    let failure = Failure::new(error, paths.1.to_bytes().to_vec());
                    (ByteCounts::default(), Err(failure))
                }
            },
        };
        if result.is_ok() {
            delay.sleep();
        }
        let done_ns = monotonic_ns();
        compiler_fence(Ordering::SeqCst);
        let usage = Usage::now().since(&before);
        let durable = root.make_durable();
        let error = match (result, durable) {
            (Err(failure), _) => Some(failure.op_error(timer.ops)),
            (Ok(()), Err(errno)) => Some(sync_error(timer.ops, errno)),
            (Ok(()), Ok(_)) => None,
        };
        WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: done_ns,
            durable_monotonic_ns: durable.ok().map(|durable| durable.monotonic_ns),
            cpu_ns: durable.ok().map(|durable| durable.cpu_ns.saturating_sub(before_cpu_ns)),
            ops: timer.ops,
            asked_bytes: bytes.read_bytes + bytes.written_bytes,
            asked_written_bytes: Some(bytes.written_bytes),
            latency: timer.latency(),
            error,
            usage,
            ..WorkerReport::default()
        }
    }
}

/// The new directory that an archive is unpacked into, open.
fn new_dir(base: BorrowedFd<'_>, product: &CStr) -> Result<OwnedFd, EntryError> {
    let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
    rustix::fs::mkdirat(base, product, mode).making("mkdirat")?;
    rustix::fs::openat(base, product, DIR_FLAGS, Mode::empty()).making("openat")
}
