//! What is stored comes back as it was; what does not belong is refused.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::record::{Drained, MemoryRecord, Notice, Outcome, StepTime, TrialRecord};
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::work::{Op, OpError, VerifyReport};
use fsarena_store::{Owner, RunId, Store, StoreError};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};
use std::path::PathBuf;
use tempfile::TempDir;

fn owner() -> Owner {
    Owner { pid: 4711, start_ticks: u64::from(u32::MAX) + 9, boot_id: "b".to_owned() }
}

fn header() -> RunHeader {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let mut header = records::header(contenders, vec![small_files(), big_file()], 2);
    header.plan.contenders.push(contender("tmpfs", "tmpfs", 1));
    let reason = "it lives in the limited memory".to_owned();
    header.plan.not_run.push(NotRun { contender: 2, workload: None, reason });
    header
}

fn new() -> (TempDir, Store) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&dir.path().join("below/records.db")).unwrap();
    (dir, store)
}

/// A record that uses every variant that the plain one does not.
fn odd(header: &RunHeader, sequence: u32) -> TrialRecord {
    let mut record = records::record(header, sequence);
    record.outcome = Outcome::Failed {
        step: "measure".to_owned(),
        error: "no space left".to_owned(),
        remedy: Some("a larger image".to_owned()),
    };
    record.verify = Some(VerifyReport {
        files: 3,
        bytes: 768,
        bad_files: 1,
        examples: vec!["f00000001: byte 0".to_owned()],
    });
    record.notices.push(Notice {
        code: "x".to_owned(),
        text: "y".to_owned(),
        remedy: None,
        measure: None,
    });
    let phase = &mut record.phases[0];
    phase.clocks.drained = Drained::NotDrained { reason: "cap".to_owned() };
    phase.clocks.durable_ns = None;
    phase.memory = MemoryRecord::NotLimited { limit_bytes: 64 << 20, reason: "none".to_owned() };
    phase.series = None;
    phase.windows.clear();
    phase.asked_bytes = u64::MAX;
    phase.error = Some(OpError {
        op_index: 17,
        call: "write".to_owned(),
        path: "f00000017".to_owned(),
        errno: 28,
        text: "No space left on device".to_owned(),
    });
    record
}

#[test]
fn plans_and_records_come_back_as_they_were() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    assert_eq!(store.header(run).unwrap(), header);
    assert_eq!(store.records(run).unwrap(), []);

    let second = odd(&header, 3);
    let first = records::record(&header, 1);
    store.put_record(run, &second).unwrap();
    store.put_record(run, &first).unwrap();
    assert_eq!(store.records(run).unwrap(), [first, second], "schedule order, series included");

    let rows = store.runs().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].trials_done, rows[0].trials_planned), (2, 8));
    assert_eq!(rows[0].state, RunState::Running);
}

#[test]
fn owners_and_states() {
    let (_dir, store) = new();
    let run = store.create_run(&header(), &owner()).unwrap();
    assert_eq!(store.running().unwrap(), [(run, "0123456789abcdef".to_owned(), owner())]);
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C")).unwrap();
    assert_eq!(store.running().unwrap(), []);
    let row = store.run(run).unwrap();
    assert_eq!((row.state, row.note.as_deref()), (RunState::Interrupted, Some("Ctrl-C")));
    let next = Owner { pid: 5, ..owner() };
    store.adopt(run, &next).unwrap();
    assert_eq!(store.running().unwrap()[0].2, next);
    let error = store.set_state(RunId(99), RunState::Done, None).unwrap_err();
    assert!(error.to_string().contains("fsarena list"), "{error}");
}

#[test]
fn a_slot_takes_one_record() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let record = records::record(&header, 0);
    store.put_record(run, &record).unwrap();
    let again = store.put_record(run, &odd(&header, 0)).unwrap_err();
    assert!(matches!(again, StoreError::AlreadyRecorded { sequence: 0, .. }), "{again}");
    assert_eq!(store.records(run).unwrap(), [record]);
}

#[test]
fn a_record_must_fit_the_plan() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let mut other_run = records::record(&header, 0);
    other_run.key.run = "ffff".to_owned();
    let mut other_work = records::record(&header, 0);
    other_work.key.workload = "big-file".to_owned();
    let mut outside = records::record(&header, 0);
    outside.key.sequence = 800;
    for wrong in [other_run, other_work, outside] {
        let error = store.put_record(run, &wrong).unwrap_err();
        assert!(matches!(error, StoreError::NotInPlan { .. }), "{error}");
    }
    let error = store.put_record(RunId(7), &records::record(&header, 0)).unwrap_err();
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    assert_eq!(store.records(run).unwrap(), []);
}

#[test]
fn a_plan_with_one_contender_twice_is_refused_whole() {
    let (_dir, store) = new();
    let mut header = header();
    header.plan.contenders[1] = contender("another name", "ext4", 1);
    let error = store.create_run(&header, &owner()).unwrap_err();
    assert!(error.to_string().contains("--fs ext4,ext4"), "{error}");
    let mut header = self::header();
    header.plan.schedule[0].workload = 9;
    assert!(matches!(store.create_run(&header, &owner()), Err(StoreError::BadPlan { .. })));
    assert_eq!(store.runs().unwrap(), []);
}

#[test]
fn selectors() {
    let (_dir, store) = new();
    let find = |text: &str| store.find(text);
    assert!(matches!(find("latest"), Err(StoreError::NoSuchRun { .. })));
    let mut header = header();
    let first = store.create_run(&header, &owner()).unwrap();
    header.uid = "0123ffffffffffff".to_owned();
    header.experiment = "other".to_owned();
    let second = store.create_run(&header, &owner()).unwrap();
    assert_eq!(find("latest").unwrap(), second);
    assert_eq!(find("1").unwrap(), first);
    assert_eq!(find("0123F").unwrap(), second);
    assert_eq!(find("0123456789abcdef").unwrap(), first);
    assert!(matches!(find("0123"), Err(StoreError::AmbiguousRun { count: 2, .. })));
    for nothing in ["3", "", "012", "zzzz", "-1", "' OR 1 --"] {
        assert!(matches!(find(nothing), Err(StoreError::NoSuchRun { .. })), "{nothing}");
    }
    assert_eq!(store.latest_of("other").unwrap(), None, "no record yet");
    store.put_record(second, &records::record(&header, 0)).unwrap();
    assert_eq!(store.latest_of("other").unwrap(), Some(second));
}

#[test]
fn costs_are_medians_of_complete_phases() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    for sequence in [0, 4] {
        store.put_record(run, &records::record(&header, sequence)).unwrap();
    }
    store.put_record(run, &odd(&header, 1)).unwrap();
    let costs = store.costs().unwrap();
    let create = costs.ops.iter().find(|c| c.op == Op::Create).unwrap();
    assert_eq!((create.fs.as_str(), create.device.as_str()), ("ext4", "loop"));
    assert_eq!(create.phases, 2);
    // One second for 5,000 files of 256 B.
    assert!((create.per_op_ns - SECOND_NS as f64 / 5000.0).abs() < 1e-6);
    assert!((create.per_byte_ns.unwrap() - SECOND_NS as f64 / 1_280_000.0).abs() < 1e-6);
    let delete = costs.ops.iter().find(|c| c.op == Op::Delete).unwrap();
    assert_eq!(delete.per_byte_ns, None);
    assert!(costs.ops.iter().all(|c| c.fs == "ext4"), "a failed trial is no estimate");
    assert_eq!(costs.overheads.len(), 1);
    assert!((costs.overheads[0].per_trial_ns - 2e9).abs() < 1.0, "5 s less three phases of 1 s");
}

#[test]
fn work_that_is_not_timed_is_no_overhead() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let mut record = records::record(&header, 0);
    let around = record.elapsed_ns - record.phases.len() as u64 * SECOND_NS;
    for (step, elapsed_ns) in [("make-dirs", 1), ("prepare", 10), ("prepare", 20), ("verify", 40)] {
        record.steps.push(StepTime { step: step.to_owned(), phase: None, elapsed_ns });
        record.elapsed_ns += elapsed_ns;
    }
    store.put_record(run, &record).unwrap();
    let expected = (around + 1) as f64;
    assert!((store.costs().unwrap().overheads[0].per_trial_ns - expected).abs() < 0.5);
}

#[test]
fn between_writes_there_is_one_file_and_a_copy_of_it_is_whole() {
    let (dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let record = records::record(&header, 0);
    store.put_record(run, &record).unwrap();
    let names: Vec<PathBuf> = std::fs::read_dir(dir.path().join("below"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(names, [store.path()]);
    let copy = dir.path().join("copy.db");
    std::fs::copy(store.path(), &copy).unwrap();
    let copy = Store::open_read_only(&copy).unwrap();
    assert_eq!(copy.records(run).unwrap(), [record]);
    let refused = copy.set_state(run, RunState::Done, None).unwrap_err();
    assert!(matches!(refused, StoreError::Access { .. }), "{refused}");
}

#[test]
fn two_writers_take_turns() {
    let (_dir, store) = new();
    let other = Store::open(store.path()).unwrap();
    let mut header = header();
    let first = store.create_run(&header, &owner()).unwrap();
    header.uid = "ffffffffffffffff".to_owned();
    let second = other.create_run(&header, &owner()).unwrap();
    let theirs = records::record(&header, 0);
    other.put_record(second, &theirs).unwrap();
    header.uid = "0123456789abcdef".to_owned();
    store.put_record(first, &records::record(&header, 0)).unwrap();
    assert_eq!(store.records(second).unwrap(), [theirs]);
}
