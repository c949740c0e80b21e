//! Targets on real loop devices: needs root, loop devices and the tools of each file system; what
//! cannot run says why. Here: what the rules refuse, the tools or this kernel refuse too, so a rule
//! is no opinion of ours. Serial, one loop device at a time, nothing is left.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod cases;
mod conditions;
mod exchanged;
mod faults;
mod fixture;
mod killed;
mod loop_alone_made;
mod older;
mod real;
mod variants;

use fixture::{LoopFixture, device, ready};
use fsarena_filesystems::Kernel;
use fsarena_model::contender::FsLevel;
use fsarena_model::spec::TargetSpec;
use std::path::Path;
use std::process::Command;

const SIZE_BYTES: u64 = 400 << 20;

/// File system, options that are refused, and the command that would do it nevertheless.
type Refused = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const EXT4: &str = "MKE2FS_CONFIG=/proc/nonexistent mke2fs -q -F -t ext4";
const REFUSED: [Refused; 16] = [
    ("ext4", &[("block_size", "8192")], "-b 8192 -O extent"),
    ("ext4", &[("block_size", "512")], "-b 512"),
    ("ext4", &[("inode_size", "8192")], "-b 4096 -I 8192"),
    ("ext4", &[("inode_size", "64")], "-b 4096 -I 64"),
    ("ext4", &[("inode_ratio", "128M")], "-i 134217728"),
    ("ext4", &[("journal_size", "200M")], "-b 4096 -J size=200 -O has_journal,extent"),
    ("ext4", &[("journal_size", "2M")], "-b 4096 -J size=2 -O has_journal"),
    ("ext4", &[("cluster_size", "1G")], "-b 4096 -C 1073741824 -O extent,bigalloc"),
    (
        "ext4",
        &[("cluster_size", "256K"), ("inode_ratio", "4096")],
        "-b 4096 -C 262144 -i 4096 -O extent,bigalloc",
    ),
    (
        "ext4",
        &[("cluster_size", "64K"), ("features", "^extent,^64bit")],
        "-b 4096 -C 65536 -O ^extent,^64bit,bigalloc",
    ),
    ("xfs", &[("block_size", "131072")], "-b size=131072"),
    ("xfs", &[("inode_size", "1024"), ("block_size", "1024")], "-b size=1024 -i size=1024"),
    ("xfs", &[("log_size", "32M")], "-l size=32m"),
    ("xfs", &[("agcount", "8")], "-d agcount=8 -l size=64m"),
    (
        "xfs",
        &[("block_size", "65536"), ("rmapbt", "1"), ("log_size", "90M"), ("agcount", "2")],
        "-b size=65536 -m rmapbt=1 -n size=65536 -d agcount=2 -l size=90m",
    ),
    (
        "xfs",
        &[("block_size", "65536"), ("sector_size", "65536")],
        "-b size=65536 -s size=65536 -n size=65536",
    ),
];

/// Whether the command makes a file system that this kernel mounts.
fn is_had(command: &str, fstype: &str, fixture: &LoopFixture, target: &TargetSpec) -> bool {
    let (device, mnt) = (device(target).display(), fixture.mnt());
    let mnt = mnt.display();
    let script = format!("{command} {device} && mount -t {fstype} {device} {mnt} && umount {mnt}");
    Command::new("sh").args(["-c", &script]).output().unwrap().status.success()
}

#[test]
fn loop_what_the_rules_refuse_the_tools_refuse() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(SIZE_BYTES);
    let target = claimed.target();
    for (name, mkfs, options) in REFUSED {
        let Some(driver) = ready(name) else { continue };
        let level = FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..FsLevel::plain(name)
        };
        let rule = driver.check(&level, Some(SIZE_BYTES));
        assert!(rule.is_err(), "{level} is allowed");
        let program = if name == "ext4" { EXT4 } else { "mkfs.xfs -q -f" };
        let command = format!("{program} {options}");
        assert!(!is_had(&command, name, &fixture, &target), "{command} works: {rule:?}");
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

/// What depends on the kernel: the rule says the same as mount(2).
#[test]
fn loop_the_kernel_says_what_its_rules_say() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(SIZE_BYTES);
    let target = claimed.target();
    let kernel = Kernel::running(Path::new("/proc"));
    for (name, key, value, command) in [
        ("xfs", "block_size", "16384", "mkfs.xfs -q -f -b size=16384"),
        ("xfs", "block_size", "4096", "mkfs.xfs -q -f -b size=4096"),
        ("btrfs", "sectorsize", "8192", "mkfs.btrfs -q -f -s 8192"),
        ("btrfs", "sectorsize", "4096", "mkfs.btrfs -q -f -s 4096"),
    ] {
        let Some(driver) = ready(name) else { continue };
        let mkfs = [(key.to_owned(), value.to_owned())].into();
        let level = FsLevel { mkfs, ..FsLevel::plain(name) };
        let takes = driver.kernel_takes(&level, &kernel);
        let is_had = is_had(command, name, &fixture, &target);
        // An older kernel may have been taught the same, and an experiment be switched on.
        assert!(is_had || takes.is_err(), "{level} on {kernel:?}: {takes:?}");
        println!("{level} on {kernel:?}: {is_had}, {takes:?}");
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}
