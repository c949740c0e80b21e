//! A table that never exceeds its width: columns that are only nice to have are left out, then the
//! columns of text are wrapped.

use crate::style::MIN_WIDTH;
use crate::text::escaped;
use crate::text::{clean, width_of};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, Table,
    TableStyle, Width,
};

/// Columns between two columns.
const GAP: usize = 2;
/// A column of text is not wrapped to less.
const MIN_TEXT: usize = 10;

/// How a column is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Left-aligned, wrapped where it must be.
    Text,
    /// Right-aligned.
    Figure,
    /// Right-aligned under a heading that may be broken between words.
    Narrow,
    /// Right-aligned; left out where there is no room, the highest number first.
    Optional(u8),
    /// As [`Kind::Optional`], left-aligned.
    OptionalText(u8),
}

/// A table under construction.
pub(crate) struct Grid {
    columns: Vec<(String, Kind)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&str, Kind)]) -> Self {
        let columns = columns.iter().map(|&(name, kind)| (clean(name), kind)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; missing cells at its end are empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let mut cells: Vec<String> = cells.iter().map(|cell| clean(cell)).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as lines of at most `width` columns, each ending in a line break.
    pub(crate) fn render(&self, width: usize) -> String {
        let width = width.max(MIN_WIDTH);
        let natural: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let (kept, widths) = fit(&self.columns, &natural, width);
        let mut table = Table::new();
        table.load_style(
            TableStyle::new()
                .header_lines(ContentLineStyle::none())
                .header_separator(LineStyle::none().fill('-'))
                .content_lines(ContentLineStyle::none()),
        );
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        table.set_header(kept.iter().map(|&at| self.columns[at].0.clone()).collect::<Vec<_>>());
        for row in &self.rows {
            table.add_row(kept.iter().map(|&at| row[at].clone()).collect::<Vec<_>>());
        }
        let last = kept.len().saturating_sub(1);
        for (place, (&at, &columns)) in kept.iter().zip(&widths).enumerate() {
            let gap = if place == last { 0 } else { GAP };
            let Some(column) = table.column_mut(place) else { continue };
            column.set_padding((0, u16::try_from(gap).unwrap_or(0)));
            let total = u16::try_from(columns + gap).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(total)));
            if !matches!(self.columns[at].1, Kind::Text | Kind::OptionalText(_)) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut out = String::new();
        for line in table.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The table as Markdown, with all its columns.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let shown = |text: &String| if text.is_empty() { " ".to_owned() } else { escaped(text) };
        let mut out = line(self.columns.iter().map(|(name, _)| shown(name)).collect());
        let side = |kind: Kind| match kind {
            Kind::Text | Kind::OptionalText(_) => ":--".to_owned(),
            Kind::Figure | Kind::Narrow | Kind::Optional(_) => "--:".to_owned(),
        };
        out.push_str(&line(self.columns.iter().map(|&(_, kind)| side(kind)).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(shown).collect()));
        }
        out
    }

    /// Whether a column has a place at this width.
    pub(crate) fn shows(&self, name: &str, width: usize) -> bool {
        let natural: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let (kept, _) = fit(&self.columns, &natural, width.max(MIN_WIDTH));
        kept.iter().any(|&at| self.columns[at].0 == name)
    }

    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().map(|row| width_of(&row[at]));
        let (head, kind) = &self.columns[at];
        let head = match kind {
            Kind::Narrow => head.split_whitespace().map(width_of).max().unwrap_or(0),
            _ => width_of(head),
        };
        cells.chain([head]).max().unwrap_or(0).max(1)
    }
}

/// Which columns are shown, and how wide each is.
fn fit(columns: &[(String, Kind)], natural: &[usize], width: usize) -> (Vec<usize>, Vec<usize>) {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let least = |at: &usize| match columns[*at].1 {
        Kind::Text => natural[*at].min(24),
        _ => natural[*at],
    };
    let total = |kept: &[usize], of: &dyn Fn(&usize) -> usize| {
        kept.iter().map(of).sum::<usize>() + GAP * kept.len().saturating_sub(1)
    };
    while total(&kept, &least) > width {
        let rank = |at: usize| match columns[at].1 {
            Kind::Optional(rank) | Kind::OptionalText(rank) => rank,
            _ => 0,
        };
        match kept.iter().copied().max_by_key(|&at| rank(at)).filter(|&at| rank(at) > 0) {
            Some(out) => kept.retain(|&at| at != out),
            None => break,
        }
    }
    let mut widths: Vec<usize> = kept.iter().map(|&at| natural[at]).collect();
    // Text gives way first, the widest first; figures only where nothing else is left.
    for (kind_is_text, floor) in [(true, MIN_TEXT), (false, 4), (true, 4)] {
        while widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) > width {
            let may = |place: usize| (columns[kept[place]].1 == Kind::Text) == kind_is_text;
            let widest = (0..widths.len())
                .filter(|&p| may(p) && widths[p] > floor)
                .max_by_key(|&p| widths[p]);
            match widest {
                Some(place) => widths[place] -= 1,
                None => break,
            }
        }
    }
    (kept, widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_that_are_nice_to_have_go_first() {
        let mut grid = Grid::new(&[
            ("name", Kind::Text),
            ("rate", Kind::Figure),
            ("less", Kind::Optional(2)),
            ("more", Kind::Optional(1)),
        ]);
        let wide = "x".repeat(25);
        grid.row(vec!["ext4".to_owned(), "1".to_owned(), wide.clone(), wide.clone()]);
        assert!(grid.render(80).contains("less"));
        grid.row(vec!["n".repeat(60), "1".to_owned(), wide.clone(), wide]);
        let text = grid.render(80);
        assert!(text.contains("more") && !text.contains("less"), "{text}");
    }

    proptest! {
        #[test]
        fn never_wider_than_asked(
            rows in proptest::collection::vec(
                proptest::collection::vec(".{0,40}", 8), 0..6),
            width in 80usize..200,
        ) {
            let mut grid = Grid::new(&[
                ("file system", Kind::Text),
                ("rate", Kind::Figure),
                ("CPU", Kind::Figure),
                ("a", Kind::Figure),
                ("b", Kind::Figure),
                ("n", Kind::Figure),
                ("c", Kind::Optional(1)),
                ("d", Kind::Optional(2)),
            ]);
            for row in rows {
                grid.row(row);
            }
            for line in grid.render(width).lines() {
                prop_assert!(width_of(line) <= width, "{} > {width}: {line:?}", width_of(line));
            }
        }
    }
}
