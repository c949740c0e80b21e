//! Reading the counters every so often, from the first sample to the last.
//!
//! Deadlines are absolute: a late sample does not shift the ones after it, and a deadline that
//! passed meanwhile is counted as missed. All samples are shown; of a long watch every second one
//! is dropped again and again, so that at most [`fsarena_metrics::SAMPLES_MAX`] are kept.

use crate::DevicePresence;
use crate::journal::{Journal, Line};
use crate::record::WatchSession;
use crate::target::{WatchError, WatchTarget};
use fsarena_metrics::{
    KernelRoots, Samples, Snapshot, Sources, Watch, delta, monotonic_ns, next_deadline,
    process_cpu_ns,
};
use fsarena_model::sample::{Counters, SamplerCost};
use fsarena_study::watched::{Ratio, Stretch, Watched};

/// Shortest period, ns: below this the watching would be seen in what is watched.
pub const EVERY_MIN_NS: u64 = 100_000_000;
/// Longest period, ns.
pub const EVERY_MAX_NS: u64 = 3_600_000_000_000;

/// What one look has shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    /// Time since the first sample, ns.
    pub t_ns: u64,
    /// What was counted over the stretch that ends here, in the order of [`Watched::ALL`]; none of
    /// them at the first sample.
    pub ratios: Vec<Option<Ratio>>,
    /// Counters since the first sample.
    pub totals: Counters,
}

impl Tick {
    /// Each quantity with its value over the stretch.
    pub fn values(&self) -> impl Iterator<Item = (Watched, Option<f64>)> {
        let value = |(one, ratio): (Watched, &Option<Ratio>)| (one, one.over(*ratio));
        Watched::ALL.into_iter().zip(&self.ratios).map(value)
    }
}

/// A watch at work.
pub struct Watcher {
    presence: DevicePresence,
    sources: Sources,
    samples: Samples,
    journal: Option<Journal>,
    /// Why samples are not journalled any more.
    journal_error: Option<String>,
    target: WatchTarget,
    started_unix_ns: u64,
    first: Option<Snapshot>,
    last: Snapshot,
    scratch: Snapshot,
    every_ns: u64,
    deadline_ns: u64,
    taken: u64,
    missed: u64,
    /// Processor time of the process then: reading, keeping and drawing are all in it.
    begun_cpu_ns: u64,
}

impl Watcher {
    /// Opens the counters of a target. The journal is written as samples are kept.
    ///
    /// # Errors
    /// When a counter's file is there and cannot be read or understood.
    pub fn open(
        roots: &KernelRoots,
        target: WatchTarget,
        every_ns: u64,
        started_unix_ns: u64,
        journal: Option<Journal>,
    ) -> Result<Self, WatchError> {
        let what = Watch { devices: vec![target.name.clone()], ..Watch::default() };
        Ok(Self {
            presence: DevicePresence::new(roots, &target),
            sources: Sources::open(roots, &what)?,
            samples: Samples::new(every_ns),
            journal,
            journal_error: None,
            target,
            started_unix_ns,
            first: None,
            last: Snapshot::empty(),
            scratch: Snapshot::empty(),
            every_ns,
            deadline_ns: monotonic_ns(),
            taken: 0,
            missed: 0,
            begun_cpu_ns: process_cpu_ns(),
        })
    }

    /// When the next sample is due, `CLOCK_MONOTONIC`, ns.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Time since the first sample, ns.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        let first = self.first.as_ref().map_or(0, |first| first.monotonic_ns);
        self.last.monotonic_ns.saturating_sub(first)
    }

    /// Why samples are not journalled any more: what a kill would then lose.
    #[must_use]
    pub fn journal_error(&self) -> Option<&str> {
        self.journal_error.as_deref()
    }

    /// What the watching itself has used so far.
    #[must_use]
    pub fn cost(&self) -> SamplerCost {
        let began_ns = self.first.as_ref().map_or(0, |first| first.monotonic_ns);
        SamplerCost {
            samples: self.taken,
            cpu_ns: process_cpu_ns().saturating_sub(self.begun_cpu_ns),
            wall_ns: if began_ns == 0 { 0 } else { monotonic_ns().saturating_sub(began_ns) },
            missed_deadlines: self.missed,
        }
    }

    /// Takes a sample.
    ///
    /// # Errors
    /// In words: when the device is gone, or a counter is not understood. What was seen before
    /// stays.
    pub fn tick(&mut self) -> Result<Tick, String> {
        if let Some(gone) = self.presence.gone() {
            return Err(gone);
        }
        self.sources.read_into(&mut self.scratch).map_err(|error| error.to_string())?;
        let first = self.first.get_or_insert_with(|| self.scratch.clone());
        let is_first = self.taken == 0;
        let grown = if is_first { Counters::new() } else { delta(&self.last, &self.scratch) };
        let ns = self.scratch.monotonic_ns.saturating_sub(self.last.monotonic_ns);
        let stretch = Grown { ns, counters: grown };
        let ratio = |quantity: Watched| if is_first { None } else { quantity.ratio(&stretch) };
        let tick = Tick {
            t_ns: self.scratch.monotonic_ns.saturating_sub(first.monotonic_ns),
            ratios: Watched::ALL.into_iter().map(ratio).collect(),
            totals: delta(first, &self.scratch),
        };
        let stride = (self.samples.period_ns() / self.every_ns.max(1)).max(1);
        let is_kept = self.taken.is_multiple_of(stride);
        self.taken += 1;
        std::mem::swap(&mut self.last, &mut self.scratch);
        if is_kept {
            self.keep();
        }
        let (next_ns, missed) = next_deadline(self.deadline_ns, self.every_ns, monotonic_ns());
        self.deadline_ns = next_ns;
        self.missed += missed;
        Ok(tick)
    }

    fn keep(&mut self) {
        self.samples.push(&self.last);
        let cost = self.cost();
        // After a line that was cut off no other one would be understood. The file stays open all
        // the same: its lock says that this watch lives.
        if self.journal_error.is_some() {
            return;
        }
        let Some(journal) = &mut self.journal else { return };
        if let Err(error) = journal.append(&Line { snapshot: &self.last, cost }) {
            self.journal_error = Some(error.to_string());
        }
    }

    /// Ends the watch. The last sample is kept, whatever the period of those before it. The journal
    /// is handed back with its lock: it is let go when the record is stored, and not before.
    #[must_use]
    pub fn end(mut self) -> (WatchSession, Option<Journal>) {
        let kept = self.samples.len().checked_sub(1).and_then(|at| self.samples.get(at));
        if kept.is_some_and(|kept| kept.monotonic_ns != self.last.monotonic_ns) {
            self.samples.push(&self.last);
        }
        let session = WatchSession {
            cost: self.cost(),
            target: self.target,
            started_unix_ns: self.started_unix_ns,
            first: self.first.unwrap_or_else(Snapshot::empty),
            last: self.last,
            samples: self.samples,
            journal_error: self.journal_error,
        };
        (session, self.journal)
    }
}

/// Counters of a stretch: growth, and gauges at its end.
struct Grown {
    ns: u64,
    counters: Counters,
}

impl Stretch for Grown {
    fn length_ns(&self) -> u64 {
        self.ns
    }

    fn grown(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }

    fn level(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Opening, dead, file_of};
    use fsarena_testkit::FakeTree;

    fn target() -> WatchTarget {
        WatchTarget {
            asked: "/dev/sda".into(),
            name: "sda".to_owned(),
            path: "/dev/sda".into(),
            kind: "disk".to_owned(),
            size_bytes: 1 << 20,
            diskseq: None,
            fstype: None,
            mounted_at: None,
            mount_options: None,
            below: Vec::new(),
            notices: Vec::new(),
        }
    }

    fn stat(tree: &FakeTree, written_sectors: u64) {
        let line = format!("1 0 8 1 4 0 {written_sectors} 8 0 1 1 0 0 0 0 0 0\n");
        tree.put("sys/block/sda/stat", line);
    }

    #[test]
    fn ticks_are_of_the_stretch_before_and_a_device_that_goes_ends_them() {
        let tree = FakeTree::new();
        tree.put("sys/block/sda/size", "2048\n");
        stat(&tree, 0);
        let roots = KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() };
        let mut watcher = Watcher::open(&roots, target(), 1_000_000, 5, None).unwrap();
        let first = watcher.tick().unwrap();
        assert!(first.ratios.iter().all(Option::is_none));
        stat(&tree, 2_000);
        let second = watcher.tick().unwrap();
        assert!(second.values().nth(1).unwrap().1 > Some(0.0), "{second:?}");
        assert_eq!(second.totals["device.written_bytes"], 1_024_000);
        tree.put("sys/block/sda/size", "0\n");
        let gone = watcher.tick().unwrap_err();
        assert_eq!(gone, "sda disappeared: it has no medium any more (its size is 0)");
        let (session, _) = watcher.end();
        assert_eq!((session.samples.len(), session.cost.samples), (2, 2));
        assert_eq!(session.last.get("device.written_bytes"), Some(1_024_000));
    }

    #[test]
    fn the_journal_is_locked_until_its_record_is_stored_whatever_became_of_its_lines() {
        let tree = FakeTree::new();
        tree.put("sys/block/sda/size", "2048\n");
        stat(&tree, 0);
        let roots = KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() };
        let dir = tempfile::tempdir().unwrap();
        for (run, is_full) in [("0000000000000001", false), ("0000000000000002", true)] {
            let opening = Opening::new(run, &dir.path().join("x.db"), &target(), 1_000_000, 5);
            let mut journal = Journal::begin(dir.path(), &opening).unwrap();
            if is_full {
                journal = journal.that_takes_no_more(&file_of(dir.path(), run));
            }
            let mut watcher = Watcher::open(&roots, target(), 1_000_000, 5, Some(journal)).unwrap();
            watcher.tick().unwrap();
            watcher.tick().unwrap();
            assert_eq!(watcher.journal_error().is_some(), is_full);
            assert!(
                dead(dir.path(), &mut Vec::new()).unwrap().is_empty(),
                "it watches, and is called dead"
            );
            let (session, journal) = watcher.end();
            assert_eq!((session.samples.len(), session.journal_error.is_some()), (2, is_full));
            assert!(
                dead(dir.path(), &mut Vec::new()).unwrap().is_empty(),
                "its record is not stored yet"
            );
            drop(journal);
            assert_eq!(dead(dir.path(), &mut Vec::new()).unwrap().len(), 1);
            std::fs::remove_file(file_of(dir.path(), run)).unwrap();
        }
    }

    #[test]
    fn late_samples_do_not_shift_the_grid() {
        assert_eq!(next_deadline(100, 10, 105), (110, 0));
        assert_eq!(next_deadline(100, 10, 139), (140, 3));
    }
}
