//! Why a phase or a check is refused before anything is touched.
//!
//! Every text names the place, says what is wrong and what to do. What goes wrong *in* a phase is
//! part of its report ([`fsarena_model::work::OpError`]), never one of these.

use crate::names::NameError;
use crate::uring::UringError;
use rustix::io::Errno;
use std::path::PathBuf;

/// Why a phase or a check could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The root cannot be opened.
    #[error("dataset root {path}: cannot open it as a directory: {source}")]
    Root {
        /// The root.
        path: PathBuf,
        /// Why.
        source: Errno,
    },
    /// A directory of the dataset cannot be made.
    #[error("directory {name} of the dataset: cannot make it: {source}")]
    MakeDir {
        /// Its name below the root.
        name: String,
        /// Why.
        source: Errno,
    },
    /// The names do not hold the numbers.
    #[error(transparent)]
    Names(#[from] NameError),
    /// A call of no bytes.
    #[error("phase {phase}: bs_bytes is 0; give the bytes of one call, such as 1048576")]
    NoBlockSize {
        /// The phase.
        phase: String,
    },
    /// Settings that cannot go together.
    #[error("phase {phase}: {what}; {remedy}")]
    Mix {
        /// The phase.
        phase: String,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// io_uring cannot do the phase here.
    #[error("phase {phase}: {source}")]
    Uring {
        /// The phase.
        phase: String,
        /// Why.
        source: UringError,
    },
    /// No memory for buffers.
    #[error("buffers for calls of {bs_bytes} bytes: {source}; use a smaller block size")]
    Memory {
        /// Bytes of one call.
        bs_bytes: u64,
        /// Why.
        source: Errno,
    },
}
