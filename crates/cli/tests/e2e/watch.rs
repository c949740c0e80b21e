//! `watch` without rights: lines, what is stored of them, how a watch ends, and what is refused.

use crate::support::{Live, Scene, assert_nothing_left};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A scene whose directory lies on a block device; `None`, with the reason printed, elsewhere.
fn scene() -> Option<Scene> {
    let scene = Scene::new();
    let place = scene.dir().display().to_string();
    let ran = scene.run(&["watch", &place, "--for", "200ms", "--every", "100ms"]);
    if ran.code != Some(0) {
        println!("not run: {}", ran.stderr.trim());
        return None;
    }
    Some(scene)
}

/// Starts a watch of the scene's own directory and waits for its first line.
fn started<'a>(scene: &'a Scene, more: &[&str]) -> Live<'a> {
    let before = scene.runs().len();
    let args = [&["watch", ".", "--every", "100ms"], more].concat();
    let mut live = scene.start(&args);
    let file = |scene: &Scene| {
        let all = fs::read_dir(scene.state()).into_iter().flatten().flatten();
        let mut own = all.filter(|one| one.path().extension().is_some_and(|end| end == "watch"));
        own.next().and_then(|one| fs::read_to_string(one.path()).ok())
    };
    live.poll("three samples", |_| {
        (scene.runs().len() > before && file(scene)?.lines().count() > 3).then_some(())
    });
    live
}

#[test]
fn a_watch_is_lines_and_a_run_of_its_own_kind() {
    let Some(scene) = scene() else { return };
    let args = ["watch", ".", "--every", "100ms", "--for", "600ms", "--title", "nothing at all"];
    let ran = scene.run(&args).good();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 7, "{}", ran.stdout);
    assert!(lines[0].trim_start().starts_with("time  read_MB/s"), "{}", lines[0]);
    assert!(lines.iter().all(|line| line.split_whitespace().count() == 16), "{}", ran.stdout);
    let ran = ran.says(&["7 samples: RUN 2", "watch itself used", "of one CPU core"]);
    assert!(ran.stderr.contains("watched /dev/"), "{}", ran.stderr);

    scene.run(&["list"]).good().says(&["watch", "done"]);
    let shown = scene.run(&["show"]).good();
    let shown = shown.says(&[
        "watch: nothing at all",
        "write MB/s",
        "watched and not measured",
        "In all: read",
    ]);
    assert!(!shown.stdout.contains("FASTER"), "{}", shown.stdout);
    let records = scene.records(2);
    let phase = &records[0].phases[0];
    assert!(phase.is_complete() && phase.clocks.durable_ns.is_none());
    assert_eq!(phase.series.as_ref().unwrap().t_ns.len(), 7);
    assert_eq!(phase.sampler.unwrap().samples, 7);
    assert_eq!(records[0].outcome, Outcome::Done);

    scene.run(&["study"]).refused(2, &["RUN 2 is a watch"]);
    scene.run(&["run", "--resume=2"]).refused(2, &["RUN 2 is done"]);
    let page = scene.path("x.html").display().to_string();
    scene.run(&["report", "-o", &page]).good();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("Time series"), "a chart of what was seen");
    assert_eq!(scene.run(&["export"]).good().stdout.lines().count(), 2);
    scene.run(&["export", "--format", "markdown"]).good().says(&["```", "write MB/s"]);
    assert_nothing_left(&scene);
}

#[test]
fn two_watches_are_set_beside_each_other_and_nothing_is_decided() {
    let Some(scene) = scene() else { return };
    scene.run(&["watch", ".", "--every", "100ms", "--for", "1s"]).good();
    let ran = scene.run(&["compare", "1", "2@200ms-800ms"]).good();
    ran.says(&["UNDECIDED: there is one interval a side", "A median", "RUN 2@200ms-800ms"]);
    let json = scene.run(&["compare", "2@-500ms", "2@500ms-", "--json"]).good().json();
    assert_eq!(json["kind"], "compare-watched");
    assert_eq!(json["compare"]["verdict"], "UNDECIDED");
    assert_eq!(json["compare"]["a"]["rows"].as_array().unwrap().len(), 15);
    let stretches = &json["compare"]["a"]["stretches"];
    assert!(stretches.as_u64().unwrap().abs_diff(5) < 2, "{stretches}");
    scene.run(&["compare", "1", "2", "--require-decision"]).code(4);
    scene.run(&["compare", "2"]).refused(2, &["RUN 2 is a watch"]);
    scene.run(&["compare", "1", "2@5s-6s"]).refused(2, &["has no two samples; RUN 2 lasted"]);
    scene.run(&["compare", "1", "2@5s"]).refused(2, &["there is no -", "12@10m-20m"]);
    scene.run(&["compare", "1", "2", "--margin", "5%"]).refused(2, &["watches have no questions"]);
}

#[test]
fn a_watch_of_another_database_is_taken_whole() {
    let Some(scene) = scene() else { return };
    let other = scene.path("other.db").display().to_string();
    let watch = ["watch", ".", "--every", "100ms", "--for", "500ms", "--db", &other];
    scene.run(&[&watch[..], &["--title", "elsewhere"]].concat()).good();
    scene.run(&["merge", &other]).good().says(&["other.db: 1 RUN taken"]);
    scene.run(&["merge", &other]).good().says(&["0 RUNs taken, 1 here already"]);
    let there = Store::open_read_only(Path::new(&other)).unwrap();
    assert_eq!(scene.records(2), there.records(RunId(1)).unwrap());
    let row = scene.runs().remove(1);
    assert_eq!((row.state, row.merged), (RunState::Done, true));
    scene.run(&["show", "2"]).good().says(&["watch: elsewhere", "5 stretches of", "write MB/s"]);
    scene.run(&["compare", "1", "2"]).good().says(&["UNDECIDED: there is one interval a side"]);
    assert_nothing_left(&scene);
}

#[test]
fn samples_are_documents_where_that_is_asked_for() {
    let Some(scene) = scene() else { return };
    let ran = scene.run(&["watch", ".", "--every", "100ms", "--for", "300ms", "--json"]).good();
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0]["dirty_bytes"].is_number() && lines[0]["queue_depth"].is_number());
}

#[test]
fn a_watch_ends_cleanly_by_signals_and_where_nobody_reads() {
    let Some(scene) = scene() else { return };
    for (number, signal) in [(2, Signal::INT), (3, Signal::TERM), (4, Signal::HUP)] {
        let live = started(&scene, &[]);
        live.signal(signal);
        live.end().good().says(&[&format!("samples: RUN {number}")]);
    }
    let program = crate::support::PROGRAM;
    let line = format!("{program} watch . --every 100ms | head -2");
    let mut command = scene.command_of("/bin/sh", &["-c"]);
    command.arg(line);
    let ran = scene.finish(command).good();
    assert_eq!(ran.stdout.lines().count(), 2);
    let states: Vec<RunState> = scene.runs().iter().map(|row| row.state).collect();
    assert_eq!(states, [RunState::Done; 5]);
    assert_nothing_left(&scene);
}

#[test]
fn a_watch_that_is_killed_is_stored_by_the_next_command() {
    let Some(scene) = scene() else { return };
    let live = started(&scene, &["--title", "to be killed"]);
    // While it lives nobody takes its samples.
    scene.run(&["list"]).good().says(&["running"]);
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    scene.run(&["list"]).good().says(&["RUN 2, a watch that was killed after", "interrupted"]);
    scene.run(&["show"]).good().says(&["ended without a word", "write MB/s"]);
    let records = scene.records(2);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].outcome, Outcome::Interrupted);
    assert!(records[0].phases[0].series.as_ref().unwrap().t_ns.len() >= 3);
    // It is nothing to go on with.
    scene.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted"]);
    scene.run(&["run", "--resume=2"]).refused(2, &["cannot be run by fsarena"]);
    assert_nothing_left(&scene);
}

#[test]
fn what_cannot_be_watched_is_refused_before_anything_is_stored() {
    let scene = Scene::new();
    let refused = |args: &[&str], words: &[&str]| {
        scene.run(&[&["watch"], args].concat()).refused(2, words);
    };
    refused(&["/no/such"], &["/no/such: No such file or directory"]);
    refused(&["/dev/null"], &["/dev/null: is a character device"]);
    refused(&["/proc"], &["/proc: is on proc, which the kernel generates"]);
    refused(&[".", "--every", "50ms"], &["--every 50ms: is under 100ms"]);
    refused(&[".", "--every", "2h"], &["--every 2h: is over 1h"]);
    refused(&[".", "--every", "soon"], &["--every soon"]);
    refused(&[".", "--for", "1s", "--every", "2s"], &["--for 1s: is shorter than --every"]);
    assert!(!scene.db().exists(), "nothing was made");
    if fs::read_to_string("/proc/mounts").unwrap().contains(" /dev/shm tmpfs ") {
        refused(&["/dev/shm"], &["/dev/shm: is on tmpfs, which lives in memory"]);
    }
}

#[test]
fn a_database_that_cannot_be_written_is_said_before_anything_is_watched() {
    let Some(scene) = scene() else { return };
    fs::write(scene.path("x"), "no directory").unwrap();
    let db = scene.path("x/y.db").display().to_string();
    let started = std::time::Instant::now();
    let ran = scene.run(&["watch", ".", "--for", "60s", "--db", &db]);
    ran.refused(1, &["choose a place you may write to with --db"]);
    assert!(started.elapsed().as_secs() < 30);
}
