//! Ops and latencies over the time of a phase: how slow it was at its slowest, and since when it is
//! steady.

use crate::course::Course;
use crate::figures::{SpreadF, SpreadNs};
use fsarena_model::record::PhaseRecord;
use serde::Serialize;

/// The periods of a row's trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct OverTimeView {
    /// Length of a period; the longest, where trials differ.
    pub period_ns: u64,
    /// Periods of a trial.
    pub periods: SpreadF,
    /// Ops a second in the slowest period of each trial. The last period counts where it is at
    /// least half as long as the others.
    pub slowest_per_s: SpreadF,
    /// The same of the fastest period.
    pub fastest_per_s: SpreadF,
    /// Latency that 99 % of the ops of a period stay below: the middle period of each trial.
    pub p99_ns: SpreadNs,
    /// The same of the worst period of each trial.
    pub worst_p99_ns: SpreadNs,
    /// The longest op of all trials.
    pub longest_ns: u64,
    /// End of its period, after the start of its phase.
    pub longest_at_ns: u64,
    /// When the warm-up ended by the rates of each trial (MSER-5); absent below 40 periods.
    pub steady_from_ns: Option<SpreadNs>,
}

impl OverTimeView {
    /// Of the phases that have periods; `None` where none has.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        let courses: Vec<Course<'_>> =
            phases.iter().filter_map(|phase| Course::new(phase)).collect();
        let rates = |pick: fn(f64, f64) -> f64| {
            let own = courses.iter().filter_map(|one| one.rates().into_iter().reduce(pick));
            SpreadF::from_values(own.collect())
        };
        let p99_ns = |pick: fn(&[u64]) -> Option<u64>| {
            let own = courses.iter().filter_map(|one| pick(&one.p99_ns()));
            SpreadNs::from_values(own.collect())
        };
        let longest = courses.iter().flat_map(Course::longest).max_by_key(|(ns, _)| *ns);
        let (longest_ns, longest_at_ns) = longest?;
        let steady = courses.iter().filter_map(Course::steady_from_ns);
        Some(Self {
            period_ns: courses.iter().map(|one| one.period_ns()).max()?,
            periods: SpreadF::from_values(courses.iter().map(Course::periods).collect())?,
            slowest_per_s: rates(f64::min)?,
            fastest_per_s: rates(f64::max)?,
            p99_ns: p99_ns(|sorted| sorted.get(sorted.len().checked_sub(1)? / 2).copied())?,
            worst_p99_ns: p99_ns(|sorted| sorted.last().copied())?,
            longest_ns,
            longest_at_ns,
            steady_from_ns: SpreadNs::from_values(steady.collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::sample::{LatencyPeriod, LatencySeries};
    use fsarena_testkit::records;

    const MS: u64 = 1_000_000;

    /// A phase of 2.25 s in periods of 500 ms, with so many ops in each.
    fn phase(ops: &[u64]) -> PhaseRecord {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 1);
        let mut phase = records::record(&header, 0).phases.remove(0);
        let period = |(at, &ops): (usize, &u64)| LatencyPeriod {
            ops,
            p50_ns: MS,
            p99_ns: (at as u64 + 2) * MS,
            max_ns: if at == 1 { 90 * MS } else { 10 * MS },
        };
        let periods = ops.iter().enumerate().map(period).collect();
        phase.latency_series = Some(LatencySeries { period_ns: 500 * MS, periods });
        phase.clocks.returned_ns = (ops.len() as u64 * 500 - 250) * MS;
        phase
    }

    #[test]
    fn the_slowest_period_and_the_longest_op_are_found() {
        let one = phase(&[100, 50, 0, 200, 60]);
        let view = OverTimeView::over(&[&one]).unwrap();
        assert_eq!((view.slowest_per_s.median, view.fastest_per_s.median), (0.0, 400.0));
        assert_eq!(view.periods.median, 5.0);
        // 60 ops in 250 ms are 240 a second; the period without ops has no latency.
        assert_eq!((view.p99_ns.median_ns, view.worst_p99_ns.median_ns), (3 * MS, 6 * MS));
        assert_eq!((view.longest_ns, view.longest_at_ns), (90 * MS, 1000 * MS));
        assert_eq!(view.steady_from_ns, None, "too few to say");
        assert_eq!(OverTimeView::over(&[]), None);
    }

    #[test]
    fn a_slow_beginning_ends_somewhere() {
        let level = |at: u64| if at < 10 { 900 } else { 100 };
        let ops: Vec<u64> = (0..60).map(|at| level(at) + at * 7919 % 13).collect();
        let one = phase(&ops);
        let steady = OverTimeView::over(&[&one]).unwrap().steady_from_ns.unwrap();
        assert_eq!(steady.median_ns, 5000 * MS);
        // Where the level falls later, it is steady from nowhere on.
        let later: Vec<u64> = (0..100).map(|at| if at < 70 { 900 } else { 100 }).collect();
        let later: Vec<u64> = (0u64..).zip(later).map(|(at, ops)| ops + at * 7919 % 13).collect();
        assert_eq!(OverTimeView::over(&[&phase(&later)]).unwrap().steady_from_ns, None);
    }
}
