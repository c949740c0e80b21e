//! Measured costs of earlier trials, for the estimate that a plan shows before it starts.
//!
//! Medians over the latest records; nothing here is a result, and nothing here knows the plan.

use crate::migrations::view;
use crate::{Store, StoreError};
use fsarena_model::contender::Contender;
use fsarena_model::past::{PastStart, PastTrial, PastWork};
use fsarena_model::phase::Workload;
use fsarena_model::record::StepTime;
use fsarena_model::work::Op;
use std::collections::BTreeMap;

/// What earlier records say about the time of work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Costs {
    /// Per file system, kind of device and op.
    pub ops: Vec<CostRow>,
    /// Per file system and kind of device.
    pub overheads: Vec<OverheadRow>,
}

/// Time of one op on one file system, from complete phases only.
#[derive(Clone, PartialEq, Debug)]
pub struct CostRow {
    /// Name of the driver (`ext4`).
    pub fs: String,
    /// Kind of the device (`loop`, `zram`, `block`, …).
    pub device: String,
    pub op: Op,
    /// Phases behind the figures.
    pub phases: u32,
    /// Median of phase length to `durable` ÷ ops.
    pub per_op_ns: f64,
    /// Median of phase length to `durable` ÷ bytes asked; absent where the op moves none.
    pub per_byte_ns: Option<f64>,
}

/// Time of a trial around its work (mkfs, directories, settle, chill, drain, teardown).
///
/// Work that is not timed (the steps `prepare`, `stage`, `hook` and `verify`) is not in it: it
/// depends on the workload as the phases do, and anyone who estimates a trial adds it like theirs.
#[derive(Clone, PartialEq, Debug)]
pub struct OverheadRow {
    pub fs: String,
    /// Kind of the device (`loop`, `zram`, `block`, …).
    pub device: String,
    /// Trials behind the figure.
    pub trials: u32,
    /// Median of trial length − lengths of its phases to `durable` − its steps of untimed work.
    pub per_trial_ns: f64,
}

/// Records that are looked at: machines and kernels change, old figures mislead.
const LATEST_TRIALS: u32 = 400;

/// The latest trials that ended well, of RUNs that were not merged, of contenders that the engine
/// measured without a delay injected into them.
const LATEST: &str = "FROM trial JOIN slot ON slot.id = trial.slot_id
    JOIN contender ON contender.id = slot.contender_id JOIN run ON run.id = slot.run_id
    WHERE trial.outcome = 'done' AND trial.time_base = 'wall' AND NOT run.merged AND contender.device <> 'elsewhere'
    AND NOT EXISTS (SELECT 1 FROM level WHERE level.contender_id = contender.id
                    AND level.factor = 'handicap' AND level.value <> '0ms')
    ORDER BY trial.id DESC LIMIT ?";

/// Trials whose steps are read.
const PAST_TRIALS: u32 = 1000;
/// RUNs whose start is read.
const PAST_STARTS: u32 = 20;

type Values = (Vec<f64>, Vec<f64>);

/// A trial as it is read: RUN, contender, workload, start, length, steps.
type TrialRow = (i64, usize, usize, u64, u64, String);
/// The workloads and contenders of a RUN, and whether it checked contents.
type PlanParts = (Vec<Workload>, Vec<Contender>, bool);

impl Store {
    /// Costs measured by the latest trials. The time of an op is that of phases of one thread with
    /// blocking, buffered calls, no fsync and no set rate: others say nothing about them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn costs(&self) -> Result<Costs, StoreError> {
        Ok(Costs { ops: self.op_costs()?, overheads: self.overheads()? })
    }

    /// Lengths of the latest trials that ended well, by workload and levels, the latest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn past_work(&self) -> Result<Vec<PastWork>, StoreError> {
        let rows: Vec<TrialRow> = self.sql(|c| {
            c.prepare(&format!(
                "SELECT run.id, contender.position, workload.position, trial.started_unix_ns,
                 trial.elapsed_ns, trial.raw -> '$.steps' {}",
                LATEST.replace("WHERE", "JOIN workload ON workload.id = slot.workload_id WHERE")
            ))?
            .query_map([PAST_TRIALS], |r| {
                let number = |at| r.get::<_, i64>(at).map(|value| value.max(0).unsigned_abs());
                let place = |at| r.get::<_, u32>(at).map(|value| value as usize);
                Ok((r.get(0)?, place(1)?, place(2)?, number(3)?, number(4)?, r.get(5)?))
            })?
            .collect()
        })?;
        let mut plans: BTreeMap<i64, Option<PlanParts>> = BTreeMap::new();
        let mut past: Vec<PastWork> = Vec::new();
        // The start of the trial that came after the present one.
        let mut next: Option<(i64, u64)> = None;
        for (run, contender, workload, started_ns, elapsed_ns, steps) in rows {
            if let std::collections::btree_map::Entry::Vacant(entry) = plans.entry(run) {
                entry.insert(self.plan_parts(run)?);
            }
            let end_ns = started_ns.saturating_add(elapsed_ns);
            let after = next.replace((run, started_ns)).filter(|(own, _)| *own == run);
            // After an interrupt it stood still.
            let gap_ns = after.map_or(0, |(_, start_ns)| start_ns.saturating_sub(end_ns));
            let whole_ns = elapsed_ns.saturating_add(gap_ns.min(elapsed_ns));
            let Some(Some((workloads, contenders, verify))) = plans.get(&run) else { continue };
            let cell = workloads.get(workload).zip(contenders.get(contender));
            let Some((workload, contender)) = cell else { continue };
            let steps: Vec<StepTime> = serde_json::from_str(&steps).unwrap_or_default();
            let trial = PastTrial { whole_ns, steps };
            let levels = &contender.levels;
            let is_same = |old: &&mut PastWork| {
                old.verify == *verify && old.workload == *workload && old.levels == *levels
            };
            match past.iter_mut().find(is_same) {
                Some(known) => known.trials.push(trial),
                None => past.push(PastWork {
                    workload: workload.clone(),
                    levels: levels.clone(),
                    verify: *verify,
                    trials: vec![trial],
                }),
            }
        }
        Ok(past)
    }

    /// What the latest RUNs did before their first trial, the latest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn past_starts(&self) -> Result<Vec<PastStart>, StoreError> {
        let runs: Vec<(i64, u64)> = self.sql(|c| {
            c.prepare(
                "SELECT run.id, max(session.started_unix_ns - run.created_unix_ns, 0) FROM run
                 JOIN session ON session.run_id = run.id AND session.number = 1
                 WHERE NOT run.merged AND EXISTS (SELECT 1 FROM trial JOIN slot
                 ON slot.id = trial.slot_id WHERE slot.run_id = run.id)
                 ORDER BY run.id DESC LIMIT ?",
            )?
            .query_map([PAST_STARTS], |r| Ok((r.get(0)?, r.get::<_, i64>(1)?.unsigned_abs())))?
            .collect()
        })?;
        let mut starts = Vec::new();
        for (run, elapsed_ns) in runs {
            let Some((workloads, contenders, _)) = self.plan_parts(run)? else { continue };
            let with_trials: Vec<(usize, usize)> = self.sql(|c| {
                c.prepare(
                    "SELECT DISTINCT contender.position, workload.position FROM slot
                     JOIN contender ON contender.id = slot.contender_id
                     JOIN workload ON workload.id = slot.workload_id WHERE slot.run_id = ?",
                )?
                .query_map([run], |r| {
                    let place = |at| r.get::<_, u32>(at).map(|value| value as usize);
                    Ok((place(0)?, place(1)?))
                })?
                .collect()
            })?;
            let contender = |at: usize| with_trials.iter().any(|(own, _)| *own == at);
            let workload = |at: usize| with_trials.iter().any(|(_, own)| *own == at);
            let levels = contenders.into_iter().enumerate().filter(|(at, _)| contender(*at));
            let workloads = workloads.into_iter().enumerate().filter(|(at, _)| workload(*at));
            starts.push(PastStart {
                levels: levels.map(|(_, one)| one.levels).collect(),
                workloads: workloads.map(|(_, one)| one).collect(),
                elapsed_ns,
            });
        }
        Ok(starts)
    }

    /// What a RUN planned; nothing where this version cannot read it.
    fn plan_parts(&self, run: i64) -> Result<Option<PlanParts>, StoreError> {
        let (workloads, contenders, verify): (String, String, bool) = self.sql(|c| {
            c.query_row(
                "SELECT raw -> '$.plan.workloads', raw -> '$.plan.contenders', verify FROM run
                 WHERE id = ?",
                [run],
                |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
            )
        })?;
        let workloads = serde_json::from_str(&workloads).ok();
        let parts = workloads.zip(serde_json::from_str(&contenders).ok());
        Ok(parts.map(|(workloads, contenders)| (workloads, contenders, verify)))
    }

    fn op_costs(&self) -> Result<Vec<CostRow>, StoreError> {
        let rows: Vec<(String, String, String, f64, f64, f64)> = self.sql(|c| {
            c.prepare(&format!(
                "WITH phase AS ({})
                 SELECT contender.fs, contender.device, phase.op, phase.durable_ns, phase.ops,
                 phase.asked_bytes FROM phase JOIN trial ON trial.id = phase.trial_id
                 JOIN slot ON slot.id = trial.slot_id
                 JOIN contender ON contender.id = slot.contender_id
                 WHERE phase.threads = 1 AND phase.backend = 'sync' AND phase.direct = 0
                 AND phase.fsync IN ('none', 'end') AND phase.error IS NULL
                 AND phase.durable_ns > 0 AND phase.ops > 0
                 AND trial.raw ->> ('$.phases[' || phase.position || '].io.rate') IS NULL
                 AND phase.trial_id IN
                 (SELECT trial.id {LATEST})",
                view("phase")
            ))?
            .query_map([LATEST_TRIALS], |r| {
                let number = |at| r.get::<_, i64>(at).map(|value| value as f64);
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, number(3)?, number(4)?, number(5)?))
            })?
            .collect()
        })?;
        let mut groups: BTreeMap<(String, String, String), Values> = BTreeMap::new();
        for (fs, device, op, durable_ns, ops, bytes) in rows {
            let (per_op, per_byte) = groups.entry((fs, device, op)).or_default();
            per_op.push(durable_ns / ops);
            if bytes > 0.0 {
                per_byte.push(durable_ns / bytes);
            }
        }
        let row = |((fs, device, op), (per_op, per_byte)): ((String, String, String), Values)| {
            let op = Op::ALL.into_iter().find(|known| known.name() == op)?;
            let phases = u32::try_from(per_op.len()).ok()?;
            let per_op_ns = median(per_op)?;
            Some(CostRow { fs, device, op, phases, per_op_ns, per_byte_ns: median(per_byte) })
        };
        Ok(groups.into_iter().filter_map(row).collect())
    }

    fn overheads(&self) -> Result<Vec<OverheadRow>, StoreError> {
        let rows: Vec<(String, String, f64)> = self.sql(|c| {
            c.prepare(&format!(
                "WITH phase AS ({}), step AS ({})
                 SELECT contender.fs, contender.device, trial.elapsed_ns -
                 coalesce((SELECT sum(durable_ns) FROM phase WHERE trial_id = trial.id), 0) -
                 coalesce((SELECT sum(elapsed_ns) FROM step WHERE trial_id = trial.id
                 AND step IN ('age', 'prepare', 'stage', 'hook', 'verify')), 0) {LATEST}",
                view("phase"),
                view("step")
            ))?
            .query_map([LATEST_TRIALS], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, i64>(2)? as f64)))?
            .collect()
        })?;
        let mut groups: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for (fs, device, ns) in rows {
            groups.entry((fs, device)).or_default().push(ns.max(0.0));
        }
        let row = |((fs, device), values): ((String, String), Vec<f64>)| {
            let trials = u32::try_from(values.len()).ok()?;
            Some(OverheadRow { fs, device, trials, per_trial_ns: median(values)? })
        };
        Ok(groups.into_iter().filter_map(row).collect())
    }
}

/// Upper median: an estimate of time is better a little long than a little short.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
