//! What the file system holds by what the phases did: how much, in which versions, which trees.
//!
//! Followed from phase to phase; nothing here looks at the file system.

use crate::trees::TreeState;
use fsarena_model::cycle::{Cycle, Load};
use fsarena_model::state::Effect;
use fsarena_model::work::{Backend, Dataset, DatasetState, Op, Phase, WorkerReport};
use std::collections::BTreeMap;

/// Contents of the file system of a trial.
#[derive(Debug, Default)]
pub(crate) struct StoredContents {
    /// Bytes of the dataset, or of the trees of real work.
    pub(crate) stored_bytes: u64,
    /// What the phases have made of the dataset.
    pub(crate) state: DatasetState,
    /// What is below the root, in real work.
    pub(crate) trees: TreeState,
    disturber: DisturberSpace,
}

impl StoredContents {
    /// An empty file system; `trees` is what is elsewhere.
    pub(crate) fn new(trees: TreeState) -> Self {
        Self { trees, ..Self::default() }
    }

    /// Bytes of all contents, those of second loads among them.
    pub(crate) fn all_bytes(&self) -> u64 {
        self.stored_bytes.saturating_add(self.disturber.bytes())
    }

    /// What the file system holds after `phase`.
    pub(crate) fn follow(&mut self, phase: &Phase, dataset: &Dataset, report: &WorkerReport) {
        if phase.io.backend == Backend::Null {
            return;
        }
        if let Some(job) = &phase.job {
            self.trees.follow(&phase.name, job, report);
            self.stored_bytes = self.trees.stored_bytes();
            return;
        }
        let before = self.state;
        let files = dataset.count_in(&before);
        let share = |bytes: u64| match report.ops >= files {
            true => bytes,
            false => (bytes / files.max(1)).saturating_mul(report.ops),
        };
        let each_ops = report.stonewall.map_or(u64::MAX, |wall| wall.each_ops);
        self.state = phase.leaves_at(before, each_ops);
        match phase.op.info().effect {
            Effect::Allocate => self.stored_bytes += share(dataset.bytes_in(&self.state)),
            Effect::Truncate => {
                let (was, is) = (dataset.bytes_in(&before), dataset.bytes_in(&self.state));
                let less = share(was.saturating_sub(is));
                self.stored_bytes = self.stored_bytes.saturating_sub(less);
            }
            Effect::Delete => {
                self.stored_bytes = self.stored_bytes.saturating_sub(share(self.stored_bytes));
            }
            _ if phase.op.creates() || phase.op.appends() => {
                self.stored_bytes = self.stored_bytes.saturating_add(report.asked_bytes);
            }
            // Its files were laid out before, or are made by their first job.
            _ if phase.op == Op::Fio => {
                self.stored_bytes = self.stored_bytes.max(dataset.bytes());
            }
            _ => {}
        }
        if let Some(cycle) = &phase.cycle {
            self.disturber.left(phase, cycle, report);
        }
    }
}

/// What is in the directory of the second loads, by what made it.
#[derive(Debug, Default)]
pub(crate) struct DisturberSpace(BTreeMap<String, u64>);

impl DisturberSpace {
    /// Takes down what `phase` has left: the small files of its last disturbed cycle, or the file
    /// that it wrote or read, of which there is one for all phases and for all of that size.
    pub(crate) fn left(&mut self, phase: &Phase, cycle: &Cycle, report: &WorkerReport) {
        let Some(disturb) = &cycle.disturb else { return };
        let cycles = report.cycles.iter().flat_map(|report| &report.cycles);
        let last_bytes = cycles.filter_map(|cycle| cycle.disturb.as_ref()).next_back();
        let last_bytes = last_bytes.map(|disturb| disturb.bytes);
        let (name, bytes) = match disturb.load {
            Load::Create { .. } => (format!("create {}", phase.name), last_bytes),
            Load::Write { size_bytes, .. } => {
                ("write".to_owned(), last_bytes.map(|bytes| bytes.min(size_bytes)))
            }
            Load::Read { size_bytes, .. } => (format!("read {size_bytes}"), Some(size_bytes)),
        };
        // Without a disturbed cycle what was there before stays.
        if let Some(bytes) = bytes {
            self.0.insert(name, bytes);
        }
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::cycle::{
        CycleReport, CyclesReport, Disturb, DisturbReport, Overrun, Shares,
    };
    use fsarena_model::work::{Io, Sharing, StonewallReport};

    /// A phase with this second load, and a report of cycles that it disturbed with so many bytes.
    fn worked(beside: &mut DisturberSpace, name: &str, load: Load, bytes: &[u64]) {
        let shares = Shares { in_place: 1, truncate: 0, replace: 0, recreate: 0, temporary: 0 };
        let cycle = Cycle {
            cycles: 3,
            period_ns: 1,
            overrun: Overrun::Skip,
            updates: 1,
            shares,
            disturb: Some(Disturb { load, cycles: Vec::new() }),
        };
        let disturbed = |bytes| DisturbReport { bytes, ..DisturbReport::default() };
        let of = |&bytes: &u64| CycleReport {
            disturb: Some(disturbed(bytes)),
            ..CycleReport::default()
        };
        // The last cycle is not a disturbed one.
        let mut cycles: Vec<CycleReport> = bytes.iter().map(of).collect();
        cycles.push(CycleReport::default());
        let report = WorkerReport {
            cycles: Some(CyclesReport { cycles, skipped: Vec::new() }),
            ..WorkerReport::default()
        };
        beside.left(&Phase::of_cycles(name, cycle.clone(), 4096), &cycle, &report);
    }

    #[test]
    fn files_of_second_loads_are_counted_once() {
        let mut beside = DisturberSpace::default();
        let create = Load::Create { files: 10, size_bytes: 100, rate: 0 };
        worked(&mut beside, "one", create, &[1000, 700]);
        assert_eq!(beside.bytes(), 700, "those of the first were removed");
        worked(&mut beside, "two", create, &[1000]);
        assert_eq!(beside.bytes(), 1700);
        let write = Load::Write { size_bytes: 50, bs_bytes: 10, rate_bytes: 0 };
        worked(&mut beside, "three", write, &[4000]);
        worked(&mut beside, "four", write, &[20]);
        assert_eq!(beside.bytes(), 1720, "one file, written anew");
        let read = |size_bytes| Load::Read { size_bytes, bs_bytes: 10, rate_bytes: 0 };
        worked(&mut beside, "five", read(8000), &[]);
        worked(&mut beside, "six", read(8000), &[9999]);
        assert_eq!(beside.bytes(), 9720);
        worked(&mut beside, "seven", create, &[]);
        assert_eq!(beside.bytes(), 9720, "it did not come to it");
    }

    /// What a stonewall has cut off is not there, and what a deletion takes is what is.
    #[test]
    fn what_is_there_follows_the_count_that_was_reached() {
        let dataset = Dataset::uniform(100, 1000, 4);
        let io = Io { threads: 4, stonewall_ns: Some(1), ..Io::default() };
        let create = Phase { io, ..Phase::new("create", Op::Create, 4096) };
        let wall = StonewallReport { reached: true, each_ops: 7, ..StonewallReport::default() };
        let made = WorkerReport {
            ops: 28,
            asked_bytes: 28_000,
            stonewall: Some(wall),
            ..WorkerReport::default()
        };
        let mut contents = StoredContents::default();
        contents.follow(&create, &dataset, &made);
        assert_eq!((contents.stored_bytes, dataset.count_in(&contents.state)), (28_000, 28));
        assert_eq!(dataset.as_reached(&contents.state).files, 28);
        let gone = WorkerReport { ops: 28, ..WorkerReport::default() };
        contents.follow(&Phase::new("delete", Op::Delete, 4096), &dataset, &gone);
        assert_eq!(contents.stored_bytes, 0);

        let dataset = Dataset::uniform(1, 1 << 30, 0);
        let io = Io { sharing: Sharing::Interleaved, ..create.io };
        let write = Phase { io, ..Phase::new("write", Op::BigWrite, 1000) };
        let mut contents = StoredContents::default();
        contents.follow(&write, &dataset, &made);
        assert_eq!(dataset.bytes_in(&contents.state), 28_000);
        assert_eq!(dataset.as_reached(&contents.state).size_bytes, 28_000);
    }
}
