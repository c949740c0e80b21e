//! What has to be said with the tables: what was not run, what failed, disturbances, space,
//! content checks and the cost of sampling. The same words are said once, with a count.

use crate::contenders::{Contenders, of_one_base};
use crate::device;
use crate::figures::{SpreadF, SpreadNs, median};
use crate::programs::{self, ProgramUse};
use fsarena_model::job::{By, DATA, Job, JobKind};
use fsarena_model::record::{Notice, Outcome, PhaseRecord, Space, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::work::{OpError, Workload};
use serde::Serialize;
use std::collections::BTreeSet;

/// A contender, or one workload on it, that was not run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct NotRunRow {
    pub label: String,
    /// Name of the workload; absent: all of them.
    pub workload: Option<String>,
    /// Why, and what would help.
    pub reason: String,
}

/// Trials that ended early, for one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct FailureRow {
    pub label: String,
    pub workload: String,
    /// Step or phase; absent where the trial was interrupted.
    pub step: Option<String>,
    /// What went wrong.
    pub error: String,
    pub remedy: Option<String>,
    /// The phase that began and did not come to its end; its values are in no figure.
    pub partial: Option<PartialPhase>,
    /// Numbers of the trials.
    pub sequences: Vec<u32>,
}

/// A phase that ended early, over the trials of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct PartialPhase {
    pub phase: String,
    /// Fewest ops that were done in a trial.
    pub least_ops: u64,
    /// Most ops that were done in a trial.
    pub most_ops: u64,
    /// Ops of the whole phase; absent where the plan does not know them.
    pub planned_ops: Option<u64>,
}

/// A notice, once, with the trials it was given in.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct NoticeRow {
    pub code: String,
    pub text: String,
    /// What to do.
    pub remedy: Option<String>,
    /// The largest of the figures that the notices state; `text` is the one with it.
    pub measure: Option<f64>,
    /// Trials that gave it.
    pub trials: usize,
    /// Labels of their contenders, in the order of the plan.
    pub labels: Vec<String>,
}

/// Cost of the sampler over all phases.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SamplerTotal {
    /// Samples taken.
    pub samples: u64,
    /// Processor time of the sampling thread.
    pub cpu_ns: u64,
    /// Time it was running.
    pub wall_ns: u64,
    /// Samples that were due while an earlier one was still being taken.
    pub missed_deadlines: u64,
    /// Share of one processor, 0 to 1.
    pub share: f64,
}

/// Content checks over all trials.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct VerifyTotal {
    /// Trials that were checked.
    pub trials: usize,
    /// Files compared.
    pub files: u64,
    /// Bytes compared.
    pub bytes: u64,
    /// Files that differ, are missing or cannot be read.
    pub bad_files: u64,
    /// The first of them in words, at most 16.
    pub examples: Vec<String>,
}

/// One workload on one contender: what is true of whole trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct TrialRow {
    pub label: String,
    pub workload: String,
    /// Trials with a reading of space; none of these figures comes from wrong contents.
    pub n: usize,
    /// Space used after the last phase, median.
    pub used_bytes: Option<u64>,
    /// Space used right after the first mount, median.
    pub used_empty_bytes: Option<u64>,
    /// Contents in the dataset at the end, median; absent where a command of the user's has a part
    /// in it, of which it is unknown what it left.
    pub stored_bytes: Option<u64>,
    /// (used − used when empty) ÷ contents stored; absent where nothing is left stored, or it is
    /// not known how much.
    pub space_amplification: Option<SpreadF>,
    /// Length of the last unmount.
    pub unmount: Option<SpreadNs>,
    /// Content checks.
    pub verify: Option<VerifyTotal>,
}

pub(crate) fn not_run(plan: &RunPlan, records: &[TrialRecord]) -> Vec<NotRunRow> {
    let mut rows: Vec<NotRunRow> = plan
        .not_run
        .iter()
        .map(|n| NotRunRow {
            label: plan.contenders.get(n.contender).map_or_else(String::new, |c| c.label.clone()),
            workload: n.workload.and_then(|w| plan.workloads.get(w)).map(|w| w.name.clone()),
            reason: n.reason.clone(),
        })
        .collect();
    let contenders = Contenders::new(plan);
    for record in records {
        if let Outcome::NotRun { reason } = &record.outcome {
            let row = NotRunRow {
                label: contenders.label(record),
                workload: Some(record.key.workload.clone()),
                reason: reason.clone(),
            };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

pub(crate) fn failures(plan: &RunPlan, records: &[TrialRecord]) -> Vec<FailureRow> {
    let mut rows: Vec<FailureRow> = Vec::new();
    let contenders = Contenders::new(plan);
    for record in records {
        for (step, error, remedy, partial) in causes(record) {
            let row = FailureRow {
                label: contenders.label(record),
                workload: record.key.workload.clone(),
                step,
                error,
                remedy,
                partial: partial.map(|phase| partial_phase(plan, record, phase)),
                sequences: vec![record.key.sequence],
            };
            add_failure(&mut rows, row);
        }
    }
    rows
}

/// Counts trials of one cause in one row.
fn add_failure(rows: &mut Vec<FailureRow>, new: FailureRow) {
    let phase = |row: &FailureRow| row.partial.as_ref().map(|partial| partial.phase.clone());
    let same = |row: &&mut FailureRow| {
        row.label == new.label
            && row.workload == new.workload
            && row.step == new.step
            && row.error == new.error
            && row.remedy == new.remedy
            && phase(row) == phase(&new)
    };
    let Some(row) = rows.iter_mut().find(same) else { return rows.push(new) };
    row.sequences.extend(new.sequences);
    if let (Some(all), Some(one)) = (&mut row.partial, new.partial) {
        all.least_ops = all.least_ops.min(one.least_ops);
        all.most_ops = all.most_ops.max(one.most_ops);
    }
}

fn partial_phase(plan: &RunPlan, record: &TrialRecord, phase: &PhaseRecord) -> PartialPhase {
    let workload = plan.workloads.iter().find(|w| w.name == record.key.workload);
    let planned = workload.and_then(|w| Some((w, w.phases.iter().find(|p| p.name == phase.name)?)));
    PartialPhase {
        phase: phase.name.clone(),
        least_ops: phase.ops,
        most_ops: phase.ops,
        planned_ops: planned
            .and_then(|(w, p)| match &p.job {
                Some(job) => entries(w, job),
                None if p.io.runtime_ns.is_some() => None,
                None => Some(p.count(&w.dataset)),
            })
            .filter(|&ops| ops > 0),
    }
}

/// Entries that a job of the engine works on, where they are those of the source; programs do not
/// say how far they came.
fn entries(workload: &Workload, job: &Job) -> Option<u64> {
    let source = workload.source.as_ref()?;
    let whole = job.by == By::Engine && job.of == DATA;
    let unpacked = source.archive.is_none() || matches!(job.kind, JobKind::Untar { .. });
    (whole && unpacked).then(|| source.contents.entries())
}

/// Step, error, remedy and the phase that ended early.
type Cause<'a> = (Option<String>, String, Option<String>, Option<&'a PhaseRecord>);

/// Why a trial ended early. Where the trial says so itself, the phase is not asked again.
fn causes(record: &TrialRecord) -> Vec<Cause<'_>> {
    let early = || record.phases.iter().find(|phase| !phase.is_complete());
    match &record.outcome {
        Outcome::Failed { step, error, remedy } => {
            vec![(Some(step.clone()), error.clone(), remedy.clone(), early())]
        }
        Outcome::Interrupted => vec![(None, "interrupted".to_owned(), None, early())],
        Outcome::NotRun { .. } => Vec::new(),
        Outcome::Done => record
            .phases
            .iter()
            .filter_map(|phase| {
                let error = phase.error.as_ref()?;
                Some((Some(phase.name.clone()), words(phase, error), None, Some(phase)))
            })
            .collect(),
    }
}

/// An error in words; a program has no path of its own to name.
pub(crate) fn words(phase: &PhaseRecord, error: &OpError) -> String {
    if phase.job.is_some() && error.path == "." {
        return format!("{}: {}", error.call, error.text);
    }
    format!("{} {}: {}", error.call, error.path, error.text)
}

pub(crate) fn notices(
    plan: &RunPlan,
    sessions: usize,
    boots: usize,
    records: &[TrialRecord],
) -> Vec<NoticeRow> {
    let mut rows: Vec<NoticeRow> = Vec::new();
    let contenders = Contenders::new(plan);
    let pieces = (sessions > 1).then(|| several_sessions(sessions, boots));
    for record in records {
        let label = contenders.label(record);
        let mut said: Vec<Notice> = pieces.iter().cloned().collect();
        said.extend(record.notices.iter().cloned());
        for notice in device::notices(&contenders, record) {
            if !record.notices.iter().any(|known| known.code == notice.code) {
                said.push(notice);
            }
        }
        let served = record.filesystem.served_by.as_ref();
        if let Some(driver) = served.filter(|_| !said.iter().any(|n| n.code == SERVED_BY)) {
            let text = format!("{} is served by the {driver} driver", record.filesystem.name);
            said.push(Notice::new(SERVED_BY, text, None));
        }
        let mut counted = BTreeSet::new();
        for notice in said {
            let at = row_of(&mut rows, &notice);
            rows[at].trials += usize::from(counted.insert(at));
            if !rows[at].labels.contains(&label) {
                rows[at].labels.push(label.clone());
            }
        }
    }
    for row in &mut rows {
        row.labels.sort_by_key(|label| contenders.place(label));
    }
    rows.extend(program_notices(plan, &programs::used(plan, records)));
    rows
}

/// What holds for the whole RUN once it was taken up again.
fn several_sessions(sessions: usize, boots: usize) -> Notice {
    let boots = if boots == 1 { "1 boot".to_owned() } else { format!("{boots} boots") };
    let text = format!(
        "measured in {sessions} sessions, {boots}: what changes from one to the other (memory \
         layout, temperature, what else ran) is in the spread"
    );
    Notice::new("several-sessions", text, None)
}

/// One notice for each program that was not the same in all trials that used it.
fn program_notices(plan: &RunPlan, uses: &[ProgramUse]) -> Vec<NoticeRow> {
    let mut rows: Vec<NoticeRow> = Vec::new();
    for (at, one) in uses.iter().enumerate() {
        let own: Vec<&ProgramUse> = uses.iter().filter(|other| other.name == one.name).collect();
        let said = uses[..at].iter().any(|earlier| earlier.name == one.name);
        if said || own.len() < 2 {
            continue;
        }
        let kinds: Vec<String> = own.iter().map(|one| version_line(one)).collect();
        let all = plan.contenders.iter().map(|contender| contender.label.clone());
        rows.push(NoticeRow {
            code: "programs-differ".to_owned(),
            text: format!(
                "{} was not the same in all trials: {}; its own cost may differ",
                one.name,
                kinds.join(", ")
            ),
            remedy: None,
            measure: None,
            trials: own.iter().map(|one| one.trials).sum(),
            labels: all.filter(|label| own.iter().any(|o| o.labels.contains(label))).collect(),
        });
    }
    rows
}

/// `tar (GNU tar) 1.34 at /usr/bin/tar in 3`.
fn version_line(one: &ProgramUse) -> String {
    let version = if one.version.is_empty() { "of no version" } else { one.version.as_str() };
    let path = one.path.as_ref().map(|path| format!(" at {}", path.display())).unwrap_or_default();
    format!("{version}{path} in {}", one.trials)
}

/// Row that counts `notice`: notices with a figure count as one where their codes are equal, and
/// the worst of them is shown.
fn row_of(rows: &mut Vec<NoticeRow>, notice: &Notice) -> usize {
    let same = |row: &NoticeRow| {
        let alike =
            if notice.measure.is_some() { row.measure.is_some() } else { row.text == notice.text };
        row.code == notice.code && alike
    };
    let Some(at) = rows.iter().position(same) else {
        rows.push(NoticeRow {
            code: notice.code.clone(),
            text: notice.text.clone(),
            remedy: notice.remedy.clone(),
            measure: notice.measure,
            trials: 0,
            labels: Vec::new(),
        });
        return rows.len() - 1;
    };
    if notice.measure > rows[at].measure {
        rows[at].text.clone_from(&notice.text);
        rows[at].measure = notice.measure;
    }
    at
}

/// Code of the notice that another driver serves a file system.
const SERVED_BY: &str = "served-by";

pub(crate) fn sampler(records: &[TrialRecord]) -> Option<SamplerTotal> {
    let mut total =
        SamplerTotal { samples: 0, cpu_ns: 0, wall_ns: 0, missed_deadlines: 0, share: 0.0 };
    for cost in records.iter().flat_map(|r| &r.phases).filter_map(|p| p.sampler) {
        total.samples = total.samples.saturating_add(cost.samples);
        total.cpu_ns = total.cpu_ns.saturating_add(cost.cpu_ns);
        total.wall_ns = total.wall_ns.saturating_add(cost.wall_ns);
        total.missed_deadlines = total.missed_deadlines.saturating_add(cost.missed_deadlines);
    }
    total.share = (total.wall_ns > 0).then(|| total.cpu_ns as f64 / total.wall_ns as f64)?;
    Some(total)
}

pub(crate) fn verify<'a>(
    records: impl IntoIterator<Item = &'a TrialRecord>,
) -> Option<VerifyTotal> {
    let mut total = VerifyTotal::default();
    for report in records.into_iter().filter_map(|r| r.verify.as_ref()) {
        total.trials += 1;
        total.files += report.files;
        total.bytes += report.bytes;
        total.bad_files += report.bad_files;
        let room = 16usize.saturating_sub(total.examples.len());
        total.examples.extend(report.examples.iter().take(room).cloned());
    }
    (total.trials > 0).then_some(total)
}

pub(crate) fn trials(plan: &RunPlan, records: &[TrialRecord]) -> Vec<TrialRow> {
    let mut rows = Vec::new();
    let contenders = Contenders::new(plan);
    for workload in &plan.workloads {
        let of_work: Vec<&TrialRecord> =
            records.iter().filter(|r| r.key.workload == workload.name).collect();
        for (contender, own) in plan.contenders.iter().zip(contenders.split(&of_work)) {
            if !own.is_empty() {
                rows.push(trial_row(contender.label.clone(), workload, &own));
            }
        }
    }
    rows
}

/// Whether a command of the user's, or what it has run before and after it, has a part in it.
fn has_command(workload: &Workload) -> bool {
    let mut jobs = workload.phases.iter().filter_map(|phase| phase.job.as_ref());
    jobs.any(|job| matches!(job.kind, JobKind::Command(_)))
}

fn trial_row(label: String, workload: &Workload, records: &[&TrialRecord]) -> TrialRow {
    let right: Vec<&TrialRecord> =
        records.iter().copied().filter(|r| !r.has_bad_contents()).collect();
    let spaces: Vec<Space> = right.iter().filter_map(|r| r.space).collect();
    let of = |value: fn(&Space) -> u64| median(spaces.iter().map(value).collect());
    let known = !has_command(workload);
    let amplification = |s: &Space| {
        let grown_bytes = s.used_bytes.saturating_sub(s.used_empty_bytes);
        (known && s.stored_bytes > 0).then(|| grown_bytes as f64 / s.stored_bytes as f64)
    };
    TrialRow {
        label,
        workload: workload.name.clone(),
        n: spaces.len(),
        used_bytes: of(|s| s.used_bytes),
        used_empty_bytes: of(|s| s.used_empty_bytes),
        stored_bytes: of(|s| s.stored_bytes).filter(|_| known),
        space_amplification: SpreadF::from_values(
            spaces.iter().filter_map(amplification).collect(),
        ),
        unmount: SpreadNs::from_values(
            of_one_base(&right).iter().filter_map(|r| r.unmount_ns).collect(),
        ),
        verify: verify(records.iter().copied()),
    }
}
