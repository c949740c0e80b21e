//! What `hyperfine --export-json` wrote: `results`, each with its command and the length of every
//! run in seconds.
//!
//! Without labels a contender is a command. With them a contender is a label, and the commands are
//! what it is measured by: the same command in files of several labels is compared, and where every
//! file has one command alone, these are taken for the same.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Terms, Trial, command_phase, filled, foreign, phase,
    place_of, workload,
};
use crate::import::notices;
use fsarena_model::work::{OpError, Phase, ProgramReport, Workload};
use serde::Deserialize;
use std::collections::BTreeMap;

const PROGRAM: &str = "hyperfine";
const OPTION: &str = "--export-json";
/// Name of the only phase.
const PHASE: &str = "command";
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct Export {
    results: Vec<Of>,
}

/// A command; figures that are computed from `times` are passed over.
#[derive(Deserialize)]
struct Of {
    command: String,
    /// Absent where hyperfine was told not to keep them.
    times: Option<Vec<f64>>,
    /// One a run; null where a signal ended it.
    exit_codes: Option<Vec<Option<i32>>>,
    /// Means over the runs, s.
    user: Option<f64>,
    system: Option<f64>,
    parameters: Option<BTreeMap<String, serde_json::Value>>,
}

/// A RUN of what hyperfine measured: one block a run.
///
/// # Errors
/// Where a file is not hyperfine's, is not whole, or has values that cannot be; nothing is kept of
/// the others then.
pub fn hyperfine(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    if files.is_empty() {
        return Err(ImportError::NoFile);
    }
    let exports: Vec<Export> = files.iter().map(read).collect::<Result<_, _>>()?;
    let labelled = files.iter().filter(|given| given.label.is_some()).count();
    if let Some(without) = files.iter().find(|given| given.label.is_none())
        && labelled > 0
    {
        let detail = "has no label and others have one; write LABEL= before each file or none";
        return Err(differs(without, detail));
    }
    let mut measured =
        Measured { notices: vec![notices::not_interleaved()], ..Measured::new(PROGRAM, files) };
    let one_each = exports.iter().all(|export| export.results.len() == 1);
    // Blocks of a contender's workload so far: files of one label go on with its numbers.
    let mut done: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (given, export) in files.iter().zip(&exports) {
        let mut seen: Vec<&str> = Vec::new();
        for (number, of) in export.results.iter().enumerate() {
            // The same command twice in a file is a comparison of equals.
            let again = seen.iter().filter(|command| **command == of.command).count() as u32;
            seen.push(&of.command);
            let (contender, workload) = match &given.label {
                None => ((of.command.clone(), again + 1), workload_of(None)),
                Some(label) if one_each => ((label.clone(), 1), workload_of(None)),
                Some(label) => ((label.clone(), again + 1), workload_of(Some(&of.command))),
            };
            let contender = place_of(&mut measured.contenders, contender);
            let known = measured.workloads.iter().position(|one| one.name == workload.name);
            let at = known.unwrap_or_else(|| {
                measured.workloads.push(workload);
                measured.workloads.len() - 1
            });
            let next = done.entry((contender, at)).or_default();
            let place = format!("result {} ({})", number + 1, of.command);
            let planned = measured.workloads[at].phases[0].clone();
            for trial in trials(given, of, &place, &planned)? {
                measured.trials.push(Trial { contender, workload: at, block: *next, ..trial });
                *next += 1;
            }
        }
    }
    comparable(files, &measured)?;
    measured.imported(terms)
}

fn read(given: &Given) -> Result<Export, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let export: Export = serde_json::from_str(&given.text)
        .map_err(|error| foreign(given, PROGRAM, OPTION, error.to_string()))?;
    if export.results.is_empty() {
        return Err(foreign(given, PROGRAM, OPTION, "it has no results"));
    }
    Ok(export)
}

fn differs(given: &Given, detail: &str) -> ImportError {
    ImportError::Differs { path: given.path.clone(), detail: detail.to_owned() }
}

/// Labels that share no command cannot be compared.
fn comparable(files: &[Given], measured: &Measured) -> Result<(), ImportError> {
    let shared = |at: usize| {
        let mut of = measured.trials.iter().filter(|trial| trial.workload == at);
        let first = of.next().map(|trial| trial.contender);
        of.any(|trial| Some(trial.contender) != first)
    };
    if measured.contenders.len() < 2 || (0..measured.workloads.len()).any(shared) {
        return Ok(());
    }
    let last = files.last().expect("there are two contenders at least");
    Err(differs(
        last,
        "its commands stand in the files of no other label, and what is not the same work is not \
         compared; name them alike (hyperfine --command-name), or let each file have one command",
    ))
}

fn workload_of(command: Option<&str>) -> Workload {
    let title = match command {
        Some(command) => format!("{command}, timed by hyperfine"),
        None => "commands timed by hyperfine".to_owned(),
    };
    let run = command.unwrap_or("as the contender says");
    let name = command.unwrap_or("command").to_owned();
    workload(name, title, vec![command_phase(PHASE, run.to_owned())])
}

/// One trial a run of a command.
fn trials(given: &Given, of: &Of, place: &str, planned: &Phase) -> Result<Vec<Trial>, ImportError> {
    let bad = |detail: String| ImportError::Value {
        path: given.path.clone(),
        place: place.to_owned(),
        detail,
    };
    let times = of.times.as_deref().unwrap_or_default();
    if times.is_empty() {
        return Err(bad("it has no times of single runs, and medians alone decide nothing".into()));
    }
    let codes = of.exit_codes.as_deref().unwrap_or_default();
    if !codes.is_empty() && codes.len() != times.len() {
        return Err(bad(format!("{} times and {} exit codes", times.len(), codes.len())));
    }
    let one = |(number, seconds): (usize, &f64)| {
        if !(seconds.is_finite() && *seconds > 0.0 && *seconds < MOST_SECONDS) {
            let detail = format!("run {} took {seconds} s, which cannot be", number + 1);
            return Err(bad(detail));
        }
        let error = codes.get(number).and_then(|code| failed(of, *code));
        let failure = error.as_ref().map(|error| error.text.clone());
        let returned_ns = (seconds * 1e9).round() as u64;
        let record = phase(planned, returned_ns.max(1), report(of), error);
        Ok(Trial { failure, ..Trial::done(given, vec![record]) })
    };
    times.iter().enumerate().map(one).collect()
}

fn failed(of: &Of, code: Option<i32>) -> Option<OpError> {
    let text = match code {
        Some(0) => return None,
        Some(code) => format!("{}: ended with exit code {code}", of.command),
        None => format!("{}: ended by a signal", of.command),
    };
    let (call, path) = ("exit".to_owned(), String::new());
    Some(OpError { op_index: 0, thread: None, call, path, errno: 0, text })
}

/// What hyperfine says next to the times; processor time it has as a mean alone.
fn report(of: &Of) -> ProgramReport {
    let mut figures = BTreeMap::new();
    for (key, seconds) in [("mean_user_s", of.user), ("mean_system_s", of.system)] {
        figures.extend(seconds.map(|seconds| (key.to_owned(), seconds.to_string())));
    }
    for (name, value) in of.parameters.iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        figures.insert(format!("parameter.{name}"), text);
    }
    ProgramReport {
        name: PROGRAM.to_owned(),
        argv: vec![of.command.clone()],
        figures,
        ..ProgramReport::default()
    }
}
