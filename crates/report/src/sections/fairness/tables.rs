//! Tables of the ledger: what was done to devices, proofs of cold caches, disturbances.

use crate::format::{bytes, count};
use crate::ledger;
use crate::render::html as parts;
use crate::table::{Cell, Column, Table};
use fsarena_model::record::CacheState;
use fsarena_model::run::RunPlan;
use fsarena_study::{Disturbance, Fairness, Study};
use maud::{Markup, html};

/// What the SSD policies did before mkfs, and how the queues were set; nothing where neither is
/// known.
pub(crate) fn prepared(study: &Study) -> Markup {
    html! { (ledger::conditioning(study)) (ledger::queues(study)) }
}

/// How the caches were, and by what proof.
pub(crate) fn caches(view: &Fairness, plan: &RunPlan) -> Markup {
    let columns = vec![
        Column::text("contender"),
        Column::text("workload"),
        Column::text("phase"),
        Column::text("caches"),
        Column::figure("trials"),
        Column::figure("read by the mount"),
        Column::figure("had to be read"),
        Column::figure("delivered"),
        Column::text("why it is called that"),
    ];
    let mut table = Table::new(columns).caption("State of the caches, medians of bytes").sortable();
    for proof in &view.caches {
        let (state, hue) = (state(proof.state), hue(plan, &proof.label));
        table.row(vec![
            Cell::contender(hue, &proof.label),
            Cell::text(&proof.workload),
            Cell::text(&proof.phase),
            Cell::text(state),
            Cell::figure(proof.trials.to_string(), proof.trials as f64),
            size(proof.mount_read_bytes),
            size(proof.needed_read_bytes),
            size(proof.delivered_read_bytes),
            Cell::text(&proof.why),
        ]);
    }
    html! {
        (parts::heading("Caches, and the proof"))
        @if table.is_empty() {
            (parts::missing("No phase was begun."))
        } @else if view.caches.len() > FOLDED_ROWS {
            (parts::fold(&count(view.caches.len(), "row"), &html! { (table) }))
        } @else {
            (table)
        }
    }
}

/// More rows than this are folded.
const FOLDED_ROWS: usize = 40;

/// What disturbed the trials, those with a remedy first; and what the watchers saw.
pub(crate) fn disturbances(view: &Fairness, study: &Study) -> Markup {
    let columns = vec![
        Column::text("what"),
        Column::text("what to do about it"),
        Column::figure("trials"),
        Column::text("contenders"),
    ];
    let mut table =
        Table::new(columns).caption("What disturbed the trials, or is to be known with them");
    let mut sorted: Vec<&Disturbance> = view.disturbances.iter().collect();
    sorted.sort_by_key(|one| (one.remedy.is_none(), std::cmp::Reverse(one.trials)));
    for one in sorted {
        table.row(vec![
            Cell::text(&one.text),
            known(one.remedy.as_ref()),
            Cell::figure(one.trials.to_string(), one.trials as f64),
            Cell::text(one.labels.join(", ")),
        ]);
    }
    let watched: Vec<String> = study.findings.iter().map(|found| found.text.clone()).collect();
    html! {
        (parts::heading("Disturbances"))
        @if table.is_empty() && watched.is_empty() {
            (parts::note("None was seen."))
        }
        @if !table.is_empty() { (table) }
        (parts::list(&watched))
    }
}

fn state(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm by nature",
    }
}

fn size(value: Option<u64>) -> Cell {
    Cell::maybe(value.map(|own| (bytes(Some(own)), own as f64)))
}

fn known(text: Option<&String>) -> Cell {
    text.map_or_else(Cell::none, Cell::text)
}

/// The number of a contender in the plan, by its label.
fn hue(plan: &RunPlan, label: &str) -> usize {
    plan.contenders.iter().position(|own| own.label == label).unwrap_or(0)
}
