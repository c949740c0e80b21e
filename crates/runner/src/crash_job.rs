//! One crash run: work in a guest, power cuts, looks at what is left, and the record of it.

use fsarena_model::contender::{Contender, DeviceLevel, FsLevel};
use fsarena_places::crash_run::{CrashOrder, CrashRun, CrashRunError, crash_run};
use fsarena_places::disk::DiskOrder;
use fsarena_places::guest::{GuestOptions, Program};
use fsarena_safety::Findings;
use fsarena_safety::history::HistoryError;
use fsarena_safety::observation::Rung;
use fsarena_safety::oracle::Oracle;
use fsarena_safety::promise::Promises;
use fsarena_safety::record::{CrashRecord, OpSummary, RECORD_SCHEMA};
use fsarena_safety::state::Class;
use fsarena_safety::workload::Kind;
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
    /// It is on a device of a guest.
    pub contender: &'a Contender,
    /// The kernel of its guests.
    pub kernel: &'a Path,
    /// Init of its guests.
    pub program: &'a Program,
    pub kind: Kind,
    pub seed: u64,
    /// Length of the work in virtual time.
    pub seconds: u64,
    /// Power cuts at uniform times, which have these classes in turns.
    pub points: u32,
    pub classes: &'a [Class],
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum CrashJobError {
    #[error("{0} is in no guest")]
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
        let levels = &self.contender.levels;
        let DeviceLevel::Virtual { size_bytes, model, syscall_ns, .. } = &levels.device else {
            return Err(CrashJobError::OtherPlace(self.contender.label.clone()));
        };
        let options = GuestOptions {
            syscall_ns: *syscall_ns,
            limit: LIMIT,
            ..GuestOptions::new(self.kernel)
        };
        let order = CrashOrder {
            fs: &levels.fs,
            disk: DiskOrder { model, size_bytes: *size_bytes, store_dir: None },
            options: &options,
            program: self.program,
            kind: self.kind,
            seed: self.seed,
            duration_ns: self.seconds * SECOND_NS,
            prefill_bytes: PREFILL_BYTES,
            points: self.points,
            classes: self.classes.to_vec(),
            guests_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        };
        self.record(&crash_run(&order, stop)?)
    }

    fn record(&self, ran: &CrashRun) -> Result<CrashRecord, CrashJobError> {
        let promises = promises(&self.contender.levels.fs);
        let oracle = Oracle::new(&ran.work.ops, self.seed, promises)?;
        let findings: Vec<Findings> =
            ran.observed().map(|(state, seen)| oracle.judge(state, seen)).collect();
        let mut firsts = ran.observed().filter_map(|(_, seen)| seen.mounts.first());
        Ok(CrashRecord {
            schema: RECORD_SCHEMA,
            workload: self.kind,
            seed: self.seed,
            ops: OpSummary::from_ops(&ran.work.ops, ran.work.begin_ns),
            begin_ns: ran.work.begin_ns,
            end_ns: ran.work.end_ns,
            mount_options: ran.work.mount_options.clone(),
            is_repaired_first: firsts.any(|mount| mount.rung == Rung::AfterRepair),
            findings,
        })
    }
}

/// The documented promises of a file system with its options.
fn promises(fs: &FsLevel) -> Promises {
    let has_journal = !fs.mkfs.get("features").is_some_and(|list| list.contains("^has_journal"));
    let options: Vec<&str> = fs.mount.iter().map(String::as_str).collect();
    if has_journal { Promises::documented(&fs.name, &options) } else { Promises::default() }
}
