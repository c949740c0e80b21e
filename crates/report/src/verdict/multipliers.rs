//! What differences are due to: multipliers first, then what they depend on, shares last.

use crate::text::Style;
use crate::text::wrap;
use crate::text::{heading, titled_list};
use crate::verdict::text::{blocks, percent, probability, ratio_and_interval};
use fsarena_verdict::factors::{FactorRow, FactorView, LevelRow};

/// The factors of a question.
pub(super) fn text(view: &FactorView, width: usize, style: Style) -> String {
    let title = format!(
        "What it is due to ({}; slowest ÷ fastest level over all other factors; intervals \
         plain 95 % for all levels of a factor together)",
        blocks(view.blocks as u64)
    );
    let mut out = heading(&title, width, style);
    if !view.factors.is_empty() {
        out.push_str(&wrap("", &line(view), width));
    }
    let lines: Vec<String> = view.factors.iter().flat_map(levels).collect();
    for line in lines {
        out.push_str(&wrap("  - ", &line, width));
    }
    if !view.terms.is_empty() {
        out.push_str(&wrap("", &tests(view), width));
    }
    out.push_str(&shares(view, width));
    out.push_str(&titled_list("Factors: notes", &view.notes, width, style));
    out
}

/// `device ×3.31 [3.10, 3.52], fs ×1.22 [1.18, 1.26]`; empty without factors.
pub(super) fn line(view: &FactorView) -> String {
    view.factors.iter().map(multiplier).collect::<Vec<_>>().join(", ")
}

/// `device ×3.31 [3.10, 3.52]`.
fn multiplier(factor: &FactorRow) -> String {
    let (text, interval) =
        ratio_and_interval(Some(factor.spread), factor.spread_low, factor.spread_high);
    let interval = interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    let caution = if factor.interacts { " on average (interacts)" } else { "" };
    format!("{} ×{text}{interval}{caution}", name(factor))
}

/// A factor that exists only within a level of another is named with that level.
fn name(factor: &FactorRow) -> String {
    match &factor.within {
        Some(within) => format!("{} within {within}", factor.name),
        None => factor.name.clone(),
    }
}

/// The levels of a factor; where it interacts, at each level of the other factor instead of over
/// all.
pub(super) fn levels(factor: &FactorRow) -> Vec<String> {
    let name = name(factor);
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
    let one = |row: &LevelRow| {
        let (text, interval) = ratio_and_interval(Some(row.multiplier), row.low, row.high);
        let interval = interval.map(|interval| format!(" {interval}")).unwrap_or_default();
        format!("{} {text}{interval}", row.level)
    };
    levels.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The terms of the analysis with their probabilities.
pub(super) fn tests(view: &FactorView) -> String {
    let mut parts = vec![format!("all contenders {}", probability(view.omnibus_p))];
    parts.extend(view.terms.iter().map(|term| format!("{} {}", term.term, probability(term.p))));
    format!("F tests: {}.", parts.join(", "))
}

/// Shares of the variance; nothing where the study gives none.
fn shares(view: &FactorView, width: usize) -> String {
    shares_text(view).map_or_else(String::new, |line| wrap("", &line, width))
}

/// The same without line breaks.
pub(super) fn shares_text(view: &FactorView) -> Option<String> {
    let parts: Vec<String> = view
        .factors
        .iter()
        .filter_map(|factor| {
            let share = factor.share?;
            Some(format!("{} {}", name(factor), percent((share * 1e3).round() / 1e3)))
        })
        .collect();
    let of = "Shares of the variance among these contenders, which other levels would change";
    (!parts.is_empty()).then(|| format!("{of}: {}.", parts.join(", ")))
}
