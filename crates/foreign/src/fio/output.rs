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
    /// Jobs of the servers, where a client printed it, and behind them their sum.
    #[serde(default)]
    client_stats: Vec<JobOut>,
}

/// What the client of several servers calls the sum of their jobs.
const SUM_OF_CLIENTS: &str = "All clients";
/// Units of versions before 3: KiB and µs where later ones have bytes and ns.
const OLD_UNIT_BYTES: u64 = 1024;
const OLD_UNIT_NS: u64 = 1000;

impl Output {
    /// When it was written, ns since 1970.
    pub(crate) fn written_unix_ns(&self) -> Option<u64> {
        let ms = match self.timestamp_ms {
            0 => self.timestamp.saturating_mul(1000),
            ms => ms,
        };
        (ms > 0).then(|| ms.saturating_mul(1_000_000))
    }

    /// One form of what versions and clients write in several.
    fn in_one_form(mut self) -> Self {
        let of_clients = self.client_stats.into_iter().filter(|job| job.jobname != SUM_OF_CLIENTS);
        self.jobs.extend(of_clients);
        self.client_stats = Vec::new();
        let is_old = self.version.trim_start_matches("fio-").starts_with(['1', '2']);
        for job in &mut self.jobs {
            for direction in [&mut job.read, &mut job.write, &mut job.trim, &mut job.mixed] {
                // Those between fio 2 and 3 say KiB apart.
                if is_old && direction.io_kbytes.is_none() {
                    direction.io_bytes = direction.io_bytes.saturating_mul(OLD_UNIT_BYTES);
                }
                for (of_old, latency) in [
                    (&mut direction.clat, &mut direction.clat_ns),
                    (&mut direction.lat, &mut direction.lat_ns),
                ] {
                    if let Some(us) = of_old.take() {
                        *latency = us.in_ns();
                    }
                }
            }
        }
        self
    }
}

/// A job; with `group_reporting` all clones of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct JobOut {
    /// Empty where another job reports for its whole group (`group_reporting` in some jobs only).
    pub(crate) jobname: String,
    /// Jobs of one group run at once; the next group begins behind a `stonewall`.
    pub(crate) groupid: u64,
    /// errno of the failure, 0 where there was none.
    pub(crate) error: i32,
    /// Errors that `continue_on_error` passed over.
    pub(crate) total_err: u64,
    pub(crate) read: Direction,
    pub(crate) write: Direction,
    pub(crate) trim: Direction,
    /// All three in one (`unified_rw_reporting`): in place of them or, with `both`, next to them.
    pub(crate) mixed: Direction,
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
    io_kbytes: Option<u64>,
    pub(crate) total_ios: u64,
    pub(crate) short_ios: u64,
    /// ms.
    pub(crate) runtime: u64,
    pub(crate) clat_ns: Latency,
    pub(crate) lat_ns: Latency,
    /// µs, of versions before 3.
    clat: Option<Latency>,
    lat: Option<Latency>,
}

impl Latency {
    /// Of one in µs. The bins of those versions are numbers of buckets and no times.
    fn in_ns(self) -> Self {
        let times = |us: u64| us.saturating_mul(OLD_UNIT_NS);
        let percentile = self.percentile.into_iter();
        Self {
            min: times(self.min),
            max: times(self.max),
            mean: self.mean * OLD_UNIT_NS as f64,
            samples: self.samples,
            bins: BTreeMap::new(),
            percentile: percentile.map(|(at, us)| (at, us * OLD_UNIT_NS as f64)).collect(),
        }
    }

    /// The latency that `percent` of the ops stay below, from the list that fio prints (`99` of
    /// `99.000000`), ns; a list of an op that was never done has no such entry, or 0.
    pub(crate) fn listed_ns(&self, percent: f64) -> Option<u64> {
        let is_it = |at: &str| at.parse::<f64>().is_ok_and(|at| (at - percent).abs() < 1e-9);
        let found = self.percentile.iter().find(|(at, _)| is_it(at))?;
        (*found.1 > 0.0).then(|| found.1.round() as u64)
    }
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
    /// What so many percent stay below.
    percentile: BTreeMap<String, f64>,
}

/// A report in a text.
pub(crate) struct Found {
    /// Where it begins, and where it ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) output: Output,
}

/// What a text has of reports, in its order.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) found: Vec<Found>,
    /// The first JSON value, or beginning of one, that starts a line behind what was found and that
    /// cannot be read.
    pub(crate) refused: Option<(usize, serde_json::Error)>,
    /// Whether there are more beginnings of something else than are tried.
    pub(crate) gave_up: bool,
}

/// Whether a text begins as each report does.
fn begins_a_report(text: &str) -> bool {
    text.trim_start_matches('{').trim_start().starts_with("\"fio version\"")
}

/// Beginnings that are tried in vain at most.
const MOST_TRIES: usize = 64;
/// So many times the length of a text, and so many bytes more, are read in vain at most: each
/// beginning may be read to the end, and a text of beginnings would take the square of its length.
const VAIN_LENGTHS: usize = 2;
const VAIN_BYTES: usize = 1 << 20;

/// Finds the reports of fio between the lines that are printed around them: from a `{` on, whatever
/// can be read as one.
pub(crate) fn search(text: &str) -> Search {
    let mut search = Search::default();
    let (mut at, mut tries) = (0, 0);
    let mut left_bytes = text.len().saturating_mul(VAIN_LENGTHS).saturating_add(VAIN_BYTES);
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        match read(&text[start..]) {
            Ok((output, length)) => {
                at = start + length;
                // What is no report of fio is a line of somebody else.
                search.refused.take_if(|(start, _)| !begins_a_report(&text[*start..]));
                search.found.push(Found { start, end: at, output });
            }
            Err(error) => {
                let before = &text[..start];
                let line = before.rsplit('\n').next().unwrap_or(before);
                let read_bytes = read_bytes(&text[start..], &error);
                if search.refused.is_none() && line.trim().is_empty() {
                    search.refused = Some((start, error));
                }
                tries += 1;
                left_bytes = left_bytes.saturating_sub(read_bytes);
                if tries == MOST_TRIES || left_bytes == 0 {
                    search.gave_up = true;
                    break;
                }
                at = start + length(&text[start..]).unwrap_or(1);
            }
        }
    }
    search
}

/// The first report of a text; where there is none, why not. The first part of the answer is where
/// it begins; `None` where no line begins like one.
pub(crate) fn find(text: &str) -> Option<(usize, serde_json::Result<Output>)> {
    let Search { found, refused, .. } = search(text);
    let first = found.into_iter().next().map(|found| (found.start, Ok(found.output)));
    first.or_else(|| refused.map(|(start, error)| (start, Err(error))))
}

/// Bytes of `text` that were read until an error was found, from the place that it names.
fn read_bytes(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// Bytes of the JSON value that `text` begins with; `None` where it begins with none.
fn length(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// Reads the first JSON value of `text`, with its length.
fn read(text: &str) -> serde_json::Result<(Output, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Output>();
    let output = values.next().unwrap_or_else(|| serde_json::from_str(""))?;
    Ok((output.in_one_form(), values.byte_offset()))
}
