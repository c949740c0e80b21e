//! How many blocks it would take.
//!
//! The usual sizes for a chance of 90 %, by the normal distribution, for anyone who wants to know
//! before the disks are bought. Nothing is decided by them.

use crate::interval::{Interval, t_quantile};
use crate::paired::PairSample;
use statrs::distribution::{ChiSquared, ContinuousCDF as _, Normal};

/// The margins that are offered: within a factor of 1 + this either way.
pub const MARGINS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// The chance with which a difference shall be shown.
const POWER: f64 = 0.9;
/// Equal shares into which the distribution of a spread is cut.
const SHARES: u32 = 200;
/// An interval with so many misses that leaves 0 out makes a difference plausible.
const PLAUSIBLE_ALPHA: f64 = 0.2;
/// The ends of a forecast are those of the interval that misses as often as not.
const EVEN_ALPHA: f64 = 0.5;
/// Halvings of the range in which a difference is looked for: to a billionth.
const HALVINGS: u32 = 40;

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

/// What it would take to decide a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outlook {
    /// A difference is plausible; to show it takes from so many to so many blocks.
    Difference(f64, f64),
    /// No difference is in sight, and that they are the same may be shown; in so many blocks if
    /// they do not differ at all, in so many if they differ as much as they may.
    Same(f64, f64),
    /// No difference is in sight, nor that they are the same.
    Nothing,
}

/// What it would take to decide a pair, as far as its blocks so far allow to tell; `alpha` is the
/// share of misses that it has at the last look.
///
/// A difference is plausible where the pair's own plain 80 % interval leaves 0 out. Its size is
/// taken from both ends of the pair's plain 50 % interval, within which it lies about as often as
/// not. That the two are the same is in sight where all of the 50 % interval is within the margin.
/// Where both are, the nearer one counts. With `None` for the margin nothing can be the same.
///
/// `None` below two values.
#[must_use]
pub fn outlook(sample: &PairSample<'_>, margin_log: Option<f64>, alpha: f64) -> Option<Outlook> {
    let sd = sample.sd()?;
    let (wide, even) = (sample.interval(PLAUSIBLE_ALPHA)?, sample.interval(EVEN_ALPHA)?);
    let least = even.low.abs().min(even.high.abs());
    let most = even.low.abs().max(even.high.abs());
    let difference = (wide.low > 0.0 || wide.high < 0.0)
        .then(|| for_difference(sd, most, alpha).zip(for_difference(sd, least, alpha)))
        .flatten();
    let nearest = if even.low <= 0.0 && 0.0 <= even.high { 0.0 } else { least };
    let same = margin_log.filter(|margin| most < *margin).and_then(|margin| {
        for_same(sd, margin - nearest, alpha).zip(for_same(sd, margin - most, alpha))
    });
    Some(match (difference, same) {
        (Some(difference), Some(same)) if same.1 <= difference.1 => Outlook::Same(same.0, same.1),
        (Some((low, high)), _) => Outlook::Difference(low, high),
        (None, Some((low, high))) => Outlook::Same(low, high),
        (None, None) => Outlook::Nothing,
    })
}

/// The least difference (of logarithms) that so many blocks show with a chance of 90 %, by
/// Student's t interval with a share `alpha` of misses, where differences are normal: the chance is
/// the mean of Φ(Δ√n ÷ sd - t(1 - α/2) · S) over S² = χ²(n - 1) ÷ (n - 1). `sd` is the standard
/// deviation of the difference in one block.
///
/// `None` below two blocks, where `alpha` is not between 0 and 1, or something is not finite.
#[must_use]
pub fn smallest_difference(sd: f64, blocks: u32, alpha: f64) -> Option<f64> {
    if blocks < 2 || !(alpha > 0.0 && alpha < 1.0) || !(sd >= 0.0 && sd.is_finite()) {
        return None;
    }
    let freedom = f64::from(blocks - 1);
    let critical = t_quantile(freedom, 1.0 - alpha / 2.0);
    let squares = ChiSquared::new(freedom).ok()?;
    let share = |index: u32| (f64::from(index) + 0.5) / f64::from(SHARES);
    let limits: Vec<f64> = (0..SHARES)
        .map(|index| critical * (squares.inverse_cdf(share(index)) / freedom).sqrt())
        .collect();
    let normal = Normal::standard();
    let chance = |deviates: f64| {
        let sum: f64 = limits.iter().map(|limit| normal.cdf(deviates - limit)).sum();
        sum / f64::from(SHARES)
    };
    let (mut low, mut high) = (0.0, limits.last()? + 10.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if chance(middle) < POWER { low = middle } else { high = middle }
    }
    Some(high * sd / f64::from(blocks).sqrt())
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

    /// A difference of just that size is found about nine times in ten, with the intervals that are
    /// shipped: t below twelve blocks, signed ranks from there on, whose steps are coarse at first.
    #[test]
    fn the_smallest_difference_is_found_nine_times_in_ten() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let looks = crate::Looks::with_cap(32).unwrap();
        for blocks in [4, 8, 12, 32] {
            let alpha = looks.alpha(blocks);
            let delta = smallest_difference(1.0, blocks, alpha).unwrap();
            let mut found = 0;
            for _ in 0..1_000 {
                let mut normal =
                    || Normal::standard().inverse_cdf(uniform().clamp(1e-12, 1.0 - 1e-12)) + delta;
                let logs: Vec<f64> = (0..blocks).map(|_| normal()).collect();
                let sample = crate::PairSample { logs: &logs, floor_sd: 0.0, pooled: None };
                found += usize::from(sample.interval(alpha).unwrap().low > 0.0);
            }
            assert!((820..=940).contains(&found), "{blocks} blocks: {found} of 1,000");
        }
    }

    fn plain(logs: &[f64]) -> PairSample<'_> {
        PairSample { logs, floor_sd: 0.0, pooled: None }
    }

    /// Equal contenders have no difference to forecast: that of five noisy blocks is none.
    #[test]
    fn only_a_plausible_difference_has_a_size() {
        let margin = Some(0.05f64.ln_1p());
        let none = [0.3, -0.2, 0.1, -0.25, 0.15];
        assert_eq!(outlook(&plain(&none), margin, 0.01), Some(Outlook::Nothing));
        let there = none.map(|d| d + 0.2);
        let Some(Outlook::Difference(low, high)) = outlook(&plain(&there), margin, 0.01) else {
            panic!("{:?}", outlook(&plain(&there), margin, 0.01));
        };
        assert!(5.0 < low && 2.0 * low < high && high < 200.0, "{low} to {high}");
        assert_eq!(
            outlook(&plain(&there.map(|d| -d)), margin, 0.01),
            Some(Outlook::Difference(low, high))
        );
        let close = none.map(|d| d / 20.0);
        let Some(Outlook::Same(low, high)) = outlook(&plain(&close), margin, 0.01) else {
            panic!("{:?}", outlook(&plain(&close), margin, 0.01));
        };
        assert!(0.5 < low && low <= high && high < 20.0, "{low} to {high}");
        assert_eq!(outlook(&plain(&close), None, 0.01), Some(Outlook::Nothing), "SAME is refused");
        assert_eq!(outlook(&plain(&[0.1]), margin, 0.01), None);
    }

    #[test]
    fn no_smallest_difference_of_nothing() {
        assert_eq!(smallest_difference(1.0, 1, 0.05), None);
        assert_eq!(smallest_difference(1.0, 8, 0.0), None);
        assert_eq!(smallest_difference(f64::NAN, 8, 0.05), None);
        assert_eq!(smallest_difference(0.0, 8, 0.05), Some(0.0));
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
