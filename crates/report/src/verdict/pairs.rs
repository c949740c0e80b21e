//! Pairs in words: each line stands by itself, with its blocks, interval and margin.

use crate::text::Detail;
use crate::verdict::text::{Claim, about, blocks, claim, margin, ratio};
use fsarena_model::verdict::{Rule, Verdict};
use fsarena_verdict::{Forecast, ForecastFor, PairView, QuestionView, Verdicts};

/// With more contenders than this only what is not decided and what stands side by side is listed.
const ALL_PAIRS_UP_TO: usize = 6;

/// What is said of a pair, in one sentence without a full stop.
pub(super) fn sentence(verdicts: &Verdicts, question: &QuestionView, pair: &PairView) -> String {
    let (low, high) = interval(pair);
    let mut text = claim(&Claim {
        a: &pair.a_label,
        b: &pair.b_label,
        verdict: pair.verdict,
        metric: question.metric,
        margin: verdicts.margin,
        ratio: pair.ratio,
        low,
        high,
    });
    if pair.ratio.is_some() && (low.is_none() || high.is_none()) {
        text.push_str(" (no interval)");
    }
    text.push_str(if pair.ratio.is_some() { ", " } else { ": " });
    text.push_str(&counted(pair));
    if is_early(verdicts, pair) {
        text.push_str(" (early stop)");
    }
    if pair.verdict != Verdict::Same {
        text.push_str(&format!(", margin {}", margin(verdicts.margin)));
    }
    for part in beside(pair) {
        text.push_str("; ");
        text.push_str(&part);
    }
    text
}

/// The interval that the verdict rests on: SAME is said by one of its own.
pub(super) fn interval(pair: &PairView) -> (Option<f64>, Option<f64>) {
    pair.interval().unzip()
}

/// Whether the pair was decided before the last look that there could have been.
pub(super) fn is_early(verdicts: &Verdicts, pair: &PairView) -> bool {
    match verdicts.rule {
        Rule::Looks { cap } => pair.verdict != Verdict::Undecided && pair.at_blocks < cap,
        Rule::Fixed { .. } => false,
    }
}

/// `8 blocks`, or `7 of 8 blocks` where one of them lacks a value.
fn counted(pair: &PairView) -> String {
    let n = pair.n as u64;
    let all = u64::from(pair.at_blocks);
    if n >= all { blocks(n) } else { format!("{n} of {}", blocks(all)) }
}

/// What has to be said beside verdict, ratio, blocks and margin.
fn beside(pair: &PairView) -> Vec<String> {
    let mut parts = Vec::new();
    if pair.shapes_differ {
        parts.push(shapes(pair));
    }
    let undecided = pair.verdict == Verdict::Undecided;
    let within = pair.same_within.filter(|_| undecided && !pair.shapes_differ);
    parts.extend(within.map(|within| format!("same within {}", margin(within))));
    parts.extend(pair.why.clone());
    parts.extend(pair.forecast.filter(|_| undecided).map(|forecast| still_needed(&forecast)));
    parts
}

/// The ratios that answer different questions where the two spread in different shapes.
fn shapes(pair: &PairView) -> String {
    let one =
        |name: &str, value: Option<f64>| value.map(|value| format!("{name} {}", ratio(value)));
    let ratios: Vec<String> = [
        one("geometric means", pair.mean_ratio),
        one("Hodges-Lehmann", pair.hl_ratio),
        one("medians", pair.median_ratio),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("shapes differ (first ÷ second: {}), so SAME is refused", ratios.join(", "))
}

/// `about 14 blocks (6 min) more to show SAME`.
fn still_needed(forecast: &Forecast) -> String {
    let what = match forecast.of {
        ForecastFor::Same => "SAME",
        ForecastFor::Difference => "a difference of this size",
    };
    if forecast.more_blocks == 0 {
        return format!("by the forecast the next look shows {what}");
    }
    let time = about(forecast.seconds);
    format!("about {} ({time}) more to show {what}", blocks(forecast.more_blocks))
}

/// The pairs to be listed, and how many are left out.
pub(super) fn listed<'a>(
    verdicts: &Verdicts,
    question: &'a QuestionView,
    detail: Detail,
) -> (Vec<&'a PairView>, usize) {
    let few = question.rows.len() <= ALL_PAIRS_UP_TO;
    if detail == Detail::AllPairs || few || verdicts.baseline.is_some() {
        return (question.pairs.iter().collect(), 0);
    }
    let place = |contender| question.rows.iter().position(|row| row.contender == contender);
    let are_neighbours = |pair: &PairView| match (place(pair.a), place(pair.b)) {
        (Some(a), Some(b)) => a.abs_diff(b) == 1,
        _ => false,
    };
    let shown = |pair: &&PairView| pair.verdict == Verdict::Undecided || are_neighbours(pair);
    let listed: Vec<&PairView> = question.pairs.iter().filter(shown).collect();
    let left_out = question.pairs.len() - listed.len();
    (listed, left_out)
}

/// The pair of these two contenders, with `a` as its first.
pub(super) fn between(question: &QuestionView, a: usize, b: usize) -> Option<PairView> {
    let is_it = |pair: &&PairView| (pair.a, pair.b) == (a, b) || (pair.a, pair.b) == (b, a);
    let pair = question.pairs.iter().find(is_it)?;
    Some(if pair.a == a { pair.clone() } else { pair.turned() })
}
