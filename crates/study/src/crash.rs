//! Crash safety of a contender, from the records of its crash runs: speed, loss window,
//! acknowledged work, damage. What is promised by whom is kept apart and never added.

mod applications;
mod hunts;
mod measures;
mod medium_errors;
mod sequences;
mod share;

use crate::JsonSchema;
use applications::application_rows;
use fsarena_crash::figures::{FigureError, FigureOptions, Figures, Share, figures};
use fsarena_crash::medium_error::judge::{MediumErrorCase, Verdict};
use fsarena_crash::promise::PromiseClass;
use fsarena_crash::record::{
    ApplicationRecord, CrashOutcome, CrashRecord, MediumErrorRecord, RECOVERY_SUFFIX,
    StoredCrashRun,
};
use fsarena_crash::sequence::judged::{JudgedLitmus, JudgedSequence};
use fsarena_crash::state::Class;
use fsarena_crash::{Findings, Violation};
use fsarena_filesystems::sends_no_flush;
use fsarena_model::crash::Campaign;
use fsarena_model::run::RunPlan;
use medium_errors::medium_error_rows;
use sequences::{litmus_row, sequence_row};
use serde::Serialize;
use share::CASES_MOST;
use std::collections::{BTreeMap, BTreeSet};

pub use applications::{CrashApplication, CrashApplicationRow};
pub use fsarena_crash::sequence::judged::SequenceCase;
pub use hunts::{HuntCase, HuntRow};
pub use measures::CrashMeasure;
pub use medium_errors::MediumErrorRow;
pub use sequences::{BrokenRule, LitmusRow, SequenceRow};
pub use share::CrashShare;

/// One contender with one workload and one class of crash states.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashRow {
    pub contender: String,
    pub workload: String,
    /// Which writes that no flush covers are there.
    pub state: String,
    pub runs: u32,
    pub crash_points: u64,
    /// Mount and superblock options in force while it worked.
    pub mount_options: String,
    /// Ops of all runs, and those of them that failed, whose files are not judged.
    pub ops: u64,
    pub failed_ops: u64,
    /// Of the first that failed.
    pub first_errno: Option<i32>,
    /// Of disks of this machine: largest share of the modelled time of requests by which answers
    /// came late in a run.
    pub late_share: Option<f64>,
    /// Ops that had not begun when the time was over, which end phases of experiments.
    pub ops_not_begun: u64,
    /// Of ops that sync, in the time of the modelled disk.
    pub sync_p50_ns: Option<u64>,
    pub sync_p99_ns: Option<u64>,
    /// Age of the oldest op that is lost and was not promised to stay.
    pub loss_window_p50_ns: f64,
    pub loss_window_max_ns: u64,
    /// Length of the mount with its recovery on the modelled disk; nothing where it could never be
    /// mounted.
    pub recovery_p50_ns: Option<f64>,
    pub recovery_max_ns: Option<u64>,
    /// Files with acknowledged work (fsync had returned) that is gone, of all checks of such files.
    pub acknowledged_lost: CrashShare,
    /// Crash points at which a documented promise is broken.
    pub documented_broken: CrashShare,
    /// Checks of files that another one was renamed over.
    pub replaced_damaged: CrashShare,
    /// Bytes found where they do not belong (of another file, place or earlier version), in all
    /// crash points together; and those of them that are of files deleted before the work.
    pub stale_bytes: u64,
    pub stale_files: u64,
    /// Crash points at which it could be mounted and used as before, without a repair; absent where
    /// documents or kernel ask for a repair first.
    pub mounted_as_before: Option<CrashShare>,
    /// Crash points after which its check found damage; absent likewise.
    pub needs_repair: Option<CrashShare>,
    /// Crash points at which the repair before the mount could not replay the journal, and went on
    /// without: what the journal had is lost by the repair there.
    pub failed_replays: u64,
    /// It never sends a flush to its disk: what fsync reported may be in a cache that a power cut
    /// takes.
    pub sends_no_flush: bool,
    /// Crash points at which the kernel reported damage.
    pub kernel_reported: u64,
    /// Sentences of promises that were broken, and of how many files in how many checks.
    pub broken: Vec<(String, u64)>,
    /// First cases of broken promises, each with its seed and time.
    pub cases: Vec<String>,
    /// What the disk did that an honest one does not: broken promises are the disk's then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_fault: Option<String>,
}

impl CrashRow {
    /// Whether what fsync promises was broken, and the disk was honest.
    #[must_use]
    pub fn breaks_the_contract(&self) -> bool {
        self.acknowledged_lost.crash_points > 0 && self.disk_fault.is_none()
    }
}

/// What the crash runs of a RUN have shown.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashRunsView {
    /// Crash workloads and states, in the order of the plan.
    pub workloads: Vec<String>,
    pub states: Vec<String>,
    /// Length of the work, s of virtual time.
    pub seconds: u64,
    /// Runs of each workload on each contender, as planned.
    pub runs: u32,
    /// Power cuts of each run, of all states together.
    pub points: u32,
    pub crash_runs_planned: usize,
    pub crash_runs_done: usize,
    /// Contenders in the order of the plan, within each workloads and then states.
    pub rows: Vec<CrashFigures>,
    /// Of states at the entries of write logs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunts: Vec<HuntRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<CrashApplicationRow>,
    /// What the applications are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applications_run: Vec<CrashApplication>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<SequenceRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub litmus: Vec<LitmusRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub medium_errors: Vec<MediumErrorRow>,
    /// Every case of an error of the medium.
    #[serde(skip)]
    pub medium_error_cases: Vec<MediumErrorCaseRow>,
    /// Whether a seed draws which programs are carried out.
    #[serde(skip)]
    pub is_drawn: bool,
    /// What of the workloads is not as in a trial, in words.
    pub workload_notes: Vec<String>,
    /// Contenders whose power was not cut.
    pub not_run: Vec<CrashNotRunRow>,
    /// Crash runs without a record, each contender, workload and error once.
    pub failed: Vec<CrashFailedRow>,
    /// Contenders and workloads whose runs give no rates, each with the reason.
    pub unfit: Vec<CrashFailedRow>,
}

/// A case with what it is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MediumErrorCaseRow {
    pub contender: String,
    pub workload: String,
    pub verdict: Verdict,
    pub case: MediumErrorCase,
}

impl CrashRunsView {
    /// Whether every crash run has given its figures, but those that the file system has not what
    /// it takes for.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unfit.is_empty() && self.failed.iter().all(|row| row.is_lacking)
    }

    /// Whether what fsync promises was broken on an honest disk.
    #[must_use]
    pub fn breaks_the_contract(&self) -> bool {
        self.rows.iter().any(|row| row.row.breaks_the_contract())
            || self.hunts.iter().any(HuntRow::breaks_the_contract)
            || self.medium_errors.iter().any(MediumErrorRow::breaks_the_contract)
    }
}

/// A contender with one workload and one class of crash states.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashFigures {
    /// Index into the plan's contenders. In documents `contender` is the label.
    #[serde(rename = "position")]
    pub contender: usize,
    #[serde(flatten)]
    pub row: CrashRow,
    /// A1 to A7, each with its interval and how that was made.
    pub figures: Figures,
}

/// A contender whose power was not cut.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct CrashNotRunRow {
    pub contender: usize,
    pub label: String,
    pub reason: String,
}

/// Crash runs without figures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct CrashFailedRow {
    pub contender: usize,
    pub label: String,
    pub workload: String,
    pub error: String,
    /// The file system lacks what the work needs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_lacking: bool,
}

/// What the crash runs of a plan have shown; `None` where it has none.
#[must_use]
pub fn crash(plan: &RunPlan, stored: &[StoredCrashRun]) -> Option<CrashRunsView> {
    let asked = plan.crash.as_ref()?;
    let label = |contender: usize| plan.contenders[contender].label.clone();
    let not_run = asked.not_run.iter().map(|one| CrashNotRunRow {
        contender: one.contender,
        label: label(one.contender),
        reason: one.reason.clone(),
    });
    let mut view = CrashRunsView {
        workloads: asked.workloads.clone(),
        workload_notes: asked.workload_notes.clone(),
        states: asked.states.clone(),
        seconds: asked.seconds,
        runs: asked.runs,
        points: asked.points,
        crash_runs_planned: plan.crash_slots().len(),
        crash_runs_done: stored.iter().filter(|one| one.error().is_none()).count(),
        rows: Vec::new(),
        hunts: Vec::new(),
        applications: Vec::new(),
        applications_run: match &asked.campaign {
            Campaign::Applications { described } => {
                let names = asked.workloads.iter();
                names.filter_map(|name| CrashApplication::named(name, described)).collect()
            }
            _ => Vec::new(),
        },
        sequences: Vec::new(),
        litmus: Vec::new(),
        medium_errors: Vec::new(),
        medium_error_cases: Vec::new(),
        is_drawn: match &asked.campaign {
            Campaign::Sequences { sample, all, .. } => sample < all,
            _ => true,
        },
        not_run: not_run.collect(),
        failed: Vec::new(),
        unfit: Vec::new(),
    };
    for contender in plan.crashed_contenders() {
        for (at, workload) in asked.workloads.iter().enumerate() {
            let is_it =
                |one: &&StoredCrashRun| (one.slot.contender, one.slot.workload) == (contender, at);
            let own: Vec<&StoredCrashRun> = stored.iter().filter(is_it).collect();
            let label = label(contender);
            let row = |(error, is_lacking): (&str, bool)| CrashFailedRow {
                contender,
                label: label.clone(),
                workload: workload.clone(),
                error: error.to_owned(),
                is_lacking,
            };
            let errors: BTreeSet<(&str, bool)> = own
                .iter()
                .filter_map(|one| {
                    Some((one.error()?, matches!(one.outcome, CrashOutcome::Lacking { .. })))
                })
                .collect();
            view.failed.extend(errors.into_iter().map(row));
            let names = RowNames {
                contender: &label,
                file_system: &plan.contenders[contender].levels.fs.name,
                workload,
            };
            if let Err(error) = view.add(&asked.campaign, (contender, names), &own) {
                view.unfit.push(row((&error.to_string(), false)));
            }
        }
    }
    Some(view)
}

impl CrashRunsView {
    /// Adds the rows of a contender with one workload.
    fn add(
        &mut self,
        campaign: &Campaign,
        (contender, names): (usize, RowNames<'_>),
        own: &[&StoredCrashRun],
    ) -> Result<(), FigureError> {
        let (label, workload) = (names.contender, names.workload);
        match campaign {
            Campaign::PowerCuts { .. } => {
                let records = own.iter().filter_map(|one| one.record()).cloned();
                let found = rows_with_figures(names, &records.collect::<Vec<_>>())?;
                let with = |(row, figures)| CrashFigures { contender, row, figures };
                self.rows.extend(found.into_iter().map(with));
            }
            Campaign::EveryEntry { .. } => {
                let records = own.iter().filter_map(|one| match &one.outcome {
                    CrashOutcome::Hunted(record) => Some(&**record),
                    _ => None,
                });
                let row = HuntRow::new(label, workload, records);
                self.hunts.extend((row.runs > 0).then_some(row));
            }
            Campaign::Applications { .. } => {
                let records = own.iter().filter_map(|one| match &one.outcome {
                    CrashOutcome::Application(record) => Some(&**record),
                    _ => None,
                });
                let records: Vec<&ApplicationRecord> = records.collect();
                self.applications.extend(application_rows(label, workload, &records)?);
            }
            Campaign::Sequences { length, .. } => {
                let judged = own.iter().filter_map(|one| match &one.outcome {
                    CrashOutcome::Sequences(judged) => Some(judged),
                    _ => None,
                });
                let judged: Vec<&JudgedSequence> = judged.flatten().collect();
                let row = sequence_row(label, *length as usize, &judged);
                self.sequences.extend((!judged.is_empty()).then_some(row));
            }
            Campaign::Litmus { .. } => {
                let judged = own.iter().filter_map(|one| match &one.outcome {
                    CrashOutcome::Litmus(judged) => Some(judged),
                    _ => None,
                });
                let judged: Vec<&JudgedLitmus> = judged.flatten().collect();
                let row = litmus_row(label, workload, &judged);
                self.litmus.extend((!judged.is_empty()).then_some(row));
            }
            Campaign::MediumErrors { .. } => {
                let records = own.iter().filter_map(|one| match &one.outcome {
                    CrashOutcome::MediumErrors(record) => Some(&**record),
                    _ => None,
                });
                let records: Vec<&MediumErrorRecord> = records.collect();
                let cases = records.iter().flat_map(|record| &record.cases);
                self.medium_error_cases.extend(cases.map(|case| MediumErrorCaseRow {
                    contender: label.to_owned(),
                    workload: workload.to_owned(),
                    verdict: case.verdict(),
                    case: case.clone(),
                }));
                self.medium_errors.extend(medium_error_rows((label, workload), &records)?);
            }
        }
        Ok(())
    }
}

/// Whose rows they are.
#[derive(Clone, Copy)]
struct RowNames<'a> {
    /// Label of the contender.
    contender: &'a str,
    /// Name of its file system, `jfs`.
    file_system: &'a str,
    workload: &'a str,
}

/// The rows of a contender with one workload: one for each class of crash states.
fn rows_with_figures(
    names: RowNames<'_>,
    records: &[CrashRecord],
) -> Result<Vec<(CrashRow, Figures)>, FigureError> {
    let facts = Facts::from_records(records);
    let mut rows = Vec::new();
    for is_recovery in [false, true] {
        let of = |class| Which { class, is_recovery };
        let runs = records.iter().map(|record| of(Class::Prefix).all(record).to_vec());
        let runs: Vec<Vec<Findings>> = runs.collect();
        for (class, figures) in figures(&runs, &FigureOptions::default())? {
            rows.push((crash_row(names, of(class), &figures, &facts, records), figures));
        }
    }
    Ok(rows)
}

/// A class of states, and whether they are those of second power cuts.
#[derive(Clone, Copy)]
struct Which {
    class: Class,
    is_recovery: bool,
}

impl Which {
    fn name(self) -> String {
        let suffix = if self.is_recovery { RECOVERY_SUFFIX } else { "" };
        format!("{}{suffix}", self.class.name())
    }

    /// Findings of all classes.
    fn all(self, record: &CrashRecord) -> &[Findings] {
        if self.is_recovery { &record.recovered } else { &record.findings }
    }

    fn of_class(self, record: &CrashRecord) -> impl Iterator<Item = &Findings> {
        self.all(record).iter().filter(move |found| found.class == self.class)
    }
}

fn crash_row(
    names: RowNames<'_>,
    which: Which,
    figures: &Figures,
    facts: &Facts,
    records: &[CrashRecord],
) -> CrashRow {
    let findings: Vec<&Findings> =
        records.iter().flat_map(|record| which.of_class(record)).collect();
    let disk_fault = disk_fault(which.class, records);
    // A disk that lies breaks what it promised, and nobody else does.
    let counts = |violation: &&Violation| {
        disk_fault.is_none() || violation.promise.class() == PromiseClass::Contract
    };
    let mut broken: BTreeMap<String, u64> = BTreeMap::new();
    for violation in findings.iter().flat_map(|found| &found.violations).filter(counts) {
        *broken.entry(violation.promise.sentence().to_owned()).or_default() += 1;
    }
    let repairs = figures.needs_repair.as_ref().filter(|_| !facts.is_repaired_first);
    CrashRow {
        contender: names.contender.to_owned(),
        workload: names.workload.to_owned(),
        state: which.name(),
        runs: figures.runs,
        crash_points: figures.crash_points,
        mount_options: facts.mount_options.clone(),
        ops: facts.ops,
        failed_ops: facts.failed_ops,
        first_errno: facts.first_errno,
        late_share: facts.late_share,
        ops_not_begun: facts.ops_not_begun,
        sync_p50_ns: facts.sync_ns(0.5),
        sync_p99_ns: facts.sync_ns(0.99),
        loss_window_p50_ns: figures.loss_window.p50_ns.value,
        loss_window_max_ns: figures.loss_window.max_ns,
        recovery_p50_ns: figures.recovery.as_ref().map(|times| times.p50_ns.value),
        recovery_max_ns: figures.recovery.as_ref().map(|times| times.max_ns),
        acknowledged_lost: CrashShare::new(
            &figures.acknowledged_files_lost,
            &figures.contract_broken,
        ),
        documented_broken: of_points(&figures.documented_broken),
        replaced_damaged: CrashShare::new(
            &figures.replaced_files_damaged,
            &figures.replace_damaged,
        ),
        stale_bytes: figures.stale_bytes,
        stale_files: figures.stale_files,
        mounted_as_before: (!facts.is_repaired_first)
            .then(|| of_points(&figures.mounted_as_it_was)),
        needs_repair: repairs.map(of_points),
        failed_replays: findings.iter().filter(|found| found.replay_failed).count() as u64,
        sends_no_flush: sends_no_flush(names.file_system, &facts.mount_options),
        kernel_reported: findings.iter().filter(|found| found.kernel_messages > 0).count() as u64,
        broken: broken.into_iter().collect(),
        cases: cases(which, records),
        disk_fault,
    }
}

/// What all crash runs of a contender have in common, beside its figures.
#[derive(Default)]
struct Facts {
    /// Ascending.
    syncs_ns: Vec<u64>,
    ops: u64,
    failed_ops: u64,
    first_errno: Option<i32>,
    ops_not_begun: u64,
    late_share: Option<f64>,
    mount_options: String,
    /// Its documents or its kernel ask for a repair before the mount.
    is_repaired_first: bool,
}

impl Facts {
    fn from_records(records: &[CrashRecord]) -> Self {
        let mut facts = Self::default();
        for record in records {
            facts.syncs_ns.extend(&record.ops.syncs_ns);
            facts.ops = facts.ops.saturating_add(record.ops.ops);
            facts.failed_ops = facts.failed_ops.saturating_add(record.ops.failed_ops);
            facts.ops_not_begun = facts.ops_not_begun.saturating_add(record.ops.not_begun);
            let late = record.late_share.into_iter().chain(facts.late_share);
            facts.late_share = late.reduce(f64::max);
            facts.first_errno = facts.first_errno.or(record.ops.first_errno);
            facts.mount_options.clone_from(&record.mount_options);
            facts.is_repaired_first |= record.is_repaired_first;
        }
        facts.syncs_ns.sort_unstable();
        facts
    }

    /// The length of syncs that so large a share of them does not exceed.
    fn sync_ns(&self, share: f64) -> Option<u64> {
        let last = self.syncs_ns.len().checked_sub(1)?;
        Some(self.syncs_ns[(share * last as f64).round() as usize])
    }
}

/// What the disk did that an honest one does not.
fn disk_fault(class: Class, records: &[CrashRecord]) -> Option<String> {
    let lies = class.is_lying().then(|| "the disk reported flushes and kept the data".to_owned());
    lies.or_else(|| records.iter().find_map(|record| record.disk_fault.clone()))
}

/// The first cases of broken promises, each with its seed and time.
fn cases(which: Which, records: &[CrashRecord]) -> Vec<String> {
    let of_record = |record: &CrashRecord| {
        let found = which.of_class(record);
        let words = |found: &Findings, violation: &Violation| {
            let after_s = found.at_ns.saturating_sub(record.begin_ns) as f64 / 1e9;
            let path = violation.path.as_deref().unwrap_or("the file system");
            format!("seed {}, cut at {after_s:.3} s: {path}: {}", record.seed, violation.found)
        };
        let of_point = |found: &Findings| {
            found.violations.iter().map(|it| words(found, it)).take(CASES_MOST).collect::<Vec<_>>()
        };
        found.flat_map(of_point).take(CASES_MOST).collect::<Vec<_>>()
    };
    records.iter().flat_map(of_record).take(CASES_MOST).collect()
}

fn of_points(points: &Share) -> CrashShare {
    CrashShare::new(points, points)
}
