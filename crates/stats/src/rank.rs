//! Exact distributions of rank statistics under the null hypothesis.

use std::sync::OnceLock;

/// Largest `k` with P(Bin(`n`, 1/2) <= k - 1) <= `tail`, and that probability; 0 where there is
/// none.
///
/// By logarithms, since 2^-n is no number of f64 above n = 1074; the tolerance is theirs.
pub(crate) fn binomial_rank(n: usize, tail: f64) -> (usize, f64) {
    let mut log_chance = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n / 2 && below + log_chance.exp() <= tail * (1.0 + 1e-9) {
        below += log_chance.exp();
        log_chance += ((n - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    (rank, below)
}

/// Up to so many values the distribution is kept: a RUN asks for the same few again and again.
const KEPT: usize = 96;

/// P(W+ <= k) for every k up to the middle, by number of values.
static LOWER_HALVES: [OnceLock<Vec<f64>>; KEPT + 1] = [const { OnceLock::new() }; KEPT + 1];

/// Largest `k` with P(W+ <= k - 1) <= `tail` for Wilcoxon's signed-rank statistic of `n` values,
/// and that probability; 0 where there is none.
///
/// Not beyond the middle, where lower and upper end would cross.
pub(crate) fn signed_rank(n: usize, tail: f64) -> (usize, f64) {
    let find = |half: &[f64]| {
        let rank = half.partition_point(|&below| below <= tail);
        (rank, rank.checked_sub(1).map_or(0.0, |last| half[last]))
    };
    match LOWER_HALVES.get(n) {
        Some(kept) => find(kept.get_or_init(|| lower_half(n))),
        None => find(&lower_half(n)),
    }
}

/// P(W+ <= k) for every k below half of n (n + 1) / 2.
///
/// Exact, by adding one rank at a time: each is in the sum or not with probability 1/2. All terms
/// are positive, so nothing cancels. Time grows as n³ (1 ms at n = 100).
fn lower_half(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let kept = most.div_ceil(2);
    let mut chance = vec![0.0; kept];
    if let Some(first) = chance.first_mut() {
        *first = 1.0;
    }
    for rank in 1..=n {
        let reach = (rank * (rank + 1) / 2 + 1).min(kept);
        for sum in (0..reach).rev() {
            let with = if sum >= rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = 0.5 * (chance[sum] + with);
        }
    }
    let mut below = 0.0;
    for chance in &mut chance {
        below += *chance;
        *chance = below;
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every one of the 2^n sign patterns.
    fn signed_rank_by_force(n: usize, tail: f64) -> (usize, f64) {
        let mut counts = vec![0u32; n * (n + 1) / 2 + 1];
        for signs in 0u32..1 << n {
            let sum: usize = (1..=n).filter(|rank| signs >> (rank - 1) & 1 == 1).sum();
            counts[sum] += 1;
        }
        let mut below = 0;
        let mut rank = 0;
        let all = f64::from(1u32 << n);
        while f64::from(below + counts[rank]) / all <= tail {
            below += counts[rank];
            rank += 1;
        }
        (rank, f64::from(below) / all)
    }

    #[test]
    fn signed_rank_equals_counting_all_sign_patterns() {
        for n in 1..=12 {
            for tail in [0.25, 0.05, 0.025, 0.005, 0.0005] {
                let (rank, below) = signed_rank(n, tail);
                let (wanted_rank, wanted_below) = signed_rank_by_force(n, tail);
                assert_eq!(rank, wanted_rank, "n {n} tail {tail}");
                assert!((below - wanted_below).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn smallest_samples_have_no_rank() {
        assert_eq!(signed_rank(5, 0.025).0, 0);
        assert_eq!(signed_rank(6, 0.025).0, 1);
        assert_eq!(signed_rank(7, 0.005).0, 0);
        assert_eq!(signed_rank(8, 0.005).0, 1);
        assert_eq!(binomial_rank(5, 0.025).0, 0);
        assert_eq!(binomial_rank(6, 0.025).0, 1);
    }

    #[test]
    fn large_samples_do_not_underflow_into_nonsense() {
        let (rank, below) = signed_rank(200, 0.025);
        assert!(rank > 8000 && rank < 9000 && below > 0.0249 && below <= 0.025, "{rank} {below}");
        let (rank, below) = binomial_rank(2000, 0.025);
        assert!(rank > 940 && rank < 970 && below > 0.023 && below <= 0.025, "{rank} {below}");
    }
}
