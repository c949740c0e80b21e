//! One question: its ranking, its pairs, which are excluded, what the watchers saw, and what
//! differences are due to: multipliers first, then what they depend on, shares last.

use super::sentences::{between, listed_pairs, pair_sentence};
use crate::bars::bar;
use crate::format::count;
use crate::section::{Block, Owner};
use crate::table::{Cell, Column, Table};
use crate::text::{Detail, Style};
use crate::verdict::text::{
    blocks, figure, percent, probability, ratio, ratio_and_interval, ratio_text, ratio_within,
    value,
};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::factors::{FactorRow, FactorView, LevelRow};
use fsarena_verdict::watchers::{Finding, FindingKind};
use fsarena_verdict::{Excluded, PairView, QuestionView, RankRow, Verdicts};

/// Values that stand out are listed up to this many.
const MOST_OUTLIERS: usize = 6;
/// Columns of the bar of the largest median.
const BAR_COLUMNS: usize = 10;

/// Everything that is said of a question.
pub(super) fn question_blocks(
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
    let everywhere = excluded_everywhere(verdicts);
    let left = question.left.iter().filter(|left| !everywhere.contains(left));
    blocks.push(list("Excluded", left.map(excluded).collect()));
    let is_brief = detail == Detail::Brief;
    blocks.push(list("Watchers", if is_brief { found(question) } else { watched(question) }));
    match &question.factors {
        Some(factors) if !is_brief => {
            blocks.extend(factor_blocks(factors));
        }
        Some(factors) if !factors.factors.is_empty() => {
            blocks.push(Block::Note(format!("Due to: {}", multipliers(factors))));
        }
        _ => {}
    }
    blocks
}

/// The contenders that are excluded from all questions for one reason, where there are several
/// questions: that is said once.
pub(super) fn excluded_everywhere(verdicts: &Verdicts) -> Vec<&Excluded> {
    let [first, others @ ..] = verdicts.questions.as_slice() else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    first.left.iter().filter(|left| others.iter().all(|one| one.left.contains(left))).collect()
}

/// `zfs: this kernel has no zfs`.
pub(super) fn excluded(left: &Excluded) -> String {
    format!("{}: {}", left.label, left.why)
}

/// Whether the answer stands at the head of everything already.
fn is_headline(verdicts: &Verdicts, question: &QuestionView) -> bool {
    let headline = verdicts.headline.and_then(|at| verdicts.questions.get(at));
    headline.is_some_and(|headline| std::ptr::eq(headline, question))
}

/// What is compared, and with which contender.
pub(crate) fn title(verdicts: &Verdicts, question: &QuestionView) -> String {
    let what = figure(question.metric, question.clock, question.changes);
    let mut title = format!("{} / {}: {what}", question.workload, question.phase);
    let reference = verdicts.reference(question).filter(|_| question.rows.len() > 1);
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

/// The contenders, best first; only columns that say something.
pub(crate) fn ranking(verdicts: &Verdicts, question: &QuestionView, style: Style) -> Table {
    let columns = [
        Column::text("contender"),
        Column::text("alike"),
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
    let what = figure(question.metric, question.clock, question.changes);
    let caption = format!("{} / {}: {what}, least first", question.workload, question.phase);
    let mut table = Table::new(columns).caption(caption).sortable();
    let mut rows: Vec<&RankRow> = question.rows.iter().collect();
    rows.sort_by(|a, b| b.cold.cmp(&a.cold).then(a.median.total_cmp(&b.median)));
    for row in rows {
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
pub(crate) struct Against {
    /// The ratio, 1.00 for the reference itself; a dash where there is none.
    pub(crate) ratio: String,
    /// Its interval in brackets.
    pub(crate) interval: Option<String>,
    /// The verdict's word; `baseline` for the reference itself.
    pub(crate) word: &'static str,
}

pub(crate) fn against(verdicts: &Verdicts, question: &QuestionView, row: &RankRow) -> Against {
    let reference = verdicts.reference(question).filter(|one| one.contender != row.contender);
    let Some(reference) = reference else {
        return Against { ratio: ratio(1.0), interval: None, word: "baseline" };
    };
    let word = row.against_reference.map_or("-", Verdict::word);
    let same = match row.against_reference {
        Some(Verdict::Same) => between(question, row.contender, reference.contender),
        _ => None,
    };
    let (ratio, interval) = match same.map(|pair| pair.interval().unzip()) {
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
    let (shown, left_out) = listed_pairs(verdicts, question, detail);
    let lines = shown.iter().map(|pair| pair_sentence(verdicts, question, pair)).collect();
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
fn found(question: &QuestionView) -> Vec<String> {
    let text = |finding: &Finding| {
        format!("{}: {}", kind(finding.kind), finding.text.trim_end_matches('.'))
    };
    question.watch.findings.iter().map(text).collect()
}

/// The undecided pairs.
pub(crate) fn undecided(question: &QuestionView) -> Vec<&PairView> {
    question.pairs.iter().filter(|pair| pair.verdict == Verdict::Undecided).collect()
}

/// What the watchers found, and the values that stand out; a sentence each.
pub(crate) fn watched(question: &QuestionView) -> Vec<String> {
    found(question).into_iter().chain(outliers(question)).collect()
}

/// The values that stand out, in one line.
fn outliers(question: &QuestionView) -> Option<String> {
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

/// The factors of a question: multipliers, levels, tests, shares and notes, a sentence each.
fn factor_blocks(view: &FactorView) -> [Block; 2] {
    let title = format!(
        "What it is due to ({}; slowest ÷ fastest level over all other factors; intervals \
         plain 95 % for all levels of a factor together)",
        blocks(view.blocks as u64)
    );
    let first = (!view.factors.is_empty()).then(|| multipliers(view));
    let lines = first.into_iter().chain(levels(view)).collect();
    [Block::Heading(title), Block::List(None, lines)]
}

/// The levels of all factors with their multipliers, the tests, the shares of variance, and notes.
pub(crate) fn levels(view: &FactorView) -> Vec<String> {
    let mut all: Vec<String> = view.factors.iter().flat_map(levels_of).collect();
    all.extend((!view.terms.is_empty()).then(|| tests(view)));
    all.extend(shares(view));
    all.extend(view.notes.iter().cloned());
    all
}

/// `device ×3.31 [3.10, 3.52], fs ×1.22 [1.18, 1.26]`; empty without factors.
pub(crate) fn multipliers(view: &FactorView) -> String {
    view.factors.iter().map(multiplier).collect::<Vec<_>>().join(", ")
}

/// `device ×3.31 [3.10, 3.52]`.
fn multiplier(factor: &FactorRow) -> String {
    let text = ratio_text(factor.spread, factor.spread_low, factor.spread_high);
    let caution = if factor.interacts { " on average (interacts)" } else { "" };
    format!("{} ×{text}{caution}", factor_name(factor))
}

/// A factor that exists only within a level of another is named with that level.
fn factor_name(factor: &FactorRow) -> String {
    match &factor.within {
        Some(within) => format!("{} within {within}", factor.name),
        None => factor.name.clone(),
    }
}

/// The levels of a factor; where it interacts, at each level of the other factor instead of over
/// all.
fn levels_of(factor: &FactorRow) -> Vec<String> {
    let name = factor_name(factor);
    if !factor.interacts || factor.by_other.is_empty() {
        return vec![format!("{name}: {}", level_words(&factor.levels))];
    }
    let mut lines = vec![format!("{name} interacts, so there is no one multiplier:")];
    let at = |one: &fsarena_verdict::factors::LevelsAt| {
        format!("{name} at {}: {}", one.at, level_words(&one.levels))
    };
    lines.extend(factor.by_other.iter().map(at));
    lines
}

/// `ssd 1.00, hdd 3.31 [3.10, 3.52]`.
fn level_words(levels: &[LevelRow]) -> String {
    let one =
        |row: &LevelRow| format!("{} {}", row.level, ratio_text(row.multiplier, row.low, row.high));
    levels.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The terms of the analysis with their probabilities.
fn tests(view: &FactorView) -> String {
    let mut parts = vec![format!("all contenders {}", probability(view.omnibus_p))];
    parts.extend(view.terms.iter().map(|term| format!("{} {}", term.term, probability(term.p))));
    format!("F tests: {}.", parts.join(", "))
}

/// Shares of the variance; nothing where the study gives none.
fn shares(view: &FactorView) -> Option<String> {
    let parts: Vec<String> = view
        .factors
        .iter()
        .filter_map(|factor| {
            let share = factor.share?;
            Some(format!("{} {}", factor_name(factor), percent((share * 1e3).round() / 1e3)))
        })
        .collect();
    let of = "Shares of the variance among these contenders, which other levels would change";
    (!parts.is_empty()).then(|| format!("{of}: {}.", parts.join(", ")))
}
