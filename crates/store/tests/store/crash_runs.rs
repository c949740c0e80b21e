//! Crash runs: stored once, read back as they were, and only those of the plan.

use fsarena_model::crash::CrashSlot;
use fsarena_model::run::RunHeader;
use fsarena_store::{Owner, RunId, Store, StoreError};
use fsarena_testkit::crash::{self, Traits};
use fsarena_testkit::records::{self, contender, small_files};
use rusqlite::Connection;
use std::path::Path;

fn made(path: &Path) -> (Store, RunHeader, RunId) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, vec![small_files()], 1);
    header.plan.crash = Some(crash::plan());
    let store = Store::open(path).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    (store, header, run)
}

#[test]
fn they_come_back_in_the_order_of_the_plan() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.db");
    let (store, header, run) = made(&path);
    let slots = header.plan.crash_slots();
    let traits = Traits { loss_s: 30, damaged: 2, stale_bytes: 512, is_promised: true };
    let mut all: Vec<_> = slots.iter().map(|slot| crash::run(&header, *slot, traits)).collect();
    all[3] = crash::failed(slots[3], "the guest ended");
    for one in all.iter().rev() {
        store.put_crash_run(run, one).unwrap();
    }
    assert_eq!(store.crash_runs(run).unwrap(), all);
    let raw = Connection::open(&path).unwrap();
    let figures: (i64, i64, i64) = raw
        .query_row(
            "SELECT count(*), sum(stale_bytes), max(loss_window_ns) FROM crash_point",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!(
        figures,
        (7 * 4, 4 * 4 * 512 - 512 * 4 * i64::from(slots[3].workload == 0), 30_000_000_000)
    );
    let reason: String = raw
        .query_row("SELECT reason FROM crash_run WHERE outcome = 'failed'", [], |r| r.get(0))
        .unwrap();
    assert_eq!(reason, "the guest ended");
    let error = raw.execute("UPDATE crash_run SET workload = 'x'", []).unwrap_err();
    assert!(error.to_string().contains("never changes"), "{error}");
}

#[test]
fn a_plan_has_its_crash_runs_under_their_old_name_too() {
    let (_, header, _) = made(&tempfile::tempdir().unwrap().path().join("records.db"));
    let text = header.to_json().unwrap();
    let old = text.replacen("\"crash\":", "\"safety\":", 1);
    assert_ne!(old, text);
    assert_eq!(RunHeader::from_json(&old).unwrap(), header);
}

#[test]
fn what_is_not_planned_or_there_already_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, header, run) = made(&dir.path().join("records.db"));
    let first = header.plan.crash_slots()[0];
    let of = |slot: CrashSlot| crash::run(&header, slot, Traits::default());
    store.put_crash_run(run, &of(first)).unwrap();
    assert!(store.put_crash_run(run, &of(first)).is_err(), "twice");
    for slot in [
        CrashSlot { number: 2, ..first },
        CrashSlot { workload: 2, ..first },
        CrashSlot { contender: 2, ..first },
    ] {
        let error = store.put_crash_run(run, &of(slot)).unwrap_err();
        assert!(matches!(error, StoreError::CrashRunNotInPlan { .. }), "{error:?}");
    }
    assert_eq!(store.crash_runs(run).unwrap().len(), 1);
}

/// A flipped bit is found, and a file of the version before is read as it is.
#[test]
fn damage_is_found_and_older_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.db");
    let (store, header, run) = made(&path);
    let slot = header.plan.crash_slots()[0];
    store.put_crash_run(run, &crash::run(&header, slot, Traits::default())).unwrap();
    drop(store);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "DROP TRIGGER crash_run_never_changes;
         UPDATE crash_run SET raw = replace(raw, '\"ops\":1000', '\"ops\":1001');",
    )
    .unwrap();
    let error = Store::open_read_only(&path).unwrap().crash_runs(run).unwrap_err();
    assert!(error.to_string().contains("does not fit its SHA-256"), "{error}");
    raw.execute_batch(
        "DROP VIEW crash_point; DROP TABLE crash_run; ALTER TABLE score DROP COLUMN ops;
         ALTER TABLE score DROP COLUMN free; ALTER TABLE score DROP COLUMN asked_bytes;
         DROP TABLE IF EXISTS score_figure; PRAGMA user_version = 8;",
    )
    .unwrap();
    let old = Store::open_read_only(&path).unwrap();
    assert!(old.crash_runs(run).unwrap().is_empty());
    assert_eq!(old.header(run).unwrap(), header);
    drop(old);
    let store = Store::open(&path).unwrap();
    store.put_crash_run(run, &crash::run(&header, slot, Traits::default())).unwrap();
    assert_eq!(store.crash_runs(run).unwrap().len(), 1);
}
