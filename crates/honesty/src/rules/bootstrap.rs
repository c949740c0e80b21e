//! A rule made of what criterion.rs prints.

use super::rule::{Rule, RuleRun, Summary};
use crate::Label;
use fsarena_model::seed::SeededRng;

const RUNS: usize = 10;
const RESAMPLES: usize = 400;
/// Changes up to this are noise.
const NOISE: f64 = 0.01;
/// Misses that the p value and the interval may have.
const ALPHA: f64 = 0.05;

/// criterion compares with a stored baseline: p by a bootstrap of the t statistic, and the
/// percentile interval of the change of the mean, which has to lie beyond the noise threshold.
pub(super) fn criterion_like() -> Rule {
    Rule::new(
        "criterion-like",
        "criterion-like",
        format!(
            "ten runs of A, then ten of B; a difference where p < 0.05 (bootstrap of t, both sides \
             pooled) and the 95 % percentile interval of the change of the mean is beyond ±1 %; \
             {RESAMPLES} resamples"
        ),
        2 * RUNS,
        |slots| {
            let a = slots.take_all(Label::A, RUNS);
            let b = slots.take_all(Label::B, RUNS);
            compare(&a, &b, slots.rng())
        },
    )
}

fn compare(a: &[f64], b: &[f64], rng: &mut SeededRng) -> RuleRun {
    let log_ratio = (Summary::from_values(b).mean / Summary::from_values(a).mean).ln();
    let (low, high) = percentile_interval(a, b, rng);
    let is_large = low > 1.0 + NOISE || high < 1.0 - NOISE;
    let differs = is_large && p_value(a, b, rng) < ALPHA;
    RuleRun { interval: Some((low.ln(), high.ln())), ..RuleRun::plain(differs, log_ratio) }
}

/// The 95 % percentile interval of mean(b) ÷ mean(a), each resampled from its own values.
fn percentile_interval(a: &[f64], b: &[f64], rng: &mut SeededRng) -> (f64, f64) {
    let mut ratios: Vec<f64> =
        (0..RESAMPLES).map(|_| resampled(b, rng).mean / resampled(a, rng).mean).collect();
    fsarena_stats::sort(&mut ratios);
    let at = |share: f64| ratios[(share * (RESAMPLES - 1) as f64).round() as usize];
    (at(ALPHA / 2.0), at(1.0 - ALPHA / 2.0))
}

/// Share of pooled resamples whose t is at least as far from 0 as that of the values, two-sided.
fn p_value(a: &[f64], b: &[f64], rng: &mut SeededRng) -> f64 {
    let seen = t(Summary::from_values(a), Summary::from_values(b));
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut beyond = 0;
    for _ in 0..RESAMPLES {
        let one = resampled(&pooled, rng);
        let other = resampled(&pooled, rng);
        beyond += usize::from(t(one, other) > seen);
    }
    2.0 * beyond.min(RESAMPLES - beyond) as f64 / RESAMPLES as f64
}

/// Welch's t of two samples of ten values each.
fn t(a: Summary, b: Summary) -> f64 {
    (b.mean - a.mean) / (a.sd.hypot(b.sd) / (RUNS as f64).sqrt())
}

/// Mean and standard deviation of as many values as a side has, drawn with replacement.
fn resampled(values: &[f64], rng: &mut SeededRng) -> Summary {
    let mut drawn = [0.0; RUNS];
    for place in &mut drawn {
        *place = values[rng.below(values.len() as u64) as usize];
    }
    Summary::from_values(&drawn)
}
