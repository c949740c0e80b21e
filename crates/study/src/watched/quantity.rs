//! What is watched, and its value over a stretch between two samples or over several of them.

use crate::cpu::{BUSY, IDLE, STEAL, TICK_NS};
use crate::ledger::{FLUSHES, READ, WRITTEN};
use fsarena_model::units::three_digits;
use serde::Serialize;

/// A stretch in which all processors together saw fewer ticks has no load.
const STRETCH_TICKS_MIN: u64 = 5;
const NS_PER_S: f64 = 1e9;
const MIB: f64 = (1u64 << 20) as f64;

/// What is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Watched {
    /// All, in the order shown.
    pub const ALL: [Self; 15] = [
        Self::ReadBytesPerS,
        Self::WrittenBytesPerS,
        Self::ReadsPerS,
        Self::WritesPerS,
        Self::BusyShare,
        Self::QueueDepth,
        Self::ReadLatencyNs,
        Self::WriteLatencyNs,
        Self::FlushesPerS,
        Self::DirtyBytes,
        Self::WritebackBytes,
        Self::UserShare,
        Self::SystemShare,
        Self::IowaitShare,
        Self::StealShare,
    ];

    /// Its name in documents, with its unit.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::ReadBytesPerS => "read_bytes_per_s",
            Self::WrittenBytesPerS => "written_bytes_per_s",
            Self::ReadsPerS => "reads_per_s",
            Self::WritesPerS => "writes_per_s",
            Self::BusyShare => "busy_share",
            Self::QueueDepth => "queue_depth",
            Self::ReadLatencyNs => "read_latency_ns",
            Self::WriteLatencyNs => "write_latency_ns",
            Self::FlushesPerS => "flushes_per_s",
            Self::DirtyBytes => "dirty_bytes",
            Self::WritebackBytes => "writeback_bytes",
            Self::UserShare => "cpu_user_share",
            Self::SystemShare => "cpu_system_share",
            Self::IowaitShare => "cpu_iowait_share",
            Self::StealShare => "cpu_steal_share",
        }
    }

    /// Its name for people, with the unit of [`Watched::text`].
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ReadBytesPerS => "read MB/s",
            Self::WrittenBytesPerS => "write MB/s",
            Self::ReadsPerS => "reads/s",
            Self::WritesPerS => "writes/s",
            Self::BusyShare => "busy %",
            Self::QueueDepth => "queue depth",
            Self::ReadLatencyNs => "read ms",
            Self::WriteLatencyNs => "write ms",
            Self::FlushesPerS => "flushes/s",
            Self::DirtyBytes => "dirty MiB",
            Self::WritebackBytes => "writeback MiB",
            Self::UserShare => "CPU user %",
            Self::SystemShare => "CPU system %",
            Self::IowaitShare => "CPU iowait %",
            Self::StealShare => "CPU steal %",
        }
    }

    /// A value in the unit of [`Watched::title`]: MB are 10⁶ bytes, MiB 2²⁰, 100 % of the
    /// processors are all of them.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::ReadBytesPerS | Self::WrittenBytesPerS => three_digits(value / 1e6),
            Self::ReadLatencyNs | Self::WriteLatencyNs => three_digits(value / 1e6),
            Self::DirtyBytes | Self::WritebackBytes => three_digits(value / MIB),
            Self::ReadsPerS | Self::WritesPerS | Self::FlushesPerS => format!("{value:.0}"),
            Self::QueueDepth => three_digits(value),
            Self::BusyShare
            | Self::UserShare
            | Self::SystemShare
            | Self::IowaitShare
            | Self::StealShare => format!("{:.1}", value * 100.0),
        }
    }

    /// The largest value that there can be, where there is one.
    #[must_use]
    pub fn limit(self) -> Option<f64> {
        match self {
            Self::BusyShare
            | Self::UserShare
            | Self::SystemShare
            | Self::IowaitShare
            | Self::StealShare => Some(1.0),
            _ => None,
        }
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
        let a_second = |name| of_time(stretch, stretch.grown(name)? as f64 * NS_PER_S);
        let share = |name| of_time(stretch, stretch.grown(name)? as f64);
        // As high as at its end, all the time.
        let level =
            |name| of_time(stretch, stretch.level(name)? as f64 * stretch.length_ns() as f64);
        match self {
            Self::ReadBytesPerS => a_second(READ),
            Self::WrittenBytesPerS => a_second(WRITTEN),
            Self::ReadsPerS => a_second("device.reads"),
            Self::WritesPerS => a_second("device.writes"),
            Self::BusyShare => share("device.busy_ns"),
            Self::QueueDepth => share("device.queue_ns"),
            Self::ReadLatencyNs => each(stretch, "device.read_ns", "device.reads"),
            Self::WriteLatencyNs => each(stretch, "device.write_ns", "device.writes"),
            Self::FlushesPerS => a_second(FLUSHES),
            Self::DirtyBytes => level("mem.dirty_bytes"),
            Self::WritebackBytes => level("mem.writeback_bytes"),
            Self::UserShare => of_processors(stretch, &["cpu.user_ns", "cpu.nice_ns"]),
            Self::SystemShare => {
                of_processors(stretch, &["cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"])
            }
            Self::IowaitShare => of_processors(stretch, &["cpu.iowait_ns"]),
            Self::StealShare => of_processors(stretch, &[STEAL]),
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
