//! A crash run of an application: its own check judges.

use crate::application_run::{ApplicationOrder, application_run};
use crate::job::{CrashJob, CrashJobError, LIMIT, guests_at_once};
use crate::kind::CampaignKind;
use crate::violating_states::ViolationArchive;
use fsarena_crash::application::{Application, application, judge_application};
use fsarena_crash::observation::MountStep;
use fsarena_crash::record::{ApplicationRecord, CrashOutcome};
use std::collections::BTreeMap;

/// The campaign.
pub(crate) struct Applications {
    /// Those that are not built in, by name.
    pub(crate) described: BTreeMap<String, String>,
}

impl Applications {
    fn named(&self, name: &str) -> Result<Application, CrashJobError> {
        if let Some(text) = self.described.get(name) {
            return Application::parse(text, name)
                .map_err(|error| CrashJobError::Work(error.to_string()));
        }
        let what = "application";
        application(name).ok_or_else(|| CrashJobError::Unknown { what, name: name.to_owned() })
    }
}

impl CampaignKind for Applications {
    fn run(
        &self,
        job: &CrashJob<'_>,
        _archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError> {
        let (disk, options, program) = job.guests(LIMIT)?;
        let (plan, seed) = (job.crash_plan(), job.seed());
        let order = ApplicationOrder {
            fs: &job.contender().levels.fs,
            disk,
            options: &options,
            program,
            application: &self.named(job.workload())?,
            seed,
            seconds: plan.seconds,
            points: plan.points,
            classes: job.classes()?,
            guests_at_once: guests_at_once(),
        };
        let ran = application_run(&order, stop)?;
        if let Some(fault) = &ran.work.fault {
            return Err(CrashJobError::Work(format!("seed {seed}: {fault}")));
        }
        let is_repaired_first = ran.observed().any(|(_, seen)| {
            seen.mounted() == Some(MountStep::AfterRepair) && seen.mounts.len() == 1
        });
        let judged = ran.observed().map(|(state, seen)| judge_application(&ran.work, state, seen));
        Ok(CrashOutcome::Application(Box::new(ApplicationRecord {
            seed,
            begin_ns: ran.work.begin_ns,
            mount_options: ran.work.mount_options.clone(),
            acknowledged_units: ran.work.acknowledged.len() as u64,
            is_repaired_first,
            findings: judged.collect(),
        })))
    }
}
