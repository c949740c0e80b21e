//! Whether a block was disturbed on one side, by what others did to the machine: nothing here sees
//! a score, nor how long a phase took.

use crate::points::{SHARE_FROM_NS, Usage};
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::score::{PhaseScore, TrialScore};
use fsarena_model::verdict::Limits;
use std::collections::BTreeMap;

/// A phase of a workload (an index into the plan).
type Phase = (usize, String);

/// What others did during a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Disturbances {
    /// The first reason that is complete by itself.
    why: Option<String>,
    /// Shares of other programs by phase: contender and share.
    foreign: BTreeMap<Phase, Vec<(usize, f64)>>,
}

impl Disturbances {
    /// Takes a trial of the block under way.
    pub(super) fn add(&mut self, plan: &RunPlan, limits: &Limits, slot: &Slot, score: &TrialScore) {
        for phase in &score.phases {
            let label = &plan.contenders[slot.contender].label;
            let stolen = limits.steal_share.and_then(|limit| steal(phase, label, limit));
            self.why = self.why.take().or(stolen);
            let usage = Usage::of_phase(&plan.contenders[slot.contender].levels, phase);
            if let Some((foreign_ns, machine_ns)) = usage.foreign_ns.zip(usage.machine_ns) {
                let share = foreign_ns as f64 / machine_ns as f64;
                let key = (slot.workload, phase.name.clone());
                self.foreign.entry(key).or_default().push((slot.contender, share));
            }
        }
    }

    /// Why the block that has ended has to be run again, if it has; forgets all that it knows.
    pub(super) fn end_block(&mut self, plan: &RunPlan, limits: &Limits) -> Option<String> {
        let Self { why, foreign } = std::mem::take(self);
        let lopsided = || limits.foreign_share.and_then(|limit| one_sided(plan, &foreign, limit));
        why.or_else(lopsided)
    }
}

/// The share of a phase that the hypervisor took, where that is above the limit.
fn steal(phase: &PhaseScore, label: &str, limit: f64) -> Option<String> {
    let machine_ns = phase.machine_ns.filter(|&ns| ns >= SHARE_FROM_NS)?;
    let share = phase.steal_ns? as f64 / machine_ns as f64;
    (share > limit).then(|| {
        format!(
            "the hypervisor took {:.0} % of the CPU time in {} of {label}; the limit is {:.0} %",
            share * 100.0,
            phase.name,
            limit * 100.0
        )
    })
}

/// The phase in which other programs had most more beside one contender than beside another, where
/// that is above the limit. What they have beside all of them is in all of them.
fn one_sided(
    plan: &RunPlan,
    foreign: &BTreeMap<Phase, Vec<(usize, f64)>>,
    limit: f64,
) -> Option<String> {
    let apart = foreign.iter().filter_map(|((_, phase), shares)| {
        let most = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let least = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((most.1 - least.1, phase, *most, *least))
    });
    let (by, phase, most, least) = apart.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let label = |at: usize| plan.contenders[at].label.as_str();
    (by > limit).then(|| {
        format!(
            "other programs had {:.0} % of the CPU time in {phase} of {} and {:.0} % in that of \
             {}; the limit for the difference is {:.0} %",
            most.1 * 100.0,
            label(most.0),
            least.1 * 100.0,
            label(least.0),
            limit * 100.0
        )
    })
}
