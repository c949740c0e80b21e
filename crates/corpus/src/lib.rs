//! Datasets of real work: seeded trees, files and archives, byte-identical on every machine.
//!
//! A dataset is described by a small TOML ([`Description`]; the built-in ones lie in `datasets/`),
//! resolved into a [`Tree`], and written below a directory or packed into an archive, both straight
//! from the description. The user's own directories and archives are looked at by [`own`].
//!
//! It knows nothing of devices, file systems and trials, and never measures.
//!
//! What can go wrong is a [`CorpusError`]: its place, what is wrong and what to do. The reason of a
//! failed call is in its text and nowhere else: who prints a chain of errors would say it twice.
#![forbid(unsafe_code)]

mod archive;
mod builtin;
mod compress;
pub mod contents;
mod description;
mod name;
pub mod own;
mod pieces;
mod tree;
mod write;

pub use builtin::{builtin, names, small};
pub use compress::{Writer, reader, writer};
pub use description::Description;
pub use tree::{ClassFigures, Entry, EntryKind, Tree};
pub use write::Written;

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A dataset that cannot be read, made, packed or used.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// The description of a dataset is not right.
    #[error("{file}:{line}: {what}; {remedy}")]
    Description {
        /// Name of the file, as the caller gave it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The caller asked to stop.
    #[error("stopped before all was done")]
    Stopped,
    /// A call of the system failed.
    #[error("{call} {path}: {error}")]
    Call {
        /// The system call.
        call: &'static str,
        /// The path it was for, as far as it can be shown.
        path: String,
        error: io::Error,
    },
    /// An archive could not be written.
    #[error("cannot write the archive at {path}: {error}")]
    Pack {
        /// The member at which it failed.
        path: String,
        error: io::Error,
    },
    /// What the user gave cannot be a dataset.
    #[error("{}: {what}; {remedy}", path.display())]
    Own {
        /// What the user gave.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// An archive of the user's is damaged, or cut off.
    #[error(
        "{}: damaged or cut off after {}: {error}; fetch or pack the archive again",
        path.display(),
        counted(*members)
    )]
    Damaged {
        path: PathBuf,
        /// Members that could be read before it.
        members: u64,
        /// The error of who reads it.
        error: io::Error,
    },
    /// A member of an archive, or an entry of a tree, is refused.
    #[error("{}: {member:?} {what}; {remedy}", path.display())]
    Refused {
        /// The archive or the tree.
        path: PathBuf,
        /// The member's name, lossily.
        member: String,
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
}

/// A number of members, in words.
fn counted(members: u64) -> String {
    format!("{members} {}", if members == 1 { "member" } else { "members" })
}

impl CorpusError {
    /// A failed call on `path`.
    pub(crate) fn call(call: &'static str, path: &str, errno: rustix::io::Errno) -> Self {
        let path = if path.is_empty() { "." } else { path }.to_owned();
        Self::Call { call, path, error: errno.into() }
    }
}
