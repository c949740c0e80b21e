//! Time of each entry of a tree.
//!
//! As in [`fsarena_engine::hist::Chained`] the read that ends one entry begins the next, so that
//! every ns of the phase belongs to an entry. But a directory is worked on twice, before and after
//! what is in it: its first part is [split](EntryTimer::split) off and carried to its end.

use fsarena_engine::clock::{MAX_DRIFT, TickClock, Ticker as _, monotonic_ns};
use fsarena_engine::hist::Histogram;
use fsarena_model::sample::LatencyHistogram;

/// Counts entries and, where it is wanted, their latencies.
#[derive(Debug)]
pub(super) struct EntryTimer {
    timed: Option<(TickClock, Box<Histogram>)>,
    /// Last reading, ticks.
    last: u64,
    /// Entries that were completed.
    pub ops: u64,
    /// Asked after each entry, so that a test can change the tree in the middle.
    #[cfg(test)]
    pub after: Option<AfterEntry>,
}

/// What a test does after entry number `n`, from 1.
#[cfg(test)]
pub(super) struct AfterEntry(pub Box<dyn FnMut(u64)>);

#[cfg(test)]
impl std::fmt::Debug for AfterEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("After")
    }
}

impl EntryTimer {
    /// Counts entries, with their latencies where `latency`.
    pub fn new(latency: bool) -> Self {
        let timed = latency.then(|| (TickClock::choose(), Box::new(Histogram::new())));
        Self {
            timed,
            last: 0,
            ops: 0,
            #[cfg(test)]
            after: None,
        }
    }

    /// The phase begins.
    #[inline]
    pub fn start(&mut self) {
        self.ops = 0;
        self.split();
    }

    /// Ends a part of an entry that is not done yet; how long it took, ns.
    #[inline]
    pub fn split(&mut self) -> u64 {
        let Some((clock, _)) = &self.timed else { return 0 };
        let (now, part_ns) = match clock {
            TickClock::Tsc(tsc) => {
                let (ticker, now) = (tsc.ticker(), tsc.ticker().now());
                (now, ticker.ns(now.saturating_sub(self.last)))
            }
            TickClock::Monotonic => {
                let now = monotonic_ns();
                (now, now.saturating_sub(self.last))
            }
        };
        self.last = now;
        part_ns
    }

    /// Ends an entry.
    #[inline]
    pub fn record(&mut self) {
        self.record_with(0);
    }

    /// Ends an entry of which parts took `carried_ns` before.
    #[inline]
    pub fn record_with(&mut self, carried_ns: u64) {
        let entry_ns = self.split() + carried_ns;
        if let Some((_, histogram)) = &mut self.timed {
            histogram.record(entry_ns);
        }
        self.ops += 1;
        #[cfg(test)]
        if let Some(after) = &mut self.after {
            after.0(self.ops);
        }
    }

    /// The latencies, unless the clock left `CLOCK_MONOTONIC` behind: missing is a value.
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let (clock, histogram) = self.timed.as_ref()?;
        (clock.drift() <= MAX_DRIFT).then(|| histogram.to_model())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carried_part_belongs_to_its_entry() {
        let mut timer = EntryTimer::new(true);
        timer.start();
        let carried_ns = timer.split();
        timer.record();
        timer.record_with(carried_ns + 5_000_000_000);
        let latency = timer.latency().unwrap();
        assert_eq!((timer.ops, latency.count()), (2, 2));
        assert!(latency.max_ns >= 5_000_000_000 && latency.min_ns < 1_000_000_000);
    }

    #[test]
    fn entries_count_without_a_clock() {
        let mut timer = EntryTimer::new(false);
        timer.start();
        timer.record();
        assert_eq!((timer.ops, timer.latency()), (1, None));
    }
}
