//! What is shown of the accounts of a phase: plain data, in the units that their names say.

use crate::JsonSchema;
use serde::Serialize;

/// From this share on what is unattributed stands in the way of a conclusion.
pub const UNATTRIBUTED_MUCH: f64 = 0.10;

/// The accounts of a phase on all contenders.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct AccountView {
    pub workload: String,
    pub phase: String,
    /// Whether amounts are those of a cycle; else of the whole phase.
    pub per_cycle: bool,
    /// Contenders of which an account was asked for and a trial has one, or a reason for none.
    pub rows: Vec<AccountRow>,
}

/// The accounts of one contender.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct AccountRow {
    pub contender: usize,
    pub label: String,
    /// Trials with a sound account: those behind the means.
    pub n: usize,
    /// Means over these; absent where there is none.
    pub means: Option<AccountMeans>,
    /// Accounts that lost events; in none of the means.
    pub spoilt: Vec<SpoiltAccount>,
    /// Why trials have none, each reason once.
    pub not_taken: Vec<NotTaken>,
    /// What has to be known when it is read, each once.
    pub notes: Vec<String>,
    /// The answer to "where do the bytes come from", in plain sentences.
    pub words: Vec<String>,
}

/// An account with gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct SpoiltAccount {
    /// Number of the block, from 1.
    pub block: u32,
    /// Number of the trial, from 1.
    pub trial: u32,
    /// Events that the kernel had no room for.
    pub lost_events: u64,
}

/// Trials without an account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct NotTaken {
    pub reason: String,
    pub trials: usize,
}

/// Means over trials, of a cycle or of the whole phase. Those of a cycle are over all cycles of a
/// trial, disturbed ones and what the unmount writes included: the trace goes on to there.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct AccountMeans {
    /// Cycles of a trial that are in its account; 1 for a phase without cycles.
    pub cycles: f64,
    /// Of these, cycles with the second load.
    pub disturbed_cycles: f64,
    /// Bytes that calls wrote, those of the second load among them.
    pub asked_bytes: f64,
    /// Of these, written by the second load.
    pub asked_by_disturber_bytes: f64,
    /// The parts and what is unattributed, in the order of [`AccountPart::ALL`].
    pub lines: Vec<AccountLine>,
    /// Whether the parts and the counter agree.
    pub check: SumCheck,
    /// At least so many of the asked bytes never reached the device as data: they were deleted or
    /// replaced before they were written back. Data written again, and all that is gone or
    /// unattributed, are taken for asked bytes that did.
    /// Absent where the place of some files is not known.
    pub never_written_bytes: Option<f64>,
    /// Write requests.
    pub writes: f64,
    /// Cache flushes.
    pub flushes: f64,
    /// Discarded bytes; they are no written bytes.
    pub discarded_bytes: f64,
    /// What the files hold on the device, at the end and not in a cycle.
    pub allocated: Allocated,
    /// Where the journal or log lies, as `start+length` in bytes of the device, of the first trial;
    /// empty where it has no fixed place.
    pub journal: Vec<String>,
}

/// Rounding as allocated: kept apart from what was written.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Allocated {
    /// Files that were looked at.
    pub files: f64,
    /// Of these, those of which the kernel does not tell the place.
    pub unplaced_files: f64,
    /// Bytes of their contents.
    pub contents_bytes: f64,
    /// Bytes that are allocated to them.
    pub allocated_bytes: f64,
    /// The difference; 0 where less is allocated than they hold.
    pub rounding_bytes: f64,
}

/// A line of an account.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct AccountLine {
    /// What it is.
    pub part: AccountPart,
    pub bytes: f64,
    /// Of these, on sectors that had been written before in the same cycle.
    pub again_bytes: f64,
    /// As a multiple of the asked bytes; absent where none were asked for.
    pub times_asked: Option<f64>,
    /// As a share of the device's counter, 0 to 1; absent where that stood still.
    pub share: Option<f64>,
}

/// A part of an account, as its table shows it: contents of files on sectors that are written for
/// the first time in a cycle are kept apart from those written again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccountPart {
    /// Contents below the end of their file, on sectors not yet written in the cycle.
    Data,
    /// Blocks of files beyond the end of their contents, likewise.
    Rounding,
    /// Taken for contents and rounding of files that were replaced or deleted since, likewise.
    Gone,
    /// Any of these on sectors that had been written before in the cycle.
    Again,
    /// The journal or log, first or again.
    Journal,
    /// Other metadata, first or again.
    Metadata,
    /// In none of these: not seen by the trace, or on a place that no owner is known for.
    Unattributed,
}

impl AccountPart {
    /// Every part, in the order of tables, with its name there.
    pub const ALL: [(&str, Self); 7] = [
        ("data as asked", Self::Data),
        ("rounding as written", Self::Rounding),
        ("gone since", Self::Gone),
        ("written again", Self::Again),
        ("journal", Self::Journal),
        ("other metadata", Self::Metadata),
        ("unattributed", Self::Unattributed),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }
}

/// The parts against the device's own counter.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SumCheck {
    /// Bytes written by the device's counter.
    pub counter_bytes: f64,
    /// The least of a trial.
    pub counter_min_bytes: f64,
    /// The most of a trial.
    pub counter_max_bytes: f64,
    /// The sum of all parts that have a name.
    pub attributed_bytes: f64,
    /// Bytes that the trace saw on places that no owner is known for.
    pub unknown_bytes: f64,
    /// Counter less what the trace saw, named or not; below 0 where it saw more.
    pub unseen_bytes: f64,
    /// Unattributed bytes as a share of the counter, 0 to 1; absent where that stood still.
    pub unattributed_share: Option<f64>,
}

impl AccountMeans {
    /// Bytes of a part.
    #[must_use]
    pub fn bytes(&self, part: AccountPart) -> f64 {
        self.lines.iter().find(|line| line.part == part).map_or(0.0, |line| line.bytes)
    }
}

/// The account of one trial's phase: bytes of a cycle, or of the whole phase. Where events were
/// lost it is spoilt.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct TrialAccount {
    /// Cycles that the bytes are a mean of: all of the trial; 1 for a phase without.
    pub cycles: u32,
    /// Events that the kernel had no room for.
    pub lost_events: u64,
    /// [`AccountPart::Data`].
    pub data_bytes: f64,
    /// [`AccountPart::Rounding`].
    pub rounding_bytes: f64,
    /// [`AccountPart::Gone`].
    pub gone_bytes: f64,
    /// [`AccountPart::Again`].
    pub again_bytes: f64,
    /// [`AccountPart::Journal`].
    pub journal_bytes: f64,
    /// [`AccountPart::Metadata`].
    pub metadata_bytes: f64,
    /// [`AccountPart::Unattributed`].
    pub unattributed_bytes: f64,
}
