//! Trials that the machine spoils, and not their work: too few file descriptors. They are done
//! again, or the RUN is interrupted; none of it is a result.

use crate::support::{PROGRAM, TestEnv, assert_nothing_left};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;

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
