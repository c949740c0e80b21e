//! Several RUNs beside each other: a forest of units, the two sides of a change, and the sentences
//! of one RUN. Nothing is decided here.

mod plot;
mod sides;

pub use sides::sides_tables;

use crate::render::text;
use crate::table::{Column, Table};
use crate::text::wrap;
use crate::text::{MIN_WIDTH, Style};
use crate::text::{heading, titled_list};
use crate::verdict::text::{Claim, blocks, claim, level, margin, metric, percent};
use crate::verdict::text::{ratio, ratio_and_interval, ratio_within};
use crate::verdict::{round, sentences};
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_verdict::compare::{Forest, ForestPair, ForestQuestion, Unit, UnitRow};
use fsarena_verdict::{Estimator, Verdicts};
use plot::Plot;
use serde::Serialize;
use serde_json::{Value, json};

/// What is to be said where something is SAME.
const SAME_INTERVAL: &str = "; SAME has an interval of its own, all of it within the margin";
/// Columns of the plot of a forest.
const PLOT_COLUMNS: usize = 31;

/// The same pairs in several RUNs: a sentence and a forest each.
#[must_use]
pub fn forest_tables(forest: &Forest, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for question in &forest.questions {
        let what = metric(question.metric, question.clock);
        let title = format!("{} / {}: {what}", question.workload, question.phase);
        out.push_str(&heading(&title, width, style));
        if question.pairs.is_empty() {
            out.push_str("No pair of contenders has values.\n");
        }
        for pair in &question.pairs {
            out.push_str(&pair_text(forest, question, pair, width));
            out.push('\n');
        }
    }
    let title = format!("Units: {}", counted(forest.unit, forest.units.len()));
    out.push_str(&titled_list(&title, &units(&forest.units), width, style));
    out.push_str(&titled_list("Notes", &forest.notes, width, style));
    out.push_str(&wrap("", &legend(forest), width));
    out
}

fn pair_text(
    forest: &Forest,
    question: &ForestQuestion,
    pair: &ForestPair,
    width: usize,
) -> String {
    let mut text = wrap("", &format!("{}.", sentence(forest, question, pair)), width);
    if !pair.rows.is_empty() {
        text.push_str(&text::table(&table(forest, pair), width));
    }
    for one in &pair.without {
        text.push_str(&wrap("  - ", &format!("RUN {}: {}", one.run, one.why), width));
    }
    text
}

/// What is said of a pair: for units like these, or why nothing can be.
fn sentence(forest: &Forest, question: &ForestQuestion, pair: &ForestPair) -> String {
    let own = of_pair(pair);
    let mut text = claim(&Claim {
        a: &pair.a_label,
        b: &pair.b_label,
        verdict: pair.verdict,
        metric: question.metric,
        margin: forest.margin,
        ratio: pair.ratio,
        low: own.low,
        high: own.high,
    });
    let n = pair.rows.len();
    text.push_str(&format!(", {}", counted(forest.unit, n)));
    if pair.verdict != Verdict::Same {
        text.push_str(&format!(", margin {}", margin(forest.margin)));
    }
    if n > 1 {
        let side = if pair.ratio.is_some_and(|ratio| ratio > 1.0) { "above" } else { "below" };
        text.push_str(&format!("; {} of {n} {side} 1", pair.agreeing));
    }
    if let Some(share) = pair.i_squared {
        text.push_str(&format!("; I² {}", percent((share * 100.0).round() / 100.0)));
    }
    if let Some([point, low, high]) = pair.weighted {
        let (point, interval) = ratio_and_interval(Some(point), Some(low), Some(high));
        let interval = interval.unwrap_or_default();
        text.push_str(&format!("; by precision, which decides nothing: {point} {interval}"));
    }
    if let Some(why) = &pair.why {
        text.push_str(&format!("; {why}"));
    }
    text
}

/// An interval with its level alone.
#[derive(Clone, Copy)]
struct Ends {
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
}

/// The interval that the verdict on a pair rests on: SAME is said by one of its own.
fn of_pair(pair: &ForestPair) -> Ends {
    match pair.verdict {
        Verdict::Same => Ends { low: pair.same_low, high: pair.same_high, level: pair.same_level },
        _ => Ends { low: pair.low, high: pair.high, level: pair.level },
    }
}

/// A ratio and the interval that its verdict rests on; ends of SAME read as within the margin.
fn decisive(
    verdict: Verdict,
    margin: f64,
    ratio: Option<f64>,
    ends: Ends,
) -> (String, Option<String>) {
    match verdict {
        Verdict::Same => ratio_within(margin, ratio, ends.low, ends.high),
        _ => ratio_and_interval(ratio, ends.low, ends.high),
    }
}

/// One line a unit, and all of them together.
fn table(forest: &Forest, pair: &ForestPair) -> Table {
    let own = of_pair(pair);
    let ends = pair.rows.iter().flat_map(|row| [row.low, row.high, Some(row.ratio)]);
    let all: Vec<f64> = ends.chain([own.low, own.high, pair.ratio]).flatten().collect();
    let plot = Plot::over(&all, PLOT_COLUMNS);
    let several = |row: &&fsarena_verdict::compare::ForestRow| row.runs.len() > 1;
    let runs = forest.unit != Unit::Run && pair.rows.iter().any(|row| several(&row));
    let axis = plot.axis();
    let mut columns = vec![Column::text(forest.unit.name())];
    if runs {
        columns.push(Column::figure("RUNs"));
    }
    columns.extend([
        Column::figure("blocks"),
        Column::figure("ratio"),
        Column::figure("plain 95 %"),
        Column::text(axis.as_str()).optional(1),
    ]);
    let mut grid = Table::new(columns);
    for row in &pair.rows {
        let (text, interval) = ratio_and_interval(Some(row.ratio), row.low, row.high);
        let mut cells = vec![forest.units[row.unit].name.clone()];
        if runs {
            cells.push(row.runs.len().to_string());
        }
        cells.extend([
            row.n.to_string(),
            text,
            interval.unwrap_or_else(|| "-".to_owned()),
            plot.line(row.ratio, row.low.zip(row.high), 'o'),
        ]);
        grid.row(cells);
    }
    if let (Some(mean), true) = (pair.ratio, pair.rows.len() > 1) {
        let (text, interval) = decisive(pair.verdict, forest.margin, Some(mean), own);
        let at = own.level.map(|own| format!(" at {}", level(own))).unwrap_or_default();
        let mut cells = vec![format!("all{at}")];
        if runs {
            cells.push(pair.rows.iter().map(|row| row.runs.len()).sum::<usize>().to_string());
        }
        cells.extend([
            pair.rows.iter().map(|row| row.n).sum::<usize>().to_string(),
            text,
            interval.unwrap_or_else(|| "-".to_owned()),
            plot.line(mean, own.low.zip(own.high), '#'),
        ]);
        grid.row(cells);
    }
    grid
}

/// `3 machines`.
fn counted(unit: Unit, n: usize) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {}{plural}", unit.name())
}

/// `machine 1: Linux 6.1, 2 × Duron; RUNs 3 and 5`.
fn units(rows: &[UnitRow]) -> Vec<String> {
    let one = |row: &UnitRow| {
        let plural = if row.runs.len() == 1 { "" } else { "s" };
        let runs = crate::verdict::text::listed(&row.runs);
        let own = row.name.starts_with("RUN ");
        let runs = if own { String::new() } else { format!("; RUN{plural} {runs}") };
        format!("{}: {}{runs}", row.name, row.machine)
    };
    rows.iter().map(one).collect()
}

/// How the tables are read.
fn legend(forest: &Forest) -> String {
    let (what, like) = match forest.unit {
        Unit::Machine => ("machine", "machines like these"),
        Unit::Boot => ("boot of this machine", "boots of it"),
        Unit::Run => ("RUN in one boot", "RUNs in this boot"),
    };
    let pairs = || forest.questions.iter().flat_map(|question| &question.pairs);
    let estimators = || pairs().flat_map(|pair| &pair.rows).map(|row| row.estimator);
    let exact = if estimators().any(|one| one == Estimator::HodgesLehmann) {
        " (from 12 blocks by Hodges-Lehmann)"
    } else {
        ""
    };
    let same = if pairs().any(|pair| pair.verdict == Verdict::Same) { SAME_INTERVAL } else { "" };
    format!(
        "Verdicts and the line `all` are for {like}: Student's t on one log ratio a {what}, each \
         counting the same, corrected for all pairs and questions above{same}. Ratio: value of the \
         first ÷ value of the second{exact}; `plain 95 %` is for that {} only and corrected for \
         nothing, and of RUNs that stopped early the ratio is somewhat exaggerated. \
         I²: share of the scatter that is more than their own noise. Figures in seconds or bytes \
         are never compared across machines.",
        forest.unit.name()
    )
}

/// The verdicts of one RUN, in sentences.
#[must_use]
pub fn one_run_text(run: &str, verdicts: &Verdicts, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for question in &verdicts.questions {
        let what = metric(question.metric, question.clock);
        let title = format!("RUN {run}, {} / {}: {what}", question.workload, question.phase);
        let mut lines: Vec<String> =
            sentences(verdicts, question).into_iter().map(|text| format!("{text}.")).collect();
        if lines.is_empty() {
            lines.push("No pair was asked.".to_owned());
        }
        out.push_str(&titled_list(&title, &lines, width, style));
    }
    let counted = blocks(u64::from(verdicts.blocks_counted));
    out.push_str(&wrap("", &format!("{counted} counted; one boot of one machine."), width));
    out
}

/// Any of the comparisons as a document: `kind` says which, `compare` has it (`compare --json`).
#[must_use]
pub fn compare_json(kind: &str, comparison: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(comparison).unwrap_or(Value::Null);
    for question in value["questions"].as_array_mut().into_iter().flatten() {
        let unit = match question["metric"].as_str() {
            Some(name) if name == Metric::Written.name() => "value_bytes",
            _ => "value_ns",
        };
        for row in question["rows"].as_array_mut().into_iter().flatten() {
            for side in ["before", "after"] {
                for one in row[side].as_array_mut().into_iter().flatten() {
                    if let Some(object) = one.as_object_mut()
                        && let Some(value) = object.remove("value")
                    {
                        object.insert(unit.to_owned(), value);
                    }
                }
            }
        }
    }
    round(&mut value);
    json!({ "schema": crate::json::SCHEMA, "kind": kind, "compare": value })
}

/// A ratio for tables.
fn bare(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), ratio)
}
