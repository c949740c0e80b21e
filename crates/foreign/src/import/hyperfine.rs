//! What `hyperfine --export-json` wrote: `results`, each with its command and the length of every
//! run: in `times` up to version 1, in `measurements` from version 2 on.
//!
//! Without labels a contender is a command, or the values of its parameters where it has some. With
//! them a contender is a label, and the commands are what it is measured by: the same command in
//! files of several labels is compared, and where every file has one command alone, these are taken
//! for the same.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Seen, Terms, Trial, command_phase, few_workloads,
    filled, foreign, phase, workload,
};
use crate::import::notices;
use crate::seen::{escaped, first_line, quoted};
use fsarena_model::work::{OpError, Phase, ProgramReport, Workload};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

const PROGRAM: &str = "hyperfine";
const OPTION: &str = "--export-json";
/// Name of the only phase.
const PHASE: &str = "command";
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    results: Vec<&'a serde_json::value::RawValue>,
}

/// The results of a file, each with its own text.
struct Export<'a> {
    results: Vec<Of>,
    contents: Vec<&'a str>,
}

/// A command; figures that are computed from its runs are passed over.
#[derive(Deserialize)]
struct Of {
    command: String,
    /// `--command-name` of version 2; before it stands in place of the command.
    name: Option<String>,
    /// Absent where hyperfine was told not to keep them, and from version 2 on.
    times: Option<Vec<f64>>,
    /// One a run; null where a signal ended it.
    exit_codes: Option<Vec<Option<i32>>>,
    /// From version 2 on.
    measurements: Option<Vec<Measurement>>,
    /// Means over the runs, s.
    user: Option<f64>,
    system: Option<f64>,
    parameters: Option<BTreeMap<String, serde_json::Value>>,
}

/// A run as version 2 has it.
#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Option<Quantity>,
    /// Null where a signal ended it; absent where it is not known.
    #[serde(default, deserialize_with = "present")]
    exit_code: Option<Option<i32>>,
}

fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<i32>>, D::Error> {
    Option::deserialize(value).map(Some)
}

#[derive(Deserialize)]
struct Quantity {
    value: f64,
    unit: String,
}

/// Units of times, and their seconds.
const UNITS: [(&str, f64); 4] =
    [("second", 1.0), ("millisecond", 1e-3), ("microsecond", 1e-6), ("nanosecond", 1e-9)];

/// The runs of a command: s, and exit codes where they are known.
struct Runs {
    times: Vec<f64>,
    codes: Vec<Option<i32>>,
}

impl Of {
    /// What it is called.
    fn called(&self) -> String {
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty());
        escaped(name.unwrap_or(&self.command)).into_owned()
    }

    /// The values of its parameters.
    fn values(&self) -> Option<String> {
        let all: Vec<String> =
            self.parameters.iter().flatten().map(|(_, value)| text(value)).collect();
        (!all.is_empty()).then(|| escaped(&all.join(", ")).into_owned())
    }

    /// Its runs, or what is wrong with them.
    fn runs(&self) -> Result<Runs, String> {
        let (times, codes) = match (&self.times, &self.measurements) {
            (Some(times), _) => (times.clone(), self.exit_codes.clone().unwrap_or_default()),
            (None, Some(all)) => {
                let times = all.iter().map(|run| {
                    let time =
                        run.time_wall_clock.as_ref().ok_or("a run has no time_wall_clock")?;
                    let unit = UNITS.iter().find(|(name, _)| *name == time.unit);
                    let unit = unit.ok_or_else(|| {
                        format!("a time is in {}, which is not known", quoted(&time.unit))
                    })?;
                    Ok(time.value * unit.1)
                });
                let times = times.collect::<Result<_, String>>()?;
                (times, all.iter().map(|run| run.exit_code.unwrap_or(Some(0))).collect())
            }
            (None, None) => (Vec::new(), Vec::new()),
        };
        if times.is_empty() {
            let detail = "it has neither times nor measurements of single runs, and medians alone \
                          decide nothing";
            return Err(detail.to_owned());
        }
        if !codes.is_empty() && codes.len() != times.len() {
            return Err(format!("{} times and {} exit codes", times.len(), codes.len()));
        }
        Ok(Runs { times, codes })
    }
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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
    let exports: Vec<Export<'_>> = files.iter().map(read).collect::<Result<_, _>>()?;
    let labelled = files.iter().filter(|given| given.label.is_some()).count();
    if let Some(without) = files.iter().find(|given| given.label.is_none())
        && labelled > 0
    {
        let detail = "has no label and others have one; write LABEL= before each file or none";
        return Err(differs(without, detail));
    }
    let mut measured = Measured::new(PROGRAM, files);
    measured.notices.push(notices::not_interleaved());
    let one_each = exports.iter().all(|export| export.results.len() == 1);
    let mut known = Seen::default();
    // Blocks of a contender's workload so far: files of one label go on with its numbers.
    let mut done: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (file, (given, export)) in files.iter().zip(&exports).enumerate() {
        let by_values = are_told_apart(export);
        let mut seen: BTreeMap<(String, Option<String>), u32> = BTreeMap::new();
        for (number, of) in export.results.iter().enumerate() {
            let values = of.values();
            let command = of.called();
            let place = format!("result {} ({})", number + 1, quoted(&command));
            let label = match (&given.label, &values) {
                (None, Some(values)) if by_values => values.clone(),
                (None, Some(values)) => format!("{command} ({values})"),
                (None, None) => command.clone(),
                (Some(label), Some(values)) => format!("{label} {values}"),
                (Some(label), None) => label.clone(),
            };
            let label = escaped(&label).into_owned();
            let is_common = given.label.is_none() || one_each || values.is_some() && by_values;
            let workload = workload_of((!is_common).then_some(command.as_str()));
            if !known.is_new(given, &place, &label, export.contents[number].as_bytes())? {
                continue;
            }
            // The same command twice in a file is a comparison of equals.
            let replicate =
                seen.entry((label.clone(), (!is_common).then_some(command))).or_default();
            *replicate += 1;
            let contender = measured.place_of(label, *replicate)?;
            let known = measured.workloads.iter().position(|one| one.name == workload.name);
            let at = known.unwrap_or_else(|| {
                measured.workloads.push(workload);
                measured.workloads.len() - 1
            });
            few_workloads(measured.workloads.len())?;
            let next = done.entry((contender, at)).or_default();
            let planned = measured.workloads[at].phases[0].clone();
            for trial in trials(given, file, of, &place, &planned)? {
                measured.trials.push(Trial { contender, workload: at, block: *next, ..trial });
                *next += 1;
            }
        }
    }
    measured.notices.extend(known.notices());
    comparable(files, &measured)?;
    measured.imported(terms)
}

/// Whether the values of parameters tell the results of a file apart.
fn are_told_apart(export: &Export<'_>) -> bool {
    let mut commands: BTreeMap<Option<String>, String> = BTreeMap::new();
    export.results.iter().all(|of| {
        let command = of.called();
        commands.entry(of.values()).or_insert_with(|| command.clone()) == &command
    })
}

fn read(given: &Given) -> Result<Export<'_>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let refused = |error: &serde_json::Error| {
        let error = crate::fio::OutputError::shortened(error);
        let seen = first_line(&given.text);
        foreign(given, PROGRAM, OPTION, format!("{error}; it begins with {seen}"))
    };
    let file: File = serde_json::from_str(&given.text).map_err(|error| refused(&error))?;
    let of = |raw: &&serde_json::value::RawValue| serde_json::from_str(raw.get());
    let results = file.results.iter().map(of).collect::<Result<Vec<Of>, _>>();
    let results = results.map_err(|error| refused(&error))?;
    let contents = file.results.iter().map(|raw| raw.get()).collect();
    let export = Export { results, contents };
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
fn trials(
    given: &Given,
    file: usize,
    of: &Of,
    place: &str,
    planned: &Phase,
) -> Result<Vec<Trial>, ImportError> {
    let bad = |detail: String| ImportError::Value {
        path: given.path.clone(),
        place: place.to_owned(),
        detail,
    };
    let Runs { times, codes } = of.runs().map_err(bad)?;
    let one = |(number, seconds): (usize, &f64)| {
        if !(seconds.is_finite() && *seconds > 0.0 && *seconds < MOST_SECONDS) {
            let detail = format!("run {} took {seconds} s, which cannot be", number + 1);
            return Err(bad(detail));
        }
        let error = codes.get(number).and_then(|code| failed(of, *code));
        let failure = error.as_ref().map(|error| error.text.clone());
        let returned_ns = (seconds * 1e9).round() as u64;
        let record = phase(planned, returned_ns.max(1), report(of), error);
        Ok(Trial { failure, ..Trial::done(file, vec![record]) })
    };
    times.iter().enumerate().map(one).collect()
}

fn failed(of: &Of, code: Option<i32>) -> Option<OpError> {
    let text = match code {
        Some(0) => return None,
        Some(code) => format!("{}: ended with exit code {code}", of.called()),
        None => format!("{}: ended by a signal", of.called()),
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
        figures.insert(format!("parameter.{name}"), text(value));
    }
    ProgramReport {
        name: PROGRAM.to_owned(),
        argv: vec![of.command.clone()],
        figures,
        ..ProgramReport::default()
    }
}
