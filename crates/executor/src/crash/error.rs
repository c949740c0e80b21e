//! Why a guest could not work until the power went, or not check what that left.

use fsarena_crash::phases::PhasesError;
use fsarena_devices::TargetError;
use fsarena_filesystems::UnknownFs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a guest could not do it.
#[derive(Debug, thiserror::Error)]
pub(super) enum CrashError {
    #[error("crash task: {0}")]
    Task(#[from] serde_json::Error),
    #[error(transparent)]
    Phases(#[from] PhasesError),
    #[error(transparent)]
    FileSystem(#[from] UnknownFs),
    #[error(transparent)]
    Device(#[from] TargetError),
    #[error("{0} is not mounted by the kernel alone")]
    NoKernelMount(String),
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

impl CrashError {
    /// Of a call on this path.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
