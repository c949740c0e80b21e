//! The expected cost of a plan: from earlier records of the same file system on the same kind of
//! device, else from a short calibration in memory.

use crate::context;
use anyhow::Result;
use fsarena_engine::{Root, run_phase};
use fsarena_guests::OwnedDir;
use fsarena_model::run::RunPlan;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, Phase};
use fsarena_plan::cost::{CostSource, OpCost};
use fsarena_plan::{Cost, CostBasis};
use fsarena_report::{PlanCost, PlanCostRow, PlanNeed};
use fsarena_store::{Costs, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Earlier records, where there is a database; it is not raised and nothing is written to it.
pub fn records(db: Option<&Path>) -> Result<Option<Store>> {
    let path = context::database(db)?;
    Ok(if path.exists() { Some(Store::open_read_only(&path)?) } else { None })
}

/// Expected cost of `plan`.
pub fn estimate(plan: &RunPlan, store: Option<&Store>) -> Result<PlanCost> {
    let basis = basis(store)?;
    let cost = as_rows(&fsarena_plan::estimate(plan, &basis));
    let crash_runs_s = fsarena_plan::crash_runs_s(plan, basis.guests_at_once);
    Ok(PlanCost { needs: needs(plan), crash_runs_s, ..cost })
}

/// Expected length of a trial by contender and workload, ns.
pub fn trials_ns(plan: &RunPlan, store: &Store) -> Result<BTreeMap<(usize, usize), u64>> {
    let cost = fsarena_plan::estimate(plan, &basis(Some(store))?);
    Ok(cost.rows.iter().map(|row| ((row.contender, row.workload), row.trial_ns)).collect())
}

/// What is known of costs on this machine: a look at it, and the records of `store`.
pub fn basis(store: Option<&Store>) -> Result<CostBasis> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut basis = CostBasis {
        calibrated: calibrate(),
        guests_at_once: u64::try_from(processors).unwrap_or(1),
        ..CostBasis::default()
    };
    if let Some(store) = store {
        add_measured(&mut basis, store.costs()?);
        basis.past = store.past_work()?;
        basis.starts = store.past_starts()?;
    }
    Ok(basis)
}

/// Space that each workload of real work needs on the file system under test.
fn needs(plan: &RunPlan) -> Vec<PlanNeed> {
    let real = plan.workloads.iter().enumerate().filter(|(_, workload)| workload.source.is_some());
    real.map(|(at, workload)| PlanNeed {
        workload: at,
        needed_bytes: fsarena_plan::needed_bytes(workload),
    })
    .collect()
}

/// What earlier records say, each figure for its own file system and kind of device.
fn add_measured(basis: &mut CostBasis, costs: Costs) {
    for row in costs.ops {
        let per_byte_ns = row.per_byte_ns.filter(|_| is_by_byte(row.op));
        let cost = match per_byte_ns {
            Some(ns_per_byte) => OpCost { ns_per_op: 0.0, ns_per_byte },
            None => OpCost { ns_per_op: row.per_op_ns, ns_per_byte: 0.0 },
        };
        basis.measured.insert((row.fs, row.device, row.op), cost);
    }
    for row in costs.overheads {
        basis.trial_overheads_ns.insert((row.fs, row.device), row.per_trial_ns);
    }
}

/// How much longer an op takes on a cold disk file system than in memory, roughly: what a short
/// look at memory cannot see. Only the order of magnitude matters, and only before the first RUN.
const DISK_FACTORS: [(Op, f64); 6] = [
    (Op::Create, 10.0),
    (Op::Read, 40.0),
    (Op::Stat, 12.0),
    (Op::Delete, 8.0),
    (Op::BigWrite, 5.0),
    (Op::BigRead, 5.0),
];

/// Whether an op takes a time for each byte, and not one for each file.
fn is_by_byte(op: Op) -> bool {
    matches!(op, Op::BigWrite | Op::BigRead)
}

/// The speed of this machine, by the engine's own ops on files in memory; takes about 0.1 s and
/// leaves nothing. Empty where there is no such place.
fn calibrate() -> HashMap<Op, OpCost> {
    let dir = OwnedDir::make(Path::new("/dev/shm"), "fsarena-calibration-");
    let Ok(dir) = dir else { return HashMap::new() };
    let Ok(root) = Root::open(dir.path()) else { return HashMap::new() };
    let small = Dataset::uniform(2000, 4096, 0);
    let big = Dataset::uniform(1, 16 << 20, 0);
    let mut costs = HashMap::new();
    for (op, factor) in DISK_FACTORS {
        let dataset = if is_by_byte(op) { &big } else { &small };
        let phase = Phase::new(op.name(), op, 1 << 20);
        let seed = Seed::from_number(0);
        let Ok(report) = run_phase(&root, dataset, &phase, seed, seed, false) else { continue };
        let ns = report.returned_monotonic_ns.saturating_sub(report.start_monotonic_ns) as f64;
        let per = if is_by_byte(op) { report.asked_bytes } else { report.ops };
        if report.error.is_none() && per > 0 {
            let each = factor * ns / per as f64;
            let (ns_per_op, ns_per_byte) = if is_by_byte(op) { (0.0, each) } else { (each, 0.0) };
            costs.insert(op, OpCost { ns_per_op, ns_per_byte });
        }
    }
    costs
}

fn as_rows(cost: &Cost) -> PlanCost {
    let rows = cost.rows.iter().map(|row| PlanCostRow {
        contender: row.contender,
        workload: row.workload,
        trials: usize::try_from(row.trials).unwrap_or(usize::MAX),
        least_trials: usize::try_from(row.least_trials).unwrap_or(usize::MAX),
        expected_s: Some(row.trial_ns as f64 * row.trials as f64 / 1e9),
        written_bytes: row.trial_written_bytes.saturating_mul(row.trials),
        source: row.records.clone().unwrap_or_else(|| {
            let stated = (row.stated_ns > 0).then_some(CostSource::Stated);
            sources(&[row.source, row.overhead_source].into_iter().chain(stated).collect())
        }),
    });
    let times = format!("Times from: {}", sources(&cost.sources));
    PlanCost {
        rows: rows.collect(),
        total_s: cost.total_ns as f64 / 1e9,
        least_s: cost.least.total_ns as f64 / 1e9,
        written_bytes: cost.disk_written_bytes,
        least_written_bytes: cost.least.disk_written_bytes,
        image_bytes: cost.image_bytes,
        source: times,
        crash_runs_s: None,
        needs: Vec::new(),
        full_size: None,
    }
}

/// All sources of a figure, the strongest first.
pub fn sources(sources: &BTreeSet<CostSource>) -> String {
    let names: Vec<&str> = sources.iter().map(|source| name(*source)).collect();
    names.join(", ")
}

fn name(source: CostSource) -> &'static str {
    match source {
        CostSource::SameWork => "records of the same work",
        CostSource::Measured => "earlier records",
        CostSource::Stated => "stated times",
        CostSource::Near => "records of similar work",
        CostSource::Calibrated => "calibration",
        CostSource::Assumed => "assumption",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_store::{CostRow, OverheadRow};

    #[test]
    fn records_keep_their_kind_of_device() {
        let row = |device: &str, per_op_ns| CostRow {
            fs: "ext4".to_owned(),
            device: device.to_owned(),
            op: Op::Create,
            phases: 3,
            per_op_ns,
            per_byte_ns: None,
        };
        let overhead = |device: &str, per_trial_ns| OverheadRow {
            fs: "ext4".to_owned(),
            device: device.to_owned(),
            trials: 3,
            per_trial_ns,
        };
        // The rows of the store come in the order of their names: `ram` after `loop`.
        let costs = Costs {
            ops: vec![row("loop", 60_000.0), row("ram", 1000.0)],
            overheads: vec![overhead("loop", 2e9), overhead("ram", 1e8)],
        };
        let mut basis = CostBasis::default();
        add_measured(&mut basis, costs);
        let op = |kind: &str| {
            basis.measured[&("ext4".to_owned(), kind.to_owned(), Op::Create)].ns_per_op
        };
        let overhead_ns =
            |kind: &str| basis.trial_overheads_ns[&("ext4".to_owned(), kind.to_owned())];
        assert_eq!((op("loop"), op("ram")), (60_000.0, 1000.0));
        assert_eq!((overhead_ns("loop"), overhead_ns("ram")), (2e9, 1e8));
    }

    #[test]
    fn every_source_of_a_figure_is_named() {
        let of = |list: &[CostSource]| sources(&list.iter().copied().collect());
        assert_eq!(of(&[CostSource::Measured, CostSource::Measured]), "earlier records");
        assert_eq!(of(&[CostSource::Assumed, CostSource::Measured]), "earlier records, assumption");
    }
}
