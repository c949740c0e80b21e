//! A trial's record: taken apart into rows when it is written, read back from its raw text.

use crate::write::{cache_name, int, int_if, sha256};
use crate::{RunId, Store, StoreError};
use fsarena_model::record::{CacheState, Drained, MemoryRecord, Outcome, PhaseRecord, TrialRecord};
use fsarena_model::sample::{LatencyHistogram, Series};
use fsarena_model::work::Order;
use rusqlite::{OptionalExtension as _, Transaction, params};

/// A slot of the plan, as far as a record must fit it.
struct Planned {
    slot: i64,
    uid: String,
    contender: String,
    workload: String,
    recorded: bool,
}

impl Store {
    /// Stores what a trial left: all of it or nothing, on stable storage when this returns.
    ///
    /// # Errors
    /// When the trial has a record already, does not fit the plan, or the write fails.
    pub fn put_record(&self, run: RunId, record: &TrialRecord) -> Result<(), StoreError> {
        let planned = self.planned(run, record)?;
        let sequence = record.key.sequence;
        if planned.recorded {
            return Err(StoreError::AlreadyRecorded { run, sequence });
        }
        let not_in_plan = |detail: String| StoreError::NotInPlan { run, sequence, detail };
        fits(&planned, record).map_err(not_in_plan)?;
        let mut bare = record.clone();
        let series: Vec<Option<Series>> =
            bare.phases.iter_mut().map(|phase| phase.series.take()).collect();
        let raw = serde_json::to_string(&bare).map_err(|error| not_in_plan(error.to_string()))?;
        let written = self.transaction(|t| {
            insert_trial(t, planned.slot, &bare, &raw)?;
            insert_rows(t, planned.slot, &bare)?;
            for (place, (phase, series)) in bare.phases.iter().zip(&series).enumerate() {
                let id = insert_phase(t, planned.slot, place, phase)?;
                insert_counters(t, id, phase)?;
                if let Some(series) = series {
                    insert_series(t, id, series)?;
                }
            }
            Ok(())
        });
        match written {
            // Another process was faster between our look and our write.
            Err(StoreError::Sqlite { source, .. }) if is_duplicate(&source) => {
                Err(StoreError::AlreadyRecorded { run, sequence })
            }
            other => other,
        }
    }

    fn planned(&self, run: RunId, record: &TrialRecord) -> Result<Planned, StoreError> {
        let found = self.sql(|c| {
            c.query_row(
                "SELECT slot.id, run.uid, contender.identity, workload.name,
                 EXISTS (SELECT 1 FROM trial WHERE trial.id = slot.id)
                 FROM slot JOIN run ON run.id = slot.run_id
                 JOIN contender ON contender.id = slot.contender_id
                 JOIN workload ON workload.id = slot.workload_id
                 WHERE slot.run_id = ? AND slot.sequence = ?",
                params![run.0, record.key.sequence],
                |row| {
                    Ok(Planned {
                        slot: row.get(0)?,
                        uid: row.get(1)?,
                        contender: row.get(2)?,
                        workload: row.get(3)?,
                        recorded: row.get(4)?,
                    })
                },
            )
            .optional()
        })?;
        match found {
            Some(planned) => Ok(planned),
            None => {
                self.run(run)?;
                let detail = "the plan has no such trial".to_owned();
                Err(StoreError::NotInPlan { run, sequence: record.key.sequence, detail })
            }
        }
    }

    /// The records of a RUN, in schedule order.
    ///
    /// # Errors
    /// When there is no such RUN or a record is damaged.
    pub fn records(&self, run: RunId) -> Result<Vec<TrialRecord>, StoreError> {
        self.run(run)?;
        let rows: Vec<(u32, i64, String, String)> = self.sql(|c| {
            c.prepare(
                "SELECT slot.sequence, trial.id, trial.raw, trial.raw_sha256
                 FROM trial JOIN slot ON slot.id = trial.id
                 WHERE slot.run_id = ? ORDER BY slot.sequence",
            )?
            .query_map([run.0], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?
            .collect()
        })?;
        let mut records = Vec::with_capacity(rows.len());
        for (sequence, trial, raw, sum) in rows {
            let damaged = |what: &str| self.damaged(run, sequence, what);
            if sha256(&raw) != sum {
                return Err(damaged("its text does not fit its SHA-256"));
            }
            self.known_schema(run, sequence, &raw)?;
            let mut record: TrialRecord =
                serde_json::from_str(&raw).map_err(|error| damaged(&error.to_string()))?;
            self.put_series_back(run, trial, &mut record)?;
            records.push(record);
        }
        Ok(records)
    }

    fn known_schema(&self, run: RunId, sequence: u32, raw: &str) -> Result<(), StoreError> {
        #[derive(serde::Deserialize)]
        struct Head {
            schema: u32,
        }
        let known = fsarena_model::RECORD_SCHEMA;
        match serde_json::from_str::<Head>(raw) {
            Ok(Head { schema: found }) if found > known => {
                let path = self.path.clone();
                Err(StoreError::NewerRecord { path, run, sequence, found, known })
            }
            Ok(_) => Ok(()),
            Err(error) => Err(self.damaged(run, sequence, &error.to_string())),
        }
    }

    fn put_series_back(
        &self,
        run: RunId,
        trial: i64,
        record: &mut TrialRecord,
    ) -> Result<(), StoreError> {
        let sequence = record.key.sequence;
        let found: Vec<(usize, i64, i64, String)> = self.sql(|c| {
            c.prepare_cached(
                "SELECT phase.place, phase.id, series.period_ns, series.t_ns
                 FROM series JOIN phase ON phase.id = series.phase_id WHERE phase.trial_id = ?",
            )?
            .query_map([trial], |r| {
                Ok((r.get::<_, u32>(0)? as usize, r.get(1)?, r.get(2)?, r.get(3)?))
            })?
            .collect()
        })?;
        for (place, phase_id, period_ns, t_ns) in found {
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
            let phase = record.phases.get_mut(place);
            phase.ok_or_else(|| damaged("a series has no phase"))?.series = Some(series);
        }
        Ok(())
    }

    fn damaged(&self, run: RunId, sequence: u32, what: &str) -> StoreError {
        let detail = format!("RUN {run}, trial {sequence}: {what}");
        StoreError::Damaged { path: self.path.clone(), detail }
    }
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

fn fits(planned: &Planned, record: &TrialRecord) -> Result<(), String> {
    let key = &record.key;
    for (what, planned, found) in [
        ("RUN", &planned.uid, &key.run),
        ("contender", &planned.contender, &key.contender.0),
        ("workload", &planned.workload, &key.workload),
    ] {
        if planned != found {
            return Err(format!("its {what} is {found}, the plan says {planned}"));
        }
    }
    Ok(())
}

fn insert_trial(
    t: &Transaction<'_>,
    slot: i64,
    record: &TrialRecord,
    raw: &str,
) -> rusqlite::Result<()> {
    let (outcome, step, reason, remedy) = match &record.outcome {
        Outcome::Done => ("done", None, None, None),
        Outcome::NotRun { reason } => ("not-run", None, Some(reason), None),
        Outcome::Failed { step, error, remedy } => {
            ("failed", Some(step), Some(error), remedy.as_ref())
        }
        Outcome::Interrupted => ("interrupted", None, None, None),
    };
    let (fs, space) = (&record.filesystem, record.space.as_ref());
    t.execute(
        "INSERT INTO trial (id, outcome, failed_step, reason, remedy, started_unix_ns, elapsed_ns,
         tool_version, mount_asked, mounted_type, mounted_options, served_by, used_bytes,
         used_empty_bytes, stored_bytes, unmount_ns, verified_files, bad_files, raw, raw_sha256)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            slot,
            outcome,
            step,
            reason,
            remedy,
            int(record.started_unix_ns),
            int(record.elapsed_ns),
            fs.tool_version,
            fs.mount_asked,
            fs.mounted_type,
            fs.mounted_options,
            fs.served_by,
            int_if(space.map(|s| s.used_bytes)),
            int_if(space.map(|s| s.used_empty_bytes)),
            int_if(space.map(|s| s.stored_bytes)),
            int_if(record.unmount_ns),
            int_if(record.verify.as_ref().map(|v| v.files)),
            int_if(record.verify.as_ref().map(|v| v.bad_files)),
            raw,
            sha256(raw),
        ],
    )?;
    Ok(())
}

/// Steps, facts and notices.
fn insert_rows(t: &Transaction<'_>, trial: i64, record: &TrialRecord) -> rusqlite::Result<()> {
    let mut step = t.prepare_cached(
        "INSERT INTO step (trial_id, place, step, phase, elapsed_ns) VALUES (?, ?, ?, ?, ?)",
    )?;
    for (place, row) in record.steps.iter().enumerate() {
        let place = int(place as u64);
        step.execute(params![trial, place, row.step, row.phase, int(row.elapsed_ns)])?;
    }
    let mut fact =
        t.prepare_cached("INSERT INTO fact (trial_id, about, name, value) VALUES (?, ?, ?, ?)")?;
    for (about, facts) in [("device", &record.device), ("filesystem", &record.filesystem.features)]
    {
        for (name, value) in facts {
            fact.execute(params![trial, about, name, value])?;
        }
    }
    let mut notice = t.prepare_cached(
        "INSERT INTO notice (trial_id, place, code, text, remedy) VALUES (?, ?, ?, ?, ?)",
    )?;
    for (place, row) in record.notices.iter().enumerate() {
        notice.execute(params![trial, int(place as u64), row.code, row.text, row.remedy])?;
    }
    Ok(())
}

const INSERT_PHASE: &str = "INSERT INTO phase (trial_id, place, name, op, file_order,
    started_unix_ns, returned_ns, durable_ns, drained, drained_ns, drained_reason, ops,
    asked_bytes, cache_asked, cache_state, cache_why, memory, memory_limit_bytes,
    memory_peak_bytes, memory_why, worker_user_ns, worker_system_ns, latency_precision_bits,
    latency_min_ns, latency_max_ns, latency_sum_ns, latency_buckets, sampler_samples,
    sampler_cpu_ns, sampler_wall_ns, error_op_index, error_errno, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?)";

fn insert_phase(
    t: &Transaction<'_>,
    trial: i64,
    place: usize,
    phase: &PhaseRecord,
) -> rusqlite::Result<i64> {
    let (drained, drained_reason) = match &phase.clocks.drained {
        Drained::Frozen { .. } => ("frozen", None),
        Drained::Idle { .. } => ("idle", None),
        Drained::NoDevice => ("no-device", None),
        Drained::NotDrained { reason } => ("not-drained", Some(reason)),
    };
    let (memory, limit, peak, why) = memory_columns(&phase.memory);
    let latency = phase.latency.as_ref();
    let number = |of: fn(&LatencyHistogram) -> u64| int_if(latency.map(of));
    let sampler = phase.sampler.as_ref();
    let error = phase.error.as_ref();
    t.prepare_cached(INSERT_PHASE)?.execute(params![
        trial,
        int(place as u64),
        phase.name,
        phase.op.name(),
        match phase.order {
            Order::Sequential => "sequential",
            Order::Random => "random",
        },
        int(phase.started_unix_ns),
        int(phase.clocks.returned_ns),
        int_if(phase.clocks.durable_ns),
        drained,
        int_if(phase.clocks.drained.ns()),
        drained_reason,
        int(phase.ops),
        int(phase.asked_bytes),
        cache_name(phase.cache.asked),
        match phase.cache.state {
            CacheState::Cold => "cold",
            CacheState::Warm => "warm",
            CacheState::WarmByNature => "warm-by-nature",
        },
        phase.cache.why,
        memory,
        int_if(limit),
        int_if(peak),
        why,
        int(phase.worker.user_ns),
        int(phase.worker.system_ns),
        number(|h| u64::from(h.precision_bits)),
        number(|h| h.min_ns),
        number(|h| h.max_ns),
        number(|h| h.sum_ns),
        latency.map(|h| json(&h.buckets)),
        int_if(sampler.map(|s| s.samples)),
        int_if(sampler.map(|s| s.cpu_ns)),
        int_if(sampler.map(|s| s.wall_ns)),
        int_if(error.map(|e| e.op_index)),
        error.map(|e| e.errno),
        error.map(|e| format!("{} {}: {}", e.call, e.path, e.text)),
    ])?;
    Ok(t.last_insert_rowid())
}

type MemoryColumns<'a> = (&'static str, Option<u64>, Option<u64>, Option<&'a str>);

fn memory_columns(memory: &MemoryRecord) -> MemoryColumns<'_> {
    match memory {
        MemoryRecord::Whole => ("whole", None, None, None),
        MemoryRecord::Limited { limit_bytes, by, peak_bytes, .. } => {
            ("limited", Some(*limit_bytes), *peak_bytes, Some(by))
        }
        MemoryRecord::NotLimited { limit_bytes, reason } => {
            ("not-limited", Some(*limit_bytes), None, Some(reason))
        }
    }
}

fn insert_counters(t: &Transaction<'_>, id: i64, phase: &PhaseRecord) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO counter (phase_id, window, name, value) VALUES (?, ?, ?, ?)",
    )?;
    for (window, counters) in &phase.windows {
        for (name, value) in counters {
            insert.execute(params![id, window.name(), name, int(*value)])?;
        }
    }
    Ok(())
}

fn insert_series(t: &Transaction<'_>, id: i64, series: &Series) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO series (phase_id, period_ns, t_ns) VALUES (?, ?, ?)")?
        .execute(params![id, int(series.period_ns), json(&series.t_ns)])?;
    let mut insert = t.prepare_cached(
        "INSERT INTO series_column (phase_id, metric, readings) VALUES (?, ?, ?)",
    )?;
    for (metric, readings) in &series.columns {
        insert.execute(params![id, metric, json(readings)])?;
    }
    Ok(())
}

fn json<T: serde::Serialize>(numbers: &T) -> String {
    serde_json::to_string(numbers).expect("lists of integers are representable as JSON")
}
