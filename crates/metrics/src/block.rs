//! `/sys/block/DEVICE/stat`: requests, bytes and times of one block device.
//!
//! Documentation/block/stat.rst; printed by block/genhd.c (`part_stat_show`). Sectors here always
//! have 512 B. Counts are 64 bits wide; times are printed as *unsigned 32-bit milliseconds* and
//! wrap after 49.7 days of that time (queue time runs faster than the clock where requests
//! overlap). Eleven values since 2.5, discards since 4.18 (15 values), flushes since 5.5 (17).

use crate::read_file::{ReadFile, Records, expect_number, lines, text, words};
use crate::source::{Decrease, Metric, Opened, Registration, Source};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};
use std::path::{Path, PathBuf};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

const SECTOR_BYTES: u64 = 512;
const MS_NS: u64 = 1_000_000;
/// 32-bit milliseconds, in ns.
const WRAP: Decrease = Decrease::WrapsAt((1 << 32) * MS_NS);
/// Values on the line.
const FIELDS: usize = 17;
/// Which of them is the time with something under way.
const BUSY: usize = 9;
/// Values that every kernel prints.
const FIELDS_MIN: usize = 11;

/// In the order of the line.
const METRICS: &[Metric] = &[
    Metric::counter("device.reads", "requests", "reads completed; /sys/block/*/stat 1"),
    Metric::counter("device.read_merges", "requests", "reads merged; /sys/block/*/stat 2"),
    Metric::counter("device.read_bytes", "bytes", "bytes read; /sys/block/*/stat 3"),
    time("device.read_ns", "sum of reads' times; /sys/block/*/stat 4"),
    Metric::counter("device.writes", "requests", "writes completed; /sys/block/*/stat 5"),
    Metric::counter("device.write_merges", "requests", "writes merged; /sys/block/*/stat 6"),
    Metric::counter("device.written_bytes", "bytes", "bytes written; /sys/block/*/stat 7"),
    time("device.write_ns", "sum of writes' times; /sys/block/*/stat 8"),
    Metric::gauge("device.in_flight", "requests", "under way now; /sys/block/*/stat 9"),
    time("device.busy_ns", "something under way; /sys/block/*/stat 10"),
    time("device.queue_ns", "sum of all requests' times; /sys/block/*/stat 11"),
    Metric::counter("device.discards", "requests", "discards completed; /sys/block/*/stat 12"),
    Metric::counter("device.discard_merges", "requests", "merged; /sys/block/*/stat 13"),
    Metric::counter("device.discarded_bytes", "bytes", "discarded; /sys/block/*/stat 14"),
    time("device.discard_ns", "sum of discards' times; /sys/block/*/stat 15"),
    Metric::counter("device.flushes", "requests", "cache flushes; /sys/block/*/stat 16"),
    time("device.flush_ns", "sum of flushes' times; /sys/block/*/stat 17"),
];

const fn time(name: &'static str, doc: &'static str) -> Metric {
    Metric::counter(name, "ns", doc).decreasing(WRAP)
}

/// One reading of a device's counters since its start, in base units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockStat {
    /// Reads completed.
    pub reads: u64,
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    pub written_bytes: u64,
    /// Requests under way now.
    pub in_flight: u64,
    /// Time with something under way; wraps after 49.7 days.
    pub busy_ns: u64,
    /// Discards completed, since 4.18.
    pub discards: Option<u64>,
    /// Cache flushes completed, since 5.5.
    pub flushes: Option<u64>,
}

/// Counters of one device now.
///
/// # Errors
/// When there is no such device, it does not count (`queue/iostats` is 0), or its file cannot be
/// read or understood.
pub fn block_stat(roots: &KernelRoots, device: &str) -> Result<BlockStat, MetricError> {
    let directory = directory(roots, device);
    let path = directory.join("stat");
    if counting_is_off(&directory) {
        let path = directory.join("queue/iostats");
        return Err(MetricError::CountingOff { device: device.to_owned(), path });
    }
    let mut values = [None; FIELDS];
    let read = ReadFile::open(path.clone(), Records::One)?.parse(|b| parse(b, &mut values))?;
    if !read {
        return Err(MetricError::NoDevice { device: device.to_owned(), path });
    }
    let value = |index: usize| values[index].unwrap_or(0);
    Ok(BlockStat {
        reads: value(0),
        read_bytes: value(2),
        writes: value(4),
        written_bytes: value(6),
        in_flight: value(8),
        busy_ns: value(9),
        discards: values[11],
        flushes: values[15],
    })
}

/// The devices that are watched.
struct Devices(Vec<ReadFile>);

fn open(roots: &KernelRoots, watch: &Watch) -> Opened {
    let directories: Vec<PathBuf> =
        watch.devices.iter().map(|device| directory(roots, device)).collect();
    // Zeros that are no counts would look like a device that was not used, and a sum without one
    // of its devices like a smaller one.
    if directories.is_empty() || directories.iter().any(|directory| counting_is_off(directory)) {
        return Ok(Box::new(Devices(vec![ReadFile::unwatched()])));
    }
    let file = |directory: PathBuf| ReadFile::open(directory.join("stat"), Records::One);
    Ok(Box::new(Devices(directories.into_iter().map(file).collect::<Result<_, _>>()?)))
}

impl Source for Devices {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        if let [one] = &mut self.0[..] {
            return one.parse(|bytes| parse(bytes, values)).map(drop);
        }
        let mut sum = Some([Some(0_u64); FIELDS]);
        for file in &mut self.0 {
            let mut one = [None; FIELDS];
            let is_there = file.parse(|bytes| parse(bytes, &mut one))?;
            sum = sum.filter(|_| is_there).map(|sum| added(sum, one));
        }
        let Some(mut sum) = sum else { return Ok(()) };
        // Times in which something was under way on each overlap: their sum is no time.
        sum[BUSY] = None;
        values.copy_from_slice(&sum);
        Ok(())
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        self.0.iter_mut().collect()
    }
}

/// The values of two devices together; what one of them has not is missing.
fn added(sum: [Option<u64>; FIELDS], one: [Option<u64>; FIELDS]) -> [Option<u64>; FIELDS] {
    std::array::from_fn(|index| sum[index].zip(one[index]).map(|(a, b)| a.saturating_add(b)))
}

/// Directory of a disk, or of a partition. sysfs writes `!` for the `/` in names like `cciss/c0d0`.
fn directory(roots: &KernelRoots, device: &str) -> PathBuf {
    let name = device.strip_prefix("/dev/").unwrap_or(device).replace('/', "!");
    let disk = roots.sys.join("block").join(&name);
    let any = roots.sys.join("class/block").join(&name);
    if !disk.exists() && any.exists() { any } else { disk }
}

fn counting_is_off(directory: &Path) -> bool {
    text(&directory.join("queue/iostats")).is_some_and(|value| value == "0")
}

/// Fills the values that the kernel prints, in base units.
pub(crate) fn parse(bytes: &[u8], values: &mut [Option<u64>]) -> Result<(), Malformed> {
    let (line, text) = lines(bytes).next().unwrap_or((1, b""));
    let mut fields = 0;
    for (index, item) in words(text).take(FIELDS).enumerate() {
        let metric = &METRICS[index];
        let raw = expect_number(line, metric.name, item)?;
        let unit = match metric.unit {
            "bytes" => SECTOR_BYTES,
            "ns" => MS_NS,
            _ => 1,
        };
        let scaled = raw.checked_mul(unit);
        values[index] = Some(scaled.ok_or_else(|| {
            Malformed::new(line, metric.name, item, "a number of sectors or ms within range")
        })?);
        fields += 1;
    }
    if fields < FIELDS_MIN {
        return Err(Malformed::new(line, "stat", text, "11, 15 or 17 numbers"));
    }
    Ok(())
}
