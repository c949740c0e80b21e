//! Carries a schedule out: recovery first, then targets, then trial after trial, each record stored
//! before the next trial begins.
//!
//! Everything made outside this process is written into a journal before it is made, and
//! undone at the end; what a killed RUN could not undo is undone by the next start ([`recover`]).
//! Nothing is decided here about results, and nothing is measured.
#![forbid(unsafe_code)]

mod arena;
mod available;
mod journal;
mod recover;
mod rules;
mod session;

pub use arena::check;
pub use available::drop_unavailable;
pub use journal::{JournalError, live_in};
pub use recover::{Recovered, close_dead_runs, recover};
pub use rules::DriverRules;

use arena::Arena;
use fsarena_metrics::{Roots, boot_id, process_start_ticks};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunState, Slot};
use fsarena_model::spec::{Drain, TrialKey, TrialSpec};
use fsarena_model::work::UserIds;
use fsarena_store::{RunId, Store, StoreError};
use session::Session;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Failures of one contender in one workload after which it is left out of later blocks.
const FAILURES_MAX: u32 = 2;

/// Steps that fail the same way every time.
const SET_UP: [&str; 3] = ["reset", "mount", "make-dirs"];

/// What to run, and where things go.
#[derive(Debug)]
pub struct Request<'a> {
    /// The RUN as it will be stored.
    pub header: &'a RunHeader,
    /// This binary: it is started again as executor and worker.
    pub program: &'a Path,
    /// Directory for images.
    pub image_dir: &'a Path,
    /// Directory for journals and mount points.
    pub state_dir: &'a Path,
    /// User that does the work; absent: the one who runs this.
    pub user: Option<UserIds>,
    /// Processors for the work; empty: any.
    pub cpus: &'a [usize],
    /// Leave images and directories behind.
    pub keep: bool,
    /// How often the user has asked to stop.
    pub interrupts: &'a AtomicUsize,
}

/// What a RUN says while it is at work.
pub trait Progress {
    /// An image is being written.
    fn image(&mut self, name: &str, done_bytes: u64, total_bytes: u64);
    /// A trial begins; `number` counts from 1.
    fn trial(&mut self, number: usize, of: usize, contender: &str, workload: &str);
    /// A step of it begins.
    fn step(&mut self, step: &str, phase: Option<&str>);
    /// It has ended and its record is stored.
    fn trial_done(&mut self, record: &TrialRecord);
    /// Something to be read by people.
    fn say(&mut self, text: &str);
}

/// How a RUN ended.
#[derive(Debug)]
pub struct Finished {
    /// Its number in the database.
    pub run: RunId,
    /// Done or interrupted.
    pub state: RunState,
    /// What was left on purpose.
    pub kept: Vec<PathBuf>,
    /// What could not be taken down.
    pub left: Vec<String>,
}

/// Why a RUN could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A target could not be had.
    #[error("{error}{}", remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default())]
    Target {
        /// What is wrong.
        error: String,
        /// What to do.
        remedy: Option<String>,
    },
    /// The database lies where the work would be done.
    #[error(
        "the database {} lies in {}, which is under test; name another with --db",
        database.display(), target.display()
    )]
    DatabaseUnderTest {
        /// The database.
        database: PathBuf,
        /// The target.
        target: PathBuf,
    },
    /// The user asked to stop before the first trial.
    #[error("stopped")]
    Stopped,
    /// Nothing in the plan can be run here.
    #[error("nothing to run: {reasons}")]
    Nothing {
        /// Each contender with its reason.
        reasons: String,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An executor could not be started.
    #[error("{program}: cannot be started: {source}")]
    Start {
        /// The binary.
        program: String,
        /// Why.
        source: std::io::Error,
    },
}

impl From<fsarena_targets::TargetError> for RunError {
    fn from(error: fsarena_targets::TargetError) -> Self {
        if let fsarena_targets::TargetError::Stopped { .. } = error {
            return Self::Stopped;
        }
        Self::Target { remedy: error.remedy(), error: error.to_string() }
    }
}

impl From<fsarena_targets::Refusal> for RunError {
    fn from(refusal: fsarena_targets::Refusal) -> Self {
        Self::Target { error: refusal.to_string(), remedy: None }
    }
}

/// This process as the owner of a RUN.
#[must_use]
pub fn this_process() -> fsarena_store::Owner {
    let roots = Roots::default();
    let pid = std::process::id();
    fsarena_store::Owner {
        pid,
        start_ticks: process_start_ticks(&roots, pid).unwrap_or(0),
        boot_id: boot_id(&roots).unwrap_or_default(),
    }
}

/// Carries out all trials of `request`.
///
/// # Errors
/// When targets, journal or database fail. Records stored before stay; what was made is undone.
pub fn run(
    request: &Request<'_>,
    store: &mut Store,
    progress: &mut dyn Progress,
) -> Result<Finished, RunError> {
    check(&request.header.plan, store.path())?;
    let owner = this_process();
    let mut arena = Arena::open(request, store.path(), &owner)?;
    let run = store.create_run(request.header, &owner)?;
    let done = arena
        .claim_targets(request, progress)
        .and_then(|()| trials(request, &mut arena, store, run, progress));
    let done = match done {
        Err(RunError::Stopped) => Ok(RunState::Interrupted),
        done => done,
    };
    let left = arena.close(request.keep, &mut |text| progress.say(text));
    match done {
        Ok(state) => {
            store.set_state(run, state, None)?;
            Ok(Finished { run, state, kept: left.kept, left: left.failed })
        }
        Err(error) => {
            left.failed.iter().for_each(|failure| progress.say(failure));
            // The first cause is the one to tell.
            let _ = store.set_state(run, RunState::Failed, Some(&error.to_string()));
            Err(error)
        }
    }
}

fn trials(
    request: &Request<'_>,
    arena: &mut Arena,
    store: &mut Store,
    run: RunId,
    progress: &mut dyn Progress,
) -> Result<RunState, RunError> {
    let plan = &request.header.plan;
    // A pair that failed twice, or could not even be set up, would fail again in every block.
    let mut failures: HashMap<(usize, usize), u32> = HashMap::new();
    for (sequence, slot) in plan.schedule.iter().enumerate() {
        if request.interrupts.load(Ordering::SeqCst) > 0 {
            return Ok(RunState::Interrupted);
        }
        let pair = (slot.contender, slot.workload);
        if failures.get(&pair).is_some_and(|&times| times >= FAILURES_MAX) {
            continue;
        }
        let contender = &plan.contenders[slot.contender];
        let workload = &plan.workloads[slot.workload];
        progress.trial(sequence + 1, plan.schedule.len(), &contender.label, &workload.name);
        arena.note_destroy(&contender.levels)?;
        let spec = trial_spec(request, arena, sequence, slot);
        let record = Session::start(request, arena.journal_path(), &spec)?
            .finish(&mut |step, phase| progress.step(step, phase));
        fsarena_executor::fault::at("store");
        store.put_record(run, &record)?;
        progress.trial_done(&record);
        match record.outcome {
            Outcome::Interrupted => return Ok(RunState::Interrupted),
            Outcome::Failed { step, .. } => {
                let weight = if SET_UP.contains(&step.as_str()) { FAILURES_MAX } else { 1 };
                *failures.entry(pair).or_default() += weight;
            }
            Outcome::Done | Outcome::NotRun { .. } => {}
        }
    }
    Ok(RunState::Done)
}

fn trial_spec(request: &Request<'_>, arena: &Arena, sequence: usize, slot: &Slot) -> TrialSpec {
    let plan = &request.header.plan;
    let contender = plan.contenders[slot.contender].clone();
    let workload = plan.workloads[slot.workload].clone();
    let steps = fsarena_plan::steps(&workload, &contender.levels, plan.verify);
    let place = arena.place_of(&contender.levels);
    TrialSpec {
        schema: fsarena_model::SPEC_SCHEMA,
        key: TrialKey {
            run: request.header.uid.clone(),
            sequence: u32::try_from(sequence).unwrap_or(u32::MAX),
            block: slot.block,
            position: slot.position,
            contender: contender.id(),
            workload: workload.name.clone(),
        },
        target: place.target,
        device: place.facts,
        notices: place.notices,
        contender,
        workload,
        steps,
        seed: fsarena_plan::trial_seed(plan, slot),
        name: arena.name().to_owned(),
        scratch_dir: arena.scratch_dir().to_owned(),
        sample_period_ns: plan.sample_period_ns,
        drain: Drain::default(),
        user: request.user,
        cpus: request.cpus.to_vec(),
        keep: request.keep && sequence + 1 == plan.schedule.len(),
    }
}
