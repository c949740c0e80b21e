//! Files of the kernel: counters, facts of the host, mounts, its log, pages of its trace.

use crate::target::{PLAIN, Target, choice, chosen, texts};
use fsarena_devices::mountinfo;
use fsarena_executor::crash::kernel_lines;
use fsarena_metrics::{KernelRoots, Sources, Watch, block_stat, load_and_pressure, nfs_counters};
use fsarena_testkit::FakeTree;
use fsarena_testkit::kernels::{DEVICE, PID};
use fsarena_trace::requests_in;
use std::cell::OnceCell;
use std::fs;
use std::path::Path;

pub(super) const COUNTERS: Target = Target {
    name: "counters",
    reads: "counters in /proc, /sys and cgroups, as a phase reads them",
    seeds: || seeds_of(&COUNTER_FILES),
    run: counters,
    ..PLAIN
};

pub(super) const HOST_FACTS: Target = Target {
    name: "host-facts",
    reads: "facts of the host: /proc/cpuinfo, /etc/os-release, settings, swap",
    seeds: || seeds_of(&FACT_FILES),
    run: host_facts,
    ..PLAIN
};

pub(super) const KERNEL_LOG: Target = Target {
    name: "kernel-log",
    reads: "records of /dev/kmsg",
    seeds: || {
        texts([
            "3,120,5000,-;EXT4-fs error (device vdisk0): bad block\n SUBSYSTEM=x\n\n6,1,2,-;plain",
            "6,1,10,-;XFS (loop1): Corruption\n\n6,9,20,-;Opts: errors=remount-ro",
        ])
    },
    run: kernel_log,
    ..PLAIN
};

pub(super) const MOUNTINFO: Target = Target {
    name: "mountinfo",
    reads: "/proc/self/mountinfo",
    seeds: || {
        texts([
            "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n",
            "33 22 0:12 / /a\\040b\\134c rw shared:16 master:3 - fuse.x none rw,user_id=0\n",
        ])
    },
    run: mounts,
    ..PLAIN
};

pub(super) const TRACE_PAGE: Target = Target {
    name: "trace-page",
    reads: "forms of trace events and pages of the kernel's ring buffer",
    seeds: trace_seeds,
    run: trace_page,
    ..PLAIN
};

const COUNTER_FILES: [&str; 17] = [
    "proc/stat",
    "proc/vmstat",
    "proc/meminfo",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/memory",
    "proc/loadavg",
    "proc/4242/stat",
    "proc/4242/io",
    "sys/block/loop0/stat",
    "sys/fs/cgroup/fsarena-2/memory.current",
    "sys/fs/cgroup/fsarena-2/memory.events",
    "sys/fs/cgroup/memory/fsarena-1/memory.oom_control",
    "proc/self/mountinfo",
    "proc/net/dev",
    "proc/net/snmp",
    "proc/self/mountstats",
];

const CGROUPS: [&str; 2] = ["fs/cgroup/memory/fsarena-1", "fs/cgroup/fsarena-2"];

const FACT_FILES: [&str; 10] = [
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/swaps",
    "proc/self/mountinfo",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
    "sys/bus/virtio/devices/virtio1/features",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "etc/os-release",
    "proc/4242/stat",
];

thread_local! {
    static TREE: OnceCell<FakeTree> = const { OnceCell::new() };
}

/// A kernel in which one file has this text; it is as it was afterwards.
fn with_file(file: &str, text: &str, read: impl FnOnce(&KernelRoots)) {
    TREE.with(|tree| {
        let swaps = "Filename\tType\tSize\tUsed\tPriority\n/swap\\040file file 1048572 0 -2\n";
        let tree = tree.get_or_init(|| FakeTree::modern().with("proc/swaps", swaps));
        let path = tree.path(file);
        let before = fs::read(&path).ok();
        tree.put(file, text);
        read(&KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() });
        match before {
            Some(before) => tree.put(file, before),
            None => fs::remove_file(&path).expect("it was just written"),
        }
    });
}

fn seeds_of(files: &[&str]) -> Vec<Vec<u8>> {
    let tree = FakeTree::modern();
    let text = |file: &&str| fs::read_to_string(tree.path(file)).unwrap_or_default();
    files.iter().enumerate().map(|(number, file)| chosen(number, &text(file))).collect()
}

/// Either a snapshot with the counters that are there, or an error that names the file.
fn counters(input: &[u8]) {
    let Some((number, text)) = choice(input) else { return };
    let file = COUNTER_FILES[number % COUNTER_FILES.len()];
    with_file(file, &text, |roots| {
        let watch = Watch {
            devices: vec![DEVICE.to_owned()],
            memory_cgroup: Some(roots.sys.join(CGROUPS[number % CGROUPS.len()])),
            worker_pid: Some(PID),
            network: true,
        };
        match Sources::open(roots, &watch).and_then(|mut sources| sources.read()) {
            Ok(snapshot) => assert_eq!(snapshot.values.len(), fsarena_metrics::catalog().len()),
            Err(error) => {
                let error = error.to_string();
                let base = roots.proc.parent().expect("a tree has a root");
                assert!(error.contains(&*base.to_string_lossy()), "{file}: {error}");
            }
        }
        let _ = nfs_counters(roots, Path::new("/mnt"));
        let load = load_and_pressure(roots);
        let _ = (block_stat(roots, DEVICE), format!("{load:?}"));
    });
}

fn host_facts(input: &[u8]) {
    let Some((number, text)) = choice(input) else { return };
    let file = FACT_FILES[number % FACT_FILES.len()];
    with_file(file, &text, |roots| {
        let host = fsarena_metrics::host(roots);
        assert!(host.cpus > 0, "a machine without processors");
        let _ = fsarena_metrics::available_bytes(roots);
        let _ = fsarena_metrics::frequency_khz(roots);
        let _ = fsarena_metrics::Thermal::read(roots);
        let _ = fsarena_metrics::process_start_ticks(roots, PID);
        let _ = fsarena_metrics::page_reporting_active(roots);
        let _ = fsarena_doctor::swap_bytes(roots);
    });
}

/// Lines are those of the records, and of damage at most as many as are kept.
fn kernel_log(input: &[u8]) {
    let records: Vec<&[u8]> = input.split(|byte| *byte == 0).collect();
    let (lines, damage) = kernel_lines(&records);
    assert!(lines.len() <= records.len() && damage.len() <= lines.len().min(20));
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

/// Each entry is one line, with the types and options of that line in it.
fn mounts(input: &[u8]) {
    let entries = mountinfo::parse(input);
    let lines = input.split(|byte| *byte == b'\n').count();
    assert!(entries.len() <= lines);
    for entry in entries {
        let options = entry.options();
        let words: Vec<&str> = options.split(',').collect();
        let own = entry.mount_options.split(',').all(|word| words.contains(&word));
        assert!(own && !entry.device.contains(' ') && !entry.fstype.contains(' '), "{entry:?}");
    }
}

/// Of Linux 6.18, x86-64.
const EVENT: &str = "ID: 2107\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
    \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
    \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";
const PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

/// A page with a write of 8 sectors, and the forms with some number in them changed.
fn trace_seeds() -> Vec<Vec<u8>> {
    let mut event = vec![0; 44];
    event[..2].copy_from_slice(&2107_u16.to_le_bytes());
    event[8..12].copy_from_slice(&7_u32.to_le_bytes());
    event[16] = 100;
    event[24] = 8;
    event[34..37].copy_from_slice(b"WSM");
    let mut page = 5_u64.to_le_bytes().to_vec();
    page.extend(96_u64.to_le_bytes());
    for _ in 0..2 {
        page.extend((11_u32 | 3 << 5).to_le_bytes());
        page.extend(&event);
    }
    let whole = [&[0], page.as_slice()].concat();
    vec![whole, chosen(1, EVENT), chosen(2, PAGE)]
}

/// Events of a page are within it, and requests are those of the device.
fn trace_page(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let text = || String::from_utf8_lossy(rest).into_owned();
    let page = [0; 4096];
    let read = match first % 3 {
        0 => requests_in([EVENT, PAGE], rest, 7),
        1 => requests_in([&text(), PAGE], &page, 0),
        _ => requests_in([EVENT, &text()], &page, 0),
    };
    match read {
        Ok(requests) => assert!(requests.len() <= rest.len().max(page.len()) / 4),
        Err(error) => assert!(!error.is_empty()),
    }
}
