//! Verdicts as text and as JSON: the headline in one sentence, a ranking a question, pairs in
//! words, what the watchers saw, what differences are due to, the rule, and once how all that is
//! read.
//!
//! Nothing is decided here. A line that says FASTER, SLOWER, SAME or UNDECIDED says the number of
//! blocks, the interval and the margin too.

pub(crate) mod answers;
mod headline;
mod json;
mod legend;
mod multipliers;
mod pairs;
mod plain;
pub(crate) mod question;
mod rule;
pub(crate) mod suite;
pub(crate) mod text;

pub(crate) use json::round;
pub use json::verdict_json;

use crate::text::Detail;
use crate::text::{MIN_WIDTH, Style};
use crate::text::{heading, wrap};
use fsarena_verdict::{QuestionView, Verdicts};

/// All verdicts of a RUN.
#[must_use]
pub fn verdict_tables(verdicts: &Verdicts, detail: Detail, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = heading(&headline::text(verdicts), width, style);
    for question in &verdicts.questions {
        out.push('\n');
        out.push_str(&question::table(verdicts, question, detail, width, style));
    }
    if let Some(view) = &verdicts.suite {
        out.push('\n');
        out.push_str(&suite::table(view, width, style));
    }
    out.push('\n');
    out.push_str(&rule::text(verdicts, width, style));
    out.push('\n');
    out.push_str(&wrap("", &legend::text(verdicts, detail), width));
    let has_more = verdicts.questions.iter().any(|question| !question.pairs.is_empty());
    if detail == Detail::Brief && has_more {
        out.push('\n');
        out.push_str(&wrap("", &the_rest(verdicts), width));
    }
    out
}

/// The answer to the question that stands first, in one sentence without line breaks.
#[must_use]
pub fn verdict_headline(verdicts: &Verdicts) -> String {
    crate::text::clean(&headline::text(verdicts))
}

/// Where that is printed which [`Detail::Brief`] leaves out.
fn the_rest(verdicts: &Verdicts) -> String {
    let questions = &verdicts.questions;
    let shortens = |question| pairs::listed(verdicts, question, Detail::Full).1 > 0;
    let option = if questions.iter().any(shortens) { " --all-pairs" } else { "" };
    let has_factors = questions.iter().any(|question| question.factors.is_some());
    let factors = if has_factors { " and what differences are due to" } else { "" };
    format!("fsarena study RUN{option} prints every pair{factors}.")
}

/// What is said of every pair of a question, in one sentence each.
pub(crate) fn sentences(verdicts: &Verdicts, question: &QuestionView) -> Vec<String> {
    question.pairs.iter().map(|pair| pairs::sentence(verdicts, question, pair)).collect()
}
