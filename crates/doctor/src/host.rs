//! Checks of the machine: one function each, in the order of [`crate::CHECKS`].
//!
//! A check reads, judges and says what mends it; it changes nothing.

use crate::check::{CheckResult, Checked};
use crate::read::{self, percent};
use crate::snapshot::{SystemSnapshot, swaps};
use fsarena_bounded::Bounded;
use fsarena_metrics::disturb::STEAL_SHARE_MAX;
use fsarena_model::units::Bytes;
use fsarena_process::memory_group::NO_LIMIT_BYTES;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

/// Frequency governor of the processors (Documentation/admin-guide/pm/cpufreq.rst).
pub(crate) fn governor(snapshot: &SystemSnapshot) -> Checked {
    let dir = snapshot.roots.sys.join("devices/system/cpu");
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    let cpus = read::names(&dir)?.into_iter().filter(is_cpu);
    let of = |cpu: String| read::text(&dir.join(cpu).join("cpufreq/scaling_governor")).ok();
    let found: BTreeSet<String> = cpus.filter_map(of).filter(|name| !name.is_empty()).collect();
    let list = found.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Ok(match found.len() {
        0 => CheckResult::unknown(
            "this kernel does not set the frequency of the CPUs (no scaling_governor); the \
             firmware or the hypervisor does",
        ),
        1 if list == "performance" => CheckResult::fine("the governor is performance"),
        _ => CheckResult::warning(
            format!("the governor is {list}"),
            "it lowers the frequency while the work waits for the disk, so that short operations \
             are slower than long ones by an amount that changes",
        )
        .remedy("set the governor to performance while measuring")
        .command("sudo cpupower frequency-set -g performance"),
    })
}

/// Frequencies above the nominal one: `intel_pstate/no_turbo`, `cpufreq/boost`.
pub(crate) fn turbo(snapshot: &SystemSnapshot) -> Checked {
    let cpu = snapshot.roots.sys.join("devices/system/cpu");
    let (intel, boost) = (cpu.join("intel_pstate/no_turbo"), cpu.join("cpufreq/boost"));
    let (file, off, is_on) = if intel.exists() {
        let is_off = read::flag(&intel);
        (intel, "1", is_off.map(|off| !off))
    } else if boost.exists() {
        let is_on = read::flag(&boost);
        (boost, "0", is_on)
    } else {
        let reason = "this kernel does not tell whether the CPUs go above their nominal \
                      frequency (no intel_pstate/no_turbo, no cpufreq/boost)";
        return Ok(CheckResult::unknown(reason));
    };
    Ok(match is_on? {
        false => CheckResult::fine("turbo is off"),
        true => CheckResult::note(
            "turbo is on",
            "how long the CPUs stay above their nominal frequency depends on heat and on \
             what the others do",
        )
        .remedy("switch it off where small differences matter")
        .command(read::echo(off, &file)),
    })
}

/// Two hardware threads on one core (`smt/active`).
pub(crate) fn smt(snapshot: &SystemSnapshot) -> Checked {
    let dir = snapshot.roots.sys.join("devices/system/cpu/smt");
    Ok(match read::flag(&dir.join("active"))? {
        false => CheckResult::fine("no core runs two threads (SMT is off or absent)"),
        true => CheckResult::note(
            "SMT is on: two CPUs share a core",
            "a worker is slower while something runs on the other half of its core, and CPU load \
             is not proportional to work",
        )
        .remedy("switch it off where CPU figures matter, or keep to whole cores with --cpus")
        .command(read::echo("off", &dir.join("control"))),
    })
}

/// Read in the processor itself, in a few ns: x86, arm64, RISC-V, POWER and s390.
const QUICK_CLOCKS: [&str; 6] = [
    "tsc",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
    "tod",
    "hyperv_clocksource_tsc_page",
];
/// Read in the processor with a page of the hypervisor.
const PAGE_CLOCKS: [&str; 2] = ["kvm-clock", "xen"];

/// The clock that the kernel reads (Documentation/timers/timekeeping.rst).
pub(crate) fn clock_source(snapshot: &SystemSnapshot) -> Checked {
    let dir = snapshot.roots.sys.join("devices/system/clocksource/clocksource0");
    let file = dir.join("current_clocksource");
    let name = read::text(&file)?;
    if name.is_empty() {
        return Ok(CheckResult::unknown(format!("{}: empty", file.display())));
    }
    let reading = format!("the clock is {name}");
    if QUICK_CLOCKS.contains(&name.as_str()) {
        return Ok(CheckResult::fine(reading));
    }
    let why = "reading the clock costs more than with tsc, and each operation reads it twice; \
               latencies of short operations are longer by that";
    let result = match PAGE_CLOCKS.contains(&name.as_str()) {
        true => CheckResult::note(reading, why),
        false => CheckResult::warning(reading, why),
    };
    let others = read::text(&dir.join("available_clocksource")).unwrap_or_default();
    Ok(match others.split_whitespace().any(|other| other == "tsc") {
        true => result.remedy("use tsc").command(read::echo("tsc", &file)),
        false => {
            result.remedy("find out in the kernel's log why tsc is not used (dmesg | grep tsc)")
        }
    })
}

/// Memory in several nodes (`node/online`).
pub(crate) fn numa(snapshot: &SystemSnapshot) -> Checked {
    let file = snapshot.roots.sys.join("devices/system/node/online");
    let nodes = read::text(&file)?;
    let is_list = nodes.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b',');
    Ok(if nodes.is_empty() || !is_list {
        CheckResult::unknown(format!(
            "{}: found {nodes:?}, expected a list of nodes",
            file.display()
        ))
    } else if nodes.contains(['-', ',']) {
        CheckResult::note(
            format!("memory is in the NUMA nodes {nodes}"),
            "a run whose pages are on the node of the worker and of the disk is faster than one \
             where they are not, and chance decides",
        )
        .remedy("keep the work to the CPUs of one node with --cpus")
        .command("lscpu --extended=CPU,NODE")
    } else {
        CheckResult::fine("memory is in one NUMA node")
    })
}

/// Whether this is a virtual machine.
pub(crate) fn virtual_machine(snapshot: &SystemSnapshot) -> Checked {
    if let Some(name) = &snapshot.host.hypervisor {
        let why = "the host below has caches, limits and other guests that are not seen here; \
                   figures hold for this machine as it is, not for its disk";
        return Ok(CheckResult::note(format!("a virtual machine ({name})"), why)
            .remedy("name the kind of machine and its disk with the figures"));
    }
    let told = snapshot.roots.proc.join("cpuinfo").exists();
    Ok(match told {
        true => CheckResult::fine("no hypervisor"),
        false => {
            CheckResult::unknown("/proc/cpuinfo: not there, so a hypervisor would not be seen")
        }
    })
}

/// Free memory that is handed to the hypervisor (virtio balloon).
pub(crate) fn page_reporting(snapshot: &SystemSnapshot) -> Checked {
    let devices = snapshot.roots.sys.join("bus/virtio/devices");
    let hypervisor = snapshot.host.hypervisor.as_deref();
    Ok(match (snapshot.host.page_reporting, hypervisor) {
        (true, _) => CheckResult::warning(
            "free page reporting is enabled: the hypervisor reclaims free pages",
            "the first touch of such a page waits for the hypervisor: writing into the page cache \
             is slow after a pause, and fast just before one",
        )
        .remedy(
            "switch free page reporting of the balloon off in the hypervisor, or give the machine \
             memory of a fixed size",
        ),
        (false, _) if devices.is_dir() => CheckResult::fine("no balloon reports free memory"),
        (false, None) => CheckResult::fine("no hypervisor that could take memory away"),
        (false, Some(name)) => CheckResult::unknown(format!(
            "whether {name} takes free memory away is unknown (no /sys/bus/virtio/devices)"
        )),
    })
}

/// Busy share of the machine above which it is said.
const BUSY_NOTE: f64 = 0.05;
/// Above which it changes figures: a quarter of the machine is gone.
const BUSY_WARNING: f64 = 0.25;

/// Work of others: the share of the processors that is busy while nothing is measured yet.
pub(crate) fn load(snapshot: &SystemSnapshot) -> Checked {
    let processors = snapshot.sample.processors()?;
    let average = fsarena_metrics::load_and_pressure(&snapshot.roots).load_1m;
    let average = average.map(|load| format!("; load average {load:.2}")).unwrap_or_default();
    let cpus = match snapshot.host.cpus {
        1 => "the CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    let reading = format!("{} of {cpus} busy in one second{average}", percent(processors.busy));
    let why = "other processes take CPUs, memory and the disk from the work, at times \
               that cannot be repeated";
    let result = match processors.busy {
        busy if busy > BUSY_WARNING => CheckResult::warning(reading, why),
        busy if busy > BUSY_NOTE => CheckResult::note(reading, why),
        _ => return Ok(CheckResult::fine(reading)),
    };
    Ok(result.remedy("identify the process and stop it").command("top -o %CPU"))
}

/// Time that the hypervisor gives to others (`/proc/stat`, steal).
pub(crate) fn steal(snapshot: &SystemSnapshot) -> Checked {
    let stolen = snapshot.sample.processors().and_then(|processors| processors.stolen)?;
    let reading = format!("{} of the CPU time stolen in one second", percent(stolen));
    Ok(match stolen {
        stolen if stolen > STEAL_SHARE_MAX => CheckResult::warning(
            reading,
            "the hypervisor runs other guests while the work waits, and no clock here sees that",
        )
        .remedy("run when the physical host is quiet, or on one with CPUs of its own"),
        _ => CheckResult::fine(reading),
    })
}

/// Share of ten seconds in which something waited above which it is said.
const WAITED_MAX: f64 = 0.05;

/// Tasks that wait for the disk or for memory (`/proc/pressure`, the last ten seconds).
pub(crate) fn pressure(snapshot: &SystemSnapshot) -> Checked {
    let load = fsarena_metrics::load_and_pressure(&snapshot.roots);
    let (Some(io), Some(memory)) = (load.io_pressure_10s, load.memory_pressure_10s) else {
        let reason = "this kernel does not tell who waits for the disk or memory (no PSI in \
                      /proc/pressure; psi=1 at boot switches it on)";
        return Ok(CheckResult::unknown(reason));
    };
    let reading = format!(
        "tasks waited for the disk {}, for memory {} of the last ten seconds",
        percent(io),
        percent(memory)
    );
    let why = "something else uses the disk or fills the memory; write-back of it goes on into \
               the first phases";
    Ok(match io > WAITED_MAX || memory > WAITED_MAX {
        true => CheckResult::warning(reading, why)
            .remedy("wait until it is over, or identify the process")
            .command("cat /proc/pressure/io /proc/pressure/memory"),
        false => CheckResult::fine(reading),
    })
}

/// Swap of the machine (`/proc/swaps`).
pub(crate) fn swap(snapshot: &SystemSnapshot) -> Checked {
    let areas = swaps(&snapshot.roots)?;
    let all = Bytes(areas.iter().fold(0, |sum, area| sum + area.all_bytes));
    let used = Bytes(areas.iter().fold(0, |sum, area| sum + area.used_bytes));
    Ok(match (areas.is_empty(), used.0) {
        (true, _) => CheckResult::fine("there is no swap"),
        (false, 0) => CheckResult::note(
            format!("{all} of swap, not in use"),
            "memory may be written to a disk during a phase; a phase in which that happens says so",
        )
        .remedy("switch it off while measuring")
        .command("sudo swapoff -a"),
        (false, _) => CheckResult::warning(
            format!("{used} of {all} of swap are in use"),
            "what was swapped out is read again when it is touched, which may be in a phase",
        )
        .remedy("stop other programs, and switch swap off while measuring")
        .command("sudo swapoff -a"),
    })
}

/// Compressed memory before swap, or as swap (zswap, zram).
pub(crate) fn compressed_swap(snapshot: &SystemSnapshot) -> Checked {
    let areas = swaps(&snapshot.roots)?;
    let file = snapshot.roots.sys.join("module/zswap/parameters/enabled");
    let enabled = match file.exists() {
        false => Ok(false),
        true => read::parsed(&file, "Y or N", |text| match text {
            "Y" | "1" => Some(true),
            "N" | "0" => Some(false),
            _ => None,
        }),
    };
    let is_zram = areas.iter().any(|area| area.name.to_string_lossy().contains("zram"));
    let why = "under a memory limit, pages are compressed instead of written: CPU time is \
               spent where others have device traffic";
    Ok(match enabled {
        _ if is_zram => CheckResult::note("swap is on zram", why)
            .remedy("switch it off while measuring")
            .command("sudo swapoff -a"),
        Err(reason) => CheckResult::unknown(reason),
        Ok(true) if !areas.is_empty() => CheckResult::note("zswap is on", why)
            .remedy("switch it off while measuring")
            .command(read::echo("N", &file)),
        Ok(_) => CheckResult::fine("no swap is compressed"),
    })
}

/// Limits of the control groups that this program runs in, up to the root (cgroup v2 and v1).
pub(crate) fn cgroup_limits(snapshot: &SystemSnapshot) -> Checked {
    let own = read::text(&snapshot.roots.proc.join("self/cgroup"))?;
    let mount = snapshot.roots.sys.join("fs/cgroup");
    let (mut limits, mut seen) = (Vec::new(), false);
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            let reason = format!("/proc/self/cgroup: line {line:?} is not understood");
            return Ok(CheckResult::unknown(reason));
        };
        let unified = mount.join("unified");
        let root = match names {
            "" if unified.is_dir() => unified,
            "" => mount.clone(),
            names => mount.join(names.trim_start_matches("name=")),
        };
        let leaf = Path::new(path.trim_start_matches('/'));
        for group in leaf.ancestors() {
            seen |= add_limits_of_group(&root.join(group), &mut limits);
        }
    }
    limits.sort();
    limits.dedup();
    Ok(if !limits.is_empty() {
        CheckResult::warning(
            format!("the control group of this program has limits: {}", limits.join(", ")),
            "they slow the work down or throw pages of the cache away, and nothing in the figures \
             shows it",
        )
        .remedy("run outside of the container or slice that sets them")
        .command("cat /proc/self/cgroup")
    } else if seen {
        CheckResult::fine("no control group limits memory, CPUs or I/O")
    } else {
        CheckResult::unknown(
            "the limits of control groups cannot be read: none of their files is there",
        )
    })
}

/// Adds the limits in force of one group; whether it had any of the files.
fn add_limits_of_group(dir: &Path, limits: &mut Vec<String>) -> bool {
    let mut seen = false;
    let mut take = |file: &str, limit: &dyn Fn(&str) -> Option<String>| {
        if let Ok(text) = read::text(&dir.join(file)) {
            seen = true;
            limits.extend(limit(&text).map(|text| format!("{file} {text}")));
        }
    };
    let memory = |text: &str| {
        let bytes = text.parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)?;
        Some(Bytes(bytes).to_string())
    };
    let first_of_two =
        |text: &str| (!text.is_empty() && !text.starts_with("max")).then(|| text.to_owned());
    let lines =
        |text: &str| (!text.is_empty()).then(|| text.lines().collect::<Vec<_>>().join("; "));
    let quota = |text: &str| text.parse::<u64>().ok().map(|us| format!("{us} µs"));
    for file in ["memory.max", "memory.high", "memory.limit_in_bytes"] {
        take(file, &memory);
    }
    take("cpu.max", &first_of_two);
    take("io.max", &lines);
    take("cpu.cfs_quota_us", &quota);
    for what in ["read_bps", "write_bps", "read_iops", "write_iops"] {
        take(&format!("blkio.throttle.{what}_device"), &lines);
    }
    seen
}

/// What the kernel begins with; `_bytes` of 0 leave it to the ratio.
pub(crate) const DIRTY_DEFAULTS: [(&str, u64); 7] = [
    ("dirty_background_ratio", 10),
    ("dirty_ratio", 20),
    ("dirty_background_bytes", 0),
    ("dirty_bytes", 0),
    ("dirty_expire_centisecs", 3000),
    ("dirty_writeback_centisecs", 500),
    ("laptop_mode", 0),
];

/// When written data leave memory (Documentation/admin-guide/sysctl/vm.rst).
pub(crate) fn dirty_limits(snapshot: &SystemSnapshot) -> Checked {
    let dir = snapshot.roots.proc.join("sys/vm");
    let mut values = Vec::new();
    for (name, default) in DIRTY_DEFAULTS {
        match read::number(&dir.join(name)) {
            Ok(value) => values.push((name, value, default)),
            // The latest kernels have no laptop mode.
            Err(_) if name == "laptop_mode" && !dir.join(name).exists() => {}
            Err(reason) => return Err(reason.into()),
        }
    }
    let in_bytes = |name: &str| {
        let bytes = name.replace("ratio", "bytes");
        bytes != name && values.iter().any(|&(other, value, _)| other == bytes && value > 0)
    };
    let differs =
        |&&(name, value, default): &&(&str, u64, u64)| value != default && !in_bytes(name);
    let differing: Vec<_> = values.iter().filter(differs).collect();
    if differing.is_empty() {
        return Ok(CheckResult::fine(
            "dirty limits are the kernel's own (10 % and 20 %, 5 s and 30 s)",
        ));
    }
    let show = |(name, value, default): &&(&str, u64, u64)| {
        format!("vm.{name} is {value} (not {default})")
    };
    let list = differing.iter().map(show).collect::<Vec<_>>().join(", ");
    let set = |(name, _, default): &&(&str, u64, u64)| format!("vm.{name}={default}");
    let back = differing.iter().map(set).collect::<Vec<_>>().join(" ");
    let why = "these decide how much of the work only fills memory; times until `returned` are \
               not those of a machine with the kernel's own limits";
    Ok(CheckResult::note(list, why)
        .remedy("use the kernel's own limits, or say these with the figures")
        .command(format!("sudo sysctl {back}")))
}

/// Whether a battery feeds the machine (`/sys/class/power_supply`).
pub(crate) fn battery(snapshot: &SystemSnapshot) -> Checked {
    let class = snapshot.roots.sys.join("class/power_supply");
    let names = read::names(&class)?;
    let mut batteries = Vec::new();
    for name in &names {
        let dir = class.join(name);
        // Those of mice and headsets say that they feed only themselves.
        if read::text(&dir.join("scope")).is_ok_and(|scope| scope == "Device") {
            continue;
        }
        if read::text(&dir.join("type"))? == "Battery" {
            batteries.push(read::text(&dir.join("status"))?);
        }
    }
    Ok(if batteries.is_empty() {
        CheckResult::fine("no battery")
    } else if batteries.iter().any(|status| status == "Discharging") {
        CheckResult::warning(
            "the machine runs on its battery",
            "CPUs and disks are slowed down to save it, the more the emptier it gets",
        )
        .remedy("connect it to the mains")
    } else if batteries.iter().any(|status| status == "Unknown" || status.is_empty()) {
        CheckResult::unknown("the battery does not say whether it is in use")
    } else {
        CheckResult::fine("the machine runs on the mains")
    })
}

/// Options that make file systems several times slower, as in `.config`. Those that only make it
/// possible to switch something on at boot are not among them.
const SLOW_OPTIONS: [&str; 9] = [
    "CONFIG_DEBUG_KMEMLEAK",
    "CONFIG_DEBUG_OBJECTS",
    "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "CONFIG_KASAN",
    "CONFIG_KCSAN",
    "CONFIG_KMSAN",
    "CONFIG_LOCKDEP",
    "CONFIG_PROVE_LOCKING",
    "CONFIG_SLUB_DEBUG_ON",
];
/// Options that are needed for one of the above to be in force.
const OFF_BY_OPTION: [(&str, &str); 1] =
    [("CONFIG_DEBUG_KMEMLEAK", "CONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y")];
/// A `.config` is far smaller, bytes.
const CONFIG_MAX_BYTES: u64 = 4 << 20;

/// Options of the kernel that look for its own mistakes, at the price of its speed.
pub(crate) fn debug_kernel(snapshot: &SystemSnapshot) -> Checked {
    let proc = &snapshot.roots.proc;
    if proc.join("lockdep").exists() {
        return Ok(kernel_debugs_itself("LOCKDEP"));
    }
    let path = proc.join("config.gz");
    let config = match read_config(&path) {
        Ok(config) => config,
        Err(error) => {
            let reason = format!(
                "how this kernel was built is unknown ({}: {error}); lock debugging is off",
                path.display()
            );
            return Ok(CheckResult::unknown(reason));
        }
    };
    let has = |line: &str| config.lines().any(|known| known == line);
    let excused =
        |name: &str| OFF_BY_OPTION.iter().any(|(known, line)| *known == name && has(line));
    let in_force = SLOW_OPTIONS.iter().filter(|name| has(&format!("{name}=y")) && !excused(name));
    let names: Vec<&str> = in_force.filter_map(|name| name.strip_prefix("CONFIG_")).collect();
    Ok(match names.is_empty() {
        true => CheckResult::fine("the kernel is built without costly debugging"),
        false => kernel_debugs_itself(&names.join(", ")),
    })
}

fn kernel_debugs_itself(names: &str) -> CheckResult {
    CheckResult::bad(
        format!("the kernel debugs itself: {names}"),
        "file systems are several times slower so, and not all by the same factor",
    )
    .remedy("boot a kernel without these options")
}

fn read_config(path: &Path) -> io::Result<String> {
    let gzip = flate2::read::GzDecoder::new(File::open(path)?);
    let text = Bounded::new(gzip, CONFIG_MAX_BYTES).whole_text()?;
    if text.lines().any(|line| line.starts_with("CONFIG_")) {
        Ok(text)
    } else {
        Err(io::Error::other("names no option"))
    }
}
