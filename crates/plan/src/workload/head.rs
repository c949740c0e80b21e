//! The keys that every kind of workload has: `name`, `title`, `bs`.

use crate::embedded;
use crate::error::PlanError;
use crate::span::At;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::op::BlockSize;
use fsarena_model::phase::Workload;
use fsarena_model::units::Bytes;

/// Largest read or write call: one buffer of the worker.
const MAX_BS_BYTES: u64 = 1 << 30;
/// Longest file that a phase may ask for.
const MAX_LENGTH_BYTES: u64 = 1 << 50;
/// Largest value of an extended attribute (XATTR_SIZE_MAX of limits.h).
const MAX_VALUE_BYTES: u64 = 64 << 10;

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

pub(super) fn block_size(node: &Node<'_>, meaning: BlockSize) -> Result<u64, PlanError> {
    let bs = text::bytes(&node.scalar("\"1 MiB\"")?, &node.place)?;
    let (what, least, most) = match meaning {
        BlockSize::Call => ("calls", 1, MAX_BS_BYTES),
        BlockSize::Length => ("files", 0, MAX_LENGTH_BYTES),
        BlockSize::Value => ("values", 1, MAX_VALUE_BYTES),
    };
    if !(least..=most).contains(&bs) {
        let what = format!("{what} of {} are out of range", Bytes(bs));
        return Err(node.error(what, format!("use {least} B to {}", Bytes(most))));
    }
    Ok(bs)
}
