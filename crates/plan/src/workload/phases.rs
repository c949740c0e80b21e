//! The list of phases: words and tables.

use super::head::{block_size, phase_nodes, some_timed};
use super::io::{self, Spans};
use super::{cycle, jobs, sequence};
use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::tree::{Node, Table, keys};
#[cfg(feature = "schema")]
use crate::values::table_of;
use crate::values::{PhaseName, Read, Size, Word};
use crate::words::word;
use fsarena_model::io::Io;
use fsarena_model::op::{BlockSize, Op};
use fsarena_model::phase::{Order, Phase};
use fsarena_model::state::Effect;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;

/// What the workload says for phases that do not say it themselves.
pub(super) struct Defaults<'k> {
    pub(super) bs_bytes: Option<u64>,
    pub(super) io: &'k io::Keys,
    /// Files of the dataset.
    pub(super) files: u64,
}

impl Defaults<'_> {
    fn bs_bytes(&self, op: Op) -> u64 {
        let (meaning, usual_bytes) = op.info().bs;
        self.bs_bytes.filter(|_| meaning == BlockSize::Call).unwrap_or(usual_bytes)
    }
}

/// Reads the phases and checks that each finds what it needs.
pub(super) fn read(
    node: &Node<'_>,
    defaults: &Defaults<'_>,
) -> Result<Vec<(Phase, Spans)>, PlanError> {
    let nodes = phase_nodes(node)?;
    let mut phases: Vec<Phase> = Vec::new();
    let mut spans = Vec::new();
    for node in &nodes {
        let (phase, place) = phase(node, defaults)?;
        sequence::follows(&phases, &phase, defaults.files > 0, node)?;
        phases.push(phase);
        spans.push(place);
    }
    some_timed(node, phases.iter().map(|phase| phase.timed))?;
    Ok(phases.into_iter().zip(spans).collect())
}

/// A phase as a table; what it says of calls and of cycles is read apart.
#[derive(Deserialize, JsonSchema)]
struct Keys {
    /// Unique in the workload; where absent: the op.
    #[schemars(example = &"read-again")]
    name: Option<Read<PhaseName>>,
    /// What is done.
    #[schemars(with = "Word<Op>", example = &"read")]
    op: At<String>,
    /// Size of one call, or what the op takes in its place.
    #[schemars(example = &"1 MiB")]
    bs: Option<At<Size>>,
}

/// Keys of phases that go over the dataset once.
#[derive(Deserialize, JsonSchema)]
struct Once {
    /// Order of files or blocks.
    #[schemars(example = &"random")]
    order: Option<At<Word<Order>>>,
    /// false: done, but not measured.
    timed: Option<bool>,
}

fn phase(node: &Node<'_>, defaults: &Defaults<'_>) -> Result<(Phase, Spans), PlanError> {
    let mut spans = Spans::all(&node.place);
    let Some(table) = node.as_table() else {
        let name: String = node.read()?;
        let (op, order) = word_phase(&name, node)?;
        let io = io::resolve(op, Io::default(), defaults.io, &io::Keys::default(), &mut spans);
        let cycle = (op == Op::Cycle).then(|| cycle::plain(defaults.files));
        let phase = Phase { order, io, cycle, ..Phase::new(&name, op, defaults.bs_bytes(op)) };
        return Ok((phase, spans));
    };
    table.only(
        &[keys::<Keys>(), keys::<Once>(), keys::<io::Keys>(), keys::<cycle::Keys>()].concat(),
    )?;
    let (written, once): (Keys, Once) = (table.read()?, table.read()?);
    needs_dataset(&written.op.value, &written.op.place)?;
    let op: Op = word(&written.op.value, &written.op.place)?;
    for_this_op(op, &table)?;
    let order = match &once.order {
        Some(order) if order.value.0 == Order::Random && !op.info().ordered => {
            return Err(PlanError::new(&order.place, no_order(op), "leave `order` out"));
        }
        order => order.as_ref().map_or(Order::Sequential, |order| order.value.0),
    };
    let name = match written.name {
        Some(Read(name)) => name,
        None if order == Order::Random => format!("{}-random", op.name()),
        None => op.name().to_owned(),
    };
    let bs_bytes = match &written.bs {
        Some(bs) => {
            spans.put("bs", &bs.place);
            block_size(bs, op.info().bs.0)?
        }
        None => defaults.bs_bytes(op),
    };
    let io = io::resolve(op, Io::default(), defaults.io, &table.read()?, &mut spans);
    let cycle = match op {
        Op::Cycle => Some(cycle::cycle(&table, defaults.files)?),
        _ => None,
    };
    let timed = once.timed.unwrap_or(true);
    Ok((Phase { order, timed, io, cycle, ..Phase::new(&name, op, bs_bytes) }, spans))
}

/// The schema of a phase as a table.
#[cfg(feature = "schema")]
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    table_of(&[
        generator.subschema_for::<Keys>(),
        generator.subschema_for::<Once>(),
        generator.subschema_for::<io::Keys>(),
        generator.subschema_for::<cycle::Keys>(),
    ])
}

/// The phases that a word may be.
pub(super) fn words() -> Vec<String> {
    let ordered = Op::ALL.into_iter().filter(|op| op.info().ordered);
    let random = ordered.map(|op| format!("{}-random", op.name()));
    Op::ALL.iter().map(|op| op.name().to_owned()).chain(random).collect()
}

/// Refuses keys that are for cycles alone, or that cycles cannot take.
fn for_this_op(op: Op, table: &Table<'_>) -> Result<(), PlanError> {
    for (key, _) in table.entries() {
        let of_cycles = keys::<cycle::Keys>().contains(&key.value);
        let of_others = [keys::<Once>(), keys::<io::Keys>()].concat().contains(&key.value);
        if op != Op::Cycle && of_cycles {
            let what = format!("`{}` with `{}`: it is for `cycle`", key.value, op.name());
            return Err(PlanError::new(&key.place, what, "leave it out, or use op = \"cycle\""));
        }
        if op == Op::Cycle && of_others {
            let why = match key.value {
                "order" => "the files of a cycle are drawn anew for each",
                "timed" => "it lasts as long as its periods, to be measured",
                _ => "it is one thread of blocking calls, as the application was",
            };
            let what = format!("`{}` with `cycle`: {why}", key.value);
            return Err(PlanError::new(&key.place, what, "leave it out"));
        }
    }
    Ok(())
}

/// A phase as a word: an op, with `-random` after it for random order.
fn word_phase(written: &str, node: &Node<'_>) -> Result<(Op, Order), PlanError> {
    let named = |name: &str| Op::ALL.into_iter().find(|known| known.name() == name);
    if let Some(op) = named(written) {
        return Ok((op, Order::Sequential));
    }
    let base = written.strip_suffix("-random").and_then(named);
    if let Some(op) = base.filter(|op| op.info().ordered) {
        return Ok((op, Order::Random));
    }
    needs_dataset(written, &node.place)?;
    Err(PlanError::unknown(&node.place, "phase", written, &words()))
}

/// Refuses real work where there is no dataset to do it with.
fn needs_dataset(written: &str, place: &Span) -> Result<(), PlanError> {
    let engine = Op::ALL.into_iter().any(|op| op.name() == written);
    if engine || !jobs::WORDS.contains(&written) {
        return Ok(());
    }
    let what = format!("`{written}` is done with a dataset, and there is none");
    let remedy = "say dataset = \"mixed-830m\" in place of `files` and `size`";
    Err(PlanError::new(place, what, remedy))
}

fn no_order(op: Op) -> String {
    let name = op.name();
    match op.info().effect {
        Effect::RemoveDirs => format!("`{name}` goes from the leaves to the root"),
        _ if op.changes_dirs() => format!("`{name}` goes from the root to the leaves"),
        _ if op.is_random() => format!("`{name}` is in random order by itself"),
        _ if op == Op::Find => format!("`{name}` takes entries as directories give them"),
        _ => format!("`{name}` goes from the start of a file to its end"),
    }
}
