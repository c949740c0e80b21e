//! Tables of file systems: one table a workload and phase, one row a contender.
//!
//! Only phases that ran to their end count, and no figure comes from a trial whose contents were
//! wrong when read again: that is said instead. Cold and warm trials of one contender are two rows,
//! and so are trials with and without the memory limit that was asked for; ratios are taken only
//! among rows that may be compared.

use crate::clients::ClientView;
use crate::contenders::Contenders;
use crate::cpu::{CpuLoad, CpuPerOp, foreign_share};
use crate::figures::{SpreadF, SpreadNs};
use crate::ledger::{DeviceBytes, Latency, device_bytes, write_amplification};
use crate::over_time::OverTimeView;
use crate::ranks::RanksView;
use crate::rates::{RateUnit, Rates};
use crate::stonewall::StonewallView;
use crate::workers::{ProgramView, ThreadsView, WorkerView};
use fsarena_model::contender::Measured;
use fsarena_model::free::FreeQuantity;
use fsarena_model::job::Job;
use fsarena_model::record::{
    CacheState, Drained, MemoryRecord, Outcome, PhaseRecord, TimeBase, TrialRecord,
};
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::score::PhaseScore;
use fsarena_model::verdict::Metric;
use fsarena_model::work::{Dataset, Io, Op, Order, Phase, Workload};
use serde::Serialize;
use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

/// One phase of one workload on all contenders.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseTable {
    pub workload: String,
    /// Its title.
    pub workload_title: String,
    /// Its files.
    pub dataset: Dataset,
    pub phase: String,
    /// Op.
    pub op: Op,
    /// Order of the files.
    pub order: Order,
    /// Bytes of one read or write call, as planned.
    pub bs_bytes: u64,
    /// How the calls are made, as planned.
    pub io: Io,
    /// Real work, where it is that.
    pub job: Option<Job>,
    /// What its rate counts, in the RUN's rate style.
    pub unit: RateUnit,
    /// What it leaves free, and what of it therefore is compared.
    pub free: FreeQuantity,
    /// Rows with at least one complete phase; within a contender cold before warm.
    pub rows: Vec<PhaseRow>,
    /// Contenders of the plan without such a row.
    pub absent: Vec<AbsentRow>,
}

/// One contender in one state of cache and memory.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseRow {
    pub contender: usize,
    pub label: String,
    /// What its times are counted in.
    pub time_base: TimeBase,
    /// How its times came about.
    #[serde(skip_serializing_if = "Measured::is_on_device")]
    pub measured: Measured,
    /// State of the cache in all trials of this row.
    pub cache: CacheState,
    /// Why it is not cold although cold was asked for: of this very phase, where only the first of
    /// a trial shall be.
    pub not_cold_because: Option<String>,
    /// Whether its contender can never be cold, whatever is asked.
    #[serde(skip)]
    pub is_never_cold: bool,
    /// Memory limit in all trials of this row.
    pub memory: MemoryView,
    /// Memory of the guest, bytes, where trials are in guests and a level asks for it: a guest has
    /// that instead of a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_memory_bytes: Option<u64>,
    /// Trials behind the figures of this row; 0 where all of them had wrong contents.
    pub n: usize,
    /// Trials in the plan.
    pub n_planned: usize,
    /// The compared clock.
    pub compared: Option<SpreadNs>,
    /// The calls came back.
    pub returned: Option<SpreadNs>,
    /// syncfs done.
    pub durable: Option<SpreadNs>,
    /// Everything is where it must be.
    pub drained: DrainedView,
    /// Rates by the compared clock.
    #[serde(flatten)]
    pub rates: Rates,
    /// Rates by `returned` (the clock of the old articles).
    #[serde(flatten, serialize_with = "Rates::serialize_returned")]
    #[schemars(with = "crate::rates::Returned")]
    pub returned_rates: Rates,
    /// First and last thread, where there were several.
    pub threads: Option<ThreadsView>,
    /// Where there were several ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksView>,
    /// Hosts with an agent on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientView>,
    /// Where the phase ended by the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<StonewallView>,
    /// Ops and latencies over its time, where they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTimeView>,
    /// The program that did the work, where it was not the engine.
    pub program: Option<ProgramView>,
    /// Processor time of the worker, or of the programs that did the work.
    pub worker: Option<WorkerView>,
    /// Load of the whole machine up to `durable`.
    pub cpu: CpuLoad,
    /// Processor time of one op by the task clock.
    pub cpu_per_op: Option<CpuPerOp>,
    /// The largest share of the machine that ran other programs in one of its trials, 0 to 1: the
    /// load of the machine holds them.
    pub foreign_share: Option<f64>,
    /// Cycles that began while another one ran, where there are some: counters of a cycle hold
    /// what the others did meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlapped_cycles: Option<usize>,
    /// Latency of single ops.
    pub latency: Option<Latency>,
    /// Latency of the writes alone, where reads and writes are mixed.
    pub write_latency: Option<Latency>,
    /// Device traffic by window.
    pub device: Vec<DeviceBytes>,
    /// Bytes written to the device up to the unmount ÷ bytes written by the work.
    pub write_amplification: Option<SpreadF>,
    /// What is compared, in the base unit of [`FreeQuantity::metric`]; the length of a phase that
    /// leaves nothing free.
    #[serde(skip)]
    pub left_free: Option<SpreadF>,
    /// Its median ÷ the best one among comparable rows; absent where there is no other such row. A
    /// plain ratio: it says nothing about whether the difference is real.
    pub ratio_of_medians: Option<f64>,
    /// Trials of this row whose contents were wrong when read again; in none of its figures.
    pub trials_with_bad_contents: usize,
    /// Trials of the contender in which the phase began and did not come to its end; in no row.
    /// Stated once, in the contender's first row.
    pub trials_partial: usize,
}

/// The third clock over the trials of a row; of cycles a quiet device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct DrainedView {
    /// Trials that drained.
    pub spread: Option<SpreadNs>,
    /// Trials with nothing to drain.
    pub no_device: usize,
    /// Trials that did not drain.
    pub not_drained: usize,
    /// Why not, each reason once.
    pub reasons: Vec<String>,
}

/// Memory limit of a row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum MemoryView {
    /// None was asked for.
    Whole,
    /// Limited as asked.
    Limited {
        /// Limit.
        limit_bytes: u64,
        /// By what.
        by: String,
    },
    /// Asked for, and not to be had.
    NotLimited {
        /// Limit asked for.
        limit_bytes: u64,
        /// Why not.
        reason: String,
    },
}

impl From<&MemoryRecord> for MemoryView {
    fn from(record: &MemoryRecord) -> Self {
        match record.clone() {
            MemoryRecord::Whole => Self::Whole,
            MemoryRecord::Limited { limit_bytes, by, .. } => Self::Limited { limit_bytes, by },
            MemoryRecord::NotLimited { limit_bytes, reason } => {
                Self::NotLimited { limit_bytes, reason }
            }
        }
    }
}

/// A contender without a figure in a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct AbsentRow {
    pub contender: usize,
    pub label: String,
    /// Why there is none; the reasons stand in the lists of the study.
    pub why: Absence,
}

/// Why a contender has no figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Left out by the plan, or by the machine.
    NotRun,
    /// Its trials failed before the phase.
    Failed,
    /// The phase began, and no trial came to its end.
    Partial,
    /// Its trials were interrupted.
    Interrupted,
    /// No trial has a record yet.
    NotYet,
}

/// All tables of a plan, in its order.
pub(crate) fn tables(plan: &RunPlan, records: &[TrialRecord]) -> Vec<PhaseTable> {
    let by_work = |name: &str| records.iter().filter(|r| r.key.workload == name).collect();
    let contenders = Contenders::new(plan);
    let mut tables = Vec::new();
    for (at, workload) in plan.workloads.iter().enumerate() {
        let of_work: Vec<&TrialRecord> = by_work(&workload.name);
        let records = contenders.split(&of_work);
        for phase in workload.phases.iter().filter(|p| p.timed) {
            tables.push(table(plan, at, workload, phase, &records));
        }
    }
    tables
}

fn table(
    plan: &RunPlan,
    at: usize,
    workload: &Workload,
    phase: &Phase,
    records: &[Vec<&TrialRecord>],
) -> PhaseTable {
    let number = workload.phases.iter().position(|one| one.name == phase.name);
    let free = number.map_or(FreeQuantity::Nothing, |number| workload.free(number));
    let mut rows = Vec::new();
    let mut absent = Vec::new();
    for (index, (contender, own)) in plan.contenders.iter().zip(records).enumerate() {
        let n_planned =
            plan.schedule.iter().filter(|s| s.contender == index && s.workload == at).count();
        let groups = groups(own, &phase.name);
        if groups.is_empty() {
            let why = if partial(own, &phase.name) > 0 {
                Absence::Partial
            } else {
                absence(plan, index, at, n_planned, own)
            };
            absent.push(AbsentRow { contender: index, label: contender.label.clone(), why });
        }
        let mut trials_partial = partial(own, &phase.name);
        for ((_, _, memory), pairs) in groups {
            let mut row = row(plan.compared_clock, &pairs, free.metric());
            row.contender = index;
            row.label.clone_from(&contender.label);
            let levels = &contender.levels;
            row.is_never_cold = levels.warm_reason().is_some();
            row.measured = levels.device.measured();
            row.guest_memory_bytes =
                levels.memory_bytes.filter(|_| row.measured == Measured::InVirtualTime);
            row.memory = memory;
            row.n_planned = n_planned;
            row.trials_partial = std::mem::take(&mut trials_partial);
            rows.push(row);
        }
    }
    let unit = RateUnit::for_op(plan.rate, phase.op, &workload.dataset);
    if free.metric().is_some() {
        set_ratios(&mut rows);
    }
    PhaseTable {
        workload: workload.name.clone(),
        workload_title: workload.title.clone(),
        dataset: workload.dataset.clone(),
        phase: phase.name.clone(),
        op: phase.op,
        order: phase.order,
        bs_bytes: phase.bs_bytes,
        io: phase.io.clone(),
        job: phase.job.clone(),
        unit,
        free,
        rows,
        absent,
    }
}

pub(crate) type Group<'a> =
    BTreeMap<(TimeBase, CacheState, MemoryView), Vec<(&'a TrialRecord, usize)>>;

/// The complete phases of this name, by what times are counted in and by state of cache and
/// memory; cold first.
pub(crate) fn groups<'a>(records: &[&'a TrialRecord], phase: &str) -> Group<'a> {
    let mut groups = Group::new();
    for &record in records {
        for (at, found) in record.phases.iter().enumerate() {
            if found.name == phase && found.is_complete() {
                let memory = MemoryView::from(&found.memory);
                let key = (record.time_base, found.cache.state, memory);
                groups.entry(key).or_default().push((record, at));
            }
        }
    }
    groups
}

/// Trials in which the phase began and did not come to its end.
fn partial(records: &[&TrialRecord], phase: &str) -> usize {
    let began = |record: &&&TrialRecord| {
        record.phases.iter().any(|found| found.name == phase && !found.is_complete())
    };
    records.iter().filter(began).count()
}

/// The row of a group, which is never empty.
fn row(clock: Clock, group: &[(&TrialRecord, usize)], free: Option<Metric>) -> PhaseRow {
    let pairs: Vec<(&TrialRecord, usize)> =
        group.iter().copied().filter(|(record, _)| !record.has_bad_contents()).collect();
    let phases: Vec<&PhaseRecord> =
        pairs.iter().filter_map(|&(record, at)| record.phases.get(at)).collect();
    let spread = |clock| SpreadNs::from_values(phases.iter().filter_map(|p| p.ns(clock)).collect());
    let (record, at) = group[0];
    let first = &record.phases[at];
    let cold_asked = first.cache.asked.is_cold();
    let cold = first.cache.state.is_cold();
    let not_warm = first.cache.state == CacheState::NotWarm;
    PhaseRow {
        contender: 0,
        label: String::new(),
        time_base: record.time_base,
        measured: Measured::default(),
        cache: first.cache.state,
        not_cold_because: (cold_asked && !cold || not_warm).then(|| first.cache.why.clone()),
        is_never_cold: false,
        memory: MemoryView::Whole,
        guest_memory_bytes: None,
        n: phases.len(),
        n_planned: 0,
        compared: spread(clock),
        returned: spread(Clock::Returned),
        durable: spread(Clock::Durable),
        drained: drained(&phases),
        rates: Rates::from_phases(&phases, clock),
        returned_rates: Rates::from_phases(&phases, Clock::Returned),
        threads: ThreadsView::over(&phases),
        ranks: RanksView::over(&phases),
        clients: ClientView::over(&phases),
        stonewall: StonewallView::over(&phases),
        over_time: OverTimeView::over(&phases),
        program: ProgramView::over(&phases),
        worker: WorkerView::over(&phases),
        cpu: CpuLoad::over(phases.iter().copied()),
        cpu_per_op: CpuPerOp::over(phases.iter().copied()),
        foreign_share: foreign_share(phases.iter().copied()),
        overlapped_cycles: overlapped_cycles(&phases),
        latency: Latency::over(phases.iter().copied()),
        write_latency: Latency::of_writes(phases.iter().copied()),
        device: device_bytes(&phases),
        write_amplification: write_amplification(&pairs),
        left_free: left_free(&phases, free.unwrap_or_default(), clock),
        ratio_of_medians: None,
        trials_with_bad_contents: group.len() - pairs.len(),
        trials_partial: 0,
    }
}

fn overlapped_cycles(phases: &[&PhaseRecord]) -> Option<usize> {
    let cycles = phases.iter().filter_map(|phase| phase.cycles.as_ref());
    let beside = cycles.flat_map(|all| &all.cycles).filter(|cycle| cycle.report.beside > 0);
    Some(beside.count()).filter(|&count| count > 0)
}

/// Why a trial of cycles has no third clock.
pub(crate) const NOT_QUIET: &str =
    "the device did not become quiet within the period of each cycle";

fn drained(phases: &[&PhaseRecord]) -> DrainedView {
    let has_device = |phase: &&&PhaseRecord| phase.clocks.drained != Drained::NoDevice;
    let lengths_ns = phases.iter().filter(has_device).filter_map(|p| p.ns(Clock::Drained));
    let mut view = DrainedView {
        spread: SpreadNs::from_values(lengths_ns.collect()),
        ..DrainedView::default()
    };
    let mut no_device = 0;
    let mut not_drained = |reason: &str| {
        view.not_drained += 1;
        if !view.reasons.iter().any(|known| known == reason) {
            view.reasons.push(reason.to_owned());
        }
    };
    for phase in phases {
        match &phase.clocks.drained {
            drained if phase.cycles.is_some() && *drained != Drained::NoDevice => {
                if phase.ns(Clock::Drained).is_none() {
                    not_drained(NOT_QUIET);
                }
            }
            Drained::NoDevice => no_device += 1,
            Drained::NotDrained { reason } | Drained::NotWaitedFor { reason } => {
                not_drained(reason);
            }
            Drained::Frozen { .. } | Drained::Idle { .. } => {}
        }
    }
    view.no_device = no_device;
    view
}

/// Rows that may stand in one ratio: all of one time base; all cold or all warm; all in whole
/// memory, all limited as asked, or all without the limit that was asked for.
pub(crate) fn comparable(row: &PhaseRow) -> (TimeBase, bool, Discriminant<MemoryView>) {
    (row.time_base, row.cache.is_cold(), discriminant(&row.memory))
}

impl PhaseRow {
    /// Whether the times of this row and of another may stand in one ratio: both of one time base,
    /// both cold or both warm, both in whole memory, limited as asked, or without the limit that
    /// was asked for.
    #[must_use]
    pub fn is_comparable_with(&self, other: &Self) -> bool {
        comparable(self) == comparable(other)
    }
}

/// What is compared, over trials.
fn left_free(phases: &[&PhaseRecord], metric: Metric, clock: Clock) -> Option<SpreadF> {
    let value = |phase: &&PhaseRecord| PhaseScore::from(*phase).value(metric, clock);
    SpreadF::from_values(phases.iter().filter_map(value).collect())
}

impl PhaseRow {
    /// Median of what is compared, where something can be divided by it.
    pub(crate) fn free_median(&self) -> Option<f64> {
        self.left_free.map(|spread| spread.median).filter(|&median| median > 0.0)
    }
}

/// Ratios of what is compared.
fn set_ratios(rows: &mut [PhaseRow]) {
    let medians: Vec<(_, Option<f64>)> =
        rows.iter().map(|row| (comparable(row), row.free_median())).collect();
    for (row, (class, own)) in rows.iter_mut().zip(&medians) {
        let like: Vec<f64> = medians.iter().filter(|m| m.0 == *class).filter_map(|m| m.1).collect();
        let best = like.iter().copied().min_by(f64::total_cmp);
        row.ratio_of_medians = match (own, best) {
            (Some(own), Some(best)) if like.len() > 1 => Some(own / best),
            _ => None,
        };
    }
}

fn absence(
    plan: &RunPlan,
    contender: usize,
    workload: usize,
    n_planned: usize,
    records: &[&TrialRecord],
) -> Absence {
    let left_out = plan
        .not_run
        .iter()
        .any(|n| n.contender == contender && n.workload.is_none_or(|w| w == workload));
    let ended = |wanted: fn(&Outcome) -> bool| records.iter().any(|r| wanted(&r.outcome));
    if ended(|o| matches!(o, Outcome::Failed { .. } | Outcome::Done)) {
        Absence::Failed
    } else if ended(|o| matches!(o, Outcome::NotRun { .. })) || left_out || n_planned == 0 {
        Absence::NotRun
    } else if ended(|o| matches!(o, Outcome::Interrupted)) {
        Absence::Interrupted
    } else {
        Absence::NotYet
    }
}
