//! Which is faster, by how much, and is the difference real: everything that decides.
//!
//! [`Judge`] decides, look by look, from the plan and the scores of trials alone; the runner asks
//! it which trials are still needed, and anyone who opens the file later gets the same answers from
//! the same numbers. [`verdicts`] says what it found, with what [`watchers`] saw and which
//! [`factors`] explain the differences; [`compare`] takes several RUNs as the sample. The method is
//! described in `docs/verdict.md`; its pieces are in `fsarena-stats`.
//!
//! Pure: nothing here reads a file, a clock or the machine. Only whole trials are replicates.
//! Absence of a difference is never called "the same".
#![forbid(unsafe_code)]

mod along;
mod build;
pub mod compare;
mod cut_off;
mod data;
mod disturbed;
mod durations;
mod effect;
pub mod factors;
mod judge;
mod parallel;
mod points;
mod scope;
mod suite;
mod view;
pub mod watchers;

pub use cut_off::CutOff;
pub use judge::{BlockEnd, Judge};
pub use points::{Class, Point, Points, Usage};
pub use view::{
    Excluded, Forecast, ForecastFor, IntervalBy, MachineEffect, PairAlong, PairView, QuestionView,
    RankRow, RankingAlong, RerunBlock, Scope, SuiteView, VerdictAt, Verdicts, WorkloadShare,
};

use data::{Data, Pool, verdict};
use fsarena_model::run::{RunHeader, RunPlan, RunSession};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, Rule, Stop, Verdict};
#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
use fsarena_stats::family::{Family, LookInput};
use fsarena_stats::sequential::{Level, Looks};
use judge::FIXED_ALPHA;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use std::collections::BTreeSet;

/// Everything that is said of the questions of a RUN; `None` where it was planned without any.
///
/// `scores` are the latest attempts, in any order; `sessions`, `stop` and `looks` are as stored.
#[must_use]
pub fn verdicts(
    header: &RunHeader,
    sessions: &[RunSession],
    scores: &[TrialScore],
    stop: Option<Stop>,
    looks: &[InterimAnalysis],
) -> Option<Verdicts> {
    let judge = Judge::replay(&header.plan, scores, stop, looks)?;
    let mut found = build::verdicts(&header.plan, &judge, stop, looks);
    found.scope = Some(scope::scope(header, sessions, scores));
    Some(found)
}

/// What was found of a pair.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairResult {
    /// The first, and the second.
    pub pair: (usize, usize),
    /// What is said of the first.
    pub verdict: Verdict,
    /// Value of the first ÷ value of the second.
    pub ratio: Option<f64>,
    /// The interval that this rests on.
    pub interval: Option<(f64, f64)>,
}

/// Looks at all pairs of these contenders together, at the level that the RUN's rule has for so
/// many blocks. `step` says how large the smallest step is in which a value can be read.
#[must_use]
pub fn look_once(
    plan: &RunPlan,
    points: &Points,
    contenders: &[usize],
    margin: f64,
    step: impl Fn(f64) -> f64,
) -> Vec<PairResult> {
    let all = |_: u32| true;
    let later = |at: usize| contenders.iter().skip(at + 1);
    let pairs: Vec<(usize, usize)> = contenders
        .iter()
        .enumerate()
        .flat_map(|(at, &a)| later(at).map(move |&b| (a, b)))
        .collect();
    let pool = Pool::new(points, &all);
    let data: Vec<Data> = pairs
        .iter()
        .map(|&pair| Data::new(&step, points, pair, &pool, &all).with_least(2))
        .collect();
    let looks: Vec<LookInput<'_>> = data.iter().map(Data::look_input).collect();
    let mut family = Family { asked: pairs.len(), differences: 0, sames: 0 };
    let found = family.analyse(&looks, level(plan, points), margin.ln_1p());
    let looked = |((&pair, data), found): ((&(usize, usize), &Data), _)| {
        let found: fsarena_stats::LookResult = found;
        let verdict = verdict(found.decision);
        let on = if verdict == Verdict::Same { found.same } else { found.interval };
        PairResult {
            pair,
            verdict,
            ratio: data.sample().point().map(f64::exp),
            interval: on.map(|interval| (interval.low.exp(), interval.high.exp())),
        }
    };
    pairs.iter().zip(&data).zip(found).map(looked).collect()
}

/// The level of a last look after the blocks of these points.
fn level(plan: &RunPlan, points: &Points) -> Level {
    let blocks: BTreeSet<u32> = points.all.iter().map(|point| point.block).collect();
    match plan.verdict.as_ref().map(|ask| ask.rule) {
        Some(Rule::Looks { cap }) => {
            let blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
            Looks::with_cap(cap).map_or(Level::Once(0.0), |looks| looks.level_at_end(blocks))
        }
        Some(Rule::Fixed { .. } | Rule::Fit { .. }) | None => Level::Once(FIXED_ALPHA),
    }
}
