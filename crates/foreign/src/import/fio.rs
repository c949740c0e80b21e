//! What `fio --output-format=json` printed: a file is one trial, its jobs are the phases.
//!
//! A job that ran for a set time, or that moved other amounts in other files, is compared by the
//! time that a stated amount takes at its rate: a time that was set says nothing.

use crate::fio::{JobReport, Outcome, Report};
use crate::import::build::{
    Given, ImportError, Imported, Measured, Terms, Trial, filled, foreign, name_of, phase, place_of,
};
use crate::import::by_files::label;
use crate::import::notices;
use fsarena_model::record::{Notice, PhaseRecord};
use fsarena_model::work::{Dataset, Op, Phase, ProgramReport, Workload};
use std::collections::BTreeMap;

const PROGRAM: &str = "fio";
const OPTION: &str = "--output-format=json";
/// The amount to which times are related: 1 GiB.
const AMOUNT_BYTES: u64 = 1 << 30;
/// The same for jobs that move nothing (trim): a thousand ops.
const AMOUNT_OPS: u64 = 1000;
/// Below this a millisecond is more than one in a hundred.
const COARSE_BELOW_MS: u64 = 100;
/// Amounts that differ by less are the same work.
const SAME_AMOUNT: f64 = 0.001;

/// A RUN of what fio measured: files of one label are its blocks, in the order given. A file
/// without a label is named by its own name.
///
/// # Errors
/// Where a file is not fio's, is not whole, has other jobs than the rest, or values that cannot be;
/// nothing is kept of the others then.
pub fn fio(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    let reports: Vec<Report> = files.iter().map(read).collect::<Result<_, _>>()?;
    same_jobs(files, &reports)?;
    let Some(first) = reports.first() else {
        return Err(ImportError::NoFile);
    };
    let phases: Vec<Phase> =
        first.jobs.iter().map(|job| Phase::new(&job.name, Op::Fio, 0)).collect();
    let amounts: Vec<Option<Amount>> = phases.iter().map(|phase| amount(phase, &reports)).collect();
    let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    let mut measured = Measured {
        program: PROGRAM,
        files: files.iter().map(name_of).collect(),
        contenders: Vec::new(),
        workloads: vec![Workload {
            name: PROGRAM.to_owned(),
            title: format!("jobs of fio: {}", names.join(", ")),
            dataset: Dataset::default(),
            phases: phases.clone(),
            fio: None,
            source: None,
            levels: None,
        }],
        trials: Vec::new(),
        notices: vec![notices::order_unknown()],
    };
    let mut done: BTreeMap<usize, u32> = BTreeMap::new();
    for (given, report) in files.iter().zip(&reports) {
        let contender = place_of(&mut measured.contenders, (label(given), 1));
        let block = done.entry(contender).or_default();
        let mut trial = Trial {
            contender,
            workload: 0,
            block: *block,
            started_unix_ns: report.written_unix_ns,
            file: name_of(given),
            phases: Vec::new(),
            failure: None,
            notices: Vec::new(),
        };
        for (planned, amount) in phases.iter().zip(&amounts) {
            let job = job_of(report, planned).expect("all files have the same jobs");
            let (record, notices) = record(given, report, planned, job, *amount)?;
            if let Some(error) = &record.error {
                trial.failure.get_or_insert_with(|| error.text.clone());
            }
            trial.phases.push(record);
            trial.notices.extend(notices);
        }
        measured.trials.push(trial);
        *block += 1;
    }
    measured.imported(terms)
}

fn read(given: &Given) -> Result<Report, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let report = Report::parse(&given.text)
        .map_err(|error| foreign(given, PROGRAM, OPTION, error.to_string()))?;
    if report.jobs.is_empty() {
        let detail = "it has no jobs (what a client of a fio server prints is not read)";
        return Err(foreign(given, PROGRAM, OPTION, detail));
    }
    Ok(report)
}

fn job_of<'r>(report: &'r Report, planned: &Phase) -> Option<&'r JobReport> {
    report.jobs.iter().find(|job| job.name == planned.name)
}

/// Every file must have the jobs of the first.
fn same_jobs(files: &[Given], reports: &[Report]) -> Result<(), ImportError> {
    let names = |report: &Report| {
        let mut names: Vec<String> = report.jobs.iter().map(|job| job.name.clone()).collect();
        names.sort();
        names
    };
    let Some(first) = reports.first() else { return Ok(()) };
    let other = files.iter().zip(reports).find(|(_, report)| names(report) != names(first));
    let Some((given, report)) = other else { return Ok(()) };
    let detail = format!(
        "has the jobs {}, and {} has {}; what is not the same work is not compared: import them \
         apart",
        names(report).join(", "),
        files[0].path.display(),
        names(first).join(", ")
    );
    Err(ImportError::Differs { path: given.path.clone(), detail })
}

/// What times are related to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Amount {
    Bytes,
    Ops,
}

impl Amount {
    fn in_outcome(self, outcome: &Outcome) -> u64 {
        match self {
            Self::Bytes => outcome.asked_bytes,
            Self::Ops => outcome.ops,
        }
    }

    fn all(self) -> u64 {
        match self {
            Self::Bytes => AMOUNT_BYTES,
            Self::Ops => AMOUNT_OPS,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Bytes => "1 GiB",
            Self::Ops => "1,000 ops",
        }
    }
}

/// What the times of a job are related to; nothing where every file did the same work to its end.
fn amount(planned: &Phase, reports: &[Report]) -> Option<Amount> {
    let jobs: Vec<&JobReport> =
        reports.iter().filter_map(|report| job_of(report, planned)).collect();
    let whole = || jobs.iter().filter(|job| job.outcome.error.is_none());
    let kind = match whole().all(|job| job.outcome.asked_bytes > 0) {
        true => Amount::Bytes,
        false => Amount::Ops,
    };
    let amounts = || whole().map(|job| kind.in_outcome(&job.outcome) as f64);
    let (least, most) = (amounts().fold(f64::MAX, f64::min), amounts().fold(0.0, f64::max));
    let differs = most > least * (1.0 + SAME_AMOUNT);
    (differs || jobs.iter().any(|job| job.is_limited_by_time)).then_some(kind)
}

/// The phase that a job is, and what is to be said of it.
fn record(
    given: &Given,
    report: &Report,
    planned: &Phase,
    job: &JobReport,
    amount: Option<Amount>,
) -> Result<(PhaseRecord, Vec<Notice>), ImportError> {
    let outcome = &job.outcome;
    let bad = |detail: String| ImportError::Value {
        path: given.path.clone(),
        place: format!("job {}", job.name),
        detail,
    };
    if outcome.error.is_none() && outcome.own_ns == 0 {
        return Err(bad("took 0 ms by fio's clock, which says nothing; give it more work".into()));
    }
    if outcome.error.is_none() && outcome.ops == 0 {
        return Err(bad("did nothing: no read, write or trim was completed".into()));
    }
    let mut said = Vec::new();
    let own_ms = outcome.own_ns / 1_000_000;
    if outcome.error.is_none() && own_ms < COARSE_BELOW_MS {
        said.push(notices::coarse_clock(&job.name, own_ms));
    }
    let amount = amount.filter(|amount| outcome.error.is_none() && amount.in_outcome(outcome) > 0);
    let scaled = |value: u64| match amount {
        None => value,
        Some(amount) => {
            let exact = u128::from(value) * u128::from(amount.all());
            let rounded = exact / u128::from(amount.in_outcome(outcome));
            u64::try_from(rounded).unwrap_or(u64::MAX)
        }
    };
    if let Some(amount) = amount {
        said.push(notices::by_amount(&job.name, amount.words()));
    }
    let program = ProgramReport {
        name: PROGRAM.to_owned(),
        version: report.version.clone(),
        figures: outcome.figures.clone(),
        // Related to an amount it is no reading of fio's clock any more: `own_ns` is not given.
        ..ProgramReport::default()
    };
    let mut record = phase(planned, scaled(outcome.own_ns), program, outcome.error.clone());
    record.ops = scaled(outcome.ops);
    record.asked_bytes = scaled(outcome.asked_bytes);
    record.asked_written_bytes = Some(scaled(outcome.written_bytes));
    record.latency.clone_from(&outcome.latency);
    record.write_latency.clone_from(&outcome.write_latency);
    Ok((record, said))
}
