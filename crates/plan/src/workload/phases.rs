//! The list of phases: words and tables.

use super::head::block_size;
use super::io::{self, Keys, Spans};
use super::{cycle, jobs, sequence};
use crate::error::PlanError;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::io::Io;
use fsarena_model::op::{BlockSize, Op};
use fsarena_model::phase::{Order, Phase};
use fsarena_model::state::Effect;

const MAX_PHASES: usize = 32;

/// What the workload says for phases that do not say it themselves.
pub(super) struct Defaults<'k> {
    pub(super) bs_bytes: Option<u64>,
    pub(super) io: &'k Keys,
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
    let nodes = node.list("\"create\"")?;
    if nodes.len() > MAX_PHASES {
        let what = format!("{} phases are too many", nodes.len());
        return Err(node.error(what, format!("use up to {MAX_PHASES}")));
    }
    let mut phases: Vec<Phase> = Vec::new();
    let mut spans = Vec::new();
    for node in &nodes {
        let (phase, place) = phase(node, defaults)?;
        sequence::follows(&phases, &phase, defaults.files > 0, node)?;
        phases.push(phase);
        spans.push(place);
    }
    if phases.iter().all(|phase| !phase.timed) {
        let what = "no phase is timed: there is nothing to measure";
        return Err(node.error(what, "leave `timed = false` out of at least one"));
    }
    Ok(phases.into_iter().zip(spans).collect())
}

fn phase(node: &Node<'_>, defaults: &Defaults<'_>) -> Result<(Phase, Spans), PlanError> {
    let mut spans = Spans::all(&node.place);
    if !node.is_table() {
        let (op, order) = word(node)?;
        let name = node.text("\"read-random\"")?;
        let io = io::resolve(op, Io::default(), defaults.io, &Keys::default(), &mut spans);
        let cycle = (op == Op::Cycle).then(|| cycle::plain(defaults.files));
        let phase = Phase { order, io, cycle, ..Phase::new(name, op, defaults.bs_bytes(op)) };
        return Ok((phase, spans));
    }
    let table = node.table("{ op = \"read\" }")?;
    table.only(&[&["name", "op", "bs"], &ORDERED[..], &io::KEYS[..], &cycle::KEYS[..]].concat())?;
    let op_node = table.need("op", "op = \"read\"")?;
    let ops = Op::ALL.map(|op| (op.name(), op));
    let written = op_node.text("\"read\"")?;
    needs_dataset(written, &op_node)?;
    let op = text::word(written, &op_node.place, "op", &ops)?;
    for_this_op(op, &table)?;
    let order = match table.get("order") {
        None => Order::Sequential,
        Some(node) => {
            let orders = [("sequential", Order::Sequential), ("random", Order::Random)];
            let order = text::word(node.text("\"random\"")?, &node.place, "order", &orders)?;
            if order == Order::Random && !op.info().ordered {
                return Err(node.error(no_order(op), "leave `order` out"));
            }
            order
        }
    };
    let name = match table.get("name") {
        Some(node) => text::name(node.text("\"read-again\"")?, &node.place, "a phase")?,
        None if order == Order::Random => format!("{}-random", op.name()),
        None => op.name().to_owned(),
    };
    let bs_bytes = match table.get("bs") {
        Some(node) => {
            spans.put("bs", &node.place);
            block_size(&node, op.info().bs.0)?
        }
        None => defaults.bs_bytes(op),
    };
    let timed = table.get("timed").map_or(Ok(true), |node| node.flag())?;
    let io = io::resolve(op, Io::default(), defaults.io, &Keys::read(&table)?, &mut spans);
    let cycle = match op {
        Op::Cycle => Some(cycle::read(&table, defaults.files)?),
        _ => None,
    };
    Ok((Phase { order, timed, io, cycle, ..Phase::new(&name, op, bs_bytes) }, spans))
}

/// Keys of phases that go over the dataset once.
const ORDERED: [&str; 2] = ["order", "timed"];

/// Refuses keys that are for cycles alone, or that cycles cannot take.
fn for_this_op(op: Op, table: &Table<'_>) -> Result<(), PlanError> {
    for (key, _) in table.entries() {
        let of_cycles = cycle::KEYS.contains(&key.value);
        let of_others = ORDERED.contains(&key.value) || io::KEYS.contains(&key.value);
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
fn word(node: &Node<'_>) -> Result<(Op, Order), PlanError> {
    let written = node.text("\"read-random\"")?;
    let named = |name: &str| Op::ALL.into_iter().find(|known| known.name() == name);
    if let Some(op) = named(written) {
        return Ok((op, Order::Sequential));
    }
    let base = written.strip_suffix("-random").and_then(named);
    if let Some(op) = base.filter(|op| op.info().ordered) {
        return Ok((op, Order::Random));
    }
    needs_dataset(written, node)?;
    let mut known: Vec<String> = Op::ALL.iter().map(|op| op.name().to_owned()).collect();
    let ordered = Op::ALL.into_iter().filter(|op| op.info().ordered);
    known.extend(ordered.map(|op| format!("{}-random", op.name())));
    Err(PlanError::unknown(&node.place, "phase", written, &known))
}

/// Refuses real work where there is no dataset to do it with.
fn needs_dataset(written: &str, node: &Node<'_>) -> Result<(), PlanError> {
    let engine = Op::ALL.into_iter().any(|op| op.name() == written);
    if engine || !jobs::WORDS.contains(&written) {
        return Ok(());
    }
    let what = format!("`{written}` is done with a dataset, and there is none");
    Err(node.error(what, "say dataset = \"mixed-830m\" in place of `files` and `size`"))
}

fn no_order(op: Op) -> String {
    let name = op.name();
    match op.info().effect {
        Effect::RemoveDirs => format!("`{name}` goes from the leaves to the root"),
        _ if op.changes_dirs() => format!("`{name}` goes from the root to the leaves"),
        _ if op.is_random() => format!("`{name}` is in random order by itself"),
        _ => format!("`{name}` goes from the start of a file to its end"),
    }
}
