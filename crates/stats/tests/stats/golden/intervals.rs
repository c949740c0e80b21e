//! Intervals and tests of one sample and of two.

use super::{MadeWith, close, read, same_ends};
use fsarena_stats::forecast::{for_difference, for_same};
use fsarena_stats::paired::{IntervalBy, PairSample, Spread};
use fsarena_stats::units::{mean_over_units, welch};
use fsarena_stats::{Estimate, hodges_lehmann, mean_t, median_order_statistics};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(rename = "made_with")]
    _made_with: MadeWith,
    t: Vec<Mean>,
    pooled: Vec<Pooled>,
    hodges_lehmann: Vec<Ranked>,
    signed_rank: Vec<Shifted>,
    order_statistics: Vec<Ranked>,
    paired: Vec<Paired>,
    welch: Vec<Welch>,
    forecast: Vec<Forecast>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mean {
    values: Vec<f64>,
    alpha: f64,
    point: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pooled {
    values: Vec<f64>,
    variance: f64,
    freedom: f64,
    alpha: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranked {
    values: Vec<f64>,
    alpha: f64,
    point: f64,
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shifted {
    values: Vec<f64>,
    shift: f64,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paired {
    a: Vec<f64>,
    b: Vec<f64>,
    p: f64,
    alpha: f64,
    low: f64,
    high: f64,
    margin: f64,
    p_same: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Welch {
    a: Vec<f64>,
    b: Vec<f64>,
    point: f64,
    freedom: f64,
    p: f64,
    alpha: f64,
    low: f64,
    high: f64,
    margin: f64,
    p_same: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forecast {
    sd: f64,
    distance: f64,
    alpha: f64,
    difference: f64,
    same: f64,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| read(include_str!("intervals.json")));

fn sample(logs: &[f64]) -> PairSample<'_> {
    PairSample { logs, floor_sd: 0.0, pooled: None }
}

#[test]
fn student() {
    for case in &TABLES.t {
        let what = format!("{} values at {}", case.values.len(), case.alpha);
        let ends = Some((case.low, case.high));
        let found = mean_t(&case.values, case.alpha).unwrap();
        close(found.point, case.point, &what);
        same_ends(found.bounds.attained(), ends, &what);
        let units = mean_over_units(&case.values).unwrap();
        close(units.point, case.point, &what);
        same_ends(units.interval(case.alpha), ends, &what);
        if case.values.len() < 12 {
            let sample = sample(&case.values);
            assert_eq!(sample.interval_by(), IntervalBy::StudentT);
            close(sample.mean().unwrap(), case.point, &what);
            same_ends(sample.interval(case.alpha), ends, &what);
        }
    }
}

#[test]
fn student_with_a_pooled_variance() {
    for case in &TABLES.pooled {
        let spread = Spread { variance: case.variance, freedom: case.freedom };
        let sample = PairSample { pooled: Some(spread), ..sample(&case.values) };
        assert_eq!(sample.interval_by(), IntervalBy::PooledT);
        let what = format!("{} values at {}", case.values.len(), case.alpha);
        same_ends(sample.interval(case.alpha), Some((case.low, case.high)), &what);
    }
}

#[track_caller]
fn same_ranks(found: &Estimate, case: &Ranked) {
    let what = format!("{} values at {}", case.values.len(), case.alpha);
    close(found.point, case.point, &what);
    let interval = found.bounds.attained();
    same_ends(interval, case.low.zip(case.high), &what);
    if let Some((interval, level)) = interval.zip(case.level) {
        close(interval.level, level, &what);
    }
}

#[test]
fn walsh_averages() {
    for case in &TABLES.hodges_lehmann {
        same_ranks(&hodges_lehmann(&case.values, case.alpha).unwrap(), case);
        if case.values.len() < 12 {
            continue;
        }
        let sample = sample(&case.values);
        assert_eq!(sample.interval_by(), IntervalBy::SignedRanks);
        close(sample.point().unwrap(), case.point, "point");
        let found = sample.interval(case.alpha).unwrap();
        if let Some(ends) = case.low.zip(case.high) {
            same_ends(Some(found), Some(ends), &format!("paired at {}", case.alpha));
        } else {
            // Out of reach: nothing narrower than all values.
            let inside = |value: &f64| found.low <= *value && *value <= found.high;
            assert!(case.values.iter().all(inside), "{found:?}");
        }
    }
}

/// An interval holds exactly the shifts that Wilcoxon's test does not reject at its alpha.
#[test]
fn intervals_are_tests_turned_round() {
    for case in &TABLES.signed_rank {
        for (alpha, is_inside) in [(case.p * (1.0 - 1e-9), true), (case.p * (1.0 + 1e-9), false)] {
            if alpha >= 1.0 {
                continue;
            }
            let one = hodges_lehmann(&case.values, alpha).unwrap().bounds.attained().unwrap();
            let other = sample(&case.values).interval(alpha).unwrap();
            for found in [one, other] {
                let holds = found.low <= case.shift && case.shift <= found.high;
                assert_eq!(holds, is_inside, "{} at {alpha}: {found:?}", case.shift);
            }
        }
    }
}

#[test]
fn order_statistics() {
    for case in &TABLES.order_statistics {
        same_ranks(&median_order_statistics(&case.values, case.alpha).unwrap(), case);
    }
}

/// Both tests of a pair, by the intervals that decide: D leaves 0 out, E lies inside the margin.
#[test]
fn paired_tests() {
    for case in &TABLES.paired {
        let logs: Vec<f64> = case.a.iter().zip(&case.b).map(|(a, b)| a - b).collect();
        let sample = sample(&logs);
        same_ends(sample.mean_interval(case.alpha), Some((case.low, case.high)), "paired");
        let units = mean_over_units(&logs).unwrap();
        close(units.p_difference(), case.p, "difference");
        close(units.p_same(case.margin), case.p_same, "same");
        for (factor, is_shown) in [(1.0 - 1e-6, false), (1.0 + 1e-6, true)] {
            if case.p * factor < 1.0 {
                let d = sample.mean_interval(case.p * factor).unwrap();
                assert_eq!(d.low > 0.0 || d.high < 0.0, is_shown, "{d:?} at {}", case.p);
            }
            if case.p_same * factor < 0.5 {
                let e = sample.mean_interval(2.0 * case.p_same * factor).unwrap();
                let inside = -case.margin < e.low && e.high < case.margin;
                assert_eq!(inside, is_shown, "{e:?} at {}", case.p_same);
            }
        }
    }
}

#[test]
fn unequal_variances() {
    for case in &TABLES.welch {
        let what = format!("{} and {} at {}", case.a.len(), case.b.len(), case.alpha);
        let found = welch(&case.a, &case.b).unwrap();
        close(found.point, case.point, &what);
        close(found.freedom, case.freedom, &what);
        close(found.p_difference(), case.p, &what);
        close(found.p_same(case.margin), case.p_same, &what);
        same_ends(found.interval(case.alpha), Some((case.low, case.high)), &what);
    }
}

#[test]
fn forecasts() {
    for case in &TABLES.forecast {
        let difference = for_difference(case.sd, case.distance, case.alpha).unwrap();
        close(difference, case.difference, "difference");
        close(for_same(case.sd, case.distance, case.alpha).unwrap(), case.same, "same");
    }
}
