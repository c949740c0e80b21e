//! What a run of fio comes to, in the words of the model.
//!
//! *Ops* are fio's I/Os (reads, writes and trims; syncs stand apart). *Asked bytes* are what the
//! reads and writes moved. *Latency* is fio's own: completion latency (`clat`), or, where the job
//! asks for `lat_percentiles`, the whole from submission on. fio's buckets are those of
//! [`LatencyHistogram`] with 6 bits, so nothing is lost in taking them over; shortest, longest and
//! number are exact, the sum is fio's mean times the number. Where a longest of 0, or one below the
//! shortest, contradicts the bins, the ends of the bins that were hit stand for both.
//!
//! A figure that fio did not take (`disable_clat`, `gtod_reduce`) is missing, not zero.

use crate::fio::output::{self, Direction, JobOut, Latency, Output};
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::work::OpError;
use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};

/// fio divides a power of two into 64 buckets (stat.h, `FIO_IO_U_PLAT_BITS`).
const PRECISION_BITS: u32 = 6;

/// What fio says of its work.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// fio's version, as in its output.
    pub version: String,
    /// I/Os that were completed.
    pub ops: u64,
    /// Bytes that they moved.
    pub asked_bytes: u64,
    /// Of these, written.
    pub written_bytes: u64,
    /// Time of the longest job by fio's own clock, which has milliseconds.
    pub own_ns: u64,
    /// Latency of all I/Os.
    pub latency: Option<LatencyHistogram>,
    /// Latency of the writes alone, where other I/Os are next to them.
    pub write_latency: Option<LatencyHistogram>,
    /// The first failure.
    pub error: Option<OpError>,
    /// Further figures, by name with unit.
    pub figures: BTreeMap<String, String>,
}

/// Output that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// fio gave up before it had anything to report.
    #[error("fio printed no result; it said: {0}")]
    NoJson(String),
    /// The JSON is not what fio 3 prints.
    #[error("fio's JSON cannot be read: {0}; use fio 3.x")]
    Json(String),
}

/// Characters of what others wrote that an error quotes at most.
const QUOTED: usize = 100;

impl From<serde_json::Error> for OutputError {
    fn from(error: serde_json::Error) -> Self {
        // The place is at the end of its words, which quote values of whatever length.
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = text.strip_suffix(&place);
        Self::Json(what.map_or_else(|| quoted(&text), |what| quoted(what) + &place))
    }
}

/// The beginning of a text, where it is long.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl Outcome {
    /// Reads what fio printed on standard output and standard error.
    ///
    /// # Errors
    /// Where there is no JSON, or not fio's.
    pub fn parse(stdout: &str, stderr: &str) -> Result<Self, OutputError> {
        let Some((start, output)) = output::find(stdout) else {
            return Err(OutputError::NoJson(last_words(stdout, stderr)));
        };
        let output = output?;
        let said = format!("{}\n{stderr}", &stdout[..start]);
        Ok(Self::new(&output.version, &named(&output), &said))
    }

    fn new(version: &str, jobs: &[&JobOut], said: &str) -> Self {
        let ops_of = |pick: Pick| total(jobs.iter().map(|job| done(job, pick(job))));
        let bytes_of = |pick: Pick| total(jobs.iter().map(|job| pick(job).io_bytes));
        let writes = ops_of(WRITE);
        let ops = total([ops_of(READ), writes, ops_of(TRIM)]);
        let latencies = |which: &[Pick]| {
            let each = jobs.iter().flat_map(|job| which.iter().map(|pick| chosen(pick(job))));
            histogram(&each.collect::<Vec<_>>())
        };
        Self {
            version: version.to_owned(),
            ops,
            asked_bytes: total([bytes_of(READ), bytes_of(WRITE)]),
            written_bytes: bytes_of(WRITE),
            own_ns: jobs.iter().map(|job| own_ns(job)).max().unwrap_or(0),
            latency: latencies(&[READ, WRITE, TRIM]),
            write_latency: if writes < ops { latencies(&[WRITE]) } else { None },
            error: failure(jobs, said, ops),
            figures: figures(jobs),
        }
    }
}

/// What a whole file of fio's says, job by job.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// fio's version, as in its output.
    pub version: String,
    /// When fio wrote it, ns since 1970; absent in files of versions that do not say.
    pub written_unix_ns: Option<u64>,
    /// Jobs of one name together, in the order of their first.
    pub jobs: Vec<JobReport>,
}

/// Jobs of one name.
#[derive(Clone, PartialEq, Debug)]
pub struct JobReport {
    pub name: String,
    /// Whether an option limits their time (`runtime`, `time_based`): then how much they did is the
    /// result, not how long it took.
    pub is_limited_by_time: bool,
    /// What they come to.
    pub outcome: Outcome,
}

impl Report {
    /// Reads a file that fio wrote (`--output-format=json` or `json+`); lines before and after the
    /// JSON, such as warnings, are passed over.
    ///
    /// # Errors
    /// Where there is no JSON, or not fio's.
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        let found = output::find(text);
        let (start, output) = found.ok_or_else(|| OutputError::NoJson(last_words(text, "")))?;
        let output = output?;
        let said = &text[..start];
        let names: IndexSet<&str> =
            named(&output).into_iter().map(|job| job.jobname.as_str()).collect();
        let of = |name: &str| {
            let all = named(&output);
            let own: Vec<&JobOut> = all.into_iter().filter(|job| job.jobname == name).collect();
            let is_limiting =
                |option: &String| ["runtime", "time_based"].contains(&option.as_str());
            let global = output.global_options.keys().any(is_limiting);
            let is_limited_by_time =
                global || own.iter().any(|job| job.options.keys().any(is_limiting));
            let outcome = Outcome::new(&output.version, &own, said);
            JobReport { name: name.to_owned(), is_limited_by_time, outcome }
        };
        Ok(Self {
            version: output.version.clone(),
            written_unix_ns: output.written_unix_ns(),
            jobs: names.into_iter().map(of).collect(),
        })
    }
}

/// Jobs that report: in a group one does so for all.
fn named(output: &Output) -> Vec<&JobOut> {
    output.jobs.iter().filter(|job| !job.jobname.is_empty()).collect()
}

type Pick = fn(&JobOut) -> &Direction;

const READ: Pick = |job| &job.read;
const WRITE: Pick = |job| &job.write;
const TRIM: Pick = |job| &job.trim;

/// A sum of figures that others wrote: what does not fit is cut to the largest number.
fn total(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}

/// I/Os of a direction that were completed. fio counts an I/O when it issues it, so the one that
/// failed is among `total_ios`, but has no latency.
fn done(job: &JobOut, direction: &Direction) -> u64 {
    let (issued, timed) = (direction.total_ios, direction.clat_ns.samples);
    match (job.error, timed) {
        (0, _) => issued,
        (_, 0) => issued.saturating_sub(1),
        (_, timed) => issued.min(timed),
    }
}

/// The last thing that fio said, in one line; of what may be any text, not much of it.
fn last_words(stdout: &str, stderr: &str) -> String {
    let said = |text: &str| {
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].iter().map(|line| quoted(line));
        (!lines.is_empty()).then(|| last.collect::<Vec<_>>().join(" / "))
    };
    let words = said(stderr).or_else(|| said(stdout).map(|words| quoted(&words)));
    words.unwrap_or_else(|| "nothing".to_owned())
}

/// Length of a job by fio's clock: that of its longest direction.
fn own_ns(job: &JobOut) -> u64 {
    let moved = [&job.read, &job.write, &job.trim].map(|direction| direction.runtime);
    let longest_ms = moved.into_iter().max().filter(|&ms| ms > 0).unwrap_or(job.job_runtime);
    longest_ms.saturating_mul(1_000_000)
}

/// The latency of which fio kept the histogram.
fn chosen(direction: &Direction) -> &Latency {
    if direction.lat_ns.bins.is_empty() { &direction.clat_ns } else { &direction.lat_ns }
}

/// Lower bound of the bucket that holds `ns`.
fn lower_ns(ns: u64) -> u64 {
    let highest_bit = 63 - ns.max(1).leading_zeros();
    let shift = highest_bit.saturating_sub(PRECISION_BITS);
    ns >> shift << shift
}

/// All of them in one; `None` where fio kept no bins.
fn histogram(latencies: &[&Latency]) -> Option<LatencyHistogram> {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    let mut taken = LatencyHistogram {
        precision_bits: PRECISION_BITS,
        min_ns: u64::MAX,
        ..LatencyHistogram::default()
    };
    for latency in latencies.iter().filter(|latency| !latency.bins.is_empty()) {
        let (mut shortest_ns, mut longest_ns) = (u64::MAX, 0);
        for (value, &hits) in &latency.bins {
            let lower_ns = lower_ns(value.parse().ok()?);
            let bucket = buckets.entry(lower_ns).or_default();
            *bucket = bucket.saturating_add(hits);
            if hits > 0 {
                shortest_ns = shortest_ns.min(lower_ns);
                longest_ns = longest_ns.max(taken.upper_ns(lower_ns));
            }
        }
        let is_exact = latency.min <= latency.max && (latency.max > 0 || longest_ns == 0);
        if is_exact {
            (shortest_ns, longest_ns) = (latency.min, latency.max);
        }
        taken.min_ns = taken.min_ns.min(shortest_ns);
        taken.max_ns = taken.max_ns.max(longest_ns);
        taken.sum_ns =
            taken.sum_ns.saturating_add((latency.mean * latency.samples as f64).round() as u64);
    }
    taken.min_ns = taken.min_ns.min(taken.max_ns);
    taken.buckets = buckets.into_iter().collect();
    (!taken.buckets.is_empty()).then_some(taken)
}

/// The first failure: the errno of the JSON, with the words that fio printed next to it.
fn failure(jobs: &[&JobOut], said: &str, ops: u64) -> Option<OpError> {
    let job = jobs.iter().find(|job| job.error != 0)?;
    // "fio: pid=30427, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device"
    let marker = format!("err={}/", job.error);
    let line = said.lines().find(|line| line.contains(&marker)).unwrap_or("");
    let field = |name: &str| line.split_once(name).map(|(_, rest)| rest);
    let func = field("func=").and_then(|rest| rest.split(',').next()).unwrap_or("fio");
    // "fio: io_u error on file full.0.0: No space left on device: write offset=1048576, buflen=…"
    let on_file = said.lines().find_map(|line| line.split_once("io_u error on file "));
    let mut parts = on_file.map(|(_, rest)| rest.split(": ")).into_iter().flatten();
    let path = parts.next().unwrap_or(".");
    let call = parts.nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or(func);
    let words = field("error=").map_or_else(|| format!("errno {}", job.error), str::to_owned);
    Some(OpError {
        op_index: ops,
        thread: None,
        call: call.to_owned(),
        path: path.strip_prefix("./").unwrap_or(path).to_owned(),
        errno: job.error,
        text: format!("fio job {}: {words}", job.jobname),
    })
}

/// Figures for people and for export; every key ends with its unit.
fn figures(jobs: &[&JobOut]) -> BTreeMap<String, String> {
    let mut figures = BTreeMap::new();
    figures.insert("jobs".to_owned(), jobs.len().to_string());
    direction_figures(&mut figures, "", jobs);
    let names: BTreeSet<&str> = jobs.iter().map(|job| job.jobname.as_str()).collect();
    if names.len() > 1 {
        for name in names {
            let own: Vec<&JobOut> =
                jobs.iter().filter(|job| job.jobname == name).copied().collect();
            direction_figures(&mut figures, &format!("{name}."), &own);
        }
    }
    let passed_over = total(jobs.iter().map(|job| job.total_err));
    if passed_over > 0 {
        figures.insert("errors_passed_over".to_owned(), passed_over.to_string());
    }
    let bins = |kind: fn(&Direction) -> &Latency| {
        let moved = jobs.iter().flat_map(|job| [&job.read, &job.write, &job.trim]);
        moved.into_iter().any(|direction| !kind(direction).bins.is_empty())
    };
    let kind = match (bins(|direction| &direction.lat_ns), bins(|direction| &direction.clat_ns)) {
        (true, _) => Some("lat"),
        (false, true) => Some("clat"),
        (false, false) => None,
    };
    if let Some(kind) = kind {
        figures.insert("latency_kind".to_owned(), kind.to_owned());
    }
    figures
}

/// Figures of each direction in which something was done.
fn direction_figures(figures: &mut BTreeMap<String, String>, prefix: &str, jobs: &[&JobOut]) {
    for (name, pick) in [("read", READ), ("write", WRITE), ("trim", TRIM)] {
        let each = || jobs.iter().map(|job| pick(job));
        let ios = total(jobs.iter().map(|job| done(job, pick(job))));
        if ios == 0 {
            continue;
        }
        let mut add = |key: &str, value: String| {
            figures.insert(format!("{prefix}{name}_{key}"), value);
        };
        let bytes = total(each().map(|direction| direction.io_bytes));
        let ms = each().map(|direction| direction.runtime).max().unwrap_or(0);
        add("ops", ios.to_string());
        add("bytes", bytes.to_string());
        add("own_ns", ms.saturating_mul(1_000_000).to_string());
        if ms > 0 {
            add("iops", format!("{:.1}", ios as f64 * 1e3 / ms as f64));
            add("bytes_per_s", format!("{:.0}", bytes as f64 * 1e3 / ms as f64));
        }
        let short = total(each().map(|direction| direction.short_ios));
        if short > 0 {
            add("short_ops", short.to_string());
        }
        latency_figures(&mut add, &each().map(chosen).collect::<Vec<_>>());
    }
    let syncs: Vec<_> = jobs.iter().map(|job| &job.sync.lat_ns).collect();
    let count = total(jobs.iter().map(|job| job.sync.total_ios));
    if count > 0 {
        let mut add = |key: &str, value: String| {
            figures.insert(format!("{prefix}sync_{key}"), value);
        };
        add("ops", count.to_string());
        latency_figures(&mut add, &syncs);
    }
}

/// Mean, extremes and quantiles.
fn latency_figures(add: &mut impl FnMut(&str, String), latencies: &[&Latency]) {
    let Some(histogram) = histogram(latencies) else { return };
    let count = histogram.count().max(1);
    add("min_ns", histogram.min_ns.to_string());
    add("mean_ns", (histogram.sum_ns / count).to_string());
    for (key, share) in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p99.9_ns", 0.999)] {
        add(key, histogram.quantile_ns(share).unwrap_or(0).to_string());
    }
    add("max_ns", histogram.max_ns.to_string());
}
