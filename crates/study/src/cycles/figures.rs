//! The figures of cycles: each is one value a trial.

use crate::figures::{SpreadF, SpreadNs};
use crate::ledger::{FLUSHES, READ, WRITTEN};
use fsarena_model::cycle::{CycleRecord, CyclesRecord, UpdateKind};
use fsarena_model::record::{PhaseRecord, Window};
use serde::Serialize;

/// Counter of the time in which the device had something to do.
const BUSY: &str = "device.busy_ns";
const QUEUE: &str = "device.queue_ns";
const WRITES: &str = "device.writes";
const WRITE_TIME: &str = "device.write_ns";
const SWAP_IN: &str = "vm.swap_in_bytes";
const SWAP_OUT: &str = "vm.swap_out_bytes";

/// Figures of a cycle, or of several as the mean of each trial; medians and ranges over trials.
/// Lengths are from the start of the cycle; counters are over its period.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CycleFigures {
    /// Cycles behind it, over all trials.
    pub cycles: usize,
    /// Of these, those that began while another one ran (`overlap`): counters hold the work
    /// of both.
    pub beside: usize,
    /// Its calls came back.
    pub work: Option<SpreadNs>,
    /// syncfs done.
    pub durable: Option<SpreadNs>,
    /// The device had become quiet; of the cycles in which it did.
    pub quiet: Option<SpreadNs>,
    /// Cycles in whose period it did not become quiet, or that have no device.
    pub not_quiet: usize,
    /// The longest op of all.
    pub worst: Option<WorstOp>,
    /// Bytes that the calls of the cycle wrote; without the second load.
    pub asked_bytes: Option<SpreadF>,
    /// Bytes read from the device.
    pub read_bytes: Option<SpreadF>,
    /// Bytes written to the device, those of the second load among them.
    pub written_bytes: Option<SpreadF>,
    /// The same a second of the period.
    pub written_bytes_per_s: Option<SpreadF>,
    /// Write requests.
    pub writes: Option<SpreadF>,
    /// Cache flushes.
    pub flushes: Option<SpreadF>,
    /// Share of the period in which the device had something to do, 0 to 1.
    pub busy_share: Option<SpreadF>,
    /// Requests under way, mean over the period.
    pub queue_depth: Option<SpreadF>,
    /// Mean time of a write request, ns.
    pub write_latency_ns: Option<SpreadF>,
    /// Bytes read from swap.
    pub swap_in_bytes: Option<SpreadF>,
    /// Bytes written to swap.
    pub swap_out_bytes: Option<SpreadF>,
}

/// The longest op.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct WorstOp {
    /// Its length.
    pub worst_ns: u64,
    /// What it did; absent where no op was recorded.
    pub kind: Option<UpdateKind>,
    /// The cycle that it was in, from 1.
    pub number: u32,
}

impl CycleFigures {
    /// Of cycles of several trials, one of each.
    pub(super) fn of_each(cycles: &[&CycleRecord]) -> Self {
        Self::of_groups(&cycles.iter().map(|cycle| vec![*cycle]).collect::<Vec<_>>())
    }

    /// Of the disturbed or the plain cycles, each trial by its means; `None` where there are
    /// none.
    pub(super) fn of_trials(trials: &[&CyclesRecord], disturbed: bool) -> Option<Self> {
        let groups: Vec<Vec<&CycleRecord>> = trials
            .iter()
            .map(|trial| cycles(trial, disturbed))
            .filter(|group| !group.is_empty())
            .collect();
        (!groups.is_empty()).then(|| Self::of_groups(&groups))
    }

    /// Each group is of one trial.
    fn of_groups(groups: &[Vec<&CycleRecord>]) -> Self {
        let all = || groups.iter().flatten().copied();
        let ns = |of: fn(&CycleRecord) -> Option<u64>| {
            let mean_ns = |group: &Vec<&CycleRecord>| mean(group, |cycle| Some(of(cycle)? as f64));
            let values = groups.iter().filter_map(mean_ns);
            SpreadNs::from_values(values.map(|value_ns| value_ns.round() as u64).collect())
        };
        let spread = |of: &dyn Fn(&CycleRecord) -> Option<f64>| {
            SpreadF::from_values(groups.iter().filter_map(|group| mean(group, of)).collect())
        };
        let ratio = |over: &dyn Fn(&[&CycleRecord]) -> Option<f64>| {
            SpreadF::from_values(groups.iter().filter_map(|group| over(group)).collect())
        };
        let counter = |name: &'static str| spread(&move |cycle| period(cycle, name));
        let longer = |a, b| if length_of_worst(b) > length_of_worst(a) { b } else { a };
        let worst = all().reduce(longer).map(|cycle| WorstOp {
            worst_ns: cycle.report.worst_ns,
            kind: cycle.report.worst_kind,
            number: cycle.report.number,
        });
        Self {
            cycles: all().count(),
            beside: all().filter(|cycle| cycle.report.beside > 0).count(),
            work: ns(|cycle| Some(cycle.work_ns())),
            durable: ns(CycleRecord::durable_ns),
            quiet: ns_of_some(groups),
            not_quiet: all().filter(|cycle| cycle.quiet_ns.is_none()).count(),
            worst: worst.filter(|worst| worst.worst_ns > 0),
            asked_bytes: spread(&|cycle| Some(cycle.report.asked_bytes as f64)),
            read_bytes: counter(READ),
            written_bytes: counter(WRITTEN),
            written_bytes_per_s: ratio(&|group| Some(per_period(group, WRITTEN)? * 1e9)),
            writes: counter(WRITES),
            flushes: counter(FLUSHES),
            busy_share: ratio(&busy_share),
            queue_depth: ratio(&|group| per_period(group, QUEUE)),
            write_latency_ns: ratio(&|group| {
                let (ns, writes) = (sum(group, WRITE_TIME)?, sum(group, WRITES)?);
                (writes > 0.0).then(|| ns / writes)
            }),
            swap_in_bytes: counter(SWAP_IN),
            swap_out_bytes: counter(SWAP_OUT),
        }
    }
}

fn length_of_worst(cycle: &CycleRecord) -> u64 {
    cycle.report.worst_ns
}

/// Of the cycles in which the device became quiet.
fn ns_of_some(groups: &[Vec<&CycleRecord>]) -> Option<SpreadNs> {
    let of = |group: &Vec<&CycleRecord>| {
        let quiet: Vec<&CycleRecord> =
            group.iter().copied().filter(|cycle| cycle.quiet_ns.is_some()).collect();
        mean(&quiet, |cycle| Some(cycle.quiet_ns()? as f64))
    };
    let values = groups.iter().filter_map(of);
    SpreadNs::from_values(values.map(|value_ns| value_ns.round() as u64).collect())
}

/// The disturbed or the plain cycles of a trial.
pub(super) fn cycles(trial: &CyclesRecord, disturbed: bool) -> Vec<&CycleRecord> {
    match disturbed {
        true => trial.cycles.iter().filter(|cycle| is_disturbed(cycle)).collect(),
        false => trial.plain(),
    }
}

/// Mean over cycles; `None` without any, or where one of them lacks the figure.
pub(super) fn mean(
    cycles: &[&CycleRecord],
    of: impl Fn(&CycleRecord) -> Option<f64>,
) -> Option<f64> {
    let values = cycles.iter().map(|cycle| of(cycle)).collect::<Option<Vec<f64>>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Share of the periods in which the device had something to do. The kernel counts whole
/// milliseconds, which may be more than the stretch had.
pub(super) fn busy_share(cycles: &[&CycleRecord]) -> Option<f64> {
    Some(per_period(cycles, BUSY)?.min(1.0))
}

/// Load of the device in one phase: of cycles over the periods of those that are compared, else up
/// to `durable`.
#[derive(Default)]
pub(crate) struct DeviceLoad {
    /// Share of the time in which it had something to do, 0 to 1.
    pub(crate) busy_share: Option<f64>,
    /// Requests under way, mean.
    pub(crate) queue_depth: Option<f64>,
    /// Mean time of a write request, ns.
    pub(crate) write_latency_ns: Option<f64>,
}

impl DeviceLoad {
    pub(crate) fn from_phase(phase: &PhaseRecord) -> Self {
        let (window, length_ns) = match &phase.cycles {
            Some(cycles) => (Window::Unmounted, cycles.mean(|cycle| Some(cycle.period_ns))),
            None => (Window::Durable, phase.clocks.durable_ns),
        };
        let counter = |name: &str| phase.counter(window, name).map(|value| value as f64);
        let Some(length_ns) = length_ns.filter(|&ns| ns > 0) else { return Self::default() };
        let share = |name: &str| counter(name).map(|value| value / length_ns as f64);
        let writes = counter(WRITES).filter(|&writes| writes > 0.0);
        Self {
            busy_share: share(BUSY).map(|share| share.min(1.0)),
            queue_depth: share(QUEUE),
            write_latency_ns: counter(WRITE_TIME).zip(writes).map(|(ns, writes)| ns / writes),
        }
    }
}

/// Growth of a counter over the periods ÷ their length, in its unit a nanosecond.
fn per_period(cycles: &[&CycleRecord], name: &str) -> Option<f64> {
    let length_ns: f64 = cycles.iter().map(|cycle| cycle.period_ns as f64).sum();
    let grown = sum(cycles, name)?;
    (length_ns > 0.0).then(|| grown / length_ns)
}

/// Growth of a counter over the periods; `None` where one lacks it.
fn sum(cycles: &[&CycleRecord], name: &str) -> Option<f64> {
    cycles.iter().map(|cycle| period(cycle, name)).sum()
}

pub(super) fn period(cycle: &CycleRecord, name: &str) -> Option<f64> {
    cycle.period.get(name).map(|&value| value as f64)
}

/// Whether the second load ran in it.
pub(super) fn is_disturbed(cycle: &CycleRecord) -> bool {
    cycle.report.disturb.is_some()
}
