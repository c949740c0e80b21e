//! Files that are damaged, foreign, newer, missing or out of reach: one clear error each, and the
//! file stays as it was, byte for byte.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::record::Notice;
use fsarena_model::run::RunState;
use fsarena_model::verdict::{DecidedPair, InterimAnalysis, Rule, Stop, StopWhy, Verdict};
use fsarena_store::{APPLICATION_ID, Owner, RunId, SCHEMA_VERSION, Store, StoreError};
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn sample() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 3);
    let store = Store::open(&path).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    for sequence in 0..3 {
        store.put_record(run, &records::record(&header, sequence)).unwrap();
    }
    (dir, path)
}

/// Opens in both ways, expects the same kind of error, and that nothing was changed.
fn refused(path: &Path, kind: fn(&StoreError) -> bool) -> String {
    let before = std::fs::read(path).unwrap();
    let reading = Store::open_read_only(path).unwrap_err();
    let writing = Store::open(path).unwrap_err();
    assert!(kind(&reading), "{reading:?}");
    assert!(kind(&writing), "{writing:?}");
    assert!(std::fs::read(path).unwrap() == before, "the file was changed");
    let text = writing.to_string();
    assert!(text.contains("records.db"), "{text}");
    text
}

#[test]
fn a_newer_schema() {
    let (_dir, path) = sample();
    let newer = SCHEMA_VERSION + 1;
    Connection::open(&path).unwrap().pragma_update(None, "user_version", newer).unwrap();
    let text = refused(&path, |e| matches!(e, StoreError::Newer { known: SCHEMA_VERSION, .. }));
    let words = format!("schema {newer}, this program knows {SCHEMA_VERSION}");
    assert!(text.contains(&words), "{text}");
    assert!(text.contains("another --db"), "{text}");
}

#[test]
fn something_that_is_no_database() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    std::fs::write(&path, "a letter to grandmother, longer than sixteen bytes\n".repeat(40))
        .unwrap();
    let text = refused(&path, |e| matches!(e, StoreError::Damaged { .. }));
    assert!(text.contains("nothing was changed"), "{text}");
}

#[test]
fn a_database_of_another_program() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mail (id INTEGER); PRAGMA user_version = 1;").unwrap();
    drop(other);
    let text = refused(&path, |e| matches!(e, StoreError::Foreign { .. }));
    assert!(text.contains("not one of fsarena"), "{text}");
}

#[test]
fn a_truncated_file() {
    for share in [2, 3, 10] {
        let (_dir, path) = sample();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / share]).unwrap();
        refused(&path, |e| matches!(e, StoreError::Damaged { .. }));
    }
}

/// A flipped byte anywhere is either found or harmless: never a panic, never another record.
#[test]
fn flipped_bytes_are_found_or_harmless() {
    let (_dir, path) = sample();
    let whole = std::fs::read(&path).unwrap();
    let expected = Store::open(&path).unwrap().records(RunId(1)).unwrap();
    let mut found = 0;
    for at in (0..whole.len()).step_by(1009) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).unwrap();
        let read = Store::open_read_only(&path).and_then(|s| s.records(RunId(1)));
        match read {
            Ok(records) => assert_eq!(records, expected, "byte {at}"),
            Err(_) => found += 1,
        }
    }
    assert!(found > 10, "only {found}");
}

#[test]
fn a_flipped_byte_inside_a_record_is_found() {
    let (_dir, path) = sample();
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = b"\"started_unix_ns\":17672256";
    // Everywhere: pages that are no longer used hold copies.
    let found: Vec<usize> =
        (0..bytes.len() - needle.len()).filter(|&at| bytes[at..].starts_with(needle)).collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at + needle.len() - 1] = b'7';
    }
    std::fs::write(&path, &bytes).unwrap();
    let store = Store::open(&path).unwrap();
    let error = store.records(RunId(1)).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("trial"), "{error}");
}

#[test]
fn a_record_of_a_newer_program() {
    let dir = TempDir::new().unwrap();
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
    let store = Store::open(&dir.path().join("records.db")).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    let mut record = records::record(&header, 0);
    record.schema = 9;
    store.put_record(run, &record).unwrap();
    let error = store.records(run).unwrap_err();
    assert!(matches!(error, StoreError::NewerRecord { found: 9, .. }), "{error:?}");
}

#[test]
fn nothing_there_and_nowhere_to_go() {
    let dir = TempDir::new().unwrap();
    let missing = Store::open_read_only(&dir.path().join("none.db")).unwrap_err();
    assert!(missing.to_string().contains("run something first"), "{missing}");
    assert!(!dir.path().join("none.db").exists(), "reading makes no file");
    let directory = Store::open(dir.path()).unwrap_err();
    assert!(matches!(directory, StoreError::Access { .. }), "{directory:?}");
    std::fs::write(dir.path().join("file"), "").unwrap();
    let below_a_file = Store::open(&dir.path().join("file/records.db")).unwrap_err();
    assert!(matches!(below_a_file, StoreError::Access { .. }), "{below_a_file:?}");
}

/// Tries to change something in each table.
fn nothing_changes(raw: &Connection) {
    for statement in [
        "UPDATE trial SET elapsed_ns = 1",
        "UPDATE trial SET attempt = 9",
        "UPDATE phase SET durable_ns = 1",
        "UPDATE counter SET value = 1",
        "UPDATE step SET elapsed_ns = 1",
        "UPDATE fact SET value = ''",
        "UPDATE notice SET text = ''",
        "UPDATE thread SET ops = 1",
        "UPDATE program SET own_ns = 1",
        "UPDATE tool SET path = ''",
        "UPDATE session SET boot_id = ''",
        "UPDATE run SET raw = '{}'",
        "UPDATE run SET margin = 0.5",
        "UPDATE run SET method_version = 2",
        "UPDATE run SET stop_blocks = 2",
        "UPDATE run SET stop_blocks = NULL, stop_why = NULL",
        "UPDATE score SET durable_ns = 1",
        "UPDATE series SET period_ns = 1",
        "UPDATE series_column SET metric = ''",
        "UPDATE question SET phase = ''",
        "UPDATE look SET blocks = 2",
        "UPDATE decision SET verdict = 'FASTER'",
    ] {
        let error = raw.execute(statement, []).unwrap_err().to_string();
        let refusals = ["never changes", "it is a view", "generated column"];
        assert!(refusals.iter().any(|refusal| error.contains(refusal)), "{statement}: {error}");
    }
}

#[test]
fn a_record_cannot_be_changed_by_hand_but_a_run_can_be_deleted() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("records.db");
    let works = vec![records::metadata(), records::fio_job(), records::real_work()];
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, works, 1);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 1 }));
    let store = Store::open(&path).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    let decided = vec![DecidedPair { question: 0, a: 0, b: 1, verdict: Verdict::Same }];
    store.put_look(run, &InterimAnalysis { blocks: 1, at_unix_ns: 7, decided }).unwrap();
    store.set_stop(run, Stop { blocks: 1, why: StopWhy::Cap }).unwrap();
    store.put_session(run, &records::session("b", 0)).unwrap();
    for sequence in [0, 2, 4] {
        let mut record = records::record(&header, sequence);
        record.notices.push(Notice {
            code: "x".to_owned(),
            text: "y".to_owned(),
            remedy: None,
            measure: None,
        });
        store.put_record(run, &record).unwrap();
    }
    drop(store);
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    nothing_changes(&raw);
    raw.execute("DELETE FROM run", []).unwrap();
    for table in [
        "slot",
        "trial",
        "phase",
        "counter",
        "series_column",
        "contender",
        "host",
        "thread",
        "program",
        "tool",
        "session",
        "question",
        "look",
        "decision",
        "score",
    ] {
        let left: i64 =
            raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    drop(raw);
    let store = Store::open(&path).unwrap();
    assert!(matches!(
        store.set_state(RunId(1), RunState::Done, None),
        Err(StoreError::NoSuchRun { .. })
    ));
}

/// Versions of the layout that no release wrote are refused with a remedy, and left alone.
#[test]
fn versions_before_the_first_release_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for version in 1..6 {
        let path = dir.path().join(format!("{version}.db"));
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch("CREATE TABLE run (id INTEGER PRIMARY KEY)").unwrap();
        raw.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        let before = std::fs::read(&path).unwrap();
        for error in [Store::open(&path).unwrap_err(), Store::open_read_only(&path).unwrap_err()] {
            let StoreError::Unreleased { found, known, .. } = &error else { panic!("{error:?}") };
            assert_eq!((*found, *known), (version, SCHEMA_VERSION));
            let text = error.to_string();
            assert!(text.ends_with("read it with that build, or use another --db"), "{text}");
        }
        assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    }
}
