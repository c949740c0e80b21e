//! One question: its ranking, its pairs, who takes no part, what the watchers saw.

use super::{multipliers, pairs};
use crate::bars::bar;
use crate::format::count;
use crate::style::Detail;
use crate::style::Style;
use crate::table::{Grid, Kind};
use crate::text::wrap;
use crate::text::{heading, titled_list};
use crate::verdict::text::{metric, ratio, ratio_and_interval, ratio_within, value};
use fsarena_model::verdict::Verdict;
use fsarena_study::verdict::{QuestionView, RankRow, Verdicts};
use fsarena_study::watch::{Finding, FindingKind};

/// Values that stand out are listed up to this many.
const MOST_OUTLIERS: usize = 6;
/// Columns of the bar of the largest median.
const BAR_COLUMNS: usize = 10;

/// Everything that is said of a question.
pub(super) fn table(
    verdicts: &Verdicts,
    question: &QuestionView,
    detail: Detail,
    width: usize,
    style: Style,
) -> String {
    let is_said = is_headline(verdicts, question) && question.pairs.len() == 1;
    let mut out = heading(&title(verdicts, question), width, style);
    if !question.rows.is_empty() {
        out.push_str(&ranking(verdicts, question, style).render(width));
    }
    if detail == Detail::AllPairs || (detail == Detail::Full && !is_said) {
        out.push_str(&pair_list(verdicts, question, detail, width, style));
    }
    let left: Vec<String> =
        question.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    out.push_str(&titled_list("Excluded", &left, width, style));
    let mut watched = found(question);
    if detail != Detail::Brief {
        watched.extend(outliers(question));
    }
    out.push_str(&titled_list("Watchers", &watched, width, style));
    match &question.factors {
        Some(factors) if detail != Detail::Brief => {
            out.push_str(&multipliers::text(factors, width, style));
        }
        Some(factors) if !factors.factors.is_empty() => {
            let line = format!("Due to: {}", multipliers::line(factors));
            out.push_str(&wrap("", &line, width));
        }
        _ => {}
    }
    out
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
pub(crate) fn ranking(verdicts: &Verdicts, question: &QuestionView, style: Style) -> Grid {
    let rows = &question.rows;
    let letters = shows_letters(question);
    let some_are_cold = rows.iter().any(|row| row.cold);
    let several = rows.len() > 1;
    let some_stand_out = rows.iter().any(|row| row.outliers > 0);
    let name = |row: &RankRow| {
        let warm = if some_are_cold && !row.cold { " (warm)" } else { "" };
        format!("{}{warm}", row.label)
    };
    let against = |row: &RankRow| against(verdicts, question, row);
    let some_of_fewer = rows.iter().any(is_of_fewer);
    type Cell<'c> = &'c dyn Fn(&RankRow) -> Option<String>;
    let most = rows.iter().map(|row| row.median).fold(0.0, f64::max);
    let bar = |row: &RankRow| (style.bars && several).then(|| bar(row.median, most, BAR_COLUMNS));
    let all: [(&str, Kind, Cell<'_>); 12] = [
        ("letters", Kind::Text, &|row| letters.then(|| row.letters.clone())),
        ("tier", Kind::Figure, &|row| row.tier.map(|tier| tier.to_string())),
        ("contender", Kind::Text, &|row| Some(name(row))),
        ("n", Kind::Figure, &|row| Some(row.n.to_string())),
        ("median", Kind::Figure, &|row| Some(value(question.metric, row.median))),
        ("", Kind::OptionalText(3), &bar),
        ("ratio", Kind::Figure, &|row| several.then(|| against(row).ratio)),
        ("interval", Kind::Figure, &|row| against(row).interval),
        ("of n", Kind::Figure, &|row| row.ratio_n.filter(|_| some_of_fewer).map(|n| n.to_string())),
        ("verdict", Kind::Text, &|row| several.then(|| against(row).word.to_owned())),
        ("cv", Kind::Optional(1), &|row| row.cv.map(|cv| format!("{:.1} %", cv * 100.0))),
        ("outliers", Kind::Optional(2), &|row| some_stand_out.then(|| row.outliers.to_string())),
    ];
    let says_something = |cell: Cell<'_>| rows.iter().any(|row| cell(row).is_some());
    let shown: Vec<_> = all.into_iter().filter(|&(_, _, cell)| says_something(cell)).collect();
    let heads: Vec<(&str, Kind)> = shown.iter().map(|&(head, kind, _)| (head, kind)).collect();
    let mut grid = Grid::new(&heads);
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    for row in rows {
        grid.row(shown.iter().map(|&(_, _, cell)| or_dash(cell(row))).collect());
    }
    grid
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

fn pair_list(
    verdicts: &Verdicts,
    question: &QuestionView,
    detail: Detail,
    width: usize,
    style: Style,
) -> String {
    let (shown, left_out) = pairs::listed(verdicts, question, detail);
    let lines: Vec<String> =
        shown.iter().map(|pair| pairs::sentence(verdicts, question, pair)).collect();
    let title = match &verdicts.baseline {
        Some(baseline) => format!("Against the baseline {baseline}"),
        None => "Pairs".to_owned(),
    };
    let mut out = titled_list(&title, &lines, width, style);
    if left_out > 0 {
        let line = format!(
            "{left_out} of {} are decided and not adjacent in the ranking, and not listed; `fsarena study \
             --all-pairs` lists them.",
            count(question.pairs.len(), "pair")
        );
        out.push_str(&wrap("  ", &line, width));
    }
    out
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
