//! Fake machines for the tests of checks.

use crate::CHECKS;
use crate::check::{CheckResult, HOST, Scope};
use crate::sample::{Sample, Traffic};
use crate::snapshot::SystemSnapshot;
use crate::target::Target;
use fsarena_metrics::KernelRoots;
use fsarena_process::cmd::SearchPath;
use fsarena_testkit::FakeTree;
use std::path::PathBuf;
use std::time::Duration;

/// A second of two processors at rest.
pub fn quiet() -> Sample {
    busy(0.0, 0.0)
}

/// A second of two processors with these shares of them.
pub fn busy(busy: f64, stolen: f64) -> Sample {
    let ns = |share: f64| (share * 2e9) as u64;
    let idle = ns(1.0 - busy - stolen);
    let counters = [
        ("cpu.user_ns", ns(busy)),
        ("cpu.system_ns", 0),
        ("cpu.idle_ns", idle),
        ("cpu.steal_ns", ns(stolen)),
    ];
    let counters = counters.map(|(name, value)| (name.to_owned(), value)).into();
    Sample { window_ns: 1_000_000_000, counters: Ok(counters), devices: Default::default() }
}

/// The sample with this traffic of a device.
pub fn with_traffic(mut sample: Sample, name: &str, read_bytes: u64, written_bytes: u64) -> Sample {
    sample.devices.insert(name.to_owned(), Ok(Traffic { read_bytes, written_bytes }));
    sample
}

pub fn roots(tree: &FakeTree) -> KernelRoots {
    KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() }
}

/// The files of a tree.
pub fn tree(files: &[(&str, &str)]) -> FakeTree {
    let tree = FakeTree::new();
    for (path, contents) in files {
        tree.put(path, contents);
    }
    tree
}

/// A snapshot without programs, and without waiting.
pub fn snapshot(tree: &FakeTree, targets: &[Target]) -> SystemSnapshot {
    SystemSnapshot::read(&roots(tree), targets, SearchPath::new(Vec::new()), Duration::ZERO)
}

/// What the check of this name says of a place; `None` where it has nothing to say.
pub fn check_result(snapshot: &SystemSnapshot, code: &str, place: &str) -> Option<CheckResult> {
    let check = CHECKS.iter().find(|check| check.code == code).expect("a check of this name");
    let checked = match check.scope {
        Scope::Host(check) => {
            assert_eq!(place, HOST);
            check(snapshot)
        }
        Scope::Device(check) => {
            let layer = snapshot.layers.iter().find(|layer| layer.place() == place);
            check(snapshot, layer.expect("a device at this place"))
        }
        Scope::Hardware(check) => {
            let layer = snapshot.layers.iter().find(|layer| layer.place() == place);
            let layer = layer.expect("a device at this place");
            if !layer.is_hardware() {
                return None;
            }
            check(snapshot, layer)
        }
        Scope::Directory(check) => {
            let dir = snapshot.directories.iter().find(|dir| dir.place() == place);
            check(snapshot, dir.expect("a directory at this place"))
        }
    };
    CheckResult::from_checked(checked)
}

/// What a check of the machine says where these files are all there is: its weight and reading.
pub fn host(code: &str, files: &[(&str, &str)]) -> (String, String) {
    host_with(code, files, quiet())
}

/// As [`host`], with this load.
pub fn host_with(code: &str, files: &[(&str, &str)], sample: Sample) -> (String, String) {
    let tree = tree(files);
    let snapshot = SystemSnapshot { sample, ..snapshot(&tree, &[]) };
    weight_and_reading(
        check_result(&snapshot, code, HOST).expect("it always says something of the machine"),
    )
}

pub fn weight_and_reading(result: CheckResult) -> (String, String) {
    (result.weight.word().to_owned(), result.reading)
}

/// A tree with a disk and one partition on it: `sda`, 8:0, 64 GiB, SATA SSD; `sda1` from 1 MiB on,
/// ext4 at `/data`.
pub fn disk() -> FakeTree {
    let tree = FakeTree::new();
    block(&tree, "sys/block/sda", "8:0", 134_217_728);
    let queue = [
        ("logical_block_size", "512\n"),
        ("physical_block_size", "512\n"),
        ("minimum_io_size", "512\n"),
        ("optimal_io_size", "0\n"),
        ("rotational", "0\n"),
        ("scheduler", "[mq-deadline] none bfq\n"),
        ("read_ahead_kb", "128\n"),
        ("write_cache", "write back\n"),
        ("discard_max_bytes", "2147450880\n"),
        ("iostats", "1\n"),
    ];
    for (name, value) in queue {
        tree.put(&format!("sys/block/sda/queue/{name}"), value);
    }
    tree.put("sys/block/sda/device/model", "WDC WDS500G2B0A\n");
    tree.put("sys/block/sda/device/vendor", "ATA     \n");
    block(&tree, "sys/block/sda/sda1", "8:1", 134_213_632);
    tree.put("sys/block/sda/sda1/partition", "1\n");
    tree.put("sys/block/sda/sda1/start", "2048\n");
    tree.put(
        "proc/self/mountinfo",
        "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 8:1 / /data rw,noatime - ext4 /dev/sda1 rw
",
    );
    tree.put("proc/swaps", "Filename Type Size Used Priority\n");
    tree
}

/// The files that every block device has.
pub fn block(tree: &FakeTree, dir: &str, number: &str, sectors: u64) {
    tree.put(&format!("{dir}/dev"), format!("{number}\n"));
    tree.put(&format!("{dir}/size"), format!("{sectors}\n"));
    tree.put(&format!("{dir}/removable"), "0\n");
    tree.put(&format!("{dir}/ro"), "0\n");
    tree.put(&format!("{dir}/alignment_offset"), "0\n");
    tree.put(&format!("{dir}/stat"), "1 0 8 1 1 0 8 1 0 1 1 0 0 0 0 0 0\n");
    std::fs::create_dir_all(tree.path(format!("{dir}/holders"))).expect("inside the tree");
}

/// What a device check says of `/dev/NAME` in this tree.
pub fn device(code: &str, tree: &FakeTree, name: &str) -> Option<(String, String)> {
    device_with(code, tree, name, quiet())
}

/// As [`device`], with this load.
pub fn device_with(
    code: &str,
    tree: &FakeTree,
    name: &str,
    sample: Sample,
) -> Option<(String, String)> {
    let path = PathBuf::from("/dev").join(name);
    let target = Target::Device(path.clone());
    let snapshot = SystemSnapshot { sample, ..snapshot(tree, &[target]) };
    check_result(&snapshot, code, &path.display().to_string()).map(weight_and_reading)
}

/// What a directory check says of `/data`, with these options and this type.
pub fn directory(code: &str, fstype: &str, options: &str) -> Option<(String, String)> {
    let tree = disk();
    let (of_mount, of_super) = options.split_once(" / ").unwrap_or((options, "rw"));
    let line = format!("30 22 8:1 / /data {of_mount} - {fstype} /dev/sda1 {of_super}\n");
    tree.put("proc/self/mountinfo", line);
    let snapshot = snapshot(&tree, &[Target::Directory("/data".into())]);
    check_result(&snapshot, code, "/data").map(weight_and_reading)
}
