//! The study of one RUN: all views of its plan and records together.

use crate::account::{self, AccountView};
use crate::ageing::{self, AgeRow, AgeingView};
use crate::cycles::{self, CyclesView};
use crate::device::{self, ConditioningRow, QueueRow};
use crate::notes::{self, FailureRow, NotRunRow, NoticeRow, SamplerTotal, TrialRow, VerifyTotal};
use crate::parameters::{self, ParameterCurves};
use crate::phases::{self, PhaseTable};
use crate::programs::{self, ProgramUse, ToolOverhead};
use crate::scaling::{self, ScalingView};
use crate::sweep::{self, SweepView};
use crate::workloads::{self, WorkloadView};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{Clock, RateStyle, RunHeader, RunPlan, RunSession, RunState};
use fsarena_model::score::TrialScore;
use fsarena_verdict::Judge;
use fsarena_verdict::compare::machine_line;
use fsarena_verdict::watchers::{self, Finding};
use serde::Serialize;
use std::collections::BTreeSet;

/// Everything that a table or document of one RUN shows.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Study {
    /// Unique id of the RUN.
    pub uid: String,
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// Wall clock at its start, ns since 1970.
    pub created_unix_ns: u64,
    /// The machine, in one line.
    pub machine: String,
    /// The devices, in one line each.
    pub devices: Vec<String>,
    /// What the SSD policies did before mkfs.
    pub conditioning: Vec<ConditioningRow>,
    /// In what state aged contenders were before the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ages: Vec<AgeRow>,
    /// How queues and kernel were set.
    pub queues: Vec<QueueRow>,
    /// Uninterrupted pieces that it was done in; 0 where that is not stored.
    pub sessions: usize,
    /// Boots of the machine that these are in.
    pub boots: usize,
    /// Its state.
    pub state: RunState,
    /// Trials in the schedule.
    pub trials_planned: usize,
    /// Trials with a record, however they ended.
    pub trials_recorded: usize,
    /// Whether it was planned with questions: then verdicts say which differences are real.
    pub asks_verdicts: bool,
    /// Clock that rates and ratios are computed from.
    pub compared_clock: Clock,
    /// How rates are written.
    pub rate_style: RateStyle,
    /// Scale of the datasets; 1.0 is as written.
    pub scale: f64,
    /// What the workloads work on and how, in the order of the plan.
    pub workloads: Vec<WorkloadView>,
    /// One table a workload and phase, in the order of the plan.
    pub tables: Vec<PhaseTable>,
    /// One view a phase of cycles, in the order of the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<CyclesView>,
    /// Where the bytes went, one view a phase of which that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<AccountView>,
    /// Contenders that differ in one number of mkfs alone: one view a sweep and phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<SweepView>,
    /// Contenders that differ in the number of their ranks or hosts alone: one view a curve and
    /// phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<ScalingView>,
    /// Workloads that differ in one parameter alone: one entry a line of levels and phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<ParameterCurves>,
    /// Contenders that are aged beside the same ones fresh: one view a phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ageing: Vec<AgeingView>,
    /// What programs cost compared with the engine doing the same.
    pub tool_overheads: Vec<ToolOverhead>,
    /// Programs that did the work, as they were found; each version and path once.
    pub programs: Vec<ProgramUse>,
    /// One row a workload and contender: space, unmount, contents.
    pub trials: Vec<TrialRow>,
    /// What was not run, with reasons.
    pub not_run: Vec<NotRunRow>,
    /// What failed, or was interrupted.
    pub failures: Vec<FailureRow>,
    /// Notices of all trials, each text once.
    pub notices: Vec<NoticeRow>,
    /// What the watchers saw in the trials themselves: no steady state, foreign load.
    pub findings: Vec<Finding>,
    /// What taking the time series cost, over all phases.
    pub sampler: Option<SamplerTotal>,
    /// Content checks over all trials; absent where none was asked for.
    pub verify: Option<VerifyTotal>,
}

/// Computes the views of a RUN: of its plan, the pieces it was done in, and the latest attempt at
/// each trial.
#[must_use]
pub fn study(
    header: &RunHeader,
    state: RunState,
    sessions: &[RunSession],
    records: &[TrialRecord],
) -> Study {
    let plan = &carried_out(&header.plan, state, records);
    let boots: BTreeSet<&str> = sessions.iter().map(|session| session.boot_id.as_str()).collect();
    let tables = phases::tables(plan, records);
    Study {
        uid: header.uid.clone(),
        experiment: header.experiment.clone(),
        title: header.title.clone(),
        created_unix_ns: header.created_unix_ns,
        machine: machine_line(&header.host),
        devices: device::lines(plan, records),
        conditioning: device::conditioning(plan, records),
        ages: ageing::rows(plan, records),
        queues: device::queues(plan, records),
        sessions: sessions.len(),
        boots: boots.len(),
        state,
        trials_planned: plan.schedule.len(),
        trials_recorded: records.len(),
        asks_verdicts: plan.verdict.is_some(),
        compared_clock: plan.compared_clock,
        rate_style: plan.rate,
        scale: plan.scale,
        workloads: workloads::views(plan),
        cycles: cycles::views(plan, records),
        accounts: account::views(plan, records),
        sweeps: sweep::views(plan, records),
        scaling: scaling::views(plan, records),
        parameters: parameters::views(plan, records),
        ageing: ageing::views(plan, records),
        tool_overheads: programs::tool_overheads(plan, &tables),
        programs: programs::used(plan, records),
        tables,
        trials: notes::trials(plan, records),
        not_run: notes::not_run(plan, records),
        failures: notes::failures(plan, records),
        notices: notes::notices(plan, sessions.len(), boots.len(), records),
        findings: [watchers::steady(plan, records), watchers::foreign(plan, records)].concat(),
        sampler: notes::sampler(records),
        verify: notes::verify(records),
    }
}

/// The plan with the trials that came about or are still to come. Where decided contenders stop
/// early, the stored schedule is the longest that there could have been.
fn carried_out(plan: &RunPlan, state: RunState, records: &[TrialRecord]) -> RunPlan {
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let Some(judge) = Judge::replay(plan, &scores, None, &[]) else { return plan.clone() };
    let mut plan = judge.carried_out();
    if state == RunState::Done {
        let blocks = records.iter().map(|record| record.key.block + 1).max().unwrap_or(0);
        plan.schedule.retain(|slot| slot.block < blocks);
    }
    plan
}
