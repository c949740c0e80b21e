//! The table of the article that a RUN repeats, as its author made it, with the figures of this
//! RUN: rate and CPU load or seconds, by the clock of the article and by that of the RUN.

use super::phrases::Phrases;
use crate::context::SectionContext;
use crate::section::{Block, Section};
use crate::sections::then::view;

/// Nothing where the RUN repeats no article.
pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let Some(repeats) = context.run.article else { return Section::none() };
    let view = view(context, repeats);
    if view.ours.is_empty() && view.missing.is_empty() {
        return Section::none();
    }
    let mut blocks: Vec<Block> = view.ours.into_iter().map(Block::Table).collect();
    blocks.push(Block::Note(view.legend));
    if !view.missing.is_empty() {
        blocks.push(Block::Heading("Without a figure, and why".to_owned()));
        let lines = view.missing.iter().map(|one| one.line(|text| phrases.words(text)));
        blocks.push(Block::List(None, lines.collect()));
    }
    if !repeats.notes.is_empty() {
        blocks.push(Block::Heading("Ours, otherwise than the article".to_owned()));
        blocks.push(Block::List(None, repeats.notes.to_vec()));
    }
    Section::new(blocks)
}
