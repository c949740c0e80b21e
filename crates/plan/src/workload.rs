//! Workloads: read from a table, checked as a sequence of phases, and scaled.
//!
//! There are three kinds: work of the engine on files of its own, fio's, and real work on a
//! dataset.

mod cycle;
mod dataset;
mod fio;
mod head;
mod io;
mod jobs;
mod mixes;
mod phases;
mod real;
mod sequence;
mod source;

pub(crate) use dataset::longest_path_bytes;
pub(crate) use fio::{lays_out, workload_of_file};
pub(crate) use mixes::is_aligned;

use crate::embedded::{self, Builtin};
use crate::error::PlanError;
use crate::files::Files;
use crate::span::{At, Span};
use crate::tree::{Node, Source, Table};
use fsarena_model::op::BlockSize;
use fsarena_model::phase::{Phase, Workload};
use head::{block_size, missing, names};
use io::{Keys, Spans};

const KEYS: [&str; 7] = ["use", "name", "title", "bs", "phases", "fio", "fio_file"];

/// Reads a workload: written out, a built-in with some keys replaced, a fio job file, or real work.
pub(crate) fn read(table: &Table<'_>, files: &Files<'_>) -> Result<At<Workload>, PlanError> {
    table.only(&[&KEYS[..], &real::KEYS[..], &dataset::KEYS[..], &io::KEYS[..]].concat())?;
    if table.get("fio").or(table.get("fio_file")).is_some() {
        return fio::read(table, files);
    }
    let base = table.get("use").map(|node| used(&node)).transpose()?;
    if let Some(base) = &base
        && table.entries().len() == 1
    {
        return Ok(At::new(base.clone(), &table.place));
    }
    if table.get("dataset").is_some() || base.as_ref().is_some_and(|base| base.source.is_some()) {
        return real::read(table, base.as_ref(), files);
    }
    if let Some(node) = table.get("source") {
        let what = "`source` says where a dataset is, and there is none";
        return Err(node.error(what, "add dataset = \"mixed-830m\""));
    }
    let (name, title) = names(table, base.as_ref())?;
    let dataset = dataset::read(table, base.as_ref().map(|base| &base.dataset))?;
    if base.is_none() && dataset.files == 0 && dataset.dirs == 0 {
        return Err(missing(table, "files", "files = 10_000"));
    }
    let io = Keys::read(table)?;
    let bs = table.get("bs").map(|node| block_size(&node, BlockSize::Call)).transpose()?;
    let phases = match (table.get("phases"), &base) {
        (Some(node), _) => {
            phases::read(&node, &phases::Defaults { bs_bytes: bs, io: &io, files: dataset.files })?
        }
        (None, Some(base)) => {
            let files = dataset.files;
            base.phases.iter().map(|phase| changed(phase, bs, &io, files, table)).collect()
        }
        (None, None) => {
            return Err(missing(table, "phases", "phases = [\"create\", \"read\", \"delete\"]"));
        }
    };
    let (phases, mut spans): (Vec<Phase>, Vec<Spans>) = phases.into_iter().unzip();
    if let Some(node) = table.get("bs") {
        let own = spans.iter_mut().filter(|spans| *spans.key("bs") == spans.phase);
        own.for_each(|spans| spans.put("bs", &node.place));
    }
    let workload = Workload { name: name.value, title, dataset, phases, fio: None, source: None };
    whole(table, &workload)?;
    io.all_taken(&spans)?;
    for (number, spans) in spans.iter().enumerate() {
        mixes::check(&workload, number, spans)?;
    }
    Ok(At::new(workload, &table.place))
}

/// A phase of a built-in workload with keys of the table in it.
fn changed(
    phase: &Phase,
    bs: Option<u64>,
    io: &Keys,
    files: u64,
    table: &Table<'_>,
) -> (Phase, Spans) {
    let mut spans = Spans::all(&table.place);
    let io = io::resolve(phase.op, phase.io.clone(), io, &Keys::default(), &mut spans);
    let bs = bs.filter(|_| phase.op.info().bs.0 == BlockSize::Call);
    let mut phase = Phase { bs_bytes: bs.unwrap_or(phase.bs_bytes), io, ..phase.clone() };
    if let Some(cycle) = &mut phase.cycle {
        cycle.updates = cycle.updates.min(files);
    }
    (phase, spans)
}

/// The workload at a scale; see [`dataset::scaled`], [`real::scaled`] and fio's own rules.
pub(crate) fn scaled(workload: &At<Workload>, scale: f64) -> Result<Workload, PlanError> {
    if workload.value.fio.is_some() && scale != 1.0 {
        return fio::scaled(workload, scale);
    }
    if workload.value.source.is_some() {
        return real::scaled(workload, scale);
    }
    Ok(dataset::scaled(&workload.value, scale))
}

/// Files and sizes may be absent only where every phase is about directories.
fn whole(table: &Table<'_>, workload: &Workload) -> Result<(), PlanError> {
    if workload.phases.iter().all(|phase| phase.op.is_about_dirs()) && workload.dataset.files == 0 {
        return Ok(());
    }
    if workload.dataset.files == 0 {
        return Err(missing(table, "files", "files = 10_000"));
    }
    if table.get("size").is_none() && table.get("use").is_none() {
        return Err(missing(table, "size", "size = \"4 KiB\""));
    }
    Ok(())
}

fn used(node: &Node<'_>) -> Result<Workload, PlanError> {
    let name = node.text("\"small-files\"")?;
    named(name, &node.place)
}

/// The workload of this name, read.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
pub fn builtin(name: &str) -> Option<Workload> {
    let builtin = embedded::WORKLOADS.iter().find(|builtin| builtin.name == name)?;
    Some(read_builtin(builtin).expect("every built-in workload is read by a test"))
}

pub(crate) fn read_builtin(builtin: &Builtin) -> Result<Workload, PlanError> {
    let source = Source { file: builtin.name, text: builtin.text };
    let document = source.parse()?;
    let files = Files::none(builtin.name);
    Ok(read(&source.root(&document), &files)?.value)
}

/// The built-in workload of this name.
pub(crate) fn named(name: &str, place: &Span) -> Result<Workload, PlanError> {
    builtin(name)
        .ok_or_else(|| PlanError::unknown(place, "workload", name, &embedded::workload_names()))
}
