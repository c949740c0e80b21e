//! `/proc/meminfo` and `/proc/vmstat`: memory now, and paging, swapping, dirtying and reclaim of
//! the machine (fs/proc/meminfo.c, mm/vmstat.c). Both are lines of a key and a value.

use crate::read_file::{Keyed, ReadFile, Records, parse_keyed};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{KernelRoots, Malformed, MetricError};

pub(crate) const MEMINFO: Registration = Registration {
    metrics: &metrics(&LEVELS),
    open: |roots, _| open(roots, "meminfo", Records::One, &LEVELS),
};

pub(crate) const VMSTAT: Registration = Registration {
    metrics: &metrics(&EVENTS),
    open: |roots, _| open(roots, "vmstat", Records::Many, &EVENTS),
};

/// A line, and the metric that it is.
pub(crate) struct Line(Keyed, Metric);

/// Of `/proc/meminfo`. Its `kB` are KiB.
const LEVELS: [Line; 9] = [
    level("MemFree:", "mem.free_bytes", "unused; /proc/meminfo MemFree:"),
    level(
        "MemAvailable:",
        "mem.available_bytes",
        "to be had without swapping (since 3.14); /proc/meminfo MemAvailable:",
    ),
    level("Buffers:", "mem.buffers_bytes", "cache of block devices; /proc/meminfo Buffers:"),
    level("Cached:", "mem.cached_bytes", "cache of files, tmpfs too; /proc/meminfo Cached:"),
    level("Dirty:", "mem.dirty_bytes", "waiting for write-back; /proc/meminfo Dirty:"),
    level("Writeback:", "mem.writeback_bytes", "being written back; /proc/meminfo Writeback:"),
    level("Shmem:", "mem.shmem_bytes", "tmpfs and shared; /proc/meminfo Shmem:"),
    level(
        "SReclaimable:",
        "mem.slab_reclaimable_bytes",
        "inodes, dentries and the like; /proc/meminfo SReclaimable:",
    ),
    level("SwapFree:", "mem.swap_free_bytes", "unused swap; /proc/meminfo SwapFree:"),
];

/// Of `/proc/vmstat`.
pub(crate) const EVENTS: [Line; 13] = [
    // Counted in sectors, printed in KiB.
    kib("pgpgin", "vm.paged_in_bytes", "read by block devices; /proc/vmstat pgpgin"),
    kib("pgpgout", "vm.paged_out_bytes", "written by them; /proc/vmstat pgpgout"),
    pages("pswpin", "vm.swap_in_bytes", "read from swap; /proc/vmstat pswpin"),
    pages("pswpout", "vm.swap_out_bytes", "written to swap; /proc/vmstat pswpout"),
    count("pgfault", "vm.faults", "faults", "page faults, minor and major; /proc/vmstat pgfault"),
    count(
        "pgmajfault",
        "vm.major_faults",
        "faults",
        "page faults with I/O; /proc/vmstat pgmajfault",
    ),
    pages("nr_dirtied", "vm.dirtied_bytes", "pages made dirty; /proc/vmstat nr_dirtied"),
    pages("nr_written", "vm.written_bytes", "pages written back; /proc/vmstat nr_written"),
    // Kernels before 4.8 print it by zone (pgsteal_direct_normal, …): missing there.
    pages(
        "pgsteal_direct",
        "vm.direct_reclaim_bytes",
        "reclaimed by tasks that had to wait for memory; /proc/vmstat pgsteal_direct",
    ),
    count(
        "drop_pagecache",
        "vm.pagecache_drops",
        "drops",
        "the page cache was dropped by somebody; /proc/vmstat drop_pagecache",
    ),
    count(
        "drop_slab",
        "vm.slab_drops",
        "drops",
        "inodes and names were dropped by somebody; /proc/vmstat drop_slab",
    ),
    count("oom_kill", "vm.oom_kills", "tasks", "killed for lack of memory; /proc/vmstat oom_kill"),
    pages(
        "balloon_inflate",
        "vm.balloon_inflated_bytes",
        "memory given back to the hypervisor; /proc/vmstat balloon_inflate",
    ),
];

const fn level(key: &'static str, name: &'static str, doc: &'static str) -> Line {
    Line(Keyed::kib(key), Metric::gauge(name, "bytes", doc))
}

const fn kib(key: &'static str, name: &'static str, doc: &'static str) -> Line {
    Line(Keyed::kib(key), Metric::counter(name, "bytes", doc))
}

const fn pages(key: &'static str, name: &'static str, doc: &'static str) -> Line {
    Line(Keyed::pages(key), Metric::counter(name, "bytes", doc))
}

const fn count(
    key: &'static str,
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
) -> Line {
    Line(Keyed::number(key), Metric::counter(name, unit, doc))
}

const fn metrics<const N: usize>(lines: &[Line; N]) -> [Metric; N] {
    let mut metrics = [lines[0].1; N];
    let mut index = 1;
    while index < N {
        metrics[index] = lines[index].1;
        index += 1;
    }
    metrics
}

struct KeyedFile(ReadFile, &'static [Line]);

fn open(roots: &KernelRoots, name: &str, records: Records, lines: &'static [Line]) -> Opened {
    Ok(Box::new(KeyedFile(ReadFile::open(roots.proc.join(name), records)?, lines)))
}

impl Source for KeyedFile {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        self.0.parse(|bytes| parse(bytes, self.1, values)).map(drop)
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        vec![&mut self.0]
    }
}

pub(crate) fn parse(
    bytes: &[u8],
    lines: &[Line],
    values: &mut [Option<u64>],
) -> Result<(), Malformed> {
    parse_keyed(bytes, lines.iter().map(|line| line.0), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_of_a_metric_names_its_file_and_key() {
        let files = [("meminfo", &LEVELS[..]), ("vmstat", &EVENTS[..])];
        for (file, Line(keyed, metric)) in
            files.iter().flat_map(|(file, lines)| lines.iter().map(move |line| (file, line)))
        {
            let from = format!("/proc/{file} {}", keyed.key);
            assert!(metric.doc.ends_with(&from), "{}: {}", metric.name, metric.doc);
        }
    }
}
