//! A device that was watched while another application used it: figures of each stretch between two
//! samples, what they were over an interval, and two intervals beside each other.
//!
//! A sitting is one unit. Its samples follow from each other and are no repeats, so that nothing is
//! decided from two sittings ([`WHY_UNDECIDED`]); their figures are shown, and so is how far the
//! samples spread within each.

use crate::cpu::{BUSY, IDLE, STEAL, TICK_NS};
use crate::ledger::{FLUSHES, READ, WRITTEN};
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::sample::Series;
use fsarena_model::units::three_digits;
use fsarena_model::work::Op;
use fsarena_stats::{mean, median, quantile};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why two watched intervals are left undecided, always.
pub const WHY_UNDECIDED: &str = "there is one interval a side. The samples of an interval follow from each other and are no \
     repeats of it, nothing says that the applications did the same work, and it takes three \
     sittings a side before a difference can be called real";

/// A stretch in which all processors together saw fewer ticks has no load.
const STRETCH_TICKS_MIN: u64 = 5;
/// By this share of the period a sample may lie outside of a part that it belongs to.
const SLACK: f64 = 0.25;
const NS_PER_S: f64 = 1e9;
const MIB: f64 = (1u64 << 20) as f64;

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// Bytes read a second.
    ReadBytesPerS,
    /// Bytes written a second.
    WrittenBytesPerS,
    /// Reads completed a second.
    ReadsPerS,
    /// Writes completed a second.
    WritesPerS,
    /// Share of the time in which the device had something to do, 0 to 1.
    BusyShare,
    /// Mean number of requests at the device.
    QueueDepth,
    /// Mean time of a read, ns; absent where none was completed.
    ReadLatencyNs,
    /// Mean time of a write, ns; absent where none was completed.
    WriteLatencyNs,
    /// Cache flushes a second.
    FlushesPerS,
    /// Dirty memory of the machine, bytes.
    DirtyBytes,
    /// Memory of the machine under writeback, bytes.
    WritebackBytes,
    /// User time, niced too, as a share of all processors.
    UserShare,
    /// Time in the kernel, interrupts too, as a share of all processors.
    SystemShare,
    /// Idle time in which I/O was awaited, as a share of all processors.
    IowaitShare,
    /// Time that the hypervisor took, as a share of all processors.
    StealShare,
}

impl Watched {
    /// All, in the order shown.
    pub const ALL: [Self; 15] = [
        Self::ReadBytesPerS,
        Self::WrittenBytesPerS,
        Self::ReadsPerS,
        Self::WritesPerS,
        Self::BusyShare,
        Self::QueueDepth,
        Self::ReadLatencyNs,
        Self::WriteLatencyNs,
        Self::FlushesPerS,
        Self::DirtyBytes,
        Self::WritebackBytes,
        Self::UserShare,
        Self::SystemShare,
        Self::IowaitShare,
        Self::StealShare,
    ];

    /// Its name in documents, with its unit.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::ReadBytesPerS => "read_bytes_per_s",
            Self::WrittenBytesPerS => "written_bytes_per_s",
            Self::ReadsPerS => "reads_per_s",
            Self::WritesPerS => "writes_per_s",
            Self::BusyShare => "busy_share",
            Self::QueueDepth => "queue_depth",
            Self::ReadLatencyNs => "read_latency_ns",
            Self::WriteLatencyNs => "write_latency_ns",
            Self::FlushesPerS => "flushes_per_s",
            Self::DirtyBytes => "dirty_bytes",
            Self::WritebackBytes => "writeback_bytes",
            Self::UserShare => "cpu_user_share",
            Self::SystemShare => "cpu_system_share",
            Self::IowaitShare => "cpu_iowait_share",
            Self::StealShare => "cpu_steal_share",
        }
    }

    /// Its name for people, with the unit of [`Watched::text`].
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ReadBytesPerS => "read MB/s",
            Self::WrittenBytesPerS => "write MB/s",
            Self::ReadsPerS => "reads/s",
            Self::WritesPerS => "writes/s",
            Self::BusyShare => "busy %",
            Self::QueueDepth => "queue depth",
            Self::ReadLatencyNs => "read ms",
            Self::WriteLatencyNs => "write ms",
            Self::FlushesPerS => "flushes/s",
            Self::DirtyBytes => "dirty MiB",
            Self::WritebackBytes => "writeback MiB",
            Self::UserShare => "CPU user %",
            Self::SystemShare => "CPU system %",
            Self::IowaitShare => "CPU iowait %",
            Self::StealShare => "CPU steal %",
        }
    }

    /// A value in the unit of [`Watched::title`]: MB are 10⁶ bytes, MiB 2²⁰, 100 % of the
    /// processors are all of them.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::ReadBytesPerS | Self::WrittenBytesPerS => three_digits(value / 1e6),
            Self::ReadLatencyNs | Self::WriteLatencyNs => three_digits(value / 1e6),
            Self::DirtyBytes | Self::WritebackBytes => three_digits(value / MIB),
            Self::ReadsPerS | Self::WritesPerS | Self::FlushesPerS => format!("{value:.0}"),
            Self::QueueDepth => three_digits(value),
            Self::BusyShare
            | Self::UserShare
            | Self::SystemShare
            | Self::IowaitShare
            | Self::StealShare => format!("{:.1}", value * 100.0),
        }
    }

    /// The largest value that there can be, where there is one.
    #[must_use]
    pub fn limit(self) -> Option<f64> {
        match self {
            Self::BusyShare
            | Self::UserShare
            | Self::SystemShare
            | Self::IowaitShare
            | Self::StealShare => Some(1.0),
            _ => None,
        }
    }

    /// Its value over a stretch; `None` where a counter is missing, or there is nothing to divide.
    #[must_use]
    pub fn of(self, stretch: &dyn Stretch) -> Option<f64> {
        let a_second = |name| a_second(stretch, name);
        match self {
            Self::ReadBytesPerS => a_second(READ),
            Self::WrittenBytesPerS => a_second(WRITTEN),
            Self::ReadsPerS => a_second("device.reads"),
            Self::WritesPerS => a_second("device.writes"),
            // The kernel counts whole milliseconds, which may be more than the stretch had.
            Self::BusyShare => Some((a_second("device.busy_ns")? / NS_PER_S).min(1.0)),
            Self::QueueDepth => Some(a_second("device.queue_ns")? / NS_PER_S),
            Self::ReadLatencyNs => each(stretch, "device.read_ns", "device.reads"),
            Self::WriteLatencyNs => each(stretch, "device.write_ns", "device.writes"),
            Self::FlushesPerS => a_second(FLUSHES),
            Self::DirtyBytes => stretch.level("mem.dirty_bytes").map(|bytes| bytes as f64),
            Self::WritebackBytes => stretch.level("mem.writeback_bytes").map(|bytes| bytes as f64),
            Self::UserShare => of_processors(stretch, &["cpu.user_ns", "cpu.nice_ns"]),
            Self::SystemShare => {
                of_processors(stretch, &["cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"])
            }
            Self::IowaitShare => of_processors(stretch, &["cpu.iowait_ns"]),
            Self::StealShare => of_processors(stretch, &[STEAL]),
        }
    }
}

/// The time between two samples.
pub trait Stretch {
    /// Its length, ns.
    fn length_ns(&self) -> u64;
    /// Growth of a cumulative counter; `None` where it is missing or began anew.
    fn grown(&self, name: &str) -> Option<u64>;
    /// A gauge at its end.
    fn level(&self, name: &str) -> Option<u64>;
}

fn a_second(stretch: &dyn Stretch, name: &str) -> Option<f64> {
    let grown = stretch.grown(name)?;
    let ns = stretch.length_ns();
    (ns > 0).then(|| grown as f64 * NS_PER_S / ns as f64)
}

/// Growth of one counter for each of another.
fn each(stretch: &dyn Stretch, of: &str, by: &str) -> Option<f64> {
    let (sum, count) = (stretch.grown(of)?, stretch.grown(by)?);
    (count > 0).then(|| sum as f64 / count as f64)
}

/// Share of the time of all processors. Without the idle counter there is no whole.
fn of_processors(stretch: &dyn Stretch, names: &[&str]) -> Option<f64> {
    let sum = |names: &[&str]| -> u64 {
        names.iter().filter_map(|name| stretch.grown(name)).fold(0, u64::saturating_add)
    };
    stretch.grown("cpu.idle_ns")?;
    stretch.grown(names.first()?)?;
    let all_ns = sum(&BUSY).saturating_add(sum(&IDLE));
    (all_ns >= STRETCH_TICKS_MIN * TICK_NS).then(|| sum(names) as f64 / all_ns as f64)
}

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

/// What a quantity was over the samples of an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Over {
    /// Stretches that have a value.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The 10th percentile.
    pub p10: f64,
    /// The median.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The largest.
    pub max: f64,
}

impl Over {
    fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            n: values.len(),
            mean: mean(values).ok()?,
            p10: quantile(values, 0.1).ok()?,
            median: median(values).ok()?,
            p90: quantile(values, 0.9).ok()?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }
}

/// A row of an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedRow {
    /// What.
    pub quantity: Watched,
    /// What it was; absent where no stretch has a value.
    pub over: Option<Over>,
}

/// An interval in which a device was watched.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        let values: Vec<f64> =
            inside.iter().filter_map(|&at| quantity.of(&Between { series, at })).collect();
        WatchedRow { quantity, over: Over::of(&values) }
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

/// Two watched intervals beside each other.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedPair {
    /// The first.
    pub a: Interval,
    /// The second.
    pub b: Interval,
    /// Each quantity, in the order of [`Watched::ALL`]: mean of the first ÷ mean of the second;
    /// absent where one of them has none, or that of the second is 0.
    pub ratios_of_means: Vec<Option<f64>>,
    /// Whether a difference is real: it is never decided from two intervals.
    pub verdict: fsarena_model::verdict::Verdict,
    /// Why.
    pub why: String,
}

/// Sets two intervals beside each other.
#[must_use]
pub fn beside(a: Interval, b: Interval) -> WatchedPair {
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
        (1..4).map(|at| quantity.of(&Between { series: &series, at })).collect()
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

    #[test]
    fn an_interval_says_mean_median_and_spread() {
        let over = Over::of(&[1.0, 2.0, 3.0, 10.0]).unwrap();
        assert_eq!((over.n, over.mean, over.median, over.max), (4, 4.0, 2.5, 10.0));
        assert!(over.p10 < over.median && over.median < over.p90 && over.p90 < 10.0);
        assert_eq!(Over::of(&[]), None);
    }
}
