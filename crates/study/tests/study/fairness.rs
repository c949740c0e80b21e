//! The fairness ledger over hand-made records: what was made, what differs, and what is left out.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::host::Host;
use fsarena_model::record::{CacheState, Notice, Outcome, TrialRecord, Window};
use fsarena_model::run::RunHeader;
use fsarena_study::{Difference, Fact, Fairness, fairness};
use fsarena_testkit::records::{self, SECOND_NS, contender, session, small_files};
use std::collections::BTreeMap;

/// A plan of these file systems (a later one of the same name is another replicate), two blocks.
fn sample(names: &[&str]) -> (RunHeader, Vec<TrialRecord>) {
    let contenders = names.iter().enumerate().map(|(at, name)| {
        let replicate = names[..=at].iter().filter(|known| known == &name).count();
        contender(&format!("{name}#{at}"), name, u32::try_from(replicate).unwrap())
    });
    let header = records::header(contenders.collect(), vec![small_files()], 2);
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    let records = (0..count).map(|at| records::record(&header, at)).collect();
    (header, records)
}

fn fairness_of(header: &RunHeader, records: &[TrialRecord]) -> Fairness {
    fairness(header, &[session("b", 0)], records)
}

fn find<'a>(view: &'a Fairness, what: &str) -> Option<&'a Difference> {
    view.differences.iter().find(|difference| difference.what == what)
}

fn values(difference: &Difference) -> Vec<&str> {
    difference.values.iter().map(|value| value.as_deref().unwrap_or("-")).collect()
}

fn fact<'a>(facts: &'a [Fact], name: &str) -> Option<&'a str> {
    facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

/// Sets something in all records of a contender.
fn set(records: &mut [TrialRecord], header: &RunHeader, at: usize, f: impl Fn(&mut TrialRecord)) {
    let id = header.plan.contenders[at].id();
    records.iter_mut().filter(|record| record.key.contender == id).for_each(f);
}

fn option(key: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(key.to_owned(), value.to_owned())])
}

#[test]
fn equal_arms_have_no_difference_at_all() {
    let (header, records) = sample(&["ext4", "ext4"]);
    let view = fairness_of(&header, &records);
    assert_eq!(view.differences, []);
    assert_eq!((view.contenders.len(), view.caches.len(), view.devices.len()), (2, 6, 0));
    assert!(view.contenders.iter().all(|one| one.varied.is_empty()));
    assert_eq!(view.contenders[0].served_by.as_deref(), Some("ext4"));
}

#[test]
fn without_records_there_is_nothing_but_the_host_and_the_factors() {
    let (header, _) = sample(&["ext4", "xfs"]);
    let view = fairness_of(&header, &[]);
    assert!(view.contenders.is_empty() && view.caches.is_empty() && view.devices.is_empty());
    let what: Vec<_> = view.differences.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(what, ["file system"]);
    assert!(fact(&view.host, "steal").unwrap().starts_with("not known"));
    assert!(find(&view, "file system").unwrap().under_test);
}

#[test]
fn what_nobody_asked_for_is_not_under_test() {
    let (header, mut records) = sample(&["ext4", "ext4", "xfs"]);
    set(&mut records, &header, 1, |record| {
        let made = &mut record.filesystem;
        made.mounted_options = Some("rw,noatime,stripe=16".to_owned());
        made.tool_version = Some("mkfs.ext4 1.2.4".to_owned());
        made.features = option("filesystem_features", "extent metadata_csum");
        record.device.insert("scheduler".to_owned(), "bfq".to_owned());
        for phase in &mut record.phases {
            phase.cache.state = CacheState::Warm;
        }
    });
    set(&mut records, &header, 0, |record| {
        record.filesystem.features = option("filesystem_features", "extent");
        record.device.insert("scheduler".to_owned(), "none".to_owned());
    });
    let view = fairness_of(&header, &records);
    let told = |what: &str| {
        let found = find(&view, what).unwrap_or_else(|| panic!("{what}: {:?}", view.differences));
        (found.under_test, values(found))
    };
    assert_eq!(told("mount option relatime"), (false, vec!["on", "off", "on"]));
    assert_eq!(told("mount option noatime"), (false, vec!["off", "on", "off"]));
    assert_eq!(told("mount option stripe of ext4"), (false, vec!["not set", "16", "-"]));
    assert_eq!(told("feature metadata_csum of ext4"), (false, vec!["off", "on", "-"]));
    assert_eq!(told("checksums of metadata"), (false, vec!["no", "yes", "-"]));
    assert!(!told("program that made it").0);
    assert_eq!(told("device: I/O scheduler"), (false, vec!["none", "bfq", "-"]));
    assert_eq!(told("cache"), (false, vec!["cold", "warm", "cold"]));
    assert!(find(&view, "mount option rw").is_none(), "all have it");
}

#[test]
fn what_follows_from_a_factor_is_under_test() {
    let (mut header, _) = sample(&["ext4", "ext4", "xfs"]);
    let levels = &mut header.plan.contenders[1].levels;
    levels.fs.mount = vec!["data=journal".to_owned(), "noatime".to_owned()];
    levels.fs.mkfs = option("block_size", "1024");
    levels.cache = Cache::Warm;
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    let mut records: Vec<_> = (0..count).map(|at| records::record(&header, at)).collect();
    set(&mut records, &header, 1, |record| {
        record.filesystem.mounted_options = Some("rw,noatime,nodelalloc,data=journal".to_owned());
        record.filesystem.features = option("block_size", "1024");
        record.phases.iter_mut().for_each(|phase| phase.cache.state = CacheState::Warm);
    });
    set(&mut records, &header, 2, |record| {
        record.filesystem.features = [("data.bsize", "4096"), ("meta.isize", "512")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        record.filesystem.mounted_options = Some("rw,relatime,logbufs=8".to_owned());
    });
    let view = fairness_of(&header, &records);
    assert!(view.differences.iter().all(|one| one.under_test), "{:?}", view.differences);
    let what: Vec<_> = view.differences.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "file system",
            "mkfs option block_size",
            "cache",
            "program that made it",
            "driver in the kernel",
            "mount option data of ext4",
            "mount option noatime",
            "mount option nodelalloc of ext4",
            "mount option relatime",
            "block size",
            "feature block_size of ext4",
        ],
        "logbufs and the inode size are known to one alone"
    );
    assert_eq!(values(find(&view, "block size").unwrap()), ["4 KiB", "1 KiB", "4 KiB"]);
}

#[test]
fn defaults_of_different_file_systems_came_only_with_them() {
    let (header, mut records) = sample(&["ext2", "ext4", "xfs"]);
    let features = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let ext = |journal: &str| {
        features(&[
            ("block_size", "4096"),
            ("inode_size", "256"),
            ("filesystem_features", journal),
            ("total_journal_size", "64M"),
        ])
    };
    set(&mut records, &header, 0, |record| record.filesystem.features = ext("ext_attr"));
    set(&mut records, &header, 1, |r| r.filesystem.features = ext("has_journal extent"));
    set(&mut records, &header, 2, |record| {
        record.filesystem.features = features(&[
            ("data.bsize", "4096"),
            ("meta.isize", "512"),
            ("log.bsize", "4096"),
            ("log.blocks", "16384"),
            ("meta.crc", "1"),
        ]);
    });
    let view = fairness_of(&header, &records);
    let inode = find(&view, "inode size").unwrap();
    assert_eq!((inode.under_test, values(inode)), (false, vec!["256 B", "256 B", "512 B"]));
    let journal = find(&view, "journal").unwrap();
    assert_eq!(values(journal), ["none", "64 MiB", "64 MiB"]);
    assert!(journal.under_test, "ext2 has none by nature");
    assert!(!find(&view, "checksums of metadata").unwrap().under_test, "ext4 could have them");
    assert!(find(&view, "block size").is_none(), "all alike");
    assert!(view.differences.iter().all(|one| !one.what.starts_with("feature")));
}

#[test]
fn names_serials_and_paths_are_left_out() {
    let (mut header, _) = sample(&["ext4", "xfs"]);
    header.host = Host {
        hostname: "secret-host".to_owned(),
        memory_bytes: 1 << 30,
        settings: option("dirty_ratio", "20"),
        ..header.host
    };
    for (at, name) in [(0, "S1"), (1, "S2")] {
        let path = format!("/dev/disk/by-id/ata-secret-{name}").into();
        header.plan.contenders[at].levels.device = DeviceLevel::Block { path, size_bytes: 1 << 30 };
    }
    let mut records: Vec<_> = (0..4).map(|at| records::record(&header, at)).collect();
    for record in &mut records {
        let path = "/dev/disk/by-id/ata-secret-S1".to_owned();
        record.filesystem.mkfs_argv = vec!["mkfs".to_owned(), "-q".to_owned(), path];
        for (key, value) in [
            ("serial", "secret-serial"),
            ("wwid", "secret-wwid"),
            ("model", "Disk 1"),
            ("backing_source", "secret-server:/export"),
            ("start_bytes", "32256"),
            ("discard_max_bytes", "0"),
        ] {
            record.device.insert(key.to_owned(), value.to_owned());
        }
    }
    records[1].filesystem.mkfs_argv = vec!["/images/secret.img".to_owned()];
    let view = fairness_of(&header, &records);
    let text = format!("{view:?}");
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(view.contenders[0].mkfs, "mkfs -q DEVICE");
    assert_eq!(view.contenders[1].varied.len(), 1, "{:?}", view.contenders[1].varied);
    let device = find(&view, "device").unwrap();
    assert!(device.under_test && values(device)[1].ends_with("(no. 2)"), "two of one model");
    let facts = &view.devices[0].facts;
    assert_eq!(fact(facts, "model"), Some("Disk 1"));
    assert_eq!(fact(facts, "TRIM"), Some("no"));
    assert!(fact(facts, "alignment").unwrap().contains("not at a multiple"));
    assert_eq!(fact(&view.host, "swap"), Some("none"));
}

#[test]
fn steal_and_boots_are_of_the_whole_run() {
    let (header, mut records) = sample(&["ext4"]);
    for (record, steal_ns) in records.iter_mut().zip([0, SECOND_NS / 2]) {
        for phase in &mut record.phases {
            let counters = phase.windows.get_mut(&Window::Durable).unwrap();
            counters.insert("cpu.steal_ns".to_owned(), steal_ns);
        }
    }
    let sessions = [session("b", 0), session("c", 1), session("c", 2)];
    let view = fairness(&header, &sessions, &records);
    assert_eq!(fact(&view.host, "measured in"), Some("3 sessions in 2 boots"));
    let steal = fact(&view.host, "steal").unwrap();
    assert!(steal.starts_with("median 10.0 % of the machine's time over 6 phases"), "{steal}");
    assert!(steal.contains("at worst 20.0 % (trial 2, "), "{steal}");
    assert_eq!(view.disturbances[0].code, "several-sessions");
    records.truncate(1);
    assert_eq!(fact(&fairness_of(&header, &records).host, "steal"), Some("none in 3 phases"));
}

#[test]
fn caches_are_proved_a_phase_and_contender() {
    let (header, mut records) = sample(&["ext4", "xfs"]);
    for (record, bytes) in records.iter_mut().zip([10, 20, 30, 40]) {
        record.phases[0].cache.proof.mount_read_bytes = Some(bytes);
    }
    records[2].phases[0].cache.state = CacheState::Warm;
    records[2].phases[0].cache.why = "pages were left".to_owned();
    records[3].phases.clear();
    records[3].outcome = Outcome::Interrupted;
    let view = fairness_of(&header, &records);
    let told: Vec<_> = view
        .caches
        .iter()
        .filter(|proof| proof.phase == "create")
        .map(|p| (p.label.as_str(), p.state, p.trials, p.mount_read_bytes, p.why.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("ext4#0", CacheState::Cold, 1, Some(10), "nothing was resident"),
            ("ext4#0", CacheState::Warm, 1, Some(30), "pages were left"),
            ("xfs#1", CacheState::Cold, 1, Some(20), "nothing was resident"),
        ]
    );
    assert_eq!(view.caches[0].delivered_read_bytes, None, "not read is no 0");
    let cache = find(&view, "cache").unwrap();
    assert_eq!(values(cache), ["cold in 5, warm in 1 of 6 phases", "cold"]);
    assert!(!cache.under_test);
}

#[test]
fn trials_that_never_mounted_are_no_contender_as_made() {
    let (header, mut records) = sample(&["ext4", "xfs", "jfs"]);
    set(&mut records, &header, 1, |record| {
        record.filesystem = Default::default();
        record.phases.clear();
        record.outcome = Outcome::NotRun { reason: "no mkfs.xfs".to_owned() };
    });
    set(&mut records, &header, 2, |record| {
        record.filesystem.mkfs_argv = vec!["jfs_mkfs".to_owned()];
        record.filesystem.mounted_options = None;
        record.phases.clear();
    });
    records[0].notices.push(Notice {
        code: "steal".to_owned(),
        text: "2 % was taken".to_owned(),
        remedy: Some("wait".to_owned()),
        measure: None,
    });
    let view = fairness_of(&header, &records);
    let made: Vec<_> = view.contenders.iter().map(|c| (c.label.as_str(), &c.mounted)).collect();
    assert_eq!(made, [("ext4#0", &Some("rw,relatime".to_owned())), ("jfs#2", &None)]);
    assert!(find(&view, "mount option relatime").is_none(), "not known is no difference");
    assert_eq!((view.disturbances.len(), view.disturbances[0].trials), (1, 1));
    assert_eq!(view.tools[1].name, "maker of ext4");
    assert_eq!(view.tools.len(), 3);
}

#[test]
fn what_lives_in_memory_lies_on_no_device() {
    let (header, mut records) = sample(&["ext4", "tmpfs"]);
    for record in &mut records {
        record.device.insert("backing_fs".to_owned(), "xfs".to_owned());
    }
    set(&mut records, &header, 1, |record| record.device.clear());
    let view = fairness_of(&header, &records);
    let device = find(&view, "device").unwrap();
    assert_eq!(values(device), ["a directory on xfs", "memory alone"]);
    assert!(device.under_test, "by its nature");
}

#[test]
fn sixty_contenders_are_compared() {
    let names: Vec<String> = (0..60).map(|at| format!("fs{at}")).collect();
    let (header, records) = sample(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let view = fairness_of(&header, &records);
    assert_eq!(view.contenders.len(), 60);
    assert!(view.differences.iter().all(|one| one.values.len() == 60 && one.under_test));
    assert_eq!(view.differences.len(), 3, "file system, program, driver");
}
