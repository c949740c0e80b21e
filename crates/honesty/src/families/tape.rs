//! Tapes of several contenders: the complete blocks of a RUN, in the order of time.

use crate::tape::LeftOut;
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::score::{MemoryKind, PhaseScore, TrialScore};
use fsarena_model::verdict::Metric;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest contenders of a tape.
const LEAST_CONTENDERS: usize = 2;

/// Contenders that were run side by side, block by block: of each block one value of each phase of
/// each contender.
#[derive(Clone, PartialEq, Debug)]
pub struct FamilyTape {
    /// Where it is from, such as `RUN 1`.
    pub source: String,
    /// Labels of the contenders.
    pub contenders: Vec<String>,
    /// Timed phases of which every contender has values, in the order of the plan.
    pub phases: Vec<TapePhase>,
    /// Phases that are not on it, each with its reason.
    pub phases_left_out: Vec<String>,
    /// Clock that times are read from.
    pub clock: Clock,
    /// Number of each complete block in its RUN, from 0.
    pub blocks: Vec<u32>,
    /// Blocks that are not on it.
    pub left: LeftOut,
    /// Logarithms of the values in ns: by phase, contender and block.
    pub logs: Vec<Vec<Vec<f64>>>,
    /// The trials of the complete blocks, in the order of time.
    pub trials: Vec<TapeTrial>,
    /// The RUN's plan, without its schedule.
    pub(super) plan: RunPlan,
}

/// A timed phase on a tape.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, crate::JsonSchema)]
pub struct TapePhase {
    pub workload: String,
    pub phase: String,
    /// Index of the workload in the plan.
    #[serde(skip)]
    pub(super) workload_index: usize,
}

impl TapePhase {
    /// A phase by its names, as tables show it.
    #[must_use]
    pub fn named(workload: &str, phase: &str) -> Self {
        let (workload, phase) = (workload.to_owned(), phase.to_owned());
        Self { workload, phase, workload_index: 0 }
    }

    /// `small-files create`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.workload, self.phase)
    }
}

/// One trial on a tape.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TapeTrial {
    /// Number of its slot in the RUN's schedule.
    pub sequence: u32,
    /// Index of its block on the tape.
    pub block: usize,
    pub contender: usize,
    /// Index of the workload in the plan.
    pub workload: usize,
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// Length of the whole trial, s.
    pub elapsed_s: f64,
}

/// Why there is no tape of several contenders, or none that can be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FamilyTapeError {
    /// No family.
    #[error(
        "{source_name} has one contender: families need several, as from `fsarena run --fs \
         ext4,ext3,xfs,btrfs --runs 200`"
    )]
    OneContender { source_name: String },
    /// A contender that never gave a value.
    #[error(
        "{source_name}: {contender} has no complete timed phase; replays need values of every \
         contender"
    )]
    Nothing { source_name: String, contender: String },
    /// No phase of which all have values.
    #[error("{source_name}: there is no timed phase of which every contender has values")]
    NoPhase { source_name: String },
    /// Too few blocks.
    #[error(
        "{source_name}: {blocks} complete {}{}, and {needs} are needed: the longest rule plays \
         {window} in a row, and plays must be able to start at as many places",
        if *blocks == 1 { "block" } else { "blocks" },
        if *left == 0 { String::new() } else { format!(" ({left} left out)") },
    )]
    Short { source_name: String, blocks: usize, left: usize, needs: usize, window: usize },
}

/// State that values of a contender must share to be of one configuration.
type Conditions = (bool, MemoryKind);

/// What a trial says of a phase.
#[derive(Clone, Copy)]
struct Reading {
    conditions: Conditions,
    log_ns: f64,
}

/// The tape of a RUN with several contenders. `source` names the RUN in tables and errors.
///
/// # Errors
/// A single contender, one without a value, or no phase of which all have values.
pub fn family_tape(
    source: &str,
    plan: &RunPlan,
    scores: &[TrialScore],
) -> Result<FamilyTape, FamilyTapeError> {
    let source_name = source.to_owned();
    let contenders = plan.contenders.len();
    if contenders < LEAST_CONTENDERS {
        return Err(FamilyTapeError::OneContender { source_name });
    }
    let found = Found::new(plan, scores);
    if let Some(silent) = (0..contenders).find(|&c| !found.has_values(c)) {
        let contender = plan.contenders[silent].label.clone();
        return Err(FamilyTapeError::Nothing { source_name, contender });
    }
    let (phases, phases_left_out) = found.common_phases(plan);
    if phases.is_empty() {
        return Err(FamilyTapeError::NoPhase { source_name });
    }
    let mut left = LeftOut::default();
    let mut blocks = Vec::new();
    for block in found.blocks(plan) {
        match found.why_not(&phases, contenders, block) {
            None => blocks.push(block),
            Some(WhyNot::Incomplete) => left.incomplete += 1,
            Some(WhyNot::BadContents) => left.bad_contents += 1,
            Some(WhyNot::OtherConditions) => left.other_conditions += 1,
        }
    }
    let series = |phase: &TapePhase, contender: usize| -> Vec<f64> {
        let at = |block: &u32| found.reading(phase, contender, *block).map(|r| r.log_ns);
        blocks.iter().filter_map(at).collect()
    };
    let logs = phases
        .iter()
        .map(|phase| (0..contenders).map(|contender| series(phase, contender)).collect())
        .collect();
    Ok(FamilyTape {
        source: source_name,
        contenders: plan.contenders.iter().map(|contender| contender.label.clone()).collect(),
        trials: trials(plan, scores, &phases, &blocks),
        phases,
        phases_left_out,
        clock: plan.compared_clock,
        blocks,
        left,
        logs,
        plan: RunPlan { schedule: Vec::new(), not_run: Vec::new(), ..plan.clone() },
    })
}

impl FamilyTape {
    /// Lengths of the trials, s: by workload of the plan, contender and block; 0 where a contender
    /// was not run.
    pub(super) fn elapsed_s(&self) -> Vec<Vec<Vec<f64>>> {
        let blocks = self.blocks.len();
        let of_workload = || vec![vec![0.0; blocks]; self.contenders.len()];
        let mut all: Vec<_> = self.plan.workloads.iter().map(|_| of_workload()).collect();
        for trial in &self.trials {
            all[trial.workload][trial.contender][trial.block] += trial.elapsed_s;
        }
        all
    }

    /// Median of the logarithms, by phase and contender.
    pub(super) fn medians(&self) -> Vec<Vec<f64>> {
        let median = |series: &Vec<f64>| fsarena_stats::median(series).unwrap_or(0.0);
        self.logs.iter().map(|phase| phase.iter().map(median).collect()).collect()
    }
}

/// Why a block is not on a tape.
enum WhyNot {
    Incomplete,
    BadContents,
    OtherConditions,
}

/// Everything that the scores say.
struct Found<'a> {
    plan: &'a RunPlan,
    /// By workload, phase, contender and block.
    readings: BTreeMap<(usize, &'a str, usize, u32), Reading>,
    /// What most values of a contender's phase have.
    usual: BTreeMap<(usize, &'a str, usize), Conditions>,
    bad_contents: BTreeSet<(usize, u32)>,
}

impl<'a> Found<'a> {
    fn new(plan: &'a RunPlan, scores: &[TrialScore]) -> Self {
        let mut readings = BTreeMap::new();
        let mut bad_contents = BTreeSet::new();
        for score in scores {
            let Some(slot) = plan.schedule.get(score.sequence as usize) else { continue };
            if score.has_bad_contents {
                bad_contents.insert((slot.contender, slot.block));
                continue;
            }
            let Some(workload) = plan.workloads.get(slot.workload) else { continue };
            for phase in workload.phases.iter().filter(|phase| phase.timed) {
                let own = score.phases.iter().find(|own| own.name == phase.name);
                if let Some(read) = own.and_then(|own| reading(score, own, plan.compared_clock)) {
                    let key = (slot.workload, phase.name.as_str(), slot.contender, slot.block);
                    readings.insert(key, read);
                }
            }
        }
        let mut counts: BTreeMap<_, BTreeMap<Conditions, usize>> = BTreeMap::new();
        for (&(workload, phase, contender, _), read) in &readings {
            let own = counts.entry((workload, phase, contender)).or_default();
            *own.entry(read.conditions).or_default() += 1;
        }
        let most = |own: BTreeMap<Conditions, usize>| {
            own.into_iter().max_by_key(|(_, count)| *count).map(|(conditions, _)| conditions)
        };
        let usual = counts.into_iter().filter_map(|(key, own)| Some((key, most(own)?))).collect();
        Self { plan, readings, usual, bad_contents }
    }

    fn has_values(&self, contender: usize) -> bool {
        self.usual.keys().any(|(_, _, own)| *own == contender)
    }

    /// The timed phases of which every contender has values, and why the others are left out.
    fn common_phases(&self, plan: &RunPlan) -> (Vec<TapePhase>, Vec<String>) {
        let (mut phases, mut left_out) = (Vec::new(), Vec::new());
        for (workload_index, workload) in plan.workloads.iter().enumerate() {
            for phase in workload.phases.iter().filter(|phase| phase.timed) {
                let name = phase.name.as_str();
                let is_silent = |c: &usize| !self.usual.contains_key(&(workload_index, name, *c));
                let silent = (0..plan.contenders.len()).find(is_silent);
                let (workload, phase) = (workload.name.clone(), phase.name.clone());
                match silent {
                    None => phases.push(TapePhase { workload, phase, workload_index }),
                    Some(contender) => left_out.push(format!(
                        "{workload} {phase}: {} has no value",
                        plan.contenders[contender].label
                    )),
                }
            }
        }
        (phases, left_out)
    }

    /// The blocks of which anything is known, in their order.
    fn blocks(&self, plan: &RunPlan) -> BTreeSet<u32> {
        let known = self.readings.keys().map(|(_, _, _, block)| *block);
        let bad = self.bad_contents.iter().map(|(_, block)| *block);
        known.chain(bad).filter(|block| *block < plan.blocks).collect()
    }

    fn reading(&self, phase: &TapePhase, contender: usize, block: u32) -> Option<Reading> {
        let workload = self.plan.workloads.get(phase.workload_index)?;
        let planned = workload.phases.iter().find(|planned| planned.name == phase.phase)?;
        let key = (phase.workload_index, planned.name.as_str(), contender, block);
        self.readings.get(&key).copied()
    }

    /// Why a block is left out; nothing where it is complete.
    fn why_not(&self, phases: &[TapePhase], contenders: usize, block: u32) -> Option<WhyNot> {
        if (0..contenders).any(|contender| self.bad_contents.contains(&(contender, block))) {
            return Some(WhyNot::BadContents);
        }
        let mut is_other = false;
        for phase in phases {
            for contender in 0..contenders {
                let Some(read) = self.reading(phase, contender, block) else {
                    return Some(WhyNot::Incomplete);
                };
                let key = (phase.workload_index, phase.phase.as_str(), contender);
                is_other |= self.usual.get(&key) != Some(&read.conditions);
            }
        }
        is_other.then_some(WhyNot::OtherConditions)
    }
}

/// The logarithm of the length in ns; what is below the step of the clock counts as that step.
fn reading(trial: &TrialScore, score: &PhaseScore, clock: Clock) -> Option<Reading> {
    if trial.is_interrupted || !score.is_complete {
        return None;
    }
    let value_ns = (score.clock_ns(clock)? as f64).max(Metric::Time.step(0.0));
    let conditions = (score.cache.is_cold(), score.memory);
    Some(Reading { conditions, log_ns: value_ns.ln() })
}

/// The trials of these blocks, in the order of time.
fn trials(
    plan: &RunPlan,
    scores: &[TrialScore],
    phases: &[TapePhase],
    blocks: &[u32],
) -> Vec<TapeTrial> {
    let on_tape = |score: &TrialScore| {
        let slot = plan.schedule.get(score.sequence as usize)?;
        let block = blocks.binary_search(&slot.block).ok()?;
        phases.iter().any(|phase| phase.workload_index == slot.workload).then_some(TapeTrial {
            sequence: score.sequence,
            block,
            contender: slot.contender,
            workload: slot.workload,
            started_unix_ns: score.started_unix_ns,
            elapsed_s: score.elapsed_ns as f64 * 1e-9,
        })
    };
    let mut trials: Vec<TapeTrial> = scores.iter().filter_map(on_tape).collect();
    trials.sort_by_key(|trial| (trial.started_unix_ns, trial.sequence));
    trials
}

#[cfg(test)]
mod tests;
