//! The worker: one process for one task, spoken to in lines of JSON, and the work that is not the
//! engine's own loops.
//!
//! | module | what |
//! |---|---|
//! | [`program`] | programs that do the work in place of the engine |
//! | [`tree`] | real work on trees: copy, delete, untar |
//!
//! What is timed in a phase of ops is in `fsarena-engine`; here are the task's preparation, the
//! protocol on standard input and output, programs as work, and work on trees. It knows nothing of
//! experiments, records or reports. The only process it starts is a program that is the work
//! itself.

#![forbid(unsafe_code)]

pub mod program;
mod session;
pub mod tree;

pub use session::{WorkerError, worker_main};

use rustix::fs::{Access, access};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

// The root itself is entered before the worker becomes the user of the work
// ([`fsarena_engine::Root::enter`]); all other places are found by their paths. Only names, owners
// and modes are looked at here.

/// The directory that keeps this user from `path`: the first on the way that is closed. `None`
/// where the way is open, or `path` is not there.
pub(crate) fn closed_way(path: &Path) -> Option<PathBuf> {
    let is_closed = |path: &Path| {
        path.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::PermissionDenied)
    };
    if !is_closed(path) {
        return None;
    }
    let on_the_way: Vec<&Path> = path.ancestors().collect();
    let first = on_the_way.into_iter().rev().find(|step| is_closed(step))?;
    Some(first.parent().unwrap_or(first).to_owned())
}

/// What keeps this user from reading `path`: a directory on the way, or the thing itself.
pub(crate) fn closed(path: &Path) -> Option<PathBuf> {
    let itself = || {
        let way_in = if path.is_dir() { Access::EXEC_OK } else { Access::empty() };
        let denied = access(path, Access::READ_OK | way_in)
            .is_err_and(|errno| errno == rustix::io::Errno::ACCESS);
        denied.then(|| path.to_owned())
    };
    closed_way(path).or_else(itself)
}
