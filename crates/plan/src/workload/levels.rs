//! What levels of parameters make of a workload: true names of phases, no more ops than blocks, one
//! scale, and the schema of lists and ranges. Who has which levels is in [`crate::axes`].

use super::io::Spans;
use fsarena_model::dataset::Dataset;
use fsarena_model::io::Io;
use fsarena_model::parameter::Parameter;
use fsarena_model::phase::{Phase, Workload};
#[cfg(feature = "schema")]
use schemars::Schema;
#[cfg(feature = "schema")]
use serde_json::{Value, json};

/// The phases of `base` with levels in them, under names that are true: a phase `randread-32` whose
/// iodepth varies is `randread`. Phases that then differ in the number of their ops alone are done
/// once. None does more ops than there are blocks, unless it did before.
pub(super) fn renamed(
    phases: Vec<(Phase, Spans)>,
    base: &Workload,
    dataset: &Dataset,
    varied: &[Parameter],
) -> Vec<(Phase, Spans)> {
    if varied.is_empty() {
        return phases;
    }
    let parameter = numbered(base, varied);
    let mut all: Vec<(Phase, Spans)> = Vec::new();
    for ((mut phase, spans), was) in phases.into_iter().zip(&base.phases) {
        if !varied.contains(&Parameter::Ops) && phase.io.ops == was.io.ops {
            no_block_twice(&mut phase, dataset, (was, &base.dataset));
        }
        let is_taken = |name: &str| base.phases.iter().any(|phase| phase.name == name);
        let name = parameter.and_then(|parameter| without_number(was, parameter));
        if let Some(name) = name.filter(|name| !is_taken(name)) {
            match all.iter().find(|(earlier, _)| earlier.name == name) {
                Some((earlier, _)) if work_of(earlier) == work_of(&phase) => continue,
                Some(_) => {}
                None => phase.name = name,
            }
        }
        all.push((phase, spans));
    }
    all
}

/// The parameter among those that vary whose value all numbers at the ends of names are.
fn numbered(base: &Workload, varied: &[Parameter]) -> Option<Parameter> {
    let number = |phase: &Phase| phase.name.rsplit_once('-')?.1.parse::<u64>().ok();
    let is_it = |parameter: &Parameter| {
        let mut phases = base.phases.iter().filter(|phase| number(phase).is_some());
        phases.all(|phase| number(phase) == parameter.in_phase(phase))
    };
    varied.iter().copied().find(is_it)
}

/// The name of a phase without the number of this parameter.
fn without_number(phase: &Phase, parameter: Parameter) -> Option<String> {
    let number = format!("-{}", parameter.in_phase(phase)?);
    let name = phase.name.strip_suffix(&number).filter(|name| !name.is_empty());
    name.map(str::to_owned)
}

/// What a phase does, whatever it is called and however often.
fn work_of(phase: &Phase) -> Phase {
    let io = Io { ops: None, ..phase.io.clone() };
    Phase { name: String::new(), io, ..phase.clone() }
}

fn no_block_twice(phase: &mut Phase, dataset: &Dataset, (was, was_dataset): (&Phase, &Dataset)) {
    let blocks = |phase: &Phase, dataset: &Dataset| work_of(phase).count(dataset);
    let Some(ops) = phase.io.ops else { return };
    if ops <= blocks(was, was_dataset) && ops > blocks(phase, dataset) {
        phase.io.ops = None;
    }
}

/// Lets the schema of a workload have lists and ranges in the place of parameters.
#[cfg(feature = "schema")]
pub(super) fn allow_levels(schema: &mut Schema) {
    let Some(keys) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for parameter in Parameter::ALL {
        let Some(one) = keys.get_mut(parameter.key()) else { continue };
        let range = json!({ "type": "string", "pattern": "^ *[0-9].*\\.\\. *[0-9]" });
        let level = json!({ "type": ["integer", "string"] });
        let list = json!({ "type": "array", "items": level, "minItems": 1 });
        let description = one.get("description").cloned();
        let mut several = json!({ "anyOf": [one.take(), range, list] });
        if let Some(description) = description {
            several["description"] = description;
        }
        *one = several;
    }
}

/// What the levels of one workload have in common when they are scaled.
#[derive(Clone, Copy, Default)]
pub(crate) struct CommonScale {
    /// The least scale at which all threads of all of them have something to do.
    pub(crate) scale: Option<f64>,
    /// The least size of their files then.
    pub(crate) size_bytes: Option<u64>,
}
