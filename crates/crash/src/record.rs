//! The record of one crash run: one seed of one workload on one contender, and what was found at
//! each of its power cuts. Every figure can be computed from such records later.

use crate::application::ApplicationFindings;
use crate::findings::Findings;
use crate::hunted::HuntRecord;
use crate::medium_error::judge::MediumErrorCase;
use crate::op::Op;
use crate::sequence::judged::{JudgedLitmus, JudgedSequence};
use fsarena_model::crash::{Campaign, CrashSlot};
use serde::{Deserialize, Serialize};

/// Version of [`CrashRecord`] that this program writes.
pub const RECORD_SCHEMA: u32 = 1;

/// What one crash run left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CrashRecord {
    /// [`RECORD_SCHEMA`].
    pub schema: u32,
    /// Name of the workload.
    pub workload: String,
    /// Of workload, disk, guest and crash points.
    pub seed: u64,
    pub ops: OpSummary,
    /// When the work began that is judged, and when the last power cut could be; times of the
    /// guest.
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Mount and superblock options in force while it worked.
    pub mount_options: String,
    /// Of a disk of this machine: share of the modelled time of its requests by which answers came
    /// late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_share: Option<f64>,
    /// Its documents or its kernel ask for a repair before the mount, and that was done.
    pub is_repaired_first: bool,
    /// One for each crash point.
    pub findings: Vec<Findings>,
    /// One for each second power cut, while the file system recovered from the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<Findings>,
    /// What the disk did that an honest one does not: broken promises are the disk's then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_fault: Option<String>,
}

/// Behind the name of a class: after a second power cut, in the recovery from the first one.
pub const RECOVERY_SUFFIX: &str = "+recovery";

/// A crash run of a RUN's plan, as it is stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredCrashRun {
    pub slot: CrashSlot,
    /// Wall clock, ns since 1970.
    pub started_unix_ns: u64,
    /// Real time that it took.
    pub elapsed_ns: u64,
    pub outcome: CrashOutcome,
}

/// How a crash run ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashOutcome {
    /// Power cuts at uniform times.
    Done(Box<CrashRecord>),
    /// Power cuts at the entries of the write log.
    Hunted(Box<HuntRecord>),
    Application(Box<ApplicationRecord>),
    /// Sequences in the order of their numbers.
    Sequences(Vec<JudgedSequence>),
    /// Litmus programs in the order of their numbers.
    Litmus(Vec<JudgedLitmus>),
    MediumErrors(Box<MediumErrorRecord>),
    /// It lacks what the work needs, as ext3 lacks fallocate.
    Lacking {
        error: String,
    },
    /// A guest had no record.
    Failed {
        error: String,
    },
}

/// One run of an application, and what its check found after each power cut.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApplicationRecord {
    pub seed: u64,
    /// When the work began that is judged.
    pub begin_ns: u64,
    /// Mount and superblock options in force while it worked.
    pub mount_options: String,
    /// Units that it acknowledged.
    pub acknowledged_units: u64,
    /// Its documents or its kernel ask for a repair before the mount.
    pub is_repaired_first: bool,
    pub findings: Vec<ApplicationFindings>,
}

/// Work of which another request failed each time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MediumErrorRecord {
    pub mount_options: String,
    pub cases: Vec<MediumErrorCase>,
}

impl StoredCrashRun {
    /// Whether such a campaign leaves what this one did.
    #[must_use]
    pub fn is_of(&self, campaign: &Campaign) -> bool {
        match &self.outcome {
            CrashOutcome::Failed { .. } | CrashOutcome::Lacking { .. } => true,
            CrashOutcome::Done(_) => matches!(campaign, Campaign::PowerCuts { .. }),
            CrashOutcome::Hunted(_) => matches!(campaign, Campaign::EveryEntry { .. }),
            CrashOutcome::Application(_) => matches!(campaign, Campaign::Applications { .. }),
            CrashOutcome::Sequences(_) => matches!(campaign, Campaign::Sequences { .. }),
            CrashOutcome::Litmus(_) => matches!(campaign, Campaign::Litmus { .. }),
            CrashOutcome::MediumErrors(_) => matches!(campaign, Campaign::MediumErrors { .. }),
        }
    }

    /// What was found at power cuts of uniform times.
    #[must_use]
    pub fn record(&self) -> Option<&CrashRecord> {
        match &self.outcome {
            CrashOutcome::Done(record) => Some(record),
            _ => None,
        }
    }

    /// Why nothing was found, where it could not be done.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.outcome {
            CrashOutcome::Failed { error } | CrashOutcome::Lacking { error } => Some(error),
            _ => None,
        }
    }
}

/// The op journal in short.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OpSummary {
    /// Ops, those of the preparation included.
    pub ops: u64,
    /// Ops of the plan that had not begun when the time was over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_begun: u64,
    /// Those of them that failed, whose files are not judged.
    pub failed_ops: u64,
    /// Of the first that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_errno: Option<i32>,
    /// Lengths of the ops that sync, in the time of the modelled disk, ascending; without those of
    /// the preparation and those that failed.
    pub syncs_ns: Vec<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl OpSummary {
    /// Of a journal whose work begins at `begin_ns`.
    #[must_use]
    pub fn from_ops(ops: &[Op], begin_ns: u64) -> Self {
        let mut failed = ops.iter().filter_map(|op| op.error).peekable();
        let first_errno = failed.peek().copied();
        let judged = ops.iter().filter(|op| op.begin_ns >= begin_ns);
        let mut syncs_ns: Vec<u64> = judged.filter_map(sync_ns).collect();
        syncs_ns.sort_unstable();
        let (ops, failed_ops) = (ops.len() as u64, failed.count() as u64);
        Self { ops, not_begun: 0, failed_ops, first_errno, syncs_ns }
    }
}

/// Length of an op that syncs and did not fail.
fn sync_ns(op: &Op) -> Option<u64> {
    let is_whole = op.error.is_none() && op.action.sync().covers_contents();
    is_whole.then(|| op.end_ns - op.begin_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Action, Sync};

    fn op(begin_ns: u64, ns: u64, sync: Sync, error: Option<i32>) -> Op {
        let action = Action::Create { file: 1, bytes: 1, version: 1, sync };
        Op { action, begin_ns, end_ns: begin_ns + ns, error }
    }

    #[test]
    fn syncs_of_the_work_are_kept_in_order() {
        let ops = [
            op(5, 1, Sync::File, None),
            op(10, 7, Sync::File, None),
            op(20, 3, Sync::File, None),
            op(30, 2, Sync::None, None),
            op(40, 9, Sync::File, Some(5)),
        ];
        let sum = OpSummary::from_ops(&ops, 10);
        assert_eq!(sum.syncs_ns, [3, 7]);
        assert_eq!((sum.ops, sum.failed_ops, sum.first_errno), (5, 1, Some(5)));
    }
}
