//! Where a value is on an axis, the numbers at the axis, and how numbers are written.
//!
//! Places and ticks are those of plotters; the percentile axis is a coordinate of our own for it.
//! Every value gets a place: what lies beyond the axis, or is no number, lies at its end.

use crate::Spot;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// Values beyond this are no measurement; plotters' steps would lose their digits.
const MOST: f64 = 1e30;

/// The value, where it can be shown.
pub(crate) fn fit(value: f64) -> Option<f64> {
    (value.is_finite() && value.abs() < MOST).then_some(value)
}

/// The value of a spot, where there is one that can be shown.
pub(crate) fn shown(spot: Option<&Spot>) -> Option<f64> {
    fit(spot?.value)
}

/// An interval with its lower end first, where both can be shown.
pub(crate) fn ordered(interval: Option<(f64, f64)>) -> Option<(f64, f64)> {
    let (one, other) = interval?;
    let (one, other) = (fit(one)?, fit(other)?);
    Some((one.min(other), one.max(other)))
}

/// A share of ops on an axis that widens its end: 90 %, 99 % and 99.9 % are equally far apart.
pub(crate) struct Tail {
    nines: RangedCoordf64,
}

/// How many nines a share has: 0.9 has one, 0.99 two.
fn nines(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 1.0 - 1e-12)).log10()
}

impl Ranged for Tail {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, share: &f64, limit: (i32, i32)) -> i32 {
        self.nines.map(&nines(*share), limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let whole = [0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
        let end = self.nines.range().end + 1e-9;
        [0.0, 0.5].into_iter().chain(whole).filter(|share| nines(*share) <= end).collect()
    }

    fn range(&self) -> Range<f64> {
        let Range { start, end } = self.nines.range();
        1.0 - 10f64.powf(-start)..1.0 - 10f64.powf(-end)
    }
}

enum Kind {
    /// From zero, in a power of ten that keeps plotters' steps within a few digits.
    Linear { coord: RangedCoordf64, ten: f64 },
    /// Above zero.
    Log(LogCoord<f64>),
    /// Shares.
    Tail(Tail),
}

/// An axis: values to units of the drawing.
pub(crate) struct Scale {
    kind: Kind,
    /// Tenths of a unit.
    limit: (i32, i32),
}

fn limit((from, to): (f64, f64)) -> (i32, i32) {
    ((from * 10.0).round() as i32, (to * 10.0).round() as i32)
}

impl Scale {
    /// From 0 to a little above `most`, in equal steps.
    pub(crate) fn linear(most: f64, place: (f64, f64)) -> Self {
        let most = fit(most).filter(|most| *most > 1e-30).unwrap_or(1.0);
        let ten = 10f64.powf(most.log10().floor());
        Self { kind: Kind::Linear { coord: (0.0..most / ten).into(), ten }, limit: limit(place) }
    }

    /// From `least` to `most` in equal factors; both above 0.
    pub(crate) fn log(least: f64, most: f64, place: (f64, f64)) -> Self {
        let least = fit(least).filter(|least| *least > 1e-30).unwrap_or(1.0);
        let most = fit(most).filter(|most| *most > least * 1.000_1).unwrap_or(least * 10.0);
        Self { kind: Kind::Log((least..most).log_scale().into()), limit: limit(place) }
    }

    /// Shares from 0 to `most`.
    pub(crate) fn tail(most: f64, place: (f64, f64)) -> Self {
        let end = fit(most).map_or(1.0, nines).clamp(1.0, 6.0);
        Self { kind: Kind::Tail(Tail { nines: (0.0..end).into() }), limit: limit(place) }
    }

    /// Where it begins and ends, in units.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (f64::from(self.limit.0) / 10.0, f64::from(self.limit.1) / 10.0)
    }

    /// The place of a value, and whether it lies beyond the axis: −1 before it, 1 after it.
    pub(crate) fn locate(&self, value: f64) -> (f64, i8) {
        let Range { start, end } = self.range();
        // plotters reckons in whole numbers: far beyond the axis they would overflow.
        let near = value.clamp(start, end);
        let at = match &self.kind {
            Kind::Linear { coord, ten } => coord.map(&(near / ten), self.limit),
            Kind::Log(coord) => coord.map(&near, self.limit),
            Kind::Tail(tail) => tail.map(&near, self.limit),
        };
        let slack = (end - start).abs() * 1e-9;
        let beyond = i8::from(value > end + slack) - i8::from(value < start - slack);
        let (low, high) = (self.limit.0.min(self.limit.1), self.limit.0.max(self.limit.1));
        (f64::from(at.clamp(low, high)) / 10.0, beyond)
    }

    /// The place of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.locate(value).0
    }

    /// Whether lines come closer together towards its end.
    pub(crate) fn is_log(&self) -> bool {
        matches!(self.kind, Kind::Log(_))
    }

    fn range(&self) -> Range<f64> {
        match &self.kind {
            Kind::Linear { coord, ten } => 0.0..coord.range().end * ten,
            Kind::Log(coord) => coord.range(),
            Kind::Tail(tail) => 0.0..tail.range().end,
        }
    }

    /// Numbers for the axis, at most about this many.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        match &self.kind {
            Kind::Linear { coord, ten } => {
                coord.key_points(most).into_iter().map(|point| point * ten).collect()
            }
            Kind::Log(coord) => log_ticks(coord, most),
            Kind::Tail(tail) => tail.key_points(most),
        }
    }
}

/// plotters gives powers of ten; within two of them come 2 and 5, within half of one equal steps.
fn log_ticks(coord: &LogCoord<f64>, most: usize) -> Vec<f64> {
    let Range { start, end } = coord.range();
    let (from, to) = (start * (1.0 - 1e-9), end * (1.0 + 1e-9));
    let within = |ticks: Vec<f64>| -> Vec<f64> {
        ticks.into_iter().filter(|tick| (from..=to).contains(tick)).collect()
    };
    if end / start < 3.5 {
        let ten = 10f64.powf(end.log10().floor());
        let even: RangedCoordf64 = (start / ten..end / ten).into();
        return within(even.key_points(most).into_iter().map(|tick| tick * ten).collect());
    }
    let powers: LogCoord<f64> =
        (10f64.powf(start.log10().floor())..end * (1.0 + 1e-9)).log_scale().into();
    let powers = powers.key_points(most.max(2));
    let between = if end / start < 30.0 { &[1.0, 2.0, 5.0][..] } else { &[1.0][..] };
    within(powers.iter().flat_map(|power| between.iter().map(move |by| power * by)).collect())
}

/// A value next to its mark in three digits, followed by the unit (` s`). What is far below the
/// unit has one of its own: a value that is not 0 never reads as 0.
pub(crate) fn figure(value: f64, unit: &str) -> String {
    let size = value.abs();
    if size == 0.0 {
        return format!("0{unit}");
    }
    if size < 1e-3 {
        let smaller = SMALLER.iter().find(|(name, ..)| *name == unit.trim());
        return match smaller {
            Some((_, by, name)) => figure(value * by, &format!(" {name}")),
            None => format!("{value:.2e}{unit}"),
        };
    }
    let number = match size {
        _ if size >= 1e9 => format!("{value:.2e}"),
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ if size >= 0.09995 => format!("{value:.3}"),
        _ if size >= 0.009_995 => format!("{value:.4}"),
        _ => format!("{value:.5}"),
    };
    format!("{number}{unit}")
}

/// Units with how many of which smaller one they are.
const SMALLER: [(&str, f64, &str); 6] = [
    ("s", 1e3, "ms"),
    ("ms", 1e3, "µs"),
    ("µs", 1e3, "ns"),
    ("GiB", 1024.0, "MiB"),
    ("MiB", 1024.0, "KiB"),
    ("KiB", 1024.0, "B"),
];

/// Numbers of an axis, no longer than needed to tell them apart.
pub(crate) fn tick_words(ticks: &[f64]) -> Vec<String> {
    let most = ticks.iter().copied().map(f64::abs).fold(0.0, f64::max);
    if most >= 1e6 || (most > 0.0 && most < 1e-4) {
        return ticks
            .iter()
            .map(|tick| if *tick == 0.0 { "0".into() } else { power(*tick) })
            .collect();
    }
    let places = |tick: &f64| plain(*tick).split_once('.').map_or(0, |(_, places)| places.len());
    let places = ticks.iter().map(places).max().unwrap_or(0);
    let word = |tick: &f64| if *tick == 0.0 { "0".into() } else { format!("{tick:.places$}") };
    ticks.iter().map(word).collect()
}

/// As many decimals as say the number to a millionth, none of them a trailing zero.
fn plain(value: f64) -> String {
    let long = format!("{value:.6}");
    let short = long.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// `1.5M`, `2G`; beyond that powers of ten.
fn power(value: f64) -> String {
    for (unit, by) in [("G", 1e9), ("M", 1e6), ("k", 1e3)] {
        if value.abs() >= by && value.abs() < by * 1e3 {
            return format!("{}{unit}", plain(value / by));
        }
    }
    let (digits, exponent) = { (format!("{value:.1e}"), "e") };
    digits.replace(".0e", exponent)
}

/// A latency in the unit that suits it.
pub(crate) fn time(ns: f64) -> String {
    for (unit, by) in [("s", 1e9), ("ms", 1e6), ("µs", 1e3)] {
        if ns >= by * 0.999_999 {
            return format!("{} {unit}", plain((ns / by * 1e3).round() / 1e3));
        }
    }
    format!("{} ns", plain(ns))
}

/// A share as a percentage, with as many nines as it has.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", plain((share * 1e8).round() / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_numbers() {
        let scale = Scale::linear(4.2, (100.0, 310.0));
        assert_eq!([0.0, 2.1, 4.2].map(|value| scale.at(value)), [100.0, 205.0, 310.0]);
        assert_eq!(scale.ticks(5), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(scale.locate(5.0), (310.0, 1));
        assert_eq!(scale.locate(-1.0), (100.0, -1));
    }

    #[test]
    fn steps_of_a_factor_are_equal_on_a_logarithmic_axis() {
        let scale = Scale::log(0.5, 2.0, (0.0, 200.0));
        assert_eq!([0.5, 1.0, 2.0].map(|value| scale.at(value)), [0.0, 100.0, 200.0]);
        assert_eq!(scale.locate(0.0), (0.0, -1));
        assert!(scale.ticks(5).contains(&1.0), "{:?}", scale.ticks(5));
        let near = Scale::log(0.9, 1.2, (0.0, 200.0)).ticks(5);
        assert_eq!(tick_words(&near), ["0.9", "1.0", "1.1", "1.2"]);
        assert_eq!(Scale::log(4e3, 2e7, (0.0, 300.0)).ticks(6), [1e4, 1e5, 1e6, 1e7]);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let scale = Scale::tail(0.9999, (400.0, 0.0));
        assert_eq!(
            [0.0, 0.9, 0.99, 0.999].map(|share| scale.at(share)),
            [400.0, 300.0, 200.0, 100.0]
        );
        let words: Vec<_> = scale.ticks(9).into_iter().map(percent).collect();
        assert_eq!(words, ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }

    #[test]
    fn what_is_no_number_still_has_a_place_and_ticks() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300, f64::MIN_POSITIVE] {
            for scale in [
                Scale::linear(value, (0.0, 10.0)),
                Scale::log(value, value, (0.0, 10.0)),
                Scale::tail(value, (0.0, 10.0)),
            ] {
                assert!(scale.ticks(6).len() < 30);
                for at in [value, 1.0, f64::NAN, f64::NEG_INFINITY] {
                    assert!((0.0..=10.0).contains(&scale.at(at)), "{value} {at}");
                }
            }
        }
    }

    #[test]
    fn values_have_three_digits_and_numbers_of_an_axis_the_same_decimals() {
        let texts = [12_345.0, 123.4, 42.0703, 1.24, 0.5, 0.0273].map(|own| figure(own, " s"));
        assert_eq!(texts, ["12345 s", "123 s", "42.1 s", "1.24 s", "0.500 s", "0.0273 s"]);
        let small = [0.0, 0.00123, 4.2e-4, 4.2e-7].map(|own| figure(own, " s"));
        assert_eq!(small, ["0 s", "0.00123 s", "0.420 ms", "0.420 µs"], "never 0 but for 0");
        assert_eq!([figure(1e-4, " MiB"), figure(1e-4, "")], ["0.102 KiB", "1.00e-4"]);
        assert_eq!(figure(2e9, ""), "2.00e9");
        assert_eq!(tick_words(&[0.0, 0.5, 1.0]), ["0", "0.5", "1.0"]);
        assert_eq!(tick_words(&[0.0, 1e6, 1.5e6]), ["0", "1M", "1.5M"]);
        assert_eq!(tick_words(&[0.0, 2e-6]), ["0", "2e-6"]);
        assert_eq!(tick_words(&[3e12]), ["3e12"]);
    }

    #[test]
    fn latencies_have_the_unit_that_suits_them() {
        assert_eq!([50.0, 1e4, 2.5e6, 1e9].map(time), ["50 ns", "10 µs", "2.5 ms", "1 s"]);
    }
}
