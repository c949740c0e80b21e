//! The checks of block devices, each on a fake machine.

use crate::device::judge_smart_report;
use crate::fixtures::{block, device, device_with, disk, quiet, weight_and_reading, with_traffic};

fn alignment_starting(sector: &str, physical: &str, optimal: &str) -> (String, String) {
    let tree = disk()
        .with("sys/block/sda/sda1/start", sector)
        .with("sys/block/sda/queue/physical_block_size", physical)
        .with("sys/block/sda/queue/optimal_io_size", optimal);
    device("alignment", &tree, "sda1").unwrap()
}

#[test]
fn starts_of_partitions() {
    assert_eq!(alignment_starting("2048\n", "4096\n", "0\n").1, "it begins at 1 MiB, aligned");
    let odd = alignment_starting("63\n", "4096\n", "0\n");
    assert_eq!(odd.0, "bad");
    assert!(odd.1.ends_with("no multiple of the physical sector of 4 KiB"), "{odd:?}");
    assert_eq!(alignment_starting("63\n", "512\n", "0\n").0, "fine");
    assert_eq!(
        alignment_starting("2048\n", "512\n", "1572864\n").0,
        "warning",
        "three disks of 512 KiB"
    );
    assert_eq!(alignment_starting("2048\n", "512\n", "33553920\n").0, "fine", "a bridge's number");
    assert_eq!(alignment_starting("2048\n", "512\n", "wide\n").0, "unknown");
    assert_eq!(alignment_starting("2048\n", "big\n", "0\n").0, "unknown");
}

#[test]
fn what_the_kernel_finds() {
    let result = |value: &str| {
        let tree = disk().with("sys/block/sda/sda1/alignment_offset", value);
        device("alignment", &tree, "sda1").unwrap().0
    };
    assert_eq!(result("-1\n"), "bad");
    assert_eq!(result("3584\n"), "bad");
    assert_eq!(result("none\n"), "unknown");
    let tree = disk().without("sys/block/sda/sda1/alignment_offset");
    assert_eq!(device("alignment", &tree, "sda1").unwrap().0, "unknown");
    assert_eq!(device("alignment", &disk(), "sda"), None, "a whole disk begins at its beginning");
}

#[test]
fn sector_sizes() {
    let result = |physical: &str| {
        let tree = disk().with("sys/block/sda/queue/physical_block_size", physical);
        device("sector-size", &tree, "sda").unwrap()
    };
    assert_eq!(result("512\n").0, "fine");
    let emulated = result("4096\n");
    assert_eq!(emulated, ("note".to_owned(), "sectors of 512 B, written in 4 KiB".to_owned()));
    assert_eq!(result("many\n").0, "unknown");
    let tree = disk().without("sys/block/sda/queue/physical_block_size");
    assert_eq!(device("sector-size", &tree, "sda").unwrap().0, "unknown");
    assert_eq!(device("sector-size", &disk(), "sda1"), None);
}

#[test]
fn rotational_media() {
    let result = |value: &str, model: &str| {
        let tree = disk()
            .with("sys/block/sda/queue/rotational", value)
            .with("sys/block/sda/device/model", model);
        device("rotational", &tree, "sda").unwrap().0
    };
    assert_eq!(result("0\n", "Disk\n"), "fine");
    assert_eq!(result("1\n", "Disk\n"), "fine");
    assert_eq!(result("1\n", "QEMU HARDDISK\n"), "note");
    let tree = disk().without("sys/block/sda/queue/rotational");
    assert_eq!(device("rotational", &tree, "sda").unwrap().0, "unknown");
}

#[test]
fn schedulers() {
    let result = |rotational: &str, text: &str| {
        let tree = disk()
            .with("sys/block/sda/queue/rotational", rotational)
            .with("sys/block/sda/queue/scheduler", text);
        device("scheduler", &tree, "sda").unwrap().0
    };
    assert_eq!(result("0\n", "[none] mq-deadline bfq\n"), "fine");
    assert_eq!(result("0\n", "none mq-deadline [bfq]\n"), "note");
    assert_eq!(result("1\n", "none mq-deadline [bfq]\n"), "fine");
    assert_eq!(result("1\n", "[none] mq-deadline\n"), "note");
    assert_eq!(result("1\n", "none\n"), "fine", "there is no other");
    assert_eq!(result("1\n", "some thing\n"), "unknown");
    let tree = disk().without("sys/block/sda/queue/scheduler");
    assert_eq!(device("scheduler", &tree, "sda").unwrap().0, "unknown");
}

#[test]
fn layers_without_a_scheduler_say_nothing() {
    let tree = disk();
    block(&tree, "sys/block/dm-0", "253:0", 2048);
    assert_eq!(device("scheduler", &tree, "dm-0"), None);
}

#[test]
fn read_ahead() {
    let result = |kib: &str| {
        let tree = disk().with("sys/block/sda/queue/read_ahead_kb", kib);
        device("read-ahead", &tree, "sda").unwrap()
    };
    assert_eq!(result("128\n").0, "fine");
    let more = result("4096\n");
    assert_eq!(more.1, "read-ahead is 4 MiB; the kernel would choose 128 KiB");
    assert_eq!((more.0.as_str(), result("0\n").0.as_str()), ("note", "warning"));
    assert_eq!(result("far\n").0, "unknown");
    let of_stripes = disk()
        .with("sys/block/sda/queue/read_ahead_kb", "3072\n")
        .with("sys/block/sda/queue/optimal_io_size", "1572864\n");
    let chosen = device("read-ahead", &of_stripes, "sda").unwrap();
    assert_eq!(chosen.1, "read-ahead is 3 MiB, as the kernel chooses");
    let turning = disk()
        .with("sys/block/sda/queue/read_ahead_kb", "2560\n")
        .with("sys/block/sda/queue/max_sectors_kb", "1280\n")
        .with("sys/block/sda/queue/rotational", "1\n");
    assert_eq!(device("read-ahead", &turning, "sda").unwrap().0, "fine");
    let tree = disk().without("sys/block/sda/queue/read_ahead_kb");
    assert_eq!(device("read-ahead", &tree, "sda").unwrap().0, "unknown");
    assert_eq!(device("read-ahead", &disk(), "sda1"), None);
}

#[test]
fn write_caches() {
    let result = |value: &str| {
        let tree = disk().with("sys/block/sda/queue/write_cache", value);
        device("write-cache", &tree, "sda").unwrap().0
    };
    assert_eq!(result("write back\n"), "fine");
    assert_eq!(result("write through\n"), "note");
    assert_eq!(result("write around\n"), "unknown");
    let tree = disk().without("sys/block/sda/queue/write_cache");
    assert_eq!(device("write-cache", &tree, "sda").unwrap().0, "unknown");
}

#[test]
fn discard_trim() {
    let result = |rotational: &str, bytes: &str| {
        let tree = disk()
            .with("sys/block/sda/queue/rotational", rotational)
            .with("sys/block/sda/queue/discard_max_bytes", bytes);
        device("discard", &tree, "sda").unwrap().0
    };
    assert_eq!(result("0\n", "2147450880\n"), "fine");
    assert_eq!(result("0\n", "0\n"), "note");
    assert_eq!(result("1\n", "0\n"), "fine");
    assert_eq!(result("0\n", "-\n"), "unknown");
    let tree = disk().without("sys/block/sda/queue/discard_max_bytes");
    assert_eq!(device("discard", &tree, "sda").unwrap().0, "unknown");
}

#[test]
fn virtual_disk_models() {
    let result = |vendor: &str, model: &str| {
        let tree = disk()
            .with("sys/block/sda/device/vendor", vendor)
            .with("sys/block/sda/device/model", model);
        device("virtual-disk", &tree, "sda").unwrap()
    };
    let real = result("ATA     \n", "WDC WDS500G2B0A\n");
    assert_eq!(real, ("fine".to_owned(), "a disk of its own (ATA WDC WDS500G2B0A)".to_owned()));
    assert_eq!(result("QEMU\n", "QEMU HARDDISK\n").0, "warning");
    assert_eq!(result("Msft\n", "Virtual Disk\n").0, "warning");
    assert_eq!(result("", "").0, "unknown");
}

#[test]
fn names_and_machines() {
    let tree = disk();
    block(&tree, "sys/block/vdb", "254:16", 2048);
    assert_eq!(device("virtual-disk", &tree, "vdb").unwrap().1, "a virtual disk (virtio)");
    block(&tree, "sys/block/nbd0", "43:0", 2048);
    assert_eq!(device("virtual-disk", &tree, "nbd0").unwrap().1, "a disk behind a network");
    let guest = tree.with("sys/hypervisor/type", "xen\n");
    assert_eq!(device("virtual-disk", &guest, "sda").unwrap().0, "unknown");
    assert_eq!(device("virtual-disk", &guest, "sda1"), None);
}

#[test]
fn devices_in_memory() {
    let tree = disk();
    block(&tree, "sys/block/zram0", "252:0", 2048);
    let result = device("memory", &tree, "zram0").unwrap();
    assert_eq!(result, ("warning".to_owned(), "a device in memory (zram)".to_owned()));
    assert_eq!(device("memory", &tree, "sda"), None);
}

#[test]
fn loop_devices_over_memory() {
    let result = |file: &str, mounts: &str| {
        let tree = disk().with("proc/self/mountinfo", mounts);
        block(&tree, "sys/block/loop0", "7:0", 2048);
        device("memory", &tree.with("sys/block/loop0/loop/backing_file", file), "loop0")
    };
    let root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:9 / /tmp rw - tmpfs tmpfs rw\n";
    let on_disk = result("/var/image\n", root).unwrap();
    assert_eq!(on_disk.1, "a loop device over a file on ext4");
    let in_memory = result("/tmp/image\n", root).unwrap();
    assert_eq!(in_memory.1, "a loop device over a file in memory (tmpfs)");
    assert_eq!((on_disk.0.as_str(), in_memory.0.as_str()), ("fine", "warning"));
    assert_eq!(result("/var/image\n", "odd\n").unwrap().0, "unknown");
    assert_eq!(result("/dev/sda1\n", root).unwrap().0, "fine");
}

#[test]
fn direct_io_of_loop_devices() {
    let result = |value: Option<&str>| {
        let tree = disk().with("sys/block/loop0/loop/backing_file", "/var/image\n");
        block(&tree, "sys/block/loop0", "7:0", 2048);
        if let Some(value) = value {
            tree.put("sys/block/loop0/loop/dio", value);
        }
        device("loop-direct-io", &tree, "loop0").unwrap().0
    };
    assert_eq!(result(Some("1\n")), "fine");
    assert_eq!(result(Some("0\n")), "warning");
    assert_eq!(result(Some("on\n")), "unknown");
    assert_eq!(result(None), "unknown");
    assert_eq!(device("loop-direct-io", &disk(), "sda"), None);
}

#[test]
fn md_sync_actions() {
    let result = |files: &[(&str, &str)]| {
        let tree = disk();
        block(&tree, "sys/block/md0", "9:0", 2048);
        for (name, value) in files {
            tree.put(&format!("sys/block/md0/md/{name}"), value);
        }
        device("md-sync", &tree, "md0").unwrap().0
    };
    let mirror = ("level", "raid1\n");
    assert_eq!(result(&[mirror, ("sync_action", "idle\n")]), "fine");
    assert_eq!(result(&[mirror, ("sync_action", "resync\n")]), "bad");
    assert_eq!(result(&[mirror, ("sync_action", "idle\n"), ("degraded", "1\n")]), "warning");
    assert_eq!(result(&[("level", "raid0\n")]), "fine");
    assert_eq!(result(&[mirror]), "unknown");
    assert_eq!(result(&[]), "unknown");
    assert_eq!(device("md-sync", &disk(), "sda"), None);
}

fn wear_result(json: &str) -> (String, String) {
    weight_and_reading(judge_smart_report(json))
}

#[test]
fn wear_nvme() {
    let disk = |used: u32, spare: u32, errors: u32| {
        wear_result(&format!(
            r#"{{"serial_number": "SECRET", "smart_status": {{"passed": true}},
            "nvme_smart_health_information_log": {{"percentage_used": {used},
            "available_spare": {spare}, "available_spare_threshold": 10,
            "media_errors": {errors}}}}}"#
        ))
    };
    let new = disk(3, 100, 0);
    let reading = "3 % of its rated life used, 100 % of its spare left, 0 media errors";
    assert_eq!(new, ("fine".to_owned(), reading.to_owned()));
    assert_eq!(disk(85, 100, 0).0, "note");
    assert_eq!(disk(130, 100, 0).0, "warning");
    assert_eq!(disk(3, 100, 7).0, "warning");
    assert_eq!(disk(3, 10, 0).0, "bad");
}

#[test]
fn wear_sata() {
    let disk = |passed: bool, moved: u32| {
        wear_result(&format!(
            r#"{{"smart_status": {{"passed": {passed}}}, "ata_smart_attributes": {{"table": [
            {{"id": 5, "raw": {{"value": {moved}}}}}, {{"id": 9, "raw": {{"value": 9000}}}}]}}}}"#
        ))
    };
    assert_eq!(disk(true, 0), ("fine".to_owned(), "0 sectors moved or waiting to be".to_owned()));
    assert_eq!(disk(true, 8).0, "warning");
    assert_eq!(disk(false, 0).0, "bad");
}

#[test]
fn no_answer_is_not_fine() {
    assert_eq!(wear_result("").0, "unknown");
    assert_eq!(wear_result("{}").1, "smartctl: the disk tells nothing of its health");
    let refused = r#"{"smartctl": {"messages": [{"string": "Permission denied"}]}}"#;
    assert_eq!(
        wear_result(refused),
        ("unknown".to_owned(), "smartctl: Permission denied".to_owned())
    );
    assert_eq!(wear_result(r#"{"smart_status": {"passed": "yes"}}"#).0, "unknown");
    let healthy = wear_result(r#"{"smart_status": {"passed": true}}"#);
    assert_eq!(healthy, ("fine".to_owned(), "the disk says that it is healthy".to_owned()));
}

#[test]
fn without_the_program() {
    let absent = device("wear", &disk(), "sda").unwrap();
    let reading = "not run: smartctl (smartmontools) is not installed";
    assert_eq!(absent, ("unknown".to_owned(), reading.to_owned()));
    let tree = disk();
    block(&tree, "sys/block/vdb", "254:16", 2048);
    assert_eq!(device("wear", &tree, "vdb"), None, "a virtual disk does not wear");
}

#[test]
fn in_use_users() {
    let result = |tree: &fsarena_testkit::FakeTree, name| device("in-use", tree, name).unwrap();
    assert_eq!(result(&disk(), "sda1"), ("note".to_owned(), "mounted at /data".to_owned()));
    assert_eq!(result(&disk(), "sda").0, "fine");
    let held = disk().with("sys/block/sda/holders/dm-0", "");
    assert_eq!(result(&held, "sda").1, "part of dm-0");
    let unmounted = disk().with("proc/self/mountinfo", "22 1 9:0 / / rw - ext4 /dev/md0 rw\n");
    assert_eq!(result(&unmounted, "sda1").0, "fine");
    assert_eq!(result(&disk().with("proc/self/mountinfo", "odd\n"), "sda1").0, "unknown");
    assert_eq!(result(&disk().without("proc/self/mountinfo"), "sda1").0, "unknown");
}

#[test]
fn swap_on_a_device() {
    let result = |line: &str, name| {
        let text = format!("Filename Type Size Used Priority\n{line}");
        device("swap-on-device", &disk().with("proc/swaps", text), name).unwrap().0
    };
    assert_eq!(result("", "sda"), "fine");
    assert_eq!(result("/dev/sda1 partition 64 0 -2\n", "sda1"), "warning");
    assert_eq!(result("/dev/sda1 partition 64 0 -2\n", "sda"), "warning", "a part of the disk");
    assert_eq!(result("/dev/sdb1 partition 64 0 -2\n", "sda"), "fine");
    assert_eq!(result("/data/swap file 64 0 -2\n", "sda1"), "warning", "a file on it");
    assert_eq!(result("/dev/sda1 partition\n", "sda1"), "unknown");
    let tree = disk().without("proc/swaps");
    assert_eq!(device("swap-on-device", &tree, "sda").unwrap().0, "unknown");
}

#[test]
fn bytes_in_a_second() {
    let result = |read, written| {
        let sample = with_traffic(quiet(), "sda", read, written);
        device_with("traffic", &disk(), "sda", sample).unwrap()
    };
    assert_eq!(result(0, 4096).0, "fine");
    let busy = result(1 << 20, 2 << 20);
    assert_eq!(busy.1, "1 MiB read and 2 MiB written in one second");
    assert_eq!(busy.0, "warning");
    let mut sample = quiet();
    sample.devices.insert("sda".to_owned(), Err("no such file".to_owned()));
    assert_eq!(device_with("traffic", &disk(), "sda", sample).unwrap().0, "unknown");
    assert_eq!(device("traffic", &disk(), "sda1"), None);
}

#[test]
fn counting() {
    let result = |value: &str| {
        let tree = disk().with("sys/block/sda/queue/iostats", value);
        device("counting", &tree, "sda").unwrap().0
    };
    assert_eq!(result("1\n"), "fine");
    assert_eq!(result("0\n"), "warning");
    assert_eq!(result("\n"), "unknown");
    let tree = disk().without("sys/block/sda/queue/iostats");
    assert_eq!(device("counting", &tree, "sda").unwrap().0, "unknown");
}
