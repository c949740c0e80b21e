//! Why a phase or a check is refused before anything is touched.
//!
//! Every text names the place, what is wrong and what to do. What goes wrong *in* a phase is
//! part of its report ([`fsarena_model::work::OpError`]), never one of these.

use crate::names::NameError;
use rustix::io::Errno;
use std::path::PathBuf;

/// Why a phase or a check could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The root cannot be opened.
    #[error("dataset root {path}: cannot open it as a directory: {source}")]
    Root { path: PathBuf, source: Errno },
    /// The device that is to be flushed cannot be opened.
    #[error("device {path}: cannot open it to flush it: {source}; this needs root")]
    Device { path: PathBuf, source: Errno },
    /// A directory of the dataset cannot be made.
    #[error("directory {name} of the dataset: cannot make it: {source}")]
    MakeDir {
        /// Its name below the root.
        name: String,
        source: Errno,
    },
    /// The names do not hold the numbers.
    #[error(transparent)]
    Names(#[from] NameError),
    /// A call of no bytes.
    #[error("phase {phase}: bs_bytes is 0; give the bytes of one call, such as 1048576")]
    NoBlockSize { phase: String },
    /// Settings that cannot go together.
    #[error("phase {phase}: {what}; {remedy}")]
    Mix {
        phase: String,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// io_uring cannot do the phase here.
    #[error("phase {phase}: {source}")]
    Uring { phase: String, source: UringError },
    /// No memory for buffers.
    #[error("buffers for calls of {bs_bytes} bytes: {source}; use a smaller block size")]
    Memory {
        /// Bytes of one call.
        bs_bytes: u64,
        source: Errno,
    },
}

/// Why io_uring cannot be used for a phase.
#[derive(Debug, thiserror::Error)]
pub enum UringError {
    /// The kernel has no io_uring, or was built without it.
    #[error("io_uring: this kernel has none (io_uring_setup: {0}); use backend = \"sync\"")]
    Missing(Errno),
    /// It is there and forbidden.
    #[error(
        "io_uring: not allowed (io_uring_setup: {0}); see sysctl kernel.io_uring_disabled and the \
         seccomp profile of a container, or use backend = \"sync\""
    )]
    Forbidden(Errno),
    /// It cannot be set up for another reason.
    #[error("io_uring: cannot set up a ring: {0}; see the limit of locked memory (ulimit -l)")]
    Setup(Errno),
    /// The kernel does not say which opcodes it has.
    #[error("io_uring: IORING_REGISTER_PROBE (Linux 5.6): {0}; use backend = \"sync\"")]
    Probe(Errno),
    /// The kernel is too old for a phase.
    #[error("io_uring: {op} needs {what}, which this kernel lacks; use backend = \"sync\"")]
    Lacks {
        /// The phase's op.
        op: &'static str,
        /// The opcode or feature.
        what: &'static str,
    },
    /// No kernel can do that.
    #[error("io_uring: there is no opcode for {op} in any kernel; use backend = \"sync\"")]
    NoOpcode {
        /// The phase's op.
        op: &'static str,
    },
    /// More in flight than a ring holds.
    #[error("io_uring: iodepth {iodepth} is not within 1 to {MAX_IODEPTH}")]
    Depth {
        /// What was asked for.
        iodepth: u32,
    },
    /// More in flight than files may be open (each op in flight may have one of its own).
    #[error(
        "io_uring: iodepth {iodepth} needs room for as many open files, and this process may open \
         {limit}; use a lower iodepth, or a higher limit (ulimit -n)"
    )]
    Files {
        /// What was asked for.
        iodepth: u32,
        /// RLIMIT_NOFILE.
        limit: u64,
    },
}

/// Most ops in flight: four entries each in the largest submission queue (`IORING_MAX_ENTRIES`,
/// 32768) would allow 8192; more than 4096 is of no use.
pub const MAX_IODEPTH: u32 = 4096;
