//! A record survives a crash right after its trial.
//!
//! The test starts itself again as a child (the environment says so); the child stores a record and
//! aborts, or is killed in the middle of an uncommitted transaction.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_store::{Owner, RunId, Store};
use fsarena_testkit::records::{self, contender, small_files};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

const DATABASE: &str = "FSARENA_TEST_CRASH_DATABASE";
const HALF: &str = "FSARENA_TEST_CRASH_HALF";

fn header() -> fsarena_model::run::RunHeader {
    records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2)
}

/// The child's whole life; in an ordinary test run it does nothing.
#[test]
fn child() {
    let Some(path) = std::env::var_os(DATABASE).map(PathBuf::from) else {
        return println!("not run: the child of another test");
    };
    let header = header();
    let store = Store::open(&path).unwrap();
    if std::env::var_os(HALF).is_some() {
        let raw = rusqlite::Connection::open(&path).unwrap();
        // A cache of one page makes SQLite write into the file before the commit, so that a hot
        // journal is left behind.
        raw.execute_batch(
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;
             UPDATE run SET note = hex(randomblob(100000));
             CREATE TABLE half AS SELECT hex(randomblob(2000000)) AS x;",
        )
        .unwrap();
        std::process::abort();
    }
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    store.put_record(run, &records::record(&header, 0)).unwrap();
    std::process::abort();
}

fn crash(path: &Path, half: bool) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::child", "--test-threads=1"]).env(DATABASE, path);
    if half {
        command.env(HALF, "1");
    }
    command.output().unwrap().status
}

#[test]
fn a_record_survives_an_abort_right_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.db");
    assert!(!crash(&path, false).success(), "the child must die");
    let store = Store::open(&path).unwrap();
    let run = store.find("latest").unwrap();
    assert_eq!(store.records(run).unwrap(), [records::record(&header(), 0)]);
    assert_eq!(store.running().unwrap().len(), 1, "its owner has to be found dead by the runner");
}

#[test]
fn half_a_write_is_rolled_back_even_for_a_reader() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.db");
    crash(&path, false);
    crash(&path, true);
    assert!(path.with_extension("db-journal").exists(), "the scene is as meant: a hot journal");
    let store = Store::open_read_only(&path).unwrap();
    let run = RunId(1);
    assert_eq!(store.records(run).unwrap(), [records::record(&header(), 0)]);
    assert_eq!(store.run(run).unwrap().note, None);
}
