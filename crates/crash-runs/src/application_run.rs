//! Crash safety of an application in guests: its work on a modelled disk whose writes are logged,
//! then its own check of states that a power cut may have left of it.
//!
//! As with the workloads of `crash_run`, no state sees what the check of another one has written.

use crate::crash_check::is_doubtful;
use crate::crash_run::{
    CrashRunError, inspect_states, limit_of_each, not_survived, only, run_task,
};
use crate::state_groups::{GroupCheck, InspectedStates, in_groups};
use fsarena_crash::application::{Application, ApplicationSeen, ApplicationWork};
use fsarena_crash::state::{Class, CrashPoints, CrashState, uniform, view};
use fsarena_disk_server::{DiskOrder, disk_of_states};
use fsarena_executor::crash::{ApplicationCheck, ApplicationTask, CrashTask};
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::FsLevel;
use fsarena_vdisk::{Discarded, Store, WriteLog};
use std::collections::HashMap;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ApplicationOrder<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    pub application: &'a Application,
    /// Of work, disk, guest and crash points.
    pub seed: u64,
    /// Of the work, in virtual time.
    pub seconds: u64,
    /// Crash points, and their classes in turns.
    pub points: u32,
    pub classes: Vec<Class>,
    /// Guests that check states at one time.
    pub guests_at_once: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct ApplicationRun {
    pub work: ApplicationWork,
    /// Each with the place of what was seen in it: states with equal contents, and as much that was
    /// acknowledged, have one.
    states: Vec<(CrashState, usize)>,
    seen: Vec<ApplicationSeen>,
}

impl ApplicationRun {
    /// The states, each with what was seen in it; none where the work has a fault.
    pub fn observed(&self) -> impl Iterator<Item = (&CrashState, &ApplicationSeen)> {
        self.states.iter().map(|(state, place)| (state, &self.seen[*place]))
    }
}

/// Works, looks at the uncrashed state, and, where all is well there, cuts the power and checks.
///
/// # Errors
/// When a guest has no record.
pub fn application_run(
    order: &ApplicationOrder<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<ApplicationRun, CrashRunError> {
    let mut disk = order.disk.make_logged(order.seed, WriteLog::in_memory())?;
    let task = CrashTask::ApplicationWork(ApplicationTask {
        fs: order.fs.clone(),
        size_bytes: order.disk.size_bytes,
        application: order.application.clone(),
        seed: order.seed,
        seconds: order.seconds,
    });
    let text = run_task(&order.options(), order.program, &task, &mut [&mut disk], stop)?;
    let work: ApplicationWork = serde_json::from_str(&text)?;
    if work.fault.is_some() {
        return Ok(ApplicationRun { work, states: Vec::new(), seen: Vec::new() });
    }
    let (_, log) = disk.into_contents();
    let log = log.unwrap_or_else(WriteLog::in_memory);
    let points = CrashPoints {
        from_ns: work.begin_ns,
        to_ns: work.end_ns,
        points: order.points,
        seed: order.seed,
        classes: order.classes.clone(),
    };
    let base = Store::in_memory(order.disk.size_bytes, Discarded::Zeros);
    let mut place_of: HashMap<(u64, usize), usize> = HashMap::new();
    let (mut different, mut places) = (Vec::new(), Vec::new());
    let states = uniform(&log, &points);
    for state in &states {
        let key = (state.contents, work.acknowledged_at(state.at_ns));
        places.push(*place_of.entry(key).or_insert_with(|| {
            different.push(state.clone());
            different.len() - 1
        }));
    }
    let checker = ApplicationInspector { order, work: &work, base: &base, log: &log, stop };
    let seen = in_groups(&different, order.guests_at_once, &|states| checker.check_group(states))?;
    let states = states.into_iter().zip(places).collect();
    Ok(ApplicationRun { work, states, seen })
}

impl ApplicationOrder<'_> {
    fn options(&self) -> GuestOptions {
        GuestOptions { seed: self.seed, ..self.options.clone() }
    }
}

/// Checks states of one run.
struct ApplicationInspector<'a> {
    order: &'a ApplicationOrder<'a>,
    work: &'a ApplicationWork,
    /// The contents before the log.
    base: &'a Store,
    log: &'a WriteLog,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl ApplicationInspector<'_> {
    /// A check of a group, and in a guest of its own of each state that breaks one, or could not be
    /// mounted or unmounted.
    fn check_group(&self, states: &[CrashState]) -> Result<Vec<ApplicationSeen>, CrashRunError> {
        let check = GroupCheck {
            together: &|states: &[CrashState]| self.check(states),
            alone: &|state| self.check_one(state),
            is_doubtful: &|seen: &ApplicationSeen| is_doubtful(&seen.mounts, seen.unmount_errno),
            is_other: &|error: &CrashRunError| error.is_of_no_state(),
        };
        check.run(states)
    }

    /// A check of one state. A guest that does not survive it is what was seen.
    fn check_one(&self, state: &CrashState) -> Result<ApplicationSeen, CrashRunError> {
        only(self.check(std::slice::from_ref(state)), |error| {
            let (mounts, kernel_messages) = not_survived(error);
            ApplicationSeen { mounts, kernel_messages, ..ApplicationSeen::default() }
        })
    }

    fn check(&self, states: &[CrashState]) -> InspectedStates<ApplicationSeen, CrashRunError> {
        let order = self.order;
        let counts = states.iter().map(|state| self.work.acknowledged_at(state.at_ns));
        let counts: Vec<usize> = counts.collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let lines = self.work.acknowledged[..most].iter().map(|unit| unit.line.clone());
        let task = CrashTask::ApplicationCheck(ApplicationCheck {
            fs: order.fs.clone(),
            size_bytes: order.disk.size_bytes,
            application: order.application.clone(),
            seed: order.seed,
            seconds: order.seconds,
            lines: lines.collect(),
            acknowledged: counts.iter().map(|count| u32::try_from(*count).unwrap_or(0)).collect(),
        });
        let Some((first, later)) = states.split_first() else {
            return InspectedStates { seen: Vec::new(), end: Ok(()) };
        };
        let (base, log) = (self.base, self.log);
        let later = later.iter().map(|state| Ok(view(base, log, state)));
        let mut disk = disk_of_states(view(base, log, first), Box::new(later), (base, log));
        // A check that spins takes no virtual time, and is ended by the host.
        let check_limit = Duration::from_secs(order.application.check_limit_s);
        let limit = limit_of_each(order.options, states.len()) + check_limit;
        let options = GuestOptions { limit, clears_memory: false, ..order.options() };
        inspect_states(&options, order.program, &task, &mut [&mut *disk], self.stop)
    }
}
