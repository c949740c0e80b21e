//! Verdicts as text and as JSON: the headline in one sentence, a ranking a question, pairs in
//! words, what the watchers saw, what differences are due to, the rule, and once how all that is
//! read.
//!
//! Nothing is decided here. A line that says FASTER, SLOWER, SAME or UNDECIDED says the number of
//! blocks, the interval and the margin too.

use crate::format::count;
pub(crate) mod question;
pub(crate) mod rule;
pub(crate) mod sentences;
pub(crate) mod text;

use crate::render;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::{Detail, Style};
use fsarena_verdict::{QuestionView, SuiteView, Verdicts};
use sentences::{headline, listed_pairs, pair_sentence};
use text::ratio_and_interval;

/// All verdicts of a RUN, and what they hold for.
#[must_use]
pub fn verdict_tables(verdicts: &Verdicts, detail: Detail, width: usize, style: Style) -> String {
    let mut section = section(verdicts, detail, style);
    section.blocks.extend(rule::scope_sentence(verdicts).map(Block::Text));
    render::text::section(&section, width, style)
}

/// The same as a section: the headline, a part a question, the rule, and how it is read.
pub(crate) fn section(verdicts: &Verdicts, detail: Detail, style: Style) -> Section {
    let mut blocks = vec![Block::Heading(headline(verdicts))];
    for question in &verdicts.questions {
        blocks.extend(question::question_blocks(verdicts, question, detail, style));
    }
    if let Some(view) = &verdicts.suite {
        let table = suite_table(view).titled(suite_title(view));
        blocks.extend([Block::Table(table), Block::Note(suite_words(view))]);
    }
    let everywhere = question::excluded_everywhere(verdicts);
    let everywhere = everywhere.into_iter().map(question::excluded).collect();
    blocks.push(question::list("Excluded from all of these", everywhere));
    blocks.extend(rule::section_blocks(verdicts));
    let has_more = verdicts.questions.iter().any(|question| !question.pairs.is_empty());
    blocks.push(Block::Text(rule::legend(verdicts, detail)));
    if detail == Detail::Brief && has_more {
        blocks.push(Block::Text(the_rest(verdicts)));
    }
    Section::new(blocks)
}

/// The answer to the question that stands first, in one sentence without line breaks.
#[must_use]
pub fn verdict_headline(verdicts: &Verdicts) -> String {
    crate::text::clean(&headline(verdicts))
}

/// Where that is printed which [`Detail::Brief`] leaves out.
fn the_rest(verdicts: &Verdicts) -> String {
    let questions = &verdicts.questions;
    let shortens = |question| listed_pairs(verdicts, question, Detail::Full).1 > 0;
    let option = if questions.iter().any(shortens) { " --all-pairs" } else { "" };
    let has_factors = questions.iter().any(|question| question.factors.is_some());
    let factors = if has_factors { " and what differences are due to" } else { "" };
    format!("fsarena study RUN{option} prints every pair{factors}.")
}

/// What is said of every pair of a question, in one sentence each.
pub(crate) fn pair_sentences(verdicts: &Verdicts, question: &QuestionView) -> Vec<String> {
    question.pairs.iter().map(|pair| pair_sentence(verdicts, question, pair)).collect()
}

/// Over what, and to what.
fn suite_title(view: &SuiteView) -> String {
    let questions = count(view.over.len(), "workload");
    format!("Over {questions}: geometric mean of the ratios to {}", view.reference)
}

/// One row a contender.
pub(crate) fn suite_table(view: &SuiteView) -> Table {
    let mut table = Table::new([
        Column::text("contender"),
        Column::figure("ratio"),
        Column::figure("these workloads").narrow(),
        Column::figure("workloads like these").narrow(),
        Column::figure("FASTER"),
        Column::figure("SLOWER"),
        Column::figure("SAME"),
        Column::figure("UNDECIDED"),
    ])
    .caption(format!("{}; below 1 is better", suite_title(view)))
    .sortable();
    for row in &view.rows {
        let (ratio, these) = ratio_and_interval(Some(row.ratio), row.low, row.high);
        let (_, like_these) =
            ratio_and_interval(Some(row.ratio), row.like_these_low, row.like_these_high);
        table.row([
            Cell::contender(row.contender, row.label.as_str()),
            Cell::figure(ratio, row.ratio),
            Cell::maybe(these.zip(row.low)),
            Cell::maybe(like_these.zip(row.like_these_low)),
            Cell::count(row.wins),
            Cell::count(row.losses),
            Cell::count(row.same),
            Cell::count(row.undecided),
        ]);
    }
    table
}

/// How the table is read.
pub(crate) fn suite_words(view: &SuiteView) -> String {
    format!(
        "Over: {}. Two intervals, plain 95 %: for these very workloads, from their blocks; and \
         for workloads like these, from the spread among them (three at least). FASTER to \
         UNDECIDED: pairs that were asked, over all questions. The mean itself has no verdict.",
        view.over.join(", ")
    )
}
