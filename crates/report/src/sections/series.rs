//! Section 5, time series: of one trial a workload and contender, across its phases.

use crate::context::SectionContext;
use crate::format::{grouped, three};
use crate::pictures::{file_name, workload_id};
use crate::section::{Block, Section};
use fsarena_chart::{Head, Panel, Span, Trace, Traces};
use fsarena_model::cycle::CycleRecord;
use fsarena_model::units::Nanos;
use fsarena_study::{PhaseTrace, Quantity, TraceLine, TrialTrace};

/// Most charts of a RUN, so that a page of many contenders can still be mailed.
const MOST_CHARTS: usize = 24;

/// The section of one RUN. Each workload has an equal part of the charts.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let traces = views(context);
    if traces.is_empty() {
        return Section::new(vec![Block::Missing(why_none(context).to_owned())]);
    }
    let workloads: Vec<_> = traces.chunk_by(|a, b| a.workload == b.workload).collect();
    let each = (MOST_CHARTS / workloads.len()).max(1);
    let note = Block::Note(describe_sampling(context));
    let blocks = workloads.into_iter().flat_map(|own| workload(context, own, each));
    Section::new(std::iter::once(note).chain(blocks).collect())
}

/// Most hosts with a line of their own: more cannot be told apart.
const MOST_HOSTS: usize = 8;

/// Series with at least one value, those of a workload together.
fn views(context: &SectionContext<'_>) -> Vec<TrialTrace> {
    let run = context.run;
    let mut traces = fsarena_study::traces(&run.header.plan, run.records);
    traces.retain(|trace| {
        let of_hosts = trace.phases.iter().flat_map(|phase| &phase.hosts);
        let of_hosts = of_hosts.flat_map(|host| &host.lines);
        let mut lines = trace.phases.iter().flat_map(|phase| &phase.lines).chain(of_hosts);
        lines.any(|line| line.points.iter().any(|(_, value)| value.is_some()))
    });
    traces
}

fn why_none(context: &SectionContext<'_>) -> &'static str {
    let run = context.run;
    if run.header.plan.sample_period_ns == 0 {
        "No time series: the RUN was planned without one (its sample period is 0)."
    } else if run.records.is_empty() {
        "No time series: no trial has a record."
    } else {
        "No time series: no trial has phases long enough for two samples."
    }
}

fn describe_sampling(context: &SectionContext<'_>) -> String {
    let run = context.run;
    let period = Nanos(run.header.plan.sample_period_ns);
    let cost = run.study.sampler.map_or_else(String::new, |total| {
        format!(" Sampling took {:.2} % of one CPU core.", total.share * 100.0)
    });
    let what = if context.run.is_watched() {
        format!("A sample every {period}.")
    } else {
        format!(
            "One trial a workload and contender, sampled every {period}; phases follow each other \
             with the time between them left out."
        )
    };
    format!(
        "{what} Rates are of the stretch that ends at a point; of long \
         series the least and the largest value of each stretch are drawn. MB are 10^6 bytes, MiB \
         are 2^20.{cost}"
    )
}

/// The first `most` trials of a workload, the first of them open.
fn workload(context: &SectionContext<'_>, all: &[TrialTrace], most: usize) -> Vec<Block> {
    let trial = |trace| -> Vec<Block> {
        let own = Block::Chart(traces(context, trace).draw(), caption(trace));
        std::iter::once(own).chain(of_hosts(context, trace)).collect()
    };
    let mut blocks = vec![Block::Heading(all[0].workload.clone())];
    blocks.extend(trial(&all[0]));
    blocks.extend(
        all.iter().take(most).skip(1).map(|other| {
            Block::Fold(format!("{} on {}", other.workload, other.label), trial(other))
        }),
    );
    if all.len() > most {
        blocks.push(Block::Note(format!(
            "Not drawn, to keep the page small: {} series of further contenders. They are in the \
             database.",
            grouped((all.len() - most) as u64)
        )));
    }
    blocks
}

fn caption(trace: &TrialTrace) -> String {
    format!(
        "{} on {}: trial {} (block {}), {}.",
        trace.workload, trace.label, trace.trial, trace.block, trace.chosen
    )
}

/// The series of a trial.
pub(crate) fn traces(context: &SectionContext<'_>, trace: &TrialTrace) -> Traces {
    let all = Quantity::ALL.into_iter().chain(Quantity::OF_OPS);
    let panels = all.filter_map(|quantity| panel(trace, quantity)).collect();
    chart(context, trace, panels, ("series", "time-series", ""))
}

/// A chart over the phases of a trial, with the end of its id, of its name and of its title.
fn chart(
    context: &SectionContext<'_>,
    trace: &TrialTrace,
    panels: Vec<Panel>,
    (id, name, title): (&str, &str, &str),
) -> Traces {
    let workload = workload_id(context, &trace.workload);
    let title = format!("{} on {}, block {}{title}", trace.workload, trace.label, trace.block);
    let head = Head {
        id: format!("{workload}-c{}-{id}", trace.contender + 1),
        name: file_name(&[&trace.workload, &trace.label, name]),
        title,
        description: describe_trace(trace, &panels),
    };
    let spans = trace.phases.iter().flat_map(|phase| spans(context, trace, phase)).collect();
    Traces { head, panels, spans }
}

/// The hosts of its ranks, a line each; nothing where no agent took samples.
fn of_hosts(context: &SectionContext<'_>, trace: &TrialTrace) -> Option<Block> {
    let mut names: Vec<&str> = Vec::new();
    for host in trace.phases.iter().flat_map(|phase| &phase.hosts) {
        if !names.contains(&host.hostname.as_str()) {
            names.push(&host.hostname);
        }
    }
    let drawn = &names[..names.len().min(MOST_HOSTS)];
    let panels: Vec<Panel> = Quantity::ALL
        .iter()
        .filter_map(|&quantity| panel_of_hosts(trace, drawn, quantity))
        .collect();
    if panels.is_empty() {
        return None;
    }
    let left_out = match names.len() - drawn.len() {
        0 => String::new(),
        count => format!(" {count} further hosts are in the database."),
    };
    let chart = chart(context, trace, panels, ("hosts", "hosts", ": hosts"));
    let text = format!(
        "The hosts of its ranks in the same trial, each whole: network with loopback.{left_out}"
    );
    Some(Block::Chart(chart.draw(), text))
}

/// A line for each host.
fn panel_of_hosts(trace: &TrialTrace, names: &[&str], quantity: Quantity) -> Option<Panel> {
    let of_host = |(hue, name): (usize, &&str)| {
        let points = points(trace, quantity, |phase| {
            let host = phase.hosts.iter().find(|host| host.hostname == *name);
            host.map_or(&[][..], |host| &host.lines)
        });
        let has_value = points.iter().any(|(_, value)| value.is_some());
        has_value.then(|| Trace { label: (*name).to_owned(), hue, points })
    };
    let traces: Vec<Trace> = names.iter().enumerate().filter_map(of_host).collect();
    let title = quantity_title(quantity).to_owned();
    (!traces.is_empty()).then_some(Panel { title, traces })
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
fn quantity_title(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ReadMbPerS => "read from the device, MB/s",
        Quantity::WrittenMbPerS => "written to the device, MB/s",
        Quantity::BusyPercent => "device busy, %",
        Quantity::QueueDepth => "requests at the device",
        Quantity::DirtyMib => "dirty memory, MiB",
        Quantity::CpuPercent => "CPU load, %",
        Quantity::ReceivedMbPerS => "received, MB/s",
        Quantity::SentMbPerS => "sent, MB/s",
        Quantity::OpsPerS => "ops of the work, per s",
        Quantity::MedianLatencyMs => "median latency of a period, ms",
        Quantity::P99LatencyMs => "99 % latency of a period, ms",
        Quantity::LongestLatencyMs => "longest op of a period, ms",
    }
}

/// One line over all phases; nothing where no phase has a value.
fn panel(trace: &TrialTrace, quantity: Quantity) -> Option<Panel> {
    let points = points(trace, quantity, |phase| &phase.lines);
    points.iter().any(|(_, value)| value.is_some()).then(|| Panel {
        title: quantity_title(quantity).to_owned(),
        traces: vec![Trace { label: String::new(), hue: trace.contender, points }],
    })
}

/// The points of a quantity over all phases, by the lines of each, with a gap between two.
fn points(
    trace: &TrialTrace,
    quantity: Quantity,
    lines: impl Fn(&PhaseTrace) -> &[TraceLine],
) -> Vec<(f64, Option<f64>)> {
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    for phase in &trace.phases {
        let own = lines(phase).iter().find(|line| line.quantity == quantity);
        let Some(own) = own.filter(|line| !line.points.is_empty()) else { continue };
        if !points.is_empty() {
            points.push((phase.at_s, None));
        }
        points.extend(own.points.iter().map(|&(time_s, value)| (phase.at_s + time_s, value)));
    }
    points
}

fn describe_trace(trace: &TrialTrace, panels: &[Panel]) -> String {
    let peak = |panel: &Panel| {
        let values = panel.traces.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
        format!("{} at most {}", panel.title, three(values.fold(0.0, f64::max)))
    };
    let peaks: Vec<String> = panels.iter().map(peak).collect();
    let phases: Vec<&str> = trace.phases.iter().map(|phase| phase.phase.as_str()).collect();
    format!("Over the phases {}: {}.", phases.join(", "), peaks.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_model::client::{ClientCounts, ClientRecord};
    use fsarena_model::sample::Series;
    use fsarena_testkit::records;

    #[test]
    fn the_first_of_a_workload_is_open_and_the_others_are_folded() {
        let work = vec![records::small_files(), records::big_file()];
        let sample = Sample::with_labels(&["ext4", "xfs", "btrfs"], work, 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(charts_of(&build(&context)).len(), 6);
        let page = html_of(&build(&context));
        assert_eq!(page.matches("<details").count(), 4);
        let trace = &views(&context)[1];
        assert!(caption(trace).starts_with("small-files on xfs: trial "), "{}", caption(trace));
        assert!(caption(trace).contains(&trace.chosen), "it says why this trial");
    }

    #[test]
    fn hosts_are_drawn_below_their_trial_and_no_more_than_can_be_told_apart() {
        let mut sample = Sample::with_labels(&["directory"], vec![records::small_files()], 1);
        for phase in sample.records.iter_mut().flat_map(|record| &mut record.phases) {
            let series = Series {
                period_ns: 100_000_000,
                t_ns: vec![0, 100_000_000],
                columns: [("net.sent_bytes".to_owned(), vec![Some(0), Some(5_000_000)])].into(),
            };
            let host = |at: usize| ClientRecord {
                hostname: format!("node{at}"),
                counts: ClientCounts { series: Some(series.clone()), ..ClientCounts::default() },
                ..ClientRecord::default()
            };
            phase.clients = (0..MOST_HOSTS + 2).map(host).collect();
        }
        let sample = sample.again();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(charts_of(&build(&context)).len(), 2);
        let page = html_of(&build(&context));
        for words in ["sent, MB/s", "node7", "2 further hosts are in the database"] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("node8"), "a line too many");
    }

    #[test]
    fn many_contenders_share_the_charts_and_the_rest_is_counted() {
        let labels: Vec<String> = (0..20).map(|at| format!("fs{at}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let work = vec![records::small_files(), records::big_file()];
        let sample = Sample::with_labels(&labels, work, 1);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(charts_of(&build(&context)).len(), MOST_CHARTS);
        let page = html_of(&build(&context));
        assert_eq!(page.matches("8 series of further contenders").count(), 2, "{page}");
    }

    #[test]
    fn no_series_says_why() {
        let mut sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 1);
        for phase in &mut sample.records[0].phases {
            phase.series = None;
        }
        let mut sample = sample.again();
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("long enough"));
        assert!(views(&SectionContext::new(0, &sample.run())).is_empty());
        sample.header.plan.sample_period_ns = 0;
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("planned without one"));
        let sample = sample.unmeasured();
        let mut with_period = sample.header.clone();
        with_period.plan.sample_period_ns = 1;
        let sample = Sample::new(with_period, Vec::new());
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("no trial has a record"));
    }
}
