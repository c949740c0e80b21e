//! Rank sums and adjusted p-values.

use super::{MadeWith, close, read};
use fsarena_stats::{benjamini_hochberg, holm, mann_whitney};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
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

static TABLES: LazyLock<Tables> = LazyLock::new(|| read(include_str!("p_values.json")));

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
