//! Crash runs of a RUN: what was done, all rows, what has to be known with them, and how they
//! are read; the same for every kind of campaign, as text, on pages and as a document.

use crate::campaign_tables::CampaignTables;
use crate::context::Run;
use crate::crash::{CrashHead, crash_tables};
use crate::crash_application::{CrashApplicationHead, application_tables};
use crate::crash_sequences::{SequenceHead, litmus_tables, sequence_tables};
use crate::format::count;
use crate::hunt::hunt_tables;
use crate::medium_errors::{MediumErrorHead, medium_error_tables};
use crate::text::Style;
use fsarena_model::contender::{DeviceLevel, GUEST_MEMORY_BYTES};
use fsarena_model::crash::{Campaign, CrashPlan};
use fsarena_model::run::NotRun;
use fsarena_study::CrashRunsView;
use serde_json::{Value, json};

/// Cases of each demand that is not met, where nothing else is said.
const CASES_MOST: usize = 2;

/// A RUN with crash runs, as what it shows.
struct CampaignRun<'a> {
    run: &'a Run<'a>,
    plan: &'a CrashPlan,
    view: &'a CrashRunsView,
}

/// The tables of the crash runs of a RUN; `None`: it has none, or they are power cuts at uniform
/// times next to trials, which are shown with speed. `cases_most`: of each demand that sequences do
/// not meet.
pub(crate) fn campaign_tables(run: &Run<'_>, cases_most: Option<usize>) -> Option<CampaignTables> {
    let campaign = CampaignRun::new(run)?;
    let is_beside = matches!(campaign.plan.campaign, Campaign::PowerCuts { .. });
    let is_shown = campaign.plan.is_alone || !is_beside;
    is_shown.then(|| campaign.tables(cases_most.unwrap_or(CASES_MOST)))
}

/// The tables of the crash runs of a RUN as text; `None`: see `campaign_tables`.
#[must_use]
pub fn campaign_text(
    run: &Run<'_>,
    cases_most: Option<usize>,
    width: usize,
    style: Style,
) -> Option<String> {
    Some(campaign_tables(run, cases_most)?.text(width, style))
}

/// The document of the crash runs of a RUN; `None`: it has none.
#[must_use]
pub fn campaign_document(run: &Run<'_>) -> Option<Value> {
    Some(CampaignRun::new(run)?.document())
}

impl<'a> CampaignRun<'a> {
    fn new(run: &'a Run<'a>) -> Option<Self> {
        Some(Self { run, plan: run.header.plan.crash.as_ref()?, view: run.crash? })
    }

    fn tables(&self, cases_most: usize) -> CampaignTables {
        let mut tables = self.own_tables(cases_most);
        let lines = self.not_done();
        tables.notes.extend(lines.into_iter().map(|(lead, words)| (lead.to_owned(), words)));
        tables
    }

    /// What was not done as asked, or not at all.
    fn not_done(&self) -> Vec<(&'static str, String)> {
        let (plan, view) = (&self.run.header.plan, self.view);
        let mut lines: Vec<(&str, String)> = Vec::new();
        lines.extend(view.workload_notes.iter().map(|note| ("mind: ", note.clone())));
        let label = |contender: usize| &plan.contenders[contender].label;
        let is_of_crash_runs = |row: &&NotRun| {
            let workload = row.workload.and_then(|at| plan.workloads.get(at));
            self.plan.is_alone
                && workload.is_none_or(|workload| self.plan.workloads.contains(&workload.name))
        };
        let of_plan = plan.not_run.iter().filter(is_of_crash_runs).map(|row| {
            let workload = row.workload.and_then(|at| plan.workloads.get(at));
            let workload = workload.map(|workload| format!(", {}", workload.name));
            let (label, reason) = (label(row.contender), &row.reason);
            format!("{label}{}: {reason}", workload.unwrap_or_default())
        });
        let of_crash = view.not_run.iter().map(|row| format!("{}: {}", row.label, row.reason));
        lines.extend(of_plan.chain(of_crash).map(|words| ("not run: ", words)));
        for row in view.failed.iter().chain(&view.unfit) {
            let lead = if row.is_lacking { "not run: " } else { "failed: " };
            lines.push((lead, format!("{}, {}: {}", row.label, row.workload, row.error)));
        }
        if view.crash_runs_done < view.crash_runs_planned {
            let words = format!(
                "{} of {} are done",
                view.crash_runs_done,
                count(view.crash_runs_planned, "crash run")
            );
            lines.push(("mind: ", words));
        }
        lines
    }

    fn own_tables(&self, cases_most: usize) -> CampaignTables {
        let view = self.view;
        match &self.plan.campaign {
            Campaign::PowerCuts { .. } => {
                crash_tables(&self.head(), view.rows.iter().map(|row| &row.row))
            }
            Campaign::EveryEntry { states_most, .. } => {
                hunt_tables(&self.head(), *states_most, &view.hunts)
            }
            Campaign::Applications { .. } => {
                application_tables(&self.application_head(), &view.applications)
            }
            Campaign::Sequences { .. } => {
                sequence_tables(&self.sequence_head(), &view.sequences, cases_most)
            }
            Campaign::Litmus { .. } => litmus_tables(&self.sequence_head(), &view.litmus),
            Campaign::MediumErrors { cases } => {
                medium_error_tables(&self.medium_error_head(*cases), &view.medium_errors)
            }
        }
    }

    fn document(&self) -> Value {
        let view = self.view;
        let (kind, key, body) = match &self.plan.campaign {
            Campaign::PowerCuts { .. } => {
                let rows: Vec<_> = view.rows.iter().map(|row| &row.row).collect();
                ("crash", "crash", json!({"head": self.head(), "rows": rows}))
            }
            Campaign::EveryEntry { states_most, .. } => {
                let body = json!({"head": self.head(), "states": states_most, "rows": view.hunts});
                ("crash-hunt", "hunt", body)
            }
            Campaign::Applications { .. } => {
                let body = json!({"head": self.application_head(), "rows": view.applications});
                ("crash-application", "crash_application", body)
            }
            Campaign::Sequences { .. } => {
                let body = json!({"head": self.sequence_head(), "rows": view.sequences});
                ("crash-sequences", "crash_sequences", body)
            }
            Campaign::Litmus { .. } => {
                let body = json!({"head": self.sequence_head(), "rows": view.litmus});
                ("crash-litmus", "crash_litmus", body)
            }
            Campaign::MediumErrors { cases } => {
                let (head, all) = (self.medium_error_head(*cases), &view.medium_error_cases);
                let body = json!({"head": head, "rows": view.medium_errors, "cases": all});
                ("medium-errors", "medium_errors", body)
            }
        };
        crate::json::document(kind, key, &body)
    }

    /// Kernel, model and size of the first contender's disk, and whether it is in guests.
    fn disk(&self) -> (String, String, u64, bool) {
        let plan = &self.run.header.plan;
        let first = plan.crashed_contenders().first().copied().unwrap_or(0);
        match plan.contenders.get(first).map(|one| &one.levels.device) {
            Some(DeviceLevel::Virtual { size_bytes, model, kernel, .. }) => {
                (kernel.clone(), model.clone(), *size_bytes, true)
            }
            Some(DeviceLevel::Vdisk { size_bytes, model }) => {
                (self.run.header.host.kernel_release.clone(), model.clone(), *size_bytes, false)
            }
            _ => (String::new(), String::new(), 0, false),
        }
    }

    fn seed(&self) -> u64 {
        self.run.header.plan.crash_seed(0)
    }

    fn head(&self) -> CrashHead {
        let (kernel, device_model, device_bytes, is_guest) = self.disk();
        CrashHead {
            kernel,
            memory_bytes: is_guest.then_some(GUEST_MEMORY_BYTES),
            device_model,
            device_bytes,
            seconds: self.plan.seconds,
            runs: self.plan.runs,
            points: self.plan.points,
            seed: self.seed(),
        }
    }

    fn application_head(&self) -> CrashApplicationHead {
        let applications = self.view.applications_run.clone();
        CrashApplicationHead { campaign: self.head(), applications }
    }

    fn sequence_head(&self) -> SequenceHead {
        let (kernel, device_model, device_bytes, _) = self.disk();
        let what = match &self.plan.campaign {
            Campaign::Sequences { length, sample, all, is_every_entry, .. } => {
                let when = match is_every_entry {
                    true => "at every write, flush and discard",
                    false => "when fsync, fdatasync, msync or sync returns",
                };
                let many = if *length == 1 { "operation" } else { "operations" };
                format!("{sample} of {all} sequences of {length} {many}, the power cut {when}")
            }
            Campaign::Litmus { programs, states_most } => {
                format!("{programs} programs of each name, up to {states_most} states each")
            }
            _ => String::new(),
        };
        SequenceHead { kernel, device_model, device_bytes, seed: self.seed(), what }
    }

    fn medium_error_head(&self, cases: u32) -> MediumErrorHead {
        let (kernel, device_model, device_bytes, _) = self.disk();
        MediumErrorHead {
            kernel,
            memory_bytes: GUEST_MEMORY_BYTES,
            device_model,
            device_bytes,
            seconds: self.plan.seconds,
            runs: self.plan.runs,
            cases,
            seed: self.seed(),
        }
    }
}
