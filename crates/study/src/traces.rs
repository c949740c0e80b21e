//! Time series of trials: levels and rates, from the counters that the sampler stored.

use crate::JsonSchema;
use crate::contenders::{Contenders, with_right_contents};
use crate::course::Course;
use crate::cpu::{BUSY, IDLE, TICK_NS};
use crate::figures::median;
use crate::ledger::{READ, WRITTEN};
use crate::phases::groups;
use fsarena_model::client::RECEIVED;
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::sample::{LatencyPeriod, Series};
use fsarena_model::work::Workload;
use serde::Serialize;

const DEVICE_BUSY: &str = "device.busy_ns";
const DEVICE_QUEUE: &str = "device.queue_ns";
const SENT: &str = "net.sent_bytes";
const DIRTY: [&str; 2] = ["mem.dirty_bytes", "mem.writeback_bytes"];
/// A stretch in which all processors together saw fewer ticks has no load: a tick more or less
/// would be more than a fifth of it.
const STRETCH_TICKS_MIN: u64 = 5;
const NS_PER_S: f64 = 1e9;
const MIB: f64 = (1u64 << 20) as f64;

/// The time series of one trial over all of its phases.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct TrialTrace {
    pub workload: String,
    pub contender: usize,
    pub label: String,
    /// Number of the block, from 1.
    pub block: u32,
    /// Number of the trial, from 1.
    pub trial: u32,
    /// Why this trial was taken: `the middle one of 8 by the time of create`.
    pub chosen: String,
    /// Phases one after the other, each from its own beginning.
    pub phases: Vec<PhaseTrace>,
}

/// The time series of a phase.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PhaseTrace {
    pub phase: String,
    /// Start of the phase on the axis of the whole trial, s: phases follow each other with the gaps
    /// between them left out.
    pub at_s: f64,
    /// Up to here it was measured: the last clock or sample, s after `at_s`.
    pub length_s: f64,
    /// The calls came back, s after `at_s`.
    pub returned_s: f64,
    /// syncfs done, s after `at_s`.
    pub durable_s: Option<f64>,
    /// Drained, s after `at_s`.
    pub drained_s: Option<f64>,
    /// Period of the samples, s.
    pub period_s: f64,
    /// One line a quantity that was read at least once, those of samples of one length; empty
    /// where no time series of this phase is stored.
    pub lines: Vec<TraceLine>,
    /// The hosts of its ranks, where agents took samples there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostTrace>,
}

/// A host as a client of the file system, over the time of a phase.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct HostTrace {
    /// Its name.
    pub hostname: String,
    /// As those of the phase.
    pub lines: Vec<TraceLine>,
}

/// A quantity over time.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct TraceLine {
    /// What it is.
    pub quantity: Quantity,
    /// Time after `at_s` in s, and the value in the unit of the quantity; absent where a reading
    /// was missing. Rates are of the stretch that ends there, so that the first has none. The
    /// sample right before the start stands at the start; earlier ones are left out.
    pub points: Vec<(f64, Option<f64>)>,
}

/// What is shown over time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Read from the device, MB/s (10⁶ bytes).
    ReadMbPerS,
    /// Written to the device, MB/s (10⁶ bytes).
    WrittenMbPerS,
    /// Share of the time in which the device had something to do, %.
    BusyPercent,
    /// Mean number of requests at the device.
    QueueDepth,
    /// Dirty memory and memory under writeback, MiB.
    DirtyMib,
    /// Load of the machine, % of all processors.
    CpuPercent,
    /// Received by its network, MB/s (10⁶ bytes).
    ReceivedMbPerS,
    /// Sent by its network, MB/s (10⁶ bytes).
    SentMbPerS,
    /// Ops that ended a second.
    OpsPerS,
    /// Half of them took no longer, ms.
    MedianLatencyMs,
    /// 99 % of them took no longer, ms.
    P99LatencyMs,
    /// The longest of them, ms.
    LongestLatencyMs,
}

impl Quantity {
    /// Those of the worker's ops, in periods of their own; where they were kept.
    pub const OF_OPS: [Self; 4] =
        [Self::OpsPerS, Self::MedianLatencyMs, Self::P99LatencyMs, Self::LongestLatencyMs];

    /// Those of the samples, in the order shown.
    pub const ALL: [Self; 8] = [
        Self::ReadMbPerS,
        Self::WrittenMbPerS,
        Self::BusyPercent,
        Self::QueueDepth,
        Self::DirtyMib,
        Self::CpuPercent,
        Self::ReceivedMbPerS,
        Self::SentMbPerS,
    ];
}

/// One trial a workload and contender: the middle one by the compared clock of the workload's
/// longest phase, among those in the state of cache and memory that most of its trials had (of two
/// in the middle the faster one). Where none of its trials has that phase, the next longest one.
/// Those without time series are left out, and so are those with wrong contents.
#[must_use]
pub fn traces(plan: &RunPlan, records: &[TrialRecord]) -> Vec<TrialTrace> {
    let contenders = Contenders::new(plan);
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let of_work = with_right_contents(records, &workload.name);
        let phases = longest_first(plan.compared_clock, workload, &of_work);
        for (index, own) in contenders.split(&of_work).into_iter().enumerate() {
            let with_series: Vec<&TrialRecord> =
                own.into_iter().filter(|r| r.phases.iter().any(has_series)).collect();
            let middle =
                phases.iter().find_map(|phase| middle(plan.compared_clock, &with_series, phase));
            let Some((record, chosen)) = middle else { continue };
            all.push(TrialTrace {
                workload: workload.name.clone(),
                contender: index,
                label: contenders.label(record),
                block: record.key.block + 1,
                trial: record.key.sequence + 1,
                chosen,
                phases: phase_traces(record),
            });
        }
    }
    all
}

fn has_series(phase: &PhaseRecord) -> bool {
    phase.series.is_some() || phase.latency_series.is_some()
}

/// Names of the timed phases of a workload, the longest by its median over all trials first.
fn longest_first<'a>(
    clock: Clock,
    workload: &'a Workload,
    records: &[&TrialRecord],
) -> Vec<&'a str> {
    let length_ns = |name: &str| {
        let phases = records.iter().flat_map(|record| &record.phases);
        let own = phases.filter(|phase| phase.name == name && phase.is_complete());
        median(own.filter_map(|phase| phase.ns(clock)).collect())
    };
    let timed = workload.phases.iter().filter(|phase| phase.timed);
    let mut names: Vec<(Option<u64>, &str)> =
        timed.map(|phase| (length_ns(&phase.name), phase.name.as_str())).collect();
    names.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    names.into_iter().map(|(_, name)| name).collect()
}

/// The trial in the middle by the time of a phase, and the words for it.
fn middle<'a>(
    clock: Clock,
    records: &[&'a TrialRecord],
    phase: &str,
) -> Option<(&'a TrialRecord, String)> {
    let timed = |pairs: Vec<(&'a TrialRecord, usize)>| -> Vec<(u64, u32, &'a TrialRecord)> {
        let ns = |(record, at): &(&TrialRecord, usize)| record.phases[*at].ns(clock);
        let of = |pair: &(&'a TrialRecord, usize)| Some((ns(pair)?, pair.0.key.sequence, pair.0));
        pairs.iter().filter_map(of).collect()
    };
    let sets = groups(records, phase).into_values().map(timed);
    // Of sets alike in size the first, which is the cold one.
    let mut set = sets.reduce(|most, next| if next.len() > most.len() { next } else { most })?;
    set.sort_by_key(|(ns, sequence, _)| (*ns, *sequence));
    let (_, _, record) = *set.get(set.len().checked_sub(1)? / 2)?;
    let chosen = match set.len() {
        1 => "the only one".to_owned(),
        count => format!("the middle one of {count} by the time of {phase}"),
    };
    Some((record, chosen))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S
}

/// All phases of a trial, one after the other.
fn phase_traces(record: &TrialRecord) -> Vec<PhaseTrace> {
    let mut at_s = 0.0;
    let mut traces = Vec::new();
    for phase in &record.phases {
        let trace = phase_trace(phase, at_s);
        at_s += trace.length_s;
        traces.push(trace);
    }
    traces
}

fn phase_trace(phase: &PhaseRecord, at_s: f64) -> PhaseTrace {
    let clocks = &phase.clocks;
    let drained_ns = clocks.drained.ns();
    let samples = phase.series.as_ref().map(Samples::new);
    let last_ns = samples.as_ref().and_then(|samples| samples.t_ns.last().copied());
    let ends = [Some(clocks.returned_ns), clocks.durable_ns, drained_ns, last_ns];
    let sampled =
        phase.clients.iter().filter_map(|host| Some((host, host.counts.series.as_ref()?)));
    let hosts = sampled.map(|(host, series)| HostTrace {
        hostname: host.hostname.clone(),
        lines: Samples::new(series).lines(),
    });
    let lines = samples.iter().flat_map(Samples::lines);
    PhaseTrace {
        phase: phase.name.clone(),
        at_s,
        length_s: seconds(ends.into_iter().flatten().max().unwrap_or(0)),
        returned_s: seconds(clocks.returned_ns),
        durable_s: clocks.durable_ns.map(seconds),
        drained_s: drained_ns.map(seconds),
        period_s: phase.series.as_ref().map_or(0.0, |series| seconds(series.period_ns)),
        lines: lines.chain(lines_of_ops(phase)).collect(),
        hosts: hosts.collect(),
    }
}

/// A line for each quantity that a phase has over time; nothing where it has no periods.
fn lines_of_ops(phase: &PhaseRecord) -> Vec<TraceLine> {
    let Some(course) = Course::new(phase) else { return Vec::new() };
    let value = |quantity: Quantity, at: usize, period: &LatencyPeriod| {
        let ms = |ns: u64| (period.ops > 0).then_some(ns as f64 / 1e6);
        match quantity {
            Quantity::OpsPerS => course.rate(at, period),
            Quantity::MedianLatencyMs => ms(period.p50_ns),
            Quantity::P99LatencyMs => ms(period.p99_ns),
            _ => ms(period.max_ns),
        }
    };
    let line = |quantity: Quantity| {
        let all = course.series.periods.iter().enumerate();
        let point = |(at, period): (usize, &LatencyPeriod)| {
            (course.end_ns(at) as f64 / NS_PER_S, value(quantity, at, period))
        };
        TraceLine { quantity, points: all.map(point).collect() }
    };
    Quantity::OF_OPS.into_iter().map(line).collect()
}

/// The samples of a phase from its start on.
struct Samples<'a> {
    series: &'a Series,
    /// Index of the first one.
    first: usize,
    /// Time of each since the start; that of one right before it is 0.
    t_ns: Vec<u64>,
}

impl<'a> Samples<'a> {
    fn new(series: &'a Series) -> Self {
        let near_ns = i64::try_from(series.period_ns).unwrap_or(i64::MAX);
        let after = series.t_ns.partition_point(|&t_ns| t_ns < 0);
        let before = after.checked_sub(1).filter(|&at| series.t_ns[at] >= near_ns.saturating_neg());
        let first = before.unwrap_or(after);
        let t_ns = series.t_ns[first..].iter().map(|&t_ns| u64::try_from(t_ns).unwrap_or(0));
        Self { series, first, t_ns: t_ns.collect() }
    }

    /// A column; `None` where it is not stored, or not as long as the times are.
    fn column(&self, name: &str) -> Option<&'a [Option<u64>]> {
        let column = self.series.columns.get(name)?;
        (column.len() == self.series.t_ns.len()).then(|| &column[self.first..])
    }

    /// A line for each quantity that has one.
    fn lines(&self) -> Vec<TraceLine> {
        Quantity::ALL.into_iter().filter_map(|quantity| self.line(quantity)).collect()
    }

    /// The line of a quantity; `None` where it has no value at all.
    fn line(&self, quantity: Quantity) -> Option<TraceLine> {
        let values = match quantity {
            Quantity::ReadMbPerS => self.rate(READ, 1e-6)?,
            Quantity::WrittenMbPerS => self.rate(WRITTEN, 1e-6)?,
            // The kernel counts whole milliseconds, which may be more than the stretch had.
            Quantity::BusyPercent => {
                let percent = self.rate(DEVICE_BUSY, 100.0 / NS_PER_S)?;
                percent.into_iter().map(|value| value.map(|value| value.min(100.0))).collect()
            }
            Quantity::QueueDepth => self.rate(DEVICE_QUEUE, 1.0 / NS_PER_S)?,
            Quantity::DirtyMib => {
                let [dirty, writeback] = DIRTY.map(|name| self.column(name));
                let pairs = dirty?.iter().zip(writeback?);
                pairs
                    .map(|(a, b)| Some(a.as_ref()?.saturating_add(*b.as_ref()?) as f64 / MIB))
                    .collect()
            }
            Quantity::CpuPercent => self.load()?,
            Quantity::ReceivedMbPerS => self.rate(RECEIVED, 1e-6)?,
            Quantity::SentMbPerS => self.rate(SENT, 1e-6)?,
            Quantity::OpsPerS
            | Quantity::MedianLatencyMs
            | Quantity::P99LatencyMs
            | Quantity::LongestLatencyMs => return None,
        };
        let values: Vec<Option<f64>> = values;
        let times = self.t_ns.iter().map(|&t_ns| seconds(t_ns));
        values
            .iter()
            .any(Option::is_some)
            .then(|| TraceLine { quantity, points: times.zip(values).collect() })
    }

    /// Growth a second of a counter between a sample and the one before it, times `factor`; absent
    /// where one of the two readings is missing, or the counter began anew.
    fn rate(&self, name: &str, factor: f64) -> Option<Vec<Option<f64>>> {
        let column = self.column(name)?;
        // Between true times: that of a sample before the start is not clipped here.
        let times = &self.series.t_ns[self.first..];
        let of = |at: usize| {
            let before = at.checked_sub(1)?;
            let grown = column[at]?.checked_sub(column[before]?)?;
            let stretch_ns = times[at].checked_sub(times[before]).filter(|&ns| ns > 0)?;
            Some(grown as f64 * factor * NS_PER_S / stretch_ns as f64)
        };
        Some((0..column.len()).map(of).collect())
    }

    /// Busy time ÷ all time of the processors between a sample and the one before it, %.
    fn load(&self) -> Option<Vec<Option<f64>>> {
        let columns = |names: &[&str]| names.iter().filter_map(|name| self.column(name)).collect();
        let (busy, idle): (Vec<_>, Vec<_>) = (columns(&BUSY), columns(&IDLE));
        // Without one of these there is no whole, and any figure would be a lie.
        for needed in ["cpu.user_ns", "cpu.system_ns", "cpu.idle_ns"] {
            self.column(needed)?;
        }
        let grown = |columns: &[&[Option<u64>]], at: usize| {
            let before = at.checked_sub(1)?;
            let each = columns.iter().map(|column| Some((column[before]?, column[at]?)));
            // The kernel may correct idle time downwards: then it did not grow.
            each.map(|two: Option<(u64, u64)>| two.map(|(was, is)| is.saturating_sub(was)))
                .try_fold(0u64, |sum, one| Some(sum.saturating_add(one?)))
        };
        let of = |at: usize| {
            let busy_ns = grown(&busy, at)?;
            let all_ns = busy_ns.saturating_add(grown(&idle, at)?);
            (all_ns >= STRETCH_TICKS_MIN * TICK_NS).then(|| busy_ns as f64 * 100.0 / all_ns as f64)
        };
        Some((0..self.t_ns.len()).map(of).collect())
    }
}
