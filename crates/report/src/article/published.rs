//! The tables of an article and those computed from them, and what becomes of its conclusions.

use crate::section::Block;
use crate::table::{Cell, Column, Table};
use crate::text::Style;
use crate::text::{bold, heading, wrap};
use fsarena_reference::{Article, Holds, RULE};

/// All its tables, each with its notes.
pub(super) fn tables(article: &Article) -> Vec<Block> {
    article.tables.iter().flat_map(with_notes).collect()
}

/// The table that it is about, and the others.
pub(super) fn main_and_others(article: &Article) -> (Vec<Block>, Vec<Block>) {
    let main = article.tables.get(article.main_table).map_or_else(Vec::new, with_notes);
    let others = article.tables.iter().enumerate().filter(|(at, _)| *at != article.main_table);
    (main, others.flat_map(|(_, table)| with_notes(table)).collect())
}

fn with_notes(printed: &fsarena_reference::Table) -> Vec<Block> {
    let notes = printed.notes.iter().cloned().map(Block::Note);
    std::iter::once(Block::Table(table(printed))).chain(notes).collect()
}

/// A table of an article, printed or computed.
fn table(printed: &fsarena_reference::Table) -> Table {
    let heads = printed.columns.iter().map(|head| Column::figure(head.as_str()).narrow());
    let columns: Vec<Column> = std::iter::once(Column::text("")).chain(heads).collect();
    let mut table = Table::new(columns).titled(printed.title.as_str()).in_groups(1);
    for row in &printed.rows {
        let cells = row.cells.iter().map(|cell| match cell.text.as_str() {
            "" => Cell::none(),
            text => Cell::text(text),
        });
        table.row(std::iter::once(Cell::text(row.head.as_str())).chain(cells));
    }
    table
}

/// What it concludes, each with what becomes of it and why.
pub(super) fn findings(article: &Article, width: usize, style: Style) -> String {
    if article.findings.is_empty() {
        return String::new();
    }
    let of = |holds| article.findings.iter().filter(|found| found.holds == holds).count();
    let title = format!(
        "What becomes of its conclusions: {} hold, {} fall, {} cannot be told",
        of(Holds::Holds),
        of(Holds::Falls),
        of(Holds::CannotBeTold)
    );
    let mut out = heading(&title, width, style);
    out.push_str(&wrap("", RULE, width));
    for found in &article.findings {
        let mark = format!("{}  ", found.holds.name().to_uppercase());
        let text = wrap(&mark, &format!("{}.", found.claim), width);
        // Only the lines of the claim are bold, and whole lines only, so that wrapping is the same.
        for line in text.lines() {
            out.push_str(&bold(line, style.colour && found.holds == Holds::Falls));
            out.push('\n');
        }
        out.push_str(&wrap("    ", &format!("{}.", found.why), width));
    }
    out
}

/// The same as a table.
pub(crate) fn findings_table(article: &Article) -> Table {
    let columns = ["what it concludes", "holds?", "why"].map(Column::text);
    let mut table = Table::new(columns).caption("Its conclusions, held against its own numbers");
    for found in &article.findings {
        let word = match found.holds {
            Holds::Falls => "FALLS",
            holds => holds.name(),
        };
        table.row([found.claim, word, &found.why]);
    }
    table
}
