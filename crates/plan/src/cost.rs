//! What a plan will cost: time, bytes written, images; each figure with its source.
//!
//! An estimate for `--dry-run` and for the question "shall I start this now?", no measurement. Time
//! comes from earlier records of the same file system on the same kind of device where there are
//! any, else from a calibration the caller made, else from assumptions that are stated as such: a
//! file system in memory says nothing about the same one on a disk. Bytes follow from the datasets:
//! data in blocks of 4 KiB, [`METADATA_BYTES_PER_FILE`], what is written over and appended,
//! [`FSYNC_BYTES`] for each fsync, [`mkfs_bytes`] for making the file system,
//! [`conditioning_bytes`] for the device before it, and [`age_bytes`] for what ages it. Of real
//! work: the source, where it is put there, and all that phases make; copies that share blocks are
//! counted as if they did not, and
//! what a command writes is not known. Its time is always assumed.
//!
//! Where a RUN ends as soon as all is decided, figures are of all blocks up to the cap, and
//! [`Cost::least`] has those of the blocks before the first look. Blocks that have to be run again
//! are in neither.

mod fio;
mod jobs;
mod records;
mod source;
mod start;
mod stated;
mod sums;

pub use source::CostSource;
pub use start::ImageCost;
pub use stated::{stated_block_ns, stated_ns};
pub use sums::{FSYNC_BYTES, METADATA_BYTES_PER_FILE};

use crate::ranks::at_levels;
use crate::steps::steps;
use fsarena_model::age::Age;
use fsarena_model::contender::Levels;
use fsarena_model::device::SsdPolicy;
use fsarena_model::factor;
use fsarena_model::io::Backend;
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::op::Op;
use fsarena_model::past::{PastStart, PastWork};
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::spec::Step;
use records::TrialSought;
use start::{Start, StartCost};
use std::collections::{BTreeSet, HashMap};
use sums::{Sums, moved_bytes, syncs, whole};

/// Allowance for mkfs: 2 % of the device, up to 128 MiB (inode tables and a journal).
#[must_use]
pub fn mkfs_bytes(device_bytes: u64) -> u64 {
    (device_bytes / 50).min(128 << 20)
}

/// Passes over the device of a preconditioning. The figures are those of the default of
/// `fsarena-devices`, at the speed of a slow SSD.
const FILL_PASSES: u64 = 2;
/// Rounds of random writes until it is steady: five are looked at, the first ones are not steady.
const ROUNDS: u64 = 8;
/// A round is as long as the device is large, and no longer than 60 s of 100 MB/s.
const MAX_ROUND_BYTES: u64 = 6_000_000_000;
const FILL_NS_PER_BYTE: f64 = 2.0;
const ROUND_NS_PER_BYTE: f64 = 10.0;

/// Bytes that conditioning writes to a device before one trial: for `precondition` two fills and
/// eight rounds of random writes. A discard writes nothing to speak of.
#[must_use]
pub fn conditioning_bytes(levels: &Levels) -> u64 {
    let size = levels.device.size_bytes().unwrap_or(0);
    match levels.ssd {
        SsdPolicy::None | SsdPolicy::Blkdiscard => 0,
        SsdPolicy::Precondition => {
            size.saturating_mul(FILL_PASSES).saturating_add(round_bytes(size))
        }
    }
}

fn round_bytes(device_bytes: u64) -> u64 {
    device_bytes.min(MAX_ROUND_BYTES).saturating_mul(ROUNDS)
}

/// Time of the conditioning.
fn conditioning_ns(levels: &Levels) -> f64 {
    let all = conditioning_bytes(levels);
    if all == 0 {
        return 0.0;
    }
    let rounds = round_bytes(levels.device.size_bytes().unwrap_or(0));
    (all - rounds) as f64 * FILL_NS_PER_BYTE + rounds as f64 * ROUND_NS_PER_BYTE
}

/// Time of a byte that ageing writes, and of each of its operations, at the speed of a slow SSD.
const AGE_NS_PER_BYTE: f64 = 3.0;
const AGE_NS_PER_OP: f64 = 50_000.0;

/// Bytes that ageing writes before one trial: the fill, and the churn up to its limit; at most so
/// many where the share is of the room. What is put back from kept images counts like made anew.
#[must_use]
pub fn age_bytes(levels: &Levels) -> u64 {
    let of = |(age, size): (Age, u64)| age.fill_bytes(size).saturating_add(age.churn_bytes(size));
    factor::age(levels).zip(levels.device.size_bytes()).map_or(0, of)
}

/// Time of the ageing; of each file it makes there is an operation, and half as many more.
fn age_ns(levels: &Levels) -> f64 {
    let Some((age, size)) = factor::age(levels).zip(levels.device.size_bytes()) else { return 0.0 };
    let operations = age.expected_files(size) as f64 * (1.0 + 1.5 * age.churn);
    age_bytes(levels) as f64 * AGE_NS_PER_BYTE + operations * AGE_NS_PER_OP
}

/// Cost of an op.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OpCost {
    /// Time of each op without its bytes, ns.
    pub ns_per_op: f64,
    /// Time of each byte moved, ns.
    pub ns_per_byte: f64,
}

/// What file systems lay on when their costs were measured: kinds of device by the names that
/// records have for them ([`kind`](fsarena_model::contender::DeviceLevel::kind)).
pub fn device_kinds() -> impl Iterator<Item = &'static str> {
    let memory = MemoryDevice::all().map(|kind| kind.row().name);
    ["loop", "ram"].into_iter().chain(memory).chain(["block", "several", "directory"])
}

/// What is known of costs before the run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CostBasis {
    /// Measured in earlier RUNs, by name of the file system, what it lay on, and op.
    pub measured: HashMap<(String, String, Op), OpCost>,
    /// Measured just now, whatever the file system.
    pub calibrated: HashMap<Op, OpCost>,
    /// Length of a trial around its work (mkfs, mount, directories, settle, chill, drain,
    /// teardown), measured in earlier RUNs, ns; by name of the file system and what it lay on.
    /// Neither timed phases nor the steps age, prepare and verify are in it: these are added
    /// apart.
    pub trial_overheads_ns: HashMap<(String, String), f64>,
    /// Trials of this machine, the latest first.
    pub past: Vec<PastWork>,
    /// What RUNs of this machine did before their first trial, the latest first.
    pub starts: Vec<PastStart>,
    /// Guests that are side by side, at least one.
    pub guests_at_once: u64,
}

/// Cost of one workload on one contender.
#[derive(Clone, PartialEq, Debug)]
pub struct CostRow {
    /// Index into the plan's contenders.
    pub contender: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Number of trials, at most.
    pub trials: u64,
    /// Their number where all is decided at the first look.
    pub least_trials: u64,
    /// Expected length of one trial, ns.
    pub trial_ns: u64,
    /// Expected bytes that one trial writes.
    pub trial_written_bytes: u64,
    /// Of these, what conditioning of the device writes before the trial.
    pub conditioning_bytes: u64,
    /// Whether these go to memory and not to a disk.
    pub in_memory: bool,
    /// The weakest source among the times of its ops.
    pub source: CostSource,
    /// Source of the time around them (mkfs, mount, chill).
    pub overhead_source: CostSource,
    /// The records that the length of a trial is from, in words, where it is from those of the same
    /// or nearly the same work.
    pub records: Option<String>,
    /// Least length of a trial by the times that its workload states, ns.
    pub stated_ns: u64,
}

/// What a RUN costs where everything is decided at the first look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeastCost {
    /// Number of trials.
    pub trials: u64,
    /// Expected length of the RUN, images included, ns.
    pub total_ns: u64,
    /// Expected bytes written to disks, images included.
    pub disk_written_bytes: u64,
    /// Expected bytes written to memory, images included.
    pub memory_written_bytes: u64,
}

/// The whole estimate.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// One row per pair that is run, workload by workload.
    pub rows: Vec<CostRow>,
    /// One per device that a file system is made on and discard policy.
    pub images: Vec<ImageCost>,
    /// Number of trials, at most.
    pub trials: u64,
    /// The same where all is decided at the first look.
    pub least: LeastCost,
    /// Expected length of the RUN, images included, ns.
    pub total_ns: u64,
    /// Of it, what is done once: images and sources of real work, the start and the report, ns.
    pub start_ns: u64,
    /// Expected bytes written to disks, images included.
    pub disk_written_bytes: u64,
    /// Expected bytes written to memory (`ram`, tmpfs), images included.
    pub memory_written_bytes: u64,
    /// Of both, what conditioning of devices writes.
    pub conditioning_bytes: u64,
    /// Of the bytes on disks, sources of real work that are made once, next to the images; they
    /// take this space while it runs.
    pub stage_bytes: u64,
    /// The same in memory.
    pub stage_memory_bytes: u64,
    /// Space that images take on disks while it runs.
    pub image_bytes: u64,
    /// Sources used; the last is the weakest.
    pub sources: BTreeSet<CostSource>,
}

/// Assumed where nothing was measured: a file system on a loop device over a fast disk, cold, with
/// one thread and one op at a time. More of either are taken for no faster.
fn assumed(op: Op) -> OpCost {
    let (ns_per_op, ns_per_byte) = op.info().cost_ns;
    OpCost { ns_per_op, ns_per_byte }
}

/// About twice what was seen on a quiet machine: nothing waits for a fixed time.
const ASSUMED_TRIAL_NS: f64 = 400_000_000.0;
const ASSUMED_PHASE_NS: f64 = 300_000_000.0;
/// Without a device there is no mkfs to speak of, nothing to chill and to wait for.
const ASSUMED_WARM_SHARE: f64 = 0.3;
/// An op of the null backend.
const NULL_NS_PER_OP: f64 = 100.0;
/// Real time of a trial in a guest around its work: boot, mkfs, mount, proofs, power-off. The times
/// in records of such trials are virtual, and say nothing of it.
const GUEST_TRIAL_NS: f64 = 500_000_000.0;
/// Real time of an op in a guest, which has some system calls; of a byte; of an fsync.
const GUEST_OP: OpCost = OpCost { ns_per_op: 45_000.0, ns_per_byte: 6.0 };
const GUEST_FSYNC_NS: f64 = 100_000.0;
/// An fsync on a disk, and on what is in memory. Records do not tell phases with it from those
/// without: it is always added.
const FSYNC_NS: f64 = 2_000_000.0;
const FSYNC_IN_MEMORY_NS: f64 = 50_000.0;

/// Kinds of device under which records of these levels are of use: its own, or any where the file
/// system is not on it.
fn kinds(levels: &Levels) -> impl Iterator<Item = String> {
    let own = levels.device.kind();
    let any = own != "directory" && !levels.has_own_device();
    let others = device_kinds().filter(move |kind| any && *kind != own);
    std::iter::once(own).chain(others).map(str::to_owned)
}

impl CostBasis {
    fn op(&self, levels: &Levels, op: Op) -> (OpCost, CostSource) {
        if levels.device.is_virtual() {
            return (GUEST_OP, CostSource::Assumed);
        }
        let measured = |kind| self.measured.get(&(levels.fs.name.clone(), kind, op));
        if let Some(cost) = kinds(levels).find_map(measured) {
            (*cost, CostSource::Measured)
        } else if let Some(cost) = self.calibrated.get(&op) {
            (*cost, CostSource::Calibrated)
        } else {
            (assumed(op), CostSource::Assumed)
        }
    }

    /// Time of a trial around its phases, time around each of its timed phases.
    fn overhead(&self, levels: &Levels) -> (f64, f64, CostSource) {
        if levels.device.is_virtual() {
            return (GUEST_TRIAL_NS, 0.0, CostSource::Assumed);
        }
        let measured = |kind| self.trial_overheads_ns.get(&(levels.fs.name.clone(), kind));
        if let Some(ns) = kinds(levels).find_map(measured) {
            // It has the time around each timed phase in it, and none of the steps that `row` adds.
            return (*ns, 0.0, CostSource::Measured);
        }
        let share = if levels.has_own_device() { 1.0 } else { ASSUMED_WARM_SHARE };
        (ASSUMED_TRIAL_NS * share, ASSUMED_PHASE_NS * share, CostSource::Assumed)
    }
}

/// Time of a phase and the source of the figure.
fn phase_cost(
    basis: &CostBasis,
    levels: &Levels,
    (workload, sums): (&Workload, &Sums),
    phase: &Phase,
) -> (f64, CostSource) {
    if let Some(jobs) = &sums.jobs {
        return (jobs.phase_ns(workload, phase), CostSource::Assumed);
    }
    if phase.op == Op::Fio {
        let (ns, is_stated) = fio::phase_ns(workload, phase, !phase.timed);
        return (ns, if is_stated { CostSource::Stated } else { CostSource::Assumed });
    }
    let set = &workload.dataset;
    if let Some(runtime_ns) = phase.io.runtime_ns {
        return (runtime_ns as f64, CostSource::Stated);
    }
    let ops = phase.count(set) as f64;
    if phase.io.backend == Backend::Null {
        return (ops * NULL_NS_PER_OP, CostSource::Assumed);
    }
    // Waiting takes no time in a guest.
    if let Some(cycle) = phase.cycle.as_ref().filter(|_| !levels.device.is_virtual()) {
        // Where work outlasts its period it takes longer.
        let periods_ns = cycle.period_ns as f64 * f64::from(cycle.cycles);
        return (periods_ns, CostSource::Stated);
    }
    let (cost, source) = basis.op(levels, phase.op);
    let fsync_ns = match is_memory(levels) {
        _ if levels.device.is_virtual() => GUEST_FSYNC_NS,
        true => FSYNC_IN_MEMORY_NS,
        false => FSYNC_NS,
    };
    let waits = syncs(phase, set) as f64 * fsync_ns;
    let bytes = moved_bytes(phase, set, sums) as f64;
    let work_ns = ops * cost.ns_per_op + bytes * cost.ns_per_byte + waits;
    // At a set rate it takes no less, however fast the file system is.
    let paced_ns = phase.io.rate.map_or(0.0, |rate| {
        ops * 1e9 / (f64::from(rate.max(1)) * f64::from(phase.io.threads.max(1)))
    });
    // With a stonewall it is the work of about twice the time at most: the wear-out is of no
    // thread's own making.
    let most_ns = phase.io.stonewall_ns.map_or(f64::INFINITY, |wall_ns| 2.0 * wall_ns as f64);
    (work_ns.max(paced_ns).min(most_ns), source)
}

/// Whether what is written stays in memory.
fn is_memory(levels: &Levels) -> bool {
    levels.device.is_memory() || levels.is_in_memory()
}

fn row(
    plan: &RunPlan,
    (contender, number): (usize, usize),
    sums: &Sums,
    basis: &CostBasis,
) -> CostRow {
    let levels = &plan.contenders[contender].levels;
    let workload = &at_levels(&plan.workloads[number], levels);
    let (mut ns, around_ns, overhead_source) = basis.overhead(levels);
    let mut source = CostSource::Measured;
    for step in steps(workload, levels, plan.verify) {
        let (step_ns, step_source) = match &step {
            Step::Measure { phase } => {
                let (ns, source) = phase_cost(basis, levels, (workload, sums), phase);
                (ns + around_ns + levels.handicap_ns as f64, source)
            }
            Step::Age { .. } => (age_ns(levels), CostSource::Assumed),
            Step::Prepare { phase } => phase_cost(basis, levels, (workload, sums), phase),
            Step::Stage => {
                (sums.jobs.as_ref().map_or(0.0, |jobs| jobs.put_ns), CostSource::Assumed)
            }
            Step::Verify if sums.jobs.is_some() => {
                (sums.jobs.as_ref().map_or(0.0, |jobs| jobs.compare_ns), CostSource::Assumed)
            }
            Step::Verify => {
                let (cost, source) = basis.op(levels, Op::Read);
                let bytes = sums.dataset_bytes as f64 * cost.ns_per_byte;
                (workload.dataset.files as f64 * cost.ns_per_op + bytes, source)
            }
            _ => continue,
        };
        ns += step_ns;
        source = source.max(step_source);
    }
    ns += conditioning_ns(levels);
    let planned = &plan.workloads[number];
    let wanted = TrialSought { workload: planned, levels, verify: plan.verify };
    let past = if levels.device.is_virtual() { &[] } else { &basis.past[..] };
    let is_own = source <= CostSource::Stated && overhead_source <= CostSource::Stated;
    let found = wanted.own(past).or_else(|| wanted.other(past).filter(|_| !is_own));
    let mut overhead_source = overhead_source;
    let records = found.map(|found| {
        ns = found.ns.max(stated_ns(planned, levels) as f64);
        (source, overhead_source) = (found.source, found.source);
        found.words
    });
    let device_bytes = levels.device.size_bytes().filter(|_| levels.has_own_device());
    let mkfs = device_bytes.map_or(0, mkfs_bytes);
    let conditioning_bytes = conditioning_bytes(levels);
    let written = [sums.written_bytes, mkfs, conditioning_bytes, age_bytes(levels)]
        .into_iter()
        .fold(0, u64::saturating_add);
    let (least_blocks, most_blocks) = blocks(plan);
    let trials = |blocks: u32| {
        let of_row = |slot: &&Slot| (slot.contender, slot.workload) == (contender, number);
        plan.schedule.iter().filter(|slot| slot.block < blocks).filter(of_row).count() as u64
    };
    CostRow {
        contender,
        workload: number,
        trials: trials(most_blocks),
        least_trials: trials(least_blocks),
        trial_ns: whole(ns),
        trial_written_bytes: written,
        conditioning_bytes,
        in_memory: is_memory(levels),
        source,
        overhead_source,
        records,
        stated_ns: stated_ns(planned, levels),
    }
}

/// Fewest and most blocks that count.
fn blocks(plan: &RunPlan) -> (u32, u32) {
    let rule = plan.verdict.as_ref().map(|verdict| verdict.rule);
    rule.map_or((plan.blocks, plan.blocks), |rule| (rule.least_blocks(), rule.blocks()))
}

/// The cost of a plan without its trials.
fn before_trials(start: StartCost) -> Cost {
    let bytes = |in_memory: bool| {
        let images = start.images.iter().filter(move |image| image.in_memory == in_memory);
        images.map(|image| image.size_bytes).fold(0, u64::saturating_add)
    };
    let (image_bytes, memory_bytes) = (bytes(false), bytes(true));
    let (stage_bytes, stage_memory_bytes) = start.stage_bytes;
    Cost {
        total_ns: start.ns,
        start_ns: start.ns,
        disk_written_bytes: image_bytes.saturating_add(stage_bytes),
        memory_written_bytes: memory_bytes.saturating_add(stage_memory_bytes),
        stage_bytes,
        stage_memory_bytes,
        image_bytes,
        sources: start.source.into_iter().collect(),
        images: start.images,
        ..Cost::default()
    }
}

/// Expected cost of a plan.
#[must_use]
pub fn estimate(plan: &RunPlan, basis: &CostBasis) -> Cost {
    let pairs: BTreeSet<(usize, usize)> =
        plan.schedule.iter().map(|slot| (slot.workload, slot.contender)).collect();
    let sums: Vec<Sums> = plan.workloads.iter().map(Sums::new).collect();
    let rows: Vec<CostRow> = pairs
        .into_iter()
        .map(|(workload, contender)| row(plan, (contender, workload), &sums[workload], basis))
        .collect();
    let mut cost = before_trials(Start::of_plan(plan).cost(&basis.starts));
    let mut least = LeastCost {
        trials: 0,
        total_ns: cost.total_ns,
        disk_written_bytes: cost.disk_written_bytes,
        memory_written_bytes: cost.memory_written_bytes,
    };
    for row in &rows {
        let is_virtual = plan.contenders[row.contender].levels.device.is_virtual();
        let total_ns = |trials: u64| match is_virtual {
            // The first of them is done twice.
            true => (trials + 1).saturating_mul(row.trial_ns) / basis.guests_at_once.max(1),
            false => trials.saturating_mul(row.trial_ns),
        };
        let least_written = row.least_trials.saturating_mul(row.trial_written_bytes);
        let least_ns = total_ns(row.least_trials);
        least.trials += row.least_trials;
        least.total_ns = least.total_ns.saturating_add(least_ns);
        let written = row.trials.saturating_mul(row.trial_written_bytes);
        let conditioning = row.trials.saturating_mul(row.conditioning_bytes);
        cost.conditioning_bytes = cost.conditioning_bytes.saturating_add(conditioning);
        cost.trials += row.trials;
        cost.total_ns = cost.total_ns.saturating_add(total_ns(row.trials));
        cost.sources.extend([row.source, row.overhead_source]);
        cost.sources.extend((row.stated_ns > 0).then_some(CostSource::Stated));
        let (sum, least_sum) = if row.in_memory {
            (&mut cost.memory_written_bytes, &mut least.memory_written_bytes)
        } else {
            (&mut cost.disk_written_bytes, &mut least.disk_written_bytes)
        };
        *sum = sum.saturating_add(written);
        *least_sum = least_sum.saturating_add(least_written);
    }
    cost.least = least;
    cost.rows = rows;
    cost
}
