//! A device that was watched while another application used it: figures of each stretch between two
//! samples, what they were over an interval, and two intervals side by side.
//!
//! A sitting is one unit. Its samples follow from each other and are no repeats, so that nothing is
//! decided from two sittings ([`WHY_UNDECIDED`]); their figures are shown, and so is how far the
//! samples spread within each.

mod quantity;

pub use quantity::{Ratio, Stretch, Watched};

use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::sample::Series;
use fsarena_model::work::Op;
use fsarena_stats::{median, quantile};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why two watched intervals are left undecided, always.
pub const WHY_UNDECIDED: &str = "there is one interval a side. The samples of an interval follow from each other and are no \
     repeats of it, nothing says that the applications did the same work, and it takes three \
     sittings a side before a difference can be called real";

/// By this share of the period a sample may lie outside of a part that it belongs to.
const SLACK: f64 = 0.25;
const NS_PER_S: f64 = 1e9;

/// Part of a sitting, s since its start; the whole of it where both are absent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Part {
    /// From here on.
    pub from_s: Option<f64>,
    /// Up to here.
    pub to_s: Option<f64>,
}

impl Part {
    /// Whether a stretch lies in it. Samples come a little late, so that there is some slack.
    fn has(&self, from_s: f64, to_s: f64, slack_s: f64) -> bool {
        self.from_s.is_none_or(|from| from_s >= from - slack_s)
            && self.to_s.is_none_or(|to| to_s <= to + slack_s)
    }
}

/// What a quantity was over an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Over {
    /// Stretches that have a value.
    pub n: usize,
    /// Over all of them together: growth of the counter ÷ their length, time of all requests ÷
    /// their number, a level as long as it stood. A long stretch counts for more than a short one.
    pub mean: f64,
    /// The 10th percentile of the stretches, each of which counts once, however long it is.
    pub p10: f64,
    /// Their median.
    pub median: f64,
    /// Their 90th percentile.
    pub p90: f64,
    /// The largest of them.
    pub max: f64,
}

impl Over {
    fn from_ratios(quantity: Watched, ratios: &[Ratio]) -> Option<Self> {
        let value = |ratio: &Ratio| quantity.over([*ratio]);
        let values: Vec<f64> = ratios.iter().filter_map(value).collect();
        Some(Self {
            n: values.len(),
            mean: quantity.over(ratios.iter().copied())?,
            p10: quantile(&values, 0.1).ok()?,
            median: median(&values).ok()?,
            p90: quantile(&values, 0.9).ok()?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }
}

/// A row of an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct WatchedRow {
    pub quantity: Watched,
    /// What it was; absent where no stretch has a value.
    pub over: Option<Over>,
}

/// An interval in which a device was watched.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Interval {
    /// What it is called: `12`, `12@10m-20m`.
    pub name: String,
    /// The device, in words.
    pub what: String,
    /// Wall clock at the start of the sitting, ns since 1970.
    pub started_unix_ns: u64,
    /// Its first sample, s since the start of the sitting.
    pub from_s: f64,
    /// Its last sample, s since the start of the sitting.
    pub to_s: f64,
    /// Period of the samples kept, s.
    pub period_s: f64,
    /// Stretches between two samples.
    pub stretches: usize,
    /// What the device did in it: `read_bytes`, `reads`, `written_bytes`, `writes`, `flushes`,
    /// `discarded_bytes`, as far as they are counted.
    pub totals: BTreeMap<String, u64>,
    /// Each quantity.
    pub rows: Vec<WatchedRow>,
}

/// The phase of a sitting; `None` where the trial was no watch.
#[must_use]
pub fn sitting(record: &TrialRecord) -> Option<&PhaseRecord> {
    record.phases.iter().find(|phase| phase.op == Op::Watched)
}

/// What was seen in a part of a sitting; `None` where it has fewer than two samples.
#[must_use]
pub fn interval(name: &str, record: &TrialRecord, part: Part) -> Option<Interval> {
    let phase = sitting(record)?;
    let series = phase.series.as_ref()?;
    let at_s = |at: usize| series.t_ns[at] as f64 / NS_PER_S;
    let slack_s = series.period_ns as f64 / NS_PER_S * SLACK;
    let is_inside = |at: &usize| part.has(at_s(at - 1), at_s(*at), slack_s);
    let inside: Vec<usize> = (1..series.t_ns.len()).filter(is_inside).collect();
    let (first, last) = (*inside.first()?, *inside.last()?);
    let row = |quantity: Watched| {
        let ratio = |at: &usize| quantity.ratio(&Between { series, at: *at });
        let ratios: Vec<Ratio> = inside.iter().filter_map(ratio).collect();
        WatchedRow { quantity, over: Over::from_ratios(quantity, &ratios) }
    };
    Some(Interval {
        name: name.to_owned(),
        what: record.device.get("watched").cloned().unwrap_or_default(),
        started_unix_ns: record.started_unix_ns,
        from_s: at_s(first - 1),
        to_s: at_s(last),
        period_s: series.period_ns as f64 / NS_PER_S,
        stretches: inside.len(),
        totals: totals(series, first - 1, last),
        rows: Watched::ALL.into_iter().map(row).collect(),
    })
}

/// Growth of the device's counters from one sample to another.
fn totals(series: &Series, first: usize, last: usize) -> BTreeMap<String, u64> {
    let names = ["read_bytes", "reads", "written_bytes", "writes", "flushes", "discarded_bytes"];
    let of = |name: &str| {
        let column = series.columns.get(&format!("device.{name}"))?;
        let (was, is) = ((*column.get(first)?)?, (*column.get(last)?)?);
        Some((name.to_owned(), is.checked_sub(was)?))
    };
    names.into_iter().filter_map(of).collect()
}

/// Sample `at` of a series and the one before it.
struct Between<'a> {
    series: &'a Series,
    at: usize,
}

impl Between<'_> {
    fn value(&self, name: &str, at: usize) -> Option<u64> {
        self.series.columns.get(name)?.get(at).copied().flatten()
    }
}

impl Stretch for Between<'_> {
    fn length_ns(&self) -> u64 {
        let times = &self.series.t_ns;
        u64::try_from(times[self.at].saturating_sub(times[self.at - 1])).unwrap_or(0)
    }

    fn grown(&self, name: &str) -> Option<u64> {
        let (was, is) = (self.value(name, self.at - 1)?, self.value(name, self.at)?);
        // The kernel may correct times of processors downwards: then they did not grow.
        if name.starts_with("cpu.") { Some(is.saturating_sub(was)) } else { is.checked_sub(was) }
    }

    fn level(&self, name: &str) -> Option<u64> {
        self.value(name, self.at)
    }
}

/// Two watched intervals side by side.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct WatchedPair {
    pub a: Interval,
    pub b: Interval,
    /// Each quantity, in the order of [`Watched::ALL`]: mean of the first ÷ mean of the second;
    /// absent where one of them has none, or that of the second is 0.
    pub ratios_of_means: Vec<Option<f64>>,
    /// Whether a difference is real: it is never decided from two intervals.
    pub verdict: fsarena_model::verdict::Verdict,
    pub why: String,
}

/// Sets two intervals side by side.
#[must_use]
pub fn side_by_side(a: Interval, b: Interval) -> WatchedPair {
    let ratio = |(a, b): (&WatchedRow, &WatchedRow)| {
        let (a, b) = (a.over?.mean, b.over?.mean);
        (b > 0.0).then(|| a / b)
    };
    let ratios_of_means = a.rows.iter().zip(&b.rows).map(ratio).collect();
    let verdict = fsarena_model::verdict::Verdict::Undecided;
    WatchedPair { a, b, ratios_of_means, verdict, why: WHY_UNDECIDED.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Series {
        let some = |values: [u64; 4]| values.map(Some).to_vec();
        Series {
            period_ns: 1_000_000_000,
            t_ns: vec![0, 1_000_000_000, 2_000_000_000, 4_000_000_000],
            columns: [
                ("device.written_bytes", some([0, 1_000, 4_000, 4_000])),
                ("device.writes", some([0, 1, 3, 3])),
                ("device.write_ns", some([0, 500, 2_500, 2_500])),
                ("device.busy_ns", some([0, 500_000_000, 1_600_000_000, 1_600_000_000])),
                ("device.reads", vec![Some(0), None, Some(2), Some(4)]),
                ("mem.dirty_bytes", some([7, 8, 9, 10])),
                ("cpu.idle_ns", some([0, 1_500_000_000, 3_000_000_000, 2_999_000_000])),
                ("cpu.user_ns", some([0, 500_000_000, 1_000_000_000, 5_000_000_000])),
            ]
            .map(|(name, column)| (name.to_owned(), column))
            .into(),
        }
    }

    fn values(quantity: Watched) -> Vec<Option<f64>> {
        let series = series();
        (1..4).map(|at| quantity.value(&Between { series: &series, at })).collect()
    }

    #[test]
    fn each_quantity_is_of_the_stretch_that_ends_there() {
        assert_eq!(values(Watched::WrittenBytesPerS), [Some(1_000.0), Some(3_000.0), Some(0.0)]);
        assert_eq!(values(Watched::WriteLatencyNs), [Some(500.0), Some(1_000.0), None]);
        assert_eq!(values(Watched::BusyShare), [Some(0.5), Some(1.0), Some(0.0)], "at most all");
        assert_eq!(values(Watched::ReadsPerS), [None, None, Some(1.0)], "missing is not zero");
        assert_eq!(values(Watched::DirtyBytes), [Some(8.0), Some(9.0), Some(10.0)]);
        assert_eq!(values(Watched::UserShare), [Some(0.25), Some(0.25), Some(1.0)]);
        assert_eq!(values(Watched::StealShare), [None; 3]);
    }

    #[test]
    fn a_part_has_the_stretches_that_lie_in_it_whole() {
        let part = |from_s, to_s| Part { from_s, to_s };
        assert!(part(None, None).has(0.0, 4.0, 0.0));
        assert!(part(Some(1.0), Some(2.0)).has(0.9, 2.1, 0.25));
        assert!(!part(Some(1.5), None).has(1.0, 2.0, 0.25));
        assert!(!part(None, Some(3.0)).has(2.0, 4.0, 0.25));
    }

    /// Of all stretches of the series.
    fn over(quantity: Watched, series: &Series) -> Option<Over> {
        let ratio = |at| quantity.ratio(&Between { series, at });
        Over::from_ratios(quantity, &(1..series.t_ns.len()).filter_map(ratio).collect::<Vec<_>>())
    }

    #[test]
    fn a_mean_is_of_the_whole_interval_and_percentiles_are_of_its_stretches() {
        // The watch was stopped for 600 s, in which nothing was written.
        let mut series = series();
        series.t_ns = vec![0, 1_000_000_000, 2_000_000_000, 602_000_000_000];
        let of = |quantity| over(quantity, &series).unwrap();
        let length_s = 602.0;
        let bytes = of(Watched::WrittenBytesPerS);
        assert!((bytes.mean * length_s - 4_000.0).abs() < 1e-6, "mean × length = total: {bytes:?}");
        assert_eq!((bytes.n, bytes.median, bytes.max), (3, 1_000.0, 3_000.0));
        assert!(bytes.p10 < bytes.median && bytes.median < bytes.p90 && bytes.p90 < bytes.max);
        let busy = of(Watched::BusyShare);
        assert!((busy.mean * length_s - 1.6).abs() < 1e-9, "{busy:?}");
        let dirty = of(Watched::DirtyBytes);
        assert!((dirty.mean * length_s - (8.0 + 9.0 + 600.0 * 10.0)).abs() < 1e-6, "{dirty:?}");
        // Three requests took 2,500 ns, whenever they came.
        let latency = of(Watched::WriteLatencyNs);
        assert!((latency.mean - 2_500.0 / 3.0).abs() < 1e-9, "{latency:?}");
        assert_eq!((latency.n, latency.median), (2, 750.0));
        // User time 5 s of 8 s of processors.
        assert!((of(Watched::UserShare).mean - 5.0 / 8.0).abs() < 1e-9);
        assert_eq!(over(Watched::StealShare, &series), None);
        assert_eq!(Over::from_ratios(Watched::DirtyBytes, &[]), None);
    }
}
