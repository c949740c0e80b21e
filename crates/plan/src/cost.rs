//! What a plan will cost: time, bytes written, images; each figure with its source.
//!
//! An estimate for `--dry-run` and for the question "shall I start this now?", no measurement. Time
//! comes from earlier records of the same file system on the same kind of device where there are
//! any, else from a calibration the caller made, else from assumptions that are stated as such: a
//! file system in memory says nothing about the same one on a disk. Bytes follow from the datasets:
//! data in blocks of 4 KiB, [`METADATA_BYTES_PER_FILE`], and [`mkfs_bytes`] for making the file
//! system.

use crate::fit::block_bytes;
use crate::steps::{in_memory, prepare_phase, steps};
use crate::text::device_text;
use fsarena_model::contender::{DeviceLevel, Discard, Levels};
use fsarena_model::run::RunPlan;
use fsarena_model::spec::Step;
use fsarena_model::work::{Op, Phase, Workload};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Allowance for inode, directory entry and their journal, per file.
pub const METADATA_BYTES_PER_FILE: u64 = 1024;

/// Allowance for mkfs: 2 % of the device, up to 128 MiB (inode tables and a journal).
#[must_use]
pub fn mkfs_bytes(device_bytes: u64) -> u64 {
    (device_bytes / 50).min(128 << 20)
}

/// Cost of an op.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OpCost {
    /// Time of each op without its bytes, ns.
    pub ns_per_op: f64,
    /// Time of each byte moved, ns.
    pub ns_per_byte: f64,
}

/// What a file system lay on when its costs were measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// An image on a disk.
    Loop,
    /// An image in memory.
    Ram,
    /// A directory of a file system that was there already.
    Directory,
}

impl DeviceKind {
    const ALL: [Self; 3] = [Self::Loop, Self::Ram, Self::Directory];

    /// The kind of a device.
    #[must_use]
    pub fn of(device: &DeviceLevel) -> Self {
        match device {
            DeviceLevel::Loop { .. } => Self::Loop,
            DeviceLevel::Ram { .. } => Self::Ram,
            DeviceLevel::Directory { .. } => Self::Directory,
        }
    }

    /// `loop`, `ram` or `directory`, as records name them.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Ram => "ram",
            Self::Directory => "directory",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What is known of costs before the run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CostBasis {
    /// Measured in earlier RUNs, by name of the file system, what it lay on, and op.
    pub measured: HashMap<(String, DeviceKind, Op), OpCost>,
    /// Measured just now, whatever the file system.
    pub calibrated: HashMap<Op, OpCost>,
    /// Time to write a byte of an image, measured, ns.
    pub image_ns_per_byte: Option<f64>,
    /// Length of a trial around its work (mkfs, mount, directories, settle, chill, drain,
    /// teardown), measured in earlier RUNs, ns; by name of the file system and what it lay on.
    /// Neither timed phases nor the steps prepare and verify are in it: these are added apart.
    pub trial_overheads_ns: HashMap<(String, DeviceKind), f64>,
}

/// Where a figure comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CostSource {
    /// Records of earlier RUNs.
    Measured,
    /// A calibration just now.
    Calibrated,
    /// An assumption of this program.
    Assumed,
}

/// Cost of one workload on one contender.
#[derive(Clone, PartialEq, Debug)]
pub struct CostRow {
    /// Index into the plan's contenders.
    pub contender: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Number of trials.
    pub trials: u64,
    /// Expected length of one trial, ns.
    pub trial_ns: u64,
    /// Expected bytes that one trial writes.
    pub trial_written_bytes: u64,
    /// Whether these go to memory and not to a disk.
    pub in_memory: bool,
    /// The weakest source among the times of its ops.
    pub source: CostSource,
    /// Source of the time around them (mkfs, mount, chill).
    pub overhead_source: CostSource,
}

/// An image to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageCost {
    /// The device as written: `loop:2G`.
    pub device: String,
    /// What its contenders do with discards: those that discard have an image of their own.
    pub discard: Discard,
    /// Its size.
    pub size_bytes: u64,
    /// Whether it lies in memory.
    pub in_memory: bool,
    /// Expected time to write it once, ns.
    pub write_ns: u64,
    /// Where that comes from.
    pub source: CostSource,
}

/// The whole estimate.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// One row per pair that is run, workload by workload.
    pub rows: Vec<CostRow>,
    /// One per device that a file system is made on and discard policy.
    pub images: Vec<ImageCost>,
    /// Number of trials.
    pub trials: u64,
    /// Expected length of the RUN, images included, ns.
    pub total_ns: u64,
    /// Expected bytes written to disks, images included.
    pub disk_written_bytes: u64,
    /// Expected bytes written to memory (`ram`, tmpfs), images included.
    pub memory_written_bytes: u64,
    /// Space that images take on disks while it runs.
    pub image_bytes: u64,
    /// Sources used; the last is the weakest.
    pub sources: BTreeSet<CostSource>,
}

/// Assumed where nothing was measured: a file system on a loop device over a fast disk, cold.
fn assumed(op: Op) -> OpCost {
    let (ns_per_op, ns_per_byte) = match op {
        Op::Create => (60_000.0, 2.0),
        Op::Read => (150_000.0, 1.0),
        Op::Stat => (10_000.0, 0.0),
        Op::Delete => (30_000.0, 0.0),
        Op::BigWrite => (0.0, 2.0),
        Op::BigRead => (0.0, 1.0),
    };
    OpCost { ns_per_op, ns_per_byte }
}

const ASSUMED_IMAGE_NS_PER_BYTE: f64 = 2.0;
const ASSUMED_TRIAL_NS: f64 = 1_000_000_000.0;
const ASSUMED_PHASE_NS: f64 = 600_000_000.0;
/// Without a device there is no mkfs to speak of, nothing to chill and to wait for.
const ASSUMED_WARM_SHARE: f64 = 0.3;

/// Whether a device of our own is made for the file system.
fn has_device(levels: &Levels) -> bool {
    let external = levels.fs.external.as_ref();
    !in_memory(levels)
        && external.is_none_or(|commands| commands.device)
        && levels.device.size_bytes().is_some()
}

/// Kinds of device under which records of these levels are of use: its own, or any where the file
/// system does not lie on it.
fn kinds(levels: &Levels) -> impl Iterator<Item = DeviceKind> {
    let own = DeviceKind::of(&levels.device);
    let any = own != DeviceKind::Directory && !has_device(levels);
    let others = DeviceKind::ALL.into_iter().filter(move |kind| any && *kind != own);
    std::iter::once(own).chain(others)
}

impl CostBasis {
    fn op(&self, levels: &Levels, op: Op) -> (OpCost, CostSource) {
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
        let measured = |kind| self.trial_overheads_ns.get(&(levels.fs.name.clone(), kind));
        if let Some(ns) = kinds(levels).find_map(measured) {
            // It has the time around each timed phase in it, and none of the steps that `row` adds.
            return (*ns, 0.0, CostSource::Measured);
        }
        let share = if has_device(levels) { 1.0 } else { ASSUMED_WARM_SHARE };
        (ASSUMED_TRIAL_NS * share, ASSUMED_PHASE_NS * share, CostSource::Assumed)
    }
}

fn given(value: Option<f64>, assumed: f64) -> (f64, CostSource) {
    value.map_or((assumed, CostSource::Assumed), |value| (value, CostSource::Measured))
}

/// Time of a phase and the source of the figure.
fn phase_cost(
    basis: &CostBasis,
    levels: &Levels,
    workload: &Workload,
    phase: &Phase,
) -> (f64, CostSource) {
    let (cost, source) = basis.op(levels, phase.op);
    let ops = phase.op.count(&workload.dataset, phase.bs_bytes) as f64;
    let bytes = if phase.op.moves_bytes() { workload.dataset.bytes() as f64 } else { 0.0 };
    (ops * cost.ns_per_op + bytes * cost.ns_per_byte, source)
}

fn row(plan: &RunPlan, contender: usize, number: usize, basis: &CostBasis) -> CostRow {
    let levels = &plan.contenders[contender].levels;
    let workload = &plan.workloads[number];
    let (mut ns, around_ns, overhead_source) = basis.overhead(levels);
    let mut source = CostSource::Measured;
    for step in steps(workload, levels, plan.verify) {
        let (step_ns, step_source) = match &step {
            Step::Measure { phase } => {
                let (ns, source) = phase_cost(basis, levels, workload, phase);
                (ns + around_ns, source)
            }
            Step::Prepare { phase } => phase_cost(basis, levels, workload, phase),
            Step::Verify => {
                let (cost, source) = basis.op(levels, Op::Read);
                let dataset = &workload.dataset;
                let bytes = dataset.bytes() as f64 * cost.ns_per_byte;
                (dataset.files as f64 * cost.ns_per_op + bytes, source)
            }
            _ => continue,
        };
        ns += step_ns;
        source = source.max(step_source);
    }
    let files = block_bytes(workload)
        .saturating_add(workload.dataset.files.saturating_mul(METADATA_BYTES_PER_FILE));
    let device_bytes = levels.device.size_bytes().filter(|_| has_device(levels));
    let mkfs = device_bytes.map_or(0, mkfs_bytes);
    let trials = plan.schedule.iter().filter(|s| (s.contender, s.workload) == (contender, number));
    CostRow {
        contender,
        workload: number,
        trials: trials.count() as u64,
        trial_ns: whole(ns),
        trial_written_bytes: files.saturating_add(mkfs),
        in_memory: in_memory(levels) || matches!(levels.device, DeviceLevel::Ram { .. }),
        source,
        overhead_source,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never < 0")]
fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

fn images(plan: &RunPlan, rows: &[CostRow], basis: &CostBasis) -> Vec<ImageCost> {
    let mut images: BTreeMap<(String, bool), ImageCost> = BTreeMap::new();
    for row in rows {
        let levels = &plan.contenders[row.contender].levels;
        let Some(size_bytes) = levels.device.size_bytes().filter(|_| has_device(levels)) else {
            continue;
        };
        let (ns_per_byte, source) = given(basis.image_ns_per_byte, ASSUMED_IMAGE_NS_PER_BYTE);
        let device = device_text(&levels.device);
        let discard = levels.discard;
        images.entry((device.clone(), discard == Discard::On)).or_insert(ImageCost {
            device,
            discard,
            size_bytes,
            in_memory: matches!(levels.device, DeviceLevel::Ram { .. }),
            write_ns: whole(size_bytes as f64 * ns_per_byte),
            source,
        });
    }
    images.into_values().collect()
}

/// Expected cost of a plan.
#[must_use]
pub fn estimate(plan: &RunPlan, basis: &CostBasis) -> Cost {
    let pairs: BTreeSet<(usize, usize)> =
        plan.schedule.iter().map(|slot| (slot.workload, slot.contender)).collect();
    let rows: Vec<CostRow> = pairs
        .into_iter()
        .map(|(workload, contender)| row(plan, contender, workload, basis))
        .collect();
    let mut cost = Cost { images: images(plan, &rows, basis), ..Cost::default() };
    for image in &cost.images {
        cost.total_ns = cost.total_ns.saturating_add(image.write_ns);
        cost.sources.insert(image.source);
        if image.in_memory {
            cost.memory_written_bytes = cost.memory_written_bytes.saturating_add(image.size_bytes);
        } else {
            cost.disk_written_bytes = cost.disk_written_bytes.saturating_add(image.size_bytes);
            cost.image_bytes = cost.image_bytes.saturating_add(image.size_bytes);
        }
    }
    for row in &rows {
        let written = row.trials.saturating_mul(row.trial_written_bytes);
        cost.trials += row.trials;
        cost.total_ns = cost.total_ns.saturating_add(row.trials.saturating_mul(row.trial_ns));
        cost.sources.extend([row.source, row.overhead_source]);
        let sum = if row.in_memory {
            &mut cost.memory_written_bytes
        } else {
            &mut cost.disk_written_bytes
        };
        *sum = sum.saturating_add(written);
    }
    cost.rows = rows;
    cost
}

/// Ops of one trial of a workload, over all its phases and the one that prepares.
#[must_use]
pub fn ops_per_trial(workload: &Workload) -> u64 {
    let prepare = prepare_phase(workload);
    let phases = prepare.iter().chain(&workload.phases);
    phases.map(|phase| phase.op.count(&workload.dataset, phase.bs_bytes)).sum()
}
