//! File systems that this kernel may not have: their tools make them on a loop device, and what was
//! made is read back.

use super::fixture::{LoopFixture, device};
use fsarena_devices::format::format;
use fsarena_filesystems::{Availability, availability, driver};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_process::cmd;
use std::path::Path;

/// File system, smallest device in MiB with these options, options, and what must be read back.
type Variant =
    (&'static str, u64, &'static [(&'static str, &'static str)], (&'static str, &'static str));

const VARIANTS: [Variant; 21] = [
    ("f2fs", 52, &[], ("segs_per_sec", "1")),
    (
        "f2fs",
        352,
        &[
            ("features", "extra_attr,inode_checksum,sb_checksum,compression"),
            ("overprovision_percent", "10"),
            ("segments_per_section", "4"),
        ],
        ("features", "extra_attr inode_checksum sb_checksum compression"),
    ),
    ("f2fs", 88, &[("overprovision_percent", "10")], ("segs_per_sec", "1")),
    ("nilfs2", 129, &[], ("block_size", "4096")),
    (
        "nilfs2",
        33,
        &[("block_size", "1024"), ("reserved_percent", "10"), ("block_count", "1")],
        ("block_size", "1024"),
    ),
    ("nilfs2", 2, &[("blocks_per_segment", "16")], ("of_blocks_per_segment", "16")),
    ("jfs", 16, &[], ("aggregate_block_size", "4096 bytes")),
    ("jfs", 100, &[("log_size", "8M"), ("case_insensitive", "1")], ("jfs_version", "1")),
    ("reiserfs", 37, &[], ("journal_blocks", "8193")),
    ("reiserfs", 7, &[("journal_blocks", "513"), ("hash", "tea")], ("hash", "tea")),
    ("reiserfs", 10, &[("block_size", "1024")], ("journal_blocks", "8126")),
    (
        "reiserfs",
        34,
        &[("block_size", "2048"), ("journal_blocks", "16350")],
        ("journal_blocks", "16350"),
    ),
    ("reiserfs", 132, &[("journal_blocks", "32749")], ("transaction_max_blocks", "1024")),
    ("vfat", 9, &[], ("fat_bits", "16")),
    ("vfat", 511, &[], ("cluster_bytes", "8192")),
    ("vfat", 512, &[], ("fat_bits", "32")),
    ("vfat", 36, &[("fat_bits", "32")], ("cluster_bytes", "512")),
    ("exfat", 4, &[], ("cluster_size", "4096")),
    ("exfat", 257, &[], ("cluster_size", "32768")),
    ("ntfs3", 2, &[], ("cluster_size", "4096")),
    ("ntfs3", 64, &[("cluster_size", "2K"), ("compression", "1")], ("cluster_size", "2048")),
];

#[test]
fn loop_tools_of_file_systems_without_a_kernel_make_what_is_read_back() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for (name, mib, options, read_back) in VARIANTS {
        let driver = driver(&FsLevel::plain(name)).unwrap();
        if let Some(need) = driver.tools().iter().find(|need| cmd::find(&need.program).is_none()) {
            println!("not run: {name}: {} is not installed", need.program);
            continue;
        }
        let level = FsLevel {
            mkfs: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..FsLevel::plain(name)
        };
        let claimed = fixture.claim(mib << 20);
        let target = claimed.target();
        for discard in [Discard::None, Discard::On] {
            let made = format(&target, &*driver, &level, discard).unwrap();
            assert!(made.mkfs_ns() > 0 && !made.mkfs_argv().is_empty());
            let features = driver.effective_features(device(&target)).unwrap();
            let got = features.get(read_back.0).map(String::as_str);
            assert_eq!(got, Some(read_back.1), "{level}: {features:?}");
        }
        println!("{level} on {mib} MiB: {:?}", driver.version());
        assert!(driver.version().is_some_and(|text| text.contains('.')), "{name}");
        claimed.release().unwrap();
    }
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_kernel_without_the_file_system_is_named() {
    for name in ["f2fs", "nilfs2", "jfs", "reiserfs", "vfat", "exfat", "ntfs3"] {
        let driver = driver(&FsLevel::plain(name)).unwrap();
        match availability(&*driver, Path::new("/proc")) {
            Availability::Ready => println!("{name}: this kernel has it"),
            Availability::Missing { reason, .. } => {
                println!("not run: {name}: {reason}");
                assert!(reason.contains(&format!("this kernel has no {name}")), "{reason}");
            }
        }
    }
}
