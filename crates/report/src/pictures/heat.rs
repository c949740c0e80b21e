//! Ratios of all contenders over all phases at a glance.

use super::{ends, key};
use crate::context::SectionContext;
use crate::verdict::text::ratio_and_interval;
use fsarena_chart::{Cell, Head, Heat, Proof, Spot};
use fsarena_model::verdict::Verdict;
use fsarena_study::{HeatCell, HeatView};

/// The heat map of a RUN.
pub(crate) fn heat(context: &SectionContext<'_>, view: &HeatView) -> Heat {
    let one_workload = view.columns.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let name = |(workload, phase): &(String, String)| {
        if one_workload { phase.clone() } else { format!("{workload} / {phase}") }
    };
    let columns: Vec<String> = view.columns.iter().map(name).collect();
    let cells: Vec<Vec<Cell>> = view
        .rows
        .iter()
        .map(|row| {
            let each = row.cells.iter().zip(&columns);
            each.map(|(own, column)| cell(view, &row.label, column, *own)).collect()
        })
        .collect();
    let others = view.rows.iter().zip(&cells).filter(|(row, _)| row.label != view.reference);
    let named = others.flat_map(|(row, cells)| {
        let each = cells.iter().zip(&columns);
        each.filter_map(|(cell, column)| {
            let value = cell.ratio.as_ref()?.value;
            Some((row.label.as_str(), value, format!("{value:.2} in {column}")))
        })
    });
    let description = format!(
        "Time of {} contenders over {} phases as a ratio to {}, which is 1.00; {}.",
        view.rows.len(),
        columns.len(),
        view.reference,
        ends(named)
    );
    Heat {
        head: Head {
            id: format!("{}-heat", context.prefix),
            title: format!("Times as ratios to {}", view.reference),
            description,
        },
        rows: view.rows.iter().map(|row| key(row.contender, row.label.as_str())).collect(),
        legend: format!("time ÷ time of {}: above 1 is slower", view.reference),
        columns,
        cells,
    }
}

fn cell(view: &HeatView, label: &str, column: &str, cell: HeatCell) -> Cell {
    let reference = label == view.reference;
    let spot = |ratio: f64| {
        let (low, high) = cell.interval.unzip();
        let (text, interval) = ratio_and_interval(Some(ratio), low, high);
        let interval = interval.map(|interval| format!(" {interval}")).unwrap_or_default();
        let said = match cell.verdict {
            _ if reference => "",
            Some(Verdict::Faster) => ", FASTER",
            Some(Verdict::Slower) => ", SLOWER",
            Some(Verdict::Same) => ", SAME",
            Some(Verdict::Undecided) => ", UNDECIDED: no difference shown",
            None => ", of medians; not asked whether it is real",
        };
        let against = &view.reference;
        let tip = format!("{label}, {column}: {text}{interval} × the time of {against}{said}");
        Spot { value: ratio, tip }
    };
    let proof = match cell.verdict {
        Some(Verdict::Faster | Verdict::Slower) => Proof::Differs,
        Some(Verdict::Same) => Proof::Same,
        Some(Verdict::Undecided) | None => Proof::None,
    };
    Cell { ratio: cell.ratio.map(spot), proof, reference }
}
