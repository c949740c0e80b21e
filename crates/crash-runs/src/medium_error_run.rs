//! Errors of the medium in guests: the same work again and again on a modelled disk, and each time
//! another write or flush of it fails.
//!
//! The work without faults comes first: virtual time is the same every time, so that the log of
//! that one says which requests there will be. What is on the disk afterwards is looked at by
//! another guest, whose disk has no faults.

use crate::crash_run::{CrashRunError, StateInspector, run_task};
use crate::state_groups::in_groups_of;
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::medium_error::judge::{InjectedFailure, MediumErrorCase, judge, not_ended};
use fsarena_crash::medium_error::plan::{FailingRequest, RequestKind, failing_requests};
use fsarena_crash::medium_error::record::MediumErrorWork;
use fsarena_crash::state::{Class, CrashPoints, uniform};
use fsarena_crash::workload::Kind;
use fsarena_disk_server::{DiskOrder, DiskOrderError};
use fsarena_executor::crash::{CrashTask, CrashWork};
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::FsLevel;
use fsarena_vdisk::{Discarded, Store, WriteLog};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct MediumErrorOrder<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    pub kind: Kind,
    /// Of workload, disk, guest and the requests that fail.
    pub seed: u64,
    pub duration_ns: u64,
    pub prefill_bytes: u64,
    /// Requests that fail, each in a work of its own.
    pub cases: usize,
    /// Guests at one time.
    pub guests_at_once: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct MediumErrorRun {
    /// Without faults.
    pub work: MediumErrorWork,
    /// The work without faults is judged as the others are, and nothing may be lost in it.
    pub is_whole_without: bool,
    /// Fewer than asked for where the work has not so many.
    pub cases: Vec<MediumErrorCase>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum MediumErrorRunError {
    #[error(transparent)]
    Crash(#[from] CrashRunError),
    #[error("without any error of the medium, {failed} ops failed, the first with errno {errno}")]
    FailsAnyway { failed: usize, errno: i32 },
}

impl MediumErrorRunError {
    /// Whether the caller asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Crash(error) if error.is_stop())
    }
}

impl From<DiskOrderError> for MediumErrorRunError {
    fn from(error: DiskOrderError) -> Self {
        Self::Crash(error.into())
    }
}

/// Works once without faults, then once for each request that fails.
///
/// # Errors
/// When a guest has no record, or ops fail without any fault.
pub fn medium_error_run(
    order: &MediumErrorOrder<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<MediumErrorRun, MediumErrorRunError> {
    let WorkOnFaultyDisk { work, log, .. } = order.work(None, stop)?;
    let work = work?;
    if let Some(first) = work.failed.first() {
        let (failed, errno) = (work.failed.len(), first.errno);
        return Err(MediumErrorRunError::FailsAnyway { failed, errno });
    }
    // In the last quarter there would be little time to tell of it.
    let span_ns = work.begin_ns..work.begin_ns + order.duration_ns / 4 * 3;
    let drawn = failing_requests(&log, span_ns, order.seed, order.cases);
    let drawn = drawn.map_err(DiskOrderError::from)?;
    let none = InjectedFailure { requests: 0, first: None };
    let cases = in_groups_of(1, &drawn, order.guests_at_once, &|requests: &[FailingRequest]| {
        requests.iter().map(|request| order.case(*request, stop)).collect()
    })?;
    // As after writes that fail, and as after flushes.
    let is_flush = |request: &&FailingRequest| request.kind == RequestKind::Flush;
    let of_write = drawn.iter().find(|request| !is_flush(request));
    let mut is_whole_without = true;
    for request in of_write.into_iter().chain(drawn.iter().find(is_flush)) {
        let judged = order.judged(*request, &none, &work, &log, stop)?;
        is_whole_without &= judged.lost.is_empty();
    }
    Ok(MediumErrorRun { work, is_whole_without, cases })
}

/// Work, and what its disk did.
struct WorkOnFaultyDisk {
    /// Or why its guest has no record.
    work: Result<MediumErrorWork, CrashRunError>,
    log: WriteLog,
    struck: InjectedFailure,
}

impl MediumErrorOrder<'_> {
    fn work(
        &self,
        failing: Option<&FailingRequest>,
        stop: &dyn Fn() -> bool,
    ) -> Result<WorkOnFaultyDisk, CrashRunError> {
        let task = CrashTask::MediumErrorWork(CrashWork {
            fs: self.fs.clone(),
            size_bytes: self.disk.size_bytes,
            workload: CrashWorkload::Kind(self.kind),
            seed: self.seed,
            duration_ns: self.duration_ns,
            prefill_bytes: self.prefill_bytes,
            target: None,
        });
        let faults = failing.iter().map(|request| request.fault()).collect();
        let mut disk = self.disk.make_faulty(self.seed, WriteLog::in_memory(), faults)?;
        let options = GuestOptions { seed: self.seed, ..self.options.clone() };
        let ran = run_task(&options, self.program, &task, &mut [&mut disk], stop);
        let work = ran.and_then(|text| Ok(serde_json::from_str::<MediumErrorWork>(&text)?));
        let end_ns = work.as_ref().map_or(u64::MAX, |work| work.end_ns);
        let struck = InjectedFailure::until(end_ns, disk.strikes().0);
        let log = disk.into_contents().1.unwrap_or_else(WriteLog::in_memory);
        Ok(WorkOnFaultyDisk { work, log, struck })
    }

    fn case(
        &self,
        request: FailingRequest,
        stop: &dyn Fn() -> bool,
    ) -> Result<MediumErrorCase, CrashRunError> {
        let WorkOnFaultyDisk { work, log, struck } = self.work(Some(&request), stop)?;
        match work {
            Ok(work) => self.judged(request, &struck, &work, &log, stop),
            Err(error) if error.is_stop() => Err(error),
            // A guest that does not survive it is what came of it.
            Err(error) => Ok(not_ended(self.seed, request, &struck, error.to_string())),
        }
    }

    /// Looks at what is on the disk at the end of the work, and judges it. After flushes that
    /// failed the power goes, too: what was in the cache since is gone.
    fn judged(
        &self,
        request: FailingRequest,
        struck: &InjectedFailure,
        work: &MediumErrorWork,
        log: &WriteLog,
        stop: &dyn Fn() -> bool,
    ) -> Result<MediumErrorCase, CrashRunError> {
        let checker = StateInspector {
            fs: self.fs,
            options: self.options,
            program: self.program,
            seed: self.seed,
            disk: None,
            has_fsck: true,
            base: Store::in_memory(self.disk.size_bytes, Discarded::Zeros),
            log,
        };
        let at_the_end = CrashPoints {
            from_ns: work.end_ns,
            to_ns: work.end_ns + 1,
            points: 1,
            seed: self.seed,
            classes: vec![match request.kind {
                RequestKind::Flush => Class::Dropall,
                RequestKind::Data | RequestKind::Metadata => Class::Prefix,
            }],
        };
        let states = uniform(log, &at_the_end);
        let state = states.first().ok_or(CrashRunError::Missing { asked: 1, seen: 0 })?;
        let seen = checker.inspect_state(state, None, stop)?;
        Ok(judge(self.seed, request, struck, work, &seen))
    }
}
