//! What articles that print lengths of time have in common: rows of seconds by a clock, their
//! ratios and rates with bounds, and findings about single tests. What a row is, each says itself.

use crate::figures::Interval;
use crate::table::{Cell, Table, Test, headings};

/// Lengths by a clock, one a test.
pub(crate) struct Lengths {
    pub(crate) head: String,
    pub(crate) seconds: Vec<f64>,
    /// Farthest that one is from the truth, s.
    pub(crate) off_s: f64,
}

impl Lengths {
    pub(crate) fn time(&self, test: usize) -> Interval {
        Interval::about(self.seconds[test], self.off_s)
    }

    /// How many times longer this took than the other.
    pub(crate) fn over(&self, other: &Self, test: usize) -> Interval {
        self.time(test).over(other.time(test))
    }
}

/// The rows as printed.
pub(crate) fn printed(
    title: &str,
    unit: &'static str,
    tests: &[Test],
    rows: &[&Lengths],
    text: fn(f64) -> String,
) -> Table {
    let mut table = Table::new(title, unit, headings(tests));
    for row in rows {
        let cells = row.seconds.iter().map(|s| Cell::printed(*s, text(*s)));
        table.row(&row.head, cells.collect());
    }
    table
}

/// Ratios of rows: heading, above and below the line.
pub(crate) fn ratios(tests: &[Test], pairs: &[(&str, &Lengths, &Lengths)]) -> Table {
    let title = "Re-computed: ratios of rows, with their bounds";
    let mut table = Table::new(title, "", headings(tests));
    for (head, above, below) in pairs {
        let cells = (0..tests.len()).map(|test| Cell::within(above.over(below, test), 2));
        table.row(*head, cells.collect());
    }
    table
}

/// MB written a second, of the tests of which it is stated how much they write.
pub(crate) fn rates(
    tests: &[Test],
    written_mb: &[Option<f64>],
    rows: &[&Lengths],
    decimals: usize,
) -> Table {
    let stated = || written_mb.iter().enumerate().filter_map(|(at, mb)| Some((at, (*mb)?)));
    let columns = stated().map(|(at, _)| tests[at].heading.to_owned()).collect();
    let mut table = Table::new("Re-computed: MB/s written, with their bounds", "MB/s", columns);
    for row in rows {
        let cells = stated().map(|(at, mb)| Cell::within(row.time(at).rate(mb), decimals));
        table.row(&row.head, cells.collect());
    }
    table
}

/// Those of `tests` that are outside of `low` to `high` whatever the clock cut off.
pub(crate) fn outside(
    tests: impl IntoIterator<Item = usize>,
    ratio: impl Fn(usize) -> Interval,
    (low, high): (f64, f64),
) -> Vec<usize> {
    tests.into_iter().filter(|&test| !ratio(test).meets(low, high)).collect()
}

/// Names of tests within a sentence.
pub(crate) fn named(tests: &[Test], at: &[usize]) -> String {
    let names: Vec<_> = at.iter().map(|&at| tests[at].heading.to_lowercase()).collect();
    names.join(", ")
}
