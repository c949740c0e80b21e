//! `[[row]]`: a table in the shape of an article.

use crate::JsonSchema;
use crate::error::{At, PlanError};
use crate::experiment::ArticleRow;
use crate::values::Word;
use crate::words::words;
use fsarena_model::phase::Workload;
use serde::Deserialize;

/// A row of a published table and the phase that measures the same.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// As in the reference data.
    #[schemars(example = &"write 5000 files")]
    title: String,
    #[schemars(example = &"small-files")]
    workload: At<String>,
    /// A timed phase of it.
    #[schemars(example = &"create")]
    phase: At<String>,
    /// KB are 1024 bytes; s is the time itself.
    #[schemars(example = &"KB/s")]
    unit: Word<Unit>,
}

#[derive(Clone, Copy)]
struct Unit(&'static str);

words! {
    Unit: "unit" = ["KB/s", "files/s", "s"].map(|unit| (unit, Unit(unit)));
}

/// The rows of these tables.
///
/// # Errors
/// A workload or phase that there is not, with its place.
pub(crate) fn rows(
    tables: Vec<Keys>,
    workloads: &[At<Workload>],
) -> Result<Vec<ArticleRow>, PlanError> {
    tables.into_iter().map(|keys| row(keys, workloads)).collect()
}

fn row(keys: Keys, workloads: &[At<Workload>]) -> Result<ArticleRow, PlanError> {
    let At { value: name, place } = keys.workload;
    let Some(workload) = workloads.iter().find(|w| w.value.name == name) else {
        let names: Vec<&str> = workloads.iter().map(|w| w.value.name.as_str()).collect();
        return Err(PlanError::unknown(&place, "workload", &name, &names));
    };
    let At { value: phase, place } = keys.phase;
    let timed = workload.value.phases.iter().filter(|phase| phase.timed);
    let phases: Vec<&str> = timed.map(|phase| phase.name.as_str()).collect();
    if !phases.contains(&phase.as_str()) {
        return Err(PlanError::unknown(&place, "timed phase", &phase, &phases));
    }
    let (title, unit) = (keys.title, keys.unit.0.0.to_owned());
    Ok(ArticleRow { title, workload: name, phase, unit })
}
