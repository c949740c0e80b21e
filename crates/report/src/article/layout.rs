//! Tables whose columns continue in a further table where they do not fit.

use crate::table::{Grid, Kind};
use crate::text::{clean, width_of};

/// A column: its heading and one cell a row.
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) cells: Vec<String>,
}

/// Columns that the titles of rows take, at least.
const TITLE_COLUMNS: usize = 24;

/// The columns in as few tables as fit, about as many in each.
pub(crate) fn tables(titles: &[String], columns: &[Column], width: usize) -> String {
    grouped(titles, columns, 1, width)
}

/// As [`tables`]; columns that belong together, `group` at a time, stay so where they fit.
pub(super) fn grouped(titles: &[String], columns: &[Column], group: usize, width: usize) -> String {
    let of = |column: &Column| {
        let head = clean(&column.head);
        let words = head.split_whitespace().chain(column.cells.iter().map(String::as_str));
        words.map(width_of).max().unwrap_or(0) + 2
    };
    let widest = columns.iter().map(of).max().unwrap_or(1);
    let most = ((width - TITLE_COLUMNS) / widest).max(1);
    let group = if group <= most { group.max(1) } else { 1 };
    let groups = columns.len().div_ceil(group);
    let parts = groups.div_ceil(most / group).max(1);
    let each = groups.div_ceil(parts).max(1) * group;
    let mut out = String::new();
    for part in columns.chunks(each) {
        let mut heads = vec![("", Kind::Text)];
        heads.extend(part.iter().map(|c| (c.head.as_str(), Kind::Narrow)));
        let mut grid = Grid::new(&heads);
        for (at, title) in titles.iter().enumerate() {
            let mut cells = vec![clean(title)];
            cells.extend(part.iter().map(|c| c.cells.get(at).cloned().unwrap_or_default()));
            grid.row(cells);
        }
        out.push_str(&grid.render(width));
        out.push('\n');
    }
    out
}
