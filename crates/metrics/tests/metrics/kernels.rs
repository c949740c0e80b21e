//! The readers on whole fake kernels: a current one, an old one, a container with almost nothing,
//! and on broken files.
#![allow(clippy::unwrap_used)]

use fsarena_metrics::{
    CacheDrops, KernelRoots, Snapshot, Sources, Watch, block_stat, boot_id, catalog, delta, host,
    load_and_pressure, page_reporting_active, process_start_ticks,
};
use fsarena_testkit::FakeTree;
use fsarena_testkit::kernels::{BOOT_ID, DEVICE, PID, START_TICKS};

fn roots(tree: &FakeTree) -> KernelRoots {
    KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() }
}

fn watch(tree: &FakeTree, cgroup: &str) -> Watch {
    Watch {
        devices: vec![DEVICE.to_owned()],
        memory_cgroup: Some(tree.path("sys/fs/cgroup").join(cgroup)),
        worker_pid: Some(PID),
        network: true,
    }
}

fn read(tree: &FakeTree, cgroup: &str) -> Snapshot {
    Sources::open(&roots(tree), &watch(tree, cgroup)).unwrap().read().unwrap()
}

fn missing(snapshot: &Snapshot) -> Vec<&'static str> {
    let metrics = catalog().iter().zip(&snapshot.values);
    metrics.filter(|(_, value)| value.is_none()).map(|(metric, _)| metric.name).collect()
}

fn error(tree: &FakeTree) -> String {
    Sources::open(&roots(tree), &watch(tree, "fsarena-2")).err().unwrap().to_string()
}

fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second()
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

#[test]
fn a_current_kernel_has_every_metric() {
    let tree = FakeTree::modern();
    for cgroup in ["memory/fsarena-1", "fsarena-2"] {
        let now = read(&tree, cgroup);
        assert_eq!(missing(&now), Vec::<&str>::new());
        for (name, value) in [
            ("cpu.user_ns", 6311 * tick_ns()),
            ("cpu.steal_ns", 19 * tick_ns()),
            ("cpu.guest_nice_ns", 6 * tick_ns()),
            ("sched.context_switches", 2001),
            ("sched.forks", 3001),
            ("sched.running", 2),
            ("sched.blocked", 1),
            ("device.reads", 50477),
            ("device.read_bytes", 4_882_007 * 512),
            ("device.written_bytes", 4_733_270 * 512),
            ("device.in_flight", 2),
            ("device.busy_ns", 9_188_000_000),
            ("device.queue_ns", 42_633_000_000),
            ("device.discarded_bytes", 3_237_816 * 512),
            ("device.flushes", 872),
            ("device.flush_ns", 24_000_000),
            ("worker.minor_faults", 102),
            ("worker.major_faults", 7),
            ("worker.user_ns", 150 * tick_ns()),
            ("worker.system_ns", 250 * tick_ns()),
            ("worker.resident_bytes", 390 * page_bytes()),
            ("worker.write_calls", 3),
            ("worker.fetched_bytes", 8192),
            ("vm.paged_in_bytes", 2_442_445 * 1024),
            ("vm.swap_out_bytes", 4 * page_bytes()),
            ("vm.major_faults", 1533),
            ("vm.direct_reclaim_bytes", 6 * page_bytes()),
            ("mem.dirty_bytes", 228 * 1024),
            ("mem.writeback_bytes", 4 * 1024),
            ("psi.cpu.some_ns", 7_064_194_000),
            ("psi.io.full_ns", 5_427_745_000),
            ("psi.memory.some_ns", 11_000),
            ("cgroup.memory_bytes", 65536),
            ("cgroup.memory_peak_bytes", 64 << 20),
            ("cgroup.limit_hits", 17),
            ("cgroup.oom_kills", 2),
            ("net.received_bytes", 5_000_100),
            ("net.retransmitted_segments", 17),
        ] {
            assert_eq!(now.get(name), Some(value), "{name}");
        }
    }
}

#[test]
fn an_old_kernel_lacks_what_it_lacks() {
    let tree = FakeTree::old();
    let lacking = missing(&read(&tree, "nothing"));
    let prefixes = ["psi.", "cgroup.", "device.discard", "device.flush", "net."];
    let later = [
        "vm.direct_reclaim_bytes",
        "vm.oom_kills",
        "vm.balloon_inflated_bytes",
        "vm.pagecache_drops",
        "vm.slab_drops",
    ];
    for name in &lacking {
        let known = prefixes.iter().any(|prefix| name.starts_with(prefix)) || later.contains(name);
        assert!(known, "{name} is not read on an old kernel");
    }
    assert_eq!(lacking.len(), 6 + 4 + 4 + 2 + 5 + 5);
    let stat = block_stat(&roots(&tree), DEVICE).unwrap();
    assert_eq!((stat.reads, stat.read_bytes, stat.busy_ns), (50, 48 * 512, 91_000_000));
    assert_eq!((stat.discards, stat.flushes), (None, None));
}

/// The kernel counts one write of 3 to drop_caches in both of its counters.
#[test]
fn a_drop_of_all_caches_is_one_drop() {
    let tree = FakeTree::modern();
    let before = CacheDrops::read(&roots(&tree));
    assert_eq!(before, CacheDrops { pagecache: Some(2), slab: Some(1) });
    let drops = |pagecache, slab| CacheDrops { pagecache, slab }.since(&before);
    assert_eq!(drops(Some(2), Some(1)), Some(0));
    assert_eq!(drops(Some(3), Some(2)), Some(1), "3 was written once");
    assert_eq!(drops(Some(2), Some(2)), Some(1), "inodes and names alone");
    assert_eq!(drops(Some(5), Some(2)), Some(3));
    assert_eq!(drops(Some(3), None), Some(1));
    assert_eq!(CacheDrops::read(&roots(&FakeTree::old())).since(&before), None);
}

#[test]
fn discards_without_flushes_between_4_18_and_5_5() {
    let line = "50 8 48 29 12 24 47 12 0 91 42 5 6 7 8\n";
    let tree = FakeTree::old().with("sys/block/loop0/stat", line);
    let stat = block_stat(&roots(&tree), DEVICE).unwrap();
    assert_eq!((stat.discards, stat.flushes), (Some(5), None));
    let discarded_bytes = read(&tree, "fsarena-2").get("device.discarded_bytes");
    assert_eq!(discarded_bytes, Some(7 * 512));
}

#[test]
fn a_container_has_little_and_that_is_no_error() {
    let tree = FakeTree::container();
    let now = read(&tree, "nothing");
    assert_eq!(now.get("cpu.idle_ns"), Some(4 * tick_ns()));
    assert_eq!(now.get("cpu.iowait_ns"), None);
    assert_eq!(now.get("mem.free_bytes"), Some(1 << 20));
    assert_eq!(catalog().len() - missing(&now).len(), 5);
    let empty = FakeTree::new();
    assert_eq!(missing(&read(&empty, "nothing")).len(), catalog().len());
}

/// Work on several devices is the sum over them, time in which one of them is at work is not.
#[test]
fn several_devices_are_added() {
    let line = "50 8 48 29 12 24 47 12 3 91 42 5 6 7 8 9 10\n";
    let other = "1 2 16 4 5 6 8 8 1 10 11 12 13 14 15 16 17\n";
    let tree = FakeTree::new()
        .with("sys/block/loop0/stat", line)
        .with("sys/block/loop1/stat", other)
        .with("sys/block/loop2/stat", "1 2 16 4 5 6 8 8 1 10 11\n");
    let read = |devices: &[&str]| {
        let devices = devices.iter().map(|&device| device.to_owned()).collect();
        let watch = Watch { devices, ..Watch::default() };
        Sources::open(&roots(&tree), &watch).unwrap().read().unwrap()
    };
    let two = read(&["loop0", "loop1"]);
    for (name, value) in [
        ("device.reads", 51),
        ("device.read_bytes", 64 * 512),
        ("device.written_bytes", 55 * 512),
        ("device.in_flight", 4),
        ("device.queue_ns", 53_000_000),
        ("device.flushes", 25),
    ] {
        assert_eq!(two.get(name), Some(value), "{name}");
    }
    assert_eq!(two.get("device.busy_ns"), None);
    assert_eq!(read(&["loop0"]).get("device.busy_ns"), Some(91_000_000));
    let old = read(&["loop0", "loop2"]);
    assert_eq!((old.get("device.reads"), old.get("device.flushes")), (Some(51), None));
    assert_eq!(read(&["loop0", "loop9"]).get("device.reads"), None, "one of them is not there");
    let watch = Watch { devices: vec!["loop0".into(), "loop1".into()], ..Watch::default() };
    let tree = FakeTree::new()
        .with("sys/block/loop0/stat", line)
        .with("sys/block/loop1/stat", other)
        .with("sys/block/loop1/queue/iostats", "0\n");
    let off = Sources::open(&roots(&tree), &watch).unwrap().read().unwrap();
    assert_eq!(off.get("device.reads"), None, "no sum without one of them");
}

#[test]
fn a_device_that_does_not_count_is_missing_not_zero() {
    let tree = FakeTree::modern().with("sys/block/loop0/queue/iostats", "0\n");
    assert_eq!(read(&tree, "fsarena-2").get("device.reads"), None);
    let error = block_stat(&roots(&tree), DEVICE).unwrap_err().to_string();
    assert!(error.contains("echo 1 >") && error.contains("queue/iostats"), "{error}");
    let error = block_stat(&roots(&tree), "loop9").unwrap_err().to_string();
    assert!(error.contains("loop9"), "{error}");
}

#[test]
fn partitions_are_found_too() {
    let tree = FakeTree::modern().with("sys/class/block/vda1/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
    assert_eq!(block_stat(&roots(&tree), "/dev/vda1").unwrap().reads, 1);
}

#[test]
fn malformed_names_path_line_and_item() {
    for (path, contents, wanted) in [
        ("proc/stat", "cpu  1 2 3\n", ["proc/stat:1", "cpu"]),
        ("proc/stat", "cpu  1 2 3 x\n", ["proc/stat:1", "cpu.idle_ns"]),
        ("proc/stat", "cpu  1 2 3 4\nctxt -1\n", ["proc/stat:2", "sched.context_switches"]),
        ("proc/vmstat", "a 1\npgfault many\n", ["proc/vmstat:2", "pgfault"]),
        ("proc/vmstat", "pgfault\n", ["proc/vmstat:1", "pgfault"]),
        ("proc/meminfo", "Dirty: 99999999999999999999 kB\n", ["proc/meminfo:1", "Dirty"]),
        ("proc/pressure/io", "some avg10=0.00\n", ["pressure/io:1", "total"]),
        ("sys/block/loop0/stat", "1 2 3\n", ["loop0/stat:1", "11, 15 or 17"]),
        ("sys/block/loop0/stat", "", ["loop0/stat:1", "11, 15 or 17"]),
        ("proc/4242/stat", "4242 (x R 1\n", ["4242/stat:1", "comm"]),
        ("proc/4242/stat", "4242 (x) R 1\n", ["4242/stat:1", "minflt"]),
        ("sys/fs/cgroup/fsarena-2/memory.current", "max\n", ["memory.current:1", "value"]),
    ] {
        let text = error(&FakeTree::modern().with(path, contents));
        for part in wanted {
            assert!(text.contains(part), "{path} {contents:?}: {text}");
        }
    }
}

#[test]
fn a_window_is_a_difference() {
    let tree = FakeTree::modern();
    let mut sources = Sources::open(&roots(&tree), &watch(&tree, "fsarena-2")).unwrap();
    let earlier = sources.read().unwrap();
    tree.put("proc/stat", "cpu  6321 24390 3047 192750 860 1 91 19\nctxt 1\n");
    tree.put("sys/block/loop0/stat", "50478 8456 4882009 0 12385 24809 4733270 12091 0 9189 42633");
    let later = sources.read().unwrap();
    let counters = delta(&earlier, &later);
    assert_eq!(counters["cpu.user_ns"], 10 * tick_ns());
    assert_eq!(counters["cpu.idle_ns"], 0, "corrected by the kernel");
    assert_eq!(counters["cpu.iowait_ns"], 0, "corrected by the kernel");
    assert!(!counters.contains_key("sched.context_switches"), "it began anew");
    assert_eq!(counters["device.read_bytes"], 1024);
    assert_eq!(counters["device.busy_ns"], 1_000_000);
    assert!(!counters.contains_key("device.read_ns"), "29 s to 0 is no wrap");
    assert!(!counters.contains_key("device.flushes"), "missing at the end");
    assert_eq!(counters["device.in_flight"], 0);
    assert!(later.monotonic_ns > earlier.monotonic_ns);
}

#[test]
fn a_file_may_grow_beyond_its_buffer() {
    let tree = FakeTree::modern();
    let mut sources = Sources::open(&roots(&tree), &watch(&tree, "fsarena-2")).unwrap();
    let tail = format!("{}pgfault 5\n", "filler 1\n".repeat(20_000));
    tree.put("proc/vmstat", &tail);
    tree.put("proc/meminfo", tail.replace("pgfault", "Dirty:"));
    let now = sources.read().unwrap();
    assert_eq!(now.get("vm.faults"), Some(5));
    assert_eq!(now.get("mem.dirty_bytes"), Some(5 * 1024));
}

#[test]
fn facts_of_a_current_virtual_machine() {
    let tree = FakeTree::modern();
    let host = host(&roots(&tree));
    assert_eq!(host.kernel_release, "6.18.44");
    assert_eq!(host.architecture, "x86_64");
    assert_eq!(host.distribution.as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
    assert_eq!(host.cpu_model.as_deref(), Some("Example Processor @ 2.50GHz"));
    assert_eq!((host.cpus, host.memory_bytes), (2, 24_731_708 * 1024));
    assert_eq!(host.boot_id, BOOT_ID);
    assert_eq!(host.hypervisor.as_deref(), Some("KVM"));
    assert_eq!(host.clocksource.as_deref(), Some("tsc"));
    assert!(host.page_reporting);
    for (name, value) in [
        ("thp", "madvise"),
        ("dirty_ratio", "20"),
        ("dirty_background_ratio", "10"),
        ("dirty_expire_centisecs", "3000"),
        ("vfs_cache_pressure", "100"),
        ("swappiness", "60"),
        ("load_1m", "0.74"),
        ("cgroup", "hybrid"),
        ("psi", "on"),
        ("mitigated", "spectre_v2"),
        ("vulnerable", "mmio_stale_data"),
    ] {
        assert_eq!(host.settings.get(name).map(String::as_str), Some(value), "{name}");
    }
    let load = load_and_pressure(&roots(&tree));
    assert_eq!((load.procs_running, load.procs_blocked), (Some(2), Some(1)));
    assert_eq!((load.load_1m, load.cpu_pressure_10s), (Some(0.74), Some(0.125)));
}

#[test]
fn names_of_hypervisors() {
    let named = |tree: FakeTree| host(&roots(&tree)).hypervisor;
    let dmi = FakeTree::modern().with("sys/class/dmi/id/sys_vendor", "QEMU\n");
    let dmi = dmi.with("sys/class/dmi/id/product_name", "Standard PC\n");
    assert_eq!(named(dmi).as_deref(), Some("QEMU Standard PC"));
    let xen = FakeTree::modern().with("sys/hypervisor/type", "xen\n");
    assert_eq!(named(xen).as_deref(), Some("xen"));
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    assert_eq!(named(FakeTree::modern().without(clocks)).as_deref(), Some("not named"));
    assert_eq!(named(FakeTree::old()), None);
}

#[test]
fn facts_of_an_old_machine_and_of_a_container() {
    let old = host(&roots(&FakeTree::old()));
    assert_eq!((old.cpus, old.swap_bytes), (1, 131_072 * 1024));
    assert_eq!(old.governor.as_deref(), Some("ondemand"));
    assert_eq!(old.distribution.as_deref(), Some("Ubuntu 16.04.7 LTS"));
    assert_eq!(old.settings["cgroup"], "v1");
    assert_eq!(old.settings["psi"], "off");
    assert!(!old.page_reporting && !old.architecture.is_empty());
    let tree = FakeTree::container();
    let bare = host(&roots(&tree));
    assert_eq!((bare.cpus, bare.boot_id.as_str()), (3, ""));
    assert_eq!((bare.hypervisor, bare.distribution), (None, None));
    assert_eq!(bare.settings["cgroup"], "none");
    assert_eq!(load_and_pressure(&roots(&tree)), fsarena_metrics::Load::default());
    assert!(host(&roots(&FakeTree::new())).cpus > 0);
}

#[test]
fn page_reporting_needs_a_bound_balloon_with_the_feature() {
    let off = |path: &str, contents: &str| {
        let tree = FakeTree::modern().with(path, contents);
        !page_reporting_active(&roots(&tree))
    };
    assert!(page_reporting_active(&roots(&FakeTree::modern())));
    let balloon = "sys/bus/virtio/devices/virtio1";
    assert!(off(&format!("{balloon}/features"), "01100001\n"));
    assert!(off(&format!("{balloon}/features"), "0110\n"));
    assert!(off(&format!("{balloon}/device"), "0x0001\n"));
    let unbound = FakeTree::modern().without(&format!("{balloon}/driver"));
    assert!(!page_reporting_active(&roots(&unbound)));
}

#[test]
fn boots_and_processes_have_names() {
    let tree = FakeTree::modern();
    assert_eq!(boot_id(&roots(&tree)).as_deref(), Some(BOOT_ID));
    assert_eq!(process_start_ticks(&roots(&tree), PID), Some(START_TICKS));
    assert_eq!(process_start_ticks(&roots(&tree), PID + 1), None);
    assert_eq!(boot_id(&roots(&FakeTree::container())), None);
    let stat = std::fs::read_to_string(tree.path("proc/4242/stat")).unwrap();
    tree.put("proc/4242/stat", stat.replace(") R ", ") Z "));
    assert_eq!(process_start_ticks(&roots(&tree), PID), None, "a zombie has ended");
}
