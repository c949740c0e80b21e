//! What a plan is expected to cost, as plain data.

use fsarena_model::run::RunPlan;
use serde::Serialize;

/// Expected cost of a plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCost {
    /// One row a contender and workload that is run.
    pub rows: Vec<PlanCostRow>,
    /// All of it, s; at most, where the RUN ends when all is decided.
    pub total_s: f64,
    /// The same where all is decided at the first look, s.
    pub least_s: f64,
    /// Bytes written to devices and images, all of it; at most, as above.
    pub written_bytes: u64,
    /// The same where all is decided at the first look.
    pub least_written_bytes: u64,
    /// Bytes of images at one time.
    pub image_bytes: u64,
    /// Where the figures come from, one line.
    pub source: String,
    /// Space that each workload of real work needs on the file system under test.
    pub needs: Vec<PlanNeed>,
}

/// Space that a workload needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanNeed {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Bytes on the file system under test.
    pub needed_bytes: u64,
}

/// Expected cost of one workload on one contender over all blocks.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCostRow {
    /// Index into the plan's contenders.
    pub contender: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Trials, at most.
    pub trials: usize,
    /// Trials where all is decided at the first look.
    pub least_trials: usize,
    /// Expected time of all its trials, s; `None` where nothing is known.
    pub expected_s: Option<f64>,
    /// Bytes its trials write.
    pub written_bytes: u64,
    /// Where its figure comes from (`earlier records`, `calibration, assumption`).
    pub source: String,
}

/// Label of a contender of a plan.
pub(super) fn label(plan: &RunPlan, contender: usize) -> String {
    plan.contenders.get(contender).map_or_else(String::new, |c| c.label.clone())
}

/// Seconds as ns; what is not a length is no length.
pub(super) fn nanos(seconds: f64) -> Option<u64> {
    let ns = seconds * 1e9;
    (ns.is_finite() && (0.0..1.8e19).contains(&ns)).then_some(ns as u64)
}
