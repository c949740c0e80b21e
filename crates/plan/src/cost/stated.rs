//! The time that a workload states: whatever the machine, its trials take no less.

use super::fio;
use crate::ranks::at_levels;
use fsarena_model::contender::Levels;
use fsarena_model::op::Op;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::run::RunPlan;

/// Least length of one trial by the times that its workload states (runtimes, rates, periods), ns.
/// In a guest nothing waits in real time.
#[must_use]
pub fn stated_ns(workload: &Workload, levels: &Levels) -> u64 {
    if levels.device.is_virtual() {
        return 0;
    }
    let workload = at_levels(workload, levels);
    let timed = workload.phases.iter().filter(|phase| phase.timed);
    let sum: f64 = timed.map(|phase| phase_ns(&workload, phase)).sum();
    // Saturates, and is never below 0.
    sum.round() as u64
}

/// The same of all trials of one block, ns.
#[must_use]
pub fn stated_block_ns(plan: &RunPlan) -> u64 {
    let first = plan.schedule.iter().filter(|slot| slot.block == 0);
    let of = |slot: &fsarena_model::run::Slot| {
        stated_ns(&plan.workloads[slot.workload], &plan.contenders[slot.contender].levels)
    };
    first.map(of).fold(0, u64::saturating_add)
}

fn phase_ns(workload: &Workload, phase: &Phase) -> f64 {
    if phase.op == Op::Fio {
        return fio::stated_ns(workload, phase);
    }
    if let Some(runtime_ns) = phase.io.runtime_ns {
        return runtime_ns as f64;
    }
    // The last cycle may end before its period does.
    if let Some(cycle) = &phase.cycle {
        return cycle.period_ns as f64 * f64::from(cycle.cycles.saturating_sub(1));
    }
    let Some(rate) = phase.io.rate.filter(|_| phase.io.stonewall_ns.is_none()) else { return 0.0 };
    let a_second = f64::from(rate.max(1)) * f64::from(phase.io.threads.max(1));
    phase.count(&workload.dataset) as f64 * 1e9 / a_second
}
