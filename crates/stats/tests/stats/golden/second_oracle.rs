//! Samples and numbers of the crate anofox-statistics, which follows R, as they were recorded.
//!
//! statrs is no oracle here: its exact Mann-Whitney test says 1 of samples that do not overlap.

use super::{Adjusted, close, read};
use fsarena_stats::paired::PairSample;
use fsarena_stats::units::mean_over_units;
use fsarena_stats::{benjamini_hochberg, holm, mann_whitney};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[expect(dead_code, reason = "read to be known, not to be used")]
    made_with: String,
    hodges_lehmann: Vec<Shift>,
    rank_sums: Vec<RankSum>,
    rank_sums_tied: Vec<RankSum>,
    equivalence: Vec<Equivalence>,
    adjusted: Vec<Adjusted>,
}

/// No two values are equally far from `shift`, and none is it: R gives up exactness where ranks are
/// tied, and drops what is 0.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shift {
    values: Vec<f64>,
    shift: f64,
    levels: Vec<ShiftLevel>,
    p_of_shift: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShiftLevel {
    level: f64,
    estimate: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankSum {
    a: Vec<f64>,
    b: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Equivalence {
    values: Vec<f64>,
    margin: f64,
    tests: Vec<EquivalenceTest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EquivalenceTest {
    alpha: f64,
    low: f64,
    high: f64,
    equivalent: bool,
    p: f64,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| read(include_str!("second_oracle.json")));

fn sample(logs: &[f64]) -> PairSample<'_> {
    PairSample { logs, floor_sd: 0.0, pooled: None }
}

#[test]
fn hodges_lehmann_at_two_levels() {
    for Shift { values, shift, levels, p_of_shift } in &TABLES.hodges_lehmann {
        assert_eq!(levels.len(), 2);
        for wanted in levels {
            let found = sample(values).interval(1.0 - wanted.level).unwrap();
            close(sample(values).point().unwrap(), wanted.estimate, "estimate");
            close(found.low, wanted.low, "low");
            close(found.high, wanted.high, "high");
        }
        // Below it our interval is widened by what is not R's.
        let attainable = 0.5f64.powf(values.len() as f64 - 1.0);
        // Its p-value of a shift, by turning the interval round.
        for (alpha, is_inside) in
            [(p_of_shift * (1.0 - 1e-9), true), (p_of_shift * (1.0 + 1e-9), false)]
        {
            if attainable <= alpha && alpha < 1.0 {
                let found = sample(values).interval(alpha).unwrap();
                let holds = found.low <= *shift && *shift <= found.high;
                assert_eq!(holds, is_inside, "{shift} at {alpha}: {found:?}");
            }
        }
    }
}

#[test]
fn rank_sums_without_ties() {
    for RankSum { a, b, p } in &TABLES.rank_sums {
        close(mann_whitney(a, b).unwrap(), *p, "rank sums");
    }
}

/// Beyond twenty values, with many ties.
#[test]
fn rank_sums_of_large_samples() {
    for RankSum { a, b, p } in &TABLES.rank_sums_tied {
        let found = mann_whitney(a, b).unwrap();
        assert!((found - p).abs() < 1e-9, "{found} {p}");
    }
}

#[test]
fn same_within_a_margin() {
    for Equivalence { values, margin, tests } in &TABLES.equivalence {
        for wanted in tests {
            let found = sample(values).interval(2.0 * wanted.alpha).unwrap();
            close(found.low, wanted.low, "low");
            close(found.high, wanted.high, "high");
            let inside = -margin < found.low && found.high < *margin;
            assert_eq!(inside, wanted.equivalent, "{values:?} within {margin}");
            let p = mean_over_units(values).unwrap().p_same(*margin);
            assert!((p - wanted.p).abs() < 1e-9, "{p} {}", wanted.p);
        }
    }
}

#[test]
fn adjusted_p() {
    for Adjusted { p, holm: by_holm, benjamini_hochberg: by_rate } in &TABLES.adjusted {
        for (found, wanted) in [(holm(p), by_holm), (benjamini_hochberg(p), by_rate)] {
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(wanted) {
                close(*found, *wanted, "adjusted");
            }
        }
    }
}
