//! `/proc/stat`: processor time of the machine, switches, forks, runnable processes.
//!
//! Time is printed in clock ticks (`sysconf(_SC_CLK_TCK)`, 100 a second nearly everywhere), hence a
//! window under about a second knows its load only roughly. Idle and iowait are estimates that
//! the kernel corrects: both may go back (proc_stat(5); Documentation/filesystems/proc.rst, 1.7).

use crate::read_file::{ReadFile, Records, expect_number, lines, words};
use crate::source::{Decrease, Metric, Opened, Registration, Source};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

/// Columns of the `cpu` line, in its order; the metrics below start with them.
const CPU_COLUMNS: usize = 10;

const METRICS: &[Metric] = &[
    Metric::counter("cpu.user_ns", "ns", "user mode, guests included; /proc/stat cpu 1"),
    Metric::counter("cpu.nice_ns", "ns", "user mode at low priority; /proc/stat cpu 2"),
    Metric::counter("cpu.system_ns", "ns", "kernel mode; /proc/stat cpu 3"),
    Metric::counter("cpu.idle_ns", "ns", "idle; /proc/stat cpu 4").decreasing(Decrease::Correction),
    Metric::counter("cpu.iowait_ns", "ns", "idle while I/O is awaited; /proc/stat cpu 5")
        .decreasing(Decrease::Correction),
    Metric::counter("cpu.irq_ns", "ns", "hard interrupts; /proc/stat cpu 6"),
    Metric::counter("cpu.softirq_ns", "ns", "soft interrupts; /proc/stat cpu 7"),
    Metric::counter("cpu.steal_ns", "ns", "taken by the hypervisor; /proc/stat cpu 8"),
    Metric::counter("cpu.guest_ns", "ns", "guests, also in user; /proc/stat cpu 9"),
    Metric::counter("cpu.guest_nice_ns", "ns", "nice guests, also in nice; /proc/stat cpu 10"),
    Metric::counter("sched.context_switches", "switches", "of all processors; /proc/stat ctxt"),
    Metric::counter("sched.forks", "tasks", "processes and threads made; /proc/stat processes"),
    Metric::gauge("sched.running", "tasks", "runnable now; /proc/stat procs_running"),
    Metric::gauge("sched.blocked", "tasks", "waiting for I/O now; /proc/stat procs_blocked"),
];

struct Stat {
    file: ReadFile,
    ticks_per_s: u64,
}

fn open(roots: &KernelRoots, _: &Watch) -> Opened {
    let file = ReadFile::open(roots.proc.join("stat"), Records::One)?;
    Ok(Box::new(Stat { file, ticks_per_s: ticks_per_s() }))
}

impl Source for Stat {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        let ticks_per_s = self.ticks_per_s;
        self.file.parse(|bytes| parse(bytes, ticks_per_s, values)).map(drop)
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        vec![&mut self.file]
    }
}

/// Clock ticks a second in procfs (`USER_HZ`).
pub(crate) fn ticks_per_s() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// Ticks as nanoseconds; saturates beyond 64 bits (584 years).
pub(crate) fn ticks_to_ns(ticks: u64, ticks_per_s: u64) -> u64 {
    let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_s.max(1));
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// Fills the metrics; values that an old kernel does not print stay `None`.
pub(crate) fn parse(
    bytes: &[u8],
    ticks_per_s: u64,
    values: &mut [Option<u64>],
) -> Result<(), Malformed> {
    for (line, text) in lines(bytes) {
        let mut items = words(text);
        let Some(key) = items.next() else { continue };
        let gauge = match key {
            b"cpu" => {
                cpu_line(line, items, ticks_per_s, &mut values[..CPU_COLUMNS])?;
                continue;
            }
            b"ctxt" => CPU_COLUMNS,
            b"processes" => CPU_COLUMNS + 1,
            b"procs_running" => CPU_COLUMNS + 2,
            b"procs_blocked" => CPU_COLUMNS + 3,
            _ => continue,
        };
        let name = METRICS[gauge].name;
        values[gauge] = Some(expect_number(line, name, items.next().unwrap_or_default())?);
    }
    Ok(())
}

fn cpu_line<'a>(
    line: usize,
    mut items: impl Iterator<Item = &'a [u8]>,
    ticks_per_s: u64,
    values: &mut [Option<u64>],
) -> Result<(), Malformed> {
    for (column, value) in values.iter_mut().enumerate() {
        match items.next() {
            Some(item) => {
                let ticks = expect_number(line, METRICS[column].name, item)?;
                *value = Some(ticks_to_ns(ticks, ticks_per_s));
            }
            // Four columns since ever; the others came with 2.5.41, 2.6.0, 2.6.11, 2.6.24, 2.6.33.
            None if column < 4 => return Err(Malformed::new(line, "cpu", b"", "four numbers")),
            None => break,
        }
    }
    Ok(())
}
