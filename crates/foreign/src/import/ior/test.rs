//! What every form of IOR's output has: tests with their options, and lines of tables.

use crate::import::arguments::Options;
use crate::import::build::{Given, ImportError};
use crate::import::documents::Work;
use std::collections::BTreeMap;

pub(in crate::import) const PROGRAM: &str = "IOR";
/// What its standard output is.
pub(in crate::import) const OPTION: &str = "its standard output";
/// Accesses, and what their phases are called.
pub(super) const ACCESSES: [&str; 2] = ["write", "read"];

pub(super) const OPTIONS: Options = Options {
    with_value: "aAbdDfGijlMNoOQstTX",
    // Block, transfer, segments and tasks stand among the options or in the lines.
    neutral: &["A", "b", "f", "i", "j", "k", "K", "N", "o", "q", "s", "t", "T", "v"],
    amounts: "M",
};
/// What the options that IOR lists say of where and how often, and not of what.
const NEUTRAL: [&str; 8] =
    ["test filename", "repetitions", "apiVersion", "verbose", "test", "filename", "reps", "Path"];

/// A line of a table, whatever form it has.
pub(super) struct Line {
    pub(super) access: String,
    pub(super) iteration: u64,
    /// MiB/s and s as they are printed.
    pub(super) rate: (f64, f64),
    pub(super) seconds: (f64, f64),
    /// KiB of a block of a task.
    pub(super) block_kib: Option<f64>,
    pub(super) figures: BTreeMap<String, String>,
}

/// A test of a run: options, and what was measured with them.
#[derive(Default)]
pub(super) struct Test {
    pub(super) version: String,
    /// What the command line and the listed options say.
    pub(super) work: Work,
    pub(super) lines: Vec<(usize, Line)>,
    /// Its text.
    pub(super) span: (usize, usize),
    /// Which of the tests of that text it is.
    pub(super) number: u64,
    /// Line, or number of the test.
    pub(super) at: usize,
}

/// A number with the share that a step of its last digit is of it.
pub(super) fn number(cell: &str) -> Option<(f64, f64)> {
    let value: f64 = cell.parse().ok()?;
    let decimals = cell.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let step = 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
    Some((value, if value == 0.0 { f64::INFINITY } else { step / value }))
}

pub(super) fn bad(given: &Given, line: usize, detail: impl Into<String>) -> ImportError {
    ImportError::Value {
        path: given.path.clone(),
        place: format!("line {line}"),
        detail: detail.into(),
    }
}

/// Options that are listed, without those that do not matter.
pub(super) fn listed(work: &mut Work, name: &str, value: &str) {
    if !NEUTRAL.contains(&name) {
        work.insert(name.to_owned(), crate::seen::escaped(value).into_owned());
    }
}
