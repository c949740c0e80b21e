//! What a RUN does about crash safety: the plan of its crash runs. What is found in one is in the
//! crate of crash safety.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The crash runs of a RUN: each workload with each run number on each contender.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CrashPlan {
    /// What one of them does.
    #[serde(default, skip_serializing_if = "Campaign::is_default")]
    pub campaign: Campaign,
    /// The RUN has no trials.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_alone: bool,
    /// Names of crash workloads (`unsynced`) or of workloads of the plan, each once; by campaign
    /// names of applications, of litmus programs, or one name for all sequences.
    pub workloads: Vec<String>,
    /// Names of classes of crash states (`dropall`, `lying=2`), each once.
    pub states: Vec<String>,
    /// Runs of each workload on each contender; each has a seed of its own.
    pub runs: u32,
    /// Power cuts of each run, at uniform times; they are divided among the states.
    pub points: u32,
    /// Length of the work, s of virtual time.
    pub seconds: u64,
    /// Seed of the first run, of which the next ones count up; absent: each is drawn from that of
    /// the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seed: Option<u64>,
    /// States that break a promise and are kept, of each contender, workload and kind of state.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub keep: u32,
    /// What of workloads of the plan is not done as in a trial, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload_notes: Vec<String>,
    /// Contenders whose power is not cut, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<CrashNotRun>,
}

/// What the crash runs of a RUN do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Campaign {
    /// Work, and power cuts at uniform times.
    PowerCuts {
        #[serde(flatten)]
        faults: CrashFaults,
    },
    /// Work, and power cuts at every entry of the write log, in every way: finds bugs, and gives no
    /// rates.
    EveryEntry {
        /// States of each run that are inspected, at most.
        states_most: u32,
        #[serde(flatten)]
        faults: CrashFaults,
    },
    /// Applications work, and their own checks judge.
    Applications {
        /// Descriptions (TOML) of those that are not built in, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        described: BTreeMap<String, String>,
    },
    /// Short sequences of file operations, a part of them in each run.
    Sequences {
        /// Operations of each, without those that others need.
        length: u32,
        /// How many are drawn by the seed, and of how many.
        sample: u32,
        all: u32,
        /// The power goes at every entry of the write log, and not only where fsync or sync
        /// returns.
        is_every_entry: bool,
        /// The published bounds alone.
        is_published: bool,
    },
    /// Litmus programs, a part of those of each name in each run.
    Litmus {
        /// Programs of each name.
        programs: u32,
        /// States of each program that are inspected, at most.
        states_most: u32,
    },
    /// Work of which another request fails each time.
    MediumErrors {
        /// Requests that fail in each run, one at a time.
        cases: u32,
    },
}

/// What happens to the disk beside the power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CrashFaults {
    /// The power goes once more while every Nth state is recovered; 0: never.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recovery_every: u32,
    /// This flush of the work, counted from 1, is reported and does nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose_flush: Option<u32>,
}

impl Default for Campaign {
    fn default() -> Self {
        Self::PowerCuts { faults: CrashFaults::default() }
    }
}

impl Campaign {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A contender whose power is not cut.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CrashNotRun {
    /// Index into the contenders of the plan.
    pub contender: usize,
    /// Why, and what would help.
    pub reason: String,
}

/// One crash run of a plan.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct CrashSlot {
    /// From 0.
    pub number: u32,
    /// Index into the crash workloads of the plan.
    pub workload: usize,
    /// Index into the contenders of the plan.
    pub contender: usize,
}

impl CrashPlan {
    /// Why the power of a contender is not cut.
    #[must_use]
    pub fn not_run(&self, contender: usize) -> Option<&str> {
        let row = self.not_run.iter().find(|row| row.contender == contender)?;
        Some(&row.reason)
    }
}

/// The documented promises (P1) of a file system with its options.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, crate::JsonSchema,
)]
#[serde(default)]
pub struct Promises {
    pub replace_is_whole: bool,
    pub replace_keeps_the_name: bool,
    pub no_stale_bytes: bool,
    pub mounts_without_repair: bool,
}
