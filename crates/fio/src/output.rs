//! fio's JSON (`--output-format=json+`), as far as it is used; fields that are not known are passed
//! over, because each version has more of them.
//!
//! Layout: stat.c, `show_thread_status_json`. `json+` adds the histogram (`bins`) to `json`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole output.
#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    #[serde(rename = "fio version")]
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) jobs: Vec<JobOut>,
}

/// A job; with `group_reporting` all clones of one.
#[derive(Debug, Deserialize)]
pub(crate) struct JobOut {
    /// Empty where another job reports for its whole group (`group_reporting` in some jobs only).
    #[serde(default)]
    pub(crate) jobname: String,
    /// errno of the failure, 0 where there was none.
    #[serde(default)]
    pub(crate) error: i32,
    /// Errors that `continue_on_error` passed over.
    #[serde(default)]
    pub(crate) total_err: u64,
    #[serde(default)]
    pub(crate) read: Direction,
    #[serde(default)]
    pub(crate) write: Direction,
    #[serde(default)]
    pub(crate) trim: Direction,
    #[serde(default)]
    pub(crate) sync: Direction,
    /// ms; of all clones together.
    #[serde(default)]
    pub(crate) job_runtime: u64,
}

/// Reads, writes, trims or syncs of a job.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Direction {
    pub(crate) io_bytes: u64,
    pub(crate) total_ios: u64,
    pub(crate) short_ios: u64,
    /// ms.
    pub(crate) runtime: u64,
    pub(crate) clat_ns: Latency,
    pub(crate) lat_ns: Latency,
}

/// A latency, ns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Latency {
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    #[serde(rename = "N")]
    pub(crate) samples: u64,
    /// A value within a bucket of fio's, and how many fell into it.
    pub(crate) bins: BTreeMap<String, u64>,
}

/// Finds the JSON between the lines that fio prints before and after it.
pub(crate) fn find(stdout: &str) -> Option<&str> {
    let starts = |line: &&str| line.trim_end() == "{";
    let before: usize =
        stdout.split_inclusive('\n').take_while(|line| !starts(line)).map(str::len).sum();
    stdout.get(before..).filter(|rest| !rest.is_empty())
}

/// Reads the first JSON value of `text`.
pub(crate) fn read(text: &str) -> Result<Output, serde_json::Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Output>();
    values.next().unwrap_or_else(|| serde_json::from_str(""))
}
