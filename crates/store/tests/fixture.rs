//! Databases of every layout that was ever written: a file made by that version lies in
//! `test_fixture/` and must be readable for ever.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::DeviceLevel;
use fsarena_model::device::{Conditioning, SsdPolicy};
use fsarena_model::record::{CacheState, Drained, Outcome, Window};
use fsarena_model::run::RunState;
use fsarena_model::work::{Backend, Fsync, Op, Sharing};
use fsarena_store::{RunId, Store, StoreError};
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
    assert_eq!(number("PRAGMA user_version"), 2);
    let said: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
    let broken = raw.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    assert!(!broken, "a row belongs to nothing");
    let before = Connection::open(fixture("layout-1.db")).unwrap();
    for table in [
        "run",
        "host",
        "contender",
        "contender_option",
        "workload",
        "slot",
        "not_run",
        "trial",
        "step",
        "fact",
        "notice",
        "phase",
        "counter",
        "series",
        "series_column",
        "measured",
    ] {
        let count = format!("SELECT count(*) FROM {table}");
        let was: i64 = before.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(number(&count), was, "{table}");
    }
    let defaults = "SELECT count(*) FROM measured WHERE attempt = 1 AND backend = 'sync'
                    AND threads = 1 AND fsync = 'none' AND bs_bytes IS NULL AND device = 'loop'";
    assert_eq!(number(defaults), number("SELECT count(*) FROM measured"));
    assert_eq!(number("SELECT count(*) FROM contender WHERE ssd = 'none'"), 2);
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'new%'";
    assert_eq!(number(tables), 0);

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
