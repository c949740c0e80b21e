//! Crash runs as a part of a RUN: planned, stored, gone on with, and shown beside speed.

use crate::support::TestEnv;
use crate::virtual_trials::Guests;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

const DISK: &str = "virtual:512M:model=ssd-sata";

/// A small trial, and four crash runs of two power cuts.
fn experiment(env: &TestEnv, device: &str, section: &str) -> String {
    let text = format!(
        "schema = 1\nname = \"cut\"\n[run]\nblocks = 1\nseed = 7\n[factors]\nfs = [\"ext4\"]\n\
         device = \"{device}\"\n[[workload]]\nname = \"w\"\nfiles = 50\nsize = \"4 KiB\"\n\
         phases = [\"create\"]\n[crash]\n{section}\n"
    );
    env.write("cut.toml", &text)
}

const SMALL: &str = "runs = 2\npoints = 2\nseconds = 8";

fn crash(guests: &Guests, run: &str) -> Value {
    let ran = guests.run(&["show", run, "--json"]).good();
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    document["crash"].clone()
}

/// Killed and stopped in its crash runs, a RUN goes on with those that are missing, and comes to
/// the same figures as one that was left alone.
#[test]
fn virtual_crash_run_goes_on_where_it_was_stopped() {
    let Some(guests) = Guests::new() else { return };
    let file = experiment(guests.env(), DISK, SMALL);
    let args = ["run", &file, "--no-report"];
    guests
        .run(&[&args[..], &["--dry-run"]].concat())
        .good()
        .says(&["4 crash runs after the trials", "2 runs of unsynced, synced on 1 contender"]);
    let mut live = guests.start(&args);
    live.wait_for("[2/4] crash run of synced on ext4");
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    guests.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    guests.assert_nothing_left();
    let mut live = guests.start(&["run", "--resume", "--no-report"]);
    live.wait_for("[3/4] crash run of unsynced on ext4");
    live.signal(Signal::INT);
    live.end().code(130).says(&["0 trials and 3 crash runs are left"]);
    guests.assert_nothing_left();
    let half = crash(&guests, "1");
    assert!(half["crash_runs_done"].as_u64().unwrap() < 4, "{half}");
    let ran = guests.run(&["run", "--resume"]).good();
    ran.says(&["of unsynced work", "Synced work was lost by none"]);
    let whole = crash(&guests, "1");
    assert_eq!((&whole["crash_runs_done"], &whole["crash_runs_planned"]), (&4.into(), &4.into()));
    guests.run(&args).good();
    assert_eq!(crash(&guests, "2")["rows"], whole["rows"], "the seeds decide");
    shown(&guests);
    guests.assert_nothing_left();
}

/// The table beside speed in text, Markdown and the page, where the chart is too.
fn shown(guests: &Guests) {
    let table = "Crash safety and speed (dropall)";
    guests.run(&["show", "1"]).good().says(&[table, "synced work"]);
    guests.run(&["export", "1", "--format", "markdown"]).good().says(&[table]);
    let page = guests.env().path("page.html");
    guests.run(&["report", "1", "-o", &page.display().to_string()]).good();
    let page = fs::read_to_string(page).unwrap();
    for part in [table, "Speed and loss window", "loss window of unsynced work, s"] {
        assert!(page.contains(part), "{part}");
    }
}

/// But on modelled disks nothing is cut, and the report says why.
#[test]
fn virtual_crash_run_says_whose_power_is_not_cut() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let text = format!(
        "schema = 1\nname = \"cut\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
         cache = \"warm\"\n[[workload]]\nname = \"w\"\nfiles = 20\nsize = \"4 KiB\"\n\
         phases = [\"create\"]\n[crash]\n"
    );
    let file = env.write("cut.toml", &text);
    let why = "power is cut on modelled disks alone";
    env.run(&["run", &file, "--no-report"]).good().says(&["crash runs of", why]);
    env.run(&["show", "1"]).good().says(&["not run", why]);
    let file = env.write("cut.toml", &text.replace("[crash]", "[crash]\nstates = \"lying\""));
    env.run(&["run", &file]).refused(2, &["cut.toml:", "unknown crash state \"lying\""]);
}

/// A campaign is a RUN: killed it goes on, comes to the same rows as one that was left alone, and
/// is listed, shown, reported, exported, bundled and compared.
#[test]
fn virtual_crash_campaign_is_a_run() {
    let Some(guests) = Guests::new() else { return };
    let args = [
        "crash",
        "medium-errors",
        "--fs",
        "ext4",
        "--on",
        DISK,
        "--workload",
        "synced,journal",
        "--runs",
        "2",
        "--seconds",
        "8",
        "--cases",
        "2",
        "--json",
    ];
    let mut live = guests.start(&args);
    live.wait_for("[2/4] crash run of journal on ext4");
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    let listed = guests.run(&["list"]).good();
    listed.says(&["cleaned up after a killed run", "1 crash run"]);
    guests.assert_nothing_left();
    guests.run(&["compare", "1", "1"]).good().says(&["synced work lost", "lost and not reported"]);
    let resumed = guests.run(&["run", "--resume", "--json"]);
    let whole = guests.run(&args);
    assert_eq!((resumed.code, whole.code), (Some(7), Some(7)), "ext4 loses what it reported");
    let document: Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(document["kind"], "medium-errors");
    let resumed: Value = serde_json::from_str(&resumed.stdout).unwrap();
    let (rows, resumed) = (&document["medium_errors"]["rows"], &resumed["crash"]);
    assert_eq!(resumed["medium_errors"], *rows, "the seeds decide");
    let compared = guests.run(&["compare", "1", "2", "--json"]).good();
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    let all = compared["compared"]["rows"].as_array().unwrap();
    assert!(!all.is_empty() && all.iter().all(|row| row["differs"] == false), "{compared}");
    guests.run(&["show", "1"]).good().says(&["cases each.", "synced", "flush"]);
    guests.run(&["list"]).good().says(&["4 crash runs"]);
    for (args, why) in [
        (&["study", "1"][..], "has crash runs alone"),
        (&["compare", "1"], "name a second one"),
        (&["compare", "1", "2", "--junit"], "no verdicts"),
        (&["article", "1", "-o", "article"], "has only crash runs"),
        (&["export", "1", "--format", "crash-csv"], "uniform times"),
        (&["run", "--resume=1"], "RUN 1 is done"),
    ] {
        let ran = guests.run(args);
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{}", ran.stderr);
    }
    let page = guests.env().path("page.html").display().to_string();
    guests.run(&["report", "1", "-o", &page]).good();
    let page = fs::read_to_string(page).unwrap();
    for part in ["Crash safety", "then missing", "Synced work lost (synced): ext4 "] {
        assert!(page.contains(part), "{part}");
    }
    guests.run(&["export", "1", "--format", "markdown"]).good().says(&["| ext4 | synced |"]);
    let bundle = guests.env().path("one.tar.zst").display().to_string();
    guests.run(&["bundle", "1", "-o", &bundle]).good();
    guests.run(&["bundle", "check", &bundle]).good();
    guests.assert_nothing_left();
}
