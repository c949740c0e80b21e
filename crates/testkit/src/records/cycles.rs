//! A periodic application by hand, in the figures of the article of 2007: 40,000 files of 7.5 kB
//! updated every 300 s, on blocks of 64 KiB; the third cycle is disturbed.

use super::SECOND_NS;
use fsarena_model::account::{Account, AccountRecord, Part, Span, Written};
use fsarena_model::contender::Contender;
use fsarena_model::cycle::{
    Cycle, CycleRecord, CycleReport, CyclesRecord, Disturb, DisturbReport, Load, Overrun, Shares,
    UpdateKind,
};
use fsarena_model::record::PhaseRecord;
use fsarena_model::sample::{Counters, LatencyHistogram};
use fsarena_model::work::{Dataset, Phase, Workload};

/// Files of the sample.
const FILES: u64 = 40_000;
/// Bytes of each.
const FILE_BYTES: u64 = 7_500;
/// Bytes that a cycle asks for: 300 MB.
pub const ASKED_BYTES: u64 = FILES * FILE_BYTES;
/// Bytes that the device writes in a cycle: 2.73 GB.
pub const CYCLE_WRITTEN_BYTES: u64 = 2_730_000_000;
/// From cycle to cycle.
const PERIOD_NS: u64 = 300 * SECOND_NS;

/// Three cycles; a second load makes 1,000 small files in the third.
#[must_use]
pub fn periodic() -> Workload {
    let load = Load::Create { files: 1000, size_bytes: 8000, rate: 100 };
    let cycle = Cycle {
        cycles: 3,
        period_ns: PERIOD_NS,
        overrun: Overrun::Overlap,
        updates: FILES,
        shares: Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 0 },
        disturb: Some(Disturb { load, cycles: vec![3] }),
    };
    Workload {
        name: "periodic".to_owned(),
        title: "40,000 files of 7.5 kB updated every 300 s".to_owned(),
        dataset: Dataset::uniform(FILES, FILE_BYTES, 40),
        phases: vec![Phase::of_cycles("cycle", cycle, 65536)],
        fio: None,
        source: None,
        levels: None,
    }
}

/// Contenders that differ in the size of their blocks alone: `xfs 4096`.
#[must_use]
pub fn block_sizes(fs: &str, sizes: &[u64]) -> Vec<Contender> {
    let of = |size: &u64| {
        let mut contender = super::jobs::contender(&format!("{fs} {size}"), fs, 1);
        contender.levels.fs.mkfs.insert("block_size".to_owned(), size.to_string());
        contender
    };
    sizes.iter().map(of).collect()
}

/// What its cycles left: 150 s of work, durable after 160 s, quiet after 180 s and 132 s busy; the
/// disturbed one twice the work and 255 s busy.
#[must_use]
pub fn cycles(planned: &Cycle) -> CyclesRecord {
    let of = |number| cycle(number, planned);
    CyclesRecord { cycles: (1..=planned.cycles).map(of).collect(), skipped: Vec::new() }
}

fn cycle(number: u32, planned: &Cycle) -> CycleRecord {
    let disturbed = planned.is_disturbed(number);
    let started_ns = u64::from(number - 1) * planned.period_ns;
    let (work_s, busy_s) = if disturbed { (300, 255) } else { (150, 132) };
    let quarter = planned.updates / 4;
    let report = CycleReport {
        number,
        due_ns: started_ns,
        started_ns,
        returned_ns: started_ns + work_s * SECOND_NS,
        durable_ns: Some(started_ns + (work_s + 10) * SECOND_NS),
        ops: planned.updates,
        asked_bytes: ASKED_BYTES,
        kinds: [quarter, quarter, quarter, quarter, 0],
        worst_ns: work_s * SECOND_NS / 100,
        worst_kind: Some(UpdateKind::Replace),
        beside: 0,
        collisions: 0,
        disturb: disturbed.then(|| disturb(started_ns)),
    };
    let quiet_ns = (!disturbed).then_some(started_ns + (work_s + 30) * SECOND_NS);
    let period = counters(CYCLE_WRITTEN_BYTES, busy_s);
    let durable = counters(CYCLE_WRITTEN_BYTES * 9 / 10, busy_s);
    CycleRecord { report, quiet_ns, durable, period, period_ns: planned.period_ns }
}

/// 1,000 files in 20 s, twice as long as asked.
fn disturb(started_ns: u64) -> DisturbReport {
    DisturbReport {
        started_ns,
        done_ns: started_ns + 20 * SECOND_NS,
        ops: 1000,
        bytes: 8_000_000,
        worst_ns: SECOND_NS,
        latency: Some(LatencyHistogram {
            precision_bits: 6,
            buckets: vec![(1 << 24, 999), (1 << 29, 1)],
            min_ns: 1 << 24,
            max_ns: SECOND_NS,
            sum_ns: 20 * SECOND_NS,
        }),
        late_ns: 10 * SECOND_NS,
        error: None,
    }
}

fn counters(written_bytes: u64, busy_s: u64) -> Counters {
    [
        ("cpu.user_ns", 10 * SECOND_NS),
        ("cpu.system_ns", 50 * SECOND_NS),
        ("cpu.idle_ns", 500 * SECOND_NS),
        ("cpu.iowait_ns", 40 * SECOND_NS),
        ("device.busy_ns", busy_s * SECOND_NS),
        ("device.flushes", 60),
        ("device.queue_ns", 2 * busy_s * SECOND_NS),
        ("device.read_bytes", 0),
        ("device.write_ns", 2 * busy_s * SECOND_NS),
        ("device.writes", 60_000),
        ("device.written_bytes", written_bytes),
        ("vm.swap_in_bytes", 0),
        ("vm.swap_out_bytes", 0),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Gives a phase of cycles an account: in each cycle 292 MB of data, 1.9 GB of rounding, and so on;
/// 2 % of the counter are in no part.
pub fn add_account(phase: &mut PhaseRecord, lost_events: u64) {
    let count = phase.cycles.as_ref().map_or(1, |all| all.cycles.len() as u64);
    let written = |first_bytes, again_bytes| Written { first_bytes, again_bytes };
    let span = |cycle: u64| Span {
        cycle: cycle as u32,
        parts: [
            (Part::Data, written(262_000_000, 20_000_000)),
            (Part::Rounding, written(1_900_000_000, 10_000_000)),
            (Part::Gone, written(5_000_000, 0)),
            (Part::Journal, written(200_000_000, 40_000_000)),
            (Part::Metadata, written(180_000_000, 58_400_000)),
            (Part::Unknown, written(10_000_000, 0)),
        ]
        .into(),
        writes: 60_000,
        flushes: 60,
        discarded_bytes: 0,
    };
    phase.account = Some(AccountRecord::Taken(Box::new(Account {
        total_bytes: CYCLE_WRITTEN_BYTES * count,
        spans: (1..=count).map(span).collect(),
        lost_events,
        contents_bytes: ASKED_BYTES,
        allocated_bytes: FILES * 65536,
        files: FILES,
        unplaced_files: 0,
        journal: vec!["4096+67108864".to_owned()],
        notes: Vec::new(),
        reader_cpu_ns: 40_000_000,
        looks_cpu_ns: 900_000_000,
        longest_look_ns: 0,
    })));
}
