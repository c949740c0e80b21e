//! Sections as BBCode, for forums: titles in bold, tables as text of even width in `[code]`, which
//! every forum has, unlike `[table]`. No text of a RUN becomes a tag or ends its table.

use super::text::table_with_notes;
use crate::section::{Block, Section};
use crate::table::Table;
use crate::text::clean;
use std::fmt::Write as _;

/// Columns of a table in a post.
const WIDTH: usize = 100;

/// A section under its title: its blocks, then how it is read.
pub(crate) fn section(title: &str, section: &Section) -> String {
    let mut out = format!("\n{}\n", self::title(title));
    blocks(&mut out, &section.blocks);
    if !section.legend.is_empty() {
        let _ = write!(out, "\n{}\n", escaped(&section.legend));
    }
    out
}

/// A title, a line of its own.
pub(crate) fn title(text: &str) -> String {
    format!("[b]{}[/b]", escaped(text))
}

/// Blocks in their order, without what pages alone have.
pub(crate) fn blocks_text(all: &[Block]) -> String {
    let mut out = String::new();
    blocks(&mut out, all);
    out
}

fn blocks(out: &mut String, all: &[Block]) {
    for block in all {
        match block {
            Block::Heading(title) => heading(out, title),
            Block::Table(own) => table(out, own),
            Block::Text(text) | Block::Note(text) | Block::Missing(text) => {
                let _ = write!(out, "\n{}\n", escaped(text));
            }
            Block::Warning(text) => {
                let _ = write!(out, "\n[b]Warning:[/b] {}\n", escaped(text));
            }
            Block::List(owner, items) if !items.is_empty() => {
                if let Some(owner) = owner {
                    heading(out, &owner.label);
                }
                let items: Vec<String> =
                    items.iter().map(|item| format!("[*]{}\n", escaped(item))).collect();
                let _ = write!(out, "\n[list]\n{}[/list]\n", items.concat());
            }
            Block::Fold(_, inner) => blocks(out, inner),
            Block::List(..)
            | Block::Chart(..)
            | Block::Charts(_)
            | Block::Facts(_)
            | Block::Html(_)
            | Block::Unfolding(_) => {}
        }
    }
}

fn heading(out: &mut String, text: &str) {
    let _ = write!(out, "\n[b]{}[/b]\n", escaped(text));
}

/// A table with its footnotes; nothing without rows.
fn table(out: &mut String, own: &Table) {
    if own.is_empty() {
        return;
    }
    if own.is_titled {
        heading(out, &own.caption);
    }
    // In `[code]` nothing is a tag but its end.
    let text = table_with_notes(own, WIDTH).replace("[/", "[ /");
    let _ = write!(out, "\n[code]\n{text}[/code]\n");
}

/// Text without a tag: forums have no common sign that escapes one, but none takes a space behind
/// its bracket. `[1.18, 1.29]` stays.
pub(crate) fn escaped(text: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut all = text.trim().chars().peekable();
    while let Some(c) = all.next() {
        out.push(c);
        if c == '[' && all.peek().is_some_and(|next| !next.is_ascii_digit() && *next != ' ') {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn no_text_becomes_a_tag_or_ends_a_table() {
        let mut own = Table::new([Column::text("name"), Column::figure("s")]).titled("t [b]");
        own.row(["x [/code][img]|", "1.5"]);
        let list = Block::List(None, vec!["[*] a [1.18, 1.29]".to_owned()]);
        let text = section("A [url=x]", &Section::new(vec![Block::Table(own), list]));
        assert!(text.contains("[b]A [ url=x][/b]") && text.contains("[b]t [ b][/b]"), "{text}");
        assert!(text.contains("x [ /code][img]|") && text.contains("[*][ *] a [1.18"), "{text}");
        assert_eq!(text.matches("[/code]").count(), 1, "{text}");
    }
}
