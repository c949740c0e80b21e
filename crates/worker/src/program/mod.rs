//! Programs that do the work of a phase in place of the engine: fio for a phase of a job file, and
//! those that people use for real work.
//!
//! | module | what |
//! |---|---|
//! | `find` | where programs are: a fixed list of directories, links followed for the record |
//! | `lifetime` | versions, start in the root, waiting, the end of standard error |
//! | `fio` | [`FioRun`] |
//! | `work` | [`JobRun`]: cp, rm, tar, flac, oggenc, make, a shell; one file a kind |
//!
//! Before `go` programs are only asked things, never with the root as their working directory, and
//! nothing below the root is looked at. No other module of this crate starts a process.

mod find;
mod fio;
mod lifetime;
mod work;

pub use find::{Missing, find_programs};
pub use fio::FioRun;
use fsarena_foreign::fio::FioError;
use fsarena_model::braces::Unfilled;
use std::io;
use std::path::PathBuf;
pub(crate) use work::OPEN_IT;
pub use work::{HookRun, JobRun};

/// Why a job cannot be run here.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The job file is refused.
    #[error("fio job file: {0}")]
    Job(#[from] FioError),
    /// It has no such phase.
    #[error("fio job file: no phase is called {name:?}; there are: {known}")]
    NoPhase {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A program is not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Its version is too old, or not told.
    #[error("{program} calls itself {printed:?}; fio {oldest}.0 or newer is needed")]
    Version {
        program: PathBuf,
        /// What `fio --version` printed.
        printed: String,
        /// First number of the oldest that will do.
        oldest: u32,
    },
    /// fio does not understand the job.
    #[error("fio does not take the job: {printed}; see fio --cmdhelp=all for the keys of this fio")]
    NotTaken {
        /// What it printed.
        printed: String,
    },
    /// A program cannot be started, or there is no memory for its input and output.
    #[error("{program}: cannot be run: {source}")]
    Run { program: PathBuf, source: io::Error },
    /// A shell command holds a word in braces that means nothing.
    #[error("command {command:?}: {source}")]
    Braces {
        /// As written.
        command: String,
        source: Unfilled,
    },
    /// A job that no program does, or that would work outside the root.
    #[error("phase {phase}: {what}; {remedy}")]
    Task {
        phase: String,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
}
