//! Work on a file system until the power goes.

use super::actions;
use super::error::CrashError;
use super::mounting::target;
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::op::Op;
use fsarena_crash::workload::Extent;
use fsarena_devices::{format, mount, served, settle};
use fsarena_filesystems::driver;
use fsarena_metrics::monotonic_ns;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A file system on `/dev/vdisk0`, and work on it until the power goes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashWork {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub workload: CrashWorkload,
    pub seed: u64,
    pub duration_ns: u64,
    /// Of files that are made, synced and deleted before.
    pub prefill_bytes: u64,
    /// A disk of this machine in place of the guest's.
    #[serde(default)]
    pub target: Option<TargetSpec>,
}

/// What was done, in the time of the guest, which is that of the disk's write log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkRecord {
    pub ops: Vec<Op>,
    /// Of the ops that are judged.
    pub begin_ns: u64,
    /// The power goes.
    pub end_ns: u64,
    /// Mount and superblock options in force.
    pub mount_options: String,
    /// Ops of the plan that had not begun when the time was over.
    pub not_begun: u64,
    /// Of a disk that is served here: share of the modelled time of its requests by which answers
    /// came late, summed over the work.
    #[serde(default)]
    pub late_share: Option<f64>,
}

pub(super) fn work(work: &CrashWork, mnt: &Path) -> Result<WorkRecord, CrashError> {
    work_until_the_end(work, mnt, &mut |_| Ok(()), &mut |_, _| {})
}

/// Works. `prepared` is called with the mounted file system before the ops that are judged, and
/// `failed` with the place of each op of which a call failed. It stays mounted.
pub(super) fn work_until_the_end(
    work: &CrashWork,
    mnt: &Path,
    prepared: &mut dyn FnMut(&Path) -> Result<(), CrashError>,
    failed: &mut dyn FnMut(usize, actions::Failure),
) -> Result<WorkRecord, CrashError> {
    let driver = driver(&work.fs)?;
    let target = work.target.clone().unwrap_or_else(|| target(0, work.size_bytes));
    let formatted = format::format(&target, &*driver, &work.fs, Discard::None)?;
    let mounted = mount::mount(&formatted, mnt)?;
    let mount_options = mounted.options().to_owned();
    let extent = Extent { duration_ns: work.duration_ns, prefill_bytes: work.prefill_bytes };
    let (plan, _) = work.workload.plan(work.seed, extent)?;
    actions::make_directories(mnt, &plan.directories).map_err(CrashError::io(mnt))?;
    settle::syncfs(mnt)?;
    let socket = served::socket(&target).map(str::to_owned);
    let mut from_ns = monotonic_ns();
    let mut is_prepared = false;
    let planned_ops = plan.actions.len();
    let mut ops = Vec::with_capacity(planned_ops);
    for planned in plan.actions {
        if !is_prepared && planned.at_ns >= plan.begin_ns {
            is_prepared = true;
            settle::syncfs(mnt)?;
            prepared(mnt)?;
            if let Some(socket) = &socket {
                // Lateness counts from here.
                served::report(socket)?;
            }
            // On a slow disk it took longer than planned, and all that follows comes later.
            from_ns = from_ns.max(monotonic_ns().saturating_sub(plan.begin_ns));
        }
        let is_over = || monotonic_ns() >= from_ns + plan.begin_ns + work.duration_ns;
        if plan.ends_on_time && is_prepared && is_over() {
            break;
        }
        actions::sleep_until(from_ns + planned.at_ns);
        let begin_ns = monotonic_ns();
        let failure = actions::carry_out(mnt, &planned.action, plan.seed).err();
        let error = failure.as_ref().map(|it| it.error.raw_os_error().unwrap_or(0));
        let end_ns = monotonic_ns();
        if let Some(failure) = failure {
            failed(ops.len(), failure);
        }
        ops.push(Op { action: planned.action, begin_ns, end_ns, error });
    }
    let begin_ns = from_ns + plan.begin_ns;
    actions::sleep_until(begin_ns + work.duration_ns);
    let end_ns = monotonic_ns();
    let late_share = match &socket {
        Some(socket) => Some(served::report(socket)?.late_share()),
        None => None,
    };
    // It stays mounted: the power goes.
    mounted.keep();
    formatted.keep();
    let not_begun = (planned_ops - ops.len()) as u64;
    Ok(WorkRecord { ops, begin_ns, end_ns, mount_options, not_begun, late_share })
}
