//! Samples: latency histograms and time series.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A latency histogram in logarithmic-linear buckets, nanoseconds.
///
/// A value `v` below `2^(precision_bits + 1)` has a bucket of its own. Above, each power of two
/// is divided into `2^precision_bits` equal buckets, so that a bucket is narrower than
/// `v / 2^precision_bits` (the layout of HdrHistogram; G. Tene, hdrhistogram.org). Only buckets
/// that were hit are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencyHistogram {
    /// Divisions of a power of two, as an exponent.
    pub precision_bits: u32,
    /// Lower bound of a bucket in ns, and how many ops fell into it; ascending.
    pub buckets: Vec<(u64, u64)>,
    /// Shortest op, exact.
    pub min_ns: u64,
    /// Longest op, exact.
    pub max_ns: u64,
    /// Sum of all, ns.
    pub sum_ns: u64,
}

impl LatencyHistogram {
    /// Ops recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, &(_, hits)| sum.saturating_add(hits))
    }

    /// The latency that a share `quantile` (0 to 1) of all ops did not exceed: the upper end of the
    /// bucket that holds it, never above the maximum; `None` where nothing was recorded.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        self.quantiles_ns([quantile]).next()
    }

    /// As [`Self::quantile_ns`], of several shares in ascending order, in one pass; none where
    /// nothing was recorded.
    pub fn quantiles_ns(
        &self,
        quantiles: impl IntoIterator<Item = f64>,
    ) -> impl Iterator<Item = u64> {
        let count = self.count();
        let mut buckets = self.buckets.iter();
        let (mut seen, mut reached_ns) = (0u64, None);
        let of = move |quantile: f64| {
            let rank = ((quantile.clamp(0.0, 1.0) * count as f64).ceil() as u64).max(1);
            while seen < rank {
                let Some(&(lower, hits)) = buckets.next() else { return self.max_ns };
                seen = seen.saturating_add(hits);
                // In what others wrote the minimum may lie above the maximum.
                reached_ns = Some(self.upper_ns(lower).max(self.min_ns).min(self.max_ns));
            }
            reached_ns.unwrap_or(self.max_ns)
        };
        quantiles.into_iter().take_while(move |_| count > 0).map(of)
    }

    /// The ops of all `parts` in one histogram; `None` where there are none, or their buckets are
    /// of different widths.
    #[must_use]
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut all = parts.next()?.clone();
        let mut buckets: BTreeMap<u64, u64> = all.buckets.iter().copied().collect();
        for part in parts {
            if part.precision_bits != all.precision_bits {
                return None;
            }
            // The shortest op of a histogram without ops is not 0 ns.
            all.min_ns = match (buckets.is_empty(), part.buckets.is_empty()) {
                (false, false) => all.min_ns.min(part.min_ns),
                (true, false) => part.min_ns,
                _ => all.min_ns,
            };
            all.max_ns = all.max_ns.max(part.max_ns);
            all.sum_ns = all.sum_ns.wrapping_add(part.sum_ns);
            for &(lower_ns, more) in &part.buckets {
                let hits = buckets.entry(lower_ns).or_default();
                *hits = hits.saturating_add(more);
            }
        }
        all.buckets = buckets.into_iter().collect();
        Some(all)
    }

    /// The largest value that falls into the bucket starting at `lower_ns`.
    #[must_use]
    pub fn upper_ns(&self, lower_ns: u64) -> u64 {
        let highest_bit = 63 - lower_ns.max(1).leading_zeros();
        let width = 1u64 << highest_bit.saturating_sub(self.precision_bits);
        lower_ns.saturating_add(width - 1)
    }
}

/// Latencies over the time of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencySeries {
    /// Length of a period: the one asked for, doubled each time there were too many.
    pub period_ns: u64,
    /// Period i is from i times `period_ns` after the phase's start on; in the last it ended.
    pub periods: Vec<LatencyPeriod>,
}

/// The ops that ended in one period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencyPeriod {
    /// How many they are.
    pub ops: u64,
    /// Half of them took no longer, in buckets narrower than 6.3 %; 0 where none ended.
    pub p50_ns: u64,
    /// 99 % of them took no longer, in the same buckets.
    pub p99_ns: u64,
    /// The longest, exact.
    pub max_ns: u64,
}

/// Counters over time, column-wise. Cumulative counters are stored as read minus their first
/// reading; gauges as read. A reading that was missing is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Period of the samples kept: the one asked for, doubled each time a long series was thinned.
    pub period_ns: u64,
    /// Time of each sample since the phase's start; negative before it.
    pub t_ns: Vec<i64>,
    /// One column a metric of the catalog, as long as `t_ns`.
    pub columns: BTreeMap<String, Vec<Option<u64>>>,
}

/// What the sampler itself used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SamplerCost {
    /// Samples taken.
    pub samples: u64,
    /// Processor time of the sampling thread.
    pub cpu_ns: u64,
    /// Time it was running.
    pub wall_ns: u64,
    /// Samples that were due while an earlier one was still being taken, and were left out.
    pub missed_deadlines: u64,
}

impl SamplerCost {
    /// Share of one processor.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| self.cpu_ns as f64 / self.wall_ns as f64)
    }
}

/// Values of counters by their catalog name (`device.written_bytes`).
pub type Counters = BTreeMap<String, u64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_small_histogram() {
        let histogram = LatencyHistogram {
            precision_bits: 6,
            buckets: vec![(100, 90), (1024, 9), (1 << 20, 1)],
            min_ns: 100,
            max_ns: (1 << 20) + 5,
            sum_ns: 0,
        };
        assert_eq!(histogram.count(), 100);
        assert_eq!(histogram.quantile_ns(0.5), Some(100));
        assert_eq!(histogram.quantile_ns(0.99), Some(1024 + 15));
        assert_eq!(histogram.quantile_ns(1.0), Some((1 << 20) + 5));
        assert_eq!(LatencyHistogram::default().quantile_ns(0.5), None);
        let one_pass: Vec<u64> = histogram.quantiles_ns([0.0, 0.5, 0.9, 0.99, 1.0]).collect();
        assert_eq!(one_pass, [100, 100, 100, 1024 + 15, (1 << 20) + 5]);
        assert_eq!(LatencyHistogram::default().quantiles_ns([0.5]).next(), None);
    }

    #[test]
    fn ends_that_contradict_each_other_are_no_panic() {
        let histogram = LatencyHistogram {
            precision_bits: u32::MAX,
            buckets: vec![(0, u64::MAX), (u64::MAX, u64::MAX)],
            min_ns: 9,
            max_ns: 0,
            sum_ns: u64::MAX,
        };
        assert_eq!(histogram.count(), u64::MAX, "what does not fit is cut");
        let all: Vec<u64> = histogram.quantiles_ns([0.0, 0.5, 1.0]).collect();
        assert_eq!(all, [0, 0, 0], "never above the maximum");
    }
}
