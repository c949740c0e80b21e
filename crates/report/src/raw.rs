//! Every trial's values, on demand: no median, no rounding.

use crate::table::{Grid, Kind};
use crate::words::{bold, cache, grouped, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_model::record::{Drained, Outcome, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::RunHeader;
use fsarena_study::complete;

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
         the next unmount; partial: the phase ended early, and is in no figure. Blocks and trials \
         are counted from 0. Everything else: --json.",
        width,
    ));
    out
}

fn phase_values<'a>(
    header: &RunHeader,
    records: impl Iterator<Item = &'a TrialRecord>,
    name: &str,
) -> Grid {
    let records: Vec<(&TrialRecord, Option<&PhaseRecord>)> =
        records.map(|record| (record, record.phases.iter().find(|p| p.name == name))).collect();
    let any = |of: fn(&PhaseRecord) -> bool| records.iter().any(|(_, phase)| phase.is_some_and(of));
    let (threads, program) = (any(|p| !p.threads.is_empty()), any(|p| p.program.is_some()));
    let mut columns = vec![
        ("trial", Kind::Figure),
        ("block", Kind::Optional(2)),
        ("file system", Kind::Text),
        ("returned", Kind::Figure),
        ("durable", Kind::Figure),
        ("drained", Kind::Figure),
        ("cache", Kind::Optional(3)),
        ("ops", Kind::Optional(4)),
        ("asked bytes", Kind::Optional(5)),
        ("device bytes", Kind::Optional(6)),
    ];
    if threads {
        columns.extend([("first done", Kind::Optional(1)), ("last done", Kind::Optional(1))]);
    }
    if program {
        columns.push(("own clock", Kind::Optional(1)));
    }
    let mut grid = Grid::new(&columns);
    for (record, found) in records {
        let label = header
            .plan
            .contenders
            .iter()
            .find(|c| c.id() == record.key.contender)
            .map_or_else(|| record.key.contender.short().to_owned(), |c| c.label.clone());
        let partial = found.is_some_and(|phase| !complete(phase));
        let label = if partial { format!("{label} (partial)") } else { label };
        let mut cells = vec![record.key.sequence.to_string(), record.key.block.to_string(), label];
        match found {
            Some(phase) => {
                cells.extend(values(phase));
                if threads {
                    let done = phase.first_and_last_done_ns();
                    cells.push(or_dash(done.map(|(first, _)| first)));
                    cells.push(or_dash(done.map(|(_, last)| last)));
                }
                if program {
                    cells.push(or_dash(phase.program.as_ref().and_then(|p| p.own_ns)));
                }
            }
            None => cells.push(ended(&record.outcome).to_owned()),
        }
        grid.row(cells);
    }
    grid
}

fn or_dash(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), grouped)
}

fn values(phase: &PhaseRecord) -> [String; 7] {
    let drained = match &phase.clocks.drained {
        Drained::NoDevice => "no device".to_owned(),
        Drained::NotDrained { .. } => "not drained".to_owned(),
        drained => or_dash(drained.ns()),
    };
    let written =
        phase.windows.get(&Window::Unmounted).and_then(|c| c.get("device.written_bytes").copied());
    [
        grouped(phase.clocks.returned_ns),
        or_dash(phase.clocks.durable_ns),
        drained,
        cache(phase.cache.state).to_owned(),
        grouped(phase.ops),
        grouped(phase.asked_bytes),
        or_dash(written),
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
