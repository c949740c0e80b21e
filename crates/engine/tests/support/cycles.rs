//! Cycles over a dataset that is there, and what is always true of their report.

use super::{run, seed, verify};
use fsarena_engine::{InjectedDelay, Job, Prepared, Root};
use fsarena_model::cycle::{Cycle, CycleEvent, CycleMoment, CycleReport, Overrun, Shares};
use fsarena_model::work::{Dataset, DatasetState, Op, Phase, WorkerReport};
use std::path::Path;
use tempfile::TempDir;

pub const MS: u64 = 1_000_000;

/// In the order of `UpdateKind::ALL`.
pub fn shares([in_place, truncate, replace, recreate, temporary]: [u32; 5]) -> Shares {
    Shares { in_place, truncate, replace, recreate, temporary }
}

/// Cycles that start as soon as the one before has ended.
pub fn cycles(cycles: u32, updates: u64, weights: [u32; 5]) -> Cycle {
    let (overrun, shares) = (Overrun::Queue, shares(weights));
    Cycle { cycles, period_ns: 1, overrun, updates, shares, disturb: None }
}

/// A dataset that has been created, and what phases have made of it.
pub struct CycleFixture {
    pub dir: TempDir,
    pub dataset: Dataset,
    pub state: DatasetState,
    pub delay: InjectedDelay,
    pub latency: bool,
}

impl CycleFixture {
    pub fn new(dataset: Dataset) -> Self {
        let dir = super::temp_dir();
        let mut state = DatasetState::default();
        run(dir.path(), &dataset, &mut state, &Phase::new("create", Op::Create, 4096));
        Self { dir, dataset, state, delay: InjectedDelay::default(), latency: true }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs `phase`; the events that were said.
    pub fn run(&mut self, phase: &Phase) -> (WorkerReport, Vec<CycleEvent>) {
        let root = Root::open(self.path()).unwrap();
        let job = Job::new(&self.dataset, phase, seed().child("phase", 1), seed());
        let (state, latency, delay) = (self.state, self.latency, self.delay);
        let job = Job { state, latency, delay, sector_bytes: root.sector_bytes(), ..job };
        let mut events = vec![];
        let report =
            Prepared::new(&job).unwrap().run_with_events(&root, &mut |event| events.push(event));
        self.state = phase.leaves(self.state);
        (report, events)
    }

    /// Runs cycles with calls of 4096 bytes that must succeed.
    pub fn done(&mut self, cycle: &Cycle) -> (WorkerReport, Vec<CycleEvent>) {
        let (report, events) = self.run(&Phase::of_cycles("c", cycle.clone(), 4096));
        assert_eq!(report.error, None);
        honest(&report, cycle, &events);
        (report, events)
    }

    /// Every byte of every file is right, and there is nothing else.
    pub fn whole(&self) {
        let report = verify(self.path(), &self.dataset, &self.state, 4096);
        assert_eq!((report.files, report.bad_files), (self.dataset.files, 0), "{report:#?}");
        assert_eq!(report.bytes, self.dataset.bytes());
        assert_eq!(files(self.path()), self.dataset.files);
    }
}

/// Files below `dir`, without those of a second load.
pub fn files(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let counted = entries.filter(|entry| entry.file_name() != "disturb");
    counted.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

pub fn cycle_reports(report: &WorkerReport) -> &[CycleReport] {
    &report.cycles.as_ref().unwrap().cycles
}

/// What is true of every report of cycles that succeeded.
pub fn honest(report: &WorkerReport, cycle: &Cycle, events: &[CycleEvent]) {
    let all = report.cycles.as_ref().unwrap();
    let sum =
        |cycle_reports: fn(&CycleReport) -> u64| all.cycles.iter().map(cycle_reports).sum::<u64>();
    assert_eq!((report.ops, report.asked_bytes), (sum(|c| c.ops), sum(|c| c.asked_bytes)));
    assert_eq!(all.cycles.len() + all.skipped.len(), cycle.cycles as usize);
    for one in &all.cycles {
        let number = u64::from(one.number);
        assert_eq!((one.ops, one.kinds.iter().sum()), (cycle.updates, cycle.updates));
        assert_eq!(one.due_ns, (number - 1) * cycle.period_ns);
        assert!(one.due_ns <= one.started_ns && one.started_ns <= one.returned_ns);
        assert!(one.returned_ns <= one.durable_ns.unwrap());
        assert_eq!(one.disturb.is_some(), cycle.is_disturbed(one.number));
    }
    let ns = |cycle_reports: fn(&CycleReport) -> u64| {
        all.cycles.iter().map(cycle_reports).max().unwrap()
    };
    let start_ns = report.start_monotonic_ns;
    assert_eq!(report.returned_monotonic_ns, start_ns + ns(|c| c.returned_ns));
    assert_eq!(report.durable_monotonic_ns, Some(start_ns + ns(|c| c.durable_ns.unwrap())));
    if let Some(latency) = &report.latency {
        let some_plain = all.cycles.iter().any(|c| c.disturb.is_none());
        let compared = || all.cycles.iter().filter(|c| !some_plain || c.disturb.is_none());
        assert_eq!(latency.count(), compared().map(|c| c.ops).sum::<u64>());
        assert_eq!(latency.max_ns, compared().map(|c| c.worst_ns).max().unwrap());
    } else {
        assert!(all.cycles.iter().all(|c| (c.worst_ns, c.worst_kind) == (0, None)));
    }
    in_order(report, events);
}

/// Each cycle has its three events in their order, and a period is over when the next one begins.
fn in_order(report: &WorkerReport, events: &[CycleEvent]) {
    let times = events
        .iter()
        .filter(|event| event.at != CycleMoment::Durable)
        .map(|event| event.monotonic_ns);
    assert!(times.is_sorted(), "{events:?}");
    let position = |number, at| {
        let mut found = events.iter().enumerate().filter(|(_, l)| (l.number, l.at) == (number, at));
        let (position, event) =
            found.next().unwrap_or_else(|| panic!("{at:?} {number}: {events:?}"));
        assert!(found.next().is_none(), "twice: {events:?}");
        (position, event.monotonic_ns)
    };
    let cycles = cycle_reports(report);
    assert_eq!(events.len(), 3 * cycles.len());
    for (index, cycle) in cycles.iter().enumerate() {
        let began = position(cycle.number, CycleMoment::Started);
        let durable = position(cycle.number, CycleMoment::Durable);
        let over = position(cycle.number, CycleMoment::PeriodOver);
        assert!(began.0 < durable.0 && began.0 < over.0, "{events:?}");
        let start_ns = report.start_monotonic_ns;
        assert!(began.1 <= start_ns + cycle.started_ns);
        assert_eq!(durable.1, start_ns + cycle.durable_ns.unwrap());
        match cycles.get(index + 1) {
            Some(next) => assert_eq!(over.0 + 1, position(next.number, CycleMoment::Started).0),
            None => assert_eq!(over.0 + 1, events.len()),
        }
    }
}
