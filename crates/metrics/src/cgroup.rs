//! The memory cgroup of the work: use, peak, and how often it met its limit.
//!
//! v2 (Documentation/admin-guide/cgroup-v2.rst): `memory.current`, `memory.peak` (since 5.19),
//! `memory.events`. v1 (Documentation/admin-guide/cgroup-v1/memory.rst): `memory.usage_in_bytes`,
//! `memory.max_usage_in_bytes`, `memory.failcnt`, `memory.oom_control` (`oom_kill` since 4.13).
//! `memory.stat` is not read: the kernel sums it over all processors at each reading.

use crate::read_file::{Keyed, ReadFile, Records, expect_number, lines, parse_keyed, words};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

const METRICS: &[Metric] = &[
    Metric::gauge(
        "cgroup.memory_bytes",
        "bytes",
        "charged now, page cache included; memory.current, v1 memory.usage_in_bytes",
    ),
    Metric::gauge(
        "cgroup.memory_peak_bytes",
        "bytes",
        "most ever charged; memory.peak, v1 memory.max_usage_in_bytes",
    ),
    Metric::counter(
        "cgroup.limit_hits",
        "charges",
        "charges that met the limit and had to reclaim; memory.events max, v1 memory.failcnt",
    ),
    Metric::counter(
        "cgroup.oom_kills",
        "tasks",
        "killed for lack of memory; memory.events oom_kill, v1 memory.oom_control oom_kill",
    ),
];

const V2_EVENTS: [Keyed; 2] = [Keyed::number("max"), Keyed::number("oom_kill")];
const V1_OOM: [Keyed; 1] = [Keyed::number("oom_kill")];

enum Cgroup {
    V1 { usage: ReadFile, peak: ReadFile, hits: ReadFile, oom: ReadFile },
    V2 { current: ReadFile, peak: ReadFile, events: ReadFile },
    Unwatched,
}

fn open(_: &KernelRoots, watch: &Watch) -> Opened {
    let Some(directory) = &watch.memory_cgroup else { return Ok(Box::new(Cgroup::Unwatched)) };
    let file = |name| ReadFile::open(directory.join(name), Records::One);
    let cgroup = if directory.join("memory.usage_in_bytes").exists() {
        Cgroup::V1 {
            usage: file("memory.usage_in_bytes")?,
            peak: file("memory.max_usage_in_bytes")?,
            hits: file("memory.failcnt")?,
            oom: file("memory.oom_control")?,
        }
    } else {
        Cgroup::V2 {
            current: file("memory.current")?,
            peak: file("memory.peak")?,
            events: file("memory.events")?,
        }
    };
    Ok(Box::new(cgroup))
}

impl Source for Cgroup {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        match self {
            Self::Unwatched => {}
            Self::V1 { usage, peak, hits, oom } => {
                usage.parse(|bytes| parse_number(bytes, &mut values[0]))?;
                peak.parse(|bytes| parse_number(bytes, &mut values[1]))?;
                hits.parse(|bytes| parse_number(bytes, &mut values[2]))?;
                oom.parse(|bytes| parse_keyed(bytes, V1_OOM.into_iter(), &mut values[3..]))?;
            }
            Self::V2 { current, peak, events } => {
                current.parse(|bytes| parse_number(bytes, &mut values[0]))?;
                peak.parse(|bytes| parse_number(bytes, &mut values[1]))?;
                events
                    .parse(|bytes| parse_keyed(bytes, V2_EVENTS.into_iter(), &mut values[2..]))?;
            }
        }
        Ok(())
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        match self {
            Self::V1 { usage, peak, hits, oom } => vec![usage, peak, hits, oom],
            Self::V2 { current, peak, events } => vec![current, peak, events],
            Self::Unwatched => Vec::new(),
        }
    }
}

/// A file that is one number.
pub(crate) fn parse_number(bytes: &[u8], value: &mut Option<u64>) -> Result<(), Malformed> {
    let (line, text) = lines(bytes).next().unwrap_or((1, b""));
    let item = words(text).next().unwrap_or_default();
    *value = Some(expect_number(line, "value", item)?);
    Ok(())
}
