//! What a crash run does by the campaign of its plan. Planning, order, storage and progress are
//! those of all.

use crate::applications::Applications;
use crate::job::{CrashJob, CrashJobError};
use crate::kind::CampaignKind;
use crate::medium_errors::MediumErrors;
use crate::power_cuts::PowerCuts;
use crate::sequences::{LitmusPrograms, Sequences};
use crate::violating_states::ViolationArchive;
use fsarena_crash::record::CrashOutcome;
use fsarena_model::crash::Campaign;

/// The kind of a campaign.
fn kind(campaign: &Campaign) -> Box<dyn CampaignKind> {
    match campaign.clone() {
        Campaign::PowerCuts { faults } => Box::new(PowerCuts { faults, states_most: None }),
        Campaign::EveryEntry { states_most, faults } => {
            Box::new(PowerCuts { faults, states_most: Some(states_most) })
        }
        Campaign::Applications { described } => Box::new(Applications { described }),
        Campaign::Sequences { length, sample, is_every_entry, is_published, .. } => {
            Box::new(Sequences { length, sample, is_every_entry, is_published })
        }
        Campaign::Litmus { programs, states_most } => {
            Box::new(LitmusPrograms { programs, states_most })
        }
        Campaign::MediumErrors { cases } => Box::new(MediumErrors { cases }),
    }
}

/// Does a crash run, and judges what is left; states that break a promise are kept in `archive`.
///
/// # Errors
/// When a guest has no record, or was stopped.
pub fn run_crash_job(
    job: &CrashJob<'_>,
    archive: &ViolationArchive,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CrashOutcome, CrashJobError> {
    match kind(&job.crash_plan().campaign).run(job, archive, stop) {
        Err(error) if error.is_lacking() => Ok(CrashOutcome::Lacking { error: error.to_string() }),
        done => done,
    }
}
