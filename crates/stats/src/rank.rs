//! Exact distributions of rank statistics under the null hypothesis.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

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

/// P(W+ <= k) for every k up to the middle.
type LowerHalf = Arc<[f64]>;

/// The distributions that were needed before, by number of values: a study asks for the same few
/// again and again.
static KEPT: RwLock<BTreeMap<usize, LowerHalf>> = RwLock::new(BTreeMap::new());

/// No more than so many are kept: one of 1000 values takes 2 MB.
const KEPT_MAX: usize = 128;

/// Largest `k` with P(W+ <= k - 1) <= `tail` for Wilcoxon's signed-rank statistic of `n` values,
/// and that probability; 0 where there is none.
///
/// Not beyond the middle, where lower and upper end would cross.
pub(crate) fn signed_rank(n: usize, tail: f64) -> (usize, f64) {
    let half = kept_lower_half(n);
    let rank = half.partition_point(|&below| below <= tail);
    (rank, rank.checked_sub(1).map_or(0.0, |last| half[last]))
}

/// [`lower_half`], from those kept where it is among them.
fn kept_lower_half(n: usize) -> LowerHalf {
    // Nothing that holds the lock can panic and leave the map half changed.
    let known = KEPT.read().unwrap_or_else(PoisonError::into_inner).get(&n).cloned();
    known.unwrap_or_else(|| {
        let half: LowerHalf = lower_half(n).into();
        let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.entry(n).or_insert(half).clone()
    })
}

/// P(W+ <= k) for every k below half of n (n + 1) / 2.
///
/// Exact, by adding one rank at a time: each is in the sum or not with probability 1/2. All terms
/// are positive, so nothing cancels. Time grows as n³.
fn lower_half(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let kept = most.div_ceil(2);
    let mut chance = vec![0.0; kept];
    if let Some(first) = chance.first_mut() {
        *first = 1.0;
    }
    let mut next = chance.clone();
    for rank in 1..=n {
        let reach = (rank * (rank + 1) / 2 + 1).min(kept);
        let (without, both) = next[..reach].split_at_mut(rank.min(reach));
        for (next, chance) in without.iter_mut().zip(&chance) {
            *next = 0.5 * chance;
        }
        for ((next, out), with) in both.iter_mut().zip(&chance[rank.min(reach)..]).zip(&chance) {
            *next = 0.5 * (out + with);
        }
        std::mem::swap(&mut chance, &mut next);
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
