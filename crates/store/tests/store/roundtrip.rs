//! What is stored comes back as it was; what does not belong is refused.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::dataset::Distribution;
use fsarena_model::device::{QueueLevel, SsdPolicy, WriteCache};
use fsarena_model::factor::{self, ActsOn, Factor, FactorInfo, LevelError};
use fsarena_model::job::Reflink;
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::record::{Drained, MemoryRecord, Notice, Outcome, StepTime, TrialRecord};
use fsarena_model::run::{NotRun, RunHeader, RunSession, RunState};
use fsarena_model::work::{Op, OpError, VerifyReport};
use fsarena_store::{Owner, RunId, Store, StoreError};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};
use std::collections::BTreeMap;
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
        thread: None,
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
    store.adopt(run, &next, |_| true).unwrap();
    assert_eq!(store.running().unwrap()[0].2, next);
    let error = store.set_state(RunId(99), RunState::Done, None).unwrap_err();
    assert!(error.to_string().contains("fsarena list"), "{error}");
}

#[test]
fn a_slot_takes_one_record_that_was_not_interrupted() {
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
    let several = find("0123").unwrap_err().to_string();
    let named = "fits 2 RUNs in";
    assert!(several.contains(named) && several.contains("1 (0123456789abcdef), 2 ("), "{several}");
    header.uid = "32024a5500000000".to_owned();
    let third = store.create_run(&header, &owner()).unwrap();
    assert_eq!([find("32").unwrap(), find("32024a55").unwrap()], [third, third], "digits alone");
    header.uid = "2200000000000000".to_owned();
    let fourth = store.create_run(&header, &owner()).unwrap();
    assert_eq!([find("2").unwrap(), find("22").unwrap()], [second, fourth], "a number comes first");
    for nothing in ["9", "0", "", "zzzz", "-1", "' OR 1 --"] {
        assert!(matches!(find(nothing), Err(StoreError::NoSuchRun { .. })), "{nothing}");
    }
}

#[test]
fn runs_are_deleted_whole_and_never_while_they_run() {
    let (_dir, store) = new();
    let mut header = header();
    let first = store.create_run(&header, &owner()).unwrap();
    store.put_record(first, &records::record(&header, 0)).unwrap();
    header.uid = "f".repeat(16);
    let second = store.create_run(&header, &owner()).unwrap();
    store.set_state(first, RunState::Done, None).unwrap();
    let refused = store.delete_runs(&[first, second]).unwrap_err();
    assert!(matches!(refused, StoreError::StillRunning { run, .. } if run == second), "{refused}");
    assert_eq!(store.runs().unwrap().len(), 2, "all of them or none");
    let refused = store.delete_runs(&[first, RunId(9)]).unwrap_err();
    assert!(matches!(refused, StoreError::NoSuchRun { .. }), "{refused}");
    store.set_state(second, RunState::Interrupted, None).unwrap();
    store.delete_runs(&[second]).unwrap();
    store.delete_runs(&[first]).unwrap();
    store.shrink().unwrap();
    assert_eq!(store.runs().unwrap(), []);
    let rows = rusqlite::Connection::open(store.path()).unwrap();
    for table in ["trial", "score", "slot", "contender", "workload", "level", "question"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let left: i64 = rows.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert_eq!(store.create_run(&header, &owner()).unwrap(), RunId(3), "no number comes twice");
}

/// What is left of a RUN is used again, and can be read nowhere.
#[test]
fn a_file_shrinks_where_a_quarter_of_it_is_free() {
    let (_dir, store) = new();
    let mut header = header();
    let mut runs = Vec::new();
    for number in 0..20 {
        header.uid = format!("{number:016x}");
        let run = store.create_run(&header, &owner()).unwrap();
        let mut record = records::record(&header, 0);
        record.notices = odd(&header, 0).notices;
        record.notices[0].text = format!("only RUN {number} says this. ").repeat(1000);
        store.put_record(run, &record).unwrap();
        store.set_state(run, RunState::Done, None).unwrap();
        runs.push(run);
    }
    let bytes = || std::fs::read(store.path()).unwrap();
    let says = |text: &str| bytes().windows(text.len()).any(|part| part == text.as_bytes());
    let before = bytes().len();
    assert!(says("only RUN 7 says this."));
    store.delete_runs(&runs[7..8]).unwrap();
    store.shrink().unwrap();
    assert_eq!(bytes().len(), before);
    assert!(!says("only RUN 7 says this."));
    store.delete_runs(&runs[10..]).unwrap();
    store.shrink().unwrap();
    assert!(bytes().len() < before * 3 / 4, "{} of {before}", bytes().len());
    assert_eq!(store.runs().unwrap().len(), 9);
}

#[test]
fn of_several_records_all_are_stored_or_none() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let mut all: Vec<TrialRecord> = (0..3).map(|at| records::record(&header, at)).collect();
    all[2].key.sequence = 999;
    let refused = store.put_records(run, &all).unwrap_err();
    assert!(matches!(refused, StoreError::NotInPlan { sequence: 999, .. }), "{refused}");
    assert_eq!(store.records(run).unwrap(), []);
    store.put_records(run, &all[..2]).unwrap();
    assert_eq!(store.records(run).unwrap(), all[..2]);
    let refused = store.put_records(run, &all[1..2]).unwrap_err();
    assert!(matches!(refused, StoreError::AlreadyRecorded { sequence: 1, .. }), "{refused}");
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
fn a_phase_at_a_set_rate_says_nothing_of_what_an_op_costs() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let mut record = records::record(&header, 0);
    record.phases[0].io.rate = Some(100);
    let paced = record.phases[0].op;
    store.put_record(run, &record).unwrap();
    let costs = store.costs().unwrap();
    assert!(!costs.ops.is_empty() && costs.ops.iter().all(|cost| cost.op != paced), "{costs:?}");
}

#[test]
fn lengths_of_trials_are_kept_by_work_and_levels() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    for sequence in [0, 4] {
        store.put_record(run, &records::record(&header, sequence)).unwrap();
    }
    store.put_record(run, &odd(&header, 1)).unwrap();
    let past = store.past_work().unwrap();
    assert!(past.iter().map(|work| work.trials.len()).sum::<usize>() == 2, "{past:?}");
    for work in &past {
        assert!(header.plan.workloads.contains(&work.workload));
        assert!(header.plan.contenders.iter().any(|one| one.levels == work.levels));
    }
    let record = records::record(&header, 0);
    let trial = &past.last().unwrap().trials.last().unwrap();
    assert_eq!(trial.steps, record.steps);
    assert!(trial.whole_ns >= record.elapsed_ns);
}

#[test]
fn starts_are_of_runs_with_trials_and_the_latest_is_first() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let started_unix_ns = header.created_unix_ns + 3 * SECOND_NS;
    let session = RunSession { started_unix_ns, ..records::session("boot", 0) };
    store.put_session(run, &session).unwrap();
    assert!(store.past_starts().unwrap().is_empty(), "it has no trial");
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let starts = store.past_starts().unwrap();
    assert_eq!(starts.iter().map(|one| one.elapsed_ns).collect::<Vec<_>>(), [3 * SECOND_NS]);
    let plan = &header.plan;
    let is_run = |at: &usize| plan.schedule.iter().any(|slot| slot.contender == *at);
    let run: Vec<usize> = (0..plan.contenders.len()).filter(is_run).collect();
    assert!(run.len() < plan.contenders.len(), "one is not run");
    let levels: Vec<_> = run.iter().map(|&at| plan.contenders[at].levels.clone()).collect();
    assert_eq!((&starts[0].levels, &starts[0].workloads), (&levels, &plan.workloads));
}

#[test]
fn work_that_is_not_timed_is_no_overhead() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let mut record = records::record(&header, 0);
    let around = record.elapsed_ns - record.phases.len() as u64 * SECOND_NS;
    let untimed = [("prepare", 10), ("prepare", 20), ("stage", 80), ("hook", 160), ("verify", 40)];
    for (step, elapsed_ns) in [("make-dirs", 1)].into_iter().chain(untimed) {
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

/// Every kind of device and every new level, threads, programs and what was done before mkfs.
#[test]
fn the_whole_engine_and_real_devices_come_back() {
    let (_dir, store) = new();
    let mut contenders = Vec::new();
    let size_bytes = 1 << 30;
    let memory = MemoryDevice::all().map(|kind| DeviceLevel::Memory { kind, size_bytes });
    let others = [
        DeviceLevel::Ram { size_bytes },
        DeviceLevel::Vdisk { size_bytes: 1 << 30, model: "hdd-2007".to_owned() },
        DeviceLevel::Block { path: "/dev/sdz".into(), size_bytes: 1 << 40 },
        DeviceLevel::Several { members: vec![DeviceLevel::Loop { size_bytes: 1 << 30 }; 2] },
        DeviceLevel::Directory { path: "/a".into() },
    ];
    for (at, device) in memory.chain(others).enumerate() {
        let mut contender = contender(&format!("xfs {at}"), "xfs", 1);
        contender.levels.device = device;
        contender.levels.ssd = SsdPolicy::ALL[at % 3];
        contender.levels.queue = QueueLevel {
            scheduler: Some("kyber".to_owned()),
            read_ahead_bytes: Some(4096),
            write_cache: Some(WriteCache::ALL[at % 2]),
        };
        contenders.push(contender);
    }
    let mut metadata = records::metadata();
    metadata.dataset.depth = 2;
    metadata.dataset.name_bytes = Some(255);
    metadata.dataset.sizes = Some(Distribution::Weighted { values: vec![(0, 1)] });
    let works = vec![metadata, records::database(), records::fio_job()];
    let header = records::header(contenders, works, 1);
    let run = store.create_run(&header, &owner()).unwrap();
    let mut stored = Vec::new();
    for sequence in 0..header.plan.schedule.len() as u32 {
        let mut record = records::record(&header, sequence);
        record.conditioning = Some(records::preconditioned(sequence % 2 == 0));
        store.put_record(run, &record).unwrap();
        stored.push(record);
    }
    assert_eq!(store.header(run).unwrap(), header);
    assert_eq!(store.records(run).unwrap(), stored);
    let kinds = ["block", "brd", "directory", "null-blk", "ram", "several", "vdisk", "zram"];
    let costs = store.costs().unwrap();
    assert_eq!(costs.overheads.iter().map(|row| row.device.as_str()).collect::<Vec<_>>(), kinds);
    let list = costs.ops.iter().find(|row| row.op == Op::List).unwrap();
    assert_eq!(list.phases, 1);
    assert!(costs.ops.iter().all(|row| row.op == Op::List), "the others had threads or fsync");

    let raw = rusqlite::Connection::open(store.path()).unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM thread"), 8 * (4 + 2));
    assert_eq!(number("SELECT count(*) FROM program WHERE own_ns = 300000000"), 8);
    let mixed = "SELECT count(*) FROM measured WHERE backend = 'io_uring' AND direct = 1
                 AND iodepth = 32 AND bs_bytes = 4096 AND op = 'randrw'";
    assert_eq!(number(mixed), 8);
    let threaded = "SELECT count(*) FROM measured WHERE threads = 4 AND sharing = 'shared'
                    AND fsync = 'op' AND first_done_ns = 400000000 AND last_done_ns = 500000000";
    assert_eq!(number(threaded), 8);
    let steady = "SELECT count(*) FROM trial
                  WHERE json_extract(conditioning, '$.steady') AND conditioning IS NOT NULL";
    assert_eq!(number(steady), 12);
    let work = "SELECT depth * 1000 + name_bytes FROM workload WHERE sizes IS NOT NULL AND fio = 0";
    assert_eq!(number(work), 2255);
}

/// A factor that nothing here knows by name, as a later one will be.
struct Kernel;

impl Factor for Kernel {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "A kernel.",
            example: "\"6.12\"",
            default_level: "host",
            ..FactorInfo::new("kernel_of_test", ActsOn::Place)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        Ok(text.to_owned())
    }
}

#[test]
fn a_further_factor_is_a_row_and_no_column() {
    factor::register(&Kernel);
    let (_dir, store) = new();
    let mut other = contender("ext4 6.12", "ext4", 1);
    Kernel.set(&mut other.levels, "6.12");
    let contenders = vec![contender("ext4", "ext4", 1), other];
    let header = records::header(contenders, vec![small_files()], 1);
    store.create_run(&header, &owner()).unwrap();
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    for (at, contender) in header.plan.contenders.iter().enumerate() {
        let sql = "SELECT factor, value FROM level JOIN contender ON contender.id = contender_id
                   WHERE position = ?";
        let mut rows = raw.prepare(sql).unwrap();
        let rows = rows.query_map([at as i64], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let stored: BTreeMap<String, String> = rows.collect::<Result<_, _>>().unwrap();
        let factors = factor::all();
        assert_eq!(stored.len(), factors.len());
        for factor in factors {
            assert_eq!(stored[factor.key()], factor.get(&contender.levels));
        }
        assert_eq!(stored[Kernel.key()], ["host", "6.12"][at]);
    }
}

#[test]
fn what_was_interrupted_is_done_again() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let first = records::record(&header, 0);
    let mut broken = records::record(&header, 1);
    broken.outcome = Outcome::Interrupted;
    broken.phases.truncate(1);
    let failed = odd(&header, 2);
    for record in [&first, &broken, &failed] {
        store.put_record(run, record).unwrap();
    }
    assert_eq!(store.records(run).unwrap(), [first.clone(), broken.clone(), failed.clone()]);

    let again = TrialRecord { started_unix_ns: 7, ..broken.clone() };
    store.put_record(run, &again).unwrap();
    let whole = records::record(&header, 1);
    store.put_record(run, &whole).unwrap();
    assert_eq!(store.records(run).unwrap(), [first.clone(), whole.clone(), failed.clone()]);
    let attempts: Vec<(u32, TrialRecord)> =
        vec![(1, first), (1, broken), (2, again), (3, whole.clone()), (1, failed)];
    assert_eq!(store.attempts(run).unwrap(), attempts);
    assert_eq!(store.run(run).unwrap().trials_done, 3, "attempts are not trials");
    for sequence in 0..3 {
        let refused = store.put_record(run, &records::record(&header, sequence)).unwrap_err();
        assert!(matches!(refused, StoreError::AlreadyRecorded { .. }), "{refused}");
    }
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    let seen: i64 = raw
        .query_row("SELECT count(*) FROM measured WHERE trial = 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(seen, whole.phases.len() as i64, "the view has the latest attempt only");
}

#[test]
fn sessions_are_counted_and_only_the_dead_are_succeeded() {
    let (_dir, store) = new();
    let header = header();
    let run = store.create_run(&header, &owner()).unwrap();
    let sessions = [records::session("b", 0), records::session("c", 5)];
    store.put_session(run, &sessions[0]).unwrap();
    assert_eq!(store.resumable().unwrap(), [], "it is running");
    let next = Owner { pid: 5, start_ticks: 6, boot_id: "c".to_owned() };
    let refused = store.adopt(run, &next, |of| *of == owner()).unwrap_err();
    assert!(matches!(refused, StoreError::StillRunning { pid: 4711, .. }), "{refused}");
    assert_eq!(store.running().unwrap()[0].2, owner(), "nothing was changed");
    store.adopt(run, &next, |_| false).unwrap();
    store.interrupt_if_running(run, &owner(), "its process died").unwrap();
    assert_eq!(store.run(run).unwrap().state, RunState::Running, "it has another owner by now");
    store.interrupt_if_running(run, &next, "its process died").unwrap();
    assert_eq!(store.run(run).unwrap().state, RunState::Interrupted);
    store.adopt(run, &next, |_| false).unwrap();
    store.put_session(run, &sessions[1]).unwrap();
    assert_eq!(store.sessions(run).unwrap(), sessions);
    for state in [RunState::Interrupted, RunState::Failed] {
        store.set_state(run, state, Some("why")).unwrap();
        assert_eq!(store.resumable().unwrap().len(), 1);
    }
    store.adopt(run, &owner(), |_| true).unwrap();
    let row = store.run(run).unwrap();
    assert_eq!((row.state, row.note), (RunState::Running, None));
    store.set_state(run, RunState::Done, None).unwrap();
    let refused = store.adopt(run, &next, |_| false).unwrap_err();
    assert!(matches!(refused, StoreError::Complete { .. }), "{refused}");
    assert_eq!(store.resumable().unwrap(), []);
    for error in [
        store.adopt(RunId(9), &next, |_| false).unwrap_err(),
        store.put_session(RunId(9), &sessions[0]).unwrap_err(),
        store.sessions(RunId(9)).unwrap_err(),
        store.attempts(RunId(9)).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    }
}

/// Sources, jobs, programs and the new levels, in the record and in what can be asked in SQL.
#[test]
fn work_of_programs_comes_back() {
    let (_dir, store) = new();
    let mut contenders = Vec::new();
    for (cache, reflink) in [
        (Cache::ColdStart, Reflink::Never),
        (Cache::Warm, Reflink::Auto),
        (Cache::Cold, Reflink::Always),
    ] {
        let mut contender = contender(&format!("xfs {cache:?}"), "xfs", 1);
        contender.levels.cache = cache;
        contender.levels.reflink = reflink;
        contenders.push(contender);
    }
    let header = records::header(contenders, vec![records::real_work(), records::own_work()], 1);
    let run = store.create_run(&header, &owner()).unwrap();
    let mut stored = Vec::new();
    for sequence in 0..6 {
        let mut record = records::record(&header, sequence);
        // As it was asked for; what was proved is another column.
        record.phases[0].cache.asked = Cache::ColdStart;
        store.put_record(run, &record).unwrap();
        stored.push(record);
    }
    assert_eq!(store.header(run).unwrap(), header);
    assert_eq!(store.records(run).unwrap(), stored);

    let raw = rusqlite::Connection::open(store.path()).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut rows = raw.prepare(sql).unwrap();
        let all = rows.query_map([], |row| row.get(0)).unwrap();
        all.collect::<Result<_, _>>().unwrap()
    };
    for (cache, reflink) in [("cold-start", "never"), ("warm", "auto"), ("cold", "always")] {
        let sql = format!(
            "SELECT label FROM contender JOIN level AS one ON one.contender_id = contender.id
             JOIN level AS two ON two.contender_id = contender.id
             WHERE one.factor = 'cache' AND one.value = '{cache}'
             AND two.factor = 'reflink' AND two.value = '{reflink}'"
        );
        assert_eq!(rows(&sql).len(), 1, "{cache} {reflink}");
    }
    let sources = "SELECT concat_ws(' ', source, source_origin, source_path, source_place,
                   source_archive, json_extract(source_contents, '$.bytes'))
                   FROM workload ORDER BY position";
    let expected =
        ["tree-20m made same gzip 20000000", "/srv/our/tree own /srv/our/tree memory 20000000"];
    assert_eq!(rows(sources), expected);
    let jobs = "SELECT concat_ws(' ', job, job_by, job_of, job_compression, job_compilers,
                substr(job_command, 1, 4), coalesce(asked_written_bytes, '-'), bs_bytes)
                FROM phase JOIN slot ON slot.id = phase.trial_id
                WHERE slot.sequence IN (0, 3) ORDER BY phase.id";
    let expected = [
        "untar program data gzip 20000000",
        "copy program untar 20000000",
        "copy engine untar 20000000",
        "archive program copy bzip2 4000000",
        "delete program copy 0",
        "flac program data 10000000",
        "ogg program data 10000000",
        "compile program data 2 5000000",
        "command program data grep 0",
    ];
    assert_eq!(rows(jobs), expected);
    let tools = "SELECT group_concat(DISTINCT path) FROM tool GROUP BY position ORDER BY position";
    let found = rows(tools);
    assert_eq!(found.len(), 2);
    assert!(found[0].contains("/usr/bin/tar") && found[1].contains("/usr/bin/gzip"), "{found:?}");
    let view = "SELECT DISTINCT job_by || ' ' || source || ' ' || reflink FROM measured
                WHERE job = 'copy' AND cache_state = 'cold' ORDER BY 1 LIMIT 1";
    assert_eq!(rows(view), ["engine tree-20m always"]);
    assert_eq!(rows("SELECT DISTINCT cache_asked FROM phase ORDER BY 1"), ["cold", "cold-start"]);
    assert_eq!(store.costs().unwrap().ops, [], "a job is no op of the engine");
}
