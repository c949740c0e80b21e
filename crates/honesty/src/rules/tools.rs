//! Rules made of what tools print: hyperfine, benchstat, the Phoronix Test Suite, pytest-benchmark.

use super::rule::{Rule, RuleRun, Summary, beyond};
use crate::{Label, Slots};
use fsarena_stats::{mann_whitney, median};

const RUNS: usize = 10;
/// Misses that a p value may have.
const ALPHA: f64 = 0.05;
/// Runs that Phoronix begins with, and the most that it goes on to, a side.
const PHORONIX_RUNS: (usize, usize) = (3, 12);
/// Spread from which it runs again.
const PHORONIX_SPREAD: f64 = 0.03;
/// Rounds of pytest-benchmark a side.
const ROUNDS: usize = 5;

/// The Phoronix Test Suite runs three times, and again while the runs spread too much.
pub(super) fn phoronix_like() -> Rule {
    let (_, most) = PHORONIX_RUNS;
    Rule::new(
        "phoronix-like",
        "Phoronix-like",
        "three runs of A, and more while their standard deviation is 3 % or above, up to \
                 12; then the same of B; a difference where the means are more than 2 % apart",
        2 * most,
        |slots| {
            let a = until_steady(slots, Label::A);
            beyond(1.02, a, until_steady(slots, Label::B))
        },
    )
}

/// The mean of runs repeated until they spread little.
fn until_steady(slots: &mut Slots<'_>, label: Label) -> f64 {
    let (first, most) = PHORONIX_RUNS;
    let mut values = slots.take_all(label, first);
    loop {
        let summary = Summary::from_values(&values);
        if summary.relative_sd() < PHORONIX_SPREAD || values.len() == most {
            return summary.mean;
        }
        values.push(slots.take(label));
    }
}

/// pytest-benchmark fails a comparison by a limit on the fastest round; its documentation has
/// `--benchmark-compare-fail=min:5%`.
pub(super) fn pytest_like() -> Rule {
    Rule::new(
        "pytest-like",
        "pytest-like",
        "five runs of A, then five of B; a difference where the fastest of the one is more \
         than 5 % above that of the other (as --benchmark-compare-fail=min:5%, both ways)",
        2 * ROUNDS,
        |slots| {
            let least = |values: Vec<f64>| values.into_iter().fold(f64::INFINITY, f64::min);
            let a = least(slots.take_all(Label::A, ROUNDS));
            beyond(1.05, a, least(slots.take_all(Label::B, ROUNDS)))
        },
    )
}

/// hyperfine prints how many times faster, ± the standard deviation propagated to the ratio.
pub(super) fn hyperfine_like() -> Rule {
    Rule::new(
        "hyperfine-like",
        "hyperfine-like",
        "ten runs of A, then ten of B; a difference where the ratio of the means (slower ÷ \
         faster) less its propagated standard deviation is above 1",
        2 * RUNS,
        |slots| {
            let a = Summary::from_values(&slots.take_all(Label::A, RUNS));
            let b = Summary::from_values(&slots.take_all(Label::B, RUNS));
            let ratio = (a.mean / b.mean).max(b.mean / a.mean);
            let spread = ratio * a.relative_sd().hypot(b.relative_sd());
            RuleRun::plain(ratio - spread > 1.0, (b.mean / a.mean).ln())
        },
    )
}

/// benchstat compares by the Mann-Whitney test and shows the change of the median.
pub(super) fn benchstat_like(interleaved: bool) -> Rule {
    let order = if interleaved { "ten pairs, A before B" } else { "ten runs of A, then ten of B" };
    Rule::new(
        if interleaved { "benchstat-like-interleaved" } else { "benchstat-like" },
        if interleaved { "benchstat-like, ABAB" } else { "benchstat-like" },
        format!("{order}; a difference where the Mann-Whitney test has p < 0.05"),
        2 * RUNS,
        move |slots| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            if interleaved {
                for _ in 0..RUNS {
                    a.push(slots.take(Label::A));
                    b.push(slots.take(Label::B));
                }
            } else {
                a = slots.take_all(Label::A, RUNS);
                b = slots.take_all(Label::B, RUNS);
            }
            ranked(&a, &b)
        },
    )
}

/// The verdict by ranks, the size by medians. Where the medians are equal the sign is that of
/// neither: nothing is claimed.
fn ranked(a: &[f64], b: &[f64]) -> RuleRun {
    let log_ratio = match (median(a), median(b)) {
        (Ok(a), Ok(b)) => (b / a).ln(),
        _ => 0.0,
    };
    let differs = mann_whitney(a, b).is_some_and(|p| p < ALPHA);
    RuleRun::plain(differs, log_ratio)
}
