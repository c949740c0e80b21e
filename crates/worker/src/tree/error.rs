//! Why a job on a tree is refused, and what goes wrong with an entry: call, side and reason while
//! it runs, words afterwards.

use fsarena_corpus::CorpusError;
use fsarena_model::work::OpError;
use rustix::io::Errno;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Why a job on a tree, or the staging of a source, cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The engine has no such job.
    #[error("phase {phase}: the engine does not do {kind}; leave it to the program")]
    Kind { phase: String, kind: &'static str },
    /// A source elsewhere that the user who does the work may not read.
    #[error(
        "phase {phase}: the user of the work may not read {path}: {closed} is closed to it; {}",
        crate::program::OPEN_IT
    )]
    Closed {
        phase: String,
        path: PathBuf,
        /// The directory on the way, or the source itself.
        closed: PathBuf,
    },
    /// A path that no system call takes.
    #[error("{path:?}: the path has a NUL in it; rename it")]
    Path { path: PathBuf },
    /// No memory for buffers.
    #[error("buffers for trees: {0}; free some memory")]
    Memory(Errno),
    /// There is nothing to stage.
    #[error("source {name}: {what}")]
    Source {
        /// Name of the source.
        name: String,
        /// What is wrong, and what to do.
        what: &'static str,
    },
    /// The source cannot be described or generated.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The source cannot be staged.
    #[error("source {name}: {call} of {path}: {text}")]
    Stage {
        /// Name of the source.
        name: String,
        /// System call.
        call: &'static str,
        path: String,
        text: String,
    },
}

/// A path for system calls.
pub(super) fn terminated(path: &Path) -> Result<CString, TreeError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| TreeError::Path { path: path.to_owned() })
}

/// Which tree a call was made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What is read, or removed.
    Source,
    /// What is made.
    Made,
}

/// A call that failed, or an entry that is refused. Small, since every call may return one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryError {
    pub call: &'static str,
    pub side: Side,
    /// `None` where no call failed.
    pub errno: Option<Errno>,
    /// In words, where there is no errno.
    pub what: &'static str,
}

impl EntryError {
    /// An entry that is refused after `call` showed what it is.
    pub fn refused(call: &'static str, side: Side, what: &'static str) -> Self {
        Self { call, side, errno: None, what }
    }
}

/// Names the call that an errno came from.
pub(super) trait NameCall<T> {
    /// Of a call in what is read.
    fn reading(self, call: &'static str) -> Result<T, EntryError>;
    /// Of a call in what is made.
    fn making(self, call: &'static str) -> Result<T, EntryError>;
}

impl<T> NameCall<T> for Result<T, Errno> {
    #[inline(always)]
    fn reading(self, call: &'static str) -> Result<T, EntryError> {
        self.map_err(|errno| EntryError { call, side: Side::Source, errno: Some(errno), what: "" })
    }

    #[inline(always)]
    fn making(self, call: &'static str) -> Result<T, EntryError> {
        self.map_err(|errno| EntryError { call, side: Side::Made, errno: Some(errno), what: "" })
    }
}

/// An [`EntryError`] with its path: the end of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub call: &'static str,
    /// As it was named: relative to the root, or absolute.
    pub path: Vec<u8>,
    pub errno: Option<Errno>,
    pub text: String,
}

impl Failure {
    /// `error` at `path`.
    pub fn new(error: EntryError, path: Vec<u8>) -> Self {
        let text = error.errno.map_or_else(|| error.what.to_owned(), |errno| errno.to_string());
        Self { call: error.call, path, errno: error.errno, text }
    }

    /// Of a stream that is read through a library.
    pub fn stream(error: &std::io::Error, path: &[u8]) -> Self {
        let errno = error.raw_os_error().map(Errno::from_raw_os_error);
        Self { call: "read", path: path.to_vec(), errno, text: error.to_string() }
    }

    /// The path for people.
    pub fn shown_path(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// For a report, after `ops` entries.
    pub fn op_error(&self, ops: u64) -> OpError {
        OpError {
            op_index: ops,
            thread: None,
            call: self.call.to_owned(),
            path: self.shown_path(),
            errno: self.errno.map_or(0, Errno::raw_os_error),
            text: self.text.clone(),
        }
    }
}

/// `base/path`, without a slash where one of them is empty.
pub(super) fn joined(base: &[u8], path: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if base.is_empty() || path.is_empty() { b"" } else { b"/" };
    [base, slash, path].concat()
}
