//! Contenders over all workloads: geometric means of their ratios.
//!
//! Each workload goes in once, however many phases it has: by the mean of its questions about time.
//! Two intervals answer two questions: for these very workloads the spread of their blocks, for
//! workloads like these the spread among them.

use crate::judge::{Judge, QuestionState};
use crate::view::{SuiteView, WorkloadShare};
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::Verdict;
use fsarena_stats::{mean_t, paired::PairSample};
use std::collections::BTreeMap;

const ALPHA: f64 = 0.05;
/// Fewer say nothing about others like them.
const LIKE_THESE_FROM: usize = 3;

/// `None` where fewer than two workloads ask about time, or fewer than two contenders have a value
/// in all of them that may be compared.
pub(super) fn suite(
    plan: &RunPlan,
    judge: &Judge<'_>,
    reference: Option<usize>,
) -> Option<SuiteView> {
    let of_time = judge.asked().iter().filter(|asked| asked.question.metric.is_length());
    let mut over: BTreeMap<usize, Vec<&QuestionState<'_>>> = BTreeMap::new();
    for asked in of_time {
        over.entry(asked.question.workload).or_default().push(asked);
    }
    if over.len() < 2 {
        return None;
    }
    let against = |contender: usize, reference: usize| -> Option<Vec<Vec<f64>>> {
        over.values().map(|asked| of_workload(judge, asked, contender, reference)).collect()
    };
    // Where the RUN's reference has no value everywhere, the first with most partners.
    let candidates: Vec<usize> = (0..plan.contenders.len()).collect();
    let partners = |reference: usize| {
        candidates.iter().filter(move |&&c| c != reference && against(c, reference).is_some())
    };
    let reference = reference.filter(|&c| partners(c).next().is_some()).or_else(|| {
        candidates.iter().copied().max_by_key(|&c| (partners(c).count(), usize::MAX - c))
    })?;
    let mut rows: Vec<WorkloadShare> = partners(reference)
        .filter_map(|&c| Some(share(plan, judge, c, &against(c, reference)?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.push(share(plan, judge, reference, &[]));
    rows.sort_by(|a, b| a.ratio.total_cmp(&b.ratio).then(a.contender.cmp(&b.contender)));
    Some(SuiteView {
        reference: plan.contenders[reference].label.clone(),
        over: over.keys().map(|&workload| plan.workloads[workload].name.clone()).collect(),
        rows,
    })
}

/// Log ratios of one workload, one a block: the mean over its questions, in blocks that answer all
/// of them. `None` where there is no such block.
fn of_workload(
    judge: &Judge<'_>,
    asked: &[&QuestionState<'_>],
    contender: usize,
    reference: usize,
) -> Option<Vec<f64>> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for one in asked {
        let counts = |block: u32| judge.is_counted(block);
        for (block, log) in one.points.by_block(contender, reference, &counts) {
            blocks.entry(block).or_default().push(log);
        }
    }
    blocks.retain(|_, logs| logs.len() == asked.len());
    let logs = blocks.values().map(|logs| logs.iter().sum::<f64>() / logs.len() as f64);
    let logs: Vec<f64> = logs.collect();
    (!logs.is_empty()).then_some(logs)
}

/// `logs`: one list of log ratios a workload; none for the reference itself.
fn share(plan: &RunPlan, judge: &Judge<'_>, contender: usize, logs: &[Vec<f64>]) -> WorkloadShare {
    let means: Vec<f64> =
        logs.iter().map(|own| own.iter().sum::<f64>() / own.len() as f64).collect();
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let like_these = (means.len() >= LIKE_THESE_FROM)
        .then(|| mean_t(&means, ALPHA).ok()?.bounds.attained())
        .flatten();
    let these = these_very(logs);
    let mut told = [0; 4];
    for asked in judge.asked() {
        for pair in asked.pairs.iter().filter(|pair| [pair.a, pair.b].contains(&contender)) {
            let verdict = pair.at_look.as_ref().map_or(Verdict::Undecided, |look| look.verdict);
            let verdict = if pair.a == contender { verdict } else { verdict.swapped() };
            told[verdict as usize] += 1;
        }
    }
    let [wins, losses, same, undecided] = told;
    WorkloadShare {
        contender,
        label: plan.contenders[contender].label.clone(),
        ratio: mean.exp(),
        low: these.map(|half| (mean - half).exp()),
        high: these.map(|half| (mean + half).exp()),
        like_these_low: like_these.map(|interval| interval.low.exp()),
        like_these_high: like_these.map(|interval| interval.high.exp()),
        wins,
        losses,
        same,
        undecided,
    }
}

/// Half the width of the interval for these very workloads: the errors of their means add up as
/// squares. The degrees of freedom are those of the workload that has the fewest blocks, which is
/// never too bold.
fn these_very(logs: &[Vec<f64>]) -> Option<f64> {
    let fewest = logs.iter().map(Vec::len).min()?;
    if fewest < 2 {
        return None;
    }
    let errors = logs.iter().map(|own| {
        let sample = PairSample { logs: own, floor_sd: 0.0, pooled: None };
        Some(sample.sd()?.powi(2) / own.len() as f64)
    });
    let sum: f64 = errors.sum::<Option<f64>>()?;
    let standard_error = sum.sqrt() / logs.len() as f64;
    Some(
        fsarena_stats::interval::t_quantile((fewest - 1) as f64, 1.0 - ALPHA / 2.0)
            * standard_error,
    )
}
