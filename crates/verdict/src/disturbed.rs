//! Whether a block was disturbed on one side, by what others did to the machine: nothing here sees
//! a score, nor how long a phase took.
//!
//! The counters have ticks of 10 ms, so that a short phase tells little by itself. Where there are
//! such phases, all phases of a contender in a block are looked at together as well.

use crate::points::{SHARE_FROM_NS, Usage};
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::score::{PhaseScore, TrialScore};
use fsarena_model::verdict::Limits;
use std::collections::BTreeMap;

/// A phase of a workload (an index into the plan).
type Phase = (usize, String);

/// What all phases of a contender in a block are called; no name of a phase has spaces.
const ALL_PHASES: &str = "all phases";

/// What others did during a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Disturbances {
    /// The first reason that is complete by itself.
    why: Option<String>,
    /// Shares of other programs by phase: contender and share.
    foreign: BTreeMap<Phase, Vec<(usize, f64)>>,
    /// All phases together, by contender.
    whole: BTreeMap<usize, Together>,
    /// Whether a phase was too short to tell by itself.
    has_short: bool,
}

/// What happened during several phases.
#[derive(Clone, Copy, Debug)]
struct Together {
    machine_ns: u64,
    steal_ns: u64,
    /// Absent where it is not known of one of them.
    foreign_ns: Option<u64>,
}

impl Together {
    fn add(&mut self, phase: &PhaseScore, usage: &Usage) {
        self.machine_ns = self.machine_ns.saturating_add(phase.machine_ns.unwrap_or(0));
        self.steal_ns = self.steal_ns.saturating_add(phase.steal_ns.unwrap_or(0));
        self.foreign_ns = self.foreign_ns.zip(usage.foreign_ns).map(|(sum, ns)| sum + ns);
    }
}

impl Default for Together {
    fn default() -> Self {
        Self { machine_ns: 0, steal_ns: 0, foreign_ns: Some(0) }
    }
}

impl Disturbances {
    /// Takes a trial of the block under way.
    pub(super) fn add(&mut self, plan: &RunPlan, limits: &Limits, slot: &Slot, score: &TrialScore) {
        for phase in &score.phases {
            let label = &plan.contenders[slot.contender].label;
            let usage = Usage::of_phase(&plan.contenders[slot.contender].levels, phase);
            // Of cycles nothing is known.
            if phase.machine_ns.is_some() {
                self.whole.entry(slot.contender).or_default().add(phase, &usage);
            }
            let Some(machine_ns) = usage.machine_ns else {
                self.has_short |= limits.short_phases && phase.machine_ns.is_some();
                continue;
            };
            let stolen = phase.steal_ns.zip(limits.steal_share);
            let stolen = stolen.and_then(|(ns, limit)| {
                steal(share(ns, machine_ns), &format!("{} of {label}", phase.name), limit)
            });
            self.why = self.why.take().or(stolen);
            if let Some(foreign_ns) = usage.foreign_ns {
                let key = (slot.workload, phase.name.clone());
                let own = (slot.contender, share(foreign_ns, machine_ns));
                self.foreign.entry(key).or_default().push(own);
            }
        }
    }

    /// Why the block that has ended has to be run again, if it has; forgets all that it knows.
    pub(super) fn end_block(&mut self, plan: &RunPlan, limits: &Limits) -> Option<String> {
        let Self { mut why, mut foreign, whole, has_short } = std::mem::take(self);
        let is_long = |all: &Together| has_short && all.machine_ns >= SHARE_FROM_NS;
        for (contender, all) in whole.into_iter().filter(|(_, all)| is_long(all)) {
            let place = format!("{ALL_PHASES} of {}", plan.contenders[contender].label);
            let steal_share = share(all.steal_ns, all.machine_ns);
            why = why.or(limits.steal_share.and_then(|limit| steal(steal_share, &place, limit)));
            if let Some(foreign_ns) = all.foreign_ns {
                let own = (contender, share(foreign_ns, all.machine_ns));
                foreign.entry((usize::MAX, ALL_PHASES.to_owned())).or_default().push(own);
            }
        }
        let lopsided = || limits.foreign_share.and_then(|limit| one_sided(plan, &foreign, limit));
        why.or_else(lopsided)
    }
}

fn share(ns: u64, machine_ns: u64) -> f64 {
    ns as f64 / machine_ns as f64
}

/// Says that the hypervisor took this share, where that is above the limit.
fn steal(share: f64, place: &str, limit: f64) -> Option<String> {
    (share > limit).then(|| {
        format!(
            "the hypervisor took {:.0} % of the CPU time in {place}; the limit is {:.0} %",
            share * 100.0,
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
    let that = if phase == ALL_PHASES { "those" } else { "that" };
    (by > limit).then(|| {
        format!(
            "other programs had {:.0} % of the CPU time in {phase} of {} and {:.0} % in {that} of \
             {}; the limit for the difference is {:.0} %",
            most.1 * 100.0,
            label(most.0),
            least.1 * 100.0,
            label(least.0),
            limit * 100.0
        )
    })
}
