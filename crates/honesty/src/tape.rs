//! Tapes from the scores of a RUN with one contender.

use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::score::{MemoryKind, PhaseScore, TrialScore};
use fsarena_model::verdict::Metric;
use std::collections::BTreeMap;

/// Consecutive whole trials of one unchanged configuration: one value of one phase each.
#[derive(Clone, PartialEq, Debug)]
pub struct Tape {
    /// Where it is from, such as `RUN 1`.
    pub source: String,
    pub workload: String,
    pub phase: String,
    /// What the values are.
    pub metric: Metric,
    /// Clock that times are read from.
    pub clock: Clock,
    /// One value a trial, in the metric's base unit, above 0, in the order of time.
    pub values: Vec<f64>,
    /// Length of each trial, with everything around its phases, s.
    pub elapsed_s: Vec<f64>,
    /// Wall clock at the start of each trial, ns since 1970.
    pub started_unix_ns: Vec<u64>,
    /// Trials that are not on it.
    pub left: LeftOut,
}

/// Trials of a RUN that are not on a tape, counted; whole blocks where it has several contenders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, crate::JsonSchema)]
pub struct LeftOut {
    /// Interrupted, failed, or without a value.
    pub incomplete: usize,
    /// Contents that were wrong when read again.
    pub bad_contents: usize,
    /// In another state of the caches or of memory than most.
    pub other_conditions: usize,
}

/// Why there is no tape, or none that can be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TapeError {
    /// More than one contender.
    #[error(
        "{source_name} has {contenders} contenders: a tape is of one unchanged configuration, as \
         from `fsarena run --fs ext4 --runs 200`"
    )]
    Contenders {
        /// Where it is from.
        source_name: String,
        contenders: usize,
    },
    /// No timed phase with a value.
    #[error("{source_name} has no complete timed phase: there is nothing to replay")]
    Nothing {
        /// Where it is from.
        source_name: String,
    },
    /// A value that has no logarithm.
    #[error("{source_name}, {workload}, {phase}: value number {index} is not a number above 0")]
    BadValue {
        /// Where it is from.
        source_name: String,
        workload: String,
        phase: String,
        /// Index of the value.
        index: usize,
    },
    /// Too few trials.
    #[error(
        "{source_name}, {workload}, {phase}: {trials} trials, and {needs} are needed: the longest \
         window has {window} slots, and windows must be able to start at as many places"
    )]
    Short {
        /// Where it is from.
        source_name: String,
        workload: String,
        phase: String,
        /// Trials that there are.
        trials: usize,
        /// Trials that are needed.
        needs: usize,
        /// Most slots that a rule takes.
        window: usize,
    },
}

/// State that values must share to be of one configuration.
type Conditions = (bool, MemoryKind);

/// The tapes of a RUN, one a timed phase in the order of the plan: times by the clock that the RUN
/// compares. `source` names the RUN in tables and errors.
///
/// # Errors
/// Several contenders, or no value at all.
pub fn tapes(source: &str, plan: &RunPlan, scores: &[TrialScore]) -> Result<Vec<Tape>, TapeError> {
    if plan.contenders.len() != 1 {
        let contenders = plan.contenders.len();
        return Err(TapeError::Contenders { source_name: source.to_owned(), contenders });
    }
    let mut scores: Vec<&TrialScore> = scores.iter().collect();
    scores.sort_by_key(|score| (score.started_unix_ns, score.sequence));
    let mut found = Vec::new();
    for (index, workload) in plan.workloads.iter().enumerate() {
        let of_workload = |score: &&TrialScore| {
            plan.schedule.get(score.sequence as usize).is_some_and(|slot| slot.workload == index)
        };
        let trials: Vec<&TrialScore> = scores.iter().copied().filter(of_workload).collect();
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let (kept, left) = sift(&trials, &phase.name, plan.compared_clock);
            if kept.is_empty() {
                continue;
            }
            found.push(Tape {
                source: source.to_owned(),
                workload: workload.name.clone(),
                phase: phase.name.clone(),
                metric: Metric::Time,
                clock: plan.compared_clock,
                values: kept.iter().map(|(_, value)| *value).collect(),
                elapsed_s: kept.iter().map(|(trial, _)| trial.elapsed_ns as f64 * 1e-9).collect(),
                started_unix_ns: kept.iter().map(|(trial, _)| trial.started_unix_ns).collect(),
                left,
            });
        }
    }
    if found.is_empty() {
        return Err(TapeError::Nothing { source_name: source.to_owned() });
    }
    Ok(found)
}

/// The trials with a value of `phase`, of those conditions that most have.
fn sift<'a>(
    trials: &[&'a TrialScore],
    phase: &str,
    clock: Clock,
) -> (Vec<(&'a TrialScore, f64)>, LeftOut) {
    let mut left = LeftOut::default();
    let mut valued: Vec<(Conditions, &TrialScore, f64)> = Vec::new();
    for trial in trials {
        if trial.has_bad_contents {
            left.bad_contents += 1;
            continue;
        }
        let found = trial.phases.iter().find(|score| score.name == phase);
        match found.and_then(|score| Some((score, value(trial, score, clock)?))) {
            Some((score, value)) => {
                valued.push(((score.cache.is_cold(), score.memory), trial, value));
            }
            None => left.incomplete += 1,
        }
    }
    let mut counts: BTreeMap<Conditions, usize> = BTreeMap::new();
    for (conditions, _, _) in &valued {
        *counts.entry(*conditions).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|(conditions, _)| *conditions);
    let all = valued.len();
    valued.retain(|(conditions, _, _)| Some(*conditions) == most);
    left.other_conditions = all - valued.len();
    (valued.into_iter().map(|(_, trial, value)| (trial, value)).collect(), left)
}

/// The length in ns; what is below the step of the clock counts as that step.
fn value(trial: &TrialScore, score: &PhaseScore, clock: Clock) -> Option<f64> {
    if trial.is_interrupted || !score.is_complete {
        return None;
    }
    Some((score.clock_ns(clock)? as f64).max(Metric::Time.step(0.0)))
}

#[cfg(test)]
mod tests;
