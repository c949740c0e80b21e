//! The one rule by which the conclusions of all articles are held against their own numbers.

use crate::figures::{Holds, Interval};

/// How far a ratio may be from the one that an article states, as a share of that; and from how far
/// apart on two figures differ.
pub(crate) const TOLERANCE: f64 = 0.10;
/// "Several times" and "far" are at least this many times.
pub(crate) const SEVERAL: f64 = 2.0;
/// "A little" is at most this many times.
pub(crate) const A_LITTLE: f64 = 1.25;

/// The rule, for those that read what became of a conclusion.
pub const RULE: &str = "One rule for all years: a stated number (half, 10 % less) holds where the \
                        ratio of the article's own figures lies within 10 % of the stated ratio; \
                        two figures differ from 10 % on; \u{201c}several times\u{201d} is 2 or \
                        more, \u{201c}a little\u{201d} up to 1.25. Whatever a clock of whole \
                        seconds or published repeats leave open has to bear it, else it cannot be \
                        told.";

/// From where to where a ratio is as stated.
pub(crate) fn stated(ratio: f64) -> (f64, f64) {
    (ratio * (1.0 - TOLERANCE), ratio * (1.0 + TOLERANCE))
}

/// What becomes of "the ratio is this": it holds only where all that the figures leave open is as
/// stated.
pub(crate) fn is_stated(ratio: Interval, as_stated: f64) -> Holds {
    lies(ratio, stated(as_stated))
}

/// The same of bounds.
pub(crate) fn lies(ratio: Interval, (low, high): (f64, f64)) -> Holds {
    if ratio.lies_within(low, high) {
        Holds::Holds
    } else if ratio.meets(low, high) {
        Holds::CannotBeTold
    } else {
        Holds::Falls
    }
}

/// What becomes of "this is more than that".
pub(crate) fn is_more(ratio: Interval) -> Holds {
    if ratio.low >= 1.0 + TOLERANCE {
        Holds::Holds
    } else if ratio.high <= 1.0 + TOLERANCE {
        Holds::Falls
    } else {
        Holds::CannotBeTold
    }
}

/// `1.80 to 2.20`, which is how far 2 is as stated.
pub(crate) fn range(ratio: f64) -> String {
    let (low, high) = stated(ratio);
    format!("{low:.2} to {high:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tolerance_for_times_and_for_percent() {
        let of = |ratio, as_stated| is_stated(Interval::about(ratio, 0.0), as_stated);
        // Half the rate, and 10 % less.
        assert_eq!((of(1.76, 2.0), of(1.81, 2.0)), (Holds::Falls, Holds::Holds));
        assert_eq!((of(0.874, 0.9), of(1.0, 0.9)), (Holds::Holds, Holds::Falls));
        assert_eq!(is_stated(Interval::about(2.2, 0.1), 2.0), Holds::CannotBeTold);
        assert_eq!(range(2.0), "1.80 to 2.20");
    }

    #[test]
    fn figures_differ_from_the_tolerance_on() {
        let of = |low, high| is_more(Interval { low, value: low, high });
        assert_eq!(of(1.2, 1.3), Holds::Holds);
        assert_eq!(of(1.05, 1.3), Holds::CannotBeTold);
        assert_eq!(of(0.9, 1.05), Holds::Falls);
    }
}
