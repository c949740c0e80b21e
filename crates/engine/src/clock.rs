//! Clocks: `CLOCK_MONOTONIC` for the ends of a phase, and the cheapest trustworthy clock for ops.
//!
//! One clock read an op is the largest part of what the harness adds. Measured on the machine of
//! the first slice (a KVM guest): clock_gettime(2) through the vDSO 30 ns, the time stamp counter
//! (TSC) 16.5 ns, against 750 ns for a stat on tmpfs. So ops are timed with the TSC, but only where
//! it is a clock: the processor says that it ticks at one rate (`constant_tsc`) and in all sleep
//! states (`nonstop_tsc`), and the kernel itself keeps time by it (`current_clocksource` is `tsc`,
//! which also means that it found the counters of all processors in step). Everywhere else
//! `CLOCK_MONOTONIC` is read for each op.
//!
//! The rate is calibrated against `CLOCK_MONOTONIC` before the phase and checked after it
//! ([`TickClock::drift`]). Nothing here sleeps: an idle pause before a phase changes the machine
//! (free page reporting).

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// How long the calibration of the TSC spins.
const CALIBRATION_NS: u64 = 5_000_000;
/// Share by which the two clocks may differ over a phase: the kernel slews `CLOCK_MONOTONIC` by at
/// most 500 ppm (adjtimex(2)), so more than twice that is not slewing.
pub const MAX_DRIFT: f64 = 0.001;
/// Reads taken to find cost and precision of a clock.
const PROBE_READS: u32 = 20_000;

/// `CLOCK_MONOTONIC` of this boot, ns.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// A source of ticks for the loop: chosen once a phase, monomorphised into it.
pub trait Ticker: Copy {
    /// Reads the clock.
    fn now(self) -> u64;
    /// Nanoseconds in `ticks`.
    fn ns(self, ticks: u64) -> u64;
}

/// The time stamp counter with its calibrated rate.
#[derive(Clone, Copy, Debug)]
pub struct Tsc {
    /// ns per tick, times 2^32.
    scale: u64,
}

impl Ticker for Tsc {
    #[inline(always)]
    fn now(self) -> u64 {
        rdtsc()
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "584 years of ns fit")]
    fn ns(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }
}

/// `CLOCK_MONOTONIC`: a tick is a nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic;

impl Ticker for Monotonic {
    #[inline(always)]
    fn now(self) -> u64 {
        monotonic_ns()
    }

    #[inline(always)]
    fn ns(self, ticks: u64) -> u64 {
        ticks
    }
}

/// Reads the TSC without a fence: there is a system call between any two reads of the loop, and the
/// change of privilege keeps them apart (a fence would cost another 10 ns).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn rdtsc() -> u64 {
    // SAFETY: every x86_64 processor has the instruction; the kernel lets user space use it unless
    // PR_SET_TSC forbade it, which nothing in this program does.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// There is no TSC here; [`TickClock::choose`] never makes a [`Tsc`] on this architecture.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn rdtsc() -> u64 {
    monotonic_ns()
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Moment {
    ticks: u64,
    monotonic_ns: u64,
}

impl Moment {
    /// The tightest of several bracketed readings: a reading that was interrupted is wide.
    fn now() -> Self {
        let mut best = Self { ticks: 0, monotonic_ns: 0 };
        let mut best_width = u64::MAX;
        for _ in 0..32 {
            let before = rdtsc();
            let monotonic_ns = monotonic_ns();
            let width = rdtsc().saturating_sub(before);
            if width < best_width {
                best_width = width;
                best = Self { ticks: before + width / 2, monotonic_ns };
            }
        }
        best
    }
}

/// The clock that times ops in this process.
#[derive(Clone, Copy, Debug)]
pub enum TickClock {
    /// The calibrated time stamp counter.
    Tsc(TscClock),
    /// `CLOCK_MONOTONIC`, where the TSC cannot be trusted.
    Monotonic,
}

/// A calibrated TSC and the moment its calibration began.
#[derive(Clone, Copy, Debug)]
pub struct TscClock {
    ticker: Tsc,
    anchor: Moment,
}

impl TscClock {
    /// What the loop uses.
    #[must_use]
    pub fn ticker(&self) -> Tsc {
        self.ticker
    }
}

impl TickClock {
    /// Looks at the processor and the kernel's clock source and takes the TSC where it may;
    /// calibrating it spins for 5 ms.
    #[must_use]
    pub fn choose() -> Self {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let source = std::fs::read_to_string(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
        .unwrap_or_default();
        if cfg!(target_arch = "x86_64") && tsc_is_a_clock(&cpu, &source) {
            Self::calibrated_tsc()
        } else {
            Self::Monotonic
        }
    }

    fn calibrated_tsc() -> Self {
        let anchor = Moment::now();
        while monotonic_ns() < anchor.monotonic_ns + CALIBRATION_NS {
            std::hint::spin_loop();
        }
        let end = Moment::now();
        let ticks = end.ticks.saturating_sub(anchor.ticks);
        let elapsed_ns = end.monotonic_ns - anchor.monotonic_ns;
        match scale(elapsed_ns, ticks) {
            Some(scale) => Self::Tsc(TscClock { ticker: Tsc { scale }, anchor }),
            None => Self::Monotonic,
        }
    }

    /// Name for tables: `tsc` or `clock_monotonic`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tsc(_) => "tsc",
            Self::Monotonic => "clock_monotonic",
        }
    }

    /// Share by which this clock and `CLOCK_MONOTONIC` differ since the calibration; above
    /// [`MAX_DRIFT`] its latencies are worthless (the guest moved to another machine, say).
    #[must_use]
    pub fn drift(&self) -> f64 {
        match self {
            Self::Monotonic => 0.0,
            Self::Tsc(clock) => {
                let now = Moment::now();
                let ticks = now.ticks.saturating_sub(clock.anchor.ticks);
                let elapsed_ns = now.monotonic_ns.saturating_sub(clock.anchor.monotonic_ns);
                (clock.ticker.ns(ticks) as f64 / (elapsed_ns.max(1)) as f64 - 1.0).abs()
            }
        }
    }

    /// Cost of one read, ns: the least of several averages.
    #[must_use]
    pub fn cost_ns(&self) -> f64 {
        match self {
            Self::Tsc(clock) => cost_ns(clock.ticker),
            Self::Monotonic => cost_ns(Monotonic),
        }
    }

    /// Smallest step that two reads one after the other ever differed by, ns.
    #[must_use]
    pub fn precision_ns(&self) -> u64 {
        match self {
            Self::Tsc(clock) => precision_ns(clock.ticker),
            Self::Monotonic => precision_ns(Monotonic),
        }
    }
}

/// Cost of one read of `CLOCK_MONOTONIC`, ns.
#[must_use]
pub fn monotonic_cost_ns() -> f64 {
    cost_ns(Monotonic)
}

fn cost_ns(ticker: impl Ticker) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let start = monotonic_ns();
        for _ in 0..PROBE_READS {
            black_box(ticker.now());
        }
        let elapsed_ns = monotonic_ns() - start;
        least = least.min(elapsed_ns as f64 / f64::from(PROBE_READS));
    }
    least
}

fn precision_ns(ticker: impl Ticker) -> u64 {
    let mut least = u64::MAX;
    let mut last = ticker.now();
    for _ in 0..PROBE_READS {
        let now = ticker.now();
        if now > last {
            least = least.min(now - last);
        }
        last = now;
    }
    ticker.ns(least).max(1)
}

/// ns per tick times 2^32; `None` where the measurement makes no sense.
fn scale(elapsed_ns: u64, ticks: u64) -> Option<u64> {
    if ticks == 0 || elapsed_ns == 0 {
        return None;
    }
    u64::try_from((u128::from(elapsed_ns) << 32) / u128::from(ticks)).ok().filter(|&s| s > 0)
}

/// Whether the texts of /proc/cpuinfo and `current_clocksource` allow the TSC as a clock.
fn tsc_is_a_clock(cpuinfo: &str, clocksource: &str) -> bool {
    let mut flags = cpuinfo.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "flags").then_some(value)
    });
    let has = |flags: &str, wanted| flags.split_ascii_whitespace().any(|flag| flag == wanted);
    clocksource.trim() == "tsc"
        && cpuinfo.contains("flags")
        && flags.all(|flags| has(flags, "constant_tsc") && has(flags, "nonstop_tsc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc rep_good nonstop_tsc\n";

    #[test]
    fn tsc_needs_both_flags_on_every_processor_and_the_kernels_trust() {
        assert!(tsc_is_a_clock(GOOD, "tsc\n"));
        assert!(!tsc_is_a_clock(GOOD, "kvm-clock\n"));
        assert!(!tsc_is_a_clock(GOOD, ""));
        assert!(!tsc_is_a_clock("", "tsc\n"));
        let second = format!("{GOOD}processor\t: 1\nflags\t\t: fpu tsc constant_tsc\n");
        assert!(!tsc_is_a_clock(&second, "tsc\n"));
    }

    #[test]
    fn scale_converts_and_refuses_nonsense() {
        let tsc = Tsc { scale: scale(1_000_000, 2_100_000).unwrap() };
        assert_eq!(tsc.ns(2100), 999);
        let hour_ns = tsc.ns(2_100_000_000 * 3600);
        assert!(hour_ns.abs_diff(3_600_000_000_000) < 5_000, "no overflow: {hour_ns}");
        assert_eq!(scale(0, 5), None);
        assert_eq!(scale(5, 0), None);
    }

    #[test]
    fn chosen_clock_agrees_with_monotonic() {
        let clock = TickClock::choose();
        let start = monotonic_ns();
        while monotonic_ns() < start + 20_000_000 {}
        assert!(clock.drift() < MAX_DRIFT, "{clock:?} drifts by {}", clock.drift());
        assert!(clock.cost_ns() > 0.0 && clock.precision_ns() >= 1);
    }
}
