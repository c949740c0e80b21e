//! Crash safety in guests: acknowledged work stays on an honest disk, planted faults are found.

use crate::support::tool;
use crate::virtual_trials::Guests;
use serde_json::Value;

const DISK: &str = "virtual:1G:model=hdd-2007";

/// The rows of a short campaign.
fn rows(guests: &Guests, args: &[&str]) -> Vec<Value> {
    rows_on(guests, DISK, args)
}

fn rows_on(guests: &Guests, disk: &str, args: &[&str]) -> Vec<Value> {
    let common = ["crash", "--on", disk, "--runs", "1", "--json"];
    rows_with(0, guests, &[&common, args].concat())
}

/// The rows of a command that ends with this exit code.
fn rows_with(code: i32, guests: &Guests, args: &[&str]) -> Vec<Value> {
    let ran = guests.run(args);
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let body = document.get("crash").or_else(|| document.get("hunt")).unwrap();
    body["rows"].as_array().unwrap().clone()
}

fn hits(row: &Value, share: &str) -> (u64, u64) {
    (row[share]["hits"].as_u64().unwrap(), row[share]["of"].as_u64().unwrap())
}

/// Work that nobody synced is lost for as long as the kernel keeps it in memory, and what was
/// synced is there.
#[test]
fn virtual_crash_tells_acknowledged_work_from_the_rest() {
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

const OWN: &str = r#"
schema = 1
name = "own"
[factors]
fs = "ext4"
device = "virtual:1G:model=hdd-2007"
[[workload]]
name = "documents"
files = 60
size = "5000 B"
dirs = 3
phases = [
    { op = "create", fsync = "end" },
    { op = "append", bs = "700 B" },
    { op = "rename", fsync = "end" },
    { op = "randwrite", bs = "512 B", ops = 40, fsync = "op" },
    "delete",
]
"#;

/// The phases of an experiment: what syncfs and fsync reported is there, a lying disk loses it.
#[test]
fn virtual_crash_cuts_the_power_of_phases() {
    let Some(guests) = Guests::new() else { return };
    let file = guests.env().write("own.toml", OWN);
    let args = ["--experiment", &file, "--seconds", "30", "--points", "12"];
    let honest = rows(&guests, &[&args[..], &["--fs", "ext4,xfs,btrfs"]].concat());
    assert_eq!(honest.len(), 3);
    for row in &honest {
        let (lost, checked) = hits(row, "acknowledged_lost");
        assert!(lost == 0 && checked > 0, "{row}");
        let loss_ns = row["loss_window_max_ns"].as_u64().unwrap();
        assert!(row["workload"] == "documents" && loss_ns > 1_000_000_000, "{row}");
    }
    let lying = rows(&guests, &[&args[..], &["--fs", "ext4", "--state", "lying=5"]].concat());
    assert!(hits(&lying[0], "acknowledged_lost").0 > 0, "{}", lying[0]);
    // syncfs of ext2 does not flush the disk's cache: it is there where that is kept.
    let on_ext2 = ["crash", "--on", DISK, "--runs", "1", "--json", "--fs", "ext2", "--state"];
    let ext2 = rows_with(7, &guests, &[&on_ext2[..], &["prefix,dropall"], &args].concat());
    let lost = ["prefix", "dropall"].map(|state| {
        let row = ext2.iter().find(|row| row["state"] == state).unwrap();
        (hits(row, "acknowledged_lost").0 > 0, row["broken"][0][0].clone())
    });
    assert_eq!(lost[0], (false, Value::Null), "{ext2:?}");
    assert!(lost[1].0 && lost[1].1.as_str().unwrap().starts_with("sync(2)"), "{lost:?}");
    guests.assert_nothing_left();
}

/// A disk that is too slow for all of it, and work that cannot be followed.
#[test]
fn virtual_crash_tells_what_of_phases_is_not_done() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--workload", "mail-server", "--scale", "0.1", "--seconds", "5", "--points", "2"];
    let slow =
        rows_on(&guests, "virtual:2G:model=sd-class2", &[&args[..], &["--fs", "ext4"]].concat());
    assert!(slow[0]["ops_not_begun"].as_u64().unwrap() > 0, "{}", slow[0]);
    for (workload, told) in [
        ("untar", "untar, untar: its contents are those of the work that it does"),
        ("database", "ops on a file, and crash runs follow 4096 at most; make it smaller"),
        ("unsinced", "did you mean \"unsynced\"?"),
    ] {
        let ran = guests.run(&["crash", "--workload", workload, "--fs", "ext4"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{}", ran.stderr);
    }
    let ran = guests.run(&["crash", "--workload", "synced", "--scale", "0.1"]);
    assert!(ran.stderr.contains("--scale: no workload of an experiment"), "{}", ran.stderr);
}

/// Where no cache can lose it, what was written is there without any flush.
#[test]
fn virtual_crash_knows_a_disk_without_a_volatile_cache() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4:nobarrier", "--workload", "synced", "--seconds", "10"];
    let rows =
        rows_on(&guests, "virtual:1G:model=const", &[&args[..], &["--points", "4"]].concat());
    assert_eq!(hits(&rows[0], "acknowledged_lost").0, 0, "{}", rows[0]);
    assert_eq!(hits(&rows[0], "mounted_as_before"), (4, 4), "{}", rows[0]);
}

/// A file system that sends no flush, and a disk that does not keep what it has flushed.
#[test]
fn virtual_crash_finds_planted_faults() {
    let Some(guests) = Guests::new() else { return };
    let common = ["--workload", "synced", "--seconds", "20", "--points", "12"];
    let head = ["crash", "--on", DISK, "--runs", "1", "--json", "--fs", "ext4:nobarrier"];
    let without = rows_with(7, &guests, &[&head[..], &common].concat());
    assert!(hits(&without[0], "acknowledged_lost").0 > 0, "no barriers: {}", without[0]);
    let lying = rows(&guests, &[&common[..], &["--fs", "ext4", "--state", "lying=3"]].concat());
    assert!(hits(&lying[0], "acknowledged_lost").0 > 0, "a lying disk: {}", lying[0]);
    let told = lying[0]["broken"][0][0].as_str().unwrap();
    assert!(told.starts_with("fsync(2)"), "{told}");
}

/// Without a journal some states are damaged, and here the kernel panics of them: each of these is
/// found, and what its guest had not come to is looked at by another one.
#[test]
fn virtual_crash_goes_on_behind_a_state_that_no_guest_survives() {
    let Some(guests) = Guests::new() else { return };
    let fs = ["--fs", "ext4:mkfs.features=^has_journal:errors=panic"];
    let head = ["crash", "--on", "virtual:256M:model=hdd-2007", "--runs", "2", "--json"];
    let work = ["--workload", "mail-spool", "--seconds", "20"];
    let states = ["--state", "subset", "--points", "150"];
    let rows = rows_with(7, &guests, &[&head[..], &fs, &work, &states].concat());
    let (mounted, of) = hits(&rows[0], "mounted_as_before");
    assert!(of == 300 && mounted < of && mounted > of * 8 / 10, "{}", rows[0]);
    // All that was mounted was checked after it, by a guest that lived.
    assert!(hits(&rows[0], "needs_repair").1 >= mounted, "{}", rows[0]);
    guests.assert_nothing_left();
}

/// One flush that does nothing is found at the entries of the log, and told as the disk's fault; an
/// honest disk beside it breaks nothing, also where the power goes during recovery.
#[test]
fn virtual_crash_hunts_a_lost_flush() {
    let Some(guests) = Guests::new() else { return };
    let common = ["crash", "--on", DISK, "--runs", "1", "--json", "--fs", "ext4", "--workload"];
    let bounds = ["synced", "--seconds", "5", "--every-event", "--states", "150"];
    let args = [&common[..], &bounds].concat();
    let honest = rows_with(0, &guests, &[&args[..], &["--recovery-every", "20"]].concat());
    let number = |row: &Value, field: &str| row[field].as_u64().unwrap();
    assert_eq!(number(&honest[0], "contract_broken"), 0, "{}", honest[0]);
    assert!(number(&honest[0], "states_checked") > 100, "{}", honest[0]);
    assert!(number(&honest[0], "recoveries_checked") > 0, "{}", honest[0]);
    // A commit has two flushes: one before its last block, which nobody was told of, and one after.
    let lost = ["10", "9"].map(|flush| {
        let rows = rows_with(0, &guests, &[&args[..], &["--lose-flush", flush]].concat());
        let told = rows[0]["disk_fault"].as_str().unwrap();
        assert!(told.contains(&format!("lost flush {flush} ")), "{told}");
        rows[0].clone()
    });
    let found = lost.iter().find(|row| number(row, "contract_broken") > 0);
    let case = &found.unwrap_or_else(|| panic!("{lost:?}"))["cases"][0];
    assert!(case["sentence"].as_str().unwrap().contains("fsync"), "{case}");
    // It was kept, and is the same when it is mounted again.
    let name = case["kept"].as_str().unwrap();
    let shown = guests.run(&["crash", "show", name]).good();
    shown.says(&["the disk lost flush", "broken: ", "<- broken"]);
    guests.assert_nothing_left();
}

/// What is kept is listed, written for other programs and deleted.
#[test]
fn virtual_crash_keeps_and_exports_states() {
    let Some(guests) = Guests::new() else { return };
    let args = ["crash", "--on", "virtual:256M:model=hdd-2007", "--runs", "1", "--json", "--fs"];
    let more = ["ext4:nobarrier", "--workload", "synced", "--seconds", "8", "--keep", "1"];
    rows_with(7, &guests, &[&args[..], &more, &["--points", "6"]].concat());
    let listed = guests.run(&["crash", "states", "--json"]);
    let document: Value = serde_json::from_str(&listed.stdout).unwrap();
    let states = document["states"].as_array().unwrap();
    assert_eq!(states.len(), 1, "{document}");
    assert!(states[0]["size_bytes"].as_u64().unwrap() < 8 << 20, "{document}");
    let name = states[0]["state"]["id"].as_str().unwrap();
    let image = guests.path("state.img");
    guests.run(&["crash", "export", name, "-o", &image]).good();
    let meta = std::fs::metadata(&image).unwrap();
    assert_eq!(meta.len(), 256 << 20);
    assert!(std::os::unix::fs::MetadataExt::blocks(&meta) * 512 < 200 << 20);
    let again = guests.run(&["crash", "export", name, "-o", &image]);
    assert!(again.code == Some(2) && again.stderr.contains("--force"), "{}", again.stderr);
    let log = guests.path("state.log");
    let format = ["--format", "log-writes"];
    guests.run(&[&["crash", "export", name, "-o", &log], &format[..]].concat()).good();
    assert!(replayed(&std::fs::read(&log).unwrap(), 256 << 20) == std::fs::read(&image).unwrap());
    guests.run(&["crash", "delete", "--all", "--yes"]).good();
    let none = guests.run(&["crash", "show", name]);
    assert!(none.code == Some(2) && none.stderr.contains("no kept state"), "{}", none.stderr);
}

/// The disk that a log of device-mapper's log-writes, version 1, leaves up to the mark `crash`.
fn replayed(log: &[u8], size_bytes: usize) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
    assert_eq!((number(0), number(8)), (0x6a_7366_7773_6872, 1));
    let mut disk = vec![0; size_bytes];
    let mut at = 512;
    for _ in 0..number(16) {
        let [sector, sectors, flags, len] = [0, 8, 16, 24].map(|from| number(at + from) as usize);
        if flags & 8 != 0 {
            assert_eq!(&log[at + 32..at + 32 + len], b"crash");
            return disk;
        }
        at += 512;
        let to = &mut disk[sector * 512..(sector + sectors) * 512];
        if flags & 4 != 0 {
            to.fill(0);
        } else {
            to.copy_from_slice(&log[at..at + len]);
            at += len;
        }
    }
    panic!("no mark");
}

/// The same seeds give the same answer.
#[test]
fn virtual_crash_is_the_same_every_time() {
    let Some(guests) = Guests::new() else { return };
    let args = ["--fs", "ext4", "--seconds", "35", "--points", "8", "--state", "prefix,subset"];
    let once = rows(&guests, &args);
    assert_eq!(once, rows(&guests, &args));
}

#[test]
fn virtual_crash_refuses_what_cannot_be() {
    let Some(guests) = Guests::new() else { return };
    for (args, said) in [
        (&["--workload", "all"][..], "--workload: unknown workload \"all\""),
        (&["--state", "lying"], "--state: \"lying\" is none"),
        (&["--on", "ram:1G"], "power is cut on modelled disks alone"),
        (&["--fs", "nonsense"], "nonsense"),
        (&["--state", "torn,torn"], "--state: \"torn\" is named twice"),
        (&["--state", "torn,prefix", "--points", "1"], "--points: 1 for 2 states"),
    ] {
        let ran = guests.run(&[&["crash"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}

/// jfs has its log written and sends no flush: what it synced goes with the cache of the disk, and
/// that is told. Where the cache is kept and most of it is gone nevertheless, the repair has not
/// replayed the log, and that is told too.
#[test]
fn virtual_crash_tells_what_is_lost_by_jfs_from_what_its_repair_loses() {
    let Some(guests) = Guests::new() else { return };
    if tool("jfs_mkfs").is_none() || tool("jfs_fsck").is_none() {
        return;
    }
    let args = ["crash", "--on", DISK, "--runs", "1", "--json", "--fs", "jfs", "--workload"];
    let more = ["synced", "--seconds", "10", "--points", "8", "--state", "prefix,dropall"];
    let rows = rows_with(7, &guests, &[&args[..], &more].concat());
    let [kept, lost] = ["prefix", "dropall"].map(|state| {
        rows.iter().find(|row| row["state"] == state).unwrap_or_else(|| panic!("{state}: {rows:?}"))
    });
    for row in [kept, lost] {
        assert_eq!(row["sends_no_flush"], true, "{row}");
    }
    let (gone, checked) = hits(lost, "acknowledged_lost");
    assert!(gone == checked && checked > 0, "no flush was sent: {lost}");
    let failed = kept["failed_replays"].as_u64().unwrap();
    let (gone, checked) = hits(kept, "acknowledged_lost");
    assert!(failed > 0 || gone * 10 < checked, "neither cache nor repair lost it: {kept}");
}
