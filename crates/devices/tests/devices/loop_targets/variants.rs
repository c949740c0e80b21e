//! Options other than the defaults, on the real tools: what the rules allow is accepted, down to
//! the smallest device, and is found again in the file system.

use super::fixture::{LoopFixture, device, formatted, mounted, ready};
use fsarena_devices::claim::Claimed;
use fsarena_filesystems::FileSystem;
use fsarena_model::capacity::Predicted;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use std::path::Path;

/// File system, mkfs options, mount options, and what must be read back.
type Variant = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    (&'static str, &'static str),
);

const VARIANTS: [Variant; 27] = [
    ("ext2", &[("block_size", "1024"), ("inode_size", "128")], &[], ("block_size", "1024")),
    ("ext3", &[("journal_size", "8M")], &["data=journal"], ("total_journal_size", "8M")),
    ("ext4", &[("journal_size", "64M")], &["data=writeback"], ("total_journal_size", "64M")),
    ("ext4", &[("features", "inline_data,^64bit")], &[], ("inode_size", "256")),
    ("ext4", &[("features", "^has_journal")], &[], ("block_size", "4096")),
    ("ext4", &[("inode_ratio", "64K"), ("flex_bg_size", "8")], &[], ("flex_block_group_size", "8")),
    ("ext4", &[("cluster_size", "16K")], &[], ("cluster_size", "16384")),
    ("ext4", &[("cluster_size", "256K")], &[], ("cluster_size", "262144")),
    ("ext4", &[("cluster_size", "2K"), ("block_size", "1K")], &[], ("cluster_size", "2048")),
    ("ext4", &[("cluster_size", "8M"), ("inode_ratio", "1M")], &[], ("cluster_size", "8388608")),
    (
        "ext4",
        &[("inode_size", "4096"), ("inode_ratio", "64K")],
        &["noatime"],
        ("inode_size", "4096"),
    ),
    ("ext4", &[("inode_size", "128"), ("inode_ratio", "1024")], &[], ("inode_size", "128")),
    ("ext4", &[("inode_ratio", "64M"), ("block_size", "2K")], &[], ("block_size", "2048")),
    ("xfs", &[("block_size", "1024"), ("agcount", "2")], &[], ("meta.agcount", "2")),
    ("xfs", &[("block_size", "2048"), ("log_size", "80M")], &[], ("data.bsize", "2048")),
    ("xfs", &[("block_size", "16384"), ("inode_size", "2048")], &[], ("data.bsize", "16384")),
    ("xfs", &[("block_size", "65536")], &[], ("data.bsize", "65536")),
    ("xfs", &[("block_size", "65536"), ("sector_size", "32768")], &[], ("meta.sectsz", "32768")),
    ("xfs", &[("block_size", "32K"), ("rmapbt", "1")], &[], ("data.bsize", "32768")),
    ("xfs", &[("reflink", "0"), ("rmapbt", "1")], &["logbufs=8"], ("meta.rmapbt", "1")),
    ("xfs", &[("sector_size", "1024")], &[], ("meta.sectsz", "1024")),
    ("xfs", &[("finobt", "0"), ("inode_size", "1024")], &[], ("meta.finobt", "0")),
    ("xfs", &[("bigtime", "0"), ("dir_block_size", "8192")], &[], ("naming.bsize", "8192")),
    ("btrfs", &[("nodesize", "4096"), ("checksum", "xxhash")], &[], ("nodesize", "4096")),
    ("btrfs", &[("nodesize", "65536")], &["compress=zlib:9"], ("nodesize", "65536")),
    ("btrfs", &[("nodesize", "16384")], &["compress=lzo"], ("nodesize", "16384")),
    ("btrfs", &[("metadata_profile", "single")], &["compress=zstd:1"], ("sectorsize", "4096")),
];

/// Room and inodes are those that the driver predicts.
fn as_predicted(driver: &dyn FileSystem, level: &FsLevel, size_bytes: u64, mounted: &Path) {
    let Some(room) = driver.capacity(level, size_bytes) else { return };
    let stat = rustix::fs::statvfs(mounted).unwrap();
    let found = Predicted {
        free_bytes: stat.f_bavail * stat.f_frsize,
        inodes: (stat.f_files > 0).then_some(stat.f_ffree),
    };
    println!("{level}: predicted {:?}, found {found:?}", room.predicted);
    assert_eq!(room.predicted.is_off(&found), None, "{level}");
}

fn try_level(fixture: &LoopFixture, claimed: &Claimed, level: &FsLevel, read_back: (&str, &str)) {
    let Some(driver) = ready(&level.name) else { return };
    let made = formatted(claimed, &*driver, level, Discard::None);
    let target = claimed.target();
    let features = driver.effective_features(device(&target)).unwrap();
    assert_eq!(features.get(read_back.0).map(String::as_str), Some(read_back.1), "{level}");
    let tree = mounted(&made, fixture);
    let size_bytes = match &target {
        TargetSpec::Block { size_bytes, .. } => *size_bytes,
        other => panic!("no device: {other:?}"),
    };
    as_predicted(&*driver, level, size_bytes, tree.path());
    for option in &level.mount {
        // The default of the kernel is not shown.
        let shown = tree.options().split(',').any(|word| word.starts_with(option.as_str()));
        assert!(shown || option == "data=ordered", "{level}: {}", tree.options());
    }
    std::fs::write(tree.path().join("file"), vec![1; 1 << 20]).unwrap();
    tree.unmount().unwrap();
}

#[test]
fn loop_options_that_the_rules_allow_are_taken_and_read_back() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(400 << 20);
    for (name, mkfs, mount, read_back) in VARIANTS {
        let level = FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            mount: mount.iter().map(|option| (*option).to_owned()).collect(),
            ..FsLevel::plain(name)
        };
        try_level(&fixture, &claimed, &level, read_back);
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_the_smallest_device_of_each_rule_works() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for (name, mib, read_back) in [
        ("ext2", 4, ("block_size", "4096")),
        ("ext3", 16, ("block_size", "4096")),
        ("ext4", 16, ("block_size", "4096")),
        ("xfs", 300, ("data.bsize", "4096")),
        ("btrfs", 109, ("nodesize", "16384")),
    ] {
        let claimed = fixture.claim(mib << 20);
        try_level(&fixture, &claimed, &FsLevel::plain(name), read_back);
        claimed.release().unwrap();
    }
    fixture.assert_nothing_left();
}
