//! Workloads: read from a table, checked as a sequence of phases, and scaled.
//!
//! There are three kinds: work of the engine on files of its own, fio's, and real work on a
//! dataset.

mod cycle;
mod dataset;
mod fio;
mod io;
mod jobs;
mod mixes;
mod phases;
mod real;
mod sequence;
mod source;

pub(crate) use dataset::{PATH_MAX, longest_path_bytes};
pub(crate) use fio::{from_file as of_fio_file, lays_out};
pub(crate) use mixes::is_aligned;

use crate::builtin;
use crate::error::{Place, PlanError};
use crate::experiment::At;
use crate::parse::Files;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::units::Bytes;
use fsarena_model::work::{Phase, Workload};
use io::{Keys, Places};

/// Largest read or write call: one buffer of the worker.
const MAX_BS_BYTES: u64 = 1 << 30;
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
        let what = "`source` says where a dataset lies, and there is none";
        return Err(node.error(what, "add dataset = \"mixed-830m\""));
    }
    let (name, title) = names(table, base.as_ref())?;
    let dataset = dataset::read(table, base.as_ref().map(|base| &base.dataset))?;
    if base.is_none() && dataset.files == 0 && dataset.dirs == 0 {
        return Err(missing(table, "files", "files = 10_000"));
    }
    let io = Keys::read(table)?;
    let bs = table.get("bs").map(|node| block_size(&node)).transpose()?;
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
    let (phases, mut places): (Vec<Phase>, Vec<Places>) = phases.into_iter().unzip();
    if let Some(node) = table.get("bs") {
        let own = places.iter_mut().filter(|places| *places.of("bs") == places.phase);
        own.for_each(|places| places.put("bs", &node.place));
    }
    let workload = Workload { name: name.value, title, dataset, phases, fio: None, source: None };
    whole(table, &workload)?;
    io.all_taken(&places)?;
    for (number, places) in places.iter().enumerate() {
        mixes::check(&workload, number, places)?;
    }
    Ok(At::new(workload, &table.place))
}

/// Name and title.
fn names(table: &Table<'_>, base: Option<&Workload>) -> Result<(At<String>, String), PlanError> {
    let name = name(table)?;
    if builtin::workload_names().contains(&name.value.as_str()) && base.is_some() {
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

/// A phase of a built-in workload with keys of the table in it.
fn changed(
    phase: &Phase,
    bs: Option<u64>,
    io: &Keys,
    files: u64,
    table: &Table<'_>,
) -> (Phase, Places) {
    let mut places = Places::all(&table.place);
    let io = io::resolve(phase.op, phase.io.clone(), io, &Keys::default(), &mut places);
    let mut phase = Phase { bs_bytes: bs.unwrap_or(phase.bs_bytes), io, ..phase.clone() };
    if let Some(cycle) = &mut phase.cycle {
        cycle.updates = cycle.updates.min(files);
    }
    (phase, places)
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

fn missing(table: &Table<'_>, key: &str, example: &str) -> PlanError {
    table.need(key, example).err().expect("the key is not there")
}

fn name(table: &Table<'_>) -> Result<At<String>, PlanError> {
    let node = table.need("name", "a name of its own: name = \"my-files\"")?;
    let name = text::name(node.text("\"my-files\"")?, &node.place, "a workload")?;
    Ok(At::new(name, &node.place))
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

fn block_size(node: &Node<'_>) -> Result<u64, PlanError> {
    let bs = text::bytes(&node.scalar("\"1 MiB\"")?, &node.place)?;
    if bs == 0 || bs > MAX_BS_BYTES {
        let what = format!("calls of {} are out of range", Bytes(bs));
        return Err(node.error(what, format!("use 1 B to {}", Bytes(MAX_BS_BYTES))));
    }
    Ok(bs)
}
