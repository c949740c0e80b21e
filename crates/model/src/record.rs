//! The record of a trial: raw, immutable. Rates, percentages and verdicts are computed from it
//! later and never stored in it.

use crate::JsonSchema;
use crate::account::AccountRecord;
use crate::age::AgeRecord;
use crate::client::ClientRecord;
pub use crate::clock::{Clock, Clocks, Drained};
use crate::cycle::CyclesRecord;
use crate::device::Conditioning;
use crate::free::FreeQuantity;
use crate::host::Host;
use crate::io::Io;
use crate::job::Job;
use crate::op::Op;
pub use crate::outcome::{Notice, OpError, Outcome};
use crate::phase::{Order, Phase};
use crate::rank::RankReport;
use crate::sample::{Counters, LatencyHistogram, LatencySeries, SamplerCost, Series};
use crate::spec::TrialKey;
use crate::thermal::ThermalRecord;
use crate::worker::{
    FindReport, ProgramReport, StonewallReport, ThreadReport, VerifyReport, WorkerUsage,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a trial left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// [`crate::RECORD_SCHEMA`].
    pub schema: u32,
    /// Which trial.
    pub key: TrialKey,
    /// How it ended.
    pub outcome: Outcome,
    /// What its times are counted in.
    pub time_base: TimeBase,
    /// Where it was carried out.
    pub place: TrialPlace,
    /// The worker processes that shared the workload.
    pub ranks: Vec<Rank>,
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the whole trial.
    pub elapsed_ns: u64,
    /// Length of each step, in order.
    pub steps: Vec<StepTime>,
    /// The file system as it really was.
    pub filesystem: Effective,
    /// The device, by name of the fact (`logical_sector_bytes`, `scheduler`, …).
    pub device: BTreeMap<String, String>,
    /// What the SSD policy did before mkfs.
    pub conditioning: Option<Conditioning>,
    /// What ageing did before the work; absent where the file system was fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<AgeRecord>,
    /// Timed phases, in order.
    pub phases: Vec<PhaseRecord>,
    /// Space after the last phase.
    pub space: Option<Space>,
    /// Length of the last unmount.
    pub unmount_ns: Option<u64>,
    /// Result of the content check, where one was asked for.
    pub verify: Option<VerifyReport>,
    /// Disturbances and facts to be said with the result.
    pub notices: Vec<Notice>,
}

/// Code of the notice with a trial that the machine ended, and not its work: a process of it was
/// killed, a device was busy, there was no memory. It is done again.
pub const ENDED_BY_MACHINE: &str = "ended-by-machine";

impl TrialRecord {
    /// Whether the machine ended it, and not its work.
    #[must_use]
    pub fn is_ended_by_machine(&self) -> bool {
        self.end_by_machine_notice().is_some()
    }

    /// How the machine ended it, where it did.
    #[must_use]
    pub fn end_by_machine_notice(&self) -> Option<&Notice> {
        self.notices.iter().find(|notice| notice.code == ENDED_BY_MACHINE)
    }

    /// Says that the machine ended it, and what helps: where that is not known, the kernel's log.
    pub fn end_by_machine(&mut self, how: &str, remedy: Option<&str>) {
        let text = format!("the machine ended the trial, and not its work: {how}");
        let remedy = remedy.unwrap_or("see the kernel's log (dmesg) for what was killed and why");
        self.notices.push(Notice::new(ENDED_BY_MACHINE, text, Some(remedy)));
    }

    /// A trial on a real machine of which nothing has been done yet.
    #[must_use]
    pub fn new(key: TrialKey, rank: Rank, started_unix_ns: u64) -> Self {
        Self {
            schema: crate::RECORD_SCHEMA,
            key,
            outcome: Outcome::Interrupted,
            time_base: TimeBase::Wall,
            place: TrialPlace::Native,
            ranks: vec![rank],
            started_unix_ns,
            elapsed_ns: 0,
            steps: Vec::new(),
            filesystem: Effective::default(),
            device: BTreeMap::new(),
            conditioning: None,
            age: None,
            phases: Vec::new(),
            space: None,
            unmount_ns: None,
            verify: None,
            notices: Vec::new(),
        }
    }

    /// Whether the content check found files that are not as written. What such a trial took says
    /// nothing about the work: it did other work.
    #[must_use]
    pub fn has_bad_contents(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.bad_files > 0)
    }
}

/// What times are counted in. Times of two bases are never compared with each other.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TimeBase {
    /// The clock of a real machine.
    #[default]
    Wall,
    /// The clock of a simulated machine: equal trials give equal bytes.
    Virtual,
}

names!(TimeBase.name { Wall = "wall", Virtual = "virtual" });

/// Where a trial is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialPlace {
    /// On the kernel of its host.
    #[default]
    Native,
    /// In a guest kernel, as a process.
    Virtual,
}

/// One worker process among those that share a workload.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// Name of its host.
    pub hostname: String,
    /// Boot of that host; empty where the kernel does not tell.
    pub boot_id: String,
    /// Most threads that it had in a timed phase.
    pub threads: u32,
}

impl Rank {
    /// A rank on `host` that works through `phases`.
    #[must_use]
    pub fn new(host: &Host, phases: &[Phase]) -> Self {
        let timed = phases.iter().filter(|phase| phase.timed);
        Self {
            hostname: host.hostname.clone(),
            boot_id: host.boot_id.clone(),
            threads: timed.map(|phase| phase.io.threads).max().unwrap_or(1),
        }
    }
}

/// Length of a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepTime {
    /// Name of the step.
    pub step: String,
    /// Its phase, where it has one.
    pub phase: Option<String>,
    /// Length.
    pub elapsed_ns: u64,
}

/// A file system as made and mounted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effective {
    /// Name of the driver of ours.
    pub name: String,
    /// Version line of the program that made it.
    pub tool_version: Option<String>,
    /// The command that made it.
    pub mkfs_argv: Vec<String>,
    /// The `-o` text that was asked for.
    pub mount_asked: String,
    /// Type in mountinfo.
    pub mounted_type: Option<String>,
    /// Mount and superblock options in mountinfo, comma-separated.
    pub mounted_options: Option<String>,
    /// Features and sizes read back from the file system, by name.
    pub features: BTreeMap<String, String>,
    /// Kernel driver that serves it, where that is another one (`ext4` for ext2 and ext3).
    pub served_by: Option<String>,
}

/// A timed phase.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Name of the phase.
    pub name: String,
    /// Op.
    pub op: Op,
    /// Order.
    pub order: Order,
    /// Bytes of one read or write call; 0 where that is not known.
    pub bs_bytes: u64,
    /// How the calls were made.
    pub io: Io,
    /// Real work, where it was that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// What it left free; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<FreeQuantity>,
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// The three clocks.
    pub clocks: Clocks,
    /// Ops that were completed.
    pub ops: u64,
    /// Bytes that the calls moved.
    pub asked_bytes: u64,
    /// Of these, written; absent where they are all of one kind.
    pub asked_written_bytes: Option<u64>,
    /// Latency of every op: where `io` has a rate, from the moment at which it was due.
    pub latency: Option<LatencyHistogram>,
    /// Latency of the writes alone, where reads and writes are mixed.
    pub write_latency: Option<LatencyHistogram>,
    /// Latencies over time, where `io` has a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_series: Option<LatencySeries>,
    /// Each thread alone, where there were several.
    pub threads: Vec<ThreadReport>,
    /// Each rank alone, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankReport>,
    /// Each host of ranks as a client, where an agent was on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientRecord>,
    /// What a program that did the work says of itself.
    pub program: Option<ProgramReport>,
    /// Counters from the phase's start to the end of each window.
    pub windows: BTreeMap<Window, Counters>,
    /// The worker alone.
    pub worker: WorkerUsage,
    /// State of the cache and its proof.
    pub cache: CacheRecord,
    /// Memory limit.
    pub memory: MemoryRecord,
    /// Counters over time.
    pub series: Option<Series>,
    /// What taking them cost.
    pub sampler: Option<SamplerCost>,
    /// The cycles, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<CyclesRecord>,
    /// Where its bytes went, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountRecord>,
    /// What a walk of the tree has found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<FindReport>,
    /// Where it was when the time of its stonewall was over, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<StonewallReport>,
    /// Why it ended early.
    pub error: Option<OpError>,
    /// How long after `durable` the counters of its window were read; absent where that is not
    /// known (cycles, and records of older versions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters_late_ns: Option<u64>,
    /// Processor time by the task clock, from the start to `durable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_cpu: Option<TaskCpu>,
    /// How fast the machine was, without I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<Canary>,
    /// Mean frequency of the processors right after the phase, where the kernel tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<u64>,
    /// How warm the machine was, where it has sensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalRecord>,
}

/// Processor time that the scheduler has charged to tasks, in ns and not in clock ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskCpu {
    /// Of the worker with all its threads, and of the programs that it started and waited for.
    pub worker_ns: u64,
    /// Of all kernel threads of the machine (write-back, journal, workers of the file system and
    /// of a loop device), also for what they did for others; without those that ended meanwhile.
    /// Absent where they are not to be seen (in a container).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_ns: Option<u64>,
}

/// Length of the canary loop, a fixed amount of work on the processor and of system calls without
/// I/O, outside of the phase's clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Canary {
    /// Right before the phase.
    pub before_ns: u64,
    /// After it had drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ns: Option<u64>,
}

impl PhaseRecord {
    /// A phase as planned, with its clocks and the state of its cache, in whole memory; nothing
    /// else is known of it.
    #[must_use]
    pub fn new(planned: &Phase, clocks: Clocks, cache: CacheRecord) -> Self {
        Self {
            name: planned.name.clone(),
            op: planned.op,
            order: planned.order,
            bs_bytes: planned.bs_bytes,
            io: planned.io.clone(),
            job: planned.job.clone(),
            free: Some(planned.constraints().free()),
            started_unix_ns: 0,
            clocks,
            ops: 0,
            asked_bytes: 0,
            asked_written_bytes: None,
            latency: None,
            write_latency: None,
            latency_series: None,
            threads: Vec::new(),
            clients: Vec::new(),
            ranks: Vec::new(),
            program: None,
            windows: BTreeMap::new(),
            worker: WorkerUsage::default(),
            cache,
            memory: MemoryRecord::Whole,
            series: None,
            sampler: None,
            cycles: None,
            account: None,
            find: None,
            stonewall: None,
            error: None,
            counters_late_ns: None,
            task_cpu: None,
            canary: None,
            frequency_khz: None,
            thermal: None,
        }
    }

    /// User time of programs other than the worker up to `durable`, by the counters: a lower bound
    /// of foreign load. Absent of cycles, whose counters leave the rest of their periods out.
    #[must_use]
    pub fn foreign_ns(&self) -> Option<u64> {
        if self.cycles.is_some() {
            return None;
        }
        let counter = |name| self.counter(Window::Durable, name);
        let user_ns = counter("cpu.user_ns")?.saturating_add(counter("cpu.nice_ns").unwrap_or(0));
        Some(user_ns.saturating_sub(self.worker.user_ns))
    }

    /// Bytes that the work itself wrote.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let all = if self.op.writes() { self.asked_bytes } else { 0 };
        self.asked_written_bytes.unwrap_or(all)
    }

    /// Whether it ran to its end. One that was stopped in the middle has no error of its own, and
    /// no `durable`; one that another program measured has none either, and says so.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let not_waited_for = matches!(self.clocks.drained, Drained::NotWaitedFor { .. });
        self.error.is_none() && (self.clocks.durable_ns.is_some() || not_waited_for)
    }

    /// Start and end of the program that did the work, where they are no part of it.
    #[must_use]
    pub fn startup_ns(&self) -> u64 {
        self.program.as_ref().and_then(|program| program.startup_ns).unwrap_or(0)
    }

    /// The latency that 99 % of its ops stay below.
    #[must_use]
    pub fn p99_ns(&self) -> Option<u64> {
        let kept = self.latency.as_ref().and_then(|latency| latency.quantile_ns(0.99));
        kept.or_else(|| self.program.as_ref()?.p99_ns)
    }

    /// The length that is compared, by one of the clocks: of cycles the mean length of those that
    /// are compared ([`CyclesRecord::compared`]), where `drained` is a quiet device; else that of
    /// the phase, without the start and end of its program.
    #[must_use]
    pub fn ns(&self, clock: Clock) -> Option<u64> {
        let Some(cycles) = &self.cycles else {
            return Some(self.clocks.ns(clock)?.saturating_sub(self.startup_ns()));
        };
        match (clock, &self.clocks.drained) {
            (Clock::Returned, _) => cycles.mean(|cycle| Some(cycle.work_ns())),
            (Clock::Durable, _) | (Clock::Drained, Drained::NoDevice) => {
                cycles.mean(|cycle| cycle.durable_ns())
            }
            (Clock::Drained, _) => cycles.mean(|cycle| cycle.quiet_ns()),
        }
    }

    /// A counter of what is compared, from its start to the end of a window: of cycles the mean of
    /// those that are compared, each up to its `durable`, or over its period where a later window
    /// is asked for. A cycle has no unmount of its own: what lies in the cache at the end of its
    /// period is in no cycle's figures.
    #[must_use]
    pub fn counter(&self, window: Window, name: &str) -> Option<u64> {
        let Some(cycles) = &self.cycles else {
            return self.windows.get(&window)?.get(name).copied();
        };
        cycles.mean(|cycle| {
            let counters = match window {
                Window::Durable => &cycle.durable,
                Window::Drained | Window::Unmounted => &cycle.period,
            };
            counters.get(name).copied()
        })
    }

    /// Ops of what is compared: of cycles the mean of those that are compared, else all.
    #[must_use]
    pub fn compared_ops(&self) -> u64 {
        let of = |cycles: &CyclesRecord| cycles.mean(|cycle| Some(cycle.report.ops));
        self.cycles.as_ref().map_or(Some(self.ops), of).unwrap_or(0)
    }

    /// Bytes that the calls of what is compared moved: of cycles the mean of those that are
    /// compared, else all.
    #[must_use]
    pub fn compared_asked_bytes(&self) -> u64 {
        let of = |cycles: &CyclesRecord| cycles.mean(|cycle| Some(cycle.report.asked_bytes));
        self.cycles.as_ref().map_or(Some(self.asked_bytes), of).unwrap_or(0)
    }

    /// As [`PhaseRecord::written_bytes`], of what is compared.
    #[must_use]
    pub fn compared_written_bytes(&self) -> u64 {
        if self.cycles.is_some() { self.compared_asked_bytes() } else { self.written_bytes() }
    }

    /// When the first and the last thread were done, after the phase's start.
    #[must_use]
    pub fn first_and_last_done_ns(&self) -> Option<(u64, u64)> {
        let done = || self.threads.iter().map(|thread| thread.done_ns);
        Some((done().min()?, done().max()?))
    }
}

/// End of an account of counters; all start with the phase.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// To `durable`.
    Durable,
    /// To `drained`.
    Drained,
    /// To the end of the next unmount.
    Unmounted,
}

names!(Window.name { Durable = "durable", Drained = "drained", Unmounted = "unmounted" });

/// State of the cache in a phase.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CacheRecord {
    /// What was asked for.
    pub asked: crate::contender::Cache,
    /// What it was, by the proof.
    pub state: CacheState,
    /// Why it is called that.
    pub why: String,
    /// Readings behind it.
    pub proof: ColdProof,
}

impl CacheRecord {
    /// Warm, as asked for: nothing was proved.
    #[must_use]
    pub fn unproved(why: &str) -> Self {
        let (asked, state) = (crate::contender::Cache::Warm, CacheState::Warm);
        Self { asked, state, why: why.to_owned(), proof: ColdProof::default() }
    }

    /// Of what another program measured.
    #[must_use]
    pub fn unknown(why: &str) -> Self {
        let (asked, state) = (crate::contender::Cache::Unknown, CacheState::Unknown);
        Self { asked, state, why: why.to_owned(), proof: ColdProof::default() }
    }
}

/// What the cache was, in the order of tables.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Proved cold.
    Cold,
    /// Every client was made cold and then received what it needed. What the servers had cached is
    /// not known.
    ColdClients,
    /// Not proved cold, or warm as asked.
    Warm,
    /// The file system lives in memory: compared only with warm ones.
    WarmByNature,
    /// Warm was asked for, and the device delivered what should have been cached, or somebody
    /// dropped the caches: neither warm nor cold, and compared with nothing.
    NotWarm,
    /// Nothing is known of it: another program measured.
    Unknown,
}

impl CacheState {
    /// Whether the caches of whoever did the work were proved cold.
    #[must_use]
    pub fn is_cold(self) -> bool {
        matches!(self, Self::Cold | Self::ColdClients)
    }
}

/// Readings behind a cold phase. A reading that could not be had is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ColdProof {
    /// Pages of the block device in the page cache before the mount (cachestat).
    pub device_resident_pages: Option<u64>,
    /// Pages of the image in the page cache before the mount (cachestat).
    pub backing_resident_pages: Option<u64>,
    /// Pages in the page cache, right before the phase was made ready, of a source on another file
    /// system: of the archive, or of the first 1000 files of the tree. Absent for every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_resident_pages: Option<u64>,
    /// Bytes that the mount read from the device.
    pub mount_read_bytes: Option<u64>,
    /// Bytes that a cold phase has to read, at least: contents, or inodes and names beyond what the
    /// mount read; 0 where this is not known.
    pub needed_read_bytes: Option<u64>,
    /// Bytes that the device delivered up to `durable`.
    pub delivered_read_bytes: Option<u64>,
    /// How often somebody dropped the caches of the machine from the beginning of the phase before,
    /// or from the mount, up to `durable`; only of phases that were asked to be warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_drops: Option<u64>,
}

/// Memory limit of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum MemoryRecord {
    /// None was asked for.
    Whole,
    /// Limited.
    Limited {
        /// Limit.
        limit_bytes: u64,
        /// `cgroup v1` or `cgroup v2`.
        by: String,
        /// Highest use of the cgroup, where it tells.
        peak_bytes: Option<u64>,
        /// How often the file system was synced during the phase because the kernel's own memory
        /// was over half of the limit, as a machine of that size would have done by itself.
        syncs: u64,
    },
    /// Asked for, and not to be had.
    NotLimited {
        /// Limit asked for.
        limit_bytes: u64,
        /// Why not.
        reason: String,
    },
}

/// Space on the file system after the last phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Capacity by statfs.
    pub total_bytes: u64,
    /// Used by statfs.
    pub used_bytes: u64,
    /// Used right after the first mount, before any work.
    pub used_empty_bytes: u64,
    /// Bytes of contents in the dataset at that moment.
    pub stored_bytes: u64,
    /// Inodes, where the file system has a fixed number.
    pub inodes_total: Option<u64>,
    /// Of these, free.
    pub inodes_free: Option<u64>,
}

handed_on_as_json!(TrialRecord);
