//! Did something else disturb a phase? Pure: counters of a window in, notices out.
//!
//! Thresholds are shares at which a difference of a few percent between two file systems could come
//! from the disturbance. They are told in every notice; no value is dropped or corrected here.

use fsarena_model::record::Notice;
use fsarena_model::sample::Counters;
use fsarena_model::thermal::ThermalRecord;
use fsarena_model::units::Bytes;
use fsarena_model::work::WorkerUsage;

/// Share of the machine taken by the hypervisor above which a notice is given.
pub const STEAL_SHARE_MAX: f64 = 0.01;
/// Share of the machine used by other programs, in user mode, above which a notice is given.
pub const FOREIGN_USER_SHARE_MAX: f64 = 0.05;
/// Share of the time in which a task waited for a processor above which a notice is given.
pub const CPU_PRESSURE_MAX: f64 = 0.20;
/// Share of the time in which a task waited for memory above which a notice is given.
pub const MEMORY_PRESSURE_MAX: f64 = 0.05;
/// Processor time below which shares are not judged: 100 ticks of 10 ms, over all processors.
pub const JUDGED_MIN_NS: u64 = 1_000_000_000;

/// A window to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// Counters of the machine over the window.
    pub counters: &'a Counters,
    /// What the worker used in it.
    pub worker: &'a WorkerUsage,
    /// Length of the window.
    pub wall_ns: u64,
    /// Processors online.
    pub cpus: u32,
    /// Memory limit in force: swapping is then part of the task, not a disturbance.
    pub memory_limited: bool,
}

/// Share of the machine that ran other programs than the worker, in user mode.
///
/// Kernel threads have no user time, so this is foreign, or the server of a FUSE file system; what
/// such programs did inside the kernel is not in it, so it is a **lower bound**. `None` where the
/// kernel does not tell, or the window has less than [`JUDGED_MIN_NS`] of processor time.
#[must_use]
pub fn foreign_user_share(observed: &Observed<'_>) -> Option<f64> {
    let nice_ns = value(observed, "cpu.nice_ns").unwrap_or(0);
    let user_ns = value(observed, "cpu.user_ns")?.saturating_add(nice_ns);
    share(user_ns.saturating_sub(observed.worker.user_ns), machine_ns(observed)?)
}

/// Share of the machine's time that the hypervisor gave to others; `None` as above.
#[must_use]
pub fn steal_share(observed: &Observed<'_>) -> Option<f64> {
    share(value(observed, "cpu.steal_ns")?, machine_ns(observed)?)
}

/// Everything worth saying about a window, in a fixed order.
#[must_use]
pub fn notices(observed: &Observed<'_>) -> Vec<Notice> {
    let shares = [
        above(
            steal_share(observed),
            STEAL_SHARE_MAX,
            "steal",
            "of the machine's CPU time was taken by the hypervisor",
            "run when the physical host is quiet, or on one with processors of its own",
        ),
        above(
            foreign_user_share(observed),
            FOREIGN_USER_SHARE_MAX,
            "foreign-load",
            "of the machine ran other programs than the worker",
            "stop other programs; a file system served by a process (FUSE) is one of them",
        ),
        above(
            pressure(observed, "psi.cpu.some_ns"),
            CPU_PRESSURE_MAX,
            "cpu-pressure",
            "of the time a task waited for a processor",
            "stop other programs, or use more processors",
        ),
        above(
            pressure(observed, "psi.memory.some_ns").filter(|_| !observed.memory_limited),
            MEMORY_PRESSURE_MAX,
            "memory-pressure",
            "of the time a task waited for memory",
            "stop other programs, or use a smaller dataset",
        ),
    ];
    shares.into_iter().chain(counts(observed)).flatten().collect()
}

/// Notices about things that should not happen at all.
fn counts(observed: &Observed<'_>) -> [Option<Notice>; 3] {
    let grown = |name| value(observed, name).filter(|&value| value > 0);
    let swap_bytes = grown("vm.swap_in_bytes")
        .unwrap_or(0)
        .saturating_add(grown("vm.swap_out_bytes").unwrap_or(0));
    let swapped = (swap_bytes > 0 && !observed.memory_limited).then(|| {
        notice(
            "swapped",
            format!("{} were swapped during the phase", Bytes(swap_bytes)),
            "swapoff -a, stop other programs, or use a smaller dataset",
            swap_bytes as f64,
        )
    });
    let killed = grown("vm.oom_kills").map(|tasks| {
        notice(
            "oom-kill",
            format!("the kernel killed {tasks} task(s) for lack of memory during the phase"),
            "raise the memory limit, or stop other programs",
            tasks as f64,
        )
    });
    let balloon = grown("vm.balloon_inflated_bytes").map(|bytes| {
        notice(
            "balloon",
            format!("the hypervisor took {} of memory during the phase", Bytes(bytes)),
            "give the virtual machine memory of a fixed size",
            bytes as f64,
        )
    });
    [swapped, killed, balloon]
}

fn above(share: Option<f64>, limit: f64, code: &str, what: &str, remedy: &str) -> Option<Notice> {
    let share = share.filter(|&share| share > limit)?;
    let text = format!("{:.1} % {what}; noticed above {} %", share * 100.0, limit * 100.0);
    Some(notice(code, text, remedy, share))
}

fn notice(code: &str, text: String, remedy: &str, measure: f64) -> Notice {
    let (code, remedy) = (code.to_owned(), Some(remedy.to_owned()));
    Notice { code, text, remedy, measure: Some(measure) }
}

/// What has to be said of phase `phase`: that processors were slowed down for their heat.
#[must_use]
pub fn throttled(thermal: &ThermalRecord, phase: &str) -> Option<Notice> {
    let throttles = thermal.throttles.filter(|&count| count > 0)?;
    let hottest = thermal.sensors.iter().max_by_key(|one| one.after_millidegrees);
    let hottest = hottest.map_or_else(String::new, |one| {
        format!("; the hottest sensor, {}, had {} °C", one.sensor, one.after_millidegrees / 1000)
    });
    let text = format!(
        "phase {phase}: processors were slowed down for their heat at least {throttles} \
         times{hottest}"
    );
    let remedy = "cool the machine, or let it rest between trials, and run it again";
    let measure = Some(throttles as f64);
    Some(Notice { measure, ..Notice::new("throttled", text, Some(remedy)) })
}

fn value(observed: &Observed<'_>, name: &str) -> Option<u64> {
    observed.counters.get(name).copied()
}

/// Processor time that the machine had in the window, if that is enough to be judged.
fn machine_ns(observed: &Observed<'_>) -> Option<u64> {
    let machine_ns = observed.wall_ns.saturating_mul(u64::from(observed.cpus));
    (machine_ns >= JUDGED_MIN_NS).then_some(machine_ns)
}

fn pressure(observed: &Observed<'_>, name: &str) -> Option<f64> {
    machine_ns(observed)?;
    share(value(observed, name)?, observed.wall_ns)
}

/// A share between 0 and 1: ticks at the edges of a window can make it a little more.
fn share(part_ns: u64, whole_ns: u64) -> Option<f64> {
    (whole_ns > 0).then(|| (part_ns as f64 / whole_ns as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::thermal::SensorReading;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn codes(pairs: &[(&str, u64)], worker: WorkerUsage, memory_limited: bool) -> Vec<String> {
        let counters = pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let observed = Observed {
            counters: &counters,
            worker: &worker,
            wall_ns: 10 * SECOND,
            cpus: 2,
            memory_limited,
        };
        notices(&observed).into_iter().map(|notice| notice.code).collect()
    }

    #[test]
    fn a_quiet_machine_gets_no_notice() {
        let worker = WorkerUsage { system_ns: 9 * SECOND, ..WorkerUsage::default() };
        let quiet = [
            ("cpu.user_ns", SECOND / 2),
            ("cpu.system_ns", 19 * SECOND),
            ("cpu.steal_ns", SECOND / 10),
            ("vm.swap_in_bytes", 0),
            ("psi.cpu.some_ns", SECOND),
        ];
        assert!(codes(&quiet, worker, false).is_empty(), "kernel threads work for the worker");
        assert!(codes(&[], WorkerUsage::default(), false).is_empty(), "missing is no disturbance");
    }

    #[test]
    fn each_disturbance_is_named() {
        let loud = [
            ("cpu.user_ns", 10 * SECOND),
            ("cpu.system_ns", SECOND),
            ("cpu.steal_ns", SECOND),
            ("psi.cpu.some_ns", 3 * SECOND),
            ("psi.memory.some_ns", SECOND),
            ("vm.swap_out_bytes", 4096),
            ("vm.oom_kills", 1),
            ("vm.balloon_inflated_bytes", 4096),
        ];
        let all = ["steal", "foreign-load", "cpu-pressure", "memory-pressure", "swapped"];
        let all: Vec<_> = all.into_iter().chain(["oom-kill", "balloon"]).collect();
        assert_eq!(codes(&loud, WorkerUsage::default(), false), all);
        let limited = codes(&loud, WorkerUsage::default(), true);
        assert!(!limited.iter().any(|code| code == "swapped" || code == "memory-pressure"));
    }

    #[test]
    fn the_text_tells_share_and_threshold() {
        let counters = Counters::from([("cpu.steal_ns".to_owned(), SECOND)]);
        let worker = WorkerUsage::default();
        let observed = Observed {
            counters: &counters,
            worker: &worker,
            wall_ns: 10 * SECOND,
            cpus: 2,
            memory_limited: false,
        };
        let text = &notices(&observed)[0].text;
        assert!(text.starts_with("5.0 % of the machine") && text.ends_with("above 1 %"), "{text}");
        let short = Observed { wall_ns: SECOND / 4, ..observed };
        assert!(notices(&short).is_empty(), "too short to be judged");
    }

    proptest! {
        #[test]
        fn shares_are_shares(
            user: u64, system: u64, steal: u64, own: u64, wall_ns: u64, cpus: u32
        ) {
            let named = [("cpu.user_ns", user), ("cpu.system_ns", system), ("cpu.steal_ns", steal)];
            let counters = named
                .into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let worker = WorkerUsage { user_ns: own, ..WorkerUsage::default() };
            let observed = Observed {
                counters: &counters, worker: &worker, wall_ns, cpus, memory_limited: false,
            };
            let all = [foreign_user_share(&observed), steal_share(&observed)];
            for share in all.into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            let _ = notices(&observed);
        }
    }

    #[test]
    fn only_throttling_is_told() {
        let sensor = |sensor: &str, after_millidegrees| SensorReading {
            sensor: sensor.to_owned(),
            before_millidegrees: 40_000,
            after_millidegrees,
        };
        let sensors = vec![sensor("nvme Composite (hwmon0)", 71_900), sensor("acpi (hwmon1)", 9)];
        let mut record = ThermalRecord { sensors, throttles: Some(0) };
        assert_eq!(throttled(&record, "writes"), None);
        record.throttles = Some(12);
        let notice = throttled(&record, "writes").unwrap();
        let words =
            "heat at least 12 times; the hottest sensor, nvme Composite (hwmon0), had 71 °C";
        assert!(notice.text.contains(words), "{}", notice.text);
        assert_eq!(notice.measure, Some(12.0));
        record.throttles = None;
        assert_eq!(throttled(&record, "writes"), None);
    }
}
