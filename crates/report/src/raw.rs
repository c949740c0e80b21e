//! Every trial's values, on demand: no median, no rounding.

use crate::table::{Grid, Kind};
use crate::words::{bold, cache, grouped, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_model::record::{Drained, Outcome, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::RunHeader;

/// Every trial's values (`show RUN --raw`): times in ns, sizes in bytes, one table a workload and
/// phase, one row a trial in the order in which they were run.
#[must_use]
pub fn raw_values(
    header: &RunHeader,
    records: &[TrialRecord],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for workload in &header.plan.workloads {
        for phase in workload.phases.iter().filter(|p| p.timed) {
            let title = format!("{} / {}", workload.name, phase.name);
            out.push_str(&bold(wrap("", &title, width).trim_end(), style.colour));
            out.push('\n');
            let own = records.iter().filter(|r| r.key.workload == workload.name);
            out.push_str(&phase_values(header, own, &phase.name).render(width));
            out.push('\n');
        }
    }
    out.push_str(&wrap(
        "",
        "Times in ns from the phase's first clock read; device bytes: written to the device up to \
         the next unmount. Blocks and trials are counted from 0. Everything else: --json.",
        width,
    ));
    out
}

fn phase_values<'a>(
    header: &RunHeader,
    records: impl Iterator<Item = &'a TrialRecord>,
    phase: &str,
) -> Grid {
    let mut grid = Grid::new(&[
        ("trial", Kind::Figure),
        ("block", Kind::Optional(2)),
        ("file system", Kind::Text),
        ("returned", Kind::Figure),
        ("durable", Kind::Figure),
        ("drained", Kind::Figure),
        ("cache", Kind::Optional(1)),
        ("ops", Kind::Optional(3)),
        ("asked bytes", Kind::Optional(4)),
        ("device bytes", Kind::Optional(5)),
    ]);
    for record in records {
        let label = header
            .plan
            .contenders
            .iter()
            .find(|c| c.id() == record.key.contender)
            .map_or_else(|| record.key.contender.short().to_owned(), |c| c.label.clone());
        let found = record.phases.iter().find(|p| p.name == phase);
        let early = found.is_some_and(|p| p.error.is_some());
        let label = if early { format!("{label} (ended early)") } else { label };
        let mut cells = vec![record.key.sequence.to_string(), record.key.block.to_string(), label];
        match found {
            Some(phase) => cells.extend(values(phase)),
            None => cells.push(ended(&record.outcome).to_owned()),
        }
        grid.row(cells);
    }
    grid
}

fn values(phase: &PhaseRecord) -> [String; 7] {
    let dash = || "-".to_owned();
    let drained = match &phase.clocks.drained {
        Drained::NoDevice => "no device".to_owned(),
        Drained::NotDrained { .. } => "not drained".to_owned(),
        drained => drained.ns().map_or_else(dash, grouped),
    };
    let written =
        phase.windows.get(&Window::Unmounted).and_then(|c| c.get("device.written_bytes").copied());
    [
        grouped(phase.clocks.returned_ns),
        phase.clocks.durable_ns.map_or_else(dash, grouped),
        drained,
        cache(phase.cache.state).to_owned(),
        grouped(phase.ops),
        grouped(phase.asked_bytes),
        written.map_or_else(dash, grouped),
    ]
}

/// Why a trial has no such phase.
fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "-",
        Outcome::NotRun { .. } => "not run",
        Outcome::Failed { .. } => "failed",
        Outcome::Interrupted => "interrupted",
    }
}
