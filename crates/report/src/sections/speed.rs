//! Section 2, speed and its price: bars with intervals and raw points, the heat map, CPU, device
//! traffic, latencies, the three clocks.

use crate::context::SectionContext;
use crate::format::count;
use crate::labels::phase_title;
use crate::pictures;
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::table::Table;
use crate::verdict::answers::listed;
use crate::verdict::text::level;
use crate::{job, ledger, phases};
use fsarena_chart::Svg;
use fsarena_model::verdict::Metric;
use fsarena_study::{HeatView, PhaseCurves, PhasePoints, PhaseTable, Study};
use fsarena_verdict::Verdicts;
use maud::{Markup, html};

/// Views that the charts of this section are drawn from.
struct Views {
    points: Vec<PhasePoints>,
    curves: Vec<PhaseCurves>,
    /// With its caption.
    heat: Option<(Svg, String)>,
}

impl Views {
    fn new(context: &SectionContext<'_>) -> Self {
        let run = context.run;
        let plan = &run.header.plan;
        let heat = fsarena_study::heat(run.study, run.verdicts);
        Self {
            points: fsarena_study::points(plan, run.records),
            curves: fsarena_study::curves(plan, run.records),
            heat: heat
                .map(|view| (pictures::heat(context, &view).draw(), heat_caption(context, &view))),
        }
    }
}

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if context.is_watched() {
        return Section::none();
    }
    let views = Views::new(context);
    let study = context.run.study;
    let body = html! {
        @if study.tables.iter().all(|table| table.rows.is_empty()) {
            (parts::missing(
                "No trial has come to the end of a phase: there are no figures. Why not is said \
                 below each phase."
            ))
        }
        @if let Some((heat, caption)) = &views.heat { (parts::figure(heat, caption)) }
        @for work in by_workload(&study.tables) { (workload(context, &work, &views)) }
        (space(study))
        (tool_overhead(study))
        (safety())
    };
    Section::new(vec![Block::Page(body, charts(context))])
}

/// Its charts, in their order on the page.
fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let views = Views::new(context);
    let mut charts: Vec<Svg> = views.heat.iter().map(|(chart, _)| chart.clone()).collect();
    for work in by_workload(&context.run.study.tables) {
        for table in &work {
            let drawn = Phase::drawn(context, table, &views);
            charts.push(drawn.times);
            charts.extend(drawn.clocks);
            charts.extend(drawn.latency);
        }
        charts.extend(prices(context, &work).into_iter().map(|(chart, _)| chart));
    }
    charts
}

/// The tables of each workload, in the order of the plan.
fn by_workload(tables: &[PhaseTable]) -> Vec<Vec<&PhaseTable>> {
    let parts = tables.chunk_by(|a, b| a.workload == b.workload);
    parts.map(|part| part.iter().collect()).collect()
}

/// The charts of a phase.
struct Phase {
    times: Svg,
    clocks: Option<Svg>,
    latency: Vec<Svg>,
}

impl Phase {
    fn drawn(context: &SectionContext<'_>, table: &PhaseTable, views: &Views) -> Self {
        let has_figures = table.rows.iter().any(|row| row.n > 0);
        let latency = pictures::latency(context, table, &views.curves);
        Self {
            times: pictures::times(context, table, &views.points).draw(),
            clocks: (has_figures && context.measured_by().is_none())
                .then(|| pictures::clocks(context, table).draw()),
            latency: latency.iter().map(fsarena_chart::Curves::draw).collect(),
        }
    }
}

fn workload(context: &SectionContext<'_>, tables: &[&PhaseTable], views: &Views) -> Markup {
    let Some(first) = tables.first() else { return html! {} };
    html! {
        (parts::heading(&format!("{}: {}", first.workload, first.workload_title)))
        @for table in tables { (phase(context, table, views)) }
        div.pair {
            @for (chart, caption) in prices(context, tables) { (parts::figure(&chart, caption)) }
        }
    }
}

fn phase(context: &SectionContext<'_>, table: &PhaseTable, views: &Views) -> Markup {
    let drawn = Phase::drawn(context, table, views);
    html! {
        h5 { (phase_title(table)) }
        (parts::figure(&drawn.times, &times_caption(context, table)))
        (figures(context, table))
        div.pair {
            @if let Some(clocks) = &drawn.clocks { (parts::figure(clocks, CLOCKS)) }
            @for chart in &drawn.latency { (parts::figure(chart, LATENCY)) }
        }
    }
}

/// CPU and device of a workload, each with its caption.
fn prices(context: &SectionContext<'_>, tables: &[&PhaseTable]) -> Vec<(Svg, &'static str)> {
    let cpu = pictures::cpu(context, tables).map(|chart| (chart.draw(), CPU));
    let written = pictures::written(context, tables).map(|chart| (chart.draw(), WRITTEN));
    cpu.into_iter().chain(written).collect()
}

const CLOCKS: &str = "The same work by three clocks, medians: returned, when the calls came back; \
                      durable, when syncfs was done; drained, when everything was where it shall \
                      lie and the device was still.";
const LATENCY: &str = "Latency of single ops, all trials of a contender together, on a \
                       logarithmic scale; shares that so many ops cannot tell are left out.";
const CPU: &str = "Load of the whole machine from the start of a phase to durable, medians; 100 % \
                   is all CPUs. Phases of less than 100 clock ticks have no figure.";
const WRITTEN: &str = "What the device was given from the start of a phase to the end of the next \
                       unmount, medians; the tables have it per byte of contents (write \
                       amplification).";

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
    for question in verdicts.questions.iter().filter(|one| one.metric == Metric::Time) {
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
        text.push_str(&format!(" The word beside a bar is the verdict against {label}."));
    }
    text
}

/// The figures of a phase and, below them, why contenders have none.
fn figures(context: &SectionContext<'_>, table: &PhaseTable) -> Markup {
    let tables = phases::phase_grids(context.run.study, table, context.style);
    let traffic = ledger::traffic(table);
    let all = tables.into_iter().chain([traffic]).map(Table::without_empty_columns);
    let why = |absent| pictures::why_absent(context, table, absent);
    let absent = table.absent.iter().map(|one| format!("{}: {}", one.label, why(one)));
    html! {
        @for own in all { (own) }
        (parts::list(&absent.collect::<Vec<_>>()))
    }
}

/// Space after the last phase and how long the unmount took.
fn space(study: &Study) -> Markup {
    let table = ledger::space(study);
    html! {
        (parts::heading("Space and unmount"))
        @if table.is_empty() {
            (parts::missing("No trial has a reading of space."))
        } @else {
            (table)
            (parts::note(
                "amp.: growth of used space per byte stored; a dash where nothing is left stored. \
                 Unmount: the last one of a trial."
            ))
        }
    }
}

/// The same work by a program and by the engine; nothing where no two workloads have both.
fn tool_overhead(study: &Study) -> Markup {
    let table = job::tool_overhead(study);
    html! {
        @if !table.is_empty() {
            (parts::heading(job::TOOL_OVERHEAD))
            (table)
            @for line in job::tool_overhead_notes(study) { (parts::note(&line)) }
        }
    }
}

fn safety() -> Markup {
    html! {
        (parts::heading("Safety"))
        (parts::missing(
            "Not run: fsarena has no power-cut tests so far. Nothing here says what is left after \
             a crash; a contender may be fast because it promises less."
        ))
    }
}

#[cfg(test)]
mod tests;
