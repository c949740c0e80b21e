//! What is kept while the database is locked, gone or full, and what a later start makes of it.

use super::*;
use fsarena_model::record::Outcome;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_testkit::records;
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

/// A RUN of nine trials, its database and its state directory.
struct Scene {
    dir: tempfile::TempDir,
    header: RunHeader,
    store: Store,
    run: RunId,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 40);
        let (store, run) = store_with(&dir.path().join("results.db"), &header);
        fs::create_dir(dir.path().join("state")).unwrap();
        Self { dir, header, store, run }
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn database(&self) -> PathBuf {
        self.dir.path().join("results.db")
    }

    fn spool(&self) -> Spool {
        Spool::new(&self.state(), &self.database(), self.run, &self.header.uid)
    }

    fn record(&self, sequence: u32) -> TrialRecord {
        records::record(&self.header, sequence)
    }

    /// Locks the database until it is dropped.
    fn lock(&self) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
        connection
    }

    /// Keeps these while the database is locked, and dies.
    fn died_with(&self, records: &[TrialRecord]) {
        let (lock, mut spool) = (self.lock(), self.spool());
        for record in records {
            assert!(spool.put_record(&self.store, record).unwrap().is_some());
        }
        drop(lock);
    }

    fn files(&self) -> Vec<PathBuf> {
        crate::journal::files(&self.state()).unwrap()
    }

    fn take_in(&self) -> TakenIn {
        let taken = take_in(&self.state(), &self.store).unwrap();
        assert!(taken.refused.is_none(), "{taken:?}");
        taken
    }

    /// What one start says that it has passed over.
    #[track_caller]
    fn passed_over(&self) -> String {
        let taken = self.take_in();
        assert!(taken.stored.is_empty() && taken.removed.is_empty(), "{taken:?}");
        let [line] = taken.passed_over.as_slice() else { panic!("{taken:?}") };
        assert_eq!(line.lines().count(), 1);
        line.clone()
    }

    fn sequences(&self) -> Vec<u32> {
        let attempts = self.store.attempts(self.run).unwrap();
        attempts.iter().map(|(_, record)| record.key.sequence).collect()
    }
}

fn store_with(path: &Path, header: &RunHeader) -> (Store, RunId) {
    let store = Store::open(path).unwrap();
    store.wait_for_lock(Duration::from_millis(20)).unwrap();
    let owner = fsarena_store::Owner { pid: 1, start_ticks: 0, boot_id: "b".to_owned() };
    let run = store.create_run(header, &owner).unwrap();
    (store, run)
}

#[track_caller]
fn rest_of(spool: &Spool, error: RunError) -> String {
    let RunError::Unstored { rest, .. } = spool.explained(error) else { panic!("another error") };
    rest
}

#[test]
fn what_is_measured_while_the_database_is_locked_is_stored_in_order() {
    let scene = Scene::new();
    let mut spool = scene.spool();
    assert_eq!(spool.put_record(&scene.store, &scene.record(0)).unwrap(), None);
    let lock = scene.lock();
    for sequence in [1, 2] {
        let said = spool.put_record(&scene.store, &scene.record(sequence)).unwrap().unwrap();
        let words = format!("another program has locked it; trial {} is kept in", sequence + 1);
        assert!(said.contains(&words), "{said}");
    }
    assert_eq!(scene.files().len(), 2);
    assert!(take_in(&scene.state(), &scene.store).unwrap().stored.is_empty(), "its RUN lives");
    drop(lock);
    let said = spool.put_record(&scene.store, &scene.record(3)).unwrap().unwrap();
    assert!(said.contains("2 kept records are stored"), "{said}");
    assert_eq!(scene.store.records(scene.run).unwrap(), [0, 1, 2, 3].map(|n| scene.record(n)));
    assert_eq!(scene.files(), [""; 0].map(PathBuf::from));
}

/// A lock that does not end ends the RUN; all that was measured is safe.
#[test]
fn a_lock_is_not_gone_on_with_for_ever() {
    let scene = Scene::new();
    let (_lock, mut spool) = (scene.lock(), scene.spool());
    let last = u32::try_from(LOCKED_MAX).unwrap() - 1;
    for sequence in 0..last {
        assert!(spool.put_record(&scene.store, &scene.record(sequence)).unwrap().is_some());
    }
    let error = spool.put_record(&scene.store, &scene.record(last)).unwrap_err();
    let rest = rest_of(&spool, error);
    assert!(rest.starts_with("16 records are kept in"), "{rest}");
    assert_eq!(scene.files().len(), LOCKED_MAX);
}

#[test]
fn a_look_waits_for_the_lock_and_a_stop_does_not() {
    let scene = Scene::new();
    let mut spool = scene.spool();
    let lock = scene.lock();
    let look = InterimAnalysis { blocks: 2, at_unix_ns: 7, decided: Vec::new() };
    spool.put_look(&scene.store, &look).unwrap();
    let stop = Stop { blocks: 2, why: fsarena_model::verdict::StopWhy::Cap };
    let error = spool.set_stop(&scene.store, stop).unwrap_err();
    assert!(rest_of(&spool, error).starts_with("all that was measured is stored"));
    drop(lock);
    spool.set_stop(&scene.store, stop).unwrap();
    assert_eq!(scene.store.looks(scene.run).unwrap(), [look]);
}

/// Where the files cannot be written either, it is stored when there is room again before the end.
#[test]
fn what_cannot_be_kept_either_ends_the_run() {
    let scene = Scene::new();
    fs::remove_dir(scene.state()).unwrap();
    let (lock, mut spool) = (scene.lock(), scene.spool());
    let error = spool.put_record(&scene.store, &scene.record(0)).unwrap_err();
    let RunError::Unstored { database, cause, .. } = &error else { panic!("{error}") };
    assert_eq!((database, &**cause), (&scene.database(), "another program has locked it"));
    let rest = rest_of(&spool, error);
    assert!(rest.starts_with("trial 1 could not be kept in") && rest.contains("either"), "{rest}");
    assert!(spool.flush(&scene.store).is_err());
    drop(lock);
    spool.flush(&scene.store).unwrap();
    assert_eq!(scene.sequences(), [0]);
    assert!(spool.rest().starts_with("all that was measured is stored by now"));
}

#[test]
fn what_a_dead_run_has_kept_is_taken_in_once() {
    let scene = Scene::new();
    let mut interrupted = scene.record(1);
    interrupted.outcome = Outcome::Interrupted;
    scene.died_with(&[scene.record(0), interrupted]);
    let copies: Vec<(PathBuf, Vec<u8>)> =
        scene.files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert_eq!(copies.len(), 2);
    assert_eq!(scene.take_in().stored[&scene.run], 2);
    assert_eq!(scene.sequences(), [0, 1]);
    assert!(scene.files().is_empty());
    let row = scene.store.run(scene.run).unwrap();
    assert_eq!(row.state, RunState::Interrupted);
    assert!(row.note.unwrap().ends_with("another program has locked it"));
    // As if it had died before it removed them.
    copies.iter().for_each(|(path, bytes)| {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    });
    assert_eq!(scene.take_in().stored[&scene.run], 0);
    assert_eq!(scene.sequences(), [0, 1]);
    assert!(scene.files().is_empty());
}

#[test]
fn what_is_half_made_is_taken_in_if_it_is_whole() {
    let scene = Scene::new();
    scene.died_with(&[scene.record(0)]);
    let path = scene.files().remove(0);
    let whole = fs::read(&path).unwrap();
    let half_made = state_file::temporary(&path);
    fs::rename(&path, &half_made).unwrap();
    assert!(crate::journal::orphans(&scene.state(), &mut Vec::new()).unwrap().is_empty());
    assert_eq!(scene.take_in().stored[&scene.run], 1);
    assert_eq!(scene.sequences(), [0]);
    fs::write(&half_made, &whole[..whole.len() / 2]).unwrap();
    fs::set_permissions(&half_made, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(scene.take_in().removed.is_empty(), "it may be being written");
    let file = File::options().write(true).open(&half_made).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    drop(file);
    assert_eq!(scene.take_in().removed, [half_made]);
    assert!(scene.files().is_empty());
}

#[test]
fn what_cannot_be_believed_is_passed_over_and_stays() {
    let scene = Scene::new();
    scene.died_with(&[scene.record(0)]);
    let path = scene.files().remove(0);
    let whole = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(scene.passed_over().contains("another user owns it or may write it"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert!(scene.passed_over().contains("does not fit its SHA-256"));
    assert_eq!(fs::read(&path).unwrap(), changed);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(scene.passed_over().contains("a symbolic link"));
    assert!(scene.sequences().is_empty());
}

/// Each is whole, and no trial of this RUN.
#[test]
fn what_does_not_fit_the_plan_is_passed_over_and_stays() {
    type Change = fn(&mut TrialRecord);
    let changes: [(&str, Change); 4] = [
        ("no such trial", |record| record.key.sequence = 999),
        ("its contender is", |record| record.key.contender.0 = "ffff".to_owned()),
        ("its block is 7", |record| record.key.block = 7),
        ("has its record already", |record| record.started_unix_ns += 1),
    ];
    for (words, change) in changes {
        let scene = Scene::new();
        let mut record = scene.record(0);
        change(&mut record);
        scene.died_with(&[record]);
        if words.contains("already") {
            scene.store.put_record(scene.run, &scene.record(0)).unwrap();
        }
        let before = scene.sequences();
        let said = scene.passed_over();
        assert!(said.contains(words), "{said}");
        assert_eq!((scene.files().len(), scene.sequences()), (1, before), "{words}");
    }
}

/// A copy of the database has the same RUN, and a record belongs to one of them.
#[test]
fn a_record_goes_into_the_database_that_lacks_it() {
    let scene = Scene::new();
    scene.died_with(&[scene.record(0)]);
    let copy = scene.dir.path().join("copy.db");
    fs::copy(scene.database(), &copy).unwrap();
    let copied = Store::open(&copy).unwrap();
    let taken = take_in(&scene.state(), &copied).unwrap();
    assert!(taken.stored.is_empty(), "{taken:?}");
    let words = format!("`fsarena list --db {}` stores it", scene.database().display());
    assert!(taken.passed_over[0].contains(&words), "{taken:?}");
    let (other, _) = {
        let header = RunHeader { uid: "ffff".repeat(4), ..scene.header.clone() };
        store_with(&scene.dir.path().join("other.db"), &header)
    };
    let taken = take_in(&scene.state(), &other).unwrap();
    assert!(taken.stored.is_empty() && taken.passed_over.is_empty(), "no concern: {taken:?}");
    fs::remove_file(scene.database()).unwrap();
    assert_eq!(take_in(&scene.state(), &copied).unwrap().stored.len(), 1, "it was moved");
    assert_eq!(copied.records(scene.run).unwrap().len(), 1);
    assert!(scene.files().is_empty());
}

#[test]
fn a_run_that_is_gone_is_said() {
    let scene = Scene::new();
    scene.died_with(&[scene.record(0)]);
    scene.store.set_state(scene.run, RunState::Interrupted, None).unwrap();
    scene.store.delete_runs(&[scene.run]).unwrap();
    let said = scene.passed_over();
    assert!(said.contains(&scene.header.uid) && said.contains("any more"), "{said}");
    assert_eq!(scene.files().len(), 1);
}

/// While the database takes nothing all stays, and one reason is enough.
#[test]
fn a_database_that_takes_nothing_is_said_once() {
    let scene = Scene::new();
    scene.died_with(&[scene.record(0), scene.record(1)]);
    let _lock = scene.lock();
    let refused = take_in(&scene.state(), &scene.store).unwrap().refused.unwrap();
    assert!(matches!(refused.error, StoreError::Busy { .. }) && refused.path == scene.files()[0]);
    assert_eq!(scene.files().len(), 2);
}
