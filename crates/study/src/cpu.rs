//! CPU load of the whole machine over a phase.
//!
//! From `/proc/stat`, from the phase's start to `durable`; 100 % is the whole machine. Busy is
//! user, nice, system, irq and softirq; idle is idle and iowait; time that the hypervisor took away
//! (steal) is part of the whole but not of the work. The kernel counts in clock ticks of 10 ms, so
//! phases in which all processors together saw fewer than 100 ticks have no figure: a tick more or
//! less would be more than a percent of it. Short trials of one row are taken together.

use crate::figures::SpreadF;
use fsarena_model::contender::Contender;
use fsarena_model::record::{PhaseRecord, TrialRecord, Window};
use fsarena_model::sample::Counters;
use fsarena_stats::median;
use serde::Serialize;
use std::borrow::Cow;

/// A tick of `USER_HZ`, ns.
pub const TICK_NS: u64 = 10_000_000;
/// Fewer ticks than this, over all processors together, give no figure.
pub const TOO_SHORT_TICKS: u64 = 100;

/// Counters of time in which processors worked.
pub(crate) const BUSY: [&str; 5] =
    ["cpu.user_ns", "cpu.nice_ns", "cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"];
/// Counters of the rest.
pub(crate) const IDLE: [&str; 3] = ["cpu.idle_ns", "cpu.iowait_ns", STEAL];
/// Counter of the time that the hypervisor took.
pub(crate) const STEAL: &str = "cpu.steal_ns";

/// CPU load over the trials of a row.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CpuLoad {
    /// Median of the trials that were long enough; where none was, but all together were, their
    /// busy time ÷ their whole time as one figure.
    Percent {
        /// Their spread, % of the whole machine.
        percent: SpreadF,
    },
    /// All trials together were under [`TOO_SHORT_TICKS`].
    TooShort,
    /// No trial has the counters.
    Unknown,
}

impl CpuLoad {
    /// The load of one phase.
    #[must_use]
    pub fn of_phase(phase: &PhaseRecord) -> Self {
        Self::over([phase])
    }

    /// The load over several phases, each of its own trial.
    #[must_use]
    pub fn over<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Self {
        let times: Vec<(u64, u64)> = phases
            .into_iter()
            .filter_map(counters)
            .filter_map(|counters| busy_and_all(counters.as_ref()))
            .collect();
        Self::of_times(&times)
    }

    /// Its median as a share of the machine, 0 to 1, where there is one.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        match self {
            Self::Percent { percent } => Some(percent.median / 100.0),
            Self::TooShort | Self::Unknown => None,
        }
    }

    /// From busy and whole time of each trial, ns.
    fn of_times(times: &[(u64, u64)]) -> Self {
        let percent = |(busy_ns, all_ns): (u64, u64)| busy_ns as f64 * 100.0 / all_ns as f64;
        let each = times.iter().copied().filter(|&(_, all_ns)| is_long(all_ns)).map(percent);
        let together = times.iter().fold((0u64, 0u64), |sum, &(busy_ns, all_ns)| {
            (sum.0.saturating_add(busy_ns), sum.1.saturating_add(all_ns))
        });
        let pooled =
            || is_long(together.1).then(|| SpreadF::from_values(vec![percent(together)])).flatten();
        match SpreadF::from_values(each.collect()).or_else(pooled) {
            Some(percent) => Self::Percent { percent },
            None if times.is_empty() => Self::Unknown,
            None => Self::TooShort,
        }
    }
}

/// Processor time of one op by the task clock, which has no ticks: of the worker and its programs,
/// and of kernel threads where they are seen, up to `durable`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CpuPerOp {
    /// Spread over trials, ns an op.
    pub ns: SpreadF,
    /// Of this, the worker and its programs alone, ns an op.
    pub worker_ns: SpreadF,
    /// Whether kernel threads are in all of them: write-back, journal, and what they did for
    /// others.
    pub with_kernel_threads: bool,
}

impl CpuPerOp {
    /// Over several phases, each of its own trial; `None` where none has the figure. Kernel threads
    /// are left out of all where one trial did not see them.
    #[must_use]
    pub fn over<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Option<Self> {
        let known = |phase: &PhaseRecord| phase.task_cpu.map(|cpu| (cpu, phase.ops));
        let all: Vec<_> = phases.into_iter().filter_map(known).filter(|&(_, n)| n > 0).collect();
        let with_kernel_threads = all.iter().all(|(cpu, _)| cpu.kernel_threads_ns.is_some());
        let each = all.iter().map(|(cpu, ops)| {
            let kernel_ns = cpu.kernel_threads_ns.filter(|_| with_kernel_threads).unwrap_or(0);
            cpu.worker_ns.saturating_add(kernel_ns) as f64 / *ops as f64
        });
        let ns = SpreadF::from_values(each.collect())?;
        let own = all.iter().map(|(cpu, ops)| cpu.worker_ns as f64 / *ops as f64);
        let worker_ns = SpreadF::from_values(own.collect())?;
        Some(Self { ns, worker_ns, with_kernel_threads })
    }
}

/// Median over trials of the task clock of a phase (workload and name), ns: of the worker and its
/// programs, up to `durable`. `None` where no complete trial of the contender has it.
#[must_use]
pub fn median_task_clock_ns(
    records: &[TrialRecord],
    contender: &Contender,
    (workload, phase): (&str, &str),
) -> Option<f64> {
    let id = contender.id();
    let is_own = |record: &&TrialRecord| {
        record.key.contender == id && record.key.workload == workload && !record.has_bad_contents()
    };
    let own = records.iter().filter(is_own).flat_map(|record| &record.phases);
    let complete = own.filter(|own| own.name == phase && own.is_complete());
    let clocks: Vec<f64> =
        complete.filter_map(|own| Some(own.task_cpu?.worker_ns as f64)).collect();
    median(&clocks).ok()
}

/// The largest share of the machine that ran other programs, in user mode, in one of the phases, 0
/// to 1; `None` where it is not counted, or each was too short for that.
pub(crate) fn foreign_share<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Option<f64> {
    let share = |phase: &PhaseRecord| {
        let counters = counters(phase)?;
        let (_, all_ns) = busy_and_all(counters.as_ref())?;
        let foreign_ns = phase.foreign_ns()?;
        is_long(all_ns).then(|| (foreign_ns as f64 / all_ns as f64).min(1.0))
    };
    phases.into_iter().filter_map(share).max_by(f64::total_cmp)
}

/// Share of the machine's time up to `durable` that the hypervisor took, 0 to 1; `None` where it is
/// not counted, or the phase was too short for that.
pub(crate) fn steal_share(phase: &PhaseRecord) -> Option<f64> {
    let counters = counters(phase)?;
    let (_, all_ns) = busy_and_all(counters.as_ref())?;
    let steal_ns = *counters.get(STEAL)?;
    is_long(all_ns).then(|| steal_ns as f64 / all_ns as f64)
}

/// Counters up to `durable`: of cycles the sum of those that are compared, without the rest of
/// their periods.
fn counters(phase: &PhaseRecord) -> Option<Cow<'_, Counters>> {
    let Some(cycles) = &phase.cycles else {
        return phase.windows.get(&Window::Durable).map(Cow::Borrowed);
    };
    let mut sum = Counters::new();
    for (name, value) in cycles.compared().flat_map(|cycle| &cycle.durable) {
        let all = sum.entry(name.clone()).or_insert(0u64);
        *all = all.saturating_add(*value);
    }
    Some(Cow::Owned(sum))
}

/// Whether so much time of all processors together is enough for a figure.
fn is_long(all_ns: u64) -> bool {
    all_ns >= TOO_SHORT_TICKS * TICK_NS
}

fn busy_and_all(counters: &Counters) -> Option<(u64, u64)> {
    let sum = |names: &[&str]| -> u64 {
        names.iter().filter_map(|name| counters.get(*name)).fold(0, |a, &b| a.saturating_add(b))
    };
    // Without the idle counter there is no whole, and 100 % would be a lie.
    counters.get("cpu.idle_ns")?;
    let busy = sum(&BUSY);
    Some((busy, busy.saturating_add(sum(&IDLE))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::record::TaskCpu;

    fn percent(times: &[(u64, u64)]) -> Option<f64> {
        match CpuLoad::of_times(times) {
            CpuLoad::Percent { percent } => Some(percent.median),
            CpuLoad::TooShort | CpuLoad::Unknown => None,
        }
    }

    /// Where there are too few ticks for a load, there is a figure still.
    #[test]
    fn the_task_clock_has_a_figure_for_short_phases() {
        let header = fsarena_testkit::records::header(
            vec![fsarena_testkit::records::contender("ext4", "ext4", 1)],
            vec![fsarena_testkit::records::small_files()],
            1,
        );
        let mut phase = fsarena_testkit::records::record(&header, 0).phases.remove(0);
        assert_eq!(CpuPerOp::over([&phase]), None, "of an older record");
        phase.ops = 1000;
        let cpu = |worker_ns, kernel_threads_ns| Some(TaskCpu { worker_ns, kernel_threads_ns });
        phase.task_cpu = cpu(30_000_000, Some(12_000_000));
        let one = CpuPerOp::over([&phase]).expect("it has the clock");
        assert_eq!((one.ns.median, one.with_kernel_threads), (42_000.0, true));
        let mut inside = phase.clone();
        inside.task_cpu = cpu(50_000_000, None);
        let both = CpuPerOp::over([&phase, &inside]).expect("both have the clock");
        assert_eq!((both.ns.median, both.with_kernel_threads), (40_000.0, false));
        let busy = foreign_share([&phase]).expect("two seconds are long enough");
        assert!(busy < 1e-9, "all user time is the worker's: {busy}");
        phase.worker.user_ns = 0;
        assert!(foreign_share([&phase]).is_some_and(|share| (share - 0.05).abs() < 1e-9));
    }

    #[test]
    fn short_trials_are_taken_together() {
        const TICK: u64 = TICK_NS;
        assert_eq!(percent(&[(30 * TICK, 60 * TICK); 2]), Some(50.0));
        assert_eq!(percent(&[(30 * TICK, 49 * TICK); 2]), None, "98 ticks in all");
        assert_eq!(percent(&[(9 * TICK, 50 * TICK), (25 * TICK, 100 * TICK)]), Some(25.0));
        assert_eq!(CpuLoad::of_times(&[]), CpuLoad::Unknown);
    }
}
