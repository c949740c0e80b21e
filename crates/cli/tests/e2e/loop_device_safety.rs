//! Stopped, broken and killed runs leave nothing, and what was measured before is kept.

use crate::support::{Live, Ran, TestEnv, assert_nothing_left, device_of, stands_for_others};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use fsarena_store::Store;
use rustix::process::Signal;
use std::fs;

/// How a run is killed.
#[derive(Clone, Copy)]
enum Kill {
    /// The program alone; its children die with it.
    Parent,
    /// Its process group, as a terminal or a service manager does it.
    Group,
    /// It and everything it started.
    Tree,
}

/// A device on which the plan lets the long work be done: btrfs keeps both of what is rewritten.
fn roomy(fs: &str) -> &'static str {
    if fs == "btrfs" { "loop:320M" } else { device_of(fs) }
}

fn kill(live: &Live<'_>, how: Kill) {
    match how {
        Kill::Parent => live.signal(Signal::KILL),
        Kill::Group => live.signal_group(Signal::KILL),
        Kill::Tree => live.kill_tree(),
    }
}

/// Kills a run of `fs` in the middle of the timed phase of its second trial; the next start undoes
/// everything, and the first trial can be read.
fn killed(env: &TestEnv, args: &[&str], how: Kill) {
    let mut live = env.start(args);
    live.stop_in_phase(2);
    kill(&live, how);
    assert_eq!(live.end().code, None, "killed by a signal");
    let journals = fs::read_dir(env.state()).unwrap().count();
    assert!(journals >= 2, "journal and directory are there to be undone");
    let ran = env.run(&["list", "--json"]).good().says(&["cleaned up after a killed run"]);
    let list = ran.json();
    assert_eq!(list["runs"][0]["state"], "interrupted", "{list}");
    assert_kept(env);
    assert_nothing_left(env);
    env.run(&["list"]).good();
    assert_nothing_left(env);
}

/// RUN 1 is interrupted, and its first trial is whole.
#[track_caller]
fn assert_kept(env: &TestEnv) -> Vec<TrialRecord> {
    let runs = env.runs();
    assert_eq!(runs[0].state, RunState::Interrupted);
    let records = env.records(1);
    assert_eq!(records[0].outcome, Outcome::Done);
    assert_eq!(records[0].phases[0].ops, 20_000);
    records
}

fn killed_on(fs: &str, how: Kill) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let experiment = env.long_experiment(fs, roomy(fs), "");
    killed(&env, &["run", &experiment], how);
}

/// Journal and namespaces know no file system: some stand for all.
fn killed_of_many(fs: &str, how: Kill) {
    if stands_for_others(fs) {
        killed_on(fs, how);
    }
}

fn killed_in_directory(how: Kill) {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "");
    killed(&env, &["run", &experiment], how);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "the user's directory is as it was");
}

macro_rules! killed {
    ($($fs:ident: $parent:ident $tree:ident;)*) => {$(
        #[test]
        fn $parent() { killed_of_many(stringify!($fs), Kill::Parent) }
        #[test]
        fn $tree() { killed_of_many(stringify!($fs), Kill::Tree) }
    )*};
}

killed! {
    ext2: killed_parent_ext2 killed_tree_ext2;
    ext3: killed_parent_ext3 killed_tree_ext3;
    ext4: killed_parent_ext4 killed_tree_ext4;
    xfs: killed_parent_xfs killed_tree_xfs;
    btrfs: killed_parent_btrfs killed_tree_btrfs;
    tmpfs: killed_parent_tmpfs killed_tree_tmpfs;
}

#[test]
fn killed_group_ext4() {
    killed_on("ext4", Kill::Group);
}

#[test]
fn killed_parent_directory() {
    killed_in_directory(Kill::Parent);
}

#[test]
fn killed_tree_directory() {
    killed_in_directory(Kill::Tree);
}

#[test]
fn killed_with_a_memory_limit() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    killed(&env, &["run", &experiment, "--memory", "64M"], Kill::Parent);
}

/// Also outside of a timed phase: at the beginning of each other step.
#[test]
fn killed_at_each_step() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    for step in ["reset", "mount", "settle", "chill", "measure", "teardown"] {
        let cache = if step == "settle" { "warm" } else { "cold" };
        let mut command = env.command(&["run", &experiment, "--scale", "0.05", "--cache", cache]);
        command.env("FSARENA_FAULT", format!("hang:{step}"));
        let mut live = env.start_command(command);
        live.wait_for("asks for a hang");
        kill(&live, Kill::Parent);
        live.end();
        env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
        assert_nothing_left(&env);
    }
    assert!(env.runs().iter().all(|run| run.state == RunState::Interrupted));
}

/// While the image is being written there is no trial yet.
#[test]
fn killed_while_the_image_is_written() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:512M", "");
    let mut live = env.start(&["run", &experiment]);
    live.image_begun();
    kill(&live, Kill::Parent);
    live.end();
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].trials_done, 0);
}

#[test]
fn ctrl_c_while_the_image_is_written() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:512M", "");
    let mut live = env.start(&["run", &experiment]);
    live.image_begun();
    live.signal_group(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_eq!(env.runs()[0].trials_done, 0);
}

/// The next start may as well be another run, also of an image in memory.
#[test]
fn killed_and_followed_by_a_run() {
    let Some(env) = TestEnv::privileged(&["ext4", "tmpfs"]) else { return };
    let experiment = env.long_experiment("ext4", "ram:128M", "");
    let mut live = env.start(&["run", &experiment]);
    live.stop_in_phase(2);
    kill(&live, Kill::Parent);
    live.end();
    let small = ["--fs", "tmpfs", "--on", "ram:64M", "--workload", "tiny-files", "--scale", "0.01"];
    env.run_once(&small).good().says(&["cleaned up after a killed run"]);
    assert_kept(&env);
    assert_eq!(env.runs()[1].state, RunState::Done);
    assert_nothing_left(&env);
}

/// Stops a run in its second trial by `stop`; it takes everything down itself.
fn stopped(fs: &str, stop: fn(&Live<'_>)) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let experiment = env.long_experiment(fs, roomy(fs), "");
    let mut live = env.start(&["run", &experiment]);
    live.stop_in_phase(2);
    stop(&live);
    let ran = live.end().code(130).says(&["interrupted; the trials that were done are stored"]);
    assert!(!ran.stderr.contains("left behind"), "{}", ran.stderr);
    // Before any other start: this one did it all itself.
    assert_nothing_left(&env);
    let records = assert_kept(&env);
    assert_eq!(records.len(), 2);
    assert_eq!(records[1].outcome, Outcome::Interrupted);
    assert!(records[1].phases.is_empty(), "half a phase is no measurement");
}

#[test]
fn ctrl_c_of_the_program() {
    stopped("ext4", |live| live.signal(Signal::INT));
}

#[test]
fn ctrl_c_of_its_group() {
    stopped("xfs", |live| live.signal_group(Signal::INT));
}

#[test]
fn terminated() {
    stopped("btrfs", |live| live.signal(Signal::TERM));
}

#[test]
fn hung_up() {
    stopped("tmpfs", |live| live.signal(Signal::HUP));
}

/// As a service manager or the end of a session does it: every process gets the signal, the
/// innermost first.
#[test]
fn terminated_with_all_that_belongs_to_it() {
    stopped("ext4", |live| live.signal_tree(Signal::TERM));
}

#[test]
fn hung_up_with_all_that_belongs_to_it() {
    stopped("xfs", |live| live.signal_tree(Signal::HUP));
}

/// An executor that does not listen is killed by the second Ctrl-C.
#[test]
fn ctrl_c_twice() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    let mut command = env.command(&["run", &experiment]);
    command.env("FSARENA_FAULT", "hang:measure");
    let mut live = env.start_command(command);
    live.wait_for("asks for a hang");
    live.signal(Signal::INT);
    live.wait_for("stopping");
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(live.executors().len(), 2, "the first one is obeyed by who listens");
    let second = std::time::Instant::now();
    live.signal(Signal::INT);
    live.end().code(130);
    assert!(second.elapsed().as_secs() < 5, "at once: {:?}", second.elapsed());
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
}

/// A small run of one trial with a fault.
fn faulty(env: &TestEnv, fault: &str, args: &[&str]) -> Ran {
    let all = ["run", "--runs", "1", "--workload", "tiny-files", "--scale", "0.02"];
    let mut command = env.command(&[&all, args].concat());
    command.env("FSARENA_FAULT", fault);
    env.finish(command)
}

fn executor_panics_at(step: &str) {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    faulty(&env, &format!("panic:{step}"), &["--fs", "ext4", "--on", "loop:128M"])
        .code(1)
        .says(&["asks for a panic", "the executor ended without a record"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Done);
    let records = env.records(1);
    assert!(matches!(&records[0].outcome, Outcome::Failed { step, .. } if step == "executor"));
}

#[test]
fn executor_panics_at_reset() {
    executor_panics_at("reset");
}

#[test]
fn executor_panics_at_mount() {
    executor_panics_at("mount");
}

#[test]
fn executor_panics_at_chill() {
    executor_panics_at("chill");
}

#[test]
fn executor_panics_at_measure() {
    executor_panics_at("measure");
}

/// The runner panics after a trial: a RUN stored before is whole, and the next start tidies up.
#[test]
fn runner_panics() {
    let Some(env) = TestEnv::privileged(&["ext4", "tmpfs"]) else { return };
    faulty(&env, "", &["--fs", "tmpfs", "--on", "ram:64M"]).good();
    let args = ["--fs", "ext4", "--on", "loop:128M", "--memory", "64M"];
    faulty(&env, "panic:store", &args).code(101).says(&["asks for a panic"]);
    env.run(&["list"]).good();
    assert_nothing_left(&env);
    let states: Vec<_> = env.runs().iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Done, RunState::Interrupted]);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

/// A trial of which the executor is killed is done again, and the run goes on with the others.
fn executor_killed(which: usize, fs: &str, on: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let experiment = env.long_experiment(fs, on, "");
    let both = format!("{fs},{fs}:noatime");
    let args = ["run", &experiment, "--fs", &both, "--runs", "1"];
    let mut live = env.start(&args);
    live.stop_in_phase(1);
    let executors = live.executors();
    assert_eq!(executors.len(), 2, "an outer and an inner one");
    rustix::process::kill_process(executors[which], Signal::KILL).unwrap();
    live.end().good().says(&["was ended by the machine, attempt 1: it is done again"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert!(records.iter().all(|record| record.outcome == Outcome::Done), "{records:?}");
    let store = Store::open_read_only(&env.db()).unwrap();
    let attempts = store.attempts(env.runs()[0].id).unwrap();
    assert_eq!(attempts.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 1]);
    let has = |record: &TrialRecord, code: &str| {
        let text = "the executor ended without a record";
        record.notices.iter().any(|it| it.code == code && it.text.contains(text))
    };
    let (first, second) = (&attempts[0].1, &attempts[1].1);
    assert!(has(first, "ended-by-machine") && !has(first, "done-again"), "{first:?}");
    assert!(has(second, "done-again") && !has(second, "ended-by-machine"), "{second:?}");
}

#[test]
fn outer_executor_killed() {
    executor_killed(0, "ext4", "loop:128M");
}

#[test]
fn inner_executor_killed() {
    executor_killed(1, "ext4", "loop:128M");
}

/// The next trial waits for each device, and finds no name of theirs with the kernel.
#[test]
fn executor_on_several_devices_killed() {
    executor_killed(1, "btrfs", "loop:160M*2");
}

/// A trial of which the worker is killed is done again.
#[test]
fn worker_killed() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    let mut live = env.start(&["run", &experiment, "--runs", "2"]);
    let worker = live.stop_in_phase(2);
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    let told = "many on ext4 was ended by the machine, attempt 1: it is done again";
    live.end().good().says(&[told]);
    assert_nothing_left(&env);
    assert!(env.records(1).iter().all(|record| record.outcome == Outcome::Done));
}

/// So it is in a set-up step, where any other failure gives the pair up for the rest of the RUN.
#[test]
fn worker_killed_in_set_up() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let text = "schema = 1\nname = \"wide\"\n[run]\nblocks = 2\nseed = 1\n[factors]\n\
                fs = \"ext4\"\ndevice = \"loop:512M\"\n[[workload]]\nname = \"wide\"\n\
                files = 14000\ndirs = 14000\nsize = \"256 B\"\nphases = [\"create\"]\n";
    let experiment = env.write("wide.toml", text);
    let mut live = env.start(&["run", &experiment]);
    live.wait_for("[1/2]");
    let worker = live.poll("worker in make-dirs", |live| {
        let worker = live.worker()?;
        let mut names = fs::read_dir(format!("/proc/{}/cwd", worker.as_raw_nonzero())).ok()?;
        names.any(|name| name.is_ok_and(|it| it.file_name() == "d00000")).then_some(worker)
    });
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    live.end().good().says(&["wide on ext4 was ended by the machine, attempt 1: it is done again"]);
    assert_nothing_left(&env);
    let store = Store::open_read_only(&env.db()).unwrap();
    let attempts = store.attempts(env.runs()[0].id).unwrap();
    let steps = &attempts[0].1.steps;
    assert_eq!(steps.last().map(|step| &*step.step), Some("make-dirs"), "{steps:?}");
    let outcomes: Vec<&Outcome> = attempts.iter().map(|(_, record)| &record.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Interrupted, &Outcome::Done, &Outcome::Done]);
}

/// What is killed each time interrupts the RUN; a resume tries once more, and then it counts as
/// failed.
#[test]
fn killed_in_each_attempt() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    // Hangs in a set-up step, whose failures are not tried again otherwise.
    let kill_each = |args: &[&str], attempts: &[&str]| {
        let mut command = env.command(args);
        command.env("FSARENA_FAULT", "hang:mount");
        let mut live = env.start_command(command);
        let mut killed = Vec::new();
        for attempt in attempts {
            let inner = live.poll("inner executor", |live| {
                let all = live.executors();
                all.get(1).copied().filter(|pid| !killed.contains(pid))
            });
            rustix::process::kill_process(inner, Signal::KILL).unwrap();
            killed.push(inner);
            live.wait_for(&format!("was ended by the machine, {attempt}"));
        }
        live.end()
    };
    let thrice = ["attempt 1: it is done again", "attempt 2", "attempt 3: the RUN is interrupted"];
    kill_each(&["run", &experiment, "--runs", "1"], &thrice).code(130);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    kill_each(&["run", "--resume"], &["attempt 4: it counts as failed"]).code(1);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Done);
    let records = env.records(1);
    assert!(matches!(&records[0].outcome, Outcome::Failed { .. }), "{records:?}");
}

/// Beside a live run others list and run; they take down what a dead one left, and nothing else.
#[test]
fn a_live_run_is_left_alone() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    let experiment = env.long_experiment("ext4", "loop:128M", "");
    let mut dead = env.start(&["run", &experiment]);
    dead.stop_in_phase(1);
    kill(&dead, Kill::Tree);
    dead.end();
    let mut first = env.start(&["run", &experiment]);
    let worker = first.stop_in_phase(1);
    assert_eq!(env.fixture.processes().len(), 4, "run, two executors, worker");
    let list = env.run(&["list", "--json"]).good().json();
    let states: Vec<_> = (0..2).map(|n| list["runs"][n]["state"].clone()).collect();
    assert_eq!(states, ["interrupted", "running"], "{list}");
    let small = ["--workload", "tiny-files", "--scale", "0.02"];
    let xfs = [&["--fs", "xfs", "--on", "loop:300M"], &small[..]].concat();
    let second = env.run_once(&xfs).good();
    assert!(!second.stderr.contains("removed"), "{}", second.stderr);
    env.run(&["show", "2", "--json"]).good();
    assert_eq!(env.fixture.processes().len(), 4, "it still works");
    rustix::process::kill_process(worker, Signal::CONT).unwrap();
    first.end().good();
    assert_nothing_left(&env);
    assert_eq!(env.runs()[1].state, RunState::Done);
    let records = env.records(2);
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.outcome == Outcome::Done));
    assert!(records.iter().all(|record| record.phases[0].ops == 20_000));
}
