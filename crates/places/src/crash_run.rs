//! Crash safety of one contender in guests: work on a modelled disk whose writes are logged, then
//! looks at states that a power cut may have left of it.
//!
//! One guest works, and its power goes. Each crash state is a view of the log, and up to eight of
//! them are the disks of one guest that checks them. No state sees what the recovery of another
//! one has written.

use crate::disk::{CrashViewDisk, Disk, DiskOrder, DiskOrderError};
use crate::guest::{Guest, GuestError, GuestOptions, Program, Record, Task};
use fsarena_executor::crash::{CrashCheck, CrashTask, CrashWork, WorkRecord};
use fsarena_model::contender::FsLevel;
use fsarena_safety::observation::{MountAttempt, Observation, Rung};
use fsarena_safety::state::{Class, CrashPoints, CrashState, uniform, view};
use fsarena_safety::workload::Kind;
use fsarena_vdisk::{Discarded, Store, WriteLog};
use rustix::io::Errno;
use std::collections::HashMap;
use std::sync::Mutex;

/// Disks that a guest has.
const DISKS_MOST: usize = 8;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct CrashOrder<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    pub kind: Kind,
    /// Of workload, disk, guest and crash points.
    pub seed: u64,
    pub duration_ns: u64,
    pub prefill_bytes: u64,
    /// Crash points, and their classes in turns.
    pub points: u32,
    pub classes: Vec<Class>,
    /// Guests that check states at one time.
    pub guests_at_once: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct CrashRun {
    pub work: WorkRecord,
    /// Each with the place of its observation: states with equal contents have one.
    states: Vec<(CrashState, usize)>,
    observations: Vec<Observation>,
}

impl CrashRun {
    /// The states, each with what was seen in it.
    pub fn observed(&self) -> impl Iterator<Item = (&CrashState, &Observation)> {
        self.states.iter().map(|(state, place)| (state, &self.observations[*place]))
    }
}

/// Why there are no observations.
#[derive(Debug, thiserror::Error)]
pub enum CrashRunError {
    #[error(transparent)]
    Disk(#[from] DiskOrderError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error("a record of a guest: {0}")]
    Record(#[from] serde_json::Error),
    #[error("of {asked} disks, the guest checked {seen}")]
    Missing { asked: usize, seen: usize },
}

impl CrashRunError {
    /// Whether the caller asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Guest(GuestError::Stopped))
    }
}

/// Works, cuts the power, and checks.
///
/// # Errors
/// When a guest has no record.
pub fn crash_run(
    order: &CrashOrder<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CrashRun, CrashRunError> {
    let (work, log) = work(order, stop)?;
    let points = CrashPoints {
        from_ns: work.begin_ns,
        to_ns: work.end_ns,
        points: order.points,
        seed: order.seed,
        classes: order.classes.clone(),
    };
    let states = uniform(&log, &points);
    let base = Store::in_memory(order.disk.size_bytes, Discarded::Zeros);
    // States with equal contents are checked once.
    let mut place_of: HashMap<u64, usize> = HashMap::new();
    let mut different: Vec<&CrashState> = Vec::new();
    let mut places = Vec::with_capacity(states.len());
    for state in &states {
        places.push(*place_of.entry(state.contents).or_insert_with(|| {
            different.push(state);
            different.len() - 1
        }));
    }
    let recorded = Recorded { base: &base, log: &log };
    let mut observations = check_all(order, recorded, &different, stop)?;
    // What other disks of the guest may have done is ruled out.
    for (state, seen) in different.iter().zip(&mut observations) {
        if is_doubtful(seen) {
            *seen = check_one(order, recorded, state, stop)?;
        }
    }
    let states = states.into_iter().zip(places).collect();
    Ok(CrashRun { work, states, observations })
}

/// The contents before the log of the work, and the log.
#[derive(Clone, Copy)]
struct Recorded<'a> {
    base: &'a Store,
    log: &'a WriteLog,
}

fn work(
    order: &CrashOrder<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(WorkRecord, WriteLog), CrashRunError> {
    let task = CrashTask::Work(CrashWork {
        fs: order.fs.clone(),
        size_bytes: order.disk.size_bytes,
        kind: order.kind,
        seed: order.seed,
        duration_ns: order.duration_ns,
        prefill_bytes: order.prefill_bytes,
    });
    let mut disk = order.disk.make_logged(order.seed, WriteLog::in_memory())?;
    let text = run(order, &task, &mut [&mut disk], stop)?;
    let (_, log) = disk.into_contents();
    Ok((serde_json::from_str(&text)?, log.unwrap_or_else(WriteLog::in_memory)))
}

fn run(
    order: &CrashOrder<'_>,
    task: &CrashTask,
    disks: &mut [&mut dyn Disk],
    stop: &dyn Fn() -> bool,
) -> Result<String, CrashRunError> {
    let task = Task::Crash { task: serde_json::to_string(task)? };
    let options = GuestOptions { seed: order.seed, ..order.options.clone() };
    match Guest::new(&options, order.program).run_task(&task, disks, stop)?.record {
        Record::Crash(record) => Ok(record),
        _ => Err(GuestError::Unexpected { record: "of another task".to_owned() }.into()),
    }
}

/// Observations of a group of states.
type Seen = Result<Vec<Observation>, CrashRunError>;

/// One observation a state, in their order; guests take groups of states in turns.
fn check_all(
    order: &CrashOrder<'_>,
    recorded: Recorded<'_>,
    states: &[&CrashState],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Observation>, CrashRunError> {
    let groups: Vec<&[&CrashState]> = states.chunks(DISKS_MOST).collect();
    let next = Mutex::new(0..groups.len());
    let done: Mutex<Vec<Option<Seen>>> = Mutex::new(groups.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for lane in 0..order.guests_at_once.max(1) {
            let (next, done, groups) = (&next, &done, &groups);
            scope.spawn(move || {
                crate::virtual_trial::keep_to_one_processor(lane);
                loop {
                    let taken = next.lock().ok().and_then(|mut next| next.next());
                    let Some(number) = taken else { return };
                    let seen = check_group(order, recorded, groups[number], stop);
                    let is_failed = seen.is_err();
                    if let Ok(mut done) = done.lock() {
                        done[number] = Some(seen);
                    }
                    if is_failed {
                        return;
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut all = Vec::with_capacity(states.len());
    for group in done {
        let stopped = || Err(CrashRunError::Guest(GuestError::Stopped));
        all.extend(group.unwrap_or_else(stopped)?);
    }
    Ok(all)
}

/// Whether it could not be mounted at the first attempt, or not be unmounted.
fn is_doubtful(seen: &Observation) -> bool {
    let first = seen.mounts.first();
    first.is_none_or(|mount| mount.errno.is_some()) || seen.unmount_errno.is_some()
}

/// A check of a group; where its guest does not survive it, of each state in a guest of its own.
fn check_group(
    order: &CrashOrder<'_>,
    recorded: Recorded<'_>,
    states: &[&CrashState],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Observation>, CrashRunError> {
    match check(order, recorded, states, stop) {
        Err(error) if !error.is_stop() => {
            states.iter().map(|state| check_one(order, recorded, state, stop)).collect()
        }
        done => done,
    }
}

/// A check of one state. A guest that does not survive it is what was seen.
fn check_one(
    order: &CrashOrder<'_>,
    recorded: Recorded<'_>,
    state: &CrashState,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Observation, CrashRunError> {
    match check(order, recorded, &[state], stop) {
        Ok(mut seen) => Ok(seen.remove(0)),
        Err(error) if error.is_stop() => Err(error),
        Err(error) => {
            let (rung, errno) = (Rung::ReadWrite, Some(Errno::IO.raw_os_error()));
            Ok(Observation {
                mounts: vec![MountAttempt { rung, errno, duration_ns: 0 }],
                kernel_messages: vec![format!("the guest did not survive it: {error}")],
                ..Observation::default()
            })
        }
    }
}

fn check(
    order: &CrashOrder<'_>,
    recorded: Recorded<'_>,
    states: &[&CrashState],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Observation>, CrashRunError> {
    let task = CrashTask::Check(CrashCheck {
        fs: order.fs.clone(),
        size_bytes: order.disk.size_bytes,
        disks: u32::try_from(states.len()).unwrap_or(0),
    });
    let size_bytes = order.disk.size_bytes;
    let mut views: Vec<CrashViewDisk<'_>> = states
        .iter()
        .map(|state| CrashViewDisk::new(view(recorded.base, recorded.log, state), size_bytes))
        .collect();
    let mut disks: Vec<&mut dyn Disk> =
        views.iter_mut().map(|view| view as &mut dyn Disk).collect();
    let text = run(order, &task, &mut disks, stop)?;
    let seen: Vec<Observation> = serde_json::from_str(&text)?;
    if seen.len() == states.len() {
        return Ok(seen);
    }
    Err(CrashRunError::Missing { asked: states.len(), seen: seen.len() })
}
