//! Latencies over the time of a phase: a coarse histogram for each period, so that a phase of hours
//! shows when it became slower.
//!
//! The periods are held from the start and never more than `ROWS`: when all are full, each two
//! become one and a period is twice as long. So a phase of any length needs the same memory and
//! leaves between `ROWS` ÷ 2 and `ROWS` periods. An op belongs to the period in which it ended.
//! Nothing is allocated after [`LatencySeries::new`].

use crate::hist::{LatencySink, bucket_of, lower_of};
use fsarena_model::sample::{LatencyHistogram, LatencyPeriod, LatencySeries as Report};

/// Most periods.
pub(crate) const ROWS: usize = 512;
/// Divisions of a power of two, as an exponent: a bucket is narrower than 6.3 % of its value.
const BITS: u32 = 4;
/// Buckets of the whole 64-bit range.
const BUCKETS: usize = (65 - BITS as usize) << BITS;

/// Counts of latencies in each period of a phase. Its clock is `CLOCK_MONOTONIC`.
#[derive(Debug, Clone)]
pub struct LatencySeries {
    /// The period asked for, ns.
    asked_ns: u64,
    /// The period now, ns.
    period_ns: u64,
    start_ns: u64,
    /// Row of the period under way.
    row: usize,
    row_ends_ns: u64,
    /// [`ROWS`] times [`BUCKETS`].
    hits: Box<[u32]>,
    /// Longest op of each.
    max_ns: Box<[u64]>,
}

impl LatencySeries {
    /// An empty one whose every page has been written once.
    #[must_use]
    pub fn new(period_ns: u64) -> Self {
        let period_ns = period_ns.max(1);
        let mut hits = vec![0; ROWS * BUCKETS].into_boxed_slice();
        for hit in &mut hits {
            *std::hint::black_box(hit) = 0;
        }
        Self {
            asked_ns: period_ns,
            period_ns,
            start_ns: 0,
            row: 0,
            row_ends_ns: 0,
            hits,
            max_ns: vec![0; ROWS].into_boxed_slice(),
        }
    }

    /// Forgets all, for a phase that begins at `start_ns`.
    pub fn restart(&mut self, start_ns: u64) {
        if self.row > 0 || self.row_ends_ns > 0 {
            self.hits.fill(0);
            self.max_ns.fill(0);
        }
        (self.period_ns, self.start_ns, self.row) = (self.asked_ns, start_ns, 0);
        self.row_ends_ns = start_ns.saturating_add(self.period_ns);
    }

    /// Counts an op that ended at `now_ns`; whether periods were put together, which takes a part
    /// of a ms.
    #[inline(always)]
    pub fn record(&mut self, now_ns: u64, latency_ns: u64) -> bool {
        let is_new = now_ns >= self.row_ends_ns;
        let has_folded = is_new && self.advance(now_ns);
        let at = self.row * BUCKETS + bucket_of::<BITS>(latency_ns);
        self.hits[at] = self.hits[at].saturating_add(1);
        self.max_ns[self.row] = self.max_ns[self.row].max(latency_ns);
        has_folded
    }

    #[cold]
    fn advance(&mut self, now_ns: u64) -> bool {
        let mut has_folded = false;
        loop {
            let row = now_ns.saturating_sub(self.start_ns) / self.period_ns;
            match usize::try_from(row) {
                Ok(row) if row < ROWS => {
                    self.row = row;
                    let ended = (row as u64 + 1).saturating_mul(self.period_ns);
                    self.row_ends_ns = self.start_ns.saturating_add(ended);
                    return has_folded;
                }
                _ => {
                    self.fold();
                    has_folded = true;
                }
            }
        }
    }

    /// Puts each two periods together.
    fn fold(&mut self) {
        for row in 0..ROWS {
            let from = row * BUCKETS..(row + 1) * BUCKETS;
            let to = row / 2 * BUCKETS;
            if row % 2 == 0 {
                self.hits.copy_within(from, to);
                self.max_ns[row / 2] = self.max_ns[row];
            } else {
                for bucket in 0..BUCKETS {
                    let more = self.hits[from.start + bucket];
                    self.hits[to + bucket] = self.hits[to + bucket].saturating_add(more);
                }
                self.max_ns[row / 2] = self.max_ns[row / 2].max(self.max_ns[row]);
            }
        }
        self.hits[ROWS / 2 * BUCKETS..].fill(0);
        self.max_ns[ROWS / 2..].fill(0);
        self.period_ns = self.period_ns.saturating_mul(2);
    }

    /// The threads of a phase together, up to the last period in which an op of any ended; none
    /// without threads.
    pub fn report(threads: impl Iterator<Item = Self>) -> Option<Report> {
        let mut all: Option<Self> = None;
        for mut one in threads {
            let Some(sum) = &mut all else {
                all = Some(one);
                continue;
            };
            while one.period_ns < sum.period_ns {
                one.fold();
            }
            while sum.period_ns < one.period_ns {
                sum.fold();
            }
            for (to, more) in sum.hits.iter_mut().zip(&one.hits) {
                *to = to.saturating_add(*more);
            }
            for (to, other) in sum.max_ns.iter_mut().zip(&one.max_ns) {
                *to = (*to).max(*other);
            }
        }
        let all = all?;
        let mut periods: Vec<LatencyPeriod> = (0..ROWS).map(|row| all.period(row)).collect();
        while periods.last().is_some_and(|last| last.ops == 0) {
            periods.pop();
        }
        Some(Report { period_ns: all.period_ns, periods })
    }

    fn period(&self, row: usize) -> LatencyPeriod {
        let hits = &self.hits[row * BUCKETS..(row + 1) * BUCKETS];
        let hit = hits.iter().enumerate().filter(|&(_, &hits)| hits > 0);
        let max_ns = self.max_ns[row];
        let own = LatencyHistogram {
            precision_bits: BITS,
            buckets: hit.map(|(at, &hits)| (lower_of::<BITS>(at), hits.into())).collect(),
            max_ns,
            ..LatencyHistogram::default()
        };
        let quantile_ns = |quantile: f64| own.quantile_ns(quantile).unwrap_or(0);
        let (p50_ns, p99_ns) = (quantile_ns(0.5), quantile_ns(0.99));
        LatencyPeriod { ops: own.count(), p50_ns, p99_ns, max_ns }
    }
}

impl LatencySink for &mut LatencySeries {
    #[inline(always)]
    fn start(&mut self, now: u64) {
        self.restart(now);
    }

    #[inline(always)]
    fn add(&mut self, now: u64, latency_ns: u64) -> bool {
        self.record(now, latency_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(period_ns: u64, ends: &[(u64, u64)]) -> LatencySeries {
        let mut series = LatencySeries::new(period_ns);
        series.restart(1000);
        for &(end_ns, latency_ns) in ends {
            series.record(1000 + end_ns, latency_ns);
        }
        series
    }

    fn report(series: LatencySeries) -> Report {
        LatencySeries::report(std::iter::once(series)).unwrap()
    }

    #[test]
    fn an_op_is_in_the_period_in_which_it_ended() {
        let found = report(filled(100, &[(0, 5), (99, 7), (100, 9), (350, 1000)]));
        assert_eq!(found.period_ns, 100);
        let ops: Vec<u64> = found.periods.iter().map(|one| one.ops).collect();
        assert_eq!(ops, [2, 1, 0, 1]);
        assert_eq!((found.periods[0].p50_ns, found.periods[0].max_ns), (5, 7));
        assert_eq!((found.periods[3].p99_ns, found.periods[3].max_ns), (1000, 1000));
        assert_eq!(found.periods[2].p50_ns, 0, "no op ended there");
    }

    #[test]
    fn a_long_phase_has_longer_periods_and_no_more_of_them() {
        let ends: Vec<(u64, u64)> = (0..5000).map(|op| (op * 10, op)).collect();
        let found = report(filled(10, &ends));
        assert_eq!(found.period_ns, 160);
        assert_eq!(found.periods.iter().map(|one| one.ops).sum::<u64>(), 5000);
        assert!((ROWS / 2..=ROWS).contains(&found.periods.len()));
        assert!(found.periods[..300].iter().all(|one| one.ops == 16));
        assert_eq!(found.periods[1].max_ns, 31);
        // One op that lasts longer than all periods together.
        let found = report(filled(10, &[(0, 1), (10 * 5000, 50_000)]));
        assert_eq!(found.periods.last().unwrap().max_ns, 50_000);
    }

    #[test]
    fn it_says_where_periods_were_put_together() {
        let mut series = filled(10, &[]);
        assert!(!series.record(1000 + 10 * ROWS as u64 - 1, 3));
        assert!(series.record(1000 + 10 * ROWS as u64, 3));
        assert!(!series.record(1000 + 10 * ROWS as u64, 3));
    }

    #[test]
    fn a_second_run_begins_anew() {
        let mut series = filled(10, &[(5, 3), (10_000, 3)]);
        series.restart(77);
        series.record(78, 4);
        let found = report(series);
        assert_eq!((found.period_ns, found.periods.len(), found.periods[0].ops), (10, 1, 1));
    }

    proptest! {
        /// Threads of different speed give what one thread with all their ops would.
        #[test]
        fn threads_add_up(
            one in prop::collection::vec((0u64..20_000, 1u64..1 << 40), 1..60),
            other in prop::collection::vec((0u64..3000, 1u64..1 << 40), 1..60),
        ) {
            let sorted = |ends: &[(u64, u64)]| {
                let mut ends = ends.to_vec();
                ends.sort_unstable();
                ends
            };
            let both: Vec<(u64, u64)> = one.iter().chain(&other).copied().collect();
            let parts = [filled(10, &sorted(&one)), filled(10, &sorted(&other))];
            let added = LatencySeries::report(parts.into_iter()).unwrap();
            prop_assert_eq!(added, report(filled(10, &sorted(&both))));
        }

        #[test]
        fn a_value_is_at_most_the_end_of_its_bucket(ns: u64) {
            let model = LatencyHistogram { precision_bits: BITS, ..Default::default() };
            let upper_ns = |bucket: usize| model.upper_ns(lower_of::<BITS>(bucket));
            let bucket = bucket_of::<BITS>(ns);
            prop_assert!(bucket < BUCKETS && ns <= upper_ns(bucket));
            prop_assert!(bucket == 0 || upper_ns(bucket - 1) < ns);
        }
    }
}
