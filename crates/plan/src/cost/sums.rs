//! Bytes and fsyncs that follow from a workload, whatever it runs on.

use super::jobs::JobSums;
use crate::check_capacity::block_bytes;
use crate::steps::{is_null, prepare_phase};
use fsarena_model::cycle::Load;
use fsarena_model::dataset::Dataset;
use fsarena_model::io::Fsync;
use fsarena_model::op::{Op, Rewrites};
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::state::Effect;

/// Allowance for inode, directory entry and their journal, per file.
pub const METADATA_BYTES_PER_FILE: u64 = 1024;

/// What an fsync writes in addition to its data: descriptor, inode and commit block of a journal.
pub const FSYNC_BYTES: u64 = 3 * 4096;

/// What follows from a workload alone; sizes that are drawn are added up once.
pub(super) struct Sums {
    /// Contents.
    pub(super) dataset_bytes: u64,
    /// Of one trial: everything that the work writes.
    pub(super) written_bytes: u64,
    /// Real work, where it is that.
    pub(super) jobs: Option<JobSums>,
}

impl Sums {
    pub(super) fn new(workload: &Workload) -> Self {
        if let Some(source) = &workload.source {
            let jobs = JobSums::new(workload, source);
            let (dataset_bytes, written_bytes) = (jobs.dataset_bytes, jobs.written_bytes);
            return Self { dataset_bytes, written_bytes, jobs: Some(jobs) };
        }
        let set = &workload.dataset;
        let dataset_bytes = set.bytes();
        let made = prepare_phase(workload).is_some()
            || workload.phases.iter().any(|phase| phase.op.creates() || phase.op == Op::Fio);
        let filled = !workload.phases.iter().any(|p| p.op.info().effect == Effect::Allocate);
        if is_null(workload) || !made {
            return Self { dataset_bytes, written_bytes: 0, jobs: None };
        }
        let metadata = set.files.saturating_mul(METADATA_BYTES_PER_FILE);
        let block_bytes = block_bytes(workload);
        let contents_bytes = if filled { block_bytes } else { 0 };
        let mut written_bytes = contents_bytes.saturating_add(metadata);
        for phase in &workload.phases {
            let again = match phase.op.info().rewrites {
                Rewrites::Contents => dataset_bytes,
                Rewrites::Blocks => writes(phase, set).saturating_mul(phase.bs_bytes.max(4096)),
                Rewrites::Cycles => cycles_bytes(phase, set, block_bytes),
                Rewrites::Nothing => 0,
            };
            let syncs = syncs(phase, set).saturating_mul(FSYNC_BYTES);
            written_bytes = written_bytes.saturating_add(again).saturating_add(syncs);
        }
        Self { dataset_bytes, written_bytes, jobs: None }
    }
}

/// What the cycles of a phase write, and the second load during them: its files once for each
/// cycle that it disturbs, or as much as its rate gives in a period (at least its file once).
fn cycles_bytes(phase: &Phase, set: &Dataset, block_bytes: u64) -> u64 {
    let Some(cycle) = &phase.cycle else { return 0 };
    let updates = phase.count(set);
    let mean = block_bytes / set.files.max(1) + METADATA_BYTES_PER_FILE;
    let disturbed = (1..=cycle.cycles).filter(|number| cycle.is_disturbed(*number)).count() as u64;
    let load = cycle.disturb.as_ref().map_or(0, |disturb| match disturb.load {
        Load::Create { files, size_bytes, .. } => {
            let each = size_bytes.div_ceil(4096).saturating_mul(4096) + METADATA_BYTES_PER_FILE;
            files.saturating_mul(each)
        }
        Load::Write { size_bytes, rate_bytes, .. } => {
            size_bytes.max(rate_bytes.saturating_mul(cycle.period_ns / 1_000_000_000))
        }
        Load::Read { .. } => 0,
    });
    updates.saturating_mul(mean).saturating_add(disturbed.saturating_mul(load))
}

/// Time of a random op, where the clock ends a phase of them.
const RANDOM_OP_NS: u64 = 100_000;

/// Ops of a phase, assumed where the clock decides.
fn likely_ops(phase: &Phase, set: &Dataset) -> u64 {
    let lanes = u64::from(phase.io.threads).saturating_mul(phase.io.iodepth.into());
    match phase.io.runtime_ns {
        Some(runtime_ns) => (runtime_ns / RANDOM_OP_NS).saturating_mul(lanes),
        None => phase.count(set),
    }
}

/// Ops of a phase that write.
fn writes(phase: &Phase, set: &Dataset) -> u64 {
    let all = likely_ops(phase, set);
    match phase.op.reads() && phase.op.is_random() {
        true => {
            let percent = u64::from(100u32.saturating_sub(phase.io.rwmixread_percent));
            // 10^12 ops at most: see MAX_OPS.
            all.saturating_mul(percent) / 100
        }
        false => all,
    }
}

/// Times that a phase waits for the device, once a write with `O_DSYNC` among them.
pub(super) fn syncs(phase: &Phase, set: &Dataset) -> u64 {
    let threads = u64::from(phase.io.threads);
    match phase.io.fsync {
        Fsync::None => 0,
        Fsync::Op | Fsync::Dsync => writes(phase, set),
        Fsync::File => set.files.saturating_mul(if phase.op.is_random() { threads } else { 1 }),
        Fsync::Dir => set.dirs.max(1).saturating_mul(threads),
        Fsync::End => threads,
    }
}

/// Bytes that a phase moves.
pub(super) fn moved_bytes(phase: &Phase, set: &Dataset, sums: &Sums) -> u64 {
    match phase.op {
        op if !op.moves_bytes() => 0,
        op if op.appends() => set.files.saturating_mul(phase.bs_bytes),
        op if op.is_random() => likely_ops(phase, set).saturating_mul(phase.bs_bytes),
        _ => sums.dataset_bytes,
    }
}

/// A time as a whole number, ns.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never < 0")]
pub(super) fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::io::Io;

    #[test]
    fn a_share_of_few_ops_is_not_lost() {
        let io = Io { ops: Some(99), rwmixread_percent: 70, ..Io::default() };
        let phase = Phase { io, ..Phase::new("p", Op::RandRw, 4096) };
        assert_eq!(writes(&phase, &Dataset::uniform(1, 1 << 20, 0)), 29);
    }
}
