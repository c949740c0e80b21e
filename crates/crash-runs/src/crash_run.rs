//! Crash safety of one contender: work on a modelled disk whose writes are logged, then looks at
//! states that a power cut may have left of it, in guests or under the kernel of this machine.
//!
//! In guests one works, and its power goes. Each crash state is a view of the log, and some of them
//! are the contents of disks of one guest that checks them. No state sees what the recovery of
//! another one has written.

pub use crate::crash_check::contents;
use crate::crash_check::{InspectedState, ToCheck, is_doubtful};
use crate::native_crash::{self, NativeCheck, NativeCrashError};
use crate::state_groups::{DISKS_MOST, GroupCheck, InspectedStates, in_groups};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::hunt::{Hunt, HuntBounds, hunt};
use fsarena_crash::observation::{MountAttempt, MountStep, Observation};
use fsarena_crash::recovery::cut_recovery;
use fsarena_crash::state::{Class, CrashPoints, CrashState, EventStates, pieces, uniform};
use fsarena_devices::TargetError;
use fsarena_disk_server::{
    CrashViewDisk, Disk, DiskOrder, DiskOrderError, ModelledDisk, disk_of_states,
};
use fsarena_executor::crash::{CrashCheck, CrashTask, CrashWork, NOT_HANDED_ON, WorkRecord};
use fsarena_guests::guest::{
    Guest, GuestError, GuestOptions, InspectionRun, Program, Record, Task,
};
use fsarena_model::contender::FsLevel;
use fsarena_vdisk::{Discarded, EntryKind, SECTOR_BYTES, Store, View, WriteLog};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// States of a run that have the time of their recovery taken, where nothing else is asked. In
/// guests they lie on the modelled disk, where each request has a time: such a state takes many
/// times as long as where requests are done at once. Natively they are looked at alone.
pub const TIMED_STATES: usize = 16;

/// Real time that a guest of several states has for each: its mounts, its check, its repair.
const STATE_LIMIT: Duration = Duration::from_secs(240);

/// What is asked for.
#[derive(Clone, Debug)]
pub struct CrashOrder<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    pub place: CrashPlace<'a>,
    pub workload: &'a CrashWorkload,
    /// Of workload, disk, guest and crash points.
    pub seed: u64,
    pub duration_ns: u64,
    pub prefill_bytes: u64,
    pub points: PointsOrder,
    /// The power goes once more while every Nth state is recovered; 0: never.
    pub recovery_every: u32,
    /// This flush of the work, counted from 1, is reported and does nothing.
    pub lose_flush: Option<u32>,
    /// Whether the check of the file system is run in each state.
    pub has_fsck: bool,
    /// States that have the time of their recovery taken: in guests on the modelled disk.
    pub timed_states: usize,
}

/// Where the work is done and its states are looked at.
#[derive(Clone, Copy, Debug)]
pub enum CrashPlace<'a> {
    Guests(CrashGuests<'a>),
    /// The kernel of this machine; needs root. States answer at once, so that a mount takes as long
    /// as recovery does here.
    Native {
        /// For the write log and a place to mount.
        scratch_dir: &'a Path,
    },
}

/// Guests with virtual time. Some states, drawn by their contents, lie on the modelled disk;
/// requests of the others are done at once.
#[derive(Clone, Copy, Debug)]
pub struct CrashGuests<'a> {
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    /// So many check states at one time.
    pub at_once: usize,
}

/// Where the power goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PointsOrder {
    /// At so many uniform times, with these classes in turns: for rates.
    Uniform { points: u32, classes: Vec<Class> },
    /// At the entries of the log, at most so many states: for finding bugs.
    PerEvent { states_most: u32, samples: u32, singles: u32 },
}

/// What came of it.
#[derive(Debug)]
pub struct CrashRun {
    pub work: WorkRecord,
    /// All that was written, from the empty disk on.
    pub log: WriteLog,
    /// Of how many the states were taken, where they are at the entries of the log.
    pub hunted: Option<HuntCounts>,
    /// When the flush that was to be lost completed; `None`: none was, or there are fewer.
    pub lost_flush_ns: Option<u64>,
    pub recoveries: Vec<RecoveredState>,
    /// Real time of the looks at different states, without power cuts in their recovery.
    pub inspections_took: Duration,
    /// Each with the place of its observation: states with equal contents have one.
    states: Vec<(CrashState, usize)>,
    observations: Vec<Observation>,
}

/// How many entries and states there were; see [`Hunt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HuntCounts {
    pub events: u32,
    pub events_taken: u32,
    pub states_made: u32,
}

/// A second power cut, while a state was recovered.
#[derive(Debug)]
pub struct RecoveredState {
    /// The first one.
    pub state: CrashState,
    /// What recovery wrote, and the cut in it.
    pub log: WriteLog,
    pub cut: CrashState,
    pub seen: Observation,
}

impl CrashRun {
    /// The states, each with what was seen in it.
    pub fn observed(&self) -> impl Iterator<Item = (&CrashState, &Observation)> {
        self.states.iter().map(|(state, place)| (state, &self.observations[*place]))
    }

    /// So many different states were looked at.
    #[must_use]
    pub fn different(&self) -> usize {
        self.observations.len()
    }
}

/// Why there are no observations.
#[derive(Debug, thiserror::Error)]
pub enum CrashRunError {
    #[error(transparent)]
    Disk(#[from] DiskOrderError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Native(#[from] NativeCrashError),
    #[error("a record of a guest: {0}")]
    Record(#[from] serde_json::Error),
    #[error("of {asked} records, the guest has {seen}")]
    Missing { asked: usize, seen: usize },
    #[error("the guest inspected nothing")]
    Unseen,
}

impl CrashRunError {
    /// Whether the caller asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Guest(GuestError::Stopped) | Self::Native(NativeCrashError::Stopped))
    }

    /// Whether it says nothing of any state: the caller asked for it, or this machine could not do
    /// its part.
    pub(crate) fn is_of_no_state(&self) -> bool {
        self.is_stop() || self.is_of_machine()
    }

    fn is_of_machine(&self) -> bool {
        match self {
            Self::Disk(_) => true,
            Self::Guest(GuestError::Failed(why)) if why.starts_with(NOT_HANDED_ON) => true,
            Self::Guest(error) => error.is_of_machine(),
            Self::Native(_) | Self::Record(_) | Self::Missing { .. } | Self::Unseen => false,
        }
    }

    /// Whether this machine cannot serve such a disk in the time of its model.
    #[must_use]
    pub fn is_faster_than_native(&self) -> bool {
        let Self::Native(NativeCrashError::Disk(error)) = self else { return false };
        matches!(error, TargetError::FasterThanNative { .. })
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
    let (work, mut log) = work(order, stop)?;
    let lost_flush_ns = match order.lose_flush {
        Some(number) => lose_flush(&mut log, work.begin_ns, number)?,
        None => None,
    };
    let (states, hunted) = states(order, &work, &log);
    // States with equal contents are checked once.
    let mut place_of: HashMap<u64, usize> = HashMap::new();
    let mut different: Vec<ToCheck<'_>> = Vec::new();
    let mut places = Vec::with_capacity(states.len());
    let every = order.recovery_every as usize;
    let is_recovered = |number: usize| every > 0 && number.is_multiple_of(every);
    for (number, state) in states.iter().enumerate() {
        let place = *place_of.entry(state.contents).or_insert_with(|| {
            let one = ToCheck { state, recovery: None, is_logged: false, is_timed: false };
            different.push(one);
            different.len() - 1
        });
        different[place].is_logged |= is_recovered(number);
        places.push(place);
    }
    for place in timed(&different, order.timed_states) {
        different[place].is_timed = true;
    }
    let began = Instant::now();
    let checked = check_all(order, (&log, &different), stop)?;
    let inspections_took = began.elapsed();
    let cuts = states.iter().zip(&places).enumerate();
    let cuts = cuts.filter(|(number, _)| is_recovered(*number));
    let cuts: Vec<Cut<'_>> = cuts
        .filter_map(|(number, (state, place))| {
            let seed = order.seed.wrapping_add(number as u64);
            Cut::in_recovery(state, &checked[*place], seed)
        })
        .collect();
    let recoveries = check_cuts(order, &log, &cuts, stop)?;
    let observations = checked.into_iter().map(|one| one.seen).collect();
    let states = states.into_iter().zip(places).collect();
    Ok(CrashRun {
        work,
        log,
        hunted,
        lost_flush_ns,
        recoveries,
        inspections_took,
        states,
        observations,
    })
}

/// So many of these, drawn by the hashes of their contents.
fn timed(states: &[ToCheck<'_>], most: usize) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..states.len()).collect();
    drawn.sort_unstable_by_key(|place| states[*place].state.contents);
    drawn.truncate(most);
    drawn
}

/// When this flush of the work completed, which now counts no more.
fn lose_flush(
    log: &mut WriteLog,
    begin_ns: u64,
    number: u32,
) -> Result<Option<u64>, DiskOrderError> {
    let of_work = log
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.kind == EntryKind::Flush && entry.submitted_ns >= begin_ns);
    let nth = (number as usize).saturating_sub(1);
    let found = of_work.map(|(place, entry)| (place, entry.completed_ns)).nth(nth);
    let Some((place, completed_ns)) = found else { return Ok(None) };
    log.lose_flush(place)?;
    Ok(Some(completed_ns))
}

fn states(
    order: &CrashOrder<'_>,
    work: &WorkRecord,
    log: &WriteLog,
) -> (Vec<CrashState>, Option<HuntCounts>) {
    let (from_ns, to_ns, seed) = (work.begin_ns, work.end_ns, order.seed);
    match &order.points {
        PointsOrder::Uniform { points, classes } => {
            let (points, classes) = (*points, classes.clone());
            (uniform(log, &CrashPoints { from_ns, to_ns, points, seed, classes }), None)
        }
        PointsOrder::PerEvent { states_most, samples, singles } => {
            let of_event = EventStates { samples: *samples, singles: *singles, seed };
            let bounds = HuntBounds { from_ns, to_ns, states_most: *states_most, of_event };
            let Hunt { states, events, events_taken, states_made } = hunt(log, &bounds);
            (states, Some(HuntCounts { events, events_taken, states_made }))
        }
    }
}

impl<'a> CrashOrder<'a> {
    fn checker(&self, guests: CrashGuests<'a>, log: &'a WriteLog) -> StateInspector<'a> {
        let base = Store::in_memory(self.disk.size_bytes, Discarded::Zeros);
        let CrashGuests { options, program, .. } = guests;
        let Self { fs, seed, has_fsck, .. } = *self;
        StateInspector { fs, options, program, seed, disk: Some(self.disk), has_fsck, base, log }
    }
}

fn work(
    order: &CrashOrder<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(WorkRecord, WriteLog), CrashRunError> {
    let work = CrashWork {
        fs: order.fs.clone(),
        size_bytes: order.disk.size_bytes,
        workload: order.workload.clone(),
        seed: order.seed,
        duration_ns: order.duration_ns,
        prefill_bytes: order.prefill_bytes,
        target: None,
    };
    match order.place {
        CrashPlace::Guests(guests) => {
            let mut disk = order.disk.make_logged(order.seed, WriteLog::in_memory())?;
            let options = GuestOptions { seed: order.seed, ..guests.options.clone() };
            let task = CrashTask::Work(work);
            let text = run_task(&options, guests.program, &task, &mut [&mut disk], stop)?;
            let (_, log) = disk.into_contents();
            Ok((serde_json::from_str(&text)?, log.unwrap_or_else(WriteLog::in_memory)))
        }
        CrashPlace::Native { scratch_dir } => {
            Ok(native_crash::work(work, order.disk.model, scratch_dir, stop)?)
        }
    }
}

/// Boots a guest for a task; gives its record.
pub(crate) fn run_task(
    options: &GuestOptions,
    program: &Program,
    task: &CrashTask,
    disks: &mut [&mut dyn Disk],
    stop: &dyn Fn() -> bool,
) -> Result<String, CrashRunError> {
    let task = Task::Crash { task: serde_json::to_string(task)? };
    match Guest::new(options, program).run_task(&task, disks, stop)?.record {
        Record::Crash(record) => Ok(record),
        _ => Err(GuestError::Unexpected { record: "of another task".to_owned() }.into()),
    }
}

/// Boots a guest for a task that looks at states; each has so much real time.
pub(crate) fn inspect_states<T: DeserializeOwned>(
    options: &GuestOptions,
    program: &Program,
    task: &CrashTask,
    disks: &mut [&mut dyn Disk],
    stop: &dyn Fn() -> bool,
) -> InspectedStates<T, CrashRunError> {
    let task = match serde_json::to_string(task) {
        Ok(task) => Task::Crash { task },
        Err(error) => return InspectedStates { seen: Vec::new(), end: Err(error.into()) },
    };
    let InspectionRun { lines, end } =
        Guest::new(options, program).inspect_states(&task, disks, stop);
    let mut end = end.map_err(CrashRunError::from);
    let mut seen = Vec::with_capacity(lines.len());
    for line in lines {
        match serde_json::from_str(&line) {
            Ok(one) => seen.push(one),
            Err(error) => {
                end = Err(error.into());
                break;
            }
        }
    }
    InspectedStates { seen, end }
}

/// A disk with the contents of a state of which more is wanted than a look.
enum OwnDisk<'v> {
    Logged(Box<CrashViewDisk<'v>>),
    Modelled(Box<ModelledDisk<View<'v>>>),
}

impl OwnDisk<'_> {
    fn as_disk(&mut self) -> &mut dyn Disk {
        match self {
            Self::Logged(disk) => &mut **disk,
            Self::Modelled(disk) => &mut **disk,
        }
    }

    /// What was written to it, where it was logged.
    fn into_log(self) -> Option<WriteLog> {
        match self {
            Self::Logged(disk) => disk.into_log(),
            Self::Modelled(disk) => disk.into_contents().1,
        }
    }
}

/// Guests that look at the states of a log.
pub struct StateInspector<'a> {
    pub fs: &'a FsLevel,
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    /// Of the guests.
    pub seed: u64,
    /// The model of the disk, so that a mount takes as long as its recovery does there; `None`:
    /// its requests are done at once.
    pub disk: Option<DiskOrder<'a>>,
    /// Whether the check of the file system is run.
    pub has_fsck: bool,
    /// The contents before the log.
    pub base: Store,
    pub log: &'a WriteLog,
}

impl StateInspector<'_> {
    /// Looks at one state, with all that kernel and check say. A guest that does not survive it is
    /// what was seen.
    ///
    /// # Errors
    /// When the caller asked to stop.
    pub fn inspect_state(
        &self,
        state: &CrashState,
        recovery: Option<(&WriteLog, &CrashState)>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Observation, CrashRunError> {
        let one = ToCheck { state, recovery, is_logged: false, is_timed: true };
        Ok(self.check_one(&one, true, stop)?.seen)
    }

    fn check_one(
        &self,
        one: &ToCheck<'_>,
        is_detailed: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<InspectedState, CrashRunError> {
        only(self.check(&[*one], is_detailed, stop), |error| {
            let (mounts, kernel_messages) = not_survived(error);
            let seen = Observation { mounts, kernel_messages, ..Observation::default() };
            InspectedState { seen, log: None }
        })
    }

    /// Looks at states in one guest, in their order: those that need a disk each are the last.
    fn check(
        &self,
        states: &[ToCheck<'_>],
        is_detailed: bool,
        stop: &dyn Fn() -> bool,
    ) -> InspectedStates<InspectedState, CrashRunError> {
        let (looked, own) = states.split_at(states.partition_point(|one| self.is_inspected(one)));
        let disks = || -> Result<_, CrashRunError> {
            let shown = match looked {
                [] => None,
                [first, later @ ..] => Some(self.disk_of(first, later)?),
            };
            let own: Result<Vec<OwnDisk<'_>>, _> =
                own.iter().map(|one| self.own_disk(one)).collect();
            Ok((shown, own?))
        };
        let (mut shown, mut own_disks) = match disks() {
            Ok(disks) => disks,
            Err(error) => return InspectedStates { seen: Vec::new(), end: Err(error) },
        };
        let of_shown = shown.iter().map(|_| u32::try_from(looked.len()).unwrap_or(u32::MAX));
        let task = CrashTask::Check(CrashCheck {
            fs: self.fs.clone(),
            size_bytes: self.base.size_bytes(),
            contents: of_shown.chain(own.iter().map(|_| 1)).collect(),
            is_detailed,
            has_fsck: self.has_fsck,
            target: None,
        });
        let mut disks: Vec<&mut dyn Disk> = shown.iter_mut().map(|disk| &mut **disk as _).collect();
        disks.extend(own_disks.iter_mut().map(OwnDisk::as_disk));
        let options = GuestOptions {
            seed: self.seed,
            limit: limit_of_each(self.options, states.len()),
            clears_memory: states.iter().any(|one| one.is_logged),
            ..self.options.clone()
        };
        let InspectedStates { seen, end } =
            inspect_states::<Observation>(&options, self.program, &task, &mut disks, stop);
        let disks = looked.iter().map(|_| None).chain(own_disks.into_iter().map(Some));
        let checked = seen.into_iter().zip(disks).map(|(seen, disk)| {
            let is_untimed = !matches!(disk, Some(OwnDisk::Modelled(_)));
            let log = disk.and_then(OwnDisk::into_log);
            InspectedState { seen: Observation { is_untimed, ..seen }, log }
        });
        InspectedStates { seen: checked.collect(), end }
    }

    /// One disk that shows the first state, and the later ones of these after it.
    fn disk_of<'v>(
        &'v self,
        first: &ToCheck<'_>,
        later: &'v [ToCheck<'_>],
    ) -> Result<Box<dyn Disk + 'v>, CrashRunError> {
        let first = self.view(first).map_err(DiskOrderError::from)?;
        let later = later.iter().map(|one| self.view(one));
        Ok(disk_of_states(first, Box::new(later), (&self.base, self.log)))
    }

    /// A disk with one state.
    fn own_disk(&self, one: &ToCheck<'_>) -> Result<OwnDisk<'_>, CrashRunError> {
        let ToCheck { state, is_logged, .. } = one;
        let view = self.view(one).map_err(DiskOrderError::from)?;
        let Some(disk) = &self.disk else {
            let disk = CrashViewDisk::logged(view, self.base.size_bytes());
            return Ok(OwnDisk::Logged(Box::new(disk)));
        };
        let there = (self.log, pieces(self.log, state));
        let seed = self.seed ^ state.contents;
        Ok(OwnDisk::Modelled(Box::new(disk.make_over(seed, view, there, *is_logged)?)))
    }

    /// Whether nothing of its disk is wanted afterwards, nor any time.
    fn is_inspected(&self, one: &ToCheck<'_>) -> bool {
        !one.is_logged && !self.is_timed(one)
    }

    /// Whether requests take the time of the model: a power cut in what recovery writes has one,
    /// too.
    fn is_timed(&self, one: &ToCheck<'_>) -> bool {
        self.disk.is_some() && (one.is_timed || one.is_logged)
    }

    fn view(&self, one: &ToCheck<'_>) -> std::io::Result<View<'_>> {
        contents(&self.base, self.log, one.state, one.recovery)
    }

    /// A check of a group of any states. Those that need a disk each are looked at last, no more of
    /// them by one guest than it has disks for.
    fn check_group(
        &self,
        states: &[ToCheck<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<InspectedState>, CrashRunError> {
        let check = GroupCheck {
            together: &|states: &[ToCheck<'_>]| self.check(states, false, stop),
            alone: &|one| self.check_one(one, false, stop),
            is_doubtful: &|checked: &InspectedState| {
                is_doubtful(&checked.seen.mounts, checked.seen.unmount_errno)
            },
            is_other: &|error: &CrashRunError| error.is_of_no_state(),
        };
        let (mut places, own): (Vec<usize>, Vec<usize>) =
            (0..states.len()).partition(|place| self.is_inspected(&states[*place]));
        let (first, later) = own.split_at(own.len().min(DISKS_MOST - 1));
        places.extend(first);
        let mut checked = Vec::with_capacity(states.len());
        for places in std::iter::once(places.as_slice()).chain(later.chunks(DISKS_MOST)) {
            let part: Vec<ToCheck<'_>> = places.iter().map(|place| states[*place]).collect();
            checked.extend(places.iter().copied().zip(check.run(&part)?));
        }
        checked.sort_unstable_by_key(|(place, _)| *place);
        Ok(checked.into_iter().map(|(_, checked)| checked).collect())
    }
}

/// Real time for each state. One that is looked at alone has all that its guest may take: what
/// comes of it is what is found.
pub(crate) fn limit_of_each(options: &GuestOptions, states: usize) -> Duration {
    if states == 1 { options.limit.max(STATE_LIMIT) } else { STATE_LIMIT }
}

/// What was seen in the only state of a guest; what `not_survived` makes of its error where it did
/// not survive it.
///
/// # Errors
/// One that says nothing of the state.
pub(crate) fn only<T>(
    looked: InspectedStates<T, CrashRunError>,
    not_survived: impl FnOnce(&CrashRunError) -> T,
) -> Result<T, CrashRunError> {
    let InspectedStates { seen, end } = looked;
    match end.and_then(|()| seen.into_iter().next().ok_or(CrashRunError::Unseen)) {
        Err(error) if error.is_of_no_state() => Err(error),
        Err(error) => Ok(not_survived(&error)),
        Ok(seen) => Ok(seen),
    }
}

/// What is seen in a state whose guest does not survive it: a mount that failed, and a message.
pub(crate) fn not_survived(error: &CrashRunError) -> (Vec<MountAttempt>, Vec<String>) {
    let (step, errno) = (MountStep::ReadWrite, Some(Errno::IO.raw_os_error()));
    let mount = MountAttempt { step, errno, began_ns: 0, duration_ns: 0 };
    (vec![mount], vec![format!("the guest did not survive it: {error}")])
}

/// What was seen in each state of a log, in their order; guests take groups of states in turns.
fn check_all(
    order: &CrashOrder<'_>,
    (log, states): (&WriteLog, &[ToCheck<'_>]),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<InspectedState>, CrashRunError> {
    match order.place {
        CrashPlace::Guests(guests) => {
            let checker = order.checker(guests, log);
            let check = |group: &[ToCheck<'_>]| checker.check_group(group, stop);
            in_groups(states, guests.at_once, &check)
        }
        CrashPlace::Native { scratch_dir } => {
            let CrashOrder { fs, disk, has_fsck, .. } = *order;
            let how = NativeCheck { fs, disk, has_fsck, is_detailed: false, scratch_dir };
            Ok(native_crash::check(&how, (log, states), stop)?)
        }
    }
}

/// A power cut in the recovery of a state.
struct Cut<'c> {
    state: &'c CrashState,
    log: &'c WriteLog,
    cut: CrashState,
}

impl<'c> Cut<'c> {
    /// `None`: recovery wrote nothing, or it was not mounted in any way.
    fn in_recovery(state: &'c CrashState, checked: &'c InspectedState, seed: u64) -> Option<Self> {
        let (log, mount) = (checked.log.as_ref()?, checked.seen.mount()?);
        let until_ns = mount.began_ns + mount.duration_ns;
        let cut = cut_recovery(log, until_ns, state.class, seed)?;
        Some(Self { state, log, cut })
    }
}

fn check_cuts(
    order: &CrashOrder<'_>,
    log: &WriteLog,
    cuts: &[Cut<'_>],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<RecoveredState>, CrashRunError> {
    let to_check: Vec<ToCheck<'_>> = cuts
        .iter()
        .map(|Cut { state, log, cut }| ToCheck {
            state,
            recovery: Some((log, cut)),
            is_logged: false,
            is_timed: false,
        })
        .collect();
    let checked = check_all(order, (log, &to_check), stop)?;
    let recovered = |(Cut { state, log, cut }, checked): (&Cut<'_>, InspectedState)| {
        Ok(RecoveredState {
            state: (*state).clone(),
            log: first_entries(log, cut.count).map_err(DiskOrderError::from)?,
            cut: cut.clone(),
            seen: checked.seen,
        })
    };
    cuts.iter().zip(checked).map(recovered).collect()
}

/// A log with the first entries of another one.
fn first_entries(log: &WriteLog, count: u32) -> std::io::Result<WriteLog> {
    use fsarena_vdisk::{Completion, Outcome, Request};
    let mut first = WriteLog::in_memory();
    for entry in log.entries().iter().take(count as usize) {
        let sectors = u32::try_from(entry.sectors).unwrap_or(u32::MAX);
        let mut data = Vec::new();
        let request = if entry.kind.is_write() {
            data.resize(usize::try_from(entry.sectors * SECTOR_BYTES).unwrap_or(0), 0);
            log.data(entry, entry.sector, &mut data)?;
            Request::write(0, entry.sector, sectors)
        } else {
            Request::flush(0)
        };
        let done = Completion { tag: 0, at_ns: entry.completed_ns, outcome: Outcome::Done };
        first.completed(&request, entry.submitted_ns, &done, &data)?;
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::state::{Sampling, Survivors};

    #[test]
    fn what_could_not_be_handed_on_says_nothing_of_a_state() {
        let failed = |why: &str| CrashRunError::from(GuestError::Failed(why.to_owned()));
        assert!(failed("what was seen: No space left on device (os error 28)").is_of_no_state());
        assert!(!failed("/dev/vdisk0: Input/output error (os error 5)").is_of_no_state());
    }

    #[test]
    fn a_state_alone_has_all_the_time_of_its_guest() {
        let options = GuestOptions { limit: STATE_LIMIT * 5, ..GuestOptions::new(Path::new("")) };
        assert_eq!(
            [1, 2].map(|states| limit_of_each(&options, states)),
            [STATE_LIMIT * 5, STATE_LIMIT]
        );
        let short = GuestOptions { limit: Duration::from_secs(1), ..options };
        assert_eq!(limit_of_each(&short, 1), STATE_LIMIT);
    }

    #[test]
    fn some_states_are_timed_whatever_their_order() {
        let state = |contents| CrashState {
            at_ns: 0,
            count: 0,
            class: Class::Prefix,
            sampling: Sampling::Uniform,
            survivors: Survivors::default(),
            in_flight: Vec::new(),
            torn: None,
            contents,
        };
        let drawn = |states: &[CrashState]| {
            let one = |state| ToCheck { state, recovery: None, is_logged: false, is_timed: false };
            let all: Vec<ToCheck<'_>> = states.iter().map(one).collect();
            let mut drawn: Vec<u64> =
                timed(&all, TIMED_STATES).into_iter().map(|place| states[place].contents).collect();
            drawn.sort_unstable();
            drawn
        };
        let mut states: Vec<CrashState> =
            (1..=100_u64).map(|number| state(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let first = drawn(&states);
        assert_eq!(first.len(), TIMED_STATES);
        states.reverse();
        assert_eq!(drawn(&states), first);
        assert_eq!(drawn(&states[..3]).len(), 3);
    }
}
