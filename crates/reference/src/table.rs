//! A table of an article, printed or computed: headings, rows, cells with their numbers.

use crate::figures::Interval;
use serde::Serialize;

/// A test of an article: a column of a table of seconds, or a row of one of rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Test {
    /// Name in the data, and title of the experiment's row that repeats it.
    pub name: &'static str,
    pub heading: &'static str,
    /// `s`, `KB/s` (1024 bytes) or `files/s`.
    pub unit: &'static str,
}

impl Test {
    pub(crate) const fn seconds(name: &'static str, heading: &'static str) -> Self {
        Self { name, heading, unit: "s" }
    }

    /// The heading, with a unit that is not that of the whole table.
    #[must_use]
    pub fn head(&self) -> String {
        match self.unit {
            "s" => self.heading.to_owned(),
            unit => format!("{}, {unit}", self.heading),
        }
    }
}

/// A rate with the CPU load of the whole machine, `127.03 / 95.83`; files per second without
/// decimals, as published.
#[must_use]
pub fn rate_text(unit: &str, value: f64, cpu_percent: Option<f64>) -> String {
    let value = if unit == "files/s" { format!("{value:.0}") } else { format!("{value:.2}") };
    let cpu = cpu_percent.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.2}"));
    let cpu =
        if cpu.contains('.') { cpu.trim_end_matches('0').trim_end_matches('.') } else { &cpu };
    format!("{value} / {cpu}")
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Table {
    pub title: String,
    /// `s`, `mm:ss`, `MB/s`, `rate`, or empty for ratios.
    pub unit: &'static str,
    /// Headings of the columns.
    pub columns: Vec<String>,
    pub rows: Vec<Line>,
    /// What has to be said below it.
    pub notes: Vec<String>,
}

/// A row of a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// What the row is.
    pub head: String,
    /// One cell a column.
    pub cells: Vec<Cell>,
}

/// A cell: a printed number, a computed one, or both.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Cell {
    /// As it is shown: as printed; `printed → computed` where the two disagree.
    pub text: String,
    /// The number as printed.
    pub printed: Option<f64>,
    /// The number as computed.
    pub computed: Option<f64>,
    /// Lowest that the computed number can be, or the lowest of several.
    pub low: Option<f64>,
    /// Highest that it can be, or the highest of several.
    pub high: Option<f64>,
    /// Whether the computed number is not the printed one, at the precision of the print.
    pub disagrees: bool,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(title: &str, unit: &'static str, columns: Vec<String>) -> Self {
        let title = title.to_owned();
        Self { title, unit, columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// With a row more.
    pub(crate) fn row(&mut self, head: impl Into<String>, cells: Vec<Cell>) {
        self.rows.push(Line { head: head.into(), cells });
    }

    /// With a note more.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether every row has a cell for every column.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.cells.len() == self.columns.len())
    }

    /// Cells whose computed number is not the printed one.
    #[must_use]
    pub fn disagreements(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.disagrees).count()
    }
}

impl Cell {
    /// A number as printed, in the words of the print.
    pub(crate) fn printed(value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), printed: Some(value), ..Self::default() }
    }

    /// A number as printed with the one that it should have been.
    pub(crate) fn both(printed: f64, computed: f64, decimals: usize) -> Self {
        let disagrees = differs(printed, computed, decimals);
        let mut text = format!("{printed:.decimals$}");
        if disagrees {
            text.push_str(&format!(" → {computed:.decimals$}"));
        }
        let (printed, computed) = (Some(printed), Some(computed));
        Self { text, printed, computed, disagrees, ..Self::default() }
    }

    /// A computed number with its bounds.
    pub(crate) fn within(of: Interval, decimals: usize) -> Self {
        let mut text = format!("{:.decimals$}", of.value);
        if of.high.is_infinite() {
            text.push_str(&format!(" (from {:.decimals$})", of.low));
        } else if of.low < of.high {
            text.push_str(&format!(" ({:.decimals$}-{:.decimals$})", of.low, of.high));
        }
        Self {
            text,
            computed: Some(of.value),
            low: Some(of.low),
            high: Some(of.high).filter(|high| high.is_finite()),
            ..Self::default()
        }
    }
}

/// Headings of the columns of these tests.
pub(crate) fn headings(tests: &[Test]) -> Vec<String> {
    tests.iter().map(|test| test.heading.to_owned()).collect()
}

/// Tests by their places in the list, each with its number: `iso copied 2.38 (2.00-2.86), …`.
pub(crate) fn listed(tests: &[Test], at: &[usize], of: impl Fn(usize) -> Interval) -> String {
    let one = |&at: &usize| format!("{} {}", tests[at].heading.to_lowercase(), of(at).text());
    at.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether a number, rounded to these decimals in either direction, is not the printed one.
pub(crate) fn differs(printed: f64, computed: f64, decimals: usize) -> bool {
    let half = 0.5 / 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    (printed - computed).abs() > half + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_computed_number_only_where_it_disagrees() {
        assert_eq!(Cell::both(28.5, 83.0 / 3.0, 1).text, "28.5 → 27.7");
        assert_eq!(Cell::both(55.0, 55.04, 1).text, "55.0");
        assert!(!differs(0.88, 0.875, 2) && !differs(0.87, 0.875, 2), "a half goes either way");
        assert!(differs(0.88, 0.874, 2));
    }

    #[test]
    fn bounds_are_shown_where_there_are_such() {
        let rate = Interval { low: 1.04, value: 2.0, high: 3.06 };
        assert_eq!(Cell::within(rate, 1).text, "2.0 (1.0-3.1)");
        let cell = Cell::within(Interval { high: f64::INFINITY, ..rate }, 1);
        assert_eq!((cell.text.as_str(), cell.high), ("2.0 (from 1.0)", None));
    }
}
