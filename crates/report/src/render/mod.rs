//! Tables and sections as text, Markdown, HTML and CSV.
//!
//! Nothing here knows which sections there are, or computes a figure.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod text;

use crate::table::{Cell, Table, Tone};

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
    String::from_utf8(bytes).expect("text was written")
}
