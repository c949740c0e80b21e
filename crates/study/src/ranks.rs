//! The ranks of a row: how they started and ended, and which of them are slow.

use crate::figures::{SpreadF, SpreadNs};
use fsarena_model::rank::{RankReport, start_skew};
use fsarena_model::record::PhaseRecord;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many of the slowest are named.
const NAMED: usize = 3;

/// The ranks of a row, over its trials. A rank's rate is by its own clock, from its first clock
/// read to its last; times of several are by the clock of the runner.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct RanksView {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of hosts that they ran on.
    pub hosts: usize,
    /// The last start after the first.
    pub start_skew: SpreadNs,
    /// The largest error of a clock, ns; 0 where all have one clock.
    pub clock_error_ns: u64,
    /// When the first rank was done.
    pub first_done: SpreadNs,
    /// When the last rank was done.
    pub last_done: SpreadNs,
    /// Ops per second of the slowest rank, each the median over trials.
    pub slowest_per_s: f64,
    /// Median over the ranks.
    pub median_per_s: f64,
    /// Ops per second of the fastest rank.
    pub fastest_per_s: f64,
    /// The slowest ranks below the median, slowest first, up to three.
    pub slowest: Vec<SlowRank>,
}

/// One of the slowest ranks.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SlowRank {
    /// Its number, from 0.
    pub rank: u32,
    /// Name of its host, in the last trial.
    pub hostname: String,
    /// Ops per second, median over trials.
    pub per_s: f64,
    /// The same ÷ the median of all ranks.
    pub to_median: f64,
}

impl RanksView {
    /// Of the phases that had several ranks; `None` where none had.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        let several = phases.iter().filter(|phase| phase.ranks.len() > 1);
        let trials: Vec<&[RankReport]> = several.map(|phase| phase.ranks.as_slice()).collect();
        let all = || trials.iter().copied().flatten();
        let skews = || trials.iter().filter_map(|ranks| start_skew(ranks));
        let done = |pick: fn(&[RankReport]) -> Option<u64>| {
            SpreadNs::from_values(trials.iter().filter_map(|ranks| pick(ranks)).collect())
        };
        let mut rates = rates(all());
        let per_s = SpreadF::from_values(rates.iter().map(|rank| rank.per_s).collect())?;
        for rank in &mut rates {
            rank.to_median = rank.per_s / per_s.median;
        }
        Some(Self {
            ranks: trials.iter().map(|ranks| ranks.len()).max()?,
            hosts: all().map(|rank| rank.hostname.as_str()).collect::<BTreeSet<_>>().len(),
            start_skew: SpreadNs::from_values(
                skews().map(|skew| skew.offset_ns.unsigned_abs()).collect(),
            )?,
            clock_error_ns: skews().map(|skew| skew.error_ns).max()?,
            first_done: done(|ranks| ranks.iter().map(|rank| rank.done_ns).min())?,
            last_done: done(|ranks| ranks.iter().map(|rank| rank.done_ns).max())?,
            slowest_per_s: per_s.min,
            median_per_s: per_s.median,
            fastest_per_s: per_s.max,
            slowest: rates
                .iter()
                .filter(|rank| rank.to_median < 1.0)
                .take(NAMED)
                .cloned()
                .collect(),
        })
    }
}

/// Each rank's rate, slowest first; one without ops or time has none.
fn rates<'a>(reports: impl Iterator<Item = &'a RankReport>) -> Vec<SlowRank> {
    let mut by_rank = BTreeMap::<u32, (&str, Vec<f64>)>::new();
    for report in reports {
        let own = by_rank.entry(report.rank).or_default();
        own.0 = &report.hostname;
        let length_ns = report.done_ns.saturating_sub(report.started_ns);
        if report.ops > 0 && length_ns > 0 {
            own.1.push(report.ops as f64 * 1e9 / length_ns as f64);
        }
    }
    let rate = |(rank, (hostname, per_s)): (u32, (&str, Vec<f64>))| {
        let per_s = SpreadF::from_values(per_s)?.median;
        Some(SlowRank { rank, hostname: hostname.to_owned(), per_s, to_median: 1.0 })
    };
    let mut rates: Vec<SlowRank> = by_rank.into_iter().filter_map(rate).collect();
    rates.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::rank::ClockOffset;
    use fsarena_testkit::records::{self, contender, metadata};

    fn rank(rank: u32, hostname: &str, started_ns: u64, done_ns: u64) -> RankReport {
        RankReport {
            rank,
            hostname: hostname.to_owned(),
            clock: ClockOffset { offset_ns: 7, error_ns: u64::from(rank) },
            started_ns,
            done_ns,
            ops: 1_000,
            ..RankReport::default()
        }
    }

    #[test]
    fn the_slowest_ranks_are_named_by_their_median_rate() {
        let header = records::header(vec![contender("xfs", "xfs", 1)], vec![metadata()], 1);
        let mut record = records::record(&header, 0);
        assert_eq!(RanksView::over(&[&record.phases[0]]), None, "no ranks");
        record.phases[0].ranks = vec![rank(0, "a", 0, 1_000_000_000)];
        assert_eq!(RanksView::over(&[&record.phases[0]]), None, "one rank");

        let (first, mut second) = (&mut record.phases[0].clone(), record.phases[0].clone());
        let second_ns = 1_000_000_000;
        first.ranks = vec![
            rank(0, "a", 0, second_ns),
            rank(1, "a", 10, second_ns + 10),
            rank(2, "b", 30, 4 * second_ns + 30),
            rank(3, "b", 20, 2 * second_ns + 20),
        ];
        second.ranks.clone_from(&first.ranks);
        second.ranks[3].started_ns = 60;
        let view = RanksView::over(&[first, &second]).unwrap();
        assert_eq!((view.ranks, view.hosts, view.clock_error_ns), (4, 2, 3));
        assert_eq!((view.start_skew.min_ns, view.start_skew.max_ns), (30, 60));
        assert_eq!(view.first_done.median_ns, second_ns);
        assert_eq!(view.last_done.median_ns, 4 * second_ns + 30);
        assert!((view.slowest_per_s - 250.0).abs() < 1e-9 && view.median_per_s > 749.0);
        assert!((view.fastest_per_s - 1_000.0).abs() < 1e-9);
        let named: Vec<_> =
            view.slowest.iter().map(|own| (own.rank, own.hostname.as_str())).collect();
        assert_eq!(named, [(2, "b"), (3, "b")]);
        assert!((view.slowest[0].to_median - 250.0 / view.median_per_s).abs() < 1e-9);
    }

    #[test]
    fn of_two_ranks_one_is_named_and_one_without_ops_has_no_rate() {
        let header = records::header(vec![contender("xfs", "xfs", 1)], vec![metadata()], 1);
        let mut phase = records::record(&header, 0).phases[0].clone();
        phase.ranks = vec![rank(0, "a", 0, 100), rank(1, "b", 0, 50)];
        let view = RanksView::over(&[&phase]).unwrap();
        assert_eq!(view.slowest.iter().map(|own| own.rank).collect::<Vec<_>>(), [0]);
        phase.ranks[1].ops = 0;
        let view = RanksView::over(&[&phase]).unwrap();
        assert!(view.slowest.is_empty() && view.ranks == 2);
    }
}
