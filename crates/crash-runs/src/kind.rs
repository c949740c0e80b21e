//! What the kinds of campaigns differ in.

use crate::job::{CrashJob, CrashJobError};
use crate::violating_states::ViolationArchive;
use fsarena_crash::record::CrashOutcome;

/// What one crash run of a campaign does.
pub(crate) trait CampaignKind {
    /// Does one, and judges it; as many guests as there are processors are side by side.
    fn run(
        &self,
        job: &CrashJob<'_>,
        archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError>;
}
