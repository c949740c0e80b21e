//! A crash run of work: power cuts at uniform times, or at every entry of the write log.

use crate::crash_run::{
    CrashGuests, CrashOrder, CrashPlace, CrashRun, PointsOrder, TIMED_STATES, crash_run,
};
use crate::hunt::hunt_record;
use crate::job::{CrashJob, CrashJobError, CrashJobPlace, LIMIT, SECOND_NS, guests_at_once};
use crate::kind::CampaignKind;
use crate::violating_states::{DoneRun, ViolatingState, ViolationArchive};
use fsarena_crash::Findings;
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::observation::MountStep;
use fsarena_crash::oracle::Oracle;
use fsarena_crash::promise::Promises;
use fsarena_crash::record::{CrashOutcome, CrashRecord, OpSummary, RECORD_SCHEMA};
use fsarena_disk_server::DiskOrder;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use fsarena_model::crash::CrashFaults;

/// Of files that are deleted before the work, so that stale bytes are known.
const PREFILL_BYTES: u64 = 64 << 20;
/// Of more than six open writes: parts that are drawn, and single ones that are taken.
const HUNT_SAMPLES: u32 = 16;
const HUNT_SINGLES: u32 = 8;

/// The campaigns of work and power cuts.
pub(crate) struct PowerCuts {
    pub(crate) faults: CrashFaults,
    /// At every entry of the write log, at most so many states; absent: at uniform times.
    pub(crate) states_most: Option<u32>,
}

impl CampaignKind for PowerCuts {
    fn run(
        &self,
        job: &CrashJob<'_>,
        archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError> {
        let ran = self.crash_run(job, stop)?;
        if let (Some(flush), None) = (self.faults.lose_flush, ran.lost_flush_ns) {
            let seed = job.seed();
            (job.say)(format!("mind: seed {seed}: the work has fewer than {flush} flushes"));
        }
        let promises = promises(&job.contender().levels.fs);
        let record = self.record(job, &ran, promises)?;
        let done = DoneRun { job, ran: &ran, record: &record, promises };
        let mut candidates = done.candidates();
        if self.states_most.is_none() {
            archive.keep(&done, &candidates);
            return Ok(CrashOutcome::Done(Box::new(record)));
        }
        candidates.sort_by_key(ViolatingState::complexity);
        let kept = archive.keep(&done, &candidates);
        Ok(CrashOutcome::Hunted(Box::new(hunt_record(&done, &candidates, &kept))))
    }
}

impl PowerCuts {
    /// Works, cuts the power, and looks at what is left.
    fn crash_run(
        &self,
        job: &CrashJob<'_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashRun, CrashJobError> {
        let (levels, plan) = (&job.contender().levels, job.crash_plan());
        let (guests, disk);
        let place = match job.place {
            CrashJobPlace::Guests { .. } => {
                guests = job.guests(LIMIT)?;
                let (order, options, program) = &guests;
                disk = *order;
                let at_once = guests_at_once();
                CrashPlace::Guests(CrashGuests { options, program, at_once })
            }
            CrashJobPlace::Native { scratch_dir } => {
                let DeviceLevel::Vdisk { size_bytes, model } = &levels.device else {
                    return Err(job.other_place());
                };
                disk = DiskOrder { model, size_bytes: *size_bytes, store_dir: None };
                CrashPlace::Native { scratch_dir }
            }
        };
        let points = match self.states_most {
            None => PointsOrder::Uniform { points: plan.points, classes: job.classes()? },
            Some(states_most) => {
                let (samples, singles) = (HUNT_SAMPLES, HUNT_SINGLES);
                PointsOrder::PerEvent { states_most, samples, singles }
            }
        };
        let name = job.workload();
        let unknown = || CrashJobError::Unknown { what: "crash workload", name: name.to_owned() };
        let order = CrashOrder {
            fs: &levels.fs,
            disk,
            place,
            workload: &CrashWorkload::named(name, &job.plan.workloads).ok_or_else(unknown)?,
            seed: job.seed(),
            duration_ns: plan.seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            points,
            recovery_every: self.faults.recovery_every,
            lose_flush: self.faults.lose_flush,
            has_fsck: true,
            timed_states: TIMED_STATES,
        };
        Ok(crash_run(&order, stop)?)
    }

    /// The judgement of a crash run.
    fn record(
        &self,
        job: &CrashJob<'_>,
        ran: &CrashRun,
        promises: Promises,
    ) -> Result<CrashRecord, CrashJobError> {
        let seed = job.seed();
        let oracle = Oracle::new(&ran.work.ops, seed, promises)?;
        let findings: Vec<Findings> =
            ran.observed().map(|(state, seen)| oracle.judge(state, seen)).collect();
        let recovered = ran.recoveries.iter().map(|one| oracle.judge(&one.state, &one.seen));
        let mut firsts = ran.observed().filter_map(|(_, seen)| seen.mounts.first());
        Ok(CrashRecord {
            schema: RECORD_SCHEMA,
            workload: job.workload().to_owned(),
            seed,
            ops: OpSummary {
                not_begun: ran.work.not_begun,
                ..OpSummary::from_ops(&ran.work.ops, ran.work.begin_ns)
            },
            begin_ns: ran.work.begin_ns,
            end_ns: ran.work.end_ns,
            mount_options: ran.work.mount_options.clone(),
            late_share: ran.work.late_share,
            is_repaired_first: firsts.any(|mount| mount.step == MountStep::AfterRepair),
            findings,
            recovered: recovered.collect(),
            disk_fault: self.disk_fault(seed, ran),
        })
    }

    /// What the disk did that an honest one does not.
    fn disk_fault(&self, seed: u64, ran: &CrashRun) -> Option<String> {
        let at_ns = ran.lost_flush_ns?.saturating_sub(ran.work.begin_ns);
        let number = self.faults.lose_flush.unwrap_or(0);
        let at_s = at_ns as f64 / SECOND_NS as f64;
        Some(format!("the disk lost flush {number} of the work (seed {seed}: at {at_s:.3} s)"))
    }
}

/// The documented promises of a file system with its options.
fn promises(fs: &FsLevel) -> Promises {
    let has_journal = !fs.mkfs.get("features").is_some_and(|list| list.contains("^has_journal"));
    let options: Vec<&str> = fs.mount.iter().map(String::as_str).collect();
    if has_journal {
        fsarena_filesystems::promises(&fs.name, &options)
    } else {
        Promises::default()
    }
}
