//! How busy the machine is: its load at this moment, and `/proc/pressure/{cpu,io,memory}`, time in
//! which tasks waited for something (PSI).
//!
//! `some`: at least one task waited. `full`: all runnable tasks waited. Totals are printed in µs
//! (Documentation/accounting/psi.rst). The files exist since 4.20; switched off (`psi=0`), reading
//! them gives `EOPNOTSUPP`; `full` of cpu is printed since 5.13 and is 0 for the whole machine.

use crate::read_file::{Keyed, ReadFile, Records, expect_number, lines, parse_keyed, text, words};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};

/// Load now; what the kernel does not tell is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Load {
    /// Tasks runnable now, this program included (`/proc/stat` procs_running).
    pub procs_running: Option<u64>,
    /// Tasks waiting for I/O now (`/proc/stat` procs_blocked).
    pub procs_blocked: Option<u64>,
    /// Runnable and waiting tasks, averaged over a minute (`/proc/loadavg`).
    pub load_1m: Option<f64>,
    /// The same over five minutes.
    pub load_5m: Option<f64>,
    /// Share of the last ten seconds in which a task waited for a processor, 0 to 1 (PSI).
    pub cpu_pressure_10s: Option<f64>,
    /// The same for I/O.
    pub io_pressure_10s: Option<f64>,
    /// The same for memory.
    pub memory_pressure_10s: Option<f64>,
}

/// Reads the load of the machine; never fails, since it only warns.
///
/// How much of it is foreign can only be told over a window: see [`crate::disturb`].
#[must_use]
pub fn load_and_pressure(roots: &KernelRoots) -> Load {
    let stat = std::fs::read(roots.proc.join("stat")).unwrap_or_default();
    let mut tasks = [None; 2];
    let keys = ["procs_running", "procs_blocked"].map(Keyed::number);
    // A malformed line leaves its value, and those after it, empty.
    let _ = parse_keyed(&stat, keys.into_iter(), &mut tasks);
    let loadavg = text(&roots.proc.join("loadavg")).unwrap_or_default();
    let average = |index| finite(loadavg.split_whitespace().nth(index)?);
    Load {
        procs_running: tasks[0],
        procs_blocked: tasks[1],
        load_1m: average(0),
        load_5m: average(1),
        cpu_pressure_10s: pressure(roots, "cpu"),
        io_pressure_10s: pressure(roots, "io"),
        memory_pressure_10s: pressure(roots, "memory"),
    }
}

fn pressure(roots: &KernelRoots, what: &str) -> Option<f64> {
    let file = text(&roots.proc.join("pressure").join(what))?;
    let some = file.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = some.split_whitespace().find_map(|item| item.strip_prefix("avg10="))?;
    Some(finite(percent)? / 100.0)
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

const METRICS: &[Metric] = &[
    Metric::counter("psi.cpu.some_ns", "ns", "waited for a processor; /proc/pressure/cpu some"),
    Metric::counter("psi.cpu.full_ns", "ns", "0 for a whole machine; /proc/pressure/cpu full"),
    Metric::counter("psi.io.some_ns", "ns", "a task waited for I/O; /proc/pressure/io some"),
    Metric::counter("psi.io.full_ns", "ns", "all tasks waited for I/O; /proc/pressure/io full"),
    Metric::counter("psi.memory.some_ns", "ns", "waited for memory; /proc/pressure/memory some"),
    Metric::counter("psi.memory.full_ns", "ns", "all waited; /proc/pressure/memory full"),
];

struct Pressure {
    files: [ReadFile; 3],
}

fn open(roots: &KernelRoots, _: &Watch) -> Opened {
    let file = |name| ReadFile::open(roots.proc.join("pressure").join(name), Records::One);
    Ok(Box::new(Pressure { files: [file("cpu")?, file("io")?, file("memory")?] }))
}

impl Source for Pressure {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        for (file, values) in self.files.iter_mut().zip(values.chunks_mut(2)) {
            file.parse(|bytes| parse(bytes, values))?;
        }
        Ok(())
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        self.files.iter_mut().collect()
    }
}

/// Fills `[some, full]`.
pub(crate) fn parse(bytes: &[u8], values: &mut [Option<u64>]) -> Result<(), Malformed> {
    for (line, text) in lines(bytes) {
        let mut items = words(text);
        let index = match items.next() {
            Some(b"some") => 0,
            Some(b"full") => 1,
            _ => continue,
        };
        let total = items.find_map(|item| item.strip_prefix(b"total="));
        let total = total.ok_or_else(|| Malformed::new(line, "total", text, "total=NUMBER"))?;
        let micros = expect_number(line, "total", total)?;
        values[index] = Some(micros.saturating_mul(1000));
    }
    Ok(())
}
