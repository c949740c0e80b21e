//! Crash safety in guests: acknowledged work stays on an honest disk, planted faults are found.

use crate::virtual_trials::Guests;
use serde_json::Value;

const DISK: &str = "virtual:1G:model=hdd-2007";

/// The rows of a short campaign.
fn rows(guests: &Guests, args: &[&str]) -> Vec<Value> {
    rows_on(guests, DISK, args)
}

fn rows_on(guests: &Guests, disk: &str, args: &[&str]) -> Vec<Value> {
    let common = ["safety", "--on", disk, "--runs", "1", "--json"];
    let ran = guests.run(&[&common, args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document["safety"]["rows"].as_array().unwrap().clone()
}

fn hits(row: &Value, share: &str) -> (u64, u64) {
    (row[share]["hits"].as_u64().unwrap(), row[share]["of"].as_u64().unwrap())
}

/// Work that nobody synced is lost for as long as the kernel keeps it in memory, and what was
/// synced is there.
#[test]
fn virtual_safety_tells_acknowledged_work_from_the_rest() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4,xfs,btrfs", "--seconds", "40", "--points", "8"];
    let rows = rows(&guests, &args);
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let (lost, checked) = hits(row, "acknowledged_lost");
        assert!(lost == 0 && checked > 0, "{row}");
        assert_eq!(hits(row, "mounted_as_before"), (8, 8), "{row}");
        assert_eq!(hits(row, "needs_repair").0, 0, "{row}");
        let window_ns = row["loss_window_max_ns"].as_u64().unwrap();
        let is_synced = row["workload"] == "synced";
        assert!(is_synced == (window_ns < 1_000_000_000), "{row}");
        assert_eq!(is_synced, row["sync_p50_ns"].is_u64(), "{row}");
    }
    guests.assert_nothing_left();
}

/// Where no cache can lose it, what was written is there without any flush.
#[test]
fn virtual_safety_knows_a_disk_without_a_volatile_cache() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4:nobarrier", "--workload", "synced", "--seconds", "10"];
    let rows =
        rows_on(&guests, "virtual:1G:model=const", &[&args[..], &["--points", "4"]].concat());
    assert_eq!(hits(&rows[0], "acknowledged_lost").0, 0, "{}", rows[0]);
    assert_eq!(hits(&rows[0], "mounted_as_before"), (4, 4), "{}", rows[0]);
}

/// A file system that sends no flush, and a disk that does not keep what it has flushed.
#[test]
fn virtual_safety_finds_planted_faults() {
    let Some(guests) = Guests::new() else { return };
    let common = ["--workload", "synced", "--seconds", "20", "--points", "12"];
    let without = rows(&guests, &[&common[..], &["--fs", "ext4:nobarrier"]].concat());
    assert!(hits(&without[0], "acknowledged_lost").0 > 0, "no barriers: {}", without[0]);
    let lying = rows(&guests, &[&common[..], &["--fs", "ext4", "--state", "lying=3"]].concat());
    assert!(hits(&lying[0], "acknowledged_lost").0 > 0, "a lying disk: {}", lying[0]);
    let told = lying[0]["broken"][0][0].as_str().unwrap();
    assert!(told.starts_with("fsync(2)"), "{told}");
}

/// The same seeds give the same answer.
#[test]
fn virtual_safety_is_the_same_every_time() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4", "--seconds", "35", "--points", "8", "--state", "prefix,subset"];
    let once = rows(&guests, &args);
    assert_eq!(once, rows(&guests, &args));
}

#[test]
fn virtual_safety_refuses_what_cannot_be() {
    let Some(guests) = Guests::new() else { return };
    for (args, said) in [
        (&["--workload", "all"][..], "--workload: \"all\" is none"),
        (&["--state", "lying"], "--state: \"lying\" is none"),
        (&["--on", "ram:1G"], "power is cut in guests alone"),
        (&["--fs", "nonsense"], "nonsense"),
        (&["--state", "torn,torn"], "--state: \"torn\" is named twice"),
        (&["--state", "torn,prefix", "--points", "1"], "--points: 1 for 2 states"),
    ] {
        let ran = guests.run(&[&["safety"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
