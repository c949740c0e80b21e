//! Returned, durable and drained as one bar a contender: what follows the calls themselves.

use super::{Unit, ends, phase_id, row_key};
use crate::context::SectionContext;
use crate::format::three;
use crate::format::{count, ns};
use fsarena_chart::{Axis, Head, Segment, Stack, Stacks};
use fsarena_study::{DrainedView, PhaseRow, PhaseTable};

/// The segments: up to which clock each goes.
const NAMES: [&str; 3] = ["returned", "until durable", "until drained"];

/// The three clocks of a phase.
pub(crate) fn clocks(context: &SectionContext<'_>, table: &PhaseTable) -> Stacks {
    let rows: Vec<&PhaseRow> = table.rows.iter().filter(|row| row.n > 0).collect();
    let longest = rows.iter().filter_map(|row| ends_ns(row).last().copied()).max();
    let unit = Unit::of_ns(longest.unwrap_or(0));
    let stacks: Vec<Stack> = rows.iter().map(|row| stack(table, row, unit)).collect();
    let whole = stacks.iter().filter_map(|stack| {
        let end = stack.segments.last()?.to;
        Some((stack.key.label.as_str(), end, format!("{} {}", three(end), unit.name)))
    });
    let description = format!(
        "Medians of the three clocks of {} in {} / {}, up to the last of them: {}.",
        count(rows.len(), "contender"),
        table.workload,
        table.phase,
        ends(whole)
    );
    Stacks {
        head: Head {
            id: phase_id(context, table, "clocks"),
            title: format!("{} / {}: the three clocks", table.workload, table.phase),
            description,
        },
        axis: Axis {
            title: format!("time since the start, {} (less is better)", unit.name),
            log: false,
            unit: format!(" {}", unit.name),
        },
        names: NAMES.map(str::to_owned).to_vec(),
        stacks,
        ..Stacks::default()
    }
}

/// Medians of the clocks that there are, never one before the one before it: each is a median of
/// its own.
fn ends_ns(row: &PhaseRow) -> Vec<u64> {
    let clocks = [row.returned, row.durable, row.drained.spread];
    let medians = clocks.iter().map_while(|spread| spread.map(|spread| spread.median_ns));
    let later = |last: &mut u64, median_ns: u64| {
        *last = (*last).max(median_ns);
        Some(*last)
    };
    medians.scan(0, later).collect()
}

fn stack(table: &PhaseTable, row: &PhaseRow, unit: Unit) -> Stack {
    let key = row_key(table, row);
    let mut from_ns = 0;
    let mut segments = Vec::new();
    for (name, to_ns) in ends_ns(row).into_iter().enumerate() {
        let clock = NAMES[name].trim_start_matches("until ");
        let more = ns(Some(to_ns - from_ns));
        let tip = match name {
            0 => format!("{}: returned after {}", key.label, ns(Some(to_ns))),
            _ => format!("{}: {clock} after {}, {more} later", key.label, ns(Some(to_ns))),
        };
        let (from, to) = (unit.convert(from_ns as f64), unit.convert(to_ns as f64));
        segments.push(Segment { name, from, to, tip });
        from_ns = to_ns;
    }
    Stack { key, segments, note: not_drained(&row.drained), ..Stack::default() }
}

/// Why there is no third clock, or not of all trials.
pub(crate) fn not_drained(drained: &DrainedView) -> String {
    let reasons = drained.reasons.join("; ");
    match (drained.spread, drained.not_drained, drained.no_device) {
        (None, 0, 0) | (Some(_), 0, _) => String::new(),
        (None, 0, _) => "no device".to_owned(),
        (None, ..) => format!("not drained: {reasons}"),
        (Some(_), n, _) => format!("not drained in {}: {reasons}", count(n, "trial")),
    }
}
