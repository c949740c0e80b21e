//! `watch` without rights: lines, what is stored of them, how a watch ends, and what is refused.

use crate::support::{Live, TestEnv, assert_nothing_left};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A test environment whose directory is on a block device; `None`, with the reason printed,
/// elsewhere.
fn env() -> Option<TestEnv> {
    let env = TestEnv::new();
    let place = env.dir().display().to_string();
    let ran = env.run(&["watch", &place, "--for", "200ms", "--every", "100ms"]);
    if ran.code != Some(0) {
        println!("not run: {}", ran.stderr.trim());
        return None;
    }
    Some(env)
}

/// Starts a watch of the test environment's own directory and waits for its first line.
fn started<'a>(env: &'a TestEnv, more: &[&str]) -> Live<'a> {
    let before = env.runs().len();
    let args = [&["watch", ".", "--every", "100ms"], more].concat();
    let mut live = env.start(&args);
    let file = |env: &TestEnv| {
        let all = fs::read_dir(env.state()).into_iter().flatten().flatten();
        let mut own = all.filter(|one| one.path().extension().is_some_and(|end| end == "watch"));
        own.next().and_then(|one| fs::read_to_string(one.path()).ok())
    };
    live.poll("three samples", |_| {
        (env.runs().len() > before && file(env)?.lines().count() > 3).then_some(())
    });
    live
}

#[test]
fn a_watch_is_lines_and_a_run_of_its_own_kind() {
    let Some(env) = env() else { return };
    let args = ["watch", ".", "--every", "100ms", "--for", "600ms", "--title", "nothing at all"];
    let ran = env.run(&args).good();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 7, "{}", ran.stdout);
    assert!(lines[0].trim_start().starts_with("time  read_MB/s"), "{}", lines[0]);
    assert!(lines.iter().all(|line| line.split_whitespace().count() == 16), "{}", ran.stdout);
    let ran = ran.says(&["7 samples: RUN 2", "watch itself used", "of one CPU core"]);
    assert!(ran.stderr.contains("watched /dev/"), "{}", ran.stderr);

    env.run(&["list"]).good().says(&["watch", "done"]);
    let shown = env.run(&["show"]).good();
    let shown = shown.says(&[
        "watch: nothing at all",
        "write MB/s",
        "watched and not measured",
        "In all: read",
    ]);
    assert!(!shown.stdout.contains("FASTER"), "{}", shown.stdout);
    let records = env.records(2);
    let phase = &records[0].phases[0];
    assert!(phase.is_complete() && phase.clocks.durable_ns.is_none());
    assert_eq!(phase.series.as_ref().unwrap().t_ns.len(), 7);
    assert_eq!(phase.sampler.unwrap().samples, 7);
    assert_eq!(records[0].outcome, Outcome::Done);

    env.run(&["study"]).refused(2, &["RUN 2 is a watch"]);
    env.run(&["run", "--resume=2"]).refused(2, &["RUN 2 is done"]);
    let page = env.path("x.html").display().to_string();
    env.run(&["report", "-o", &page]).good();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("Time series"), "a chart of what was seen");
    assert_eq!(env.run(&["export"]).good().stdout.lines().count(), 2);
    env.run(&["export", "--format", "markdown"]).good().says(&["```", "write MB/s"]);
    assert_nothing_left(&env);
}

#[test]
fn two_watches_are_set_beside_each_other_and_nothing_is_decided() {
    let Some(env) = env() else { return };
    env.run(&["watch", ".", "--every", "100ms", "--for", "1s"]).good();
    let ran = env.run(&["compare", "1", "2@200ms-800ms"]).good();
    ran.says(&["UNDECIDED: there is one interval a side", "A median", "RUN 2@200ms-800ms"]);
    let json = env.run(&["compare", "2@-500ms", "2@500ms-", "--json"]).good().json();
    assert_eq!(json["kind"], "compare-watched");
    assert_eq!(json["compare"]["verdict"], "UNDECIDED");
    assert_eq!(json["compare"]["a"]["rows"].as_array().unwrap().len(), 15);
    let stretches = &json["compare"]["a"]["stretches"];
    assert!(stretches.as_u64().unwrap().abs_diff(5) < 2, "{stretches}");
    env.run(&["compare", "1", "2", "--require-decision"]).code(4);
    env.run(&["compare", "2"]).refused(2, &["RUN 2 is a watch"]);
    env.run(&["compare", "1", "2@5s-6s"]).refused(2, &["has no two samples; RUN 2 lasted"]);
    env.run(&["compare", "1", "2@5s"]).refused(2, &["there is no -", "12@10m-20m"]);
    env.run(&["compare", "1", "2", "--margin", "5%"]).refused(2, &["watches have no questions"]);
}

#[test]
fn a_watch_of_another_database_is_taken_whole() {
    let Some(env) = env() else { return };
    let other = env.path("other.db").display().to_string();
    let watch = ["watch", ".", "--every", "100ms", "--for", "500ms", "--db", &other];
    env.run(&[&watch[..], &["--title", "elsewhere"]].concat()).good();
    env.run(&["merge", &other]).good().says(&["other.db: 1 RUN taken"]);
    env.run(&["merge", &other]).good().says(&["0 RUNs taken, 1 here already"]);
    let there = Store::open_read_only(Path::new(&other)).unwrap();
    assert_eq!(env.records(2), there.records(RunId(1)).unwrap());
    let row = env.runs().remove(1);
    assert_eq!((row.state, row.merged), (RunState::Done, true));
    env.run(&["show", "2"]).good().says(&["watch: elsewhere", "5 stretches of", "write MB/s"]);
    env.run(&["compare", "1", "2"]).good().says(&["UNDECIDED: there is one interval a side"]);
    assert_nothing_left(&env);
}

#[test]
fn samples_are_documents_where_that_is_asked_for() {
    let Some(env) = env() else { return };
    let ran = env.run(&["watch", ".", "--every", "100ms", "--for", "300ms", "--json"]).good();
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0]["dirty_bytes"].is_number() && lines[0]["queue_depth"].is_number());
}

#[test]
fn a_watch_ends_cleanly_by_signals_and_where_nobody_reads() {
    let Some(env) = env() else { return };
    for (number, signal) in [(2, Signal::INT), (3, Signal::TERM), (4, Signal::HUP)] {
        let live = started(&env, &[]);
        live.signal(signal);
        live.end().good().says(&[&format!("samples: RUN {number}")]);
    }
    let program = crate::support::PROGRAM;
    let line = format!("{program} watch . --every 100ms | head -2");
    let mut command = env.command_of("/bin/sh", &["-c"]);
    command.arg(line);
    let ran = env.finish(command).good();
    assert_eq!(ran.stdout.lines().count(), 2);
    let states: Vec<RunState> = env.runs().iter().map(|row| row.state).collect();
    assert_eq!(states, [RunState::Done; 5]);
    assert_nothing_left(&env);
}

#[test]
fn a_watch_that_is_killed_is_stored_by_the_next_command() {
    let Some(env) = env() else { return };
    let live = started(&env, &["--title", "to be killed"]);
    // While it lives nobody takes its samples.
    env.run(&["list"]).good().says(&["running"]);
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, None);
    env.run(&["list"]).good().says(&["RUN 2, a watch that was killed after", "interrupted"]);
    env.run(&["show"]).good().says(&["ended without a word", "write MB/s"]);
    let records = env.records(2);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].outcome, Outcome::Interrupted);
    assert!(records[0].phases[0].series.as_ref().unwrap().t_ns.len() >= 3);
    // It is nothing to go on with.
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted"]);
    env.run(&["run", "--resume=2"]).refused(2, &["cannot be run by fsarena"]);
    assert_nothing_left(&env);
}

#[test]
fn what_cannot_be_watched_is_refused_before_anything_is_stored() {
    let env = TestEnv::new();
    let refused = |args: &[&str], words: &[&str]| {
        env.run(&[&["watch"], args].concat()).refused(2, words);
    };
    refused(&["/no/such"], &["/no/such: No such file or directory"]);
    refused(&["/dev/null"], &["/dev/null: is a character device"]);
    refused(&["/proc"], &["/proc: is on proc, which the kernel generates"]);
    refused(&[".", "--every", "50ms"], &["--every 50ms: is under 100ms"]);
    refused(&[".", "--every", "2h"], &["--every 2h: is over 1h"]);
    refused(&[".", "--every", "soon"], &["--every soon"]);
    refused(&[".", "--for", "1s", "--every", "2s"], &["--for 1s: is shorter than --every"]);
    assert!(!env.db().exists(), "nothing was made");
    if fs::read_to_string("/proc/mounts").unwrap().contains(" /dev/shm tmpfs ") {
        refused(&["/dev/shm"], &["/dev/shm: is on tmpfs, which lives in memory"]);
    }
}

#[test]
fn a_database_that_cannot_be_written_is_said_before_anything_is_watched() {
    let Some(env) = env() else { return };
    fs::write(env.path("x"), "no directory").unwrap();
    let db = env.path("x/y.db").display().to_string();
    let started = std::time::Instant::now();
    let ran = env.run(&["watch", ".", "--for", "60s", "--db", &db]);
    ran.refused(1, &["choose a place you may write to with --db"]);
    assert!(started.elapsed().as_secs() < 30);
}
