//! The scheduler: starts cycles, reports their events and collects what they send.

use super::schedule::{CycleSchedule, Step};
use crate::clock::monotonic_ns;
use fsarena_model::cycle::{Cycle, CycleEvent, CycleMoment, CycleReport, DisturbReport};
use fsarena_model::work::{OpError, WorkerUsage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::Thread;
use std::time::Duration;

/// A cycle that is to begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct CycleOrder {
    pub number: u32,
    /// When it was due, and the first clock read of the phase, `CLOCK_MONOTONIC`.
    pub due_ns: u64,
    pub start_ns: u64,
    /// Version of what it writes.
    pub version: u16,
    /// Other cycles that run now.
    pub concurrent: u32,
    /// Whether the second load runs at the same time.
    pub is_disturbed: bool,
}

/// A cycle that has ended.
#[derive(Debug)]
pub(super) struct EndedCycle {
    pub report: CycleReport,
    pub usage: WorkerUsage,
    /// Why it ended early.
    pub error: Option<OpError>,
}

/// A disturbance that is to begin.
#[derive(Debug)]
pub(super) struct DisturbOrder {
    /// Number of its cycle.
    pub number: u32,
    /// First clock read of the phase.
    pub start_ns: u64,
    /// Set when its cycle is durable.
    pub cycle_ended: Arc<AtomicBool>,
}

/// What a thread sends to the scheduler.
#[derive(Debug)]
pub(super) enum ThreadEvent {
    /// It waits for orders.
    Ready,
    /// The cycle of this worker has ended.
    EndedCycle(usize, Box<EndedCycle>),
    /// The disturbance of this cycle has ended.
    Disturbed(u32, Box<DisturbReport>),
    Died,
}

/// What the scheduler shares with the threads.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub events: Receiver<ThreadEvent>,
    /// All end at their next op.
    pub stopped: &'a AtomicBool,
    /// For each worker, whether another cycle ran at the same time as its own.
    pub overlapped: &'a [AtomicBool],
}

/// The channel to the second load, and its thread.
type SecondLoad = Option<(Sender<DisturbOrder>, Thread)>;

/// The results of all cycles.
#[derive(Debug)]
pub(super) struct CycleResults {
    /// First clock read of the phase.
    pub start_ns: u64,
    /// In the order of their numbers.
    pub cycles: Vec<CycleReport>,
    pub skipped: Vec<u32>,
    pub usages: Vec<WorkerUsage>,
    /// The first failure.
    pub error: Option<OpError>,
}

/// Schedules the cycles of a phase.
#[derive(Debug)]
pub(super) struct CycleScheduler<'a> {
    cycle: &'a Cycle,
    schedule: CycleSchedule,
    newest_version: u16,
    /// The channel to each worker.
    workers: Vec<Sender<CycleOrder>>,
    /// Number of the cycle that each worker runs.
    running: Vec<Option<u32>>,
    second_load: SecondLoad,
    /// Cycles whose disturbance has not ended, and the flag that their cycle has ended.
    disturbed: Vec<(u32, Arc<AtomicBool>)>,
    /// Disturbances that have ended.
    disturbances: Vec<(u32, DisturbReport)>,
    shared: Shared<'a>,
    /// The cycle that began last.
    last: Option<u32>,
    /// When the failure that is kept happened, ns since the start.
    failed_ns: u64,
    results: CycleResults,
}

impl<'a> CycleScheduler<'a> {
    /// A scheduler of threads that are all ready.
    pub fn new(
        cycle: &'a Cycle,
        schedule: CycleSchedule,
        newest_version: u16,
        (workers, second_load): (Vec<Sender<CycleOrder>>, SecondLoad),
        shared: Shared<'a>,
    ) -> Self {
        let room = cycle.cycles as usize;
        let results = CycleResults {
            start_ns: 0,
            cycles: Vec::with_capacity(room),
            skipped: Vec::new(),
            usages: Vec::with_capacity(room),
            error: None,
        };
        Self {
            cycle,
            schedule,
            newest_version,
            running: vec![None; workers.len()],
            workers,
            second_load,
            disturbed: Vec::new(),
            disturbances: Vec::new(),
            shared,
            last: None,
            failed_ns: 0,
            results,
        }
    }

    /// Runs from the first start to the end of the last period, or of what began in it.
    pub fn run(mut self, on_event: &mut dyn FnMut(CycleEvent)) -> CycleResults {
        loop {
            if self.has_stopped() {
                // Known before the event of the failure comes.
                self.schedule.stop();
            }
            let running = self.running.iter().flatten().count() as u32;
            match self.schedule.step(monotonic_ns(), running) {
                Step::Begin(number) => self.begin(number, running, on_event),
                Step::Skip(number) => self.results.skipped.push(number),
                Step::Wait(until_ns) => match self.next_event(until_ns) {
                    Ok(event) => self.handle(event, on_event),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                },
                Step::End => {
                    self.end_last_period(on_event);
                    if self.disturbed.is_empty() {
                        break;
                    }
                    // A second load has its amount, which is beyond the last period.
                    match self.shared.events.recv() {
                        Ok(event) => self.handle(event, on_event),
                        Err(_) => break,
                    }
                }
            }
        }
        self.results.cycles.sort_by_key(|cycle| cycle.number);
        for (number, report) in self.disturbances {
            let mut of = self.results.cycles.iter_mut();
            if let Some(cycle) = of.find(|cycle| cycle.number == number) {
                cycle.disturb = Some(report);
            }
        }
        self.results
    }

    /// Reports once that the last period is over, unless something failed in it.
    fn end_last_period(&mut self, on_event: &mut dyn FnMut(CycleEvent)) {
        if !self.has_stopped()
            && let Some(number) = self.last.take()
        {
            on_event(CycleEvent {
                number,
                at: CycleMoment::PeriodOver,
                monotonic_ns: monotonic_ns(),
            });
        }
    }

    /// Starts a cycle with a free worker.
    fn begin(&mut self, number: u32, concurrent: u32, on_event: &mut dyn FnMut(CycleEvent)) {
        let Some(index) = self.running.iter().position(Option::is_none) else { return };
        if let Some(last) = self.last.replace(number) {
            on_event(CycleEvent {
                number: last,
                at: CycleMoment::PeriodOver,
                monotonic_ns: monotonic_ns(),
            });
        }
        on_event(CycleEvent { number, at: CycleMoment::Started, monotonic_ns: monotonic_ns() });
        self.shared.overlapped[index].store(concurrent > 0, Ordering::SeqCst);
        for (overlapped, _) in
            self.shared.overlapped.iter().zip(&self.running).filter(|(_, at)| at.is_some())
        {
            overlapped.store(true, Ordering::SeqCst);
        }
        self.running[index] = Some(number);
        if number == 1 {
            self.schedule.start_ns = monotonic_ns();
            self.results.start_ns = self.schedule.start_ns;
        }
        let start_ns = self.schedule.start_ns;
        #[expect(clippy::cast_possible_truncation, reason = "checked first")]
        let version = self.newest_version.saturating_add(number as u16);
        let due_ns = self.schedule.due_ns(number);
        // A worker that has died sends an event itself.
        let is_disturbed = self.cycle.is_disturbed(number);
        let order = CycleOrder { number, due_ns, start_ns, version, concurrent, is_disturbed };
        let _ = self.workers[index].send(order);
        if let Some((orders, _)) = self.second_load.as_ref().filter(|_| is_disturbed) {
            let cycle_ended = Arc::new(AtomicBool::new(false));
            self.disturbed.push((number, Arc::clone(&cycle_ended)));
            let _ = orders.send(DisturbOrder { number, start_ns, cycle_ended });
        }
    }

    /// Waits for an event until `until_ns`.
    fn next_event(&self, until_ns: Option<u64>) -> Result<ThreadEvent, RecvTimeoutError> {
        let Some(until_ns) = until_ns else {
            return self.shared.events.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let left_ns = until_ns.saturating_sub(monotonic_ns());
        self.shared.events.recv_timeout(Duration::from_nanos(left_ns))
    }

    fn handle(&mut self, event: ThreadEvent, on_event: &mut dyn FnMut(CycleEvent)) {
        match event {
            ThreadEvent::Ready => {}
            ThreadEvent::EndedCycle(index, ended) => {
                let EndedCycle { report, usage, error } = *ended;
                self.running[index] = None;
                if let Some(durable_ns) = report.durable_ns {
                    let monotonic_ns = self.schedule.start_ns.saturating_add(durable_ns);
                    on_event(CycleEvent {
                        number: report.number,
                        at: CycleMoment::Durable,
                        monotonic_ns,
                    });
                }
                if let Some((_, ended)) = self.disturbed.iter().find(|one| one.0 == report.number) {
                    ended.store(true, Ordering::SeqCst);
                    self.wake_second_load();
                }
                self.failed(error, report.returned_ns);
                self.results.usages.push(usage);
                self.results.cycles.push(report);
            }
            ThreadEvent::Disturbed(number, report) => {
                self.disturbed.retain(|one| one.0 != number);
                self.failed(report.error.clone(), report.done_ns);
                self.disturbances.push((number, *report));
            }
            ThreadEvent::Died => {
                // The scope passes the panic on when all others have ended.
                self.stop();
                self.disturbed.clear();
                self.running.fill(None);
            }
        }
    }

    /// Ends the phase where `error` is one; of several the first counts.
    fn failed(&mut self, error: Option<OpError>, at_ns: u64) {
        let Some(error) = error else { return };
        if self.results.error.is_none() || at_ns < self.failed_ns {
            (self.results.error, self.failed_ns) = (Some(error), at_ns);
        }
        self.stop();
    }

    /// Whether something has failed: no cycle may begin.
    fn has_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::SeqCst)
    }

    /// No more starts, and those that run end at their next op.
    fn stop(&mut self) {
        self.schedule.stop();
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.wake_second_load();
    }

    fn wake_second_load(&self) {
        if let Some((_, thread)) = &self.second_load {
            thread.unpark();
        }
    }
}
