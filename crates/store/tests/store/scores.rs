//! Scores are those of the records, whatever a record looks like and whichever layout it was
//! written in.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::clock::Clock;
use fsarena_model::contender::Cache;
use fsarena_model::free::FreeQuantity;
use fsarena_model::record::{
    CacheState, Canary, Drained, MemoryRecord, Outcome, PhaseRecord, TaskCpu, TrialRecord, Window,
};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::score::{Covariates, MemoryKind, PROCESSOR, PhaseScore, TrialScore, WRITTEN};
use fsarena_model::verdict::{Metric, Rule};
use fsarena_model::work::{OpError, VerifyReport};
use fsarena_store::{Owner, RunId, SCHEMA_VERSION, Store, StoreError};
use fsarena_testkit::records::{self, SECOND_NS, contender, small_files};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

fn new(header: &RunHeader) -> (TempDir, Store, RunId) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&dir.path().join("records.db")).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(header, &owner).unwrap();
    (dir, store, run)
}

/// Field by field, with and without latency.
fn equal_to_the_records(store: &Store, run: RunId) -> Vec<TrialScore> {
    let records = store.records(run).unwrap();
    let expected: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let whole = store.scores(run).unwrap();
    assert_eq!(whole, expected);
    whole
}

#[test]
fn of_a_plain_record_in_round_figures() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    let (_dir, store, run) = new(&header);
    assert_eq!(store.scores(run).unwrap(), []);
    store.put_record(run, &records::record(&header, 1)).unwrap();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let scores = equal_to_the_records(&store, run);
    let sequences: Vec<u32> = scores.iter().map(|score| score.sequence).collect();
    assert_eq!(sequences, [0, 1], "schedule order");
    let create = &scores[1].phases[0];
    assert_eq!((create.name.as_str(), create.is_complete), ("create", true));
    assert_eq!(create.returned_ns, SECOND_NS / 2);
    assert_eq!(create.durable_ns, Some(SECOND_NS));
    assert_eq!(create.drained_ns, Some(SECOND_NS * 5 / 4));
    assert_eq!((create.cache, create.memory), (CacheState::Cold, MemoryKind::Whole));
    assert_eq!((create.cpu_ns, create.machine_ns), (Some(SECOND_NS / 2), Some(2 * SECOND_NS)));
    assert_eq!((create.steal_ns, create.written_bytes), (None, Some(3_840_000)));
    assert_eq!(create.p99_ns, Some(10_000 + 127), "the end of a bucket of 128 ns");
}

/// Numbers by chance, the same in every test run (splitmix64; Steele, Lea and Flood 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next(n) == 0
    }

    fn ns(&mut self) -> u64 {
        self.next(1 << 40)
    }
}

fn vary_phase(chance: &mut Chance, phase: &mut PhaseRecord) {
    phase.clocks.returned_ns = chance.ns();
    phase.clocks.durable_ns = (!chance.one_in(5)).then(|| chance.ns());
    phase.clocks.drained = match chance.next(4) {
        0 => Drained::NoDevice,
        1 => Drained::Idle { drained_ns: chance.ns() },
        2 => Drained::NotDrained { reason: "cap".to_owned() },
        _ => Drained::Frozen { drained_ns: chance.ns() },
    };
    phase.cache.asked = Cache::Warm;
    phase.cache.state = match chance.next(5) {
        0 => CacheState::Cold,
        1 => CacheState::Warm,
        2 => CacheState::NotWarm,
        3 => CacheState::ColdClients,
        _ => CacheState::WarmByNature,
    };
    let limit_bytes = 64 << 20;
    phase.memory = match chance.next(3) {
        0 => MemoryRecord::Whole,
        1 => MemoryRecord::NotLimited { limit_bytes, reason: "none".to_owned() },
        _ => {
            let by = "cgroup v2".to_owned();
            MemoryRecord::Limited { limit_bytes, by, peak_bytes: None, syncs: 0 }
        }
    };
    phase.windows.clear();
    for window in [Window::Durable, Window::Drained, Window::Unmounted] {
        if chance.one_in(5) {
            continue;
        }
        let counters = phase.windows.entry(window).or_default();
        for name in PROCESSOR.into_iter().chain([WRITTEN, "device.read_bytes"]) {
            if !chance.one_in(3) {
                counters.insert(name.to_owned(), chance.ns());
            }
        }
    }
    phase.latency = match chance.next(4) {
        0 => None,
        1 => Some(LatencyHistogram::default()),
        _ => Some(LatencyHistogram {
            precision_bits: 6,
            buckets: vec![(100, 1 + chance.next(99)), (1024, chance.next(9)), (1 << 20, 1)],
            min_ns: 100,
            max_ns: (1 << 20) + 5,
            sum_ns: chance.ns(),
        }),
    };
    phase.worker.user_ns = chance.ns();
    phase.canary = chance.one_in(2).then(|| Canary {
        before_ns: chance.ns(),
        after_ns: chance.one_in(2).then(|| chance.ns()),
    });
    phase.frequency_khz = chance.one_in(2).then(|| chance.ns());
    phase.task_cpu = chance.one_in(2).then(|| TaskCpu {
        worker_ns: chance.ns(),
        kernel_threads_ns: chance.one_in(2).then(|| chance.ns()),
    });
    phase.error = chance.one_in(4).then(|| OpError {
        op_index: chance.next(100),
        thread: None,
        call: "write".to_owned(),
        path: "f00000017".to_owned(),
        errno: 28,
        text: String::new(),
    });
}

fn vary(chance: &mut Chance, record: &mut TrialRecord) {
    record.started_unix_ns = chance.ns();
    record.elapsed_ns = chance.ns();
    record.outcome = match chance.next(5) {
        0 => Outcome::Interrupted,
        1 => Outcome::NotRun { reason: "no xfs".to_owned() },
        2 => {
            let (step, error) = ("measure".to_owned(), "no space left".to_owned());
            Outcome::Failed { step, error, remedy: None }
        }
        _ => Outcome::Done,
    };
    record.phases.truncate(3 - chance.next(4) as usize);
    record.verify = chance.one_in(2).then(|| VerifyReport {
        files: 3,
        bytes: 768,
        bad_files: chance.next(2),
        examples: Vec::new(),
    });
    for phase in &mut record.phases {
        vary_phase(chance, phase);
    }
}

#[test]
fn of_records_of_all_kinds() {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![small_files()], 60);
    let (_dir, store, run) = new(&header);
    let mut chance = Chance(5);
    let mut attempts = 0;
    for sequence in 0..120 {
        let plain = records::record(&header, sequence);
        for _ in 0..2 {
            let mut record = plain.clone();
            vary(&mut chance, &mut record);
            store.put_record(run, &record).unwrap();
            attempts += 1;
            if record.outcome != Outcome::Interrupted {
                break;
            }
        }
    }
    assert!(attempts > 130, "only {attempts}");
    let scores = equal_to_the_records(&store, run);
    assert_eq!(scores.len(), 120, "the latest attempt only");
    let phases = || scores.iter().flat_map(|score| &score.phases);
    let count = |found: usize, all: usize| assert!(found > 0 && found < all, "{found} of {all}");
    count(scores.iter().filter(|score| score.is_interrupted).count(), scores.len());
    count(scores.iter().filter(|score| score.has_bad_contents).count(), scores.len());
    count(scores.iter().filter(|score| score.phases.is_empty()).count(), scores.len());
    count(phases().filter(|phase| phase.is_complete).count(), phases().count());
    let figures: [fn(&PhaseScore) -> Option<u64>; 10] = [
        |phase| phase.cpu_ns,
        |phase| phase.machine_ns,
        |phase| phase.steal_ns,
        |phase| phase.written_bytes,
        |phase| phase.drained_ns,
        |phase| phase.p99_ns,
        |phase| phase.covariates.foreign_ns,
        |phase| phase.covariates.canary_after_ns,
        |phase| phase.covariates.frequency_khz,
        |phase| phase.covariates.kernel_cpu_ns,
    ];
    for of in figures {
        count(phases().filter_map(of).count(), phases().count());
    }
    let memory: BTreeSet<MemoryKind> = phases().map(|phase| phase.memory).collect();
    assert_eq!(memory.len(), 3);
}

#[test]
fn a_value_that_cannot_be_is_found() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
    for change in [
        "UPDATE score SET cpu_idle_ns = -1",
        "UPDATE score SET durable_ns = -1",
        "UPDATE score SET p99_ns = -1",
        "UPDATE trial SET elapsed_ns = -1",
    ] {
        let (_dir, store, run) = new(&header);
        store.put_record(run, &records::record(&header, 0)).unwrap();
        let raw = Connection::open(store.path()).unwrap();
        raw.execute_batch(&format!(
            "DROP TRIGGER score_never_changes; DROP TRIGGER trial_never_changes; {change}"
        ))
        .unwrap();
        let error = store.scores(run).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error:?}");
    }
}

/// What makes it quick: neither raw texts nor counters nor series are needed.
#[test]
fn the_raw_texts_are_not_read() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
    let (_dir, store, run) = new(&header);
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let expected = equal_to_the_records(&store, run);
    let raw = Connection::open(store.path()).unwrap();
    raw.execute_batch(
        "DROP TRIGGER trial_never_changes;
         UPDATE trial SET raw = '{}', raw_sha256 = ''; DELETE FROM series;",
    )
    .unwrap();
    assert!(store.records(run).is_err());
    assert_eq!(store.scores(run).unwrap(), expected);
}

/// Lengths, bytes and processor time of cycles are means of those that are compared.
#[test]
fn of_cycles() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![records::periodic()], 4);
    let (_dir, store, run) = new(&header);
    for sequence in 0..4 {
        let mut record = records::record(&header, sequence);
        let phase = &mut record.phases[0];
        let cycles = &mut phase.cycles.as_mut().unwrap().cycles;
        match sequence {
            // Means are whole numbers.
            1 => cycles[0].report.returned_ns += 1,
            2 => cycles[1].quiet_ns = None,
            3 => phase.clocks.drained = Drained::NoDevice,
            _ => {}
        }
        store.put_record(run, &record).unwrap();
    }
    let scores = equal_to_the_records(&store, run);
    let phases: Vec<_> = scores.iter().map(|score| &score.phases[0]).collect();
    assert_eq!((phases[0].returned_ns, phases[1].returned_ns), (150 * SECOND_NS, 150 * SECOND_NS));
    let drained: Vec<Option<u64>> =
        phases.iter().map(|phase| phase.drained_ns.map(|ns| ns / SECOND_NS)).collect();
    assert_eq!(drained, [Some(180), Some(180), None, Some(160)]);
    assert_eq!(phases[0].written_bytes, Some(records::CYCLE_WRITTEN_BYTES));
    assert_eq!(phases[0].cpu_ns, Some(60 * SECOND_NS));
}

/// Makes the database at `path` one of version 6, as the release before wrote it.
fn make_version_6(path: &Path) {
    let raw = Connection::open(path).unwrap();
    for column in [
        "foreign_ns",
        "canary_before_ns",
        "canary_after_ns",
        "frequency_khz",
        "worker_cpu_ns",
        "kernel_cpu_ns",
        "not_warm",
        "ops",
        "free",
        "asked_bytes",
    ] {
        raw.execute_batch(&format!("ALTER TABLE score DROP COLUMN {column}")).unwrap();
    }
    raw.execute_batch(
        "DROP VIEW crash_point; DROP TABLE crash_run; DROP TABLE IF EXISTS score_figure;",
    )
    .unwrap();
    raw.pragma_update(None, "user_version", 6).unwrap();
}

/// A file of version 6 is read as it is, merged, and taken over when it is opened for writing; its
/// scores have no covariates and no ops.
#[test]
fn of_a_file_of_version_6() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    let (dir, store, run) = new(&header);
    let path = store.path().to_owned();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    store.set_state(run, RunState::Interrupted, None).unwrap();
    let mut expected = store.scores(run).unwrap();
    assert!(expected[0].phases[0].covariates.foreign_ns.is_some());
    for phase in &mut expected[0].phases {
        (phase.covariates, phase.ops) = (Covariates::default(), None);
    }
    unknown_to_12(&mut expected);
    drop(store);
    make_version_6(&path);
    let before = std::fs::read(&path).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.scores(run).unwrap(), expected);
    assert!(reader.set_state(run, RunState::Done, None).is_err(), "it is only read");
    drop(reader);
    let mut other = Store::open(&dir.path().join("other.db")).unwrap();
    assert_eq!(other.merge(&path).unwrap().taken(), 1);
    assert_eq!(other.scores(RunId(1)).unwrap(), expected);
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    let writer = Store::open(&path).unwrap();
    assert_eq!(writer.scores(run).unwrap(), expected);
    writer.put_record(run, &records::record(&header, 1)).unwrap();
    assert!(writer.scores(run).unwrap()[1].phases[0].covariates.foreign_ns.is_some());
    let raw = Connection::open(&path).unwrap();
    let version: u32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

/// Versions before 18 have no figures by name.
fn unknown_to_17(scores: &mut [TrialScore]) {
    scores.iter_mut().flat_map(|score| &mut score.phases).for_each(|phase| phase.figures.clear());
}

/// What scores up to version 12 do not say.
fn unknown_to_12(scores: &mut [TrialScore]) {
    unknown_to_17(scores);
    for phase in scores.iter_mut().flat_map(|score| &mut score.phases) {
        (phase.free, phase.asked_bytes) = (None, None);
    }
}

/// Gives the tables of a file the texts of version 16, which list the words that a column may hold.
pub(crate) fn make_version_16(raw: &Connection) {
    let old = Connection::open_in_memory().unwrap();
    for statements in [
        include_str!("../../migrations/0001_schema.sql"),
        include_str!("../../migrations/0002_covariates.sql"),
        include_str!("../../migrations/0003_modelled.sql"),
        include_str!("../../migrations/0004_crash_run.sql"),
        include_str!("../../migrations/0005_cold_clients.sql"),
        include_str!("../../migrations/0006_per_op.sql"),
        include_str!("../../migrations/0007_several.sql"),
        include_str!("../../migrations/0008_free_quantity.sql"),
        include_str!("../../migrations/0009_unknown_cache.sql"),
        include_str!("../../migrations/0010_task_clock.sql"),
    ] {
        old.execute_batch(statements).unwrap();
    }
    let tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'
                  AND name NOT LIKE 'sqlite%'";
    let mut rows = old.prepare(tables).unwrap();
    let all = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    raw.execute_batch("PRAGMA writable_schema = ON").unwrap();
    for table in all {
        let (name, sql): (String, String) = table.unwrap();
        let text = "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?";
        raw.execute(text, (&sql, &name)).unwrap();
    }
    raw.execute_batch(
        "PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure;
         PRAGMA user_version = 16",
    )
    .unwrap();
}

/// Makes a file of this version one of version 12.
fn make_version_12(raw: &Connection) {
    make_version_16(raw);
    raw.execute_batch(
        "ALTER TABLE score DROP COLUMN free; ALTER TABLE score DROP COLUMN asked_bytes;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, ', ''per-mib'', ''task-clock''', '')
         WHERE name = 'question';
         UPDATE sqlite_schema SET sql = replace(sql, ', ''unknown''', '') WHERE name = 'score';
         PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 12;",
    )
    .unwrap();
}

/// Version 12 did not say what a phase left free, and no question of it is about a MiB.
#[test]
fn of_a_file_of_version_12() {
    let mut header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 2 }));
    let (_dir, store, run) = new(&header);
    let path = store.path().to_owned();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let mut expected = store.scores(run).unwrap();
    assert_eq!(expected[0].phases[0].free, Some(FreeQuantity::Time));
    assert!(expected[0].phases[0].asked_bytes.is_some());
    unknown_to_12(&mut expected);
    drop(store);
    let raw = Connection::open(&path).unwrap();
    make_version_12(&raw);
    raw.execute_batch("DROP TRIGGER question_never_changes").unwrap();
    let metric = "UPDATE question SET metric = 'per-mib'";
    assert!(raw.execute(metric, []).is_err(), "it is as version 12 was");
    drop(raw);
    assert_eq!(Store::open_read_only(&path).unwrap().scores(run).unwrap(), expected);
    upgraded(&path, metric);
}

/// Brings a file up to date: no constraint refuses what `taken` says, and the file is sound.
fn upgraded(path: &std::path::Path, taken: &str) -> Connection {
    drop(Store::open(path).unwrap());
    let raw = Connection::open(path).unwrap();
    raw.execute(taken, []).unwrap();
    let sound: String = raw.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    raw
}

/// A file of version 7 knew no modelled disks; it keeps its rows, and takes them now.
#[test]
fn of_a_file_of_version_7() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    let (_dir, store, run) = new(&header);
    let path = store.path().to_owned();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    store.set_state(run, RunState::Interrupted, None).unwrap();
    let mut expected = store.scores(run).unwrap();
    expected[0].phases.iter_mut().for_each(|phase| phase.ops = None);
    unknown_to_12(&mut expected);
    drop(store);
    let raw = Connection::open(&path).unwrap();
    make_version_12(&raw);
    raw.execute_batch(
        "DROP VIEW crash_point; DROP TABLE crash_run; ALTER TABLE score DROP COLUMN ops;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, '''vdisk'', ''virtual'', ', '')
         WHERE name = 'contender';
         UPDATE sqlite_schema SET sql = replace(sql, ', ''per-op''', '') WHERE name = 'question';
         PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 7;",
    )
    .unwrap();
    let kind = "UPDATE contender SET device = 'vdisk'";
    assert!(raw.execute(kind, []).is_err(), "it is as version 7 was");
    drop(raw);
    assert_eq!(Store::open_read_only(&path).unwrap().scores(run).unwrap(), expected);
    let raw = upgraded(&path, kind);
    let question = "SELECT sql FROM sqlite_schema WHERE name = 'question'";
    let rule: String = raw.query_row(question, [], |row| row.get(0)).unwrap();
    assert!(!rule.contains("'written'"), "{rule}");
}

/// What version 9 did not know is refused by its constraint, and taken once it is of a later one.
#[test]
fn of_a_file_of_version_9() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    let (_dir, store, run) = new(&header);
    let path = store.path().to_owned();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let mut expected = store.scores(run).unwrap();
    expected[0].phases.iter_mut().for_each(|phase| phase.ops = None);
    unknown_to_12(&mut expected);
    drop(store);
    let raw = Connection::open(&path).unwrap();
    make_version_12(&raw);
    raw.execute_batch(
        "ALTER TABLE score DROP COLUMN ops; PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, ', ''per-op''', '') WHERE name = 'question';
         UPDATE sqlite_schema SET sql = replace(sql, '''cold-clients'', ', '')
         WHERE name = 'score';
         PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 9;
         DROP TRIGGER score_never_changes;",
    )
    .unwrap();
    let state = "UPDATE score SET cache_state = 'cold-clients'";
    assert!(raw.execute(state, []).is_err(), "it is as version 9 was");
    drop(raw);
    assert_eq!(Store::open_read_only(&path).unwrap().scores(run).unwrap(), expected);
    upgraded(&path, state);
    let read = Store::open_read_only(&path).unwrap().scores(run).unwrap();
    assert_eq!(read[0].phases[0].cache, CacheState::ColdClients);
}

/// Version 11 knew no several devices; it takes them once it is of a later one.
#[test]
fn of_a_file_of_version_11() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    let (_dir, store, run) = new(&header);
    let path = store.path().to_owned();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let mut expected = store.scores(run).unwrap();
    unknown_to_12(&mut expected);
    drop(store);
    let raw = Connection::open(&path).unwrap();
    make_version_12(&raw);
    raw.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, '''several'', ', '') WHERE name = 'contender';
         PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 11;",
    )
    .unwrap();
    let kind = "UPDATE contender SET device = 'several'";
    assert!(raw.execute(kind, []).is_err(), "it is as version 11 was");
    drop(raw);
    assert_eq!(Store::open_read_only(&path).unwrap().scores(run).unwrap(), expected);
    upgraded(&path, kind);
}

/// No question of version 14 is about the task clock, which its scores have all the same.
#[test]
fn of_a_file_of_version_14() {
    let mut header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 2 }));
    let (_dir, store, run) = new(&header);
    let path = store.path().to_owned();
    let mut record = records::record(&header, 0);
    record.phases[0].task_cpu = Some(TaskCpu { worker_ns: 40_000_000, kernel_threads_ns: Some(1) });
    store.put_record(run, &record).unwrap();
    let mut expected = store.scores(run).unwrap();
    unknown_to_17(&mut expected);
    let task_clock = expected[0].phases[0].value(Metric::TaskClock, Clock::Durable);
    assert_eq!(task_clock, Some(40_000_000.0));
    drop(store);
    let raw = Connection::open(&path).unwrap();
    make_version_16(&raw);
    raw.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, ', ''task-clock''', '')
         WHERE name = 'question';
         PRAGMA writable_schema = RESET; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 14;
         DROP TRIGGER question_never_changes",
    )
    .unwrap();
    let metric = "UPDATE question SET metric = 'task-clock'";
    assert!(raw.execute(metric, []).is_err(), "it is as version 14 was");
    drop(raw);
    assert_eq!(Store::open_read_only(&path).unwrap().scores(run).unwrap(), expected);
    upgraded(&path, metric);
}
