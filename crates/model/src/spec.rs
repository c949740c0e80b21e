//! The trial spec: everything the executor needs for one trial, as one JSON document.

use crate::contender::{Contender, ContenderId};
use crate::record::Notice;
use crate::seed::Seed;
use crate::work::{Phase, UserIds, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One trial: a workload on a contender in a block, from a reset state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Which trial this is.
    pub key: TrialKey,
    /// On what.
    pub contender: Contender,
    /// The vetted and claimed target.
    pub target: TargetSpec,
    /// Facts about it, by name; they go into the record as they are.
    #[serde(default)]
    pub device: BTreeMap<String, String>,
    /// What is to be said with the result already now.
    #[serde(default)]
    pub notices: Vec<Notice>,
    /// The work, for reference; what is done is in `steps`.
    pub workload: Workload,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// Seed of this trial.
    pub seed: Seed,
    /// Name that everything made for this trial carries (`fsarena-<run>-<trial>`).
    pub name: String,
    /// Directory for the mount point; it exists and is ours.
    pub scratch_dir: PathBuf,
    /// Period of the sampler; 0: no time series.
    pub sample_period_ns: u64,
    /// When a phase counts as drained.
    pub drain: Drain,
    /// User that the worker becomes; absent: it stays what the executor is.
    #[serde(default)]
    pub user: Option<UserIds>,
    /// Processors of the worker; empty: any.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Leave the file system mounted or its image in place for inspection.
    #[serde(default)]
    pub keep: bool,
}

/// Which trial of which RUN.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialKey {
    /// Unique id of the RUN.
    pub run: String,
    /// Number of the trial in the RUN, from 0, in schedule order.
    pub sequence: u32,
    /// Block, from 0.
    pub block: u32,
    /// Place in the block, from 0.
    pub position: u32,
    /// Contender.
    pub contender: ContenderId,
    /// Name of the workload.
    pub workload: String,
}

/// A claimed target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum TargetSpec {
    /// A block device over an image of ours.
    Image {
        /// `/dev/loop3`.
        device: PathBuf,
        /// The image.
        image: PathBuf,
        /// Its size.
        size_bytes: u64,
        /// Whether the loop reads and writes the image without the host's page cache.
        direct_io: bool,
        /// Whether the image lies in memory (then nothing here is about a disk).
        in_memory: bool,
    },
    /// Memory alone: a file system without a device.
    Memory {
        /// Largest size it may take.
        size_bytes: u64,
    },
    /// A directory of ours in a directory of the user's.
    Directory {
        /// Our directory; emptied by reset, removed by the runner.
        path: PathBuf,
    },
}

/// One step of a trial (DESIGN §3).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step", deny_unknown_fields)]
pub enum Step {
    /// Wipe, mkfs with every option explicit, read features back.
    Reset,
    /// Mount and read the effective options back.
    Mount,
    /// Make the directories of the dataset; not measured.
    MakeDirs,
    /// A phase that is not measured.
    Prepare {
        /// The phase.
        phase: Phase,
    },
    /// syncfs, then wait until the device is idle.
    Settle,
    /// Unmount, drop caches, prove it, mount again.
    Chill,
    /// A timed phase.
    Measure {
        /// The phase.
        phase: Phase,
    },
    /// Read all contents again and compare.
    Verify,
    /// Measure used space, unmount, take everything down.
    Teardown,
}

impl Step {
    /// Name in records and progress lines.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Mount => "mount",
            Self::MakeDirs => "make-dirs",
            Self::Prepare { .. } => "prepare",
            Self::Settle => "settle",
            Self::Chill => "chill",
            Self::Measure { .. } => "measure",
            Self::Verify => "verify",
            Self::Teardown => "teardown",
        }
    }
}

/// When a phase counts as drained where the file system cannot be frozen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The device must be idle for this long.
    pub idle_ns: u64,
    /// After this the phase is "not drained".
    pub cap_ns: u64,
}

impl Default for Drain {
    fn default() -> Self {
        Self { idle_ns: 200_000_000, cap_ns: 60_000_000_000 }
    }
}
