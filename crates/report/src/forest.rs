//! Several RUNs compared: a forest of units, the two sides of a change, and the sentences
//! of one RUN. Nothing is decided here.

use crate::compared::Missing;
use crate::format::count;
use crate::json::round;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style, heading, titled_list, wrap};
use crate::verdict::pair_sentences;
use crate::verdict::text::{
    Claim, blocks, claim, level, margin, metric, percent, ratio_and_interval, ratio_within, value,
};
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_verdict::compare::{
    Change, Forest, ForestPair, ForestQuestion, ForestRow, SideRow, Sides, SidesQuestion, Unit,
    UnitRow, UnitValue,
};
use fsarena_verdict::{Scope, Verdicts};
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
    let title = format!("Units: {}", count(forest.units.len(), forest.unit.name()));
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
    text.push_str(&format!(", {}", count(n, forest.unit.name())));
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
    let several = |row: &&ForestRow| row.runs.len() > 1;
    let runs = forest.unit != Unit::Run && pair.rows.iter().any(|row| several(&row));
    let axis = plot.axis();
    let mut columns = vec![Column::text(forest.unit.name())];
    columns.extend(runs.then(|| Column::figure("RUNs")));
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
        cells.extend(runs.then(|| row.runs.len().to_string()));
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
        let sum = |of: fn(&ForestRow) -> usize| pair.rows.iter().map(of).sum::<usize>().to_string();
        cells.extend(runs.then(|| sum(|row| row.runs.len())));
        cells.extend([
            sum(|row| row.n),
            text,
            interval.unwrap_or_else(|| "-".to_owned()),
            plot.line(mean, own.low.zip(own.high), '#'),
        ]);
        grid.row(cells);
    }
    grid
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
    let same = if pairs().any(|pair| pair.verdict == Verdict::Same) { SAME_INTERVAL } else { "" };
    format!(
        "Verdicts and the line `all` are for {like}: Student's t on one log ratio a {what}, each \
         counting the same, corrected for all pairs and questions above{same}. Ratio: value of the \
         first ÷ value of the second, the typical one (Hodges-Lehmann); `plain 95 %` is for that {} only and corrected for \
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
            pair_sentences(verdicts, question).into_iter().map(|text| format!("{text}.")).collect();
        if lines.is_empty() {
            lines.push("No pair was asked.".to_owned());
        }
        out.push_str(&titled_list(&title, &lines, width, style));
    }
    let counted = blocks(u64::from(verdicts.blocks_counted));
    let scope = verdicts.scope.as_ref().and_then(Scope::words);
    let scope = scope.unwrap_or_else(|| "one boot of one machine".to_owned());
    out.push_str(&wrap("", &format!("{counted} counted: {scope}."), width));
    out
}

/// Any of the comparisons as a document: `kind` says which, `compare` has it, `missing` what was
/// asked and has no figures (`compare --json`).
#[must_use]
pub fn compare_json(kind: &str, comparison: &impl Serialize, missing: &[Missing]) -> Value {
    let mut value = serde_json::to_value(comparison).unwrap_or(Value::Null);
    for question in value["questions"].as_array_mut().into_iter().flatten() {
        let metric = question["metric"].as_str().and_then(Metric::named).unwrap_or_default();
        let unit = format!("value_{}", metric.row().unit.suffix());
        for row in question["rows"].as_array_mut().into_iter().flatten() {
            for side in ["before", "after"] {
                for one in row[side].as_array_mut().into_iter().flatten() {
                    if let Some(object) = one.as_object_mut()
                        && let Some(value) = object.remove("value")
                    {
                        object.insert(unit.clone(), value);
                    }
                }
            }
        }
    }
    round(&mut value);
    json!({ "schema": crate::json::SCHEMA, "kind": kind, "compare": value, "missing": missing })
}

/// The verdicts of one RUN as a document (`compare RUN --json`), with units in the keys.
#[must_use]
pub fn compare_run_json(verdicts: &Verdicts, missing: &[Missing]) -> Value {
    let (schema, compare) = (crate::json::SCHEMA, crate::json::verdict_json(verdicts));
    json!({ "schema": schema, "kind": "compare-run", "compare": compare, "missing": missing })
}

/// A scale of ratios.
struct Plot {
    low: f64,
    high: f64,
    columns: usize,
}

impl Plot {
    /// A scale that holds these ratios and 1.
    fn over(ratios: &[f64], columns: usize) -> Self {
        let logs = || {
            let sound = ratios.iter().copied().filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            sound.map(f64::ln).chain([0.0])
        };
        let low = logs().fold(0.0, f64::min);
        let high = logs().fold(0.0, f64::max);
        // All equal to 1 still need a width.
        let pad = if high - low > 0.0 { 0.0 } else { 0.01 };
        Self { low: low - pad, high: high + pad, columns: columns.max(3) }
    }

    /// Column of a ratio.
    fn at(&self, ratio: f64) -> usize {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }

    /// Both ends of the scale, as a heading: `0.91 … 1.30`.
    fn axis(&self) -> String {
        let (low, high) = (format!("{:.2}", self.low.exp()), format!("{:.2}", self.high.exp()));
        let gap = self.columns.saturating_sub(low.len() + high.len()).max(1);
        format!("{low}{}{high}", " ".repeat(gap))
    }

    /// A point in its interval: `|  --o---`.
    fn line(&self, ratio: f64, ends: Option<(f64, f64)>, mark: char) -> String {
        let mut cells = vec![' '; self.columns];
        cells[self.at(1.0)] = '|';
        if let Some((low, high)) = ends {
            cells[self.at(low)..=self.at(high)].fill('-');
        }
        if ratio.is_finite() && ratio > 0.0 {
            cells[self.at(ratio)] = mark;
        }
        let text: String = cells.into_iter().collect();
        text.trim_end().to_owned()
    }
}

/// Digits of a digest, enough to tell two apart.
const DIGEST_DIGITS: usize = 12;

/// The same contenders before and after.
#[must_use]
pub fn sides_tables(sides: &Sides, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out =
        heading(&format!("Before and after on one machine: {}", sides.machine), width, style);
    out.push_str(&titled_list("Before", &units(&sides.before), width, style));
    out.push_str(&titled_list("After", &units(&sides.after), width, style));
    let mut changed: Vec<String> = sides.changes.iter().map(change).collect();
    if changed.is_empty() {
        changed.push("nothing that is recorded".to_owned());
    }
    out.push_str(&titled_list("Changed", &changed, width, style));
    out.push_str(&titled_list("Notes", &sides.notes, width, style));
    for question in &sides.questions {
        out.push('\n');
        let what = metric(question.metric, question.clock);
        let title = format!("{} / {}: {what}", question.workload, question.phase);
        out.push_str(&heading(&title, width, style));
        if question.rows.is_empty() {
            out.push_str("No contender has values.\n");
            continue;
        }
        out.push_str(&text::table(&side_table(sides, question), width));
        for row in &question.rows {
            out.push_str(&wrap(
                "  - ",
                &format!("{}.", side_sentence(sides, question, row)),
                width,
            ));
        }
    }
    out.push('\n');
    out.push_str(&wrap("", &side_legend(sides), width));
    out
}

/// `kernel release: 6.1 → 6.2`.
fn change(change: &Change) -> String {
    let text = |values: &[String]| {
        let one = |value: &String| {
            let is_digest = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_digest { value[..DIGEST_DIGITS].to_owned() } else { value.clone() }
        };
        let values: Vec<String> = values.iter().map(one).collect();
        if values.is_empty() { "-".to_owned() } else { values.join(" | ") }
    };
    format!("{}: {} → {}", change.what, text(&change.before), text(&change.after))
}

/// The interval that the verdict on a contender rests on.
fn of_row(row: &SideRow) -> Ends {
    match row.verdict {
        Verdict::Same => Ends { low: row.same_low, high: row.same_high, level: row.same_level },
        _ => Ends { low: row.low, high: row.high, level: row.level },
    }
}

fn side_table(sides: &Sides, question: &SidesQuestion) -> Table {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::figure("before"),
        Column::figure("after"),
        Column::figure("boots"),
        Column::figure("ratio"),
        Column::figure("interval"),
        Column::text("after is"),
    ]);
    for row in &question.rows {
        let (text, interval) = match row.low {
            Some(_) => decisive(row.verdict, sides.margin, row.ratio, of_row(row)),
            None => ratio_and_interval(row.ratio, None, None),
        };
        grid.row(vec![
            row.label.clone(),
            mean(question, &row.before),
            mean(question, &row.after),
            format!("{} + {}", row.before.len(), row.after.len()),
            text,
            interval.unwrap_or_else(|| "-".to_owned()),
            row.verdict.word().to_owned(),
        ]);
    }
    grid
}

/// Geometric mean over boots.
fn mean(question: &SidesQuestion, side: &[UnitValue]) -> String {
    if side.is_empty() {
        return "-".to_owned();
    }
    let logs: f64 = side.iter().map(|one| one.value.ln()).sum();
    value(question.metric, (logs / side.len() as f64).exp())
}

/// What is said of a contender, with the value of each boot.
fn side_sentence(sides: &Sides, question: &SidesQuestion, row: &SideRow) -> String {
    let (after, before) = (format!("{} after", row.label), "before");
    let own = of_row(row);
    let mut text = claim(&Claim {
        a: &after,
        b: before,
        verdict: row.verdict,
        metric: question.metric,
        margin: sides.margin,
        ratio: row.ratio,
        low: own.low,
        high: own.high,
    });
    text.push_str(&format!(", {} + {} boots", row.before.len(), row.after.len()));
    if row.verdict != Verdict::Same {
        text.push_str(&format!(", margin {}", margin(sides.margin)));
    }
    for (name, side) in [("before", &row.before), ("after", &row.after)] {
        if !side.is_empty() {
            let values: Vec<String> =
                side.iter().map(|one| value(question.metric, one.value)).collect();
            text.push_str(&format!("; {name} {}", values.join(", ")));
        }
    }
    if let Some(why) = &row.why {
        text.push_str(&format!("; {why}"));
    }
    text
}

fn side_legend(sides: &Sides) -> String {
    let rows = || sides.questions.iter().flat_map(|one| &one.rows);
    let mut levels: Vec<f64> = rows().filter_map(|row| of_row(row).level).collect();
    levels.sort_by(f64::total_cmp);
    let brackets = match (levels.first(), levels.last()) {
        (Some(&least), Some(&most)) if level(least) != level(most) => {
            format!(" Intervals: {} to {} each,", level(least), level(most))
        }
        (Some(&only), _) => format!(" Intervals: {} each,", level(only)),
        _ => String::new(),
    };
    let same = if rows().any(|row| row.verdict == Verdict::Same) { SAME_INTERVAL } else { "" };
    let corrected = if brackets.is_empty() {
        String::new()
    } else {
        format!(
            " by Welch's t on log means of boots, corrected for all contenders and questions \
             above{same}."
        )
    };
    format!(
        "Each boot counts once, whatever the number of its RUNs and trials; values are geometric \
         means.{brackets}{corrected} What changed is listed, not tested: anything on that list, \
         and whatever is not recorded, can be the cause."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(plot: &Plot, ratio: f64, ends: Option<(f64, f64)>) -> String {
        plot.line(ratio, ends, 'o')
    }

    #[test]
    fn one_scale_for_all() {
        let plot = Plot::over(&[0.5, 2.0], 21);
        assert_eq!(plot.axis(), "0.50             2.00");
        assert_eq!(line(&plot, 1.0, Some((0.5, 2.0))), "----------o----------");
        assert_eq!(line(&plot, 2.0, None), "          |         o");
        assert_eq!(line(&plot, 0.5, Some((0.5, 0.5))), "o         |");
        assert_eq!(line(&plot, 1.5, Some((1.2, 1.8))), "          |  ---o--");
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        for ratios in [&[][..], &[1.0, 1.0], &[f64::NAN, 0.0, f64::INFINITY]] {
            let plot = Plot::over(ratios, 21);
            assert_eq!(line(&plot, 1.0, Some((1.0, 1.0))).trim(), "o");
            assert!(!line(&plot, f64::NAN, Some((f64::NAN, 1.0))).is_empty());
        }
    }
}
