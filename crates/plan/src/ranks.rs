//! Ranks as a factor: what a workload is at the level of a contender.
//!
//! One number for all contenders belongs to the workloads of the RUN, as if they had been written
//! so; several are levels of the contenders.

use crate::error::{PlanError, Span};
use crate::experiment::Factors;
use crate::workload::with_ranks;
use fsarena_model::contender::{Contender, Levels};
use fsarena_model::factor::{self, RANKS};
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use std::collections::BTreeMap;

/// The workload as a contender with these levels carries it out. What it is a level of is for those
/// who compare: a trial has its numbers.
#[must_use]
pub fn at_levels(workload: &Workload, levels: &Levels) -> Workload {
    let own = Workload { levels: None, ..workload.clone() };
    match factor::ranks(levels) {
        Some(ranks) => own.in_ranks(ranks),
        None => own,
    }
}

/// The most ranks of any phase of a plan.
#[must_use]
pub fn most_ranks(plan: &RunPlan) -> u32 {
    let of_levels = plan.contenders.iter().filter_map(|one| factor::ranks(&one.levels)).max();
    let phases = plan.workloads.iter().flat_map(|workload| &workload.phases);
    of_levels.or_else(|| phases.map(|phase| phase.io.ranks).max()).unwrap_or(1)
}

/// The workloads, of which each can be carried out at the level of every contender. A level that
/// all contenders have goes into the workloads.
///
/// # Errors
/// A number of ranks in which a workload cannot be carried out.
pub(crate) fn spread(
    factors: &Factors,
    contenders: &mut [Contender],
    workloads: Vec<Workload>,
) -> Result<Vec<Workload>, PlanError> {
    let mut at: BTreeMap<Option<u32>, Vec<Workload>> = BTreeMap::new();
    for contender in contenders.iter() {
        let ranks = factor::ranks(&contender.levels);
        if at.contains_key(&ranks) {
            continue;
        }
        let Some(number) = ranks else {
            at.insert(None, workloads.clone());
            continue;
        };
        let place = place(factors, number);
        let spread = workloads.iter().map(|workload| with_ranks(workload, number, &place));
        at.insert(ranks, spread.collect::<Result<_, _>>()?);
    }
    if at.len() > 1 {
        return Ok(workloads);
    }
    contenders.iter_mut().for_each(|contender| {
        contender.levels.factors.remove(RANKS);
    });
    Ok(at.into_values().next().unwrap_or(workloads))
}

/// Where so many ranks were asked for: as ranks, or as hosts with one rank each.
fn place(factors: &Factors, ranks: u32) -> Span {
    let level = ranks.to_string();
    let written = [RANKS, factor::HOST_COUNT].into_iter().filter_map(|key| factors.levels.get(key));
    let mut levels = written.flatten();
    levels.find(|one| one.value == level).map_or(Span::Default, |one| one.place.clone())
}
