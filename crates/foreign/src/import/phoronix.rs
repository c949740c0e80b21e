//! A result file of the Phoronix Test Suite (`composite.xml`): tests, each with the values of every
//! run on each system.
//!
//! A contender is a system, a workload is a test: what has one title, description, version,
//! arguments, scale and direction. Times are compared as they are, rates by the time of an op or a
//! MiB; scores that are neither are left out.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Seen, Terms, Trial, command_phase, few_workloads,
    filled, foreign, name_of, phase, workload,
};
use crate::import::notices;
use crate::seen::{escaped, first_line, quoted};
use fsarena_model::work::{Constraints, CountedWork, Phase, ProgramReport, Workload};
use indexmap::IndexSet;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAM: &str = "Phoronix Test Suite";
const OPTION: &str = "composite.xml";
/// Name of the only phase.
const PHASE: &str = "test";
/// Of what is given as a rate, the length is that of so many.
const AMOUNT: u64 = 1000;
const MIB: f64 = 1_048_576.0;
/// Units of bytes in a rate, and how many they are.
const BYTES: [(&str, f64); 8] = [
    ("kib", 1024.0),
    ("mib", MIB),
    ("gib", 1024.0 * MIB),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("bytes", 1.0),
    ("b", 1.0),
];
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;
/// Tests without a time or rate that are named.
const MOST_NAMED: usize = 20;
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
    #[serde(rename = "System", default)]
    systems: Vec<System>,
}

/// When a system was measured.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct System {
    #[serde(default)]
    identifier: String,
    #[serde(default)]
    time_stamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Test {
    #[serde(default)]
    title: String,
    #[serde(default)]
    app_version: String,
    #[serde(default)]
    arguments: String,
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
    /// Lengths of the runs.
    #[serde(default, rename = "JSON")]
    json: String,
}

impl Entry {
    /// Whether the test failed on that system.
    fn is_empty(&self) -> bool {
        self.value.trim().is_empty() && self.raw_string.trim().is_empty()
    }
}

/// What the values of a test are.
#[derive(Clone, Copy)]
enum Scale {
    /// Times of so many seconds.
    Time(f64),
    /// Ops in so many seconds.
    Rate(f64),
    /// So many bytes in a second, each of the unit.
    Bytes(f64),
}

/// What makes two tests the same work.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    scale: String,
    proportion: String,
    version: String,
    arguments: String,
}

impl Test {
    fn scale(&self) -> Option<Scale> {
        let unit = self.scale.trim().to_lowercase();
        match self.proportion.trim() {
            "LIB" => TIMES.iter().find(|(own, _)| *own == unit).map(|(_, s)| Scale::Time(*s)),
            "HIB" => {
                let (ending, seconds) = RATES.iter().find(|(ending, _)| unit.ends_with(ending))?;
                let what = unit[..unit.len() - ending.len()].trim();
                Some(match BYTES.iter().find(|(own, _)| *own == what) {
                    Some((_, bytes)) => Scale::Bytes(*bytes / seconds),
                    None => Scale::Rate(*seconds),
                })
            }
            _ => None,
        }
    }

    fn name(&self) -> String {
        let name = match self.description.trim() {
            "" => self.title.trim().to_owned(),
            description => format!("{}: {description}", self.title.trim()),
        };
        escaped(&name).into_owned()
    }

    fn key(&self) -> Key {
        Key {
            name: self.name(),
            scale: escaped(self.scale.trim()).into_owned(),
            proportion: self.proportion.trim().to_owned(),
            version: escaped(self.app_version.trim()).into_owned(),
            arguments: escaped(self.arguments.trim()).into_owned(),
        }
    }
}

/// Names of tests, each once: with the scale where names are there twice, then with a number.
fn names(keys: &IndexSet<Key>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let count = |name: &str| keys.iter().filter(|key| key.name == name).count();
    let one = |key: &Key| {
        let base = match count(&key.name) {
            1 => key.name.clone(),
            _ => format!("{} ({})", key.name, key.scale),
        };
        let mut own = base.clone();
        let mut number = 1;
        while !taken.insert(own.clone()) {
            number += 1;
            own = format!("{base} #{number}");
        }
        own
    };
    keys.iter().map(one).collect()
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
    let mut measured = Measured::new(PROGRAM, files);
    measured.notices.push(notices::one_system_after_another(PROGRAM));
    let composites: Vec<Composite> = files.iter().map(read).collect::<Result<_, _>>()?;
    let all = || composites.iter().flat_map(|composite| &composite.results);
    let keys: IndexSet<Key> = all().filter(|test| test.scale().is_some()).map(Test::key).collect();
    few_workloads(keys.len())?;
    let without: BTreeSet<(String, &str, &str)> = all()
        .filter(|test| test.scale().is_none())
        .map(|test| (test.name(), test.scale.trim(), test.proportion.trim()))
        .collect();
    for (name, scale, proportion) in without.into_iter().take(MOST_NAMED) {
        measured.notices.push(notices::no_time(&name, &escaped(scale), &escaped(proportion)));
    }
    let names = names(&keys);
    for key in &keys {
        let test = all().find(|test| test.key() == *key).expect("keys are those of tests");
        let scale = test.scale().expect("tests without one have no key");
        measured.workloads.push(workload_of(&names[measured.workloads.len()], test, scale));
    }
    let mut seen = Seen::default();
    let mut done: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (file, (given, composite)) in files.iter().zip(&composites).enumerate() {
        let systems = systems(composite);
        for test in &composite.results {
            let Some(scale) = test.scale() else { continue };
            let key = test.key();
            let own = keys.get_index_of(&key).expect("all keys were collected");
            for entry in &test.data.entries {
                let label = label(given, entry, systems.len());
                let label = escaped(&label).into_owned();
                let place = format!("{} on {}", key.name, quoted(&entry.identifier));
                if !entry.is_empty()
                    && !seen.is_new(
                        given,
                        &place,
                        &label,
                        contents(composite, &key, entry).as_bytes(),
                    )?
                {
                    continue;
                }
                let contender = measured.place_of(label, 1)?;
                let next = done.entry((contender, own)).or_default();
                let planned = measured.workloads[own].phases[0].clone();
                for trial in trials(given, file, test, entry, scale, &planned)? {
                    measured.trials.push(Trial { contender, workload: own, block: *next, ..trial });
                    *next += 1;
                }
            }
        }
    }
    measured.notices.extend(seen.notices());
    if measured.trials.is_empty() {
        let detail = "none of its tests has a value that is a time or a rate";
        return Err(foreign(&files[0], PROGRAM, OPTION, detail));
    }
    measured.imported(terms)
}

/// What stands for a result: the test, the system with the time at which it was measured, and its
/// values.
fn contents(composite: &Composite, key: &Key, entry: &Entry) -> String {
    let name = entry.identifier.trim();
    let system = composite.systems.iter().find(|system| system.identifier.trim() == name);
    let time = system.map_or("", |system| system.time_stamp.trim());
    let Key { name: test, scale, proportion, version, arguments } = key;
    let values = [&entry.value, &entry.raw_string, &entry.json];
    format!(
        "{test:?} {scale:?} {proportion:?} {version:?} {arguments:?} {name:?} {time:?} {values:?}"
    )
}

fn read(given: &Given) -> Result<Composite, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let composite: Composite = quick_xml::de::from_str(&given.text).map_err(|error| {
        let (error, seen) = (quoted(&error.to_string()), first_line(&given.text));
        let detail = format!("its XML cannot be read: {error}; it begins with {seen}");
        foreign(given, PROGRAM, OPTION, detail)
    })?;
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

fn workload_of(name: &str, test: &Test, scale: Scale) -> Workload {
    let title = match scale {
        Scale::Time(_) => format!("{name}, by the {PROGRAM}"),
        _ => format!("{name}, in {} by the {PROGRAM}", escaped(test.scale.trim())),
    };
    let constraints = match scale {
        Scale::Time(_) => Constraints {
            lacks_latency: true,
            work: CountedWork::Uncounted,
            ..Constraints::default()
        },
        Scale::Rate(_) => {
            Constraints { time_is_set: true, lacks_latency: true, ..Constraints::default() }
        }
        Scale::Bytes(_) => Constraints {
            time_is_set: true,
            lacks_latency: true,
            work: CountedWork::Bytes,
            ..Constraints::default()
        },
    };
    let phase = Phase {
        constraints: Some(constraints),
        ..command_phase(PHASE, format!("{PROGRAM}: {name}"))
    };
    workload(name.to_owned(), title, vec![phase])
}

/// One trial a run; none where the test failed on that system.
fn trials(
    given: &Given,
    file: usize,
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
            Scale::Bytes(bytes) => AMOUNT as f64 * MIB / (value * bytes),
        });
        let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < MOST_SECONDS);
        let seconds = seconds.ok_or_else(|| ImportError::Value {
            path: given.path.clone(),
            place: format!("{} on {}, run {}", test.name(), escaped(&entry.identifier), number + 1),
            detail: format!("{} cannot be", quoted(text)),
        })?;
        let figures = BTreeMap::from([(test.scale.trim().to_owned(), text.trim().to_owned())]);
        let program =
            ProgramReport { name: PROGRAM.to_owned(), figures, ..ProgramReport::default() };
        let mut record = phase(planned, ((seconds * 1e9).round() as u64).max(1), program, None);
        match scale {
            Scale::Time(_) => {}
            Scale::Rate(_) => record.ops = AMOUNT,
            Scale::Bytes(_) => record.asked_bytes = AMOUNT << 20,
        }
        Ok(Trial::done(file, vec![record]))
    };
    values.split(RUNS).filter(|text| !text.trim().is_empty()).enumerate().map(one).collect()
}
