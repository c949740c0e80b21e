//! One question: its chart, its ranking with letters and tiers, its pairs, who takes no part, what
//! the watchers saw, and what differences are due to.

use super::pictures::ratios;
use crate::format::count;
use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::verdict::answers;
use crate::verdict::text::metric;
use fsarena_model::verdict::Verdict;
use fsarena_study::verdict::{PairView, QuestionView, RankRow, Verdicts};
use maud::{Markup, html};

/// Sentences beyond this are folded.
const SHOWN: usize = 3;
/// Sentences beyond this are not on the page: those of 21 contenders are.
const LISTED: usize = 210;

/// Everything that is said of the question `at` this context.
pub(super) fn section(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Markup {
    let id = format!("{}-question-{}", context.prefix, at + 1);
    let undecided = answers::undecided(question);
    let all: Vec<&PairView> = question.pairs.iter().collect();
    let left: Vec<String> =
        question.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    html! {
        h4 id=(id) { (question.workload) " / " (question.phase) ": "
            (metric(question.metric, question.clock)) }
        @if !question.workload_title.is_empty() { p.kind { (question.workload_title) } }
        @if let Some(svg) = ratios(context, verdicts, at, question) {
            (parts::figure(&svg, &caption(verdicts, question)))
        }
        @if question.rows.is_empty() {
            (parts::missing("No contender has figures for this question."))
        } @else {
            (ranking(verdicts, question))
        }
        (open(context, &in_words(verdicts, question, &undecided), undecided.len()))
        @if all.len() > undecided.len() {
            @let title = format!("All {} in words", count(all.len(), "pair"));
            @let said = in_words(verdicts, question, &all);
            @let more = rest(context, said.len(), all.len());
            (parts::fold(&title, &html! { (parts::list(&said)) (more) }))
        }
        (named("Excluded:", &left))
        (named("What the watchers saw:", &answers::watched(question)))
        @if let Some(factors) = &question.factors {
            p { "What it is due to, slowest ÷ fastest level over all other factors: "
                (if factors.factors.is_empty() { "not known".to_owned() }
                 else { answers::multipliers(factors) }) "." }
            (parts::fold("Levels, tests and shares", &parts::list(&answers::levels(factors))))
        }
    }
}

fn caption(verdicts: &Verdicts, question: &QuestionView) -> String {
    let to = answers::reference(verdicts, question).map_or("the best", |row| row.label.as_str());
    format!(
        "{}: ratios to {to} with their intervals; in the band the two are within {}.",
        name(question),
        answers::margin(verdicts.margin)
    )
}

/// Pairs in words, up to as many as a page can hold.
fn in_words(verdicts: &Verdicts, question: &QuestionView, pairs: &[&PairView]) -> Vec<String> {
    pairs.iter().take(LISTED).map(|pair| answers::pair(verdicts, question, pair)).collect()
}

/// Where the pairs are that are not listed.
fn rest(context: &SectionContext<'_>, listed: usize, all: usize) -> Markup {
    html! {
        @if listed < all {
            p { (all - listed) " more: "
                code { "fsarena study " (context.run.study.uid) " --all-pairs" } }
        }
    }
}

/// The undecided pairs with what deciding them would cost; long lists are folded.
fn open(context: &SectionContext<'_>, listed: &[String], all: usize) -> Markup {
    let title = format!("{} undecided, and what deciding would cost", count(all, "pair"));
    html! {
        @match all {
            0 => {}
            1..=SHOWN => { p { "Undecided, and what deciding would cost:" } (parts::list(listed)) }
            _ => (parts::fold(
                &title,
                &html! { (parts::list(listed)) (rest(context, listed.len(), all)) }
            ))
        }
    }
}

fn named(title: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { p { (title) } (parts::list(lines)) } }
}

/// The contenders, best first; only columns that say something.
fn ranking(verdicts: &Verdicts, question: &QuestionView) -> Table {
    let rows = &question.rows;
    let letters = answers::shows_letters(question);
    let several = rows.len() > 1;
    let tiers = rows.iter().any(|row| row.tier.is_some());
    let outliers = rows.iter().any(|row| row.outliers > 0);
    let some_are_cold = rows.iter().any(|row| row.cold);
    let to = answers::reference(verdicts, question).map_or("", |row| row.label.as_str());
    let shown = [
        (true, Column::text("Contender")),
        (letters, Column::text("Letters")),
        (tiers, Column::figure("Tier", "")),
        (true, Column::figure("Blocks", "")),
        (true, Column::figure("Median", "")),
        (several, Column::figure("Ratio", format!("to {to}"))),
        (several, Column::figure("Interval", "")),
        (several, Column::text("Verdict")),
        (true, Column::figure("Spread", "cv, %")),
        (outliers, Column::figure("Outliers", "")),
    ];
    let what = metric(question.metric, question.clock);
    let caption = format!("{} / {}: {what}, best first", question.workload, question.phase);
    let keep: Vec<bool> = shown.iter().map(|(keep, _)| *keep).collect();
    let columns = shown.into_iter().filter(|(keep, _)| *keep).map(|(_, column)| column);
    let mut table = Table::new(caption, columns.collect());
    for row in rows {
        let cells = cells(verdicts, question, row, some_are_cold && !row.cold);
        let kept = cells.into_iter().zip(&keep).filter(|(_, keep)| **keep);
        table.row(kept.map(|(cell, _)| cell).collect());
    }
    table.sortable()
}

/// All cells of a row, in the order of the columns.
fn cells(verdicts: &Verdicts, question: &QuestionView, row: &RankRow, is_warm: bool) -> [Cell; 10] {
    let said = answers::against(verdicts, question, row);
    let label = if is_warm { format!("{} (warm)", row.label) } else { row.label.clone() };
    [
        Cell::markup(parts::swatch(row.contender, &label)),
        Cell::text(&row.letters),
        Cell::maybe(row.tier.map(|tier| (tier.to_string(), f64::from(tier)))),
        Cell::figure(row.n.to_string(), row.n as f64),
        Cell::figure(answers::value(question.metric, row.median), row.median),
        Cell::maybe(row.ratio.map(|value| (said.ratio.clone(), value))),
        Cell::maybe(said.interval.clone().zip(row.ratio_low.or(row.ratio))),
        match row.ratio {
            Some(_) => word(row.against_reference, said.word),
            None => Cell::text("not compared"),
        },
        Cell::maybe(row.cv.map(|cv| (format!("{:.1}", cv * 100.0), cv))),
        Cell::figure(row.outliers.to_string(), row.outliers as f64),
    ]
}

/// `create of small-files, time to durable`.
pub(super) fn name(question: &QuestionView) -> String {
    let what = metric(question.metric, question.clock);
    format!("{} of {}, {what}", question.phase, question.workload)
}

/// A verdict's word in a cell.
fn word(verdict: Option<Verdict>, text: &str) -> Cell {
    let differs = matches!(verdict, Some(Verdict::Faster | Verdict::Slower));
    Cell::markup(html! { span.word { @if differs { b { (text) } } @else { (text) } } })
}
