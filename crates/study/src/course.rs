//! The course of a phase: ops and latencies of its periods, with the times that these had.

use fsarena_model::record::PhaseRecord;
use fsarena_model::sample::{LatencyPeriod, LatencySeries};
use fsarena_stats::steady::{mser5, shift};
use fsarena_stats::trend::TREND_ALPHA;

const NS_PER_S: f64 = 1e9;

/// The periods of a phase, up to the return of its calls.
pub(crate) struct Course<'a> {
    pub(crate) series: &'a LatencySeries,
    returned_ns: u64,
}

impl<'a> Course<'a> {
    pub(crate) fn new(phase: &'a PhaseRecord) -> Option<Self> {
        let series = phase.latency_series.as_ref()?;
        let is_whole = series.period_ns > 0 && !series.periods.is_empty();
        is_whole.then_some(Self { series, returned_ns: phase.clocks.returned_ns })
    }

    /// Length of a period.
    pub(crate) fn period_ns(&self) -> u64 {
        self.series.period_ns
    }

    pub(crate) fn periods(&self) -> f64 {
        self.series.periods.len() as f64
    }

    /// End of a period, after the start of the phase.
    pub(crate) fn end_ns(&self, at: usize) -> u64 {
        let end_ns = (at as u64 + 1).saturating_mul(self.series.period_ns);
        let is_last = at + 1 == self.series.periods.len();
        if is_last { end_ns.min(self.returned_ns) } else { end_ns }
    }

    /// Ops a second of a period; `None` of a last one that is shorter than half of the others.
    pub(crate) fn rate(&self, at: usize, period: &LatencyPeriod) -> Option<f64> {
        let from_ns = (at as u64).saturating_mul(self.series.period_ns);
        let length_ns = self.end_ns(at).saturating_sub(from_ns);
        let counts = length_ns.saturating_mul(2) >= self.series.period_ns;
        counts.then(|| period.ops as f64 * NS_PER_S / length_ns as f64)
    }

    pub(crate) fn rates(&self) -> Vec<f64> {
        let all = self.series.periods.iter().enumerate();
        all.filter_map(|(at, period)| self.rate(at, period)).collect()
    }

    /// Of the periods in which an op ended, ascending.
    pub(crate) fn p99_ns(&self) -> Vec<u64> {
        let ended = self.series.periods.iter().filter(|period| period.ops > 0);
        let mut all: Vec<u64> = ended.map(|period| period.p99_ns).collect();
        all.sort_unstable();
        all
    }

    /// The longest op of each period, and the period's end.
    pub(crate) fn longest(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let all = self.series.periods.iter().enumerate();
        all.map(|(at, period)| (period.max_ns, self.end_ns(at)))
    }

    pub(crate) fn steady_from_ns(&self) -> Option<u64> {
        let rates = self.rates();
        let cut = mser5(&rates)?;
        // It always answers, also where nothing is steady.
        if shift(&rates[cut..]).is_some_and(|shift| shift.p < TREND_ALPHA) {
            return None;
        }
        Some((cut as u64).saturating_mul(self.series.period_ns))
    }
}
