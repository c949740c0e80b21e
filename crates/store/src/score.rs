//! Scores: of each trial what verdicts are computed from, in columns of their own, so that a
//! hundred thousand of them are read at once.
//!
//! A score must be that of the record: [`TrialScore::of`]. Nothing is summed here; which counters
//! make up a figure is the model's matter.

use crate::columns::{int, int_if, unsigned, unsigned_if};
use crate::rows::{cache_state_name, drained_columns};
use crate::{RunId, Store, StoreError};
use fsarena_model::record::{CacheState, Drained, TrialRecord, Window};
use fsarena_model::run::Clock;
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::score::{MemoryKind, PROCESSOR, PhaseScore, ProcessorTime, TrialScore, WRITTEN};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Transaction, params_from_iter};

/// Columns of the table, as [`insert_scores`] fills and [`phase`] reads them; the counters of
/// [`PROCESSOR`] are in its order.
const COLUMNS: &str = "name, failed, returned_ns, durable_ns, drained, drained_ns, cache_state,
    memory, cpu_user_ns, cpu_nice_ns, cpu_system_ns, cpu_irq_ns, cpu_softirq_ns, cpu_idle_ns,
    cpu_iowait_ns, cpu_steal_ns, written_bytes";

/// One row a timed phase.
pub(crate) fn insert_scores(
    t: &Transaction<'_>,
    trial: i64,
    record: &TrialRecord,
) -> rusqlite::Result<()> {
    let places = ["?"; 19].join(", ");
    let sql = format!("INSERT INTO score (trial_id, place, {COLUMNS}) VALUES ({places})");
    let mut insert = t.prepare_cached(&sql)?;
    for (place, phase) in record.phases.iter().enumerate() {
        let returned_ns = phase.ns(Clock::Returned).unwrap_or(phase.clocks.returned_ns);
        let drained_ns = match &phase.clocks.drained {
            Drained::NoDevice => None,
            _ => phase.ns(Clock::Drained),
        };
        let mut values: Vec<Value> = vec![
            trial.into(),
            int(place as u64).into(),
            phase.name.clone().into(),
            (!phase.is_complete()).into(),
            int(returned_ns).into(),
            int_if(phase.ns(Clock::Durable)).into(),
            drained_columns(&phase.clocks.drained).0.to_owned().into(),
            int_if(drained_ns).into(),
            cache_state_name(phase.cache.state).to_owned().into(),
            memory_name(MemoryKind::from(&phase.memory)).to_owned().into(),
        ];
        let counter = |window, name: &str| int_if(phase.counter(window, name)).into();
        values.extend(PROCESSOR.map(|name| counter(Window::Durable, name)));
        values.push(counter(Window::Unmounted, WRITTEN));
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

impl Store {
    /// The scores of a RUN, in schedule order; of several attempts at a trial, the latest. Each is
    /// [`TrialScore::of`] its record, but that the latency is there only where it is asked for: it
    /// takes the histograms, which are most of what is read then. Raw texts are not read, and
    /// numbers above 2^63 - 1 are cut to that.
    ///
    /// # Errors
    /// When there is no such RUN, a value is damaged, or the database cannot be read.
    pub fn scores(&self, run: RunId, with_latency: bool) -> Result<Vec<TrialScore>, StoreError> {
        let _snapshot = self.read_transaction()?;
        self.exists(run)?;
        let mut scores = self.sql(|c| latest_trials(c, run))?;
        self.sql(|c| {
            let sql = format!("SELECT {COLUMNS} FROM score WHERE trial_id = ? ORDER BY place");
            let mut select = c.prepare(&sql)?;
            for (trial, score) in &mut scores {
                let mut rows = select.query([*trial])?;
                while let Some(row) = rows.next()? {
                    score.phases.push(phase(row)?);
                }
            }
            Ok(())
        })?;
        if with_latency {
            for (trial, score) in &mut scores {
                self.add_latency(run, *trial, score)?;
            }
        }
        Ok(scores.into_iter().map(|(_, score)| score).collect())
    }

    fn add_latency(
        &self,
        run: RunId,
        trial: i64,
        score: &mut TrialScore,
    ) -> Result<(), StoreError> {
        let histograms: Vec<(u32, LatencyHistogram, String)> = self.sql(|c| {
            c.prepare_cached(
                "SELECT place, latency_precision_bits, latency_min_ns, latency_max_ns,
                 latency_sum_ns, latency_buckets FROM phase
                 WHERE trial_id = ? AND latency_buckets IS NOT NULL",
            )?
            .query_map([trial], |row| {
                let histogram = LatencyHistogram {
                    precision_bits: row.get(1)?,
                    buckets: Vec::new(),
                    min_ns: unsigned(row, 2)?,
                    max_ns: unsigned(row, 3)?,
                    sum_ns: unsigned(row, 4)?,
                };
                Ok((row.get(0)?, histogram, row.get(5)?))
            })?
            .collect()
        })?;
        for (place, mut histogram, buckets) in histograms {
            let damaged = |what: &str| self.damaged(run, score.sequence, what);
            histogram.buckets =
                serde_json::from_str(&buckets).map_err(|error| damaged(&error.to_string()))?;
            if !is_sound(&histogram) {
                return Err(damaged("a histogram of latency cannot be"));
            }
            let phase = score.phases.get_mut(place as usize);
            let phase = phase.ok_or_else(|| damaged("a phase has no score"))?;
            phase.p99_ns = histogram.quantile_ns(0.99);
        }
        Ok(())
    }
}

/// Whether a quantile of it can be computed.
fn is_sound(histogram: &LatencyHistogram) -> bool {
    let mut hits = histogram.buckets.iter().map(|&(_, hits)| hits);
    histogram.min_ns <= histogram.max_ns && hits.try_fold(0, u64::checked_add).is_some()
}

/// The latest attempt at each slot, by its number, without its phases.
fn latest_trials(c: &Connection, run: RunId) -> rusqlite::Result<Vec<(i64, TrialScore)>> {
    let mut select = c.prepare(
        "SELECT slot.sequence, trial.id, trial.outcome, trial.started_unix_ns, trial.elapsed_ns,
         trial.bad_files FROM slot JOIN trial INDEXED BY trial_for_scores
         ON trial.slot_id = slot.id WHERE slot.run_id = ? ORDER BY slot.sequence, trial.attempt",
    )?;
    let mut rows = select.query([run.0])?;
    let mut trials: Vec<(i64, TrialScore)> = Vec::new();
    while let Some(row) = rows.next()? {
        let score = TrialScore {
            sequence: row.get(0)?,
            started_unix_ns: unsigned(row, 3)?,
            elapsed_ns: unsigned(row, 4)?,
            is_interrupted: row.get_ref(2)?.as_str()? == "interrupted",
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

/// A row of [`COLUMNS`].
fn phase(row: &Row<'_>) -> rusqlite::Result<PhaseScore> {
    let is_cut_short: bool = row.get(1)?;
    let durable_ns = unsigned_if(row, 3)?;
    let mut counters = [None; PROCESSOR.len()];
    for (at, counter) in (8..).zip(&mut counters) {
        *counter = unsigned_if(row, at)?;
    }
    let ProcessorTime { cpu_ns, machine_ns, steal_ns } = ProcessorTime::of(counters);
    Ok(PhaseScore {
        name: row.get(0)?,
        is_complete: !is_cut_short,
        returned_ns: unsigned(row, 2)?,
        durable_ns,
        drained_ns: match row.get_ref(4)?.as_str()? {
            "no-device" => durable_ns,
            _ => unsigned_if(row, 5)?,
        },
        // The schema allows no further words.
        cache: match row.get_ref(6)?.as_str()? {
            "cold" => CacheState::Cold,
            "warm" => CacheState::Warm,
            _ => CacheState::WarmByNature,
        },
        memory: match row.get_ref(7)?.as_str()? {
            "whole" => MemoryKind::Whole,
            "limited" => MemoryKind::Limited,
            _ => MemoryKind::NotLimited,
        },
        cpu_ns,
        machine_ns,
        steal_ns,
        written_bytes: unsigned_if(row, 16)?,
        p99_ns: None,
    })
}

fn memory_name(memory: MemoryKind) -> &'static str {
    match memory {
        MemoryKind::Whole => "whole",
        MemoryKind::Limited => "limited",
        MemoryKind::NotLimited => "not-limited",
    }
}
