//! The printed rows of 2007, and what follows from one of them alone.

use crate::article::BlockRow;
use crate::figures::Interval;
use crate::read::{BadReference, Row, exactly, read};

const DATA: &str = include_str!("../../../../reference/2007-ufs-block-fragment.csv");
const HEADER: &str = "block_bytes,fragment_bytes,disturbed,work_time_s,busy_percent,write_mb_per_s";

/// From cycle to cycle, s.
pub(super) const PERIOD_S: f64 = 300.0;
/// Files that a cycle updates, about.
pub(super) const FILES: f64 = 40_000.0;
/// Bytes of a megabyte, as they are taken here; the article does not say whether it counts 2^20.
pub(super) const MB: f64 = 1e6;
/// UFS keeps fragments at the end of files up to so many blocks; larger ones end in a whole block.
pub(super) const DIRECT_BLOCKS: f64 = 12.0;
/// Largest file, bytes.
pub(super) const LARGEST_BYTES: f64 = 250_000.0;

impl BlockRow {
    fn from_row(row: &Row) -> Result<Self, BadReference> {
        Ok(Self {
            block_bytes: row.number(0)?,
            fragment_bytes: row.number(1)?,
            disturbed: row.text(2) == "yes",
            work_time_s: row.number(3)?,
            busy_percent: row.number(4)?,
            write_mb_per_s: row.number(5)?,
        })
    }

    pub(super) fn work(&self) -> Interval {
        Interval::about(self.work_time_s, 0.5)
    }

    pub(super) fn busy(&self) -> Interval {
        Interval::about(self.busy_percent, 0.5)
    }

    pub(super) fn rate(&self) -> Interval {
        Interval::about(self.write_mb_per_s, 0.005)
    }

    /// Written in a cycle, MB.
    pub(super) fn cycle_mb(&self) -> Interval {
        self.rate().map(|per_s| per_s * PERIOD_S)
    }

    /// The most that rounding can add, MB: less than a fragment a file, and less than a block for
    /// each file beyond what may end in fragments, of which `data_mb` leaves room for so many.
    pub(super) fn rounding_most_mb(&self, data_mb: f64) -> f64 {
        let ends_in_blocks_bytes = DIRECT_BLOCKS * self.block_bytes;
        let large_mb =
            if ends_in_blocks_bytes < LARGEST_BYTES { data_mb / DIRECT_BLOCKS } else { 0.0 };
        FILES * self.fragment_bytes / MB + large_mb
    }
}

/// The rows by what they are.
pub(super) struct Rows {
    pub(super) all: [BlockRow; 7],
}

impl Rows {
    /// The comments and rows of the file.
    pub(super) fn read() -> Result<(Vec<String>, Self), BadReference> {
        let (comments, lines) = read(DATA, HEADER)?;
        let rows = lines.iter().map(BlockRow::from_row).collect::<Result<Vec<_>, _>>()?;
        Ok((comments, Self { all: exactly(rows)? }))
    }

    /// Those with nothing next to them.
    pub(super) fn plain(&self) -> &[BlockRow] {
        &self.all[..6]
    }

    /// 4096/512.
    pub(super) fn first(&self) -> &BlockRow {
        &self.all[0]
    }

    /// 65536/8192.
    pub(super) fn eighth(&self) -> &BlockRow {
        &self.all[4]
    }

    /// 65536/65536.
    pub(super) fn last(&self) -> &BlockRow {
        &self.all[5]
    }

    /// The same with a second load.
    pub(super) fn disturbed(&self) -> &BlockRow {
        &self.all[6]
    }

    /// The most that the data of a cycle can be, MB: what the least row writes.
    pub(super) fn data_most_mb(&self) -> f64 {
        self.first().cycle_mb().high
    }

    /// What rounding cannot explain of a row, MB, at the least: all of the least row is taken as
    /// data, and every file to waste as much as it can.
    pub(super) fn unexplained_mb(&self, row: &BlockRow) -> f64 {
        let data_mb = self.data_most_mb();
        (row.cycle_mb().low - data_mb - row.rounding_most_mb(data_mb)).max(0.0)
    }
}
