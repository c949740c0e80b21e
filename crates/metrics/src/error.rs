//! Errors of reading kernel files: they name path, line and item.

use std::io;
use std::path::PathBuf;

/// What went wrong while reading counters. A file that is not there is no error.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// A file is there, and could not be opened or read.
    #[error("{}: cannot read it: {source}", path.display())]
    Read {
        /// File.
        path: PathBuf,
        source: io::Error,
    },
    /// A file does not have the form that the kernel documents.
    #[error(
        "{}:{line}: {item}: found {found:?}, expected {expected}; \
         this kernel prints a form that fsarena does not know: please report the line",
        path.display()
    )]
    Malformed {
        /// File.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Which value of the line.
        item: String,
        /// What stands there (at most 64 characters).
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// The block device has no counters.
    #[error("{}: no such file; is {device} a block device of this machine?", path.display())]
    NoDevice {
        device: String,
        /// File looked for.
        path: PathBuf,
    },
    /// The block device does not count.
    #[error("{device} does not count its requests; switch it on: echo 1 > {}", path.display())]
    CountingOff { device: String, path: PathBuf },
    /// The sampling thread could not be started.
    #[error("cannot start the sampling thread: {0}")]
    Thread(io::Error),
    /// The sampling thread panicked.
    #[error("the sampling thread panicked: {0}")]
    Panicked(String),
}

/// A malformed item, before its path is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Malformed {
    /// Line, from 1.
    pub line: usize,
    /// Which value of the line.
    pub item: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: &'static str,
}

impl Malformed {
    /// Describes an item; only ever called on the way to an error, so it may allocate.
    pub fn new(line: usize, item: &str, found: &[u8], expected: &'static str) -> Self {
        let text = String::from_utf8_lossy(found);
        Self { line, item: item.to_owned(), found: text.chars().take(64).collect(), expected }
    }

    /// Adds the path.
    pub fn at(self, path: PathBuf) -> MetricError {
        let Self { line, item, found, expected } = self;
        MetricError::Malformed { path, line, item, found, expected }
    }
}
