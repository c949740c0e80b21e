//! 2007: an application that updates 40,000 small files every five minutes, on UFS with blocks and
//! fragments of many sizes; and its open question where the extra bytes come from.

mod findings;

use crate::figures::Interval;
use crate::read::{BadReference, Row, exactly, read};
use crate::table::{Cell, Table};
use crate::{Contents, Shape};
use serde::Serialize;

const DATA: &str = include_str!("../../../reference/2007-ufs-block-fragment.csv");
const HEADER: &str = "block_bytes,fragment_bytes,disturbed,work_time_s,busy_percent,write_mb_per_s";

/// From cycle to cycle, s.
const PERIOD_S: f64 = 300.0;
/// Files that a cycle updates, about.
const FILES: f64 = 40_000.0;
/// Bytes of a megabyte, as they are taken here; the article does not say whether it counts 2^20.
const MB: f64 = 1e6;
/// UFS keeps fragments at the end of files up to so many blocks; larger ones end in a whole block.
const DIRECT_BLOCKS: f64 = 12.0;
/// Largest file, bytes.
const LARGEST_BYTES: f64 = 250_000.0;

/// A printed row.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct BlockRow {
    /// `newfs -b`.
    pub block_bytes: f64,
    /// `newfs -f`.
    pub fragment_bytes: f64,
    /// Whether a script made about 1,000 small files beside it.
    pub disturbed: bool,
    /// Time that a cycle worked, s.
    pub work_time_s: f64,
    /// Share of the time in which the disk was busy, %.
    pub busy_percent: f64,
    /// Written to the disk, MB/s over the period.
    pub write_mb_per_s: f64,
}

impl BlockRow {
    fn of(row: &Row) -> Result<Self, BadReference> {
        Ok(Self {
            block_bytes: row.number(0)?,
            fragment_bytes: row.number(1)?,
            disturbed: row.text(2) == "yes",
            work_time_s: row.number(3)?,
            busy_percent: row.number(4)?,
            write_mb_per_s: row.number(5)?,
        })
    }

    /// `65536/8192`, as the article writes it.
    #[must_use]
    pub fn head(&self) -> String {
        let disturbed = if self.disturbed { ", disturbed" } else { "" };
        format!("{:.0}/{:.0}{disturbed}", self.block_bytes, self.fragment_bytes)
    }

    fn work(&self) -> Interval {
        Interval::about(self.work_time_s, 0.5)
    }

    fn busy(&self) -> Interval {
        Interval::about(self.busy_percent, 0.5)
    }

    fn rate(&self) -> Interval {
        Interval::about(self.write_mb_per_s, 0.005)
    }

    /// Written in a cycle, MB.
    fn cycle_mb(&self) -> Interval {
        let rate = self.rate();
        let of = |per_s: f64| per_s * PERIOD_S;
        Interval { low: of(rate.low), value: of(rate.value), high: of(rate.high) }
    }

    /// The most that rounding can add, MB: less than a fragment a file, and less than a block for
    /// each file beyond what may end in fragments, of which `data_mb` leaves room for so many.
    fn rounding_most_mb(&self, data_mb: f64) -> f64 {
        let ends_in_blocks_bytes = DIRECT_BLOCKS * self.block_bytes;
        let large_mb =
            if ends_in_blocks_bytes < LARGEST_BYTES { data_mb / DIRECT_BLOCKS } else { 0.0 };
        FILES * self.fragment_bytes / MB + large_mb
    }
}

/// The rows by what they are.
struct Rows {
    all: [BlockRow; 7],
}

impl Rows {
    /// Those with nothing beside them.
    fn plain(&self) -> &[BlockRow] {
        &self.all[..6]
    }

    /// 4096/512.
    fn first(&self) -> &BlockRow {
        &self.all[0]
    }

    /// 65536/8192.
    fn eighth(&self) -> &BlockRow {
        &self.all[4]
    }

    /// 65536/65536.
    fn last(&self) -> &BlockRow {
        &self.all[5]
    }

    /// The same with a second load.
    fn disturbed(&self) -> &BlockRow {
        &self.all[6]
    }

    /// The most that the data of a cycle can be, MB: what the least row writes.
    fn data_most_mb(&self) -> f64 {
        self.first().cycle_mb().high
    }

    /// What rounding cannot explain of a row, MB, at the least: all of the least row is taken as
    /// data, and every file to waste as much as it can.
    fn unexplained_mb(&self, row: &BlockRow) -> f64 {
        let data_mb = self.data_most_mb();
        (row.cycle_mb().low - data_mb - row.rounding_most_mb(data_mb)).max(0.0)
    }
}

/// The study.
pub(crate) fn contents() -> Result<Contents, BadReference> {
    let (comments, lines) = read(DATA, HEADER)?;
    let rows = lines.iter().map(BlockRow::of).collect::<Result<Vec<_>, _>>()?;
    let rows = Rows { all: exactly(rows)? };
    let tables = vec![printed(&rows), cycles(&rows), rounding(&rows)];
    let shape = Shape::Cycles { rows: rows.all.to_vec(), inference: findings::inference(&rows) };
    Ok(Contents { comments, tables, findings: findings::findings(&rows), shape })
}

fn printed(rows: &Rows) -> Table {
    let columns = ["Work time, s", "Disk busy, %", "Written, MB/s"].map(str::to_owned).to_vec();
    let mut table = Table::new("Block/fragment, as printed", "", columns);
    for row in &rows.all {
        table.row(
            row.head(),
            vec![
                Cell::printed(row.work_time_s, format!("{:.0}", row.work_time_s)),
                Cell::printed(row.busy_percent, format!("{:.0}", row.busy_percent)),
                Cell::printed(row.write_mb_per_s, format!("{:.2}", row.write_mb_per_s)),
            ],
        );
    }
    table
}

fn cycles(rows: &Rows) -> Table {
    let columns = [
        "MB a cycle",
        "to the least",
        "work time to the best",
        "busy to the best",
        "MB a busy second",
        "kB a file",
    ];
    let columns = columns.map(str::to_owned).to_vec();
    let mut table = Table::new("Re-computed: a cycle of 300 s, with bounds", "", columns);
    let best = |of: fn(&BlockRow) -> Interval| {
        let least = |a: Interval, b: Interval| if b.value < a.value { b } else { a };
        rows.plain().iter().map(of).reduce(least).unwrap_or(of(rows.first()))
    };
    let (work, busy) = (best(BlockRow::work), best(BlockRow::busy));
    for row in &rows.all {
        let share = row.busy();
        let share = Interval {
            low: share.low / 100.0,
            value: share.value / 100.0,
            high: share.high / 100.0,
        };
        let per_file = |mb: f64| mb * MB / FILES / 1e3;
        let of = row.cycle_mb();
        let per_file =
            Interval { low: per_file(of.low), value: per_file(of.value), high: per_file(of.high) };
        table.row(
            row.head(),
            vec![
                Cell::within(of, 0),
                Cell::within(of.over(rows.first().cycle_mb()), 2),
                Cell::within(row.work().over(work), 2),
                Cell::within(busy_over(row, busy), 2),
                Cell::within(row.rate().over(share), 1),
                Cell::within(per_file, 1),
            ],
        );
    }
    table.note(
        "Bounds: numbers are printed in whole seconds, whole percent and hundredths of MB/s. They \
         are averages over several hours; how far the cycles lay apart is not published. 40,000 \
         files of at most 8.4 kB on average, for the least row cannot have written less than the \
         data.",
    )
}

fn busy_over(row: &BlockRow, best: Interval) -> Interval {
    row.busy().over(best)
}

fn rounding(rows: &Rows) -> Table {
    let columns = [
        "MB a cycle",
        "more than the least",
        "40,000 × fragment, MB",
        "rounding at most, MB",
        "left unexplained, MB",
    ];
    let columns = columns.map(str::to_owned).to_vec();
    let mut table = Table::new("Re-computed: what rounding can and cannot explain", "", columns);
    let least = rows.first().cycle_mb();
    for row in rows.plain() {
        let of = row.cycle_mb();
        let more = Interval {
            low: (of.low - least.high).max(0.0),
            value: of.value - least.value,
            high: of.high - least.low,
        };
        let exact = |value: f64| Interval { low: value, value, high: value };
        let more = if more.value == 0.0 { exact(0.0) } else { more };
        table.row(
            row.head(),
            vec![
                Cell::within(of, 0),
                Cell::within(more, 0),
                Cell::within(exact(FILES * row.fragment_bytes / MB), 0),
                Cell::within(exact(row.rounding_most_mb(rows.data_most_mb())), 0),
                Cell::within(exact(rows.unexplained_mb(row)), 0),
            ],
        );
    }
    table.note(
        "Rounding at most: every file wastes a whole fragment; where a file can be longer than 12 \
         blocks it ends in a whole block, for which the data leave room in few files. Left \
         unexplained, at the least: what is written beyond that and beyond all that the least row \
         wrote. MB are 10^6 bytes; where the article's MB are 2^20, every row but the last leaves \
         more.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, Holds};

    fn finding(start: &str) -> Finding {
        let found = contents().unwrap().findings;
        found.into_iter().find(|finding| finding.claim.starts_with(start)).unwrap()
    }

    fn texts(table: &Table, row: usize) -> Vec<&str> {
        table.rows[row].cells.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn the_printed_table_is_whole() {
        let contents = contents().unwrap();
        assert_eq!(contents.comments.len(), 4);
        let printed = &contents.tables[0];
        assert_eq!((printed.rows.len(), printed.columns.len()), (7, 3));
        assert_eq!(printed.rows[6].head, "65536/65536, disturbed");
        assert_eq!(texts(printed, 5), ["192", "44", "9.10"]);
    }

    #[test]
    fn a_cycle_is_three_hundred_seconds_of_the_rate() {
        let cycles = contents().unwrap().tables.remove(1);
        // 1.12 ± 0.005 MB/s in 300 s, over 40,000 files.
        assert_eq!(texts(&cycles, 0)[0], "336 (335-338)");
        assert_eq!(texts(&cycles, 0)[5], "8.4 (8.4-8.4)");
        assert_eq!(texts(&cycles, 5)[0], "2730 (2728-2732)");
        // 9.10 ÷ 1.12.
        assert_eq!(texts(&cycles, 5)[1], "8.12 (8.08-8.17)");
        assert_eq!(texts(&cycles, 0)[2], "1.38 (1.37-1.39)");
        // 9.10 MB/s in 44 % of the time.
        assert_eq!(texts(&cycles, 5)[4], "20.7 (20.4-20.9)");
    }

    #[test]
    fn rounding_explains_the_last_row_and_no_other_of_the_large_ones() {
        let rounding = contents().unwrap().tables.remove(2);
        let left: Vec<&str> = (0..6).map(|row| texts(&rounding, row)[4]).collect();
        // 65536/8192: 1261.5 − 337.5 − 327.7.
        assert_eq!(left, ["0", "42", "82", "397", "596", "0"]);
        assert_eq!(texts(&rounding, 5)[2..4], ["2621", "2621"]);
        assert_eq!(texts(&rounding, 1)[2..4], ["41", "69"]);
    }

    #[test]
    fn conclusions_stand_and_fall() {
        assert_eq!(finding("There is an optimum").holds, Holds::Holds);
        assert_eq!(finding("The optimum is").holds, Holds::CannotBeTold);
        assert_eq!(finding("The larger the fragment").holds, Holds::Holds);
        let nine = finding("Nearly nine times");
        assert!(nine.holds == Holds::Falls && nine.why.contains("8.12"), "{nine:?}");
        let whole = finding("The system writes every fragment");
        assert!(whole.holds == Holds::Falls && whole.why.contains("596 MB"), "{whole:?}");
        assert_eq!(finding("With fragments of 65536").holds, Holds::Holds);
        assert_eq!(finding("With small fragments").holds, Holds::CannotBeTold);
        assert_eq!(finding("A fragment of an eighth").holds, Holds::CannotBeTold);
    }

    #[test]
    fn what_is_inferred_says_so() {
        let Shape::Cycles { inference, rows } = contents().unwrap().shape else { panic!("shape") };
        assert_eq!(rows.len(), 7);
        assert!(inference[0].contains("inference"), "{inference:?}");
    }
}
