//! How much equal runs differ on a machine, and the smallest difference that it can show.

use serde::{Deserialize, Serialize};

/// What a short series of equal runs has shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Where it was measured: `loop:1G` with its file system, or a directory.
    pub place: String,
    /// Length of the whole measurement, ns.
    pub elapsed_ns: u64,
    /// Most blocks of a RUN by the shipped rule.
    pub cap: u32,
    /// Each class of work.
    pub classes: Vec<NoiseClass>,
}

/// A class of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseClass {
    /// What is done, in words.
    pub class: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the phase.
    pub phase: String,
    /// Whether the caches were proved cold before the phase.
    pub cold: bool,
    /// Runs that count.
    pub runs: u32,
    /// Median length of the phase, ns.
    pub phase_ns: u64,
    /// Mean length of a whole run (trial), with everything around its phases, ns.
    pub trial_ns: u64,
    /// Standard deviation of the logarithms of the phase's lengths, which is the coefficient of
    /// variation where it is small; absent below three runs.
    pub cv: Option<f64>,
    /// The smallest difference, for each length of a RUN.
    pub smallest: Vec<Smallest>,
}

/// What a RUN of two contenders can show in some time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Smallest {
    /// Length of the RUN, minutes.
    pub minutes: u32,
    /// Blocks that fit, at most the cap.
    pub blocks: u32,
    /// Whether more blocks would fit than the cap allows.
    pub capped: bool,
    /// The smallest difference that is shown with a chance of 90 %, as a share (0.02 is 2 %);
    /// absent where too few blocks fit for any verdict, or the spread is not known.
    pub difference: Option<f64>,
}
