//! What a published study is: its tables, its findings, and the shape in which measurements of
//! others are set next to it.

use crate::figures::Holds;
use crate::table::{Table, Test};
use serde::Serialize;

/// A published study.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Article {
    pub year: u16,
    /// What it is, in one line.
    pub title: &'static str,
    /// Name of the experiment that repeats it.
    pub experiment: &'static str,
    /// The comment lines of the data: circumstances, units, remarks.
    pub comments: Vec<String>,
    /// Its tables in their own shape, and those that are computed from them.
    pub tables: Vec<Table>,
    /// Which of them has what it is about.
    #[serde(skip)]
    pub main_table: usize,
    /// What it concludes, and whether its numbers bear that.
    pub findings: Vec<Finding>,
    /// In which state of the caches it measured.
    pub caches: Caches,
    /// How measurements of somebody else are laid out to be set next to it.
    pub shape: Shape,
}

/// In which state of the caches an article measured, or is taken to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// Cold before each test.
    Cold,
    /// Cold before the first test at most.
    ColdStart,
    /// Warm: what was worked on had been put there just before.
    Warm,
}

/// The shape of an article's table, for measurements of somebody else.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Shape {
    /// Tests in rows, file systems in columns, cells `rate / CPU load`.
    Rates {
        /// The tests, in the order of the rows.
        tests: Vec<Test>,
        /// The published values.
        rows: Vec<RateRow>,
    },
    /// What was compared in rows, each on its machine; tests in columns, cells seconds.
    Contenders {
        /// The tests, in the order of the columns.
        tests: Vec<Test>,
    },
    /// Sizes of blocks and fragments in rows; the work of a cycle, load and rate in columns.
    Cycles {
        /// The published values.
        rows: Vec<BlockRow>,
        /// What its own numbers suggest for the question that it leaves open: inference.
        inference: Vec<String>,
    },
    /// As [`Shape::Contenders`], machines side by side, with ratios of memory and disk, and every
    /// single run in an appendix.
    Machines {
        /// The tests, in the order of the columns.
        tests: Vec<Test>,
    },
}

/// Something that a study concludes or takes for granted, held against its own numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// What it says, in our words.
    pub claim: &'static str,
    /// Whether its numbers bear that.
    pub holds: Holds,
    /// The figures behind the decision.
    pub why: String,
}

/// One published value.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RateRow {
    /// Title of the article's row.
    pub phase: String,
    /// `KB/s` (1024 bytes) or `files/s`.
    pub unit: String,
    pub filesystem: String,
    pub os: String,
    /// The value, in `unit`.
    pub value: f64,
    /// CPU load of the whole machine, percent.
    pub cpu_percent: f64,
}

/// A printed row.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct BlockRow {
    /// `newfs -b`.
    pub block_bytes: f64,
    /// `newfs -f`.
    pub fragment_bytes: f64,
    /// Whether a script made about 1,000 small files next to it.
    pub disturbed: bool,
    /// Time that a cycle worked, s.
    pub work_time_s: f64,
    /// Share of the time in which the disk was busy, %.
    pub busy_percent: f64,
    /// Written to the disk, MB/s over the period.
    pub write_mb_per_s: f64,
}

impl BlockRow {
    /// `65536/8192`, as the article writes it.
    #[must_use]
    pub fn head(&self) -> String {
        let disturbed = if self.disturbed { ", disturbed" } else { "" };
        format!("{:.0}/{:.0}{disturbed}", self.block_bytes, self.fragment_bytes)
    }
}

/// What a module reads and computes.
pub(crate) struct Contents {
    pub(crate) comments: Vec<String>,
    pub(crate) tables: Vec<Table>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) shape: Shape,
}
