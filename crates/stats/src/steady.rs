//! Steady state inside a phase: where the warm-up ends, and whether the level shifts.

use std::f64::consts::PI;

/// Intervals that a phase needs before anything is said of its inside.
pub const INTERVALS_MIN: usize = 40;

/// Intervals of a batch of MSER-5.
const BATCH: usize = 5;
/// No autocorrelation above this is believed: the scale would have no bound.
const PHI_MAX: f64 = 0.98;

/// MSER-5: number of values to leave out at the beginning, so that the standard error of the mean
/// of the rest is least; at most half of them. `None` below [`INTERVALS_MIN`] or for values that
/// are not finite.
///
/// K. White, M. Cobb and S. Spratt, "A comparison of five steady-state truncation heuristics for
/// simulation", Proc. Winter Simulation Conference (2000).
#[must_use]
pub fn mser5(values: &[f64]) -> Option<usize> {
    check(values)?;
    let means: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let error = |cut: usize| {
        let rest = &means[cut..];
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)
    };
    let cuts = 0..=means.len() / 2;
    let best = cuts.map(|cut| (cut, error(cut))).reduce(|best, next| {
        // Of equal errors the shorter cut.
        if next.1 < best.1 { next } else { best }
    });
    best.map(|(cut, _)| cut * BATCH)
}

/// The likeliest place of a shift of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Number of values before it.
    pub at: usize,
    pub before: f64,
    /// Mean of the rest.
    pub after: f64,
    /// Autocorrelation at lag 1 about the two means, corrected for its bias.
    pub phi: f64,
    /// Largest cumulative sum ÷ (long-run standard deviation · √n).
    pub statistic: f64,
    /// Probability of such a statistic where the level does not shift.
    pub p: f64,
}

/// Looks for a shift of the level: the largest cumulative sum of deviations from the mean, in units
/// of the long-run standard deviation of an autoregression fitted about the best split. `None`
/// below [`INTERVALS_MIN`], for values that are not finite, and where nothing varies about the two
/// levels.
///
/// In the limit the statistic is the largest absolute value of a Brownian bridge (Kolmogorov's
/// distribution). The scale of a plain standard deviation would find a shift in most series that
/// are autocorrelated: J. Antoch, M. Hušková and Z. Prášková, "Effect of dependence on statistics
/// for determination of change", J. Stat. Plan. Inference 60 (1997).
#[must_use]
pub fn shift(values: &[f64]) -> Option<Shift> {
    check(values)?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let (mut sum, mut at, mut largest) = (0.0f64, 0, 0.0);
    for (index, value) in values[..values.len() - 1].iter().enumerate() {
        sum += value - mean;
        if sum.abs() > largest {
            (at, largest) = (index + 1, sum.abs());
        }
    }
    if at == 0 {
        return None;
    }
    let mean_of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, after) = (mean_of(&values[..at]), mean_of(&values[at..]));
    let level = |index: usize| if index < at { before } else { after };
    let rest: Vec<f64> = values.iter().enumerate().map(|(i, value)| value - level(i)).collect();
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    let all: f64 = values.iter().map(|value| value * value).sum();
    if squares <= 1e-20 * all {
        return None;
    }
    let lagged: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let raw = lagged / squares;
    // Two means are fitted: M. Kendall, "Note on bias in the estimation of autocorrelation",
    // Biometrika 41 (1954), with the terms of the mean twice.
    let phi = (raw + (2.0 + 4.0 * raw) / n).clamp(-PHI_MAX, PHI_MAX);
    let innovations: f64 =
        rest.windows(2).map(|pair| (pair[1] - phi * pair[0]).powi(2)).sum::<f64>() / (n - 3.0);
    let scale = innovations.sqrt() / (1.0 - phi);
    let statistic = largest / (scale * n.sqrt());
    Some(Shift { at, before, after, phi, statistic, p: bridge_above(statistic) })
}

/// Probability that the largest absolute value of a Brownian bridge is above `x`: Kolmogorov's
/// distribution, by the series that converges fast there.
fn bridge_above(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x < 1.0 {
        let odd = (0..5).map(|k| f64::from(2 * k + 1));
        let terms = odd.map(|k| (-(k * PI / x).powi(2) / 8.0).exp());
        return (1.0 - (2.0 * PI).sqrt() / x * terms.sum::<f64>()).clamp(0.0, 1.0);
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * (f64::from(k) * x).powi(2)).exp()
    };
    (2.0 * (1..8).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

fn check(values: &[f64]) -> Option<()> {
    (values.len() >= INTERVALS_MIN && values.iter().all(|value| value.is_finite())).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_or_not_finite_series_say_nothing() {
        assert_eq!(mser5(&[1.0; 39]), None);
        assert_eq!(shift(&[1.0; 39]), None);
        let mut values = vec![1.0; 50];
        assert_eq!((mser5(&values), shift(&values)), (Some(0), None), "nothing varies");
        values[7] = f64::INFINITY;
        assert_eq!((mser5(&values), shift(&values)), (None, None));
    }

    #[test]
    fn a_slow_beginning_is_cut() {
        let level = |index: u32| if index < 20 { 3.0 } else { 1.0 };
        let values: Vec<f64> =
            (0..100).map(|i| level(i) + f64::from(i * 7919 % 13) / 100.0).collect();
        assert_eq!(mser5(&values), Some(20));
        let found = shift(&values).unwrap();
        assert!(found.at == 20 && found.p < 1e-3, "{found:?}");
        assert!((found.before - 3.0).abs() < 0.1 && (found.after - 1.0).abs() < 0.1);
        let last: Vec<f64> = values.iter().rev().copied().collect();
        assert_eq!(shift(&last).unwrap().at, 80);
    }

    /// Critical values of Kolmogorov's distribution, from any table.
    #[test]
    fn kolmogorovs_distribution() {
        for (x, p) in [(1.224, 0.1), (1.358, 0.05), (1.628, 0.01), (0.828, 0.5)] {
            assert!((bridge_above(x) - p).abs() < 1e-3, "{x}: {}", bridge_above(x));
        }
        let (below, above) = (bridge_above(1.0 - 1e-12), bridge_above(1.0));
        assert!((below - above).abs() < 1e-9, "the two series meet: {below} {above}");
        assert_eq!((bridge_above(0.0), bridge_above(-1.0)), (1.0, 1.0));
    }
}
