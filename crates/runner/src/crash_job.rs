//! One crash run: work in a guest, power cuts, looks at what is left, and the record of it.

use fsarena_crash::Findings;
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::history::HistoryError;
use fsarena_crash::observation::MountStep;
use fsarena_crash::oracle::Oracle;
use fsarena_crash::promise::Promises;
use fsarena_crash::record::{CrashRecord, OpSummary, RECORD_SCHEMA};
use fsarena_crash::state::Class;
use fsarena_crash_runs::crash_run::{
    CrashGuests, CrashOrder, CrashPlace, CrashRun, CrashRunError, PointsOrder, TIMED_STATES,
    crash_run,
};
use fsarena_disk_server::DiskOrder;
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::{Contender, DeviceLevel, FsLevel};
use std::path::Path;
use std::time::Duration;

/// Of files that are deleted before the work, so that stale bytes are known.
const PREFILL_BYTES: u64 = 64 << 20;
/// Real time after which a guest is given up.
const LIMIT: Duration = Duration::from_secs(1200);
const SECOND_NS: u64 = 1_000_000_000;

/// A crash run to be done.
#[derive(Clone, Debug)]
pub struct CrashJob<'a> {
    /// It is on a modelled disk, of a guest or of this machine.
    pub contender: &'a Contender,
    pub place: CrashJobPlace<'a>,
    pub workload: &'a CrashWorkload,
    pub seed: u64,
    /// Length of the work in virtual time.
    pub seconds: u64,
    /// Power cuts at uniform times, which have these classes in turns.
    pub points: u32,
    pub classes: &'a [Class],
    pub more: CrashExtras,
}

/// Where a crash run is done.
#[derive(Clone, Copy, Debug)]
pub enum CrashJobPlace<'a> {
    Guests {
        /// Their kernel.
        kernel: &'a Path,
        /// Their init.
        program: &'a Program,
    },
    /// The kernel of this machine, as root.
    Native {
        /// For the write log and a place to mount.
        scratch_dir: &'a Path,
    },
}

/// What is asked for beside power cuts at uniform times on an honest disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CrashExtras {
    /// The power goes once more while every Nth state is recovered; 0: never.
    pub recovery_every: u32,
    /// This flush of the work, counted from 1, is reported and does nothing.
    pub lose_flush: Option<u32>,
    /// Power cuts at the entries of the write log instead, at most so many states: for finding
    /// bugs, never for rates.
    pub hunted_states: Option<u32>,
}

/// Of more than six open writes: parts that are drawn, and single ones that are taken.
const HUNT_SAMPLES: u32 = 16;
const HUNT_SINGLES: u32 = 8;

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum CrashJobError {
    #[error("{0} is not on a modelled disk of this place")]
    OtherPlace(String),
    #[error(transparent)]
    Run(#[from] CrashRunError),
    #[error("the op journal of a guest: {0}")]
    History(#[from] HistoryError),
}

impl CrashJobError {
    /// Whether the caller asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Run(error) if error.is_stop())
    }
}

impl CrashJob<'_> {
    /// Works, cuts the power, and judges what is left; as many guests as there are processors are
    /// side by side.
    ///
    /// # Errors
    /// When a guest has no record, or was stopped.
    pub fn run(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<CrashRecord, CrashJobError> {
        self.record(&self.crash_run(stop)?)
    }

    /// The same without the judgement.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn crash_run(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<CrashRun, CrashJobError> {
        let levels = &self.contender.levels;
        let other = || CrashJobError::OtherPlace(self.contender.label.clone());
        let (size_bytes, model, syscall_ns) = match &levels.device {
            DeviceLevel::Virtual { size_bytes, model, syscall_ns, .. } => {
                (*size_bytes, model, *syscall_ns)
            }
            DeviceLevel::Vdisk { size_bytes, model } => (*size_bytes, model, 0),
            _ => return Err(other()),
        };
        let options;
        let place = match self.place {
            CrashJobPlace::Guests { kernel, program } if levels.device.is_virtual() => {
                options = GuestOptions { syscall_ns, limit: LIMIT, ..GuestOptions::new(kernel) };
                let at_once = std::thread::available_parallelism().map_or(1, usize::from);
                CrashPlace::Guests(CrashGuests { options: &options, program, at_once })
            }
            CrashJobPlace::Native { scratch_dir } if !levels.device.is_virtual() => {
                CrashPlace::Native { scratch_dir }
            }
            _ => return Err(other()),
        };
        let points = match self.more.hunted_states {
            None => PointsOrder::Uniform { points: self.points, classes: self.classes.to_vec() },
            Some(states_most) => {
                let (samples, singles) = (HUNT_SAMPLES, HUNT_SINGLES);
                PointsOrder::PerEvent { states_most, samples, singles }
            }
        };
        let order = CrashOrder {
            fs: &levels.fs,
            disk: DiskOrder { model, size_bytes, store_dir: None },
            place,
            workload: self.workload,
            seed: self.seed,
            duration_ns: self.seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            points,
            recovery_every: self.more.recovery_every,
            lose_flush: self.more.lose_flush,
            has_fsck: true,
            timed_states: TIMED_STATES,
        };
        Ok(crash_run(&order, stop)?)
    }

    /// What is documented for its file system with its options.
    #[must_use]
    pub fn promises(&self) -> Promises {
        promises(&self.contender.levels.fs)
    }

    /// The judgement of a crash run of this job.
    ///
    /// # Errors
    /// An op journal that cannot be.
    pub fn record(&self, ran: &CrashRun) -> Result<CrashRecord, CrashJobError> {
        let oracle = Oracle::new(&ran.work.ops, self.seed, self.promises())?;
        let findings: Vec<Findings> =
            ran.observed().map(|(state, seen)| oracle.judge(state, seen)).collect();
        let recovered = ran.recoveries.iter().map(|one| oracle.judge(&one.state, &one.seen));
        let mut firsts = ran.observed().filter_map(|(_, seen)| seen.mounts.first());
        Ok(CrashRecord {
            schema: RECORD_SCHEMA,
            workload: self.workload.name().to_owned(),
            seed: self.seed,
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
            disk_fault: self.disk_fault(ran),
        })
    }

    /// What the disk did that an honest one does not.
    fn disk_fault(&self, ran: &CrashRun) -> Option<String> {
        let at_ns = ran.lost_flush_ns?.saturating_sub(ran.work.begin_ns);
        let number = self.more.lose_flush.unwrap_or(0);
        let at_s = at_ns as f64 / SECOND_NS as f64;
        Some(format!(
            "the disk lost flush {number} of the work (seed {}: at {at_s:.3} s)",
            self.seed
        ))
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
