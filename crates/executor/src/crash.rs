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
mod medium_error;
mod mounting;
mod native;
mod observed;
mod sequence;
mod tree;
mod work;

pub use application::{ApplicationCheck, ApplicationTask};
pub use native::{NativeAnswer, NativeRequest, crash_executor_inside, crash_executor_outside};

use check::{CheckOptions, FileReader};
use error::CrashError;
use fsarena_model::contender::FsLevel;
use fsarena_model::spec::TargetSpec;
use mounting::{FileSystemOn, each_contents, with_file_system};
use observed::hand_on;
pub use observed::{NOT_HANDED_ON, TakeObservation};
pub use sequence::{FormatTask, SequenceCheck, SequenceWork};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
pub use work::{CrashWork, WorkRecord};

/// Texts of records of `/dev/kmsg`, and those of them that tell of damage: for the targets of
/// `fsarena-fuzz`.
#[doc(hidden)]
#[must_use]
pub fn kernel_lines(records: &[&[u8]]) -> (Vec<String>, Vec<String>) {
    let mut records = records.iter();
    let lines = kernel_log::lines_of(|to| {
        let Some(record) = records.next() else { return Ok(0) };
        let count = record.len().min(to.len());
        to[..count].copy_from_slice(&record[..count]);
        Ok(count)
    });
    let damage = kernel_log::KernelLog::damage_in(&lines);
    (lines, damage)
}

/// Where the file system under test is mounted in a guest.
const MOUNT_POINT: &str = "/run/fsarena/mnt";

/// What a guest is to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CrashTask {
    Work(CrashWork),
    /// The same on a disk that may fail, and a look at the file system while it is mounted.
    MediumErrorWork(CrashWork),
    Check(CrashCheck),
    ApplicationWork(ApplicationTask),
    ApplicationCheck(ApplicationCheck),
    Format(FormatTask),
    /// Sequences of operations, each on a disk of its own.
    Sequences(SequenceWork),
    /// The trees on disks after a power cut.
    Trees(SequenceCheck),
}

/// The same file system on each of `/dev/vdisk0` and the next ones, after power cuts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashCheck {
    pub fs: FsLevel,
    pub size_bytes: u64,
    /// How many contents each of them shows, one after another.
    pub contents: Vec<u32>,
    /// With all lines of the kernel and the text of the check.
    #[serde(default)]
    pub is_detailed: bool,
    /// Whether the check of the file system is run after the unmount.
    pub has_fsck: bool,
    /// The only one, a disk of this machine, in place of the guest's.
    #[serde(default)]
    pub target: Option<TargetSpec>,
}

/// Does the task of `text`, a [`CrashTask`] as JSON. Gives a [`WorkRecord`], of an application what
/// `fsarena_crash::application` has, of work on a disk that may fail a
/// `fsarena_crash::medium_error::record`, and of inspections nothing: `take` gets an observation
/// for each contents of a disk.
///
/// # Errors
/// Why it could not be done.
pub fn run_crash_task(text: &str, take: &mut TakeObservation<'_>) -> Result<String, String> {
    let mnt = Path::new(MOUNT_POINT);
    let mut done = || -> Result<String, CrashError> {
        fs::create_dir_all(mnt).map_err(CrashError::io(mnt))?;
        done(&serde_json::from_str(text)?, mnt, &mut None, take)
    };
    done().map_err(|error| error.to_string())
}

/// Does a task with this place for mounts; what reads files is kept for the next one.
fn done(
    task: &CrashTask,
    mnt: &Path,
    reader: &mut Option<FileReader>,
    take: &mut TakeObservation<'_>,
) -> Result<String, CrashError> {
    let nothing = |()| String::new();
    match task {
        CrashTask::Work(work) => Ok(serde_json::to_string(&work::work(work, mnt)?)?),
        CrashTask::MediumErrorWork(work) => {
            Ok(serde_json::to_string(&medium_error::work(work, mnt)?)?)
        }
        CrashTask::Check(task) => {
            let reader = reader.get_or_insert_with(FileReader::new);
            check(task, mnt, reader, take).map(nothing)
        }
        CrashTask::ApplicationWork(task) => {
            Ok(serde_json::to_string(&application::work(task, mnt)?)?)
        }
        CrashTask::ApplicationCheck(task) => application::check(task, mnt, take).map(nothing),
        CrashTask::Format(task) => Ok(serde_json::to_string(&sequence::make_one(task)?)?),
        CrashTask::Sequences(work) => Ok(serde_json::to_string(&sequence::run_all(work, mnt)?)?),
        CrashTask::Trees(task) => sequence::check_all(task, mnt, take).map(nothing),
    }
}

/// Whether two states of a file system of this name can be looked at at one time under one kernel:
/// they have the same UUID.
#[must_use]
pub fn is_side_by_side(fs_name: &str) -> bool {
    mounting::is_side_by_side(fs_name)
}

/// Programs that a check of a file system of this name needs.
pub fn check_programs(fs_name: &str) -> impl Iterator<Item = &'static str> {
    mounting::programs(fs_name)
}

fn check(
    task: &CrashCheck,
    mnt: &Path,
    reader: &mut FileReader,
    take: &mut TakeObservation<'_>,
) -> Result<(), CrashError> {
    let asked = CheckOptions { is_detailed: task.is_detailed, has_fsck: task.has_fsck };
    let look = |fs: &FileSystemOn<'_>| hand_on(&check::check(fs, mnt, asked, reader), take);
    match &task.target {
        Some(target) => with_file_system(&task.fs, target, look),
        None => each_contents(&task.fs, &task.contents, task.size_bytes, look),
    }
}
