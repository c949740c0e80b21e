//! One look at values that no question was asked about: by the same method, with a family of its
//! own. What it finds is no verdict of the RUN.

use crate::data::{Data, Pool, verdict};
use crate::judge::FIXED_ALPHA;
use crate::points::Points;
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::{Rule, Verdict};
use fsarena_stats::family::{Family, LookInput};
use fsarena_stats::sequential::Looks;

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
    let found = family.analyse(&looks, alpha(plan, points), margin.ln_1p());
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

/// The share of misses that a look after the blocks of these points may have.
fn alpha(plan: &RunPlan, points: &Points) -> f64 {
    let mut blocks: Vec<u32> = points.all.iter().map(|point| point.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    match plan.verdict.as_ref().map(|ask| ask.rule) {
        Some(Rule::Looks { cap }) => {
            let blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
            Looks::with_cap(cap).map_or(0.0, |looks| looks.alpha(blocks))
        }
        Some(Rule::Fixed { .. }) | None => FIXED_ALPHA,
    }
}
