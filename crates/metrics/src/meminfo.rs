//! `/proc/meminfo`: levels of the machine's memory (fs/proc/meminfo.c). Its `kB` are KiB.

use crate::error::MetricError;
use crate::read_file::{Keyed, ReadFile, Records, Scale, parse_keyed};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{Roots, Watch};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

/// In the order of `KEYS`.
const METRICS: &[Metric] = &[
    Metric::gauge("mem.free_bytes", "bytes", "unused; /proc/meminfo MemFree:"),
    Metric::gauge(
        "mem.available_bytes",
        "bytes",
        "to be had without swapping (since 3.14); /proc/meminfo MemAvailable:",
    ),
    Metric::gauge("mem.buffers_bytes", "bytes", "cache of block devices; /proc/meminfo Buffers:"),
    Metric::gauge("mem.cached_bytes", "bytes", "cache of files, tmpfs too; /proc/meminfo Cached:"),
    Metric::gauge("mem.dirty_bytes", "bytes", "waiting for write-back; /proc/meminfo Dirty:"),
    Metric::gauge("mem.writeback_bytes", "bytes", "being written back; /proc/meminfo Writeback:"),
    Metric::gauge("mem.shmem_bytes", "bytes", "tmpfs and shared; /proc/meminfo Shmem:"),
    Metric::gauge(
        "mem.slab_reclaimable_bytes",
        "bytes",
        "inodes, dentries and the like; /proc/meminfo SReclaimable:",
    ),
    Metric::gauge("mem.swap_free_bytes", "bytes", "unused swap; /proc/meminfo SwapFree:"),
];

const KEYS: &[Keyed] = &[
    Keyed { key: b"MemFree:", scale: Scale::Kib },
    Keyed { key: b"MemAvailable:", scale: Scale::Kib },
    Keyed { key: b"Buffers:", scale: Scale::Kib },
    Keyed { key: b"Cached:", scale: Scale::Kib },
    Keyed { key: b"Dirty:", scale: Scale::Kib },
    Keyed { key: b"Writeback:", scale: Scale::Kib },
    Keyed { key: b"Shmem:", scale: Scale::Kib },
    Keyed { key: b"SReclaimable:", scale: Scale::Kib },
    Keyed { key: b"SwapFree:", scale: Scale::Kib },
];

struct Meminfo(ReadFile);

fn open(roots: &Roots, _: &Watch) -> Opened {
    Ok(Box::new(Meminfo(ReadFile::open(roots.proc.join("meminfo"), Records::One)?)))
}

impl Source for Meminfo {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        self.0.parse(|bytes| parse_keyed(bytes, KEYS, values)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_metrics_pair() {
        assert_eq!(KEYS.len(), METRICS.len());
        for (keyed, metric) in KEYS.iter().zip(METRICS) {
            let key = std::str::from_utf8(keyed.key).unwrap();
            assert!(metric.doc.ends_with(&format!("/proc/meminfo {key}")), "{}", metric.name);
        }
    }
}
