//! Crash states under the kernel of this machine: honest disks keep what was synced, a missing
//! flush is found, and whoever is killed leaves nothing.

use crate::support::{TestEnv, assert_nothing_left, stands_for_others};
use rustix::process::Signal;
use serde_json::Value;

const SMALL: [&str; 13] = [
    "crash",
    "--on",
    "vdisk:1G:model=hdd-laptop",
    "--workload",
    "synced",
    "--seconds",
    "5",
    "--runs",
    "1",
    "--points",
    // More than have their time taken: the others are looked at side by side.
    "40",
    "--recovery-every",
    "2",
];

fn hits(row: &Value, share: &str) -> (u64, u64) {
    (row[share]["hits"].as_u64().unwrap(), row[share]["of"].as_u64().unwrap())
}

/// Power cuts of a small campaign on `fs`; the rows and the exit code.
fn cut(env: &TestEnv, fs: &str) -> (Vec<Value>, Option<i32>) {
    let ran = env.run(&[&SMALL[..], &["--json", "--fs", fs]].concat());
    assert_nothing_left(env);
    let document = ran.json();
    let head = &document["crash"]["head"];
    assert!(head["memory_bytes"].is_null(), "no guest: {head}");
    (document["crash"]["rows"].as_array().unwrap().clone(), ran.code)
}

/// What was synced is there after each power cut, and after another one during its recovery.
fn keeps_what_was_synced(fs: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let (rows, code) = cut(&env, fs);
    assert_eq!(code, Some(0), "{rows:?}");
    for row in &rows {
        let (lost, checked) = hits(row, "acknowledged_lost");
        assert!(lost == 0 && checked > 0, "{row}");
        assert_eq!(hits(row, "needs_repair").0, 0, "{row}");
        let (mounted, points) = hits(row, "mounted_as_before");
        assert!(mounted == points && points > 0, "{row}");
        // The time of a second recovery is not taken.
        let is_second = row["state"].as_str().unwrap().ends_with("+recovery");
        assert_eq!(row["recovery_max_ns"].as_u64().is_some_and(|ns| ns > 0), !is_second, "{row}");
    }
    let again = rows.iter().any(|row| row["state"] == "dropall+recovery");
    assert!(again, "a journal is replayed: {rows:?}");
}

#[test]
fn ext4_after_power_cuts_under_this_kernel() {
    keeps_what_was_synced("ext4");
}

#[test]
fn xfs_after_power_cuts_under_this_kernel() {
    if stands_for_others("xfs") {
        keeps_what_was_synced("xfs");
    }
}

#[test]
fn btrfs_after_power_cuts_under_this_kernel() {
    if stands_for_others("btrfs") {
        keeps_what_was_synced("btrfs");
    }
}

/// Without flushes the disk may lose what fsync has reported; the state is kept, and is shown under
/// this kernel again.
#[test]
fn a_file_system_without_flushes_is_found_under_this_kernel() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let (rows, code) = cut(&env, "ext4:nobarrier");
    assert_eq!(code, Some(7), "{rows:?}");
    assert!(hits(&rows[0], "acknowledged_lost").0 > 0, "{}", rows[0]);
    let listed = env.run(&["crash", "states", "--json"]).good().json();
    let state = &listed["states"][0]["state"];
    assert_eq!(state["is_native"], true, "{state}");
    let shown = env.run(&["crash", "show", state["id"].as_str().unwrap(), "--json"]).good();
    let shown = &shown.json()["shown"];
    assert_eq!(shown["findings"]["violations"], state["violations"], "{shown}");
    assert_nothing_left(&env);
}

#[test]
fn killed_in_the_middle_of_the_work_under_this_kernel() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let mut live = env.start(&[&SMALL[..], &["--fs", "ext4"]].concat());
    live.poll("a disk that is served", |live| live.disk_servers().pop());
    live.poll("a file system", |live| live.mounters().pop());
    std::thread::sleep(std::time::Duration::from_secs(2));
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_nothing_left(&env);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let env = TestEnv::new();
    let cuts = |on: &str| env.run(&["crash", "--fs", "ext4", "--on", on]);
    cuts("loop:1G").refused(2, &["power is cut on modelled disks alone"]);
    let args = ["crash", "--application", "maildir", "--fs", "ext4", "--on", SMALL[2]];
    env.run(&args).refused(2, &["applications work in guests alone"]);
}
