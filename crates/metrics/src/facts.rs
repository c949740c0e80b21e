//! Facts about the host that are stored with every result; identity of a boot and of a process.
//!
//! A fact that the kernel does not tell is left empty: a host is never a reason to fail. Settings
//! are read from one small file each; one line a setting: its name in records, the root it is
//! below, its path, how it is written.

use crate::KernelRoots;
use crate::read_file::{Keyed, parse_keyed, text};
use crate::worker::{fields, state};
use fsarena_model::host::Host;
use std::collections::BTreeMap;
use std::path::Path;

/// The host as it is now.
#[must_use]
pub fn host(roots: &KernelRoots) -> Host {
    let kernel = |name: &str| text(&roots.proc.join("sys/kernel").join(name));
    let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    let [memory, swap] = meminfo(roots, ["MemTotal:", "SwapTotal:"]);
    let clocksource = "devices/system/clocksource/clocksource0/current_clocksource";
    let governor = "devices/system/cpu/cpu0/cpufreq/scaling_governor";
    Host {
        hostname: kernel("hostname").unwrap_or_default(),
        os: kernel("ostype").unwrap_or_else(|| "Linux".to_owned()),
        kernel_release: kernel("osrelease").unwrap_or_default(),
        kernel_version: kernel("version").unwrap_or_default(),
        // The file exists since 6.1; before, this program's own architecture is the best guess.
        architecture: kernel("arch").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        distribution: distribution(roots),
        cpu_model: cpu_model(&cpuinfo),
        cpus: processors(roots),
        memory_bytes: memory.unwrap_or(0),
        swap_bytes: swap.unwrap_or(0),
        boot_id: boot_id(roots).unwrap_or_default(),
        hypervisor: hypervisor(roots, &cpuinfo),
        clocksource: text(&roots.sys.join(clocksource)),
        governor: text(&roots.sys.join(governor)),
        page_reporting: page_reporting_active(roots),
        settings: settings(roots),
    }
}

/// `PRETTY_NAME` of os-release(5).
fn distribution(roots: &KernelRoots) -> Option<String> {
    let release = text(&roots.etc.join("os-release"))?;
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// The first value of a key in `/proc/cpuinfo`.
fn cpuinfo_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// x86 says `model name`, POWER `cpu`, old ARM `Processor`, MIPS `cpu model`; arm64 says nothing.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let keys = ["model name", "cpu model", "Processor", "cpu"];
    keys.iter().find_map(|key| cpuinfo_value(cpuinfo, key)).map(str::to_owned)
}

/// Processors online: the list in sysfs, else those in cpuinfo, else what this process may use.
#[must_use]
pub fn processors(roots: &KernelRoots) -> u32 {
    let listed = text(&roots.sys.join("devices/system/cpu/online")).and_then(|list| count(&list));
    let counted = || {
        let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
        let lines = cpuinfo.lines().filter(|line| line.starts_with("processor"));
        u32::try_from(lines.count()).ok().filter(|&count| count > 0)
    };
    let usable = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    listed.or_else(counted).unwrap_or_else(usable)
}

/// Length of a list such as `0-3,8,10-11`.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0u32, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// MemAvailable of `/proc/meminfo`, bytes; `None` before kernel 3.14.
#[must_use]
pub fn available_bytes(roots: &KernelRoots) -> Option<u64> {
    let [available] = meminfo(roots, ["MemAvailable:"]);
    available
}

/// Values of `/proc/meminfo` by key.
fn meminfo<const N: usize>(roots: &KernelRoots, keys: [&'static str; N]) -> [Option<u64>; N] {
    let text = std::fs::read(roots.proc.join("meminfo")).unwrap_or_default();
    let mut values = [None; N];
    // A malformed line leaves its value empty here; `Sources::open` is where it is an error.
    let _ = parse_keyed(&text, keys.map(Keyed::kib).into_iter(), &mut values);
    values
}

/// What runs this machine, from the most to the least telling source; `None` on bare metal.
fn hypervisor(roots: &KernelRoots, cpuinfo: &str) -> Option<String> {
    let sys = |path: &str| text(&roots.sys.join(path)).filter(|value| !value.is_empty());
    if let Some(kind) = sys("hypervisor/type") {
        return Some(kind);
    }
    let compatible = text(&roots.proc.join("device-tree/hypervisor/compatible"));
    if let Some(first) = compatible.and_then(|list| list.split('\0').next().map(str::to_owned)) {
        return Some(first);
    }
    let flags = cpuinfo_value(cpuinfo, "flags").unwrap_or_default();
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return None;
    }
    let names = [sys("class/dmi/id/sys_vendor"), sys("class/dmi/id/product_name")];
    let named = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    if !named.is_empty() {
        return Some(named);
    }
    let clocks = "devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = sys(clocks).unwrap_or_default();
    let by_clock = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    let found = by_clock.iter().find(|(clock, _)| clocks.contains(clock));
    Some(found.map_or("not named", |(_, name)| name).to_owned())
}

/// Identity of one uptime of the machine; `None` where the kernel does not tell (some sandboxes).
#[must_use]
pub fn boot_id(roots: &KernelRoots) -> Option<String> {
    text(&roots.proc.join("sys/kernel/random/boot_id")).filter(|id| !id.is_empty())
}

/// When a process started, in clock ticks since boot; `None` where there is no such process, or it
/// has ended and only waits for its parent to notice (a zombie does nothing any more).
///
/// With the process number and [`boot_id`] it names a process for ever.
/// (`/proc/PID/stat`, value 22.)
#[must_use]
pub fn process_start_ticks(roots: &KernelRoots, pid: u32) -> Option<u64> {
    let stat = std::fs::read(roots.proc.join(pid.to_string()).join("stat")).ok()?;
    let ended = matches!(state(&stat), Some(b'Z' | b'X'));
    fields(&stat, [22]).ok().map(|[start]| start).filter(|_| !ended)
}

/// Whether a virtio balloon reports free pages to the hypervisor, which takes them away so that
/// their next touch is slow.
///
/// Read from `/sys/bus/virtio/devices/*`: device 5 is a balloon, and the negotiated feature bit 5
/// is `VIRTIO_BALLOON_F_REPORTING` (virtio 1.2, 5.5.3). Hyper-V reports pages too (hv_balloon) and
/// has no file that tells: not seen here.
#[must_use]
pub fn page_reporting_active(roots: &KernelRoots) -> bool {
    let Ok(devices) = std::fs::read_dir(roots.sys.join("bus/virtio/devices")) else {
        return false;
    };
    devices.flatten().any(|device| {
        let file = |name| text(&device.path().join(name)).unwrap_or_default();
        let balloon = u32::from_str_radix(file("device").trim_start_matches("0x"), 16) == Ok(5);
        balloon
            && device.path().join("driver").exists()
            && file("features").as_bytes().get(5) == Some(&b'1')
    })
}

/// Root of a setting.
#[derive(Clone, Copy)]
enum Root {
    /// procfs.
    Proc,
    /// sysfs.
    Sys,
}

/// How a setting is written in its file.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Plain,
    /// All choices, the one in force in brackets: `always [madvise] never`.
    Chosen,
}

use Form::{Chosen, Plain};
use Root::{Proc, Sys};

/// Settings that can change a result. Documentation/admin-guide/sysctl/vm.rst for `vm/*`.
const SETTINGS: &[(&str, Root, &str, Form)] = &[
    ("dirty_background_bytes", Proc, "sys/vm/dirty_background_bytes", Plain),
    ("dirty_background_ratio", Proc, "sys/vm/dirty_background_ratio", Plain),
    ("dirty_bytes", Proc, "sys/vm/dirty_bytes", Plain),
    ("dirty_expire_centisecs", Proc, "sys/vm/dirty_expire_centisecs", Plain),
    ("dirty_ratio", Proc, "sys/vm/dirty_ratio", Plain),
    ("dirty_writeback_centisecs", Proc, "sys/vm/dirty_writeback_centisecs", Plain),
    ("laptop_mode", Proc, "sys/vm/laptop_mode", Plain),
    ("min_free_kib", Proc, "sys/vm/min_free_kbytes", Plain),
    ("no_turbo", Sys, "devices/system/cpu/intel_pstate/no_turbo", Plain),
    ("numa_nodes", Sys, "devices/system/node/online", Plain),
    ("smt", Sys, "devices/system/cpu/smt/control", Plain),
    ("swappiness", Proc, "sys/vm/swappiness", Plain),
    ("thp", Sys, "kernel/mm/transparent_hugepage/enabled", Chosen),
    ("thp_defrag", Sys, "kernel/mm/transparent_hugepage/defrag", Chosen),
    ("thp_shmem", Sys, "kernel/mm/transparent_hugepage/shmem_enabled", Chosen),
    ("vfs_cache_pressure", Proc, "sys/vm/vfs_cache_pressure", Plain),
    ("zswap", Sys, "module/zswap/parameters/enabled", Plain),
];

/// All settings that this kernel has.
fn settings(roots: &KernelRoots) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for &(name, root, path, form) in SETTINGS {
        let root = match root {
            Proc => &roots.proc,
            Sys => &roots.sys,
        };
        let value = text(&root.join(path)).filter(|value| !value.is_empty());
        if let Some(value) = value.map(|value| read_form(&value, form)) {
            found.insert(name.to_owned(), value);
        }
    }
    let loadavg = text(&roots.proc.join("loadavg"));
    let composed = [
        ("load_1m", loadavg.and_then(|text| text.split(' ').next().map(str::to_owned))),
        ("cgroup", Some(cgroup(roots).to_owned())),
        ("psi", Some(if psi_works(roots) { "on" } else { "off" }.to_owned())),
        ("vulnerable", vulnerabilities(roots, "Vulnerable")),
        ("mitigated", vulnerabilities(roots, "Mitigation")),
    ];
    for (name, value) in composed {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            found.insert(name.to_owned(), value);
        }
    }
    found
}

fn read_form(value: &str, form: Form) -> String {
    let chosen = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match (form, chosen) {
        (Chosen, Some((chosen, _))) => chosen.to_owned(),
        _ => value.to_owned(),
    }
}

/// Which cgroup hierarchies are mounted: `v1`, `v2`, `hybrid` (both), `none`.
fn cgroup(roots: &KernelRoots) -> &'static str {
    // `self` is a link in procfs; mountinfo(5): the type follows the lone dash.
    let mounts = text(&roots.proc.join("self/mountinfo")).unwrap_or_default();
    let has = |wanted: &str| {
        mounts.lines().any(|line| {
            line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next()) == Some(wanted)
        })
    };
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => "hybrid",
        (true, false) => "v1",
        (false, true) => "v2",
        (false, false) => "none",
    }
}

fn psi_works(roots: &KernelRoots) -> bool {
    text(&roots.proc.join("pressure/io")).is_some_and(|text| text.starts_with("some "))
}

/// Names of the processor vulnerabilities in a state, sorted: mitigations make system calls slower.
fn vulnerabilities(roots: &KernelRoots, state: &str) -> Option<String> {
    let directory = roots.sys.join("devices/system/cpu/vulnerabilities");
    let entries = std::fs::read_dir(directory).ok()?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| in_state(&entry.path(), state))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Some(names.join(" "))
}

fn in_state(path: &Path, state: &str) -> bool {
    text(path).is_some_and(|text| text.starts_with(state))
}

/// Mean frequency of the processors now, kHz; `None` where the kernel does not tell, as in most
/// virtual machines.
#[must_use]
pub fn frequency_khz(roots: &KernelRoots) -> Option<u64> {
    let cpus = std::fs::read_dir(roots.sys.join("devices/system/cpu")).ok()?;
    let paths = cpus.flatten().map(|cpu| cpu.path().join("cpufreq/scaling_cur_freq"));
    let all: Vec<u64> = paths.filter_map(|path| text(&path)?.parse().ok()).collect();
    let sum = all.iter().try_fold(0u64, |sum, khz| sum.checked_add(*khz))?;
    sum.checked_div(all.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_lists() {
        assert_eq!(count("0-3,8,10-11"), Some(7));
        assert_eq!(count("0"), Some(1));
        for bad in ["", "3-1", "a-b", "0-4294967295", "0,,1"] {
            assert_eq!(count(bad), None, "{bad}");
        }
    }
}
