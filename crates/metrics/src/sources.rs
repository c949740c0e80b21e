//! All sources together: the list of metrics, and files opened once and read as one snapshot.
//!
//! A source is added by its own file and one line in `SOURCES`. Names are stored in databases: they
//! are never reused for another meaning. The order is no promise; an index is valid only within
//! one running program.

use crate::MetricError;
use crate::source::{Metric, Registration, Source};
use crate::{KernelRoots, Watch, block, cgroup, keyed, load, network, stat, worker};
use fsarena_model::work::{CounterFile, CounterTexts};
use std::sync::LazyLock;

/// All sources.
pub(crate) const SOURCES: &[Registration] = &[
    stat::SOURCE,
    block::SOURCE,
    worker::SOURCE,
    keyed::VMSTAT,
    keyed::MEMINFO,
    load::SOURCE,
    cgroup::SOURCE,
    network::SOURCE,
];

/// All metrics; [`Snapshot::values`] is in this order.
#[must_use]
pub fn catalog() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> =
        LazyLock::new(|| SOURCES.iter().flat_map(|source| source.metrics).copied().collect());
    &ALL
}

/// All metrics at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// `CLOCK_MONOTONIC` right before the first source was read.
    pub monotonic_ns: u64,
    /// One value a metric, in the order of [`catalog`]; `None` is missing.
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

impl Snapshot {
    /// How often the caches of the machine have been dropped since it was started.
    #[must_use]
    pub fn cache_drops(&self) -> CacheDrops {
        CacheDrops { pagecache: self.get("vm.pagecache_drops"), slab: self.get("vm.slab_drops") }
    }
}

/// Drops of the machine's caches since it was started, by what was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheDrops {
    /// Of the page cache (1 or 3 in /proc/sys/vm/drop_caches).
    pub pagecache: Option<u64>,
    /// Of inodes and names (2 or 3 there).
    pub slab: Option<u64>,
}

impl CacheDrops {
    /// The same, read now; missing where that cannot be read.
    #[must_use]
    pub fn read(roots: &KernelRoots) -> Self {
        let read = || Sources::open(roots, &Watch::default())?.read();
        read().map_or_else(|_| Self::default(), |snapshot| snapshot.cache_drops())
    }

    /// Drops since `before`, at least: one of all caches is in both counts, and is one drop. Absent
    /// where the kernel does not tell.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<u64> {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        grown(self.pagecache, before.pagecache).max(grown(self.slab, before.slab))
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
    pub fn open(roots: &KernelRoots, what: &Watch) -> Result<Self, MetricError> {
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

    /// The files, for a process that is nearer to the moment of which they tell.
    #[must_use]
    pub fn files(&mut self) -> Vec<CounterFile> {
        let files = self.open.iter_mut().flat_map(|(_, source)| source.files());
        files.map(|file| file.to_be_read()).collect()
    }

    /// The snapshot that another process has read of [`Sources::files`].
    ///
    /// # Errors
    /// When a text is not understood.
    pub fn parse(&mut self, read: &CounterTexts) -> Result<Snapshot, MetricError> {
        let files = self.open.iter_mut().flat_map(|(_, source)| source.files());
        let none = String::new();
        for (file, text) in files.zip(read.texts.iter().chain(std::iter::repeat(&none))) {
            file.give(text);
        }
        Ok(Snapshot { monotonic_ns: read.began_monotonic_ns, ..self.read()? })
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

/// `CLOCK_REALTIME`, ns since 1970: jumps where somebody sets it.
#[must_use]
pub fn realtime_ns() -> u64 {
    nanos(rustix::time::ClockId::Realtime)
}

/// `CLOCK_BOOTTIME`, ns: goes on while the machine sleeps.
pub(crate) fn boot_ns() -> u64 {
    nanos(rustix::time::ClockId::Boottime)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_file;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let names: BTreeSet<_> = catalog().iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), catalog().len());
        for metric in catalog() {
            for unit in ["ns", "bytes"] {
                let by_name = metric.name.ends_with(&format!("_{unit}"));
                assert_eq!(by_name, metric.unit == unit, "{}: unit {}", metric.name, metric.unit);
            }
            assert!(
                metric.doc.contains("/proc")
                    || metric.doc.contains("/sys")
                    || metric.doc.contains("memory."),
                "{}: doc names no source",
                metric.name
            );
        }
    }

    /// What another process has read of the files is what we would have read.
    #[test]
    fn texts_that_another_process_read_are_a_snapshot() {
        let watch = Watch { worker_pid: Some(std::process::id()), ..Watch::default() };
        let mut sources = Sources::open(&KernelRoots::default(), &watch).unwrap();
        let files = sources.files();
        assert!(files.iter().any(|file| file.path.as_os_str().is_empty()), "no device is watched");
        let text = |file: &CounterFile| std::fs::read_to_string(&file.path).unwrap_or_default();
        let texts: Vec<String> = files.iter().map(text).collect();
        let read = CounterTexts { began_monotonic_ns: 7, ended_monotonic_ns: 8, texts };
        let snapshot = sources.parse(&read).unwrap();
        assert_eq!(snapshot.monotonic_ns, 7);
        let later = sources.read().unwrap();
        assert!(later.monotonic_ns > 7, "the next reading is one of the files again");
        for (metric, (then, now)) in catalog().iter().zip(snapshot.values.iter().zip(&later.values))
        {
            assert_eq!(then.is_some(), now.is_some(), "{}", metric.name);
        }
        assert!(snapshot.get("cpu.user_ns") <= later.get("cpu.user_ns"));
        assert_eq!(snapshot.get("device.read_bytes"), None);
    }

    /// Every parser on arbitrary bytes, and on bytes that almost are what it expects: a parser may
    /// refuse, it must not panic.
    fn all_parsers(bytes: &[u8]) {
        let mut values = [None; 32];
        let _ = stat::parse(bytes, 100, &mut values);
        let _ = stat::parse(bytes, 0, &mut values);
        let _ = keyed::parse(bytes, &keyed::EVENTS, &mut values);
        let _ = load::parse(bytes, &mut values);
        let _ = block::parse(bytes, &mut values);
        let _ = cgroup::parse_number(bytes, &mut values[0]);
        let _ = network::parse_traffic(bytes, &[], &mut values[..4]);
        let _ = network::parse_tcp(bytes, &mut values[0]);
        let _ = worker::fields(bytes, [10, 12, 14, 15, 24]);
        let _ = worker::fields(bytes, [22]);
        let _ = worker::state(bytes);
        let _ = read_file::number(bytes);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes(bytes: Vec<u8>) {
            all_parsers(&bytes);
        }

        #[test]
        fn almost_right(
            text in "((cpu|ctxt|some|full|pgpgin|nr_dirtied|eth0:|Tcp:|4242 \\(x\\) R) ?){1,2}\
                     (( |\n|total=|-|\\))?[0-9]{0,21}){0,40}"
        ) {
            all_parsers(text.as_bytes());
        }

        #[test]
        fn numbers_are_exact(value: u64) {
            prop_assert_eq!(read_file::number(value.to_string().as_bytes()), Some(value));
        }
    }
}
