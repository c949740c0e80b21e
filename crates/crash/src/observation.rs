//! What a checker saw in one crash state: which way it could be mounted, which files were there and
//! what was in them, whether it could be used. No judgement: that is the oracle's.

use crate::JsonSchema;
use crate::stamp::{SECTOR, Sector, Stamp, identify};
use serde::{Deserialize, Serialize};

/// Ways to mount, in the order in which they are tried until one works.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MountStep {
    /// With the options of the contender.
    ReadWrite,
    ReadOnly,
    /// Read-only, and the journal is not replayed (noload, norecovery, rescue=all).
    WithoutRecovery,
    /// After its fsck has repaired it.
    AfterRepair,
}

/// One attempt to mount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct MountAttempt {
    #[serde(alias = "rung")]
    pub step: MountStep,
    /// `None`: it is mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// In the time of the guest.
    #[serde(default)]
    pub began_ns: u64,
    /// Of the mount, with whatever was recovered.
    pub duration_ns: u64,
}

/// What fsck said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct FsckResult {
    pub exit_code: i32,
    /// Whether the exit code stands for a clean file system: the driver of the file system knows.
    pub is_clean: bool,
    pub duration_ns: u64,
}

/// A file that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct ObservedFile {
    /// From the root of the file system, without a `/` before it.
    pub path: String,
    /// As stat says.
    pub size_bytes: u64,
    pub contents: Runs,
    /// It could not be read to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
}

/// Sectors of a file from its begin, equal or consecutive ones together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
#[serde(transparent)]
pub struct Runs(Vec<Run>);

/// So many sectors of a kind; of stamps the first one, and the numbers count up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Run {
    #[serde(rename = "c")]
    pub sectors: u32,
    #[serde(rename = "k")]
    pub first: Sector,
}

/// What was seen in one state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, crate::JsonSchema)]
pub struct Observation {
    /// In the order in which they were made. The last one without an errno is the one whose files
    /// follow; without such there are no files. It is not the first one where that recovered
    /// nothing and a repair came after it.
    pub mounts: Vec<MountAttempt>,
    /// Requests of its disk took no time, as those of no disk: the lengths of mounts say nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_untimed: bool,
    /// All regular files but those in `lost+found`.
    pub files: Vec<ObservedFile>,
    /// Files in `lost+found`.
    #[serde(default)]
    pub lost_and_found: u32,
    /// Whether a file could be made, synced and deleted afterwards; `None`: not tried, as where it
    /// is mounted read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_usable: Option<bool>,
    /// Why it could not be unmounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmount_errno: Option<i32>,
    /// The repair before the mount said that it could not replay the journal, and went on without:
    /// what the journal had is lost by the repair, whatever the file system did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replay_failed: bool,
    /// After the unmount; `None`: not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsck: Option<FsckResult>,
    /// Lines of the kernel that tell of damage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_messages: Vec<String>,
    /// All lines of the kernel, and those of fsck, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_log: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fsck_output: Vec<String>,
}

impl Observation {
    /// The way in which it was mounted; `None`: in none.
    #[must_use]
    pub fn mounted(&self) -> Option<MountStep> {
        self.mount().map(|mount| mount.step)
    }

    /// The attempt whose files were read.
    #[must_use]
    pub fn mount(&self) -> Option<&MountAttempt> {
        self.mounts.iter().rfind(|mount| mount.errno.is_none())
    }
}

impl Runs {
    /// Takes in the next bytes of the file: a multiple of 512 each time but the last.
    pub fn take(&mut self, data: &[u8]) {
        for sector in data.chunks(SECTOR) {
            self.push(identify(sector));
        }
    }

    /// Takes in the next sector.
    pub fn push(&mut self, sector: Sector) {
        match self.0.last_mut() {
            Some(last) if last.first.at(last.sectors).as_ref() == Some(&sector) => {
                last.sectors += 1;
            }
            _ => self.0.push(Run { sectors: 1, first: sector }),
        }
    }

    #[must_use]
    pub fn as_slice(&self) -> &[Run] {
        &self.0
    }

    /// Each sector in turn.
    pub fn sectors(&self) -> impl Iterator<Item = Sector> + '_ {
        self.0.iter().flat_map(|run| (0..run.sectors).filter_map(|at| run.first.at(at)))
    }
}

impl Sector {
    /// The sector so many behind it in a run; `None`: a run does not go on with it.
    fn at(&self, behind: u32) -> Option<Self> {
        match self {
            Self::Stamp { stamp, sector, bytes } if usize::from(*bytes) == SECTOR => {
                let sector = sector.checked_add(behind)?;
                Some(Self::Stamp { stamp: *stamp, sector, bytes: *bytes })
            }
            Self::Zeros | Self::Foreign => Some(self.clone()),
            _ => (behind == 0).then(|| self.clone()),
        }
    }

    /// Whose it is, where that is known.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Stamp { stamp, .. } => Some(*stamp),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::fill;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { seed: u64::MAX, file: 3, version: 9 };

    #[test]
    fn a_whole_file_is_two_runs_and_comes_back_from_text() {
        let mut data = vec![0; 8000];
        fill(&mut data, STAMP, 0);
        let mut runs = Runs::default();
        runs.take(&data[..4096]);
        runs.take(&data[4096..]);
        assert_eq!(runs.as_slice().len(), 2);
        assert_eq!(runs.as_slice()[0].sectors, 15);
        let file = ObservedFile {
            path: "created/000003".to_owned(),
            size_bytes: 8000,
            contents: runs,
            errno: None,
        };
        let mounts = vec![
            MountAttempt {
                step: MountStep::ReadWrite,
                errno: Some(117),
                began_ns: 1,
                duration_ns: 5,
            },
            MountAttempt { step: MountStep::ReadOnly, errno: None, began_ns: 8, duration_ns: 6 },
        ];
        let seen = Observation { mounts, files: vec![file], ..Observation::default() };
        assert_eq!(seen.mounted(), Some(MountStep::ReadOnly));
        let text = serde_json::to_string(&seen).unwrap();
        assert!(text.len() < 400, "{text}");
        assert_eq!(serde_json::from_str::<Observation>(&text).unwrap(), seen);
    }

    proptest! {
        /// No sector is lost or changed by the runs, in memory or as text.
        #[test]
        fn runs_are_the_sectors(kinds in prop::collection::vec((0_u8..5, 0_u32..4), 0..40)) {
            let sectors: Vec<Sector> = kinds
                .iter()
                .map(|(kind, number)| match kind {
                    0 => Sector::Zeros,
                    1 => Sector::Foreign,
                    2 => Sector::Piece(vec![*number as u8 + 1; 3]),
                    3 => Sector::Stamp { stamp: STAMP, sector: *number, bytes: 100 },
                    _ => Sector::Stamp { stamp: STAMP, sector: *number, bytes: 512 },
                })
                .collect();
            let mut runs = Runs::default();
            sectors.iter().for_each(|sector| runs.push(sector.clone()));
            prop_assert_eq!(runs.sectors().collect::<Vec<_>>(), sectors);
            let text = serde_json::to_string(&runs).unwrap();
            prop_assert_eq!(serde_json::from_str::<Runs>(&text).unwrap(), runs);
        }
    }
}
