//! One question: its ranking, its pairs, which are excluded, what the watchers saw.

use super::{multipliers, pairs};
use crate::bars::bar;
use crate::format::count;
use crate::section::{Block, Owner};
use crate::table::{Cell, Column, Table};
use crate::text::Detail;
use crate::text::Style;
use crate::verdict::text::{metric, ratio, ratio_and_interval, ratio_within, value};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::watchers::{Finding, FindingKind};
use fsarena_verdict::{QuestionView, RankRow, Verdicts};

/// Values that stand out are listed up to this many.
const MOST_OUTLIERS: usize = 6;
/// Columns of the bar of the largest median.
const BAR_COLUMNS: usize = 10;

/// Everything that is said of a question.
pub(super) fn blocks(
    verdicts: &Verdicts,
    question: &QuestionView,
    detail: Detail,
    style: Style,
) -> Vec<Block> {
    let is_said = is_headline(verdicts, question) && question.pairs.len() == 1;
    let mut blocks = vec![Block::Heading(title(verdicts, question))];
    blocks.push(Block::Table(ranking(verdicts, question, style)));
    if detail == Detail::AllPairs || (detail == Detail::Full && !is_said) {
        blocks.extend(pair_list(verdicts, question, detail));
    }
    let left = question.left.iter().map(|left| format!("{}: {}", left.label, left.why));
    blocks.push(list("Excluded", left.collect()));
    let mut watched = found(question);
    if detail != Detail::Brief {
        watched.extend(outliers(question));
    }
    blocks.push(list("Watchers", watched));
    match &question.factors {
        Some(factors) if detail != Detail::Brief => {
            blocks.extend(multipliers::section_blocks(factors));
        }
        Some(factors) if !factors.factors.is_empty() => {
            blocks.push(Block::Note(format!("Due to: {}", multipliers::line(factors))));
        }
        _ => {}
    }
    blocks
}

/// Whether the answer stands at the head of everything already.
fn is_headline(verdicts: &Verdicts, question: &QuestionView) -> bool {
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    headline.is_some_and(|headline| std::ptr::eq(headline, question))
}

/// What is compared, and with which contender.
pub(crate) fn title(verdicts: &Verdicts, question: &QuestionView) -> String {
    let what = metric(question.metric, question.clock);
    let mut title = format!("{} / {}: {what}", question.workload, question.phase);
    let reference = reference(verdicts, question).filter(|_| question.rows.len() > 1);
    if let Some(reference) = reference {
        title.push_str(&format!("; ratios to {}", reference.label));
    }
    if question.pairs.is_empty() {
        title.push_str("; nothing to compare");
    } else if question.looks.is_empty() {
        title.push_str("; not looked at yet");
    }
    title
}

/// The row that ratios are to: the baseline, or the best where it has no figures.
pub(super) fn reference<'q>(
    verdicts: &Verdicts,
    question: &'q QuestionView,
) -> Option<&'q RankRow> {
    verdicts.reference(question)
}

/// The contenders, best first; only columns that say something.
pub(crate) fn ranking(verdicts: &Verdicts, question: &QuestionView, style: Style) -> Table {
    let columns = [
        Column::text("contender"),
        Column::text("letters"),
        Column::figure("tier"),
        Column::figure("n"),
        Column::figure("median"),
        Column::text("").optional(3),
        Column::figure("ratio"),
        Column::figure("interval"),
        Column::figure("of n"),
        Column::text("verdict"),
        Column::figure("cv").optional(1),
        Column::figure("outliers").optional(2),
    ];
    let what = metric(question.metric, question.clock);
    let caption = format!("{} / {}: {what}, best first", question.workload, question.phase);
    let mut table = Table::new(columns).caption(caption).sortable();
    for row in &question.rows {
        table.row(ranked(verdicts, question, row, style));
    }
    table.without_empty_columns()
}

/// The cells of a contender, in the order of the columns.
fn ranked(verdicts: &Verdicts, question: &QuestionView, row: &RankRow, style: Style) -> [Cell; 12] {
    let rows = &question.rows;
    let several = rows.len() > 1;
    let is_warm = rows.iter().any(|row| row.cold) && !row.cold;
    let label = format!("{}{}", row.label, if is_warm { " (warm)" } else { "" });
    let against = against(verdicts, question, row);
    let most = rows.iter().map(|row| row.median).fold(0.0, f64::max);
    let bar =
        if style.bars && several { bar(row.median, most, BAR_COLUMNS) } else { String::new() };
    let letters = if shows_letters(question) { row.letters.as_str() } else { "" };
    let ratio_n = row.ratio_n.filter(|_| rows.iter().any(is_of_fewer));
    let stand_out = rows.iter().any(|row| row.outliers > 0);
    let ratio = Cell::maybe(row.ratio.map(|value| (against.ratio.clone(), value)));
    let interval = against.interval.clone().zip(row.ratio_low.or(row.ratio));
    let word = match row.ratio {
        Some(_) => verdict_word(row.against_reference, against.word),
        None => Cell::text("not compared"),
    };
    [
        Cell::contender(row.contender, label),
        Cell::text(letters),
        Cell::maybe(row.tier.map(|tier| (tier.to_string(), f64::from(tier)))),
        Cell::count(row.n),
        Cell::figure(value(question.metric, row.median), row.median),
        Cell::text(bar),
        if several { ratio } else { Cell::none() },
        if several { Cell::maybe(interval) } else { Cell::none() },
        ratio_n.map_or_else(Cell::none, Cell::count),
        if several { word } else { Cell::none() },
        Cell::maybe(row.cv.map(|cv| (format!("{:.1} %", cv * 100.0), cv))),
        if stand_out { Cell::count(row.outliers) } else { Cell::none() },
    ]
}

/// A verdict in a cell: what differs stands out.
fn verdict_word(verdict: Option<Verdict>, word: &str) -> Cell {
    match verdict {
        Some(Verdict::Faster | Verdict::Slower) => Cell::text(word).strong(),
        _ => Cell::text(word),
    }
}

/// A contender against the reference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Against {
    /// The ratio, 1.00 for the reference itself; a dash where there is none.
    pub ratio: String,
    /// Its interval in brackets.
    pub interval: Option<String>,
    /// The verdict's word; `baseline` or `best` for the reference itself.
    pub word: &'static str,
}

pub(super) fn against(verdicts: &Verdicts, question: &QuestionView, row: &RankRow) -> Against {
    let reference = reference(verdicts, question).filter(|one| one.contender != row.contender);
    let Some(reference) = reference else {
        let is_baseline = Some(&row.label) == verdicts.baseline.as_ref();
        let word = if is_baseline { "baseline" } else { "best" };
        return Against { ratio: ratio(1.0), interval: None, word };
    };
    let word = row.against_reference.map_or("-", Verdict::word);
    let same = match row.against_reference {
        Some(Verdict::Same) => pairs::between(question, row.contender, reference.contender),
        _ => None,
    };
    let (ratio, interval) = match same.as_ref().map(pairs::interval) {
        Some((low, high)) => ratio_within(verdicts.margin, row.ratio, low, high),
        None => ratio_and_interval(row.ratio, row.ratio_low, row.ratio_high),
    };
    Against { ratio, interval, word }
}

/// Whether its ratio is of fewer blocks than its values are of.
pub(super) fn is_of_fewer(row: &RankRow) -> bool {
    row.ratio_n.is_some_and(|n| n < row.n)
}

/// Of two contenders the verdict says all.
pub(super) fn shows_letters(question: &QuestionView) -> bool {
    question.rows.len() > 2 && question.rows.iter().any(|row| !row.letters.is_empty())
}

/// Sentences under a title, where there are any.
pub(super) fn list(title: &str, lines: Vec<String>) -> Block {
    Block::List(Some(Owner::named(title)), lines)
}

fn pair_list(verdicts: &Verdicts, question: &QuestionView, detail: Detail) -> Vec<Block> {
    let (shown, left_out) = pairs::listed(verdicts, question, detail);
    let lines = shown.iter().map(|pair| pairs::sentence(verdicts, question, pair)).collect();
    let title = match &verdicts.baseline {
        Some(baseline) => format!("Against the baseline {baseline}"),
        None => "Pairs".to_owned(),
    };
    let mut blocks = vec![list(&title, lines)];
    if left_out > 0 {
        blocks.push(Block::Note(format!(
            "{left_out} of {} are decided and not adjacent in the ranking, and not listed; \
             `fsarena study --all-pairs` lists them.",
            count(question.pairs.len(), "pair")
        )));
    }
    blocks
}

/// What the watchers found.
pub(super) fn found(question: &QuestionView) -> Vec<String> {
    let text = |finding: &Finding| {
        format!("{}: {}", kind(finding.kind), finding.text.trim_end_matches('.'))
    };
    question.watch.findings.iter().map(text).collect()
}

/// The values that stand out, in one line.
pub(super) fn outliers(question: &QuestionView) -> Option<String> {
    let outliers = &question.watch.outliers;
    let label = |contender: usize| {
        let row = question.rows.iter().find(|row| row.contender == contender);
        row.map_or_else(|| format!("contender {contender}"), |row| row.label.clone())
    };
    let shown: Vec<String> = outliers
        .iter()
        .take(MOST_OUTLIERS)
        .map(|one| {
            let (who, times) = (label(one.contender), ratio(one.to_median));
            format!("{who} in block {}, {times} times its median", one.block)
        })
        .collect();
    let more = match outliers.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("values that stand out, kept: {}{more}", shown.join("; ")))
}

/// What is watched, as it stands before what was found.
fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Drift => "drift",
        FindingKind::Position => "place in the block",
        FindingKind::CarryOver => "carry-over",
        FindingKind::Autocorrelation => "autocorrelation",
        FindingKind::NoSteadyState => "no steady state",
        FindingKind::ForeignLoad => "foreign load",
    }
}
