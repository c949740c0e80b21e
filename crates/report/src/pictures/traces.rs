//! Time series of one trial over its phases.

use crate::context::SectionContext;
use crate::format::three;
use fsarena_chart::{Head, Panel, Span, Trace, Traces};
use fsarena_model::cycle::CycleRecord;
use fsarena_study::{PhaseTrace, Quantity, TrialTrace};

/// The series of a trial.
pub(crate) fn traces(context: &SectionContext<'_>, trace: &TrialTrace) -> Traces {
    let panels: Vec<Panel> =
        Quantity::ALL.iter().filter_map(|&quantity| panel(trace, quantity)).collect();
    let id =
        format!("{}-c{}-series", super::workload_id(context, &trace.workload), trace.contender + 1);
    Traces {
        head: Head {
            id,
            title: format!("{} on {}, block {}", trace.workload, trace.label, trace.block),
            description: description(trace, &panels),
        },
        panels,
        spans: trace.phases.iter().flat_map(|phase| spans(context, trace, phase)).collect(),
    }
}

/// The phase; where it has cycles, a span from the start of each to that of the next.
fn spans(context: &SectionContext<'_>, trace: &TrialTrace, phase: &PhaseTrace) -> Vec<Span> {
    let record = context.run.records.iter().find(|one| one.key.sequence + 1 == trace.trial);
    let own = record.and_then(|record| record.phases.iter().find(|own| own.name == phase.phase));
    let cycles = own.and_then(|own| own.cycles.as_ref()).map_or(&[][..], |all| &all.cycles);
    let end_s = phase.at_s + phase.length_s;
    if cycles.is_empty() {
        return vec![Span { label: phase.phase.clone(), from_s: phase.at_s, to_s: end_s }];
    }
    let start_s = |cycle: &CycleRecord| phase.at_s + cycle.report.started_ns as f64 / 1e9;
    let ends = cycles.iter().skip(1).map(start_s).chain([end_s]);
    let span = |(cycle, to_s): (&CycleRecord, f64)| {
        let disturbed = if cycle.report.disturb.is_some() { ", disturbed" } else { "" };
        let label = format!("cycle {}{disturbed}", cycle.report.number);
        Span { label, from_s: start_s(cycle), to_s }
    };
    cycles.iter().zip(ends).map(span).collect()
}

/// What a panel shows, with its unit.
pub(crate) fn title(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ReadMbPerS => "read from the device, MB/s",
        Quantity::WrittenMbPerS => "written to the device, MB/s",
        Quantity::BusyPercent => "device busy, %",
        Quantity::QueueDepth => "requests at the device",
        Quantity::DirtyMib => "dirty memory, MiB",
        Quantity::CpuPercent => "CPU load, %",
    }
}

/// One line over all phases, with a gap between two; nothing where no phase has a value.
fn panel(trace: &TrialTrace, quantity: Quantity) -> Option<Panel> {
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    for phase in &trace.phases {
        let own = phase.lines.iter().find(|line| line.quantity == quantity);
        let Some(own) = own.filter(|line| !line.points.is_empty()) else { continue };
        if !points.is_empty() {
            points.push((phase.at_s, None));
        }
        points.extend(own.points.iter().map(|&(time_s, value)| (phase.at_s + time_s, value)));
    }
    points.iter().any(|(_, value)| value.is_some()).then(|| Panel {
        title: title(quantity).to_owned(),
        traces: vec![Trace { label: String::new(), hue: trace.contender, points }],
    })
}

fn description(trace: &TrialTrace, panels: &[Panel]) -> String {
    let peak = |panel: &Panel| {
        let values = panel.traces.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
        format!("{} at most {}", panel.title, three(values.fold(0.0, f64::max)))
    };
    let peaks: Vec<String> = panels.iter().map(peak).collect();
    let phases: Vec<&str> = trace.phases.iter().map(|phase| phase.phase.as_str()).collect();
    format!("Over the phases {}: {}.", phases.join(", "), peaks.join("; "))
}
