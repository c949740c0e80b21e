//! What `fio --output-format=json` printed: a report is one trial, its jobs are the phases.
//!
//! A job is known by its group, its name and its options; its clones (`numjobs`) are one. What is
//! compared follows from its options, as for jobs that fsarena runs (`fio::terms`); where reports
//! of one work moved different amounts, something has ended them early, and the same holds.

use crate::fio::{JobReport, Report, normalised};
use crate::import::build::{Given, ImportError, Imported, Terms, filled, foreign};
use crate::import::documents::{Document, Source, Timed, Work, imported};
use crate::import::notices;
use crate::seen::escaped;
use fsarena_model::record::Notice;
use fsarena_model::work::{Constraints, CountedWork, Op, Phase};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAM: &str = "fio";
const OPTION: &str = "--output-format=json";
/// Below this a millisecond is more than one in a hundred.
const COARSE_BELOW_MS: u64 = 100;
/// Amounts that differ by less are the same work.
const SAME_AMOUNT: f64 = 0.001;

/// Options that say where files lie, what is printed and who asked: the work is the same.
const NEUTRAL: [&str; 40] = [
    "clat_percentiles",
    "client",
    "description",
    "directory",
    "disk_util",
    "eta",
    "eta-interval",
    "filename",
    "filename_format",
    "group_reporting",
    "hist_buffer_size",
    "hostname",
    "log_avg_msec",
    "log_compression",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_store_compressed",
    "log_unix_epoch",
    "minimal",
    "mountpoint",
    "name",
    "new_group",
    "opendir",
    "output",
    "output-format",
    "per_job_logs",
    "percentile_list",
    "port",
    "significant_figures",
    "status-interval",
    "stonewall",
    "unified_rw_reporting",
    "unlink",
    "wait_for_previous",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
    "slat_percentiles",
];

/// A RUN of what fio measured: reports of one label are its blocks, in the order given. A file
/// without a label is named by its own name.
///
/// # Errors
/// Where a file is not fio's, is not whole, shares no work with another label, or has values that
/// cannot be; nothing is kept of the others then.
pub fn fio(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    if files.is_empty() {
        return Err(ImportError::NoFile);
    }
    let mut documents = Vec::new();
    let mut under_way = 0;
    for (file, given) in files.iter().enumerate() {
        filled(given, PROGRAM, OPTION)?;
        let reports = Report::parse_all(&given.text)
            .map_err(|error| foreign(given, PROGRAM, OPTION, error.to_string()))?;
        let several = reports.len() > 1;
        let (results, passed_over) = results(given, reports)?;
        under_way += passed_over;
        for (number, report) in results {
            let place = if several { format!("report {}", number + 1) } else { String::new() };
            documents.push(document(file, given, report, place)?);
        }
    }
    amounts_decide(&mut documents);
    let mut said = vec![notices::order_unknown()];
    if under_way > 0 {
        said.push(notices::under_way(under_way));
    }
    let planned = |name: &str| Phase::new(name, Op::Fio, 0);
    let title = "jobs of fio";
    imported(Source { program: PROGRAM, title, notices: said, planned }, files, documents, terms)
}

/// The reports that are results, with their numbers, and how many are not: those of a run that went
/// on (`--status-interval`).
fn results(
    given: &Given,
    reports: Vec<Report>,
) -> Result<(Vec<(usize, Report)>, usize), ImportError> {
    let mut kept: Vec<(usize, Report)> = Vec::new();
    let mut passed_over = 0;
    for (number, report) in reports.into_iter().enumerate() {
        if let Some((_, last)) = kept.last()
            && goes_on(given, last, &report)?
        {
            kept.pop();
            passed_over += 1;
        }
        kept.push((number, report));
    }
    Ok((kept, passed_over))
}

/// Whether `later` is of the same run as the report before it: its counters go on, and the run is
/// longer than what lies between the two. A run that began behind the first would be shorter.
fn goes_on(given: &Given, earlier: &Report, later: &Report) -> Result<bool, ImportError> {
    let jobs = |report: &Report| {
        let key = |job: &JobReport| (job.group, job.name.clone(), job.options.clone());
        let of = |job: &JobReport| (key(job), (job.outcome.ops, job.outcome.own_ns));
        report.jobs.iter().map(of).collect::<BTreeMap<_, _>>()
    };
    let (before, after) = (jobs(earlier), jobs(later));
    // Jobs of later groups may be missing where they have not begun.
    let grew = |(key, (ops, own_ns)): (&_, &(u64, u64))| {
        after.get(key).is_some_and(|(more, longer)| more >= ops && longer >= own_ns)
    };
    if !before.iter().all(grew)
        || earlier.written_unix_ns == later.written_unix_ns && after == before
    {
        return Ok(false);
    }
    if before.values().all(|(ops, _)| *ops == 0) {
        return Ok(true);
    }
    let (Some(first), Some(last)) = (earlier.written_unix_ns, later.written_unix_ns) else {
        let detail = "it has several reports without the time at which they were written, so that a \
                      report of a run under way looks like a run: give each report a file of its \
                      own";
        return Err(foreign(given, PROGRAM, OPTION, detail));
    };
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    for job in &later.jobs {
        let longest = groups.entry(job.group).or_default();
        *longest = job.outcome.own_ns.max(*longest);
    }
    let length_ns = groups.values().fold(0_u64, |sum, own| sum.saturating_add(*own));
    Ok(last.saturating_sub(first) < length_ns)
}

fn document<'a>(
    file: usize,
    given: &'a Given,
    report: Report,
    place: String,
) -> Result<Document<'a>, ImportError> {
    if report.jobs.is_empty() {
        return Err(foreign(given, PROGRAM, OPTION, "it has no jobs"));
    }
    let names = names(&report.jobs);
    let (mut work, mut phases, mut said) = (Work::new(), Vec::new(), Vec::new());
    for (job, name) in report.jobs.into_iter().zip(names) {
        for (option, value) in work_of(&job) {
            work.insert(format!("{option} of {name}"), value);
        }
        let (timed, notices) = timed(given, &place, job, name)?;
        phases.push(timed);
        said.extend(notices);
    }
    Ok(Document {
        file,
        given,
        label: None,
        text: &given.text[report.place],
        place,
        number: 0,
        written_unix_ns: report.written_unix_ns,
        version: report.version,
        work: without_names(work, phases.len()),
        phases,
        notices: said,
    })
}

/// Where there is one job alone, options need no name.
fn without_names(work: Work, jobs: usize) -> Work {
    if jobs > 1 {
        return work;
    }
    let bare = |option: String| {
        option.split_once(" of ").map(|(bare, _)| bare.to_owned()).unwrap_or(option)
    };
    work.into_iter().map(|(option, value)| (bare(option), value)).collect()
}

/// The options that decide how much work a job is, in one form.
fn work_of(job: &JobReport) -> Work {
    let own = job.options.iter().map(|(name, value)| normalised(name, value));
    let mut work: Work = own
        .filter(|(name, _)| !NEUTRAL.contains(&name.as_str()))
        .map(|(name, value)| (name, escaped(&value).into_owned()))
        .collect();
    for (name, usual) in [("rw", "read"), ("bs", "4096"), ("iodepth", "1"), ("numjobs", "1")] {
        work.entry(name.to_owned()).or_insert_with(|| usual.to_owned());
    }
    // What is not direct is buffered.
    let is_direct = work.get("direct").is_some_and(|value| value != "0")
        || work.get("buffered").is_some_and(|value| value == "0");
    work.remove("buffered");
    work.insert("direct".to_owned(), u8::from(is_direct).to_string());
    work
}

/// Names of jobs, each once: with the group where names are there twice, then with a number.
fn names(jobs: &[JobReport]) -> Vec<String> {
    let all: Vec<String> = jobs.iter().map(|job| escaped(&job.name).into_owned()).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in &all {
        *counts.entry(name).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let one = |(job, name): (&JobReport, &String)| {
        let base = match counts[name] {
            1 => name.clone(),
            _ => format!("{name} (group {})", job.group),
        };
        let mut own = base.clone();
        let mut number = 1;
        while !taken.insert(own.clone()) {
            number += 1;
            own = format!("{base} #{number}");
        }
        own
    };
    jobs.iter().zip(&all).map(one).collect()
}

/// The phase that a job is, and what is to be said of it.
fn timed(
    given: &Given,
    place: &str,
    job: JobReport,
    name: String,
) -> Result<(Timed, Vec<Notice>), ImportError> {
    let mut constraints = job.constraints();
    let outcome = job.outcome;
    let bad = |detail: &str| ImportError::Value {
        path: given.path.clone(),
        place: match place {
            "" => format!("job {name}"),
            place => format!("{place}, job {name}"),
        },
        detail: detail.to_owned(),
    };
    if outcome.error.is_none() && outcome.ops == 0 {
        return Err(bad("did nothing: no read, write or trim was completed"));
    }
    if outcome.error.is_none() && outcome.own_ns == 0 {
        return Err(bad("took 0 ms by fio's clock, which says nothing; give it more work"));
    }
    let mut said = Vec::new();
    let own_ms = outcome.own_ns / 1_000_000;
    if outcome.error.is_none() && own_ms < COARSE_BELOW_MS {
        said.push(notices::coarse_clock(&name, own_ms));
    }
    if outcome.error.is_none() {
        constraints.lacks_latency = outcome.latency.is_none() && outcome.p99_ns.is_none();
    }
    let timed = Timed {
        name,
        constraints,
        returned_ns: outcome.own_ns,
        ops: outcome.ops,
        asked_bytes: outcome.asked_bytes,
        written_bytes: outcome.written_bytes,
        own_ns: Some(outcome.own_ns),
        p99_ns: outcome.p99_ns,
        latency: outcome.latency,
        write_latency: outcome.write_latency,
        error: outcome.error,
        figures: outcome.figures,
    };
    Ok((timed, said))
}

/// Where documents of one work moved other amounts, they were ended by something else than it.
fn amounts_decide(documents: &mut [Document<'_>]) {
    /// Least and most of ops, bytes and bytes an op.
    struct Ends([(f64, f64); 3]);
    let figures = |timed: &Timed| {
        let (ops, bytes) = (timed.ops as f64, timed.asked_bytes as f64);
        [ops, bytes, bytes / ops.max(1.0)]
    };
    let mut ends: BTreeMap<(Work, String), Ends> = BTreeMap::new();
    for document in documents.iter() {
        for timed in document.phases.iter().filter(|timed| timed.error.is_none()) {
            let key = (document.work.clone(), timed.name.clone());
            let known = ends.entry(key).or_insert(Ends([(f64::MAX, 0.0); 3]));
            for ((least, most), value) in known.0.iter_mut().zip(figures(timed)) {
                (*least, *most) = (least.min(value), most.max(value));
            }
        }
    }
    for document in documents {
        for timed in &mut document.phases {
            let Some(Ends(ends)) = ends.get(&(document.work.clone(), timed.name.clone())) else {
                continue;
            };
            let [ops, bytes, per_op] = ends.map(|(least, most)| most > least * (1.0 + SAME_AMOUNT));
            timed.constraints = Constraints {
                time_is_set: timed.constraints.time_is_set || ops || bytes,
                work: if per_op { CountedWork::Bytes } else { CountedWork::Ops },
                ..timed.constraints
            };
        }
    }
}
