//! A trial at work: what its steps share.
//!
//! What has a state of its own is an object of its own (the file system, its contents, the memory
//! limit, the accounts); here are the tasks of workers, the mount with all that hangs on it, and
//! the record.

use crate::accounts::WriteAccounts;
use crate::clients::Clients;
use crate::contents::StoredContents;
use crate::error::{StepError, refusal, unexpected};
use crate::fault;
use crate::filesystem::{TestedFs, notice};
use crate::limit::MemoryLimit;
use crate::programs::WidthProof;
use crate::stop::Stop;
use crate::warm;
use crate::worker::ReadyWorker;
use fsarena_filesystems::Backing;
use fsarena_metrics::{CacheDrops, KernelRoots, WallClock, realtime_ns};
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::contender::Cache;
use fsarena_model::job::{Contents, DATA, Job, Source, SourcePlace};
use fsarena_model::record::{ColdProof, Notice, Rank, TrialRecord};
use fsarena_model::spec::TrialSpec;
use fsarena_model::work::{
    JobTask, Op, Phase, Task, VerifyReport, WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_process::program::TrustedProgram;
use std::path::{Path, PathBuf};

/// A trial at work.
pub(crate) struct Trial<'a> {
    pub(crate) spec: &'a TrialSpec,
    /// This binary, for workers.
    pub(crate) program: &'a TrustedProgram,
    /// A procfs in which kernel threads are seen.
    pub(crate) host_proc: &'a Path,
    pub(crate) stop: &'a Stop,
    pub(crate) record: TrialRecord,
    /// By the clock that dates files, which somebody may set.
    pub(crate) began_realtime_ns: u64,
    /// Readings of the last chill, for the phase that follows it.
    pub(crate) chilled: Option<ColdProof>,
    /// How often the caches of the machine had been dropped when the last phase began, or at the
    /// last mount: what is dropped from then on is missed by a warm phase.
    pub(crate) cache_drops: CacheDrops,
    pub(crate) accounts: WriteAccounts,
    pub(crate) memory: MemoryLimit,
    pub(crate) contents: StoredContents,
    pub(crate) clients: Clients<'a>,
    // Declared last: what uses the file system is dropped before it.
    pub(crate) fs: TestedFs<'a>,
}

impl Trial<'_> {
    /// What a worker does in a phase.
    pub(crate) fn phase_task(&self, phase: &Phase, latency: bool) -> Task {
        let number = self.spec.workload.phases.iter().position(|p| p.name == phase.name);
        let seed = self.spec.seed.child("phase", number.map_or(u64::MAX, |number| number as u64));
        if let Some(job) = &phase.job {
            return self.job_task(phase, job, latency);
        }
        match &self.spec.workload.fio {
            Some(job) if phase.op == Op::Fio => {
                Task::Fio { job: job.clone(), section: phase.name.clone(), lay_out: !phase.timed }
            }
            _ => Task::Phase { phase: self.as_worked(phase), seed, latency },
        }
    }

    /// A phase as its worker does it: a device is there, and is not made but written over.
    fn as_worked(&self, phase: &Phase) -> Phase {
        let op = match phase.op {
            Op::BigWrite if self.spec.contender.levels.is_raw() => Op::BigOverwrite,
            op => op,
        };
        Phase { op, ..phase.clone() }
    }

    /// Takes down what `phase` has left, as its worker did it.
    pub(crate) fn follow(&mut self, phase: &Phase, report: &WorkerReport) {
        let worked = self.as_worked(phase);
        self.contents.follow(&worked, &self.spec.workload.dataset, report);
    }

    /// What the worker of a timed phase is told: it touches the memory that the phase will need.
    pub(crate) fn timed_worker_spec(&self, task: Task, op: Op) -> WorkerSpec {
        let warm_memory_bytes = warm::task_bytes(
            &self.fs.roots,
            &task,
            op,
            &self.spec.workload.dataset,
            self.spec.contender.levels.memory_bytes,
        );
        let handicap_ns = self.spec.contender.levels.handicap_ns;
        let newer_than_unix_ns = if op == Op::Find { self.began_realtime_ns } else { 0 };
        let plain = self.worker_spec(task);
        WorkerSpec { handicap_ns, warm_memory_bytes, newer_than_unix_ns, ..plain }
    }

    /// What a worker is told.
    pub(crate) fn worker_spec(&self, task: Task) -> WorkerSpec {
        WorkerSpec {
            schema: SPEC_SCHEMA,
            root: self.fs.work_root().unwrap_or_default(),
            dataset: self.spec.workload.dataset.clone(),
            state: self.contents.state,
            dataset_seed: self.spec.seed.child("dataset", 0),
            warm_memory_bytes: 0,
            task,
            rank: 0,
            mounts_of_pid: None,
            cpus: self.spec.cpus.clone(),
            user: self.spec.user,
            handicap_ns: 0,
            newer_than_unix_ns: 0,
            flush_device: self.fs.device_to_flush(),
            trust: self.spec.trust.clone(),
        }
    }

    /// The task of a phase with a job.
    fn job_task(&self, phase: &Phase, job: &Job, latency: bool) -> Task {
        let workload = &self.spec.workload;
        let (data, input, contents) = match &workload.source {
            Some(source) => {
                let data = self.data_path(source);
                let input = match product_of(&workload.phases, &job.of) {
                    Some(product) => PathBuf::from(product),
                    None => data.clone(),
                };
                let held = self.contents.trees.find(&job.of);
                (data, input, held.map(|held| held.contents(&job.kind)).unwrap_or_default())
            }
            None => (PathBuf::from(DATA), PathBuf::from(DATA), Contents::default()),
        };
        Task::Job(JobTask {
            name: phase.name.clone(),
            job: job.clone(),
            input,
            data,
            contents,
            reflink: self.spec.contender.levels.reflink,
            latency,
        })
    }

    /// Where the source is: relative to the root, or absolute.
    pub(crate) fn data_path(&self, source: &Source) -> PathBuf {
        match (source.place, &self.spec.staged) {
            (SourcePlace::Other | SourcePlace::Memory, Some(staged)) => staged.clone(),
            _ => PathBuf::from(source.file_name()),
        }
    }

    /// The source of real work.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn source(&self) -> Result<&Source, StepError> {
        let missing = || StepError::new("the spec asks for real work and has no source");
        self.spec.workload.source.as_ref().ok_or_else(missing)
    }

    /// Mounts the file system.
    pub(crate) fn mount(&mut self) -> Result<(), StepError> {
        if self.fs.mount(&mut self.record.filesystem)? {
            self.record.notices.extend(self.fs.compare_with_prediction());
            // What it had set aside behind files of its age is free again.
            if let (Some(age), Some((total, used))) = (&mut self.record.age, self.fs.space_used()) {
                (age.total_bytes, age.used_bytes) = (total, used);
            }
            self.explain_syncfs();
            let (root, period_ns) = (self.fs.work_root()?, self.spec.sample_period_ns);
            self.clients = Clients::start(&self.spec.hosts, (&root, period_ns), self.stop)?;
        }
        self.cache_drops = CacheDrops::read(&self.fs.roots);
        Ok(())
    }

    /// Says where `durable` is no more than syncfs(2), of which it is not known what it holds.
    fn explain_syncfs(&mut self) {
        let is_directory = self.fs.driver.backing() == Backing::Directory;
        let fstype = self.record.filesystem.mounted_type.as_deref().unwrap_or_default();
        if let Some(notice) = syncfs_notice(fstype, is_directory) {
            self.record.notices.push(notice);
        }
    }

    /// Unmounts, and closes the accounts of the phases since the mount: what the unmount wrote is
    /// part of them.
    pub(crate) fn unmount(&mut self) -> Result<(), StepError> {
        let Some(elapsed_ns) = self.fs.unmount()? else { return Ok(()) };
        self.record.unmount_ns = Some(elapsed_ns);
        self.accounts.close(&self.fs, &mut self.record)
    }

    /// What comes now, which is `what`, belongs to no phase that was measured: their accounts end,
    /// with an unmount where the caches are made cold anyway, else without one.
    pub(crate) fn end_accounts(&mut self, what: &str) -> Result<(), StepError> {
        if self.accounts.is_closed(&self.fs) {
            return Ok(());
        }
        if self.spec.contender.levels.cache == Cache::Cold {
            self.unmount()?;
            return self.mount();
        }
        self.accounts.end(&self.fs, &mut self.record, what);
        Ok(())
    }

    /// Runs an untimed task whose answer is that it is done.
    pub(crate) fn run_task(&mut self, task: Task) -> Result<(), StepError> {
        self.chilled = None;
        let spec = self.worker_spec(task);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        let width = WidthProof::listen(self.spec.programs.as_ref())?;
        let said = worker.go();
        match said.map_err(|failure| refusal(failure.into(), self.fs.inodes_free()))? {
            WorkerSays::Made => width.end_task(),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs a check of contents, and adds its result to the record.
    pub(crate) fn check(&mut self, task: Task) -> Result<(), StepError> {
        let spec = self.worker_spec(task);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        let report = match worker.go()? {
            WorkerSays::Verified(report) => report,
            other => return Err(unexpected(&other)),
        };
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

    pub(crate) fn notice(&mut self, code: &str, text: String, remedy: Option<String>) {
        self.record.notices.push(notice(code, text, remedy));
    }
}

/// What `durable` means on a file system of this type, where that is less than usual.
///
/// The kernel hands syncfs(2) on to a FUSE server only where that serves a block device itself
/// (fuseblk): `durable` is then no later than `returned`, and not what it says. The device below a
/// directory is not ours to flush, and it is not known whether its file system did.
fn syncfs_notice(fstype: &str, is_directory: bool) -> Option<Notice> {
    if fstype == "fuse" || fstype.starts_with("fuse.") {
        let text = format!(
            "mounted as {fstype}: the kernel does not pass syncfs on to the program that serves \
             it, so `durable` does not mean that anything has reached the device"
        );
        let remedy = "look at the bytes written up to the unmount as well";
        return Some(Notice::new("fuse-without-syncfs", text, Some(remedy)));
    }
    let text = match fstype {
        _ if !is_directory => return None,
        "tmpfs" | "ramfs" => format!(
            "the work was done in a directory on {fstype}, which is memory: `durable` there means \
             that the calls came back, and nothing outlives a power cut"
        ),
        _ => format!(
            "the work was done in a directory on {fstype}: `durable` there is the end of syncfs; \
             whether the device was flushed is up to {fstype} and was not checked"
        ),
    };
    let remedy = "as root, --on loop:4G makes the file systems on a device of their own";
    Some(Notice::new("directory-durable", text, Some(remedy)))
}

/// The record of a trial of which nothing has been done yet.
#[must_use]
pub fn blank_record(spec: &TrialSpec) -> TrialRecord {
    let rank = Rank::new(&fsarena_metrics::host(&KernelRoots::default()), &spec.workload.phases);
    TrialRecord {
        device: spec.device.clone(),
        notices: spec.notices.iter().cloned().chain(fault::fast_notice(spec.drain)).collect(),
        ..TrialRecord::new(spec.key.clone(), rank, unix_ns(spec))
    }
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

/// What the phase called `name` makes.
fn product_of(phases: &[Phase], name: &str) -> Option<String> {
    let maker = phases.iter().find(|phase| phase.name == name)?;
    maker.job.as_ref()?.product(name)
}

/// The date of something in this trial, ns since 1970.
pub(crate) fn unix_ns(spec: &TrialSpec) -> u64 {
    let by_offset = |offset_ns| WallClock::of_offset(offset_ns).unix_ns();
    spec.realtime_offset_ns.map_or_else(realtime_ns, by_offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_durable_means_is_said_where_it_is_less_than_usual() {
        let code = |fstype: &str, is_directory: bool| {
            syncfs_notice(fstype, is_directory).map(|notice| notice.code)
        };
        assert_eq!(code("ext4", false), None, "on a device of ours");
        assert_eq!(code("tmpfs", false), None, "it says itself that it is memory");
        assert_eq!(code("fuseblk", false), None);
        for is_directory in [false, true] {
            let fuse = code("fuse.sshfs", is_directory);
            assert_eq!(fuse.as_deref(), Some("fuse-without-syncfs"));
        }
        for fstype in ["ext4", "tmpfs", "nfs4", "overlay"] {
            assert_eq!(code(fstype, true).as_deref(), Some("directory-durable"), "{fstype}");
        }
        let on_disk = syncfs_notice("ext4", true).unwrap().text;
        assert!(on_disk.contains("whether the device was flushed is up to ext4"), "{on_disk}");
        let in_memory = syncfs_notice("tmpfs", true).unwrap().text;
        assert!(in_memory.contains("nothing outlives a power cut"), "{in_memory}");
    }
}
