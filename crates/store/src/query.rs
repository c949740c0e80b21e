//! Reading: runs and plans as they were stored.

use crate::columns::{int, sha256, unsigned, word};
use crate::{Owner, RunId, Store, StoreError};
use fsarena_model::header_rules;
use fsarena_model::run::{RunHeader, RunState};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Row, params};

/// Fewest digits that an id is known by where they are no RUN's number.
const LEAST_DIGITS: usize = 2;

/// One line of `fsarena list`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunRow {
    /// Number in this database.
    pub id: RunId,
    /// Unique id: 16 hex digits.
    pub uid: String,
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// Wall clock, ns since 1970.
    pub created_unix_ns: u64,
    pub state: RunState,
    /// Why it stands so, where something was said.
    pub note: Option<String>,
    /// Trials that have a record.
    pub trials_done: u32,
    /// Trials in the schedule.
    pub trials_planned: u32,
    /// Crash runs that have a record.
    pub crash_runs_done: u32,
    /// Name of the machine that carried it out.
    pub host: String,
    /// Whether the user gave it a title of its own (`--title`).
    pub has_own_title: bool,
    /// Whether it was taken from another database ([`Store::merge`]); it can go on there only.
    pub merged: bool,
}

/// Its columns are those of the index `run_listed`, so that no raw text is read: the last of them
/// has to be word for word what is there.
pub(crate) const SELECT_RUNS: &str =
    "SELECT id, uid, experiment, title, created_unix_ns, state, note,
    (SELECT count(DISTINCT trial.slot_id) FROM slot JOIN trial ON trial.slot_id = slot.id
     WHERE slot.run_id = run.id),
    (SELECT count(*) FROM slot WHERE slot.run_id = run.id),
    (SELECT count(*) FROM crash_run JOIN contender ON crash_run.contender_id = contender.id
     WHERE contender.run_id = run.id),
    hostname, merged,
    CASE WHEN json_valid(raw)
         THEN coalesce((raw -> '$.arguments') GLOB '*[[,]\"--title[=\"]*', 0) ELSE 0 END
    FROM run";

/// Numbers say the order in which RUNs began here (a clock may be set back), but nothing of those
/// that were merged.
const LATEST_FIRST: &str =
    "ORDER BY merged, CASE WHEN merged THEN created_unix_ns END DESC, id DESC";

pub(crate) fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let uid: String = row.get(1)?;
    if let Err(rule) = header_rules::uid(&uid) {
        let error = format!("RUN {}: {rule}", row.get::<_, i64>(0)?);
        return Err(rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into()));
    }
    Ok(RunRow {
        id: RunId(row.get(0)?),
        uid,
        experiment: row.get(2)?,
        title: row.get(3)?,
        created_unix_ns: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
        state: word(row, 5, RunState::named)?,
        note: row.get(6)?,
        trials_done: row.get(7)?,
        trials_planned: row.get(8)?,
        crash_runs_done: row.get(9)?,
        host: row.get(10)?,
        merged: row.get(11)?,
        has_own_title: row.get(12)?,
    })
}

impl Store {
    /// All RUNs by their numbers: those of this database oldest first, and what was merged after
    /// those that were there by then.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        self.sql(|c| {
            c.prepare(&format!("{SELECT_RUNS} ORDER BY id"))?.query_map([], run_row)?.collect()
        })
    }

    /// One RUN's line.
    ///
    /// # Errors
    /// When there is no such RUN or the database cannot be read.
    pub fn run(&self, run: RunId) -> Result<RunRow, StoreError> {
        let found = self.sql(|c| {
            c.query_row(&format!("{SELECT_RUNS} WHERE id = ?"), [run.0], run_row).optional()
        })?;
        found.ok_or_else(|| self.no_such_run(run))
    }

    /// How far a RUN is.
    ///
    /// # Errors
    /// When there is no such RUN or the database cannot be read.
    pub fn state(&self, run: RunId) -> Result<RunState, StoreError> {
        let found = self.sql(|c| {
            let mut select = c.prepare_cached("SELECT state FROM run WHERE id = ?")?;
            select.query_row([run.0], |row| word(row, 0, RunState::named)).optional()
        })?;
        found.ok_or_else(|| self.no_such_run(run))
    }

    /// RUNs that have a workload of this name, with the time at which each began, by their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_with_workload(&self, name: &str) -> Result<Vec<(RunId, u64)>, StoreError> {
        self.sql(|c| {
            c.prepare(
                "SELECT id, created_unix_ns FROM run WHERE id IN
                 (SELECT run_id FROM workload WHERE name = ?) ORDER BY id",
            )?
            .query_map([name], |row| Ok((RunId(row.get(0)?), unsigned(row, 1)?)))?
            .collect()
        })
    }

    /// The RUN of this id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_of_uid(&self, uid: &str) -> Result<Option<RunRow>, StoreError> {
        let sql = format!("{SELECT_RUNS} WHERE uid = ?");
        self.sql(|c| c.query_row(&sql, [uid], run_row).optional())
    }

    /// RUNs in state `running` with the processes that carry them out, alive or not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn running(&self) -> Result<Vec<(RunId, String, Owner)>, StoreError> {
        self.sql(|c| {
            c.prepare(
                "SELECT id, uid, owner_pid, owner_start_ticks, owner_boot_id FROM run
                 WHERE state = 'running' ORDER BY id",
            )?
            .query_map([], |row| {
                let owner = Owner {
                    pid: row.get(2)?,
                    start_ticks: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                    boot_id: row.get(4)?,
                };
                Ok((RunId(row.get(0)?), row.get(1)?, owner))
            })?
            .collect()
        })
    }

    /// The RUN meant by `latest`, by its number, or by the first digits (two or more) of its id; a
    /// number comes first. The latest is that of this database itself; where all were merged, the
    /// one begun last.
    ///
    /// # Errors
    /// When none or several are meant, or the database cannot be read.
    pub fn find(&self, selector: &str) -> Result<RunId, StoreError> {
        let text = selector.trim();
        let none =
            || StoreError::NoSuchRun { path: self.path.clone(), selector: selector.to_owned() };
        if text == "latest" {
            let id: Option<i64> = self.sql(|c| {
                let sql = format!("SELECT id FROM run {LATEST_FIRST} LIMIT 1");
                c.query_row(&sql, [], |row| row.get(0)).optional()
            })?;
            return id.map(RunId).ok_or_else(none);
        }
        if let Ok(number) = text.parse::<i64>() {
            let found: Option<i64> = self.sql(|c| {
                c.query_row("SELECT id FROM run WHERE id = ?", [number], |r| r.get(0)).optional()
            })?;
            if let Some(id) = found {
                return Ok(RunId(id));
            }
        }
        if text.len() < LEAST_DIGITS || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(none());
        }
        let found: Vec<(i64, String)> = self.sql(|c| {
            c.prepare("SELECT id, uid FROM run WHERE substr(uid, 1, ?) = ? ORDER BY id")?
                .query_map(params![int(text.len() as u64), text.to_ascii_lowercase()], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?
                .collect()
        })?;
        match found.as_slice() {
            [] => Err(none()),
            [(id, _)] => Ok(RunId(*id)),
            several => Err(StoreError::AmbiguousRun {
                path: self.path.clone(),
                selector: selector.to_owned(),
                fits: several.iter().map(|(id, uid)| format!("{id} ({uid})")).collect(),
            }),
        }
    }

    /// What was known of a RUN before its first trial.
    ///
    /// # Errors
    /// When there is no such RUN or it cannot be read.
    pub fn header(&self, run: RunId) -> Result<RunHeader, StoreError> {
        let found: Option<(String, String)> = self.sql(|c| {
            let mut select = c.prepare_cached("SELECT raw, raw_sha256 FROM run WHERE id = ?")?;
            select.query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })?;
        let (raw, sum) = found.ok_or_else(|| self.no_such_run(run))?;
        let damaged = |what: &str| StoreError::Damaged {
            path: self.path.clone(),
            detail: format!("the plan of RUN {run}: {what}"),
        };
        if sha256(&raw) != sum {
            return Err(damaged("its text does not fit its SHA-256"));
        }
        let header = RunHeader::from_json(&raw).map_err(|error| damaged(&error.to_string()))?;
        header_rules::check(&header)
            .map_err(|rule| StoreError::bad_run(&self.path, run, rule.to_string()))?;
        self.rows_fit(run, &header)?;
        Ok(header)
    }

    pub(crate) fn no_such_run(&self, run: RunId) -> StoreError {
        StoreError::NoSuchRun { path: self.path.clone(), selector: run.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(store: &Store, sql: &str) -> String {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let lines: Vec<String> = store
            .sql(|c| c.prepare(&sql)?.query_map([], |row| row.get("detail"))?.collect())
            .unwrap();
        lines.join("; ")
    }

    fn new() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("records.db")).unwrap();
        (dir, store)
    }

    #[test]
    fn lists_of_runs_are_read_from_their_index() {
        let (_dir, store) = new();
        let latest = format!("SELECT id FROM run {LATEST_FIRST} LIMIT 1");
        for sql in [format!("{SELECT_RUNS} ORDER BY id"), latest] {
            let plan = plan(&store, &sql);
            assert!(plan.contains("INDEX run_listed"), "{plan}");
        }
    }

    /// A row that is deleted takes those with it that refer to it: without an index each of them is
    /// looked for in the whole table.
    #[test]
    fn every_foreign_key_is_led_to_by_an_index() {
        let (_dir, store) = new();
        let keys = "SELECT one.name, key.\"from\" FROM sqlite_schema AS one
                    JOIN pragma_foreign_key_list(one.name) AS key WHERE one.type = 'table'";
        let keys: Vec<(String, String)> = store
            .sql(|c| {
                c.prepare(keys)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })
            .unwrap();
        assert!(keys.len() > 15, "{keys:?}");
        for (table, column) in keys {
            let plan = plan(&store, &format!("SELECT 1 FROM {table} WHERE {column} = 1"));
            assert!(plan.contains("SEARCH"), "{table}.{column}: {plan}");
        }
    }
}
