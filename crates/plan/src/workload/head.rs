//! The keys that every kind of workload has: `use`, `name`, `title`, `bs`, `phases`.

use crate::JsonSchema;
use crate::embedded;
use crate::error::{At, PlanError};
use crate::tree::{Node, Table};
use crate::values::{Read, Size, WorkloadName};
use fsarena_model::op::BlockSize;
use fsarena_model::phase::Workload;
use fsarena_model::units::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Largest read or write call: one buffer of the worker.
const MAX_BS_BYTES: u64 = 1 << 30;
/// Longest file that a phase may ask for.
const MAX_LENGTH_BYTES: u64 = 1 << 50;
const MAX_PHASES: usize = 32;
/// Largest value of an extended attribute (XATTR_SIZE_MAX of limits.h).
const MAX_VALUE_BYTES: u64 = 64 << 10;

/// A workload: one of the program, one written out, a fio job file, or programs on a dataset.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// A workload of the program, whose keys the others here replace.
    #[schemars(example = &"small-files")]
    #[serde(rename = "use")]
    pub(super) base: Option<At<String>>,
    /// A name of its own; not with `use` alone.
    #[schemars(example = &"my-files")]
    pub(super) name: Option<At<Read<WorkloadName>>>,
    /// One line for people.
    #[schemars(example = &"many small files")]
    pub(super) title: Option<String>,
    /// Size of one read or write call.
    #[schemars(example = &"1 MiB")]
    pub(super) bs: Option<At<Size>>,
    /// What is done, in order.
    #[serde(rename = "phases")]
    #[schemars(schema_with = "super::phases_schema")]
    _phases: Option<IgnoredAny>,
    /// Text of a fio job file.
    #[schemars(example = &"[read]\nrw=read\nsize=64m\n")]
    pub(super) fio: Option<At<String>>,
    /// Name of a fio job file, relative to this one.
    #[schemars(example = &"jobs.fio")]
    pub(super) fio_file: Option<At<String>>,
}

/// Name and title.
pub(super) fn names(
    table: &Table<'_>,
    keys: &Keys,
    base: Option<&Workload>,
) -> Result<(String, String), PlanError> {
    let Some(At { value: Read(name), place }) = &keys.name else {
        return Err(table.missing("name", "a name of its own: name = \"my-files\""));
    };
    if embedded::workload_names().contains(&name.as_str()) && base.is_some() {
        return Err(PlanError::new(
            place,
            format!("{name:?} is the built-in workload itself"),
            "a changed workload needs a name of its own",
        ));
    }
    let title = keys.title.clone().or_else(|| base.map(|base| base.title.clone()));
    Ok((name.clone(), title.unwrap_or_else(|| name.clone())))
}

pub(super) fn block_size(written: &At<Size>, meaning: BlockSize) -> Result<u64, PlanError> {
    let bs = written.value.0;
    let (what, least, most) = match meaning {
        BlockSize::Call => ("calls", 1, MAX_BS_BYTES),
        BlockSize::Length | BlockSize::Match => ("files", 0, MAX_LENGTH_BYTES),
        BlockSize::Value => ("values", 1, MAX_VALUE_BYTES),
    };
    if !(least..=most).contains(&bs) {
        let what = format!("{what} of {} are out of range", Bytes(bs));
        let remedy = format!("use {least} B to {}", Bytes(most));
        return Err(PlanError::new(&written.place, what, remedy));
    }
    Ok(bs)
}

/// The phases of a list as they are written.
pub(super) fn phase_nodes<'t>(node: &Node<'t>) -> Result<Vec<Node<'t>>, PlanError> {
    let nodes = node.list()?;
    if nodes.len() > MAX_PHASES {
        let what = format!("{} phases are too many", nodes.len());
        return Err(node.error(what, format!("use up to {MAX_PHASES}")));
    }
    Ok(nodes)
}

/// Refuses a list of which no phase is timed.
pub(super) fn some_timed(
    node: &Node<'_>,
    mut timed: impl Iterator<Item = bool>,
) -> Result<(), PlanError> {
    if timed.any(|timed| timed) {
        return Ok(());
    }
    let what = "no phase is timed: there is nothing to measure";
    Err(node.error(what, "leave `timed = false` out of at least one"))
}
