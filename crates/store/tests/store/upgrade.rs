//! A file of an earlier schema becomes one of the present schema: whole, or not at all.

use crate::scores::make_version_16;
use fsarena_model::run::RunState;
use fsarena_store::{Owner, SCHEMA_VERSION, Store};
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use std::path::Path;
use tempfile::TempDir;

/// RUNs with a record each, with these arguments.
fn runs(all: &[&[&str]]) -> (TempDir, Store) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&dir.path().join("records.db")).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    for (number, arguments) in all.iter().enumerate() {
        let mut header =
            records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        header.uid = format!("{number:016x}");
        header.arguments = arguments.iter().map(|&text| text.to_owned()).collect();
        let run = store.create_run(&header, &owner).unwrap();
        store.put_record(run, &records::record(&header, 0)).unwrap();
        store.set_state(run, RunState::Done, None).unwrap();
    }
    (dir, store)
}

/// Makes a file of the present version one of version 15.
fn make_version_15(path: &Path) {
    Connection::open(path)
        .unwrap()
        .execute_batch(
            "DROP INDEX question_by_workload; DROP INDEX decision_by_a; DROP INDEX decision_by_b;
             DROP INDEX run_at_work; DROP INDEX run_listed; DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 15;",
        )
        .unwrap();
}

fn version(path: &Path) -> u32 {
    let raw = Connection::open(path).unwrap();
    raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn of_a_file_of_version_15() {
    let (_dir, store) = runs(&[&["run"], &["run", "--title", "x"]]);
    let (path, expected) = (store.path().to_owned(), store.runs().unwrap());
    drop(store);
    make_version_15(&path);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap(), expected);
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    assert_eq!(Store::open(&path).unwrap().runs().unwrap(), expected);
    assert_eq!(version(&path), SCHEMA_VERSION);
    let raw = Connection::open(&path).unwrap();
    let indices = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name IN
        ('question_by_workload', 'decision_by_a', 'decision_by_b', 'run_at_work', 'run_listed')";
    let made: i64 = raw.query_row(indices, [], |row| row.get(0)).unwrap();
    assert_eq!(made, 5);
}

/// With and without the index that says it.
#[test]
fn a_title_of_its_own_is_an_argument_and_no_part_of_one() {
    let cases: [(&[&str], bool); 9] = [
        (&[], false),
        (&["run", "quick"], false),
        (&["run", "--title", "x"], true),
        (&["--title=x", "run"], true),
        (&["run", "--title="], true),
        (&["run", "--titles", "--tit"], false),
        (&["run", "--note", "[\"--title\"]"], false),
        (&["run", "a,\"--title=b", ",--title"], false),
        (&["run\\", "\",\\\"--title\""], false),
    ];
    let (_dir, store) = runs(&cases.map(|(arguments, _)| arguments));
    let path = store.path().to_owned();
    let said = |store: &Store| -> Vec<bool> {
        store.runs().unwrap().iter().map(|run| run.has_own_title).collect()
    };
    assert_eq!(said(&store), cases.map(|(_, has_title)| has_title));
    drop(store);
    make_version_15(&path);
    let old = Store::open_read_only(&path).unwrap();
    assert_eq!(said(&old), cases.map(|(_, has_title)| has_title));
}

/// Name and text of every table.
fn tables(path: &Path) -> Vec<(String, String)> {
    let raw = Connection::open(path).unwrap();
    let mut rows = raw.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").unwrap();
    let all = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    all.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn a_file_of_version_16_loses_its_lists_of_words_and_no_row() {
    let (_dir, store) = runs(&[&["run"]]);
    let (path, expected) = (store.path().to_owned(), store.runs().unwrap());
    let records = store.records(expected[0].id).unwrap();
    drop(store);
    let present = tables(&path);
    assert!(present.iter().all(|(_, sql)| !sql.contains("IN ('")), "{present:?}");
    make_version_16(&Connection::open(&path).unwrap());
    assert_ne!(tables(&path), present);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.runs().unwrap(), expected);
    assert_eq!(store.records(expected[0].id).unwrap(), records);
    drop(store);
    assert_eq!((tables(&path), version(&path)), (present, SCHEMA_VERSION));
}
