//! The work of each cycle: a column a cycle, a panel a contender.

use super::{Unit, ends, key, phase_id_of};
use crate::context::SectionContext;
use crate::format::three;
use fsarena_chart::{Axis, Column, Columns, ColumnsOf, Head, Spot};
use fsarena_model::units::Nanos;
use fsarena_study::cycles::CycleRow;
use fsarena_study::{CyclesRow, CyclesView, SpreadNs};

/// Work time of each cycle, held against the period.
pub(crate) fn cycles(
    context: &SectionContext<'_>,
    view: &CyclesView,
    rows: &[CyclesRow],
) -> Columns {
    let works = || rows.iter().flat_map(|row| &row.cycles).filter_map(|cycle| cycle.figures.work);
    let unit = Unit::of_ns(works().map(|work| work.median_ns).max().unwrap_or(0));
    let panel = |row: &CyclesRow| ColumnsOf {
        key: key(row.contender, row.label.as_str()),
        columns: row.cycles.iter().map(|cycle| column(cycle, unit)).collect(),
    };
    let period = Nanos(view.cycle.period_ns);
    Columns {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "cycles"),
            title: format!("{} / {}: work of each cycle", view.workload, view.phase),
            description: description(view, rows),
        },
        axis: Axis {
            title: format!("work time of a cycle, {} (less is better)", unit.name),
            log: false,
            unit: format!(" {}", unit.name),
        },
        limit: Some((unit.convert(view.cycle.period_ns as f64), format!("period, {period}"))),
        names: ["no second load", "second load at work"].map(str::to_owned),
        panels: rows.iter().map(panel).collect(),
    }
}

fn column(cycle: &CycleRow, unit: Unit) -> Column {
    let value = cycle.figures.work.map(|work| Spot {
        value: unit.convert(work.median_ns as f64),
        tip: format!("{}: {}", name(cycle), words(work)),
    });
    let several = cycle.figures.work.filter(|work| work.n > 1);
    Column {
        label: cycle.number.to_string(),
        value,
        range: several.map(|w| (unit.convert(w.min_ns as f64), unit.convert(w.max_ns as f64))),
        hatched: cycle.disturbed,
    }
}

/// `cycle 3, disturbed`.
fn name(cycle: &CycleRow) -> String {
    let disturbed = if cycle.disturbed { ", disturbed" } else { "" };
    format!("cycle {}{disturbed}", cycle.number)
}

fn words(work: SpreadNs) -> String {
    let median = Nanos(work.median_ns);
    match work.n {
        1 => median.to_string(),
        n => {
            format!("{median}, from {} to {} in {n} trials", Nanos(work.min_ns), Nanos(work.max_ns))
        }
    }
}

fn description(view: &CyclesView, rows: &[CyclesRow]) -> String {
    let unit = Unit::of_ns(1_000_000_000);
    let all = rows.iter().flat_map(|row| row.cycles.iter().map(move |cycle| (row, cycle)));
    let values = all.filter_map(|(row, cycle)| {
        let own = unit.convert(cycle.figures.work?.median_ns as f64);
        let words = format!("{} {} in {}", three(own), unit.name, name(cycle));
        Some((row.label.as_str(), own, words))
    });
    let disturbed = rows.iter().flat_map(|row| &row.cycles).filter(|cycle| cycle.disturbed);
    let mut numbers: Vec<String> = disturbed.map(|cycle| cycle.number.to_string()).collect();
    numbers.sort();
    numbers.dedup();
    let beside = match numbers.as_slice() {
        [] => String::new(),
        numbers => format!(" A second load is at work in cycle {}.", numbers.join(", ")),
    };
    format!(
        "Work of each cycle; the next one is due after {}; {}.{beside}",
        Nanos(view.cycle.period_ns),
        ends(values)
    )
}
