//! fio's JSON (`--output-format=json+`), as far as it is used; fields that are not known are passed
//! over, because each version has more of them.
//!
//! Layout: stat.c, `show_thread_status_json`. `json+` adds the histogram (`bins`) to `json`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The whole output.
#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    #[serde(rename = "fio version")]
    pub(crate) version: String,
    /// Wall clock at its end, s and ms since 1970.
    #[serde(default)]
    timestamp: u64,
    #[serde(default)]
    timestamp_ms: u64,
    /// Values are text; those of options without one are absent or null.
    #[serde(default, rename = "global options")]
    pub(crate) global_options: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    pub(crate) jobs: Vec<JobOut>,
}

impl Output {
    /// When it was written, ns since 1970.
    pub(crate) fn written_unix_ns(&self) -> Option<u64> {
        let ms = match self.timestamp_ms {
            0 => self.timestamp.saturating_mul(1000),
            ms => ms,
        };
        (ms > 0).then(|| ms.saturating_mul(1_000_000))
    }
}

/// A job; with `group_reporting` all clones of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct JobOut {
    /// Empty where another job reports for its whole group (`group_reporting` in some jobs only).
    pub(crate) jobname: String,
    /// errno of the failure, 0 where there was none.
    pub(crate) error: i32,
    /// Errors that `continue_on_error` passed over.
    pub(crate) total_err: u64,
    pub(crate) read: Direction,
    pub(crate) write: Direction,
    pub(crate) trim: Direction,
    pub(crate) sync: Direction,
    #[serde(rename = "job options")]
    pub(crate) options: BTreeMap<String, serde_json::Value>,
    /// ms; of all clones together.
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

/// Finds fio's JSON between the lines that are printed before and after it: the first `{` from
/// which on it can be read. Where there is none, a JSON value or the beginning of one that starts a
/// line, with why it cannot be read. `None` where there is no such line either.
///
/// The first part of the answer is where it begins.
pub(crate) fn find(text: &str) -> Option<(usize, serde_json::Result<Output>)> {
    let mut refused = None;
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        let error = match read(&text[start..]) {
            Ok(output) => return Some((start, Ok(output))),
            Err(error) => error,
        };
        let before = &text[..start];
        let line = before.rsplit('\n').next().unwrap_or(before);
        if refused.is_none() && line.trim().is_empty() {
            refused = Some((start, Err(error)));
        }
        at = start + length(&text[start..]).unwrap_or(1);
    }
    refused
}

/// Bytes of the JSON value that `text` begins with; `None` where it begins with none.
fn length(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// Reads the first JSON value of `text`.
fn read(text: &str) -> serde_json::Result<Output> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Output>();
    values.next().unwrap_or_else(|| serde_json::from_str(""))
}
