//! Tables of articles: made by columns, and going on in a further table where they do not fit.

use crate::render::text::in_parts;
use crate::table::{Column, Table};

/// A column: its heading and one cell a row.
pub(super) struct Values {
    pub(super) head: String,
    pub(super) cells: Vec<String>,
}

/// The columns behind the titles of their rows.
fn table(titles: &[String], columns: &[Values]) -> Table {
    let mut heads = vec![Column::text("")];
    heads.extend(columns.iter().map(|column| Column::figure(column.head.as_str()).narrow()));
    let mut table = Table::new(heads);
    for (at, title) in titles.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cells.get(at).cloned().unwrap_or_default());
        table.row(std::iter::once(title.clone()).chain(cells));
    }
    table
}

/// The columns in as few tables as fit, about as many in each.
pub(super) fn tables(titles: &[String], columns: &[Values], width: usize) -> String {
    grouped(titles, columns, 1, width)
}

/// As [`tables`]; columns that belong together, `group` at a time, stay so where they fit.
pub(super) fn grouped(titles: &[String], columns: &[Values], group: usize, width: usize) -> String {
    match columns {
        [] => String::new(),
        columns => in_parts(&table(titles, columns), group, width) + "\n",
    }
}
