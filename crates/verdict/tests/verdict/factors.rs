//! Was it the disk, the file system or the machine?

use super::{Noise, WARM, points};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::verdict::{Metric, Question};
use fsarena_testkit::records::{self, contender};
use fsarena_verdict::Points;
use fsarena_verdict::factors::{FactorRow, FactorView, analyze};

const DISK: DeviceLevel = DeviceLevel::Loop { size_bytes: 1 << 30 };

fn memory() -> DeviceLevel {
    records::memory_device("zram", 1 << 30)
}

/// A contender by file system, mount options and device.
fn on(device: &DeviceLevel, fs: &str, mount: &[&str]) -> Contender {
    let label = format!("{fs} {} {device}", mount.join(","));
    let mut contender = contender(&label, fs, 1);
    contender.levels.device = device.clone();
    contender.levels.fs.mount = mount.iter().map(|&option| option.to_owned()).collect();
    contender
}

fn plan(contenders: Vec<Contender>) -> RunPlan {
    records::header(contenders, vec![records::big_file()], 1).plan
}

fn view(plan: &RunPlan, points: &Points) -> Option<FactorView> {
    let question = Question {
        workload: 0,
        phase: "write".to_owned(),
        metric: Metric::Time,
        clock: Clock::Durable,
    };
    analyze(plan, &question, points)
}

fn named<'a>(view: &'a FactorView, name: &str) -> &'a FactorRow {
    view.factors.iter().find(|row| row.name == name).expect("a factor of this name")
}

/// ext4 in two modes and xfs, each on a disk and in memory.
fn article() -> RunPlan {
    let mut all = Vec::new();
    for device in [DISK, memory()] {
        all.push(on(&device, "ext4", &["data=ordered"]));
        all.push(on(&device, "ext4", &["data=writeback"]));
        all.push(on(&device, "xfs", &[]));
    }
    plan(all)
}

#[test]
fn disk_file_system_and_journal_are_told_apart() {
    let plan = article();
    let effects = |contender: usize| {
        let disk = if contender < 3 { 3.3f64.ln() } else { 0.0 };
        let xfs = if contender % 3 == 2 { 1.22f64.ln() } else { 0.0 };
        disk + xfs
    };
    let points = points(&mut Noise(2005), 6, 8, 0.02, |p| effects(p.contender));
    let view = view(&plan, &points).expect("three factors vary");
    assert_eq!(view.blocks, 8);
    assert!(view.omnibus_p < 1e-6);
    let names: Vec<&str> = view.factors.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["device", "fs", "mount data"], "the strongest first");
    for (name, truth) in [("device", 3.3), ("fs", 1.22), ("mount data", 1.0)] {
        let row = named(&view, name);
        let (low, high) = (row.spread_low.unwrap(), row.spread_high.unwrap());
        assert!(low <= truth && truth <= high && high / low < 1.1, "{row:?}");
        assert!(!row.interacts && row.by_other.is_empty(), "{row:?}");
    }
    assert_eq!(named(&view, "mount data").within.as_deref(), Some("fs = ext4"));
    let share = |name| named(&view, name).share.unwrap();
    assert!(share("device") > 0.95 && share("mount data") < 0.01);
    assert!((share("device") + share("fs") + share("mount data") - 1.0).abs() < 1e-9);
    // No cell of xfs has a mode of its journal.
    let terms: Vec<(&str, usize)> = view.terms.iter().map(|t| (t.term.as_str(), t.df)).collect();
    let wanted = [
        ("device", 1),
        ("fs", 1),
        ("mount data in fs = ext4", 1),
        ("device × fs", 1),
        ("device × mount data in fs = ext4", 1),
    ];
    assert_eq!(terms, wanted);
    let slow = &named(&view, "device").levels[0];
    assert!(slow.level.starts_with("loop") && slow.multiplier > 3.0, "{slow:?}");
    assert_eq!(named(&view, "device").levels[1].low, None, "the fastest level has no interval");
    assert!(view.notes.is_empty(), "{:?}", view.notes);
}

#[test]
fn an_interaction_gives_ratios_at_each_level() {
    let plan = article();
    // xfs is slower on the disk, and faster in memory.
    let effect = |contender: usize| match contender {
        2 => 0.3,
        5 => -0.3,
        _ => 0.0,
    };
    let points = points(&mut Noise(7), 6, 6, 0.02, |p| effect(p.contender));
    let view = view(&plan, &points).expect("a view");
    let fs = named(&view, "fs");
    assert!(fs.interacts);
    let at: Vec<&str> = fs.by_other.iter().map(|row| row.at.as_str()).collect();
    assert_eq!(at, ["device = loop of 1 GiB", "device = zram of 1 GiB"]);
    let ratio = |at: usize| {
        let level = |name| fs.by_other[at].levels.iter().find(|l| l.level == name).unwrap();
        level("xfs").multiplier / level("ext4").multiplier
    };
    assert!((ratio(0) - 0.3f64.exp()).abs() < 0.05 && (ratio(1) - (-0.3f64).exp()).abs() < 0.05);
    assert!(!named(&view, "mount data").interacts);
}

#[test]
fn where_nothing_differs_no_shares_are_given() {
    let plan = article();
    let mut given = 0;
    for seed in 0..200 {
        let points = points(&mut Noise(seed), 6, 6, 0.03, |_| 0.0);
        let view = view(&plan, &points).expect("a view");
        let has_share = view.factors.iter().any(|row| row.share.is_some());
        assert_eq!(has_share, view.omnibus_p < 0.05);
        assert!(has_share || view.notes.iter().any(|note| note.starts_with("no shares")));
        given += usize::from(has_share);
    }
    // 10 of 200 are expected; 2 to 21 have a probability over 99.8 %.
    assert!((2..=21).contains(&given), "{given}");
}

#[test]
fn what_varies_together_is_said_to_be_mixed_up() {
    let contenders = vec![
        on(&DISK, "ext4", &[]),
        on(&memory(), "xfs", &[]),
        on(&DISK, "ext4", &["noatime"]),
        on(&memory(), "xfs", &["noatime"]),
    ];
    let points =
        points(&mut Noise(1), 4, 6, 0.02, |p| if p.contender % 2 == 0 { 0.5 } else { 0.0 });
    let view = view(&plan(contenders), &points).expect("a view");
    let mixed = named(&view, "device and fs");
    assert_eq!(mixed.levels[0].level, "loop of 1 GiB and ext4");
    assert!((mixed.spread - 0.5f64.exp()).abs() < 0.1);
    assert!(view.notes.iter().any(|note| note.contains("always vary together")), "{view:?}");
    let noatime = named(&view, "mount noatime");
    assert_eq!(noatime.within, None, "crossed: it varies in both");
    assert_eq!(noatime.levels.iter().map(|l| l.level.as_str()).collect::<Vec<_>>(), ["off", "on"]);
}

/// `--fs ext4,ext4:noatime,ext4:data=writeback`: main effects, and no cell for their interaction.
#[test]
fn one_option_at_a_time_has_no_interaction() {
    let contenders = vec![
        on(&DISK, "ext4", &[]),
        on(&DISK, "ext4", &["noatime"]),
        on(&DISK, "ext4", &["data=writeback"]),
    ];
    let points = points(&mut Noise(3), 3, 8, 0.01, |p| [0.2, 0.0, 0.1][p.contender]);
    let view = view(&plan(contenders), &points).expect("a view");
    let spread = |name: &str| named(&view, name).spread;
    assert!((spread("mount noatime") - 0.2f64.exp()).abs() < 0.03, "{view:?}");
    assert!((spread("mount data") - 0.1f64.exp()).abs() < 0.03, "{view:?}");
    assert_eq!(view.terms.len(), 2);
    let untested = "taken for nothing: mount data × mount noatime";
    assert!(view.notes.iter().any(|note| note.contains(untested)), "{:?}", view.notes);
    assert!(view.notes.iter().any(|note| note.contains("over all orders")), "{:?}", view.notes);
}

#[test]
fn only_blocks_of_all_contenders_count_and_replicates_are_one_cell() {
    let mut contenders = article().contenders;
    let mut second = contenders[0].clone();
    second.replicate = 2;
    contenders.push(second);
    let effect = |contender: usize| if (3..6).contains(&contender) { 0.0 } else { 0.4 };
    let mut points = points(&mut Noise(9), 7, 8, 0.02, |p| effect(p.contender));
    // Contender 5 left after five blocks; the block 2 of contender 1 failed.
    points.all.retain(|p| !(p.contender == 5 && p.block >= 5 || p.contender == 1 && p.block == 2));
    let view = view(&plan(contenders), &points).expect("a view");
    assert_eq!(view.blocks, 4);
    assert!((named(&view, "device").spread - 0.4f64.exp()).abs() < 0.1);
    assert_eq!(view.terms.iter().map(|term| term.df).sum::<usize>(), 5, "six cells");
}

#[test]
fn cold_and_warm_are_never_analysed_together() {
    let plan = article();
    let mut points =
        points(&mut Noise(5), 6, 6, 0.02, |p| if p.contender == 2 { 5.0 } else { 0.0 });
    for point in points.all.iter_mut().filter(|point| point.contender == 2) {
        point.class = WARM;
    }
    let view = view(&plan, &points).expect("a view");
    assert!(view.factors.iter().all(|row| row.spread < 1.2), "{view:?}");
    assert!(view.notes.iter().any(|note| note.contains("xfs  loop of 1 GiB")), "{:?}", view.notes);
}

#[test]
fn one_block_gives_figures_without_intervals() {
    let plan = article();
    let points = points(&mut Noise(5), 6, 1, 0.02, |p| if p.contender < 3 { 0.4 } else { 0.0 });
    let view = view(&plan, &points).expect("a view");
    let device = named(&view, "device");
    assert!(device.spread > 1.3 && device.spread_low.is_none() && device.share.is_none());
    assert!(view.terms.is_empty() && view.omnibus_p >= 1.0);
    assert!(view.notes.iter().any(|note| note.contains("nothing can be tested")));
    let none = view_of_nothing(&plan);
    assert!(none.is_none_or(|view| view.factors.is_empty()));
}

fn view_of_nothing(plan: &RunPlan) -> Option<FactorView> {
    view(plan, &Points::default())
}

#[test]
fn what_lies_in_memory_alone_has_no_device() {
    let mut contenders = article().contenders;
    contenders.push(on(&DISK, "tmpfs", &[]));
    let points = points(&mut Noise(5), 7, 6, 0.02, |p| if p.contender == 6 { -3.0 } else { 0.0 });
    let view = view(&plan(contenders), &points).expect("a view");
    assert!(named(&view, "fs").levels.iter().all(|level| level.level != "tmpfs"));
    assert!(view.notes.iter().any(|note| note.contains("no device: tmpfs")), "{:?}", view.notes);
}

#[test]
fn one_factor_is_no_question_of_factors() {
    let contenders = vec![on(&DISK, "ext4", &[]), on(&DISK, "xfs", &[]), on(&DISK, "btrfs", &[])];
    let points = points(&mut Noise(5), 3, 6, 0.02, |_| 0.0);
    assert_eq!(view(&plan(contenders), &points), None);
    let same = vec![on(&DISK, "ext4", &[]), on(&DISK, "ext4", &[])];
    let points = self::points(&mut Noise(5), 2, 6, 0.02, |_| 0.0);
    assert_eq!(view(&plan(same), &points), None);
}

/// An option that only one file system has at all is part of that file system where it does not
/// vary within it.
#[test]
fn an_option_that_goes_with_its_file_system_is_part_of_it() {
    let contenders = vec![
        on(&DISK, "ext4", &["data=writeback"]),
        on(&DISK, "xfs", &[]),
        on(&memory(), "ext4", &["data=writeback"]),
        on(&memory(), "xfs", &[]),
    ];
    let points = points(&mut Noise(5), 4, 6, 0.02, |_| 0.0);
    let view = view(&plan(contenders), &points).expect("a view");
    assert_eq!(view.factors.len(), 2);
    assert!(view.notes.iter().any(|note| note.contains("mount data of fs")), "{:?}", view.notes);
}

/// Schedulers of one device alone lie within it; memory is crossed with both.
#[test]
fn settings_of_a_device_lie_within_it() {
    let mut contenders = Vec::new();
    for (device, scheduler) in [(DISK, Some("bfq")), (DISK, Some("none")), (memory(), None)] {
        for fs in ["ext4", "xfs"] {
            for memory_bytes in [64 << 20, 128 << 20] {
                let mut contender = on(&device, fs, &[]);
                contender.levels.queue.scheduler = scheduler.map(str::to_owned);
                contender.levels.memory_bytes = Some(memory_bytes);
                contenders.push(contender);
            }
        }
    }
    let bfq = |contender: usize| if contender < 4 { 0.3 } else { 0.0 };
    let points = points(&mut Noise(11), 12, 5, 0.02, |p| bfq(p.contender));
    let view = view(&plan(contenders), &points).expect("a view");
    let scheduler = named(&view, "scheduler");
    assert_eq!(scheduler.within.as_deref(), Some("device = loop of 1 GiB"));
    let levels: Vec<&str> = scheduler.levels.iter().map(|l| l.level.as_str()).collect();
    assert_eq!(levels, ["bfq", "none"]);
    assert!((scheduler.spread - 0.3f64.exp()).abs() < 0.05, "{scheduler:?}");
    assert_eq!(named(&view, "memory").within, None);
    assert!(view.terms.iter().any(|t| t.term == "fs × scheduler in device = loop of 1 GiB"));
    assert_eq!(view.terms.iter().map(|term| term.df).sum::<usize>(), 11, "twelve cells");
}

/// An option that all contenders of another file system have is named as part of that one.
#[test]
fn an_option_that_another_file_system_has_throughout_is_said() {
    let contenders = vec![
        on(&DISK, "ext4", &[]),
        on(&DISK, "ext4", &["noatime"]),
        on(&DISK, "xfs", &["noatime"]),
    ];
    let points = points(&mut Noise(11), 3, 5, 0.02, |_| 0.0);
    let view = view(&plan(contenders), &points).expect("a view");
    assert_eq!(named(&view, "mount noatime").within.as_deref(), Some("fs = ext4"));
    let said = "fs = xfs has mount noatime = on throughout";
    assert!(view.notes.iter().any(|note| note.contains(said)), "{:?}", view.notes);
}

/// A missing combination of device and file system: additive effects, and no cell made up.
#[test]
fn a_missing_combination_leaves_additive_effects() {
    let contenders = vec![
        on(&DISK, "ext4", &[]),
        on(&DISK, "xfs", &[]),
        on(&DISK, "btrfs", &[]),
        on(&memory(), "ext4", &[]),
        on(&memory(), "xfs", &[]),
    ];
    let truth = [1.0, 1.2, 1.5, 0.0, 0.2];
    let points = points(&mut Noise(12), 5, 6, 0.01, |p| truth[p.contender]);
    let view = view(&plan(contenders), &points).expect("a view");
    assert!((named(&view, "device").spread.ln() - 1.0).abs() < 0.03);
    let level = |name: &str| {
        let levels = &named(&view, "fs").levels;
        levels.iter().find(|level| level.level == name).unwrap().multiplier.ln()
    };
    // Plain means of the levels would make btrfs, which is on the slow device alone, slower still.
    assert!((level("btrfs") - 0.5).abs() < 0.03 && (level("xfs") - 0.2).abs() < 0.03);
    assert!(view.notes.iter().any(|note| note.contains("combinations are missing")));
    let share: f64 = view.factors.iter().filter_map(|row| row.share).sum();
    assert!((share - 1.0).abs() < 1e-9);
}
