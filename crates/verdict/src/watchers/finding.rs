//! What watchers find, and the words and limits they share.

use crate::JsonSchema;
use serde::Serialize;

/// A value stands out above this (B. Iglewicz and D. Hoaglin, "How to Detect and Handle Outliers",
/// 1993).
pub const OUTLIER_Z: f64 = 3.5;

/// What the watchers of one question saw.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Watch {
    /// What has to be said, the gravest first.
    pub findings: Vec<Finding>,
    /// Values that stand out, kept like all others.
    pub outliers: Vec<Outlier>,
}

/// Something that was found.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    /// In words, with figures.
    pub text: String,
    /// Probability of such a figure where there is nothing; absent for what is no test.
    pub p: Option<f64>,
}

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Values grow or fall over the blocks, in one contender otherwise than in another.
    Drift,
    /// The place in the block changes the value.
    Position,
    /// The contender before changes the value.
    CarryOver,
    /// One block's difference predicts the next.
    Autocorrelation,
    /// No steady state inside the runs.
    NoSteadyState,
    /// Others used the machine.
    ForeignLoad,
}

/// an outlier.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Outlier {
    pub contender: usize,
    /// Block, from 1.
    pub block: u32,
    /// Value ÷ median of its contender.
    pub to_median: f64,
    /// 0.6745 · |log value − median| ÷ MAD, with a floor under the MAD.
    pub modified_z: f64,
}

/// A probability as findings print it.
pub(super) fn p_words(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}
