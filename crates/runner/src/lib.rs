//! Carries a schedule out: recovery first, then targets, then trial after trial, each record stored
//! before the next trial begins.
//!
//! Everything made outside this process is written into a journal before it is made, and
//! undone at the end; what a killed RUN could not undo is undone by the next start ([`recover`]).
//! Nothing is decided here about results, and nothing is measured.
#![forbid(unsafe_code)]

mod arena;
mod available;
mod course;
mod journal;
mod places;
mod recover;
mod resume;
mod rules;
mod session;
mod source_cache;
mod stage;

pub use available::drop_unavailable;
pub use journal::{JournalError, live_in};
pub use places::{OurPlaces, check};
pub use recover::{Recovered, close_dead_runs, recover};
pub use resume::{Now, differences, rest};
pub use rules::DriverRules;

use arena::Arena;
use course::Course;
use fsarena_metrics::{Roots, boot_id, process_start_ticks};
use fsarena_model::capacity::Predicted;
use fsarena_model::contender::Levels;
use fsarena_model::record::{Notice, TrialRecord};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::spec::{Drain, TrialKey, TrialSpec};
use fsarena_store::{RunId, Store, StoreError};
use fsarena_targets::fs;
use fsarena_targets::vet::WipeConsent;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

/// Images where the header of a RUN does not say: that of the command line.
const DEFAULT_IMAGE_DIR: &str = "/var/tmp";

/// What to run, and where things go.
#[derive(Debug)]
pub struct Request<'a> {
    /// The RUN as it will be stored, or as it is stored already.
    pub header: &'a RunHeader,
    /// The RUN in the database, where it is gone on with.
    pub resumed: Option<Resumed>,
    /// This binary: it is started again as executor and worker.
    pub program: &'a Path,
    /// Directory for journals and mount points.
    pub state_dir: &'a Path,
    /// Block devices whose contents the user gave up.
    pub consents: &'a [WipeConsent],
    /// Leave images and directories behind.
    pub keep: bool,
    /// How often the user has asked to stop.
    pub interrupts: &'a AtomicUsize,
}

/// A RUN that is gone on with.
#[derive(Clone, Copy, Debug)]
pub struct Resumed {
    /// Its number in the database.
    pub run: RunId,
    /// Number of the session to come, from 1.
    pub session: usize,
}

impl Request<'_> {
    /// Directory for images.
    fn image_dir(&self) -> &Path {
        self.header.place.as_ref().map_or(Path::new(DEFAULT_IMAGE_DIR), |place| &place.image_dir)
    }
}

/// What a RUN says while it is at work.
pub trait Progress {
    /// An image is being written.
    fn image(&mut self, name: &str, done_bytes: u64, total_bytes: u64);
    /// A block begins, from 1, of at most `most`, with so many trials.
    fn block(&mut self, number: usize, most: usize, trials: usize);
    /// A trial begins; `number` counts from 1, and there are at most `of`.
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
    /// What lies under the targets has changed since the trials that are done.
    #[error("the rest of the RUN would not be comparable: {changes}; begin a new RUN instead")]
    Changed {
        /// Each change.
        changes: String,
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
    /// Another program measured it.
    #[error(
        "{label} was measured by {program} and cannot be run by fsarena; plan it anew with `fsarena \
         run`"
    )]
    Imported {
        /// The contender.
        label: String,
        /// That program.
        program: String,
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
/// When targets, journal or database fail. Records stored before stay; what was made is undone. A
/// RUN that could not be gone on with stands as it did before.
pub fn run(
    request: &Request<'_>,
    store: &mut Store,
    progress: &mut dyn Progress,
) -> Result<Finished, RunError> {
    check(&request.header.plan, store.path())?;
    let owner = this_process();
    // Before anything is made under its name: two may want to go on with one RUN.
    let before = request.resumed.map(|resumed| adopt(store, resumed.run, &owner)).transpose()?;
    let stand_as_before = |store: &Store| {
        if let (Some(resumed), Some((state, note))) = (request.resumed, &before) {
            // The first cause is the one to tell.
            let _ = store.set_state(resumed.run, *state, note.as_deref());
        }
    };
    let opened = Arena::open(request, store.path(), &owner);
    if opened.is_err() {
        stand_as_before(store);
    }
    let mut arena = opened?;
    let run = match request.resumed {
        Some(resumed) => resumed.run,
        None => store.create_run(request.header, &owner)?,
    };
    let mut course = Course::new(request, run, &owner);
    let done = match course.trials(&mut arena, store, progress) {
        Err(RunError::Stopped) => Ok(RunState::Interrupted),
        done => done,
    };
    // Before the first trial there is nothing to keep.
    let left = arena.close(request.keep && course.has_begun, &mut |text| progress.say(text));
    match done {
        Ok(state) => {
            store.set_state(run, state, None)?;
            Ok(Finished { run, state, kept: left.kept, left: left.failed })
        }
        Err(error) => {
            left.failed.iter().for_each(|failure| progress.say(failure));
            if before.is_some() && !course.has_begun {
                stand_as_before(store);
            } else {
                // The first cause is the one to tell.
                let _ = store.set_state(run, RunState::Failed, Some(&error.to_string()));
            }
            Err(error)
        }
    }
}

/// Makes this process the owner of a RUN; gives how it stood.
fn adopt(
    store: &Store,
    run: RunId,
    owner: &fsarena_store::Owner,
) -> Result<(RunState, Option<String>), StoreError> {
    let row = store.run(run)?;
    store.adopt(run, owner, recover::owner_lives)?;
    // One that is still called running is taken from a dead owner.
    let state = if row.state == RunState::Running { RunState::Interrupted } else { row.state };
    Ok((state, row.note))
}

/// What is expected of a file system right after its mount.
fn predicted(levels: &Levels) -> Option<Predicted> {
    let driver = fs::driver(&levels.fs).ok()?;
    Some(driver.capacity(&levels.fs, levels.device.size_bytes()?)?.predicted)
}

fn trial_spec(
    request: &Request<'_>,
    arena: &Arena,
    sequence: usize,
    notices: &[Notice],
) -> TrialSpec {
    let plan = &request.header.plan;
    let slot = &plan.schedule[sequence];
    let contender = plan.contenders[slot.contender].clone();
    let workload = plan.workloads[slot.workload].clone();
    let steps = fsarena_plan::steps(&workload, &contender.levels, plan.verify);
    let staged = workload.source.as_ref().and_then(|source| arena.staged(source));
    let source_cache = workload.source.as_ref().map(|_| source_cache::of(plan, &contender.levels));
    let predicted = predicted(&contender.levels);
    let mut place = arena.place_of(&contender.levels);
    place.notices.extend_from_slice(notices);
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
        staged,
        source_cache,
        steps,
        seed: fsarena_plan::trial_seed(plan, slot),
        name: arena.name().to_owned(),
        scratch_dir: arena.scratch_dir().to_owned(),
        sample_period_ns: plan.sample_period_ns,
        account: plan.account,
        predicted,
        drain: Drain::default(),
        user: request.header.place.as_ref().and_then(|place| place.user),
        cpus: request.header.place.as_ref().map(|place| place.cpus.clone()).unwrap_or_default(),
        keep: request.keep && sequence + 1 == plan.schedule.len(),
    }
}
