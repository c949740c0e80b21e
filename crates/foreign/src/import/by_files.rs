//! Programs whose files of one label are the blocks of a contender, each with one trial or several.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Terms, Trial, command_phase, name_of, phase, place_of,
    workload,
};
use fsarena_model::record::Notice;
use fsarena_model::work::{Phase, ProgramReport};
use std::collections::BTreeMap;

/// A phase of a trial, as a file tells it.
pub(super) struct Timed {
    pub(super) name: &'static str,
    pub(super) returned_ns: u64,
    pub(super) ops: u64,
    pub(super) asked_bytes: u64,
    /// What the program prints next to it.
    pub(super) figures: BTreeMap<String, String>,
}

/// What is said of all files.
pub(super) struct Source {
    pub(super) program: &'static str,
    pub(super) title: &'static str,
    pub(super) notices: Vec<Notice>,
}

/// A RUN of the trials of each file, in its order; files of one label go on with its numbers.
///
/// # Errors
/// Where a trial has other phases than the first.
pub(super) fn imported(
    source: Source,
    files: &[Given],
    trials: Vec<Vec<Vec<Timed>>>,
    terms: &Terms,
) -> Result<Imported, ImportError> {
    let Some(first) = trials.first().and_then(|trials| trials.first()) else {
        return Err(ImportError::NoFile);
    };
    let names: Vec<&str> = first.iter().map(|timed| timed.name).collect();
    let phases: Vec<Phase> = names.iter().map(|name| planned(source.program, name)).collect();
    let (name, title) = (source.program.to_owned(), source.title.to_owned());
    let mut measured = Measured {
        workloads: vec![workload(name, title, phases.clone())],
        notices: source.notices,
        ..Measured::new(source.program, files)
    };
    // A file of several contenders is given once for each of its lines.
    measured.files.dedup();
    let mut done: BTreeMap<usize, u32> = BTreeMap::new();
    for (given, trials) in files.iter().zip(trials) {
        let contender = place_of(&mut measured.contenders, (label(given), 1));
        let block = done.entry(contender).or_default();
        for trial in trials {
            same_phases(given, &names, &trial)?;
            let records = phases.iter().zip(trial).map(|(planned, timed)| {
                let program = ProgramReport {
                    name: source.program.to_owned(),
                    figures: timed.figures,
                    ..ProgramReport::default()
                };
                let mut record = phase(planned, timed.returned_ns, program, None);
                record.ops = timed.ops;
                record.asked_bytes = timed.asked_bytes;
                record
            });
            let trial = Trial::done(given, records.collect());
            measured.trials.push(Trial { contender, block: *block, ..trial });
            *block += 1;
        }
    }
    measured.imported(terms)
}

/// The label that was given, or the name of the file without its ending.
pub(super) fn label(given: &Given) -> String {
    let stem = || given.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    given.label.clone().or_else(stem).unwrap_or_else(|| name_of(given))
}

fn planned(program: &str, name: &str) -> Phase {
    command_phase(name, format!("{program}: {name}"))
}

fn same_phases(given: &Given, names: &[&str], trial: &[Timed]) -> Result<(), ImportError> {
    let own: Vec<&str> = trial.iter().map(|timed| timed.name).collect();
    if own == names {
        return Ok(());
    }
    let detail = format!(
        "has {}, and what came before it has {}; what is not the same work is not compared: import \
         them apart",
        own.join(", "),
        names.join(", ")
    );
    Err(ImportError::Differs { path: given.path.clone(), detail })
}
