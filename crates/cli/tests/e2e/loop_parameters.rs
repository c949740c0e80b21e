//! Parameters of a workload at several levels, on real file systems.

use crate::support::{TestEnv, assert_nothing_left, takes_all};
use fsarena_model::record::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Every level is a workload of its own: with trials, verdicts and a curve of each file system, in
/// `show` and on the page, and a RUN that is repeated from its own file has the same levels.
#[test]
fn block_sizes_have_curves_of_every_file_system() {
    if !takes_all() {
        return;
    }
    let Some(env) = TestEnv::privileged(&["ext4", "ext2"]) else { return };
    let report = env.path("report.html");
    let page = report.display().to_string();
    let work = ["--workload", "random-io:bs=4K,64K:iodepth=1,4", "--scale", "0.02"];
    let on = ["run", "--fs", "ext2,ext4", "--on", "loop:64M", "--runs", "2", "--seed", "1"];
    env.run(&[&on[..], &work, &["--report", &page]].concat()).good().says(&[
        "random-io bs=4 KiB iodepth=1",
        "random-io bs=64 KiB iodepth=4",
        "Over bs",
    ]);
    assert_nothing_left(&env);

    let mut calls: BTreeMap<String, Vec<(String, u64, u64)>> = BTreeMap::new();
    for record in env.records(1) {
        assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
        let phases = record.phases.iter();
        let made = phases.map(|one| (one.name.clone(), one.ops, one.asked_bytes)).collect();
        let known = calls.entry(record.key.workload.clone()).or_insert_with(|| Vec::clone(&made));
        assert_eq!(*known, made, "the same work in every trial of {}", record.key.workload);
    }
    assert_eq!(calls.len(), 4);
    for (workload, phases) in &calls {
        let bs = if workload.contains("64 KiB") { 65536 } else { 4096 };
        let names: Vec<&str> = phases.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["randread", "randwrite", "randrw"], "{workload}");
        for (name, ops, asked_bytes) in phases {
            assert!(*ops > 0 && *asked_bytes == ops * bs, "{workload} {name}: {ops} {asked_bytes}");
        }
    }

    let document = env.run(&["show", "latest", "--json"]).good().json();
    let curves = document["study"]["parameters"].as_array().unwrap();
    assert_eq!(curves.len(), 2 * 3, "along bs, for each depth and phase");
    for view in curves {
        let levels = view["levels"].as_array().unwrap();
        let texts: Vec<&str> = levels.iter().map(|one| one["text"].as_str().unwrap()).collect();
        assert_eq!((view["parameter"].as_str(), texts), (Some("bs"), vec!["4 KiB", "64 KiB"]));
        for curve in view["curves"].as_array().unwrap() {
            for point in curve["points"].as_array().unwrap() {
                let figure = |name: &str| point[name].as_f64().unwrap();
                assert_eq!(point["n"].as_u64(), Some(2), "{view}");
                assert!(figure("per_s_low") <= figure("per_s"), "{view}");
                assert!(figure("per_s") <= figure("per_s_high"), "{view}");
            }
        }
    }
    let along = document["verdicts"]["along"].as_array().unwrap();
    assert_eq!(along.len(), 2 * 3);
    let pair = |one: &Value| one["pairs"][0]["levels"].as_array().map(Vec::len);
    assert!(along.iter().all(|one| pair(one) == Some(2)), "{along:?}");
    env.run(&["show", "latest"]).good().says(&["random-io over bs, iodepth=4", "Over levels"]);
    let html = fs::read_to_string(&report).unwrap();
    assert_eq!(html.matches("id=\"fig-r1-parameter-").count(), 6, "a chart a depth and phase");
    assert!(html.contains("random-io over bs, iodepth=4"));
    assert_nothing_left(&env);
}

/// What cannot be is refused before anything is made, and a plan says its levels and their cost.
#[test]
fn levels_are_planned_and_refused_before_anything_is_made() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let run = |work: &str| {
        env.run(&["run", "--fs", "ext4,ext2", "--on", "loop:64M", "--dry-run", "--workload", work])
    };
    run("random-io:size=16M:bs=4K..16K")
        .good()
        .says(&["random-io bs=8 KiB size=16 MiB", "random-io bs=16 KiB size=16 MiB"]);
    for (work, words) in [
        ("random-io:width=4", "has no `width`; it has bs, size"),
        ("small-files:iodepth=1..8", "has no `iodepth`; its calls are not by io_uring"),
        ("random-io:bs=1M..4K", "does not go up"),
        ("random-io:bs=4K,4096", "`bs` has 4 KiB twice"),
        ("random-io:bs=1..1M:iodepth=1..64", "147 levels of one workload"),
    ] {
        run(work).refused(2, &["--workload: ", words]);
    }
    assert!(!env.db().exists(), "nothing was stored");
    assert_nothing_left(&env);
}
