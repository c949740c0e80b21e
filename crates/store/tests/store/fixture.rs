//! Databases of every layout that was ever written: a file made by that version lies in
//! `test_fixture/` and must be readable for ever.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::device::{Conditioning, SsdPolicy};
use fsarena_model::finding::Weight;
use fsarena_model::job::{By, Compression, JobKind, Origin, Reflink, SourcePlace};
use fsarena_model::record::{CacheState, Drained, Outcome, Window};
use fsarena_model::run::{Clock, RunState};
use fsarena_model::score::MemoryKind;
use fsarena_model::verdict::{DecidedPair, Metric, Pairs, Rule, Stop, StopWhy, Verdict};
use fsarena_model::work::{Backend, Fsync, Op, Sharing};
use fsarena_store::{RunId, SCHEMA_VERSION, Store, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test_fixture").join(name)
}

/// Opens a copy for writing, which raises its layout, or for reading, which changes nothing.
fn opened(name: &str, read_only: bool) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::copy(fixture(name), &path).unwrap();
    let store = if read_only {
        let store = Store::open_read_only(&path).unwrap();
        let (before, after) =
            (std::fs::read(fixture(name)).unwrap(), std::fs::read(&path).unwrap());
        assert!(before == after, "reading changed the file");
        store
    } else {
        Store::open(&path).unwrap()
    };
    (dir, store)
}

#[test]
fn layout_1_is_raised_with_all_that_is_in_it() {
    let (_dir, store) = opened("layout-1.db", false);
    layout_1(&store);
    let raw = Connection::open(store.path()).unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(raised_whole(&raw, "layout-1.db"), 16);
    let defaults = "SELECT count(*) FROM measured WHERE attempt = 1 AND backend = 'sync'
                    AND threads = 1 AND fsync = 'none' AND bs_bytes IS NULL AND device = 'loop'";
    assert_eq!(number(defaults), number("SELECT count(*) FROM measured"));
    assert_eq!(number("SELECT count(*) FROM contender WHERE ssd = 'none'"), 2);

    // The trials that are left can be done, in what is now a database of the present layout.
    let header = store.header(RunId(1)).unwrap();
    let mut record = store.records(RunId(1)).unwrap()[1].clone();
    record.key.sequence = 3;
    record.key.block = 1;
    assert_eq!(header.plan.contenders[1].id(), record.key.contender);
    store.put_record(RunId(1), &record).unwrap();
    assert_eq!(store.done_sequences(RunId(1)).unwrap().len(), 4);
    let changed = raw.execute("UPDATE trial SET elapsed_ns = 1", []).unwrap_err().to_string();
    assert!(changed.contains("never changes"), "{changed}");
}

/// Every table and view of the fixture has its rows in the raised file, which is whole; how many
/// there are.
fn raised_whole(raw: &Connection, name: &str) -> usize {
    let number =
        |from: &Connection, sql: &str| from.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
    assert_eq!(number(raw, "PRAGMA user_version"), i64::from(SCHEMA_VERSION));
    let said: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
    let broken = raw.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    assert!(!broken, "a row belongs to nothing");
    let before = Connection::open(fixture(name)).unwrap();
    let tables: Vec<String> = before
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
             AND name NOT LIKE 'sqlite%'",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for table in &tables {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(number(raw, &count), number(&before, &count), "{table}");
    }
    let passing = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'new%' OR sql LIKE '%new_%'";
    assert_eq!(number(raw, passing), 0, "a name of the migration is left");
    tables.len()
}

#[test]
fn layout_2_is_raised_with_all_that_is_in_it() {
    let (_dir, store) = opened("layout-2.db", false);
    let read = opened("layout-2.db", true).1;
    let run = RunId(1);
    assert_eq!(store.header(run).unwrap(), read.header(run).unwrap());
    assert_eq!(store.attempts(run).unwrap(), read.attempts(run).unwrap());
    let raw = Connection::open(store.path()).unwrap();
    assert_eq!(raised_whole(&raw, "layout-2.db"), 19);
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let contender = "SELECT count(*) FROM contender WHERE reflink = 'never' AND cache = 'cold'";
    assert_eq!(number(contender), 2);
    let phases = "SELECT count(*) FROM phase WHERE cache_asked = 'cold' AND job IS NULL";
    assert_eq!(number(phases), number("SELECT count(*) FROM phase"));
    assert_eq!(number("SELECT count(*) FROM workload WHERE source IS NULL"), 4);
    assert!(!store.run(run).unwrap().merged);
    for statement in ["UPDATE phase SET durable_ns = 1", "UPDATE trial SET attempt = 9"] {
        let changed = raw.execute(statement, []).unwrap_err().to_string();
        assert!(changed.contains("never changes"), "{changed}");
    }
}

#[test]
fn layout_1_is_readable_without_a_change() {
    let (_dir, store) = opened("layout-1.db", true);
    layout_1(&store);
    let refused = store.set_state(RunId(1), RunState::Done, None).unwrap_err();
    assert!(matches!(refused, StoreError::Access { .. }), "{refused:?}");
}

/// A row of an old file that belongs to nothing is not carried into the present layout.
#[test]
fn an_inconsistent_file_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("layout-1.db");
    std::fs::copy(fixture("layout-1.db"), &path).unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw.execute("DELETE FROM slot WHERE sequence = 0", []).unwrap();
    drop(raw);
    let before = std::fs::read(&path).unwrap();
    for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains("trial"), "{error}");
    }
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
}

/// Values are written out here, not taken from the builder, which may change.
fn layout_1(store: &Store) {
    let rows = store.runs().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].uid, "0123456789abcdef");
    assert_eq!(rows[0].experiment, "sample");
    assert_eq!(rows[0].created_unix_ns, 1_767_225_600_000_000_000);
    assert_eq!(rows[0].state, RunState::Interrupted);
    assert_eq!(rows[0].note.as_deref(), Some("Ctrl-C"));
    assert_eq!((rows[0].trials_done, rows[0].trials_planned), (3, 4));

    let header = store.header(RunId(1)).unwrap();
    let labels: Vec<&str> = header.plan.contenders.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["ext4", "xfs"]);
    assert_eq!(header.plan.workloads[0].dataset.files, 5000);

    let records = store.records(RunId(1)).unwrap();
    assert_eq!(records.len(), 3);
    let last = &records[2];
    assert_eq!((last.key.sequence, last.key.block), (2, 1));
    assert_eq!(last.key.contender, header.plan.contenders[0].id());
    assert_eq!(last.outcome, Outcome::Done);
    assert_eq!(last.phases.len(), 3);
    let create = &last.phases[0];
    assert_eq!(create.name, "create");
    assert_eq!((create.ops, create.asked_bytes), (5000, 1_280_000));
    assert_eq!(create.clocks.returned_ns, 500_000_000);
    assert_eq!(create.clocks.durable_ns, Some(1_000_000_000));
    assert_eq!(create.clocks.drained, Drained::Frozen { drained_ns: 1_250_000_000 });
    assert_eq!(create.cache.state, CacheState::Cold);
    assert_eq!(create.latency.as_ref().unwrap().buckets, [(10_000, 4999), (1 << 20, 1)]);
    assert_eq!(create.windows[&Window::Unmounted]["device.written_bytes"], 3_840_000);
    let series = create.series.as_ref().unwrap();
    assert_eq!(series.t_ns, [-5_000_000, 95_000_000, 195_000_000]);
    assert_eq!(series.columns["device.written_bytes"], [Some(0), None, Some(8192)]);

    // What this layout did not have.
    assert_eq!((create.bs_bytes, create.io.is_default()), (0, true));
    assert_eq!(header.place, None);
    let sessions = store.sessions(RunId(1)).unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!((sessions[0].boot_id.as_str(), sessions[0].first_sequence), ("b", 0));
    assert_eq!(store.done_sequences(RunId(1)).unwrap().len(), 3);
    assert_eq!(store.resumable().unwrap().len(), 1);
}

#[test]
fn layout_2_is_readable() {
    let (_dir, store) = opened("layout-2.db", true);
    let run = RunId(1);
    let row = store.run(run).unwrap();
    assert_eq!((row.trials_done, row.trials_planned), (7, 8));
    assert_eq!(row.state, RunState::Interrupted);
    let boots: Vec<(String, u32)> =
        store.sessions(run).unwrap().into_iter().map(|s| (s.boot_id, s.first_sequence)).collect();
    assert_eq!(boots, [("b".to_owned(), 0), ("c".to_owned(), 3)]);
    assert_eq!(store.done_sequences(run).unwrap(), (0..7).collect());

    let header = store.header(run).unwrap();
    let disk = &header.plan.contenders[1].levels;
    let expected = DeviceLevel::Block { path: "/dev/sdz".into(), size_bytes: 64_000_000_000 };
    assert_eq!((&disk.device, disk.ssd), (&expected, SsdPolicy::Precondition));
    assert_eq!(disk.queue.scheduler.as_deref(), Some("kyber"));
    assert_eq!(header.place.unwrap().program_sha256.len(), 64);
    assert!(header.plan.workloads[3].fio.as_ref().unwrap().starts_with("[randread]"));

    let attempts = store.attempts(run).unwrap();
    let of_three: Vec<(u32, &Outcome)> = attempts
        .iter()
        .filter(|(_, record)| record.key.sequence == 3)
        .map(|(attempt, record)| (*attempt, &record.outcome))
        .collect();
    assert_eq!(of_three, [(1, &Outcome::Interrupted), (2, &Outcome::Done)]);
    let records = store.records(run).unwrap();
    assert_eq!((attempts.len(), records.len()), (8, 7));
    assert!(matches!(
        &records[1].conditioning,
        Some(Conditioning::Preconditioned { steady: false, rounds_ops_per_s, .. })
            if rounds_ops_per_s.len() == 25
    ));

    let create = &records[3].phases[0];
    assert_eq!((create.io.threads, create.io.sharing), (4, Sharing::Shared));
    assert_eq!((create.io.fsync, create.threads.len()), (Fsync::Op, 4));
    assert_eq!(create.first_and_last_done_ns(), Some((400_000_000, 500_000_000)));
    let mixed = &records[4].phases[0];
    assert_eq!((mixed.op, mixed.bs_bytes, mixed.io.iodepth), (Op::RandRw, 4096, 32));
    assert_eq!((mixed.io.backend, mixed.io.direct), (Backend::IoUring, true));
    assert_eq!((mixed.asked_bytes, mixed.written_bytes()), (2 << 20, 1 << 20));
    assert_eq!(mixed.write_latency.as_ref().unwrap().count(), 256);
    let program = records[6].phases[0].program.as_ref().unwrap();
    assert_eq!((program.version.as_str(), program.own_ns), ("fio-3.36", Some(300_000_000)));
}

#[test]
fn layout_3_is_readable() {
    let (_dir, store) = opened("layout-3.db", true);
    let run = RunId(1);
    let row = store.run(run).unwrap();
    assert_eq!((row.trials_done, row.trials_planned, row.merged), (11, 12, false));
    let header = store.header(run).unwrap();
    let disk = &header.plan.contenders[1].levels;
    assert_eq!((disk.cache, disk.reflink), (Cache::ColdStart, Reflink::Auto));
    let made = header.plan.workloads[4].source.as_ref().unwrap();
    assert_eq!((made.file_name().as_str(), made.place), ("data.tar.gz", SourcePlace::Same));
    assert_eq!((made.contents.files, made.contents.bytes), (1000, 20_000_000));
    let own = header.plan.workloads[5].source.as_ref().unwrap();
    assert_eq!(own.origin, Origin::Own { path: "/srv/our/tree".into() });
    assert_eq!((own.place, own.archive), (SourcePlace::Memory, None));

    let records = store.records(run).unwrap();
    let phases = &records[8].phases;
    let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["untar", "copy", "copy-engine", "archive", "delete"]);
    let untar = phases[0].job.as_ref().unwrap();
    assert_eq!(untar.kind, JobKind::Untar { compression: Compression::Gzip });
    assert_eq!((phases[0].op, phases[0].ops, untar.of.as_str()), (Op::Job, 1110, "data"));
    let tools = &phases[0].program.as_ref().unwrap().tools;
    let found: Vec<&str> = tools.iter().map(|tool| tool.path.to_str().unwrap()).collect();
    assert_eq!(found, ["/usr/bin/tar", "/usr/bin/gzip"]);
    assert_eq!(phases[2].job.as_ref().unwrap().by, By::Engine);
    assert_eq!((phases[2].program.is_none(), phases[2].latency.is_some()), (true, true));
    assert_eq!(
        (phases[3].asked_bytes, phases[3].asked_written_bytes),
        (24_000_000, Some(4_000_000))
    );
    let search = records[10].phases[3].job.as_ref().unwrap();
    let JobKind::Command(command) = &search.kind else { panic!("{search:?}") };
    assert!(command.run.starts_with("grep") && command.prepare.is_some());
}

#[test]
fn layout_3_is_raised_with_all_that_is_in_it() {
    let (_dir, store) = opened("layout-3.db", false);
    let read = opened("layout-3.db", true).1;
    let run = RunId(1);
    assert_eq!(store.header(run).unwrap(), read.header(run).unwrap());
    assert_eq!(store.attempts(run).unwrap(), read.attempts(run).unwrap());
    let raw = Connection::open(store.path()).unwrap();
    assert_eq!(raised_whole(&raw, "layout-3.db"), 20);
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let asks_nothing = "SELECT count(*) FROM run WHERE method_version IS NULL AND rule IS NULL
                        AND margin IS NULL AND stop_why IS NULL";
    assert_eq!(number(asks_nothing), 1);
    assert_eq!(number("SELECT count(*) FROM contender WHERE handicap_ns = 0"), 2);
    assert_eq!(number("SELECT count(*) FROM score"), number("SELECT count(*) FROM phase"));
    assert_eq!(number("SELECT count(*) FROM question"), 0);
    assert_eq!((store.looks(run).unwrap(), store.stop(run).unwrap()), (Vec::new(), None));
    store.set_stop(run, Stop { blocks: 1, why: StopWhy::Cap }).unwrap();
    for statement in ["UPDATE run SET margin = 0.1", "UPDATE run SET stop_blocks = 2"] {
        let changed = raw.execute(statement, []).unwrap_err().to_string();
        assert!(changed.contains("never changes"), "{changed}");
    }
}

#[test]
fn layout_4_is_readable() {
    let (_dir, store) = opened("layout-4.db", true);
    let run = RunId(1);
    let row = store.run(run).unwrap();
    assert_eq!((row.trials_done, row.trials_planned, row.state), (11, 12, RunState::Done));
    let plan = store.header(run).unwrap().plan;
    assert_eq!(plan.contenders[2].levels.handicap_ns, 30_000_000);
    let ask = plan.verdict.unwrap();
    assert_eq!((ask.method, ask.rule), (1, Rule::Looks { cap: 8 }));
    assert_eq!((ask.margin, ask.budget_ns), (0.02, Some(1_800_000_000_000)));
    assert_eq!((ask.pairs, ask.headline), (Pairs::Baseline { contender: 1 }, Some(0)));
    assert_eq!((ask.spare_blocks, ask.limits.steal_share), (0, Some(0.05)));
    assert_eq!(ask.questions.len(), 8);
    let first = &ask.questions[0];
    assert_eq!((first.workload, first.phase.as_str()), (0, "create"));
    assert_eq!((first.metric, first.clock), (Metric::Cpu, Clock::Durable));

    let looks = store.looks(run).unwrap();
    let pair = |question, a, verdict| DecidedPair { question, a, b: 1, verdict };
    assert_eq!(looks.len(), 2);
    assert_eq!((looks[0].blocks, looks[0].at_unix_ns), (1, 1_767_225_700_000_000_000));
    assert_eq!(looks[0].decided, [pair(4, 2, Verdict::Slower), pair(0, 0, Verdict::Same)]);
    assert_eq!((looks[1].blocks, looks[1].at_unix_ns), (2, 1_767_225_701_000_000_000));
    assert_eq!(looks[1].decided, [pair(4, 0, Verdict::Faster)]);
    assert_eq!(store.stop(run).unwrap(), Some(Stop { blocks: 2, why: StopWhy::Budget }));

    let scores = store.scores(run, true).unwrap();
    assert_eq!(scores.len(), 11);
    let create = &scores[0].phases[0];
    assert_eq!((create.name.as_str(), create.is_complete), ("create", true));
    assert_eq!((create.durable_ns, create.drained_ns), (Some(1_000_000_000), Some(1_250_000_000)));
    assert_eq!((create.cpu_ns, create.machine_ns), (Some(500_000_000), Some(2_000_000_000)));
    assert_eq!((create.steal_ns, create.written_bytes), (None, Some(3_840_000)));
    assert_eq!((create.cache, create.memory), (CacheState::Cold, MemoryKind::Whole));
    assert_eq!(create.p99_ns, Some(10_127));
}

#[test]
fn layout_4_is_raised_with_all_that_is_in_it() {
    let (_dir, store) = opened("layout-4.db", false);
    let read = opened("layout-4.db", true).1;
    let run = RunId(1);
    assert_eq!(store.header(run).unwrap(), read.header(run).unwrap());
    assert_eq!(store.attempts(run).unwrap(), read.attempts(run).unwrap());
    assert_eq!(store.looks(run).unwrap(), read.looks(run).unwrap());
    let raw = Connection::open(store.path()).unwrap();
    assert_eq!(raised_whole(&raw, "layout-4.db"), 25);
    let before = Connection::open(fixture("layout-4.db")).unwrap();
    let devices = |from: &Connection| -> Vec<String> {
        let mut devices = from.prepare("SELECT device FROM contender ORDER BY id").unwrap();
        devices.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(devices(&raw), ["loop", "block", "loop"]);
    assert_eq!(devices(&raw), devices(&before));
}

#[test]
fn layout_5_is_readable() {
    let (_dir, store) = opened("layout-5.db", true);
    let run = RunId(1);
    let row = store.run(run).unwrap();
    assert_eq!((row.trials_done, row.trials_planned, row.state), (15, 16, RunState::Done));
    let header = store.header(run).unwrap();
    let (program, what) = ("hyperfine".to_owned(), "cp -r a b".to_owned());
    let cp = &header.plan.contenders[3];
    assert_eq!(cp.levels.device, DeviceLevel::Elsewhere { program, what });
    let [finding] = &header.findings[..] else { panic!("{:?}", header.findings) };
    assert_eq!((finding.code.as_str(), finding.weight), ("mount-options", Weight::Warning));
    assert_eq!(finding.remedy.as_deref(), Some("mount it without"));

    let attempts = store.attempts(run).unwrap();
    assert_eq!(attempts.len(), 16);
    let records = store.records(run).unwrap();
    let phase = &records[3].phases[0];
    assert_eq!(records[3].key.contender, cp.id());
    let reason = "hyperfine does not wait for that".to_owned();
    assert_eq!(phase.clocks.drained, Drained::NotWaitedFor { reason });
    assert_eq!((phase.clocks.durable_ns, phase.windows.len()), (None, 0));
    let raw = Connection::open(store.path()).unwrap();
    let foreign = "SELECT count(DISTINCT trial) FROM measured
                   WHERE device = 'elsewhere' AND durable_ns IS NULL AND drained_ns IS NULL";
    assert_eq!(raw.query_row(foreign, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}
