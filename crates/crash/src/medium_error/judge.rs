//! What became of work of which a write or a flush failed: what was lost, and who was told.

use super::expected::{ExpectedFile, FileVerdict};
use super::plan::FailingRequest;
use super::record::{Call, FailedCall, MediumErrorWork};
use crate::observation::{MountStep, Observation, ObservedFile};
use crate::stamp::Stamp;
use crate::workload::{file_of, path};
use fsarena_vdisk::Strike;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the disk did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InjectedFailure {
    /// Requests that failed.
    pub requests: u64,
    /// When the first one was submitted, and its place; `None`: none failed.
    pub first: Option<(u64, u64)>,
}

impl InjectedFailure {
    /// Of the strikes on a disk those up to a time; of more than the disk notes, these.
    #[must_use]
    pub fn until(end_ns: u64, strikes: &[Strike]) -> Self {
        let of_work = strikes.iter().filter(|strike| strike.at_ns <= end_ns);
        let first = of_work.clone().next().map(|strike| (strike.at_ns, strike.sector));
        Self { requests: of_work.count() as u64, first }
    }
}

/// A request that failed, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MediumErrorCase {
    /// Of the run.
    pub seed: u64,
    /// Times here and below are of the guest; the work began at this one.
    pub begin_ns: u64,
    pub request: FailingRequest,
    /// Requests that failed; 0: the fault met none, and nothing is said of it.
    pub failed_requests: u64,
    /// The first of them, which is the one that was drawn, another one that touches its sectors, or
    /// another flush: when it was submitted, and its place.
    pub first_failed: Option<(u64, u64)>,
    pub ops: u32,
    /// What ops were told.
    pub failed: Vec<FailedCall>,
    /// The file system takes no writes any more: it is read-only, or refuses a new file.
    pub is_read_only: bool,
    pub new_file_errno: Option<i32>,
    pub syncfs_errno: Option<i32>,
    /// Lines of the kernel that are not the block layer's.
    pub kernel_messages: Vec<String>,
    /// Afterwards, on a disk without errors.
    pub mounted: Option<MountStep>,
    pub is_usable: Option<bool>,
    pub needs_repair: Option<bool>,
    /// Files with acknowledged work that is not there.
    pub lost: Vec<LostWork>,
    /// Files that hold what is neither what was there before an op that failed nor what it wrote.
    pub damaged: Vec<DamagedFile>,
    /// Files on which an op failed, and what it wrote is not there; of those the ones of which a
    /// later sync (the same call again, or that of a later op) returned 0.
    pub reported_missing: u32,
    pub missing_after_sync: u32,
    /// Files of which the running system showed what is not on the disk.
    pub only_in_memory: u32,
    /// Files that are not judged.
    pub unknown: u32,
    /// Why the guest did not come to the end of the work: nothing else is known then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_ended: Option<String>,
}

/// A file with acknowledged work that is not there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostWork {
    pub path: String,
    /// Place in the journal of the last op that is lost, and when it ended; its fsync of the file
    /// had returned 0.
    pub op: u32,
    pub acknowledged_ns: u64,
    /// The call of this op behind its fsync that failed: the application was told in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<Call>,
    /// It had returned before the disk failed any request.
    pub is_before_error: bool,
    pub found: String,
}

/// A file that holds what nobody wrote.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DamagedFile {
    pub path: String,
    pub found: String,
}

/// A case in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The fault met no request.
    NotStruck,
    /// The kernel did not survive it, or an op never returned.
    NotEnded,
    /// All that was acknowledged is there, and no op was told anything: it was written again.
    Unharmed,
    /// All that was acknowledged is there; some op failed, or the file system stopped.
    Reported,
    /// Acknowledged work is lost. Other ops were told of an error, and not this one.
    LostBesideReport,
    /// Acknowledged work is lost, and no op reported an error.
    Silent,
}

impl MediumErrorCase {
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.not_ended.is_some() {
            return Verdict::NotEnded;
        }
        match (self.failed_requests, self.lost.is_empty(), self.is_reported()) {
            (0, _, _) => Verdict::NotStruck,
            (_, true, false) => Verdict::Unharmed,
            (_, true, true) => Verdict::Reported,
            (_, false, true) => Verdict::LostBesideReport,
            (_, false, false) => Verdict::Silent,
        }
    }

    /// Whether the first request that failed is the one that was drawn.
    #[must_use]
    pub fn is_as_drawn(&self) -> bool {
        self.first_failed == Some((self.request.at_ns, self.request.sector))
    }

    /// Whether an op failed, or the file system stopped so that the next one would.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        !self.failed.is_empty() || self.is_stopped()
    }

    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_read_only || self.new_file_errno.is_some()
    }

    /// What the same fsync returned when it was made again, of those that failed.
    pub fn again(&self) -> impl Iterator<Item = i32> {
        self.failed.iter().filter_map(|failed| failed.again)
    }
}

/// Judges a case: `seen` is what is on the disk after the work, on a disk without errors.
#[must_use]
pub fn judge(
    seed: u64,
    request: FailingRequest,
    struck: &InjectedFailure,
    work: &MediumErrorWork,
    seen: &Observation,
) -> MediumErrorCase {
    let after = &work.after;
    let mut case = MediumErrorCase {
        begin_ns: work.begin_ns,
        ops: work.ops.len() as u32,
        failed: work.failed.clone(),
        is_read_only: after.is_read_only,
        new_file_errno: after.new_file_errno,
        syncfs_errno: after.syncfs_errno,
        kernel_messages: after.kernel_messages.clone(),
        mounted: seen.mounted(),
        is_usable: seen.is_usable,
        needs_repair: seen.fsck.map(|fsck| !fsck.is_clean),
        ..unjudged(seed, request, struck)
    };
    let (on_disk, in_memory) = (by_number(&seen.files), by_number(&after.files));
    for (file, expected) in expected(work) {
        if expected.is_unknown {
            case.unknown += 1;
            continue;
        }
        let stamp = Stamp { seed, file, version: 0 };
        let found = expected.judge(stamp, on_disk.get(&file).copied());
        let shown = expected.judge(stamp, in_memory.get(&file).copied());
        case.reported_missing += u32::from(found.is_reported_missing);
        case.missing_after_sync += u32::from(found.is_missing_after_sync);
        case.only_in_memory += u32::from(is_only_in_memory(&shown, &found));
        let path = path(file).unwrap_or_default();
        if let Some((op, found)) = found.lost {
            let acknowledged_ns = work.ops.get(op as usize).map_or(0, |op| op.end_ns);
            let is_before_error = struck.first.is_some_and(|(at_ns, _)| acknowledged_ns < at_ns);
            let reported_by = work.failed.iter().find(|failed| failed.op == op).map(|it| it.call);
            let path = path.clone();
            case.lost.push(LostWork {
                path,
                op,
                acknowledged_ns,
                reported_by,
                is_before_error,
                found,
            });
        }
        if let Some(found) = found.damaged {
            case.damaged.push(DamagedFile { path, found });
        }
    }
    case
}

/// A case whose guest did not come to the end of the work.
#[must_use]
pub fn not_ended(
    seed: u64,
    request: FailingRequest,
    struck: &InjectedFailure,
    why: String,
) -> MediumErrorCase {
    MediumErrorCase { not_ended: Some(why), ..unjudged(seed, request, struck) }
}

fn unjudged(seed: u64, request: FailingRequest, struck: &InjectedFailure) -> MediumErrorCase {
    MediumErrorCase {
        seed,
        begin_ns: 0,
        request,
        failed_requests: struck.requests,
        first_failed: struck.first,
        ops: 0,
        failed: Vec::new(),
        is_read_only: false,
        new_file_errno: None,
        syncfs_errno: None,
        kernel_messages: Vec::new(),
        mounted: None,
        is_usable: None,
        needs_repair: None,
        lost: Vec::new(),
        damaged: Vec::new(),
        reported_missing: 0,
        missing_after_sync: 0,
        only_in_memory: 0,
        unknown: 0,
        not_ended: None,
    }
}

fn is_only_in_memory(shown: &FileVerdict, found: &FileVerdict) -> bool {
    let is_lost = found.lost.is_some() && shown.lost.is_none();
    is_lost || found.is_reported_missing && !shown.is_reported_missing
}

fn by_number(files: &[ObservedFile]) -> BTreeMap<u32, &ObservedFile> {
    let named = files.iter().filter_map(|file| Some((file_of(&file.path)?, file)));
    named.filter(|(named, _)| !named.is_temporary).map(|(named, file)| (named.file, file)).collect()
}

/// What each file may hold.
fn expected(work: &MediumErrorWork) -> BTreeMap<u32, ExpectedFile> {
    let failed: BTreeMap<u32, &FailedCall> =
        work.failed.iter().map(|failed| (failed.op, failed)).collect();
    let mut files: BTreeMap<u32, ExpectedFile> = BTreeMap::new();
    for (number, op) in (0..).zip(&work.ops) {
        let file = files.entry(op.action.file()).or_default();
        file.take(number, op, failed.get(&number).copied());
    }
    files
}

#[cfg(test)]
mod tests;
