//! Why a watch cannot begin or go on.

use fsarena_metrics::MetricError;
use std::io;
use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Nothing of this name, or no device or directory.
    #[error(transparent)]
    NotATarget(#[from] fsarena_doctor::NotATarget),
    /// Devices or mounts could not be listed, or what was named is not among them.
    #[error("{}: {reason}", path.display())]
    Unseen {
        /// What was named.
        path: PathBuf,
        reason: String,
    },
    /// The file system has no device here.
    #[error("{}: is on {fstype}, {why}", path.display())]
    NoDevice {
        /// What was named.
        path: PathBuf,
        /// Type of the file system.
        fstype: String,
        /// What that means, and what to watch instead.
        why: String,
    },
    /// There is a device without a medium.
    #[error("{}: has no medium (its size is 0); attach or insert one first", path.display())]
    Empty { path: PathBuf },
    /// Counters cannot be read.
    #[error(transparent)]
    Counters(#[from] MetricError),
    /// The journal cannot be written or read.
    #[error("{}: {source}; set FSARENA_STATE_DIR to keep samples elsewhere", path.display())]
    Journal { path: PathBuf, source: io::Error },
    /// The terminal does not do what it is told.
    #[error("the terminal: {0}; `fsarena watch … | cat` prints plain lines")]
    Terminal(io::Error),
}
