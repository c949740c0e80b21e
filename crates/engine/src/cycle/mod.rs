//! A periodic application: cycles of updates, each on time or as the overrun says.
//!
//! What each cycle does is drawn before the clock runs (`choice`). A cycle is worked through at a
//! `desk` by a thread of its own; where cycles may overlap there are
//! [`MAX_AT_WORK`](fsarena_model::cycle::MAX_AT_WORK) desks. The
//! thread that runs the phase is the conductor (`conduct`): it starts cycles when the `pace`
//! says so, says laps, and hears what became of them; it makes no call on a file. A second load
//! (`disturb`) has a thread as well.
//!
//! A cycle is at work from its first clock read until it is durable. Its period is over when the
//! next cycle that is not left out begins; the last one's, when its time is up and all cycles are
//! durable. A second load that has not its amount by then is waited for after that.
//!
//! | file | what |
//! |---|---|
//! | `choice` | files and kinds of each cycle, by seed |
//! | `pace` | when which cycle starts |
//! | `messages` | what the threads tell each other |
//! | `desk` | one cycle between its clock reads |
//! | `conduct` | starts, laps and ends |
//! | `disturb` | the second load |

mod choice;
mod conduct;
mod desk;
mod disturb;
mod messages;
mod pace;

pub use choice::Update;

use crate::backend::Backend;
use crate::clock::{MAX_DRIFT, TickClock, monotonic_ns};
use crate::crew::{Latency, Sizes};
use crate::error::EngineError;
use crate::hist::Histogram;
use crate::job::Job;
use crate::names::{BesideNames, FileNames};
use crate::op::cycle::{CycleContext, Signs};
use crate::outcome::{not_started, sync_error};
use crate::resources::{close_own_descriptors, own_descriptors, sum_usage};
use crate::stamp::{Contents, Span};
use choice::Choice;
use conduct::{Conductor, Heed, Played};
use desk::Desk;
use disturb::Disturber;
use fsarena_model::cycle::{Cycle, CyclesReport, Lap};
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::work::{OpError, WorkerReport};
use messages::Heard;
use pace::Pace;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The cycles of a phase, ready to run.
#[derive(Debug)]
pub(crate) struct Cycles {
    cycle: Cycle,
    choice: Choice,
    /// Version that the dataset has before.
    newest_version: u16,
    desks: Vec<Desk>,
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
        let choice = Choice::draw(cycle, job.dataset.files, phase.order, &job.seed);
        let memory = |source| EngineError::Memory { bs_bytes: phase.bs_bytes, source };
        let end_bytes = sizes.draw.most().saturating_add(sizes.appended_bytes);
        let span = Span { end_bytes, call_bytes: phase.bs_bytes, aligned: true };
        let newest_version = job.state.newest_version;
        let contents = Contents::new(span, newest_version, &job.dataset_seed).map_err(memory)?;
        let beside = BesideNames::new(job.dataset)?;
        let most = cycle.overrun.most_at_work();
        let desk = |_| {
            let context = CycleContext {
                names: names.clone(),
                beside: beside.clone(),
                sizes: sizes.clone(),
                contents: contents.twin().map_err(memory)?,
                temporaries: Vec::with_capacity(choice.most_temporary()),
                bs_bytes: phase.bs_bytes,
                fsync: phase.io.fsync,
            };
            Ok(Desk {
                context,
                handicap: job.handicap,
                latency: clock.map(|clock| Latency { clock, all: Histogram::new(), writes: None }),
                disturbed: cycle.disturb.as_ref().and(clock).map(|_| Histogram::new()),
            })
        };
        let desks = (0..most.min(cycle.cycles)).map(desk).collect::<Result<_, EngineError>>()?;
        let disturber = cycle.disturb.as_ref().map(|disturb| Disturber::new(disturb.load, job));
        let disturber = disturber.transpose()?;
        Ok(Self { cycle: cycle.clone(), choice, newest_version, desks, disturber })
    }

    /// Runs all cycles and reports; `say` gets each lap when it has come.
    pub fn run<B: Backend + Sync>(
        &mut self,
        backend: &B,
        say: &mut dyn FnMut(Lap),
    ) -> WorkerReport {
        if let Some(disturber) = &mut self.disturber
            && let Err(error) = disturber.lay_out(backend)
        {
            return not_begun(Err(error));
        }
        if self.cycle.cycles == 0 {
            return not_begun(backend.sync().map_err(|errno| sync_error(0, errno)));
        }
        match self.play(backend, say) {
            Ok(played) => self.report(played),
            Err(source) => not_started(&source),
        }
    }

    /// Starts the threads, conducts and ends them.
    fn play<B: Backend + Sync>(
        &mut self,
        backend: &B,
        say: &mut dyn FnMut(Lap),
    ) -> Result<Played, std::io::Error> {
        let Self { cycle, choice, newest_version, desks, disturber } = self;
        let stopped = AtomicBool::new(false);
        let met: Box<[AtomicBool]> = desks.iter().map(|_| AtomicBool::new(false)).collect();
        let (choice, stopped, met) = (&*choice, &stopped, &*met);
        std::thread::scope(|scope| {
            let (said, heard) = channel();
            // Where a thread cannot be started, those before it end with their orders.
            let mut orders = Vec::with_capacity(desks.len());
            for (place, desk) in desks.iter_mut().enumerate() {
                let (order, received) = channel();
                let signs = Signs { stopped, met: &met[place] };
                let attend = move |said: &Sender<Heard>| {
                    desk.attend(place, (backend, signs), choice, (&received, said));
                };
                start(scope, &said, attend)?;
                orders.push(order);
            }
            let mut second_load = None;
            if let Some(disturber) = disturber {
                let (order, received) = channel();
                let attend = move |said: &Sender<Heard>| {
                    disturber.attend((backend, stopped), &received, said);
                };
                let thread = start(scope, &said, attend)?.thread().clone();
                second_load = Some((order, thread));
            }
            drop(said);
            let threads = orders.len() + usize::from(second_load.is_some());
            await_ready(threads, &heard);
            let pace = Pace {
                overrun: cycle.overrun,
                period_ns: cycle.period_ns,
                cycles: cycle.cycles,
                start_ns: 0,
                next: 1,
            };
            let heed = Heed { heard, stopped, met };
            Ok(Conductor::new(cycle, pace, *newest_version, (orders, second_load), heed).run(say))
        })
    }

    /// Words and model values, after the clock.
    fn report(&self, played: Played) -> WorkerReport {
        let Played { start_ns, mut cycles, skipped, usages, error } = played;
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
            usage: sum_usage(usages.into_iter()),
            latency,
            error,
            cycles: Some(CyclesReport { cycles, skipped }),
            ..WorkerReport::default()
        }
    }

    /// The histograms of all desks together: of the cycles that were not to be disturbed where
    /// there are some, as those are what is compared, else of all; missing where their clock left
    /// `CLOCK_MONOTONIC` behind. One that met the second load of another, which needs cycles that
    /// overlap, is among them.
    fn latency(&self, some_plain: bool) -> Option<LatencyHistogram> {
        let mut all = Histogram::new();
        for desk in &self.desks {
            let latency = desk.latency.as_ref()?;
            if latency.clock.drift() > MAX_DRIFT {
                return None;
            }
            all.merge(&latency.all);
            if let Some(disturbed) = desk.disturbed.as_ref().filter(|_| !some_plain) {
                all.merge(disturbed);
            }
        }
        Some(all.to_model())
    }
}

/// Starts a thread that says when it is ready, does `attend`, and says so where it dies of it.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    said: &Sender<Heard>,
    attend: impl FnOnce(&Sender<Heard>) + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, ()>, std::io::Error> {
    /// Says that its thread dies.
    struct LastWords(Sender<Heard>);

    impl Drop for LastWords {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let _ = self.0.send(Heard::Died);
            }
        }
    }

    let said = LastWords(said.clone());
    Builder::new().spawn_scoped(scope, move || {
        let own = own_descriptors();
        if said.0.send(Heard::Ready).is_ok() {
            attend(&said.0);
        }
        if own {
            close_own_descriptors();
        }
    })
}

/// Waits until so many threads are ready.
fn await_ready(threads: usize, heard: &Receiver<Heard>) {
    for _ in 0..threads {
        if !matches!(heard.recv(), Ok(Heard::Ready)) {
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
