//! Phases with real calls in a temporary directory: what is left behind, what is reported.

use crate::support::SEED;
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::stamp::Stamp;
use fsarena_engine::{Job, Prepared, Root, run_phase};
use fsarena_model::seed::Seed;
use fsarena_model::work::{
    Dataset, DatasetState, Io, Op, Order, Phase, VerifyReport, WorkerReport,
};
use std::fs;
use std::path::Path;

fn run_in(dir: &Path, dataset: &Dataset, op: Op, order: Order, bs_bytes: u64) -> WorkerReport {
    let root = Root::open(dir).unwrap();
    let phase = Phase { order, ..Phase::new(op.name(), op, bs_bytes) };
    let seed = Seed::from_number(SEED);
    run_phase(&root, dataset, &phase, seed.child("phase", 1), seed, true).unwrap()
}

fn verify(dir: &Path, dataset: &Dataset, bs_bytes: u64) -> VerifyReport {
    crate::support::verify(dir, dataset, &DatasetState::default(), bs_bytes)
}

/// Ops at a set rate: the phase takes as long as the rate says, no op is left out, and the
/// latency of what waited for a slow op counts from when it was due.
#[test]
fn ops_at_a_set_rate_count_from_when_they_are_due() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(40, 300, 4);
    let mut state = DatasetState::default();
    let create = crate::support::phase(Op::Create, 4096, &Io::default());
    crate::support::run(dir.path(), &dataset, &mut state, &create);
    for threads in [1, 2] {
        let io = Io { threads, rate: Some(200), ..Io::default() };
        let stat = crate::support::phase(Op::Stat, 4096, &io);
        let report = crate::support::run(dir.path(), &dataset, &mut state, &stat);
        assert_eq!((&report.error, report.ops), (&None, 40));
        assert_eq!(report.latency.unwrap().count(), 40);
        // The last of a thread is due one interval before the end of its last one.
        let due_ns = (40 / u64::from(threads) - 1) * 5_000_000;
        let took_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
        assert!(took_ns >= due_ns && took_ns < due_ns + 1_000_000_000, "{threads}: {took_ns}");
    }
    // The first stat takes 30 ms: six more are due meanwhile, and each has waited less.
    let io = Io { rate: Some(200), ..Io::default() };
    let stat = crate::support::phase(Op::Stat, 4096, &io);
    let job = Job {
        state,
        ..Job::new(&dataset, &stat, Seed::from_number(SEED), Seed::from_number(SEED))
    };
    let root = Root::open(dir.path()).unwrap();
    let slow = std::sync::atomic::AtomicBool::new(true);
    let ask = |call| {
        if call == "stat" && slow.swap(false, std::sync::atomic::Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        Ok(())
    };
    let backend = crate::support::Asking { real: Sync::new(&root, &io), ask };
    let latency = Prepared::new(&job).unwrap().run(&backend).latency.unwrap();
    assert!(latency.max_ns >= 30_000_000, "{latency:?}");
    let waited = latency.buckets.iter().filter(|(lower_ns, _)| *lower_ns >= 4_000_000);
    let waited: u64 = waited.map(|(_, ops)| ops).sum();
    assert!(waited >= 6, "30, 25, 20, 15, 10 and 5 ms: {latency:?}");
}

#[test]
fn every_op_does_its_work_and_counts_it() {
    for (files, size_bytes, dirs, bs_bytes, order) in [
        (200, 256, 7, 4096, Order::Sequential),
        (200, 256, 7, 4096, Order::Random),
        (3, 10_000, 0, 4096, Order::Random),
        (2, 3_000_001, 0, 1 << 20, Order::Sequential),
        (5, 0, 2, 4096, Order::Sequential),
    ] {
        let dir = crate::support::temp_dir();
        let dataset = Dataset::uniform(files, size_bytes, dirs);
        for op in [Op::Create, Op::Read, Op::Stat, Op::BigRead, Op::Delete, Op::BigWrite] {
            let report = run_in(dir.path(), &dataset, op, order, bs_bytes);
            assert_eq!(report.error, None, "{op:?}");
            let phase = Phase::new("p", op, bs_bytes);
            assert_eq!(report.ops, phase.count(&dataset), "{op:?}");
            let bytes = if op.moves_bytes() { dataset.bytes() } else { 0 };
            assert_eq!(report.asked_bytes, bytes, "{op:?}");
            let latency = report.latency.unwrap();
            assert_eq!(latency.count(), report.ops);
            let elapsed = report.returned_monotonic_ns - report.start_monotonic_ns;
            assert!(latency.sum_ns as f64 <= elapsed as f64 * 1.01, "chained within the phase");
            assert!(report.durable_monotonic_ns.unwrap() >= report.returned_monotonic_ns);
            if op.creates() {
                let report = verify(dir.path(), &dataset, 5000);
                assert_eq!((report.files, report.bad_files), (files, 0), "{report:?}");
                assert_eq!(report.bytes, dataset.bytes());
            }
        }
    }
}

#[test]
fn files_carry_names_mode_and_stamps_of_the_dataset() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(10, 700, 3);
    run_in(dir.path(), &dataset, Op::Create, Order::Sequential, 4096);
    let path = dir.path().join("d00002/f00000009");
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 700);
    let stamp = Stamp::decode(&bytes[512..]).unwrap();
    assert_eq!((stamp.file, stamp.offset), (9, 512));
    assert_eq!(stamp.dataset_tag, Seed::from_number(SEED).tag());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777 & !0o022, 0o644);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn a_failure_in_the_middle_names_op_call_and_path() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(10, 256, 0);
    fs::write(dir.path().join("f00000004"), "in the way").unwrap();
    let report = run_in(dir.path(), &dataset, Op::Create, Order::Sequential, 4096);
    assert_eq!((report.ops, report.asked_bytes), (4, 4 * 256));
    let error = report.error.unwrap();
    assert_eq!((error.op_index, error.call.as_str()), (4, "open"));
    assert_eq!((error.path.as_str(), error.errno), ("f00000004", 17));
    assert!(error.text.contains("exists"), "{}", error.text);
    assert!(report.durable_monotonic_ns.is_some(), "what was done is made durable");
    assert_eq!(report.latency.unwrap().count(), 4);
    let missing = run_in(dir.path(), &dataset, Op::Delete, Order::Sequential, 4096).error.unwrap();
    assert_eq!((missing.call.as_str(), missing.errno), ("unlink", 2));
}

#[test]
fn a_short_read_is_an_error_without_errno() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(3, 256, 0);
    run_in(dir.path(), &dataset, Op::Create, Order::Sequential, 4096);
    fs::write(dir.path().join("f00000001"), "short").unwrap();
    for op in [Op::Read, Op::BigRead] {
        let error = run_in(dir.path(), &dataset, op, Order::Sequential, 4096).error.unwrap();
        assert_eq!((error.op_index, error.call.as_str(), error.errno), (1, "read", 0), "{op:?}");
    }
    assert!(fs::read_dir("/proc/self/fd").unwrap().count() < 100, "files are closed after errors");
}

#[test]
fn what_cannot_be_prepared_is_refused_with_a_remedy() {
    let dir = crate::support::temp_dir();
    let missing = Root::open(&dir.path().join("nowhere")).unwrap_err();
    assert!(missing.to_string().contains("nowhere"), "{missing}");
    let root = Root::open(dir.path()).unwrap();
    let seed = Seed::from_number(1);
    let mut phase = Phase::new("r", Op::Read, 0);
    let dataset = Dataset::uniform(1, 1, 0);
    let error = run_phase(&root, &dataset, &phase, seed, seed, true).unwrap_err();
    assert!(error.to_string().contains("bs_bytes"), "{error}");
    phase.bs_bytes = 4096;
    let dataset = Dataset::uniform(1 << 40, 1, 0);
    let error = run_phase(&root, &dataset, &phase, seed, seed, true).unwrap_err();
    assert!(error.to_string().contains("use fewer"), "{error}");
    fs::write(dir.path().join("d00000"), "a file").unwrap();
    phase.op = Op::Create;
    let dataset = Dataset::uniform(1, 1, 1);
    let report = run_phase(&root, &dataset, &phase, seed, seed, true).unwrap();
    assert_eq!(report.error.unwrap().errno, 20, "not a directory");
    phase.io = Io { iodepth: 4, ..Io::default() };
    let error = run_phase(&root, &dataset, &phase, seed, seed, true).unwrap_err();
    assert!(error.to_string().contains("io_uring"), "{error}");
}

/// Each way of being wrong is found in its file and nowhere else.
#[test]
fn verify_finds_every_kind_of_damage() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(20, 10_000, 2);
    run_in(dir.path(), &dataset, Op::Create, Order::Sequential, 4096);
    let path = |file: u32| dir.path().join(format!("d{:05}/f{file:08}", file / 10));
    let change = |file: u32, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(path(file)).unwrap();
        change(&mut bytes);
        fs::write(path(file), bytes).unwrap();
    };
    change(1, &|bytes| bytes[5_000] ^= 1);
    change(3, &|bytes| bytes[9_999] ^= 0x80);
    change(5, &|bytes| bytes.truncate(4_999));
    change(7, &|bytes| bytes.push(0));
    fs::remove_file(path(9)).unwrap();
    fs::copy(path(12), path(11)).unwrap();
    change(13, &|bytes| bytes.clear());
    change(15, &|bytes| bytes.copy_within(512..1024, 2048));
    for bs_bytes in [100, 4096, 1 << 20] {
        let report = verify(dir.path(), &dataset, bs_bytes);
        assert_eq!((report.files, report.bad_files), (12, 8), "{report:#?}");
        assert_eq!(report.bytes, 12 * 10_000);
        let wanted = [
            "d00000/f00000001: byte 5000 is 0x",
            "d00000/f00000003: byte 9999 is 0x",
            "d00000/f00000005: ends at byte 4999 of 10000",
            "d00000/f00000007: is longer than 10000 bytes",
            "d00000/f00000009: is missing",
            "d00001/f00000011: byte 16 is 0x",
            "d00001/f00000013: ends at byte 0 of 10000",
            "d00001/f00000015: byte 2073 is 0x",
        ];
        for (example, wanted) in report.examples.iter().zip(wanted) {
            assert!(example.starts_with(wanted), "{example} instead of {wanted}");
        }
        assert!(report.examples[5].contains("belongs to file 12 offset 0 of this dataset"));
    }
}

#[test]
fn verify_keeps_a_few_examples_only() {
    let dir = crate::support::temp_dir();
    let report = verify(dir.path(), &Dataset::uniform(100, 1, 0), 4096);
    assert_eq!((report.bad_files, report.examples.len()), (100, 16));
}
