//! The cycles of a phase as their events come in: which counters belong to which cycle, and when
//! the device had become quiet. Pure: readings go in, records come out.
//!
//! A cycle is known by its number alone, so that cycles which overlap each have their own account;
//! what the device did for both is then in both.

use fsarena_devices::settle::Activity;
use fsarena_metrics::{Snapshot, delta};
use fsarena_model::cycle::{CycleEvent, CycleMoment, CycleRecord, CyclesRecord, CyclesReport};
use fsarena_model::sample::Counters;
use std::collections::BTreeMap;

/// Readings at the events of one cycle.
#[derive(Debug, Default)]
struct Marks {
    started: Option<Snapshot>,
    durable: Option<Snapshot>,
    over: Option<Snapshot>,
    /// When the worker had synced, and when the device had become quiet, `CLOCK_MONOTONIC`.
    durable_monotonic_ns: u64,
    quiet_monotonic_ns: Option<u64>,
}

impl Marks {
    /// Whether it is still to be seen if the device becomes quiet within the period.
    fn is_awaited(&self) -> bool {
        self.durable.is_some() && self.over.is_none() && self.quiet_monotonic_ns.is_none()
    }
}

/// The events of one phase.
#[derive(Debug)]
pub(crate) struct CycleEvents {
    /// How long a device does nothing that is quiet.
    idle_ns: u64,
    cycles: BTreeMap<u32, Marks>,
    /// When each cycle began by the worker's own clock, in the order in which they arrived.
    starts: Vec<(u32, u64)>,
    /// What the device had done at the last look, and when that was seen to be more than before.
    seen: Option<Activity>,
    busy_monotonic_ns: u64,
}

impl CycleEvents {
    /// No events yet.
    pub(crate) fn new(idle_ns: u64) -> Self {
        let (cycles, starts) = (BTreeMap::new(), Vec::new());
        Self { idle_ns, cycles, starts, seen: None, busy_monotonic_ns: 0 }
    }

    /// An event, with the counters that were read when it arrived.
    pub(crate) fn add(&mut self, event: CycleEvent, counters: Snapshot) {
        if event.at == CycleMoment::Started {
            self.starts.push((event.number, event.monotonic_ns));
        }
        if event.at == CycleMoment::Durable && !self.awaits_quiet() {
            // What was seen before the work says nothing of what comes after it.
            self.seen = None;
            self.busy_monotonic_ns = event.monotonic_ns;
        }
        let marks = self.cycles.entry(event.number).or_default();
        match event.at {
            CycleMoment::Started => marks.started = Some(counters),
            CycleMoment::Durable => {
                marks.durable_monotonic_ns = event.monotonic_ns;
                marks.durable = Some(counters);
            }
            CycleMoment::PeriodOver => marks.over = Some(counters),
        }
    }

    /// Whether the device is to be looked at.
    pub(crate) fn awaits_quiet(&self) -> bool {
        self.cycles.values().any(Marks::is_awaited)
    }

    /// A look at the device: the cycle that it has just become quiet after, the last where there
    /// are several.
    pub(crate) fn looked(&mut self, now_ns: u64, activity: Activity) -> Option<u32> {
        let more = self.seen.replace(activity).is_some_and(|before| before != activity);
        if more || activity.in_flight > 0 {
            self.busy_monotonic_ns = now_ns;
            return None;
        }
        let mut quiet = None;
        for (number, marks) in self.cycles.iter_mut().filter(|(_, marks)| marks.is_awaited()) {
            let since_ns = self.busy_monotonic_ns.max(marks.durable_monotonic_ns);
            if now_ns.saturating_sub(since_ns) >= self.idle_ns {
                marks.quiet_monotonic_ns = Some(since_ns);
                quiet = Some(*number);
            }
        }
        quiet
    }

    /// Counters at the last moment at which a cycle was durable: the end of the phase's work.
    pub(crate) fn last_durable(&self) -> Option<&Snapshot> {
        let durable = self.cycles.values().filter_map(|marks| marks.durable.as_ref());
        durable.max_by_key(|counters| counters.monotonic_ns)
    }

    /// When each cycle began, `CLOCK_MONOTONIC`.
    pub(crate) fn starts(&self) -> &[(u32, u64)] {
        &self.starts
    }

    /// The events, with what the worker reports. Times count from `start_monotonic_ns`; a
    /// period that did not come to its end ends with the reading `end`. A cycle that did not become
    /// durable has no counters up to there.
    pub(crate) fn record(
        &self,
        report: CyclesReport,
        start_monotonic_ns: u64,
        end: &Snapshot,
    ) -> CyclesRecord {
        let none = Marks::default();
        let cycles = report.cycles.into_iter().map(|report| {
            let marks = self.cycles.get(&report.number).unwrap_or(&none);
            let to = |later: Option<&Snapshot>| {
                let window = marks.started.as_ref().zip(later);
                window.map_or_else(Counters::new, |(started, later)| delta(started, later))
            };
            let over = marks.over.as_ref().unwrap_or(end);
            let began_ns = marks.started.as_ref().map_or(over.monotonic_ns, |s| s.monotonic_ns);
            let since = |at: u64| at.saturating_sub(start_monotonic_ns);
            CycleRecord {
                quiet_ns: marks.quiet_monotonic_ns.map(since),
                durable: to(marks.durable.as_ref()),
                period: to(Some(over)),
                period_ns: over.monotonic_ns.saturating_sub(began_ns),
                report,
            }
        });
        CyclesRecord { cycles: cycles.collect(), skipped: report.skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_metrics::catalog;
    use fsarena_model::cycle::CycleReport;

    const IDLE_NS: u64 = 200;

    /// A reading at a moment at which the device has written so much.
    fn at(monotonic_ns: u64, written_bytes: u64) -> Snapshot {
        let mut counters = Snapshot { monotonic_ns, ..Snapshot::empty() };
        let index = catalog().iter().position(|metric| metric.name == "device.written_bytes");
        counters.values[index.unwrap()] = Some(written_bytes);
        counters
    }

    fn add(
        events: &mut CycleEvents,
        number: u32,
        moment: CycleMoment,
        when_ns: u64,
        written_bytes: u64,
    ) {
        let event = CycleEvent { number, at: moment, monotonic_ns: when_ns };
        // A reading comes a little later than what it is about.
        events.add(event, at(when_ns + 1, written_bytes));
    }

    fn done(completed: u64) -> Activity {
        Activity { completed, in_flight: 0 }
    }

    fn report(numbers: &[u32], skipped: &[u32]) -> CyclesReport {
        let of = |&number: &u32| CycleReport { number, ..CycleReport::default() };
        CyclesReport { cycles: numbers.iter().map(of).collect(), skipped: skipped.to_vec() }
    }

    fn written(counters: &Counters) -> Option<u64> {
        counters.get("device.written_bytes").copied()
    }

    #[test]
    fn each_cycle_has_its_own_counters_and_its_quiet() {
        let mut events = CycleEvents::new(IDLE_NS);
        add(&mut events, 1, CycleMoment::Started, 1000, 0);
        assert!(!events.awaits_quiet());
        add(&mut events, 1, CycleMoment::Durable, 1300, 50);
        assert!(events.awaits_quiet());
        assert_eq!(events.looked(1310, done(7)), None);
        assert_eq!(events.looked(1400, done(9)), None, "it did something");
        assert_eq!(events.looked(1450, Activity { completed: 9, in_flight: 1 }), None);
        assert_eq!(events.looked(1460, done(10)), None);
        assert_eq!(events.looked(1659, done(10)), None, "not yet so long");
        assert_eq!(events.looked(1660, done(10)), Some(1));
        assert!(!events.awaits_quiet());
        add(&mut events, 1, CycleMoment::PeriodOver, 2000, 80);
        add(&mut events, 2, CycleMoment::Started, 2001, 80);
        add(&mut events, 2, CycleMoment::Durable, 2100, 90);
        assert_eq!(events.looked(2110, done(30)), None);
        add(&mut events, 2, CycleMoment::PeriodOver, 2150, 95);
        assert!(!events.awaits_quiet(), "its period is over");
        assert_eq!(events.looked(2990, done(30)), None);
        assert_eq!(events.last_durable().unwrap().monotonic_ns, 2101);
        assert_eq!(events.starts(), [(1, 1000), (2, 2001)]);
        let record = events.record(report(&[1, 2], &[3]), 990, &at(9999, 99));
        let [one, two] = &record.cycles[..] else { panic!("{record:?}") };
        assert_eq!((one.quiet_ns, two.quiet_ns), (Some(1460 - 990), None));
        assert_eq!((written(&one.durable), written(&one.period)), (Some(50), Some(80)));
        assert_eq!((written(&two.durable), written(&two.period)), (Some(10), Some(15)));
        assert_eq!((one.period_ns, two.period_ns), (1000, 149));
        assert_eq!(record.skipped, [3]);
    }

    #[test]
    fn a_device_that_does_nothing_is_quiet_when_the_work_is_durable() {
        let mut events = CycleEvents::new(IDLE_NS);
        add(&mut events, 1, CycleMoment::Started, 0, 0);
        // What was seen in an earlier cycle is no activity of this one.
        events.seen = Some(done(1));
        add(&mut events, 1, CycleMoment::Durable, 500, 0);
        assert_eq!(events.looked(510, done(77)), None);
        assert_eq!(events.looked(700, done(77)), Some(1));
        let record = events.record(report(&[1], &[]), 0, &at(800, 0));
        assert_eq!(record.cycles[0].quiet_ns, Some(500));
    }

    #[test]
    fn cycles_that_overlap_are_told_apart() {
        let mut events = CycleEvents::new(IDLE_NS);
        add(&mut events, 1, CycleMoment::Started, 0, 0);
        add(&mut events, 1, CycleMoment::PeriodOver, 1000, 10);
        add(&mut events, 2, CycleMoment::Started, 1000, 10);
        add(&mut events, 2, CycleMoment::Durable, 1500, 30);
        assert_eq!(events.looked(1500, done(1)), None);
        add(&mut events, 1, CycleMoment::Durable, 1600, 40);
        assert_eq!(events.looked(1600, done(1)), None);
        assert_eq!(events.looked(1750, done(1)), Some(2), "the other's period was over before");
        assert!(!events.awaits_quiet());
        let record = events.record(report(&[1, 2], &[]), 0, &at(2001, 50));
        let [one, two] = &record.cycles[..] else { panic!("{record:?}") };
        assert_eq!((written(&one.durable), written(&one.period)), (Some(40), Some(10)));
        assert_eq!((written(&two.durable), written(&two.period)), (Some(20), Some(40)));
        assert_eq!((one.quiet_ns, two.quiet_ns), (None, Some(1500)));
        assert_eq!(events.last_durable().unwrap().monotonic_ns, 1601);
    }

    #[test]
    fn a_phase_that_ends_early_ends_the_period() {
        let mut events = CycleEvents::new(IDLE_NS);
        add(&mut events, 1, CycleMoment::Started, 1000, 5);
        let record = events.record(report(&[1, 2], &[]), 1000, &at(1801, 25));
        let [one, unheard] = &record.cycles[..] else { panic!("{record:?}") };
        assert!(one.durable.is_empty() && one.quiet_ns.is_none());
        assert_eq!((written(&one.period), one.period_ns), (Some(20), 800));
        assert!(unheard.period.is_empty() && unheard.period_ns == 0);
        assert!(events.last_durable().is_none());
    }
}
