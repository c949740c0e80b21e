//! Workloads of real work: a dataset, and what programs or the engine do with it.

use super::head::{self, names};
use super::source::is_own;
use super::{dataset, io, jobs, source};
use crate::JsonSchema;
use crate::error::{At, PlanError};
use crate::files::Files;
use crate::tree::{Table, keys};
use crate::values::Word;
use fsarena_model::job::{Source, SourcePlace};
use fsarena_model::phase::{Phase, Workload};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What programs work on, and where it is.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// What it is done with: a dataset of the program, one described, or your own.
    #[serde(rename = "dataset")]
    #[schemars(schema_with = "source::schema")]
    _dataset: Option<IgnoredAny>,
    /// Where the data is: on the file system under test, elsewhere, or in memory.
    #[schemars(example = &"same")]
    source: Option<Word<SourcePlace>>,
}

/// Reads a workload with `dataset`, or with `use` of one that has it.
pub(super) fn read(
    table: &Table<'_>,
    head: &head::Keys,
    base: Option<&Workload>,
    files: &Files<'_>,
) -> Result<At<Workload>, PlanError> {
    no_other_keys(table)?;
    let (name, title) = names(table, head, base)?;
    let keys: Keys = table.read()?;
    let base_source = base.and_then(|base| base.source.as_ref());
    let (mut source, top) = match (table.get("dataset"), base_source) {
        (Some(node), _) => source::read(&node, files)?,
        (None, Some(source)) => (source.clone(), None),
        (None, None) => unreachable!("one of them brought us here"),
    };
    let base_place = || base_source.map(|base| base.place).unwrap_or_default();
    source.place = keys.source.map_or_else(base_place, |place| place.0);
    let drafts = match (table.get("phases"), base.filter(|base| base.source.is_some())) {
        (Some(node), _) => jobs::read(&node)?,
        (None, Some(base)) => jobs::of_base(base, &table.place),
        (None, None) => return Err(table.missing("phases", "phases = [\"copy\"]")),
    };
    if table.has("phases") || table.has("dataset") {
        source.archive = source.archive.filter(|_| is_own(&source));
    }
    let phases = jobs::resolve(&drafts, &mut source, top)?;
    Ok(At::new(whole(name, title, source, phases), &table.place))
}

fn whole(name: String, title: String, source: Source, phases: Vec<Phase>) -> Workload {
    let dataset = source::summary(&source);
    let source = Some(source);
    Workload { name, title, dataset, phases, fio: None, source, levels: None }
}

/// Refuses keys of the engine's own files and calls.
fn no_other_keys(table: &Table<'_>) -> Result<(), PlanError> {
    let engine = [keys::<dataset::Keys>(), keys::<io::Keys>(), &["bs"]].concat();
    for (key, _) in table.entries() {
        if engine.contains(&key.value) {
            let what =
                format!("`{}` is of work that the engine does on files of its own", key.value);
            let remedy =
                "leave it out: the dataset says what there is, and the phases what is done";
            return Err(PlanError::new(&key.place, what, remedy));
        }
    }
    Ok(())
}

/// The workload at a scale: its dataset is scaled, unless it is the user's own.
pub(super) fn scaled(workload: &At<Workload>, scale: f64) -> Result<Workload, PlanError> {
    let Workload { name, title, phases, source, .. } = workload.value.clone();
    let source = source.expect("the caller has looked");
    if scale == 1.0 {
        return Ok(whole(name, title, source, phases));
    }
    let source = source::scaled(&At::new(&source, &workload.place), scale)?;
    Ok(whole(name, title, source, phases))
}
