//! What the executor and the worker say to each other, and what programs say of themselves.

use crate::JsonSchema;
use crate::client::ClientSays;
use crate::cycle::{CycleEvent, CyclesReport};
use crate::dataset::Dataset;
use crate::job::{Contents, Job, Reflink, Source};
use crate::outcome::OpError;
use crate::phase::Phase;
use crate::sample::{LatencyHistogram, LatencySeries};
use crate::seed::Seed;
use crate::state::DatasetState;
use crate::trust::TrustConsent;
use crate::visible::one_line;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a worker shall do: one phase, or a check of the contents.
///
/// The executor writes it as one line of JSON to the worker's standard input. The worker prepares
/// everything (buffers, order, memory), answers [`WorkerSays::Ready`], waits for a line `go`, and
/// answers [`WorkerSays::Done`]; a rank of a phase with a stonewall says [`WorkerSays::Stonewall`]
/// in between. Before `go`, and after the answer, a line `canary` is answered by
/// [`WorkerSays::Canary`], and a list of [`CounterFile`]s by another [`WorkerSays::Ready`]. All
/// paths are relative to `root`, which is opened but not read before `go`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Directory that holds the dataset; the root of the mounted file system.
    pub root: PathBuf,
    /// The files.
    pub dataset: Dataset,
    /// What earlier phases have made of them.
    pub state: DatasetState,
    /// Stamped into every sector: which dataset these bytes belong to.
    pub dataset_seed: Seed,
    /// What to do.
    pub task: Task,
    /// Which of the ranks of a phase this worker is, from 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rank: u32,
    /// Anonymous memory to touch and give back before `go`, bytes (free page reporting).
    pub warm_memory_bytes: u64,
    /// Processors to run on; empty: wherever the kernel likes.
    pub cpus: Vec<usize>,
    /// User and group to become before the work; absent: stay.
    pub user: Option<UserIds>,
    /// A process whose mounts it enters first; absent: it stays in those it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mounts_of_pid: Option<u32>,
    /// Files that were modified later match in a phase of `find`, ns since 1970.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub newer_than_unix_ns: u64,
    /// What a phase, or a job, sleeps after its last op and before `returned` is read, ns.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub handicap_ns: u64,
    /// The block device that is flushed after syncfs, for `durable`: where the file system may
    /// write metadata behind the last flush of its own. Absent: syncfs is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_device: Option<PathBuf>,
    /// Programs that others may change, and that may be started as root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<TrustConsent>,
}

/// A file of counters that the worker reads right after it has read the clock of `durable`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterFile {
    /// Where it is; empty: none.
    pub path: PathBuf,
    /// Bytes that it may have.
    pub most_bytes: usize,
    /// Whether one read gives all of it; else it is read to its end.
    pub at_once: bool,
}

/// Files of counters as the worker read them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CounterTexts {
    /// When the first was about to be read, `CLOCK_MONOTONIC`.
    pub began_monotonic_ns: u64,
    /// When the last had been read.
    pub ended_monotonic_ns: u64,
    /// Each as it was, in the order in which they were asked for; what could not be read is empty.
    pub texts: Vec<String>,
}

/// Numeric user and group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserIds {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// One task of a worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
    pub reflink: Reflink,
    /// Whether the engine takes every op's latency.
    pub latency: bool,
}

/// Bytes of a line between an executor and its workers or agents, at most. The longest are a spec
/// and a report, and far shorter.
pub const LINE_MOST_BYTES: u64 = 64 << 20;

/// What the line begins with that answers [`WorkerSays::Stonewall`]; the number follows.
pub const WEAR_OUT: &str = "wear-out ";

/// How it is said that a rank is not there though nothing tells that it has ended: the network, or
/// others that dial the same port, keep it away.
pub const NOT_DIALLED: &str = "it has not dialled again";

/// A line from the worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSays {
    /// What the process is that speaks for a worker on another host; the first line of all.
    Host(HostHello),
    /// What `CLOCK_MONOTONIC` of that host was when the line `clock` came.
    Clock {
        /// The reading.
        monotonic_ns: u64,
    },
    /// How long the worker there stood still since it was let go, when the line `pauses` came.
    Pauses(Pauses),
    /// What an agent answers.
    Client(ClientSays),
    /// Prepared; waiting for `go`.
    Ready,
    /// The canary loop has run.
    Canary {
        /// What it took.
        elapsed_ns: u64,
    },
    /// The time of a stonewall is over for all threads of a rank, or each is at its end: how many
    /// ops the one of them has done that has done the most. The answer is a line `wear-out N`: what
    /// that is over all ranks.
    Stonewall {
        /// The number.
        most_ops: u64,
    },
    /// What the phase did is durable, and the counters of that moment have been read; the report
    /// follows.
    Durable,
    /// A moment of a cycle has come; more follows.
    #[serde(rename = "lap")]
    CycleEvent(CycleEvent),
    /// A phase has ended (perhaps with an error in the middle).
    Done(Box<WorkerReport>),
    /// The directories, or the source, are there; or a hook has run.
    Made,
    /// A check has ended.
    Verified(VerifyReport),
    /// Nothing could be done; says why.
    Refused(String),
}

/// How long a worker stood still, to within 0.2 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// A signal had stopped it, ns.
    pub stopped_ns: u64,
    /// It was not seen and did nothing, ns.
    pub gap_ns: u64,
}

/// A host that will work as a rank.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct HostHello {
    /// Its name, as it has it itself.
    pub hostname: String,
    /// Its boot; empty where the kernel does not tell.
    pub boot_id: String,
    /// Version of this program there.
    pub version: String,
    /// Its architecture: `x86_64`.
    pub arch: String,
    /// Its wall clock, ns since 1970.
    pub unix_ns: u64,
    /// Whether it works as root there.
    #[serde(default)]
    pub is_root: bool,
}

impl HostHello {
    /// Why it cannot work with a program of version `here`, in words; nothing where both are of
    /// one version.
    #[must_use]
    pub fn version_difference(&self, here: &str) -> Option<String> {
        let there = one_line(&self.version);
        (there != here)
            .then(|| format!("fsarena {there} is there and {here} here: use one version"))
    }
}

/// What a worker measured. Times are `CLOCK_MONOTONIC` of this boot, so that the executor can set
/// them next to its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    pub asked_written_bytes: Option<u64>,
    /// Latency of every op.
    pub latency: Option<LatencyHistogram>,
    /// Latency of the writes alone, where reads and writes are mixed.
    pub write_latency: Option<LatencyHistogram>,
    /// Latencies over time, where `io` has a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_series: Option<LatencySeries>,
    /// Where and why the phase ended early.
    pub error: Option<OpError>,
    /// Processor time and faults of the worker from the first to the last clock read.
    pub usage: WorkerUsage,
    /// Each thread alone, where there were several.
    pub threads: Vec<ThreadReport>,
    /// What a program that did the work says of itself.
    pub program: Option<ProgramReport>,
    /// The cycles, where the phase has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<CyclesReport>,
    /// What a walk of the tree has found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<FindReport>,
    /// Where it was when the time of its stonewall was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<StonewallReport>,
    /// Task clock of the worker, of all its threads and of the programs that it waited for, from
    /// the first clock read to `durable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Counters as they were when it was durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterTexts>,
}

/// A phase with a stonewall at the end of that time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StonewallReport {
    /// Whether a thread was still at work then. Else all was done before, and nothing was cut.
    pub reached: bool,
    /// Ops that all threads together had done by then.
    pub ops: u64,
    /// Bytes that these had moved.
    pub asked_bytes: u64,
    /// Ops of the thread that had done the fewest, with the one under way.
    pub fewest_ops: u64,
    /// Ops to which each thread went on, unless its share ended before: of the thread that had done
    /// the most, with the one under way.
    pub each_ops: u64,
}

impl StonewallReport {
    /// Two ranks of one phase.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            reached: self.reached || other.reached,
            ops: self.ops.saturating_add(other.ops),
            asked_bytes: self.asked_bytes.saturating_add(other.asked_bytes),
            fewest_ops: self.fewest_ops.min(other.fewest_ops),
            each_ops: self.each_ops.max(other.each_ops),
        }
    }
}

/// One thread of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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

/// What a walk of the tree has found, and what it looked for. A file matches that has exactly
/// `size_bytes` and was modified after `newer_than_unix_ns`, by the clock of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FindReport {
    /// Size of the files that match.
    pub size_bytes: u64,
    /// Files that match were modified later, ns since 1970: when the trial began.
    pub newer_than_unix_ns: u64,
    /// Entries that were looked at: directories, and all else.
    pub entries: u64,
    /// Of these, directories.
    pub directories: u64,
    /// Files that match.
    pub matches: u64,
}

impl FindReport {
    /// What two parts of one walk have found together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(other.entries),
            directories: self.directories.saturating_add(other.directories),
            matches: self.matches.saturating_add(other.matches),
            ..self
        }
    }
}

/// A program that did the work of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    /// What of `returned` is its own start and end, and no work of the phase: no length that is
    /// compared has it. Absent where it is not known, or a part of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_ns: Option<u64>,
    /// The latency that 99 % of its ops stay below, where it keeps no histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Further figures of its own, by name.
    pub figures: std::collections::BTreeMap<String, String>,
}

/// A program as it was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `tar`.
    pub name: String,
    /// Absolute path, symbolic links followed.
    pub path: PathBuf,
    /// First line of what `--version` prints; empty where it prints none.
    pub version: String,
}

/// getrusage(2) of the worker over a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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

impl std::iter::Sum for WorkerUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |sum, one| Self {
            user_ns: sum.user_ns.saturating_add(one.user_ns),
            system_ns: sum.system_ns.saturating_add(one.system_ns),
            minor_faults: sum.minor_faults.saturating_add(one.minor_faults),
            major_faults: sum.major_faults.saturating_add(one.major_faults),
            voluntary_switches: sum.voluntary_switches.saturating_add(one.voluntary_switches),
            involuntary_switches: sum.involuntary_switches.saturating_add(one.involuntary_switches),
        })
    }
}

/// Result of reading all contents again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
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

handed_on_as_json!(WorkerSpec);
