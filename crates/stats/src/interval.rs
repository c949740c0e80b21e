//! Intervals: of a median, of a mean, of a pseudomedian.
//!
//! All are two-sided with equal tails; `alpha` is the share of misses allowed in all (0.05 for
//! 95 %). A ratio is handled as the difference of logarithms by the caller: swap the two sides and
//! an interval changes sign, which holds for none of the ratio's own scales.

use crate::describe::{mean, median_of_sorted, standard_deviation};
use crate::rank::{binomial_rank, signed_rank};
use crate::{SampleError, sorted};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// An interval with the level it really has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Coverage, 0 to 1: exact for the distribution-free intervals (at least what was asked for),
    /// nominal for t.
    pub level: f64,
}

/// What could be had of the level asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    /// An interval of at least this level.
    Attained(Interval),
    /// So few values have no interval of this level.
    Unattainable {
        /// The widest there is, with its own level; `None` where there is none at all (a t interval
        /// of one value).
        widest: Option<Interval>,
        /// Values that it would take.
        needs: usize,
    },
}

impl Bounds {
    /// The interval, where the level was attained.
    #[must_use]
    pub fn attained(&self) -> Option<Interval> {
        match self {
            Self::Attained(interval) => Some(*interval),
            Self::Unattainable { .. } => None,
        }
    }
}

/// A point with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub point: f64,
    /// How sure it is.
    pub bounds: Bounds,
    /// Number of values.
    pub n: usize,
}

/// Median with the interval between two order statistics: distribution-free (values independent,
/// from one continuous distribution).
///
/// # Errors
/// See [`SampleError`].
pub fn median_order_statistics(values: &[f64], alpha: f64) -> Result<Estimate, SampleError> {
    check_alpha(alpha)?;
    let sorted = sorted(values)?;
    let n = sorted.len();
    let ranked = binomial_rank(n, alpha / 2.0);
    Ok(Estimate { point: median_of_sorted(&sorted), bounds: between(&sorted, ranked, n, alpha), n })
}

/// Mean with Student's t interval: for values near to normal. All values equal give an interval of
/// no width; anyone who knows the resolution of the clock must widen it.
///
/// # Errors
/// See [`SampleError`].
pub fn mean_t(values: &[f64], alpha: f64) -> Result<Estimate, SampleError> {
    check_alpha(alpha)?;
    let point = mean(values)?;
    let n = values.len();
    let bounds = match standard_deviation(values)? {
        None => Bounds::Unattainable { widest: None, needs: 2 },
        Some(deviation) => {
            let half =
                t_quantile((n - 1) as f64, 1.0 - alpha / 2.0) * deviation / (n as f64).sqrt();
            Bounds::Attained(Interval { low: point - half, high: point + half, level: 1.0 - alpha })
        }
    };
    Ok(Estimate { point, bounds, n })
}

/// Hodges-Lehmann estimate (the median of all Walsh averages, the pseudomedian) with the exact
/// interval from Wilcoxon's signed-rank statistic: valid where the values are independent and
/// symmetric about one centre, whatever their distribution.
///
/// J. Hodges and E. Lehmann, "Estimates of location based on rank tests", Ann. Math. Stat. 34
/// (1963); M. Hollander and D. Wolfe, "Nonparametric Statistical Methods", 3.2 and 3.3.
///
/// ```
/// let logs = [0.11, 0.08, 0.12, 0.09, 0.10, 0.13, 0.07, 0.10];
/// let estimate = fsarena_stats::hodges_lehmann(&logs, 0.05)?;
/// let interval = estimate.bounds.attained().expect("eight values are enough for 95 %");
/// assert!(interval.low < estimate.point && estimate.point < interval.high);
/// # Ok::<(), fsarena_stats::SampleError>(())
/// ```
///
/// # Errors
/// See [`SampleError`].
pub fn hodges_lehmann(values: &[f64], alpha: f64) -> Result<Estimate, SampleError> {
    check_alpha(alpha)?;
    let sorted = sorted(values)?;
    let n = sorted.len();
    let mut walsh = Vec::with_capacity(n * (n + 1) / 2);
    for (index, &low) in sorted.iter().enumerate() {
        walsh.extend(sorted[index..].iter().map(|&high| f64::midpoint(low, high)));
    }
    crate::sort(&mut walsh);
    let ranked = signed_rank(n, alpha / 2.0);
    Ok(Estimate { point: median_of_sorted(&walsh), bounds: between(&walsh, ranked, n, alpha), n })
}

/// The interval that leaves out `rank - 1` values of `sorted` on each side, which each have the
/// probability `below`.
fn between(sorted: &[f64], (rank, below): (usize, f64), n: usize, alpha: f64) -> Bounds {
    let last = sorted.len() - 1;
    if rank > 0 {
        let (low, high) = (sorted[rank - 1], sorted[last + 1 - rank]);
        return Bounds::Attained(Interval { low, high, level: 1.0 - 2.0 * below });
    }
    // Both statistics reach their extreme with probability 2^-n.
    let level = 1.0 - 2.0 * 0.5f64.powf(n as f64);
    let widest = Interval { low: sorted[0], high: sorted[last], level };
    let needs = (1.0 - alpha.log2()).ceil().max(1.0) as usize;
    Bounds::Unattainable { widest: Some(widest), needs }
}

/// The value that Student's t with `freedom` degrees stays below with probability `share`.
pub fn t_quantile(freedom: f64, share: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .expect("location 0, scale 1 and more than no degree of freedom are legal")
        .inverse_cdf(share)
}

pub(crate) fn check_alpha(alpha: f64) -> Result<(), SampleError> {
    if alpha > 0.0 && alpha < 1.0 {
        Ok(())
    } else {
        let range = "between 0 and 1, both excluded";
        Err(SampleError::BadShare { name: "alpha", value: alpha, range })
    }
}
