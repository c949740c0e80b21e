//! Every trial's values, on demand: no median, no rounding.

use crate::bars::line;
use crate::format::{cache, grouped};
use crate::io_summary::describe_job;
use crate::render::text;
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Column, Table};
use crate::text::{bold, wrap};
use fsarena_model::record::{Drained, Outcome, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::RunHeader;

/// Every trial's values (`show RUN --raw`): times in ns, sizes in bytes, one table a workload and
/// phase, one row a trial in the order in which they were run. Blocks and trials count from 1.
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
            let words = phase.job.as_ref().map(|job| format!(": {}", describe_job(job)));
            let title = format!("{} / {}{}", workload.name, phase.name, words.unwrap_or_default());
            out.push_str(&bold(wrap("", &title, width).trim_end(), style.colour));
            out.push('\n');
            let own = || records.iter().filter(|r| r.key.workload == workload.name);
            let real = phase.job.is_some();
            out.push_str(&text::table(&phase_values(header, own(), &phase.name, real), width));
            if real {
                out.push_str(&text::table(&amounts(header, own(), &phase.name), width));
            }
            if style.bars {
                let records: Vec<&TrialRecord> = own().collect();
                let course = course(header, &records, &phase.name);
                out.push_str(&if course.is_empty() {
                    String::new()
                } else {
                    text::table(&course, width)
                });
            }
            out.push('\n');
        }
    }
    out.push_str(&wrap(
        "",
        if header.plan.workloads.iter().any(|workload| workload.source.is_some()) {
            REAL_WORK_LEGEND
        } else {
            LEGEND
        },
        width,
    ));
    out
}

const LEGEND: &str = "Times in ns from the phase's first clock read; device bytes: written to the \
                      device up to the next unmount; partial: the phase ended early, and is in no \
                      figure. Everything else: --json.";
const REAL_WORK_LEGEND: &str = "Times in ns from the phase's first clock read; device bytes, \
                               written: to the device up to the next unmount; read: from it up to \
                               `durable`; asked: bytes of contents that the work read and wrote, \
                               of these written; user, system: processor time in ns of the \
                               program and all it starts, or of the engine; partial: the phase \
                               ended early, and is in no figure. Everything else: --json.";

/// Columns of a line over the blocks.
const LINE_COLUMNS: usize = 48;

/// How the compared time of each contender went on from block to block: a drift, a jump and a value
/// that stands out are seen at a glance. Contenders with one value have no course.
fn course(header: &RunHeader, records: &[&TrialRecord], name: &str) -> Table {
    let clock = header.plan.compared_clock;
    let head = format!("{} by block, least to largest", clock.name());
    let mut grid = Table::new([Column::text("file system"), Column::text(head.as_str())]);
    for contender in &header.plan.contenders {
        let id = contender.id();
        let own = records.iter().filter(|record| record.key.contender == id);
        let values: Vec<Option<f64>> = own
            .map(|record| {
                let phase = record.phases.iter().find(|phase| phase.name == name)?;
                let ns = phase.is_complete().then(|| phase.ns(clock)).flatten()?;
                Some(ns as f64)
            })
            .collect();
        if values.iter().flatten().count() > 1 {
            grid.row(vec![contender.label.clone(), line(&values, LINE_COLUMNS)]);
        }
    }
    grid
}

/// Amounts, processor time and device traffic of a phase of real work; one row a trial that has it.
fn amounts<'a>(
    header: &RunHeader,
    records: impl Iterator<Item = &'a TrialRecord>,
    name: &str,
) -> Table {
    let mut grid = Table::new([
        Column::figure("trial"),
        Column::text("file system"),
        Column::figure("entries"),
        Column::figure("asked"),
        Column::figure("of it written").narrow(),
        Column::figure("user"),
        Column::figure("system"),
        Column::figure("read"),
        Column::figure("written"),
    ]);
    for record in records {
        let Some(phase) = record.phases.iter().find(|phase| phase.name == name) else { continue };
        let device = |window, name: &str| phase.windows.get(&window)?.get(name).copied();
        grid.row(vec![
            (record.key.sequence + 1).to_string(),
            label(header, record, Some(phase)),
            grouped(phase.ops),
            grouped(phase.asked_bytes),
            or_dash(phase.asked_written_bytes),
            grouped(phase.worker.user_ns),
            grouped(phase.worker.system_ns),
            or_dash(device(Window::Durable, "device.read_bytes")),
            or_dash(device(Window::Unmounted, "device.written_bytes")),
        ]);
    }
    grid
}

/// Label of a trial's contender, with a word where the phase did not come to its end.
fn label(header: &RunHeader, record: &TrialRecord, phase: Option<&PhaseRecord>) -> String {
    let known = header.plan.contenders.iter().find(|c| c.id() == record.key.contender);
    let label = known.map_or_else(|| record.key.contender.short().to_owned(), |c| c.label.clone());
    let partial = phase.is_some_and(|phase| !phase.is_complete());
    if partial { format!("{label} (partial)") } else { label }
}

fn phase_values<'a>(
    header: &RunHeader,
    records: impl Iterator<Item = &'a TrialRecord>,
    name: &str,
    real: bool,
) -> Table {
    let records: Vec<(&TrialRecord, Option<&PhaseRecord>)> =
        records.map(|record| (record, record.phases.iter().find(|p| p.name == name))).collect();
    let any = |of: fn(&PhaseRecord) -> bool| records.iter().any(|(_, phase)| phase.is_some_and(of));
    let threads = any(|p| !p.threads.is_empty());
    let own_clock = any(|p| p.program.as_ref().is_some_and(|program| program.own_ns.is_some()));
    let program = own_clock || (!real && any(|p| p.program.is_some()));
    let mut columns = vec![
        Column::figure("trial"),
        Column::figure("block").optional(2),
        Column::text("file system"),
        Column::figure("returned"),
        Column::figure("durable"),
        Column::figure("drained"),
        Column::figure("cache").optional(3),
    ];
    if !real {
        columns.extend([
            Column::figure("ops").optional(4),
            Column::figure("asked bytes").optional(5),
            Column::figure("device bytes").optional(6),
        ]);
    }
    if threads {
        columns.extend([
            Column::figure("first done").optional(1),
            Column::figure("last done").optional(1),
        ]);
    }
    if program {
        columns.push(Column::figure("own clock").optional(1));
    }
    let mut grid = Table::new(columns);
    for (record, found) in records {
        let label = label(header, record, found);
        let (trial, block) = (record.key.sequence + 1, record.key.block + 1);
        let mut cells = vec![trial.to_string(), block.to_string(), label];
        match found {
            Some(phase) => {
                cells.extend(times(phase));
                if !real {
                    cells.extend(counts(phase));
                }
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

fn times(phase: &PhaseRecord) -> [String; 4] {
    let drained = match &phase.clocks.drained {
        Drained::NoDevice => "no device".to_owned(),
        Drained::NotDrained { .. } | Drained::NotWaitedFor { .. } => "not drained".to_owned(),
        drained => or_dash(drained.ns()),
    };
    [
        grouped(phase.clocks.returned_ns),
        or_dash(phase.clocks.durable_ns),
        drained,
        cache(phase.cache.state).to_owned(),
    ]
}

fn counts(phase: &PhaseRecord) -> [String; 3] {
    let written =
        phase.windows.get(&Window::Unmounted).and_then(|c| c.get("device.written_bytes").copied());
    [grouped(phase.ops), grouped(phase.asked_bytes), or_dash(written)]
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
