//! What trials of this machine took, as a plan needs it to foretell what others will take.

use crate::contender::Levels;
use crate::phase::Workload;
use crate::record::StepTime;

/// Trials of one workload on one contender.
#[derive(Clone, PartialEq, Debug)]
pub struct PastWork {
    /// What was done.
    pub workload: Workload,
    /// On what.
    pub levels: Levels,
    /// Whether the contents were checked.
    pub verify: bool,
    /// The trials, the latest first.
    pub trials: Vec<PastTrial>,
}

/// Lengths of one trial.
#[derive(Clone, PartialEq, Debug)]
pub struct PastTrial {
    /// Of the whole trial, with the time until the next one began, ns.
    pub whole_ns: u64,
    /// Of its steps.
    pub steps: Vec<StepTime>,
}

/// What a RUN did before its first trial: images were written, sources of real work were made.
#[derive(Clone, PartialEq, Debug)]
pub struct PastStart {
    /// Of each contender that had trials.
    pub levels: Vec<Levels>,
    /// Those that had trials.
    pub workloads: Vec<Workload>,
    /// From the end of the plan to the first trial, ns.
    pub elapsed_ns: u64,
}
