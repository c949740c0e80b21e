//! Every raw value of a RUN as charts, tables and exports take it: one point a trial and phase.

use crate::account::TrialAccount;
use crate::contenders::Contenders;
use crate::cpu::{CpuLoad, CpuPerOp, steal_share};
use crate::cycles::DeviceLoad;
use crate::ledger::{
    FLUSHES, Latency, READ, WRITTEN, phases_until_unmount, write_amplification_of,
};
use crate::notes::words;
use crate::phases::{MemoryView, NOT_QUIET};
use fsarena_model::contender::{Cache, Contender, DeviceLevel};
use fsarena_model::record::{CacheState, Drained, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::work::WorkerUsage;
use serde::Serialize;

/// The points of one phase of one workload.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhasePoints {
    pub workload: String,
    pub phase: String,
    /// One point a trial that has the phase, in the order in which they were run.
    pub points: Vec<TrialPoint>,
}

/// A phase of one trial. Where it has cycles, lengths, ops and bytes are means of those that are
/// compared, and bytes and flushes of the device are over their periods.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct TrialPoint {
    pub contender: usize,
    pub label: String,
    /// Number of the block, from 1.
    pub block: u32,
    /// Number of the trial, from 1.
    pub trial: u32,
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// State of the cache.
    pub cache: CacheState,
    /// State of the cache that was asked for.
    pub cache_asked: Cache,
    /// Memory limit.
    pub memory: MemoryView,
    /// Why it is in no figure: it ended early, or its contents were wrong when read again.
    pub spoiled: Option<String>,
    /// The compared clock.
    pub compared_ns: Option<u64>,
    /// The calls came back.
    pub returned_ns: u64,
    /// syncfs done.
    pub durable_ns: Option<u64>,
    /// Everything is where it must be.
    pub drained_ns: Option<u64>,
    /// Why there is no third clock, where there is none.
    pub not_drained: Option<String>,
    /// Ops done.
    pub ops: u64,
    /// Bytes that the calls moved.
    pub asked_bytes: u64,
    /// Of these, written.
    pub asked_written_bytes: u64,
    /// Load of the machine up to `durable`, 0 to 1; absent where it was too short to say.
    pub cpu_share: Option<f64>,
    /// Share of the machine's time that the hypervisor took meanwhile, 0 to 1.
    pub steal_share: Option<f64>,
    /// Processor time of the work in user mode; absent where another program measured.
    pub worker_user_ns: Option<u64>,
    /// Processor time of the work in the kernel; absent where another program measured.
    pub worker_system_ns: Option<u64>,
    /// Processor time of an op by the task clock up to `durable`, of the work and of kernel threads
    /// where these are seen.
    pub cpu_per_op_ns: Option<f64>,
    /// Of this, the worker and its programs alone.
    pub worker_cpu_per_op_ns: Option<f64>,
    /// Read from the device up to `durable`.
    pub device_read_bytes: Option<u64>,
    /// Written to the device up to the next unmount.
    pub device_written_bytes: Option<u64>,
    /// Flushes up to the next unmount.
    pub device_flushes: Option<u64>,
    /// Whether later phases of the trial come before that unmount: bytes and flushes of the device
    /// are of their work too.
    pub shares_unmount: bool,
    /// Bytes written to the device up to the unmount ÷ bytes written by the work in that time,
    /// later phases included.
    pub write_amplification: Option<f64>,
    /// Cycles behind it: those that are compared; absent for a phase without.
    pub cycles: Option<usize>,
    /// Share of the time up to `durable` in which the device had something to do, 0 to 1; of cycles
    /// of their periods.
    pub busy_share: Option<f64>,
    /// Requests under way at the device, mean over the same time.
    pub queue_depth: Option<f64>,
    /// Mean time of a write request in it, ns.
    pub write_latency_ns: Option<f64>,
    /// Where its bytes went, where that was traced.
    pub account: Option<TrialAccount>,
    /// Half of the ops took no longer.
    pub p50_ns: Option<u64>,
    /// 90 % took no longer.
    pub p90_ns: Option<u64>,
    /// 99 % took no longer.
    pub p99_ns: Option<u64>,
    /// 99.9 % took no longer.
    pub p999_ns: Option<u64>,
    /// The longest op.
    pub max_ns: Option<u64>,
}

/// All points of a plan, one entry a workload and timed phase, in its order. Trials of contenders
/// that the plan does not know are left out.
#[must_use]
pub fn points(plan: &RunPlan, records: &[TrialRecord]) -> Vec<PhasePoints> {
    let contenders = Contenders::new(plan);
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let mut own: Vec<(usize, &TrialRecord)> = records
            .iter()
            .filter(|record| record.key.workload == workload.name)
            .filter_map(|record| Some((contenders.index(record)?, record)))
            .collect();
        own.sort_by_key(|(_, record)| (record.started_unix_ns, record.key.sequence));
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let of = |&(contender, record): &(usize, &TrialRecord)| {
                let at = record.phases.iter().position(|found| found.name == phase.name)?;
                Some(point(plan, contender, record, at))
            };
            all.push(PhasePoints {
                workload: workload.name.clone(),
                phase: phase.name.clone(),
                points: own.iter().filter_map(of).collect(),
            });
        }
    }
    all
}

/// Phase `at` of a trial.
fn point(plan: &RunPlan, contender: usize, record: &TrialRecord, at: usize) -> TrialPoint {
    let Contender { label, levels, .. } = &plan.contenders[contender];
    let phase = &record.phases[at];
    let not_drained = match &phase.clocks.drained {
        drained if phase.cycles.is_some() => {
            let is_missing = *drained != Drained::NoDevice && drained_ns(phase).is_none();
            is_missing.then(|| NOT_QUIET.to_owned())
        }
        Drained::NotDrained { reason } | Drained::NotWaitedFor { reason } => Some(reason.clone()),
        Drained::Frozen { .. } | Drained::Idle { .. } | Drained::NoDevice => None,
    };
    let latency = Latency::over([phase]);
    let load = DeviceLoad::from_phase(phase);
    let is_foreign = matches!(levels.device, DeviceLevel::Elsewhere { .. });
    let is_unknown = is_foreign && phase.worker == WorkerUsage::default();
    let worker = (!is_unknown).then_some(&phase.worker);
    TrialPoint {
        contender,
        label: label.clone(),
        block: record.key.block + 1,
        trial: record.key.sequence + 1,
        started_unix_ns: record.started_unix_ns,
        cache: phase.cache.state,
        cache_asked: phase.cache.asked,
        memory: MemoryView::from(&phase.memory),
        spoiled: spoiled(record, phase),
        compared_ns: phase.ns(plan.compared_clock),
        returned_ns: phase.ns(Clock::Returned).unwrap_or(phase.clocks.returned_ns),
        durable_ns: phase.ns(Clock::Durable),
        drained_ns: drained_ns(phase),
        not_drained,
        ops: phase.compared_ops(),
        asked_bytes: phase.compared_asked_bytes(),
        asked_written_bytes: phase.compared_written_bytes(),
        cpu_share: CpuLoad::of_phase(phase).share(),
        steal_share: steal_share(phase),
        worker_user_ns: worker.map(|worker| worker.user_ns),
        worker_system_ns: worker.map(|worker| worker.system_ns),
        cpu_per_op_ns: CpuPerOp::over([phase]).map(|own| own.ns.median),
        worker_cpu_per_op_ns: CpuPerOp::over([phase]).map(|own| own.worker_ns.median),
        device_read_bytes: phase.counter(Window::Durable, READ),
        device_written_bytes: phase.counter(Window::Unmounted, WRITTEN),
        device_flushes: phase.counter(Window::Unmounted, FLUSHES),
        shares_unmount: phase.cycles.is_none() && phases_until_unmount(record, at) > at + 1,
        write_amplification: write_amplification_of(record, at),
        cycles: phase.cycles.as_ref().map(|cycles| cycles.compared().count()),
        busy_share: load.busy_share,
        queue_depth: load.queue_depth,
        write_latency_ns: load.write_latency_ns,
        account: TrialAccount::from_phase(phase),
        p50_ns: latency.and_then(|latency| latency.p50_ns),
        p90_ns: latency.and_then(|latency| latency.p90_ns),
        p99_ns: latency.and_then(|latency| latency.p99_ns),
        p999_ns: latency.and_then(|latency| latency.p999_ns),
        max_ns: latency.map(|latency| latency.max_ns),
    }
}

/// The third clock; none of what has no device.
fn drained_ns(phase: &PhaseRecord) -> Option<u64> {
    match &phase.clocks.drained {
        Drained::NoDevice => None,
        _ => phase.ns(Clock::Drained),
    }
}

/// Why the values of a phase are in no figure.
fn spoiled(record: &TrialRecord, phase: &PhaseRecord) -> Option<String> {
    if !phase.is_complete() {
        let why = phase.error.as_ref().map(|error| words(phase, error));
        return Some(why.map_or("ended early".to_owned(), |why| format!("ended early: {why}")));
    }
    let bad = record.verify.as_ref().filter(|_| record.has_bad_contents())?;
    Some(format!("wrong contents: {} of {} files", bad.bad_files, bad.files))
}
