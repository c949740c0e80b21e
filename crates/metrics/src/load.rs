//! How busy the machine is at this moment, for a look before a run.

use crate::Roots;
use crate::read_file::{lines, number, text, words};

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
pub fn load_and_pressure(roots: &Roots) -> Load {
    let stat = std::fs::read(roots.proc.join("stat")).unwrap_or_default();
    let loadavg = text(&roots.proc.join("loadavg")).unwrap_or_default();
    let average = |index| finite(loadavg.split_whitespace().nth(index)?);
    Load {
        procs_running: stat_value(&stat, b"procs_running"),
        procs_blocked: stat_value(&stat, b"procs_blocked"),
        load_1m: average(0),
        load_5m: average(1),
        cpu_pressure_10s: pressure(roots, "cpu"),
        io_pressure_10s: pressure(roots, "io"),
        memory_pressure_10s: pressure(roots, "memory"),
    }
}

fn stat_value(stat: &[u8], key: &[u8]) -> Option<u64> {
    lines(stat).find_map(|(_, line)| {
        let mut items = words(line);
        if items.next()? == key { number(items.next()?) } else { None }
    })
}

fn pressure(roots: &Roots, what: &str) -> Option<f64> {
    let file = text(&roots.proc.join("pressure").join(what))?;
    let some = file.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = some.split_whitespace().find_map(|item| item.strip_prefix("avg10="))?;
    Some(finite(percent)? / 100.0)
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}
