//! One RUN from its first journal entry to its last: opens what it needs, carries the trials out,
//! and undoes what was made.

use crate::crash_runs::CrashRuns;
use crate::own_paths::check;
use crate::recover;
use crate::request::{Finished, Progress, Request, RunError};
use crate::resources::RunResources;
use crate::spool::Spool;
use crate::trial_loop::TrialLoop;
use fsarena_metrics::{KernelRoots, boot_id, process_start_ticks};
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store, StoreError};
use std::time::Instant;

/// This process as the owner of a RUN.
#[must_use]
pub fn this_process() -> fsarena_store::Owner {
    let roots = KernelRoots::default();
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
    let begun = Instant::now();
    // Each trial starts executors and workers: they are not read from the disk again each time.
    let _code = fsarena_process::resident::keep_own_code();
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
    let opened = RunResources::open(request, store.path(), &owner);
    if opened.is_err() {
        stand_as_before(store);
    }
    let mut resources = opened?;
    let run = match request.resumed {
        Some(resumed) => resumed.run,
        None => store.create_run(request.header, &owner)?,
    };
    let mut spool = Spool::new(request.state_dir, store.path(), run, &request.header.uid);
    let how = carry_out(request, &owner, store, &mut spool, &mut resources, progress, begun);
    let RunEnd { done, cut_off, how_far, has_begun } = how;
    // Before the first trial there is nothing to keep.
    let left = resources.close(request.keep && has_begun, &mut |text| progress.message(text));
    // What was taken down may have been what filled the disk.
    let stored = spool.flush(store);
    let done = done.and_then(|state| {
        let said = stored.and_then(|()| store.set_state(run, state, cut_off.as_deref()));
        said.map(|()| state).map_err(|error| spool.unstored(error))
    });
    match done {
        Ok(state) => Ok(Finished { run, state, kept: left.kept, left: left.failed, cut_off }),
        Err(error) => {
            let error = spool.explained(error).or_limit();
            left.failed.iter().for_each(|failure| progress.message(failure));
            if before.is_some() && !has_begun {
                stand_as_before(store);
            } else {
                let (state, why) = match &error {
                    RunError::Unstored { cause, .. } => (
                        RunState::Interrupted,
                        format!("interrupted: the database could not be written: {cause}"),
                    ),
                    RunError::Limit { error, remedy } => {
                        (RunState::Interrupted, format!("interrupted: {error}; {remedy}"))
                    }
                    other => (RunState::Failed, other.to_string()),
                };
                // The first cause is the one to tell.
                let _ = store.set_state(run, state, Some(&format!("{why}; {how_far}")));
            }
            Err(error)
        }
    }
}

/// How a RUN came to its end, with nothing taken down yet.
struct RunEnd {
    done: Result<RunState, RunError>,
    /// In words, where it was cut off.
    cut_off: Option<String>,
    how_far: String,
    has_begun: bool,
}

/// Does the trials and then the crash runs.
fn carry_out(
    request: &Request<'_>,
    owner: &fsarena_store::Owner,
    store: &Store,
    spool: &mut Spool,
    resources: &mut RunResources<'_>,
    progress: &mut dyn Progress,
    begun: Instant,
) -> RunEnd {
    let mut trial_loop = TrialLoop::new(request, owner, store, spool, progress, begun);
    let done = match trial_loop.trials(resources) {
        Err(RunError::Stopped) => Ok(RunState::Interrupted),
        done => done,
    };
    let has_begun = trial_loop.has_begun;
    let how_far = trial_loop.how_far();
    let cut_off = match &done {
        Ok(RunState::Interrupted) => Some(format!("interrupted: {how_far}")),
        _ => trial_loop.cut_off.take(),
    };
    // Trials that were begun beside the last one end here.
    drop(trial_loop);
    if !matches!(done, Ok(RunState::Done)) {
        return RunEnd { done, cut_off, how_far, has_begun };
    }
    let scratch_dir = resources.scratch_dir.clone();
    let mut crash_runs = CrashRuns::new(request, store, spool, progress, &scratch_dir);
    let done = crash_runs.all();
    let cut_off = match &done {
        Ok(RunState::Interrupted) => Some(format!("interrupted: {}", crash_runs.how_far())),
        _ => cut_off,
    };
    RunEnd { done, cut_off, how_far, has_begun }
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
