//! What the phases of a workload make of its dataset, followed from phase to phase.
//!
//! The plan, the executor and the worker follow it by the same rules: which contents a sector may
//! hold, how long a file is, which names it has. Nobody looks at the file system for that.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// What earlier phases of a workload have made of its dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetState {
    /// Oldest version of contents that a sector may hold.
    pub oldest_version: u16,
    /// Newest version: each phase that overwrites writes the next one.
    pub newest_version: u16,
    /// Bytes that were appended to every file.
    pub appended_bytes: u64,
    /// Whether the files have their second names (`r` in place of `f`).
    pub renamed: bool,
    /// No file is longer than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_bytes: Option<u64>,
    /// Whether sectors that were never written may be there: they read as zeros.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unwritten: bool,
    /// Whether each file has a hard link (`l` in place of `f`).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub linked: bool,
    /// Whether each file has a symbolic link (`s` in place of `f`).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub symlinked: bool,
    /// Bytes of the extended attribute of each file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_bytes: Option<u64>,
    /// How far the phase came that made the files and had a stonewall; absent: all were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Reached>,
}

/// What a phase with a stonewall has made of the dataset, where every thread went on to the same
/// number of ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reached {
    /// Of each run of leaf directories (see [`crate::dataset::Dataset::own_cuts`]) the first files
    /// are there; 1 run is all of them.
    Files {
        /// Runs of leaf directories: one a thread that had some of its own.
        runs: u32,
        /// Files of each, where it has so many.
        each: u64,
    },
    /// All files are there, and none was made longer than this.
    Bytes {
        /// Longest that a file was made.
        most_bytes: u64,
    },
}

impl Default for DatasetState {
    fn default() -> Self {
        Self {
            oldest_version: 1,
            newest_version: 1,
            appended_bytes: 0,
            renamed: false,
            truncated_bytes: None,
            unwritten: false,
            linked: false,
            symlinked: false,
            attribute_bytes: None,
            reached: None,
        }
    }
}

impl DatasetState {
    /// Bytes of a file that was made with `created_bytes`.
    #[inline(always)]
    #[must_use]
    pub fn size_bytes(&self, created_bytes: u64) -> u64 {
        let made_bytes = created_bytes.min(self.most_made_bytes());
        let size_bytes = made_bytes.saturating_add(self.appended_bytes);
        self.truncated_bytes.map_or(size_bytes, |most_bytes| size_bytes.min(most_bytes))
    }

    /// No file was made longer than this.
    #[must_use]
    pub fn most_made_bytes(&self) -> u64 {
        match self.reached {
            Some(Reached::Bytes { most_bytes }) => most_bytes,
            _ => u64::MAX,
        }
    }

    /// Whether every file that was cut to a length, or was not written further, ends at a multiple
    /// of `unit_bytes`.
    #[must_use]
    pub fn ends_at(&self, unit_bytes: u64) -> bool {
        let made_bytes = match self.reached {
            Some(Reached::Bytes { most_bytes }) => most_bytes,
            _ => 0,
        };
        let cut_bytes = self.truncated_bytes.unwrap_or(0);
        [made_bytes, cut_bytes].iter().all(|bytes| bytes.is_multiple_of(unit_bytes))
    }

    /// Whether every file is as long as it was made, or longer.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.truncated_bytes.is_none()
    }
}

/// What an op makes of the dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that a later phase could meet.
    Nothing,
    /// All contents are of the next version.
    Rewrite,
    /// Some contents are of the next version.
    RewriteSome,
    /// Some contents are gone and read as zeros.
    TrimSome,
    /// Each cycle writes the next version; a file that none of them took keeps its own.
    RewriteEachCycle,
    /// Each file is longer by a call.
    Append,
    /// The files have their other names.
    Rename,
    /// The files are gone, with all their names.
    Delete,
    /// The directories are gone.
    RemoveDirs,
    /// No file is longer than the block size says.
    Truncate,
    /// The files are there and hold zeros.
    Allocate,
    /// Each file has a hard link.
    Link,
    /// Each file has a symbolic link.
    Symlink,
    /// Each file has an extended attribute of the block size.
    SetAttribute,
}

impl Effect {
    /// The state after a phase with this effect, of `bs_bytes` and so many cycles.
    #[must_use]
    pub fn after(self, state: DatasetState, bs_bytes: u64, cycles: u32) -> DatasetState {
        let newest_version = state.newest_version.saturating_add(1);
        match self {
            Self::Rewrite => DatasetState {
                oldest_version: newest_version,
                newest_version,
                unwritten: false,
                ..state
            },
            Self::RewriteSome => DatasetState { newest_version, ..state },
            Self::RewriteEachCycle => {
                let cycles = u16::try_from(cycles).unwrap_or(u16::MAX);
                let newest_version = state.newest_version.saturating_add(cycles);
                // Files that were made anew have no attribute.
                DatasetState { newest_version, attribute_bytes: None, ..state }
            }
            Self::Append => DatasetState {
                appended_bytes: state.appended_bytes.saturating_add(bs_bytes),
                truncated_bytes: state.truncated_bytes.map(|most| most.saturating_add(bs_bytes)),
                ..state
            },
            Self::Rename => DatasetState { renamed: !state.renamed, ..state },
            Self::Truncate => {
                let most_bytes = state.truncated_bytes.map_or(bs_bytes, |most| most.min(bs_bytes));
                DatasetState { truncated_bytes: Some(most_bytes), ..state }
            }
            Self::Allocate | Self::TrimSome => DatasetState { unwritten: true, ..state },
            Self::Link => DatasetState { linked: true, ..state },
            Self::Symlink => DatasetState { symlinked: true, ..state },
            Self::SetAttribute => DatasetState { attribute_bytes: Some(bs_bytes), ..state },
            Self::Nothing | Self::Delete | Self::RemoveDirs => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_appends_and_truncations() {
        let state = Effect::Append.after(DatasetState::default(), 100, 0);
        assert_eq!([0, 50].map(|created| state.size_bytes(created)), [100, 150]);
        let state = Effect::Truncate.after(state, 120, 0);
        assert_eq!([0, 50].map(|created| state.size_bytes(created)), [100, 120]);
        let state = Effect::Append.after(state, 10, 0);
        assert_eq!([0, 50].map(|created| state.size_bytes(created)), [110, 130]);
        let state = Effect::Truncate.after(Effect::Truncate.after(state, 0, 0), 500, 0);
        assert_eq!([0, 50].map(|created| state.size_bytes(created)), [0, 0]);
    }

    #[test]
    fn what_a_stonewall_has_cut_is_cut_before_what_follows() {
        let reached = Some(Reached::Bytes { most_bytes: 70 });
        let state = DatasetState { reached, ..DatasetState::default() };
        assert_eq!([50, 100].map(|made| state.size_bytes(made)), [50, 70]);
        let state = Effect::Append.after(state, 10, 0);
        assert_eq!([50, 100].map(|made| state.size_bytes(made)), [60, 80]);
        let state = Effect::Truncate.after(state, 75, 0);
        assert_eq!([50, 100].map(|made| state.size_bytes(made)), [60, 75]);
        assert!(state.ends_at(5) && !state.ends_at(7));
        let files = Some(Reached::Files { runs: 2, each: 3 });
        let text = serde_json::to_string(&DatasetState { reached: files, ..state }).unwrap();
        assert!(text.contains(r#""reached":{"files":{"runs":2,"each":3}}"#), "{text}");
    }

    #[test]
    fn a_state_of_an_older_spec_is_read() {
        let old = r#"{"oldest_version":1,"newest_version":2,"appended_bytes":3,"renamed":true}"#;
        let state: DatasetState = serde_json::from_str(old).unwrap();
        let known = DatasetState { newest_version: 2, appended_bytes: 3, renamed: true, ..state };
        assert_eq!(state, known);
        assert_eq!(serde_json::to_string(&state).unwrap(), old, "nothing new is said of it");
    }
}
