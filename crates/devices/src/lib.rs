//! Everything that can destroy data: images, loop devices, mkfs, mounts, caches, and the removal
//! of what a dead run left.
//!
//! A path becomes a target only through [`vet`]; [`claim`] makes or takes the device and holds it;
//! [`ssd`] and [`queue`] bring it into a stated state; [`format`](mod@format) and [`mount`] make
//! and mount a file system in typed states that undo themselves in reverse order. Whatever is made
//! here has `fsarena` in its name or is recognised by what the kernel numbers once, and nothing
//! else is ever removed. A block device of the user's is written only as [`inventory`] has found it
//! to be the one that was given up. This crate never measures and never prints.
#![expect(unsafe_code, reason = "ioctls of block devices")]

pub mod cache;
pub mod claim;
mod device_events;
mod device_lock;
pub mod extents;
mod fiemap;
pub mod format;
pub mod frozen;
pub mod image;
pub mod inventory;
pub mod kept_image;
pub mod leftovers;
pub mod loopdev;
pub mod map;
pub mod mapped;
pub mod members;
pub mod mount;
pub mod mountinfo;
mod own_fill;
pub mod queue;
mod reopen;
pub mod served;
pub mod settle;
pub mod ssd;
pub mod state_dir;
pub mod state_file;
pub mod sysctl;
mod thaw;
pub mod vet;

pub use reopen::GUEST_PARTITION;

use fsarena_filesystems::{FsError, IllegalLevel};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::units::Bytes;
use fsarena_process::cmd::CmdError;
#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use std::io;
use std::path::{Path, PathBuf};

/// A path that will not become a target, with the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}; {remedy}", path.display())]
pub struct Refusal {
    /// The path as the user wrote it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// What to do instead.
    pub remedy: String,
}

impl Refusal {
    pub(crate) fn new(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), reason: reason.into(), remedy: remedy.into() }
    }
}

/// Why something could not be made, mounted or taken down.
///
/// The text of [`Refusal`], [`IllegalLevel`] and a missing tool holds the remedy already; for the
/// others [`TargetError::remedy`] gives it.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The path is no target.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The level cannot be had.
    #[error(transparent)]
    Illegal(#[from] IllegalLevel),
    /// A program failed.
    #[error(transparent)]
    Command(#[from] CmdError),
    /// A file system could not be made or read back.
    #[error(transparent)]
    FileSystem(#[from] FsError),
    /// A system call failed.
    #[error("{call} {}: {source}", path.display())]
    Io {
        /// What was tried, in words or as the call.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The image does not fit.
    #[error(
        "{}: {} free, {} needed with the margin: {} missing",
        dir.display(), Bytes(*free_bytes), Bytes(*needed_bytes),
        Bytes(needed_bytes.saturating_sub(*free_bytes))
    )]
    NoSpace {
        /// Directory of the image.
        dir: PathBuf,
        /// Free there.
        free_bytes: u64,
        /// Image and margin.
        needed_bytes: u64,
    },
    /// Something is not as it has to be.
    #[error("{}: {problem}", path.display())]
    State {
        /// Where.
        path: PathBuf,
        /// What.
        problem: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// A modelled disk would be late with most of its answers.
    #[error(
        "{level}: it answers within {}, which a native disk cannot do here: it takes {} for a \
         request that is answered at once",
        micros(*fastest_ns), micros(*floor_ns)
    )]
    FasterThanNative {
        /// The disk.
        level: DeviceLevel,
        /// Its fastest answer, ns.
        fastest_ns: u64,
        /// The fastest answer that can be had here, ns.
        floor_ns: u64,
    },
    /// The user asked to stop; what was begun is removed.
    #[error("{}: stopped", path.display())]
    Stopped {
        /// What was being made.
        path: PathBuf,
    },
    /// The kernel refused to mount.
    #[error("mount -t {fstype} -o {options} {}: {problem}", source_path.display())]
    Mount {
        /// Type asked for.
        fstype: String,
        /// Options asked for.
        options: String,
        /// Device, or the name of the type for a file system without one.
        source_path: PathBuf,
        /// What the kernel or mount(8) said.
        problem: String,
    },
}

impl TargetError {
    pub(crate) fn io(call: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { call, path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn state(path: &Path, problem: impl Into<String>, remedy: &str) -> Self {
        Self::State {
            path: path.to_owned(),
            problem: problem.into(),
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
        }
    }

    /// What to do about it, where the text does not say so itself.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Refused(_) | Self::Illegal(_) | Self::FileSystem(_) | Self::Stopped { .. } => {
                None
            }
            Self::Command(_) => Some("run the command by hand to see all it says".to_owned()),
            Self::NoSpace { .. } => {
                Some("free some space, or name another directory with --image-dir".to_owned())
            }
            Self::State { remedy, .. } => remedy.clone(),
            Self::FasterThanNative { .. } => {
                Some("use --on virtual:SIZE:model=MODEL, where time is the model's".to_owned())
            }
            Self::Mount { .. } => Some("check the mount options of this contender".to_owned()),
            Self::Io { source, .. } => io_remedy(source).map(str::to_owned),
        }
    }

    /// The errno behind it, where a system call failed.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Io { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }
}

fn micros(ns: u64) -> String {
    format!("{}.{} us", ns / 1000, ns % 1000 / 100)
}

fn io_remedy(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error()? {
        libc::EACCES | libc::EPERM => Some("run as root, or use a directory as the target"),
        libc::ENOSPC => Some("free some space, or name another directory with --image-dir"),
        libc::EBUSY => Some("end the programs that use it"),
        _ => None,
    }
}
