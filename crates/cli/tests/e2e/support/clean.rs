//! The proof that a test left nothing.

use super::TestEnv;
use super::devices::traces_of;
use fsarena_model::run::RunState;
use fsarena_store::Store;
use std::time::{Duration, Instant};

/// The kernel lets go of a loop device and of a dead process a moment later.
const PATIENCE: Duration = Duration::from_secs(3);

/// No process, mount, loop device, cgroup, instance of tracing, directory, image or journal of this
/// test environment, and a database without a RUN at work or half a record.
#[track_caller]
pub fn assert_nothing_left(env: &TestEnv) {
    let uids = uids_after_check(env);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut left = env.fixture.left(&uids, env.before.as_ref());
        left.extend(traces_of(&uids).iter().map(|name| format!("instance of tracing {name}")));
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind:\n  {}", left.join("\n  "));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ids of the RUNs in the test environment's database, which must be whole. A database that the
/// test has broken on purpose has none.
#[track_caller]
fn uids_after_check(env: &TestEnv) -> Vec<String> {
    if !env.db().exists() {
        return Vec::new();
    }
    let Ok(store) = Store::open_read_only(&env.db()) else { return Vec::new() };
    let runs = store.runs().unwrap();
    for run in &runs {
        assert_ne!(run.state, RunState::Running, "RUN {} is said to be at work", run.id);
        let records = store.records(run.id).unwrap();
        assert_eq!(records.len(), run.trials_done as usize, "half a record in RUN {}", run.id);
        let cut_off = run.note.as_deref().is_some_and(|note| note.starts_with("cut off"));
        assert!(run.state != RunState::Done || run.note.is_none() || cut_off, "{:?}", run.note);
    }
    let journal = env.db().with_extension("db-journal");
    assert!(!journal.exists(), "{} was not rolled back", journal.display());
    runs.into_iter().map(|run| run.uid).collect()
}
