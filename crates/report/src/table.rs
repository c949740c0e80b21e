//! A table as it is made once, for text, Markdown and HTML: columns with their units, rows of cells
//! with what they are sorted by, and the footnotes of cells.
//!
//! Knows nothing of how it is shown (`render/`) and of what it shows (`sections/`).

use crate::format::{bytes, ns};

/// How the cells of a column are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    /// Words, to the left; wrapped where there is no room.
    Text,
    /// Figures, to the right.
    Figure,
    /// Commands and options: as words, in a typewriter face where there is one.
    Code,
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub(crate) head: String,
    /// Unit of all its cells; empty where each cell has its own or none.
    pub(crate) unit: String,
    pub(crate) align: Align,
    /// Left out of text that is too wide, the highest first; 0 is never left out.
    pub(crate) priority: u8,
    /// Whether text may break the heading between words.
    pub(crate) is_narrow: bool,
}

impl Column {
    fn new(head: impl Into<String>, align: Align) -> Self {
        let (head, unit) = (head.into(), String::new());
        Self { head, unit, align, priority: 0, is_narrow: false }
    }

    /// Of words.
    pub(crate) fn text(head: impl Into<String>) -> Self {
        Self::new(head, Align::Text)
    }

    /// Of figures.
    pub(crate) fn figure(head: impl Into<String>) -> Self {
        Self::new(head, Align::Figure)
    }

    /// Of commands and options.
    pub(crate) fn code(head: impl Into<String>) -> Self {
        Self::new(head, Align::Code)
    }

    /// The unit of its cells, shown with the heading.
    pub(crate) fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: unit.into(), ..self }
    }

    /// Left out of text where there is no room, the highest number first.
    pub(crate) fn optional(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Its heading may be broken between words.
    pub(crate) fn narrow(self) -> Self {
        Self { is_narrow: true, ..self }
    }

    /// `work, s`.
    pub(crate) fn head_with_unit(&self) -> String {
        match self.unit.as_str() {
            "" => self.head.clone(),
            unit => format!("{}, {unit}", self.head),
        }
    }
}

/// How much a cell stands out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// Not to be overlooked.
    Strong,
    /// Nothing was measured.
    Missing,
}

/// A cell.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// What it is sorted by; absent where that is its text.
    pub(crate) value: Option<f64>,
    pub(crate) tone: Tone,
    /// Index into the plan's contenders, where it names one: it is shown in that one's colour.
    pub(crate) contender: Option<usize>,
    /// What has to be said with it, below the table.
    pub(crate) notes: Vec<String>,
}

impl Cell {
    /// Words; a dash is a missing value.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        match text.into() {
            text if text == "-" => Self::none(),
            text => Self { text, ..Self::default() },
        }
    }

    /// Words as they are, a dash too.
    pub(crate) fn exact(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A figure as it is written, and what it is sorted by.
    pub(crate) fn figure(text: impl Into<String>, value: f64) -> Self {
        Self { value: value.is_finite().then_some(value), ..Self::text(text) }
    }

    /// A whole number.
    pub(crate) fn count(n: usize) -> Self {
        Self::figure(n.to_string(), n as f64)
    }

    /// A figure, or a dash.
    pub(crate) fn maybe(figure: Option<(String, f64)>) -> Self {
        figure.map_or_else(Self::none, |(text, value)| Self::figure(text, value))
    }

    /// Words, or a dash.
    pub(crate) fn known(text: Option<&String>) -> Self {
        text.map_or_else(Self::none, Self::text)
    }

    /// A size, or a dash.
    pub(crate) fn bytes(value: Option<u64>) -> Self {
        Self::maybe(value.map(|own| (bytes(Some(own)), own as f64)))
    }

    /// A length in the unit that suits it, or a dash.
    pub(crate) fn ns(value: Option<u64>) -> Self {
        Self::maybe(value.map(|own| (ns(Some(own)), own as f64)))
    }

    /// A quotient, or a dash.
    pub(crate) fn quotient(value: Option<f64>) -> Self {
        Self::maybe(value.map(|own| (format!("{own:.2}"), own)))
    }

    /// Nothing was measured: a dash, last when sorted.
    pub(crate) fn none() -> Self {
        Self { text: "-".to_owned(), tone: Tone::Missing, ..Self::default() }
    }

    /// A contender by its label; `contender` is its index in the plan.
    pub(crate) fn contender(contender: usize, label: impl Into<String>) -> Self {
        Self { contender: Some(contender), ..Self::text(label) }
    }

    /// The same, not to be overlooked.
    pub(crate) fn strong(self) -> Self {
        Self { tone: Tone::Strong, ..self }
    }

    /// The same with footnotes.
    pub(crate) fn notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A table. The first cell of a row is its heading.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// What is shown; it names the table where there is no heading above it.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// As many cells as columns in each.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Whether a reader may sort it by its headings.
    pub(crate) is_sortable: bool,
    /// Whether text and Markdown show a row as a column: of few rows with many figures each.
    pub(crate) is_turned: bool,
    /// Whether text and Markdown show the caption above it.
    pub(crate) is_titled: bool,
    /// How many columns stay together where text goes on in a further table; 0 where it leaves
    /// columns out instead.
    pub(crate) group: usize,
    /// Further columns that stand in each of these tables, behind the first.
    pub(crate) lead: usize,
}

impl Table {
    /// Without rows yet.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), ..Self::default() }
    }

    /// With the words that name it on a page.
    pub(crate) fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Lets a reader sort it.
    pub(crate) fn sortable(self) -> Self {
        Self { is_sortable: true, ..self }
    }

    /// Shown in text and Markdown with a column for each row.
    pub(crate) fn turned(self) -> Self {
        Self { is_turned: true, ..self }
    }

    /// With its caption above it, in text and Markdown too.
    pub(crate) fn titled(self, caption: impl Into<String>) -> Self {
        Self { is_titled: true, ..self.caption(caption) }
    }

    /// Text goes on in a further table where there is no room, `group` columns together.
    pub(crate) fn in_groups(self, group: usize) -> Self {
        Self { group, ..self }
    }

    /// The first `count` columns stand in each of these tables.
    pub(crate) fn leading(self, count: usize) -> Self {
        Self { lead: count.saturating_sub(1), ..self }
    }

    /// Rows as columns: the headings of the columns become those of the rows.
    pub(crate) fn transposed(&self) -> Self {
        let mut columns = vec![Column::text("")];
        columns.extend(self.rows.iter().map(|row| Column::figure(row[0].text.as_str()).narrow()));
        let mut other = Self { columns, rows: Vec::new(), is_turned: false, ..self.clone() };
        for (at, column) in self.columns.iter().enumerate().skip(1) {
            let cells = self.rows.iter().map(|row| row[at].clone());
            other.row(std::iter::once(Cell::text(column.head_with_unit())).chain(cells));
        }
        other
    }

    /// Adds a row; missing cells at its end are empty.
    pub(crate) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        debug_assert!(cells.len() <= self.columns.len(), "{}", self.caption);
        cells.resize(self.columns.len(), Cell::default());
        self.rows.push(cells);
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Without the columns, but the first, in which no row has anything.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let says = |cell: &Cell| cell.tone != Tone::Missing && !cell.text.is_empty();
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|at| at == 0 || self.rows.iter().any(|row| says(&row[at])))
            .collect();
        let mut at = kept.iter();
        self.columns.retain(|_| *at.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut at = kept.iter();
            row.retain(|_| *at.next().unwrap_or(&true));
        }
        self
    }
}
