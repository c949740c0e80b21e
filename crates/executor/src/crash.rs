//! The guest's part of crash safety: work whose end is the end of the power, and a check of what it
//! left on a disk.
//!
//! Whoever boots the guests has the write log of the disk in between. Both are done by the first
//! process of a guest, whose machine is gone afterwards.

mod actions;
mod application;
mod check;
mod error;
mod kernel_log;
mod mounting;
mod native;
mod sequence;
mod tree;

pub use application::{ApplicationCheck, ApplicationTask};
pub use native::{NativeAnswer, NativeRequest, crash_executor_inside, crash_executor_outside};

use check::Asked;
use error::CrashError;
use fsarena_devices::{TargetError, format, mount, settle};
use fsarena_filesystems::driver;
use fsarena_metrics::monotonic_ns;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use fsarena_safety::observation::Observation;
use fsarena_safety::op::Op;
use fsarena_safety::workload::{Extent, Kind, plan};
use mounting::target;
pub use sequence::{FormatTask, SequenceCheck, SequenceWork};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Where the file system under test is mounted in a guest.
const MOUNT_POINT: &str = "/run/fsarena/mnt";

/// What a guest is to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CrashTask {
    Work(CrashWork),
    Check(CrashCheck),
    ApplicationWork(ApplicationTask),
    ApplicationCheck(ApplicationCheck),
    Format(FormatTask),
    /// Sequences of operations, each on a disk of its own.
    Sequences(SequenceWork),
    /// The trees on disks after a power cut.
    Trees(SequenceCheck),
}

/// A file system on `/dev/vdisk0`, and work on it until the power goes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashWork {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub kind: Kind,
    pub seed: u64,
    pub duration_ns: u64,
    /// Of files that are made, synced and deleted before.
    pub prefill_bytes: u64,
    /// A disk of this machine in place of the guest's.
    #[serde(default)]
    pub target: Option<TargetSpec>,
}

/// The same file system on each of `/dev/vdisk0` and the next ones, after a power cut.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashCheck {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub disks: u32,
    /// With all lines of the kernel and the text of the check.
    #[serde(default)]
    pub is_detailed: bool,
    /// Whether the check of the file system is run after the unmount.
    pub has_fsck: bool,
    /// The only one, a disk of this machine, in place of the guest's.
    #[serde(default)]
    pub target: Option<TargetSpec>,
}

/// What was done, in the time of the guest, which is that of the disk's write log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkRecord {
    pub ops: Vec<Op>,
    /// Of the ops that are judged.
    pub begin_ns: u64,
    /// The power goes.
    pub end_ns: u64,
    /// Mount and superblock options in force.
    pub mount_options: String,
}

/// Does the task of `text`, a [`CrashTask`] as JSON. Gives a [`WorkRecord`], or an array of
/// observations, one for each disk; of an application what `fsarena_safety::application` has for
/// both.
///
/// # Errors
/// Why it could not be done.
pub fn run_crash_task(text: &str) -> Result<String, String> {
    let mnt = Path::new(MOUNT_POINT);
    let done = || -> Result<String, CrashError> {
        fs::create_dir_all(mnt).map_err(CrashError::io(mnt))?;
        done(&serde_json::from_str(text)?, mnt)
    };
    done().map_err(|error| error.to_string())
}

/// Does a task with this place for mounts.
fn done(task: &CrashTask, mnt: &Path) -> Result<String, CrashError> {
    match task {
        CrashTask::Work(work) => Ok(serde_json::to_string(&do_work(work, mnt)?)?),
        CrashTask::Check(task) => Ok(serde_json::to_string(&check(task, mnt)?)?),
        CrashTask::ApplicationWork(task) => {
            Ok(serde_json::to_string(&application::work(task, mnt)?)?)
        }
        CrashTask::ApplicationCheck(task) => {
            Ok(serde_json::to_string(&application::check(task, mnt)?)?)
        }
        CrashTask::Format(task) => Ok(serde_json::to_string(&sequence::make_one(task)?)?),
        CrashTask::Sequences(work) => Ok(serde_json::to_string(&sequence::run_all(work, mnt)?)?),
        CrashTask::Trees(task) => Ok(serde_json::to_string(&sequence::check_all(task, mnt)?)?),
    }
}

/// Programs that a check of a file system of this name needs.
pub fn check_programs(fs_name: &str) -> impl Iterator<Item = &'static str> {
    mounting::programs(fs_name)
}

fn do_work(work: &CrashWork, mnt: &Path) -> Result<WorkRecord, CrashError> {
    let driver = driver(&work.fs)?;
    let target = work.target.clone().unwrap_or_else(|| target(0, work.size_bytes));
    let formatted = format::format(&target, &*driver, &work.fs, Discard::None)?;
    let mounted = mount::mount(&formatted, mnt)?;
    let mount_options = mounted.options().to_owned();
    actions::make_directories(mnt).map_err(CrashError::io(mnt))?;
    settle::syncfs(mnt)?;
    let extent = Extent { duration_ns: work.duration_ns, prefill_bytes: work.prefill_bytes };
    let plan = plan(work.kind, work.seed, extent);
    let mut from_ns = monotonic_ns();
    let mut is_prepared = false;
    let mut ops = Vec::with_capacity(plan.actions.len());
    for planned in plan.actions {
        if !is_prepared && planned.at_ns >= plan.begin_ns {
            is_prepared = true;
            settle::syncfs(mnt)?;
            // On a slow disk it took longer than planned, and all that follows comes later.
            from_ns = from_ns.max(monotonic_ns().saturating_sub(plan.begin_ns));
        }
        actions::sleep_until(from_ns + planned.at_ns);
        let begin_ns = monotonic_ns();
        let error = actions::carry_out(mnt, &planned.action, plan.seed).err();
        let error = error.map(|error| error.raw_os_error().unwrap_or(0));
        ops.push(Op { action: planned.action, begin_ns, end_ns: monotonic_ns(), error });
    }
    let begin_ns = from_ns + plan.begin_ns;
    actions::sleep_until(begin_ns + work.duration_ns);
    let end_ns = monotonic_ns();
    // It stays mounted: the power goes.
    mounted.keep();
    formatted.keep();
    Ok(WorkRecord { ops, begin_ns, end_ns, mount_options })
}

fn check(task: &CrashCheck, mnt: &Path) -> Result<Vec<Observation>, CrashError> {
    let driver = driver(&task.fs)?;
    let none = || CrashError::NoKernelMount(task.fs.name.clone());
    let mut all = Vec::new();
    for number in 0..task.disks {
        let target = task.target.clone();
        let target = target.unwrap_or_else(|| mounting::target(number, task.size_bytes));
        let planned = driver.mount_plan(&task.fs, Discard::None, &target);
        let plan = planned.map_err(TargetError::from)?;
        let fs = mounting::FileSystemOn::new(&plan, &task.fs.name, &target).ok_or_else(none)?;
        let asked = Asked { is_detailed: task.is_detailed, has_fsck: task.has_fsck };
        all.push(check::check(&fs, mnt, asked));
    }
    Ok(all)
}
