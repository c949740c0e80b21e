//! Views of verdicts, for tables and documents. Plain data: nothing is decided here.

use crate::cut_off::CutOff;
use fsarena_model::parameter::Parameter;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Rule, Stop, Verdict};
use serde::Serialize;

/// Everything that is said of the questions of a RUN.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Verdicts {
    /// Version of the method that the RUN was planned by.
    pub method: u32,
    /// Version of the method that these verdicts are of.
    pub computed_by: u32,
    /// When it was taken.
    pub rule: Rule,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Label of the contender that all are compared with; absent: every pair.
    pub baseline: Option<String>,
    /// Label of the contender that all ratios of rankings refer to: the baseline, or else the first
    /// of the plan that is compared with others. Absent where nothing is compared.
    pub reference: Option<String>,
    /// What the verdicts hold for.
    pub scope: Option<Scope>,
    /// Time that the RUN might take.
    pub budget_ns: Option<u64>,
    /// Blocks carried out.
    pub blocks_done: u32,
    /// Of these, those that count.
    pub blocks_counted: u32,
    /// Blocks that count at most: as many as fit into the budget, where that is the rule and the
    /// first has ended.
    pub most_blocks: u32,
    /// Blocks that were run again, each with its reason.
    pub rerun: Vec<RerunBlock>,
    /// Blocks that had such a reason and count, since there was no spare one left.
    pub not_rerun: Vec<RerunBlock>,
    /// How the blocks ended; absent where they did not.
    pub stop: Option<Stop>,
    /// Index of the question that is shown first.
    pub headline: Option<usize>,
    /// The questions, in order.
    pub questions: Vec<QuestionView>,
    /// The same along the levels of a workload's parameter, and where rankings cross.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<RankingAlong>,
    /// Over all workloads; absent where there is one alone.
    pub suite: Option<SuiteView>,
    /// Whether what the looks decided when they were taken is what they decide now; absent where no
    /// look is stored.
    pub agrees_with_stored_looks: Option<bool>,
}

impl Verdicts {
    /// How the RUN was cut off, where its budget ended it.
    #[must_use]
    pub fn cut_off(&self) -> Option<CutOff> {
        let (planned, done) = (self.most_blocks, self.blocks_counted);
        CutOff::new(self.stop?.why, self.rule, self.budget_ns, (planned, done))
    }
}

/// What verdicts hold for. Other boots, other days and other machines are other units: see
/// `fsarena compare`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Scope {
    /// The machine, in one line.
    pub machine: String,
    /// Boots in which trials were done.
    pub boots: usize,
    /// Uninterrupted pieces of the RUN.
    pub sessions: usize,
    /// Wall clock at the start of the first trial, ns since 1970.
    pub started_unix_ns: Option<u64>,
    /// Wall clock at the end of the last one.
    pub ended_unix_ns: Option<u64>,
    /// Kernel and disk, where the trials were done in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_on: Option<String>,
}

/// A block that does not count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct RerunBlock {
    /// Number, from 1.
    pub block: u32,
    /// Why: nothing that depends on its scores.
    pub why: String,
}

/// A question and its answers.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct QuestionView {
    pub workload: String,
    /// Its title.
    pub workload_title: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
    /// Whether the phase leaves something to be made safe; what only reads does not.
    pub changes: bool,
    /// Blocks at its look.
    pub looks: Vec<u32>,
    /// Contenders with figures, the least median first; cold ones before warm ones.
    pub rows: Vec<RankRow>,
    /// The pairs that were asked, in the order of `rows` (a before b), or with the baseline as b.
    pub pairs: Vec<PairView>,
    /// Contenders that are excluded, with the reason.
    pub left: Vec<Excluded>,
    /// What the watchers saw.
    pub watch: crate::watchers::Watch,
    /// What the differences are due to, where several factors vary.
    pub factors: Option<crate::factors::FactorView>,
}

/// A contender in the ranking of a question.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct RankRow {
    pub contender: usize,
    pub label: String,
    /// Whether its values are of cold phases.
    pub cold: bool,
    /// Blocks with a value that count.
    pub n: usize,
    /// Median, in the metric's base unit.
    pub median: f64,
    /// Interval of the median between order statistics, with the level that it has; absent for one
    /// value.
    pub median_low: Option<f64>,
    pub median_high: Option<f64>,
    /// Its level, 0 to 1.
    pub median_level: Option<f64>,
    /// Geometric mean.
    pub geometric_mean: f64,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Standard deviation of the logarithms: what others call coefficient of variation.
    pub cv: Option<f64>,
    /// Value ÷ that of the reference ([`Verdicts::reference`]): by the pair's estimate.
    /// 1 for the reference itself; absent where the two may not be compared, or no block has both.
    pub ratio: Option<f64>,
    /// Blocks behind the ratio and its interval: those of the look that decided the pair, which may
    /// be fewer than `n`; absent for the reference itself.
    pub ratio_n: Option<usize>,
    /// Interval of the ratio; absent for the reference itself and before the first look.
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    /// What is said of this contender against the reference; absent for the reference itself.
    pub against_reference: Option<Verdict>,
    /// Letters: two contenders that share one are not shown to differ. Empty with a baseline.
    pub letters: String,
    /// Number of its tier, from 1: neighbours that are all proved SAME; absent where it is alone.
    pub tier: Option<u32>,
    /// Values that stand out (modified z above 3.5); they are kept.
    pub outliers: usize,
}

/// How the interval of a ratio was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalBy {
    /// Student's t.
    StudentT,
    /// Student's t, with a spread that leans on all contenders.
    PooledT,
    /// Exactly, from signed ranks.
    SignedRanks,
}

impl From<fsarena_stats::IntervalBy> for IntervalBy {
    fn from(by: fsarena_stats::IntervalBy) -> Self {
        match by {
            fsarena_stats::IntervalBy::StudentT => Self::StudentT,
            fsarena_stats::IntervalBy::PooledT => Self::PooledT,
            fsarena_stats::IntervalBy::SignedRanks => Self::SignedRanks,
        }
    }
}

/// Two contenders.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PairView {
    /// Index of the first contender.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// Label of the first.
    pub a_label: String,
    /// Label of the second.
    pub b_label: String,
    /// What is said of the first.
    pub verdict: Verdict,
    /// FASTER or SLOWER where a difference is shown, also where it is within the margin and the
    /// verdict is SAME.
    pub difference: Option<Verdict>,
    /// Blocks in which both have a value that may be compared, as of the look.
    pub n: usize,
    /// Blocks by the look that this is of; 0 before the first.
    pub at_blocks: u32,
    /// How its interval was made.
    pub interval_by: IntervalBy,
    /// Typical value of a ÷ value of b, that of Hodges and Lehmann; absent without a block that has
    /// both.
    pub ratio: Option<f64>,
    /// Interval of the ratio; absent before the first look, or where so few blocks have none.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Level of this interval alone, 0 to 1: corrected for looks and for the other pairs.
    pub level: Option<f64>,
    /// The interval that SAME is said by: the whole of it lies within the margin then. Narrower
    /// than the other, since only one of its ends can be the wrong one; absent where the other is.
    pub same_low: Option<f64>,
    pub same_high: Option<f64>,
    /// Its level alone, 0 to 1.
    pub same_level: Option<f64>,
    /// Ratio of the geometric means of the blocks that have both.
    pub mean_ratio: Option<f64>,
    /// Hodges-Lehmann ratio.
    pub hl_ratio: Option<f64>,
    /// Ratio of the medians, in blocks that have both.
    pub median_ratio: Option<f64>,
    /// Whether the two spread in different shapes: then mean, median and Hodges-Lehmann ratio
    /// answer different questions. SAME is refused then, and FASTER and SLOWER where they do not
    /// agree.
    pub shapes_differ: bool,
    /// The least margin of 1, 2, 5, 10 and 20 % within which the two are shown to be the same.
    pub same_within: Option<f64>,
    /// What it would still take; absent where it is decided, and where nothing is in sight.
    pub forecast: Option<Forecast>,
    /// Whether it is undecided and no difference is in sight: further blocks would hardly show one.
    pub no_difference_in_sight: bool,
    /// Where the times differ and the work of the processors does not, beside others that used the
    /// machine more on the slower side.
    pub machine_effect: Option<MachineEffect>,
    /// Why it is undecided, where that is not the spread.
    pub why: Option<String>,
}

impl Verdicts {
    /// The row of a question that its ratios are to: that of [`Verdicts::reference`], or the first
    /// of the plan with figures where it has none. Where nothing is compared, the best.
    #[must_use]
    pub fn reference<'q>(&self, question: &'q QuestionView) -> Option<&'q RankRow> {
        let is_reference = |row: &&RankRow| Some(&row.label) == self.reference.as_ref();
        let first = || match self.reference {
            Some(_) => question.rows.iter().min_by_key(|row| row.contender),
            None => question.rows.first(),
        };
        question.rows.iter().find(is_reference).or_else(first)
    }
}

impl PairView {
    /// The interval that the verdict rests on: SAME is said by one of its own.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        match self.verdict {
            Verdict::Same => self.same_low.zip(self.same_high),
            Verdict::Faster | Verdict::Slower | Verdict::Undecided => self.low.zip(self.high),
        }
    }

    /// The pair the other way round.
    #[must_use]
    pub fn turned(&self) -> Self {
        let over = |ratio: Option<f64>| ratio.map(f64::recip);
        Self {
            a: self.b,
            b: self.a,
            a_label: self.b_label.clone(),
            b_label: self.a_label.clone(),
            verdict: self.verdict.swapped(),
            difference: self.difference.map(Verdict::swapped),
            machine_effect: self.machine_effect.map(|effect| effect.turned()),
            ratio: over(self.ratio),
            low: over(self.high),
            high: over(self.low),
            same_low: over(self.same_high),
            same_high: over(self.same_low),
            mean_ratio: over(self.mean_ratio),
            hl_ratio: over(self.hl_ratio),
            median_ratio: over(self.median_ratio),
            ..self.clone()
        }
    }
}

/// A question along the levels of a parameter.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct RankingAlong {
    /// The workload whose parameters vary: `random-io`.
    pub workload: String,
    pub phase: String,
    pub metric: Metric,
    pub clock: Clock,
    /// What varies along it.
    pub parameter: Parameter,
    /// What the other parameters that vary are: `iodepth=16`; empty where there is no other.
    pub others: String,
    /// The pairs that were asked.
    pub pairs: Vec<PairAlong>,
}

/// A pair along the levels.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PairAlong {
    /// Index of the first contender.
    pub a: usize,
    /// Index of the second: the baseline, or that of the two which was written first.
    pub b: usize,
    pub a_label: String,
    pub b_label: String,
    /// Ascending.
    pub levels: Vec<VerdictAt>,
    /// Whether the first is shown to be FASTER at some levels and SLOWER at others.
    pub crosses: bool,
    /// That in a sentence without a full stop.
    pub words: String,
}

/// A verdict at a level.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct VerdictAt {
    /// Bytes, percent, or a number of things.
    pub value: u64,
    /// As it is shown: `64 KiB`.
    pub text: String,
    /// What is said of the first contender; absent where the two were not compared. A difference
    /// that is of the machine is none.
    pub verdict: Option<Verdict>,
    /// Value of the first ÷ value of the second, with its interval.
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// What it would still take to decide.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Forecast {
    /// What would be shown.
    pub of: ForecastFor,
    /// Blocks needed in all, at least.
    pub blocks: u64,
    /// Blocks more than there are, at least.
    pub more_blocks: u64,
    /// Time that these take for the two contenders, s.
    pub seconds: f64,
    /// Blocks needed in all, at most: as often as not it takes fewer than `blocks` or more than
    /// these.
    pub most_blocks: u64,
    /// Blocks more than there are, at most.
    pub most_more_blocks: u64,
    /// Time that these take for the two contenders, s.
    pub most_seconds: f64,
}

/// Times that differ where the work of the processors does not, beside others that used the machine
/// more on one side: it is the machine then, and not the code.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct MachineEffect {
    /// Time of a ÷ time of b.
    pub time_ratio: f64,
    /// Processor time of the worker of a ÷ that of b.
    pub cpu_ratio: f64,
    /// Share of the machine, 0 to 1, that other programs and the hypervisor had in trials of a.
    pub a_others_share: f64,
    /// The same of b.
    pub b_others_share: f64,
}

impl MachineEffect {
    fn turned(self) -> Self {
        Self {
            time_ratio: self.time_ratio.recip(),
            cpu_ratio: self.cpu_ratio.recip(),
            a_others_share: self.b_others_share,
            b_others_share: self.a_others_share,
        }
    }

    /// In words: `wall +32 %, CPU +0 %: the machine, not the code (others had 77 % of it in trials
    /// of the one, 2 % in those of the other)`.
    #[must_use]
    pub fn words(&self, a_label: &str, b_label: &str) -> String {
        let percent = |ratio: f64| {
            let percent = ((ratio - 1.0) * 100.0).round();
            // No minus before a zero.
            format!("{:+.0} %", if percent == 0.0 { 0.0 } else { percent })
        };
        format!(
            "wall {}, CPU {}: the machine, not the code (others had {:.0} % of it in trials of \
             {a_label}, {:.0} % in those of {b_label})",
            percent(self.time_ratio),
            percent(self.cpu_ratio),
            self.a_others_share * 100.0,
            self.b_others_share * 100.0
        )
    }
}

/// What would be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForecastFor {
    /// A difference of the size that is seen.
    Difference,
    /// That they are within the margin.
    Same,
}

/// A contender that is excluded from a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Excluded {
    pub contender: usize,
    pub label: String,
    pub why: String,
}

/// Contenders over all workloads: geometric means of ratios.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SuiteView {
    /// Label of the contender that the ratios are to.
    pub reference: String,
    /// Questions that went in, each once a workload.
    pub over: Vec<String>,
    /// One row a contender that has a value in all of them, the best first.
    pub rows: Vec<WorkloadShare>,
}

/// A contender over all workloads.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct WorkloadShare {
    pub contender: usize,
    pub label: String,
    /// Geometric mean of its ratios to the reference.
    pub ratio: f64,
    /// 95 % interval for these very workloads (from their blocks); absent where it cannot be had.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// 95 % interval for workloads like these (t over workloads); absent under three.
    pub like_these_low: Option<f64>,
    pub like_these_high: Option<f64>,
    /// Pairs in which it is FASTER.
    pub wins: usize,
    /// Pairs in which it is SLOWER.
    pub losses: usize,
    /// Pairs in which it is SAME.
    pub same: usize,
    /// Pairs in which it is UNDECIDED.
    pub undecided: usize,
}
