//! The whole crate against numpy, scipy and statsmodels: `make.py` computes the numbers in the
//! `.json` files next to it; and against what the crate anofox-statistics said of random samples.

mod intervals;
mod layouts;
mod p_values;
mod second_oracle;
mod trends;

use fsarena_stats::Interval;
use serde::de::DeserializeOwned;

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
