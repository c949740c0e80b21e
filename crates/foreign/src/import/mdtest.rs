//! What mdtest printed: the table under `SUMMARY`, of which a file is one trial.
//!
//! mdtest prints rates alone, and of several iterations their mean. Compared is the time that a
//! thousand ops take at that rate.

use crate::import::build::{Given, ImportError, Imported, Terms, filled, foreign};
use crate::import::by_files::{Source, Timed, imported};
use crate::import::notices;
use std::collections::BTreeMap;

const PROGRAM: &str = "mdtest";
/// What its standard output is.
const OPTION: &str = "its standard output";
/// Beginning of the line above the table; the words behind it differ between versions.
const SUMMARY: &str = "SUMMARY";
/// Ops whose time is compared.
const OPS: u64 = 1000;
/// Rows of the table, and what their phases are called.
const ROWS: [(&str, &str); 10] = [
    ("Directory creation", "directory-creation"),
    ("Directory stat", "directory-stat"),
    ("Directory rename", "directory-rename"),
    ("Directory removal", "directory-removal"),
    ("File creation", "file-creation"),
    ("File stat", "file-stat"),
    ("File read", "file-read"),
    ("File removal", "file-removal"),
    ("Tree creation", "tree-creation"),
    ("Tree removal", "tree-removal"),
];
/// Columns behind the name of a row: the mean is the third.
const COLUMNS: [&str; 4] = ["max", "min", "mean", "std_dev"];
const MEAN: usize = 2;
/// A faster one is a mistake: a tenth of a nanosecond an op.
const MOST_PER_S: f64 = 1e10;

/// A RUN of what mdtest measured: files of one label are its blocks, in the order given.
///
/// # Errors
/// Where a file has no such table, other rows than the first, or values that cannot be.
pub fn mdtest(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    let trials: Vec<Vec<Vec<Timed>>> =
        files.iter().map(|given| Ok(vec![read(given)?])).collect::<Result<_, ImportError>>()?;
    let source = Source {
        program: PROGRAM,
        title: "operations on metadata, by mdtest",
        notices: vec![notices::order_unknown(), notices::rates_alone(PROGRAM, OPS)],
    };
    imported(source, files, trials, terms)
}

/// The rows of the table that were measured: those of a phase that was left out are 0 or missing.
fn read(given: &Given) -> Result<Vec<Timed>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let lines = given.text.lines().enumerate();
    let mut table = lines.skip_while(|(_, line)| !line.trim_start().starts_with(SUMMARY)).skip(1);
    let mut found = Vec::new();
    for (at, line) in table.by_ref() {
        let line = line.trim();
        let Some((row, name)) = ROWS.iter().find(|(row, _)| line.starts_with(row)) else {
            continue;
        };
        let place = format!("line {}", at + 1);
        let bad = |detail: &str| ImportError::Value {
            path: given.path.clone(),
            place: place.clone(),
            detail: detail.to_owned(),
        };
        // Some versions have a colon behind the name.
        let numbers = line[row.len()..].trim_start().trim_start_matches(':').split_whitespace();
        let numbers: Vec<f64> = numbers.map_while(|word| word.parse().ok()).collect();
        let Some(&mean) = numbers.get(MEAN) else {
            return Err(bad("has no Max, Min and Mean"));
        };
        if mean == 0.0 {
            continue;
        }
        if !(mean.is_finite() && mean > 0.0 && mean < MOST_PER_S) {
            return Err(bad("is a rate that cannot be"));
        }
        if found.iter().any(|timed: &Timed| timed.name == *name) {
            return Err(bad("stands there twice; give one output a file"));
        }
        let figures = COLUMNS.iter().zip(&numbers);
        let figures: BTreeMap<String, String> =
            figures.map(|(column, own)| (format!("{column}_per_s"), own.to_string())).collect();
        let returned_ns = ((OPS as f64 * 1e9 / mean).round() as u64).max(1);
        found.push(Timed { name, returned_ns, ops: OPS, asked_bytes: 0, figures });
    }
    match found.is_empty() {
        true => Err(foreign(given, PROGRAM, OPTION, "it has no table under SUMMARY with rates")),
        false => Ok(found),
    }
}
