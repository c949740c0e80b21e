//! Work and crash states under the kernel of this machine: a modelled disk in real time whose
//! writes are logged, then its crash states, one after the other, as the contents of one loop
//! device.
//!
//! Two processes of this program end with this one: one serves the disk, one mounts. A mount that
//! does not end is ended by the end of the disk. Some states are looked at at one time, with two
//! processes each, but of file systems of which kernels refuse a second one with the same UUID.
//! Those that have the time of their recovery taken are looked at alone, and so are those again
//! that could not be mounted or unmounted beside others.

use crate::crash_check::{InspectedState, ToCheck, is_doubtful};
use crate::native::states::{StateToServe, read_log, write_states};
use fsarena_crash::observation::{MountAttempt, MountStep, Observation};
use fsarena_crash::packed::UnpackError;
use fsarena_devices::TargetError;
use fsarena_devices::claim::NativeDisk;
use fsarena_disk_server::DiskOrder;
use fsarena_executor::crash::{
    CrashCheck, CrashTask, CrashWork, NativeAnswer, NativeRequest, WorkRecord, is_side_by_side,
};
use fsarena_model::contender::FsLevel;
use fsarena_model::spec::TargetSpec;
use fsarena_process::partner::Partner;
use fsarena_process::private;
use fsarena_vdisk::WriteLog;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Hidden argument of this program.
const ARGUMENT: &str = "crash_executor";
/// Of work beside its length: mkfs, and files that are made before it.
const PREPARATION_LIMIT: Duration = Duration::from_secs(600);
/// Of a state: its mounts, its check, its repair.
const STATE_LIMIT: Duration = Duration::from_secs(120);
/// States that are looked at at one time: more than processors, because a mount mostly waits.
const LANES: usize = 4;
/// So long a run waits for a machine on which requests are answered in time.
const QUIET_LIMIT: Duration = Duration::from_secs(120);
/// A disk whose fastest answer is faster than this is served by no machine, however quiet: one and
/// a half times the least that a request was seen to take.
const QUIET_FASTEST_NS: u64 = 33_000;
/// So often it looks.
const QUIET_EVERY: Duration = Duration::from_secs(2);
/// Of what ends by itself.
const END_LIMIT: Duration = Duration::from_secs(30);
/// So often it is asked whether to stop.
const STOP_EVERY: Duration = Duration::from_millis(100);

/// Why there is nothing to judge.
#[derive(Debug, thiserror::Error)]
pub enum NativeCrashError {
    #[error(transparent)]
    Disk(#[from] TargetError),
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
    #[error("the process that mounts: {0}")]
    Failed(String),
    #[error("the process that mounts has ended")]
    Ended,
    #[error("it did not end within {} s", .0.as_secs())]
    NotEnded(Duration),
    #[error("the write log: {0}")]
    Log(#[from] UnpackError),
    #[error("stopped")]
    Stopped,
}

fn io_of(what: &'static str) -> impl Fn(io::Error) -> NativeCrashError {
    move |source| NativeCrashError::Io { what, source }
}

/// A name for a loop device and the socket of its disk.
fn new_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("fsarena-crash-{}-{number}", std::process::id())
}

/// Carries out the work on a disk of this model; its log and its ops have the time of the disk.
pub(crate) fn work(
    work: CrashWork,
    model: &str,
    scratch_dir: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<(WorkRecord, WriteLog), NativeCrashError> {
    let scratch = Scratch::new(scratch_dir)?;
    let disk = logged_disk((model, work.size_bytes), work.seed, stop)?;
    let limit = Duration::from_nanos(work.duration_ns) + PREPARATION_LIMIT;
    let task = CrashTask::Work(CrashWork { target: Some(disk.target()?), ..work });
    let mut mounter = Mounter::start(&scratch.mnt)?;
    let text = mounter.carry_out(task, limit, stop)?;
    let mut work: WorkRecord =
        serde_json::from_str(&text).map_err(|error| NativeCrashError::Failed(error.to_string()))?;
    let file = scratch.dir.path().join("written");
    let began_ns = disk.log(&file)?.began_ns;
    // Otherwise the kernel would complain about a disk that goes away.
    mounter.unmount()?;
    drop((mounter, disk));
    work.begin_ns = work.begin_ns.saturating_sub(began_ns);
    work.end_ns = work.end_ns.saturating_sub(began_ns);
    for op in &mut work.ops {
        op.begin_ns = op.begin_ns.saturating_sub(began_ns);
        op.end_ns = op.end_ns.saturating_sub(began_ns);
    }
    Ok((work, read_log(&file)?))
}

/// The disk of a run. Where other work makes answers late, and they might be in time without it,
/// it is tried again for some time: what a campaign of hours has so far is not given up for one
/// busy moment.
fn logged_disk(
    (model, size_bytes): (&str, u64),
    seed: u64,
    stop: &dyn Fn() -> bool,
) -> Result<NativeDisk, NativeCrashError> {
    let began = Instant::now();
    loop {
        let error = match NativeDisk::logged((model, size_bytes), &new_name(), seed) {
            Ok(disk) => return Ok(disk),
            Err(error) => error,
        };
        let is_busy = matches!(error, TargetError::FasterThanNative { fastest_ns, .. }
            if fastest_ns >= QUIET_FASTEST_NS);
        if !is_busy || began.elapsed() >= QUIET_LIMIT {
            return Err(error.into());
        }
        let again = Instant::now() + QUIET_EVERY;
        while Instant::now() < again {
            if stop() {
                return Err(NativeCrashError::Stopped);
            }
            thread::sleep(STOP_EVERY);
        }
    }
}

/// How states are looked at.
#[derive(Clone, Copy, Debug)]
pub struct NativeCheck<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    /// Whether the check of the file system is run.
    pub has_fsck: bool,
    /// With all lines of the kernel and the text of the check.
    pub is_detailed: bool,
    /// For the write log and a place to mount.
    pub scratch_dir: &'a Path,
}

/// Looks at one state under the kernel of this machine, with all that kernel and check say.
///
/// # Errors
/// What is missing, or that the caller asked to stop.
pub fn inspect_state_natively(
    how: &NativeCheck<'_>,
    log: &WriteLog,
    (state, recovery): StateToServe<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Observation, NativeCrashError> {
    let one = ToCheck { state, recovery, is_logged: false, is_timed: true };
    let how = NativeCheck { is_detailed: true, ..*how };
    Ok(check(&how, (log, &[one]), stop)?.remove(0).seen)
}

/// What was seen in each state, in their order.
pub(crate) fn check(
    how: &NativeCheck<'_>,
    (log, states): (&WriteLog, &[ToCheck<'_>]),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<InspectedState>, NativeCrashError> {
    if states.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = Scratch::new(how.scratch_dir)?;
    let states_dir = scratch.dir.path().join("states");
    fs::create_dir(&states_dir).map_err(io_of("a directory for crash states"))?;
    let to_serve: Vec<StateToServe<'_>> =
        states.iter().map(|one| (one.state, one.recovery)).collect();
    let written = write_states(&states_dir, log, &to_serve);
    let _in_memory = written.map_err(io_of("crash states"))?;
    let inspections = StateInspections { how, scratch: &scratch, states_dir: &states_dir, states };
    // The time of a recovery is taken where nothing else is looked at.
    let (timed, others): (Vec<usize>, Vec<usize>) =
        (0..states.len()).partition(|number| states[*number].is_timed);
    let lanes = if is_side_by_side(&how.fs.name) { LANES.min(others.len()) } else { 1 };
    let mut all = inspections.at(&timed, 1, stop)?;
    let beside_others = inspections.at(&others, lanes, stop)?;
    // What was looked at at the same time is ruled out.
    let (doubtful, sure): (Vec<_>, Vec<_>) = beside_others
        .into_iter()
        .partition(|(_, one)| lanes > 1 && is_doubtful(&one.seen.mounts, one.seen.unmount_errno));
    let doubtful: Vec<usize> = doubtful.into_iter().map(|(number, _)| number).collect();
    all.extend(sure);
    all.extend(inspections.at(&doubtful, 1, stop)?);
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, checked)| checked).collect())
}

/// Looks at the states of a directory.
struct StateInspections<'c> {
    how: &'c NativeCheck<'c>,
    scratch: &'c Scratch,
    states_dir: &'c Path,
    states: &'c [ToCheck<'c>],
}

impl StateInspections<'_> {
    /// What was seen in those of these numbers, so many at one time, in any order.
    fn at(
        &self,
        numbers: &[usize],
        lanes: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<(usize, InspectedState)>, NativeCrashError> {
        let next = AtomicUsize::new(0);
        let lane = || {
            let states = (self.states_dir, lanes > 1);
            let dir = self.scratch.dir.path();
            let mut checker = NativeInspector { how: self.how, dir, states, pair: None };
            let mut seen = Vec::new();
            loop {
                let taken = numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                let Some(number) = taken else { return Ok(seen) };
                let place = u32::try_from(number).unwrap_or(u32::MAX);
                let one = &self.states[number];
                match checker.check(place, one.is_logged, stop) {
                    Ok(mut checked) => {
                        checked.seen.is_untimed = !one.is_timed;
                        seen.push((number, checked));
                    }
                    Err(error) => {
                        // The others do not begin another one.
                        next.store(numbers.len(), Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
        };
        let done: Vec<Result<Vec<(usize, InspectedState)>, NativeCrashError>> =
            thread::scope(|scope| {
                let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
                let ended = || NativeCrashError::Failed("a thread has panicked".to_owned());
                lanes.into_iter().map(|lane| lane.join().unwrap_or_else(|_| Err(ended()))).collect()
            });
        let mut all = Vec::with_capacity(numbers.len());
        for seen in done {
            all.extend(seen?);
        }
        Ok(all)
    }
}

/// A directory with an empty one on which is mounted.
struct Scratch {
    dir: tempfile::TempDir,
    mnt: PathBuf,
}

impl Scratch {
    fn new(within: &Path) -> Result<Self, NativeCrashError> {
        let what = "a directory for crash states";
        let dir = private::temp_dir(within, "fsarena-crash-").map_err(io_of(what))?;
        let mnt = dir.path().join("mnt");
        fs::create_dir(&mnt).map_err(io_of(what))?;
        Ok(Self { dir, mnt })
    }
}

/// The two processes of a lane.
struct Pair {
    mounter: Mounter,
    disk: NativeDisk,
    /// The same for all states: to look it up is to look at all devices of this machine.
    target: TargetSpec,
}

/// Looks at states. Its two processes are started when they are needed, and anew after one that
/// did not end.
struct NativeInspector<'c> {
    how: &'c NativeCheck<'c>,
    /// For what it mounts on, and logs.
    dir: &'c Path,
    /// Where the states are, and whether others are shown beside them.
    states: (&'c Path, bool),
    pair: Option<Pair>,
}

impl NativeInspector<'_> {
    fn check(
        &mut self,
        number: u32,
        is_logged: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<InspectedState, NativeCrashError> {
        let Pair { mut mounter, disk, target } = match self.pair.take() {
            Some(pair) => pair,
            None => self.start()?,
        };
        disk.show_state(number, is_logged)?;
        let task = CrashTask::Check(CrashCheck {
            fs: self.how.fs.clone(),
            size_bytes: self.how.disk.size_bytes,
            contents: vec![1],
            is_detailed: self.how.is_detailed,
            has_fsck: self.how.has_fsck,
            target: Some(target.clone()),
        });
        let text = match mounter.carry_out(task, STATE_LIMIT, stop) {
            Ok(text) => text,
            Err(error @ NativeCrashError::NotEnded(_)) => {
                // First the disk: whatever waits for it fails then.
                drop(disk);
                drop(mounter);
                return Ok(InspectedState { seen: not_ended(&error), log: None });
            }
            Err(error) => return Err(error),
        };
        let failed = |error: serde_json::Error| NativeCrashError::Failed(error.to_string());
        let mut seen: Observation = serde_json::from_str(&text).map_err(failed)?;
        let log = if is_logged {
            let file = self.dir.join(format!("recovered-{number}"));
            let began_ns = disk.log(&file)?.began_ns;
            for mount in &mut seen.mounts {
                mount.began_ns = mount.began_ns.saturating_sub(began_ns);
            }
            let log = read_log(&file)?;
            // The state may be looked at again.
            fs::remove_file(&file).map_err(io_of("the log of a recovery"))?;
            Some(log)
        } else {
            None
        };
        self.pair = Some(Pair { mounter, disk, target });
        Ok(InspectedState { seen, log })
    }

    fn start(&self) -> Result<Pair, NativeCrashError> {
        let model = (self.how.disk.model, self.how.disk.size_bytes);
        let name = new_name();
        let disk = NativeDisk::of_states(model, &name, self.states)?;
        let mnt = self.dir.join(name);
        fs::create_dir(&mnt).map_err(io_of("a directory to mount on"))?;
        Ok(Pair { mounter: Mounter::start(&mnt)?, target: disk.target()?, disk })
    }
}

/// What is seen in a state whose mount or check does not end.
fn not_ended(error: &NativeCrashError) -> Observation {
    let (step, errno) = (MountStep::ReadWrite, Some(Errno::TIMEDOUT.raw_os_error()));
    let mount = MountAttempt { step, errno, began_ns: 0, duration_ns: 0 };
    Observation {
        mounts: vec![mount],
        kernel_messages: vec![format!("its mount and check: {error}")],
        ..Observation::default()
    }
}

/// The process that mounts.
struct Mounter {
    partner: Partner,
    mnt: PathBuf,
}

impl Mounter {
    fn start(mnt: &Path) -> Result<Self, NativeCrashError> {
        let nowhere = File::options().write(true).open("/dev/null");
        let started = nowhere.and_then(|file| Partner::start(ARGUMENT, file.into()));
        let partner = started.map_err(io_of("the process that mounts"))?;
        Ok(Self { partner, mnt: mnt.to_owned() })
    }

    /// Does a task; gives its record.
    fn carry_out(
        &mut self,
        task: CrashTask,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<String, NativeCrashError> {
        let task = Box::new(task);
        self.ask(&NativeRequest::Do { mnt: self.mnt.clone(), task }, limit, stop)
    }

    fn unmount(&mut self) -> Result<(), NativeCrashError> {
        let request = NativeRequest::Unmount { mnt: self.mnt.clone() };
        self.ask(&request, PREPARATION_LIMIT, &|| false).map(drop)
    }

    fn ask(
        &mut self,
        request: &NativeRequest,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<String, NativeCrashError> {
        let failed = |error: serde_json::Error| NativeCrashError::Failed(error.to_string());
        let talk = io_of("the process that mounts");
        let line = serde_json::to_string(request).map_err(failed)?;
        self.partner.tell(&line).map_err(|_| NativeCrashError::Ended)?;
        let deadline = Instant::now() + limit;
        while !self.partner.is_answering(STOP_EVERY).map_err(&talk)? {
            if stop() {
                return Err(NativeCrashError::Stopped);
            }
            if Instant::now() > deadline {
                return Err(NativeCrashError::NotEnded(limit));
            }
        }
        let answer = self.partner.answer(END_LIMIT).map_err(&talk)?;
        if answer.is_empty() {
            return Err(NativeCrashError::Ended);
        }
        match serde_json::from_str(&answer).map_err(failed)? {
            NativeAnswer::Done(record) => Ok(record),
            NativeAnswer::Failed(error) => Err(NativeCrashError::Failed(error)),
        }
    }
}

impl Drop for Mounter {
    fn drop(&mut self) {
        self.partner.end(END_LIMIT);
    }
}
