//! Statistics against other implementations, and their rates of error on simulated RUNs.
//!
//! Here: p-values against the procedures they are of, and the rank-sum test against counting.

mod blocks;
mod changes;
mod factors;
mod gates;
mod golden;
mod intervals;
mod pairs;
mod ranking;
mod units;

use fsarena_stats::{benjamini_hochberg, holm, mann_whitney};
use proptest::prelude::*;

type Adjust = fn(&[f64]) -> Vec<f64>;

/// Which of `p` Holm's procedure rejects, step by step.
fn rejected_by_holm(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut rejected = vec![false; p.len()];
    loop {
        let left: Vec<usize> = (0..p.len()).filter(|&at| !rejected[at]).collect();
        let least = left.iter().copied().min_by(|&one, &other| p[one].total_cmp(&p[other]));
        match least {
            Some(at) if p[at] * left.len() as f64 <= alpha => rejected[at] = true,
            _ => return rejected,
        }
    }
}

/// Which of `p` are at or below the largest that lies under the line of Benjamini and Hochberg.
fn rejected_by_line(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut sorted = p.to_vec();
    sorted.sort_by(f64::total_cmp);
    let m = p.len() as f64;
    let under = |&(rank, p): &(usize, f64)| m / (rank + 1) as f64 * p <= alpha;
    let limit = sorted.iter().copied().enumerate().filter(under).map(|(_, p)| p).next_back();
    p.iter().map(|&p| limit.is_some_and(|limit| p <= limit)).collect()
}

/// Twice the smaller tail over every way to choose the first sample.
fn by_counting(a: &[f64], b: &[f64]) -> f64 {
    let all: Vec<f64> = [a, b].concat();
    let rank = |value: f64| {
        let below = all.iter().filter(|&&other| other < value).count();
        let equal = all.iter().filter(|&&other| other == value).count();
        2 * below + equal + 1
    };
    let ranks: Vec<usize> = all.iter().map(|&value| rank(value)).collect();
    let seen: usize = ranks[..a.len()].iter().sum();
    let (mut ways, mut below, mut above) = (0, 0, 0);
    for chosen in 0u32..1 << all.len() {
        if chosen.count_ones() as usize == a.len() {
            let sum: usize =
                (0..all.len()).filter(|at| chosen >> at & 1 == 1).map(|at| ranks[at]).sum();
            ways += 1;
            below += u32::from(sum <= seen);
            above += u32::from(sum >= seen);
        }
    }
    (2.0 * f64::from(below.min(above)) / f64::from(ways)).min(1.0)
}

#[track_caller]
fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-12, "{found} instead of {wanted}");
}

#[test]
fn what_is_no_probability_counts_as_asked_and_not_answered() {
    for bad in [f64::NAN, f64::INFINITY, -0.1, 1.5] {
        assert_eq!(holm(&[0.02, bad]), [0.04, 1.0]);
        assert_eq!(benjamini_hochberg(&[0.02, bad]), [0.04, 1.0]);
    }
    assert_eq!(holm(&[]), [] as [f64; 0]);
    assert_eq!(benjamini_hochberg(&[]), [] as [f64; 0]);
}

/// Five against five without overlap are 2 of 252 ways: statrs 0.19 says 1 here.
#[test]
fn samples_that_do_not_overlap_differ() {
    let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
    close(mann_whitney(&low, &high).unwrap(), 2.0 / 252.0);
    close(mann_whitney(&high, &low).unwrap(), 2.0 / 252.0);
    close(mann_whitney(&low, &high[..4]).unwrap(), 2.0 / 126.0);
    close(mann_whitney(&low[..4], &high).unwrap(), 2.0 / 126.0);
}

/// The largest that is counted, with the number of ways known: C(40, 20).
#[test]
fn the_largest_exact_samples_are_exact() {
    let low: Vec<f64> = (0..20).map(f64::from).collect();
    let high: Vec<f64> = (20..40).map(f64::from).collect();
    let found = mann_whitney(&low, &high).unwrap();
    assert!((found * 137_846_528_820.0 - 2.0).abs() < 1e-9, "{found}");
}

#[test]
fn equal_values_do_not_differ() {
    for n in [1, 5, 20, 30] {
        assert_eq!(mann_whitney(&vec![3.0; n], &vec![3.0; n]), Some(1.0));
    }
    // Both zeros are one value.
    assert_eq!(mann_whitney(&[0.0, 0.0, 0.0], &[-0.0, -0.0, -0.0]), Some(1.0));
}

#[test]
fn what_is_no_sample_is_refused() {
    assert_eq!(mann_whitney(&[], &[1.0]), None);
    assert_eq!(mann_whitney(&[1.0], &[]), None);
    assert_eq!(mann_whitney(&[1.0, f64::NAN], &[1.0]), None);
    assert_eq!(mann_whitney(&[1.0], &[f64::INFINITY]), None);
}

fn probabilities() -> impl Strategy<Value = Vec<f64>> {
    // Equal ones and very small ones among them.
    let p = prop_oneof![0.0f64..1.0, 0.0f64..0.01, Just(0.02), Just(0.0), Just(1.0)];
    prop::collection::vec(p, 1..12)
}

/// Few values, so that many are equal.
fn coarse(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0i32..6).prop_map(f64::from), 1..=most)
}

proptest! {
    /// An adjusted p is at or below alpha exactly where the procedure rejects.
    #[test]
    fn adjusted_p_says_what_the_procedure_does(p in probabilities()) {
        for alpha in [0.001, 0.013, 0.05, 0.11, 0.5] {
            let at = |adjusted: Vec<f64>| adjusted.iter().map(|&p| p <= alpha).collect::<Vec<_>>();
            prop_assert_eq!(at(holm(&p)), rejected_by_holm(&p, alpha));
            prop_assert_eq!(at(benjamini_hochberg(&p)), rejected_by_line(&p, alpha));
        }
    }

    #[test]
    fn adjusting_keeps_order_and_never_lowers(p in probabilities()) {
        for adjust in [holm as Adjust, benjamini_hochberg] {
            let adjusted = adjust(&p);
            for (one, &p_one) in p.iter().enumerate() {
                prop_assert!(p_one <= adjusted[one] && adjusted[one] <= 1.0);
                for (other, &p_other) in p.iter().enumerate() {
                    prop_assert!(p_one > p_other || adjusted[one] <= adjusted[other]);
                }
            }
        }
        for (strict, mild) in holm(&p).iter().zip(benjamini_hochberg(&p)) {
            prop_assert!(mild <= strict * (1.0 + 1e-12));
        }
    }

    /// Less evidence for one question never makes another more certain, nor does a further one.
    #[test]
    fn adjusting_is_monotone(p in probabilities(), at in 0usize..12, more in 0.0f64..1.0) {
        let at = at % p.len();
        let mut weaker = p.clone();
        weaker[at] = weaker[at].max(more);
        for adjust in [holm as Adjust, benjamini_hochberg] {
            for (before, after) in adjust(&p).iter().zip(adjust(&weaker)) {
                prop_assert!(*before <= after);
            }
        }
        let asked_more = [p.as_slice(), &[more]].concat();
        for (before, after) in holm(&p).iter().zip(holm(&asked_more)) {
            prop_assert!(*before <= after);
        }
    }

    #[test]
    fn adjusting_does_not_see_the_order(p in probabilities()) {
        let backwards: Vec<f64> = p.iter().rev().copied().collect();
        for adjust in [holm as Adjust, benjamini_hochberg] {
            let mut found = adjust(&backwards);
            found.reverse();
            prop_assert_eq!(found, adjust(&p));
        }
    }

    #[test]
    fn rank_sum_with_ties_is_what_counting_gives(a in coarse(6), b in coarse(6)) {
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert!((found - by_counting(&a, &b)).abs() < 1e-12);
    }

    #[test]
    fn rank_sum_without_ties_is_what_counting_gives(
        a in prop::collection::vec(-1.0f64..1.0, 1..7),
        b in prop::collection::vec(-1.0f64..1.0, 1..7),
    ) {
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert!((found - by_counting(&a, &b)).abs() < 1e-12);
    }

    /// Which is called first, and on what scale they are read, does not matter; the approximation
    /// of larger samples is included.
    #[test]
    fn rank_sum_sees_ranks_only(a in coarse(26), b in coarse(26)) {
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert!((0.0..=1.0).contains(&found));
        let scale = |values: &[f64]| values.iter().map(|v| (v / 3.0).exp()).collect::<Vec<_>>();
        let (turned, scaled) = (mann_whitney(&b, &a), mann_whitney(&scale(&a), &scale(&b)));
        prop_assert!((found - turned.unwrap()).abs() < 1e-12);
        prop_assert!((found - scaled.unwrap()).abs() < 1e-12);
    }
}
