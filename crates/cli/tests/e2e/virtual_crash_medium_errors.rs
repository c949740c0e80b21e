//! Errors of the medium in guests: the request that was drawn fails, the application is told of it,
//! and what it was not told of is there afterwards.

use crate::virtual_trials::Guests;
use serde_json::Value;

fn document(guests: &Guests, args: &[&str]) -> Value {
    let common = ["crash", "medium-errors", "--json", "--runs", "1", "--seconds", "8"];
    let ran = guests.run(&[&common, args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document["medium_errors"].clone()
}

fn hits(row: &Value, share: &str) -> (u64, u64) {
    (row[share]["hits"].as_u64().unwrap(), row[share]["of"].as_u64().unwrap())
}

#[test]
fn virtual_crash_tells_who_hears_of_a_request_that_failed() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4,xfs", "--workload", "synced", "--cases", "6"];
    let answer = document(&guests, &args);
    let cases = answer["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases.iter().map(|case| &case["case"]) {
        let drawn = serde_json::json!([case["request"]["at_ns"], case["request"]["sector"]]);
        assert!(case["failed_requests"].as_u64() >= Some(1), "{case}");
        assert_eq!(case["first_failed"], drawn, "{case}");
        assert_eq!(case["lost"], serde_json::json!([]), "{case}");
        assert_eq!(case["mounted"], "read-write", "{case}");
    }
    for row in answer["rows"].as_array().unwrap() {
        assert_eq!((row["struck"].as_u64(), row["cases"].as_u64()), (Some(1), Some(1)), "{row}");
        if row["request"] == "data" {
            // The one fsync is told, and the file system goes on.
            assert_eq!((hits(row, "reported"), hits(row, "stopped")), ((1, 1), (0, 1)), "{row}");
            assert_eq!(row["reported_calls"][0][0], "fsync: EIO", "{row}");
            let (returned_0, again) = hits(row, "again");
            assert!(returned_0 == again && again > 0, "the next fsync returns 0: {row}");
        } else if row["request"] == "flush" {
            // No fsync returns 0 for what the cache of the disk still has.
            assert_eq!((hits(row, "reported"), hits(row, "silent")), ((1, 1), (0, 1)), "{row}");
        } else if row["contender"] == "ext4" {
            assert_eq!(hits(row, "stopped"), (1, 1), "its journal is aborted: {row}");
        }
    }
    guests.assert_nothing_left();
}

/// What a file system lacks is no error of the medium.
#[test]
fn virtual_crash_does_not_blame_the_medium_for_what_is_lacking() {
    let Some(guests) = Guests::new() else { return };
    let common = ["crash", "medium-errors", "--runs", "1", "--seconds", "5", "--cases", "1"];
    let ran = guests.run(&[&common[..], &["--fs", "ext3", "--workload", "journal"]].concat());
    let said = "not run: ext3, journal: without any error of the medium, ";
    assert!(ran.stdout.contains(said) && ran.code == Some(0), "{}", ran.stdout);
    let unknown = guests.run(&["crash", "medium-errors", "--workload", "all"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("--workload: \"all\" is none"), "{}", unknown.stderr);
}
