//! How many blocks it would take.
//!
//! The usual sizes for a chance of 90 %, by the normal distribution, for whoever wants to know
//! before the disks are bought. Nothing is decided by them.

use crate::interval::Interval;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// The margins that are offered: within a factor of 1 + this either way.
pub const MARGINS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// What a standard normal deviate stays below with 90 %.
const POWER_ONE_END: f64 = 1.28;

/// The same for 95 %: both ends of an interval have to be within.
const POWER_BOTH_ENDS: f64 = 1.64;

/// Blocks to show a difference `delta` (of logarithms) between two contenders whose difference has
/// the standard deviation `sd` in one block, by an interval with a share `alpha` of misses:
/// ((z(1 - α/2) + 1.28) · sd ÷ Δ)².
///
/// `None` where there is no difference, or something is not finite.
#[must_use]
pub fn for_difference(sd: f64, delta: f64, alpha: f64) -> Option<f64> {
    blocks(z(alpha / 2.0)? + POWER_ONE_END, sd, delta.abs())
}

/// Blocks to show that two contenders that do not differ are within ±`margin_log`, by an interval
/// with a share `alpha` in each tail: ((z(1 - α) + 1.64) · sd ÷ δ)².
///
/// `None` without a margin, or where something is not finite.
#[must_use]
pub fn for_same(sd: f64, margin_log: f64, alpha: f64) -> Option<f64> {
    blocks(z(alpha)? + POWER_BOTH_ENDS, sd, margin_log)
}

/// The least of [`MARGINS`] within which an interval shows SAME; `None` where it is wider than all.
#[must_use]
pub fn same_within(same: &Interval) -> Option<f64> {
    MARGINS.into_iter().find(|margin| {
        // An end that touches the margin is not within, whichever way it was rounded.
        let within = margin.ln_1p() * (1.0 - 1e-9);
        -within < same.low && same.high < within
    })
}

fn blocks(deviates: f64, sd: f64, distance: f64) -> Option<f64> {
    let blocks = (deviates * sd / distance).powi(2);
    (sd >= 0.0 && distance > 0.0 && blocks.is_finite()).then_some(blocks)
}

/// What a standard normal deviate exceeds with probability `tail`.
fn z(tail: f64) -> Option<f64> {
    (tail > 0.0 && tail < 1.0).then(|| -Normal::standard().inverse_cdf(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_the_textbook() {
        // z(.975) = 1.95996: (3.23996 · 2)² at a difference of half a standard deviation.
        assert!((for_difference(1.0, 0.5, 0.05).unwrap() - 41.989).abs() < 1e-2);
        assert_eq!(for_difference(1.0, -0.5, 0.05), for_difference(1.0, 0.5, 0.05));
        // z(.95) = 1.64485: (3.28485 ÷ 0.5)².
        assert!((for_same(1.0, 0.5, 0.05).unwrap() - 43.161).abs() < 1e-2);
        assert_eq!(for_same(0.0, 0.5, 0.05), Some(0.0));
    }

    #[test]
    fn what_cannot_be_shown_has_no_size() {
        assert_eq!(for_difference(1.0, 0.0, 0.05), None);
        assert_eq!(for_difference(f64::NAN, 0.1, 0.05), None);
        assert_eq!(for_difference(1.0, f64::NAN, 0.05), None);
        assert_eq!(for_difference(1.0, 0.1, 0.0), None);
        assert_eq!(for_same(1.0, 0.0, 0.05), None);
        assert_eq!(for_same(1.0, -0.1, 0.05), None);
        assert_eq!(for_same(f64::INFINITY, 0.1, 0.05), None);
    }

    #[test]
    fn the_least_margin_that_holds_the_interval() {
        let within = |low, high| same_within(&Interval { low, high, level: 0.9 });
        assert_eq!(within(-0.005, 0.009), Some(0.01));
        assert_eq!(within(0.0, 0.01), Some(0.02), "ln 1.01 is a little under 0.01");
        assert_eq!(within(-0.06, 0.0), Some(0.1));
        assert_eq!(within(-0.2, 0.0), None);
        assert_eq!(within(f64::NAN, 0.0), None);
    }
}
