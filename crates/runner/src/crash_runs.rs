//! The crash runs of a RUN, after its trials where it has some: each is stored before the next
//! begins, and what was stored is not done again.
//!
//! A contender whose guests fail with a workload is not tried with it again in this RUN.

use crate::request::{CrashProgress, Progress, Request, RunError};
use crate::spool::Spool;
use fsarena_crash::record::{CrashOutcome, StoredCrashRun};
use fsarena_crash_runs::{CrashJob, CrashJobPlace, ViolationArchive, run_crash_job};
use fsarena_guests::guest::Program;
use fsarena_guests::kernel::{Cache, sha256_of};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::crash::{CrashPlan, CrashSlot};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_store::Store;
use std::cell::RefCell;
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
        let failed = stored.iter().filter(|it| it.error().is_some());
        let mut given_up: BTreeSet<(usize, usize)> =
            failed.map(|it| (it.slot.contender, it.slot.workload)).collect();
        let slots = plan.crash_slots();
        let mut left = slots.into_iter().filter(|slot| !known.contains(slot)).peekable();
        if left.peek().is_none() {
            return Ok(RunState::Done);
        }
        let program = Program::this(self.scratch_dir)
            .map_err(|error| RunError::target(error.to_string(), None))?;
        let release = &self.request.header.host.kernel_release;
        let archive =
            ViolationArchive::with_most(self.request.crash_states.clone(), crash.keep, release);
        let begun = (Instant::now(), self.done);
        let mut state = RunState::Done;
        for slot in left {
            if self.request.interrupts.load(Ordering::SeqCst) > 0 {
                state = RunState::Interrupted;
                break;
            }
            if given_up.contains(&(slot.contender, slot.workload)) {
                continue;
            }
            self.say(crash, slot, begun);
            let Some(stored) = self.one(slot, &program, &archive) else {
                state = RunState::Interrupted;
                break;
            };
            if let Some(text) = self.spool.put_crash_run(self.store, &stored)? {
                self.progress.message(&text);
            }
            self.done += 1;
            if let Some(error) = stored.error() {
                given_up.insert((slot.contender, slot.workload));
                let label = &plan.contenders[slot.contender].label;
                let workload = &crash.workloads[slot.workload];
                let what = match &stored.outcome {
                    CrashOutcome::Lacking { .. } => "not run",
                    _ => "failed",
                };
                let text = format!("crash run of {workload} on {label}: {what}: {error}");
                self.progress.message(&text);
            }
        }
        archive.summary().iter().for_each(|text| self.progress.message(text));
        Ok(state)
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
    fn one(
        &mut self,
        slot: CrashSlot,
        program: &Program,
        archive: &ViolationArchive,
    ) -> Option<StoredCrashRun> {
        let started_unix_ns = self.request.clock.unix_ns();
        let begun = Instant::now();
        let stop = || self.request.interrupts.load(Ordering::SeqCst) > 0;
        let messages = RefCell::new(Vec::new());
        let say = |text| messages.borrow_mut().push(text);
        let plan = &self.request.header.plan;
        let kernel;
        let place = if plan.contenders[slot.contender].levels.device.is_virtual() {
            kernel = kernel_of(self.request.header, slot.contender);
            kernel.as_ref().map(|(kernel, is_users)| CrashJobPlace::Guests {
                kernel,
                is_users: *is_users,
                program,
            })
        } else {
            Ok(CrashJobPlace::Native { scratch_dir: self.scratch_dir })
        };
        let outcome = match place {
            Err(error) => CrashOutcome::Failed { error: error.clone() },
            Ok(place) => {
                match run_crash_job(&CrashJob { plan, slot, place, say: &say }, archive, &stop) {
                    Ok(outcome) => outcome,
                    Err(error) if error.is_stop() => return None,
                    Err(error) => CrashOutcome::Failed { error: error.to_string() },
                }
            }
        };
        messages.into_inner().iter().for_each(|text: &String| self.progress.message(text));
        Some(StoredCrashRun {
            slot,
            started_unix_ns,
            elapsed_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            outcome,
        })
    }
}

/// The binary of a contender's guests, and whether it is a file of the user's, which has to be as
/// it was.
fn kernel_of(header: &RunHeader, contender: usize) -> Result<(PathBuf, bool), String> {
    let contender = &header.plan.contenders[contender];
    let DeviceLevel::Virtual { kernel, .. } = &contender.levels.device else {
        return Err(format!("{} is in no guest", contender.label));
    };
    let mut files = header.place.iter().flat_map(|place| &place.kernel_files);
    if let Some(file) = files.find(|file| file.level == *kernel) {
        let sha256 = sha256_of(&file.path).map_err(|error| {
            format!("the guest kernel {} cannot be read: {error}", file.path.display())
        })?;
        return match sha256 == file.sha256 {
            true => Ok((file.path.clone(), true)),
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
    let binary = found.unchanged_binary().map_err(|error| error.to_string())?;
    Ok((binary, false))
}
