//! Tables and sections as Markdown (GitHub's kind), with all their columns. No text becomes a link,
//! a tag or a row of its own.

use crate::footnotes::Footnotes;
use crate::render::text::annotated;
use crate::section::{Block, Section};
use crate::table::{Align, Column, Table};
use crate::text::{clean, escaped};
use std::fmt::Write as _;

/// A section under its title (level 2): its blocks, then how it is read.
pub(crate) fn section(title: &str, section: &Section) -> String {
    let mut out = format!("\n## {}\n", escaped(title));
    blocks(&mut out, &section.blocks);
    if !section.legend.is_empty() {
        let _ = write!(out, "\n{}\n", escaped(&section.legend));
    }
    out
}

fn blocks(out: &mut String, all: &[Block]) {
    for block in all {
        match block {
            Block::Heading(title) => {
                let _ = write!(out, "\n### {}\n", escaped(title));
            }
            Block::Table(own) => table_with_notes(out, own),
            Block::Text(text) | Block::Note(text) | Block::Missing(text) => {
                let _ = write!(out, "\n{}\n", escaped(text));
            }
            Block::Warning(text) => {
                let _ = write!(out, "\n**Warning:** {}\n", escaped(text));
            }
            Block::List(owner, items) => {
                list(out, owner.as_ref().map_or("", |owner| &owner.label), items);
            }
            Block::Fold(_, inner) => blocks(out, inner),
            Block::Chart(..) | Block::Charts(_) | Block::Facts(_) | Block::Page(..) => {}
        }
    }
}

/// A table and its footnotes; nothing without rows.
pub(crate) fn table_with_notes(out: &mut String, table: &Table) {
    if table.is_empty() {
        return;
    }
    if table.is_titled {
        let _ = write!(out, "\n### {}\n", escaped(&table.caption));
    }
    let mut footnotes = Footnotes::default();
    let plain = annotated(table, &mut footnotes);
    let _ = write!(out, "\n{}", self::table(&plain));
    list(out, "", &footnotes.lines());
}

/// The table alone.
pub(crate) fn table(table: &Table) -> String {
    if table.is_turned {
        return self::table(&table.transposed());
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let shown = |text: &str| match clean(text) {
        text if text.is_empty() => " ".to_owned(),
        text => escaped(&text),
    };
    let side = |column: &Column| match column.align {
        Align::Text | Align::Code => ":--".to_owned(),
        Align::Figure => "--:".to_owned(),
    };
    let heads = table.columns.iter().map(|column| shown(&column.head_with_unit()));
    let mut out = line(heads.collect());
    out.push_str(&line(table.columns.iter().map(side).collect()));
    for row in &table.rows {
        out.push_str(&line(row.iter().map(|cell| shown(&cell.text)).collect()));
    }
    out
}

/// A title and a list; nothing without items.
pub(crate) fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    match title {
        "" => out.push('\n'),
        title => {
            let _ = write!(out, "\n{}:\n\n", escaped(title));
        }
    }
    for item in items {
        let _ = writeln!(out, "- {}", escaped(item));
    }
}
