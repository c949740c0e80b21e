//! What a RUN does about crash safety: the plan of its crash runs. What is found in one is in the
//! crate of crash safety.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// The crash runs of a RUN: each workload with each run number on each contender in a guest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CrashPlan {
    /// Names of crash workloads (`unsynced`) or of workloads of the plan, each once.
    pub workloads: Vec<String>,
    /// Names of classes of crash states (`dropall`, `lying=2`), each once.
    pub states: Vec<String>,
    /// Runs of each workload on each contender; each has a seed of its own.
    pub runs: u32,
    /// Power cuts of each run, at uniform times; they are divided among the states.
    pub points: u32,
    /// Length of the work, s of virtual time.
    pub seconds: u64,
    /// What of workloads of the plan is not done as in a trial, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload_notes: Vec<String>,
    /// Contenders whose power is not cut, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<CrashNotRun>,
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Promises {
    pub replace_is_whole: bool,
    pub replace_keeps_the_name: bool,
    pub no_stale_bytes: bool,
    pub mounts_without_repair: bool,
}
