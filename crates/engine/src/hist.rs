//! Fixed-size log-linear latency histogram: the layout of [`LatencyHistogram`], every bucket held.
//!
//! 7 bits of precision make a bucket narrower than 1 % of its value; all 64-bit values have a
//! bucket (59 KiB), so that [`Histogram::record`] needs no range check and no branch of its own.
//! Only the few cache lines around the usual latencies are touched in a phase. It never allocates
//! after [`Histogram::new`].

use crate::clock::Ticker;
use fsarena_model::sample::LatencyHistogram;

/// Divisions of a power of two, as an exponent.
pub const PRECISION_BITS: u32 = 7;
/// Buckets of the whole 64-bit range.
const BUCKETS: usize = (65 - PRECISION_BITS as usize) << PRECISION_BITS;

/// Counts of latencies, ns.
#[derive(Debug, Clone)]
pub struct Histogram {
    hits: Box<[u64; BUCKETS]>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u64,
}

impl Histogram {
    /// An empty histogram whose every page has been written once.
    #[must_use]
    pub fn new() -> Self {
        let mut hits: Box<[u64; BUCKETS]> = vec![0; BUCKETS]
            .into_boxed_slice()
            .try_into()
            .expect("a slice made with BUCKETS elements has BUCKETS elements");
        // calloc gives pages that are not there yet; the first hit must not find that out.
        for hit in hits.iter_mut() {
            *std::hint::black_box(hit) = 0;
        }
        Self { hits, min_ns: u64::MAX, max_ns: 0, sum_ns: 0 }
    }

    /// Forgets all that was counted.
    pub fn clear(&mut self) {
        self.hits.fill(0);
        (self.min_ns, self.max_ns, self.sum_ns) = (u64::MAX, 0, 0);
    }

    /// Counts one op of `latency_ns`.
    #[inline(always)]
    pub fn record(&mut self, latency_ns: u64) {
        self.hits[bucket(latency_ns)] += 1;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.sum_ns = self.sum_ns.wrapping_add(latency_ns);
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        for (hits, more) in self.hits.iter_mut().zip(other.hits.iter()) {
            *hits += more;
        }
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
    }

    /// What goes into a report: only the buckets that were hit.
    #[must_use]
    pub fn to_model(&self) -> LatencyHistogram {
        let buckets: Vec<_> = self
            .hits
            .iter()
            .enumerate()
            .filter(|&(_, &hits)| hits > 0)
            .map(|(index, &hits)| (lower_ns(index), hits))
            .collect();
        let min_ns = if buckets.is_empty() { 0 } else { self.min_ns };
        LatencyHistogram {
            precision_bits: PRECISION_BITS,
            buckets,
            min_ns,
            max_ns: self.max_ns,
            sum_ns: self.sum_ns,
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Number of the bucket of a value; monotone, without a gap.
#[inline(always)]
fn bucket(ns: u64) -> usize {
    bucket_of::<PRECISION_BITS>(ns)
}

/// The same where a power of two has `2^BITS` divisions.
#[inline(always)]
pub(crate) fn bucket_of<const BITS: u32>(ns: u64) -> usize {
    let highest_bit = 63 - (ns | 1 << BITS).leading_zeros();
    let shift = highest_bit - BITS;
    ((shift as usize) << BITS) + (ns >> shift) as usize
}

/// Smallest value of a bucket.
fn lower_ns(bucket: usize) -> u64 {
    lower_of::<PRECISION_BITS>(bucket)
}

/// The same where a power of two has `2^BITS` divisions.
pub(crate) fn lower_of<const BITS: u32>(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    ((bucket - (shift << BITS)) as u64) << shift
}

/// What the loop does after each op: nothing, or one clock read and one count.
pub trait Recorder {
    /// The phase begins.
    fn start(&mut self);
    /// An op has ended.
    fn end_op(&mut self);
    /// An op that wrote has ended, in a phase that mixes reads and writes.
    fn end_write(&mut self);
    /// Whether the thread has done enough, although it has more.
    #[inline(always)]
    fn is_over(&self) -> bool {
        false
    }
}

/// What becomes of the latency of each op besides the histogram of the whole phase.
pub trait LatencySink {
    /// The phase begins, at this reading of the clock.
    fn start(&mut self, now: u64);
    /// An op has ended at this reading of the clock. Whether that took so long that the clock has
    /// to be read again before the next op begins.
    fn add(&mut self, now: u64, latency_ns: u64) -> bool;
}

/// Nothing becomes of it.
#[derive(Debug, Clone, Copy)]
pub struct NoSeries;

impl LatencySink for NoSeries {
    #[inline(always)]
    fn start(&mut self, _now: u64) {}

    #[inline(always)]
    fn add(&mut self, _now: u64, _latency_ns: u64) -> bool {
        false
    }
}

/// Latency is not recorded.
#[derive(Debug, Clone, Copy)]
pub struct NoLatency;

impl Recorder for NoLatency {
    #[inline(always)]
    fn start(&mut self) {}

    #[inline(always)]
    fn end_op(&mut self) {}

    #[inline(always)]
    fn end_write(&mut self) {}
}

/// Chained latencies: the read that ends one op begins the next, so that every ns of the phase
/// belongs to an op and each op costs one read. An op's latency therefore holds the harness's own
/// few ns (see [`crate::calibrate`]).
#[derive(Debug)]
pub struct Chained<'a, T, S = NoSeries> {
    ticker: T,
    last: u64,
    histogram: &'a mut Histogram,
    writes: Option<&'a mut Histogram>,
    series: S,
}

impl<'a, T: Ticker> Chained<'a, T> {
    /// A recorder that counts into `histogram`, and writes of a mixture also into `writes`.
    pub fn new(ticker: T, histogram: &'a mut Histogram, writes: Option<&'a mut Histogram>) -> Self {
        Self { ticker, last: 0, histogram, writes, series: NoSeries }
    }
}

impl<'a, T: Ticker, S: LatencySink> Chained<'a, T, S> {
    /// The same, which also gives each latency to `series`.
    pub fn with_series(
        ticker: T,
        (histogram, writes): (&'a mut Histogram, Option<&'a mut Histogram>),
        series: S,
    ) -> Self {
        Self { ticker, last: 0, histogram, writes, series }
    }

    /// Ends an op; how long it took, ns.
    #[inline(always)]
    fn end(&mut self) -> u64 {
        let now = self.ticker.now();
        // Saturating: counters of two processors may be some ticks apart.
        let latency_ns = self.ticker.ns(now.saturating_sub(self.last));
        self.histogram.record(latency_ns);
        self.last = now;
        if self.series.add(now, latency_ns) {
            self.last = self.ticker.now();
        }
        latency_ns
    }
}

impl<T: Ticker, S: LatencySink> Recorder for Chained<'_, T, S> {
    #[inline(always)]
    fn start(&mut self) {
        self.last = self.ticker.now();
        self.series.start(self.last);
    }

    #[inline(always)]
    fn end_op(&mut self) {
        self.end();
    }

    #[inline(always)]
    fn end_write(&mut self) {
        let latency_ns = self.end();
        if let Some(writes) = &mut self.writes {
            writes.record(latency_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_have_buckets_of_their_own() {
        for ns in 0..256 {
            assert_eq!(bucket(ns), ns as usize);
            assert_eq!(lower_ns(ns as usize), ns);
        }
        assert_eq!(bucket(256), 256);
        assert_eq!(bucket(257), 256);
        assert_eq!(bucket(258), 257);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        for index in 1..BUCKETS {
            assert_eq!(bucket(lower_ns(index)), index);
            assert_eq!(bucket(lower_ns(index) - 1), index - 1);
        }
    }

    #[test]
    fn report_keeps_count_extremes_and_sum() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.to_model().count(), 0);
        assert_eq!(histogram.to_model().min_ns, 0);
        for ns in [700, 701, 5_000_000, 90] {
            histogram.record(ns);
        }
        let model = histogram.to_model();
        assert_eq!((model.count(), model.min_ns, model.max_ns), (4, 90, 5_000_000));
        assert_eq!(model.sum_ns, 5_001_491);
        assert_eq!(model.quantile_ns(0.25), Some(90));
    }

    #[test]
    fn merged_histograms_are_those_of_all_values() {
        let (mut all, mut parts) = (Histogram::new(), [Histogram::new(), Histogram::new()]);
        for ns in 0..1000 {
            all.record(ns * ns);
            parts[(ns % 2) as usize].record(ns * ns);
        }
        let [mut sum, other] = parts;
        sum.merge(&other);
        sum.merge(&Histogram::new());
        assert_eq!(sum.to_model(), all.to_model());
    }

    proptest! {
        #[test]
        fn a_value_lies_in_the_bucket_that_the_model_describes(ns: u64) {
            let lower = lower_ns(bucket(ns));
            let model = LatencyHistogram { precision_bits: PRECISION_BITS, ..Default::default() };
            prop_assert!(lower <= ns && ns <= model.upper_ns(lower));
        }

        #[test]
        fn buckets_are_monotone(a: u64, b: u64) {
            prop_assert!(bucket(a.min(b)) <= bucket(a.max(b)));
        }
    }
}
