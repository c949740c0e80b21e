//! A figure over RUNs: a table a contender with the changes that are decided, as text, Markdown and
//! JSON, and all of it as one chart. Nothing is decided here.

use crate::format::{count, utc};
use crate::json::{SCHEMA, round};
use crate::render::{markdown, text};
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use crate::text::{Style, capital};
use crate::verdict::text::{level, listed, margin, metric, needs, ratio_and_interval, value};
use fsarena_chart::{
    Axis, Head, Histories, HistoryLine, HistoryPanel, HistorySpot, Key, PaperWidth, Spot,
};
use fsarena_model::metric::MetricUnit;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_verdict::compare::{
    ExcludedRun, GroupBy, History, HistoryChange, HistoryPoint, HistoryQuestion, HistorySeries,
    Unit,
};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

/// Tables for a terminal: one a figure and contender, with what has changed and what was left out.
#[must_use]
pub fn history_tables(history: &History, width: usize, style: Style) -> String {
    text::section(&section(history), width, style)
}

/// The same for a wiki or a bug report.
#[must_use]
pub fn history_markdown(title: &str, history: &History) -> String {
    markdown(title, &section(history))
}

/// The same as a document, with values in the metric's base unit and that unit in their keys.
#[must_use]
pub fn history_json(history: &History) -> Value {
    let mut value = serde_json::to_value(history).unwrap_or(Value::Null);
    let questions = value["questions"].as_array_mut();
    for (json, question) in questions.into_iter().flatten().zip(&history.questions) {
        let unit = question.metric.row().unit.suffix();
        let series = json["series"].as_array_mut().into_iter().flatten();
        let points = series.flat_map(|one| one["points"].as_array_mut().into_iter().flatten());
        for point in points.filter_map(Value::as_object_mut) {
            for key in ["value", "low", "high"] {
                if let Some(own) = point.remove(key) {
                    point.insert(format!("{key}_{unit}"), own);
                }
            }
        }
    }
    round(&mut value);
    json!({ "schema": SCHEMA, "kind": "history", "history": value })
}

/// The same as one drawing, `width` wide: a panel a figure, a line a contender.
#[must_use]
pub fn history_svg(workload: &str, history: &History, width: PaperWidth) -> String {
    histories(workload, history).draw().file(width)
}

fn section(history: &History) -> Section {
    let mut blocks = Vec::new();
    for question in &history.questions {
        let what = metric(question.metric, question.clock);
        let title = format!("{} / {}: {what}", question.workload, question.phase);
        blocks.push(Block::Heading(title));
        if question.series.is_empty() {
            blocks.push(Block::Missing("No RUN has a figure that can be shown here.".to_owned()));
        }
        for series in &question.series {
            blocks.push(Block::Text(about(history, series)));
            blocks.push(Block::Table(table(history, question, series)));
            blocks.push(Block::List(None, sentences(history, question, series)));
        }
        let excluded = question.excluded.iter().map(excluded).collect();
        blocks.push(Block::List(Some(Owner::named("Excluded")), excluded));
    }
    Section::new(blocks).legend(legend(history))
}

/// `ext4: 8 RUNs in 8 boots, on 2 × CPUs`.
fn about(history: &History, series: &HistorySeries) -> String {
    let runs: IndexSet<&String> = series.points.iter().flat_map(|point| &point.runs).collect();
    let units = match series.unit {
        Unit::Boot if history.by != GroupBy::Boot => {
            format!(" in {}", count(series.units, "boot"))
        }
        _ => String::new(),
    };
    let apart = match &series.apart {
        Some(why) => format!("; kept apart: {why}"),
        None => String::new(),
    };
    let (contender, machine) = (&series.contender, &series.machine);
    format!("{contender}: {}{units}, on {machine}{apart}", count(runs.len(), "RUN"))
}

fn table(history: &History, question: &HistoryQuestion, series: &HistorySeries) -> Table {
    let by = history.by;
    let mut columns = vec![Column::text(by.name())];
    columns.extend((by != GroupBy::Run).then(|| Column::figure("RUNs")));
    columns.push(Column::text("begun").optional(3));
    columns.extend((by != GroupBy::Kernel).then(|| Column::text("kernel")));
    columns.extend((by != GroupBy::Version).then(|| Column::text("fsarena").optional(4)));
    columns.extend((by == GroupBy::Run).then(|| Column::text("title").optional(5)));
    columns.extend([
        Column::figure("trials").optional(2),
        Column::figure("figure"),
        Column::figure("95 %").optional(1),
        Column::text("changed"),
    ]);
    let mut table = Table::new(columns);
    for (at, point) in series.points.iter().enumerate() {
        let mut cells = vec![Cell::text(point.name.as_str())];
        cells.extend((by != GroupBy::Run).then(|| Cell::count(point.runs.len())));
        let began = point.started_unix_ns;
        cells.push(Cell::figure(utc(began), began as f64));
        cells.extend((by != GroupBy::Kernel).then(|| Cell::text(known(&point.kernels))));
        cells.extend((by != GroupBy::Version).then(|| Cell::text(known(&point.versions))));
        cells.extend((by == GroupBy::Run).then(|| Cell::text(known(&point.titles))));
        cells.push(Cell::count(point.n));
        cells.push(Cell::figure(value(question.metric, point.value), point.value));
        cells.push(Cell::maybe(interval(question.metric, point).zip(point.low)));
        let change = series.changes.iter().find(|change| change.after == at);
        cells.push(Cell::exact(change.map(|change| change.verdict.word()).unwrap_or_default()));
        table.row(cells);
    }
    table
}

/// Texts in a row, or a dash.
fn known(texts: &[String]) -> String {
    let texts: Vec<&str> = texts.iter().map(String::as_str).filter(|one| !one.is_empty()).collect();
    if texts.is_empty() { "-".to_owned() } else { texts.join(", ") }
}

/// `0.98 s - 1.02 s`.
fn interval(metric: Metric, point: &HistoryPoint) -> Option<String> {
    let (low, high) = (value(metric, point.low?), value(metric, point.high?));
    Some(format!("{low} - {high}"))
}

/// What has changed, and where that is not known what it would take.
fn sentences(history: &History, question: &HistoryQuestion, series: &HistorySeries) -> Vec<String> {
    let one = |change: &HistoryChange| {
        let points = [&series.points[change.before], &series.points[change.after]];
        let [before, after] = points.map(|point| place(history.by, point));
        let units = |n| count(n, series.unit.name());
        format!(
            "Between {before} and {after}: {}; {} before and {} after.",
            change_words(question.metric, change),
            units(change.units_before),
            units(change.units_after)
        )
    };
    let mut all: Vec<String> = series.changes.iter().map(one).collect();
    if let Some(why) = &series.why {
        let least = series.least.map(|least| {
            format!(
                "; with the spread that there is, one halfway has to be about {} times or more",
                ratio_and_interval(Some(least), None, None).0
            )
        });
        all.push(format!("{}{}.", capital(why), least.unwrap_or_default()));
    }
    all
}

/// `RUN 5 (6.1.0)`.
fn place(by: GroupBy, point: &HistoryPoint) -> String {
    let kernels = known(&point.kernels);
    match by {
        GroupBy::Run | GroupBy::Boot if kernels != "-" => format!("{} ({kernels})", point.name),
        _ => point.name.clone(),
    }
}

/// `SLOWER, takes 1.30 times as long [1.24, 1.37]`.
fn change_words(metric: Metric, change: &HistoryChange) -> String {
    let (ratio, low, high) = match (change.verdict, metric) {
        (Verdict::Faster, metric) if metric.is_length() => {
            (change.ratio.recip(), change.high.recip(), change.low.recip())
        }
        _ => (change.ratio, change.low, change.high),
    };
    let (text, interval) = ratio_and_interval(Some(ratio), Some(low), Some(high));
    let (begin, end) = needs(metric, change.verdict);
    let interval = interval.unwrap_or_default();
    format!("{}, {begin}{text} times {end} {interval}", change.verdict.word())
}

fn excluded(one: &ExcludedRun) -> String {
    format!("RUN {}, {}: {}.", one.run, one.contender, one.why)
}

/// How the tables are read.
fn legend(history: &History) -> String {
    let series = || history.questions.iter().flat_map(|question| &question.series);
    let units: IndexSet<&str> = series().map(|one| one.unit.name()).collect();
    let units: Vec<String> = units.into_iter().map(|unit| format!("{unit}s")).collect();
    let figures = "Figures are geometric means; `95 %` is for that RUN or boot alone, by its \
                   trials, and of several boots or RUNs by these";
    if units.is_empty() {
        return format!("{figures}.");
    }
    format!(
        "{figures}. A change is marked where Student's t and Welch's t on log means of {} both \
         decide, with three or more on each side, within 5 % of errors over {} in which one was \
         looked for in all tables above, and where it is more than {}; its interval is at \
         {}. That none is marked does not show that there is none. What else changed at that time \
         can be the cause as well.",
        listed(&units),
        match history.cuts {
            1 => "the one cut".to_owned(),
            cuts => format!("all {cuts} cuts"),
        },
        margin(history.margin),
        level(history.level)
    )
}

/// The chart: events are those of all series of a panel, in order of time.
fn histories(workload: &str, history: &History) -> Histories {
    let labels: IndexSet<&str> = history
        .questions
        .iter()
        .flat_map(|question| question.series.iter().map(|one| one.contender.as_str()))
        .collect();
    let panels: Vec<HistoryPanel> =
        history.questions.iter().map(|question| panel(history, question, &labels)).collect();
    let told: Vec<String> = history
        .questions
        .iter()
        .flat_map(|question| {
            question.series.iter().flat_map(move |one| {
                let changes = one.changes.iter();
                changes.map(move |change| {
                    let at = &one.points[change.after].name;
                    let words = change_words(question.metric, change);
                    format!("{}, {}: from {at} on {words}", question.phase, one.contender)
                })
            })
        })
        .collect();
    let changes = if told.is_empty() { "no change is decided".to_owned() } else { told.join("; ") };
    let by = history.by.name();
    Histories {
        head: Head {
            id: "history".to_owned(),
            name: vec![workload.to_owned(), "history".to_owned()],
            title: format!("{workload} by {by}"),
            description: format!("{workload} over time, a value a {by}: {changes}."),
        },
        change: "decided change".to_owned(),
        panels,
    }
}

fn panel(history: &History, question: &HistoryQuestion, labels: &IndexSet<&str>) -> HistoryPanel {
    // Series of one panel may have different points: each event is once, in order of time.
    let mut begun: IndexMap<&str, (u64, String)> = IndexMap::new();
    for point in question.series.iter().flat_map(|one| &one.points) {
        let name = match history.by {
            GroupBy::Run | GroupBy::Boot => known(&point.kernels),
            _ => point.name.clone(),
        };
        let event = begun.entry(point.name.as_str()).or_insert((point.started_unix_ns, name));
        event.0 = event.0.min(point.started_unix_ns);
    }
    begun.sort_by(|_, one, _, other| one.0.cmp(&other.0));
    let (by, unit) = match question.metric.row().unit {
        MetricUnit::Bytes => (f64::from(1 << 20), "MiB"),
        MetricUnit::Ns => (1e9, "s"),
        MetricUnit::Count => (1.0, "per op"),
    };
    let what = metric(question.metric, question.clock);
    let line = |one: &HistorySeries| {
        let spot = |point: &HistoryPoint| HistorySpot {
            at: begun.get_index_of(point.name.as_str()).unwrap_or(0),
            value: Spot { value: point.value / by, tip: tip(history.by, question.metric, point) },
            interval: point.low.zip(point.high).map(|(low, high)| (low / by, high / by)),
        };
        let points: Vec<HistorySpot> = one.points.iter().map(spot).collect();
        let change = |change: &HistoryChange| {
            let places = (points[change.before].at, points[change.after].at);
            (places.0, places.1, change_words(question.metric, change))
        };
        let apart = if one.apart.is_some() { " (kept apart)" } else { "" };
        HistoryLine {
            changes: one.changes.iter().map(change).collect(),
            key: Key {
                label: format!("{}{apart}", one.contender),
                hue: labels.get_index_of(one.contender.as_str()).unwrap_or(0),
            },
            points,
        }
    };
    HistoryPanel {
        title: format!("{}: {what}", question.phase),
        axis: Axis::linear(format!("{what}, {unit} (less is better)"), format!(" {unit}")),
        along: match history.by {
            GroupBy::Run | GroupBy::Boot => format!("{}s by their kernel", history.by.name()),
            by => by.name().to_owned(),
        },
        lines: question.series.iter().map(line).collect(),
        events: begun.into_values().map(|(_, name)| name).collect(),
    }
}

/// `RUN 5 (6.1.0), 2026-01-01 00:00 UTC: 1.00 s [0.98 s - 1.02 s]`.
fn tip(by: GroupBy, metric: Metric, point: &HistoryPoint) -> String {
    let interval = interval(metric, point).map(|ends| format!(" [{ends}]")).unwrap_or_default();
    let (at, began) = (place(by, point), utc(point.started_unix_ns));
    format!("{at}, {began}: {}{interval}", value(metric, point.value))
}
