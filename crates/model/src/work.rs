//! Work: datasets, phases, and what the executor and the worker say to each other.

use crate::cycle::{Cycle, CyclesReport, Lap};
use crate::sample::LatencyHistogram;
use crate::seed::Seed;

pub use crate::dataset::{Dataset, DatasetState};
use crate::job::{Contents, Job, Reflink, Source};

pub use crate::io::{Backend, Fsync, Io, Sharing};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A named piece of work: a dataset and the phases that run over it, in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The text of a fio job file, each of whose jobs is a phase; absent: the engine does the
    /// work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio: Option<String>,
    /// What real work is done with; then every phase has a job. `dataset` is then of the same
    /// number of files and bytes, and of use for estimates only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl Workload {
    /// What the phases before number `phase` have made of the dataset.
    #[must_use]
    pub fn state_before(&self, phase: usize) -> DatasetState {
        self.phases.iter().take(phase).fold(DatasetState::default(), |state, p| p.leaves(state))
    }
}

/// The thing timed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// How the calls are made.
    #[serde(default, skip_serializing_if = "Io::is_default")]
    pub io: Io,
    /// Real work; with [`Op::Job`] and only with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The cycles; with [`Op::Cycle`] and only with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
}

impl Phase {
    /// A timed phase in the order of creation, with blocking calls.
    #[must_use]
    pub fn new(name: &str, op: Op, bs_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            op,
            order: Order::Sequential,
            bs_bytes,
            timed: true,
            io: Io::default(),
            job: None,
            cycle: None,
        }
    }

    /// A timed phase of real work.
    #[must_use]
    pub fn of_job(name: &str, job: Job) -> Self {
        Self { job: Some(job), ..Self::new(name, Op::Job, 0) }
    }

    /// A timed phase of cycles.
    #[must_use]
    pub fn of_cycles(name: &str, cycle: Cycle, bs_bytes: u64) -> Self {
        Self { cycle: Some(cycle), ..Self::new(name, Op::Cycle, bs_bytes) }
    }

    /// Ops of the phase over `dataset`.
    #[must_use]
    pub fn count(&self, dataset: &Dataset) -> u64 {
        let calls = |size_bytes: u64| size_bytes.div_ceil(self.bs_bytes.max(1));
        match self.op {
            Op::BigWrite | Op::BigRead | Op::BigOverwrite => match &dataset.sizes {
                None => dataset.files.saturating_mul(calls(dataset.size_bytes)),
                Some(_) => {
                    let sizes = dataset.draw_sizes();
                    (0..dataset.files).map(|file| calls(sizes.of(file))).sum()
                }
            },
            Op::RandRead | Op::RandWrite | Op::RandRw => {
                // Whole blocks only: the tail of a file is never the place of a random call.
                let blocks = dataset.size_bytes / self.bs_bytes.max(1);
                self.io.ops.unwrap_or(dataset.files.saturating_mul(blocks))
            }
            Op::Mkdir | Op::Rmdir => dataset.directories(),
            Op::List => dataset.directories().max(1),
            Op::Cycle => self.cycle.as_ref().map_or(0, |cycle| {
                cycle.updates.min(dataset.files).saturating_mul(u64::from(cycle.cycles))
            }),
            Op::Fio | Op::Job | Op::Watched => 0,
            _ => dataset.files,
        }
    }

    /// What the phase makes of a dataset that it finds in `state`.
    #[must_use]
    pub fn leaves(&self, state: DatasetState) -> DatasetState {
        let newest_version = state.newest_version.saturating_add(1);
        match self.op {
            Op::Overwrite | Op::BigOverwrite => {
                DatasetState { oldest_version: newest_version, newest_version, ..state }
            }
            Op::RandWrite | Op::RandRw => DatasetState { newest_version, ..state },
            // Each cycle writes the next version; a file that none of them took keeps its own.
            Op::Cycle => {
                let cycles = self.cycle.as_ref().map_or(0, |cycle| cycle.cycles);
                let cycles = u16::try_from(cycles).unwrap_or(u16::MAX);
                let newest_version = state.newest_version.saturating_add(cycles);
                DatasetState { newest_version, ..state }
            }
            Op::Append => DatasetState {
                appended_bytes: state.appended_bytes.saturating_add(self.bs_bytes),
                ..state
            },
            Op::Rename => DatasetState { renamed: !state.renamed, ..state },
            _ => state,
        }
    }
}

/// One operation of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// open(`O_WRONLY`), written over in place from start to end, close; one op a file.
    Overwrite,
    /// open(`O_WRONLY|O_APPEND`), one write of the block size, close; one op a file.
    Append,
    /// rename within its directory; one op a file.
    Rename,
    /// mkdir, from the root to the leaves; one op a directory.
    Mkdir,
    /// rmdir, from the leaves to the root; one op a directory.
    Rmdir,
    /// open of a directory, getdents64 to its end, close; one op a directory.
    List,
    /// Each file written over in place from start to end; one op a write call.
    BigOverwrite,
    /// Blocks of the files read in random order; one op a block.
    #[serde(rename = "randread")]
    RandRead,
    /// Blocks of the files written over in random order; one op a block.
    #[serde(rename = "randwrite")]
    RandWrite,
    /// Random reads and writes in a stated mixture; one op a block.
    #[serde(rename = "randrw")]
    RandRw,
    /// A job of a fio job file.
    Fio,
    /// Real work on a tree or an archive; what, the phase's job says.
    Job,
    /// Many files updated every period; how, the phase's cycle says. One op a file and cycle.
    Cycle,
    /// The work of an application that is not ours, watched from beside.
    Watched,
}

impl Op {
    /// Every op of the engine, in the order of documentation.
    pub const ALL: [Self; 17] = [
        Self::Create,
        Self::Read,
        Self::Overwrite,
        Self::Append,
        Self::Stat,
        Self::Rename,
        Self::Delete,
        Self::Mkdir,
        Self::List,
        Self::Rmdir,
        Self::BigWrite,
        Self::BigRead,
        Self::BigOverwrite,
        Self::RandRead,
        Self::RandWrite,
        Self::RandRw,
        Self::Cycle,
    ];

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
            Self::Overwrite => "overwrite",
            Self::Append => "append",
            Self::Rename => "rename",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::List => "list",
            Self::BigOverwrite => "big-overwrite",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandRw => "randrw",
            Self::Fio => "fio",
            Self::Job => "job",
            Self::Cycle => "cycle",
            Self::Watched => "watched",
        }
    }

    /// Whether it makes the files of the dataset.
    #[must_use]
    pub fn creates(self) -> bool {
        matches!(self, Self::Create | Self::BigWrite)
    }

    /// Whether the files must be there before the phase.
    #[must_use]
    pub fn needs_files(self) -> bool {
        !self.creates()
            && !matches!(self, Self::Mkdir | Self::Rmdir | Self::Fio | Self::Job | Self::Watched)
    }

    /// Whether contents are moved, so that a rate in bytes means something.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        self.reads() || self.writes()
    }

    /// Whether contents are written.
    #[must_use]
    pub fn writes(self) -> bool {
        self.creates()
            || matches!(
                self,
                Self::Overwrite
                    | Self::Append
                    | Self::BigOverwrite
                    | Self::RandWrite
                    | Self::RandRw
                    | Self::Fio
                    | Self::Job
                    | Self::Cycle
            )
    }

    /// Whether contents are read.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(
            self,
            Self::Read | Self::BigRead | Self::RandRead | Self::RandRw | Self::Fio | Self::Job
        )
    }

    /// Whether an op is one call in a file, not a whole file or directory.
    #[must_use]
    pub fn is_big(self) -> bool {
        matches!(self, Self::BigWrite | Self::BigRead | Self::BigOverwrite) || self.is_random()
    }

    /// Whether it goes over the blocks of its files in random order by itself.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// Whether it works on directories, not on files.
    #[must_use]
    pub fn is_about_dirs(self) -> bool {
        matches!(self, Self::Mkdir | Self::Rmdir | Self::List)
    }
}

/// Order of the files in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Directory that holds the dataset; the root of the mounted file system.
    pub root: PathBuf,
    /// The files.
    pub dataset: Dataset,
    /// What earlier phases have made of them.
    #[serde(default)]
    pub state: DatasetState,
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
    /// What a phase, or a job, sleeps after its last op and before `returned` is read, ns.
    #[serde(default, skip_serializing_if = "crate::contender::is_zero")]
    pub handicap_ns: u64,
}

/// Numeric user and group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UserIds {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// One task of a worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Run one job of a fio job file below the root.
    Fio {
        /// Text of the job file.
        job: String,
        /// Name of the job.
        section: String,
        /// Only make its files (`--create_only=1`); nothing is measured.
        lay_out: bool,
    },
    /// Put the source of real work into the root; not timed.
    Stage {
        /// The source.
        source: Source,
        /// The staged archive or the user's own path to copy; absent: it is generated.
        from: Option<PathBuf>,
    },
    /// Do real work.
    Job(JobTask),
    /// Compare trees that should hold the same, byte for byte.
    Compare {
        /// Each copy (relative to the root) with its original (relative to the root, or absolute).
        pairs: Vec<(PathBuf, PathBuf)>,
        /// The source, where what was unpacked from it is compared with what it describes.
        source: Source,
    },
    /// Run a hook of a command; not timed.
    Hook {
        /// The shell command, as written.
        command: String,
        /// The source, for `{data}`.
        data: PathBuf,
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

/// A job with everything that it needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobTask {
    /// Name of the phase; what it makes lies at [`Job::product`] of it.
    pub name: String,
    /// The job.
    pub job: Job,
    /// What it works on: relative to the root, or absolute where the source lies elsewhere.
    pub input: PathBuf,
    /// The source of the workload, in the same manner; for `{data}`.
    pub data: PathBuf,
    /// What is worked on: a tree, that of an archive that is unpacked (with the size of the
    /// archive), or one single file. What is not known is 0.
    pub contents: Contents,
    /// Whether a copy may share blocks.
    #[serde(default)]
    pub reflink: Reflink,
    /// Whether the engine takes every op's latency.
    pub latency: bool,
}

/// A line from the worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSays {
    /// Prepared; waiting for `go`.
    Ready,
    /// A moment of a cycle has come; more follows.
    Lap(Lap),
    /// A phase has ended (perhaps with an error in the middle).
    Done(Box<WorkerReport>),
    /// The directories, or the source, are there; or a hook has run.
    Made,
    /// A check has ended.
    Verified(VerifyReport),
    /// Nothing could be done; says why.
    Refused(String),
}

/// What a worker measured. Times are `CLOCK_MONOTONIC` of this boot, so that the executor can set
/// them beside its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Of these, written; absent where `asked_bytes` is all of one kind.
    #[serde(default)]
    pub asked_written_bytes: Option<u64>,
    /// Latency of every op.
    pub latency: Option<LatencyHistogram>,
    /// Latency of the writes alone, where reads and writes are mixed.
    #[serde(default)]
    pub write_latency: Option<LatencyHistogram>,
    /// Where and why the phase ended early.
    pub error: Option<OpError>,
    /// Processor time and faults of the worker from the first to the last clock read.
    pub usage: WorkerUsage,
    /// Each thread alone, where there were several.
    #[serde(default)]
    pub threads: Vec<ThreadReport>,
    /// What a program that did the work says of itself.
    #[serde(default)]
    pub program: Option<ProgramReport>,
    /// The cycles, where the phase has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<CyclesReport>,
}

/// One thread of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadReport {
    /// When it left the start barrier, after the phase's first clock read.
    pub started_ns: u64,
    /// When its last op was done, after the phase's first clock read.
    pub done_ns: u64,
    /// Ops that it completed.
    pub ops: u64,
    /// Bytes that its calls moved.
    pub asked_bytes: u64,
}

/// A program that did the work of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramReport {
    /// `fio`, `cp`, `sh`.
    pub name: String,
    /// Its version line.
    pub version: String,
    /// Every program that took part, as it was found before the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Its arguments.
    pub argv: Vec<String>,
    /// Length of the work by its own clock, without its start and end.
    pub own_ns: Option<u64>,
    /// Further figures of its own, by name.
    pub figures: std::collections::BTreeMap<String, String>,
}

/// A program as it was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `tar`.
    pub name: String,
    /// Absolute path, symbolic links followed.
    pub path: PathBuf,
    /// First line of what `--version` prints; empty where it prints none.
    pub version: String,
}

/// getrusage(2) of the worker over a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpError {
    /// Number of the op within the phase, from 0; with several threads, within the thread's part.
    pub op_index: u64,
    /// Number of the thread, from 0, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
