//! Figures as people read them: lengths, sizes, rates, counts, dates.
//!
//! A unit is chosen here and nowhere else; nothing is computed but the digits.

use fsarena_model::record::CacheState;
use fsarena_model::run::RateStyle;
pub use fsarena_model::units::grouped;
use fsarena_model::units::{Bytes, Nanos, three_digits};
use fsarena_study::{CpuLoad, PhaseRow, PhaseTable, RateUnit, Rates, SpreadF};

/// A length, or a dash.
#[must_use]
pub fn ns(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |ns| Nanos(ns).to_string())
}

/// A length in seconds with three significant digits, or a dash: `0.0123 s`, `12.3 s`, `1,234 s`.
/// One unit for all, so that the lengths of a column can be told apart at a glance.
#[must_use]
pub fn seconds(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |ns| format!("{} s", bare_seconds(ns)))
}

/// As [`seconds`], for a table that says the unit.
pub(crate) fn bare_seconds(ns: u64) -> String {
    let value_s = ns as f64 / 1e9;
    if ns == 0 || value_s >= 1.0 {
        return digits(value_s);
    }
    let decimals = |value: f64| (2.0 - value.log10().floor()).clamp(2.0, 9.0) as usize;
    let text = format!("{value_s:.0$}", decimals(value_s));
    // 0.09996 is 0.100, not 0.1000.
    let rounded = text.parse().unwrap_or(value_s);
    format!("{rounded:.0$}", decimals(rounded))
}

/// A size in powers of ten, as datasets are sized: `124 MB`, `3,400 MB`, `256 kB`, `12 B`.
pub(crate) fn megabytes(size_bytes: u64) -> String {
    match size_bytes {
        0..1_000 => format!("{size_bytes} B"),
        1_000..999_500 => format!("{} kB", digits(size_bytes as f64 / 1e3)),
        _ => format!("{} MB", digits(size_bytes as f64 / 1e6)),
    }
}

/// A size, or a dash.
#[must_use]
pub fn bytes(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |bytes| Bytes(bytes).to_string())
}

/// `95.8 %`, `too short`, or a dash.
#[must_use]
pub fn cpu(load: CpuLoad) -> String {
    match load {
        CpuLoad::Percent { percent } => format!("{:.1} %", percent.median),
        CpuLoad::TooShort => "too short".to_owned(),
        CpuLoad::Unknown => "-".to_owned(),
    }
}

/// Unit in which the rates of a table are written: one for all its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// `127.03 KB/s`, KB = 1024 bytes.
    ArticleKb,
    /// `127 KiB/s`.
    Kib,
    /// `12.7 MiB/s`.
    Mib,
    /// `12.7 MB/s`, MB = 10^6 bytes.
    Mb,
    /// `4,188 files/s`.
    Files,
    /// `312 dirs/s`.
    Dirs,
    /// `12,345 IOPS`.
    Iops,
}

impl Scale {
    /// The unit of a table: MiB/s where every row has one at least.
    #[must_use]
    pub fn for_table(table: &PhaseTable, style: RateStyle) -> Self {
        match (RateUnit::for_op(style, table.op, &table.dataset), style) {
            (RateUnit::Files, _) => Self::Files,
            (RateUnit::Dirs, _) => Self::Dirs,
            (RateUnit::Ops, _) => Self::Iops,
            (RateUnit::Time, _) => Self::Mb,
            (RateUnit::Bytes, style) => Self::for_bytes(table, style),
        }
    }

    /// The unit in which a table writes contents per second.
    #[must_use]
    pub fn for_bytes(table: &PhaseTable, style: RateStyle) -> Self {
        if style == RateStyle::Article2003 {
            return Self::ArticleKb;
        }
        let mut rates = table.rows.iter().filter_map(|r| r.rates.bytes_per_s);
        if rates.all(|rate| rate.median >= 1_048_576.0) { Self::Mib } else { Self::Kib }
    }

    /// The unit, how many base units per second it is, and what is counted.
    fn parts(self) -> (&'static str, f64, RateUnit) {
        match self {
            Self::ArticleKb => ("KB/s", 1024.0, RateUnit::Bytes),
            Self::Kib => ("KiB/s", 1024.0, RateUnit::Bytes),
            Self::Mib => ("MiB/s", 1_048_576.0, RateUnit::Bytes),
            Self::Mb => ("MB/s", 1e6, RateUnit::Bytes),
            Self::Files => ("files/s", 1.0, RateUnit::Files),
            Self::Dirs => ("dirs/s", 1.0, RateUnit::Dirs),
            Self::Iops => ("IOPS", 1.0, RateUnit::Ops),
        }
    }

    /// The median rate of a row, in base units per second.
    #[must_use]
    pub fn median(self, row: &PhaseRow) -> Option<f64> {
        row.rates.get(self.parts().2).map(|spread| spread.median)
    }

    /// What is counted of these rates, in base units per second.
    pub(crate) fn pick(self, rates: &Rates) -> Option<SpreadF> {
        rates.get(self.parts().2)
    }

    /// The rates of a row, in this unit.
    pub(crate) fn spread(self, row: &PhaseRow) -> Option<SpreadF> {
        let size = self.parts().1;
        row.rates.get(self.parts().2).map(|spread| SpreadF {
            n: spread.n,
            min: spread.min / size,
            median: spread.median / size,
            max: spread.max / size,
        })
    }

    /// `files/s`.
    pub(crate) fn name(self) -> &'static str {
        self.parts().0
    }

    /// An amount per second, in this unit.
    pub(crate) fn value(self, per_s: f64) -> f64 {
        per_s / self.parts().1
    }

    /// An amount per second with its unit.
    pub(crate) fn text(self, per_s: f64) -> String {
        format!("{} {}", self.bare(per_s), self.parts().0)
    }

    /// The same without the unit, for a column that bears it.
    #[must_use]
    pub fn bare(self, per_s: f64) -> String {
        let value = per_s / self.parts().1;
        if self == Self::ArticleKb { format!("{value:.2}") } else { digits(value) }
    }
}

/// Three digits, with separators from a thousand on.
#[must_use]
pub fn digits(value: f64) -> String {
    if value >= 1000.0 { grouped(value.round() as u64) } else { three_digits(value) }
}

/// Three digits, also below 1: what is not 0 never reads as 0.
pub(crate) fn three(value: f64) -> String {
    if value >= 1.0 || value <= 0.0 {
        return digits(value);
    }
    let decimals = (2.0 - value.log10().floor()).clamp(2.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

/// State of the cache in a sentence.
pub(crate) fn cache(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::ColdClients => "cold clients",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm by nature",
        CacheState::NotWarm => "not warm",
        CacheState::Unknown => "unknown",
    }
}

/// Minutes in UTC: `2026-01-01 00:00 UTC`.
#[must_use]
pub fn utc(unix_ns: u64) -> String {
    let seconds = i64::try_from(unix_ns / 1_000_000_000).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{seconds} s after 1970"),
    }
}

/// `1 trial`, `3 trials`.
#[must_use]
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(Scale::ArticleKb.text(127.03 * 1024.0), "127.03 KB/s");
        assert_eq!(Scale::Files.text(14_620.4), "14,620 files/s");
        assert_eq!(Scale::Mib.text(1_048_576.0 * 12.34), "12.3 MiB/s");
        assert_eq!(utc(1_767_225_600_000_000_000), "2026-01-01 00:00 UTC");
    }

    #[test]
    fn seconds_have_three_digits() {
        for (ns, text) in [
            (0, "0.00 s"),
            (1, "0.000000001 s"),
            (12_345, "0.0000123 s"),
            (12_345_678, "0.0123 s"),
            (99_960_000, "0.100 s"),
            (500_000_000, "0.500 s"),
            (999_600_000, "1.00 s"),
            (1_234_000_000, "1.23 s"),
            (12_340_000_000, "12.3 s"),
            (125_400_000_000, "125 s"),
            (3_725_000_000_000, "3,725 s"),
        ] {
            assert_eq!(seconds(Some(ns)), text, "{ns}");
        }
        assert_eq!(seconds(None), "-");
    }

    #[test]
    fn sizes_of_datasets_are_in_powers_of_ten() {
        assert_eq!(megabytes(12), "12 B");
        assert_eq!(megabytes(2_560_000), "2.56 MB");
        assert_eq!(megabytes(999_499), "999 kB");
        assert_eq!(megabytes(999_500), "1.00 MB");
        assert_eq!(megabytes(3_400_000_000), "3,400 MB");
    }

    proptest! {
        #[test]
        fn seconds_are_within_half_a_percent(ns in 1_000u64..1 << 50) {
            let text = seconds(Some(ns)).replace(',', "");
            let read: f64 = text.trim_end_matches(" s").parse().unwrap();
            let value_s = ns as f64 / 1e9;
            prop_assert!((read - value_s).abs() <= 0.00501 * value_s, "{text} for {ns} ns");
        }
    }
}
