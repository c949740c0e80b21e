//! What can be wrong with a bundle.

use std::io;
use std::path::PathBuf;

/// Why a bundle could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is no bundle, or a damaged one.
    #[error("is no bundle of fsarena, or a damaged one: {0}")]
    Damaged(String),
    /// It has more than is taken from anybody.
    #[error("has {0}, and is not unpacked")]
    TooMuch(String),
    /// A file of ours could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        source: io::Error,
    },
    /// The bundle could not be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
}
