//! Opening the database, after what dead RUNs left was undone.

use super::watch;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_report::RunLine;
use fsarena_store::{RunRow, Store, StoreError};
use std::path::Path;

/// Undoes what dead RUNs left, and says so.
pub fn recover() -> Result<()> {
    let recovered = fsarena_runner::recover(&context::state_dir()?)?;
    if !recovered.removed.is_empty() {
        say!("removed what a killed run had left: {}", recovered.removed.join(", "));
    }
    for failure in &recovered.failed {
        say!("could not be removed: {failure}");
    }
    Ok(())
}

/// The database for writing, with dead RUNs marked.
pub fn for_writing(asked: Option<&Path>) -> Result<Store> {
    recover()?;
    let mut store = Store::open(&context::database(asked)?)?;
    watch::store_dead(&store)?;
    fsarena_runner::close_dead_runs(&mut store)?;
    Ok(store)
}

/// The database for reading, where there is one. Dead RUNs are marked first where that is allowed.
pub fn for_reading(asked: Option<&Path>) -> Result<Option<Store>> {
    let path = context::database(asked)?;
    if !path.exists() {
        return Ok(None);
    }
    recover()?;
    // A database that may only be read is shown as it is.
    if let Ok(mut store) = Store::open(&path) {
        watch::store_dead(&store)?;
        fsarena_runner::close_dead_runs(&mut store)?;
    }
    Ok(Some(Store::open_read_only(&path)?))
}

/// The database for reading by a command that needs one.
pub fn existing(asked: Option<&Path>) -> Result<Store> {
    let there_is_none = |path: &Path| {
        Usage(format!(
            "{}: there is no database yet; `fsarena run` makes one, --db names another",
            path.display()
        ))
    };
    match for_reading(asked)? {
        Some(store) if is_empty(&store)? => Err(Usage(format!(
            "{}: no RUN is stored there yet; `fsarena run` makes the first, --db names another \
             database",
            store.path().display()
        ))
        .into()),
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
        created_unix_ns: row.created_unix_ns,
        state: row.state,
        note: row.note.clone(),
        host: row.host.clone(),
        trials_done: row.trials_done,
        trials_planned: row.trials_planned,
    }
}
