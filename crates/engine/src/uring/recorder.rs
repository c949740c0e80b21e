//! When ops of a ring began and ended.
//!
//! The chained recorder of blocking calls does not fit here: several ops are under way at once. One
//! clock read is used for all ops that one `io_uring_enter` completed, and for the beginning of
//! those that take their places. So with one op in flight the latencies are chained as those of
//! blocking calls are, and with more each op is timed from its submission to the moment its end was
//! seen, at a cost that becomes smaller the more come back at once.

use crate::clock::Ticker;
use crate::hist::{Histogram, LatencySink, NoSeries};

/// Where latencies of ops in flight go.
pub trait RingRecorder {
    /// The phase begins.
    fn start(&mut self) {}
    /// Reads the clock.
    fn now(&self) -> u64;
    /// An op that was begun and ended at these readings; `write`: whether it wrote. Whether that
    /// took so long that the clock has to be read again before other ops begin.
    fn op(&mut self, began: u64, ended: u64, write: bool) -> bool;
}

/// Latency is not recorded.
#[derive(Debug, Clone, Copy)]
pub struct NoRingLatency;

impl RingRecorder for NoRingLatency {
    #[inline(always)]
    fn now(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn op(&mut self, _began: u64, _ended: u64, _write: bool) -> bool {
        false
    }
}

/// Counts into a histogram, and writes of a mixture also into one of their own.
#[derive(Debug)]
pub struct RingLatency<'a, T, S = NoSeries> {
    ticker: T,
    all: &'a mut Histogram,
    writes: Option<&'a mut Histogram>,
    series: S,
}

impl<'a, T: Ticker> RingLatency<'a, T> {
    /// Counts into `all`, writes also into `writes`.
    pub fn new(ticker: T, all: &'a mut Histogram, writes: Option<&'a mut Histogram>) -> Self {
        Self { ticker, all, writes, series: NoSeries }
    }
}

impl<'a, T: Ticker, S: LatencySink> RingLatency<'a, T, S> {
    /// The same, which also gives each latency to `series`.
    pub fn with_series(
        ticker: T,
        (all, writes): (&'a mut Histogram, Option<&'a mut Histogram>),
        series: S,
    ) -> Self {
        Self { ticker, all, writes, series }
    }
}

impl<T: Ticker, S: LatencySink> RingRecorder for RingLatency<'_, T, S> {
    #[inline(always)]
    fn start(&mut self) {
        self.series.start(self.ticker.now());
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.ticker.now()
    }

    #[inline(always)]
    fn op(&mut self, began: u64, ended: u64, write: bool) -> bool {
        // Saturating: counters of two processors may be some ticks apart.
        let latency_ns = self.ticker.ns(ended.saturating_sub(began));
        self.all.record(latency_ns);
        let is_late = self.series.add(ended, latency_ns);
        if write && let Some(writes) = &mut self.writes {
            writes.record(latency_ns);
        }
        is_late
    }
}
