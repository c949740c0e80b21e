//! Repeats by a clock of whole seconds, and what can be told from them.
//!
//! A length was taken as the difference of two readings of `date`, each cut to its second: the true
//! length lies less than one second from what was read, in either direction. Two equal lengths can
//! therefore be read one second apart, and never two.

use serde::Serialize;

/// Whether numbers bear a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The numbers bear it.
    Holds,
    /// The numbers speak against it.
    Falls,
    /// The numbers are too coarse or too few, or too much changed at once.
    CannotBeTold,
}

impl Holds {
    /// The word in a text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Falls => "falls",
            Self::CannotBeTold => "cannot be told",
        }
    }
}

/// Farthest that a length by whole seconds is from the truth, seconds (not reached).
pub(crate) const CLOCK_S: f64 = 1.0;

/// Repeats of one test, seconds, in their order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Runs(pub(crate) Vec<f64>);

impl Runs {
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    pub(crate) fn first_and_last(&self) -> f64 {
        match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last),
            _ => f64::NAN,
        }
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    pub(crate) fn spread(&self) -> f64 {
        self.max() - self.min()
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        match sorted.get(half) {
            Some(&upper) if sorted.len().is_multiple_of(2) => {
                f64::midpoint(sorted[half - 1], upper)
            }
            Some(&middle) => middle,
            None => f64::NAN,
        }
    }

    /// Median with the shortest and the longest.
    pub(crate) fn interval(&self) -> Interval {
        Interval { low: self.min(), value: self.median(), high: self.max() }
    }

    /// Whether the repeats vary by more than the clock can make of equal lengths.
    pub(crate) fn varies(&self) -> bool {
        self.spread() >= 2.0 * CLOCK_S
    }

    /// Whether repeats of one and of the other are farther apart than the clock can make of equal
    /// lengths.
    pub(crate) fn clear_of(&self, other: &Self) -> bool {
        self.clearly_below(other) || other.clearly_below(self)
    }

    /// What every run may truly have taken: from the shortest to the longest, and what the clock
    /// cut off.
    pub(crate) fn bounds(&self) -> Interval {
        Interval {
            low: (self.min() - CLOCK_S).max(0.0),
            value: self.mean(),
            high: self.max() + CLOCK_S,
        }
    }

    /// Whether every run was shorter than every run of the other, whatever the clock cut off.
    pub(crate) fn clearly_below(&self, other: &Self) -> bool {
        self.max() + CLOCK_S <= other.min() - CLOCK_S
    }

    /// What becomes of "this is faster than that".
    pub(crate) fn is_faster_than(&self, other: &Self) -> Holds {
        if self.mean() >= other.mean() {
            Holds::Falls
        } else if self.clearly_below(other) {
            Holds::Holds
        } else {
            Holds::CannotBeTold
        }
    }

    /// `26-30`, or one number where all are equal.
    pub(crate) fn range(&self) -> String {
        if self.spread() == 0.0 {
            return format!("{}", self.min());
        }
        format!("{}-{}", self.min(), self.max())
    }
}

/// A number between bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) value: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// A number that is off by less than `by`, and never negative.
    pub(crate) fn about(value: f64, by: f64) -> Self {
        Self { low: (value - by).max(0.0), value, high: value + by }
    }

    /// The same of each of its numbers.
    pub(crate) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { low: of(self.low), value: of(self.value), high: of(self.high) }
    }

    /// An amount divided by this.
    pub(crate) fn rate(self, amount: f64) -> Self {
        Self { low: amount / self.high, value: amount / self.value, high: amount / self.low }
    }

    /// This divided by another.
    pub(crate) fn over(self, other: Self) -> Self {
        let (low, high) = (self.low / other.high, self.high / other.low);
        Self { low, value: self.value / other.value, high }
    }

    /// Whether the true number can lie from `low` to `high`. The bounds themselves are not reached:
    /// the clock cuts off less than its second.
    pub(crate) fn meets(self, low: f64, high: f64) -> bool {
        self.low < high && self.high > low
    }

    /// Whether it must lie there.
    pub(crate) fn lies_within(self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }

    /// `1.48 (1.46-1.51)`.
    pub(crate) fn text(self) -> String {
        format!("{:.2} ({:.2}-{:.2})", self.value, self.low, self.high)
    }
}

/// One decision for several: any that falls decides, then any that cannot be told.
pub(crate) fn all(each: impl IntoIterator<Item = Holds>) -> Holds {
    each.into_iter().fold(Holds::Holds, |all, one| match (all, one) {
        (Holds::Falls, _) | (_, Holds::Falls) => Holds::Falls,
        (Holds::CannotBeTold, _) | (_, Holds::CannotBeTold) => Holds::CannotBeTold,
        _ => Holds::Holds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Runs {
        Runs(values.to_vec())
    }

    #[test]
    fn means_medians_and_ranges() {
        let of = runs(&[30.0, 26.0, 27.0]);
        assert_eq!((of.first_and_last(), of.median(), of.spread()), (28.5, 27.0, 4.0));
        assert!((of.mean() - 83.0 / 3.0).abs() < 1e-12);
        assert_eq!(of.range(), "26-30");
        assert_eq!(runs(&[9.0, 9.0]).range(), "9");
        assert_eq!(runs(&[1.0, 4.0]).median(), 2.5);
    }

    #[test]
    fn a_second_is_what_the_clock_makes_of_equal_lengths_and_two_are_not() {
        assert!(!runs(&[14.0, 15.0]).varies());
        assert!(runs(&[14.0, 16.0]).varies());
        assert!(runs(&[26.0, 27.0]).clearly_below(&runs(&[29.0, 30.0])));
        assert!(!runs(&[26.0, 28.0]).clearly_below(&runs(&[29.0, 30.0])));
        assert!(runs(&[29.0, 30.0]).clear_of(&runs(&[26.0, 27.0])));
        let bounds = Interval { low: 6.0, value: 7.0, high: 8.0 };
        assert_eq!(runs(&[7.0, 7.0]).bounds(), bounds);
    }

    #[test]
    fn faster_holds_falls_or_cannot_be_told() {
        let short = runs(&[10.0, 10.0]);
        assert_eq!(short.is_faster_than(&runs(&[12.0, 13.0])), Holds::Holds);
        assert_eq!(short.is_faster_than(&runs(&[11.0, 13.0])), Holds::CannotBeTold);
        assert_eq!(short.is_faster_than(&short), Holds::Falls);
        assert_eq!(all([Holds::Holds, Holds::CannotBeTold]), Holds::CannotBeTold);
        assert_eq!(all([Holds::CannotBeTold, Holds::Falls, Holds::Holds]), Holds::Falls);
    }

    #[test]
    fn bounds_of_ratios_and_rates() {
        let two = Interval::about(2.0, CLOCK_S);
        assert_eq!(two.rate(357.0), Interval { low: 119.0, value: 178.5, high: 357.0 });
        let ratio = two.over(Interval::about(4.0, CLOCK_S));
        assert_eq!(ratio, Interval { low: 0.2, value: 0.5, high: 1.0 });
        assert!(ratio.meets(0.9, 2.0) && !ratio.lies_within(0.9, 2.0));
        assert!(!ratio.meets(1.0, 2.0), "its upper bound is not reached");
        assert!(ratio.meets(0.5, 0.5) && !Interval::about(1.0, 0.0).meets(2.0, 2.0));
        assert_eq!(Interval::about(1.0, 1.5).low, 0.0);
    }
}
