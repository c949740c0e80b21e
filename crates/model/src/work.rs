//! Work: datasets, phases, and what the executor and the worker say to each other.

use crate::sample::LatencyHistogram;
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A named piece of work: a dataset and the phases that run over it, in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name, unique in an experiment.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The files.
    pub dataset: Dataset,
    /// What is done with them.
    pub phases: Vec<Phase>,
}

/// The files of a workload: `files` of `size_bytes` each, in `dirs` directories.
///
/// File `i` is `f%08d` in directory `d%05d` number `i / ceil(files / dirs)`; with 0 directories all
/// files lie in the root of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Number of files.
    pub files: u64,
    /// Size of each, bytes.
    pub size_bytes: u64,
    /// Number of directories; 0 is flat.
    pub dirs: u64,
}

impl Dataset {
    /// Bytes of contents in the whole set.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.saturating_mul(self.size_bytes)
    }

    /// Files in each directory but perhaps the last.
    #[must_use]
    pub fn files_per_dir(&self) -> u64 {
        if self.dirs == 0 { self.files } else { self.files.div_ceil(self.dirs) }
    }
}

/// The thing timed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name, unique in a workload: `create`, `read-random`.
    pub name: String,
    /// What is done to each file (or with each I/O of a big file).
    pub op: Op,
    /// In which order.
    pub order: Order,
    /// Bytes of one read or write call; whole files are taken in one call where they are smaller.
    pub bs_bytes: u64,
    /// Whether the clock matters: an untimed phase only prepares.
    pub timed: bool,
}

/// One operation of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// open(`O_CREAT|O_WRONLY|O_EXCL`), write, close; one op a file.
    Create,
    /// open(`O_RDONLY`), read, close; one op a file.
    Read,
    /// stat; one op a file.
    Stat,
    /// unlink; one op a file.
    Delete,
    /// Each file written from its start to its end; one op a write call.
    BigWrite,
    /// Each file read from its start to its end; one op a read call.
    BigRead,
}

impl Op {
    /// Every op, in the order of documentation.
    pub const ALL: [Self; 6] =
        [Self::Create, Self::Read, Self::Stat, Self::Delete, Self::BigWrite, Self::BigRead];

    /// Its name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Stat => "stat",
            Self::Delete => "delete",
            Self::BigWrite => "big-write",
            Self::BigRead => "big-read",
        }
    }

    /// Whether the files must be there before the phase.
    #[must_use]
    pub fn needs_files(self) -> bool {
        !matches!(self, Self::Create | Self::BigWrite)
    }

    /// Whether contents are moved, so that a rate in bytes means something.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        !matches!(self, Self::Stat | Self::Delete)
    }

    /// Whether contents are written.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::BigWrite)
    }

    /// Ops of a phase over `dataset` with calls of `bs_bytes`.
    #[must_use]
    pub fn count(self, dataset: &Dataset, bs_bytes: u64) -> u64 {
        match self {
            Self::BigWrite | Self::BigRead => {
                dataset.files.saturating_mul(dataset.size_bytes.div_ceil(bs_bytes.max(1)))
            }
            _ => dataset.files,
        }
    }
}

/// Order of the files in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they were created.
    #[default]
    Sequential,
    /// A seeded permutation.
    Random,
}

/// What a worker shall do: one phase, or a check of the contents.
///
/// The executor writes it as one line of JSON to the worker's standard input. The worker prepares
/// everything (buffers, order, memory), answers [`WorkerSays::Ready`], waits for a line `go`, and
/// answers [`WorkerSays::Done`]. All paths are relative to `root`, which is opened but not read
/// before `go`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Directory that holds the dataset; the root of the mounted file system.
    pub root: PathBuf,
    /// The files.
    pub dataset: Dataset,
    /// Stamped into every sector: which dataset these bytes belong to.
    pub dataset_seed: Seed,
    /// What to do.
    pub task: Task,
    /// Anonymous memory to touch and give back before `go`, bytes (free page reporting).
    pub warm_memory_bytes: u64,
    /// Processors to run on; empty: wherever the kernel likes.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// User and group to become before the work; absent: stay.
    #[serde(default)]
    pub user: Option<UserIds>,
}

/// Numeric user and group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserIds {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// One task of a worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// Run a phase.
    Phase {
        /// The phase.
        phase: Phase,
        /// Where its random order comes from.
        seed: Seed,
        /// Whether every op's latency goes into the histogram.
        latency: bool,
    },
    /// Make the directories of the dataset; not timed, and before the caches are dropped for a
    /// phase that creates files in them.
    MakeDirs,
    /// Read every file again and compare every byte with what was written.
    Verify {
        /// Bytes of one read call.
        bs_bytes: u64,
    },
}

/// A line from the worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSays {
    /// Prepared; waiting for `go`.
    Ready,
    /// A phase has ended (perhaps with an error in the middle).
    Done(Box<WorkerReport>),
    /// The directories are there.
    Made,
    /// A check has ended.
    Verified(VerifyReport),
    /// Nothing could be done; says why.
    Refused(String),
}

/// What a worker measured. Times are `CLOCK_MONOTONIC` of this boot, so that the executor can set
/// them beside its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WorkerReport {
    /// First clock read.
    pub start_monotonic_ns: u64,
    /// Last clock read of the loop.
    pub returned_monotonic_ns: u64,
    /// After syncfs; absent where it was not reached.
    pub durable_monotonic_ns: Option<u64>,
    /// Ops that were completed.
    pub ops: u64,
    /// Bytes that the calls moved.
    pub asked_bytes: u64,
    /// Latency of every op.
    pub latency: Option<LatencyHistogram>,
    /// Where and why the phase ended early.
    pub error: Option<OpError>,
    /// Processor time and faults of the worker from the first to the last clock read.
    pub usage: WorkerUsage,
}

/// getrusage(2) of the worker over a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WorkerUsage {
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because its time was up.
    pub involuntary_switches: u64,
}

/// An op that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpError {
    /// Number of the op within the phase, from 0.
    pub op_index: u64,
    /// System call, such as `write`.
    pub call: String,
    /// Path relative to the root of the dataset.
    pub path: String,
    /// errno(3), or 0 where a call did less than asked without an error.
    pub errno: i32,
    /// The error in words.
    pub text: String,
}

/// Result of reading all contents again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Files that hold, byte for byte, what was written; the whole set is these and `bad_files`.
    pub files: u64,
    /// Bytes compared.
    pub bytes: u64,
    /// Files that differ, are missing or cannot be read.
    pub bad_files: u64,
    /// The first of them in words (at most 16).
    pub examples: Vec<String>,
}
