//! What a second load does to the cycles that it disturbs, and what it gets itself.

use super::figures::{busy_share, cycles, mean, period};
use crate::figures::SpreadF;
use crate::ledger::{Latency, WRITTEN};
use fsarena_model::cycle::{Cycle, CycleRecord, CyclesRecord, DisturbReport, Load};
use fsarena_stats::{EXACT_FROM, PairSample};
use indexmap::IndexSet;
use serde::Serialize;

/// With fewer trials a factor has no interval.
pub const INTERVAL_FROM: usize = 3;
/// Share of misses of an interval.
const ALPHA: f64 = 0.05;

/// Disturbed cycles ÷ plain ones of the same trial: undisturbed ones that did not meet the second
/// load of another.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct DisturbEffect {
    /// Work time.
    pub work: Option<Factor>,
    /// Time to durable.
    pub durable: Option<Factor>,
    /// Share of the period in which the device had something to do.
    pub busy: Option<Factor>,
    /// The longest op of a cycle, mean over cycles: that of all would grow with their number.
    pub worst: Option<Factor>,
    /// Bytes written to the device in a period, those of the second load among them.
    pub written: Option<Factor>,
}

/// How many times more.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Factor {
    /// Trials that have both.
    pub n: usize,
    /// Geometric mean over trials (from 12 trials on, Hodges-Lehmann).
    pub factor: f64,
    /// 95 % interval, of the trials' log ratios; absent under three trials.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Factor {
    /// What its value is.
    #[must_use]
    pub fn estimator(&self) -> &'static str {
        if self.n < EXACT_FROM { "geometric mean" } else { "Hodges-Lehmann estimate" }
    }

    /// Of pairs (disturbed, undisturbed), one a trial; `None` without any.
    pub(crate) fn from_pairs(pairs: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let logs: Vec<f64> =
            pairs.filter(|&(a, b)| a > 0.0 && b > 0.0).map(|(a, b)| (a / b).ln()).collect();
        let sample = PairSample { logs: &logs, floor_sd: 0.0, pooled: None };
        let interval = (logs.len() >= INTERVAL_FROM).then(|| sample.interval(ALPHA)).flatten();
        Some(Self {
            n: logs.len(),
            factor: sample.point()?.exp(),
            low: interval.map(|interval| interval.low.exp()),
            high: interval.map(|interval| interval.high.exp()),
        })
    }
}

impl DisturbEffect {
    /// `None` where no trial has disturbed and undisturbed cycles.
    pub(super) fn from_trials(trials: &[&CyclesRecord]) -> Option<Self> {
        let both: Vec<[Vec<&CycleRecord>; 2]> = trials
            .iter()
            .map(|trial| [true, false].map(|disturbed| cycles(trial, disturbed)))
            .filter(|[a, b]| !a.is_empty() && !b.is_empty())
            .collect();
        if both.is_empty() {
            return None;
        }
        let factor = |of: &dyn Fn(&[&CycleRecord]) -> Option<f64>| {
            Factor::from_pairs(both.iter().filter_map(|[a, b]| Some((of(a)?, of(b)?))))
        };
        Some(Self {
            work: factor(&|group| mean(group, |cycle| Some(cycle.work_ns() as f64))),
            durable: factor(&|group| mean(group, |cycle| Some(cycle.durable_ns()? as f64))),
            busy: factor(&busy_share),
            worst: factor(&|group| mean(group, |cycle| Some(cycle.report.worst_ns as f64))),
            written: factor(&|group| mean(group, |cycle| period(cycle, WRITTEN))),
        })
    }
}

/// What the second load asked for and got, over the disturbed cycles of all trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct DisturberView {
    /// What it does.
    pub load: Load,
    /// Cycles with it, over all trials.
    pub cycles: usize,
    /// Ops a second as asked; absent where it goes as fast as it can.
    pub asked_ops_per_s: Option<f64>,
    /// Ops a second as done, of each cycle.
    pub ops_per_s: Option<SpreadF>,
    /// Bytes a second as done, of each cycle.
    pub bytes_per_s: Option<SpreadF>,
    /// Latency of its ops, of all cycles together.
    pub latency: Option<Latency>,
    /// Its longest op, ns.
    pub worst_ns: u64,
    /// How far its last op was behind its rate at the most, ns; 0 where it kept up or has no rate.
    pub late_ns: u64,
    /// Cycles in which it ended early.
    pub failed: usize,
    /// Why, each text once.
    pub errors: Vec<String>,
}

impl DisturberView {
    /// `None` where no cycle had it.
    pub(super) fn from_trials(planned: &Cycle, trials: &[&CyclesRecord]) -> Option<Self> {
        let load = planned.disturb.as_ref()?.load;
        let reports: Vec<&DisturbReport> = trials
            .iter()
            .flat_map(|trial| &trial.cycles)
            .filter_map(|cycle| cycle.report.disturb.as_ref())
            .collect();
        if reports.is_empty() {
            return None;
        }
        let rate = |amount: fn(&DisturbReport) -> u64| {
            let of = |report: &&DisturbReport| {
                let ns = report.done_ns.saturating_sub(report.started_ns);
                (ns > 0).then(|| amount(report) as f64 * 1e9 / ns as f64)
            };
            SpreadF::from_values(reports.iter().filter_map(of).collect())
        };
        let failed = reports.iter().filter_map(|report| report.error.as_ref());
        let texts = failed.clone().map(|e| format!("{} {}: {}", e.call, e.path, e.text));
        let errors: IndexSet<String> = texts.collect();
        Some(Self {
            load,
            cycles: reports.len(),
            asked_ops_per_s: asked_ops_per_s(load),
            ops_per_s: rate(|report| report.ops),
            bytes_per_s: rate(|report| report.bytes),
            latency: Latency::merged(
                reports.iter().filter_map(|report| report.latency.as_ref()).collect(),
            ),
            worst_ns: reports.iter().map(|report| report.worst_ns).max().unwrap_or(0),
            late_ns: reports.iter().map(|report| report.late_ns).max().unwrap_or(0),
            failed: failed.count(),
            errors: errors.into_iter().collect(),
        })
    }
}

fn asked_ops_per_s(load: Load) -> Option<f64> {
    let rate = match load {
        Load::Create { rate, .. } => rate as f64,
        Load::Write { bs_bytes, rate_bytes, .. } | Load::Read { bs_bytes, rate_bytes, .. } => {
            rate_bytes as f64 / bs_bytes.max(1) as f64
        }
    };
    (rate > 0.0).then_some(rate)
}
