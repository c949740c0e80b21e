//! The machine: its settings as far as they can change a result, conditions that distort results
//! ([`Finding`]), and how much equal runs differ on it ([`Noise`]).

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host in one boot.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Host name; left out of reports unless asked for.
    pub hostname: String,
    /// `Linux`.
    pub os: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`.
    pub kernel_version: String,
    /// `x86_64`.
    pub architecture: String,
    /// Pretty name of the distribution.
    pub distribution: Option<String>,
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// One uptime of the machine.
    pub boot_id: String,
    /// Hypervisor, where one says so.
    pub hypervisor: Option<String>,
    /// `tsc`, `kvm-clock`, …
    pub clocksource: Option<String>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Whether free memory is handed to the hypervisor, so that its next touch is slow.
    pub page_reporting: bool,
    /// Everything else worth knowing, by name (`thp`, `dirty_ratio`, …).
    pub settings: BTreeMap<String, String>,
}

/// One check: its reading, why it matters, and what mends it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Short name of the check, such as `misaligned-partition`.
    pub code: String,
    /// What was looked at: `host`, `/dev/sdb`, `/mnt/data`.
    pub place: String,
    /// How much it matters.
    pub weight: Weight,
    /// What was read, with its unit, in one sentence.
    pub reading: String,
    /// Why it matters, in one sentence; empty where nothing is wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to do about it, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The command that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// How much a finding matters, the least first.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// As it should be.
    Fine,
    /// Could not be read; the reading says why.
    Unknown,
    /// To be known by who reads the figures.
    Note,
    /// It changes figures; results of machines without it are not comparable.
    Warning,
    /// It spoils figures.
    Bad,
}

names!(Weight.word {
    Fine = "fine", Unknown = "unknown", Note = "note", Warning = "warning", Bad = "bad",
});

/// What a short series of equal runs has shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
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
