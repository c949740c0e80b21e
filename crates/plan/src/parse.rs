//! Reads an experiment file (`FORMAT.md` describes it).
//!
//! What is wrong is said as soon as it is seen, once, with its line and column. Whether a file
//! system exists and accepts its options is not known here; [`crate::expand`] asks.

use crate::error::{At, PlanError};
use crate::experiment::{Experiment, RunSettings};
use crate::files::{Files, Outside};
use crate::schema::{self, Document};
use crate::tree::{Source, Table};
use crate::{axes, crash, embedded, external, factors, question, rows, settings, stand_in};
use fsarena_model::phase::Workload;

/// Most workloads of an experiment, each combination of levels counted.
const MAX_WORKLOADS: usize = 1000;

/// Reads an experiment that names no other file; `file` is its name for errors.
///
/// # Errors
/// The first error, with line, column and a remedy.
pub fn parse(text: &str, file: &str) -> Result<Experiment, PlanError> {
    read(text, &Files::none(file))
}

/// Reads an experiment, with the files and the user's own data that it names.
///
/// # Errors
/// The first error, with line, column and a remedy.
pub fn parse_from(text: &str, file: &str, outside: &Outside<'_>) -> Result<Experiment, PlanError> {
    read(text, &Files { file, outside: Some(outside) })
}

fn read(text: &str, files: &Files<'_>) -> Result<Experiment, PlanError> {
    let source = Source { file: files.file, text, hint: schema::hint };
    let document = source.parse()?;
    let root = source.root(&document);
    let written: Document = root.read()?;
    let run = settings::settings(written.run)?;
    let factors = root.get("factors").map(|node| factors::factors(&node.table()?));
    let factors = factors.expect("the document has them")?;
    let stand_ins = stand_in::stand_ins(written.stand_in, &factors)?;
    let filesystems = external::filesystems(written.filesystem.0)?;
    if root.get("workload").is_none() && written.crash.is_none() {
        return Err(root.missing("workload", "[[workload]] with use = \"small-files\""));
    }
    let workloads = workloads(&root, files)?;
    asked_for(&run, &workloads)?;
    let rows = rows::rows(written.row.0, &workloads)?;
    let crash = written.crash.map(|keys| crash::crash(keys, &workloads)).transpose()?;
    let name = written.name.0;
    Ok(Experiment {
        title: written.title.unwrap_or_else(|| name.clone()),
        question: written.question,
        notes: written.notes.0,
        name,
        text: text.to_owned(),
        run,
        factors,
        filesystems,
        workloads,
        rows,
        crash,
        stand_ins,
    })
}

/// Refuses a question about what is not in the file. Options may take workloads out of it later.
fn asked_for(run: &RunSettings, workloads: &[At<Workload>]) -> Result<(), PlanError> {
    let workloads: Vec<&Workload> = workloads.iter().map(|work| &work.value).collect();
    let verdicts = &run.verdicts;
    let asked = question::questions(&verdicts.ask, &workloads, run.compare)?;
    if let Some(one) = &verdicts.headline {
        question::headline(one, &asked, &workloads, run.compare)?;
    }
    Ok(())
}

/// The `notes` of an experiment's text, as it is stored with a RUN; none where it cannot be read.
#[must_use]
pub fn notes_of(text: &str) -> Vec<String> {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let notes = table.get("notes").and_then(toml::Value::as_array);
    notes.into_iter().flatten().filter_map(|note| note.as_str().map(str::to_owned)).collect()
}

fn workloads(root: &Table<'_>, files: &Files<'_>) -> Result<Vec<At<Workload>>, PlanError> {
    let mut workloads = Vec::new();
    let nodes = root.get("workload").map_or(Ok(Vec::new()), |node| node.list())?;
    for node in nodes {
        add_workloads(&mut workloads, axes::read_all(&node.table()?, files)?)?;
    }
    Ok(workloads)
}

/// Adds a workload, or the levels of one, unless there is one of that name.
pub(crate) fn add_workloads(
    workloads: &mut Vec<At<Workload>>,
    added: Vec<At<Workload>>,
) -> Result<(), PlanError> {
    for workload in &added {
        // One name for all levels: a question may name them by it.
        let is_alike = |earlier: &Workload| earlier.base_name() == workload.value.base_name();
        if let Some(earlier) = workloads.iter().find(|earlier| is_alike(&earlier.value)) {
            let what = format!("two workloads are named {:?}", earlier.value.base_name());
            return Err(PlanError::new(&workload.place, what, "rename one of them, or keep one"));
        }
    }
    if let Some(one) = added.first().filter(|_| workloads.len() + added.len() > MAX_WORKLOADS) {
        let what = format!("more than {MAX_WORKLOADS} workloads, their levels counted");
        return Err(PlanError::new(&one.place, what, "leave some out, or make it several RUNs"));
    }
    workloads.extend(added);
    Ok(())
}

/// The experiment of this name, read.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn builtin(name: &str) -> Option<Experiment> {
    let builtin = embedded::EXPERIMENTS.iter().find(|builtin| builtin.name == name)?;
    Some(parse(builtin.text, name).expect("every built-in experiment is read by a test"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::{EXPERIMENTS, WORKLOADS};
    use crate::workload;

    #[test]
    fn every_builtin_is_readable_under_its_own_name() {
        for builtin in WORKLOADS {
            match workload::read_builtin(builtin) {
                Ok(workload) => assert_eq!(workload.name, builtin.name),
                Err(error) => panic!("{error}"),
            }
        }
        for builtin in EXPERIMENTS {
            match parse(builtin.text, builtin.name) {
                Ok(experiment) => assert_eq!(experiment.name, builtin.name),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(builtin("none").is_none() && workload::builtin("none").is_none());
    }
}
