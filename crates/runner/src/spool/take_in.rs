//! Taking in what dead RUNs could not store, at every start that opens a database.
//!
//! A file is removed after what is in it is stored and on the disk, and whoever finds it again
//! before that finds the record stored: it is taken in once, however often somebody dies meanwhile.
//! A file that is damaged, of another user or of no trial of its RUN is passed over and stays.

use super::form::{self, Head, Measured};
use crate::journal::{self, JournalError};
use crate::recover::owner_lives;
use fsarena_devices::state_file::{self, Unfit};
use fsarena_executor::fault;
use fsarena_store::{RunId, RunRow, Store, StoreError};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What came of the files.
#[derive(Debug, Default)]
pub struct TakenIn {
    /// Records that were stored, by their RUN.
    pub stored: BTreeMap<RunId, usize>,
    /// Half-made files that were removed.
    pub removed: Vec<PathBuf>,
    /// Files that stay, with the reason and what to do.
    pub passed_over: Vec<String>,
    /// Where the database took no more.
    pub refused: Option<Refused>,
}

/// A record that the database did not take.
#[derive(Debug)]
pub struct Refused {
    /// Where it is kept.
    pub path: PathBuf,
    pub error: StoreError,
}

/// A file of a dead RUN; nobody else takes it in meanwhile.
struct SpoolFile {
    path: PathBuf,
    head: Head,
    measured: Measured,
    _lock: File,
}

/// Stores in `store` what dead RUNs of it have left in `state_dir`.
///
/// # Errors
/// When the directory is there and cannot be read.
pub fn take_in(state_dir: &Path, store: &Store) -> Result<TakenIn, JournalError> {
    let mut taken = TakenIn::default();
    let mut causes = BTreeMap::new();
    for path in journal::files(state_dir)?.into_iter().filter(|path| form::is_named(path)) {
        let Some(found) = read_dead(path, &mut taken)? else { continue };
        match take_in_one(&found, store, &mut taken) {
            Ok(Some(run)) => {
                causes.insert(run, found.head.cause);
            }
            Ok(None) => {}
            Err(error) => {
                taken.refused = Some(Refused { path: found.path, error });
                return Ok(taken);
            }
        }
    }
    // The lock of a record says that its process is dead; the database does not know yet.
    let _ = say_why(store, &causes);
    Ok(taken)
}

/// What is in a file whose RUN is dead.
fn read_dead(path: PathBuf, taken: &mut TakenIn) -> Result<Option<SpoolFile>, JournalError> {
    let file = match state_file::open(&path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(unfit) => {
            taken.passed_over.push(unfit.to_string());
            return Ok(None);
        }
    };
    let is_half_made = form::is_half_made(&path);
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_there(&path, &file) {
        return Ok(None);
    }
    match form::read(&file) {
        Ok((head, measured)) => Ok(Some(SpoolFile { path, head, measured, _lock: file })),
        Err(_) if is_half_made && journal::is_young(&path) => Ok(None),
        Err(_) if is_half_made => {
            state_file::remove(&path).map_err(journal::at(&path))?;
            taken.removed.push(path);
            Ok(None)
        }
        Err(why) => {
            taken.passed_over.push(Unfit::new(&path, why).to_string());
            Ok(None)
        }
    }
}

/// Whether the name still leads to the file that was opened: another process may have been faster.
fn is_there(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(here)) = (path.metadata(), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (here.dev(), here.ino())
}

/// Takes one in; the RUN that has it now.
fn take_in_one(
    found: &SpoolFile,
    store: &Store,
    taken: &mut TakenIn,
) -> Result<Option<RunId>, StoreError> {
    let row = store.run_of_uid(&found.head.run)?;
    let Some(run) = run_of(found, store, row, taken) else { return Ok(None) };
    fault::at("take-in", None);
    match found.measured.take_in(store, run) {
        Ok(is_new) => {
            fault::at("taken-in", None);
            *taken.stored.entry(run).or_default() += usize::from(is_new);
            // One that stays is found to be stored by the next start.
            if let Err(error) = state_file::remove(&found.path) {
                taken.passed_over.push(Unfit::new(&found.path, error.to_string()).to_string());
            }
            Ok(Some(run))
        }
        Err(error) if error.is_of_file() => Err(error),
        Err(error) => {
            let why = format!("{} does not fit any more: {error}", found.measured.name());
            taken.passed_over.push(Unfit::new(&found.path, why).to_string());
            Ok(None)
        }
    }
}

/// The RUN that it is of, where that is to be looked for in this database.
fn run_of(
    found: &SpoolFile,
    store: &Store,
    row: Option<RunRow>,
    taken: &mut TakenIn,
) -> Option<RunId> {
    let wanted = &found.head.database;
    let is_ours = is_same_file(wanted, store.path());
    match row.filter(|row| !row.merged || is_ours) {
        None if is_ours => {
            let (run, database) = (&found.head.run, wanted.display());
            let why = format!("its RUN {run} is not in {database} any more");
            taken.passed_over.push(Unfit::new(&found.path, why).to_string());
            None
        }
        // Of another database.
        None => None,
        Some(_) if !is_ours && wanted.exists() => {
            let (path, database) = (found.path.display(), wanted.display());
            let text = "it is a record of the RUN in";
            taken.passed_over.push(format!(
                "{path}: {text} {database}; `fsarena list --db {database}` stores it there"
            ));
            None
        }
        // The database was moved.
        Some(row) => Some(row.id),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let absolute = |path: &Path| std::path::absolute(path).ok();
    absolute(one) == absolute(other)
        || identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// RUNs that ended with their database have not said so.
fn say_why(store: &Store, causes: &BTreeMap<RunId, String>) -> Result<(), StoreError> {
    if causes.is_empty() {
        return Ok(());
    }
    for (run, _, owner) in store.running()? {
        if let Some(cause) = causes.get(&run).filter(|_| !owner_lives(&owner)) {
            let note = format!("interrupted: the database could not be written: {cause}");
            store.interrupt_if_running(run, &owner, &note)?;
        }
    }
    Ok(())
}
