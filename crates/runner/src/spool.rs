//! What was measured on its way into the database: where that cannot be written, it is kept in
//! files next to the journal, and stored later, once.
//!
//! A record is whole and on the disk, in the database or in a file of its own, before the next
//! trial begins. While another program has locked the database the RUN goes on, for some records;
//! whatever else keeps it from being written ends the RUN: a disk that is full stays full. What is
//! kept is stored before anything newer is, by this process, or by the next one that opens the
//! database ([`take_in`]). A file has a lock as long as its RUN lives.

mod form;
mod take_in;

pub use form::spooled_again;
pub use take_in::{Refused, TakenIn, take_in};

use crate::request::RunError;
use form::{Head, Measured};
use fsarena_crash::record::StoredCrashRun;
use fsarena_devices::state_file;
use fsarena_executor::fault;
use fsarena_model::record::TrialRecord;
use fsarena_model::verdict::{InterimAnalysis, Stop};
use fsarena_store::{RunId, Store, StoreError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Records that are kept while the database is locked, before the RUN ends: each of them waits for
/// the lock as long as a statement does, so that these are minutes.
const LOCKED_MAX: usize = 16;

/// What a RUN has measured and could not store.
#[derive(Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
    database: PathBuf,
    run: RunId,
    uid: String,
    /// In the order of measuring.
    kept: Vec<Kept>,
    /// Looks that could not be stored. They come out again of the records, and are in no file.
    looks: Vec<InterimAnalysis>,
    /// Of the latest file.
    number: u32,
}

/// What is not in the database.
#[derive(Debug)]
struct Kept {
    measured: Measured,
    /// Where it is; why it is nowhere, where it could not be written either.
    file: Result<(PathBuf, File), String>,
}

impl Spool {
    /// That of RUN `run`, whose id is `uid`: beside the journals in `dir`.
    pub(crate) fn new(dir: &Path, database: &Path, run: RunId, uid: &str) -> Self {
        let database = std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
        let (dir, uid) = (dir.to_owned(), uid.to_owned());
        Self { dir, database, run, uid, kept: Vec::new(), looks: Vec::new(), number: 0 }
    }

    pub(crate) fn run(&self) -> RunId {
        self.run
    }

    /// Stores or keeps what a trial has left; what is to be said of it, where it was not simply
    /// stored.
    ///
    /// # Errors
    /// When the RUN cannot go on: [`RunError::Unstored`] where the database cannot be written.
    pub(crate) fn put_record(
        &mut self,
        store: &Store,
        record: &TrialRecord,
    ) -> Result<Option<String>, RunError> {
        self.put(store, Measured::Trial(Box::new(record.clone())))
    }

    /// As [`Self::put_record`], of a crash run.
    pub(crate) fn put_crash_run(
        &mut self,
        store: &Store,
        stored: &StoredCrashRun,
    ) -> Result<Option<String>, RunError> {
        self.put(store, Measured::CrashRun(Box::new(stored.clone())))
    }

    /// Stores a look behind all that is kept, or with it later.
    ///
    /// # Errors
    /// As [`Self::put_record`].
    pub(crate) fn put_look(
        &mut self,
        store: &Store,
        look: &InterimAnalysis,
    ) -> Result<(), RunError> {
        self.looks.push(look.clone());
        self.put_looks(store)
    }

    /// Stores the looks that are left, unless the database is locked.
    fn put_looks(&mut self, store: &Store) -> Result<(), RunError> {
        match self.flush(store) {
            Ok(()) | Err(StoreError::Busy { .. }) => Ok(()),
            Err(error) => Err(self.unstored(error)),
        }
    }

    /// Stores how the blocks of the RUN ended: all that was measured must be stored before.
    ///
    /// # Errors
    /// As [`Self::put_record`]; a lock is not gone on with.
    pub(crate) fn set_stop(&mut self, store: &Store, stop: Stop) -> Result<(), RunError> {
        let stored = self.flush(store).and_then(|()| store.set_stop(self.run, stop));
        stored.map_err(|error| self.unstored(error))
    }

    fn put(&mut self, store: &Store, measured: Measured) -> Result<Option<String>, RunError> {
        let kept = self.flush_records(store);
        match kept.and_then(|kept| measured.put(store, self.run).map(|()| kept)) {
            Ok(kept) => {
                self.put_looks(store)?;
                let records = if kept == 1 { "record is" } else { "records are" };
                let database = self.database.display();
                let text = format!("{database} can be written again: {kept} kept {records} stored");
                Ok((kept > 0).then_some(text))
            }
            Err(error) if error.is_of_file() => self.keep(measured, &error),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores all that is kept, in its order, and then looks.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn flush(&mut self, store: &Store) -> Result<(), StoreError> {
        self.flush_records(store)?;
        while let Some(look) = self.looks.first() {
            store.put_look(self.run, look)?;
            self.looks.remove(0);
        }
        Ok(())
    }

    /// Stores records; gives how many. What does not fit the plan any more stays in its file, of
    /// which the next start says so. Every error is one of the file.
    fn flush_records(&mut self, store: &Store) -> Result<usize, StoreError> {
        let mut stored = 0;
        while let Some(first) = self.kept.first() {
            match first.measured.take_in(store, self.run) {
                Err(error) if error.is_of_file() => return Err(error),
                Err(_) => {}
                Ok(_) => {
                    stored += 1;
                    if let Ok((path, _)) = &first.file {
                        // One that stays is found to be stored by the next start.
                        let _ = state_file::remove(path);
                    }
                }
            }
            self.kept.remove(0);
        }
        Ok(stored)
    }

    /// Keeps what could not be stored; what is to be said where the RUN goes on.
    fn keep(&mut self, measured: Measured, error: &StoreError) -> Result<Option<String>, RunError> {
        fault::at("spool", None);
        let file = self.write(&measured, &error.fact()).map_err(|error| error.to_string());
        fault::at("spooled", None);
        let is_locked = matches!(error, StoreError::Busy { .. });
        let (what, fact) = (measured.name(), error.fact());
        let place = file.as_ref().ok().map(|(path, _)| path.display().to_string());
        self.kept.push(Kept { measured, file });
        match place {
            Some(path) if is_locked && self.kept.len() < LOCKED_MAX => {
                let database = self.database.display();
                Ok(Some(format!("{database}: {fact}; {what} is kept in {path} until it is free")))
            }
            _ => Err(self.cannot_go_on(error)),
        }
    }

    fn write(&mut self, measured: &Measured, cause: &str) -> io::Result<(PathBuf, File)> {
        let head = Head::new(&self.uid, &self.database, cause);
        loop {
            self.number += 1;
            let path = form::file_of(&self.dir, &self.uid, self.number);
            match form::write(&path, &head, measured) {
                // Of an earlier session, and not taken in.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|file| (path, file)),
            }
        }
    }

    /// The end of a RUN whose database cannot be written; an error of another kind stays one.
    pub(crate) fn unstored(&self, error: StoreError) -> RunError {
        if !error.is_of_file() {
            return error.into();
        }
        self.cannot_go_on(&error)
    }

    fn cannot_go_on(&self, error: &StoreError) -> RunError {
        let (database, cause) = (self.database.clone(), error.fact());
        RunError::Unstored { database, cause, rest: String::new() }
    }

    /// Says what has become of that which was measured, in an error of this kind.
    pub(crate) fn explained(&self, error: RunError) -> RunError {
        match error {
            RunError::Unstored { database, cause, .. } => {
                RunError::Unstored { database, cause, rest: self.rest() }
            }
            other => other,
        }
    }

    /// What has become of that which was measured, and what to do, where the database could not be
    /// written.
    fn rest(&self) -> String {
        let resume = "`fsarena run --resume` goes on";
        let mut paths = Vec::new();
        let mut lost = Vec::new();
        for Kept { measured, file } in &self.kept {
            match file {
                Ok((path, _)) => paths.push(path.display().to_string()),
                Err(why) => lost.push((measured.name(), why)),
            }
        }
        if let [(name, why), ..] = lost.as_slice() {
            let dir = self.dir.display();
            return format!(
                "{name} could not be kept in {dir} either ({why}) and must be done again: make \
                 room, then {resume}"
            );
        }
        match paths.as_slice() {
            [] => format!("all that was measured is stored by now; {resume}"),
            [path] => {
                let name = self.kept[0].measured.name();
                format!("{name} is kept in {path}, and the next start stores it; {resume}")
            }
            [first, .., last] => {
                let kept = format!("{} records are kept in {first} to {last}", paths.len());
                format!("{kept}, and the next start stores them; {resume}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
