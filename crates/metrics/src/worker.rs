//! `/proc/PID/stat` and `/proc/PID/io`: one process while it runs.
//!
//! proc_pid_stat(5), proc_pid_io(5). Both are bound to the process, not to its number: after its
//! end they fail with `ESRCH`, which is "missing" here, whatever the number is reused for. The
//! exact account of a finished worker is its own getrusage(2); this is for the series.

use crate::read_file::{Keyed, ReadFile, Records, expect_number, parse_keyed, words};
use crate::source::{Metric, Opened, Registration, Source};
use crate::stat::{ticks_per_s, ticks_to_ns};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

/// Metrics from `stat`; those from `io` follow.
const FROM_STAT: usize = 5;

const METRICS: &[Metric] = &[
    Metric::counter("worker.minor_faults", "faults", "without I/O; /proc/PID/stat 10"),
    Metric::counter("worker.major_faults", "faults", "with I/O; /proc/PID/stat 12"),
    Metric::counter("worker.user_ns", "ns", "user mode; /proc/PID/stat 14"),
    Metric::counter("worker.system_ns", "ns", "kernel mode; /proc/PID/stat 15"),
    Metric::gauge("worker.resident_bytes", "bytes", "its memory; /proc/PID/stat 24"),
    Metric::counter("worker.read_calls", "calls", "read(2) and kin; /proc/PID/io syscr:"),
    Metric::counter("worker.write_calls", "calls", "write(2) and kin; /proc/PID/io syscw:"),
    Metric::counter("worker.fetched_bytes", "bytes", "read for it; /proc/PID/io read_bytes:"),
    Metric::counter("worker.dirtied_bytes", "bytes", "made dirty; /proc/PID/io write_bytes:"),
];

const IO_KEYS: [&str; 4] = ["syscr:", "syscw:", "read_bytes:", "write_bytes:"];

struct Worker {
    stat: ReadFile,
    io: ReadFile,
    ticks_per_s: u64,
    page_bytes: u64,
}

fn open(roots: &KernelRoots, watch: &Watch) -> Opened {
    let file = |name| {
        watch.worker_pid.map_or(Ok(ReadFile::unwatched()), |pid| {
            ReadFile::open(roots.proc.join(pid.to_string()).join(name), Records::One)
        })
    };
    let (stat, io) = (file("stat")?, file("io")?);
    let page_bytes = rustix::param::page_size() as u64;
    Ok(Box::new(Worker { stat, io, ticks_per_s: ticks_per_s(), page_bytes }))
}

impl Source for Worker {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        let (from_stat, from_io) = values.split_at_mut(FROM_STAT);
        let (ticks_per_s, page_bytes) = (self.ticks_per_s, self.page_bytes);
        self.stat.parse(|bytes| {
            let [minor, major, user, system, pages] = fields(bytes, [10, 12, 14, 15, 24])?;
            from_stat[0] = Some(minor);
            from_stat[1] = Some(major);
            from_stat[2] = Some(ticks_to_ns(user, ticks_per_s));
            from_stat[3] = Some(ticks_to_ns(system, ticks_per_s));
            from_stat[4] = Some(pages.saturating_mul(page_bytes));
            Ok(())
        })?;
        self.io
            .parse(|bytes| parse_keyed(bytes, IO_KEYS.map(Keyed::number).into_iter(), from_io))
            .map(drop)
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        vec![&mut self.stat, &mut self.io]
    }
}

/// Values of `/proc/PID/stat` by their numbers in proc_pid_stat(5), ascending and from 3.
///
/// The second value is the program's name in parentheses; it may hold blanks and parentheses, so
/// values are counted from the last `)`.
pub(crate) fn fields<const N: usize>(
    bytes: &[u8],
    wanted: [usize; N],
) -> Result<[u64; N], Malformed> {
    let end = bytes.iter().rposition(|&byte| byte == b')');
    let end = end.ok_or_else(|| Malformed::new(1, "comm", bytes, "a name in parentheses"))?;
    let mut items = words(bytes[end + 1..].trim_ascii_end());
    let mut next = 3;
    let mut values = [0; N];
    for (value, field) in values.iter_mut().zip(wanted) {
        let item = items.nth(field - next).unwrap_or_default();
        next = field + 1;
        *value = expect_number(1, FIELD_NAMES.get(field).copied().unwrap_or("value"), item)?;
    }
    Ok(values)
}

/// State of a process, value 3 of the same file: `R`, `S`, `D`, `Z`, …
pub(crate) fn state(bytes: &[u8]) -> Option<u8> {
    let end = bytes.iter().rposition(|&byte| byte == b')')?;
    words(&bytes[end + 1..]).next()?.first().copied()
}

/// Names of the values by number, as far as they are read here.
const FIELD_NAMES: [&str; 25] = {
    let mut names = ["value"; 25];
    names[4] = "ppid (4)";
    names[10] = "minflt (10)";
    names[12] = "majflt (12)";
    names[14] = "utime (14)";
    names[15] = "stime (15)";
    names[22] = "starttime (22)";
    names[24] = "rss (24)";
    names
};
