//! The keys that every kind of workload has: `name`, `title`, `bs`.

use crate::embedded;
use crate::error::PlanError;
use crate::span::At;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::phase::Workload;
use fsarena_model::units::Bytes;

/// Largest read or write call: one buffer of the worker.
const MAX_BS_BYTES: u64 = 1 << 30;

/// Name and title.
pub(super) fn names(
    table: &Table<'_>,
    base: Option<&Workload>,
) -> Result<(At<String>, String), PlanError> {
    let name = name(table)?;
    if embedded::workload_names().contains(&name.value.as_str()) && base.is_some() {
        return Err(PlanError::new(
            &name.place,
            format!("{:?} is the built-in workload itself", name.value),
            "a changed workload needs a name of its own",
        ));
    }
    let title = match table.get("title") {
        Some(node) => node.text("\"many small files\"")?.to_owned(),
        None => base.map_or_else(|| name.value.clone(), |base| base.title.clone()),
    };
    Ok((name, title))
}

pub(super) fn missing(table: &Table<'_>, key: &str, example: &str) -> PlanError {
    table.need(key, example).err().expect("the key is not there")
}

pub(super) fn name(table: &Table<'_>) -> Result<At<String>, PlanError> {
    let node = table.need("name", "a name of its own: name = \"my-files\"")?;
    let name = text::name(node.text("\"my-files\"")?, &node.place, "a workload")?;
    Ok(At::new(name, &node.place))
}

pub(super) fn block_size(node: &Node<'_>) -> Result<u64, PlanError> {
    let bs = text::bytes(&node.scalar("\"1 MiB\"")?, &node.place)?;
    if bs == 0 || bs > MAX_BS_BYTES {
        let what = format!("calls of {} are out of range", Bytes(bs));
        return Err(node.error(what, format!("use 1 B to {}", Bytes(MAX_BS_BYTES))));
    }
    Ok(bs)
}
