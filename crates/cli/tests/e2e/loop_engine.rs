//! The engine as a user meets it: every op, thread, backend and policy, on mounted file systems.

use crate::plain_directory::as_nobody;
use crate::support::{TestEnv, assert_nothing_left, device_of, is_root, phase, record_of};
use fsarena_model::record::{CacheState, MemoryRecord, PhaseRecord, TrialRecord, Window};
use std::fs;

/// Nested, names of 255 bytes, sizes of people's files.
const TREE: &str = r#"
[[workload]]
name = "tree"
dirs = 12
depth = 3
files = 60
size = { lognormal = { median = "4 KiB", sigma = 2.0, max = "128 KiB" } }
name_length = 255
phases = ["mkdir", { name = "list-empty", op = "list" }, "create", "list", "read-random", "stat",
    "append", "overwrite", "rename", { name = "read-again", op = "read" }, "delete", "rmdir"]
"#;

/// Numbers of files by a distribution; threads with directories of their own.
const OWN: &str = r#"
[[workload]]
name = "own"
dirs = 8
per_dir = { uniform = { min = 2, max = 20 } }
size = { weighted = [["0 B", 1], ["300 B", 2], ["16 KiB", 1]] }
threads = 4
phases = ["mkdir", "create", "list", "read", "append", "stat", "overwrite", "rename",
    { name = "read-again", op = "read", order = "random" }, "delete", "rmdir"]
"#;

/// Threads in one directory.
const SHARED: &str = r#"
[[workload]]
name = "shared"
files = 81
size = "5000 B"
name_length = 40
threads = 4
sharing = "shared"
phases = ["create", "read-random", "append", "stat", "overwrite", "rename",
    { name = "back", op = "rename" }, "delete"]
"#;

/// Requests of io_uring for everything that has one, one at a time and eight.
const RINGS: &str = r#"
[[workload]]
name = "ring"
files = 50
size = "9000 B"
dirs = 5
backend = "io_uring"
phases = ["create", "read", "append", "stat", "overwrite", "rename", "delete"]

[[workload]]
name = "rings"
files = 80
size = "9000 B"
dirs = 8
backend = "io_uring"
iodepth = 8
threads = 2
phases = ["mkdir", "create", "read-random", "append", "stat", "overwrite", "rename",
    { name = "read-again", op = "read" }, "delete", "rmdir"]
"#;

/// Big files: whole, in parts, at random; by calls, rings and mappings.
const BIG: &str = r#"
[[workload]]
name = "big"
files = 4
size = "1 MiB"
bs = "64 KiB"
phases = [
    { op = "big-write", threads = 4 },
    { op = "big-read", threads = 4, sharing = "shared" },
    { op = "big-overwrite", threads = 2, sharing = "shared" },
    { op = "randread", bs = "4 KiB" },
    { op = "randwrite", bs = "4 KiB", threads = 4 },
    { op = "randrw", bs = "8 KiB", rwmixread = 30, ops = 700, threads = 4 },
    { name = "read-again", op = "big-read" },
    "delete",
]

[[workload]]
name = "big-ring"
files = 2
size = "2 MiB"
bs = "32 KiB"
backend = "io_uring"
iodepth = 8
phases = ["big-write", "big-read", "big-overwrite", { op = "randread", bs = "4 KiB", iodepth = 1 },
    { op = "randwrite", bs = "4 KiB", threads = 2 }, { op = "randrw", bs = "4 KiB" }]

[[workload]]
name = "big-map"
files = 2
size = "1500 KiB"
bs = "32 KiB"
backend = "mmap"
phases = ["big-write", { op = "big-read", threads = 2 }, "big-overwrite",
    { op = "randread", bs = "4 KiB" }, { op = "randwrite", bs = "4 KiB", threads = 2 },
    { op = "randrw", bs = "4 KiB" }]

[[workload]]
name = "big-direct"
files = 2
size = "1 MiB"
bs = "16 KiB"
direct = true
threads = 2
phases = ["big-write", "big-read", "big-overwrite", { op = "randread", backend = "io_uring",
    iodepth = 8 }, { op = "randwrite", backend = "io_uring", iodepth = 8 }, "randrw"]

[[workload]]
name = "small-direct"
files = 20
size = "8 KiB"
direct = true
bs = "4 KiB"
phases = ["create", "read", "append", "overwrite", "delete"]
"#;

/// Every op once, in as many manners; short enough for every file system.
const MIXED: &str = r#"
[[workload]]
name = "files"
dirs = 12
depth = 2
per_dir = { uniform = { min = 1, max = 12 } }
size = { lognormal = { median = "4 KiB", sigma = 2.0, max = "128 KiB" } }
name_length = 255
phases = [
    "mkdir",
    { op = "create", threads = 4 },
    { op = "list", threads = 2 },
    { op = "read", order = "random", backend = "io_uring", iodepth = 8 },
    { op = "stat", backend = "io_uring" },
    { op = "append", threads = 4, sharing = "shared", fsync = "file" },
    { op = "overwrite", backend = "io_uring", iodepth = 4, threads = 2 },
    { op = "rename", threads = 4, sharing = "shared", fsync = "dir" },
    { name = "read-again", op = "read", threads = 4, sharing = "shared" },
    { op = "delete", backend = "io_uring", iodepth = 8 },
    "rmdir",
]

[[workload]]
name = "big"
files = 4
size = "1 MiB"
bs = "64 KiB"
phases = [
    { op = "big-write", threads = 4 },
    { op = "big-read", threads = 4, sharing = "shared", direct = true },
    { op = "big-overwrite", backend = "mmap" },
    { op = "randread", backend = "io_uring", iodepth = 8, direct = true },
    { op = "randwrite", bs = "4 KiB", threads = 4, fsync = "dsync", ops = 200 },
    { op = "randrw", bs = "8 KiB", rwmixread = 30, ops = 700, threads = 4 },
    { name = "written-mapped", op = "randwrite", backend = "mmap", threads = 2 },
]
"#;

/// Lengths, links, attributes and allocation.
const CALLS: &str = r#"
[[workload]]
name = "calls"
files = 60
size = "9000 B"
dirs = 6
phases = [
    "fallocate", "overwrite",
    { op = "setxattr", bs = "30 B" }, { op = "getxattr", bs = "30 B" },
    "link", "symlink", "list",
    { op = "truncate", bs = "4 KiB" }, "read-random", "delete", "rmdir",
]

[[workload]]
name = "calls-ring"
files = 60
size = "9000 B"
dirs = 6
threads = 2
backend = "io_uring"
iodepth = 4
phases = [
    "fallocate", "overwrite",
    { op = "setxattr", bs = "30 B" }, { op = "getxattr", bs = "30 B" },
    { op = "link", fsync = "op" }, { op = "symlink", fsync = "dir" },
    { op = "truncate", bs = "4 KiB", fsync = "file" }, "read", "delete", "rmdir",
]
"#;

/// The ops on lengths, links and attributes, by calls and by io_uring, on a file system with a
/// device and on one without; ext3 cannot allocate, and says so.
#[test]
fn calls_on_lengths_links_and_attributes() {
    let Some(env) = TestEnv::privileged(&["ext3", "ext4", "tmpfs"]) else { return };
    let file = env.experiment("fs = [\"ext4\", \"tmpfs\"]\ndevice = \"loop:64M\"", CALLS);
    let ran = env.run(&["run", &file, "--verify"]).good();
    ran.says(&["every byte as written", "setxattr", "values of 30 B", "to 4 KiB"]);
    let records = env.records_as_planned(1);
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
        for phase in &record.phases {
            let about_dirs = phase.op.is_about_dirs();
            assert_eq!(phase.ops, if about_dirs { 6 } else { 60 }, "{}", phase.name);
        }
        if record.filesystem.name == "ext4" && phase(record, "getxattr").io.threads == 1 {
            let cold = |name: &str| phase(record, name).cache.state;
            assert_eq!([cold("getxattr"), cold("link")], [CacheState::Cold; 2]);
        }
    }
    let none = env.experiment("fs = \"ext3\"\ndevice = \"loop:64M\"", CALLS);
    let ran = env.run(&["run", &none]);
    ran.says(&["fallocate", "does not support the call"]);
    assert_nothing_left(&env);
}

/// Runs `work` on `fs`, in warm phases; contents are compared afterwards.
#[track_caller]
fn done_on(fs: &str, work: &str) -> Option<Vec<TrialRecord>> {
    let env = TestEnv::privileged(&[fs])?;
    let factors = format!("fs = \"{fs}\"\ndevice = \"{}\"\ncache = \"warm\"", device_of(fs));
    let file = env.experiment(&factors, work);
    let ran = env.run(&["run", &file, "--verify"]).good();
    assert_nothing_left(&env);
    ran.says(&["every byte as written", "4 threads, own directories", "io_uring iodepth 8"]);
    let records = env.records_as_planned(1);
    assert!(records.iter().all(|record| record.verify.is_some()), "all were read again");
    Some(records)
}

/// 700 calls of 8 KiB, of which 30 % read.
#[track_caller]
fn assert_mixed(phase: &PhaseRecord) {
    let written = phase.asked_written_bytes.expect("reads and writes are told apart");
    assert_eq!((phase.ops, phase.asked_bytes), (700, 700 * 8192));
    assert!((400..580).contains(&(written / 8192)), "70 % of 700 are {}", written / 8192);
    let writes = phase.write_latency.as_ref().expect("and so are their latencies");
    assert_eq!(writes.count(), written / 8192);
}

/// Every op in every manner.
fn everything_on(fs: &str) {
    let mut work = [TREE, OWN, SHARED, RINGS, BIG].concat();
    if fs == "tmpfs" {
        // Nothing there is direct, so such a workload is not run.
        work = work.replace("direct = true", "direct = false");
    }
    let Some(records) = done_on(fs, &work) else { return };
    assert_eq!(records.len(), 10);
    // By hand, next to what the plan counts.
    let ops = |workload: &str, name: &str| phase(record_of(&records, workload), name).ops;
    // 12 leaves in 3 levels: 3 in each directory, so 12 + 4 + 2.
    assert_eq!((ops("tree", "mkdir"), ops("tree", "list"), ops("tree", "stat")), (18, 18, 60));
    assert_eq!((ops("own", "rmdir"), ops("shared", "back")), (8, 81));
    assert_eq!((ops("big", "big-read"), ops("big", "randread")), (64, 1024));
    assert_eq!(ops("big-map", "big-write"), 94);
    assert_eq!(phase(record_of(&records, "big-ring"), "big-overwrite").asked_bytes, 4 << 20);
    assert_mixed(phase(record_of(&records, "big"), "randrw"));
}

fn mixed_on(fs: &str) {
    let Some(records) = done_on(fs, MIXED) else { return };
    assert_mixed(phase(record_of(&records, "big"), "randrw"));
}

#[test]
fn everything_on_ext4() {
    everything_on("ext4");
}

#[test]
fn everything_on_tmpfs() {
    everything_on("tmpfs");
}

#[test]
fn mixed_on_xfs() {
    mixed_on("xfs");
}

#[test]
fn mixed_on_btrfs() {
    mixed_on("btrfs");
}

fn flushes(phase: &PhaseRecord) -> u64 {
    phase.windows[&Window::Durable]["device.flushes"]
}

/// What a policy makes durable is seen at the device: its flushes within the phase.
#[test]
fn what_is_synced_reaches_the_device() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let set = |name: &str, phases: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nfiles = 40\nsize = \"4 KiB\"\ndirs = 4\n\
             phases = [{phases}]\n"
        )
    };
    let one = |op: &str, fsync: &str| format!("{{ op = \"{op}\", fsync = \"{fsync}\" }}, ");
    let all = |ops: &[&str], fsync: &str| {
        set(fsync, &ops.iter().map(|op| one(op, fsync)).collect::<String>())
    };
    let work = [
        set("none", "\"create\", \"append\", \"rename\", \"delete\""),
        all(&["mkdir", "create", "append", "overwrite", "rename", "delete"], "op"),
        all(&["create", "append", "overwrite"], "file"),
        all(&["create", "rename", "delete"], "dir"),
        all(&["create", "append", "rename", "delete"], "end"),
        all(&["create", "append", "overwrite"], "dsync"),
    ];
    let factors = "fs = \"ext4\"\ndevice = \"loop:128M\"\ncache = \"warm\"";
    let file = env.experiment(factors, &work.concat());
    let ran = env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    ran.says(&[
        "fsync after each op",
        "fsync of each file",
        "fsync of each directory",
        "syncfs at the end",
        "O_DSYNC",
        "p99.9",
    ]);
    let records = env.records_as_planned(1);
    for (policy, least, most) in
        [("none", 0, 8), ("op", 40, 999), ("file", 40, 999), ("dir", 4, 39), ("dsync", 40, 999)]
    {
        for phase in &record_of(&records, policy).phases {
            let least = if phase.name == "mkdir" { 4 } else { least };
            let found = flushes(phase);
            assert!((least..=most).contains(&found), "{policy}, {}: {found}", phase.name);
        }
    }
    // syncfs is within `returned`, and once more within `durable`. The journal may commit once by
    // itself in any phase, more often soon after a mount, which the first phases meet.
    let found = ["end", "none"].map(|policy| {
        let of = |name| flushes(phase(record_of(&records, policy), name));
        of("rename") + of("delete")
    });
    assert!(found[0] > found[1], "rename and delete: {found:?}");
}

/// Threads in cold phases, with the figures of each in the table.
#[test]
fn cold_threads_and_their_table() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = "[[workload]]\nname = \"w\"\nfiles = 64\nsize = \"4 KiB\"\ndirs = 8\nthreads = 4\n\
                phases = [\"create\", { op = \"read\", sharing = \"shared\", direct = true, \
                bs = \"1 KiB\" }]\n\
                [[workload]]\nname = \"pages\"\nfiles = 1\nsize = \"4 MiB\"\n\
                phases = [{ op = \"randrw\", rwmixread = 70, ops = 500, threads = 2 }]\n";
    let file = env.experiment("fs = \"ext4\"\ndevice = \"loop:128M\"", work);
    let ran = env.run(&["run", &file]).good().says(&[
        "4 threads, own directories",
        "4 threads, shared directories, direct, bs 1 KiB",
        "2 threads, shared file, 70% reads, 500 ops, bs 4 KiB",
        "first done",
        "last done",
        "imbalance",
        "IOPS",
    ]);
    assert!(!ran.stdout.contains("could not be proved"), "{}", ran.stdout);
    assert_nothing_left(&env);
    let records = env.records_as_planned(1);
    for record in &records {
        for phase in &record.phases {
            assert_eq!(phase.cache.state, fsarena_model::record::CacheState::Cold, "{phase:?}");
        }
    }
}

/// No call at all: nothing is on the file system afterwards, and the table says so.
#[test]
fn the_null_backend_calls_nothing() {
    let Some(env) = TestEnv::privileged(&["ext4", "tmpfs"]) else { return };
    let work = "[[workload]]\nname = \"nothing\"\nfiles = 1000\nsize = \"4 KiB\"\ndirs = 8\n\
                backend = \"null\"\nthreads = 2\n\
                phases = [\"create\", \"read\", \"stat\", \"rename\", \"delete\"]\n";
    let factors = "fs = [\"ext4\", \"tmpfs\"]\ndevice = \"loop:128M\"\ncache = \"warm\"";
    let file = env.experiment(factors, work);
    env.run(&["run", &file]).good().says(&["null backend (no calls at all)"]);
    assert_nothing_left(&env);
    for record in env.records_as_planned(1) {
        assert_eq!(record.space.map(|space| space.stored_bytes), Some(0));
        let write_ops = phase(&record, "create").windows[&Window::Durable].get("device.writes");
        assert!(write_ops.is_none_or(|&writes| writes < 100), "{write_ops:?}");
    }
}

const CREW: &str = r#"
[[workload]]
name = "crew"
files = 120
size = "16 KiB"
dirs = 8
threads = 4
phases = ["create", "list", { op = "append", fsync = "file" }, "read-random", "rename", "delete"]

[[workload]]
name = "pages"
files = 2
size = "48 MiB"
threads = 2
phases = ["big-write", { op = "randread", backend = "io_uring", iodepth = 8, ops = 500 },
    { op = "randwrite", fsync = "op", ops = 60 }, { name = "mapped", op = "randrw", ops = 500,
    backend = "mmap" }]
"#;

#[test]
fn threads_of_another_user_with_little_memory() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    if let Err(reason) = fsarena_executor::cgroup::Hierarchy::find(&mounts) {
        println!("not run: {reason}");
        return;
    }
    let factors = "fs = \"ext4\"\ndevice = \"loop:256M\"\ncache = \"warm\"";
    let file = env.experiment(factors, CREW);
    let with = ["--user", "65534:65534", "--memory", "64M", "--verify"];
    env.run(&[&["run", &file], &with[..]].concat()).good();
    assert_nothing_left(&env);
    for record in env.records_as_planned(1) {
        for phase in &record.phases {
            let limited = matches!(phase.memory, MemoryRecord::Limited { .. });
            assert!(limited, "{}: {:?}", phase.name, phase.memory);
        }
    }
}

#[test]
fn threads_in_a_directory_without_root() {
    if !is_root() {
        println!("not run: needs root, to become somebody else");
        return;
    }
    let env = TestEnv::new();
    let target = env.make_dir("target");
    std::os::unix::fs::chown(&target, Some(65534), Some(65534)).unwrap();
    let file = env.experiment(&format!("device = \"{target}\"\ncache = \"warm\""), CREW);
    let command = as_nobody(&env, &["run", &file, "--verify"]).expect("root");
    env.finish(command).good();
    assert_nothing_left(&env);
    // Root does nothing by what is in the state directory of another user, or below theirs.
    for dir in [env.dir().to_owned(), env.state()] {
        std::os::unix::fs::chown(dir, Some(0), Some(0)).unwrap();
    }
    env.records_as_planned(1);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}

/// All of `quick-all` at once: every phase of every workload, on every file system.
#[test]
fn quick_as_a_whole() {
    let Some(env) = TestEnv::privileged(&["ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs"]) else {
        return;
    };
    let ran = env.run_once(&["quick-all", "--scale", "0.05", "--on", "loop:320M"]).good().says(&[
        "small-files / create",
        "small-files / delete",
        "big-file / big-write",
        "big-file / big-read",
        "metadata-threads / create",
        "metadata-threads / stat",
        "metadata-threads / rename",
        "metadata-threads / delete",
        "4 threads, shared directories",
        "fsync-latency / write-fsync",
        "fsync after each op",
        "p50 p90 p99 p99.9 max",
    ]);
    assert!(!ran.stdout.contains("not run"), "{}", ran.stdout);
    assert_nothing_left(&env);
    let records = env.records_as_planned(1);
    assert_eq!(records.len(), 4 * 6);
    let synced = records.iter().filter(|record| record.key.workload == "fsync-latency");
    assert!(synced.map(|record| phase(record, "write-fsync")).all(|phase| phase.ops == 50));
}
