//! `fsarena merge`: RUNs of other databases, taken whole, skipped or refused, each with a word.

use crate::support::{TestEnv, assert_nothing_left, store_by_hand};
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use rustix::process::Signal;
use std::fs;
use std::path::Path;

const WORK: [&str; 8] =
    ["run", "--runs", "1", "--on", "target", "--workload", "tiny-files", "--scale"];

/// A test environment with one RUN, and another one in `other.db`.
fn two_machines() -> (TestEnv, String) {
    let env = TestEnv::new();
    env.make_dir("target");
    let other = env.path("other.db").display().to_string();
    env.run(&[&WORK[..], &["0.01"]].concat()).good();
    env.run(&[&WORK[..], &["0.02", "--db", &other]].concat()).good();
    (env, other)
}

/// A database of which a RUN was interrupted.
fn interrupted(env: &TestEnv, name: &str) -> String {
    store_by_hand(&env.path(name), |_| ());
    env.path(name).display().to_string()
}

#[test]
fn runs_of_another_machine() {
    let (env, other) = two_machines();
    let before = fs::read(&other).unwrap();
    let ran = env.run(&["merge", &other]).good();
    ran.says(&["other.db: 1 RUN taken", "what became of it"]);
    assert!(fs::read(&other).unwrap() == before, "the other database was changed");
    let runs = env.runs();
    let there = Store::open_read_only(Path::new(&other)).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].merged, runs[1].merged), (false, true));
    assert_eq!(runs[1].uid, there.runs().unwrap()[0].uid);
    assert_eq!(env.records(2), there.records(RunId(1)).unwrap());
    env.run(&["show", "2"]).good().says(&["tiny-files"]);
    // Our own is still the latest.
    assert_eq!(env.run(&["show", "--json"]).good().json()["run"]["uid"], runs[0].uid.as_str());

    let again = env.run(&["merge", &other, "--json"]).good().json();
    assert_eq!(again["kind"], "merge");
    let run = &again["databases"][0]["runs"][0];
    assert_eq!((run["fate"].as_str(), run["here"].as_i64()), (Some("same"), Some(2)));
    assert_eq!(run["trials_done"], 1);
    env.run(&["merge", &other]).good().says(&["0 RUNs taken, 1 here already", "the same"]);
    assert_eq!(env.runs().len(), 2);
    assert_nothing_left(&env);
}

#[test]
fn several_databases_into_a_new_one() {
    let (env, other) = two_machines();
    let ours = env.db().display().to_string();
    let all = env.path("all.db").display().to_string();
    let old = interrupted(&env, "old.db");
    let ran = env.run(&["merge", "--db", &all, &ours, &other, &old]).good();
    ran.says(&["results.db: 1 RUN taken", "other.db: 1 RUN taken", "old.db: 1 RUN taken"]);
    // The old one does not say on which machine it was: more than one, so that they are named.
    env.run(&["list", "--db", &all]).good().says(&["host", "sample"]);
    env.run(&["show", "3", "--db", &all]).good();
    assert_nothing_left(&env);
}

#[test]
fn what_was_interrupted_elsewhere_is_not_resumed_here() {
    let env = TestEnv::new();
    let old = interrupted(&env, "old.db");
    let before = fs::read(&old).unwrap();
    env.run(&["merge", &old]).good().says(&["1 RUN taken", "sample"]);
    assert!(fs::read(&old).unwrap() == before, "it was changed");
    let records = Store::open_read_only(Path::new(&old)).unwrap().records(RunId(1)).unwrap();
    assert_eq!(env.records(1), records);
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted"]);
    env.run(&["run", "--resume=1"]).refused(2, &["fsarena merge", "where it started"]);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_nothing_left(&env);
}

/// Each of them refused with one line, and not a byte of ours changed, whatever stands before it.
#[test]
fn what_is_no_other_database() {
    let (env, good) = two_machines();
    let whole = fs::read(&good).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        fs::write(env.path(name), bytes).unwrap();
        env.path(name).display().to_string()
    };
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    let mut foreign = whole.clone();
    foreign[68..72].copy_from_slice(&7u32.to_be_bytes());
    let ours = env.db().display().to_string();
    let missing = env.path("none.db").display().to_string();
    let cases = [
        (file("newer.db", &newer), "newer fsarena (schema 99"),
        (file("foreign.db", &foreign), "not one of fsarena"),
        (file("letter.db", &b"no database at all\n".repeat(100)), "not a database"),
        (file("short.db", &whole[..whole.len() / 2]), "damaged"),
        (missing.clone(), "there is no database"),
        (env.make_dir("directory"), "no file that could be a database"),
        (ours.clone(), "the database to merge into"),
    ];
    let before = fs::read(&ours).unwrap();
    for (bad, words) in &cases {
        env.run(&["merge", bad]).refused(1, &[words]);
        assert!(fs::read(&ours).unwrap() == before, "{words}");
        if *bad != ours {
            env.run(&["merge", &good, bad]).refused(1, &[words]);
            assert!(fs::read(&ours).unwrap() == before, "{words}: the first was taken");
        }
    }
    assert!(!Path::new(&missing).exists());
    let new = env.path("new.db").display().to_string();
    env.run(&["merge", "--db", &new, &missing]).refused(1, &["there is no database"]);
    assert!(!Path::new(&new).exists(), "no database is made for nothing");
    env.run(&["merge"]).code(2).says(&["OTHER.db"]);
    assert_nothing_left(&env);
}

/// At work: skipped. Killed: taken as interrupted. Gone on with: said, and left as it is here.
#[test]
fn a_run_that_is_at_work() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let other = env.path("other.db").display().to_string();
    let experiment = env.long_experiment("", &target, "");
    let mut live = env.start(&["run", &experiment, "--db", &other]);
    live.stop_in_phase(1);
    let ran = env.run(&["merge", &other]).good();
    ran.says(&["0 RUNs taken, 1 skipped", "still running there", "merge again when it has ended"]);
    assert_eq!(env.runs(), []);
    live.signal_tree(Signal::KILL);
    live.end();
    env.run(&["list", "--db", &other]).good().says(&["interrupted"]);
    env.run(&["merge", &other]).good().says(&["1 RUN taken"]);

    env.run(&["run", "--resume", "--db", &other]).good();
    let ran = env.run(&["merge", &other]).good();
    ran.says(&["0 RUNs taken, 1 here already", "2 records more there", "start a new database"]);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    let new = env.path("new.db").display().to_string();
    let ours = env.db().display().to_string();
    let ran = env.run(&["merge", "--db", &new, &other, &ours]).good();
    ran.says(&["1 RUN taken", "here already, with 2 records more"]);
    assert_nothing_left(&env);
}

/// The same RUN gone on with in two copies of its database: neither overwrites the other.
#[test]
fn a_run_that_differs_is_refused() {
    let env = TestEnv::new();
    let ours = interrupted(&env, "ours.db");
    let theirs = env.path("theirs.db").display().to_string();
    fs::copy(&ours, &theirs).unwrap();
    for (path, elapsed_ns) in [(&ours, 1), (&theirs, 2)] {
        let store = Store::open(Path::new(path)).unwrap();
        let header = store.header(RunId(1)).unwrap();
        let mut record = store.records(RunId(1)).unwrap().remove(2);
        record.key = fsarena_model::spec::TrialKey::new(&header, 3);
        record.elapsed_ns = elapsed_ns;
        store.put_record(RunId(1), &record).unwrap();
    }
    let before = (fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
    let ran = env.run(&["merge", "--db", &ours, &theirs]).code(1);
    ran.says(&["0 RUNs taken, 1 refused", "attempt 1 at its trial 3 is another", "both stay"]);
    assert!((fs::read(&ours).unwrap(), fs::read(&theirs).unwrap()) == before, "a file changed");
}
