//! Opening the database, after cleaning up what dead RUNs and watches left, and storing what they
//! had measured and could not store.
//!
//! A watch that was killed is stored here and not by its command: whichever command comes next
//! does it. Nothing here touches a RUN whose process lives.

use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_executor::fault;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use fsarena_model::units::Nanos;
use fsarena_process::held::HeldDir;
use fsarena_process::owner::give_to_caller;
use fsarena_report::RunLine;
use fsarena_runner::Refused;
use fsarena_store::{RunId, RunRow, Store, StoreError};
use fsarena_watch::journal::{self, Dead};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// How long tests wait for a database that is locked.
const FAST_WAIT: Duration = Duration::from_secs(2);

/// Cleans up what dead RUNs left, and says so.
fn recover() -> Result<()> {
    let recovered = fsarena_runner::recover(&context::state_dir()?)?;
    if !recovered.removed.is_empty() {
        say!("cleaned up after a killed run: {}", recovered.removed.join(", "));
    }
    for path in context::remove_abandoned() {
        say!("cleaned up after a killed command: {}", path.display());
    }
    recovered.skipped.iter().for_each(|unfit| say!("{unfit}"));
    for failure in &recovered.failed {
        say!("could not be cleaned up: {failure}");
    }
    Ok(())
}

/// The database for writing, with dead RUNs marked.
pub fn for_writing(asked: Option<&Path>) -> Result<Store> {
    recover()?;
    let path = context::database(asked)?;
    make_private(&path)
        .map_err(|error| StoreError::Access { path: path.clone(), detail: error.to_string() })?;
    // Somebody else may have been first.
    context::check_database(&path)?;
    let mut store = Store::open(&path)?;
    if fault::is_fast() {
        store.wait_for_lock(FAST_WAIT)?;
    }
    store_dead_watches(&store)?;
    // Nothing else could be written either.
    all_taken(take_in(&store)?)?;
    fsarena_runner::close_dead_runs(&mut store)?;
    Ok(store)
}

/// Stores what dead RUNs could not store; gives what the database did not take.
fn take_in(store: &Store) -> Result<Option<Refused>> {
    let taken = fsarena_runner::take_in(&context::state_dir()?, store)?;
    for (run, records) in taken.stored.iter().filter(|(_, records)| **records > 0) {
        let what = if *records == 1 { "1 record".to_owned() } else { format!("{records} records") };
        say!("RUN {run}: {what} that could not be stored before: stored now");
    }
    for path in &taken.removed {
        say!("cleaned up after a killed run: {}", path.display());
    }
    taken.passed_over.iter().for_each(|line| say!("{line}"));
    if let Some(Refused { path, error }) = &taken.refused {
        let (path, fact) = (path.display(), error.fact());
        say!("{path}: a record that cannot be stored yet: {fact}; it stays there");
    }
    Ok(taken.refused)
}

/// An error where nothing can be written to the database.
fn all_taken(refused: Option<Refused>) -> Result<()> {
    match refused {
        Some(refused) if refused.error.is_unwritable() => Err(refused.error.into()),
        _ => Ok(()),
    }
}

/// Makes an empty file where there is none, so that the database is its owner's alone: whoever
/// called sudo, else the user. SQLite gives its journals the same rights and owner.
fn make_private(path: &Path) -> std::io::Result<()> {
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
    let dir = HeldDir::make(path.parent().unwrap_or(Path::new("")), 0o755)?;
    let mut options = std::fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(dir.path_of(name)) {
        Ok(file) => {
            give_to_caller(&file);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // What a link leads to is not made: somebody else may have put it there.
            if path.is_symlink() && !path.exists() {
                let text = "it is a link to nothing; remove it, or name the file itself with --db";
                return Err(std::io::Error::new(ErrorKind::NotFound, text));
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The database for reading, where there is one. Dead RUNs are marked first where that is allowed.
pub fn for_reading(asked: Option<&Path>) -> Result<Option<Store>> {
    Ok(opened_for_reading(asked)?.map(|(store, _)| store))
}

/// As [`for_reading`], to go on with a RUN: not where it would go on without what it has done.
pub fn for_resuming(asked: Option<&Path>) -> Result<Option<Store>> {
    let Some((store, refused)) = opened_for_reading(asked)? else { return Ok(None) };
    all_taken(refused)?;
    Ok(Some(store))
}

fn opened_for_reading(asked: Option<&Path>) -> Result<Option<(Store, Option<Refused>)>> {
    // Also without a database: a command may have been killed before there was one.
    recover()?;
    let path = context::database(asked)?;
    if !path.exists() {
        return Ok(None);
    }
    // A database that may only be read is shown as it is.
    let writable = Store::open(&path);
    if let Ok(store) = &writable {
        store_dead_watches(store)?;
    }
    let store = Store::open_read_only(&path)?;
    let refused = take_in(writable.as_ref().unwrap_or(&store))?;
    if let Ok(mut store) = writable {
        match fsarena_runner::close_dead_runs(&mut store) {
            Err(error) if error.is_unwritable() => {}
            done => done?,
        }
    }
    Ok(Some((store, refused)))
}

/// The database for reading by a command that needs one.
pub fn existing(asked: Option<&Path>) -> Result<Store> {
    let there_is_none = |path: &Path| {
        Usage(format!(
            "{}: there is no database yet; `fsarena run` creates it, --db names another",
            path.display()
        ))
    };
    match for_reading(asked)? {
        Some(store) if is_empty(&store)? => refuse!(
            "{}: no RUN is stored there yet; `fsarena run` makes the first, --db names another \
             database",
            store.path().display()
        ),
        Some(store) => Ok(store),
        None => Err(there_is_none(&context::database(asked)?).into()),
    }
}

fn is_empty(store: &Store) -> Result<bool> {
    match store.find("latest") {
        Err(StoreError::NoSuchRun { .. }) => Ok(true),
        other => Ok(other.map(|_| false)?),
    }
}

/// A row of the database as a line of the list.
pub fn line_of(row: &RunRow) -> RunLine {
    RunLine {
        id: row.id.0,
        uid: row.uid.clone(),
        experiment: row.experiment.clone(),
        title: row.title.clone(),
        has_own_title: row.has_own_title,
        created_unix_ns: row.created_unix_ns,
        state: row.state,
        note: row.note.clone(),
        host: row.host.clone(),
        trials_done: row.trials_done,
        trials_planned: row.trials_planned,
        crash_runs_done: row.crash_runs_done,
    }
}

/// Stores the watches whose process died, those of this database.
fn store_dead_watches(store: &Store) -> Result<()> {
    let mut skipped = Vec::new();
    let dead = journal::dead(&context::state_dir()?, &mut skipped)?;
    skipped.iter().for_each(|unfit| say!("{unfit}"));
    for dead in dead {
        let Ok(run) = store.find(&dead.opening.run) else { continue };
        if let Err(error) = store_dead_watch(store, run, &dead) {
            say!("fsarena: {}: {}", dead.path.display(), context::reason(&error));
            continue;
        }
        let _ = std::fs::remove_file(&dead.path);
    }
    Ok(())
}

/// Stores what a dead watch had recorded, once.
fn store_dead_watch(store: &Store, run: RunId, dead: &Dead) -> Result<()> {
    match store.run(run)?.state {
        // It died between its last two steps.
        RunState::Done | RunState::Failed => return Ok(()),
        RunState::Running | RunState::Interrupted => {}
    }
    // It had stored its record, and died before it set the state.
    if let Some(record) = store.records(run)?.first() {
        return set_state(store, run, record);
    }
    let Some(session) = &dead.session else {
        let note = "the watch was killed before its first sample";
        return Ok(store.set_state(run, RunState::Interrupted, Some(note))?);
    };
    let notice = fsarena_watch::cut_short(session);
    let header = store.header(run)?;
    let record = fsarena_watch::record(&header, session, Outcome::Interrupted, Some(notice));
    store.put_record(run, &record)?;
    set_state(store, run, &record)?;
    say!("RUN {run}, a watch that was killed after {}, is stored", Nanos(session.length_ns()));
    Ok(())
}

/// Sets the state and the note that a record says.
fn set_state(store: &Store, run: RunId, record: &TrialRecord) -> Result<()> {
    let (state, note) = fsarena_watch::standing(record);
    Ok(store.set_state(run, state, note.as_deref())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_metrics::KernelRoots;
    use fsarena_watch::journal::{Journal, Opening};
    use fsarena_watch::{Terms, WatchTarget};
    use std::io::Write as _;

    fn target() -> WatchTarget {
        WatchTarget {
            asked: "/dev/sda".into(),
            name: "sda".to_owned(),
            path: "/dev/sda".into(),
            kind: "disk".to_owned(),
            size_bytes: 1 << 20,
            diskseq: None,
            fstype: None,
            mounted_at: None,
            mount_options: None,
            below: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The RUN of a watch that is at work, by this process.
    fn begun(store: &Store, uid: &str) -> RunId {
        let terms = Terms {
            uid: uid.to_owned(),
            now_unix_ns: 7,
            program_version: "0".to_owned(),
            arguments: Vec::new(),
            title: None,
            host: fsarena_metrics::host(&KernelRoots::default()),
            every_ns: 10,
        };
        let header = fsarena_watch::header(&target(), &terms);
        store.create_run(&header, &fsarena_runner::this_process()).unwrap()
    }

    /// It died after samples at these times.
    fn died(dir: &std::path::Path, uid: &str, times: &[u64]) -> Dead {
        drop(Journal::begin(dir, &Opening::new(uid, dir, &target(), 10, 7)).unwrap());
        let file = journal::file_of(dir, uid);
        let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        times.iter().for_each(|time| writeln!(file, "[{time},1,1,0]").unwrap());
        let mut all = journal::dead(dir, &mut Vec::new()).unwrap();
        all.remove(all.iter().position(|dead| dead.opening.run == uid).unwrap())
    }

    #[test]
    fn a_new_database_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/results.db");
        make_private(&path).unwrap();
        drop(Store::open(&path).unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        make_private(&path).unwrap();
        assert!(Store::open_read_only(&path).is_ok(), "one that is there stays as it is");
    }

    #[test]
    fn a_dead_watch_has_the_state_that_its_stored_record_says() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let gone = "sda disappeared: its number is another device's";
        let failed =
            Outcome::Failed { step: "watch".to_owned(), error: gone.to_owned(), remedy: None };
        for (at, outcome, state, note) in [
            (1, None, RunState::Interrupted, Some("killed after 20 ns")),
            (2, Some(Outcome::Done), RunState::Done, None),
            (3, Some(failed), RunState::Failed, Some(gone)),
            (4, Some(Outcome::Interrupted), RunState::Interrupted, Some("killed after 20 ns")),
        ] {
            let uid = format!("{at:016x}");
            let run = begun(&store, &uid);
            let dead = died(dir.path(), &uid, &[10, 20, 30]);
            let session = dead.session.as_ref().unwrap();
            if let Some(outcome) = outcome {
                let header = store.header(run).unwrap();
                let record = fsarena_watch::record(&header, session, outcome, None);
                store.put_record(run, &record).unwrap();
            }
            // A second time changes nothing: whoever stored it may have died as well.
            for _ in 0..2 {
                store_dead_watch(&store, run, &dead).unwrap();
                let row = store.run(run).unwrap();
                assert_eq!((row.state, row.note.as_deref()), (state, note), "{at}");
                assert_eq!(store.attempts(run).unwrap().len(), 1, "{at}");
            }
        }
    }

    #[test]
    fn a_watch_that_has_said_how_it_ended_is_not_called_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let run = begun(&store, "0000000000000001");
        let dead = died(dir.path(), "0000000000000001", &[]);
        store.set_state(run, RunState::Failed, Some("the terminal is gone")).unwrap();
        store_dead_watch(&store, run, &dead).unwrap();
        let row = store.run(run).unwrap();
        assert_eq!(
            (row.state, row.note.as_deref()),
            (RunState::Failed, Some("the terminal is gone"))
        );
    }
}
