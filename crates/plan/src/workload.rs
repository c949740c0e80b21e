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
mod levels;
mod mixes;
mod phases;
mod real;
mod sequence;
mod source;
mod title;

pub(crate) use dataset::{busy_scale, longest_path_bytes, scaled as scaled_files};
pub(crate) use fio::{lays_out, workload_of_file};
pub(crate) use levels::CommonScale;
pub(crate) use mixes::is_aligned;
pub use title::{at_scale, shown_title};

use crate::embedded::{self, Builtin};
use crate::error::{At, PlanError, Span};
use crate::files::Files;
use crate::tree::{Hint, Source, Table, keys};
#[cfg(feature = "schema")]
use crate::values::table_of;
use fsarena_model::op::BlockSize;
use fsarena_model::parameter::Parameter;
use fsarena_model::phase::{Phase, Workload};
use head::{block_size, names};
use io::{Keys, Spans};
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};

/// What a table of a workload is read with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'r> {
    pub(crate) files: &'r Files<'r>,
    /// Workloads that `use` finds before those of the program.
    pub(crate) own: &'r [&'r Workload],
    /// What its numbers are levels of; empty for a workload by itself.
    pub(crate) varied: &'r [Parameter],
}

/// Reads a workload: written out, a built-in with some keys replaced, a fio job file, or real work.
pub(crate) fn read(table: &Table<'_>, reading: Reading<'_>) -> Result<At<Workload>, PlanError> {
    let Reading { files, own, varied } = reading;
    let of_engine = [keys::<dataset::Keys>(), keys::<io::Keys>()].concat();
    table.only(&[keys::<head::Keys>(), keys::<real::Keys>(), &of_engine].concat())?;
    let head: head::Keys = table.read()?;
    if head.fio.is_some() || head.fio_file.is_some() {
        return fio::read(table, &head, files);
    }
    let find = |base: &At<String>| match own.iter().find(|own| own.name == base.value) {
        Some(own) => Ok((*own).clone()),
        None => named(&base.value, &base.place),
    };
    let base = head.base.as_ref().map(find).transpose()?;
    if let Some(base) = &base
        && table.entries().len() == 1
    {
        return Ok(At::new(base.clone(), &table.place));
    }
    if table.has("dataset") || base.as_ref().is_some_and(|base| base.source.is_some()) {
        return real::read(table, &head, base.as_ref(), files);
    }
    if let Some(node) = table.get("source") {
        let what = "`source` says where a dataset is, and there is none";
        return Err(node.error(what, "add dataset = \"mixed-830m\""));
    }
    let (name, title) = match &base {
        Some(base) if !varied.is_empty() && head.name.is_none() => {
            (base.name.clone(), base.title.clone())
        }
        base => names(table, &head, base.as_ref())?,
    };
    let set: dataset::Keys = table.read()?;
    let dataset = dataset::dataset(table, &set, base.as_ref().map(|base| &base.dataset))?;
    if base.is_none() && dataset.files == 0 && dataset.dirs == 0 {
        return Err(table.missing("files", "files = 10_000"));
    }
    let io: Keys = table.read()?;
    let bs = head.bs.as_ref().map(|bs| block_size(bs, BlockSize::Call)).transpose()?;
    let phases = match (table.get("phases"), &base) {
        (Some(node), _) => {
            phases::read(&node, &phases::Defaults { bs_bytes: bs, io: &io, files: dataset.files })?
        }
        (None, Some(base)) => {
            let files = dataset.files;
            let phases = base.phases.iter().map(|phase| changed(phase, bs, &io, files, table));
            levels::renamed(phases.collect(), base, &dataset, varied)
        }
        (None, None) => {
            return Err(table.missing("phases", "phases = [\"create\", \"read\", \"delete\"]"));
        }
    };
    let (phases, mut spans): (Vec<Phase>, Vec<Spans>) = phases.into_iter().unzip();
    if let Some(bs) = &head.bs {
        let own = spans.iter_mut().filter(|spans| *spans.key("bs") == spans.phase);
        own.for_each(|spans| spans.put("bs", &bs.place));
    }
    let workload = Workload { name, title, dataset, phases, fio: None, source: None, levels: None };
    whole(table, &workload)?;
    Keys::all_taken(table, &spans)?;
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
pub(crate) fn scaled(
    workload: &At<Workload>,
    scale: f64,
    common: CommonScale,
) -> Result<Workload, PlanError> {
    let mut changed = match &workload.value {
        Workload { fio: Some(_), .. } if scale != 1.0 => fio::scaled(workload, scale)?,
        Workload { source: Some(_), .. } => real::scaled(workload, scale)?,
        plain => dataset::scaled(plain, common.scale),
    };
    if let Some(size_bytes) = common.size_bytes
        && changed.phases.iter().all(|phase| size_bytes.is_multiple_of(phase.bs_bytes.max(1)))
    {
        changed.dataset.size_bytes = size_bytes;
    }
    // Data of the user's own are not scaled.
    let scale = if changed == workload.value { 1.0 } else { scale };
    changed.title = title::shown_title(&changed, scale);
    Ok(changed)
}

/// The workload with its timed phases in so many ranks; see [`Workload::in_ranks`].
pub(crate) fn with_ranks(
    workload: &Workload,
    ranks: u32,
    place: &Span,
) -> Result<Workload, PlanError> {
    let refuse = |what: &str| {
        let what = format!("{ranks} ranks for workload {:?}: {what}", workload.name);
        let remedy = "use a workload of files and calls, such as small-files";
        Err(PlanError::new(place, what, remedy))
    };
    if ranks == 1 && workload.phases.iter().all(|phase| phase.io.ranks == 1) {
        return Ok(workload.clone());
    }
    if workload.fio.is_some() || workload.source.is_some() {
        return refuse("fio and real work are one process's");
    }
    if workload.phases.iter().any(|phase| phase.cycle.is_some()) {
        return refuse("cycles are one process's");
    }
    let spread = workload.clone().in_ranks(ranks);
    for number in 0..spread.phases.len() {
        mixes::check(&spread, number, &io::Spans::all(place)).map_err(|error| PlanError {
            what: format!("{ranks} ranks for workload {:?}: {}", workload.name, error.what),
            remedy: format!("name fewer ranks, or {}", error.remedy),
            ..error
        })?;
    }
    Ok(spread)
}

/// The workloads with another time for each phase that ends by the clock.
pub(crate) fn with_stonewall(
    mut workloads: Vec<Workload>,
    text: &str,
) -> Result<Vec<Workload>, PlanError> {
    let place = Span::Option("--stonewall");
    let wall_ns = crate::text::nanos(text, &place)?;
    let phases = workloads.iter_mut().flat_map(|work| &mut work.phases);
    let walls: Vec<_> = phases.filter_map(|phase| phase.io.stonewall_ns.as_mut()).collect();
    if walls.is_empty() {
        let remedy = "leave it out, or use one that has a stonewall, such as io500-like";
        return Err(PlanError::new(&place, "no phase ends by the clock", remedy));
    }
    walls.into_iter().for_each(|own_ns| *own_ns = wall_ns);
    for workload in &workloads {
        for (number, phase) in workload.phases.iter().enumerate() {
            if phase.io.stonewall_ns.is_some() {
                mixes::check(workload, number, &io::Spans::all(&place))?;
            }
        }
    }
    Ok(workloads)
}

/// Gives each timed phase of random ops this time, in place of their number.
pub(crate) fn set_runtime(workloads: &mut [At<Workload>], text: &str) -> Result<(), PlanError> {
    let place = Span::Option("--runtime");
    let runtime_ns = crate::text::nanos(text, &place)?;
    let mut is_taken = false;
    let of_engine = workloads.iter_mut().map(|at| &mut at.value).filter(|own| own.fio.is_none());
    for workload in of_engine {
        for number in 0..workload.phases.len() {
            let phase = &mut workload.phases[number];
            if !(phase.timed && phase.op.is_random()) {
                continue;
            }
            (phase.io.runtime_ns, phase.io.ops) = (Some(runtime_ns), None);
            is_taken = true;
            mixes::check(workload, number, &io::Spans::all(&place))?;
        }
    }
    if is_taken {
        return Ok(());
    }
    let remedy = "leave it out, or use one that has randread and the like, such as random-io";
    Err(PlanError::new(&place, "no timed phase is of random ops", remedy))
}

/// Files and sizes may be absent only where every phase is about directories.
fn whole(table: &Table<'_>, workload: &Workload) -> Result<(), PlanError> {
    if workload.phases.iter().all(|phase| phase.op.is_about_dirs()) && workload.dataset.files == 0 {
        return Ok(());
    }
    if workload.dataset.files == 0 {
        return Err(table.missing("files", "files = 10_000"));
    }
    if !table.has("size") && !table.has("use") {
        return Err(table.missing("size", "size = \"4 KiB\""));
    }
    Ok(())
}

/// The schema of `[[workload]]`.
#[cfg(feature = "schema")]
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    let mut one = table_of(&[
        generator.subschema_for::<head::Keys>(),
        generator.subschema_for::<dataset::Keys>(),
        generator.subschema_for::<io::Keys>(),
        generator.subschema_for::<real::Keys>(),
    ]);
    levels::allow_levels(&mut one);
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

/// The schema of `phases`: words, and tables of the engine or of real work.
#[cfg(feature = "schema")]
fn phases_schema(generator: &mut SchemaGenerator) -> Schema {
    let words = [phases::words(), jobs::WORDS.map(str::to_owned).into()].concat();
    let word = json_schema!({ "enum": words });
    let one = [word, phases::schema(generator), jobs::schema(generator)];
    let list = json_schema!({ "type": "array", "items": { "anyOf": one }, "minItems": 1 });
    json_schema!({ "anyOf": [&one[0], &one[1], &one[2], list] })
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
    let source = Source { file: builtin.name, text: builtin.text, hint: |_| Hint::default() };
    let document = source.parse()?;
    let files = Files::none(builtin.name);
    let reading = Reading { files: &files, own: &[], varied: &[] };
    Ok(read(&source.root(&document), reading)?.value)
}

/// The built-in workload of this name.
pub(crate) fn named(name: &str, place: &Span) -> Result<Workload, PlanError> {
    builtin(name)
        .ok_or_else(|| PlanError::unknown(place, "workload", name, &embedded::workload_names()))
}
