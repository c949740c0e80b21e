//! What is watched, and its value over a stretch between two samples or over several of them.

use crate::JsonSchema;
use crate::cpu::{BUSY, IDLE, STEAL, TICK_NS};
use crate::ledger::{FLUSHES, READ, WRITTEN};
use Source::{ASecond, Each, Level, OfTime, Processors};
use Unit::{Count, Mib, Million, Number, Percent};
use fsarena_model::units::three_digits;
use serde::Serialize;

/// A stretch in which all processors together saw fewer ticks has no load.
const STRETCH_TICKS_MIN: u64 = 5;
const NS_PER_S: f64 = 1e9;
const MIB: f64 = (1u64 << 20) as f64;

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// Bytes read a second.
    ReadBytesPerS,
    /// Bytes written a second.
    WrittenBytesPerS,
    /// Reads completed a second.
    ReadsPerS,
    /// Writes completed a second.
    WritesPerS,
    /// Share of the time in which the device had something to do, 0 to 1.
    BusyShare,
    /// Mean number of requests at the device.
    QueueDepth,
    /// Mean time of a read, ns; absent where none was completed.
    ReadLatencyNs,
    /// Mean time of a write, ns; absent where none was completed.
    WriteLatencyNs,
    /// Cache flushes a second.
    FlushesPerS,
    /// Dirty memory of the machine, bytes.
    DirtyBytes,
    /// Memory of the machine under writeback, bytes.
    WritebackBytes,
    /// User time, niced too, as a share of all processors.
    UserShare,
    /// Time in the kernel, interrupts too, as a share of all processors.
    SystemShare,
    /// Idle time in which I/O was awaited, as a share of all processors.
    IowaitShare,
    /// Time that the hypervisor took, as a share of all processors.
    StealShare,
}

/// In what a value is written.
#[derive(Clone, Copy)]
enum Unit {
    /// MB (10⁶ bytes) of bytes, ms of ns.
    Million,
    Mib,
    Count,
    Number,
    Percent,
}

/// The counters that a value is made of.
#[derive(Clone, Copy)]
enum Source {
    /// Growth a second.
    ASecond(&'static str),
    /// Growth of a time, as a share of the stretch.
    OfTime(&'static str),
    /// Growth of the first for each of the second.
    Each(&'static str, &'static str),
    /// As high as at the end of the stretch, all the time.
    Level(&'static str),
    /// Times, as a share of all processors.
    Processors(&'static [&'static str]),
}

const READ_LATENCY: Source = Each("device.read_ns", "device.reads");
const WRITE_LATENCY: Source = Each("device.write_ns", "device.writes");
const WRITEBACK: Source = Level("mem.writeback_bytes");
const USER: &[&str] = &["cpu.user_ns", "cpu.nice_ns"];
const SYSTEM: &[&str] = &["cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"];
const IOWAIT: &[&str] = &["cpu.iowait_ns"];

/// Each quantity with its name in documents, its name for people, its unit and what it is made of.
const TABLE: [(Watched, &str, &str, Unit, Source); 15] = [
    (Watched::ReadBytesPerS, "read_bytes_per_s", "read MB/s", Million, ASecond(READ)),
    (Watched::WrittenBytesPerS, "written_bytes_per_s", "write MB/s", Million, ASecond(WRITTEN)),
    (Watched::ReadsPerS, "reads_per_s", "reads/s", Count, ASecond("device.reads")),
    (Watched::WritesPerS, "writes_per_s", "writes/s", Count, ASecond("device.writes")),
    (Watched::BusyShare, "busy_share", "busy %", Percent, OfTime("device.busy_ns")),
    (Watched::QueueDepth, "queue_depth", "queue depth", Number, OfTime("device.queue_ns")),
    (Watched::ReadLatencyNs, "read_latency_ns", "read ms", Million, READ_LATENCY),
    (Watched::WriteLatencyNs, "write_latency_ns", "write ms", Million, WRITE_LATENCY),
    (Watched::FlushesPerS, "flushes_per_s", "flushes/s", Count, ASecond(FLUSHES)),
    (Watched::DirtyBytes, "dirty_bytes", "dirty MiB", Mib, Level("mem.dirty_bytes")),
    (Watched::WritebackBytes, "writeback_bytes", "writeback MiB", Mib, WRITEBACK),
    (Watched::UserShare, "cpu_user_share", "CPU user %", Percent, Processors(USER)),
    (Watched::SystemShare, "cpu_system_share", "CPU system %", Percent, Processors(SYSTEM)),
    (Watched::IowaitShare, "cpu_iowait_share", "CPU iowait %", Percent, Processors(IOWAIT)),
    (Watched::StealShare, "cpu_steal_share", "CPU steal %", Percent, Processors(&[STEAL])),
];

impl Watched {
    /// All, in the order shown.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::ReadBytesPerS; TABLE.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].0;
            at += 1;
        }
        all
    };

    /// Its name in documents, with its unit.
    #[must_use]
    pub fn key(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Its name for people, with the unit of [`Watched::text`].
    #[must_use]
    pub fn title(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// A value in the unit of [`Watched::title`]: MB are 10⁶ bytes, MiB 2²⁰, 100 % of the
    /// processors are all of them.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match TABLE[self as usize].3 {
            Million => three_digits(value / 1e6),
            Mib => three_digits(value / MIB),
            Count => format!("{value:.0}"),
            Number => three_digits(value),
            Percent => format!("{:.1}", value * 100.0),
        }
    }

    /// The largest value that there can be, where there is one.
    #[must_use]
    pub fn limit(self) -> Option<f64> {
        matches!(TABLE[self as usize].3, Percent).then_some(1.0)
    }

    /// Its value over a stretch; `None` where a counter is missing, or there is nothing to divide.
    #[must_use]
    pub fn value(self, stretch: &dyn Stretch) -> Option<f64> {
        self.over([self.ratio(stretch)?])
    }

    /// Its value over several stretches together: what was counted in all of them ÷ what that is
    /// divided by, so that a stretch counts for as much as it is long. `None` where there are none.
    #[must_use]
    pub fn over(self, ratios: impl IntoIterator<Item = Ratio>) -> Option<f64> {
        let add = |a: Ratio, b: Ratio| Ratio { sum: a.sum + b.sum, by: a.by + b.by };
        let all = ratios.into_iter().reduce(add)?;
        // The kernel counts whole milliseconds, which may be more than the stretch had.
        let most = self.limit().unwrap_or(f64::INFINITY);
        (all.by > 0.0).then(|| (all.sum / all.by).min(most))
    }

    /// Its value over a stretch, not divided yet; `None` as in [`Watched::value`].
    #[must_use]
    pub fn ratio(self, stretch: &dyn Stretch) -> Option<Ratio> {
        match TABLE[self as usize].4 {
            ASecond(name) => of_time(stretch, stretch.grown(name)? as f64 * NS_PER_S),
            OfTime(name) => of_time(stretch, stretch.grown(name)? as f64),
            Each(name, by) => each(stretch, name, by),
            Level(name) => {
                of_time(stretch, stretch.level(name)? as f64 * stretch.length_ns() as f64)
            }
            Processors(names) => of_processors(stretch, names),
        }
    }
}

/// What was counted and what it is divided by: bytes by time, time by requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// What was counted.
    pub sum: f64,
    /// What it is divided by, above 0.
    pub by: f64,
}

/// The time between two samples.
pub trait Stretch {
    /// Its length, ns.
    fn length_ns(&self) -> u64;
    /// Growth of a cumulative counter; `None` where it is missing or began anew.
    fn grown(&self, name: &str) -> Option<u64>;
    /// A gauge at its end.
    fn level(&self, name: &str) -> Option<u64>;
}

fn of_time(stretch: &dyn Stretch, sum: f64) -> Option<Ratio> {
    let by = stretch.length_ns() as f64;
    (by > 0.0).then_some(Ratio { sum, by })
}

/// Growth of one counter for each of another.
fn each(stretch: &dyn Stretch, of: &str, by: &str) -> Option<Ratio> {
    let (sum, count) = (stretch.grown(of)?, stretch.grown(by)?);
    (count > 0).then_some(Ratio { sum: sum as f64, by: count as f64 })
}

/// Share of the time of all processors. Without the idle counter there is no whole.
fn of_processors(stretch: &dyn Stretch, names: &[&str]) -> Option<Ratio> {
    let sum = |names: &[&str]| -> u64 {
        names.iter().filter_map(|name| stretch.grown(name)).fold(0, u64::saturating_add)
    };
    stretch.grown("cpu.idle_ns")?;
    stretch.grown(names.first()?)?;
    let all_ns = sum(&BUSY).saturating_add(sum(&IDLE));
    let is_enough = all_ns >= STRETCH_TICKS_MIN * TICK_NS;
    is_enough.then(|| Ratio { sum: sum(names) as f64, by: all_ns as f64 })
}
