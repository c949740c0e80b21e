//! Every raw value of every trial, one table a workload and phase.

use crate::format::{count, grouped};
use crate::render::html as parts;
use crate::sections::appendix::data::MOST_POINTS;
use crate::table::{Cell, Column, Table};
use fsarena_model::record::CacheState;
use fsarena_study::{PhasePoints, TrialPoint};
use maud::{Markup, html};

/// The tables, folded.
pub(super) fn section(points: &[PhasePoints], many: usize) -> Markup {
    html! {
        (parts::heading("Every raw value of every trial"))
        @if many == 0 {
            (parts::missing("No trial has a timed phase that came to its end."))
        } @else if many > MOST_POINTS {
            p {
                "These are " (count(many, "phase")) " of trials, too many for tables: they are in "
                "the CSV below."
            }
        } @else {
            (parts::note(
                "In the order in which they were run. Read: from the device up to durable. \
                 Written: to the device up to the next unmount. CPU: of the whole machine up to \
                 durable."
            ))
            @for phase in points {
                @let trials = count(phase.points.len(), "trial");
                (parts::fold(
                    &format!("{} / {}, {trials}", phase.workload, phase.phase),
                    &html! { (table(phase)) }
                ))
            }
        }
    }
}

/// A kind of value: where it comes from, and in which unit and with how many decimals it is shown.
struct Shown {
    head: &'static str,
    unit: &'static str,
    value: fn(&TrialPoint) -> Option<f64>,
    decimals: usize,
}

/// In the order of the columns; those that no trial has are left out.
const SHOWN: [Shown; 13] = [
    Shown { head: "Compared", unit: "s", value: |p| s(p.compared_ns), decimals: 6 },
    Shown { head: "Returned", unit: "s", value: |p| s(Some(p.returned_ns)), decimals: 6 },
    Shown { head: "Durable", unit: "s", value: |p| s(p.durable_ns), decimals: 6 },
    Shown { head: "Drained", unit: "s", value: |p| s(p.drained_ns), decimals: 6 },
    Shown { head: "Ops", unit: "", value: |p| Some(p.ops as f64), decimals: 0 },
    Shown { head: "CPU", unit: "%", value: |p| p.cpu_share.map(|x| x * 100.0), decimals: 1 },
    Shown { head: "Steal", unit: "%", value: |p| p.steal_share.map(|x| x * 100.0), decimals: 1 },
    Shown { head: "Read", unit: "MiB", value: |p| mib(p.device_read_bytes), decimals: 3 },
    Shown { head: "Written", unit: "MiB", value: |p| mib(p.device_written_bytes), decimals: 3 },
    Shown { head: "Amplification", unit: "×", value: |p| p.write_amplification, decimals: 2 },
    Shown { head: "p50", unit: "µs", value: |p| us(p.p50_ns), decimals: 1 },
    Shown { head: "p99", unit: "µs", value: |p| us(p.p99_ns), decimals: 1 },
    Shown { head: "Longest", unit: "µs", value: |p| us(p.max_ns), decimals: 1 },
];

fn s(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e9)
}

fn us(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e3)
}

fn mib(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64 / 1_048_576.0)
}

fn table(phase: &PhasePoints) -> Table {
    let has = |one: &&Shown| phase.points.iter().any(|point| (one.value)(point).is_some());
    let shown: Vec<&Shown> = SHOWN.iter().filter(has).collect();
    let mut columns =
        vec![Column::text("Contender"), Column::figure("Block"), Column::figure("Trial")];
    columns.push(Column::text("Cache"));
    columns.extend(shown.iter().map(|one| Column::figure(one.head).unit(one.unit)));
    let is_noted = phase.points.iter().any(|point| !note(point).is_empty());
    if is_noted {
        columns.push(Column::text("Note"));
    }
    let caption = format!("{} / {}: raw values", phase.workload, phase.phase);
    let mut table = Table::new(columns).caption(caption);
    for point in &phase.points {
        let mut cells = vec![
            Cell::contender(point.contender, &point.label),
            Cell::figure(point.block.to_string(), f64::from(point.block)),
            Cell::figure(point.trial.to_string(), f64::from(point.trial)),
            Cell::text(cache(point.cache)),
        ];
        cells.extend(shown.iter().map(|one| {
            let text = |value: f64| match one.decimals {
                0 => (grouped(value as u64), value),
                decimals => (format!("{value:.decimals$}"), value),
            };
            Cell::maybe((one.value)(point).map(text))
        }));
        if is_noted {
            cells.push(Cell::text(note(point)));
        }
        table.row(cells);
    }
    table.sortable()
}

fn cache(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm by nature",
    }
}

/// Why a value is in no figure, or there is none.
fn note(point: &TrialPoint) -> String {
    let spoiled = point.spoiled.iter().map(|why| format!("in no figure: {why}"));
    let open = point.not_drained.iter().map(|why| format!("not drained: {why}"));
    spoiled.chain(open).collect::<Vec<_>>().join("; ")
}
