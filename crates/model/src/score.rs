//! The few numbers of a trial that verdicts are computed from: a hundred thousand of them are read
//! in the time of a few hundred whole records.

use crate::clock::Clock;
use crate::free::FreeQuantity;
use crate::metric::Metric;
use crate::record::{
    CacheState, MemoryRecord, Outcome, PhaseRecord, TimeBase, TrialRecord, Window,
};
use crate::worker::WorkerUsage;

/// Counters of processor time up to `durable` that a score is made of: five of busy time, two of
/// the rest, and what the hypervisor gave to others. Clock ticks of `/proc/stat` are 10 ms on every
/// machine that Linux runs on today (USER_HZ).
pub const PROCESSOR: [&str; 8] = [
    "cpu.user_ns",
    "cpu.nice_ns",
    "cpu.system_ns",
    "cpu.irq_ns",
    "cpu.softirq_ns",
    "cpu.idle_ns",
    "cpu.iowait_ns",
    "cpu.steal_ns",
];
/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;
/// Bytes that the device wrote.
pub const WRITTEN: &str = "device.written_bytes";

/// A trial, in numbers. Of a trial with several attempts, the latest.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialScore {
    /// Number of its slot in the schedule.
    pub sequence: u32,
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the whole trial.
    pub elapsed_ns: u64,
    /// Whether it was stopped by the user or the system, and is done again on resume.
    pub is_interrupted: bool,
    /// What its times are counted in.
    pub time_base: TimeBase,
    /// Whether its contents were wrong when read again: then it did other work.
    pub has_bad_contents: bool,
    /// Its timed phases.
    pub phases: Vec<PhaseScore>,
}

/// A timed phase, in numbers. Of cycles each but `p99_ns` is the mean of those that are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseScore {
    pub name: String,
    /// What it left free; absent where an older version stored it.
    pub free: Option<FreeQuantity>,
    /// Whether it ran to its end.
    pub is_complete: bool,
    /// The calls came back.
    pub returned_ns: u64,
    /// syncfs done.
    pub durable_ns: Option<u64>,
    /// Everything is where it shall lie; of what has no device, when it is durable.
    pub drained_ns: Option<u64>,
    pub cache: CacheState,
    /// Memory limit.
    pub memory: MemoryKind,
    /// Busy time of all processors up to `durable`.
    pub cpu_ns: Option<u64>,
    /// Time of all processors up to `durable`, busy or not, `steal` included.
    pub machine_ns: Option<u64>,
    /// Time that the hypervisor gave to others up to `durable`.
    pub steal_ns: Option<u64>,
    /// Bytes that the device wrote up to the next unmount; of cycles the mean over the periods of
    /// those that are compared.
    pub written_bytes: Option<u64>,
    /// Latency that 99 % of the ops stayed below; only where it was asked for.
    pub p99_ns: Option<u64>,
    /// Ops that were completed; absent where an older version stored it.
    pub ops: Option<u64>,
    /// Bytes that the calls moved; absent where an older version stored it.
    pub asked_bytes: Option<u64>,
    /// What the machine was like meanwhile.
    pub covariates: Covariates,
    /// Values of the metrics of [`FIGURES`], of those that the record has.
    pub figures: Vec<(Metric, f64)>,
}

/// Metrics that are stored by their names: how each is read from the record of a phase. Those that
/// are computed from other figures of a score have no row here.
pub static FIGURES: [(Metric, PhaseFigure); 1] = [(Metric::ContextSwitches, context_switches)];

/// A figure of a phase in the base unit of its metric.
pub type PhaseFigure = fn(&PhaseRecord) -> Option<f64>;

/// Per op, up to `returned`; absent where the usage of the worker was not recorded, and of cycles,
/// whose usage is that of all of them.
fn context_switches(phase: &PhaseRecord) -> Option<f64> {
    let usage = &phase.worker;
    let is_recorded = *usage != WorkerUsage::default() && phase.cycles.is_none();
    let ops = Some(phase.compared_ops()).filter(|ops| is_recorded && *ops > 0)?;
    let switches = usage.voluntary_switches.saturating_add(usage.involuntary_switches);
    Some(switches as f64 / ops as f64)
}

/// The figures of a phase, in the order of the names of their metrics.
#[must_use]
pub fn figures(phase: &PhaseRecord) -> Vec<(Metric, f64)> {
    let value = |(metric, read): &(Metric, PhaseFigure)| Some((*metric, read(phase)?));
    let mut all: Vec<(Metric, f64)> = FIGURES.iter().filter_map(value).collect();
    all.sort_by_key(|(metric, _)| metric.name());
    all
}

/// What the machine did beside a phase and how fast it was: covariates of its times, and grounds
/// for a block to be run again. What was not read is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Covariates {
    /// User time of programs other than the worker up to `durable`. Kernel threads have none, so
    /// this is foreign (or the server of a FUSE file system); what such programs did in the kernel
    /// is not in it: a lower bound. Read in clock ticks, as all of [`PROCESSOR`].
    pub foreign_ns: Option<u64>,
    /// Length of the canary loop right before the phase: a fixed amount of work without I/O.
    pub canary_before_ns: Option<u64>,
    /// The same after it.
    pub canary_after_ns: Option<u64>,
    /// Mean frequency of the processors.
    pub frequency_khz: Option<u64>,
    /// Task clock of the worker and its programs up to `durable`, ns.
    pub worker_cpu_ns: Option<u64>,
    /// Task clock of all kernel threads up to `durable`, ns: also what they did for others.
    pub kernel_cpu_ns: Option<u64>,
}

impl Covariates {
    /// The covariates of a phase.
    #[must_use]
    pub fn from_phase(phase: &PhaseRecord) -> Self {
        Self {
            foreign_ns: phase.foreign_ns(),
            canary_before_ns: phase.canary.map(|canary| canary.before_ns),
            canary_after_ns: phase.canary.and_then(|canary| canary.after_ns),
            frequency_khz: phase.frequency_khz,
            worker_cpu_ns: phase.task_cpu.map(|cpu| cpu.worker_ns),
            kernel_cpu_ns: phase.task_cpu.and_then(|cpu| cpu.kernel_threads_ns),
        }
    }

    /// Every figure, in the order of the columns they are stored in.
    #[must_use]
    pub fn to_columns(self) -> [Option<u64>; 6] {
        let canary = [self.canary_before_ns, self.canary_after_ns];
        [
            self.foreign_ns,
            canary[0],
            canary[1],
            self.frequency_khz,
            self.worker_cpu_ns,
            self.kernel_cpu_ns,
        ]
    }

    /// From [`Self::to_columns`].
    #[must_use]
    pub fn from_columns(columns: [Option<u64>; 6]) -> Self {
        let [foreign_ns, before, after, frequency_khz, worker_cpu_ns, kernel_cpu_ns] = columns;
        Self {
            foreign_ns,
            canary_before_ns: before,
            canary_after_ns: after,
            frequency_khz,
            worker_cpu_ns,
            kernel_cpu_ns,
        }
    }
}

/// Memory of a phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemoryKind {
    /// The whole machine.
    Whole,
    /// Limited as asked.
    Limited,
    /// A limit was asked for and not to be had.
    NotLimited,
}

impl From<&MemoryRecord> for MemoryKind {
    fn from(memory: &MemoryRecord) -> Self {
        match memory {
            MemoryRecord::Whole => Self::Whole,
            MemoryRecord::Limited { .. } => Self::Limited,
            MemoryRecord::NotLimited { .. } => Self::NotLimited,
        }
    }
}

impl From<&PhaseRecord> for PhaseScore {
    fn from(phase: &PhaseRecord) -> Self {
        let ProcessorTime { cpu_ns, machine_ns, steal_ns } = ProcessorTime::from_counters(
            PROCESSOR.map(|name| phase.counter(Window::Durable, name)),
        );
        Self {
            name: phase.name.clone(),
            free: phase.free,
            is_complete: phase.is_complete(),
            returned_ns: phase.ns(Clock::Returned).unwrap_or(phase.clocks.returned_ns),
            durable_ns: phase.ns(Clock::Durable),
            drained_ns: phase.ns(Clock::Drained),
            cache: phase.cache.state,
            memory: MemoryKind::from(&phase.memory),
            cpu_ns,
            machine_ns,
            steal_ns,
            written_bytes: phase.counter(Window::Unmounted, WRITTEN),
            p99_ns: phase.p99_ns(),
            ops: Some(phase.compared_ops()),
            asked_bytes: Some(phase.compared_asked_bytes()),
            covariates: Covariates::from_phase(phase),
            figures: figures(phase),
        }
    }
}

impl PhaseScore {
    /// Its value of a metric, in the metric's base unit; lengths are up to `clock`.
    #[must_use]
    pub fn value(&self, metric: Metric, clock: Clock) -> Option<f64> {
        let read = match metric {
            Metric::PerOp => return self.per_op_ns(clock),
            Metric::PerMib => return self.per_mib_ns(clock),
            Metric::Time => self.clock_ns(clock)?,
            Metric::Cpu => self.cpu_ns?,
            Metric::TaskClock => self.covariates.worker_cpu_ns?,
            Metric::Written => self.written_bytes?,
            Metric::P99 => self.p99_ns?,
            _ => {
                return self
                    .figures
                    .iter()
                    .find(|(one, _)| *one == metric)
                    .map(|(_, value)| *value);
            }
        };
        Some(read as f64)
    }

    /// The length of an op by one of the clocks, ns.
    fn per_op_ns(&self, clock: Clock) -> Option<f64> {
        let ops = self.ops.filter(|ops| *ops > 0)?;
        Some(self.clock_ns(clock)? as f64 / ops as f64)
    }

    /// The length of a MiB by one of the clocks, ns.
    fn per_mib_ns(&self, clock: Clock) -> Option<f64> {
        let bytes = self.asked_bytes.filter(|bytes| *bytes > 0)?;
        Some(self.clock_ns(clock)? as f64 / (bytes as f64 / MIB))
    }

    /// The length by one of the clocks.
    #[must_use]
    pub fn clock_ns(&self, clock: Clock) -> Option<u64> {
        match clock {
            Clock::Returned => Some(self.returned_ns),
            Clock::Durable => self.durable_ns,
            Clock::Drained => self.drained_ns,
        }
    }
}

/// Sums of counters of processor time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessorTime {
    /// As [`PhaseScore::cpu_ns`].
    pub cpu_ns: Option<u64>,
    /// As [`PhaseScore::machine_ns`].
    pub machine_ns: Option<u64>,
    /// As [`PhaseScore::steal_ns`].
    pub steal_ns: Option<u64>,
}

impl ProcessorTime {
    /// From the counters in the order of [`PROCESSOR`], ns; those that the kernel lacks are none.
    #[must_use]
    pub fn from_counters(counters: [Option<u64>; PROCESSOR.len()]) -> Self {
        let [user, nice, system, irq, softirq, idle, iowait, steal_ns] = counters;
        let sum = |some: &[Option<u64>]| some.iter().flatten().copied().reduce(u64::saturating_add);
        let cpu_ns = sum(&[user, nice, system, irq, softirq]);
        let rest_ns = sum(&[idle, iowait]);
        let machine_ns = cpu_ns.zip(rest_ns).and_then(|_| sum(&[cpu_ns, rest_ns, steal_ns]));
        Self { cpu_ns, machine_ns, steal_ns }
    }
}

impl TrialScore {
    /// The numbers of a record.
    #[must_use]
    pub fn from_record(record: &TrialRecord) -> Self {
        Self {
            sequence: record.key.sequence,
            started_unix_ns: record.started_unix_ns,
            elapsed_ns: record.elapsed_ns,
            is_interrupted: record.outcome == Outcome::Interrupted,
            time_base: record.time_base,
            has_bad_contents: record.has_bad_contents(),
            phases: record.phases.iter().map(PhaseScore::from).collect(),
        }
    }
}
