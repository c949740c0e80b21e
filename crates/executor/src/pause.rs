//! Whether the worker of a phase stood still: a signal stopped it (SIGSTOP, a shell's Ctrl-Z, a
//! debugger), or all of this machine's processes that belong together did (a container that was
//! paused, a virtual machine).
//!
//! A thread of whoever started the worker, which is the executor or the process that speaks for a
//! rank on its host, looks ten times a second, at the states of the worker and of the
//! programs that it started, in /proc: nothing is added between two clock reads, and no kind of
//! phase is left out. What a look costs is tens of microseconds. A look that comes late by
//! [`GAP_NS`] is a pause where the worker used next to no processor time meanwhile: on a busy
//! machine the thread may wait as long, and the worker goes on.

use crate::error::StepError;
use fsarena_metrics::monotonic_ns;
use fsarena_model::units::Nanos;
use fsarena_model::work::Pauses;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;

/// Between two looks.
const PERIOD_NS: u64 = 100_000_000;
/// A look that is late by so much saw nothing for as long.
const GAP_NS: u64 = 1_000_000_000;
/// Of a gap, one part in so many is processor time of a worker that stood still, at most.
const CPU_PART: u64 = 100;
/// Programs that are started by programs, so deep.
const DEPTH_MAX: u32 = 8;

/// Refuses a phase in which `worker` stood still.
///
/// # Errors
/// With how long.
pub(crate) fn refuse(pauses: Pauses, phase: &str, worker: &str) -> Result<(), StepError> {
    let (ns, what, remedy) = match pauses {
        Pauses { stopped_ns: 0, gap_ns: 0 } => return Ok(()),
        Pauses { stopped_ns, gap_ns } if stopped_ns >= gap_ns => (
            stopped_ns,
            "a signal had stopped it",
            "let no program stop it (kill -STOP, a debugger, a job control of its own)",
        ),
        Pauses { gap_ns, .. } => (
            gap_ns,
            "nothing ran on its machine for as long",
            "let nothing pause the machine or its container (docker pause, a snapshot of the \
             virtual machine)",
        ),
    };
    Err(StepError::OfMachine {
        error: format!("phase {phase}: {worker} stood still for about {}: {what}", Nanos(ns)),
        remedy: Some(remedy.to_owned()),
    })
}

/// Takes a look that came `elapsed_ns` after the last one.
fn add(pauses: &mut Pauses, elapsed_ns: u64, before: Seen, now: Seen) {
    let late_ns = elapsed_ns.saturating_sub(PERIOD_NS);
    let used_ns = now.cpu_ns.saturating_sub(before.cpu_ns);
    if now.is_stopped {
        pauses.stopped_ns = pauses.stopped_ns.saturating_add(elapsed_ns);
    } else if late_ns >= GAP_NS && used_ns <= elapsed_ns / CPU_PART {
        pauses.gap_ns = pauses.gap_ns.saturating_add(late_ns);
    }
}

/// What was seen of the workers and all that they started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    is_stopped: bool,
    cpu_ns: u64,
}

/// Looks until it is stopped.
pub(crate) struct PauseWatch {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<Pauses>>,
}

impl PauseWatch {
    /// Watches `pids`, as `proc` shows them.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(crate) fn start(proc: &Path, pids: Vec<u32>) -> io::Result<Self> {
        let done = Arc::new(AtomicBool::new(false));
        let (seen, proc) = (Arc::clone(&done), proc.to_owned());
        let thread = Builder::new()
            .name("fsarena-pauses".to_owned())
            .spawn(move || watch(&proc, &pids, &seen))?;
        Ok(Self { done, thread: Some(thread) })
    }

    /// What there was.
    pub(crate) fn stop(mut self) -> Pauses {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Pauses> {
        let thread = self.thread.take()?;
        self.done.store(true, Ordering::Release);
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for PauseWatch {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread's whole life.
fn watch(proc: &Path, pids: &[u32], done: &AtomicBool) -> Pauses {
    let mut pauses = Pauses::default();
    let (mut at_ns, mut before) = (monotonic_ns(), observe(proc, pids));
    while !done.load(Ordering::Acquire) {
        let left_ns = at_ns.saturating_add(PERIOD_NS).saturating_sub(monotonic_ns());
        if left_ns > 0 {
            // It may come back early.
            park_timeout(Duration::from_nanos(left_ns));
            continue;
        }
        let now = observe(proc, pids);
        let now_ns = monotonic_ns();
        add(&mut pauses, now_ns.saturating_sub(at_ns), before, now);
        (at_ns, before) = (now_ns, now);
    }
    pauses
}

fn observe(proc: &Path, pids: &[u32]) -> Seen {
    let mut all = Seen::default();
    for &pid in pids {
        observe_process(&proc.join(pid.to_string()), proc, (pid, DEPTH_MAX), &mut all);
    }
    all
}

/// A process that has ended meanwhile is not there.
fn observe_process(dir: &Path, proc: &Path, (pid, depth): (u32, u32), all: &mut Seen) {
    let Some((state, cpu_ns)) = read(dir.join("stat")) else { return };
    all.is_stopped |= matches!(state, 'T' | 't');
    all.cpu_ns = all.cpu_ns.saturating_add(cpu_ns);
    if depth == 0 {
        return;
    }
    let children = dir.join(format!("task/{pid}/children"));
    let children = std::fs::read_to_string(children).unwrap_or_default();
    for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
        observe_process(&proc.join(u32::to_string(&child)), proc, (child, depth - 1), all);
    }
}

/// State and processor time, ns, of `/proc/PID/stat`.
fn read(stat: PathBuf) -> Option<(char, u64)> {
    let text = std::fs::read_to_string(stat).ok()?;
    // The name may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let mut ticks = fields.skip(10).map(|field| field.parse::<u64>().ok());
    let (user, system) = (ticks.next()??, ticks.next()??);
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Some((state, user.saturating_add(system).saturating_mul(tick_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::Command;

    const SECOND_NS: u64 = 1_000_000_000;

    /// How long the phase is said to have stood still.
    fn stood_still(pauses: Pauses) -> Option<String> {
        match refuse(pauses, "create", "the worker") {
            Ok(()) => None,
            Err(StepError::OfMachine { error, .. }) => Some(error),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_stopped_program_of_a_worker_stands_still() {
        let _turn = crate::worker::alone();
        let mut worker = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let watch = PauseWatch::start(Path::new("/proc"), vec![worker.id()]).unwrap();
        let children = format!("/proc/{0}/task/{0}/children", worker.id());
        let child = loop {
            let text = std::fs::read_to_string(&children).unwrap();
            if let Some(child) = text.split_whitespace().next() {
                break Pid::from_raw(child.parse().unwrap()).unwrap();
            }
        };
        kill_process(child, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_millis(1_500));
        kill_process(child, Signal::CONT).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let pauses = watch.stop();
        kill_process(child, Signal::KILL).unwrap();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert!((SECOND_NS..3 * SECOND_NS).contains(&pauses.stopped_ns), "{pauses:?}");
        let text = stood_still(pauses).unwrap();
        assert!(text.starts_with("phase create: the worker stood still for about 1."), "{text}");
        assert!(text.ends_with(" s: a signal had stopped it"), "{text}");
    }

    #[test]
    fn a_worker_that_works_or_waits_does_not_stand_still() {
        let _turn = crate::worker::alone();
        let mut worker = Command::new("sleep").arg("60").spawn().unwrap();
        let watch = PauseWatch::start(Path::new("/proc"), vec![worker.id(), u32::MAX]).unwrap();
        std::thread::sleep(Duration::from_millis(350));
        let pauses = watch.stop();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert_eq!(pauses, Pauses::default());
    }

    #[test]
    fn a_late_look_is_a_pause_where_the_worker_did_nothing() {
        let at = |cpu_ns| Seen { is_stopped: false, cpu_ns };
        let seen = |elapsed_ns, used_ns| {
            let mut pauses = Pauses::default();
            add(&mut pauses, elapsed_ns, at(5), at(5 + used_ns));
            stood_still(pauses)
        };
        assert_eq!(seen(SECOND_NS, 0), None, "late by 0.9 s");
        assert_eq!(seen(10 * SECOND_NS, 5 * SECOND_NS), None, "the machine is busy");
        let paused = seen(10 * SECOND_NS + PERIOD_NS, 10_000_000).unwrap();
        assert!(
            paused.ends_with("for about 10.0 s: nothing ran on its machine for as long"),
            "{paused}"
        );
    }
}
