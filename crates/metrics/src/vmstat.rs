//! `/proc/vmstat`: paging, swapping, dirtying and reclaim of the machine (mm/vmstat.c).

use crate::error::{Malformed, MetricError};
use crate::read_file::{Keyed, ReadFile, Records, Scale, parse_keyed};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{Roots, Watch};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

/// In the order of `KEYS`.
const METRICS: &[Metric] = &[
    Metric::counter("vm.paged_in_bytes", "bytes", "read by block devices; /proc/vmstat pgpgin"),
    Metric::counter("vm.paged_out_bytes", "bytes", "written by them; /proc/vmstat pgpgout"),
    Metric::counter("vm.swap_in_bytes", "bytes", "read from swap; /proc/vmstat pswpin"),
    Metric::counter("vm.swap_out_bytes", "bytes", "written to swap; /proc/vmstat pswpout"),
    Metric::counter("vm.faults", "faults", "page faults, minor and major; /proc/vmstat pgfault"),
    Metric::counter("vm.major_faults", "faults", "page faults with I/O; /proc/vmstat pgmajfault"),
    Metric::counter("vm.dirtied_bytes", "bytes", "pages made dirty; /proc/vmstat nr_dirtied"),
    Metric::counter("vm.written_bytes", "bytes", "pages written back; /proc/vmstat nr_written"),
    Metric::counter(
        "vm.direct_reclaim_bytes",
        "bytes",
        "reclaimed by tasks that had to wait for memory; /proc/vmstat pgsteal_direct",
    ),
    Metric::counter("vm.oom_kills", "tasks", "killed for lack of memory; /proc/vmstat oom_kill"),
    Metric::counter(
        "vm.balloon_inflated_bytes",
        "bytes",
        "memory given back to the hypervisor; /proc/vmstat balloon_inflate",
    ),
];

const KEYS: &[Keyed] = &[
    // Counted in sectors, printed in KiB.
    Keyed { key: b"pgpgin", scale: Scale::Kib },
    Keyed { key: b"pgpgout", scale: Scale::Kib },
    Keyed { key: b"pswpin", scale: Scale::Page },
    Keyed { key: b"pswpout", scale: Scale::Page },
    Keyed { key: b"pgfault", scale: Scale::One },
    Keyed { key: b"pgmajfault", scale: Scale::One },
    Keyed { key: b"nr_dirtied", scale: Scale::Page },
    Keyed { key: b"nr_written", scale: Scale::Page },
    // Kernels before 4.8 print it by zone (pgsteal_direct_normal, …): missing there.
    Keyed { key: b"pgsteal_direct", scale: Scale::Page },
    Keyed { key: b"oom_kill", scale: Scale::One },
    Keyed { key: b"balloon_inflate", scale: Scale::Page },
];

struct Vmstat(ReadFile);

fn open(roots: &Roots, _: &Watch) -> Opened {
    Ok(Box::new(Vmstat(ReadFile::open(roots.proc.join("vmstat"), Records::Many)?)))
}

impl Source for Vmstat {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        self.0.parse(|bytes| parse(bytes, values)).map(drop)
    }
}

pub(crate) fn parse(bytes: &[u8], values: &mut [Option<u64>]) -> Result<(), Malformed> {
    parse_keyed(bytes, KEYS, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_metrics_pair() {
        assert_eq!(KEYS.len(), METRICS.len());
        for (keyed, metric) in KEYS.iter().zip(METRICS) {
            let key = std::str::from_utf8(keyed.key).unwrap();
            assert!(metric.doc.ends_with(&format!("/proc/vmstat {key}")), "{}", metric.name);
            assert_eq!(keyed.scale == Scale::One, metric.unit != "bytes", "{}", metric.name);
        }
    }
}
