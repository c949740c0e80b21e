//! All sources together: opened once, read as one snapshot.

use crate::catalog::{SOURCES, catalog};
use crate::error::MetricError;
use crate::source::{Registration, Source};
use crate::{Roots, Watch};

/// All metrics at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// `CLOCK_MONOTONIC` right before the first source was read.
    pub monotonic_ns: u64,
    /// One value a metric, in the order of [`crate::catalog()`]; `None` is missing.
    pub values: Vec<Option<u64>>,
}

impl Snapshot {
    /// A snapshot in which everything is missing, to be filled by [`Sources::read_into`].
    #[must_use]
    pub fn empty() -> Self {
        Self { monotonic_ns: 0, values: vec![None; catalog().len()] }
    }

    /// The value of a metric by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        let index = catalog().iter().position(|metric| metric.name == name)?;
        self.values.get(index).copied().flatten()
    }
}

/// The open files of all sources.
pub struct Sources {
    open: Vec<(&'static Registration, Box<dyn Source>)>,
}

impl Sources {
    /// Opens every source once. What is missing stays missing.
    ///
    /// # Errors
    /// When a file is there and cannot be opened, read or understood.
    pub fn open(roots: &Roots, what: &Watch) -> Result<Self, MetricError> {
        let open = SOURCES
            .iter()
            .map(|registration| Ok((registration, (registration.open)(roots, what)?)))
            .collect::<Result<Vec<_>, MetricError>>()?;
        let mut sources = Self { open };
        sources.read()?;
        Ok(sources)
    }

    /// Reads everything into a new snapshot.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn read(&mut self) -> Result<Snapshot, MetricError> {
        let mut snapshot = Snapshot::empty();
        self.read_into(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Reads everything into a snapshot that is there; allocates nothing.
    ///
    /// # Errors
    /// When a file cannot be read or understood; the snapshot is then half filled.
    pub fn read_into(&mut self, snapshot: &mut Snapshot) -> Result<(), MetricError> {
        snapshot.values.resize(catalog().len(), None);
        snapshot.values.fill(None);
        snapshot.monotonic_ns = monotonic_ns();
        let mut rest = snapshot.values.as_mut_slice();
        for (registration, source) in &mut self.open {
            let (own, others) = rest.split_at_mut(registration.metrics.len());
            source.read(own)?;
            rest = others;
        }
        Ok(())
    }
}

/// `CLOCK_MONOTONIC`, ns: the clock of phases.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanos(rustix::time::ClockId::Monotonic)
}

/// Processor time of the calling thread, ns.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    nanos(rustix::time::ClockId::ThreadCPUTime)
}

/// Processor time of the whole process, ns.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    nanos(rustix::time::ClockId::ProcessCPUTime)
}

fn nanos(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}
