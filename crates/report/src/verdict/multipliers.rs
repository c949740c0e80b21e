//! What differences are due to: multipliers first, then what they depend on, shares last.

use crate::section::Block;
use crate::verdict::text::{blocks, percent, probability, ratio_and_interval};
use fsarena_verdict::factors::{FactorRow, FactorView, LevelRow};

/// The factors of a question: multipliers, levels, tests, shares and notes, a sentence each.
pub(super) fn section_blocks(view: &FactorView) -> [Block; 2] {
    let title = format!(
        "What it is due to ({}; slowest ÷ fastest level over all other factors; intervals \
         plain 95 % for all levels of a factor together)",
        blocks(view.blocks as u64)
    );
    let first = (!view.factors.is_empty()).then(|| line(view));
    let lines = first.into_iter().chain(sentences(view)).collect();
    [Block::Heading(title), Block::List(None, lines)]
}

/// The levels of all factors with their multipliers, the tests, the shares of variance, and notes.
pub(super) fn sentences(view: &FactorView) -> Vec<String> {
    let mut all: Vec<String> = view.factors.iter().flat_map(levels).collect();
    all.extend((!view.terms.is_empty()).then(|| tests(view)));
    all.extend(shares(view));
    all.extend(view.notes.iter().cloned());
    all
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
fn levels(factor: &FactorRow) -> Vec<String> {
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
            Some(format!("{} {}", name(factor), percent((share * 1e3).round() / 1e3)))
        })
        .collect();
    let of = "Shares of the variance among these contenders, which other levels would change";
    (!parts.is_empty()).then(|| format!("{of}: {}.", parts.join(", ")))
}
