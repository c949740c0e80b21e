//! What a RUN asks, and by which rule it is answered. Fixed before block 1 and stored with the
//! plan, so that every verdict can be computed again from the file alone.
//!
//! The method itself (which interval when, which looks) is in `fsarena-stats` and
//! `fsarena-verdict`, described in `docs/verdict.md`.

use crate::JsonSchema;
use crate::clock::Clock;
pub use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// Version of the method. Whatever can change a verdict of a stored RUN is a new version; the
/// program knows the present one alone, and a RUN keeps the number that it was planned by.
pub const METHOD_VERSION: u32 = 3;

/// The margin where nothing else is said: SAME means within a factor of 1.05 either way.
pub const DEFAULT_MARGIN: f64 = 0.05;

/// The most blocks that a RUN with looks may be planned with: for these the levels of the looks are
/// known.
pub const CAPS: [u32; 8] = [8, 12, 16, 24, 32, 48, 64, 96];

/// Blocks after which is looked, for the largest cap; a smaller one has a beginning of it.
const LOOKS: [u32; 10] = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96];

/// What a RUN asks, and by which rule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictPlan {
    /// [`METHOD_VERSION`] of the program that planned the RUN.
    pub method: u32,
    /// When the figures are looked at.
    pub rule: Rule,
    /// SAME means a ratio within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// What is asked, in the order of workloads and phases.
    pub questions: Vec<Question>,
    /// The one question (index into `questions`) whose answer stands first.
    pub headline: Option<usize>,
    /// Which contenders are compared.
    pub pairs: Pairs,
    /// Time that the RUN may take: no block is begun that is not expected to end within it.
    pub budget_ns: Option<u64>,
    /// When the RUN began, ns since 1970: what it takes from there to its first trial (images,
    /// staged data) is time of its budget. Absent in plans that were not carried out yet, and in
    /// those of versions that did not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_unix_ns: Option<u64>,
    /// Blocks beyond the cap in the schedule, for those that have to be run again.
    pub spare_blocks: u32,
    /// When a block has to be run again, for a reason that is visible without its scores.
    pub limits: Limits,
}

/// When the figures are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Rule {
    /// After 4, 6, 8, 12, … blocks; whoever is decided leaves. At most `cap` blocks.
    Looks {
        /// Most blocks.
        cap: u32,
    },
    /// Once, after all blocks.
    Fixed {
        /// Their number.
        blocks: u32,
    },
    /// Once, after as many blocks as fit into the budget. The first block says how many these are;
    /// where those that follow are shorter, more are planned. The budget wins over that number, and
    /// over `least`: no block is begun that is not expected to end in time, and such a RUN was cut
    /// off by its budget.
    Fit {
        /// Fewest blocks that are planned, also where fewer would fit.
        least: u32,
        /// Most blocks, and their number where there is no budget.
        most: u32,
    },
}

impl Rule {
    /// Most blocks that count.
    #[must_use]
    pub fn blocks(self) -> u32 {
        match self {
            Self::Looks { cap } => cap,
            Self::Fixed { blocks } => blocks,
            Self::Fit { most, .. } => most,
        }
    }

    /// Numbers of blocks after which is looked, ascending; the last is [`Rule::blocks`]. Of
    /// [`Rule::Fit`] the one look may come earlier.
    #[must_use]
    pub fn looks(self) -> Vec<u32> {
        match self {
            Self::Looks { cap } => {
                let earlier = LOOKS.iter().copied().filter(|look| *look < cap);
                earlier.chain(std::iter::once(cap)).collect()
            }
            Self::Fixed { blocks } => vec![blocks],
            Self::Fit { most, .. } => vec![most],
        }
    }

    /// Fewest blocks after which all can be decided: those of the first look.
    #[must_use]
    pub fn least_blocks(self) -> u32 {
        match self {
            Self::Looks { cap } => LOOKS[0].min(cap),
            Self::Fixed { blocks } => blocks,
            Self::Fit { least, .. } => least,
        }
    }
}

/// One thing that is asked about all pairs of contenders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Name of the timed phase.
    pub phase: String,
    /// What is compared.
    pub metric: Metric,
    /// Clock up to which it is compared.
    pub clock: Clock,
}

impl Question {
    /// The question as it is written in an experiment, of a workload of this name in a RUN that
    /// compares up to `compared`: `small-files:create`, `small-files:create:cpu`,
    /// `small-files:create:time:returned`.
    #[must_use]
    pub fn text(&self, workload: &str, compared: Clock) -> String {
        let text = format!("{workload}:{}", self.phase);
        match self.metric {
            Metric::Time if self.clock == compared => text,
            Metric::Time => format!("{text}:time:{}", self.clock.name()),
            metric => format!("{text}:{}", metric.name()),
        }
    }
}

/// Which contenders are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Pairs {
    /// Every pair.
    All,
    /// Each with this one.
    Baseline {
        /// Index into the plan's contenders.
        contender: usize,
    },
}

/// When a block has to be run again. Nothing here depends on a score.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Share of the machine's processor time, 0 to 1, that the hypervisor gave to others during a
    /// timed phase (`steal`); phases under 100 clock ticks are too short to tell.
    pub steal_share: Option<f64>,
    /// Share of the machine's processor time, 0 to 1, by which other programs may have had more
    /// beside one contender than beside another in the same phase of a block. What they did in the
    /// kernel is not in it, and a file system that a process serves (FUSE) has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// Whether phases under 100 clock ticks count as well: where there are any, all phases of a
    /// contender in a block are looked at together, where these are long enough. Absent in plans of
    /// versions that passed them over.
    #[serde(default)]
    pub short_phases: bool,
}

/// What is said of two contenders.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The first needs less than the second.
    Faster,
    /// The first needs more than the second.
    Slower,
    /// The two are within the margin of each other.
    Same,
    /// None of these is shown.
    #[default]
    Undecided,
}

names!(Verdict.word {
    Faster = "FASTER", Slower = "SLOWER", Same = "SAME", Undecided = "UNDECIDED",
});

impl Verdict {
    /// The same pair the other way round.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            other => other,
        }
    }
}

/// How the blocks of a RUN ended. Absent while it runs or was interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Blocks that were carried out, those that did not count among them.
    pub blocks: u32,
    /// Why there was no further one.
    pub why: StopWhy,
}

/// Why there was no further block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopWhy {
    /// Everything that was asked is decided.
    Decided,
    /// All blocks of the plan were carried out.
    Cap,
    /// The next block would not have ended within the budget.
    Budget,
}

names!(StopWhy.name { Decided = "decided", Cap = "cap", Budget = "budget" });

/// What one look decided, stored as it was said: computing it again must give the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalysis {
    /// Blocks that counted by then.
    pub blocks: u32,
    /// Wall clock, ns since 1970.
    pub at_unix_ns: u64,
    /// Pairs that were decided at this look.
    pub decided: Vec<DecidedPair>,
}

/// A pair that was decided at a look.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct DecidedPair {
    /// Index into the questions.
    pub question: usize,
    /// Index of the first contender.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// What is said of the first.
    pub verdict: Verdict,
}
