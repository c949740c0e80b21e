//! 2003: small and big files on file systems of Linux and FreeBSD, rates with CPU load.

mod findings;

use crate::article::{Contents, RateRow, Shape};
use crate::read::{BadReference, read};
use crate::table::{Cell, Table, Test, rate_text};
use indexmap::IndexSet;

const DATA: &str = include_str!("../../../reference/2003-linux-vs-freebsd.csv");
const HEADER: &str = "phase,unit,filesystem,os,value,cpu_percent";

/// The study. Its raw runs were not published: there is nothing to re-compute.
pub(crate) fn contents() -> Result<Contents, BadReference> {
    let (comments, lines) = read(DATA, HEADER)?;
    let row = |line: &crate::read::Row| {
        Ok(RateRow {
            phase: line.text(0),
            unit: line.text(1),
            filesystem: line.text(2),
            os: line.text(3),
            value: line.number(4)?,
            cpu_percent: line.number(5)?,
        })
    };
    let rows: Vec<RateRow> = lines.iter().map(row).collect::<Result<_, _>>()?;
    let (tables, findings) = (vec![printed(&rows)], findings::findings(&rows));
    let shape = Shape::Rates { tests: TESTS.to_vec(), rows };
    Ok(Contents { comments, tables, findings, shape })
}

const TESTS: [Test; 7] = [
    rate("write 5000 files of 256 B", "KB/s"),
    rate("write 50000 files of 256 B", "KB/s"),
    rate("write one file of 1500 MB", "KB/s"),
    rate("read 50000 files of 256 B in order", "KB/s"),
    rate("read one file of 1500 MB", "KB/s"),
    rate("read 50000 files of 256 B in random order", "KB/s"),
    rate("delete 50000 files of 256 B", "files/s"),
];

const fn rate(name: &'static str, unit: &'static str) -> Test {
    Test { name, heading: name, unit }
}

/// Tests in rows, file systems in columns.
fn printed(rows: &[RateRow]) -> Table {
    let columns: IndexSet<(&str, &str)> =
        rows.iter().map(|row| (row.filesystem.as_str(), row.os.as_str())).collect();
    let heads = columns.iter().map(|(name, os)| format!("{name} ({os})")).collect();
    let mut table = Table::new("Rates / CPU load, %, as printed", "rate", heads)
        .note("KB = 1024 bytes. CPU load: the whole machine is 100 %.");
    for test in TESTS {
        let own = |row: &&RateRow, at: (&str, &str)| {
            row.phase == test.name && (row.filesystem.as_str(), row.os.as_str()) == at
        };
        let cell = |&at: &(&str, &str)| {
            rows.iter().find(|row| own(row, at)).map_or_else(Cell::default, |row| {
                Cell::printed(row.value, rate_text(&row.unit, row.value, Some(row.cpu_percent)))
            })
        };
        table.row(test.head(), columns.iter().map(cell).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_article_is_whole() {
        let contents = contents().unwrap();
        assert_eq!(contents.comments.len(), 3);
        let table = &contents.tables[0];
        let cell = |row: usize, column: usize| table.rows[row].cells[column].text.as_str();
        assert_eq!((table.rows.len(), table.columns[0].as_str()), (7, "ext3 (Linux)"));
        assert_eq!(
            (cell(0, 0), cell(0, 1), cell(6, 0)),
            ("127.03 / 95.83", "1041.67 / 99.3", "14620 / 95.32")
        );
        let Shape::Rates { tests, rows } = contents.shape else { panic!("another shape") };
        assert!(
            rows.iter().all(|row| tests
                .iter()
                .any(|test| test.name == row.phase && test.unit == row.unit))
        );
        assert_eq!(rows.len(), 56);
        let phases: BTreeSet<_> = rows.iter().map(|row| (&row.phase, &row.unit)).collect();
        let columns: BTreeSet<_> = rows.iter().map(|row| (&row.filesystem, &row.os)).collect();
        assert_eq!((phases.len(), columns.len()), (7, 8));
        assert_eq!((rows[0].filesystem.as_str(), rows[0].value), ("ext3", 127.03));
        assert_eq!(rows[0].cpu_percent, 95.83);
    }
}
