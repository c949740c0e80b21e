//! The crash runs of a RUN, after its trials: each is stored before the next begins, and what was
//! stored is not done again.
//!
//! A contender whose guests fail with a workload is not tried with it again in this RUN.

use crate::crash_job::{CrashExtras, CrashJob, CrashJobPlace};
use crate::request::{CrashProgress, Progress, Request, RunError};
use crate::spool::Spool;
use fsarena_crash::record::{CrashOutcome, StoredCrashRun};
use fsarena_crash::state::Class;
use fsarena_guests::guest::Program;
use fsarena_guests::kernel::{Cache, sha256_of};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::crash::{CrashPlan, CrashSlot};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Crash runs that are left.
pub(crate) struct CrashRuns<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) store: &'a Store,
    pub(crate) spool: &'a mut Spool,
    pub(crate) progress: &'a mut dyn Progress,
    /// Where guests live, and what native crash runs write; it is in the journal.
    pub(crate) scratch_dir: &'a Path,
    /// Crash runs that are stored, and those of the plan.
    done: usize,
    planned: usize,
}

impl<'a> CrashRuns<'a> {
    pub(crate) fn new(
        request: &'a Request<'a>,
        store: &'a Store,
        spool: &'a mut Spool,
        progress: &'a mut dyn Progress,
        scratch_dir: &'a Path,
    ) -> Self {
        let planned = request.header.plan.crash_slots().len();
        Self { request, store, spool, progress, scratch_dir, done: 0, planned }
    }

    /// How far it came.
    pub(crate) fn how_far(&self) -> String {
        format!("{} of {} crash runs done", self.done, self.planned)
    }

    /// Does what is left of the plan's.
    ///
    /// # Errors
    /// When the program cannot be copied for the guests, or the database fails.
    pub(crate) fn all(&mut self) -> Result<RunState, RunError> {
        let plan = &self.request.header.plan;
        let Some(crash) = &plan.crash else { return Ok(RunState::Done) };
        let stored = self.store.crash_runs(self.spool.run())?;
        self.done = stored.len();
        let known: BTreeSet<CrashSlot> = stored.iter().map(|it| it.slot).collect();
        let failed = stored.iter().filter(|it| it.record().is_none());
        let mut given_up: BTreeSet<(usize, usize)> =
            failed.map(|it| (it.slot.contender, it.slot.workload)).collect();
        let slots = plan.crash_slots();
        let mut left = slots.into_iter().filter(|slot| !known.contains(slot)).peekable();
        if left.peek().is_none() {
            return Ok(RunState::Done);
        }
        let program = Program::this(self.scratch_dir)
            .map_err(|error| RunError::target(error.to_string(), None))?;
        let begun = (Instant::now(), self.done);
        for slot in left {
            if self.request.interrupts.load(Ordering::SeqCst) > 0 {
                return Ok(RunState::Interrupted);
            }
            if given_up.contains(&(slot.contender, slot.workload)) {
                continue;
            }
            self.say(crash, slot, begun);
            let Some(stored) = self.one(crash, slot, &program) else {
                return Ok(RunState::Interrupted);
            };
            if let Some(text) = self.spool.put_crash_run(self.store, &stored)? {
                self.progress.message(&text);
            }
            self.done += 1;
            if let CrashOutcome::Failed { error } = &stored.outcome {
                given_up.insert((slot.contender, slot.workload));
                let label = &plan.contenders[slot.contender].label;
                let workload = &crash.workloads[slot.workload];
                self.progress.message(&format!("crash run of {workload} on {label}: {error}"));
            }
        }
        Ok(RunState::Done)
    }

    /// Says which one begins, and how long those that are left will take as the others did.
    fn say(&mut self, crash: &CrashPlan, slot: CrashSlot, (begun, before): (Instant, usize)) {
        let here = self.done.saturating_sub(before);
        let left = self.planned.saturating_sub(self.done);
        let left_ns = (here > 0).then(|| {
            let ns = begun.elapsed().as_nanos() * left as u128 / here as u128;
            u64::try_from(ns).unwrap_or(u64::MAX)
        });
        self.progress.crash_run(&CrashProgress {
            number: self.done + 1,
            of: self.planned,
            contender: &self.request.header.plan.contenders[slot.contender].label,
            workload: &crash.workloads[slot.workload],
            left_ns,
        });
    }

    /// One crash run; `None` where it was stopped.
    fn one(&self, crash: &CrashPlan, slot: CrashSlot, program: &Program) -> Option<StoredCrashRun> {
        let started_unix_ns = self.request.clock.unix_ns();
        let begun = Instant::now();
        let stop = || self.request.interrupts.load(Ordering::SeqCst) > 0;
        let outcome =
            match carry_out(self.request.header, crash, slot, (program, self.scratch_dir), &stop) {
                Ok(record) => record,
                Err(CrashRunFailure::Stopped) => return None,
                Err(CrashRunFailure::Other(error)) => CrashOutcome::Failed { error },
            };
        Some(StoredCrashRun {
            slot,
            started_unix_ns,
            elapsed_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            outcome,
        })
    }
}

enum CrashRunFailure {
    Stopped,
    /// In words.
    Other(String),
}

fn carry_out(
    header: &RunHeader,
    crash: &CrashPlan,
    slot: CrashSlot,
    (program, scratch_dir): (&Program, &Path),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CrashOutcome, CrashRunFailure> {
    let contender = &header.plan.contenders[slot.contender];
    let workload = &crash.workloads[slot.workload];
    let unknown = |what: &str, name: &str| {
        CrashRunFailure::Other(format!("this fsarena knows no {what} {name:?}"))
    };
    let workload = fsarena_plan::crash_workload(workload, &header.plan.workloads)
        .ok_or_else(|| unknown("crash workload", workload))?;
    let class = |name: &String| Class::from_name(name).ok_or_else(|| unknown("crash state", name));
    let classes: Vec<Class> = crash.states.iter().map(class).collect::<Result<_, _>>()?;
    let kernel;
    let place = if contender.levels.device.is_virtual() {
        kernel = kernel_of(header, contender).map_err(CrashRunFailure::Other)?;
        CrashJobPlace::Guests { kernel: &kernel, program }
    } else {
        CrashJobPlace::Native { scratch_dir }
    };
    let job = CrashJob {
        contender,
        place,
        workload: &workload,
        seed: header.plan.crash_seed(slot.number),
        seconds: crash.seconds,
        points: crash.points,
        classes: &classes,
        more: CrashExtras::default(),
    };
    match job.run(stop) {
        Ok(record) => Ok(CrashOutcome::Done(Box::new(record))),
        Err(error) if error.is_stop() => Err(CrashRunFailure::Stopped),
        Err(error) => Err(CrashRunFailure::Other(error.to_string())),
    }
}

/// The binary of a contender's guests; a file of the user's has to be as it was.
fn kernel_of(header: &RunHeader, contender: &Contender) -> Result<PathBuf, String> {
    let DeviceLevel::Virtual { kernel, .. } = &contender.levels.device else {
        return Err(format!("{} is in no guest", contender.label));
    };
    let mut files = header.place.iter().flat_map(|place| &place.kernel_files);
    if let Some(file) = files.find(|file| file.level == *kernel) {
        let sha256 = sha256_of(&file.path).map_err(|error| {
            format!("the guest kernel {} cannot be read: {error}", file.path.display())
        })?;
        return match sha256 == file.sha256 {
            true => Ok(file.path.clone()),
            false => Err(format!(
                "the guest kernel {} is not the file any more that the RUN began with",
                file.path.display()
            )),
        };
    }
    let cache = Cache::of_user().map_err(|error| format!("guest kernels: {error}"))?;
    let gone =
        || format!("the guest kernel {kernel} is not there any more; see fsarena kernel list");
    let found = cache.called(kernel).ok_or_else(gone)?;
    found.unchanged_binary().map_err(|error| error.to_string())
}
