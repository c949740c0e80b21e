//! The conductor: starts cycles, says laps, and hears what became of them.

use super::messages::{CycleOrder, DisturbOrder, Ended, Heard};
use super::pace::{Pace, Step};
use crate::clock::monotonic_ns;
use fsarena_model::cycle::{Cycle, CycleReport, DisturbReport, Lap, LapAt};
use fsarena_model::work::{OpError, WorkerUsage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::Thread;
use std::time::Duration;

/// What the conductor hears, and what it shows to all.
#[derive(Debug)]
pub(super) struct Heed<'a> {
    pub heard: Receiver<Heard>,
    /// All end at their next op.
    pub stopped: &'a AtomicBool,
    /// For each desk, whether another was at work beside it.
    pub met: &'a [AtomicBool],
}

/// The thread of the second load, and the way to it.
type SecondLoad = Option<(Sender<DisturbOrder>, Thread)>;

/// What came of the cycles.
#[derive(Debug)]
pub(super) struct Played {
    /// First clock read of the phase.
    pub start_ns: u64,
    /// In the order of their numbers.
    pub cycles: Vec<CycleReport>,
    pub skipped: Vec<u32>,
    pub usages: Vec<WorkerUsage>,
    /// The first failure.
    pub error: Option<OpError>,
}

/// Conducts the cycles of a phase.
#[derive(Debug)]
pub(super) struct Conductor<'a> {
    cycle: &'a Cycle,
    pace: Pace,
    newest_version: u16,
    /// The way to each desk.
    desks: Vec<Sender<CycleOrder>>,
    /// Number of the cycle at each desk.
    at_work: Vec<Option<u32>>,
    second_load: SecondLoad,
    /// Cycles whose disturbance has not ended, and what tells it that the cycle has.
    disturbed: Vec<(u32, Arc<AtomicBool>)>,
    /// Those that have.
    disturbances: Vec<(u32, DisturbReport)>,
    heed: Heed<'a>,
    /// The cycle that began last.
    last: Option<u32>,
    /// When the failure that is kept happened, ns since the start.
    failed_ns: u64,
    played: Played,
}

impl<'a> Conductor<'a> {
    /// A conductor of threads that are all ready.
    pub fn new(
        cycle: &'a Cycle,
        pace: Pace,
        newest_version: u16,
        (desks, second_load): (Vec<Sender<CycleOrder>>, SecondLoad),
        heed: Heed<'a>,
    ) -> Self {
        let room = cycle.cycles as usize;
        let played = Played {
            start_ns: 0,
            cycles: Vec::with_capacity(room),
            skipped: Vec::new(),
            usages: Vec::with_capacity(room),
            error: None,
        };
        Self {
            cycle,
            pace,
            newest_version,
            at_work: vec![None; desks.len()],
            desks,
            second_load,
            disturbed: Vec::new(),
            disturbances: Vec::new(),
            heed,
            last: None,
            failed_ns: 0,
            played,
        }
    }

    /// Conducts from the first start to the end of the last period, or of what began in it.
    pub fn run(mut self, say: &mut dyn FnMut(Lap)) -> Played {
        loop {
            let at_work = self.at_work.iter().flatten().count() as u32;
            match self.pace.step(monotonic_ns(), at_work) {
                Step::Begin(number) => self.begin(number, at_work, say),
                Step::LeaveOut(number) => self.played.skipped.push(number),
                Step::Wait(until_ns) => match self.hear(until_ns) {
                    Ok(heard) => self.take(heard, say),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                },
                Step::End => {
                    self.end_last_period(say);
                    if self.disturbed.is_empty() {
                        break;
                    }
                    // A second load has its amount, which is beyond the last period.
                    match self.heed.heard.recv() {
                        Ok(heard) => self.take(heard, say),
                        Err(_) => break,
                    }
                }
            }
        }
        self.played.cycles.sort_by_key(|cycle| cycle.number);
        for (number, report) in self.disturbances {
            let mut of = self.played.cycles.iter_mut();
            if let Some(cycle) = of.find(|cycle| cycle.number == number) {
                cycle.disturb = Some(report);
            }
        }
        self.played
    }

    /// Says once that the last period is over, unless something failed in it.
    fn end_last_period(&mut self, say: &mut dyn FnMut(Lap)) {
        if self.played.error.is_none()
            && let Some(number) = self.last.take()
        {
            say(Lap { number, at: LapAt::PeriodOver, monotonic_ns: monotonic_ns() });
        }
    }

    /// Starts a cycle at a free desk.
    fn begin(&mut self, number: u32, beside: u32, say: &mut dyn FnMut(Lap)) {
        let Some(place) = self.at_work.iter().position(Option::is_none) else { return };
        if let Some(last) = self.last.replace(number) {
            say(Lap { number: last, at: LapAt::PeriodOver, monotonic_ns: monotonic_ns() });
        }
        say(Lap { number, at: LapAt::Started, monotonic_ns: monotonic_ns() });
        self.heed.met[place].store(beside > 0, Ordering::SeqCst);
        for (met, _) in self.heed.met.iter().zip(&self.at_work).filter(|(_, at)| at.is_some()) {
            met.store(true, Ordering::SeqCst);
        }
        self.at_work[place] = Some(number);
        if number == 1 {
            self.pace.start_ns = monotonic_ns();
            self.played.start_ns = self.pace.start_ns;
        }
        let start_ns = self.pace.start_ns;
        #[expect(clippy::cast_possible_truncation, reason = "checked first")]
        let version = self.newest_version.saturating_add(number as u16);
        let due_ns = self.pace.due_ns(number);
        // A desk that has died says so itself.
        let is_disturbed = self.cycle.is_disturbed(number);
        let order = CycleOrder { number, due_ns, start_ns, version, beside, is_disturbed };
        let _ = self.desks[place].send(order);
        if let Some((orders, _)) = self.second_load.as_ref().filter(|_| is_disturbed) {
            let cycle_ended = Arc::new(AtomicBool::new(false));
            self.disturbed.push((number, Arc::clone(&cycle_ended)));
            let _ = orders.send(DisturbOrder { number, start_ns, cycle_ended });
        }
    }

    /// Waits for a word until `until_ns`.
    fn hear(&self, until_ns: Option<u64>) -> Result<Heard, RecvTimeoutError> {
        let Some(until_ns) = until_ns else {
            return self.heed.heard.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let left_ns = until_ns.saturating_sub(monotonic_ns());
        self.heed.heard.recv_timeout(Duration::from_nanos(left_ns))
    }

    fn take(&mut self, heard: Heard, say: &mut dyn FnMut(Lap)) {
        match heard {
            Heard::Ready => {}
            Heard::Ended(place, ended) => {
                let Ended { report, usage, error } = *ended;
                self.at_work[place] = None;
                if let Some(durable_ns) = report.durable_ns {
                    let monotonic_ns = self.pace.start_ns.saturating_add(durable_ns);
                    say(Lap { number: report.number, at: LapAt::Durable, monotonic_ns });
                }
                if let Some((_, ended)) = self.disturbed.iter().find(|one| one.0 == report.number) {
                    ended.store(true, Ordering::SeqCst);
                    self.wake_second_load();
                }
                self.failed(error, report.returned_ns);
                self.played.usages.push(usage);
                self.played.cycles.push(report);
            }
            Heard::Disturbed(number, report) => {
                self.disturbed.retain(|one| one.0 != number);
                self.failed(report.error.clone(), report.done_ns);
                self.disturbances.push((number, *report));
            }
            Heard::Died => {
                // The scope tells it on when all others have ended.
                self.stop();
                self.disturbed.clear();
                self.at_work.fill(None);
            }
        }
    }

    /// Ends the phase where `error` is one; of several the first counts.
    fn failed(&mut self, error: Option<OpError>, at_ns: u64) {
        let Some(error) = error else { return };
        if self.played.error.is_none() || at_ns < self.failed_ns {
            (self.played.error, self.failed_ns) = (Some(error), at_ns);
        }
        self.stop();
    }

    /// No more starts, and those at work end at their next op.
    fn stop(&mut self) {
        self.pace.stop();
        self.heed.stopped.store(true, Ordering::SeqCst);
        self.wake_second_load();
    }

    fn wake_second_load(&self) {
        if let Some((_, thread)) = &self.second_load {
            thread.unpark();
        }
    }
}
