//! All ratios, space and crash safety; and what is behind a row of the matrix: bars with intervals
//! and raw points, figures, device traffic, the three clocks, latencies.

use crate::context::SectionContext;
use crate::format::count;
use crate::labels::phase_title;
use crate::pictures;
use crate::section::{Block, Section};
use crate::table::Table;
use crate::verdict::text::{level, listed};
use crate::{job, ledger, phases};
use fsarena_study::{HeatView, PhaseCurves, PhasePoints, PhaseTable, Study};
use fsarena_verdict::Verdicts;

/// Views that the charts of phases are drawn from.
pub(crate) struct Views {
    points: Vec<PhasePoints>,
    curves: Vec<PhaseCurves>,
}

impl Views {
    pub(crate) fn new(context: &SectionContext<'_>) -> Self {
        let (plan, records) = (&context.run.header.plan, context.run.records);
        Self {
            points: fsarena_study::points(plan, records),
            curves: fsarena_study::curves(plan, records),
        }
    }
}

/// The section of one RUN: what is of all phases together.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if context.run.is_watched() {
        return Section::none();
    }
    let run = context.run;
    let study = run.study;
    let mut blocks = Vec::new();
    if study.tables.iter().all(|table| table.rows.is_empty()) {
        let text = "No trial has come to the end of a phase: there are no figures.";
        blocks.push(Block::Missing(text.to_owned()));
    }
    blocks.extend(fsarena_study::heat(study, run.verdicts).map(|view| {
        Block::Chart(pictures::heat(context, &view).draw(), heat_caption(context, &view))
    }));
    blocks.extend(space(study));
    blocks.extend(job::tool_overhead_blocks(study));
    if run.crash.is_none() {
        blocks.push(Block::Heading("Crash safety".to_owned()));
        blocks.push(Block::Missing(SAFETY.to_owned()));
    }
    Section::new(blocks)
}

/// CPU load and bytes of the phases of a workload; nothing where neither was measured.
pub(crate) fn workload(context: &SectionContext<'_>, tables: &[PhaseTable]) -> Vec<Block> {
    let cpu = pictures::cpu(context, tables).map(|chart| (chart.draw(), "CPU load".to_owned()));
    let written = pictures::written(context, tables);
    let written = written.map(|chart| (chart.draw(), "Written to the device".to_owned()));
    let charts: Vec<_> = cpu.into_iter().chain(written).collect();
    if charts.is_empty() { Vec::new() } else { vec![Block::Charts(charts)] }
}

/// What was measured of a phase: every trial, all figures, the three clocks, latencies.
pub(crate) fn phase(context: &SectionContext<'_>, table: &PhaseTable, views: &Views) -> Vec<Block> {
    let times = pictures::times(context, table, &views.points).draw();
    let mut blocks = vec![
        Block::Heading(phase_title(table)),
        Block::Chart(times, times_caption(context, table)),
    ];
    blocks.extend(figures(context, table));
    let has_clocks = table.rows.iter().any(|row| row.n > 0) && context.run.measured_by().is_none();
    let clocks = has_clocks.then(|| pictures::clocks(context, table).draw());
    let clocks = clocks.map(|chart| (chart, "The three clocks".to_owned())).into_iter();
    let latency = pictures::latency(context, table, &views.curves);
    let latency = latency.iter().map(|chart| (chart.draw(), "Latency of single ops".to_owned()));
    blocks.push(Block::Charts(clocks.chain(latency).collect()));
    blocks
}

/// How the charts behind the rows are read: once, for all of them.
pub(crate) const READING: [(&str, &str); 5] = [
    (
        "Times",
        "bars are medians, less is better; dots are all trials that came to their end with \
      their contents right; whiskers are the interval of the median.",
    ),
    (
        "The three clocks",
        "the same work, medians: returned, when the calls came back; durable, when \
      syncfs was done; drained, when everything was where it shall lie and the device was still.",
    ),
    (
        "Latency",
        "of single ops, all trials of a contender together, on a logarithmic scale; shares \
      that so many ops cannot tell are left out.",
    ),
    (
        "CPU load",
        "of the whole machine from the start of a phase to durable, medians; 100 % is all \
      CPUs. Phases of less than 100 clock ticks have no figure.",
    ),
    (
        "Written to the device",
        "from the start of a phase to the end of the next unmount, medians; \
      the tables have it per byte of contents (write amplification).",
    ),
];
const SAFETY: &str = "Not run: no power was cut in this RUN. Nothing here says what is left after a \
                      crash; a contender may be fast because it promises less. `fsarena crash` \
                      cuts the power of file systems, and a section [crash] of an experiment puts \
                      that next to the speed.";

fn heat_caption(context: &SectionContext<'_>, view: &HeatView) -> String {
    let asked = if context.run.verdicts.is_some() {
        "Filled cells are differences that a verdict calls real; those with = are proved the same \
         within the margin; of hollow ones nothing is shown, or it was not asked."
    } else {
        "Ratios of medians: nothing was asked, so that whether a difference is real is not said."
    };
    let other = context.run.verdicts.and_then(|verdicts| other_references(verdicts, view));
    let asked = other.map_or_else(|| asked.to_owned(), |other| format!("{asked} {other}"));
    format!(
        "Time as a ratio to {}, which is 1.00; above 1 is slower. A dash: no figure, or \
         not comparable, as cold with warm. {asked}",
        view.reference
    )
}

/// Which references the questions have that are not the map's.
fn other_references(verdicts: &Verdicts, view: &HeatView) -> Option<String> {
    let mut others: Vec<String> = Vec::new();
    for question in verdicts.questions.iter().filter(|one| one.metric.is_length()) {
        let Some(row) = verdicts.reference(question) else { continue };
        if row.label != view.reference && !others.contains(&row.label) {
            others.push(row.label.clone());
        }
    }
    (!others.is_empty()).then(|| {
        format!(
            "The answers are to the reference of each question, among them {}; their ratios are \
             others than these.",
            listed(&others)
        )
    })
}

fn times_caption(context: &SectionContext<'_>, table: &PhaseTable) -> String {
    let clock = context.run.study.compared_clock.name();
    let mut text = format!(
        "Bars: medians of the time to {clock}, less is better. Dots: every trial that came to its \
         end with its contents right."
    );
    let Some(question) = pictures::question(context, table) else {
        text.push_str(" No intervals: no question was asked about these times.");
        return text;
    };
    let levels = question.rows.iter().filter_map(|row| row.median_level);
    let (least, most) = levels.fold((f64::NAN, f64::NAN), |(least, most), level: f64| {
        (least.min(level), most.max(level))
    });
    let blocks = question.rows.iter().map(|row| row.n).max().unwrap_or(0);
    if least.is_nan() {
        text.push_str(" No intervals: a single value has none.");
    } else if level(least) == level(most) {
        text.push_str(&format!(" Whiskers: the interval of the median, level {}", level(least)));
    } else {
        let (least, most) = (level(least), level(most));
        text.push_str(&format!(" Whiskers: the interval of the median, level {least} to {most}"));
    }
    if !least.is_nan() {
        text.push_str(&format!(", over {} that count.", count(blocks, "block")));
    }
    let reference = question.rows.iter().find(|row| pictures::is_reference(row));
    if let Some(reference) = reference.filter(|_| question.rows.len() > 1) {
        let label = &reference.label;
        text.push_str(&format!(" The word next to a bar is the verdict against {label}."));
    }
    text
}

/// The figures of a phase and, below them, why contenders have none.
fn figures(context: &SectionContext<'_>, table: &PhaseTable) -> Vec<Block> {
    let tables = phases::phase_grids(context.run.study, table, context.style);
    let all = tables.into_iter().chain([ledger::traffic(table)]).map(Table::without_empty_columns);
    let why = |absent| pictures::why_absent(context.run.study, table, absent);
    let absent = table.absent.iter().map(|one| format!("{}: {}", one.label, why(one)));
    all.map(Block::Table).chain([Block::List(None, absent.collect())]).collect()
}

/// Space after the last phase and how long the unmount took.
fn space(study: &Study) -> Vec<Block> {
    let table = ledger::space(study);
    let mut blocks = vec![Block::Heading("Space and unmount".to_owned())];
    if table.is_empty() {
        blocks.push(Block::Missing("No trial has a reading of space.".to_owned()));
    } else {
        let note = "amp.: growth of used space per byte stored; a dash where nothing is left \
                    stored. Unmount: the last one of a trial.";
        blocks.extend([Block::Table(table), Block::Note(note.to_owned())]);
    }
    blocks
}

#[cfg(test)]
mod tests;
