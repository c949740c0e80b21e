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

use crate::fio::constraints;
use crate::fio::output::{self, Direction, Found, JobOut, Latency, Output, Search};
use crate::seen::{escaped, first_line};
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::work::{Constraints, OpError};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

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
    /// Of these, written; absent where fio gives all directions in one (`unified_rw_reporting`).
    pub written_bytes: Option<u64>,
    /// Time of the longest job by fio's own clock, which has milliseconds.
    pub own_ns: u64,
    /// Latency of all I/Os.
    pub latency: Option<LatencyHistogram>,
    /// Latency of the writes alone, where other I/Os are next to them.
    pub write_latency: Option<LatencyHistogram>,
    /// The latency that 99 % of the I/Os stay below, by fio's own list, where one job did all of
    /// them in one direction: lists cannot be added.
    pub p99_ns: Option<u64>,
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
    /// The JSON is not what fio prints.
    #[error("fio's JSON cannot be read: {0}")]
    Json(String),
    /// There is no JSON at all.
    #[error("it has no JSON; it begins with {0}")]
    Foreign(String),
    /// A report that is not whole, next to others that are.
    #[error("the JSON that begins in line {0} is cut off, or is none of fio's")]
    Cut(usize),
    /// There are more beginnings of something else than are tried.
    #[error(
        "it has too many braces that begin no report of fio; leave its reports alone in the file"
    )]
    Braces,
}

/// Characters of what others wrote that an error quotes at most.
const QUOTED: usize = 100;

impl OutputError {
    /// The words of an error, of which the place is at the end, and which quote values of whatever
    /// length.
    pub(crate) fn shortened(error: &serde_json::Error) -> String {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = text.strip_suffix(&place);
        what.map_or_else(|| quoted(&text), |what| quoted(what) + &place)
    }
}

impl From<serde_json::Error> for OutputError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(Self::shortened(&error))
    }
}

/// The beginning of a text, where it is long.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", escaped(&text[..end])),
        None => escaped(text).into_owned(),
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
        let mixed = ops_of(MIXED);
        let ops = total([ops_of(READ), writes, ops_of(TRIM), mixed]);
        let latencies = |which: &[Pick]| {
            let each = jobs.iter().flat_map(|job| which.iter().map(|pick| chosen(pick(job))));
            histogram(&each.collect::<Vec<_>>())
        };
        Self {
            version: version.to_owned(),
            ops,
            asked_bytes: total([bytes_of(READ), bytes_of(WRITE), bytes_of(MIXED)]),
            written_bytes: (mixed == 0).then(|| bytes_of(WRITE)),
            own_ns: jobs.iter().map(|job| own_ns(job)).max().unwrap_or(0),
            latency: latencies(&[READ, WRITE, TRIM, MIXED]),
            write_latency: if writes < ops { latencies(&[WRITE]) } else { None },
            p99_ns: listed_p99_ns(jobs),
            error: failure(jobs, said, ops),
            figures: figures(jobs),
        }
    }
}

/// What one report of fio says, job by job.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// fio's version, as in its output.
    pub version: String,
    /// When fio wrote it, ns since 1970; absent in files of versions that do not say.
    pub written_unix_ns: Option<u64>,
    /// Where it begins and ends in its text.
    pub place: Range<usize>,
    /// In the order of their first; clones of a job are one.
    pub jobs: Vec<JobReport>,
}

/// A job, with all its clones (`numjobs`): what has one name, one group and the same options.
#[derive(Clone, PartialEq, Debug)]
pub struct JobReport {
    pub name: String,
    /// Jobs of one group ran at once.
    pub group: u64,
    /// Its options with those of `[global]`, as fio repeats them; empty for one without a value.
    pub options: BTreeMap<String, String>,
    /// What they come to.
    pub outcome: Outcome,
}

impl JobReport {
    /// What it was told to do.
    #[must_use]
    pub fn constraints(&self) -> Constraints {
        constraints::constraints_of(&|name| self.options.get(name).map(String::as_str))
    }
}

impl Report {
    /// Reads all reports that fio wrote into a file (`--output-format=json` or `json+`); lines
    /// around the JSON, such as warnings, are passed over.
    ///
    /// # Errors
    /// Where there is no report, or something that looks like one cannot be read.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, OutputError> {
        let Search { found, refused, gave_up } = output::search(text);
        if let Some((start, error)) = refused {
            return Err(match (found.is_empty(), gave_up) {
                (true, false) => error.into(),
                (true, true) => OutputError::Braces,
                (false, _) => OutputError::Cut(text[..start].matches('\n').count() + 1),
            });
        }
        if gave_up {
            return Err(OutputError::Braces);
        }
        if found.is_empty() {
            return Err(OutputError::Foreign(first_line(text)));
        }
        let mut before = 0;
        let of = |found: Found| {
            let said = &text[before..found.start];
            before = found.end;
            Self::new(&found, said)
        };
        Ok(found.into_iter().map(of).collect())
    }

    fn new(found: &Found, said: &str) -> Self {
        let output = &found.output;
        let global = texts(&output.global_options);
        let mut jobs: IndexMap<JobKey<'_>, Vec<&JobOut>> = IndexMap::new();
        for job in named(output) {
            let mut options = global.clone();
            options.extend(texts(&job.options));
            jobs.entry((&job.jobname, job.groupid, options)).or_default().push(job);
        }
        let of = |((name, group, options), own): (JobKey<'_>, Vec<&JobOut>)| JobReport {
            name: name.to_owned(),
            group,
            options,
            outcome: Outcome::new(&output.version, &own, said),
        };
        Self {
            version: output.version.clone(),
            written_unix_ns: output.written_unix_ns(),
            place: found.start..found.end,
            jobs: jobs.into_iter().map(of).collect(),
        }
    }
}

/// Name, group and options: jobs that have them in common are one.
type JobKey<'a> = (&'a str, u64, BTreeMap<String, String>);

/// Options as text; what JSON has as null is an option without a value.
fn texts(options: &BTreeMap<String, serde_json::Value>) -> BTreeMap<String, String> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    };
    options.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Jobs that report: in a group one does so for all.
fn named(output: &Output) -> Vec<&JobOut> {
    output.jobs.iter().filter(|job| !job.jobname.is_empty()).collect()
}

type Pick = fn(&JobOut) -> &Direction;

const READ: Pick = |job| &job.read;
const WRITE: Pick = |job| &job.write;
const TRIM: Pick = |job| &job.trim;
/// All of them, where no direction has figures of its own.
const MIXED: Pick = |job| {
    let alone = [&job.read, &job.write, &job.trim];
    match alone.iter().all(|own| own.total_ios == 0 && own.io_bytes == 0) {
        true => &job.mixed,
        false => &NOTHING,
    }
};
static NOTHING: LazyLock<Direction> = LazyLock::new(Direction::default);

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
    let moved = [READ, WRITE, TRIM, MIXED].map(|pick| pick(job).runtime);
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
        let moved = jobs.iter().flat_map(|job| [READ, WRITE, TRIM, MIXED].map(|pick| pick(job)));
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
    for (name, pick) in [("read", READ), ("write", WRITE), ("trim", TRIM), ("mixed", MIXED)] {
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
    let Some(histogram) = histogram(latencies) else {
        // The lists of several jobs cannot be added.
        if let [one] = latencies {
            listed_figures(add, one);
        }
        return;
    };
    let count = histogram.count().max(1);
    add("min_ns", histogram.min_ns.to_string());
    add("mean_ns", (histogram.sum_ns / count).to_string());
    for (key, share) in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p99.9_ns", 0.999)] {
        add(key, histogram.quantile_ns(share).unwrap_or(0).to_string());
    }
    add("max_ns", histogram.max_ns.to_string());
}

/// What fio prints where it keeps no bins.
fn listed_figures(add: &mut impl FnMut(&str, String), latency: &Latency) {
    if latency.max > 0 {
        add("min_ns", latency.min.to_string());
        add("mean_ns", format!("{:.0}", latency.mean));
        add("max_ns", latency.max.to_string());
    }
    for (key, percent) in [("p50_ns", 50.0), ("p99_ns", 99.0), ("p99.9_ns", 99.9)] {
        if let Some(ns) = latency.listed_ns(percent) {
            add(key, ns.to_string());
        }
    }
}

/// p99 of fio's list, of the one direction of the one job that did something.
fn listed_p99_ns(jobs: &[&JobOut]) -> Option<u64> {
    let all = jobs.iter().flat_map(|job| [READ, WRITE, TRIM, MIXED].map(|pick| pick(job)));
    let mut moved = all.filter(|direction| direction.total_ios > 0);
    let only = moved.next().filter(|_| moved.next().is_none())?;
    // The whole latency has a list where it was asked for alone.
    only.lat_ns.listed_ns(99.0).or_else(|| only.clat_ns.listed_ns(99.0))
}
