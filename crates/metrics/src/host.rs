//! Facts about the host that are stored with every result; identity of a boot and of a process.
//!
//! A fact that the kernel does not tell is left empty: a host is never a reason to fail.

use crate::Roots;
use crate::facts::settings;
use crate::read_file::{Keyed, Scale, parse_keyed, text};
use crate::worker::{fields, state};
use fsarena_model::host::Host;

/// The host as it is now.
#[must_use]
pub fn host(roots: &Roots) -> Host {
    let kernel = |name: &str| text(&roots.proc.join("sys/kernel").join(name));
    let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    let [memory, swap] = meminfo(
        roots,
        &[
            Keyed { key: b"MemTotal:", scale: Scale::Kib },
            Keyed { key: b"SwapTotal:", scale: Scale::Kib },
        ],
    );
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
fn distribution(roots: &Roots) -> Option<String> {
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
pub fn processors(roots: &Roots) -> u32 {
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
pub fn available_bytes(roots: &Roots) -> Option<u64> {
    let [available] = meminfo(roots, &[Keyed { key: b"MemAvailable:", scale: Scale::Kib }]);
    available
}

/// Values of `/proc/meminfo` by key.
fn meminfo<const N: usize>(roots: &Roots, keys: &'static [Keyed; N]) -> [Option<u64>; N] {
    let text = std::fs::read(roots.proc.join("meminfo")).unwrap_or_default();
    let mut values = [None; N];
    // A malformed line leaves its value empty here; `Sources::open` is where it is an error.
    let _ = parse_keyed(&text, keys, &mut values);
    values
}

/// What runs this machine, from the most to the least telling source; `None` on bare metal.
fn hypervisor(roots: &Roots, cpuinfo: &str) -> Option<String> {
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
pub fn boot_id(roots: &Roots) -> Option<String> {
    text(&roots.proc.join("sys/kernel/random/boot_id")).filter(|id| !id.is_empty())
}

/// When a process started, in clock ticks since boot; `None` where there is no such process, or it
/// has ended and only waits for its parent to notice (a zombie does nothing any more).
///
/// With the process number and [`boot_id`] it names a process for ever.
/// (`/proc/PID/stat`, value 22.)
#[must_use]
pub fn process_start_ticks(roots: &Roots, pid: u32) -> Option<u64> {
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
pub fn page_reporting_active(roots: &Roots) -> bool {
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
