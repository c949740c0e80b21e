//! Undoing what dead RUNs left, at every start.
//!
//! Only a journal whose lock can be had is touched: its owner and its executors are dead. What it
//! lists is undone from the last entry to the first, each step harmless where there is nothing
//! left.

use crate::journal::{self, Entry, JournalError, Orphan, Owner};
use fsarena_metrics::{Roots, process_start_ticks};
use fsarena_store::{Store, StoreError};
use fsarena_targets::{TargetError, cmd, leftovers};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for executors of a dead RUN to be gone.
const ENDING: Duration = Duration::from_secs(30);

/// How long a command of an external file system may take.
const DESTROYING: Duration = Duration::from_secs(60);

/// What was undone.
#[derive(Debug, Default)]
pub struct Recovered {
    /// RUNs that had died, with the database of each.
    pub runs: Vec<Owner>,
    /// Things that were removed, in words.
    pub removed: Vec<String>,
    /// Things that could not be, with the reason; they stay in the journal.
    pub failed: Vec<String>,
}

/// Undoes what dead RUNs whose journals lie in `state_dir` left.
///
/// # Errors
/// When the journals cannot be read.
pub fn recover(state_dir: &Path) -> Result<Recovered, JournalError> {
    let deadline = Instant::now() + ENDING;
    while journal::dying(state_dir, &is_alive)? && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut recovered = Recovered::default();
    for orphan in journal::orphans(state_dir)? {
        undo(orphan, &mut recovered)?;
    }
    Ok(recovered)
}

/// Marks RUNs of `store` as interrupted whose process is dead.
///
/// # Errors
/// When the database cannot be read or written.
pub fn close_dead_runs(store: &mut Store) -> Result<(), StoreError> {
    for (run, _, owner) in store.running()? {
        let owner_alive = is_process(owner.pid, owner.start_ticks, &owner.boot_id);
        if !owner_alive {
            store.interrupt_if_running(run, "its process died")?;
        }
    }
    Ok(())
}

fn is_alive(owner: &Owner) -> bool {
    is_process(owner.pid, owner.start_ticks, &owner.boot_id)
}

/// Whether process `pid` is the one that started at `start_ticks` of boot `boot_id`.
fn is_process(pid: u32, start_ticks: u64, boot_id: &str) -> bool {
    let roots = Roots::default();
    fsarena_metrics::boot_id(&roots).unwrap_or_default() == boot_id
        && process_start_ticks(&roots, pid) == Some(start_ticks)
}

fn undo(orphan: Orphan, recovered: &mut Recovered) -> Result<(), JournalError> {
    let kept: Vec<PathBuf> = orphan
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Kept(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut failed = Vec::new();
    for entry in orphan.entries.iter().rev() {
        match undo_entry(entry, &kept) {
            Ok(Some(removed)) => recovered.removed.push(removed),
            Ok(None) => {}
            Err(error) => failed.push(error.to_string()),
        }
    }
    recovered.runs.extend(orphan.owner().cloned());
    if failed.is_empty() {
        orphan.forget()?;
    }
    recovered.failed.append(&mut failed);
    Ok(())
}

/// Undoes one entry; says what was there.
pub(crate) fn undo_entry(entry: &Entry, kept: &[PathBuf]) -> Result<Option<String>, TargetError> {
    let (path, removed) = match entry {
        Entry::Owner(_) | Entry::Kept(_) => return Ok(None),
        Entry::Destroy(command) => {
            // Where there is nothing left to destroy it fails, and where there is, the image that
            // it holds cannot be taken down: the next entry says so.
            let done = cmd::shell(command, DESTROYING).is_ok();
            return Ok(done.then(|| command.clone()));
        }
        Entry::Image(path) => {
            let detached = !leftovers::detach_loops_of(path)?.is_empty();
            if kept.contains(path) {
                return Ok(None);
            }
            (path, leftovers::remove_image(path)? || detached)
        }
        Entry::Directory(path) => {
            leftovers::unmount_below(path)?;
            (path, leftovers::remove_dir(path)?)
        }
        Entry::Cgroup(path) => (path, leftovers::remove_cgroup(path)?),
    };
    Ok(removed.then(|| path.display().to_string()))
}
