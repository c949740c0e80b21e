//! One question: its chart, its ranking with letters and tiers, its pairs, which contenders are
//! excluded, what the watchers saw, and what differences are due to.

use super::pictures::ratios;
use crate::context::SectionContext;
use crate::format::count;
use crate::render::html as parts;
use crate::text::Style;
use crate::verdict::answers;
use crate::verdict::question::ranking;
use crate::verdict::text::metric;
use fsarena_verdict::{PairView, QuestionView, Verdicts};
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
            (ranking(verdicts, question, Style::default()))
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

/// `create of small-files, time to durable`.
pub(super) fn name(question: &QuestionView) -> String {
    let what = metric(question.metric, question.clock);
    format!("{} of {}, {what}", question.phase, question.workload)
}
