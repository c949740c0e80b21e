//! A question unfolded: its chart, its ranking with letters and tiers, its pairs in words, who is
//! excluded, what the watchers saw, and what differences are due to.

use crate::context::SectionContext;
use crate::format::count;
use crate::pictures::file_name;
use crate::section::Block;
use crate::text::Style;
use crate::verdict::question::{against, levels, multipliers, ranking, undecided, watched};
use crate::verdict::sentences::{between, pair_as_ranked};
use crate::verdict::text::{margin, metric, percent};
use fsarena_chart::{Head, Key, Ratio, Ratios, Spot, Svg};
use fsarena_verdict::{PairView, QuestionView, RankRow, Verdicts};
use maud::{Markup, html};

/// Sentences beyond this are folded.
const SHOWN: usize = 3;
/// Sentences beyond this are not on the page: those of 21 contenders are.
const LISTED: usize = 210;

/// Everything that is said of the question `at` this context: its chart, its ranking with letters
/// and tiers, its pairs, which contenders are excluded, what the watchers saw, and what differences
/// are due to.
pub(crate) fn details(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Vec<Block> {
    let (undecided, all) = (undecided(question), question.pairs.iter().collect::<Vec<_>>());
    let left = question.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    let mut blocks = vec![Block::Html(html! {
        h4 id={ (context.prefix) "-question-" (at + 1) } {
            (question.workload) " / " (question.phase) ": "
            (metric(question.metric, question.clock))
        }
        @if !question.workload_title.is_empty() { p.kind { (question.workload_title) } }
    })];
    let chart = ratios(context, verdicts, at, question);
    blocks.extend(chart.map(|svg| Block::Chart(svg, caption(verdicts, question))));
    blocks.push(match question.rows.is_empty() {
        true => Block::Missing("No contender has figures for this question.".to_owned()),
        false => Block::Table(ranking(verdicts, question, Style::default())),
    });
    let listed = |pairs: &[&PairView]| {
        let list = Block::List(None, in_words(verdicts, question, pairs));
        vec![list, Block::Html(rest(context, pairs.len()))]
    };
    match undecided.len() {
        0 => {}
        1..=SHOWN => {
            let lines = in_words(verdicts, question, &undecided);
            blocks.extend(named("Undecided, and what deciding would cost:", lines));
        }
        n => {
            let title = format!("{n} pairs undecided, and what deciding would cost");
            blocks.push(Block::Fold(title, listed(&undecided)));
        }
    }
    if all.len() > undecided.len() {
        let title = format!("All {} in words", count(all.len(), "pair"));
        blocks.push(Block::Fold(title, listed(&all)));
    }
    blocks.extend(named("Excluded:", left));
    blocks.extend(named("What the watchers saw:", watched(question)));
    if let Some(factors) = &question.factors {
        let known = match factors.factors.is_empty() {
            true => "not known".to_owned(),
            false => multipliers(factors),
        };
        blocks.push(Block::Text(format!(
            "What it is due to, slowest ÷ fastest level over all other factors: {known}."
        )));
        let levels = Block::List(None, levels(factors));
        blocks.push(Block::Fold("Levels, tests and shares".to_owned(), vec![levels]));
    }
    blocks
}

fn caption(verdicts: &Verdicts, question: &QuestionView) -> String {
    let to = verdicts.reference(question).map_or("the best", |row| row.label.as_str());
    format!(
        "{}: ratios to {to} with their intervals; in the band the two are within {}.",
        name(question),
        margin(verdicts.margin)
    )
}

/// Pairs in words, up to as many as a page can hold.
fn in_words(verdicts: &Verdicts, question: &QuestionView, pairs: &[&PairView]) -> Vec<String> {
    pairs.iter().take(LISTED).map(|pair| pair_as_ranked(verdicts, question, pair)).collect()
}

/// Where the pairs are that are not listed.
fn rest(context: &SectionContext<'_>, all: usize) -> Markup {
    html! {
        @if all > LISTED {
            p { (all - LISTED) " more: "
                code { "fsarena study " (context.run.study.uid) " --all-pairs" } }
        }
    }
}

/// Sentences under a title; nothing without any.
pub(crate) fn named(title: &str, lines: Vec<String>) -> Vec<Block> {
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![Block::Text(title.to_owned()), Block::List(None, lines)],
    }
}

/// `create of small-files, time to durable`.
pub(crate) fn name(question: &QuestionView) -> String {
    let what = metric(question.metric, question.clock);
    format!("{} of {}, {what}", question.phase, question.workload)
}

/// The chart of the question `at` this context; `None` with fewer than two contenders to compare.
fn ratios(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Option<Svg> {
    let reference = verdicts.reference(question)?;
    let rows: Vec<Ratio> =
        question.rows.iter().map(|row| ratio(verdicts, question, row, reference)).collect();
    if rows.iter().filter(|row| row.ratio.is_some()).count() < 2 {
        return None;
    }
    let what = metric(question.metric, question.clock);
    let of = question.metric.row().words.noun;
    let chart = Ratios {
        head: Head {
            id: format!("{}-ratios-{}", context.prefix, at + 1),
            name: file_name(&[
                &question.workload,
                &question.phase,
                question.metric.name(),
                question.clock.name(),
                "ratios",
            ]),
            title: format!("{} {}: {what}, ratios", question.workload, question.phase),
            description: description(verdicts, question, &rows),
        },
        title: format!("{of} ÷ {of} of {} (less is better)", reference.label),
        margin: verdicts.margin,
        rows,
    };
    Some(chart.draw())
}

/// A contender against the reference.
fn ratio(
    verdicts: &Verdicts,
    question: &QuestionView,
    row: &RankRow,
    reference: &RankRow,
) -> Ratio {
    let said = against(verdicts, question, row);
    let ends = between(question, row.contender, reference.contender).and_then(|p| p.interval());
    let words = said.interval.iter().fold(said.ratio.clone(), |all, one| format!("{all} {one}"));
    Ratio {
        key: Key { label: row.label.clone(), hue: row.contender },
        ratio: row
            .ratio
            .map(|value| Spot { value, tip: format!("{}: {words}, {}", row.label, said.word) }),
        interval: ends,
        word: if row.ratio.is_some() { said.word.to_owned() } else { "not compared".to_owned() },
    }
}

/// For readers who do not see it: best and worst, and the margin.
fn description(verdicts: &Verdicts, question: &QuestionView, rows: &[Ratio]) -> String {
    let spots = || rows.iter().filter_map(|row| row.ratio.as_ref());
    let by_value = |a: &&Spot, b: &&Spot| a.value.total_cmp(&b.value);
    let tip = |spot: Option<&Spot>| spot.map(|spot| spot.tip.clone()).unwrap_or_default();
    format!(
        "Ratios of {} contenders in {} of {}, with intervals and a band of {} around 1. Least: {}. \
         Largest: {}.",
        rows.len(),
        question.phase,
        question.workload,
        percent(verdicts.margin),
        tip(spots().min_by(by_value)),
        tip(spots().max_by(by_value)),
    )
}
