//! The whole crate against numpy, scipy and statsmodels: `make.py` computes the numbers in the
//! `.json` files next to it; and against what the crate anofox-statistics said of random samples.

mod intervals;
mod layouts;
mod second_oracle;
mod trends;

use fsarena_stats::{Interval, benjamini_hochberg, holm, mann_whitney};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::LazyLock;

/// A file of tables; a table or a number that no test reads is an error.
#[track_caller]
fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a file as make.py writes it")
}

/// With what the numbers were made; for people.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read to be known, not to be used")]
struct MadeWith {
    python: String,
    numpy: String,
    scipy: String,
    statsmodels: String,
}

/// Equal to nine digits, or both next to nothing.
#[track_caller]
fn close(found: f64, wanted: f64, what: &str) {
    let most = 1e-9 * wanted.abs().max(1e-6);
    assert!((found - wanted).abs() <= most, "{what}: {found} instead of {wanted}");
}

#[track_caller]
fn same_ends(found: Option<Interval>, wanted: Option<(f64, f64)>, what: &str) {
    match (found, wanted) {
        (None, None) => {}
        (Some(found), Some((low, high))) => {
            close(found.low, low, what);
            close(found.high, high, what);
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PValueTables {
    #[serde(rename = "made_with")]
    _made_with: MadeWith,
    rank_sum: Vec<RankSum>,
    adjusted: Vec<Adjusted>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankSum {
    how: String,
    a: Vec<f64>,
    b: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adjusted {
    p: Vec<f64>,
    holm: Vec<f64>,
    benjamini_hochberg: Vec<f64>,
}

static TABLES: LazyLock<PValueTables> = LazyLock::new(|| read(include_str!("p_values.json")));

#[test]
fn rank_sums() {
    for case in &TABLES.rank_sum {
        let what = format!("{} and {} by {}", case.a.len(), case.b.len(), case.how);
        close(mann_whitney(&case.a, &case.b).unwrap(), case.p, &what);
        close(mann_whitney(&case.b, &case.a).unwrap(), case.p, &what);
    }
}

#[test]
fn adjusted() {
    for case in &TABLES.adjusted {
        let check = |found: Vec<f64>, wanted: &[f64], what| {
            assert_eq!(found.len(), wanted.len());
            found.iter().zip(wanted).for_each(|(found, wanted)| close(*found, *wanted, what));
        };
        check(holm(&case.p), &case.holm, "Holm");
        check(benjamini_hochberg(&case.p), &case.benjamini_hochberg, "Benjamini and Hochberg");
    }
}
