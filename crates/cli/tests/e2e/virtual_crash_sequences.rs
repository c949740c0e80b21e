//! Short sequences in guests: what fsync reported is there on an honest disk, and what a file
//! system without barriers loses is found; litmus programs tell file systems apart.

use crate::support::takes_all;
use crate::virtual_trials::Guests;
use serde_json::Value;

fn rows(guests: &Guests, what: &str, args: &[&str]) -> Vec<Value> {
    let ran = guests.run(&[&["crash", what, "--json"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document[format!("crash_{what}")]["rows"].as_array().unwrap().clone()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap()
}

#[test]
fn virtual_crash_sequences_keep_what_fsync_reported() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--sample", "3", "--seed", "3", "--fs", "ext4,xfs,btrfs", "--every-entry"];
    let rows = rows(&guests, "sequences", &args);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert_eq!((number(row, "sequences"), number(row, "not_judged")), (3, 0), "{row}");
        assert!(number(row, "different") > 3, "{row}");
        assert_eq!(number(row, "mounted"), number(row, "different"), "{row}");
        assert_eq!((number(row, "contract_broken"), number(row, "damaged")), (0, 0), "{row}");
    }
    guests.assert_nothing_left();
}

/// Without barriers nothing is ever flushed, and whatever is reported can be lost: the same
/// sequences with the same seed.
#[test]
fn virtual_crash_sequences_find_a_planted_fault() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--length", "2", "--sample", "8", "--seed", "3", "--fs", "ext4,ext4:nobarrier"];
    let rows = rows(&guests, "sequences", &args);
    assert_eq!(number(&rows[0], "contract_broken"), 0, "{}", rows[0]);
    assert!(number(&rows[1], "contract_broken") >= 4, "{}", rows[1]);
    let cases = rows[1]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["class"] == "contract").unwrap();
    let sentence = case["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("fsync(2)"), "{case}");
    let program = case["program"].as_str().unwrap();
    assert!(program.contains("sync"), "{case}");
}

/// The heuristics of ext4 can be switched off, and a rename over a file shows it.
#[test]
fn virtual_crash_sequences_of_litmus_tell_file_systems_apart() {
    if !takes_all() {
        return;
    }
    let Some(guests) = Guests::new() else { return };
    let programs = "replace-via-rename,replace-after-fsync";
    let args = ["--litmus", programs, "--programs", "1", "--states", "24"];
    let rows =
        rows(&guests, "litmus", &[&args[..], &["--fs", "ext4:noauto_da_alloc,xfs"]].concat());
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let is_control = row["litmus"] == "replace-after-fsync";
        assert_eq!(number(row, "programs_broken") == 0, is_control, "{row}");
        assert_eq!(number(row, "mounted"), number(row, "states"), "{row}");
    }
}

#[test]
fn virtual_crash_sequences_refuse_what_cannot_be() {
    let Some(guests) = Guests::new() else { return };
    for (args, said) in [
        (&["sequences", "--length", "3"][..], "--length"),
        (&["sequences", "--on", "ram:1G"], "sequences are carried out in guests alone"),
        (&["litmus", "--litmus", "none"], "--litmus: \"none\" is none"),
        (&["--runs", "2", "litmus"], "litmus"),
    ] {
        let ran = guests.run(&[&["crash"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
