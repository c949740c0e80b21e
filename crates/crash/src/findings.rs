//! What is wrong, and how much of what, in one crash state.

use crate::observation::MountStep;
use crate::promise::{Promise, PromiseClass};
use crate::state::{Class, Sampling};
use serde::{Deserialize, Serialize};

/// A promise that this state breaks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Violation {
    /// [`Promise::sentence`] is what it breaks.
    pub promise: Promise,
    /// `None`: the file system as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Place in the op journal of the op that was promised; `None`: no single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<u32>,
    /// What was found instead.
    pub found: String,
}

/// What became of the contents of a file that another one was renamed over, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplaceDamage {
    /// None: it is one of the old ones or the new one.
    Whole,
    Absent,
    ZeroLength,
    /// Shorter, or made of two versions.
    Partial,
    /// Zeros where there were data.
    Zeros,
    /// Bytes of another file, or of an inode that it was before.
    Stale,
    /// Bytes that are of no file, such as a sector torn inside.
    Foreign,
}

/// Targets of renames, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
#[serde(default)]
pub struct ReplacedTargets {
    pub whole: u32,
    pub absent: u32,
    pub zero_length: u32,
    pub zeros: u32,
    pub partial: u32,
    pub stale: u32,
    pub foreign: u32,
}

impl ReplacedTargets {
    pub(crate) fn count(&mut self, damage: ReplaceDamage) {
        let place = match damage {
            ReplaceDamage::Whole => &mut self.whole,
            ReplaceDamage::Absent => &mut self.absent,
            ReplaceDamage::ZeroLength => &mut self.zero_length,
            ReplaceDamage::Zeros => &mut self.zeros,
            ReplaceDamage::Partial => &mut self.partial,
            ReplaceDamage::Stale => &mut self.stale,
            ReplaceDamage::Foreign => &mut self.foreign,
        };
        *place += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.whole = self.whole.saturating_add(other.whole);
        self.absent = self.absent.saturating_add(other.absent);
        self.zero_length = self.zero_length.saturating_add(other.zero_length);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.partial = self.partial.saturating_add(other.partial);
        self.stale = self.stale.saturating_add(other.stale);
        self.foreign = self.foreign.saturating_add(other.foreign);
    }

    #[must_use]
    pub fn damaged(&self) -> u32 {
        let kinds = [self.zero_length, self.zeros, self.partial, self.stale, self.foreign];
        // In a record from elsewhere they may be any numbers.
        kinds.into_iter().fold(self.absent, u32::saturating_add)
    }

    #[must_use]
    pub fn checked(&self) -> u32 {
        self.whole.saturating_add(self.damaged())
    }
}

/// Files with unsynced appends, by what is behind the part that was synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
#[serde(default)]
pub struct AppendTails {
    /// All that was acknowledged.
    pub whole: u32,
    /// A part from the begin, maybe none of it.
    pub prefix: u32,
    /// Zeros inside or at the end.
    pub zeros: u32,
    /// Bytes of another file, or of none.
    pub stale: u32,
    /// The name is not there.
    pub absent: u32,
}

impl AppendTails {
    pub(crate) fn add(&mut self, other: &Self) {
        self.whole = self.whole.saturating_add(other.whole);
        self.prefix += other.prefix;
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.stale = self.stale.saturating_add(other.stale);
        self.absent = self.absent.saturating_add(other.absent);
    }
}

/// Bytes found in files to which they do not belong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
#[serde(default)]
pub struct StrayBytes {
    /// Files with stale bytes.
    pub stale_files: u32,
    /// Of other files, of other places, or of inodes that the name had before.
    pub stale_bytes: u64,
    /// Those of them that are of files deleted before the ops began.
    pub of_prefill_bytes: u64,
    pub foreign_files: u32,
    /// Of no file: torn inside a sector, metadata, or what nobody stamped.
    pub foreign_bytes: u64,
}

/// Time from the end of the oldest acknowledged op that is lost and was not promised to stay, to
/// the crash; 0 where nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
pub struct LossWindow {
    /// Of ops whose bytes are not there under the name.
    pub data_ns: u64,
    /// Of ops whose name or size is not there.
    pub metadata_ns: u64,
}

impl LossWindow {
    /// Of either.
    #[must_use]
    pub fn all_ns(&self) -> u64 {
        self.data_ns.max(self.metadata_ns)
    }
}

/// All that is found in one state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Findings {
    pub at_ns: u64,
    pub class: Class,
    pub sampling: Sampling,
    pub violations: Vec<Violation>,
    /// Files of which something must be there, or must be gone; without those of the preparation
    /// that were deleted, and with all that are lost.
    pub acknowledged_files: u32,
    /// Those of them that break a promise of the contract.
    pub acknowledged_files_lost: u32,
    /// From the end of the oldest op that was promised to stay and is lost, to the crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_loss_ns: Option<u64>,
    pub loss_window: LossWindow,
    /// Bytes of the newest acknowledged contents that are not there, promised or not.
    pub lost_bytes: u64,
    /// Files that were acknowledged to be there and are not.
    pub lost_names: u32,
    /// Those of them of which the file was synced and the directory was not: POSIX allows it, most
    /// file systems keep them (P2).
    pub lost_names_of_synced_files: u32,
    pub replaced: ReplacedTargets,
    pub appended: AppendTails,
    pub stray: StrayBytes,
    /// Whether no op survived that began after one that is lost had ended.
    pub is_prefix: bool,
    /// `None`: in no way.
    pub mounted: Option<MountStep>,
    /// Of the mount that worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_ns: Option<u64>,
    /// The repair before the mount could not replay the journal, and went on without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay_failed: bool,
    /// As fsck said after the unmount; `None`: not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_repair: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_usable: Option<bool>,
    pub lost_and_found: u32,
    pub kernel_messages: u32,
    /// Files that no plan has.
    pub unknown_files: u32,
    /// Files on which an op failed before, so that nobody knows what they should hold.
    pub not_judged_files: u32,
    /// Files with contents that were written after the crash: times of journal and log do not
    /// belong together. Nothing here may be believed then.
    pub later_files: u32,
}

impl Findings {
    /// Whether acknowledged work is lost (P0).
    #[must_use]
    pub fn breaks_the_contract(&self) -> bool {
        self.breaks(PromiseClass::Contract)
    }

    /// Whether a promise of this class is broken.
    #[must_use]
    pub fn breaks(&self, class: PromiseClass) -> bool {
        self.violations.iter().any(|violation| violation.promise.class() == class)
    }
}
