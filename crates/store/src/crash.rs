//! Crash runs: each is written as one transaction, and read back from its raw text.

use crate::columns::{int, sha256};
use crate::{RunId, Store, StoreError};
use fsarena_crash::record::{CrashOutcome, RECORD_SCHEMA, StoredCrashRun};
use fsarena_model::crash::CrashSlot;
use rusqlite::{OptionalExtension as _, params};
use std::collections::BTreeSet;

impl Store {
    /// Stores what a crash run of the plan left, on stable storage when this returns.
    ///
    /// # Errors
    /// When it has a record already, does not fit the plan, or the write fails.
    pub fn put_crash_run(&self, run: RunId, stored: &StoredCrashRun) -> Result<(), StoreError> {
        let header = self.header(run)?;
        let slot = stored.slot;
        let not_in_plan = |detail: String| StoreError::CrashRunNotInPlan { run, detail };
        let crash = header.plan.crash.as_ref();
        let workload = crash.and_then(|crash| crash.workloads.get(slot.workload));
        let is_planned = header.plan.crash_slots().contains(&slot);
        let is_of_plan = crash.is_some_and(|crash| stored.is_of(&crash.campaign));
        let Some(workload) = workload.filter(|_| is_planned && is_of_plan) else {
            let detail = format!(
                "number {} of crash workload {} on contender {}",
                slot.number, slot.workload, slot.contender
            );
            return Err(not_in_plan(detail));
        };
        let raw = serde_json::to_string(stored).map_err(|error| not_in_plan(error.to_string()))?;
        let outcome = match &stored.outcome {
            CrashOutcome::Failed { .. } | CrashOutcome::Lacking { .. } => "failed",
            _ => "done",
        };
        self.transaction(|t| {
            let contender: Option<i64> = t
                .query_row(
                    "SELECT id FROM contender WHERE run_id = ? AND position = ?",
                    params![run.0, int(slot.contender as u64)],
                    |row| row.get(0),
                )
                .optional()?;
            t.execute(
                "INSERT INTO crash_run (contender_id, workload, number, outcome, started_unix_ns,
                 elapsed_ns, raw, raw_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    contender,
                    workload,
                    slot.number,
                    outcome,
                    int(stored.started_unix_ns),
                    int(stored.elapsed_ns),
                    raw,
                    sha256(&raw),
                ],
            )
        })?;
        Ok(())
    }

    /// Stores a crash run that was kept outside of the database; whether it was stored now. One of
    /// the same slot that began at the same nanosecond is this one: it is there already.
    ///
    /// # Errors
    /// As [`Store::put_crash_run`], also where its slot has another record.
    pub fn take_in_crash_run(
        &self,
        run: RunId,
        stored: &StoredCrashRun,
    ) -> Result<bool, StoreError> {
        let known = self.crash_runs(run)?.into_iter().find(|known| known.slot == stored.slot);
        match known {
            None => self.put_crash_run(run, stored).map(|()| true),
            Some(known) if known.started_unix_ns == stored.started_unix_ns => Ok(false),
            Some(_) => {
                let detail = "it has its record already, and that is another one".to_owned();
                Err(StoreError::CrashRunNotInPlan { run, detail })
            }
        }
    }

    /// The crash runs of a RUN that were done or have failed, in the order of its plan.
    ///
    /// # Errors
    /// When there is no such RUN or a record is damaged.
    pub fn crash_runs(&self, run: RunId) -> Result<Vec<StoredCrashRun>, StoreError> {
        self.exists(run)?;
        let rows: Vec<(String, String, u32, String, u32)> = self.sql(|c| {
            c.prepare_cached(
                "SELECT crash_run.raw, crash_run.raw_sha256, contender.position,
                 crash_run.workload, crash_run.number FROM crash_run
                 JOIN contender ON contender.id = crash_run.contender_id
                 WHERE contender.run_id = ? ORDER BY crash_run.id",
            )?
            .query_map([run.0], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?)))?
            .collect()
        })?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let plan = self.header(run)?.plan;
        let known: BTreeSet<CrashSlot> = plan.crash_slots().into_iter().collect();
        let (names, campaign) =
            plan.crash.map_or_else(Default::default, |crash| (crash.workloads, crash.campaign));
        let mut all = Vec::with_capacity(rows.len());
        for (raw, sum, contender, workload, number) in rows {
            let damaged = |what: &str| StoreError::Damaged {
                path: self.path.clone(),
                detail: format!("a crash run of RUN {run}: {what}"),
            };
            if sha256(&raw) != sum {
                return Err(damaged("its text does not fit its SHA-256"));
            }
            let stored: StoredCrashRun =
                serde_json::from_str(&raw).map_err(|error| damaged(&error.to_string()))?;
            if let CrashOutcome::Done(record) = &stored.outcome
                && record.schema > RECORD_SCHEMA
            {
                return Err(damaged("a newer fsarena wrote it; use that one"));
            }
            let slot = stored.slot;
            let is_of_row = (slot.contender, slot.number) == (contender as usize, number)
                && names.get(slot.workload) == Some(&workload);
            if !is_of_row || !known.contains(&slot) || !stored.is_of(&campaign) {
                let detail = format!(
                    "crash run {number} of {workload} on contender {contender}: its record is of \
                     another one, or of none of the plan"
                );
                return Err(StoreError::bad_run(&self.path, run, detail));
            }
            all.push(stored);
        }
        all.sort_by_key(|stored| stored.slot);
        Ok(all)
    }
}
