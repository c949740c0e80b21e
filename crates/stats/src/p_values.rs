//! p-values: the rank-sum test of Wilcoxon, Mann and Whitney (two samples without pairs), and what
//! becomes of p-values where more than one question is asked of the same measurements.

use crate::check;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Largest sample whose permutations are counted; beyond, the normal approximation is good.
const EXACT_UP_TO: usize = 20;

/// Two-sided p-value of the hypothesis that `a` and `b` come from one distribution: twice the
/// smaller tail, at most 1.
///
/// Up to 20 values each it is exact whether or not values are equal: the rank sum is referred to
/// all ways to divide the values between the samples, equal values sharing the mean of their ranks.
/// Beyond, the normal approximation with corrections for continuity and ties.
///
/// `None` for an empty sample or a value that is not finite. All values equal give 1.
///
/// H. Mann and D. Whitney, "On a test of whether one of two random variables is stochastically
/// larger than the other", Ann. Math. Stat. 18 (1947); M. Hollander and D. Wolfe, "Nonparametric
/// Statistical Methods", 4.1.
#[must_use]
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<f64> {
    check(a).and(check(b)).ok()?;
    let (ranks, ties) = doubled_ranks(a, b);
    let sum: usize = ranks[..a.len()].iter().sum();
    if a.len().max(b.len()) <= EXACT_UP_TO {
        return Some(exact(&ranks, a.len(), sum));
    }
    let (first, second) = (a.len() as f64, b.len() as f64);
    let all = first + second;
    // Of the rank sum, which moves as U does.
    let mean = first * (all + 1.0) / 2.0;
    let variance = first * second / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let off = (sum as f64 / 2.0 - mean).abs() - 0.5;
    Some((2.0 * Normal::standard().sf(off / variance.sqrt())).min(1.0))
}

/// Twice the rank of each value among all, `a` first (equal values share the mean of theirs, so
/// that twice it is whole), and Σ(t³ - t) over the groups of t equal values.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<usize>, f64) {
    let values: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0; values.len()];
    let mut ties = 0.0;
    let mut before = 0;
    // By `==`, for which both zeros are one.
    for group in order.chunk_by(|&one, &other| values[one] == values[other]) {
        for &at in group {
            ranks[at] = 2 * before + group.len() + 1;
        }
        before += group.len();
        let size = group.len() as f64;
        ties += size * (size * size - 1.0);
    }
    (ranks, ties)
}

/// Twice the smaller tail of the sum of `size` of `ranks`, drawn without putting back.
///
/// Counts the subsets of each size and sum by adding one rank at a time; C(40, 20) is far below
/// 2^53, so that every count is exact.
fn exact(ranks: &[usize], size: usize, sum: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    let mut counts = vec![vec![0.0f64; most + 1]; size + 1];
    counts[0][0] = 1.0;
    for &rank in ranks {
        for chosen in (1..=size).rev() {
            for reached in rank..=most {
                let with = counts[chosen - 1][reached - rank];
                counts[chosen][reached] += with;
            }
        }
    }
    let counts = &counts[size];
    let below: f64 = counts[..=sum].iter().sum();
    let above: f64 = counts[sum..].iter().sum();
    let all: f64 = counts.iter().sum();
    (2.0 * below.min(above) / all).min(1.0)
}

/// Holm's adjusted p-values, in the order given: rejecting those at or below alpha makes any false
/// rejection at all at most alpha likely, however the questions depend on each other.
///
/// What is no probability (not a number, below 0, above 1) counts as 1: the question was asked and
/// had no answer.
///
/// ```
/// assert_eq!(fsarena_stats::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let (p, order) = ranked(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut reached = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        reached = reached.max(((p.len() - rank) as f64 * p[at]).min(1.0));
        adjusted[at] = reached;
    }
    adjusted
}

/// Adjusted p-values of Benjamini and Hochberg, in the order given: of those at or below alpha, a
/// share of at most alpha is expected to be false. For explorations only, and labelled as such; a
/// single one of them is no verdict. Holds for independent and positively dependent questions.
///
/// What is no probability counts as 1, as in [`holm`].
///
/// Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57
/// (1995).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let (p, order) = ranked(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut reached = 1.0f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        reached = reached.min(p.len() as f64 / (rank + 1) as f64 * p[at]);
        adjusted[at] = reached;
    }
    adjusted
}

/// The p-values made sound, and their indices from the least to the greatest.
fn ranked(p: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let sound = |&p: &f64| if (0.0..=1.0).contains(&p) { p } else { 1.0 };
    let p: Vec<f64> = p.iter().map(sound).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    (p, order)
}
