//! Hand-made plans and records with round figures, so that expected values can be worked out on
//! paper.

use fsarena_model::contender::{Cache, Contender, DeviceLevel, Discard, FsLevel, Levels};
use fsarena_model::host::Host;
use fsarena_model::record::{
    CacheRecord, CacheState, Clocks, ColdProof, Drained, Effective, MemoryRecord, Outcome,
    PhaseRecord, Space, StepTime, TrialRecord, Window,
};
use fsarena_model::run::{Clock, RateStyle, RunHeader, RunPlan, Slot};
use fsarena_model::sample::{Counters, LatencyHistogram, SamplerCost, Series};
use fsarena_model::seed::Seed;
use fsarena_model::spec::TrialKey;
use fsarena_model::work::{Dataset, Op, Order, Phase, WorkerUsage, Workload};
use std::collections::BTreeMap;

/// One second, ns.
pub const SECOND_NS: u64 = 1_000_000_000;
/// 2026-01-01 00:00:00 UTC, ns.
pub const NEW_YEAR_UNIX_NS: u64 = 1_767_225_600 * SECOND_NS;

/// A contender on a 1 GiB loop, cold, with whole memory.
#[must_use]
pub fn contender(label: &str, fs: &str, replicate: u32) -> Contender {
    let levels = Levels {
        fs: FsLevel::plain(fs),
        device: DeviceLevel::Loop { size_bytes: 1 << 30 },
        memory_bytes: None,
        cache: Cache::Cold,
        discard: Discard::None,
    };
    Contender { label: label.to_owned(), replicate, levels }
}

/// 5,000 files of 256 B: created, read in random order, deleted.
#[must_use]
pub fn small_files() -> Workload {
    let phase = |name: &str, op, order| Phase {
        name: name.to_owned(),
        op,
        order,
        bs_bytes: 4096,
        timed: true,
    };
    Workload {
        name: "small-files".to_owned(),
        title: "5,000 files of 256 B".to_owned(),
        dataset: Dataset { files: 5000, size_bytes: 256, dirs: 0 },
        phases: vec![
            phase("create", Op::Create, Order::Sequential),
            phase("read-random", Op::Read, Order::Random),
            phase("delete", Op::Delete, Order::Sequential),
        ],
    }
}

/// One file of 100 MiB, written.
#[must_use]
pub fn big_file() -> Workload {
    Workload {
        name: "big-file".to_owned(),
        title: "one file of 100 MiB".to_owned(),
        dataset: Dataset { files: 1, size_bytes: 100 << 20, dirs: 0 },
        phases: vec![Phase {
            name: "write".to_owned(),
            op: Op::BigWrite,
            order: Order::Sequential,
            bs_bytes: 1 << 20,
            timed: true,
        }],
    }
}

/// A plan of `blocks` blocks, contenders and workloads in the order written.
#[must_use]
pub fn header(contenders: Vec<Contender>, workloads: Vec<Workload>, blocks: u32) -> RunHeader {
    let mut schedule = Vec::new();
    for block in 0..blocks {
        let pairs = (0..workloads.len()).flat_map(|w| (0..contenders.len()).map(move |c| (c, w)));
        for (position, (contender, workload)) in (0u32..).zip(pairs) {
            schedule.push(Slot { block, position, contender, workload });
        }
    }
    RunHeader {
        uid: "0123456789abcdef".to_owned(),
        experiment: "sample".to_owned(),
        title: "A sample by hand".to_owned(),
        experiment_toml: "name = \"sample\"\n".to_owned(),
        created_unix_ns: NEW_YEAR_UNIX_NS,
        program_version: "0.1.0".to_owned(),
        arguments: vec!["run".to_owned(), "sample".to_owned()],
        host: Host { os: "Linux".to_owned(), cpus: 2, boot_id: "b".to_owned(), ..Host::default() },
        plan: RunPlan {
            seed: Seed::from_number(2003),
            blocks,
            contenders,
            workloads,
            not_run: Vec::new(),
            schedule,
            compared_clock: Clock::Durable,
            scale: 1.0,
            verify: false,
            sample_period_ns: 100_000_000,
            rate: RateStyle::Auto,
        },
    }
}

/// The record of a trial that went well: each phase returned after half a second, was durable after
/// one and drained after one and a quarter; a quarter of the machine was busy.
///
/// # Panics
/// When the plan has no such trial.
#[must_use]
pub fn record(header: &RunHeader, sequence: u32) -> TrialRecord {
    let plan = &header.plan;
    let slot = plan.schedule[sequence as usize];
    let contender = &plan.contenders[slot.contender];
    let workload = &plan.workloads[slot.workload];
    let phases: Vec<PhaseRecord> =
        workload.phases.iter().filter(|p| p.timed).map(|p| phase(workload, p)).collect();
    let mut steps = vec![step("reset", None), step("mount", None)];
    for phase in &phases {
        steps.push(step("chill", None));
        steps.push(step("measure", Some(&phase.name)));
    }
    steps.push(step("teardown", None));
    TrialRecord {
        schema: fsarena_model::RECORD_SCHEMA,
        key: TrialKey {
            run: header.uid.clone(),
            sequence,
            block: slot.block,
            position: slot.position,
            contender: contender.id(),
            workload: workload.name.clone(),
        },
        outcome: Outcome::Done,
        started_unix_ns: NEW_YEAR_UNIX_NS + u64::from(sequence) * 10 * SECOND_NS,
        elapsed_ns: (phases.len() as u64 + 2) * SECOND_NS,
        steps,
        filesystem: Effective {
            name: contender.levels.fs.name.clone(),
            tool_version: Some(format!("mkfs.{} 1.2.3", contender.levels.fs.name)),
            mounted_type: Some(contender.levels.fs.name.clone()),
            mounted_options: Some("rw,relatime".to_owned()),
            features: BTreeMap::from([("block_size".to_owned(), "4096".to_owned())]),
            ..Effective::default()
        },
        device: BTreeMap::from([("logical_sector_bytes".to_owned(), "512".to_owned())]),
        phases,
        space: Some(Space {
            total_bytes: 1 << 30,
            used_bytes: (8 << 20) + 2 * workload.dataset.bytes(),
            used_empty_bytes: 8 << 20,
            stored_bytes: workload.dataset.bytes(),
            inodes_total: Some(65536),
            inodes_free: Some(60000),
        }),
        unmount_ns: Some(SECOND_NS / 20),
        verify: None,
        notices: Vec::new(),
    }
}

fn step(name: &str, phase: Option<&str>) -> StepTime {
    StepTime { step: name.to_owned(), phase: phase.map(str::to_owned), elapsed_ns: SECOND_NS / 10 }
}

fn phase(workload: &Workload, planned: &Phase) -> PhaseRecord {
    let ops = planned.op.count(&workload.dataset, planned.bs_bytes);
    let asked_bytes = if planned.op.moves_bytes() { workload.dataset.bytes() } else { 0 };
    let window = |written_bytes: u64| -> Counters {
        // Two processors for a second: 2 s in all, half a second of it busy.
        [
            ("cpu.user_ns", SECOND_NS / 10),
            ("cpu.system_ns", SECOND_NS * 4 / 10),
            ("cpu.idle_ns", SECOND_NS * 14 / 10),
            ("cpu.iowait_ns", SECOND_NS / 10),
            ("device.read_bytes", 4096),
            ("device.written_bytes", written_bytes),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    };
    PhaseRecord {
        name: planned.name.clone(),
        op: planned.op,
        order: planned.order,
        started_unix_ns: NEW_YEAR_UNIX_NS,
        clocks: Clocks {
            returned_ns: SECOND_NS / 2,
            durable_ns: Some(SECOND_NS),
            drained: Drained::Frozen { drained_ns: SECOND_NS * 5 / 4 },
        },
        ops,
        asked_bytes,
        latency: Some(LatencyHistogram {
            precision_bits: 6,
            buckets: vec![(10_000, ops - 1), (1 << 20, 1)],
            min_ns: 10_000,
            max_ns: (1 << 20) + 7,
            sum_ns: 10_000 * (ops - 1) + (1 << 20) + 7,
        }),
        windows: BTreeMap::from([
            (Window::Durable, window(2 * asked_bytes)),
            (Window::Drained, window(2 * asked_bytes + 4096)),
            (Window::Unmounted, window(3 * asked_bytes)),
        ]),
        worker: WorkerUsage { user_ns: SECOND_NS / 10, ..WorkerUsage::default() },
        cache: CacheRecord {
            asked: Cache::Cold,
            state: CacheState::Cold,
            why: "nothing was resident".to_owned(),
            proof: ColdProof { device_resident_pages: Some(0), ..ColdProof::default() },
        },
        memory: MemoryRecord::Whole,
        series: Some(Series {
            period_ns: 100_000_000,
            t_ns: vec![-5_000_000, 95_000_000, 195_000_000],
            columns: BTreeMap::from([
                ("device.written_bytes".to_owned(), vec![Some(0), None, Some(8192)]),
                ("mem.dirty_bytes".to_owned(), vec![Some(4096), Some(8192), Some(0)]),
            ]),
        }),
        sampler: Some(SamplerCost {
            samples: 10,
            cpu_ns: 1_000_000,
            wall_ns: SECOND_NS,
            ..SamplerCost::default()
        }),
        error: None,
    }
}
