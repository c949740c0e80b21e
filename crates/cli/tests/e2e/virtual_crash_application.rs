//! Applications in guests, judged by their own checks: what keeps its promise, what does not, and
//! what cannot be judged.

use crate::support::takes_all;
use crate::virtual_trials::Guests;
use serde_json::Value;

const DISK: &str = "virtual:1G:model=hdd-2007";

/// It syncs the name of a file and not its contents.
const CARELESS: &str = r#"
schema = 1
name = "careless"
title = "t"
source = "s"
setup = "mkdir box"
command = """
for n in $(seq 40); do
    seq 1000 > box/tmp; mv box/tmp box/$n; sync box; echo $n; sleep 1
done"""
check = """
for one in box/[0-9]*; do
    test -e $one || continue
    test "$(tail -n 1 $one)" = 1000 || { echo $one is damaged; exit 1; }
done
echo found $(ls box | grep -cv tmp)"""
"#;

/// Its check does not end before all is done.
const SLOW: &str = r#"
schema = 1
name = "slow"
title = "t"
source = "s"
check_limit_s = 2
command = """
for n in $(seq 10); do echo $n > $n; sync $n .; echo $n; sleep 1; done"""
check = """
test $FSARENA_ACKNOWLEDGED = 10 || { echo waiting; sleep 1000; }
echo found 10"""
"#;

/// The rows of a short campaign.
fn rows(guests: &Guests, args: &[&str]) -> Vec<Value> {
    let common = ["crash", "--on", DISK, "--json"];
    let ran = guests.run(&[&common, args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["kind"], "crash-application");
    document["crash_application"]["rows"].as_array().unwrap().clone()
}

fn hits(row: &Value, share: &str) -> (u64, u64) {
    (row[share]["hits"].as_u64().unwrap(), row[share]["of"].as_u64().unwrap())
}

fn has_sqlite() -> bool {
    let is_there = fsarena_process::cmd::find("sqlite3").is_some();
    if !is_there {
        println!("not run: sqlite3 not installed");
    }
    is_there
}

/// What SQLite says of its modes is what is found.
#[test]
fn virtual_crash_application_tells_sqlite_off_from_wal() {
    let Some(guests) = Guests::new() else { return };
    if !has_sqlite() {
        return;
    }
    let names = "sqlite-wal,sqlite-delete,sqlite-extra,sqlite-off";
    let args = ["--application", names, "--fs", "ext4", "--runs", "1", "--points", "8"];
    let rows = rows(&guests, &[&args[..], &["--seconds", "20"]].concat());
    let [wal, delete, extra, off] = rows.as_slice() else { panic!("{rows:?}") };
    for row in [wal, extra, delete] {
        assert_eq!(hits(row, "check_failed"), (0, 8), "{row}");
        assert_eq!(hits(row, "mounted_as_before"), (8, 8), "{row}");
        let (lost, of) = hits(row, "acknowledged_lost");
        assert!(of > 100 && row["acknowledged_units"] == 80, "{row}");
        // FULL does not sync the directory of the journal: the last one may be rolled back.
        let most = u64::from(row["application"] == "sqlite-delete");
        assert!(row["lost_max"].as_u64().unwrap() <= most && lost <= 8 * most, "{row}");
    }
    assert!(hits(off, "acknowledged_lost").0 > 100, "{off}");
    let case = off["cases"][0].as_str().unwrap();
    assert!(case.starts_with("seed 1, cut at ") && case.contains(" acknowledged"), "{case}");
    guests.assert_nothing_left();
}

/// Where nothing is synced before a rename, xfs leaves empty files; a check that hangs has failed.
#[test]
fn virtual_crash_application_of_ones_own_is_judged_by_its_check() {
    let Some(guests) = Guests::new() else { return };
    let (careless, slow) =
        (guests.write("careless.toml", CARELESS), guests.write("slow.toml", SLOW));
    let both = format!("{careless},{slow}");
    let args = ["--application", &both, "--yes", "--fs", "xfs", "--runs", "1", "--points", "4"];
    let rows = rows(&guests, &args);
    let [careless, slow] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(hits(careless, "check_failed").0 > 0, "{careless}");
    let case = careless["cases"][0].as_str().unwrap();
    assert!(case.contains("the check failed (exit code 1): box/"), "{case}");
    assert!(hits(slow, "check_failed").0 > 0, "{slow}");
    let case = slow["cases"][0].as_str().unwrap();
    assert!(case.contains("the check failed (not ended after 2 s): waiting"), "{case}");
}

/// The same seeds give the same answer, and a disk that lies loses what was synced.
#[test]
fn virtual_crash_application_is_the_same_every_time() {
    if !takes_all() {
        return;
    }
    let Some(guests) = Guests::new() else { return };
    let args = ["--application", "maildir", "--fs", "ext4,btrfs", "--runs", "1", "--points", "8"];
    let args = [&args[..], &["--seconds", "20", "--state", "subset,lying=3"]].concat();
    let once = rows(&guests, &args);
    assert_eq!(once, rows(&guests, &args));
    for row in &once {
        let is_lying = row["state"] == "lying=3";
        assert_eq!(hits(row, "acknowledged_lost").0 > 0, is_lying, "{row}");
        assert_eq!(hits(row, "check_failed").0, 0, "{row}");
    }
}

/// What is wrong without any power cut is said, and nothing is judged.
#[test]
fn virtual_crash_application_refuses_what_it_cannot_judge() {
    let Some(guests) = Guests::new() else { return };
    let faults = [
        (
            "setup",
            "setup = \"echo full >&2; exit 3\"",
            "true",
            "true",
            "its setup failed (exit code 3): full",
        ),
        (
            "command",
            "",
            "echo 1; echo no disk >&2; exit 4",
            "true",
            "its command failed (exit code 4) without any power cut: no disk",
        ),
        (
            "endless",
            "",
            "echo 1; sleep 100000",
            "true",
            "its command failed (not ended after 605 s)",
        ),
        ("silent", "", "true", "echo found 0", "its command printed no line"),
        (
            "check",
            "",
            "echo 1",
            "echo no table; exit 5",
            "its check failed (exit code 5) though no power was cut: no table",
        ),
        ("uncounted", "", "echo 1", "true", "its check printed no line `found N`"),
        (
            "fewer",
            "",
            "echo 1; echo 2",
            "echo found 1",
            "its check found 1 of 2 acknowledged units though no power was cut",
        ),
    ];
    let mut files = Vec::new();
    for (name, more, command, check, _) in faults {
        let text = format!(
            "schema = 1\nname = \"{name}\"\ntitle = \"t\"\nsource = \"s\"\n{more}\n\
             command = \"{command}\"\ncheck = \"{check}\"\n"
        );
        files.push(guests.write(&format!("{name}.toml"), &text));
    }
    let common = ["crash", "--on", DISK, "--fs", "ext4", "--runs", "1", "--points", "1"];
    let args = ["--seconds", "5", "--yes", "--application", &files.join(",")];
    let ran = guests.run(&[&common[..], &args].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for (name, .., said) in faults {
        let line = format!("crash run of {name} on ext4: failed: seed 1: {said}");
        assert!(ran.stderr.contains(&line), "{line}\n{}", ran.stderr);
        assert!(ran.stdout.contains(&format!("failed: ext4, {name}: seed 1: ")), "{}", ran.stdout);
    }
    guests.assert_nothing_left();
}

#[test]
fn virtual_crash_application_refuses_what_cannot_be() {
    let Some(guests) = Guests::new() else { return };
    let text = "schema = 1\nname = \"mine\"\ntitle = \"t\"\nsource = \"s\"\ncommand = \"true\"\n";
    let without = guests.write("without.toml", text);
    let needy = format!("{text}check = \"true\"\nneeds = {{ no-such-tool = \"its-package\" }}\n");
    let needy = guests.write("needy.toml", &needy);
    for (code, args, said) in [
        (2, &["--application", "oracle"][..], "--application: \"oracle\" is none; use sqlite-wal"),
        (2, &["--application", "./none.toml"], "--application ./none.toml: No such file"),
        (2, &["--application", &without], "line 1: missing field `check`"),
        (2, &["--application", "git,git"], "--application: \"git\" is named twice"),
        (2, &["--application", "git", "--workload", "synced"], "cannot be used with"),
        (2, &["--application", "maildir", "--state", "lying"], "--state: \"lying\" is none"),
        (2, &["--application", "maildir", "--on", "ram:1G"], "applications work in guests alone"),
        (
            1,
            &["--application", &needy, "--yes"],
            "mine: not run: no-such-tool is not installed (package its-package)",
        ),
        (1, &["--application", &needy, "--yes"], "nothing to run"),
        (2, &["--application", &needy], "commands of the application files were not confirmed"),
    ] {
        let ran = guests.run(&[&["crash"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
