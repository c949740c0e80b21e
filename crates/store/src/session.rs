//! Sessions: the uninterrupted pieces of a RUN, and what the next one has to know.
//!
//! A RUN that was interrupted is taken up by another process. Who may do so is decided here, in one
//! transaction; whether an owner is alive is asked of the caller, since this crate knows no
//! processes.

use crate::columns::int;
use crate::query::{SELECT_RUNS, run_row};
use crate::{Owner, RunId, RunRow, Store, StoreError};
use fsarena_model::run::RunSession;
use rusqlite::{OptionalExtension as _, Transaction, params};

/// What came of the attempt to adopt a RUN.
enum AdoptOutcome {
    Yes,
    NoSuchRun,
    Owned(u32),
    Complete,
    Elsewhere,
}

impl Store {
    /// Makes this process the owner of a RUN again and sets it running, to resume it. `is_alive`
    /// says whether the process that is still called its owner lives.
    ///
    /// # Errors
    /// When there is no such RUN, it is done or was merged, a living process carries it out, or the
    /// write fails.
    pub fn adopt(
        &self,
        run: RunId,
        owner: &Owner,
        is_alive: impl Fn(&Owner) -> bool,
    ) -> Result<(), StoreError> {
        match self.transaction(|t| try_adopt(t, run, owner, &is_alive))? {
            AdoptOutcome::Yes => Ok(()),
            AdoptOutcome::NoSuchRun => Err(self.no_such_run(run)),
            AdoptOutcome::Owned(pid) => Err(StoreError::StillRunning { run, pid }),
            AdoptOutcome::Complete => Err(StoreError::Complete { run }),
            AdoptOutcome::Elsewhere => Err(StoreError::Elsewhere { run }),
        }
    }

    /// Stores the start of a session: the first of a RUN, and one more each time it is taken up.
    ///
    /// # Errors
    /// When there is no such RUN or the write fails.
    pub fn put_session(&self, run: RunId, session: &RunSession) -> Result<(), StoreError> {
        self.exists(run)?;
        self.transaction(|t| {
            t.execute(
                "INSERT INTO session (run_id, number, started_unix_ns, boot_id, first_sequence)
                 SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4
                 FROM session WHERE run_id = ?1",
                params![
                    run.0,
                    int(session.started_unix_ns),
                    session.boot_id,
                    session.first_sequence
                ],
            )
        })?;
        Ok(())
    }

    /// The sessions of a RUN, in order.
    ///
    /// # Errors
    /// When there is no such RUN or the database cannot be read.
    pub fn sessions(&self, run: RunId) -> Result<Vec<RunSession>, StoreError> {
        self.exists(run)?;
        self.sql(|c| {
            c.prepare_cached(
                "SELECT started_unix_ns, boot_id, first_sequence FROM session WHERE run_id = ?
                 ORDER BY number",
            )?
            .query_map([run.0], |row| {
                Ok(RunSession {
                    started_unix_ns: u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
                    boot_id: row.get(1)?,
                    first_sequence: row.get(2)?,
                })
            })?
            .collect()
        })
    }

    /// RUNs that ended before all was done (interrupted or failed), oldest first; not those that
    /// were merged.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn resumable(&self) -> Result<Vec<RunRow>, StoreError> {
        self.sql(|c| {
            let sql = format!(
                "{SELECT_RUNS} WHERE state IN ('interrupted', 'failed') AND NOT merged ORDER BY id"
            );
            c.prepare(&sql)?.query_map([], run_row)?.collect()
        })
    }
}

fn try_adopt(
    t: &Transaction<'_>,
    run: RunId,
    owner: &Owner,
    is_alive: &impl Fn(&Owner) -> bool,
) -> rusqlite::Result<AdoptOutcome> {
    let found: Option<(String, Owner, bool)> = t
        .query_row(
            "SELECT state, owner_pid, owner_start_ticks, owner_boot_id, merged FROM run
             WHERE id = ?",
            [run.0],
            |row| {
                let owner = Owner {
                    pid: row.get(1)?,
                    start_ticks: u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
                    boot_id: row.get(3)?,
                };
                Ok((row.get(0)?, owner, row.get(4)?))
            },
        )
        .optional()?;
    let Some((state, before, merged)) = found else { return Ok(AdoptOutcome::NoSuchRun) };
    match state.as_str() {
        "done" => return Ok(AdoptOutcome::Complete),
        _ if merged => return Ok(AdoptOutcome::Elsewhere),
        "running" if is_alive(&before) => return Ok(AdoptOutcome::Owned(before.pid)),
        _ => {}
    }
    t.execute(
        "UPDATE run SET state = 'running', note = NULL, owner_pid = ?, owner_start_ticks = ?,
         owner_boot_id = ? WHERE id = ?",
        params![owner.pid, int(owner.start_ticks), owner.boot_id, run.0],
    )?;
    Ok(AdoptOutcome::Yes)
}
