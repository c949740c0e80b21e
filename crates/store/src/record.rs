//! A trial's record: written as one transaction, read back from its raw text.

use crate::columns::{int, int_if, json, sha256};
use crate::score::insert_scores;
use crate::{RunId, Store, StoreError};
use fsarena_model::contender::ContenderId;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::sample::Series;
use fsarena_model::spec::TrialKey;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

/// A slot of the plan, as far as a record must fit it.
struct Planned {
    slot: i64,
    key: TrialKey,
    /// Attempts with a record.
    attempts: u32,
    /// Outcome of the latest of them.
    latest: Option<String>,
}

/// An attempt as it is stored.
struct StoredTrial {
    /// What the plan says that it is of.
    key: TrialKey,
    attempt: u32,
    /// Number of its row.
    trial: i64,
    raw: String,
    sum: String,
}

fn stored_trial(row: &Row<'_>) -> rusqlite::Result<StoredTrial> {
    let key = TrialKey {
        sequence: row.get(0)?,
        block: row.get(1)?,
        position: row.get(2)?,
        run: row.get(3)?,
        contender: ContenderId(row.get(4)?),
        workload: row.get(5)?,
    };
    let (attempt, trial) = (row.get(6)?, row.get(7)?);
    Ok(StoredTrial { key, attempt, trial, raw: row.get(8)?, sum: row.get(9)? })
}

impl Store {
    /// Stores what a trial left: all of it or nothing, on stable storage when this returns. A slot
    /// whose latest attempt was interrupted takes one more.
    ///
    /// # Errors
    /// When the trial has a record already, does not fit the plan, or the write fails.
    pub fn put_record(&self, run: RunId, record: &TrialRecord) -> Result<(), StoreError> {
        self.put_records(run, std::slice::from_ref(record))
    }

    /// Stores what several trials left: all of it or nothing, on stable storage when this returns.
    ///
    /// # Errors
    /// As [`Store::put_record`].
    pub fn put_records(&self, run: RunId, records: &[TrialRecord]) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        records.iter().try_for_each(|record| self.insert_record(&transaction, run, record))?;
        self.commit(transaction)
    }

    fn insert_record(
        &self,
        t: &Transaction<'_>,
        run: RunId,
        record: &TrialRecord,
    ) -> Result<(), StoreError> {
        let planned = self.planned(run, record)?;
        let sequence = record.key.sequence;
        if planned.latest.as_deref().is_some_and(|outcome| outcome != "interrupted") {
            return Err(StoreError::AlreadyRecorded { run, sequence });
        }
        let not_in_plan = |detail: String| StoreError::NotInPlan { run, sequence, detail };
        fits(&planned, record).map_err(not_in_plan)?;
        let mut bare = record.clone();
        let series: Vec<Option<Series>> =
            bare.phases.iter_mut().map(|phase| phase.series.take()).collect();
        let raw = bare.to_json().map_err(|error| not_in_plan(error.to_string()))?;
        self.sql(|_| {
            let trial = insert_trial(t, planned.slot, planned.attempts + 1, &bare, &raw)?;
            let phases = insert_scores(t, trial, &bare)?;
            for (phase, series) in phases.into_iter().zip(&series) {
                if let Some(series) = series {
                    insert_series(t, phase, series)?;
                }
            }
            Ok(())
        })
    }

    /// Stores a record that was kept outside of the database; whether it was stored now. An attempt
    /// at the same trial that began at the same nanosecond is this one: it is there already.
    ///
    /// # Errors
    /// As [`Store::put_record`].
    pub fn take_in_record(&self, run: RunId, record: &TrialRecord) -> Result<bool, StoreError> {
        let is_there: bool = self.sql(|c| {
            c.query_row(
                "SELECT EXISTS (SELECT 1 FROM slot JOIN trial ON trial.slot_id = slot.id
                 WHERE slot.run_id = ? AND slot.sequence = ? AND trial.started_unix_ns = ?)",
                params![run.0, record.key.sequence, int(record.started_unix_ns)],
                |row| row.get(0),
            )
        })?;
        if is_there {
            return Ok(false);
        }
        self.put_record(run, record).map(|()| true)
    }

    fn planned(&self, run: RunId, record: &TrialRecord) -> Result<Planned, StoreError> {
        let found = self.sql(|c| {
            let mut select = c.prepare_cached(
                "SELECT slot.id, slot.block, slot.position, run.uid, contender.identity,
                 workload.name,
                 (SELECT count(*) FROM trial WHERE slot_id = slot.id),
                 (SELECT outcome FROM trial WHERE slot_id = slot.id ORDER BY attempt DESC LIMIT 1)
                 FROM slot JOIN run ON run.id = slot.run_id
                 JOIN contender ON contender.id = slot.contender_id
                 JOIN workload ON workload.id = slot.workload_id
                 WHERE slot.run_id = ? AND slot.sequence = ?",
            )?;
            let planned = |row: &Row<'_>| {
                let key = TrialKey {
                    sequence: record.key.sequence,
                    block: row.get(1)?,
                    position: row.get(2)?,
                    run: row.get(3)?,
                    contender: ContenderId(row.get(4)?),
                    workload: row.get(5)?,
                };
                let (attempts, latest) = (row.get(6)?, row.get(7)?);
                Ok(Planned { slot: row.get(0)?, key, attempts, latest })
            };
            select.query_row(params![run.0, record.key.sequence], planned).optional()
        })?;
        match found {
            Some(planned) => Ok(planned),
            None => {
                self.exists(run)?;
                let detail = "the plan has no such trial".to_owned();
                Err(StoreError::NotInPlan { run, sequence: record.key.sequence, detail })
            }
        }
    }

    /// The records of a RUN, in schedule order; of several attempts at a trial, the latest.
    ///
    /// # Errors
    /// When there is no such RUN or a record is damaged.
    pub fn records(&self, run: RunId) -> Result<Vec<TrialRecord>, StoreError> {
        let latest = "AND attempt = (SELECT max(attempt) FROM trial WHERE slot_id = slot.id)";
        let mut records = Vec::new();
        self.each_record(run, latest, |_, record| {
            records.push(record);
            Ok::<(), StoreError>(())
        })?;
        Ok(records)
    }

    /// All attempts of a RUN with their numbers, from 1: in schedule order, and the attempts at a
    /// trial in theirs.
    ///
    /// # Errors
    /// When there is no such RUN or a record is damaged.
    pub fn attempts(&self, run: RunId) -> Result<Vec<(u32, TrialRecord)>, StoreError> {
        let mut attempts = Vec::new();
        self.each_attempt(run, |number, record| {
            attempts.push((number, record));
            Ok::<(), StoreError>(())
        })?;
        Ok(attempts)
    }

    /// The same, one after the other: those of a large RUN take more memory than most commands may.
    ///
    /// # Errors
    /// When there is no such RUN, a record is damaged, or `take` fails.
    pub fn each_attempt<E: From<StoreError>>(
        &self,
        run: RunId,
        take: impl FnMut(u32, TrialRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_record(run, "", take)
    }

    fn each_record<E: From<StoreError>>(
        &self,
        run: RunId,
        condition: &str,
        mut take: impl FnMut(u32, TrialRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let _snapshot = self.read_transaction()?;
        self.exists(run)?;
        let trials: Vec<i64> = self.sql(|c| {
            c.prepare_cached(&format!(
                "SELECT trial.id FROM slot JOIN trial ON trial.slot_id = slot.id
                 WHERE slot.run_id = ? {condition} ORDER BY slot.sequence, trial.attempt"
            ))?
            .query_map([run.0], |row| row.get(0))?
            .collect()
        })?;
        for trial in trials {
            let stored = self.sql(|c| {
                let mut select = c.prepare_cached(
                    "SELECT slot.sequence, slot.block, slot.position, run.uid,
                     contender.identity, workload.name, trial.attempt, trial.id, trial.raw,
                     trial.raw_sha256 FROM trial JOIN slot ON slot.id = trial.slot_id
                     JOIN run ON run.id = slot.run_id
                     JOIN contender ON contender.id = slot.contender_id
                     JOIN workload ON workload.id = slot.workload_id WHERE trial.id = ?",
                )?;
                select.query_row([trial], stored_trial)
            })?;
            take(stored.attempt, self.record_of(run, stored)?)?;
        }
        Ok(())
    }

    /// The record of an attempt at a trial, with its series.
    fn record_of(&self, run: RunId, stored: StoredTrial) -> Result<TrialRecord, StoreError> {
        let StoredTrial { key, trial, raw, sum, .. } = stored;
        let sequence = key.sequence;
        if sha256(&raw) != sum {
            return Err(self.damaged(run, sequence, "its text does not fit its SHA-256"));
        }
        let mut record = self.parsed(run, sequence, &raw)?;
        if record.key != key {
            let detail = format!("trial {sequence}: its record is of another trial");
            return Err(StoreError::bad_run(&self.path, run, detail));
        }
        self.put_series_back(run, trial, &mut record)?;
        Ok(record)
    }

    /// The record of this text; where it is of a later schema, that is what is wrong with it.
    fn parsed(&self, run: RunId, sequence: u32, raw: &str) -> Result<TrialRecord, StoreError> {
        #[derive(serde::Deserialize)]
        struct Head {
            schema: u32,
        }
        let damaged = |error: serde_json::Error| self.damaged(run, sequence, &error.to_string());
        let parsed = TrialRecord::from_json(raw);
        let found = match &parsed {
            Ok(record) => record.schema,
            Err(_) => serde_json::from_str::<Head>(raw).map_err(damaged)?.schema,
        };
        let known = fsarena_model::RECORD_SCHEMA;
        if found > known {
            let path = self.path.clone();
            return Err(StoreError::NewerRecord { path, run, sequence, found, known });
        }
        parsed.map_err(damaged)
    }

    fn put_series_back(
        &self,
        run: RunId,
        trial: i64,
        record: &mut TrialRecord,
    ) -> Result<(), StoreError> {
        let sequence = record.key.sequence;
        let found: Vec<(usize, i64, i64, String, String)> = self.sql(|c| {
            c.prepare_cached(
                "SELECT score.position, score.phase_id, series.period_ns, series.t_ns, series.sha256
                 FROM score JOIN series USING (phase_id) WHERE score.trial_id = ?",
            )?
            .query_map([trial], |r| {
                Ok((r.get::<_, u32>(0)? as usize, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?))
            })?
            .collect()
        })?;
        for (position, phase_id, period_ns, t_ns, sum) in found {
            let damaged = |what: &str| self.damaged(run, sequence, what);
            let columns: Vec<(String, String)> = self.sql(|c| {
                c.prepare_cached("SELECT metric, readings FROM series_column WHERE phase_id = ?")?
                    .query_map([phase_id], |r| Ok((r.get(0)?, r.get(1)?)))?
                    .collect()
            })?;
            let mut series = Series {
                period_ns: u64::try_from(period_ns).unwrap_or(0),
                t_ns: serde_json::from_str(&t_ns).map_err(|e| damaged(&e.to_string()))?,
                ..Series::default()
            };
            for (metric, readings) in columns {
                let readings =
                    serde_json::from_str(&readings).map_err(|e| damaged(&e.to_string()))?;
                series.columns.insert(metric, readings);
            }
            if sha256(&json(&series)) != sum {
                return Err(damaged("a series does not fit its SHA-256"));
            }
            let phase = record.phases.get_mut(position);
            phase.ok_or_else(|| damaged("a series has no phase"))?.series = Some(series);
        }
        Ok(())
    }

    pub(crate) fn damaged(&self, run: RunId, sequence: u32, what: &str) -> StoreError {
        let detail = format!("RUN {run}, trial {sequence}: {what}");
        StoreError::Damaged { path: self.path.clone(), detail }
    }
}

fn insert_trial(
    t: &Transaction<'_>,
    slot: i64,
    attempt: u32,
    record: &TrialRecord,
    raw: &str,
) -> rusqlite::Result<i64> {
    let outcome = match &record.outcome {
        Outcome::Done => "done",
        Outcome::NotRun { .. } => "not-run",
        Outcome::Failed { .. } => "failed",
        Outcome::Interrupted => "interrupted",
    };
    t.prepare_cached(
        "INSERT INTO trial (slot_id, attempt, outcome, time_base, started_unix_ns, elapsed_ns,
         bad_files, raw, raw_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        slot,
        attempt,
        outcome,
        record.time_base.name(),
        int(record.started_unix_ns),
        int(record.elapsed_ns),
        int_if(record.verify.as_ref().map(|verify| verify.bad_files)),
        raw,
        sha256(raw),
    ])?;
    Ok(t.last_insert_rowid())
}

fn insert_series(t: &Transaction<'_>, phase: i64, series: &Series) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO series (phase_id, period_ns, t_ns, sha256) VALUES (?, ?, ?, ?)")?
        .execute(params![
            phase,
            int(series.period_ns),
            json(&series.t_ns),
            sha256(&json(series))
        ])?;
    let mut insert = t.prepare_cached(
        "INSERT INTO series_column (phase_id, metric, readings) VALUES (?, ?, ?)",
    )?;
    for (metric, readings) in &series.columns {
        insert.execute(params![phase, metric, json(readings)])?;
    }
    Ok(())
}

fn fits(planned: &Planned, record: &TrialRecord) -> Result<(), String> {
    let (planned, key) = (&planned.key, &record.key);
    for (what, planned, found) in [
        ("RUN", &planned.run, &key.run),
        ("contender", &planned.contender.0, &key.contender.0),
        ("workload", &planned.workload, &key.workload),
        ("block", &planned.block.to_string(), &key.block.to_string()),
        ("position", &planned.position.to_string(), &key.position.to_string()),
    ] {
        if planned != found {
            return Err(format!("its {what} is {found}, the plan says {planned}"));
        }
    }
    Ok(())
}
