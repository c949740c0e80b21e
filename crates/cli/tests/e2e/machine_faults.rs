//! Trials that the machine spoils, and not their work: too few file descriptors, a worker that
//! somebody stops. They are done again, or the RUN is interrupted; none of it is a result.

use crate::support::{PROGRAM, TestEnv, assert_nothing_left};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use rustix::process::{Signal, kill_process};
use std::time::Duration;

/// With so few descriptors some limit is met wherever the program opens most files.
#[test]
fn a_limit_of_open_files_interrupts_the_run_and_is_named() {
    let mut interrupted = 0;
    for files in [16, 20, 24, 28, 32] {
        let env = TestEnv::new();
        let target = env.make_dir("target");
        let limited = format!("ulimit -n {files} && exec {PROGRAM} \"$@\"");
        let run = ["run", "--runs", "1", "--seed", "1", "--on", &target, "--scale", "0.02"];
        let words = [&["-c", &limited, "sh"], &run[..], &["--workload", "tiny-files"]].concat();
        let ran = env.finish(env.command_of("sh", &words));
        let said = &ran.stderr;
        let runs = if env.db().exists() { env.runs() } else { vec![] };
        let Some(run) = runs.first() else {
            assert!(said.contains("Too many open files"), "{files}: {said}");
            continue;
        };
        if ran.code == Some(0) {
            let records = env.records(1);
            assert!(records.iter().all(|one| one.outcome == Outcome::Done), "{files}: {said}");
            continue;
        }
        assert_eq!(run.state, RunState::Interrupted, "{files}: {said}");
        let named = format!("limit of open files, which is {files} here (ulimit -n");
        assert!(said.contains(&named), "{files}: {said}");
        interrupted += 1;
        env.run(&["run", "--resume"]).good();
        assert_nothing_left(&env);
        let records = env.records(1);
        assert!(records.iter().all(|one| one.outcome == Outcome::Done), "{files}: {records:?}");
    }
    assert!(interrupted > 0, "no limit was met within a trial");
}

/// A file that may not grow any more ends nothing without a word.
#[test]
fn a_limit_of_the_size_of_files_is_named() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let run = ["run", "--runs", "1", "--on", &target, "--scale", "0.02"];
    let words = ["-c", "ulimit -f 16 && exec \"$@\"", "sh", PROGRAM];
    let ran = env
        .finish(env.command_of("sh", &[&words[..], &run, &["--workload", "tiny-files"]].concat()));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let named = "results.db: a write failed: the device did, or files may not grow so large here";
    assert!(ran.stderr.contains(named), "{}", ran.stderr);
}

#[test]
fn a_phase_whose_worker_was_stopped_is_done_again() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "");
    let mut command = env.command(&["run", &experiment]);
    // Which would believe it.
    command.env_remove("FSARENA_TEST_FAST");
    let mut live = env.start_command(command);
    let worker = live.stop_in_phase(1);
    std::thread::sleep(Duration::from_secs(2));
    kill_process(worker, Signal::CONT).unwrap();
    live.wait_for("was ended by the machine, attempt 1: it is done again");
    live.end().good().says(&["phase create: the worker stood still for about"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.outcome == Outcome::Done));
    let again = records[0].notices.iter().find(|notice| notice.code == "done-again");
    let text = &again.expect("it says so").text;
    assert!(text.contains("phase create: the worker stood still for about"), "{text}");
    assert!(records[1].notices.iter().all(|notice| notice.code != "done-again"));
    env.run(&["show", "1"]).good().says(&["the worker stood still"]);
}
