//! Records in one SQLite file: what was planned, and what each trial left.
//!
//! Everything that is computed (rates, percentages, tables) comes later from these rows; nothing of
//! it is stored but what a look decided, because it was acted upon. The schema and its reasons are
//! in `schema.md`, the statements that make it in `migrations/`. A trial's record goes in as one
//! transaction and never changes afterwards.
//!
//! This crate must not be called between the clock reads of a timed phase, must never overwrite a
//! file it cannot read, and knows nothing of how a trial is carried out.
#![forbid(unsafe_code)]

mod columns;
mod cost;
mod crash;
mod error;
mod layout;
mod merge;
mod migrations;
mod open;
mod plan_rows;
mod query;
mod record;
mod score;
mod session;
mod tables;
mod time_limit;
mod verdict;
mod write;

pub use cost::{CostRow, Costs, OverheadRow};
pub use error::StoreError;
pub use merge::{MergeOutcome, Merged, MergedRun};
pub use open::Snapshot;
pub use query::RunRow;

use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use time_limit::TimeLimit;

/// Version of the schema that this program writes (`PRAGMA user_version`).
pub const SCHEMA_VERSION: u32 = 18;

/// `PRAGMA application_id` of our files: the bytes `fsar`.
pub const APPLICATION_ID: i32 = 0x6673_6172;

/// An open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    time_limit: TimeLimit,
    path: PathBuf,
}

impl Store {
    /// The file, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Number of a RUN in one database, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The process that carries a RUN out. A process id comes back after its process has died and
/// after a reboot, so that its start time and the boot belong to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start of the process since boot, clock ticks (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
}
