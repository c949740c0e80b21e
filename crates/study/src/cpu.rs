//! CPU load of the whole machine over a phase.
//!
//! From `/proc/stat`, from the phase's start to `durable`; 100 % is the whole machine. Busy is
//! user, nice, system, irq and softirq; idle is idle and iowait; time that the hypervisor took away
//! (steal) is part of the whole but not of the work. The kernel counts in clock ticks of 10 ms, so
//! a phase in which all processors together saw fewer than 100 ticks has no figure: a tick more or
//! less would be more than a percent of it.

use crate::figures::SpreadF;
use fsarena_model::record::{PhaseRecord, Window};
use fsarena_model::sample::Counters;
use serde::Serialize;

/// A tick of `USER_HZ`, ns.
pub const TICK_NS: u64 = 10_000_000;
/// Fewer ticks than this, over all processors together, give no figure.
pub const TOO_SHORT_TICKS: u64 = 100;

const BUSY: [&str; 5] =
    ["cpu.user_ns", "cpu.nice_ns", "cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"];
const IDLE: [&str; 3] = ["cpu.idle_ns", "cpu.iowait_ns", "cpu.steal_ns"];

/// CPU load over the trials of a row.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CpuLoad {
    /// Median of the trials that were long enough.
    Percent {
        /// Their spread, % of the whole machine.
        percent: SpreadF,
    },
    /// All trials were under [`TOO_SHORT_TICKS`].
    TooShort,
    /// No trial has the counters.
    Unknown,
}

impl CpuLoad {
    /// The load of one phase.
    #[must_use]
    pub fn of_phase(phase: &PhaseRecord) -> Self {
        let Some(counters) = phase.windows.get(&Window::Durable) else {
            return Self::Unknown;
        };
        let Some((busy_ns, all_ns)) = busy_and_all(counters) else {
            return Self::Unknown;
        };
        if all_ns < TOO_SHORT_TICKS * TICK_NS {
            return Self::TooShort;
        }
        match SpreadF::of(vec![busy_ns as f64 * 100.0 / all_ns as f64]) {
            Some(percent) => Self::Percent { percent },
            None => Self::Unknown,
        }
    }

    /// The load over several phases, each of its own trial.
    #[must_use]
    pub fn over<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Self {
        let mut values = Vec::new();
        let mut too_short = false;
        for phase in phases {
            match Self::of_phase(phase) {
                Self::Percent { percent } => values.push(percent.median),
                Self::TooShort => too_short = true,
                Self::Unknown => {}
            }
        }
        match SpreadF::of(values) {
            Some(percent) => Self::Percent { percent },
            None if too_short => Self::TooShort,
            None => Self::Unknown,
        }
    }
}

fn busy_and_all(counters: &Counters) -> Option<(u64, u64)> {
    let sum = |names: &[&str]| -> u64 {
        names.iter().filter_map(|name| counters.get(*name)).fold(0, |a, &b| a.saturating_add(b))
    };
    // Without the idle counter there is no whole, and 100 % would be a lie.
    counters.get("cpu.idle_ns")?;
    let busy = sum(&BUSY);
    Some((busy, busy.saturating_add(sum(&IDLE))))
}
