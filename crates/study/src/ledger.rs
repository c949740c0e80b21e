//! Latency and device traffic of a row: merged histograms, bytes by window, write amplification.

use crate::figures::{SpreadF, median};
use fsarena_model::job::JobKind;
use fsarena_model::record::{PhaseRecord, TrialRecord, Window};
use fsarena_model::sample::LatencyHistogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Latency of single ops, all trials of a row together. A share of the ops is told only from as
/// many ops as make one of them the rest: 90 % from 10, 99.9 % from 1,000.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Latency {
    /// Ops behind it.
    pub ops: u64,
    /// Half of the ops took no longer; absent for a single op.
    pub p50_ns: Option<u64>,
    /// 90 % took no longer; absent for fewer than 10 ops.
    pub p90_ns: Option<u64>,
    /// 99 % took no longer; absent for fewer than 100 ops.
    pub p99_ns: Option<u64>,
    /// 99.9 % took no longer; absent for fewer than 1,000 ops.
    pub p999_ns: Option<u64>,
    /// The longest, exact.
    pub max_ns: u64,
}

impl Latency {
    /// From the histograms of several phases; `None` where none has one.
    #[must_use]
    pub fn over<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Option<Self> {
        Self::merged(phases.into_iter().filter_map(|p| p.latency.as_ref()).collect())
    }

    /// As [`Latency::over`], of the writes of phases that mix them with reads.
    #[must_use]
    pub fn of_writes<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Option<Self> {
        Self::merged(phases.into_iter().filter_map(|p| p.write_latency.as_ref()).collect())
    }

    pub(crate) fn merged(histograms: Vec<&LatencyHistogram>) -> Option<Self> {
        let merged = merge(&histograms)?;
        let ops = merged.count();
        let of = |share: f64, least_ops: u64| {
            (ops >= least_ops).then(|| merged.quantile_ns(share)).flatten()
        };
        Some(Self {
            ops,
            p50_ns: of(0.5, 2),
            p90_ns: of(0.9, 10),
            p99_ns: of(0.99, 100),
            p999_ns: of(0.999, 1000),
            max_ns: merged.max_ns,
        })
    }
}

/// One histogram of all; buckets of a finer one fall into those of the coarsest.
pub(crate) fn merge(histograms: &[&LatencyHistogram]) -> Option<LatencyHistogram> {
    let used: Vec<_> = histograms.iter().filter(|h| h.count() > 0).collect();
    let precision_bits = used.iter().map(|h| h.precision_bits).min()?;
    let mut buckets = BTreeMap::new();
    for histogram in &used {
        for &(lower_ns, hits) in &histogram.buckets {
            *buckets.entry(coarser(lower_ns, precision_bits)).or_insert(0u64) += hits;
        }
    }
    Some(LatencyHistogram {
        precision_bits,
        buckets: buckets.into_iter().collect(),
        min_ns: used.iter().map(|h| h.min_ns).min()?,
        max_ns: used.iter().map(|h| h.max_ns).max()?,
        sum_ns: used.iter().fold(0, |sum, h| h.sum_ns.saturating_add(sum)),
    })
}

/// Lower bound of the bucket that holds `ns` in a histogram of `precision_bits`.
fn coarser(ns: u64, precision_bits: u32) -> u64 {
    let highest_bit = 63 - ns.max(1).leading_zeros();
    let shift = highest_bit.saturating_sub(precision_bits);
    ns >> shift << shift
}

/// Bytes at the device from a phase's start to the end of a window, medians over trials; of cycles
/// the mean of a trial's, each up to its `durable` or over its period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct DeviceBytes {
    /// End of the window.
    pub window: Window,
    /// Read from the device.
    pub read_bytes: Option<u64>,
    /// Written to the device.
    pub written_bytes: Option<u64>,
}

/// Counter of the bytes read from the device.
pub(crate) const READ: &str = "device.read_bytes";
/// Counter of the flushes that the device was sent.
pub(crate) const FLUSHES: &str = "device.flushes";
pub(crate) use fsarena_model::score::WRITTEN;
const WINDOWS: [Window; 3] = [Window::Durable, Window::Drained, Window::Unmounted];

/// One entry a window in which any trial saw a device.
pub(crate) fn device_bytes(phases: &[&PhaseRecord]) -> Vec<DeviceBytes> {
    let of = |window: Window, name: &str| {
        median(phases.iter().filter_map(|phase| phase.counter(window, name)).collect())
    };
    WINDOWS
        .into_iter()
        .map(|window| DeviceBytes {
            window,
            read_bytes: of(window, READ),
            written_bytes: of(window, WRITTEN),
        })
        .filter(|d| d.read_bytes.is_some() || d.written_bytes.is_some())
        .collect()
}

/// [`write_amplification_of`] each trial's phase of a row.
pub(crate) fn write_amplification(pairs: &[(&TrialRecord, usize)]) -> Option<SpreadF> {
    let of = |&(record, at): &(&TrialRecord, usize)| write_amplification_of(record, at);
    SpreadF::from_values(pairs.iter().filter_map(of).collect())
}

/// Bytes written to the device up to the next unmount ÷ bytes written by the work in that time;
/// of cycles over the periods of those that are compared.
/// `None` for a phase that does not write, without a device, and where a command of the user's has
/// a part in it, of which it is unknown what it wrote.
pub(crate) fn write_amplification_of(record: &TrialRecord, at: usize) -> Option<f64> {
    let phase = record.phases.get(at)?;
    if phase.written_bytes() == 0 {
        return None;
    }
    if phase.cycles.is_some() {
        let device_bytes = phase.counter(Window::Unmounted, WRITTEN)? as f64;
        let asked_bytes = phase.compared_written_bytes() as f64;
        return (asked_bytes > 0.0).then(|| device_bytes / asked_bytes);
    }
    let device_bytes = *phase.windows.get(&Window::Unmounted)?.get(WRITTEN)?;
    let account = record.phases.get(at..phases_until_unmount(record, at))?;
    if account.iter().any(is_command) {
        return None;
    }
    let work_bytes = account.iter().fold(0u64, |sum, p| p.written_bytes().saturating_add(sum));
    (work_bytes > 0).then(|| device_bytes as f64 / work_bytes as f64)
}

fn is_command(phase: &PhaseRecord) -> bool {
    phase.job.as_ref().is_some_and(|job| matches!(job.kind, JobKind::Command(_)))
}

/// Where the account of phase `at` ends: without a chill between two phases, the next unmount
/// closes the account of both, so that the work of both has to stand below the line.
pub(crate) fn phases_until_unmount(record: &TrialRecord, at: usize) -> usize {
    let Some(start) = record.phases.get(at) else { return at };
    let mut steps = record
        .steps
        .iter()
        .skip_while(|s| !(s.step == "measure" && s.phase.as_deref() == Some(&start.name)))
        .skip(1);
    let more = steps
        .by_ref()
        .take_while(|s| s.step != "chill" && s.step != "teardown")
        .filter(|s| s.step == "measure")
        .count();
    (at + 1 + more).min(record.phases.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(precision_bits: u32, buckets: &[(u64, u64)], max_ns: u64) -> LatencyHistogram {
        LatencyHistogram {
            precision_bits,
            buckets: buckets.to_vec(),
            min_ns: buckets[0].0,
            max_ns,
            sum_ns: 0,
        }
    }

    #[test]
    fn merging_adds_ops_and_keeps_the_exact_maximum() {
        let a = histogram(6, &[(100, 10), (1024, 5)], 1030);
        let b = histogram(6, &[(100, 1), (4096, 2)], 4100);
        let merged = merge(&[&a, &b]).unwrap();
        assert_eq!(merged.buckets, [(100, 11), (1024, 5), (4096, 2)]);
        assert_eq!((merged.min_ns, merged.max_ns), (100, 4100));
    }

    #[test]
    fn a_finer_histogram_falls_into_the_coarser_one() {
        let fine = histogram(7, &[(1024, 1), (1032, 1)], 1039);
        let coarse = histogram(6, &[(1024, 1)], 1030);
        assert_eq!(merge(&[&fine, &coarse]).unwrap().buckets, [(1024, 3)]);
    }

    #[test]
    fn a_share_of_the_ops_needs_ops_enough() {
        let told = |ops: u64| {
            let latency = Latency::merged(vec![&histogram(6, &[(100, ops)], 101)]).unwrap();
            assert_eq!((latency.ops, latency.max_ns), (ops, 101));
            [latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.p999_ns].map(|p| p.is_some())
        };
        assert_eq!(told(1), [false; 4], "one op has no middle");
        assert_eq!((told(2), told(9)), ([true, false, false, false], told(2)));
        assert_eq!((told(10), told(99)), ([true, true, false, false], told(10)));
        assert_eq!((told(100), told(999)), ([true, true, true, false], told(100)));
        assert_eq!(told(1000), [true; 4]);
    }

    #[test]
    fn nothing_recorded_is_no_latency() {
        assert_eq!(merge(&[&LatencyHistogram::default()]), None);
        assert_eq!(merge(&[]), None);
    }
}
