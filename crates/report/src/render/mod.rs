//! Tables and sections as text, Markdown, BBCode, HTML, LaTeX and CSV.
//!
//! Nothing here knows which sections there are, or computes a figure. In Markdown (GitHub's kind)
//! tables have all their columns, and no text becomes a link, a tag or a row of its own.

pub(crate) mod bbcode;
pub(crate) mod html;
pub(crate) mod latex;
pub(crate) mod text;

use crate::section::{Block, Section};
use crate::table::{Align, Cell, Column, Table, Tone};
use crate::text::{clean, escaped};
use fsarena_model::visible;
use std::fmt::Write as _;
use text::{Footnotes, annotated};

/// A table as CSV: RFC 4180 with line feeds; fields that need it are quoted, quotes are doubled.
/// What is missing is an empty field, and no text is changed. The headings, then a line a row.
pub(crate) fn csv(table: &Table) -> String {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let field = |cell: &Cell| match cell.tone {
        Tone::Missing => String::new(),
        Tone::Plain | Tone::Strong => cell.text.clone(),
    };
    let heads = table.columns.iter().map(|column| column.head.clone());
    let rows = table.rows.iter().map(|row| row.iter().map(field).collect());
    for line in std::iter::once(heads.collect::<Vec<_>>()).chain(rows) {
        writer
            .write_record(&line)
            .expect("memory takes what is written, and lines are equally long");
    }
    let bytes = writer.into_inner().expect("memory takes what is written");
    let text = String::from_utf8(bytes).expect("text was written");
    visible::lines(&text).into_owned()
}

/// A section under its title (level 2): its blocks, then how it is read.
pub(crate) fn markdown(title: &str, section: &Section) -> String {
    let mut out = format!("\n## {}\n", escaped(title));
    blocks(&mut out, &section.blocks);
    if !section.legend.is_empty() {
        let _ = write!(out, "\n{}\n", escaped(&section.legend));
    }
    out
}

/// Blocks in their order, without what pages alone have.
pub(crate) fn markdown_blocks(all: &[Block]) -> String {
    let mut out = String::new();
    blocks(&mut out, all);
    out
}

fn blocks(out: &mut String, all: &[Block]) {
    for block in all {
        match block {
            Block::Heading(title) => {
                let _ = write!(out, "\n### {}\n", escaped(title));
            }
            Block::Table(own) => markdown_table_with_notes(out, own),
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
            Block::Chart(..)
            | Block::Charts(_)
            | Block::Facts(_)
            | Block::Html(_)
            | Block::Unfolding(_) => {}
        }
    }
}

/// A table and its footnotes; nothing without rows.
fn markdown_table_with_notes(out: &mut String, table: &Table) {
    if table.is_empty() {
        return;
    }
    if table.is_titled {
        let _ = write!(out, "\n### {}\n", escaped(&table.caption));
    }
    let mut footnotes = Footnotes::default();
    let plain = annotated(table, &mut footnotes);
    let _ = write!(out, "\n{}", markdown_table(&plain));
    list(out, "", &footnotes.lines());
}

/// The table alone.
fn markdown_table(table: &Table) -> String {
    if table.is_turned {
        return markdown_table(&table.transposed());
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
fn list(out: &mut String, title: &str, items: &[String]) {
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
