//! Drift, place in the block, autocorrelation, and what happens inside a phase or a sample.

use super::{MadeWith, close, read, same_ends};
use fsarena_stats::factorial::FTest;
use fsarena_stats::steady::{mser5, shift};
use fsarena_stats::trend::{
    Cell, Covariates, adjusted, autocorrelation, carry_over, drift, position,
};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(rename = "made_with")]
    _made_with: MadeWith,
    slope: Vec<Slope>,
    watch: Vec<Watch>,
    adjusted: Vec<Adjusted>,
    autocorrelation: Vec<Lag>,
    inside: Vec<Inside>,
    shape: Vec<Shape>,
}

/// Block, contender, place, the contender before, value.
type KnownCell = (usize, usize, f64, Option<usize>, f64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slope {
    cells: Vec<KnownCell>,
    slope: f64,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTest {
    df: usize,
    f: f64,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Watch {
    cells: Vec<KnownCell>,
    drift: KnownTest,
    position: KnownTest,
    carry_over: KnownTest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adjusted {
    cells: Vec<KnownCell>,
    a: usize,
    b: usize,
    drift: bool,
    position: bool,
    alpha: f64,
    point: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lag {
    rows: Vec<Vec<f64>>,
    r: f64,
    simulated_p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inside {
    values: Vec<f64>,
    cut: usize,
    at: usize,
    statistic: f64,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    a: Vec<f64>,
    b: Vec<f64>,
    ratio: f64,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| read(include_str!("trends.json")));

fn cells(known: &[KnownCell]) -> Vec<Cell> {
    let cell = |&(group, arm, position, previous, y): &KnownCell| {
        let time = group as f64;
        Cell { group, arm, time, position, previous, y }
    };
    known.iter().map(cell).collect()
}

#[track_caller]
fn same_test(found: FTest, wanted: &KnownTest, what: &str) {
    assert_eq!(found.df, wanted.df, "{what}");
    close(found.f, wanted.f, what);
    close(found.p, wanted.p, what);
}

/// With two contenders a drift is a regression of their difference on the time.
#[test]
fn slopes_of_two() {
    for case in &TABLES.slope {
        let found = drift(&cells(&case.cells), 0.0).unwrap();
        close(found.test.p, case.p, "p");
        close(found.sizes[1] - found.sizes[0], case.slope, "slope");
    }
}

#[test]
fn drift_place_and_the_one_before() {
    for case in &TABLES.watch {
        let cells = cells(&case.cells);
        same_test(drift(&cells, 0.0).unwrap().test, &case.drift, "drift");
        same_test(position(&cells, 0.0).unwrap().test, &case.position, "place");
        same_test(carry_over(&cells, 0.0).unwrap().test, &case.carry_over, "before");
    }
}

#[test]
fn adjusted_differences() {
    for case in &TABLES.adjusted {
        let fitted = Covariates { drift: case.drift, position: case.position, carry_over: false };
        let pair = (case.a, case.b);
        let found = adjusted(&cells(&case.cells), pair, fitted, 0.0, case.alpha).unwrap();
        let what = format!("{pair:?} with {fitted:?}");
        close(found.point, case.point, &what);
        same_ends(found.bounds.attained(), Some((case.low, case.high)), &what);
    }
}

/// The distribution is an approximation, and what it is compared with a simulation.
#[test]
fn autocorrelations() {
    for case in &TABLES.autocorrelation {
        let found = autocorrelation(&case.rows).unwrap();
        close(found.r, case.r, "r");
        let most = 0.002 + 0.05 * case.simulated_p;
        assert!((found.p - case.simulated_p).abs() < most, "{found:?} {}", case.simulated_p);
    }
}

#[test]
fn inside_a_phase() {
    for case in &TABLES.inside {
        assert_eq!(mser5(&case.values), Some(case.cut));
        let found = shift(&case.values).unwrap();
        assert_eq!(found.at, case.at);
        close(found.statistic, case.statistic, "statistic");
        close(found.p, case.p, "p");
    }
}

#[test]
fn shapes() {
    for case in &TABLES.shape {
        close(fsarena_stats::shape::measures(&case.a, &case.b).unwrap().ratio, case.ratio, "ratio");
    }
}
