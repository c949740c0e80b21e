//! The answer as plain data: a head, one matrix against one baseline, sentences, what is not known
//! yet, what was not run and what to mind.
//!
//! Knows nothing of where it is shown. Labels are as the plan has them; sentences are in plain
//! words and end with a full stop.

use crate::row_state::RowState;
use fsarena_model::run::{Clock, RunState};
use fsarena_model::verdict::{Metric, Rule};
use fsarena_study::Absence;
use fsarena_verdict::MachineEffect;
use serde::Serialize;

/// What a RUN says, for one screen.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    pub head: AnswerHead,
    /// The contender that all others are compared with (index into the plan's contenders); absent
    /// where no contender has a figure.
    pub baseline: Option<usize>,
    /// Contenders with a figure: the baseline first, the others as they were written.
    pub columns: Vec<AnswerColumn>,
    /// What was asked, in the order of the plan; where nothing was, the timed phases.
    pub rows: Vec<AnswerRow>,
    /// The row that stands first (index into `rows`), where one was named before block 1.
    pub headline: Option<usize>,
    /// Whether a rule said before block 1 what counts as a difference. Where none did, medians are
    /// all there is.
    pub is_judged: bool,
    /// The same means: within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: Option<f64>,
    /// Who is faster at what, and by how much: one or two for most RUNs.
    pub sentences: Vec<String>,
    /// What is not known yet.
    pub undecided: Undecided,
    /// What was not run, by its reason.
    pub not_run: Vec<NotRunGroup>,
    /// What to mind, the gravest first.
    pub cautions: Vec<Caution>,
    /// For what all this holds; empty where nothing is said.
    pub scope: String,
}

/// Which RUN this is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerHead {
    /// Number in the database.
    pub run: i64,
    /// Unique id.
    pub uid: String,
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// Wall clock at its start, ns since 1970.
    pub created_unix_ns: u64,
    /// From the start of each session to the end of its last trial; absent where that is not
    /// stored.
    pub elapsed_ns: Option<u64>,
    /// Time that it might take.
    pub budget_ns: Option<u64>,
    /// Where the file systems lay, in words, each kind once: `loop image 2 GiB`.
    pub devices: Vec<String>,
    /// `Linux 6.18.1`.
    pub system: String,
    /// Hypervisor, where one says so: the machine is a virtual one.
    pub hypervisor: Option<String>,
    /// The program that measured it, where that was not fsarena.
    pub measured_by: Option<String>,
    /// How far it came.
    pub course: RunProgress,
}

/// How far a RUN came, and why not farther.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunProgress {
    pub state: RunState,
    /// When was decided; absent where nothing was asked.
    pub rule: Option<Rule>,
    /// Blocks carried out.
    pub blocks: u32,
    /// Of these, those that count: a block that others disturbed on one side is run again.
    pub blocks_counted: u32,
    /// Most blocks that the plan has.
    pub blocks_planned: u32,
    /// Crash runs with figures, where there are no trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash_runs: Option<usize>,
    /// Trials with a record.
    pub trials: usize,
    /// Trials of that many blocks.
    pub trials_planned: usize,
    /// Pieces that it was done in, and boots that these are in; 0 where that is not stored.
    pub sessions: usize,
    pub boots: usize,
    /// Whether trials are missing that would have been run with more time, or after a resume.
    pub is_cut_off: bool,
    /// Why it ended, in words.
    pub ended: String,
}

/// A contender with figures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerColumn {
    /// Index into the plan's contenders.
    pub contender: usize,
    pub label: String,
    /// What all its figures are that they do not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<RowState>,
}

/// One thing that was asked, or measured: a workload, a phase, a figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerRow {
    pub workload: String,
    /// The workload that this one is a level of, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_of: Option<String>,
    /// Its title.
    pub workload_title: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
    /// The figure in plain words: `time until safe on disk`.
    pub figure: String,
    /// Whether all its values are of cold phases.
    pub cold: bool,
    /// Index of the verdicts' question, where it was asked.
    pub question: Option<usize>,
    /// One for each column, in their order.
    pub cells: Vec<AnswerCell>,
}

/// A contender in a row.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerCell {
    /// Index into the plan's contenders.
    pub contender: usize,
    pub mark: Mark,
    /// Median, least and largest value in the metric's base unit (ns or bytes); absent where there
    /// is none.
    pub median: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Values behind it; where there is a ratio, blocks behind that.
    pub n: usize,
    /// Value ÷ the baseline's; absent where the two may not be compared.
    pub ratio: Option<f64>,
    /// Interval of the ratio: the one that the mark rests on.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The same within the margin, and yet shown to differ: both are true.
    pub differs: bool,
    /// Blocks that deciding would still take, at least and at most, of a pair that is not known
    /// yet; absent where no end is in sight.
    pub more_blocks: Option<u64>,
    pub most_more_blocks: Option<u64>,
    /// Not known yet, and further blocks would hardly show a difference.
    pub no_difference_in_sight: bool,
    /// Wall time differs and the work of the processors does not, beside others that used the
    /// machine more on the slower side: it is the machine then, and not the file system.
    pub machine_effect: Option<MachineEffect>,
    /// Why there is no figure, in a word.
    pub absent: Option<Absence>,
    /// Why there is no figure, or why it is not compared, or what has to be known with it.
    pub why: Option<String>,
    /// What it is that the figure does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<RowState>,
}

impl Answer {
    /// What all figures of all contenders are.
    #[must_use]
    pub fn common_states(&self) -> Vec<RowState> {
        let Some((first, others)) = self.columns.split_first() else { return Vec::new() };
        let is_common = |state: &&RowState| others.iter().all(|one| one.states.contains(*state));
        first.states.iter().filter(is_common).copied().collect()
    }
}

impl AnswerColumn {
    /// What a figure of its is that not all of them are.
    #[must_use]
    pub fn own_states(&self, cell: &AnswerCell) -> Vec<RowState> {
        let is_own = |state: &&RowState| !self.states.contains(state);
        cell.states.iter().filter(is_own).copied().collect()
    }
}

/// What is said of a contender against the baseline. Of every figure less is better, of times and
/// of bytes alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It is the baseline itself.
    Baseline,
    /// It needs less.
    Faster,
    /// It needs more.
    Slower,
    /// The two are within the margin of each other.
    Same,
    /// None of these is shown.
    Unknown,
    /// It has a figure that is not compared: warm beside cold, or nothing was asked.
    NotCompared,
    /// It has no figure.
    Missing,
}

impl Mark {
    /// Whether it says how the two compare.
    #[must_use]
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same)
    }
}

/// What is not known yet, among the cells of the matrix.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undecided {
    /// Cells that are compared with the baseline.
    pub asked: usize,
    /// Those that are not known yet.
    pub unknown: usize,
    /// Those of them that more blocks would decide, by the forecast, in an hour or in ten times as
    /// long as the RUN took; where there are none, the one that takes least.
    pub within_reach: usize,
    /// Blocks that these would still take, at least and at most; the latter is absent where it is
    /// too long to wait for.
    pub more_blocks: Option<u64>,
    pub most_more_blocks: Option<u64>,
    /// Time that those would take, ns.
    pub more_ns: Option<u64>,
    pub most_more_ns: Option<u64>,
    /// Cells that are not known yet, and of which further blocks would hardly show a difference.
    pub no_difference_in_sight: usize,
    /// What a new RUN that has this time is started with, such as `--budget 10m`.
    pub options: Option<String>,
    /// All that in one sentence; empty where nothing was compared.
    pub sentence: String,
}

/// What was not run for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotRunGroup {
    /// Labels of contenders, or a contender with a workload; each once.
    pub what: Vec<String>,
    /// Why; without what would help, where that is a package.
    pub reason: String,
    /// Packages (by Debian's names) that would help.
    pub packages: Vec<String>,
}

/// What to mind with the figures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caution {
    /// One sentence without a full stop.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<String>,
}
