//! Whole kernels, as far as fsarena reads them, with numbers that are easy to check.

use super::FakeTree;

/// The device that the kernels here have.
pub const DEVICE: &str = "loop0";
/// A process that the kernels here run; its name has blanks and parentheses.
pub const PID: u32 = 4242;
/// Its start in clock ticks since boot.
pub const START_TICKS: u64 = 987_654;
/// The boot of all kernels here.
pub const BOOT_ID: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";

impl FakeTree {
    /// Linux 6.18 in a virtual machine: hybrid cgroups, PSI, a balloon that reports free pages.
    #[must_use]
    pub fn modern() -> Self {
        let tree = Self::new();
        for (path, contents) in MODERN {
            tree.put(path, contents);
        }
        tree
    }

    /// Linux 4.4 on bare metal: eleven values a block device, no PSI, cgroup v1, swap.
    #[must_use]
    pub fn old() -> Self {
        let tree = Self::new();
        for (path, contents) in OLD {
            tree.put(path, contents);
        }
        tree
    }

    /// A container with almost nothing in `/proc` and nothing in `/sys`.
    #[must_use]
    pub fn container() -> Self {
        let tree = Self::new();
        for (path, contents) in CONTAINER {
            tree.put(path, contents);
        }
        tree
    }
}

const STAT_OF_PID: &str = "4242 (fs arena) (w) R 4241 4240 7915 0 -1 4194304 102 0 7 0 150 250 0 0 \
20 0 1 0 987654 3133440 390 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 \
0 0 0\n";

const IO_OF_PID: &str = "rchar: 7277\nwchar: 301\nsyscr: 12\nsyscw: 3\nread_bytes: 8192\n\
write_bytes: 4096\ncancelled_write_bytes: 0\n";

const MODERN: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  6311 24390 3047 192752 870 1 91 19 5 6\n\
         cpu0 3642 14647 1589 93264 558 1 32 11 5 6\n\
         cpu1 2669 9743 1458 99488 312 0 59 8 0 0\n\
         intr 903 0 1 2 3\n\
         ctxt 2001\n\
         btime 1795000000\n\
         processes 3001\n\
         procs_running 2\n\
         procs_blocked 1\n\
         softirq 55 1 2 3\n",
    ),
    (
        "proc/vmstat",
        "nr_free_pages 6081122\nnr_dirty 57\nnr_dirtied 479587\nnr_written 400000\n\
         pgpgin 2442445\npgpgout 2376129\npswpin 3\npswpout 4\npgfault 7685250\npgmajfault 1533\n\
         pgsteal_kswapd 5\npgsteal_direct 6\ndrop_pagecache 2\ndrop_slab 1\noom_kill 0\nballoon_inflate 0\nballoon_deflate 0\n",
    ),
    (
        "proc/meminfo",
        "MemTotal:       24731708 kB\nMemFree:        24324488 kB\nMemAvailable:   24390444 kB\n\
         Buffers:            1696 kB\nCached:           246444 kB\nSwapCached:            0 kB\n\
         SwapTotal:             0 kB\nSwapFree:              0 kB\nDirty:               228 kB\n\
         Writeback:             4 kB\nShmem:              8856 kB\nSReclaimable:      73872 kB\n\
         HugePages_Total:       0\n",
    ),
    (
        "proc/pressure/cpu",
        "some avg10=12.50 avg60=0.67 avg300=0.43 total=7064194\n\
         full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    ),
    (
        "proc/pressure/io",
        "some avg10=1.79 avg60=0.35 avg300=0.18 total=5534026\n\
         full avg10=1.79 avg60=0.35 avg300=0.17 total=5427745\n",
    ),
    (
        "proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n\
         full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
    ),
    (
        "proc/net/dev",
        "Inter-|   Receive                            |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs\n    \
         lo:     100       1    0    0    0     0          0         0      100       1    0\n  \
         eth0: 5000000    4000    0    0    0     0          0         0     7000      70    0\n",
    ),
    (
        "proc/net/snmp",
        "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
         Tcp: RtoAlgorithm RtoMin InSegs OutSegs RetransSegs InErrs\nTcp: 1 200 900 800 17 0\n",
    ),
    ("proc/loadavg", "0.74 0.83 1.10 2/93 10527\n"),
    (
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example Processor @ 2.50GHz\n\
         flags\t\t: fpu constant_tsc nonstop_tsc hypervisor\n\n\
         processor\t: 1\nmodel name\t: Example Processor @ 2.50GHz\n\
         flags\t\t: fpu constant_tsc nonstop_tsc hypervisor\n",
    ),
    (
        "proc/self/mountinfo",
        "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
         30 29 0:25 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
         31 29 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
    ),
    ("proc/4242/stat", STAT_OF_PID),
    ("proc/4242/io", IO_OF_PID),
    ("proc/sys/kernel/hostname", "vm\n"),
    ("proc/sys/kernel/ostype", "Linux\n"),
    ("proc/sys/kernel/osrelease", "6.18.44\n"),
    ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n"),
    ("proc/sys/kernel/arch", "x86_64\n"),
    ("proc/sys/kernel/random/boot_id", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\n"),
    ("proc/sys/vm/dirty_background_bytes", "0\n"),
    ("proc/sys/vm/dirty_background_ratio", "10\n"),
    ("proc/sys/vm/dirty_bytes", "0\n"),
    ("proc/sys/vm/dirty_expire_centisecs", "3000\n"),
    ("proc/sys/vm/dirty_ratio", "20\n"),
    ("proc/sys/vm/dirty_writeback_centisecs", "500\n"),
    ("proc/sys/vm/swappiness", "60\n"),
    ("proc/sys/vm/vfs_cache_pressure", "100\n"),
    (
        "sys/block/loop0/stat",
        "   50477     8456  4882007    29716    12385    24809  4733270    12091        2     \
         9188    42633     7696       57  3237816      801      872       24\n",
    ),
    ("sys/block/loop0/queue/iostats", "1\n"),
    ("sys/devices/system/cpu/online", "0-1\n"),
    ("sys/devices/system/cpu/smt/control", "notsupported\n"),
    ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Enhanced IBRS\n"),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ("sys/devices/system/cpu/vulnerabilities/mmio_stale_data", "Vulnerable: no microcode\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock \n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("sys/bus/virtio/devices/virtio0/device", "0x0002\n"),
    ("sys/bus/virtio/devices/virtio0/features", "00100110011001000000000000000001\n"),
    ("sys/bus/virtio/devices/virtio0/driver/bind", ""),
    ("sys/bus/virtio/devices/virtio1/device", "0x0005\n"),
    ("sys/bus/virtio/devices/virtio1/features", "01100101000000000000000000000001\n"),
    ("sys/bus/virtio/devices/virtio1/driver/bind", ""),
    ("sys/fs/cgroup/memory/fsarena-1/memory.usage_in_bytes", "65536\n"),
    ("sys/fs/cgroup/memory/fsarena-1/memory.max_usage_in_bytes", "67108864\n"),
    ("sys/fs/cgroup/memory/fsarena-1/memory.failcnt", "17\n"),
    (
        "sys/fs/cgroup/memory/fsarena-1/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    ),
    ("sys/fs/cgroup/fsarena-2/memory.current", "65536\n"),
    ("sys/fs/cgroup/fsarena-2/memory.peak", "67108864\n"),
    (
        "sys/fs/cgroup/fsarena-2/memory.events",
        "low 0\nhigh 0\nmax 17\noom 0\noom_kill 2\noom_group_kill 0\n",
    ),
    ("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
];

const OLD: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  100 200 300 400 50 6 7 0 0 0\ncpu0 100 200 300 400 50 6 7 0 0 0\n\
         intr 903 0 1\nctxt 2001\nbtime 1400000000\nprocesses 3001\nprocs_running 1\n\
         procs_blocked 0\n",
    ),
    (
        "proc/vmstat",
        "nr_free_pages 6081\nnr_dirtied 10\nnr_written 9\npgpgin 100\npgpgout 200\npswpin 1\n\
         pswpout 2\npgfault 300\npgmajfault 4\npgsteal_direct_dma 0\npgsteal_direct_normal 6\n",
    ),
    (
        "proc/meminfo",
        "MemTotal:        65536 kB\nMemFree:          1024 kB\nMemAvailable:     2048 kB\n\
         Buffers:            16 kB\nCached:            512 kB\nSwapTotal:       131072 kB\n\
         SwapFree:       131000 kB\nDirty:               8 kB\nWriteback:           0 kB\n\
         Shmem:               4 kB\nSReclaimable:      100 kB\n",
    ),
    ("proc/loadavg", "3.00 2.00 1.00 1/50 999\n"),
    ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Old Processor\nflags\t\t: fpu tsc\n"),
    (
        "proc/self/mountinfo",
        "15 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         20 19 0:18 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n",
    ),
    ("proc/4242/stat", STAT_OF_PID),
    ("proc/4242/io", IO_OF_PID),
    ("proc/sys/kernel/hostname", "old\n"),
    ("proc/sys/kernel/ostype", "Linux\n"),
    ("proc/sys/kernel/osrelease", "4.4.0-210-generic\n"),
    ("proc/sys/kernel/version", "#242-Ubuntu SMP\n"),
    ("proc/sys/kernel/random/boot_id", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\n"),
    ("proc/sys/vm/dirty_ratio", "20\n"),
    ("sys/block/loop0/stat", "50 8 48 29 12 24 47 12 0 91 42\n"),
    ("sys/devices/system/cpu/online", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
    ("etc/os-release", "PRETTY_NAME='Ubuntu 16.04.7 LTS'\n"),
];

const CONTAINER: &[(&str, &str)] = &[
    ("proc/stat", "cpu  1 2 3 4\n"),
    ("proc/meminfo", "MemTotal:        65536 kB\nMemFree:          1024 kB\n"),
    ("proc/cpuinfo", "processor\t: 0\nprocessor\t: 1\nprocessor\t: 2\n"),
    ("proc/sys/kernel/osrelease", "4.4.0\n"),
];
