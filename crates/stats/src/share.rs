//! Intervals of a share: so many of so many independent yes-or-no values.

use crate::interval::{Bounds, Estimate, Interval};
use crate::{SampleError, interval::check_alpha};
use statrs::distribution::{ContinuousCDF as _, Normal};

/// The share with Wilson's score interval, which keeps inside 0 to 1 and has a width for 0 of n.
///
/// E. Wilson, "Probable inference, the law of succession, and statistical inference", J. Am. Stat.
/// Assoc. 22 (1927).
///
/// ```
/// let share = fsarena_stats::wilson(0, 90, 0.05)?;
/// let interval = share.bounds.attained().expect("90 values have one");
/// assert!((interval.high - 0.041).abs() < 0.0005);
/// # Ok::<(), fsarena_stats::SampleError>(())
/// ```
///
/// # Errors
/// No values; more hits than values; an `alpha` that is no share.
pub fn wilson(hits: u64, values: u64, alpha: f64) -> Result<Estimate, SampleError> {
    check_alpha(alpha)?;
    if values == 0 {
        return Err(SampleError::Empty);
    }
    if hits > values {
        let range = "that is at most the number of values";
        return Err(SampleError::BadShare { name: "hits", value: hits as f64, range });
    }
    let (n, share) = (values as f64, hits as f64 / values as f64);
    let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // The ends of no and of all hits are exact, which rounding would miss.
    let low = if hits == 0 { 0.0 } else { centre - half };
    let high = if hits == values { 1.0 } else { centre + half };
    let bounds = Bounds::Attained(Interval { low, high, level: 1.0 - alpha });
    Ok(Estimate { point: share, bounds, n: usize::try_from(values).unwrap_or(usize::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(hits: u64, values: u64) -> (f64, f64) {
        let interval = wilson(hits, values, 0.05).unwrap().bounds.attained().unwrap();
        let tenth = |share: f64| (share * 1000.0).round() / 10.0;
        (tenth(interval.low), tenth(interval.high))
    }

    /// R 4.3: `prop.test(24, 90, correct = FALSE)` and so on.
    #[test]
    fn known_intervals() {
        assert_eq!(percent(24, 90), (18.6, 36.6));
        assert_eq!(percent(0, 90), (0.0, 4.1));
        assert_eq!(percent(90, 90), (95.9, 100.0));
        assert_eq!(percent(5, 10), (23.7, 76.3));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        assert_eq!(wilson(0, 0, 0.05), Err(SampleError::Empty));
        assert!(wilson(2, 1, 0.05).is_err());
        assert!(wilson(1, 2, 0.0).is_err());
    }
}
