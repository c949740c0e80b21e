//! A worker as the executor hears it: a script in its place.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use fsarena_executor::stop::Stop;
use fsarena_executor::worker::{ReadyWorker, WorkerFailure};
use fsarena_model::cycle::CycleMoment;
use fsarena_model::work::{Task, WorkerSays};
use fsarena_process::program::TrustedProgram;
use fsarena_testkit::records;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const LAP: &str = r#"{"lap":{"number":3,"at":"durable","monotonic_ns":7}}"#;

/// A worker that ends takes all younger children of this process with it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> (MutexGuard<'static, ()>, tempfile::TempDir, Stop) {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    (turn, tempfile::tempdir().unwrap(), Stop::default())
}

/// A worker that does `script` when it is let go.
fn started<'a>(dir: &Path, script: &str, stop: &'a Stop) -> ReadyWorker<'a> {
    let program = dir.join("program");
    let text = format!("read spec\necho '\"ready\"'\nread go\n{script}");
    fsarena_testkit::write_script(&program, &text);
    let spec = records::worker_spec(dir, Task::MakeDirs);
    ReadyWorker::start(&TrustedProgram::at(&program).unwrap(), &spec, stop).unwrap()
}

#[test]
fn laps_are_heard_as_they_are_said() {
    let (_turn, dir, stop) = alone();
    let script = format!("sleep 0.3; echo '{LAP}\n{LAP}'; sleep 0.3; echo '\"made\"'");
    let mut worker = started(dir.path(), &script, &stop);
    worker.let_go();
    assert!(!worker.has_spoken());
    assert_eq!(worker.hear_within(Duration::from_millis(1)).unwrap(), None);
    let long = Duration::from_secs(60);
    let Some(WorkerSays::CycleEvent(event)) = worker.hear_within(long).unwrap() else { panic!() };
    assert_eq!((event.number, event.at, event.monotonic_ns), (3, CycleMoment::Durable, 7));
    assert!(worker.has_spoken(), "both came at once");
    assert!(matches!(worker.hear_within(long).unwrap(), Some(WorkerSays::CycleEvent(_))));
    assert!(!worker.has_spoken());
    assert_eq!(worker.hear_within(long).unwrap(), Some(WorkerSays::Made));
    let failure = worker.hear_within(long).unwrap_err();
    assert!(matches!(failure, WorkerFailure::Ended(_)), "{failure}");
}

#[test]
fn who_waits_for_the_result_alone_hears_no_laps() {
    let (_turn, dir, stop) = alone();
    let mut worker = started(dir.path(), &format!("echo '{LAP}'; echo '\"made\"'"), &stop);
    assert_eq!(worker.go().unwrap(), WorkerSays::Made);
}

#[test]
fn an_answer_has_a_limit_and_a_quotation_is_short() {
    let (_turn, dir, stop) = alone();
    let long = "head -c 200000000 /dev/zero | tr '\\0' x; echo";
    let mut worker = started(dir.path(), long, &stop);
    let failure = worker.go().unwrap_err();
    assert!(matches!(failure, WorkerFailure::TooLong(_)), "{failure:.300}");
    assert!(failure.to_string().contains("more than 64 MiB"), "{failure}");
    drop(worker);
    for end in ["echo '\"}'", "echo '\"'"] {
        let begin = if end.contains('}') { "{\"refused\":\"" } else { "\"" };
        let text = format!("printf '%s' '{begin}'; head -c 99999 /dev/zero | tr '\\0' x; {end}");
        let mut worker = started(dir.path(), &text, &stop);
        let failure = worker.go().unwrap_err().to_string();
        assert!(failure.contains("xxx…") && failure.len() < 5000, "{failure:.300}");
    }
}

#[test]
fn a_stop_is_heard_between_laps() {
    let (_turn, dir, stop) = alone();
    let mut worker = started(dir.path(), &format!("echo '{LAP}'; exec sleep 100"), &stop);
    worker.let_go();
    let long = Duration::from_secs(60);
    assert!(matches!(worker.hear_within(long), Ok(Some(WorkerSays::CycleEvent(_)))));
    let began = Instant::now();
    stop.ask();
    let failure = worker.hear_within(long).unwrap_err();
    assert!(matches!(failure, WorkerFailure::Stopped), "{failure}");
    assert!(began.elapsed() < Duration::from_secs(1));
}
