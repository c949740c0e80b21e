//! Phases through io_uring: every op at several depths, contents, policies, failures.

use crate::alone;
use crate::full::{SmallTmpfs, descriptors};
use crate::support::{phase, run, seed, verify};
use fsarena_engine::{EngineError, Job, Prepared, Root};
use fsarena_model::work::{
    Backend, Dataset, DatasetState, Fsync, Io, Op, Order, Phase, Sharing, WorkerReport,
};
use rustix::io::Errno;
use std::fs;
use std::path::Path;

fn ring(iodepth: u32) -> Io {
    Io { backend: Backend::IoUring, iodepth, ..Io::default() }
}

/// Whether this kernel lets us have a ring; says so where it does not.
fn has_uring() -> bool {
    match fsarena_engine::uring::check(Op::Create, &ring(1)) {
        Ok(()) => true,
        Err(error) => {
            println!("not run: {error}");
            false
        }
    }
}

/// A directory on tmpfs and one on a local file system.
fn places() -> Vec<tempfile::TempDir> {
    ["/dev/shm", "/var/tmp"]
        .iter()
        .filter_map(|place| tempfile::Builder::new().prefix("fsarena-").tempdir_in(place).ok())
        .collect()
}

fn good(report: &WorkerReport, phase: &Phase, dataset: &Dataset) {
    assert_eq!((&report.error, report.ops), (&None, phase.count(dataset)), "{phase:?}");
    assert_eq!(report.latency.as_ref().unwrap().count(), report.ops, "{phase:?}");
    assert!(report.durable_monotonic_ns.unwrap() >= report.returned_monotonic_ns);
}

/// All ops on files and names, in an order in which each finds what it needs; contents are checked
/// after each that writes.
fn life(dir: &Path, dataset: &Dataset, order: Order, bs_bytes: u64, io: &Io) {
    let mut state = DatasetState::default();
    let ops = [
        Op::Mkdir,
        Op::Create,
        Op::Stat,
        Op::Read,
        Op::Overwrite,
        Op::Append,
        Op::Read,
        Op::Rename,
        Op::BigRead,
        Op::BigOverwrite,
        Op::Rename,
        Op::Delete,
        Op::BigWrite,
        Op::Delete,
        Op::Rmdir,
    ];
    for op in ops {
        if dataset.dirs == 0 && op.is_about_dirs() {
            continue;
        }
        // A file that is longer now: big ops go on in calls of their own number.
        let order = if op.is_about_dirs() { Order::Sequential } else { order };
        let phase = Phase { order, ..phase(op, bs_bytes, io) };
        if op == Op::BigWrite {
            state = DatasetState::default();
        }
        let before = state;
        let report = run(dir, dataset, &mut state, &phase);
        assert_eq!(report.error, None, "{phase:?}");
        if before.appended_bytes == 0 || !op.is_big() {
            good(&report, &phase, dataset);
        }
        if op.writes() {
            let found = verify(dir, dataset, &state, 5000);
            assert_eq!((found.files, found.bad_files), (dataset.files, 0), "{op:?} {found:?}");
        }
    }
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "nothing is left");
}

#[test]
fn every_op_does_its_work_at_every_depth() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    for place in places() {
        let before = descriptors();
        for iodepth in [1, 8] {
            for order in [Order::Sequential, Order::Random] {
                for (files, size_bytes, dirs, bs_bytes) in [
                    (60, 256, 7, 4096),
                    (60, 0, 3, 4096),
                    (9, 10_000, 0, 4096),
                    (8, 700_001, 2, 65_536),
                ] {
                    let dataset = Dataset::uniform(files, size_bytes, dirs);
                    life(place.path(), &dataset, order, bs_bytes, &ring(iodepth));
                }
            }
            let deep = Dataset { depth: 3, ..Dataset::uniform(40, 700, 20) };
            life(place.path(), &deep, Order::Sequential, 512, &ring(iodepth));
        }
        assert_eq!(descriptors(), before, "no descriptor is left open");
    }
}

#[test]
fn every_policy_and_threads() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let before = descriptors();
    let dataset = Dataset { depth: 2, ..Dataset::uniform(24, 3000, 4) };
    for fsync in Fsync::ALL {
        for iodepth in [1, 8] {
            life(dir.path(), &dataset, Order::Sequential, 1000, &Io { fsync, ..ring(iodepth) });
        }
    }
    let flat = Dataset::uniform(40, 3000, 4);
    let mut state = DatasetState::default();
    for sharing in [Sharing::Own, Sharing::Shared] {
        let io = Io { threads: 3, sharing, fsync: Fsync::Dir, ..ring(4) };
        for op in [Op::Create, Op::Read, Op::BigOverwrite, Op::Overwrite, Op::BigRead, Op::Delete] {
            let phase = phase(op, 1000, &io);
            let report = run(dir.path(), &flat, &mut state, &phase);
            good(&report, &phase, &flat);
            assert_eq!(report.threads.len(), 3);
            if op.writes() {
                assert_eq!(verify(dir.path(), &flat, &state, 4096).files, 40);
            }
        }
        state = DatasetState::default();
    }
    assert_eq!(descriptors(), before, "no descriptor is left open");
}

#[test]
fn random_blocks_are_each_taken_once_and_hold_what_they_shall() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    for place in places() {
        let dataset = Dataset::uniform(3, 40 * 4096 + 100, 0);
        for (iodepth, direct) in [(1, false), (8, false), (1, true), (8, true)] {
            let mut state = DatasetState::default();
            let io = Io { direct, ..ring(iodepth) };
            run(place.path(), &dataset, &mut state, &phase(Op::BigWrite, 65_536, &Io::default()));
            for (op, fsync) in [
                (Op::RandRead, Fsync::None),
                (Op::RandWrite, Fsync::Op),
                (Op::RandRw, Fsync::File),
                (Op::RandTrim, Fsync::Op),
                (Op::BigRead, Fsync::None),
            ] {
                let phase = phase(op, 4096, &Io { fsync, ..io.clone() });
                let report = run(place.path(), &dataset, &mut state, &phase);
                good(&report, &phase, &dataset);
                if op == Op::RandWrite {
                    let all = 2;
                    let newest = DatasetState { newest_version: all, ..state };
                    assert_eq!(verify(place.path(), &dataset, &newest, 4096).bad_files, 0);
                }
                if op == Op::RandRw {
                    let written = report.asked_written_bytes.unwrap();
                    assert!(written > 0 && written < report.asked_bytes, "{written}");
                    let writes = report.write_latency.unwrap().count();
                    assert_eq!(writes * 4096, written);
                    assert_eq!(verify(place.path(), &dataset, &state, 4096).bad_files, 0);
                }
            }
            let three = Io { iodepth: iodepth.min(3), ..io };
            run(place.path(), &dataset, &mut state, &phase(Op::Delete, 4096, &three));
        }
    }
}

#[test]
fn a_failure_names_op_call_and_path_and_nothing_stays_open() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    let dataset = Dataset::uniform(50, 3000, 2);
    for iodepth in [1, 8] {
        let dir = tempfile::tempdir().unwrap();
        let before = descriptors();
        let mut state = DatasetState::default();
        run(dir.path(), &dataset, &mut state, &phase(Op::Create, 1000, &ring(iodepth)));
        let path = "d00000/f00000017";
        fs::remove_file(dir.path().join(path)).unwrap();
        for op in [Op::Read, Op::Stat, Op::Overwrite, Op::BigRead] {
            let mut state = state;
            let report = run(dir.path(), &dataset, &mut state, &phase(op, 1000, &ring(iodepth)));
            let error = report.error.unwrap();
            let call = if op == Op::Stat { "stat" } else { "open" };
            let number = if op == Op::BigRead { 17 * 3 } else { 17 };
            assert_eq!((error.op_index, error.call.as_str()), (number, call), "{op:?}");
            assert_eq!((error.path.as_str(), error.errno), (path, Errno::NOENT.raw_os_error()));
            assert_eq!(report.latency.unwrap().count(), report.ops);
            assert!(report.ops >= number && report.ops < number + u64::from(iodepth) * 3);
        }
        // One that is too short.
        fs::write(dir.path().join(path), [1; 2500]).unwrap();
        for op in [Op::Read, Op::BigRead] {
            let mut state = state;
            let report = run(dir.path(), &dataset, &mut state, &phase(op, 1000, &ring(iodepth)));
            let error = report.error.unwrap();
            assert_eq!((error.call.as_str(), error.errno), ("read", 0), "{op:?}");
            assert_eq!(
                (error.path.as_str(), &*error.text),
                (path, "fewer bytes than the file should hold")
            );
        }
        assert_eq!(descriptors(), before, "no descriptor is left open");
    }
}

#[test]
fn loop_a_full_file_system_ends_the_phase() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    for iodepth in [1, 8] {
        let Some(small) = SmallTmpfs::mount(1 << 20) else { return };
        let before = descriptors();
        for (op, dataset) in [
            (Op::Create, Dataset::uniform(500, 8192, 0)),
            (Op::BigWrite, Dataset::uniform(1, 4 << 20, 0)),
        ] {
            let mut state = DatasetState::default();
            let report = run(small.path(), &dataset, &mut state, &phase(op, 8192, &ring(iodepth)));
            let error = report.error.unwrap();
            assert_eq!(error.call, "write", "{op:?} {error:?}");
            assert_eq!(error.errno, Errno::NOSPC.raw_os_error(), "{error:?}");
            assert!(report.ops > 50 && report.asked_bytes <= 1 << 20, "{}", report.ops);
            for file in fs::read_dir(small.path()).unwrap() {
                fs::remove_file(file.unwrap().path()).unwrap();
            }
        }
        assert_eq!(descriptors(), before, "no descriptor is left open");
    }
}

#[test]
fn what_no_kernel_can_do_is_refused() {
    let dataset = Dataset::uniform(6000, 100, 2);
    let refused = |op, io: &Io| {
        let phase = phase(op, 4096, io);
        Prepared::new(&Job::new(&dataset, &phase, seed(), seed())).unwrap_err()
    };
    let EngineError::Uring { source, .. } = refused(Op::List, &ring(1)) else { panic!() };
    assert_eq!(
        source.to_string(),
        "io_uring: there is no opcode for list in any kernel; use backend = \"sync\""
    );
    let text = refused(Op::Create, &ring(5000)).to_string();
    assert!(text.contains("iodepth 5000 is not within 1 to 4096"), "{text}");
}

/// A second run of a prepared phase makes a new ring: the same files again.
#[test]
fn a_phase_runs_twice() {
    let _alone = alone();
    if !has_uring() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::uniform(20, 256, 1);
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::Create, 4096, &ring(4)));
    let phase = phase(Op::Read, 4096, &ring(4));
    let mut prepared = Prepared::new(&Job::new(&dataset, &phase, seed(), seed())).unwrap();
    let root = Root::open(dir.path()).unwrap();
    for turn in 1..=2 {
        let report = prepared.run_on(&root);
        assert_eq!((report.error, report.ops), (None, 20));
        assert_eq!(report.latency.unwrap().count(), 20 * turn);
    }
}
