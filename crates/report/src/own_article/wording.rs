//! Every text of an article through the table of its language: headings, captions, cells, their
//! footnotes, sentences and charts, whoever wrote them.

use super::phrases::Phrases;
use crate::section::{Block, Owner, Section};
use crate::table::{Align, Cell, Table};
use fsarena_chart::{Axis, Bar, Bars, Group, Groups, Head, Heat, Key, Part};

/// A section in the words of a language.
pub(super) fn section(section: Section, phrases: &dyn Phrases) -> Section {
    let legend = phrases.words(&section.legend);
    let blocks = section.blocks.into_iter().map(|own| block(own, phrases)).collect();
    Section { legend, blocks }
}

fn block(own: Block, phrases: &dyn Phrases) -> Block {
    let words = |text: String| phrases.words(&text);
    let all = |texts: Vec<String>| texts.into_iter().map(words).collect();
    match own {
        Block::Heading(text) => Block::Heading(words(text)),
        Block::Text(text) => Block::Text(words(text)),
        Block::Note(text) => Block::Note(words(text)),
        Block::Warning(text) => Block::Warning(words(text)),
        Block::Missing(text) => Block::Missing(words(text)),
        Block::List(owner, items) => {
            let owner = owner.map(|own| Owner { label: words(own.label), ..own });
            Block::List(owner, all(items))
        }
        Block::Table(own) => Block::Table(table(own, phrases)),
        Block::Chart(svg, caption) => {
            Block::Chart(svg.with_texts(|text| phrases.words(text)), words(caption))
        }
        Block::Fold(summary, blocks) => {
            let blocks = blocks.into_iter().map(|own| block(own, phrases)).collect();
            Block::Fold(words(summary), blocks)
        }
        // An article has none of these.
        other => other,
    }
}

/// Commands and options stay as they are typed.
fn table(own: Table, phrases: &dyn Phrases) -> Table {
    let aligns: Vec<Align> = own.columns.iter().map(|column| column.align).collect();
    let mut own = own;
    own.caption = phrases.words(&own.caption);
    for column in &mut own.columns {
        column.head = phrases.words(&column.head);
        column.unit = phrases.figure(&column.unit);
    }
    for row in &mut own.rows {
        for (cell, align) in row.iter_mut().zip(&aligns) {
            let Cell { text, notes, .. } = cell;
            if *align != Align::Code {
                *text = phrases.words(text);
            }
            notes.iter_mut().for_each(|note| *note = phrases.words(note));
        }
    }
    own
}

// Charts before they are drawn: what is laid out by its width.

/// A heat map in the words of a language.
pub(super) fn heat(own: Heat, phrases: &dyn Phrases) -> Heat {
    let words = |text: &String| phrases.words(text);
    let columns = own.columns.iter().map(words).collect();
    Heat { head: head(own.head, phrases), columns, legend: words(&own.legend), ..own }
}

/// Bars in the words of a language.
pub(super) fn bars(own: Bars, phrases: &dyn Phrases) -> Bars {
    let bar = |bar: Bar| {
        let key = Key { label: phrases.words(&bar.key.label), ..bar.key };
        let note: Vec<String> = bar.note.split(", ").map(|part| phrases.words(part)).collect();
        Bar { key, note: note.join(", "), ..bar }
    };
    let bars = own.bars.into_iter().map(bar).collect();
    Bars { head: head(own.head, phrases), axis: axis(own.axis, phrases), bars }
}

/// Groups of bars in the words of a language.
pub(super) fn groups(own: Groups, phrases: &dyn Phrases) -> Groups {
    let part = |part: Part| {
        let key = Key { label: phrases.words(&part.key.label), ..part.key };
        Part { key, ..part }
    };
    let group = |group: Group| Group {
        label: phrases.words(&group.label),
        parts: group.parts.into_iter().map(part).collect(),
    };
    let groups = own.groups.into_iter().map(group).collect();
    Groups { head: head(own.head, phrases), axis: axis(own.axis, phrases), groups }
}

fn head(own: Head, phrases: &dyn Phrases) -> Head {
    let title = phrases.words(&own.title);
    Head { title, description: phrases.words(&own.description), ..own }
}

fn axis(own: Axis, phrases: &dyn Phrases) -> Axis {
    let title = phrases.words(&own.title);
    Axis { title, unit: phrases.words(&own.unit), ..own }
}
