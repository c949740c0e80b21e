//! Scores: of each trial what verdicts are computed from, in columns of their own, so that a
//! hundred thousand of them are read at once.
//!
//! A score must be that of the record: [`TrialScore::from_record`]. Nothing is summed here; which
//! counters make up a figure is the model's matter.

use crate::columns::{cache_state_name, drained_name, int, int_if, unsigned, unsigned_if, word};
use crate::{RunId, Store, StoreError};
use fsarena_model::free::FreeQuantity;
use fsarena_model::metric::Metric;
use fsarena_model::record::{CacheState, Drained, TimeBase, TrialRecord, Window};
use fsarena_model::run::Clock;
use fsarena_model::score::{
    Covariates, MemoryKind, PROCESSOR, PhaseScore, ProcessorTime, TrialScore, WRITTEN, figures,
};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Transaction, params_from_iter};
use std::collections::HashMap;

/// Columns of the table, as [`insert_scores`] fills and [`phase`] reads them; the counters of
/// [`PROCESSOR`] and the [`Covariates`] are in their order.
const COLUMNS: &str = "name, failed, returned_ns, durable_ns, drained, drained_ns, cache_state,
    memory, cpu_user_ns, cpu_nice_ns, cpu_system_ns, cpu_irq_ns, cpu_softirq_ns, cpu_idle_ns,
    cpu_iowait_ns, cpu_steal_ns, written_bytes, p99_ns, not_warm, foreign_ns, canary_before_ns,
    canary_after_ns, frequency_khz, worker_cpu_ns, kernel_cpu_ns, ops, free,
    asked_bytes";

/// One row a timed phase, with their ids.
pub(crate) fn insert_scores(
    t: &Transaction<'_>,
    trial: i64,
    record: &TrialRecord,
) -> rusqlite::Result<Vec<i64>> {
    let places = ["?"; 30].join(", ");
    let sql = format!("INSERT INTO score (trial_id, position, {COLUMNS}) VALUES ({places})");
    let mut insert = t.prepare_cached(&sql)?;
    let mut insert_figure =
        t.prepare_cached("INSERT INTO score_figure (phase_id, metric, value) VALUES (?, ?, ?)")?;
    let mut ids = Vec::with_capacity(record.phases.len());
    for (position, phase) in record.phases.iter().enumerate() {
        let returned_ns = phase.ns(Clock::Returned).unwrap_or(phase.clocks.returned_ns);
        let drained_ns = match &phase.clocks.drained {
            Drained::NoDevice => None,
            _ => phase.ns(Clock::Drained),
        };
        let mut values: Vec<Value> = vec![
            trial.into(),
            int(position as u64).into(),
            phase.name.clone().into(),
            (!phase.is_complete()).into(),
            int(returned_ns).into(),
            int_if(phase.ns(Clock::Durable)).into(),
            drained_name(&phase.clocks.drained).to_owned().into(),
            int_if(drained_ns).into(),
            cache_state_name(phase.cache.state).to_owned().into(),
            memory_name(MemoryKind::from(&phase.memory)).to_owned().into(),
        ];
        let counter = |window, name: &str| int_if(phase.counter(window, name)).into();
        values.extend(PROCESSOR.map(|name| counter(Window::Durable, name)));
        values.push(counter(Window::Unmounted, WRITTEN));
        values.push(int_if(phase.p99_ns()).into());
        values.push((phase.cache.state == CacheState::NotWarm).into());
        values.extend(Covariates::from_phase(phase).to_columns().map(|value| int_if(value).into()));
        values.push(int(phase.compared_ops()).into());
        values.push(phase.free.map(|free| free.name().to_owned()).into());
        values.push(int(phase.compared_asked_bytes()).into());
        insert.execute(params_from_iter(values))?;
        let id = t.last_insert_rowid();
        for (metric, value) in figures(phase).into_iter().filter(|(_, value)| value.is_finite()) {
            insert_figure.execute((id, metric.name(), value))?;
        }
        ids.push(id);
    }
    Ok(ids)
}

impl Store {
    /// The scores of a RUN, in schedule order; of several attempts at a trial, the latest. Each is
    /// [`TrialScore::from_record`] its record. Raw texts are not read, and numbers above 2^63 - 1
    /// are cut to that. Trials stored before version 18 have no figures by name.
    ///
    /// # Errors
    /// When there is no such RUN, a value is damaged, or the database cannot be read.
    pub fn scores(&self, run: RunId) -> Result<Vec<TrialScore>, StoreError> {
        let _snapshot = self.read_transaction()?;
        self.exists(run)?;
        let mut scores = self.sql(|c| latest_trials(c, run))?;
        self.sql(|c| {
            let sql = format!("SELECT {COLUMNS} FROM score WHERE trial_id = ? ORDER BY position");
            let mut select = c.prepare_cached(&sql)?;
            for (trial, score) in &mut scores {
                let mut rows = select.query([*trial])?;
                while let Some(row) = rows.next()? {
                    score.phases.push(phase(row)?);
                }
            }
            add_figures(c, run, &mut scores)
        })?;
        Ok(scores.into_iter().map(|(_, score)| score).collect())
    }
}

/// Adds the figures by name, of all trials at once.
fn add_figures(
    c: &Connection,
    run: RunId,
    scores: &mut [(i64, TrialScore)],
) -> rusqlite::Result<()> {
    let at: HashMap<i64, usize> =
        scores.iter().enumerate().map(|(at, (trial, _))| (*trial, at)).collect();
    let mut select = c.prepare_cached(
        "SELECT score.trial_id, score.position, score_figure.metric, score_figure.value
         FROM slot JOIN trial INDEXED BY trial_for_scores ON trial.slot_id = slot.id
         JOIN score ON score.trial_id = trial.id
         JOIN score_figure ON score_figure.phase_id = score.phase_id
         WHERE slot.run_id = ? ORDER BY score.trial_id, score.position, score_figure.metric",
    )?;
    let mut rows = select.query([run.0])?;
    while let Some(row) = rows.next()? {
        let Some(at) = at.get(&row.get(0)?) else { continue };
        let position = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX);
        // A later program may know more metrics.
        let Some(metric) = Metric::named(&row.get::<_, String>(2)?) else { continue };
        if let Some(phase) = scores[*at].1.phases.get_mut(position) {
            phase.figures.push((metric, row.get(3)?));
        }
    }
    Ok(())
}

/// The latest attempt at each slot, by its number, without its phases.
fn latest_trials(c: &Connection, run: RunId) -> rusqlite::Result<Vec<(i64, TrialScore)>> {
    let mut select = c.prepare_cached(
        "SELECT slot.sequence, trial.id, trial.outcome, trial.started_unix_ns, trial.elapsed_ns,
         trial.bad_files, trial.time_base FROM slot JOIN trial INDEXED BY trial_for_scores
         ON trial.slot_id = slot.id WHERE slot.run_id = ? ORDER BY slot.sequence, trial.attempt",
    )?;
    let mut rows = select.query([run.0])?;
    let mut trials: Vec<(i64, TrialScore)> = Vec::new();
    while let Some(row) = rows.next()? {
        let score = TrialScore {
            sequence: row.get(0)?,
            started_unix_ns: unsigned(row, 3)?,
            elapsed_ns: unsigned(row, 4)?,
            is_interrupted: word(row, 2, is_interrupted)?,
            time_base: word(row, 6, TimeBase::named)?,
            has_bad_contents: unsigned_if(row, 5)?.is_some_and(|files| files > 0),
            phases: Vec::new(),
        };
        if trials.last().is_some_and(|(_, before)| before.sequence == score.sequence) {
            trials.pop();
        }
        trials.push((row.get(1)?, score));
    }
    Ok(trials)
}

/// Whether a trial of this outcome was interrupted.
fn is_interrupted(outcome: &str) -> Option<bool> {
    match outcome {
        "interrupted" => Some(true),
        "done" | "not-run" | "failed" => Some(false),
        _ => None,
    }
}

/// Whether there was a device to drain, by the word of [`drained_name`].
fn has_device(drained: &str) -> Option<bool> {
    match drained {
        "no-device" => Some(false),
        "frozen" | "idle" | "not-drained" => Some(true),
        _ => None,
    }
}

/// What has this word of [`cache_state_name`]; of the two that are `warm`, one.
fn cache_state(word: &str) -> Option<CacheState> {
    const ALL: [CacheState; 5] = [
        CacheState::Cold,
        CacheState::ColdClients,
        CacheState::Warm,
        CacheState::WarmByNature,
        CacheState::Unknown,
    ];
    ALL.into_iter().find(|state| cache_state_name(*state) == word)
}

/// What has this word of [`memory_name`].
fn memory(word: &str) -> Option<MemoryKind> {
    const ALL: [MemoryKind; 3] = [MemoryKind::Whole, MemoryKind::Limited, MemoryKind::NotLimited];
    ALL.into_iter().find(|memory| memory_name(*memory) == word)
}

/// A row of [`COLUMNS`].
fn phase(row: &Row<'_>) -> rusqlite::Result<PhaseScore> {
    let is_cut_short: bool = row.get(1)?;
    let durable_ns = unsigned_if(row, 3)?;
    let mut counters = [None; PROCESSOR.len()];
    for (at, counter) in (8..).zip(&mut counters) {
        *counter = unsigned_if(row, at)?;
    }
    let ProcessorTime { cpu_ns, machine_ns, steal_ns } = ProcessorTime::from_counters(counters);
    let mut covariates = [None; 6];
    for (at, value) in (19..).zip(&mut covariates) {
        *value = unsigned_if(row, at)?;
    }
    Ok(PhaseScore {
        name: row.get(0)?,
        free: match row.get_ref(26)?.as_str_or_null()? {
            Some(_) => Some(word(row, 26, FreeQuantity::named)?),
            None => None,
        },
        is_complete: !is_cut_short,
        returned_ns: unsigned(row, 2)?,
        durable_ns,
        drained_ns: match word(row, 4, has_device)? {
            false => durable_ns,
            true => unsigned_if(row, 5)?,
        },
        cache: match word(row, 6, cache_state)? {
            CacheState::Warm if row.get(18)? => CacheState::NotWarm,
            state => state,
        },
        memory: word(row, 7, memory)?,
        cpu_ns,
        machine_ns,
        steal_ns,
        written_bytes: unsigned_if(row, 16)?,
        p99_ns: unsigned_if(row, 17)?,
        ops: unsigned_if(row, 25)?,
        asked_bytes: unsigned_if(row, 27)?,
        covariates: Covariates::from_columns(covariates),
        figures: Vec::new(),
    })
}

fn memory_name(memory: MemoryKind) -> &'static str {
    match memory {
        MemoryKind::Whole => "whole",
        MemoryKind::Limited => "limited",
        MemoryKind::NotLimited => "not-limited",
    }
}
