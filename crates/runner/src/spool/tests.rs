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
struct Fixture {
    dir: tempfile::TempDir,
    header: RunHeader,
    store: Store,
    run: RunId,
}

impl Fixture {
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
    let fixture = Fixture::new();
    let mut spool = fixture.spool();
    assert_eq!(spool.put_record(&fixture.store, &fixture.record(0)).unwrap(), None);
    let lock = fixture.lock();
    for sequence in [1, 2] {
        let said = spool.put_record(&fixture.store, &fixture.record(sequence)).unwrap().unwrap();
        let words = format!("another program has locked it; trial {} is kept in", sequence + 1);
        assert!(said.contains(&words), "{said}");
    }
    assert_eq!(fixture.files().len(), 2);
    assert!(take_in(&fixture.state(), &fixture.store).unwrap().stored.is_empty(), "its RUN lives");
    drop(lock);
    let said = spool.put_record(&fixture.store, &fixture.record(3)).unwrap().unwrap();
    assert!(said.contains("2 kept records are stored"), "{said}");
    assert_eq!(
        fixture.store.records(fixture.run).unwrap(),
        [0, 1, 2, 3].map(|n| fixture.record(n))
    );
    assert_eq!(fixture.files(), [""; 0].map(PathBuf::from));
}

/// A lock that does not end ends the RUN; all that was measured is safe.
#[test]
fn a_lock_is_not_gone_on_with_for_ever() {
    let fixture = Fixture::new();
    let (_lock, mut spool) = (fixture.lock(), fixture.spool());
    let last = u32::try_from(LOCKED_MAX).unwrap() - 1;
    for sequence in 0..last {
        assert!(spool.put_record(&fixture.store, &fixture.record(sequence)).unwrap().is_some());
    }
    let error = spool.put_record(&fixture.store, &fixture.record(last)).unwrap_err();
    let rest = rest_of(&spool, error);
    assert!(rest.starts_with("16 records are kept in"), "{rest}");
    assert_eq!(fixture.files().len(), LOCKED_MAX);
}

#[test]
fn a_look_waits_for_the_lock_and_a_stop_does_not() {
    let fixture = Fixture::new();
    let mut spool = fixture.spool();
    let lock = fixture.lock();
    let look = InterimAnalysis { blocks: 2, at_unix_ns: 7, decided: Vec::new() };
    spool.put_look(&fixture.store, &look).unwrap();
    let stop = Stop { blocks: 2, why: fsarena_model::verdict::StopWhy::Cap };
    let error = spool.set_stop(&fixture.store, stop).unwrap_err();
    assert!(rest_of(&spool, error).starts_with("all that was measured is stored"));
    drop(lock);
    spool.set_stop(&fixture.store, stop).unwrap();
    assert_eq!(fixture.store.looks(fixture.run).unwrap(), [look]);
}

/// Where the files cannot be written either, it is stored when there is room again before the end.
#[test]
fn what_cannot_be_kept_either_ends_the_run() {
    let fixture = Fixture::new();
    fs::remove_dir(fixture.state()).unwrap();
    let (lock, mut spool) = (fixture.lock(), fixture.spool());
    let error = spool.put_record(&fixture.store, &fixture.record(0)).unwrap_err();
    let RunError::Unstored { database, cause, .. } = &error else { panic!("{error}") };
    assert_eq!((database, &**cause), (&fixture.database(), "another program has locked it"));
    let rest = rest_of(&spool, error);
    assert!(rest.starts_with("trial 1 could not be kept in") && rest.contains("either"), "{rest}");
    assert!(spool.flush(&fixture.store).is_err());
    drop(lock);
    spool.flush(&fixture.store).unwrap();
    assert_eq!(fixture.sequences(), [0]);
    assert!(spool.rest().starts_with("all that was measured is stored by now"));
}

#[test]
fn what_a_dead_run_has_kept_is_taken_in_once() {
    let fixture = Fixture::new();
    let mut interrupted = fixture.record(1);
    interrupted.outcome = Outcome::Interrupted;
    fixture.died_with(&[fixture.record(0), interrupted]);
    let copies: Vec<(PathBuf, Vec<u8>)> =
        fixture.files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert_eq!(copies.len(), 2);
    assert_eq!(fixture.take_in().stored[&fixture.run], 2);
    assert_eq!(fixture.sequences(), [0, 1]);
    assert!(fixture.files().is_empty());
    let row = fixture.store.run(fixture.run).unwrap();
    assert_eq!(row.state, RunState::Interrupted);
    assert!(row.note.unwrap().ends_with("another program has locked it"));
    // As if it had died before it removed them.
    copies.iter().for_each(|(path, bytes)| {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    });
    assert_eq!(fixture.take_in().stored[&fixture.run], 0);
    assert_eq!(fixture.sequences(), [0, 1]);
    assert!(fixture.files().is_empty());
}

#[test]
fn what_is_half_made_is_taken_in_if_it_is_whole() {
    let fixture = Fixture::new();
    fixture.died_with(&[fixture.record(0)]);
    let path = fixture.files().remove(0);
    let whole = fs::read(&path).unwrap();
    let half_made = state_file::temporary(&path);
    fs::rename(&path, &half_made).unwrap();
    assert!(crate::journal::orphans(&fixture.state(), &mut Vec::new()).unwrap().is_empty());
    assert_eq!(fixture.take_in().stored[&fixture.run], 1);
    assert_eq!(fixture.sequences(), [0]);
    fs::write(&half_made, &whole[..whole.len() / 2]).unwrap();
    fs::set_permissions(&half_made, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(fixture.take_in().removed.is_empty(), "it may be being written");
    let file = File::options().write(true).open(&half_made).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    drop(file);
    assert_eq!(fixture.take_in().removed, [half_made]);
    assert!(fixture.files().is_empty());
}

#[test]
fn what_cannot_be_believed_is_passed_over_and_stays() {
    let fixture = Fixture::new();
    fixture.died_with(&[fixture.record(0)]);
    let path = fixture.files().remove(0);
    let whole = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(fixture.passed_over().contains("another user owns it or may write it"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert!(fixture.passed_over().contains("does not fit its SHA-256"));
    assert_eq!(fs::read(&path).unwrap(), changed);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(fixture.passed_over().contains("a symbolic link"));
    assert!(fixture.sequences().is_empty());
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
        let fixture = Fixture::new();
        let mut record = fixture.record(0);
        change(&mut record);
        fixture.died_with(&[record]);
        if words.contains("already") {
            fixture.store.put_record(fixture.run, &fixture.record(0)).unwrap();
        }
        let before = fixture.sequences();
        let said = fixture.passed_over();
        assert!(said.contains(words), "{said}");
        assert_eq!((fixture.files().len(), fixture.sequences()), (1, before), "{words}");
    }
}

/// A copy of the database has the same RUN, and a record belongs to one of them.
#[test]
fn a_record_goes_into_the_database_that_lacks_it() {
    let fixture = Fixture::new();
    fixture.died_with(&[fixture.record(0)]);
    let copy = fixture.dir.path().join("copy.db");
    fs::copy(fixture.database(), &copy).unwrap();
    let copied = Store::open(&copy).unwrap();
    let taken = take_in(&fixture.state(), &copied).unwrap();
    assert!(taken.stored.is_empty(), "{taken:?}");
    let words = format!("`fsarena list --db {}` stores it", fixture.database().display());
    assert!(taken.passed_over[0].contains(&words), "{taken:?}");
    let (other, _) = {
        let header = RunHeader { uid: "ffff".repeat(4), ..fixture.header.clone() };
        store_with(&fixture.dir.path().join("other.db"), &header)
    };
    let taken = take_in(&fixture.state(), &other).unwrap();
    assert!(taken.stored.is_empty() && taken.passed_over.is_empty(), "no concern: {taken:?}");
    fs::remove_file(fixture.database()).unwrap();
    assert_eq!(take_in(&fixture.state(), &copied).unwrap().stored.len(), 1, "it was moved");
    assert_eq!(copied.records(fixture.run).unwrap().len(), 1);
    assert!(fixture.files().is_empty());
}

#[test]
fn a_run_that_is_gone_is_said() {
    let fixture = Fixture::new();
    fixture.died_with(&[fixture.record(0)]);
    fixture.store.set_state(fixture.run, RunState::Interrupted, None).unwrap();
    fixture.store.delete_runs(&[fixture.run]).unwrap();
    let said = fixture.passed_over();
    assert!(said.contains(&fixture.header.uid) && said.contains("any more"), "{said}");
    assert_eq!(fixture.files().len(), 1);
}

/// While the database takes nothing all stays, and one reason is enough.
#[test]
fn a_database_that_takes_nothing_is_said_once() {
    let fixture = Fixture::new();
    fixture.died_with(&[fixture.record(0), fixture.record(1)]);
    let _lock = fixture.lock();
    let refused = take_in(&fixture.state(), &fixture.store).unwrap().refused.unwrap();
    assert!(matches!(refused.error, StoreError::Busy { .. }) && refused.path == fixture.files()[0]);
    assert_eq!(fixture.files().len(), 2);
}
