//! Why a RUN could not begin or go on.

use crate::journal::JournalError;
use fsarena_store::StoreError;
use std::path::PathBuf;

/// Why a RUN could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A target could not be had.
    #[error("{error}{}", remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default())]
    Target {
        /// What is wrong.
        error: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// The database lies where the work would be done.
    #[error(
        "the database {} lies in {}, which is under test; name another with --db",
        database.display(), target.display()
    )]
    DatabaseUnderTest { database: PathBuf, target: PathBuf },
    /// What lies under the targets has changed since the trials that are done.
    #[error("the rest of the RUN would not be comparable: {changes}; begin a new RUN instead")]
    Changed {
        /// Each change.
        changes: String,
    },
    /// The user asked to stop before the first trial.
    #[error("stopped")]
    Stopped,
    /// Nothing in the plan can be run here.
    #[error("nothing to run: {reasons}")]
    Nothing {
        /// Each contender with its reason.
        reasons: String,
    },
    /// Another program measured it.
    #[error(
        "{label} was measured by {program} and cannot be run by fsarena; plan it anew with `fsarena \
         run`"
    )]
    Imported { label: String, program: String },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An executor could not be started.
    #[error("{program}: cannot be started: {source}")]
    Start { program: String, source: std::io::Error },
}

impl From<fsarena_devices::TargetError> for RunError {
    fn from(error: fsarena_devices::TargetError) -> Self {
        if let fsarena_devices::TargetError::Stopped { .. } = error {
            return Self::Stopped;
        }
        Self::Target { remedy: error.remedy(), error: error.to_string() }
    }
}

impl From<fsarena_devices::Refusal> for RunError {
    fn from(refusal: fsarena_devices::Refusal) -> Self {
        Self::Target { error: refusal.to_string(), remedy: None }
    }
}
