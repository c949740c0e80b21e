//! The checks of directories, each on a fake machine.

use crate::fixtures::{self, check_result, directory, disk, snapshot, tree, weight_and_reading};
use crate::snapshot::Room;
use crate::target::Target;

fn free_space_result(room: Result<Room, String>) -> (String, String) {
    let mut snapshot = snapshot(&disk(), &[Target::Directory("/data".into())]);
    snapshot.directories[0].room = room;
    weight_and_reading(check_result(&snapshot, "free-space", "/data").unwrap())
}

fn free_space_of_100_gib(free_gib: u64, free_inodes: u64) -> (String, String) {
    let (all_bytes, free_bytes) = (100 << 30, free_gib << 30);
    free_space_result(Ok(Room { all_bytes, free_bytes, all_inodes: 100, free_inodes }))
}

#[test]
fn shares_and_inodes() {
    let half = free_space_of_100_gib(50, 90);
    let reading = "50 GiB of 100 GiB free (50 %), 90 % of the inodes";
    assert_eq!(half, ("fine".to_owned(), reading.to_owned()));
    assert_eq!(free_space_of_100_gib(9, 90).0, "warning");
    assert_eq!(free_space_of_100_gib(2, 90).0, "bad");
    assert_eq!(free_space_of_100_gib(50, 1).0, "bad", "files need inodes");
    let small = Room { all_bytes: 2 << 30, free_bytes: 1 << 30, all_inodes: 0, free_inodes: 0 };
    assert_eq!(
        free_space_result(Ok(small)),
        ("note".to_owned(), "1 GiB of 2 GiB free (50 %)".to_owned())
    );
}

#[test]
fn what_is_not_told() {
    let none = Room { all_bytes: 0, free_bytes: 0, all_inodes: 0, free_inodes: 0 };
    assert_eq!(free_space_result(Ok(none)).0, "unknown");
    assert_eq!(free_space_result(Err("no".to_owned())), ("unknown".to_owned(), "no".to_owned()));
}

#[test]
fn access_times_options() {
    let weight = |options: &str| directory("access-times", "ext4", options).unwrap().0;
    assert_eq!(weight("rw,noatime"), "fine");
    assert_eq!(weight("rw,relatime"), "note");
    assert_eq!(weight("rw"), "warning");
    assert_eq!(weight("rw / rw,noatime"), "fine", "where the superblock says it");
    assert_eq!(weight("rw,noatimes"), "warning", "another word");
}

#[test]
fn synchronous_options() {
    let weight = |options: &str| directory("synchronous", "ext4", options).unwrap().0;
    assert_eq!(weight("rw,relatime"), "fine");
    assert_eq!(weight("rw,sync"), "bad");
    assert_eq!(weight("rw / rw,sync"), "bad");
    assert_eq!(weight("rw,dirsync"), "warning");
    assert_eq!(weight("ro"), "bad");
    assert_eq!(weight("rw,async"), "fine");
}

#[test]
fn promises_options() {
    let result = |options: &str| directory("promises", "ext4", options).unwrap();
    assert_eq!(result("rw,relatime / rw,data=ordered").0, "fine");
    assert_eq!(result("rw / rw,nobarrier").0, "warning");
    assert_eq!(result("rw / rw,barrier=1").0, "fine");
    assert_eq!(result("rw / rw,barrier=0").0, "warning");
    assert_eq!(result("rw / rw,data=journal").0, "note");
    let both = result("rw / rw,nobarrier,data=writeback");
    assert!(both.1.starts_with("nobarrier: ") && both.1.contains("; data=writeback: "), "{both:?}");
}

#[test]
fn mount_discard_options() {
    let result = |options| directory("mount-discard", "btrfs", options).unwrap().0;
    assert_eq!(result("rw"), "fine");
    assert_eq!(result("rw / rw,nodiscard"), "fine");
    assert_eq!(result("rw / rw,discard"), "note");
    let later = directory("mount-discard", "btrfs", "rw / rw,discard=async").unwrap();
    assert!(later.1.contains("some time after"), "{later:?}");
}

#[test]
fn compression_options() {
    let result = |fstype, options| directory("compression", fstype, options);
    assert_eq!(result("ext4", "rw"), None);
    assert_eq!(result("btrfs", "rw / rw,ssd").unwrap().0, "fine");
    let zstd = result("btrfs", "rw / rw,compress=zstd:3").unwrap();
    assert_eq!(zstd, ("note".to_owned(), "mounted with compress=zstd:3".to_owned()));
    assert_eq!(result("btrfs", "rw / rw,compress=no").unwrap().0, "fine");
    assert_eq!(result("zfs", "rw").unwrap().0, "unknown");
}

#[test]
fn in_memory_types() {
    let result = |fstype| directory("in-memory", fstype, "rw").unwrap();
    assert_eq!(result("tmpfs").0, "warning");
    assert_eq!(result("xfs"), ("fine".to_owned(), "xfs, not in memory".to_owned()));
}

#[test]
fn behind_types() {
    let result = |fstype| directory("behind", fstype, "rw");
    assert_eq!(result("ext4"), None);
    assert_eq!(result("nfs4").unwrap().1, "nfs4: the disk is behind a network");
    assert_eq!(result("fuse.sshfs").unwrap().0, "warning");
    assert_eq!(result("overlay").unwrap().0, "warning");
}

#[test]
fn a_device_that_is_not_listed() {
    let mounts = "30 22 0:9 / /data rw - zfs pool/data rw\n";
    let tree = tree(&[("proc/self/mountinfo", mounts)]);
    let snapshot = snapshot(&tree, &[Target::Directory("/data".into())]);
    assert_eq!(
        weight_and_reading(fixtures::check_result(&snapshot, "behind", "/data").unwrap()).0,
        "unknown"
    );
}

#[test]
fn the_thread_of_the_kernel() {
    let tree = disk().with("proc/77/comm", "ext4lazyinit\n");
    let snapshot = snapshot(&tree, &[Target::Directory("/data".into())]);
    assert_eq!(
        weight_and_reading(check_result(&snapshot, "lazy-init", "/data").unwrap()).0,
        "warning"
    );
}

#[test]
fn without_the_program() {
    assert_eq!(directory("lazy-init", "ext4", "rw").unwrap().0, "unknown");
    assert_eq!(directory("lazy-init", "xfs", "rw"), None);
}
