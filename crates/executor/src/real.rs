//! Real work: a source put in place, hooks run, jobs handed to the worker, trees compared.
//!
//! What lies where below the root is told by `fsarena_model::job`, and followed from phase to phase
//! in [`crate::holdings`].

use crate::cold::Need;
use crate::holdings::Holding;
use crate::measure;
use crate::trial::{StepError, Trial};
use crate::worker::ReadyWorker;
use fsarena_model::job::{Contents, DATA, Job, Origin, Source, SourcePlace};
use fsarena_model::work::{JobTask, Op, Phase, Task, WorkerReport, WorkerSays};
use fsarena_targets::fs::ContentRule;
use std::path::{Path, PathBuf};

impl Trial<'_> {
    /// Puts the source below the root.
    pub(crate) fn stage(&mut self) -> Result<(), StepError> {
        let source = self.source()?.clone();
        let task = Task::Stage { source: source.clone(), from: self.spec.staged.clone() };
        self.errand(task).map_err(|failed| self.who_may_read(failed))?;
        let archive_bytes = source.archive.and_then(|_| file_bytes(self.spec.staged.as_deref()?));
        if let (Origin::Own { path }, Some(was), Some(is)) =
            (&source.origin, source.contents.archive_bytes, archive_bytes)
            && was != is
        {
            return Err(StepError::Failed {
                error: format!("{} has changed: it was {was} B and is {is} B", path.display()),
                remedy: Some("leave your data as they are until the RUN has ended".to_owned()),
            });
        }
        self.holdings.put(&source, archive_bytes);
        self.stored_bytes = self.holdings.stored_bytes();
        Ok(())
    }

    /// The user's own data that the user of the work may not read.
    fn who_may_read(&self, failed: StepError) -> StepError {
        let denied = rustix::io::Errno::ACCESS.raw_os_error();
        match (failed, self.spec.user) {
            (StepError::Failed { error, .. }, Some(user))
                if measure::errno_in(&error) == Some(denied) =>
            {
                let remedy = format!(
                    "let the user of the work, {}:{}, read the data, or leave --user out",
                    user.uid, user.gid
                );
                StepError::Failed { error, remedy: Some(remedy) }
            }
            (failed, _) => failed,
        }
    }

    /// Runs a command of the user's beside a phase. What it writes belongs to no phase.
    pub(crate) fn hook(&mut self, command: &str) -> Result<(), StepError> {
        self.end_accounts("a hook")?;
        let data = self.data_path(self.source()?);
        self.errand(Task::Hook { command: command.to_owned(), data }).map_err(|failed| match failed
        {
            StepError::Failed { error, remedy } => {
                StepError::Failed { error: format!("{error}, in {command:?}"), remedy }
            }
            other => other,
        })
    }

    /// What a program left behind did not come to its end, and part of the work may be missing.
    pub(crate) fn say_who_was_ended(&mut self, report: &WorkerReport) {
        let Some(program) = &report.program else { return };
        let Some(count) = program.figures.get("ended_in_background") else { return };
        let text = format!(
            "{} left processes at work in the background; they were ended: {count}; `durable` holds \
             the write-back of what they had written",
            program.name
        );
        let remedy = "let the command wait for them, or end them itself".to_owned();
        self.notice("ended-in-background", text, Some(remedy));
    }

    /// Compares every tree that was copied or unpacked with what it came from.
    pub(crate) fn compare(&mut self) -> Result<(), StepError> {
        let source = self.source()?.clone();
        let original = |name: &str| match self.holdings.find(name) {
            Some(held) if name != DATA => Some(PathBuf::from(&held.path)),
            _ => (name == DATA).then(|| self.data_path(&source)),
        };
        let pair = |held: &Holding| {
            Some((PathBuf::from(&held.path), original(held.original.as_deref()?)?))
        };
        let pairs: Vec<(PathBuf, PathBuf)> =
            self.holdings.below().iter().filter_map(pair).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let spec = self.worker_spec(Task::Compare { pairs, source }, Op::Read);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        match worker.go()? {
            WorkerSays::Verified(report) => self.take_verified(report),
            other => Err(unexpected(&other)),
        }
    }

    /// The task of a phase with a job.
    pub(crate) fn job_task(&self, phase: &Phase, job: &Job, latency: bool) -> Task {
        let workload = &self.spec.workload;
        let (data, input, contents) = match &workload.source {
            Some(source) => {
                let data = self.data_path(source);
                let input = match product_of(&workload.phases, &job.of) {
                    Some(product) => PathBuf::from(product),
                    None => data.clone(),
                };
                let held = self.holdings.find(&job.of);
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

    /// What a phase with a job has to read from the device; `ops` are those that it did.
    pub(crate) fn job_need(&self, job: &Job, rule: &ContentRule, ops: u64) -> Need {
        let place = self.spec.workload.source.as_ref().map(|source| source.place);
        if job.of == DATA && place != Some(SourcePlace::Same) {
            return Need::Nothing;
        }
        let reflink = self.spec.contender.levels.reflink;
        let input = self.holdings.find(&job.of);
        input.map_or(Need::Nothing, |input| input.need(&job.kind, (rule, reflink), ops))
    }

    /// What the file system holds after a phase with a job.
    pub(crate) fn account_job(&mut self, phase: &Phase, job: &Job, report: &WorkerReport) {
        self.holdings.follow(&phase.name, job, report);
        self.stored_bytes = self.holdings.stored_bytes();
    }

    /// Where the source lies: relative to the root, or absolute.
    fn data_path(&self, source: &Source) -> PathBuf {
        match (source.place, &self.spec.staged) {
            (SourcePlace::Other | SourcePlace::Memory, Some(staged)) => staged.clone(),
            _ => PathBuf::from(source.file_name()),
        }
    }

    fn source(&self) -> Result<&Source, StepError> {
        let missing = || StepError::new("the spec asks for real work and has no source");
        self.spec.workload.source.as_ref().ok_or_else(missing)
    }

    /// An untimed task whose answer is that it is done.
    fn errand(&mut self, task: Task) -> Result<(), StepError> {
        self.chilled = None;
        let spec = self.worker_spec(task, Op::Job);
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        let said = worker.go();
        match said.map_err(|failure| measure::refusal(failure.into(), self.inodes_free()))? {
            WorkerSays::Made => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

fn unexpected(said: &WorkerSays) -> StepError {
    StepError::new(format!("the worker answered {said:?}"))
}

/// What the phase called `name` makes.
fn product_of(phases: &[Phase], name: &str) -> Option<String> {
    let maker = phases.iter().find(|phase| phase.name == name)?;
    maker.job.as_ref()?.product(name)
}

pub(crate) fn file_bytes(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}
