//! The steps of a trial.
//!
//! A step that fails ends the trial; what was measured before it stays in the record. Teardown runs
//! in every case: after the last step, after a failure, on a stop, and (through destructors) in a
//! panic.

use crate::accounts::OpenAccount;
use crate::beside::Beside;
use crate::cgroup::Hierarchy;
use crate::holdings::Holdings;
use crate::limit::Memory;
use crate::real::file_bytes;
use crate::stop::Stop;
use crate::tracing::Traced;
use crate::worker::{ReadyWorker, WorkerFailure};
use crate::{ExecutorSays, fault};
use fsarena_metrics::{Roots, Watch, block_stat};
use fsarena_model::RECORD_SCHEMA;
use fsarena_model::record::{ColdProof, Effective, Notice, Outcome, StepTime, TrialRecord};
use fsarena_model::spec::{Step, TargetSpec, TrialSpec};
use fsarena_model::work::{DatasetState, Phase, Task, VerifyReport, WorkerSays};
use fsarena_targets::format::{self, Formatted};
use fsarena_targets::fs::{Driver, Place};
use fsarena_targets::mount::Mounted;
use fsarena_targets::{TargetError, cache, fs, mount, mountinfo, settle, ssd};
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// What went wrong and what to do.
    Failed { error: String, remedy: Option<String> },
    /// A stop was asked for.
    Stopped,
}

impl StepError {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self::Failed { error: error.into(), remedy: None }
    }
}

impl From<TargetError> for StepError {
    fn from(error: TargetError) -> Self {
        let words = error.to_string();
        let known = || crate::measure::remedy_in(&words).map(str::to_owned);
        Self::Failed { remedy: error.remedy().or_else(known), error: words }
    }
}

impl From<WorkerFailure> for StepError {
    fn from(failure: WorkerFailure) -> Self {
        match failure {
            WorkerFailure::Stopped => Self::Stopped,
            WorkerFailure::Refused(reason) => {
                let remedy = crate::measure::remedy_in(&reason).map(str::to_owned);
                Self::Failed { error: reason, remedy }
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<fsarena_metrics::MetricError> for StepError {
    fn from(error: fsarena_metrics::MetricError) -> Self {
        Self::new(error.to_string())
    }
}

/// A trial at work.
pub(crate) struct Trial<'a> {
    pub(crate) spec: &'a TrialSpec,
    /// This binary, for workers.
    pub(crate) program: &'a Path,
    pub(crate) stop: &'a Stop,
    pub(crate) roots: Roots,
    pub(crate) driver: Driver,
    pub(crate) record: TrialRecord,
    pub(crate) hierarchy: Result<Hierarchy, String>,
    /// Readings of the last chill, for the phase that follows it.
    pub(crate) chilled: Option<ColdProof>,
    /// Phases whose accounts have not ended: the next unmount closes them.
    pub(crate) open_accounts: Vec<OpenAccount>,
    /// Traces that have ended; the next unmount makes accounts of them.
    pub(crate) traced: Vec<Traced>,
    /// The memory cgroup of this trial, from its first worker on.
    pub(crate) memory: Option<Memory>,
    /// Bytes of contents in the file system by what the phases did.
    pub(crate) stored_bytes: u64,
    /// What they have made of the dataset.
    pub(crate) state: DatasetState,
    /// What second loads have left beside it.
    pub(crate) beside: Beside,
    /// What lies below the root, in real work.
    pub(crate) holdings: Holdings,
    pub(crate) used_empty_bytes: Option<u64>,
    // Declared last: dropped in this order, so that a mount goes before what it lies on.
    pub(crate) mounted: Option<Mounted>,
    formatted: Option<Formatted>,
}

/// Carries out `spec`. `program` is the binary that knows the argument `worker`; `say` hears each
/// step as it begins.
pub fn run_trial(
    spec: &TrialSpec,
    program: &Path,
    stop: &Stop,
    say: &mut dyn FnMut(&ExecutorSays),
) -> TrialRecord {
    let began = Instant::now();
    let mut record = blank_record(spec);
    let driver = match fs::driver(&spec.contender.levels.fs) {
        Ok(driver) => driver,
        Err(error) => {
            record.outcome = Outcome::NotRun { reason: error.to_string() };
            return record;
        }
    };
    record.filesystem.name = driver.name().to_owned();
    record.filesystem.tool_version = driver.version();
    let mountinfo = mountinfo::text().unwrap_or_default();
    let staged_bytes = spec.staged.as_deref().and_then(file_bytes);
    let mut trial = Trial {
        spec,
        program,
        stop,
        roots: Roots::default(),
        driver,
        record,
        hierarchy: Hierarchy::find(&mountinfo),
        chilled: None,
        open_accounts: Vec::new(),
        traced: Vec::new(),
        memory: None,
        stored_bytes: 0,
        state: DatasetState::default(),
        beside: Beside::default(),
        holdings: Holdings::new(spec.workload.source.as_ref(), staged_bytes),
        used_empty_bytes: None,
        mounted: None,
        formatted: None,
    };
    trial.record.outcome = trial.run_steps(say);
    if let Err(StepError::Failed { error, remedy }) = trial.teardown() {
        if trial.record.outcome == Outcome::Done {
            trial.record.outcome = Outcome::Failed { step: "teardown".to_owned(), error, remedy };
        } else {
            // The first cause stays the outcome.
            trial.notice("teardown-failed", format!("teardown: {error}"), remedy);
        }
    }
    trial.record.elapsed_ns = elapsed_ns(began);
    trial.record
}

impl Trial<'_> {
    fn run_steps(&mut self, say: &mut dyn FnMut(&ExecutorSays)) -> Outcome {
        let spec = self.spec;
        for step in &spec.steps {
            let phase = match step {
                Step::Prepare { phase } | Step::Measure { phase } => Some(phase.name.clone()),
                Step::Hook { phase, .. } => Some(phase.clone()),
                _ => None,
            };
            say(&ExecutorSays::Step { step: step.name().to_owned(), phase: phase.clone() });
            let began = Instant::now();
            let done = if self.stop.asked() {
                Err(StepError::Stopped)
            } else {
                fault::at(step.name(), phase.as_deref());
                self.step(step)
            };
            let elapsed_ns = elapsed_ns(began);
            let name = step.name().to_owned();
            self.record.steps.push(StepTime {
                step: name.clone(),
                phase: phase.clone(),
                elapsed_ns,
            });
            match done {
                Ok(()) => {}
                Err(StepError::Stopped) => return Outcome::Interrupted,
                Err(StepError::Failed { .. }) if self.stop.asked() => return Outcome::Interrupted,
                Err(StepError::Failed { error, remedy }) => {
                    let step = phase.map_or(name.clone(), |phase| format!("{name} {phase}"));
                    return Outcome::Failed { step, error, remedy };
                }
            }
        }
        Outcome::Done
    }

    fn step(&mut self, step: &Step) -> Result<(), StepError> {
        match step {
            Step::Condition => self.condition(),
            Step::Reset => self.reset(),
            Step::Mount => self.mount(),
            Step::MakeDirs => self.make_dirs(),
            Step::Stage => self.stage(),
            Step::Hook { command, .. } => self.hook(command),
            Step::Prepare { phase } => self.prepare(phase),
            Step::Settle => self.settle(),
            Step::Chill => self.chill(),
            Step::Measure { phase } => self.measure(phase),
            Step::Verify => self.verify(),
            Step::Teardown => self.teardown(),
        }
    }

    /// What the SSD policy asks for; ends where a stop is asked for.
    fn condition(&mut self) -> Result<(), StepError> {
        let mut hook = |_| match self.stop.asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let policy = self.spec.contender.levels.ssd;
        let how = ssd::Precondition { seed: self.spec.seed.tag(), ..ssd::Precondition::default() };
        match ssd::apply(&self.spec.target, policy, &how, &mut hook) {
            Ok(done) => {
                self.record.conditioning = done;
                Ok(())
            }
            Err(TargetError::Stopped { .. }) => Err(StepError::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    fn reset(&mut self) -> Result<(), StepError> {
        let levels = &self.spec.contender.levels;
        let formatted =
            format::format(&self.spec.target, &*self.driver, &levels.fs, levels.discard)?;
        self.record.filesystem.mkfs_argv = formatted.mkfs_argv().to_vec();
        if let Some(device) = self.spec.target.device() {
            cache::flush_device(device)?;
            match formatted.features(&*self.driver) {
                Ok(features) => self.record.filesystem.features = features,
                Err(error) => self.notice("features-unread", error.to_string(), None),
            }
        }
        self.formatted = Some(formatted);
        Ok(())
    }

    pub(crate) fn mount(&mut self) -> Result<(), StepError> {
        let formatted = self.formatted.as_ref().ok_or_else(|| out_of_order("mount", "reset"))?;
        let mounted = mount::mount(formatted, &self.mount_point())?;
        // The tree is touched here for the first mount of a trial only: never after a chill.
        let is_first = self.used_empty_bytes.is_none();
        let root = work_root(&mounted, self.spec);
        if is_first && matches!(self.spec.target, TargetSpec::Directory { .. }) {
            // What is put into it may be for the eyes of the user alone.
            let own = std::fs::DirBuilder::new().mode(0o700).create(&root);
            own.map_err(|error| StepError::new(format!("{}: {error}", root.display())))?;
        }
        if let Some(user) = self.spec.user.filter(|_| is_first) {
            hand_over(&root, user)?;
        }
        let effective: &mut Effective = &mut self.record.filesystem;
        effective.mounted_type = Some(mounted.fstype().to_owned());
        effective.mounted_options = Some(mounted.options().to_owned());
        effective.mount_asked = formatted.mount_asked();
        if let Some(device) = self.spec.target.device() {
            effective.served_by = self.driver.served_by(&self.roots.sys, device);
        }
        self.mounted = Some(mounted);
        if is_first {
            self.used_empty_bytes = self.space_used().map(|(_, used)| used);
            self.compare_with_prediction();
            self.say_what_syncfs_means();
        }
        Ok(())
    }

    /// The kernel hands syncfs(2) on to a FUSE server only where that serves a block device itself
    /// (fuseblk): `durable` is then no later than `returned`, and not what it says.
    fn say_what_syncfs_means(&mut self) {
        let fstype = self.record.filesystem.mounted_type.as_deref().unwrap_or_default();
        if fstype != "fuse" && !fstype.starts_with("fuse.") {
            return;
        }
        let text = format!(
            "mounted as {fstype}: the kernel does not pass syncfs on to the program that serves \
             it, so `durable` does not mean that anything has reached the device"
        );
        let remedy = "look at the bytes written up to the unmount beside it".to_owned();
        self.notice("fuse-without-syncfs", text, Some(remedy));
    }

    fn make_dirs(&mut self) -> Result<(), StepError> {
        self.chilled = None;
        let spec = self.worker_spec(Task::MakeDirs, fsarena_model::work::Op::Stat);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        let said = worker.go();
        match said.map_err(|f| crate::measure::refusal(f.into(), self.inodes_free()))? {
            WorkerSays::Made => Ok(()),
            other => Err(StepError::new(format!("the worker answered {other:?}"))),
        }
    }

    /// An untimed phase.
    fn prepare(&mut self, phase: &Phase) -> Result<(), StepError> {
        self.chilled = None;
        self.end_accounts(&format!("the untimed phase {}", phase.name))?;
        let spec = self.worker_spec(self.phase_task(phase, false), phase.op);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        self.limit_memory(worker.pid());
        let relief = self.start_relief()?;
        let said = worker.go().map_err(|failure| self.explain_death(failure.into()))?;
        drop(relief);
        match said {
            WorkerSays::Done(report) => {
                self.account_contents(phase, &report);
                report.error.map_or(Ok(()), |error| {
                    Err(crate::measure::op_failure(&error, phase, self.inodes_free()))
                })
            }
            other => Err(StepError::new(format!("the worker answered {other:?}"))),
        }
    }

    fn settle(&mut self) -> Result<(), StepError> {
        settle::syncfs(&self.work_root()?)?;
        let Some(device) = self.device_name() else { return Ok(()) };
        if self.wait_idle(&device)? == settle::Quiet::Capped {
            self.notice(
                "not-settled",
                format!("{device} was not idle before a phase began"),
                Some("end what else uses the device".to_owned()),
            );
        }
        Ok(())
    }

    /// Unmounts, drops every cache of the device, proves it, mounts again.
    fn chill(&mut self) -> Result<(), StepError> {
        self.unmount()?;
        let mut proof = ColdProof::default();
        if let Some(device) = self.spec.target.device() {
            let backing = self.cached_backing();
            cache::flush_device(device)?;
            if let Some(backing) = backing {
                cache::evict_file(backing)?;
            }
            cache::drop_caches()?;
            proof.device_resident_pages = cache::resident_pages(device).ok();
            proof.backing_resident_pages =
                backing.and_then(|path| cache::resident_pages(path).ok());
            proof.source_resident_pages = self.chill_source()?;
        }
        let before = self.read_bytes();
        self.mount()?;
        proof.mount_read_bytes = match (before, self.read_bytes()) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => None,
        };
        self.chilled = Some(proof);
        Ok(())
    }

    fn verify(&mut self) -> Result<(), StepError> {
        self.chilled = None;
        if self.spec.workload.source.is_some() {
            return self.compare();
        }
        let bs_bytes = self.spec.workload.phases.first().map_or(1 << 20, |phase| phase.bs_bytes);
        let spec = self.worker_spec(Task::Verify { bs_bytes }, fsarena_model::work::Op::Read);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        match worker.go()? {
            WorkerSays::Verified(report) => self.take_verified(report),
            other => Err(StepError::new(format!("the worker answered {other:?}"))),
        }
    }

    /// Adds the result of a check to the record.
    pub(crate) fn take_verified(&mut self, report: VerifyReport) -> Result<(), StepError> {
        let failed = mismatch(&report).map_or(Ok(()), Err);
        match &mut self.record.verify {
            Some(known) => {
                known.files += report.files;
                known.bytes += report.bytes;
                known.bad_files += report.bad_files;
                known.examples.extend(report.examples);
            }
            none => *none = Some(report),
        }
        failed
    }

    fn teardown(&mut self) -> Result<(), StepError> {
        if self.mounted.is_some() {
            self.record.space = self.space();
            self.unmount()?;
        }
        if let Some(formatted) = self.formatted.take() {
            if self.spec.keep {
                formatted.keep();
            } else {
                formatted.destroy()?;
            }
        }
        Ok(())
    }

    /// Unmounts, and closes the accounts of the phases since the mount: what the unmount wrote is
    /// part of them.
    pub(crate) fn unmount(&mut self) -> Result<(), StepError> {
        let Some(mounted) = self.mounted.take() else { return Ok(()) };
        match mounted.unmount() {
            Ok(elapsed_ns) => self.record.unmount_ns = Some(elapsed_ns),
            Err(refused) => {
                let (mounted, error) = *refused;
                self.mounted = Some(mounted);
                return Err(error.into());
            }
        }
        self.close_accounts()
    }

    /// Where this trial's file system is mounted.
    fn mount_point(&self) -> PathBuf {
        self.spec.scratch_dir.join("mnt")
    }

    /// The directory that holds the dataset.
    pub(crate) fn work_root(&self) -> Result<PathBuf, StepError> {
        let mounted = self.mounted.as_ref().ok_or_else(|| out_of_order("work", "mount"))?;
        Ok(work_root(mounted, self.spec))
    }

    /// Kernel name of the device (`loop3`), where there is one of our own.
    pub(crate) fn device_name(&self) -> Option<String> {
        let device = self.spec.target.device().filter(|_| self.driver.place() == Place::Block)?;
        device.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    /// What `device` has done and is doing.
    pub(crate) fn activity(&self, device: &str) -> std::io::Result<settle::Activity> {
        let stat = block_stat(&self.roots, device).map_err(std::io::Error::other)?;
        let others = stat.discards.unwrap_or(0) + stat.flushes.unwrap_or(0);
        let completed = stat.reads + stat.writes + others;
        Ok(settle::Activity { completed, in_flight: stat.in_flight })
    }

    /// Waits until `device` is idle, within the limits of the spec.
    pub(crate) fn wait_idle(&self, device: &str) -> Result<settle::Quiet, StepError> {
        let mut read = || self.activity(device);
        let drain = self.spec.drain;
        settle::wait_idle(&mut read, drain.idle_ns, drain.cap_ns)
            .map_err(|error| StepError::new(error.to_string()))
    }

    /// The file on a disk under a loop device, of ours or of the user's: its pages may be cached a
    /// second time.
    pub(crate) fn cached_backing(&self) -> Option<&Path> {
        match &self.spec.target {
            TargetSpec::Block { in_memory: true, .. } => None,
            target => target.image().or_else(|| target.backing_file()),
        }
    }

    fn read_bytes(&self) -> Option<u64> {
        block_stat(&self.roots, &self.device_name()?).ok().map(|stat| stat.read_bytes)
    }

    pub(crate) fn watch(&self, worker_pid: Option<u32>) -> Watch {
        Watch { device: self.device_name(), memory_cgroup: None, worker_pid }
    }

    pub(crate) fn notice(&mut self, code: &str, text: String, remedy: Option<String>) {
        self.record.notices.push(Notice { code: code.to_owned(), text, remedy, measure: None });
    }
}

/// The record of a trial of which nothing has been done yet.
#[must_use]
pub fn blank_record(spec: &TrialSpec) -> TrialRecord {
    TrialRecord {
        schema: RECORD_SCHEMA,
        key: spec.key.clone(),
        outcome: Outcome::Interrupted,
        started_unix_ns: unix_ns(),
        elapsed_ns: 0,
        steps: Vec::new(),
        filesystem: Effective::default(),
        device: spec.device.clone(),
        conditioning: None,
        phases: Vec::new(),
        space: None,
        unmount_ns: None,
        verify: None,
        notices: spec.notices.clone(),
    }
}

/// The root of the file system; in a directory target a directory of this trial alone, so that it
/// meets neither the grown directory nor the remembered names of the trial before.
fn work_root(mounted: &Mounted, spec: &TrialSpec) -> PathBuf {
    match spec.target {
        TargetSpec::Directory { .. } => {
            mounted.path().join(format!("fsarena-trial-{}", spec.key.sequence))
        }
        _ => mounted.path().to_owned(),
    }
}

/// Gives the root of a fresh file system to the user that will work in it.
fn hand_over(root: &Path, user: fsarena_model::work::UserIds) -> Result<(), StepError> {
    std::os::unix::fs::chown(root, Some(user.uid), Some(user.gid)).map_err(|error| {
        StepError::Failed {
            error: format!("{}: cannot be given to user {}: {error}", root.display(), user.uid),
            remedy: Some("leave --user out, or use a file system with owners".to_owned()),
        }
    })
}

fn mismatch(report: &VerifyReport) -> Option<StepError> {
    (report.bad_files > 0).then(|| StepError::Failed {
        error: format!(
            "{} of {} files do not hold what was written: {}",
            report.bad_files,
            report.files.saturating_add(report.bad_files),
            report.examples.join("; ")
        ),
        remedy: Some("check memory and device (dmesg); this result is of no use".to_owned()),
    })
}

fn out_of_order(step: &str, missing: &str) -> StepError {
    StepError::new(format!("the spec asks for {step} before {missing}"))
}

pub(crate) fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
