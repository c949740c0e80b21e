//! Why there is no trace, with what to do.

use crate::request::BlockDevice;
use std::io;
use std::path::{Path, PathBuf};

/// Why block requests cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// There is no tracefs.
    #[error(
        "tracefs is not mounted, so block requests cannot be traced; \
         mount it: mount -t tracefs none /sys/kernel/tracing"
    )]
    NotMounted,
    /// There is no right to it.
    #[error(
        "{}: not permitted: {source}; run as root, in a kernel that is not locked down",
        path.display()
    )]
    NotPermitted {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has no such event.
    #[error(
        "{}: this kernel has no such event; it needs CONFIG_BLK_DEV_IO_TRACE, \
         or a directory with tracefs",
        path.display()
    )]
    NoEvent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Somebody uses the name.
    #[error(
        "{}: there is such an instance already; end the run that uses it, or remove it: rmdir {}",
        path.display(), path.display()
    )]
    Exists {
        /// The instance.
        path: PathBuf,
    },
    /// The name is none.
    #[error("{name:?} is no name of a trace instance; begin it with \"fsarena-\", without \"/\"")]
    Name {
        /// The name.
        name: String,
    },
    /// The device is not there.
    #[error("{}: no such file; is {device} a block device of this machine?", path.display())]
    NoDevice {
        /// Its number.
        device: BlockDevice,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It does not go together.
    #[error("{device}: {problem}; trace the whole device")]
    Device {
        /// Its number.
        device: BlockDevice,
        /// What.
        problem: &'static str,
    },
    /// A file of the kernel is not as this program knows it.
    #[error("{}: {problem}; this kernel has a form that fsarena does not know", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Another call failed.
    #[error("{call} {}: {source}", path.display())]
    Io {
        /// What was tried.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The thread that reads the trace could not be started, or panicked.
    #[error("the thread that reads the trace: {0}")]
    Thread(String),
}

impl TraceError {
    /// An error of a call on a file of tracefs.
    pub(crate) fn io(call: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { path, source },
            _ => Self::Io { call, path, source },
        }
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), problem: problem.into() }
    }
}
