//! Crash runs that could have been: a plan of them, and records with what was found.

use fsarena_crash::observation::MountStep;
use fsarena_crash::promise::Promise;
pub use fsarena_crash::record::StoredCrashRun;
use fsarena_crash::record::{CrashOutcome, CrashRecord, OpSummary, RECORD_SCHEMA};
use fsarena_crash::state::{Class, Sampling};
use fsarena_crash::{AppendTails, Findings, LossWindow, ReplacedTargets, StrayBytes, Violation};
use fsarena_model::crash::{Campaign, CrashPlan, CrashSlot};
use fsarena_model::run::RunHeader;

const SECOND_NS: u64 = 1_000_000_000;

/// Two runs of `unsynced` and `synced` with four power cuts each.
#[must_use]
pub fn plan() -> CrashPlan {
    CrashPlan {
        campaign: Campaign::default(),
        is_alone: false,
        first_seed: None,
        keep: 0,
        workloads: vec!["unsynced".to_owned(), "synced".to_owned()],
        states: vec!["dropall".to_owned()],
        runs: 2,
        points: 4,
        seconds: 120,
        workload_notes: Vec::new(),
        not_run: Vec::new(),
    }
}

/// What a contender is like after a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits {
    /// Of its longest loss of unsynced work.
    pub loss_s: u64,
    /// Of ten files that another one was renamed over, at each power cut.
    pub damaged: u32,
    pub stale_bytes: u64,
    /// It breaks the documented promise about them.
    pub is_promised: bool,
}

/// One crash run of a plan with [`plan`]; the loss grows from power cut to power cut.
#[must_use]
pub fn run(header: &RunHeader, slot: CrashSlot, traits: Traits) -> StoredCrashRun {
    let is_synced = slot.workload == 1;
    let findings = (1..=4).map(|at| found(at, is_synced, traits)).collect();
    let syncs_ns = if is_synced { vec![9_000_000, 10_000_000, 30_000_000] } else { Vec::new() };
    let record = CrashRecord {
        schema: RECORD_SCHEMA,
        workload: if is_synced { "synced" } else { "unsynced" }.to_owned(),
        seed: header.plan.crash_seed(slot.number),
        ops: OpSummary { ops: 1000, syncs_ns, ..OpSummary::default() },
        begin_ns: 5 * SECOND_NS,
        end_ns: 125 * SECOND_NS,
        mount_options: "rw,relatime".to_owned(),
        late_share: None,
        is_repaired_first: false,
        findings,
        recovered: Vec::new(),
        disk_fault: None,
    };
    stored(slot, CrashOutcome::Done(Box::new(record)))
}

/// A crash run without a record.
#[must_use]
pub fn failed(slot: CrashSlot, error: &str) -> StoredCrashRun {
    stored(slot, CrashOutcome::Failed { error: error.to_owned() })
}

fn stored(slot: CrashSlot, outcome: CrashOutcome) -> StoredCrashRun {
    StoredCrashRun { slot, started_unix_ns: 7, elapsed_ns: 3 * SECOND_NS, outcome }
}

fn found(at: u64, is_synced: bool, traits: Traits) -> Findings {
    let damaged = if is_synced { 0 } else { traits.damaged };
    let stale_bytes = if is_synced { 0 } else { traits.stale_bytes };
    let violation = Violation {
        promise: Promise::ReplaceIsWhole,
        path: Some("replaced/000001".to_owned()),
        op: None,
        found: "8000 bytes of zeros".to_owned(),
    };
    let is_broken = traits.is_promised && damaged > 0;
    let data_ns = if is_synced { 0 } else { traits.loss_s * SECOND_NS * at / 4 };
    Findings {
        at_ns: at * 30 * SECOND_NS,
        class: Class::Dropall,
        sampling: Sampling::Uniform,
        violations: if is_broken { vec![violation] } else { Vec::new() },
        acknowledged_files: if is_synced { 40 } else { 15 },
        acknowledged_files_lost: 0,
        acknowledged_loss_ns: None,
        loss_window: LossWindow { data_ns, metadata_ns: data_ns / 2 },
        lost_bytes: data_ns / 1000,
        lost_names: 0,
        lost_names_of_synced_files: 0,
        replaced: ReplacedTargets {
            whole: 10 - damaged,
            zeros: damaged,
            ..ReplacedTargets::default()
        },
        appended: AppendTails::default(),
        stray: StrayBytes {
            stale_files: u32::from(stale_bytes > 0),
            stale_bytes,
            ..StrayBytes::default()
        },
        is_prefix: true,
        mounted: Some(MountStep::ReadWrite),
        mount_ns: Some(1_000_000),
        replay_failed: false,
        needs_repair: Some(false),
        is_usable: Some(true),
        lost_and_found: 0,
        kernel_messages: 0,
        unknown_files: 0,
        not_judged_files: 0,
        later_files: 0,
    }
}
