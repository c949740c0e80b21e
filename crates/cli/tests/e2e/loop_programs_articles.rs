//! The experiments of 2005, 2008 and 2010 as they are, but small: their tables in the shape of the
//! articles, and the RUN next to what was printed.

use crate::support::real::{by_programs, is_cold};
use crate::support::{TestEnv, assert_nothing_left, phase, record_of, takes_all, tool};
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_store::Store;
use std::path::Path;

const SMALL: [&str; 6] = ["--scale", "0.002", "--runs", "1", "--sample-period", "0s"];

/// Runs `experiment`; its records, each first phase cold where it can be (but in 2008), the others
/// warm.
#[track_caller]
fn carried_out(env: &TestEnv, args: &[&str], words: &[&str]) -> Vec<TrialRecord> {
    let ran = env.run(&[&["run"], args, &SMALL].concat()).good();
    let ran = ran.says(words);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    assert_nothing_left(env);
    let records = env.done_records(1);
    for record in &records {
        let (first, rest) = record.phases.split_first().unwrap();
        if record.filesystem.name != "tmpfs" {
            if args[0].starts_with("2008") {
                assert_eq!(first.cache.state, CacheState::Warm, "{}", record.key.workload);
            } else {
                is_cold(first);
            }
            let warm = rest.iter().all(|phase| phase.cache.state == CacheState::Warm);
            assert!(warm, "{}", record.key.workload);
        }
        assert!(record.phases.iter().all(|phase| phase.program.is_some()));
    }
    records
}

#[track_caller]
fn contender<'a>(records: &'a [TrialRecord], name: &str) -> Vec<&'a TrialRecord> {
    let found: Vec<_> = records.iter().filter(|it| it.filesystem.name == name).collect();
    assert!(!found.is_empty(), "{name}");
    found
}

/// The RUN is taken into another database, and stands next to the article there too.
#[track_caller]
fn beside(env: &TestEnv, year: &str, words: &[&str]) {
    let uid = env.runs()[0].uid.clone();
    let run = [uid.as_str()];
    env.run(&["reference", year]).good().says(&[words, &run[..]].concat());
    let json = env.run(&["reference", year, "--json"]).good().stdout;
    assert!(json.contains(&uid), "{json}");
    let other = env.path("other.db").display().to_string();
    let from = env.db().display().to_string();
    env.run(&["merge", &from, "--db", &other]).good().says(&["1 RUN taken"]);
    assert!(Store::open_read_only(Path::new(&other)).unwrap().runs().unwrap()[0].merged);
    let merged = env.run(&["reference", year, "--db", &other]).good().says(words);
    assert!(merged.stdout.contains(&uid), "{}", merged.stdout);
    let alone = env.run(&["reference", year, "--beside", "nothing"]).good();
    assert!(!alone.stdout.contains(&uid), "{}", alone.stdout);
}

#[test]
fn file_operations_of_2005() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    let args = ["2005-file-operations", "--fs", "ext4,xfs", "--on", "loop:512M"];
    let words = ["As in 2005", "ports / untar", "big-file / copy"];
    let records = carried_out(&env, &args, &words);
    assert_eq!(records.len(), 6);
    for fs in ["ext4", "xfs"] {
        let records: Vec<TrialRecord> = contender(&records, fs).into_iter().cloned().collect();
        let ports = record_of(&records, "ports");
        by_programs(phase(ports, "untar"), &["tar", "gzip"]);
        by_programs(phase(ports, "copy"), &["cp"]);
        by_programs(phase(ports, "delete"), &["rm"]);
        assert_eq!(phase(ports, "untar").ops, phase(ports, "delete").ops, "{fs}");
        assert_eq!(phase(record_of(&records, "big-file"), "copy").ops, 1, "{fs}");
    }
    beside(&env, "2005", &["Ports untar", "As in 2005"]);
}

#[test]
fn all_against_all_of_2008() {
    if !takes_all() {
        return;
    }
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if ["bzip2", "gzip", "flac", "oggenc"].iter().any(|name| tool(name).is_none()) {
        return;
    }
    let args = ["2008-all-against-all", "--fs", "tmpfs,ext4", "--on", "loop:512M"];
    let words = [
        "As in 2008",
        "portage / tar+bzip2",
        "music / wav2ogg",
        "In memory / on disk",
        "tmpfs / ext4",
        "Ours, otherwise than the article",
        "of its bytes",
    ];
    let records = carried_out(&env, &args, &words);
    assert_eq!(records.len(), 4);
    for fs in ["tmpfs", "ext4"] {
        let records: Vec<TrialRecord> = contender(&records, fs).into_iter().cloned().collect();
        let portage = record_of(&records, "portage");
        by_programs(phase(portage, "untar"), &["tar", "bzip2"]);
        by_programs(phase(portage, "tar+bzip2"), &["tar", "bzip2"]);
        by_programs(phase(portage, "tar+gzip"), &["tar", "gzip"]);
        let music = record_of(&records, "music");
        by_programs(phase(music, "wav2flac"), &["flac"]);
        by_programs(phase(music, "wav2ogg"), &["oggenc"]);
        let encoded = [phase(music, "wav2flac"), phase(music, "wav2ogg")];
        assert!(encoded.iter().all(|phase| phase.worker.user_ns > 0), "{fs}");
    }
    beside(&env, "2008", &["wav2flac", "As in 2008"]);
}

#[test]
fn ssd_and_ext4_of_2010() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let fs = "ext4:data=ordered,ext4:data=writeback";
    let args = ["2010-ssd-ext4-journal", "--fs", fs, "--on", "loop:512M"];
    let words = ["As in 2010", "portage / delete", "data=writeback"];
    let records = carried_out(&env, &args, &words);
    assert_eq!(records.len(), 8);
    let mode = |mode: &str| {
        let asked = records.iter().filter(|it| it.filesystem.mount_asked.contains(mode));
        asked.cloned().collect::<Vec<TrialRecord>>()
    };
    for records in [mode("data=ordered"), mode("data=writeback")] {
        let names =
            ["flac", "portage", "avi", "iso"].map(|name| record_of(&records, name).phases.len());
        assert_eq!(names, [1, 2, 1, 1]);
    }
    beside(&env, "2010", &["As in 2010"]);
}
