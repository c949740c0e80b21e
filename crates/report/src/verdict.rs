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

use crate::render;
use crate::section::{Block, Section};
use crate::text::{Detail, Style};
use fsarena_verdict::{QuestionView, Verdicts};

/// All verdicts of a RUN.
#[must_use]
pub fn verdict_tables(verdicts: &Verdicts, detail: Detail, width: usize, style: Style) -> String {
    render::text::section(&section(verdicts, detail, style), width, style)
}

/// The same as a section: the headline, a part a question, the rule, and how it is read.
pub(crate) fn section(verdicts: &Verdicts, detail: Detail, style: Style) -> Section {
    let mut blocks = vec![Block::Heading(headline::text(verdicts))];
    for question in &verdicts.questions {
        blocks.extend(question::blocks(verdicts, question, detail, style));
    }
    if let Some(view) = &verdicts.suite {
        let table = suite::grid(view).titled(suite::title(view));
        blocks.extend([Block::Table(table), Block::Note(suite::words(view))]);
    }
    blocks.extend(rule::section_blocks(verdicts));
    let has_more = verdicts.questions.iter().any(|question| !question.pairs.is_empty());
    blocks.push(Block::Text(legend::text(verdicts, detail)));
    if detail == Detail::Brief && has_more {
        blocks.push(Block::Text(the_rest(verdicts)));
    }
    Section::new(blocks)
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
