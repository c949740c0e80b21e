//! A periodic application: cycles of updates, each on time or as its overrun policy decides.
//!
//! What each cycle does is drawn before the clock runs (`updates`). Each cycle is run by a `worker`
//! with a thread of its own; where cycles may overlap there are
//! [`MAX_AT_WORK`](fsarena_model::cycle::MAX_AT_WORK) workers. The thread that runs the phase is
//! the `scheduler`: it starts cycles by the `schedule`, reports their events and collects their
//! results; it makes no call on a file. A second load (`disturb`) has a thread as well.
//!
//! A cycle runs from its first clock read until it is durable. Its period is over when the next
//! cycle that is not skipped begins; the last one's, when its time is up and all cycles are
//! durable. A second load that has not done its amount by then is waited for after that.
//!
//! | file | what |
//! |---|---|
//! | `updates` | files and kinds of each cycle, by seed |
//! | `schedule` | when each cycle starts |
//! | `worker` | one cycle between its clock reads |
//! | `scheduler` | starts, events and ends; what the threads tell each other |
//! | `disturb` | the second load |

mod disturb;
mod schedule;
mod scheduler;
mod updates;
mod worker;

pub use updates::Update;

use crate::Job;
use crate::backend::Backend;
use crate::clock::{MAX_DRIFT, TickClock, monotonic_ns};
use crate::error::EngineError;
use crate::hist::Histogram;
use crate::names::{FileNames, SiblingNames};
use crate::op::cycle::{CycleContext, CycleEnv};
use crate::outcome::{not_started, sync_error};
use crate::resources::{close_own_descriptors, own_descriptors};
use crate::stamp::{Contents, Span};
use crate::threads::{Latency, Sizes};
use disturb::Disturber;
use fsarena_model::cycle::{Cycle, CycleEvent, CyclesReport};
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::work::{OpError, WorkerReport};
use schedule::CycleSchedule;
use scheduler::{CycleResults, CycleScheduler, Shared, ThreadEvent};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use updates::CycleUpdates;
use worker::CycleWorker;

/// The cycles of a phase, ready to run.
#[derive(Debug)]
pub(crate) struct Cycles {
    cycle: Cycle,
    updates: CycleUpdates,
    /// Version that the dataset has before.
    newest_version: u16,
    workers: Vec<CycleWorker>,
    disturber: Option<Disturber>,
}

impl Cycles {
    /// Prepares the cycles of `job` over the files that `names` and `sizes` describe, which
    /// [`crate::check`] has found to be legal: touches no file.
    ///
    /// # Errors
    /// When names do not fit or there is no memory.
    pub fn new(
        job: &Job<'_>,
        cycle: &Cycle,
        (names, sizes, clock): (&FileNames, &Sizes, Option<TickClock>),
    ) -> Result<Self, EngineError> {
        let phase = job.phase;
        let updates = CycleUpdates::draw(cycle, job.dataset.files, phase.order, &job.seed);
        let memory = |source| EngineError::Memory { bs_bytes: phase.bs_bytes, source };
        let end_bytes = sizes.largest_bytes();
        let span = Span { end_bytes, call_bytes: phase.bs_bytes, aligned: true };
        let newest_version = job.state.newest_version;
        let contents = Contents::new(span, newest_version, &job.dataset_seed).map_err(memory)?;
        let sibling = SiblingNames::new(job.dataset)?;
        let most = cycle.overrun.most_at_work();
        let worker = |_| {
            let context = CycleContext {
                names: names.clone(),
                sibling: sibling.clone(),
                sizes: sizes.clone(),
                contents: contents.try_clone().map_err(memory)?,
                temporaries: Vec::with_capacity(updates.most_temporary()),
                bs_bytes: phase.bs_bytes,
                fsync: phase.io.fsync,
            };
            Ok(CycleWorker {
                context,
                delay: job.delay,
                latency: clock.map(|clock| Latency {
                    clock,
                    all: Histogram::new(),
                    writes: None,
                    series: None,
                }),
                disturbed: cycle.disturb.as_ref().and(clock).map(|_| Histogram::new()),
            })
        };
        let workers =
            (0..most.min(cycle.cycles)).map(worker).collect::<Result<_, EngineError>>()?;
        let disturber = cycle.disturb.as_ref().map(|disturb| Disturber::new(disturb.load, job));
        let disturber = disturber.transpose()?;
        Ok(Self { cycle: cycle.clone(), updates, newest_version, workers, disturber })
    }

    /// Runs all cycles and reports; `on_event` gets each event when it comes.
    pub fn run<B: Backend + Sync>(
        &mut self,
        backend: &B,
        on_event: &mut dyn FnMut(CycleEvent),
    ) -> WorkerReport {
        if let Some(disturber) = &mut self.disturber
            && let Err(error) = disturber.create_files(backend)
        {
            return not_begun(Err(error));
        }
        if self.cycle.cycles == 0 {
            return not_begun(backend.sync().map_err(|errno| sync_error(0, errno)));
        }
        match self.run_threads(backend, on_event) {
            Ok(results) => self.report(results),
            Err(source) => not_started(&source),
        }
    }

    /// Starts the threads, runs the schedule and ends them.
    fn run_threads<B: Backend + Sync>(
        &mut self,
        backend: &B,
        on_event: &mut dyn FnMut(CycleEvent),
    ) -> Result<CycleResults, std::io::Error> {
        let Self { cycle, updates, newest_version, workers, disturber } = self;
        let stopped = AtomicBool::new(false);
        let overlapped: Box<[AtomicBool]> =
            workers.iter().map(|_| AtomicBool::new(false)).collect();
        let (updates, stopped, overlapped) = (&*updates, &stopped, &*overlapped);
        std::thread::scope(|scope| {
            let (events_to, events) = channel();
            // Where a thread cannot be started, those before it end with their channels of orders.
            let mut orders = Vec::with_capacity(workers.len());
            for (index, worker) in workers.iter_mut().enumerate() {
                let (order, received) = channel();
                let env = CycleEnv { backend, stopped, overlapped: &overlapped[index] };
                let run = move |events_to: &Sender<ThreadEvent>| {
                    worker.run(index, env, updates, &received, events_to);
                };
                start(scope, &events_to, run)?;
                orders.push(order);
            }
            let mut second_load = None;
            if let Some(disturber) = disturber {
                let (order, received) = channel();
                let run = move |events_to: &Sender<ThreadEvent>| {
                    disturber.run(backend, stopped, &received, events_to);
                };
                let thread = start(scope, &events_to, run)?.thread().clone();
                second_load = Some((order, thread));
            }
            drop(events_to);
            let threads = orders.len() + usize::from(second_load.is_some());
            wait_until_ready(threads, &events);
            let schedule = CycleSchedule {
                overrun: cycle.overrun,
                period_ns: cycle.period_ns,
                cycles: cycle.cycles,
                start_ns: 0,
                next: 1,
            };
            let shared = Shared { events, stopped, overlapped };
            Ok(CycleScheduler::new(cycle, schedule, *newest_version, (orders, second_load), shared)
                .run(on_event))
        })
    }

    /// Words and model values, after the clock.
    fn report(&self, results: CycleResults) -> WorkerReport {
        let CycleResults { start_ns, mut cycles, skipped, usages, error } = results;
        let some_plain = cycles.iter().any(|cycle| !self.cycle.is_disturbed(cycle.number));
        let latency = self.latency(some_plain);
        if latency.is_none() {
            // The clock of the ops measured nothing.
            for cycle in &mut cycles {
                (cycle.worst_ns, cycle.worst_kind) = (0, None);
            }
        }
        let last = |ns: Option<u64>| ns.map_or(start_ns, |ns| start_ns.saturating_add(ns));
        let returned_ns = cycles.iter().map(|cycle| cycle.returned_ns).max();
        // `None` is less than any time.
        let all_durable = cycles.iter().map(|cycle| cycle.durable_ns).min().flatten().is_some();
        let durable_ns = cycles.iter().filter_map(|cycle| cycle.durable_ns).max();
        WorkerReport {
            start_monotonic_ns: start_ns,
            returned_monotonic_ns: last(returned_ns),
            durable_monotonic_ns: all_durable.then(|| last(durable_ns)),
            ops: cycles.iter().map(|cycle| cycle.ops).sum(),
            asked_bytes: cycles.iter().map(|cycle| cycle.asked_bytes).sum(),
            usage: usages.into_iter().sum(),
            latency,
            error,
            cycles: Some(CyclesReport { cycles, skipped }),
            ..WorkerReport::default()
        }
    }

    /// The histograms of all workers together: of the cycles that were not to be disturbed where
    /// there are some, as those are what is compared, else of all; missing where their clock left
    /// `CLOCK_MONOTONIC` behind. One that overlapped the second load of another, which needs cycles
    /// that overlap, is among them.
    fn latency(&self, some_plain: bool) -> Option<LatencyHistogram> {
        let mut all = Histogram::new();
        for worker in &self.workers {
            let latency = worker.latency.as_ref()?;
            if latency.clock.drift() > MAX_DRIFT {
                return None;
            }
            all.merge(&latency.all);
            if let Some(disturbed) = worker.disturbed.as_ref().filter(|_| !some_plain) {
                all.merge(disturbed);
            }
        }
        Some(all.to_model())
    }
}

/// Starts a thread that sends an event when it is ready, does `run`, and sends one where it panics.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    events_to: &Sender<ThreadEvent>,
    run: impl FnOnce(&Sender<ThreadEvent>) + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, ()>, std::io::Error> {
    /// Sends an event when its thread panics.
    struct PanicGuard(Sender<ThreadEvent>);

    impl Drop for PanicGuard {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let _ = self.0.send(ThreadEvent::Died);
            }
        }
    }

    let events_to = PanicGuard(events_to.clone());
    Builder::new().spawn_scoped(scope, move || {
        let own = own_descriptors();
        if events_to.0.send(ThreadEvent::Ready).is_ok() {
            run(&events_to.0);
        }
        if own {
            close_own_descriptors();
        }
    })
}

/// Waits until so many threads are ready.
fn wait_until_ready(threads: usize, events: &Receiver<ThreadEvent>) {
    for _ in 0..threads {
        if !matches!(events.recv(), Ok(ThreadEvent::Ready)) {
            return;
        }
    }
}

/// The report of a phase that did not come to its first cycle, or that had none.
fn not_begun(made: Result<(), OpError>) -> WorkerReport {
    let now_ns = monotonic_ns();
    WorkerReport {
        start_monotonic_ns: now_ns,
        returned_monotonic_ns: now_ns,
        durable_monotonic_ns: made.is_ok().then_some(now_ns),
        error: made.err(),
        cycles: Some(CyclesReport::default()),
        ..WorkerReport::default()
    }
}
