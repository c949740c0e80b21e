//! What a metric and a source of metrics are.

use crate::MetricError;
use crate::read_file::ReadFile;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Name in records, such as `device.read_bytes`.
    pub name: &'static str,
    /// Base unit: `ns`, `bytes`, or what is counted.
    pub unit: &'static str,
    /// Whether it grows or goes up and down.
    pub kind: Kind,
    /// One line: meaning, and the kernel interface it comes from.
    pub doc: &'static str,
}

/// How readings of a metric relate to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Grows since some start; only differences mean something.
    Cumulative(Decrease),
    /// A level at a moment.
    Gauge,
}

/// What it means when a cumulative reading is lower than the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decrease {
    /// The counter began anew (64-bit counters do not wrap in practice): the difference is missing.
    Reset,
    /// It wrapped: readings are modulo this number, in the metric's unit.
    WrapsAt(u64),
    /// The kernel estimates it and may correct itself: the difference is 0.
    Correction,
}

impl Metric {
    /// A counter that never decreases in one boot.
    pub(crate) const fn counter(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { name, unit, kind: Kind::Cumulative(Decrease::Reset), doc }
    }

    pub(crate) const fn gauge(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self { name, unit, kind: Kind::Gauge, doc }
    }

    /// The same counter under another rule for decreases.
    pub(crate) const fn decreasing(mut self, rule: Decrease) -> Self {
        self.kind = Kind::Cumulative(rule);
        self
    }
}

/// A reader of one source. It fills as many values as its registration has metrics, in that order.
pub(crate) trait Source: Send {
    /// Reads once. Must not allocate, except on the way to an error or where a file has more than
    /// doubled since it was opened.
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError>;

    /// Its files, always in the same order.
    fn files(&mut self) -> Vec<&mut ReadFile>;
}

pub(crate) type Opened = Result<Box<dyn Source>, MetricError>;

/// A source and its metrics.
pub(crate) struct Registration {
    /// In the order in which the source fills them.
    pub metrics: &'static [Metric],
    /// Opens the files of the source; missing ones are no error.
    pub open: fn(&KernelRoots, &Watch) -> Opened,
}

/// Where the kernel's files are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelRoots {
    /// procfs, `/proc`.
    pub proc: PathBuf,
    /// sysfs, `/sys`.
    pub sys: PathBuf,
    /// Directory of `os-release`, `/etc`.
    pub etc: PathBuf,
}

impl Default for KernelRoots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), etc: "/etc".into() }
    }
}

/// What to watch beyond the whole machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Watch {
    /// Kernel names of block devices, such as `loop0`: `device.*` is the sum over them, without
    /// `device.busy_ns` where they are several. Without any `device.*` is missing.
    pub devices: Vec<String>,
    /// Directory of a memory cgroup (v1 or v2); without it `cgroup.*` is missing.
    pub memory_cgroup: Option<PathBuf>,
    /// A process; without it, and after its end, `worker.*` is missing.
    pub worker_pid: Option<u32>,
    /// Whether the network is watched; where it is not, `net.*` is missing.
    pub network: bool,
}
