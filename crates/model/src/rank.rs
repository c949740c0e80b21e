//! The ranks of a phase: worker processes that share it, on one host or on several.
//!
//! Each rank reports by the clock of its own host. An offset, with what it may be wrong by, lays
//! them beside each other; lengths are never made of two clocks where one would do.

use crate::JsonSchema;
use crate::outcome::OpError;
use crate::sample::LatencyHistogram;
use crate::worker::{FindReport, StonewallReport, ThreadReport, WorkerReport, WorkerUsage};
use serde::{Deserialize, Serialize};

/// What `CLOCK_MONOTONIC` of a rank's host is to that of the runner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClockOffset {
    /// To be added to a time of the rank's, ns.
    pub offset_ns: i64,
    /// It is at most so far from the truth, ns; 0 where both have one clock.
    pub error_ns: u64,
}

impl ClockOffset {
    /// A time of the rank's by the clock of the runner.
    #[must_use]
    pub fn to_runner_ns(self, rank_ns: u64) -> u64 {
        rank_ns.saturating_add_signed(self.offset_ns)
    }

    /// The offset over a phase that was found to be `self` before it and `after` after it: what
    /// lies between them is part of the error.
    #[must_use]
    pub fn over(self, after: Self) -> Self {
        let drift_ns = self.offset_ns.abs_diff(after.offset_ns);
        Self {
            offset_ns: self.offset_ns.midpoint(after.offset_ns),
            error_ns: self.error_ns.max(after.error_ns).saturating_add(drift_ns.div_ceil(2)),
        }
    }
}

/// What one rank of a phase did. Times are since the start of the phase, which is that of the rank
/// that started first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RankReport {
    /// Its number, from 0.
    pub rank: u32,
    /// Name of its host.
    pub hostname: String,
    /// Boot of that host; empty where the kernel does not tell.
    pub boot_id: String,
    /// How its clock was set beside that of the runner.
    pub clock: ClockOffset,
    /// First clock read.
    pub started_ns: u64,
    /// Last clock read of its loop.
    pub done_ns: u64,
    /// After syncfs on its host; absent where that was not reached.
    pub durable_ns: Option<u64>,
    /// Ops that it completed.
    pub ops: u64,
    /// Bytes that its calls moved.
    pub asked_bytes: u64,
    /// Where its threads were when the time of a stonewall was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<StonewallReport>,
    /// Processor time and faults.
    pub usage: WorkerUsage,
    /// Latency of every op of its.
    pub latency: Option<LatencyHistogram>,
    /// Where and why it ended early.
    pub error: Option<OpError>,
}

/// A rank whose report has come.
#[derive(Clone, PartialEq, Debug)]
pub struct HeardRank {
    /// Its number.
    pub rank: u32,
    /// Name of its host.
    pub hostname: String,
    /// Boot of that host.
    pub boot_id: String,
    /// Its clock.
    pub clock: ClockOffset,
    /// What it measured, by its clock.
    pub report: WorkerReport,
}

/// The report of a phase as one, by the clock of the runner, and what each rank has to it; nothing
/// where no rank was heard.
///
/// The phase starts with the first rank that does and ends with the last, also for `durable`, which
/// it is only where all are. Counters are those of the rank that was durable last.
#[must_use]
pub fn merge(heard: Vec<HeardRank>) -> (WorkerReport, Vec<RankReport>) {
    if heard.is_empty() {
        return Default::default();
    }
    let at = |one: &HeardRank, rank_ns: u64| one.clock.to_runner_ns(rank_ns);
    let start_ns = heard.iter().map(|one| at(one, one.report.start_monotonic_ns)).min();
    let start_ns = start_ns.unwrap_or_default();
    let returned_ns = heard.iter().map(|one| at(one, one.report.returned_monotonic_ns)).max();
    let durable_ns = |one: &HeardRank| Some(at(one, one.report.durable_monotonic_ns?));
    let durable: Option<Vec<u64>> = heard.iter().map(durable_ns).collect();
    let sum = |of: fn(&WorkerReport) -> u64| {
        heard.iter().fold(0u64, |sum, one| sum.saturating_add(of(&one.report)))
    };
    let written = heard.iter().map(|one| one.report.asked_written_bytes);
    let cpu = heard.iter().map(|one| one.report.cpu_ns);
    let failed = heard.iter().filter(|one| one.report.error.is_some());
    let failed = failed.min_by_key(|one| at(one, one.report.returned_monotonic_ns));
    let last = heard.iter().max_by_key(|one| durable_ns(one));
    let all = WorkerReport {
        start_monotonic_ns: start_ns,
        returned_monotonic_ns: returned_ns.unwrap_or_default(),
        durable_monotonic_ns: durable.and_then(|all| all.into_iter().max()),
        ops: sum(|report| report.ops),
        asked_bytes: sum(|report| report.asked_bytes),
        asked_written_bytes: written.sum(),
        latency: histograms(&heard, |report| report.latency.as_ref()),
        write_latency: histograms(&heard, |report| report.write_latency.as_ref()),
        error: failed.and_then(|one| one.report.error.clone()),
        usage: heard.iter().map(|one| one.report.usage).sum(),
        threads: heard.iter().flat_map(|one| threads(one, start_ns)).collect(),
        cpu_ns: cpu.sum(),
        counters: last.and_then(|one| one.report.counters.clone()),
        find: heard.iter().filter_map(|one| one.report.find).reduce(FindReport::with),
        stonewall: heard
            .iter()
            .filter_map(|one| one.report.stonewall)
            .reduce(StonewallReport::with),
        ..WorkerReport::default()
    };
    let since = |at_ns: u64| at_ns.saturating_sub(start_ns);
    let ranks = heard.into_iter().map(|one| RankReport {
        started_ns: since(at(&one, one.report.start_monotonic_ns)),
        done_ns: since(at(&one, one.report.returned_monotonic_ns)),
        durable_ns: durable_ns(&one).map(since),
        rank: one.rank,
        hostname: one.hostname,
        boot_id: one.boot_id,
        clock: one.clock,
        ops: one.report.ops,
        asked_bytes: one.report.asked_bytes,
        stonewall: one.report.stonewall,
        usage: one.report.usage,
        latency: one.report.latency,
        error: one.report.error,
    });
    (all, ranks.collect())
}

/// The histograms of all ranks together; missing where one of them is.
fn histograms(
    heard: &[HeardRank],
    pick: fn(&WorkerReport) -> Option<&LatencyHistogram>,
) -> Option<LatencyHistogram> {
    let all: Option<Vec<_>> = heard.iter().map(|one| pick(&one.report)).collect();
    LatencyHistogram::merged(all?)
}

/// The threads of a rank since the start of the phase.
fn threads(one: &HeardRank, start_ns: u64) -> impl Iterator<Item = ThreadReport> {
    let began_ns = one.clock.to_runner_ns(one.report.start_monotonic_ns).saturating_sub(start_ns);
    one.report.threads.iter().map(move |thread| ThreadReport {
        started_ns: thread.started_ns.saturating_add(began_ns),
        done_ns: thread.done_ns.saturating_add(began_ns),
        ..thread.clone()
    })
}

/// How far apart the ranks of a phase started: the last after the first, ns, and what the clocks
/// leave unsure of it.
#[must_use]
pub fn start_skew(ranks: &[RankReport]) -> Option<ClockOffset> {
    let started = ranks.iter().map(|rank| rank.started_ns);
    let skew_ns = started.clone().max()?.saturating_sub(started.min()?);
    let error_ns = ranks.iter().map(|rank| rank.clock.error_ns).max()?;
    Some(ClockOffset { offset_ns: i64::try_from(skew_ns).unwrap_or(i64::MAX), error_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank_at(rank: u32, start_ns: u64, done_ns: u64, offset_ns: i64) -> HeardRank {
        let latency = LatencyHistogram {
            precision_bits: 7,
            buckets: vec![(100, 2), (200 + u64::from(rank), 1)],
            min_ns: 100 - u64::from(rank),
            max_ns: 200 + u64::from(rank),
            sum_ns: 400,
        };
        let report = WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: done_ns,
            durable_monotonic_ns: Some(done_ns + 50),
            ops: 3,
            asked_bytes: 30,
            latency: Some(latency),
            cpu_ns: Some(7),
            threads: vec![ThreadReport { started_ns: 0, done_ns: 5, ops: 3, asked_bytes: 30 }],
            find: Some(FindReport { size_bytes: 9, entries: 3, matches: 2, ..Default::default() }),
            ..WorkerReport::default()
        };
        let clock = ClockOffset { offset_ns, error_ns: 4 };
        HeardRank { rank, hostname: format!("h{rank}"), boot_id: String::new(), clock, report }
    }

    #[test]
    fn ranks_are_one_phase_from_the_first_start_to_the_last_end() {
        // The clock of rank 1 is 10 ms ahead: it started 20 ns after rank 0.
        let (all, ranks) =
            merge(vec![rank_at(0, 1_000, 2_000, 0), rank_at(1, 11_020, 11_900, -10_000)]);
        assert_eq!((all.start_monotonic_ns, all.returned_monotonic_ns), (1_000, 2_000));
        assert_eq!(all.durable_monotonic_ns, Some(2_050));
        assert_eq!((all.ops, all.asked_bytes, all.cpu_ns), (6, 60, Some(14)));
        let find = FindReport { size_bytes: 9, entries: 6, matches: 4, ..Default::default() };
        assert_eq!(all.find, Some(find));
        let latency = all.latency.unwrap();
        assert_eq!(latency.buckets, [(100, 4), (200, 1), (201, 1)]);
        assert_eq!((latency.min_ns, latency.max_ns, latency.sum_ns), (99, 201, 800));
        assert_eq!((all.threads[1].started_ns, all.threads[1].done_ns), (20, 25));
        assert_eq!(
            (ranks[1].started_ns, ranks[1].done_ns, ranks[1].durable_ns),
            (20, 900, Some(950))
        );
        assert_eq!(start_skew(&ranks), Some(ClockOffset { offset_ns: 20, error_ns: 4 }));
    }

    #[test]
    fn one_rank_that_is_not_durable_leaves_the_phase_without() {
        let mut parts = vec![rank_at(0, 0, 10, 0), rank_at(1, 0, 20, 0)];
        parts[1].report.durable_monotonic_ns = None;
        parts[1].report.latency = None;
        let error = OpError { op_index: 1, call: "write".to_owned(), ..OpError::default() };
        parts[1].report.error = Some(error.clone());
        let (all, ranks) = merge(parts);
        assert_eq!((all.durable_monotonic_ns, all.latency, all.error), (None, None, Some(error)));
        assert!(ranks[0].error.is_none() && ranks[1].error.is_some());
        assert_eq!(merge(vec![]).0, WorkerReport::default());
    }

    #[test]
    fn an_offset_that_moved_is_less_sure() {
        let before = ClockOffset { offset_ns: 100, error_ns: 5 };
        let after = ClockOffset { offset_ns: 110, error_ns: 3 };
        assert_eq!(before.over(after), ClockOffset { offset_ns: 105, error_ns: 10 });
    }
}
