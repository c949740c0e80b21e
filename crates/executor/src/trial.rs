//! The steps of a trial.
//!
//! A step that fails ends the trial; what was measured before it stays in the record. Teardown runs
//! in every case: after the last step, after a failure, on a stop, and (through destructors) in a
//! panic.

use crate::accounts::WriteAccounts;
use crate::clients::Clients;
use crate::contents::StoredContents;
use crate::context::{Trial, blank_record};
use crate::error::{StepError, op_failure, unexpected};
use crate::filesystem::TestedFs;
use crate::limit::MemoryLimit;
use crate::machine::{self, Doing};
use crate::programs::{self, WidthProof};
use crate::source::SourceFiles;
use crate::stop::Stop;
use crate::trees::{TreeState, file_bytes};
use crate::worker::ReadyWorker;
use crate::{ExecutorSays, fault};
use fsarena_devices::{TargetError, cache, mountinfo, settle, ssd};
use fsarena_metrics::{CacheDrops, realtime_ns};
use fsarena_model::contender::Cache;
use fsarena_model::record::{ColdProof, Outcome, StepTime, TrialRecord};
use fsarena_model::spec::{Step, TrialSpec};
use fsarena_model::work::{Phase, Task, WorkerSays};
use fsarena_process::program::TrustedProgram;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it is tried to empty the caches before a phase counts as warm: a page that somebody
/// holds for a moment stays, and is dropped by the next attempt. A busy machine has long moments.
const CHILL_LIMIT: Duration = Duration::from_secs(2);
/// Before the second attempt; twice as long before each further one.
const CHILL_PAUSE: Duration = Duration::from_millis(20);

/// Carries out `spec`. `program` is the binary that knows the argument `worker`, `host_proc` a
/// procfs in which kernel threads are seen; `say` hears each step as it begins.
pub fn run_trial(
    spec: &TrialSpec,
    (program, host_proc): (&TrustedProgram, &Path),
    stop: &Stop,
    say: &mut dyn FnMut(&ExecutorSays),
) -> TrialRecord {
    let began = Instant::now();
    let mut record = blank_record(spec);
    let driver = match fsarena_filesystems::driver(&spec.contender.levels.fs) {
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
    // A guest has no more memory than that.
    let is_limited = !spec.target.is_virtual();
    let limit_bytes = spec.contender.levels.memory_bytes.filter(|_| is_limited);
    let mut trial = Trial {
        spec,
        program,
        host_proc,
        stop,
        began_realtime_ns: spec
            .realtime_offset_ns
            .map_or(record.started_unix_ns, |_| realtime_ns()),
        record,
        chilled: None,
        cache_drops: CacheDrops::default(),
        accounts: WriteAccounts::default(),
        memory: MemoryLimit::new(&spec.name, limit_bytes, &mountinfo),
        contents: StoredContents::new(TreeState::new(spec.workload.source.as_ref(), staged_bytes)),
        clients: Clients::default(),
        fs: TestedFs::new(spec, driver),
    };
    trial.record.outcome = match programs::lay_over(trial.spec.programs.as_ref()) {
        Ok(()) => trial.run_steps(say),
        Err(reason) => Outcome::NotRun { reason },
    };
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

/// The end of a trial whose step `name` failed, in `phase` where it has one.
fn failed_in(
    name: &str,
    phase: Option<String>,
    (error, remedy): (String, Option<String>),
) -> Outcome {
    let step = phase.map_or_else(|| name.to_owned(), |phase| format!("{name} {phase}"));
    Outcome::Failed { step, error, remedy }
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
                Err(StepError::NotRun { reason }) => return Outcome::NotRun { reason },
                Err(_) if self.stop.asked() => return Outcome::Interrupted,
                Err(StepError::OfMachine { error, remedy }) => {
                    self.record.end_by_machine(&error, remedy.as_deref());
                    return failed_in(&name, phase, (error, remedy));
                }
                Err(StepError::Failed { mut error, remedy }) => {
                    if let Some(cause) = self.served_no_more().filter(|cause| *cause != error) {
                        error = format!("{error}; {cause}");
                    }
                    let doing = self.doing(phase.as_deref());
                    if machine::is_at_fault(&error, doing) {
                        let remedy = machine::remedy(&error);
                        self.record.end_by_machine(&error, remedy.as_deref());
                    }
                    let of_guest = machine::remedy_in_guest(&error).filter(|_| doing.in_guest);
                    let remedy = of_guest.map(str::to_owned).or(remedy);
                    return failed_in(&name, phase, (error, remedy));
                }
            }
        }
        Outcome::Done
    }

    /// What was done when a step failed: an op of `phase` did where its record says so.
    fn doing(&self, phase: Option<&str>) -> Doing {
        let last = self.record.phases.last();
        Doing {
            work: last.is_some_and(|last| Some(&*last.name) == phase && last.error.is_some()),
            memory_limited: self.spec.contender.levels.memory_bytes.is_some(),
            in_guest: self.spec.target.is_virtual(),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), StepError> {
        match step {
            Step::Condition => self.condition(),
            Step::Reset => self.reset(),
            Step::Age { age } => self.age(age),
            Step::Mount => self.mount(),
            Step::MakeDirs => self.run_task(Task::MakeDirs),
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
        self.renew_model()?;
        let unread = self.fs.make(&mut self.record.filesystem)?;
        self.record.notices.extend(unread);
        Ok(())
    }

    /// An untimed phase.
    fn prepare(&mut self, phase: &Phase) -> Result<(), StepError> {
        self.chilled = None;
        self.end_accounts(&format!("the untimed phase {}", phase.name))?;
        // All its threads in one worker: they touch the same files.
        let mut whole = phase.clone();
        whole.io.ranks = 1;
        let spec = self.worker_spec(self.phase_task(&whole, false));
        let mut worker = ReadyWorker::start(self.program, &spec, self.stop)?;
        let width = WidthProof::listen(self.spec.programs.as_ref())?;
        self.memory.add(worker.pid());
        let reliever = self.memory.start_reliever(&self.fs.work_root()?);
        let said = worker.go().map_err(|failure| self.memory.explain_death(failure.into()))?;
        drop(reliever);
        match said {
            WorkerSays::Done(mut report) => {
                width.end_phase(&phase.name, &mut report)?;
                self.follow(phase, &report);
                report
                    .error
                    .map_or(Ok(()), |error| Err(op_failure(&error, phase, self.fs.inodes_free())))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Brings all that was written to where it belongs, so that none of it is written during the
    /// phase to come.
    fn settle(&mut self) -> Result<(), StepError> {
        let root = self.fs.work_root()?;
        settle::syncfs(&root)?;
        if let Some(device) =
            self.spec.target.device().filter(|_| self.spec.contender.levels.is_raw())
        {
            cache::sync_device(device)?;
        }
        let devices = self.fs.device_names();
        if devices.is_empty() {
            return Ok(());
        }
        if self.fs.driver.freezes() {
            match settle::freeze_thaw(&root) {
                Ok(_) => return Ok(()),
                Err(error @ settle::FreezeError::StillFrozen { .. }) => {
                    return Err(StepError::new(error.to_string()));
                }
                // Idle time tells instead.
                Err(settle::FreezeError::Unsupported { .. }) => {}
            }
        }
        let quiet = self.fs.wait_idle(&devices)?;
        self.note_busy(&devices, quiet);
        Ok(())
    }

    fn note_busy(&mut self, devices: &[String], quiet: settle::Quiet) {
        if quiet == settle::Quiet::Capped {
            self.notice(
                "not-settled",
                format!("{} was not idle before a phase began", devices.join(" or ")),
                Some("end what else uses the device".to_owned()),
            );
        }
    }

    /// Unmounts, drops every cache of the device, proves it, mounts again.
    ///
    /// The unmount waits for all that the file system has under way (commits of a journal,
    /// transactions, discards), and what it has written is on the device when the image is synced;
    /// so nothing is waited for but the requests that the device has still under way.
    fn chill(&mut self) -> Result<(), StepError> {
        if self.spec.contender.levels.cache == Cache::ColdClients {
            self.clients.chill()?;
            self.chilled = Some(ColdProof::default());
            return Ok(());
        }
        self.unmount()?;
        let mut proof = ColdProof::default();
        let devices = self.spec.target.devices();
        if !devices.is_empty() {
            let backings = self.fs.cached_backings();
            let (began, mut pause) = (Instant::now(), CHILL_PAUSE);
            loop {
                devices.iter().try_for_each(|device| cache::flush_device(device))?;
                backings.iter().try_for_each(|backing| cache::evict_file(backing))?;
                cache::drop_caches()?;
                let pages = devices.iter().map(|device| self.resident_pages(device));
                proof.device_resident_pages = pages.sum();
                let pages = backings.iter().map(|path| cache::resident_pages(path).ok());
                proof.backing_resident_pages =
                    pages.sum::<Option<u64>>().filter(|_| !backings.is_empty());
                let pages = [proof.device_resident_pages, proof.backing_resident_pages];
                let is_cold = pages.iter().flatten().all(|pages| *pages == 0);
                if is_cold || began.elapsed() >= CHILL_LIMIT {
                    break;
                }
                std::thread::sleep(pause);
                pause *= 2;
            }
            proof.source_resident_pages =
                SourceFiles { spec: self.spec, stop: self.stop }.chill()?;
        }
        let devices = self.fs.device_names();
        if !devices.is_empty() {
            let quiet = self.fs.wait_idle_for(&devices, settle::UNMOUNTED_IDLE_NS)?;
            self.note_busy(&devices, quiet);
        }
        let before = self.fs.read_bytes();
        self.mount()?;
        proof.mount_read_bytes = match (before, self.fs.read_bytes()) {
            (Some(before), Some(after)) => Some(after.saturating_sub(before)),
            _ => None,
        };
        self.chilled = Some(proof);
        Ok(())
    }

    /// Pages of the device in the page cache, where the kernel tells. The kernel of a guest may be
    /// one without cachestat, but there is no other device: all pages of devices are counted.
    fn resident_pages(&self, device: &Path) -> Option<u64> {
        let own = cache::resident_pages(device).ok();
        let instead = || cache::pages_of_devices().ok();
        if self.spec.target.is_virtual() { own.or_else(instead) } else { own }
    }

    fn verify(&mut self) -> Result<(), StepError> {
        self.chilled = None;
        if self.spec.workload.source.is_some() {
            return self.compare();
        }
        let first = self.spec.workload.phases.first().filter(|phase| phase.op.moves_bytes());
        let bs_bytes = first.map_or(1 << 20, |phase| phase.bs_bytes);
        self.check(Task::Verify { bs_bytes })
    }

    fn teardown(&mut self) -> Result<(), StepError> {
        let ended = self.clients.end();
        if self.fs.is_mounted() {
            self.record.space = self.fs.space(self.contents.all_bytes());
            self.unmount()?;
        }
        self.fs.remove()?;
        Ok(ended?)
    }
}

fn elapsed_ns(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
