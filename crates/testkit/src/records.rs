//! Hand-made plans and records with round figures, so that expected values can be worked out on
//! paper.

mod ages;
mod cycles;
mod jobs;
mod lengthened;
mod levels;
mod ranks;
mod worker;

pub use crate::SECOND_NS;
pub use ages::{age_record, aged, in_ages};
pub use cycles::{ASKED_BYTES, CYCLE_WRITTEN_BYTES, add_account, block_sizes, cycles, periodic};
pub use jobs::{PACKED_BYTES, contender, contents, memory_device, own_work, real_work};
pub use levels::over_block_sizes;
pub use ranks::{in_ranks, on_hosts, scaled};
pub use worker::worker_spec;

use fsarena_model::contender::{Cache, Contender, ExternalFs};
use fsarena_model::device::Conditioning;
use fsarena_model::host::Host;
use fsarena_model::record::{
    CacheRecord, CacheState, Clocks, ColdProof, Drained, Effective, MemoryRecord, Outcome,
    PhaseRecord, Rank, Space, StepTime, TimeBase, TrialPlace, TrialRecord, Window,
};
use fsarena_model::run::{Clock, RateStyle, RunHeader, RunPlace, RunPlan, RunSession, Slot};
use fsarena_model::sample::{Counters, LatencyHistogram, SamplerCost, Series};
use fsarena_model::seed::Seed;
use fsarena_model::spec::TrialKey;
use fsarena_model::verdict::{
    DEFAULT_MARGIN, Limits, METHOD_VERSION, Metric, Pairs, Question, Rule, VerdictPlan,
};
use fsarena_model::work::{
    Backend, Dataset, Fsync, Io, Op, Order, Phase, ProgramReport, Sharing, ThreadReport,
    WorkerUsage, Workload,
};
use std::collections::BTreeMap;

/// 2026-01-01 00:00:00 UTC, ns.
pub const NEW_YEAR_UNIX_NS: u64 = 1_767_225_600 * SECOND_NS;

/// A file system of commands that has a `mount` alone.
#[must_use]
pub fn external_fs(mount: &str) -> ExternalFs {
    ExternalFs {
        create: None,
        mount: mount.to_owned(),
        unmount: None,
        destroy: None,
        version: None,
        programs: Vec::new(),
        package: None,
        device: true,
        memory: false,
    }
}

/// 5,000 files of 256 B: created, read in random order, deleted.
#[must_use]
pub fn small_files() -> Workload {
    let phase = |name: &str, op, order| Phase { order, ..Phase::new(name, op, 4096) };
    Workload {
        name: "small-files".to_owned(),
        title: "5,000 files of 256 B".to_owned(),
        dataset: Dataset::uniform(5000, 256, 0),
        phases: vec![
            phase("create", Op::Create, Order::Sequential),
            phase("read-random", Op::Read, Order::Random),
            phase("delete", Op::Delete, Order::Sequential),
        ],
        fio: None,
        source: None,
        levels: None,
    }
}

/// One file of 100 MiB, written.
#[must_use]
pub fn big_file() -> Workload {
    Workload {
        name: "big-file".to_owned(),
        title: "one file of 100 MiB".to_owned(),
        dataset: Dataset::uniform(1, 100 << 20, 0),
        phases: vec![Phase::new("write", Op::BigWrite, 1 << 20)],
        fio: None,
        source: None,
        levels: None,
    }
}

/// 4,000 empty files in 4 directories: four threads create them in shared directories with an
/// fsync each, list the directories and rename the files.
#[must_use]
pub fn metadata() -> Workload {
    let io = Io { threads: 4, sharing: Sharing::Shared, fsync: Fsync::Op, ..Io::default() };
    let own = Io { threads: 2, ..Io::default() };
    Workload {
        name: "metadata".to_owned(),
        title: "4,000 empty files in 4 directories".to_owned(),
        dataset: Dataset::uniform(4000, 0, 4),
        phases: vec![
            Phase { io, ..Phase::new("create", Op::Create, 4096) },
            Phase::new("list", Op::List, 4096),
            Phase { io: own, ..Phase::new("rename", Op::Rename, 4096) },
        ],
        fio: None,
        source: None,
        levels: None,
    }
}

/// One file of 4 MiB: written, then read and written at random by io_uring without the page cache.
#[must_use]
pub fn database() -> Workload {
    let io = Io {
        backend: Backend::IoUring,
        direct: true,
        iodepth: 32,
        ops: Some(512),
        ..Io::default()
    };
    Workload {
        name: "database".to_owned(),
        title: "random reads and writes in one file of 4 MiB".to_owned(),
        dataset: Dataset::uniform(1, 4 << 20, 0),
        phases: vec![
            Phase { timed: false, ..Phase::new("prepare", Op::BigWrite, 1 << 20) },
            Phase { io, ..Phase::new("mixed", Op::RandRw, 4096) },
        ],
        fio: None,
        source: None,
        levels: None,
    }
}

/// A fio job file of one job.
#[must_use]
pub fn fio_job() -> Workload {
    Workload {
        name: "fio-job".to_owned(),
        title: "one job of fio".to_owned(),
        dataset: Dataset::default(),
        phases: vec![Phase::new("randread", Op::Fio, 4096)],
        fio: Some("[randread]\nrw=randread\nsize=4m\n".to_owned()),
        source: None,
        levels: None,
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
            account: false,
            rate: RateStyle::Auto,
            verdict: None,
            crash: None,
        },
        findings: Vec::new(),
        place: Some(RunPlace {
            program_sha256: "c".repeat(64),
            image_dir: "/images".into(),
            age_image_dir: None,
            user: None,
            cpus: Vec::new(),
            devices: Vec::new(),
            kernel_files: Vec::new(),
            programs: None,
            client_mount: None,
            hosts: Vec::new(),
        }),
    }
}

/// The time of every timed phase, all pairs, by the rule; the first question is the headline.
#[must_use]
pub fn asked(plan: &RunPlan, rule: Rule) -> VerdictPlan {
    let clock = plan.compared_clock;
    let of = |(workload, work): (usize, &Workload)| -> Vec<Question> {
        let timed = work.phases.iter().filter(|phase| phase.timed);
        timed
            .map(|phase| {
                let phase = phase.name.clone();
                Question { workload, phase, metric: Metric::Time, clock }
            })
            .collect()
    };
    VerdictPlan {
        method: METHOD_VERSION,
        rule,
        margin: DEFAULT_MARGIN,
        questions: plan.workloads.iter().enumerate().flat_map(of).collect(),
        headline: Some(0),
        pairs: Pairs::All,
        budget_ns: None,
        begun_unix_ns: None,
        spare_blocks: 0,
        limits: Limits::default(),
    }
}

/// The first session of a RUN, or another one in its boot.
#[must_use]
pub fn session(boot_id: &str, first_sequence: u32) -> RunSession {
    let started_unix_ns = NEW_YEAR_UNIX_NS + u64::from(first_sequence) * 10 * SECOND_NS;
    RunSession { started_unix_ns, boot_id: boot_id.to_owned(), first_sequence }
}

/// What preconditioning of a device of 1 GiB left: 25 rounds, the last five of 2,000 writes per
/// second.
#[must_use]
pub fn preconditioned(steady: bool) -> Conditioning {
    let mut rounds_ops_per_s = vec![8000.0; 20];
    rounds_ops_per_s.extend([2000.0; 5]);
    Conditioning::Preconditioned {
        fill_bytes: 2 << 30,
        fill_ns: 20 * SECOND_NS,
        bs_bytes: 4096,
        rounds_ops_per_s,
        window_rounds: 5,
        steady,
        rounds_ns: 25 * 60 * SECOND_NS,
    }
}

/// The record of a trial of small files on ext4 that went well.
#[must_use]
pub fn trial() -> TrialRecord {
    record(&header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1), 0)
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
        time_base: TimeBase::Wall,
        place: TrialPlace::Native,
        ranks: vec![Rank::new(&header.host, &workload.phases)],
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
        conditioning: None,
        age: None,
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

/// Ops, bytes moved, and those written where both kinds are among them.
fn amounts(workload: &Workload, planned: &Phase) -> (u64, u64, Option<u64>) {
    if let Some(job) = &planned.job {
        let contents = workload.source.as_ref().map(|source| source.contents).unwrap_or_default();
        let (ops, asked_bytes, written_bytes) = jobs::amounts(job, &contents);
        return (ops, asked_bytes, Some(written_bytes));
    }
    let ops = match planned.op {
        Op::Fio => 1000,
        _ => planned.count(&workload.dataset),
    };
    let asked_bytes = match planned.op {
        Op::Cycle => planned.cycle.as_ref().map_or(0, |c| u64::from(c.cycles) * ASKED_BYTES),
        op if op.is_random() && !op.moves_bytes() => 0,
        op if op.is_random() || matches!(op, Op::Append | Op::Fio) => ops * planned.bs_bytes,
        op if op.moves_bytes() => workload.dataset.bytes(),
        _ => 0,
    };
    let asked_written_bytes = match planned.op {
        Op::RandRw => Some(asked_bytes / 2),
        Op::Fio => Some(0),
        _ => None,
    };
    (ops, asked_bytes, asked_written_bytes)
}

fn phase(workload: &Workload, planned: &Phase) -> PhaseRecord {
    let (ops, asked_bytes, asked_written_bytes) = amounts(workload, planned);
    let by_program = planned.job.as_ref().and_then(jobs::program);
    PhaseRecord {
        clients: Vec::new(),
        ranks: Vec::new(),
        name: planned.name.clone(),
        op: planned.op,
        order: planned.order,
        bs_bytes: planned.bs_bytes,
        io: planned.io.clone(),
        job: planned.job.clone(),
        free: Some(planned.constraints().free()),
        started_unix_ns: NEW_YEAR_UNIX_NS,
        clocks: Clocks {
            returned_ns: SECOND_NS / 2,
            durable_ns: Some(SECOND_NS),
            drained: Drained::Frozen { drained_ns: SECOND_NS * 5 / 4 },
            device_flushed: false,
            drain_late_ns: None,
        },
        ops,
        asked_bytes,
        asked_written_bytes,
        latency: by_program.is_none().then(|| latency(ops)),
        write_latency: (planned.op == Op::RandRw).then(|| latency(ops / 2)),
        latency_series: None,
        threads: threads(planned, ops, asked_bytes),
        program: (planned.op == Op::Fio).then(fio).or(by_program),
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
        series: Some(series()),
        sampler: Some(SamplerCost {
            samples: 10,
            cpu_ns: 1_000_000,
            wall_ns: SECOND_NS,
            ..SamplerCost::default()
        }),
        cycles: planned.cycle.as_ref().map(cycles),
        account: None,
        find: None,
        stonewall: None,
        error: None,
        counters_late_ns: None,
        task_cpu: None,
        canary: None,
        frequency_khz: None,
        thermal: None,
    }
}

/// All ops but one took 10 µs, the last about a millisecond.
fn latency(ops: u64) -> LatencyHistogram {
    LatencyHistogram {
        precision_bits: 6,
        buckets: vec![(10_000, ops - 1), (1 << 20, 1)],
        min_ns: 10_000,
        max_ns: (1 << 20) + 7,
        sum_ns: 10_000 * (ops - 1) + (1 << 20) + 7,
    }
}

/// Two processors for a second: 2 s in all, half a second of it busy.
fn window(written_bytes: u64) -> Counters {
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
}

fn series() -> Series {
    Series {
        period_ns: 100_000_000,
        t_ns: vec![-5_000_000, 95_000_000, 195_000_000],
        columns: BTreeMap::from([
            ("device.written_bytes".to_owned(), vec![Some(0), None, Some(8192)]),
            ("mem.dirty_bytes".to_owned(), vec![Some(4096), Some(8192), Some(0)]),
        ]),
    }
}

/// Threads in even parts: the first is done after 400 ms, the last after half a second.
fn threads(planned: &Phase, ops: u64, asked_bytes: u64) -> Vec<ThreadReport> {
    let all = u64::from(planned.io.threads);
    if all < 2 {
        return Vec::new();
    }
    let done_ns = |thread: u64| SECOND_NS * 4 / 10 + SECOND_NS / 10 * thread / (all - 1);
    (0..all)
        .map(|thread| ThreadReport {
            started_ns: 1000 * thread,
            done_ns: done_ns(thread),
            ops: ops / all,
            asked_bytes: asked_bytes / all,
        })
        .collect()
}

fn fio() -> ProgramReport {
    ProgramReport {
        name: "fio".to_owned(),
        version: "fio-3.36".to_owned(),
        tools: Vec::new(),
        argv: vec!["fio".to_owned(), "--output-format=json".to_owned()],
        own_ns: Some(SECOND_NS * 3 / 10),
        startup_ns: None,
        p99_ns: None,
        figures: BTreeMap::from([("read.iops".to_owned(), "3333.3".to_owned())]),
    }
}
