//! A result file of the Phoronix Test Suite (`composite.xml`): tests, each with the values of every
//! run on each system.
//!
//! A contender is a system, a workload is a test. Times are compared as they are, rates by the time
//! that a thousand take; scores that are neither are left out.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Terms, Trial, command_phase, filled, foreign, name_of,
    phase, place_of, workload,
};
use crate::import::notices;
use fsarena_model::work::{Phase, ProgramReport, Workload};
use serde::Deserialize;
use std::collections::BTreeMap;

const PROGRAM: &str = "Phoronix Test Suite";
const OPTION: &str = "composite.xml";
/// Name of the only phase.
const PHASE: &str = "test";
/// Of what is given as a rate, the time for so many is compared.
const AMOUNT: u64 = 1000;
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;
/// Between the values of the runs.
const RUNS: char = ':';

/// Scales of a time in which less is better, and their seconds.
const TIMES: [(&str, f64); 8] = [
    ("seconds", 1.0),
    ("s", 1.0),
    ("sec", 1.0),
    ("ms", 1e-3),
    ("milliseconds", 1e-3),
    ("us", 1e-6),
    ("microseconds", 1e-6),
    ("minutes", 60.0),
];
/// Endings of a scale of a rate in which more is better, and the seconds it counts by.
const RATES: [(&str, f64); 6] = [
    ("/s", 1.0),
    ("/sec", 1.0),
    (" per second", 1.0),
    (" per sec", 1.0),
    (" per minute", 60.0),
    ("iops", 1.0),
];

#[derive(Deserialize)]
struct Composite {
    #[serde(rename = "Result", default)]
    results: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Test {
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    scale: String,
    #[serde(default)]
    proportion: String,
    #[serde(default)]
    data: Data,
}

#[derive(Deserialize, Default)]
struct Data {
    #[serde(rename = "Entry", default)]
    entries: Vec<Entry>,
}

/// A system.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    #[serde(default)]
    identifier: String,
    /// The mean; empty where the test failed.
    #[serde(default)]
    value: String,
    /// The value of each run.
    #[serde(default)]
    raw_string: String,
}

/// What the values of a test are.
#[derive(Clone, Copy)]
enum Scale {
    /// Times of so many seconds.
    Time(f64),
    /// Rates in so many seconds.
    Rate(f64),
}

impl Test {
    fn scale(&self) -> Option<Scale> {
        let unit = self.scale.trim().to_lowercase();
        match self.proportion.trim() {
            "LIB" => TIMES.iter().find(|(own, _)| *own == unit).map(|(_, s)| Scale::Time(*s)),
            "HIB" => {
                let rate = RATES.iter().find(|(ending, _)| unit.ends_with(ending));
                rate.map(|(_, seconds)| Scale::Rate(*seconds))
            }
            _ => None,
        }
    }

    fn name(&self) -> String {
        match self.description.trim() {
            "" => self.title.trim().to_owned(),
            description => format!("{}: {description}", self.title.trim()),
        }
    }
}

/// A RUN of what the Phoronix Test Suite measured: a block a run of a test on a system.
///
/// # Errors
/// Where a file is not one of its results, has no test that is a time or a rate, or values that
/// cannot be.
pub fn phoronix(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    if files.is_empty() {
        return Err(ImportError::NoFile);
    }
    let mut measured = Measured {
        notices: vec![notices::one_system_after_another(PROGRAM)],
        ..Measured::new(PROGRAM, files)
    };
    let mut done: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for given in files {
        let composite = read(given)?;
        let systems = systems(&composite);
        for test in &composite.results {
            let Some(scale) = test.scale() else {
                measured.notices.push(notices::no_time(&test.name(), test.scale.trim()));
                continue;
            };
            let own = workload_of(&mut measured.workloads, test, scale);
            for entry in &test.data.entries {
                let contender = (label(given, entry, systems.len()), 1);
                let contender = place_of(&mut measured.contenders, contender);
                let next = done.entry((contender, own)).or_default();
                let planned = measured.workloads[own].phases[0].clone();
                for trial in trials(given, test, entry, scale, &planned)? {
                    measured.trials.push(Trial { contender, workload: own, block: *next, ..trial });
                    *next += 1;
                }
            }
        }
    }
    if measured.trials.is_empty() {
        let detail = "none of its tests has a value that is a time or a rate";
        return Err(foreign(&files[0], PROGRAM, OPTION, detail));
    }
    measured.imported(terms)
}

fn read(given: &Given) -> Result<Composite, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let composite: Composite = quick_xml::de::from_str(&given.text)
        .map_err(|error| foreign(given, PROGRAM, OPTION, error.to_string()))?;
    match composite.results.is_empty() {
        true => Err(foreign(given, PROGRAM, OPTION, "it has no Result")),
        false => Ok(composite),
    }
}

/// Names of systems, each once.
fn systems(composite: &Composite) -> Vec<&str> {
    let entries = composite.results.iter().flat_map(|test| &test.data.entries);
    let mut names: Vec<&str> = entries.map(|entry| entry.identifier.trim()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The system, below the label of its file where that has one; the label alone where a file has one
/// system.
fn label(given: &Given, entry: &Entry, systems: usize) -> String {
    let system = entry.identifier.trim();
    match &given.label {
        Some(label) if systems == 1 => label.clone(),
        Some(label) => format!("{label} {system}"),
        None if system.is_empty() => name_of(given),
        None => system.to_owned(),
    }
}

/// Its place; tests of one name and scale are one workload.
fn workload_of(workloads: &mut Vec<Workload>, test: &Test, scale: Scale) -> usize {
    let name = test.name();
    if let Some(at) = workloads.iter().position(|one| one.name == name) {
        return at;
    }
    let title = match scale {
        Scale::Time(_) => format!("{name}, by the {PROGRAM}"),
        Scale::Rate(_) => format!("{name}, time of {AMOUNT} at {} by the {PROGRAM}", test.scale),
    };
    let phase = command_phase(PHASE, format!("{PROGRAM}: {name}"));
    workloads.push(workload(name, title, vec![phase]));
    workloads.len() - 1
}

/// One trial a run; none where the test failed on that system.
fn trials(
    given: &Given,
    test: &Test,
    entry: &Entry,
    scale: Scale,
    planned: &Phase,
) -> Result<Vec<Trial>, ImportError> {
    let values = match entry.raw_string.trim() {
        "" => entry.value.trim(),
        runs => runs,
    };
    let one = |(number, text): (usize, &str)| {
        let seconds = text.trim().parse::<f64>().ok().map(|value| match scale {
            Scale::Time(seconds) => value * seconds,
            Scale::Rate(seconds) => AMOUNT as f64 * seconds / value,
        });
        let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < MOST_SECONDS);
        let seconds = seconds.ok_or_else(|| ImportError::Value {
            path: given.path.clone(),
            place: format!("{} on {}, run {}", test.name(), entry.identifier, number + 1),
            detail: format!("{text:?} cannot be"),
        })?;
        let figures = BTreeMap::from([(test.scale.trim().to_owned(), text.trim().to_owned())]);
        let program =
            ProgramReport { name: PROGRAM.to_owned(), figures, ..ProgramReport::default() };
        let mut record = phase(planned, ((seconds * 1e9).round() as u64).max(1), program, None);
        if let Scale::Rate(_) = scale {
            record.ops = AMOUNT;
        }
        Ok(Trial::done(given, vec![record]))
    };
    values.split(RUNS).filter(|text| !text.trim().is_empty()).enumerate().map(one).collect()
}
