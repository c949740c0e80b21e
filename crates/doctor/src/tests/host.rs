//! The checks of the machine, each on a fake machine.

use crate::check::HOST;
use crate::fixtures::{busy, check_result, host, host_with, quiet, snapshot, tree};
use crate::host::DIRTY_DEFAULTS;
use crate::sample::Sample;
use std::io::Write as _;

const GOVERNOR_FILE: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

#[test]
fn governors() {
    let weight = |files: &[(&str, &str)]| host("governor", files).0;
    assert_eq!(weight(&[(GOVERNOR_FILE, "performance\n")]), "fine");
    assert_eq!(weight(&[(GOVERNOR_FILE, "powersave\n")]), "warning");
    let other = GOVERNOR_FILE.replace("cpu0", "cpu1");
    let mixed = host("governor", &[(GOVERNOR_FILE, "performance\n"), (&other, "schedutil\n")]);
    assert_eq!(mixed, ("warning".to_owned(), "the governor is performance, schedutil".to_owned()));
    assert_eq!(weight(&[("sys/devices/system/cpu/cpu0/topology/core_id", "0\n")]), "unknown");
    assert_eq!(weight(&[(GOVERNOR_FILE, "\n")]), "unknown", "an empty file names no governor");
    assert_eq!(weight(&[]), "unknown");
}

#[test]
fn turbo() {
    let weight = |file: &str, value: &str| host("turbo", &[(file, value)]).0;
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let boost = "sys/devices/system/cpu/cpufreq/boost";
    assert_eq!(weight(intel, "1\n"), "fine");
    assert_eq!(weight(intel, "0\n"), "note");
    assert_eq!(weight(boost, "0\n"), "fine");
    assert_eq!(weight(boost, "1\n"), "note");
    assert_eq!(weight(boost, "yes\n"), "unknown");
    assert_eq!(host("turbo", &[]).0, "unknown");
}

#[test]
fn smt() {
    let weight = |value: &str| host("smt", &[("sys/devices/system/cpu/smt/active", value)]).0;
    assert_eq!(weight("0\n"), "fine");
    assert_eq!(weight("1\n"), "note");
    assert_eq!(weight("maybe\n"), "unknown");
    assert_eq!(host("smt", &[]).0, "unknown");
}

const CLOCK_SOURCE_FILE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

#[test]
fn clock_sources() {
    let weight = |name: &str| host("clock-source", &[(CLOCK_SOURCE_FILE, name)]).0;
    assert_eq!(weight("tsc\n"), "fine");
    assert_eq!(weight("kvm-clock\n"), "note");
    assert_eq!(weight("hpet\n"), "warning");
    assert_eq!(weight("\n"), "unknown");
    assert_eq!(host("clock-source", &[]).0, "unknown");
}

#[test]
fn numa() {
    let weight = |list: &str| host("numa", &[("sys/devices/system/node/online", list)]).0;
    assert_eq!(weight("0\n"), "fine");
    assert_eq!(weight("0-1\n"), "note");
    assert_eq!(weight("0,8\n"), "note");
    assert_eq!(weight("many\n"), "unknown");
    assert_eq!(weight("\n"), "unknown");
    assert_eq!(host("numa", &[]).0, "unknown");
}

#[test]
fn virtual_machines() {
    let result = |flags: &str| host("virtual-machine", &[("proc/cpuinfo", flags)]);
    assert_eq!(result("processor : 0\nflags : fpu vme\n").0, "fine");
    let guest = result("processor : 0\nflags : fpu hypervisor\n");
    assert_eq!(guest, ("note".to_owned(), "a virtual machine (not named)".to_owned()));
    assert_eq!(host("virtual-machine", &[]).0, "unknown");
}

#[test]
fn page_reporting_balloons() {
    let balloon = |features: &str| {
        let dir = "sys/bus/virtio/devices/virtio0";
        let files = [
            (format!("{dir}/device"), "0x0005\n"),
            (format!("{dir}/features"), features),
            (format!("{dir}/driver/module"), ""),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), *b)).collect();
        host("page-reporting", &files).0
    };
    assert_eq!(balloon("0000010000\n"), "warning");
    assert_eq!(balloon("0000000000\n"), "fine");
    assert_eq!(balloon("?\n"), "fine", "a feature that is not told is not in force");
    assert_eq!(host("page-reporting", &[]).0, "fine");
    let guest = [("sys/hypervisor/type", "xen\n")];
    assert_eq!(host("page-reporting", &guest).0, "unknown");
}

#[test]
fn shares_of_the_machine() {
    let files =
        [("proc/loadavg", "0.25 0.20 0.10 1/99 4242\n"), ("sys/devices/system/cpu/online", "0-1")];
    let result = |share| host_with("load", &files, busy(share, 0.0));
    let reading = "1.0 % of 2 CPUs busy in one second; load average 0.25";
    assert_eq!(result(0.01), ("fine".to_owned(), reading.to_owned()));
    assert_eq!(result(0.06).0, "note");
    assert_eq!(result(0.5).0, "warning");
    let odd = host_with("load", &[("proc/loadavg", "odd\n")], busy(0.0, 0.0));
    assert!(!odd.1.contains("average"), "{odd:?}");
    let none = Sample { counters: Err("no /proc/stat".to_owned()), ..busy(0.0, 0.0) };
    assert_eq!(host_with("load", &[], none), ("unknown".to_owned(), "no /proc/stat".to_owned()));
}

#[test]
fn stolen_time() {
    assert_eq!(host_with("steal", &[], busy(0.5, 0.0)).0, "fine");
    let stolen = host_with("steal", &[], busy(0.5, 0.05));
    let reading = "5.0 % of the CPU time stolen in one second";
    assert_eq!(stolen, ("warning".to_owned(), reading.to_owned()));
    let mut old = quiet();
    old.counters.as_mut().unwrap().remove("cpu.steal_ns");
    assert_eq!(host_with("steal", &[], old).0, "unknown");
}

#[test]
fn shares_of_ten_seconds() {
    let line = |share: &str| format!("some avg10={share} avg60=0.00 avg300=0.00 total=1\n");
    let result = |io: &str, memory: &str| {
        let files = [("proc/pressure/io", line(io)), ("proc/pressure/memory", line(memory))];
        host("pressure", &[(files[0].0, &files[0].1), (files[1].0, &files[1].1)])
    };
    assert_eq!(result("0.00", "1.00").0, "fine");
    assert_eq!(result("25.50", "0.00").0, "warning");
    assert_eq!(result("0.00", "25.50").0, "warning");
    assert!(result("25.50", "0.00").1.starts_with("tasks waited for the disk 26 %"));
    assert_eq!(result("many", "0.00").0, "unknown");
    assert_eq!(host("pressure", &[]).0, "unknown");
}

#[test]
fn areas_of_swap() {
    let result = |lines: &str| {
        let text = format!("Filename Type Size Used Priority\n{lines}");
        host("swap", &[("proc/swaps", &text)])
    };
    assert_eq!(result("").0, "fine");
    let idle = result("/dev/sda2 partition 1048576 0 -2\n");
    assert_eq!(idle, ("note".to_owned(), "1 GiB of swap, not in use".to_owned()));
    let used = result("/dev/sda2 partition 1048576 512 -2\n/swap file 1048576 512 -3\n");
    assert_eq!(used, ("warning".to_owned(), "1 MiB of 2 GiB of swap are in use".to_owned()));
    assert_eq!(result("/dev/sda2 partition much\n").0, "unknown");
    assert_eq!(host("swap", &[]).0, "unknown");
}

#[test]
fn compressed_swap() {
    let result = |swaps: &str, enabled: &str| {
        let swaps = format!("Filename Type Size Used Priority\n{swaps}");
        let enabled_at = "sys/module/zswap/parameters/enabled";
        host("compressed-swap", &[("proc/swaps", &swaps), (enabled_at, enabled)]).0
    };
    assert_eq!(result("/dev/sda2 partition 64 0 -2\n", "N\n"), "fine");
    assert_eq!(result("", "Y\n"), "fine", "zswap without swap does nothing");
    assert_eq!(result("/dev/sda2 partition 64 0 -2\n", "Y\n"), "note");
    assert_eq!(result("/dev/zram0 partition 64 0 100\n", "N\n"), "note");
    assert_eq!(result("", "perhaps\n"), "unknown");
    assert_eq!(host("compressed-swap", &[]).0, "unknown");
}

fn cgroup_limits_v2(files: &[(&str, &str)]) -> (String, String) {
    let mut all = vec![("proc/self/cgroup", "0::/user.slice/job\n")];
    all.extend(files);
    host("cgroup-limits", &all)
}

#[test]
fn cgroup_limits_version_2() {
    let none = [
        ("sys/fs/cgroup/user.slice/job/memory.max", "max\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ];
    assert_eq!(cgroup_limits_v2(&none).0, "fine");
    let above = [("sys/fs/cgroup/user.slice/memory.high", "1073741824\n")];
    let reading = "the control group of this program has limits: memory.high 1 GiB";
    assert_eq!(cgroup_limits_v2(&above), ("warning".to_owned(), reading.to_owned()));
    let io = [("sys/fs/cgroup/user.slice/job/io.max", "8:0 rbps=1048576 wbps=max\n")];
    assert_eq!(cgroup_limits_v2(&io).0, "warning");
    assert_eq!(cgroup_limits_v2(&[("sys/fs/cgroup/cpu.max", "50000 100000\n")]).0, "warning");
    assert_eq!(cgroup_limits_v2(&[]).0, "unknown");
}

#[test]
fn cgroup_limits_version_1() {
    let v1 = |bytes: &str| {
        let own = ("proc/self/cgroup", "4:memory:/box\n0::/\n");
        host("cgroup-limits", &[own, ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", bytes)]).0
    };
    assert_eq!(v1("9223372036854771712\n"), "fine");
    assert_eq!(v1("67108864\n"), "warning");
}

#[test]
fn what_cannot_be_known_is_not_fine() {
    assert_eq!(host("cgroup-limits", &[]).0, "unknown");
    assert_eq!(host("cgroup-limits", &[("proc/self/cgroup", "odd\n")]).0, "unknown");
}

fn dirty_limits_result(changed: &[(&str, &str)]) -> (String, String) {
    let mut files: Vec<(String, String)> = DIRTY_DEFAULTS
        .iter()
        .map(|(name, value)| (format!("proc/sys/vm/{name}"), format!("{value}\n")))
        .collect();
    for (name, value) in changed {
        files.push((format!("proc/sys/vm/{name}"), (*value).to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    host("dirty-limits", &files)
}

#[test]
fn dirty_limits() {
    assert_eq!(dirty_limits_result(&[]).0, "fine");
    let more = dirty_limits_result(&[("dirty_ratio", "60\n")]);
    assert_eq!(more, ("note".to_owned(), "vm.dirty_ratio is 60 (not 20)".to_owned()));
    let bytes = dirty_limits_result(&[("dirty_ratio", "0\n"), ("dirty_bytes", "67108864\n")]);
    assert_eq!(bytes.1, "vm.dirty_bytes is 67108864 (not 0)", "the ratio is 0 where bytes rule");
    assert_eq!(dirty_limits_result(&[("laptop_mode", "5\n")]).0, "note");
    assert_eq!(dirty_limits_result(&[("dirty_ratio", "lots\n")]).0, "unknown");
    assert_eq!(host("dirty-limits", &[]).0, "unknown");
}

const BATTERY_DIR: &str = "sys/class/power_supply/BAT0";

#[test]
fn batteries() {
    let (kind, status) = (format!("{BATTERY_DIR}/type"), format!("{BATTERY_DIR}/status"));
    let result = |value: &str| host("battery", &[(&kind, "Battery\n"), (&status, value)]).0;
    assert_eq!(result("Charging\n"), "fine");
    assert_eq!(result("Discharging\n"), "warning");
    assert_eq!(result("Unknown\n"), "unknown");
    assert_eq!(host("battery", &[(&kind, "Battery\n")]).0, "unknown");
    let mains = ("sys/class/power_supply/AC/type", "Mains\n");
    assert_eq!(host("battery", &[mains]), ("fine".to_owned(), "no battery".to_owned()));
    let scope = format!("{BATTERY_DIR}/scope");
    let mouse = [(kind.as_str(), "Battery\n"), (&status, "Discharging\n"), (&scope, "Device\n")];
    assert_eq!(host("battery", &mouse).0, "fine");
    assert_eq!(host("battery", &[]).0, "unknown");
}

fn debug_kernel_built_with(config: &str) -> (String, String) {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut gzip = gzip;
    gzip.write_all(config.as_bytes()).unwrap();
    let tree = tree(&[]);
    tree.put("proc/config.gz", gzip.finish().unwrap());
    crate::fixtures::weight_and_reading(
        check_result(&snapshot(&tree, &[]), "debug-kernel", HOST).unwrap(),
    )
}

#[test]
fn debug_kernel_options() {
    assert_eq!(
        debug_kernel_built_with("CONFIG_SLUB_DEBUG=y\n# CONFIG_KASAN is not set\n").0,
        "fine"
    );
    let slow =
        debug_kernel_built_with("CONFIG_KASAN=y\nCONFIG_LOCKDEP=y\nCONFIG_HAVE_ARCH_KASAN=y\n");
    assert_eq!(slow, ("bad".to_owned(), "the kernel debugs itself: KASAN, LOCKDEP".to_owned()));
    let asleep = "CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y\n";
    assert_eq!(debug_kernel_built_with(asleep).0, "fine");
    assert_eq!(debug_kernel_built_with("").0, "unknown", "an empty file is no answer");
}

#[test]
fn what_is_not_told() {
    assert_eq!(host("debug-kernel", &[("proc/lockdep", "")]).0, "bad");
    assert_eq!(host("debug-kernel", &[("proc/config.gz", "no gzip")]).0, "unknown");
    assert_eq!(host("debug-kernel", &[]).0, "unknown");
}
