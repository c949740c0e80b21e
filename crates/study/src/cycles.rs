//! A periodic application: one row a cycle, and what the cycles of a contender have in common.
//!
//! A figure of one cycle is of one trial; over trials medians and ranges are shown. A summary first
//! takes the mean over the cycles of each trial, so that a trial has one value, as in every other
//! table. Disturbed cycles are never mixed with undisturbed ones, and an undisturbed one that met
//! the second load of another is with neither.

mod effect;
mod figures;

pub use effect::{DisturbEffect, DisturberView, Factor, INTERVAL_FROM};
pub(crate) use figures::DeviceLoad;
pub use figures::{CycleFigures, WorstOp};

use crate::contenders::{Contenders, with_right_contents};
use crate::phases::{MemoryView, groups};
use figures::is_disturbed;
use fsarena_model::cycle::{Cycle, CycleRecord, CyclesRecord};
use fsarena_model::record::{CacheState, PhaseRecord, TrialRecord};
use fsarena_model::run::RunPlan;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cycle that starts later than this share of its period after it was due is late.
pub const LATE_SHARE: f64 = 0.01;

/// A phase of cycles on all contenders.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CyclesView {
    pub workload: String,
    pub phase: String,
    /// What a cycle does, as planned: number, period, what happens where work outlasts it, the
    /// second load.
    pub cycle: Cycle,
    /// Rows of contenders with a complete phase, as in the table of the phase.
    pub rows: Vec<CyclesRow>,
}

/// The cycles of one contender in one state of cache and memory.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CyclesRow {
    pub contender: usize,
    pub label: String,
    /// State of the cache when the first cycle began.
    pub cache: CacheState,
    /// Memory limit.
    pub memory: MemoryView,
    /// Trials behind it.
    pub n: usize,
    /// One a number of a cycle that any trial began.
    pub cycles: Vec<CycleRow>,
    /// The undisturbed cycles but those of [`Self::met_load`], each trial by its means (of a trial
    /// in which all of them met it, by all); absent where all were disturbed.
    pub plain: Option<CycleFigures>,
    /// The disturbed cycles, each trial by its means; absent where none was.
    pub disturbed: Option<CycleFigures>,
    /// Undisturbed cycles that were running during a disturbed one or its second load.
    pub met_load: usize,
    /// What came of the periods.
    pub overruns: Overruns,
    /// Disturbed cycles against the others of the same trials; absent where there are not both.
    pub effect: Option<DisturbEffect>,
    /// What the second load itself got; absent where there was none.
    pub disturber: Option<DisturberView>,
}

/// The cycles of one number, over trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CycleRow {
    /// Its number, from 1.
    pub number: u32,
    /// Whether the second load was at work.
    pub disturbed: bool,
    /// Undisturbed ones of these that met the load of another cycle.
    pub met_load: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: CycleFigures,
}

/// How often work met the next start, over all trials.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Overruns {
    /// Cycles that were begun.
    pub begun: usize,
    /// Of these, those that were at work for longer than their period: to `durable`, else until
    /// their calls came back.
    pub outlasted: usize,
    /// Of these, those that began while another one was at work (`overlap`).
    pub overlapped: usize,
    /// Starts that were left out (`skip`).
    pub skipped: usize,
    /// Cycles that began more than [`LATE_SHARE`] of the period after they were due (`queue`).
    pub late: usize,
    /// The latest start after it was due, ns.
    pub latest_ns: u64,
    /// Updates that met another cycle's work on the same file.
    pub collisions: u64,
}

impl Overruns {
    /// Whether there is anything to be said.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.outlasted + self.overlapped + self.skipped + self.late > 0 || self.collisions > 0
    }

    fn add(&mut self, planned: &Cycle, record: &CyclesRecord) {
        self.skipped += record.skipped.len();
        for cycle in &record.cycles {
            let late_ns = cycle.report.started_ns.saturating_sub(cycle.report.due_ns);
            self.begun += 1;
            let at_work_ns = cycle.durable_ns().unwrap_or_else(|| cycle.work_ns());
            self.outlasted += usize::from(at_work_ns > planned.period_ns);
            self.overlapped += usize::from(cycle.report.beside > 0);
            self.late += usize::from(late_ns as f64 > LATE_SHARE * planned.period_ns as f64);
            self.latest_ns = self.latest_ns.max(late_ns);
            self.collisions = self.collisions.saturating_add(cycle.report.collisions);
        }
    }
}

/// One view a phase of cycles, in the order of the plan.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<CyclesView> {
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for workload in &plan.workloads {
        let own = contenders.split(&with_right_contents(records, &workload.name));
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let Some(cycle) = &phase.cycle else { continue };
            let mut rows = Vec::new();
            for (index, (contender, own)) in plan.contenders.iter().zip(&own).enumerate() {
                for ((_, _, memory), pairs) in groups(own, &phase.name) {
                    let phases: Vec<&PhaseRecord> =
                        pairs.iter().map(|&(record, at)| &record.phases[at]).collect();
                    let label = contender.label.clone();
                    rows.extend(row(cycle, &phases, (index, label), memory));
                }
            }
            views.push(CyclesView {
                workload: workload.name.clone(),
                phase: phase.name.clone(),
                cycle: cycle.clone(),
                rows,
            });
        }
    }
    views
}

/// `None` where no phase has cycles.
fn row(
    planned: &Cycle,
    phases: &[&PhaseRecord],
    (contender, label): (usize, String),
    memory: MemoryView,
) -> Option<CyclesRow> {
    let trials: Vec<&CyclesRecord> =
        phases.iter().filter_map(|phase| phase.cycles.as_ref()).collect();
    let mut overruns = Overruns::default();
    trials.iter().for_each(|trial| overruns.add(planned, trial));
    Some(CyclesRow {
        contender,
        label,
        cache: phases.first()?.cache.state,
        memory,
        n: (!trials.is_empty()).then_some(trials.len())?,
        cycles: by_number(&trials),
        plain: CycleFigures::of_trials(&trials, false),
        disturbed: CycleFigures::of_trials(&trials, true),
        met_load: trials.iter().flat_map(|trial| met_load(trial)).count(),
        overruns,
        effect: DisturbEffect::from_trials(&trials),
        disturber: DisturberView::from_trials(planned, &trials),
    })
}

/// Undisturbed cycles of a trial that met the second load of another one.
fn met_load(trial: &CyclesRecord) -> impl Iterator<Item = &CycleRecord> {
    trial.cycles.iter().filter(|cycle| trial.has_met_load(cycle))
}

fn by_number(trials: &[&CyclesRecord]) -> Vec<CycleRow> {
    let mut all: BTreeMap<(u32, bool), Vec<&CycleRecord>> = BTreeMap::new();
    for cycle in trials.iter().flat_map(|trial| &trial.cycles) {
        all.entry((cycle.report.number, is_disturbed(cycle))).or_default().push(cycle);
    }
    let mut met: BTreeMap<u32, usize> = BTreeMap::new();
    for cycle in trials.iter().flat_map(|trial| met_load(trial)) {
        *met.entry(cycle.report.number).or_default() += 1;
    }
    let row = |((number, disturbed), cycles): ((u32, bool), Vec<&CycleRecord>)| CycleRow {
        number,
        disturbed,
        met_load: if disturbed { 0 } else { met.get(&number).copied().unwrap_or(0) },
        figures: CycleFigures::of_each(&cycles),
    };
    all.into_iter().map(row).collect()
}
