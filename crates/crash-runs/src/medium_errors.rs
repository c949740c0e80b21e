//! A crash run of which requests fail: which calls report it, and what is lost.

use crate::job::{CrashJob, CrashJobError, SECOND_NS, guests_at_once};
use crate::kind::CampaignKind;
use crate::medium_error_run::{MediumErrorOrder, medium_error_run};
use crate::violating_states::ViolationArchive;
use fsarena_crash::record::{CrashOutcome, MediumErrorRecord};
use fsarena_crash::workload::Kind;
use std::time::Duration;

/// Of files that are deleted before the work.
const PREFILL_BYTES: u64 = 16 << 20;
/// Real time after which a guest is given up: with an error, an op may never return.
const LIMIT: Duration = Duration::from_secs(300);

/// The campaign.
pub(crate) struct MediumErrors {
    pub(crate) cases: u32,
}

impl CampaignKind for MediumErrors {
    fn run(
        &self,
        job: &CrashJob<'_>,
        _archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError> {
        let (disk, options, program) = job.guests(LIMIT)?;
        let (name, seed) = (job.workload(), job.seed());
        let unknown = || CrashJobError::Unknown { what: "crash workload", name: name.to_owned() };
        let order = MediumErrorOrder {
            fs: &job.contender().levels.fs,
            disk,
            options: &options,
            program,
            kind: Kind::from_name(name).ok_or_else(unknown)?,
            seed,
            duration_ns: job.crash_plan().seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            cases: self.cases as usize,
            guests_at_once: guests_at_once(),
        };
        let ran = medium_error_run(&order, stop)?;
        if !ran.is_whole_without {
            let what = "synced work is lost without any error of the medium";
            return Err(CrashJobError::Work(format!("seed {seed}: {what}")));
        }
        let (mount_options, cases) = (ran.work.mount_options, ran.cases);
        Ok(CrashOutcome::MediumErrors(Box::new(MediumErrorRecord { mount_options, cases })))
    }
}
