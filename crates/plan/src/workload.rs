//! Workloads: read from a table, checked as a sequence of phases, and scaled.

use crate::builtin;
use crate::error::{Place, PlanError};
use crate::experiment::At;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::units::Bytes;
use fsarena_model::work::{Dataset, Op, Order, Phase, Workload};

/// Names of files have eight digits.
pub(crate) const MAX_FILES: u64 = 100_000_000;
/// Names of directories have five digits.
pub(crate) const MAX_DIRS: u64 = 100_000;
/// Largest file, as ext4 with blocks of 4 KiB takes it.
const MAX_SIZE_BYTES: u64 = 16 << 40;
/// Largest read or write call: one buffer of the worker.
const MAX_BS_BYTES: u64 = 1 << 30;
const MAX_PHASES: usize = 32;
const DEFAULT_BS_BYTES: u64 = 1 << 20;
const KEYS: [&str; 8] = ["use", "name", "title", "files", "size", "dirs", "bs", "phases"];

/// Reads a workload: written out, or a built-in with some keys replaced.
pub(crate) fn read(table: &Table<'_>) -> Result<At<Workload>, PlanError> {
    table.only(&KEYS)?;
    let base = table.get("use").map(|node| used(&node)).transpose()?;
    if let Some(base) = &base
        && table.entries().len() == 1
    {
        return Ok(At::new(base.clone(), &table.place));
    }
    let name_node = table.need("name", "a name of its own: name = \"my-files\"")?;
    let name = text::name(name_node.text("\"my-files\"")?, &name_node.place, "a workload")?;
    if builtin::workload_names().contains(&name.as_str()) && base.is_some() {
        return Err(name_node.error(
            format!("{name:?} is the built-in workload itself"),
            "a changed workload needs a name of its own",
        ));
    }
    let title = match table.get("title") {
        Some(node) => node.text("\"many small files\"")?.to_owned(),
        None => base.as_ref().map_or_else(|| name.clone(), |base| base.title.clone()),
    };
    let dataset = dataset(table, base.as_ref().map(|base| &base.dataset))?;
    let bs = match table.get("bs") {
        Some(node) => Some(block_size(&node)?),
        None => None,
    };
    let phases = match (table.get("phases"), &base) {
        (Some(node), _) => phases(&node, bs.unwrap_or(DEFAULT_BS_BYTES))?,
        (None, Some(base)) => base
            .phases
            .iter()
            .map(|phase| Phase { bs_bytes: bs.unwrap_or(phase.bs_bytes), ..phase.clone() })
            .collect(),
        (None, None) => {
            return Err(table
                .need("phases", "phases = [\"create\", \"read\", \"delete\"]")
                .err()
                .expect("the key is not there"));
        }
    };
    let workload = Workload { name, title, dataset, phases };
    check_big(&workload, &table.place)?;
    Ok(At::new(workload, &table.place))
}

fn used(node: &Node<'_>) -> Result<Workload, PlanError> {
    let name = node.text("\"small-files\"")?;
    named(name, &node.place)
}

/// The built-in workload of this name.
pub(crate) fn named(name: &str, place: &Place) -> Result<Workload, PlanError> {
    builtin::workload(name)
        .ok_or_else(|| PlanError::unknown(place, "workload", name, &builtin::workload_names()))
}

fn dataset(table: &Table<'_>, base: Option<&Dataset>) -> Result<Dataset, PlanError> {
    let files = match (table.get("files"), base) {
        (None, Some(base)) => base.files,
        _ => table.need("files", "files = 10_000")?.integer(1..=MAX_FILES, "10_000")?,
    };
    let size_bytes = match (table.get("size"), base) {
        (None, Some(base)) => base.size_bytes,
        _ => {
            let node = table.need("size", "size = \"4 KiB\"")?;
            let size = text::bytes(&node.scalar("\"4 KiB\"")?, &node.place)?;
            if size > MAX_SIZE_BYTES {
                let what = format!("a file of {} is too large", Bytes(size));
                return Err(node.error(what, format!("use up to {}", Bytes(MAX_SIZE_BYTES))));
            }
            size
        }
    };
    let dirs = match table.get("dirs") {
        None => base.map_or(0, |base| base.dirs.min(files)),
        Some(node) => {
            let dirs = node.integer(0..=MAX_DIRS, "100")?;
            if dirs > files {
                let what = format!("{dirs} directories for {files} files");
                return Err(node.error(what, "use no more directories than files"));
            }
            dirs
        }
    };
    Ok(Dataset { files, size_bytes, dirs })
}

fn block_size(node: &Node<'_>) -> Result<u64, PlanError> {
    let bs = text::bytes(&node.scalar("\"1 MiB\"")?, &node.place)?;
    if bs == 0 || bs > MAX_BS_BYTES {
        let what = format!("calls of {} are out of range", Bytes(bs));
        return Err(node.error(what, format!("use 1 B to {}", Bytes(MAX_BS_BYTES))));
    }
    Ok(bs)
}

/// Reads the phases and checks that each finds what it needs.
fn phases(node: &Node<'_>, bs: u64) -> Result<Vec<Phase>, PlanError> {
    let nodes = node.list("\"create\"")?;
    if nodes.len() > MAX_PHASES {
        let what = format!("{} phases are too many", nodes.len());
        return Err(node.error(what, format!("use up to {MAX_PHASES}")));
    }
    let mut phases: Vec<Phase> = Vec::new();
    for node in &nodes {
        let phase = phase(node, bs)?;
        follows(&phases, &phase, node)?;
        phases.push(phase);
    }
    if phases.iter().all(|phase| !phase.timed) {
        let what = "no phase is timed: there is nothing to measure";
        return Err(node.error(what, "leave `timed = false` out of at least one"));
    }
    Ok(phases)
}

/// The dataset is written once, and a deletion ends the workload.
fn follows(before: &[Phase], phase: &Phase, node: &Node<'_>) -> Result<(), PlanError> {
    let name = &phase.name;
    let Some(last) = before.last() else { return Ok(()) };
    if last.op == Op::Delete {
        let what = format!("phase {name:?} comes after {:?}, which deletes the files", last.name);
        return Err(node.error(what, "put the deletion last"));
    }
    if phase.op.writes() {
        let what = format!("phase {name:?} would create files that are there already");
        let remedy =
            "begin with it, or leave it out: files that a first phase needs are made for it";
        return Err(node.error(what, remedy));
    }
    if before.iter().any(|earlier| earlier.name == *name) {
        let what = format!("two phases are named {name:?}");
        let remedy = format!("name one: {{ name = \"{name}-2\", op = \"{}\" }}", phase.op.name());
        return Err(node.error(what, remedy));
    }
    Ok(())
}

fn phase(node: &Node<'_>, bs: u64) -> Result<Phase, PlanError> {
    if !node.is_table() {
        let written = node.text("\"read-random\"")?;
        let (op, order) = match written.strip_suffix("-random") {
            Some(op) if !op.starts_with("big-") => (op, Order::Random),
            _ => (written, Order::Sequential),
        };
        let op = Op::ALL.into_iter().find(|known| known.name() == op).ok_or_else(|| {
            let mut known: Vec<String> = Op::ALL.iter().map(|op| op.name().to_owned()).collect();
            known.extend(["read-random", "stat-random", "delete-random"].map(str::to_owned));
            PlanError::unknown(&node.place, "phase", written, &known)
        })?;
        return Ok(Phase { name: written.to_owned(), op, order, bs_bytes: bs, timed: true });
    }
    let table = node.table("{ op = \"read\" }")?;
    table.only(&["name", "op", "order", "bs", "timed"])?;
    let op_node = table.need("op", "op = \"read\"")?;
    let ops = Op::ALL.map(|op| (op.name(), op));
    let op = text::word(op_node.text("\"read\"")?, &op_node.place, "op", &ops)?;
    let order = match table.get("order") {
        None => Order::Sequential,
        Some(node) => {
            let orders = [("sequential", Order::Sequential), ("random", Order::Random)];
            let order = text::word(node.text("\"random\"")?, &node.place, "order", &orders)?;
            if order == Order::Random && matches!(op, Op::BigRead | Op::BigWrite) {
                let what = format!("`{}` goes from the start of a file to its end", op.name());
                return Err(node.error(what, "leave `order` out"));
            }
            order
        }
    };
    let name = match table.get("name") {
        Some(node) => text::name(node.text("\"read-again\"")?, &node.place, "a phase")?,
        None if order == Order::Random => format!("{}-random", op.name()),
        None => op.name().to_owned(),
    };
    let bs_bytes = table.get("bs").map_or(Ok(bs), |node| block_size(&node))?;
    let timed = table.get("timed").map_or(Ok(true), |node| node.flag())?;
    Ok(Phase { name, op, order, bs_bytes, timed })
}

fn check_big(workload: &Workload, place: &Place) -> Result<(), PlanError> {
    let big = |phase: &&Phase| matches!(phase.op, Op::BigRead | Op::BigWrite);
    match workload.phases.iter().find(big) {
        Some(phase) if workload.dataset.size_bytes == 0 => Err(PlanError::new(
            place,
            format!("phase {:?} has no op: the files of {:?} are empty", phase.name, workload.name),
            "give them a size",
        )),
        _ => Ok(()),
    }
}

/// The workload at a scale: fewer (or more) files, or a smaller single big file.
///
/// The size of a small file is never changed. A single file shrinks in whole KiB, to no less than
/// one call of its largest phase.
pub(crate) fn scaled(workload: &Workload, scale: f64) -> Workload {
    if scale == 1.0 {
        return workload.clone();
    }
    let mut dataset = workload.dataset;
    let largest_call = workload.phases.iter().map(|phase| phase.bs_bytes).max().unwrap_or(1);
    if dataset.files == 1 {
        let least = largest_call.min(dataset.size_bytes);
        let whole_kib = times(dataset.size_bytes, scale) / 1024 * 1024;
        dataset.size_bytes = whole_kib.clamp(least, MAX_SIZE_BYTES);
    } else {
        dataset.files = times(dataset.files, scale).clamp(1, MAX_FILES);
        dataset.dirs = dataset.dirs.min(dataset.files);
    }
    Workload { dataset, ..workload.clone() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by callers")]
fn times(value: u64, scale: f64) -> u64 {
    (value as f64 * scale).round() as u64
}
