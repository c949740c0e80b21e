//! Workloads that fio does: each phase of a job file is a phase.
//!
//! What a job file may hold, and what of it runs together, is known to `fsarena-foreign`. Phases
//! bear the names of their jobs as they are written: fio and the executor know them by these.

use super::head;
use crate::error::{At, PlanError, Span};
use crate::files::Files;
use crate::tree::Table;
use fsarena_foreign::fio::{FioError, JobFile};
use fsarena_model::dataset::Dataset;
use fsarena_model::free::Constraints;
use fsarena_model::op::Op;
use fsarena_model::phase::{Phase, Workload};
use std::path::Path;

/// fio's own block size, where a job says none.
const FIO_BS_BYTES: u64 = 4096;
const MAX_NAME_BYTES: usize = 64;

/// Reads a workload with `fio` or `fio_file`.
pub(super) fn read(
    table: &Table<'_>,
    keys: &head::Keys,
    files: &Files<'_>,
) -> Result<At<Workload>, PlanError> {
    let known = ["name", "title", "fio", "fio_file"];
    if let Some((key, _)) = table.entries().into_iter().find(|(k, _)| !known.contains(&k.value)) {
        let what = format!("`{}` in a workload that fio does", key.value);
        return Err(PlanError::new(&key.place, what, "say it in the job file"));
    }
    let (name, title) = head::names(table, keys, None)?;
    let workload = match (&keys.fio, &keys.fio_file) {
        (Some(_), Some(at)) => {
            let what = "`fio` and `fio_file` both give the jobs";
            return Err(PlanError::new(&at.place, what, "keep one of them"));
        }
        (_, Some(at)) => {
            let (shown, text) = files.text_of(at, "write its text here: fio = \"\"\"…\"\"\"")?;
            workload(&text, &shown).map_err(|error| in_file(&error))?
        }
        (Some(at), None) => {
            workload(&at.value, "the job file").map_err(|error| within(&error, &at.place))?
        }
        (None, None) => unreachable!("one of them brought us here"),
    };
    Ok(At::new(Workload { name, title, ..workload }, &table.place))
}

/// The workload of a job file that was named on the command line.
pub(crate) fn workload_of_file(path: &str, text: &str) -> Result<Workload, PlanError> {
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let workload = workload(text, path).map_err(|error| in_file(&error))?;
    let name = legal_name(&stem.unwrap_or_default());
    Ok(Workload { title: format!("the jobs of {path}"), name, ..workload })
}

/// A name of ours as near to `text` as it can be.
fn legal_name(text: &str) -> String {
    let legal = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.+".contains(c) => c,
        _ => '-',
    };
    let name: String = text.chars().map(legal).take(MAX_NAME_BYTES).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() { "fio".to_owned() } else { name.to_owned() }
}

/// The job file at a scale.
pub(crate) fn scaled(workload: &At<Workload>, scale: f64) -> Result<Workload, PlanError> {
    let Workload { name, title, fio, .. } = workload.value.clone();
    let text = fio.unwrap_or_default();
    let scaled = JobFile::parse(&text, "the job file").and_then(|jobs| jobs.scaled(scale));
    let scaled = scaled.and_then(|jobs| of_jobs(&jobs));
    let scaled = scaled.map_err(|error| within(&error, &workload.place))?;
    Ok(Workload { name, title, ..scaled })
}

fn workload(text: &str, file: &str) -> Result<Workload, FioError> {
    of_jobs(&JobFile::parse(text, file)?)
}

fn of_jobs(jobs: &JobFile) -> Result<Workload, FioError> {
    let phases = jobs.phases().iter().map(|phase| {
        let all = jobs.constraints(phase);
        let constraints = (all != Constraints::default()).then_some(all);
        Phase { constraints, ..Phase::new(&phase.name, Op::Fio, FIO_BS_BYTES) }
    });
    Ok(Workload {
        name: String::new(),
        title: String::new(),
        dataset: Dataset::uniform(1, jobs.needed_bytes()?, 0),
        phases: phases.collect(),
        fio: Some(jobs.text().to_owned()),
        source: None,
        levels: None,
    })
}

/// An error of a job file within another file.
fn within(error: &FioError, place: &Span) -> PlanError {
    let what = format!("line {} of the job file: {}", error.line, error.what);
    PlanError::new(place, what, &error.remedy)
}

fn in_file(error: &FioError) -> PlanError {
    let place = Span::File { file: error.file.clone(), line: error.line, column: 1 };
    PlanError::new(&place, &error.what, &error.remedy)
}

/// Whether fio needs files before a phase that an earlier one does not leave.
pub(crate) fn lays_out(workload: &Workload, phase: &Phase) -> bool {
    let Some(text) = workload.fio.as_deref().filter(|_| phase.op == Op::Fio) else { return false };
    let jobs = JobFile::parse(text, "the job file");
    jobs.is_ok_and(|jobs| {
        jobs.phases().iter().any(|known| known.name == phase.name && !known.lay_out.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_names_of_workloads() {
        assert_eq!(legal_name("My Jobs"), "my-jobs");
        assert_eq!(legal_name("-ümlaut"), "mlaut");
        assert_eq!(legal_name("..."), "fio");
    }
}
