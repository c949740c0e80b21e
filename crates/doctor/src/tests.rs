//! The checks together: order, places, and that nothing is fine by default.

mod device;
mod directory;
mod host;

use crate::fixtures::{disk, quiet, snapshot, tree};
use crate::target::Target;
use crate::{codes, judge};
use fsarena_model::host::{Finding, Weight};
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_documented() {
    let page = include_str!("../../../docs/doctor.md");
    let mut seen = BTreeSet::new();
    for code in codes() {
        assert!(seen.insert(code), "{code} twice");
        assert!(page.contains(&format!("\n| {code} |")), "docs/doctor.md does not explain {code}");
    }
}

/// On a machine that tells nothing, only what follows from that may be fine.
#[test]
fn where_nothing_is_told_nothing_is_fine() {
    let tree = tree(&[]);
    let findings = judge(&snapshot(&tree, &[Target::Device("/dev/sda".into())]));
    let fine: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.weight == Weight::Fine)
        .map(|finding| finding.code.as_str())
        .collect();
    // Without a hypervisor nobody takes memory away; there is no file that would deny it.
    assert_eq!(fine, ["page-reporting"]);
    let last = findings.last().unwrap();
    assert_eq!((last.code.as_str(), last.place.as_str()), ("unseen", "/dev/sda"));
}

#[test]
fn a_directory_is_followed_down_to_its_disk() {
    let tree = disk();
    let snapshot = snapshot(&tree, &[Target::Directory("/data".into())]);
    let names: Vec<(&str, bool, bool)> = snapshot
        .layers
        .iter()
        .map(|layer| (layer.device.name.as_str(), layer.is_top, layer.is_bottom))
        .collect();
    assert_eq!(names, [("sda1", true, false), ("sda", false, true)]);
    let findings = judge(&snapshot);
    let places: BTreeSet<&str> = findings.iter().map(|finding| finding.place.as_str()).collect();
    assert_eq!(places, ["/data", "/dev/sda", "/dev/sda1", "host"].into());
}

#[test]
fn a_loop_device_is_followed_to_the_disk_of_its_file() {
    let tree = disk().with("sys/block/loop0/loop/backing_file", "/data/image\n");
    crate::fixtures::block(&tree, "sys/block/loop0", "7:0", 2048);
    let snapshot = snapshot(&tree, &[Target::Device("/dev/loop0".into())]);
    let names: Vec<&str> = snapshot.layers.iter().map(|layer| layer.device.name.as_str()).collect();
    assert_eq!(names, ["loop0", "sda1", "sda"]);
}

#[test]
fn a_volume_is_followed_to_all_its_disks() {
    let tree = disk();
    crate::fixtures::block(&tree, "sys/block/dm-0", "253:0", 2048);
    crate::fixtures::block(&tree, "sys/block/sdb", "8:16", 2048);
    for slave in ["sda1", "sdb"] {
        tree.put(&format!("sys/block/dm-0/slaves/{slave}"), "");
    }
    let snapshot = snapshot(&tree, &[Target::Device("/dev/dm-0".into())]);
    let names: Vec<&str> = snapshot.layers.iter().map(|layer| layer.device.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "sda1", "sda", "sdb"]);
}

#[test]
fn subjects_on_one_disk_are_looked_at_once() {
    let both = [Target::Device("/dev/sda1".into()), Target::Directory("/data".into())];
    let tree = disk();
    let mut snapshot = snapshot(&tree, &both);
    snapshot.sample = quiet();
    let findings = judge(&snapshot);
    let of = |code: &str| findings.iter().filter(|finding| finding.code == code).count();
    assert_eq!((of("scheduler"), of("alignment"), of("free-space")), (1, 1, 1), "{findings:?}");
}

/// What is wrong says why it matters and what mends it; what is fine or unknown claims nothing.
#[test]
fn objections_come_with_reasons() {
    let tree = disk()
        .with("sys/block/sda/sda1/start", "63\n")
        .with("sys/block/sda/queue/physical_block_size", "4096\n")
        .with("sys/block/sda/queue/scheduler", "none [bfq]\n")
        .with("proc/self/mountinfo", "30 22 8:1 / /data rw,sync - ext4 /dev/sda1 rw,discard\n");
    let findings = judge(&snapshot(&tree, &[Target::Directory("/data".into())]));
    let objects = |finding: &&Finding| finding.weight > Weight::Unknown;
    assert!(findings.iter().filter(objects).count() >= 6);
    for finding in &findings {
        assert!(!finding.reading.is_empty(), "{finding:?}");
        assert_eq!(finding.weight > Weight::Unknown, !finding.why.is_empty(), "{finding:?}");
        if finding.weight > Weight::Unknown {
            assert!(finding.remedy.is_some(), "{finding:?}");
        }
        for text in [Some(&finding.reading), Some(&finding.why), finding.remedy.as_ref()] {
            let text = text.map_or("", String::as_str);
            assert!(!text.ends_with('.') && !text.contains("  "), "{text:?}");
        }
    }
}
