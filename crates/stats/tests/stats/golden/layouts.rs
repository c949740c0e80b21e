//! Effects in blocks, spreads that lean on all contenders, analyses of variance and contrasts of
//! factorial layouts.

use super::{MadeWith, close, read, same_ends};
use fsarena_stats::blocks::{contender_spreads, fit, spread_of_difference};
use fsarena_stats::factorial::{Design, ErrorVariance, FTest, Factor, contrast};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(rename = "made_with")]
    _made_with: MadeWith,
    fit: Vec<Fit>,
    spreads: Vec<OfDifference>,
    factorial: Vec<Factorial>,
    contrast: Vec<Contrast>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fit {
    cells: Vec<(usize, usize, f64)>,
    contenders: usize,
    effects: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfDifference {
    rows: Vec<Vec<f64>>,
    i: usize,
    j: usize,
    variance: f64,
    freedom: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFactor {
    levels: usize,
    within: Option<(usize, usize)>,
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
struct KnownTerm {
    factors: Vec<usize>,
    squares: f64,
    df: usize,
    f: f64,
    p: f64,
}

type Rows = Vec<Vec<Option<usize>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factorial {
    factors: Vec<KnownFactor>,
    design: Rows,
    blocks: Vec<Vec<f64>>,
    omnibus: KnownTest,
    terms: Vec<KnownTerm>,
    variance: f64,
    freedom: usize,
    shares: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contrast {
    design: Rows,
    levels: Vec<usize>,
    blocks: Vec<Vec<f64>>,
    factor: usize,
    level: usize,
    base: usize,
    point: f64,
    alpha: f64,
    low: f64,
    high: f64,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| read(include_str!("layouts.json")));

#[test]
fn effects_of_contenders() {
    for (number, case) in TABLES.fit.iter().enumerate() {
        let what = format!("layout {number}");
        match (fit(&case.cells, case.contenders), &case.effects) {
            (None, None) => {}
            (Some(found), Some(wanted)) => {
                assert_eq!(found.len(), wanted.len());
                found.iter().zip(wanted).for_each(|(found, wanted)| close(*found, *wanted, &what));
            }
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn spreads_of_differences() {
    for case in &TABLES.spreads {
        let what = format!("{} blocks, {} and {}", case.rows.len(), case.i, case.j);
        let spreads = contender_spreads(&case.rows).unwrap();
        let found = spread_of_difference(spreads[case.i], spreads[case.j]);
        close(found.variance, case.variance, &what);
        close(found.freedom, case.freedom, &what);
    }
}

#[track_caller]
fn same_test(found: FTest, df: usize, f: f64, p: f64, what: &str) {
    assert_eq!(found.df, df, "{what}");
    close(found.f, f, what);
    close(found.p, p, what);
}

#[test]
fn analyses_of_variance() {
    for (number, case) in TABLES.factorial.iter().enumerate() {
        let factors = case.factors.iter();
        let factors = factors.map(|f| Factor { levels: f.levels, within: f.within }).collect();
        let design = Design::new(factors, case.design.clone()).unwrap();
        let found = design.analyse(&case.blocks, 0.0).unwrap();
        let what = format!("layout {number}");
        close(found.error.variance, case.variance, &what);
        assert_eq!(found.error.freedom, case.freedom, "{what}");
        same_test(found.omnibus, case.omnibus.df, case.omnibus.f, case.omnibus.p, &what);
        assert_eq!(found.terms.len(), case.terms.len(), "{what}");
        for wanted in &case.terms {
            let what = format!("{what}, term {:?}", wanted.factors);
            let term = found.terms.iter().find(|term| term.factors == wanted.factors).unwrap();
            close(term.squares, wanted.squares, &what);
            same_test(term.test, wanted.df, wanted.f, wanted.p, &what);
        }
        assert_eq!(found.shares.is_some(), case.shares.is_some(), "{what}");
        for (share, wanted) in found.shares.iter().flatten().zip(case.shares.iter().flatten()) {
            close(*share, *wanted, &what);
        }
    }
}

#[test]
fn contrasts() {
    for case in &TABLES.contrast {
        let factors = case.levels.iter().map(|&levels| Factor { levels, within: None }).collect();
        let design = Design::new(factors, case.design.clone()).unwrap();
        let weights = design.weights(case.factor, case.level, case.base, &|_| true).unwrap();
        let error = ErrorVariance { variance: 1.0, freedom: 1 };
        let (point, ends) = contrast(&case.blocks, &weights, error, 0.0, case.alpha).unwrap();
        let what = format!("{} rows, factor {}", case.design.len(), case.factor);
        close(point, case.point, &what);
        same_ends(ends, Some((case.low, case.high)), &what);
    }
}
