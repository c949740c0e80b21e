//! The tables of an article and those computed from them, and what becomes of its conclusions.

use super::layout::{self, Values};
use crate::style::Style;
use crate::text::heading;
use crate::text::{bold, wrap};
use fsarena_reference::{Article, Holds, Table};

/// All its tables, each with its notes.
pub(super) fn tables(article: &Article, width: usize, style: Style) -> String {
    let table =
        |table: &Table| format!("{}{}", heading(&table.title, width, style), body(table, width));
    article.tables.iter().map(table).collect()
}

fn body(table: &Table, width: usize) -> String {
    let titles: Vec<String> = table.rows.iter().map(|row| row.head.clone()).collect();
    let column = |(at, head): (usize, &String)| {
        let cell = |row: &fsarena_reference::Line| match row.cells.get(at) {
            Some(cell) if !cell.text.is_empty() => cell.text.clone(),
            _ => "-".to_owned(),
        };
        Values { head: head.clone(), cells: table.rows.iter().map(cell).collect() }
    };
    let columns: Vec<Values> = table.columns.iter().enumerate().map(column).collect();
    let mut out = layout::tables(&titles, &columns, width);
    for note in &table.notes {
        out.push_str(&wrap("", note, width));
        out.push('\n');
    }
    out
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
    for found in &article.findings {
        let mark = match found.holds {
            Holds::Holds => "HOLDS  ",
            Holds::Falls => "FALLS  ",
            Holds::CannotBeTold => "CANNOT BE TOLD  ",
        };
        let text = wrap(mark, &format!("{}.", found.claim), width);
        // Only the lines of the claim are bold, and whole lines only, so that wrapping is the same.
        for line in text.lines() {
            out.push_str(&bold(line, style.colour && found.holds == Holds::Falls));
            out.push('\n');
        }
        out.push_str(&wrap("    ", &format!("{}.", found.why), width));
    }
    out
}
