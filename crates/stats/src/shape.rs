//! Whether two contenders' noises have the same shape.
//!
//! Where one stalls now and then and the other never does, geometric mean and median ask different
//! questions, and an interval of either is the least to be trusted. Then both are shown and SAME is
//! not said. This is a fixed check, not a test of its own: it never makes a verdict.

/// Fewest values of each that say anything about a shape.
const FEWEST: usize = 6;

/// Below this ratio of the median absolute deviations, shapes are called equal at any n.
const LEAST_RATIO: f64 = 2.0;

/// One of two samples falls into groups where its gap is above the limit and the other's gap is
/// under this share of its gap: two that are both just about in groups do not differ.
pub const CLEARLY_LESS: f64 = 0.5;

/// (n, ratio, gap): of two samples of n normal values, the ratio of the larger to the smaller
/// median absolute deviation exceeds `ratio` in 1 % of all cases; and in another 1 % one has a
/// [gap](Measures::gap_a) above `gap` and the other clearly less. From
/// `examples/shape_critical.rs`.
#[allow(clippy::approx_constant, reason = "3.14 is where the simulation put it")]
const CRITICAL: [(usize, f64, f64); 17] = [
    (6, 8.31, 9.34),
    (7, 8.38, 7.20),
    (8, 5.78, 5.91),
    (9, 5.78, 5.07),
    (10, 4.59, 4.40),
    (11, 4.61, 3.95),
    (12, 3.91, 3.61),
    (13, 3.90, 3.33),
    (14, 3.46, 3.08),
    (15, 3.47, 2.85),
    (16, 3.14, 2.73),
    (20, 2.76, 2.26),
    (24, 2.51, 1.77),
    (32, 2.18, 1.33),
    (48, 1.87, 0.90),
    (64, 1.72, 0.68),
    (96, 1.55, 0.47),
];

/// What is compared of two shapes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Larger median absolute deviation ÷ smaller one, at least 1.
    pub ratio: f64,
    /// How far the two groups of the first sample are apart, if it has any: the widest empty
    /// stretch between at least an eighth of the values (and at least two) on each side, in units
    /// of the standard deviation within the groups.
    pub gap_a: f64,
    /// The same of the second.
    pub gap_b: f64,
}

/// Whether the logarithms of the values of two contenders differ in shape: the median absolute
/// deviation of one is more than twice that of the other, and more than chance would have it; or
/// one of them falls into two groups and the other clearly does not. `false` below six values of
/// either, and where one is not finite.
#[must_use]
pub fn shapes_differ(a: &[f64], b: &[f64]) -> bool {
    let limits = CRITICAL.iter().rev().find(|(n, ..)| *n <= a.len().min(b.len()));
    let (Some(found), Some((_, ratio, gap))) = (measures(a, b), limits) else {
        return false;
    };
    let (less, more) = (found.gap_a.min(found.gap_b), found.gap_a.max(found.gap_b));
    found.ratio > ratio.max(LEAST_RATIO) || (more > *gap && less < CLEARLY_LESS * more)
}

/// Measures two samples. `None` below six values of either, where one is not finite, and where all
/// are equal.
///
/// The smallest step between two different values counts as the least spread: of values read from a
/// coarse clock that is its tick, and of others it is far below any spread.
#[must_use]
pub fn measures(a: &[f64], b: &[f64]) -> Option<Measures> {
    if a.len() < FEWEST || b.len() < FEWEST {
        return None;
    }
    let (a, b) = (crate::sorted(a).ok()?, crate::sorted(b).ok()?);
    let step = smallest_step(&a, &b)?;
    let (one, other) = (deviation(&a).max(step), deviation(&b).max(step));
    let ratio = one.max(other) / one.min(other);
    Some(Measures { ratio, gap_a: gap(&a, step), gap_b: gap(&b, step) })
}

/// The smallest difference above 0 between any two of the values.
fn smallest_step(a: &[f64], b: &[f64]) -> Option<f64> {
    let mut all = [a, b].concat();
    crate::sort(&mut all);
    let steps = all.windows(2).map(|two| two[1] - two[0]);
    steps.filter(|&step| step > 0.0).min_by(f64::total_cmp)
}

/// Median absolute deviation from the median.
fn deviation(sorted: &[f64]) -> f64 {
    let middle = crate::describe::median_of_sorted(sorted);
    let mut away: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    crate::describe::median_of_unsorted(&mut away)
}

/// See [`Measures::gap_a`].
fn gap(sorted: &[f64], step: f64) -> f64 {
    let n = sorted.len();
    let fewest = (n / 8).max(2);
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let mut below: f64 = sorted[..fewest].iter().map(|value| value - mean).sum();
    let mut widest: f64 = 0.0;
    for split in fewest..=n - fewest {
        // The deviations above a split sum to minus those below it.
        let between = below * below * (1.0 / split as f64 + 1.0 / (n - split) as f64);
        let within = ((squares - between).max(0.0) / (n - 2) as f64).sqrt();
        widest = widest.max((sorted[split] - sorted[split - 1]) / within.max(step));
        below += sorted[split] - mean;
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: [f64; 8] = [-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0];

    fn scaled(factor: f64, shift: f64) -> Vec<f64> {
        SPREAD.iter().map(|value| value * factor + shift).collect()
    }

    #[test]
    fn a_wider_spread_is_another_shape() {
        assert!(!shapes_differ(&SPREAD, &scaled(5.0, 2.0)), "chance does that at n = 8");
        assert!(shapes_differ(&SPREAD, &scaled(6.0, 2.0)));
        assert!(shapes_differ(&scaled(6.0, 2.0), &SPREAD));
    }

    #[test]
    fn a_second_group_is_another_shape() {
        let mut stalls = SPREAD.map(|value| value / 10.0).to_vec();
        stalls[6] += 3.0;
        stalls[7] += 3.0;
        let measured = measures(&SPREAD, &stalls).unwrap();
        assert!(measured.gap_b > 10.0 && measured.gap_a < 2.0, "{measured:?}");
        assert!(shapes_differ(&SPREAD.map(|value| value / 10.0), &stalls));
        let later: Vec<f64> = stalls.iter().map(|value| value + 0.3).collect();
        assert!(!shapes_differ(&later, &stalls), "both stall");
    }

    #[test]
    fn few_values_and_equal_ones_have_no_shape() {
        assert!(!shapes_differ(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0, 100.0, 900.0, 2e4, 3e5]));
        assert!(!shapes_differ(&[1.0; 9], &[1.0; 9]));
        assert!(!shapes_differ(&[1.0; 9], &[2.0; 9]));
        assert!(!shapes_differ(&[f64::NAN; 9], &SPREAD));
        assert!(!shapes_differ(&[], &[]));
    }

    /// One tick of the clock between the values of one, none between those of the other.
    #[test]
    fn a_coarse_clock_is_no_shape() {
        let ticks: Vec<f64> = [40, 40, 40, 41, 41, 41, 41, 40].map(|t| f64::from(t).ln()).to_vec();
        assert!(!shapes_differ(&[40f64.ln(); 8], &ticks));
        assert!(!shapes_differ(&ticks, &[40f64.ln(); 8]));
    }

    #[test]
    fn a_gap_is_measured_in_spreads_within_the_groups() {
        // Groups {0, 2} and {10, 12, 14}: sums of squares 2 and 8, over 5 - 2.
        let wanted = 8.0 / (10.0f64 / 3.0).sqrt();
        assert!((gap(&[0.0, 2.0, 10.0, 12.0, 14.0], 1e-9) - wanted).abs() < 1e-12);
    }
}
