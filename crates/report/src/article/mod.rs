//! Published studies in their own shape: what was printed, what their numbers give when they are
//! computed again, and the values of our machines beside them.
//!
//! Numbers and findings come from `fsarena-reference`, values of ours from a study; what is laid
//! out here is computed in neither place again. Printed numbers are shown as printed. A value of
//! ours that was not measured as the RUN asked, or not by all planned trials, is marked.

mod appendix;
mod beside;
mod blocks;
mod measured;
mod model;
mod ours;
mod published;

pub(crate) use beside::beside;
pub(crate) use model::{Beside, ThenAndNow};
pub use model::{OwnPhase, OwnRun};
pub(crate) use published::findings_table;

use crate::render::text::section;
use crate::section::{Block, Owner, Section};
use crate::text::{MIN_WIDTH, Style};
use crate::text::{clean, wrap};
use fsarena_reference::{Article, Shape};

/// An article: its tables, what they give when computed again and what becomes of its conclusions;
/// then the RUNs of ours, one a machine.
#[must_use]
pub fn article(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = section(&Section::new(published::tables(article)), width, style);
    let findings = published::findings(article, width, style);
    if !findings.is_empty() {
        out.push_str(&format!("\n{findings}"));
    }
    if !runs.is_empty() {
        out.push_str(&format!("\n{}", in_shape_of(article, phases, runs, width, style)));
    }
    if let Shape::Cycles { inference, .. } = &article.shape {
        let owner = Owner::named(blocks::INFERENCE);
        let list = Block::List(Some(owner), blocks::suggestions(inference, runs));
        out.push_str(&format!("\n{}", section(&Section::new(vec![list]), width, style)));
    }
    out
}

/// RUNs of ours alone, one a machine, in the shape of the article that they repeat.
#[must_use]
pub fn in_shape_of(
    article: &Article,
    phases: &[OwnPhase],
    runs: &[OwnRun<'_>],
    width: usize,
    style: Style,
) -> String {
    section(&own_section(article, phases, runs), width, style)
}

/// The same as a section.
pub(crate) fn own_section(article: &Article, phases: &[OwnPhase], runs: &[OwnRun<'_>]) -> Section {
    let mut own = match &article.shape {
        Shape::Cycles { .. } => {
            let tables = runs.iter().filter_map(blocks::table).map(Block::Table);
            Section::new(tables.collect()).legend(blocks::LEGEND)
        }
        Shape::Rates { tests, .. } | Shape::Contenders { tests } | Shape::Machines { tests } => {
            let ours = ours::Ours::new(article, tests, phases, runs);
            let mut blocks = ours.blocks();
            if ours.has_machines() {
                blocks.extend(appendix::every_trial(&ours));
            }
            Section::new(blocks)
        }
    };
    let mut notes: Vec<String> = runs.iter().flat_map(|run| run.notes).cloned().collect();
    if !notes.is_empty() {
        let mut known = std::collections::HashSet::new();
        notes.retain(|note| known.insert(note.clone()));
        own.blocks.push(Block::Heading("Ours, otherwise than the article".to_owned()));
        own.blocks.push(Block::List(None, notes));
    }
    own
}

/// The studies that are known (`reference` without a year).
#[must_use]
pub fn articles(list: &[(u16, &str)], width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    list.iter().map(|(year, title)| wrap(&format!("{year}  "), &clean(title), width)).collect()
}
