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
    live.wait_for("[2/4] power cuts of synced on ext4");
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    guests.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    guests.assert_nothing_left();
    let mut live = guests.start(&["run", "--resume", "--no-report"]);
    live.wait_for("[3/4] power cuts of unsynced on ext4");
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
    let table = "Crash safety beside speed (dropall)";
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
    env.run(&["run", &file, "--no-report"]).good().says(&["power cuts of", why]);
    env.run(&["show", "1"]).good().says(&["not run", why]);
    let file = env.write("cut.toml", &text.replace("[crash]", "[crash]\nstates = \"lying\""));
    env.run(&["run", &file]).refused(2, &["cut.toml:", "unknown crash state \"lying\""]);
}
