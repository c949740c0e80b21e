//! What the states at the entries of a write log have broken, in numbers and cases: as it is
//! stored.

use crate::promise::Promise;
use serde::{Deserialize, Serialize};

/// Of one run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct HuntRecord {
    /// Entries of the write log during the work, and those of them at which states were made.
    pub events: u64,
    pub events_taken: u64,
    /// States that were made, no two with the same contents; those that were inspected; and second
    /// power cuts in their recovery.
    pub states_made: u64,
    pub states_checked: u64,
    pub recoveries_checked: u64,
    /// States that break what fsync promises, and those that break what is documented.
    pub contract_broken: u64,
    pub documented_broken: u64,
    /// What the disk did that an honest one does not: broken promises are the disk's then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_fault: Option<String>,
    /// The simplest case of each promise that was broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<HuntedCase>,
}

/// A promise that was broken, and the simplest state that breaks it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HuntedCase {
    pub promise: Promise,
    /// States that break it.
    pub states: u64,
    /// How much the state says of single writes: the least is the simplest.
    pub complexity: Complexity,
    /// Class of the state.
    pub state: String,
    pub seed: u64,
    /// The power went so long after the begin of the work.
    pub after_ns: u64,
    /// Which writes are missing, and what was found.
    pub missing: String,
    pub found: String,
    /// Name of the kept state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Simple cases first: by second power cut, class, how much is said of single writes, time.
pub type Complexity = (bool, usize, usize, u64);
