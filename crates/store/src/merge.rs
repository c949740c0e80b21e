//! Merging: the RUNs of another database taken over whole, as they are.
//!
//! Nothing is written to the other database, but that opening it rolls back a transaction which a
//! crash has cut off. What is here already stays as it is, whatever the other database says of it.

use crate::tables::{CopyError, Table, copy_run, tables};
use crate::{RunId, RunRow, Store, StoreError};
use fsarena_model::run::RunState;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What became of the RUNs of another database, in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// One element a RUN.
    pub runs: Vec<MergedRun>,
}

/// A RUN of the other database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergedRun {
    /// As it is there.
    pub there: RunRow,
    /// What became of it.
    pub outcome: MergeOutcome,
}

/// What became of a RUN of the other database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeOutcome {
    /// It was not here: taken over whole.
    Taken { run: RunId },
    /// It is here already, with the same records.
    Same { run: RunId },
    /// It is here already, and went on here: nothing of it is missing.
    LongerHere {
        run: RunId,
        /// Records that are here only.
        more: usize,
    },
    /// It is here already, and went on there: those records were not taken.
    LongerThere {
        run: RunId,
        /// Records that are there only.
        more: usize,
    },
    /// Another one with the same id is here: refused.
    Differs {
        run: RunId,
        /// What is not the same, in words.
        what: String,
    },
    /// It is called running there: skipped.
    AtWork,
}

impl Merged {
    /// RUNs that were taken over.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.runs.iter().filter(|run| matches!(run.outcome, MergeOutcome::Taken { .. })).count()
    }

    /// RUNs that were refused because they differ from ours of the same id.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.runs.iter().filter(|run| matches!(run.outcome, MergeOutcome::Differs { .. })).count()
    }
}

impl Store {
    /// Takes over every RUN of the database `other` that is not here: all of them, or on an error
    /// none. RUNs that are at work there are skipped; those that are here already stay as they are,
    /// and are compared.
    ///
    /// # Errors
    /// When `other` is this database, cannot be read or is damaged, or this one cannot be written.
    pub fn merge(&mut self, other: &Path) -> Result<Merged, StoreError> {
        if same_file(&self.path, other) {
            return Err(StoreError::SameDatabase { path: other.to_owned() });
        }
        let other = Self::open_read_only(other)?;
        let _snapshot = other.read_transaction()?;
        other.check_whole()?;
        let tables = self.sql(tables)?;
        let transaction = self.begin()?;
        let mut runs = Vec::new();
        for there in other.runs()? {
            let outcome = match self.numbered(&there.uid)? {
                Some(run) => self.compared(run, &other, there.id)?,
                None if there.state == RunState::Running => MergeOutcome::AtWork,
                None => {
                    MergeOutcome::Taken { run: self.take(&tables, &transaction, &other, there.id)? }
                }
            };
            runs.push(MergedRun { there, outcome });
        }
        self.commit(transaction)?;
        Ok(Merged { runs })
    }

    /// The RUN of this id here.
    fn numbered(&self, uid: &str) -> Result<Option<RunId>, StoreError> {
        self.sql(|c| {
            let mut select = c.prepare_cached("SELECT id FROM run WHERE uid = ?")?;
            select.query_row([uid], |row| Ok(RunId(row.get(0)?))).optional()
        })
    }

    fn take(
        &self,
        tables: &[Table],
        transaction: &Transaction<'_>,
        other: &Self,
        run: RunId,
    ) -> Result<RunId, StoreError> {
        // What cannot be read is found here and not when somebody wants to see it.
        let header = other.header(run)?;
        other.slots_fit(run, &header)?;
        other.each_attempt(run, |_, _| Ok::<(), StoreError>(()))?;
        other.scores(run)?;
        other.looks(run)?;
        other.crash_runs(run)?;
        other.time_limit.begin(other.time_of_all());
        self.time_limit.begin(other.time_of_all());
        let copied = copy_run(tables, &other.connection, transaction, run.0);
        let new = copied.map_err(|error| match error {
            CopyError::From(error) => StoreError::from_sqlite(&other.path, error),
            CopyError::To(error) => StoreError::from_sqlite(&self.path, error),
            CopyError::Stray(table) => StoreError::Damaged {
                path: other.path.clone(),
                detail: format!("a row of its table {table} does not belong to its RUN {run}"),
            },
        })?;
        self.sql(|c| c.prepare_cached("UPDATE run SET merged = 1 WHERE id = ?")?.execute([new]))?;
        Ok(RunId(new))
    }

    /// RUN `here` of this database, compared with RUN `there` of the other one.
    fn compared(
        &self,
        here: RunId,
        other: &Self,
        there: RunId,
    ) -> Result<MergeOutcome, StoreError> {
        let differs = |what: String| Ok(MergeOutcome::Differs { run: here, what });
        let raw = "SELECT raw FROM run WHERE id = ?";
        let plan = |store: &Self, run: RunId| {
            store.sql(|c| c.query_row(raw, [run.0], |row| row.get::<_, String>(0)))
        };
        if plan(self, here)? != plan(other, there)? {
            return differs("its plan is another".to_owned());
        }
        let (ours, theirs) = (self.digests(here)?, other.digests(there)?);
        for (at @ (sequence, attempt), digest) in &ours {
            if theirs.get(at).is_some_and(|known| known != digest) {
                return differs(format!("attempt {attempt} at its trial {sequence} is another"));
            }
        }
        let (crashes, their_crashes) = (self.crash_digests(here)?, other.crash_digests(there)?);
        for (at @ (workload, contender, number), digest) in &crashes {
            if their_crashes.get(at).is_some_and(|known| known != digest) {
                return differs(format!(
                    "crash run {number} of {workload} on its contender {contender} is another"
                ));
            }
        }
        // Where one of them went on, it may have looks that the other lacks.
        let looks = (self.looks(here)?, other.looks(there)?);
        if looks.0.iter().zip(&looks.1).any(|(ours, theirs)| ours != theirs) {
            return differs("a look decided otherwise".to_owned());
        }
        let here_only = only(&ours, &theirs) + only(&crashes, &their_crashes);
        let there_only = only(&theirs, &ours) + only(&their_crashes, &crashes);
        Ok(match (here_only, there_only) {
            (0, 0) => MergeOutcome::Same { run: here },
            (more, 0) => MergeOutcome::LongerHere { run: here, more },
            (0, more) => MergeOutcome::LongerThere { run: here, more },
            (us, them) => {
                let what =
                    format!("both went on with it: {us} records only here, {them} only there");
                MergeOutcome::Differs { run: here, what }
            }
        })
    }

    /// A digest of each attempt of a RUN, by trial and number.
    fn digests(&self, run: RunId) -> Result<Digests, StoreError> {
        self.sql(|c| {
            c.prepare(
                "SELECT slot.sequence, trial.attempt, trial.id, trial.raw
                 FROM slot JOIN trial ON trial.slot_id = slot.id WHERE slot.run_id = ?",
            )?
            .query_map([run.0], |row| {
                let digest = digest(c, row.get(2)?, row.get_ref(3)?)?;
                Ok(((row.get(0)?, row.get(1)?), digest))
            })?
            .collect()
        })
    }

    /// The digest that is stored with each crash run of a RUN.
    fn crash_digests(&self, run: RunId) -> Result<CrashDigests, StoreError> {
        self.sql(|c| {
            c.prepare(
                "SELECT crash_run.workload, contender.position, crash_run.number,
                 crash_run.raw_sha256 FROM crash_run
                 JOIN contender ON contender.id = crash_run.contender_id
                 WHERE contender.run_id = ?",
            )?
            .query_map([run.0], |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?)))?
            .collect()
        })
    }
}

type Digests = BTreeMap<(u32, u32), [u8; 32]>;
/// Of crash runs, by workload, position of the contender and number.
type CrashDigests = BTreeMap<(String, u32, u32), String>;

/// How many of these are not among those.
fn only<K: Ord, V>(these: &BTreeMap<K, V>, those: &BTreeMap<K, V>) -> usize {
    these.keys().filter(|at| !those.contains_key(at)).count()
}

/// Of the raw text of a record, and of its series, which are not in it.
fn digest(connection: &Connection, trial: i64, raw: ValueRef<'_>) -> rusqlite::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(raw.as_bytes()?);
    let mut series = connection.prepare_cached(
        "SELECT score.position, series.period_ns, series.t_ns, series_column.metric,
         series_column.readings FROM score JOIN series USING (phase_id)
         LEFT JOIN series_column USING (phase_id)
         WHERE score.trial_id = ? ORDER BY score.position, series_column.metric",
    )?;
    let mut rows = series.query([trial])?;
    while let Some(row) = rows.next()? {
        for at in 0..2 {
            add(&row.get::<_, i64>(at)?.to_le_bytes());
        }
        for at in 2..5 {
            add(row.get_ref(at)?.as_bytes_or_null()?.unwrap_or_default());
        }
    }
    Ok(hash.finalize().into())
}

/// Whether two paths lead to one file, by whatever name.
fn same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    identity(a).is_some_and(|known| identity(b) == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;
    use fsarena_testkit::records::{self, contender, small_files};

    /// In unit tests the wait for another process is short.
    #[test]
    fn a_database_that_another_program_holds_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs.db");
        let store = Store::open(&theirs).unwrap();
        let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        let run = store.create_run(&header, &owner).unwrap();
        store.set_state(run, RunState::Interrupted, None).unwrap();
        let mut ours = Store::open(&dir.path().join("ours.db")).unwrap();
        let busy = |path: &Path, ours: &mut Store| {
            let holder = Connection::open(path).unwrap();
            holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
            let error = ours.merge(&theirs).unwrap_err();
            let StoreError::Busy { path: named } = &error else { panic!("{error:?}") };
            assert_eq!(named, path);
        };
        busy(&theirs, &mut ours);
        let here = ours.path.clone();
        busy(&here, &mut ours);
        assert_eq!(ours.merge(&theirs).unwrap().taken(), 1);
    }

    /// A full disk in the middle, simulated by a limit on pages.
    #[test]
    fn half_a_merge_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs.db");
        let store = Store::open(&theirs).unwrap();
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        for uid in ["aaaa".repeat(4), "bbbb".repeat(4)] {
            let contenders = vec![contender("ext4", "ext4", 1)];
            let mut header = records::header(contenders, vec![small_files()], 9);
            header.uid = uid;
            let run = store.create_run(&header, &owner).unwrap();
            for sequence in 0..9 {
                store.put_record(run, &records::record(&header, sequence)).unwrap();
            }
            store.set_state(run, RunState::Done, None).unwrap();
        }
        let mut ours = Store::open(&dir.path().join("ours.db")).unwrap();
        let pages: i64 = ours.sql(|c| c.query_row("PRAGMA page_count", [], |r| r.get(0))).unwrap();
        let limit = |store: &Store, pages: i64| {
            let pragma = format!("PRAGMA max_page_count = {pages}");
            store.sql(|c| c.query_row(&pragma, [], |_| Ok(()))).unwrap();
        };
        let mut refusals = 0;
        for more in (1..).step_by(3) {
            limit(&ours, pages + more);
            match ours.merge(&theirs) {
                Ok(merged) => {
                    assert_eq!(merged.taken(), 2);
                    break;
                }
                Err(StoreError::Full { .. }) => assert_eq!(ours.runs().unwrap(), []),
                Err(error) => panic!("{more}: {error:?}"),
            }
            refusals += 1;
        }
        assert!(refusals > 5, "only {refusals}");
    }
}
