//! A database that cannot be written when a trial has been measured: locked, full, or read-only.
//! What was measured is in it afterwards, once.

use crate::support::{Ran, TestEnv, assert_nothing_left, sh};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use rusqlite::Connection;
use rustix::process::{Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two trials of a moment each in a directory.
fn experiment(env: &TestEnv) -> String {
    let target = env.make_dir("target");
    let text = format!(
        "schema = 1\nname = \"two\"\n[run]\nblocks = 2\nseed = 1\n[factors]\n\
         device = \"{target}\"\ncache = \"warm\"\n\
         [[workload]]\nname = \"few\"\nfiles = 100\nsize = \"256 B\"\nphases = [\"create\"]\n"
    );
    env.write("two.toml", &text)
}

/// Locks a database as a program does that is writing to it; until it is dropped.
fn lock(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

/// What is kept in the state directory, or was about to be.
fn kept(state: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(state).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_spooled = |path: &PathBuf| path.to_string_lossy().contains(".spool");
    files.filter(is_spooled).collect()
}

/// RUN 1 stands so, and each of its trials was done once.
#[track_caller]
fn stands(database: &Path, state: RunState, trials: u32) -> Option<String> {
    let store = Store::open_read_only(database).unwrap();
    let attempts = store.attempts(RunId(1)).unwrap();
    let numbers: Vec<(u32, u32)> =
        attempts.iter().map(|(attempt, record)| (record.key.sequence, *attempt)).collect();
    let once: Vec<(u32, u32)> = (0..trials).map(|sequence| (sequence, 1)).collect();
    assert_eq!(numbers, once);
    assert!(attempts.iter().all(|(_, record)| record.outcome == Outcome::Done));
    let row = store.run(RunId(1)).unwrap();
    assert_eq!((row.state, row.trials_done), (state, trials));
    row.note
}

#[test]
fn a_lock_for_the_time_of_a_trial_does_not_end_the_run() {
    let env = TestEnv::new();
    let experiment = experiment(&env);
    let paused = env.pause(&["run", &experiment], "store");
    let lock = lock(&env.db());
    let mut live = paused.release();
    live.wait_for("another program has locked it; trial 1 is kept in");
    assert_eq!(kept(&env.state()).len(), 1);
    drop(lock);
    live.end().good().says(&["1 kept record is stored", "[2/2]"]);
    assert_eq!(stands(&env.db(), RunState::Done, 2), None);
    assert!(kept(&env.state()).is_empty());
    assert_nothing_left(&env);
}

/// Caught in its first trial, locked out of its database, and killed at `place` after it.
fn killed_at(env: &TestEnv, place: &str) {
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "");
    let mut command = env.command(&["run", &experiment, "--scale", "0.4"]);
    command.env("FSARENA_FAULT", format!("hang:{place}"));
    let mut live = env.start_command(command);
    let worker = live.stop_in_phase(1);
    let lock = lock(&env.db());
    kill_process(worker, Signal::CONT).unwrap();
    live.wait_for(&format!("asks for a hang in {place}"));
    live.kill_tree();
    live.end();
    drop(lock);
}

/// Ends a start of the program by SIGKILL at `place`.
fn list_killed_at(env: &TestEnv, place: &str) {
    let mut command = env.command(&["list"]);
    command.env("FSARENA_FAULT", format!("hang:{place}"));
    let mut live = env.start_command(command);
    live.wait_for(&format!("asks for a hang in {place}"));
    live.signal(Signal::KILL);
    live.end();
}

const STORED_NOW: &str = "RUN 1: 1 record that could not be stored before: stored now";

/// On each side of each step between the trial and its row.
#[test]
fn what_is_kept_is_stored_once_whenever_it_is_killed() {
    let env = TestEnv::new();
    killed_at(&env, "spooled");
    let file = kept(&env.state());
    assert_eq!(file.len(), 1);
    list_killed_at(&env, "take-in");
    assert_eq!(kept(&env.state()), file, "not stored, and still kept");
    list_killed_at(&env, "taken-in");
    assert_eq!(kept(&env.state()), file, "stored, and still kept");
    let ran = env.run(&["list"]).good();
    assert!(!ran.stderr.contains("stored now"), "it was before: {}", ran.stderr);
    assert!(kept(&env.state()).is_empty());
    let note = stands(&env.db(), RunState::Interrupted, 1).unwrap();
    assert!(note.contains("could not be written: another program has locked it"), "{note}");
    env.run(&["run", "--resume"]).good().says(&["1 trials are left"]);
    assert_eq!(stands(&env.db(), RunState::Done, 2), None);
    assert_nothing_left(&env);
}

/// Before it is kept it is a trial under way, which leaves nothing.
#[test]
fn what_is_killed_before_it_is_kept_is_done_again() {
    let env = TestEnv::new();
    killed_at(&env, "spool");
    assert!(kept(&env.state()).is_empty());
    env.run(&["run", "--resume"]).good().says(&["2 trials are left"]);
    assert_eq!(stands(&env.db(), RunState::Done, 2), None);
    assert_nothing_left(&env);
}

/// A file that was changed is passed over with one line, and the trial is done again.
#[test]
fn a_file_that_is_damaged_is_passed_over() {
    let env = TestEnv::new();
    killed_at(&env, "spooled");
    let path = kept(&env.state()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ran = env.run(&["run", "--resume"]).good().says(&["2 trials are left"]);
    let said: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(".spool")).collect();
    assert!(said[0].contains("does not fit its SHA-256; it is passed over"), "{said:?}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "it stays");
    assert_eq!(stands(&env.db(), RunState::Done, 2), None);
    fs::remove_file(&path).unwrap();
    assert_nothing_left(&env);
}

/// A small file system in memory; unmounted with the test, whatever comes of it.
struct Small {
    dir: PathBuf,
}

impl Small {
    fn mount(env: &TestEnv, size: &str) -> Self {
        let dir = PathBuf::from(env.make_dir("small"));
        sh(&format!("mount -t tmpfs -o size={size},mode=755 none {}", dir.display()));
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let filled = Command::new("dd")
            .args(["if=/dev/zero", "bs=4096", "status=none"])
            .arg(format!("of={}", self.path("filler").display()))
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!filled.success(), "there was room for more");
    }

    fn make_room(&self) {
        fs::remove_file(self.path("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // Two at most: itself, and over it the one that may only be read.
        for _ in 0..2 {
            let _ = Command::new("umount").arg("-q").arg(&self.dir).status();
        }
    }
}

/// `None`, with the reason printed, where nothing can be mounted.
fn with_small(size: &str) -> Option<(TestEnv, Small)> {
    let env = TestEnv::privileged(&[])?;
    let small = Small::mount(&env, size);
    Some((env, small))
}

/// The RUN ended with one sentence on what is wrong, what is safe and how to go on.
#[track_caller]
fn ended(ran: Ran, words: &[&str]) {
    let all = [words, &["the RUN is interrupted", "`fsarena run --resume` goes on"]].concat();
    let ran = ran.code(1).says(&all);
    let errors = ran.stderr.lines().filter(|line| line.starts_with("fsarena: "));
    assert_eq!(errors.count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("[2/2]"), "it went on: {}", ran.stderr);
}

#[test]
fn loop_a_full_disk_ends_the_run_and_its_record_is_safe() {
    let Some((env, small)) = with_small("4m") else { return };
    let experiment = experiment(&env);
    let db = small.path("results.db");
    let name = db.display().to_string();
    let paused = env.pause(&["run", &experiment, "--db", &name], "store");
    small.fill();
    ended(paused.go_on(), &[&name, "no space left to write", "trial 1 is kept in"]);
    assert_eq!(kept(&env.state()).len(), 1);
    env.run(&["list", "--db", &name])
        .good()
        .says(&["a record that cannot be stored yet: no space left to write; it stays there"]);
    env.run(&["run", "--resume", "--db", &name]).code(1).says(&["no space left to write"]);
    assert_eq!(kept(&env.state()).len(), 1);
    small.make_room();
    env.run(&["list", "--db", &name]).good().says(&[STORED_NOW]);
    let note = stands(&db, RunState::Interrupted, 1).unwrap();
    assert!(note.contains("no space left to write"), "{note}");
    env.run(&["run", "--resume", "--db", &name]).good().says(&["1 trials are left"]);
    assert_eq!(stands(&db, RunState::Done, 2), None);
    assert!(kept(&env.state()).is_empty());
    drop(small);
    assert_nothing_left(&env);
}

/// As a disk is after an error.
#[test]
fn loop_a_database_that_may_only_be_read_by_now() {
    let Some((env, small)) = with_small("4m") else { return };
    let experiment = experiment(&env);
    let db = small.path("results.db");
    let (name, dir) = (db.display().to_string(), small.dir.display().to_string());
    let paused = env.pause(&["run", &experiment, "--db", &name], "store");
    // Journals of SQLite are made by their path.
    sh(&format!("mount --bind {dir} {dir} && mount -o remount,bind,ro {dir}"));
    ended(paused.go_on(), &[&name, "it cannot be written", "trial 1 is kept in"]);
    env.run(&["list", "--db", &name]).good().says(&["a record that cannot be stored yet"]);
    assert_eq!(kept(&env.state()).len(), 1);
    sh(&format!("umount {dir}"));
    let ran = env.run(&["run", "--resume", "--db", &name]).good();
    ran.says(&[STORED_NOW, "1 trials are left"]);
    assert_eq!(stands(&db, RunState::Done, 2), None);
    assert!(kept(&env.state()).is_empty());
    drop(small);
    assert_nothing_left(&env);
}

/// Both on one disk: nothing can be kept, which is said, and nothing half-made is left.
#[test]
fn loop_no_room_for_the_record_anywhere() {
    let Some((env, small)) = with_small("4m") else { return };
    let experiment = experiment(&env);
    let (db, state) = (small.path("results.db"), small.path("state"));
    let name = db.display().to_string();
    let command = |args: &[&str]| {
        let mut command = env.command(&[args, &["--db", &name]].concat());
        command.env("FSARENA_STATE_DIR", &state);
        command
    };
    let paused = env.pause_command(command(&["run", &experiment]), "store");
    small.fill();
    let words = ["no space left to write", "trial 1 could not be kept in", "must be done again"];
    ended(paused.go_on(), &[&words[..], &[name.as_str(), "No space left on device"]].concat());
    let left = || fs::read_dir(&state).unwrap().count();
    assert_eq!(left(), 0);
    small.make_room();
    env.finish(command(&["run", "--resume"])).good().says(&["2 trials are left"]);
    assert_eq!(stands(&db, RunState::Done, 2), None);
    assert_eq!(left(), 0);
    drop(small);
    assert_nothing_left(&env);
}

/// What fills the disk may be what the RUN has made itself: its record is stored at the end.
#[test]
fn loop_a_disk_that_the_run_itself_has_filled() {
    let Some((env, small)) = with_small("24m") else { return };
    let target = small.path("target");
    fs::create_dir(&target).unwrap();
    let text = format!(
        "schema = 1\nname = \"large\"\n[run]\nblocks = 2\nseed = 1\n[factors]\n\
         device = \"{}\"\ncache = \"warm\"\n\
         [[workload]]\nname = \"one\"\nfiles = 1\nsize = \"8 MiB\"\nphases = [\"big-write\"]\n",
        target.display()
    );
    let experiment = env.write("large.toml", &text);
    let (db, state) = (small.path("results.db"), small.path("state"));
    let name = db.display().to_string();
    let mut command = env.command(&["run", &experiment, "--db", &name]);
    command.env("FSARENA_STATE_DIR", &state);
    let paused = env.pause_command(command, "store");
    small.fill();
    ended(paused.go_on(), &["no space left to write", "all that was measured is stored by now"]);
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
    small.make_room();
    let note = stands(&db, RunState::Interrupted, 1).unwrap();
    assert!(note.contains("no space left to write; 1 of at most 2 trials done"), "{note}");
    drop(small);
    assert_nothing_left(&env);
}

/// Before the first trial: the journal cannot be written, and nothing of it is left.
#[test]
fn loop_no_room_for_the_journal() {
    let Some((env, small)) = with_small("64k") else { return };
    let experiment = experiment(&env);
    let state = small.path("state");
    fs::create_dir(&state).unwrap();
    small.fill();
    let start = |args: &[&str]| {
        let mut command = env.command(args);
        command.env("FSARENA_STATE_DIR", &state);
        env.finish(command)
    };
    start(&["run", &experiment]).refused(1, &["No space left on device", "FSARENA_STATE_DIR"]);
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
    drop(small);
    assert_nothing_left(&env);
}
