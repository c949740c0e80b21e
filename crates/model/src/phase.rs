//! Workloads and their phases.

use crate::JsonSchema;
use crate::cycle::Cycle;
use crate::dataset::Dataset;
use crate::free::{Constraints, CountedWork, FreeQuantity};
use crate::io::{Io, Sharing};
use crate::job::{By, Job, Source};
use crate::op::{Count, Op};
use crate::parameter::WorkloadLevels;
use crate::state::{DatasetState, Reached};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Shortest and longest period of latencies over time.
const LATENCY_PERIODS_NS: RangeInclusive<u64> = 10_000_000..=3_600_000_000_000;
/// Most threads whose latencies are kept over time.
const MAX_SERIES_THREADS: u32 = 64;

/// Ops of a phase with a runtime: as many as it never comes to.
const RUNTIME_OPS: u64 = 1_000_000_000_000;

/// A named piece of work: a dataset and the phases that run over it, in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name, unique in an experiment.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The files.
    pub dataset: Dataset,
    /// What is done with them.
    pub phases: Vec<Phase>,
    /// The text of a fio job file, each of whose jobs is a phase; absent: the engine does the
    /// work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fio: Option<String>,
    /// What real work is done with; then every phase has a job. `dataset` is then of the same
    /// number of files and bytes, and of use for estimates only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its levels, where it is one of several that differ in some parameters; no trial needs to
    /// know them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<WorkloadLevels>,
}

impl Workload {
    /// The workload with its timed phases in so many ranks, each of which has the threads that the
    /// workload names (of a rank, where it names ranks itself). Where each thread writes a file of
    /// its own up to a stonewall, there are as many files.
    #[must_use]
    pub fn in_ranks(mut self, ranks: u32) -> Self {
        for phase in self.phases.iter_mut().filter(|phase| phase.timed) {
            let threads_each = phase.io.threads / phase.io.ranks.max(1);
            phase.io.threads = threads_each.max(1).saturating_mul(ranks);
            phase.io.ranks = ranks;
            // Of several processes there is no series.
            phase.io.latency_period_ns = None;
        }
        if let Some(phase) = self.phases.iter().find(|phase| phase.has_file_a_thread()) {
            self.dataset.files = phase.io.threads.into();
        }
        self
    }

    /// What the phases before number `phase` have made of the dataset.
    #[must_use]
    pub fn state_before(&self, phase: usize) -> DatasetState {
        self.phases.iter().take(phase).fold(DatasetState::default(), |state, p| p.leaves(state))
    }

    /// What phase number `phase` was told: what it says itself, and whether a stonewall of a phase
    /// before it has cut the files that it works on.
    #[must_use]
    pub fn constraints(&self, phase: usize) -> Constraints {
        let own = self.phases.get(phase).map(Phase::constraints).unwrap_or_default();
        let is_cut = self.state_before(phase + 1).reached.is_some();
        Constraints { time_is_set: own.time_is_set || is_cut, ..own }
    }

    /// What phase number `phase` leaves free.
    #[must_use]
    pub fn free(&self, phase: usize) -> FreeQuantity {
        self.constraints(phase).free()
    }

    /// Timed phases that leave their time free: each trial has the same work, in a time that is not
    /// set.
    pub fn phases_of_same_work(&self) -> impl Iterator<Item = &Phase> {
        let all = self.phases.iter().enumerate();
        let is_same = |&(number, phase): &(usize, &Phase)| {
            phase.timed && self.free(number) == FreeQuantity::Time
        };
        all.filter(is_same).map(|(_, phase)| phase)
    }
}

/// The thing timed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name, unique in a workload: `create`, `read-random`.
    pub name: String,
    /// What is done to each file (or with each I/O of a big file).
    pub op: Op,
    /// In which order.
    pub order: Order,
    /// Bytes of one read or write call; whole files are taken in one call where they are smaller.
    pub bs_bytes: u64,
    /// Whether the clock matters: an untimed phase only prepares.
    pub timed: bool,
    /// How the calls are made.
    #[serde(default, skip_serializing_if = "Io::is_default")]
    pub io: Io,
    /// What it was told, where `io` does not say so: by the options of a program that does the
    /// work, or by a phase before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// Real work; with [`Op::Job`] and only with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The cycles; with [`Op::Cycle`] and only with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
}

impl Phase {
    /// A timed phase in the order of creation, with blocking calls.
    #[must_use]
    pub fn new(name: &str, op: Op, bs_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            op,
            order: Order::Sequential,
            bs_bytes,
            timed: true,
            io: Io::default(),
            constraints: None,
            job: None,
            cycle: None,
        }
    }

    /// A timed phase of real work.
    #[must_use]
    pub fn of_job(name: &str, job: Job) -> Self {
        Self { job: Some(job), ..Self::new(name, Op::Job, 0) }
    }

    /// A timed phase of cycles.
    #[must_use]
    pub fn of_cycles(name: &str, cycle: Cycle, bs_bytes: u64) -> Self {
        Self { cycle: Some(cycle), ..Self::new(name, Op::Cycle, bs_bytes) }
    }

    /// What it was told.
    #[must_use]
    pub fn constraints(&self) -> Constraints {
        let by_program = self.job.as_ref().is_some_and(|job| job.by == By::Program);
        self.constraints.unwrap_or(Constraints {
            time_is_set: self.io.runtime_ns.is_some() || self.io.stonewall_ns.is_some(),
            rate_is_set: self.io.rate.is_some(),
            lacks_latency: by_program,
            work: if by_program { CountedWork::Uncounted } else { CountedWork::Ops },
        })
    }

    /// Why latencies cannot be kept over time, and what to do; nothing where they can be, or were
    /// not asked for.
    #[must_use]
    pub fn why_no_latency_series(&self) -> Option<(String, &'static str)> {
        let io = &self.io;
        let period_ns = io.latency_period_ns?;
        if !LATENCY_PERIODS_NS.contains(&period_ns) {
            let what = format!("a latency period of {}", Nanos(period_ns));
            return Some((what, "use 10 ms to 1 h; it becomes longer by itself in a long phase"));
        }
        if !self.op.takes_latency_period() {
            let what = format!("a latency period with {}", self.op.name());
            return Some((what, "it is for ops of fsarena itself, not of programs or cycles"));
        }
        if io.ranks > 1 {
            let what = format!("a latency period with {} ranks", io.ranks);
            return Some((what, "it is for one process: use threads, or leave one of them out"));
        }
        if io.stonewall_ns.is_some() {
            let what = "a latency period with a stonewall".to_owned();
            return Some((what, "leave one of them out"));
        }
        if io.threads > MAX_SERIES_THREADS {
            let what = format!("a latency period with {} threads", io.threads);
            return Some((what, "use at most 64 threads: each needs 2 MB for it"));
        }
        None
    }

    /// Whether each thread writes one file of its own up to a stonewall.
    #[must_use]
    pub fn has_file_a_thread(&self) -> bool {
        let is_own = self.io.sharing == Sharing::Own;
        self.op.is_big() && self.io.stonewall_ns.is_some() && is_own
    }

    /// Ops of the phase over `dataset`; with a runtime more than it can have.
    #[must_use]
    pub fn count(&self, dataset: &Dataset) -> u64 {
        let calls = |size_bytes: u64| size_bytes.div_ceil(self.bs_bytes.max(1));
        match self.op.info().count {
            Count::Files => dataset.files,
            Count::Dirs { with_root } => dataset.directories().max(u64::from(with_root)),
            Count::Entries => dataset.files.saturating_add(dataset.directories()),
            Count::Calls => dataset.draw_sizes().sum(0..dataset.files, calls),
            Count::Blocks => {
                // Whole blocks only: the tail of a file is never the place of a random call.
                let blocks = dataset.size_bytes / self.bs_bytes.max(1);
                let by_clock = self.io.runtime_ns.map(|_| RUNTIME_OPS);
                self.io.ops.or(by_clock).unwrap_or(dataset.files.saturating_mul(blocks))
            }
            Count::Cycles => self.cycle.as_ref().map_or(0, |cycle| {
                cycle.updates.min(dataset.files).saturating_mul(u64::from(cycle.cycles))
            }),
            Count::Unknown => 0,
        }
    }

    /// What the phase makes of a dataset that it finds in `state`; with a stonewall, the most.
    #[must_use]
    pub fn leaves(&self, state: DatasetState) -> DatasetState {
        self.leaves_at(state, u64::MAX)
    }

    /// What the phase makes of a dataset that it finds in `state`, where each of its threads did
    /// `each_ops` ops, or all it had, because of a stonewall.
    #[must_use]
    pub fn leaves_at(&self, state: DatasetState, each_ops: u64) -> DatasetState {
        let cycles = self.cycle.as_ref().map_or(0, |cycle| cycle.cycles);
        let after = self.op.info().effect.after(state, self.bs_bytes, cycles);
        DatasetState { reached: self.reach(each_ops).or(after.reached), ..after }
    }

    /// How far so many ops of each thread come.
    fn reach(&self, each_ops: u64) -> Option<Reached> {
        self.io.stonewall_ns?;
        let threads = self.io.threads.max(1);
        let is_own = self.io.sharing == Sharing::Own;
        Some(match (self.op.is_big(), is_own) {
            (true, _) => {
                let calls = if is_own { 1 } else { u64::from(threads) };
                let step_bytes = calls.saturating_mul(self.bs_bytes).max(1);
                // In whole calls, also where it is not known how many.
                Reached::Bytes { most_bytes: step_bytes * each_ops.min(u64::MAX / step_bytes) }
            }
            (false, true) => Reached::Files { runs: threads, each: each_ops },
            (false, false) => {
                Reached::Files { runs: 1, each: each_ops.saturating_mul(threads.into()) }
            }
        })
    }
}

/// Order of the files in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they were created.
    #[default]
    Sequential,
    /// A seeded permutation.
    Random,
}

names!(Order.name { Sequential = "sequential", Random = "random" });
