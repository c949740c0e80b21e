//! Samples of a phase: bounded storage, and the series made of it.
//!
//! Storage is for [`SAMPLES_MAX`] samples and is reserved before the first one: about 2.3 MiB of
//! address space, of which only what is used is ever touched (0.6 KiB a sample). When it is full,
//! every second sample is dropped in place and the period doubles: a phase of any length ends
//! with at most `SAMPLES_MAX` samples and, once thinned, at least half of that. One thinning moves
//! 1.2 MiB within memory.

use crate::MetricError;
use crate::source::Kind;
use crate::sources::Snapshot;
use crate::sources::catalog;
use crate::window::growth;
use fsarena_model::sample::Series;

/// Most samples that are kept of one phase.
pub const SAMPLES_MAX: usize = 4096;

/// Samples, oldest first.
#[derive(Debug)]
pub struct Samples {
    period_ns: u64,
    limit: usize,
    times_ns: Vec<u64>,
    /// `width` values a sample; what is missing is 0 here.
    values: Vec<u64>,
    /// `words` words a sample, a bit a value that is not missing.
    present: Vec<u64>,
    error: Option<MetricError>,
}

impl Samples {
    /// Empty storage for samples that are `period_ns` apart.
    #[must_use]
    pub fn new(period_ns: u64) -> Self {
        Self::with_limit(period_ns, SAMPLES_MAX)
    }

    fn with_limit(period_ns: u64, limit: usize) -> Self {
        Self {
            period_ns,
            limit,
            times_ns: Vec::with_capacity(limit),
            values: Vec::with_capacity(limit * width()),
            present: Vec::with_capacity(limit * words()),
            error: None,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Period of the samples kept: the one asked for, doubled at each thinning.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// The error that ended sampling early, if one did; samples before it are kept.
    #[must_use]
    pub fn error(&self) -> Option<&MetricError> {
        self.error.as_ref()
    }

    pub(crate) fn fail(&mut self, error: MetricError) {
        self.error.get_or_insert(error);
    }

    /// One sample as a snapshot.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Snapshot> {
        let monotonic_ns = *self.times_ns.get(index)?;
        let values = (0..width()).map(|column| self.value(index, column)).collect();
        Some(Snapshot { monotonic_ns, values })
    }

    /// Drops every second sample, as often as it takes until there are at most `limit`.
    pub fn thin_to(&mut self, limit: usize) {
        while self.len() > limit.max(1) {
            self.thin();
        }
    }

    /// Adds a sample; allocates nothing. Values beyond the catalog are ignored.
    pub fn push(&mut self, snapshot: &Snapshot) {
        if self.len() >= self.limit {
            self.thin();
        }
        self.times_ns.push(snapshot.monotonic_ns);
        let row = self.present.len();
        self.present.resize(row + words(), 0);
        for column in 0..width() {
            let value = snapshot.values.get(column).copied().flatten();
            self.values.push(value.unwrap_or(0));
            self.present[row + column / 64] |= u64::from(value.is_some()) << (column % 64);
        }
    }

    fn value(&self, index: usize, column: usize) -> Option<u64> {
        let word = self.present[index * words() + column / 64];
        (word >> (column % 64) & 1 == 1).then(|| self.values[index * width() + column])
    }

    /// Keeps the first of every two samples.
    fn thin(&mut self) {
        let kept = self.len().div_ceil(2);
        for to in 0..kept {
            let from = to * 2;
            self.times_ns[to] = self.times_ns[from];
            self.values.copy_within(from * width()..(from + 1) * width(), to * width());
            self.present.copy_within(from * words()..(from + 1) * words(), to * words());
        }
        self.times_ns.truncate(kept);
        self.values.truncate(kept * width());
        self.present.truncate(kept * words());
        self.period_ns = self.period_ns.saturating_mul(2);
    }
}

fn width() -> usize {
    catalog().len()
}

fn words() -> usize {
    width().div_ceil(64)
}

/// The samples as columns, timed from the phase's start (negative before it).
///
/// Cumulative metrics are relative to their first reading; after a counter began anew the rest of
/// its column is missing, since its relation to the first reading is lost. Gauges are as read. A
/// metric that is missing in every sample has no column. `period_ns` is that of the samples kept.
#[must_use]
pub fn series(samples: &Samples, start_monotonic_ns: u64) -> Series {
    let t_ns = samples.times_ns.iter().map(|&time| time.wrapping_sub(start_monotonic_ns) as i64);
    let columns = catalog().iter().enumerate().filter_map(|(index, metric)| {
        let read = (0..samples.len()).map(|row| samples.value(row, index));
        let column: Vec<_> = match metric.kind {
            Kind::Gauge => read.collect(),
            Kind::Cumulative(decrease) => {
                relative(read, |earlier, later| growth(decrease, earlier, later))
            }
        };
        column.iter().any(Option::is_some).then(|| (metric.name.to_owned(), column))
    });
    Series { period_ns: samples.period_ns, t_ns: t_ns.collect(), columns: columns.collect() }
}

/// Readings minus the first one.
fn relative(
    read: impl Iterator<Item = Option<u64>>,
    growth: impl Fn(u64, u64) -> Option<u64>,
) -> Vec<Option<u64>> {
    let mut first = None;
    let mut last = None;
    let mut lost = false;
    let column = read.map(|reading| {
        let value = reading?;
        let start = *first.get_or_insert(value);
        lost |= growth(last.replace(value).unwrap_or(value), value).is_none();
        if lost { None } else { growth(start, value) }
    });
    column.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Decrease;
    use proptest::prelude::*;

    fn snapshot(monotonic_ns: u64, name: &str, value: Option<u64>) -> Snapshot {
        let mut snapshot = Snapshot { monotonic_ns, ..Snapshot::empty() };
        let index = catalog().iter().position(|metric| metric.name == name).unwrap();
        snapshot.values[index] = value;
        snapshot
    }

    fn column(name: &str, readings: &[Option<u64>]) -> Option<Vec<Option<u64>>> {
        let mut samples = Samples::new(10);
        for &reading in readings {
            samples.push(&snapshot(0, name, reading));
        }
        series(&samples, 0).columns.remove(name)
    }

    #[test]
    fn columns_follow_the_kind_of_their_metric() {
        let readings = [None, Some(7), None, Some(9), Some(8)];
        let of = |name| column(name, &readings).unwrap();
        assert_eq!(of("mem.dirty_bytes"), readings, "gauges as read");
        assert_eq!(of("cpu.iowait_ns"), [None, Some(0), None, Some(2), Some(1)]);
        assert_eq!(of("device.reads"), [None, Some(0), None, Some(2), None], "began anew");
        assert_eq!(column("device.reads", &[Some(5), Some(2), Some(9)]).unwrap()[2], None);
        assert_eq!(column("device.reads", &[None, None]), None, "never there: no column");
    }

    #[test]
    fn a_wrap_inside_a_series_is_undone() {
        let ms = |ms: u64| Some(ms * 1_000_000);
        let read = [ms((1 << 32) - 2), ms((1 << 32) - 1), ms(3)];
        assert_eq!(column("device.busy_ns", &read).unwrap(), [ms(0), ms(1), ms(5)]);
        let kind = catalog().iter().find(|metric| metric.name == "device.busy_ns").unwrap().kind;
        assert!(matches!(kind, Kind::Cumulative(Decrease::WrapsAt(_))));
    }

    #[test]
    fn a_full_store_keeps_every_second_sample() {
        let mut samples = Samples::with_limit(100, 8);
        for time in 0..9 {
            samples.push(&snapshot(time * 100, "mem.dirty_bytes", Some(time)));
        }
        let series = series(&samples, 200);
        assert_eq!(series.t_ns, [-200, 0, 200, 400, 600]);
        let values = [Some(0), Some(2), Some(4), Some(6), Some(8)];
        assert_eq!(series.columns["mem.dirty_bytes"], values);
        assert_eq!((series.period_ns, samples.period_ns()), (200, 200));
        assert_eq!(samples.get(1).unwrap().get("mem.dirty_bytes"), Some(2));
    }

    #[test]
    fn an_hour_at_100_ms_is_bounded() {
        let mut samples = Samples::new(100_000_000);
        let mut now_ns = 0;
        while now_ns <= 3_600_000_000_000 {
            samples.push(&Snapshot { monotonic_ns: now_ns, ..Snapshot::empty() });
            now_ns += samples.period_ns();
        }
        assert!((SAMPLES_MAX / 2..=SAMPLES_MAX).contains(&samples.len()), "{}", samples.len());
        assert_eq!(samples.period_ns(), 1_600_000_000);
    }

    proptest! {
        #[test]
        fn any_readings_make_a_series(
            readings: Vec<(u64, Option<u64>)>, start: u64, limit in 2usize..9
        ) {
            let mut samples = Samples::with_limit(1, limit);
            for (time, value) in readings {
                let values = vec![value; catalog().len()];
                samples.push(&Snapshot { monotonic_ns: time, values });
            }
            prop_assert!(samples.len() <= limit);
            let series = series(&samples, start);
            for column in series.columns.values() {
                prop_assert_eq!(column.len(), series.t_ns.len());
            }
        }
    }
}
