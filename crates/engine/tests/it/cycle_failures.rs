//! Errors in the middle of a cycle: the phase ends there and keeps what its cycles did.

use crate::full::SmallTmpfs;
use crate::support::cycles::{CycleFixture, cycle_reports, cycles};
use crate::support::{Asking, seed};
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::root::make_dirs;
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun};
use fsarena_model::work::{Dataset, DatasetState, Fsync, Io, Op, Phase, WorkerReport};
use rustix::io::Errno;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Runs `cycle` over 10 files of 3000 bytes in calls of 1000, with `ask` asked before each call.
fn run_asking(
    cycle: Cycle,
    fsync: Fsync,
    ask: impl Fn(&str) -> Result<(), Errno> + std::marker::Sync,
) -> WorkerReport {
    let fixture = CycleFixture::new(Dataset::uniform(10, 3000, 2));
    let root = Root::open(fixture.path()).unwrap();
    let io = Io { fsync, ..Io::default() };
    let phase = Phase { io: io.clone(), ..Phase::of_cycles("c", cycle, 1000) };
    let backend = Asking { real: Sync::new(&root, &io), ask };
    let job = Job::new(&fixture.dataset, &phase, seed(), seed());
    Prepared::new(&job).unwrap().run(&backend)
}

/// Runs `cycle` with the `nth` call of `broken` failing.
fn fail(cycle: Cycle, fsync: Fsync, broken: &str, nth: u64) -> WorkerReport {
    let count = AtomicU64::new(0);
    run_asking(cycle, fsync, |call| {
        let is_due = call == broken && count.fetch_add(1, Ordering::Relaxed) == nth;
        if is_due { Err(Errno::IO) } else { Ok(()) }
    })
}

#[test]
fn every_kind_ends_at_its_first_error() {
    const PLAIN: &str = "d";
    const NEW: &str = "/n00002-";
    const TEMPORARY: &str = "/t00002-";
    let (none, op) = (Fsync::None, Fsync::Op);
    // The fourth file of the second cycle.
    for (weights, fsync, broken, nth, call, path) in [
        ([1, 0, 0, 0, 0], none, "open_write", 13, "open", PLAIN),
        ([1, 0, 0, 0, 0], none, "write", 40, "write", PLAIN),
        ([1, 0, 0, 0, 0], op, "fsync", 13, "fsync", PLAIN),
        ([0, 1, 0, 0, 0], none, "open_truncate", 13, "open", PLAIN),
        ([0, 1, 0, 0, 0], none, "close", 13, "close", PLAIN),
        ([0, 0, 1, 0, 0], none, "create", 13, "open", NEW),
        ([0, 0, 1, 0, 0], none, "write", 41, "write", NEW),
        ([0, 0, 1, 0, 0], none, "rename", 13, "rename", NEW),
        ([0, 0, 0, 1, 0], none, "unlink", 13, "unlink", PLAIN),
        ([0, 0, 0, 1, 0], none, "create", 13, "open", PLAIN),
        ([0, 0, 0, 0, 1], none, "create", 13, "open", TEMPORARY),
    ] {
        // The third cycle would begin in an hour.
        let report = fail(cycles(3, 10, weights), fsync, broken, nth);
        let error = report.error.unwrap();
        assert_eq!((&*error.call, error.errno, error.op_index), (call, 5, 13), "{broken}");
        assert!(error.path.contains(path) && error.path.starts_with('d'), "{error:?}");
        let all = report.cycles.unwrap().cycles;
        let [one, two] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.ops, two.ops, report.ops), (10, 3, 13), "{broken}");
        assert!(two.durable_ns.is_some(), "what was done is made durable");
        assert!(report.durable_monotonic_ns.is_some());
    }
}

#[test]
fn what_comes_after_the_files_can_fail_as_well() {
    // The fourth temporary file of the second cycle cannot be unlinked.
    let error = fail(cycles(3, 10, [0, 0, 0, 0, 1]), Fsync::None, "unlink", 13).error.unwrap();
    assert_eq!((&*error.call, error.op_index), ("unlink", 20));
    assert!(error.path.contains("/t00002-"), "{error:?}");
    let report = fail(cycles(3, 10, [1, 0, 0, 0, 0]), Fsync::None, "sync", 1);
    let error = report.error.clone().unwrap();
    assert_eq!((&*error.call, &*error.path, error.errno), ("syncfs", ".", 5));
    assert_eq!((cycle_reports(&report)[1].durable_ns, report.durable_monotonic_ns), (None, None));
    assert_eq!(report.ops, 20);
    let report = fail(cycles(3, 10, [1, 0, 0, 0, 0]), Fsync::End, "sync", 2);
    assert_eq!(report.error.unwrap().call, "syncfs");
    assert!(report.durable_monotonic_ns.is_some(), "the second try succeeds");
}

/// The others end at their next op, and nobody waits for the period.
#[test]
fn one_that_fails_ends_those_beside_it() {
    let overlapping = Cycle { overrun: Overrun::Overlap, ..cycles(30, 10, [1, 1, 1, 1, 1]) };
    let (closes, failing) = (AtomicU64::new(0), OnceLock::new());
    let report = run_asking(overlapping, Fsync::None, |call| {
        let thread = std::thread::current().id();
        if call == "close" && closes.fetch_add(1, Ordering::Relaxed) == 120 {
            failing.set(thread).unwrap();
            return Err(Errno::IO);
        }
        if call == "sync" && failing.get() == Some(&thread) {
            // The scheduler hears of the failure when the others could long have done all cycles.
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    });
    assert_eq!(report.error.as_ref().unwrap().call, "close");
    // 12 whole ones, 8 at a time, and one that was just beginning.
    let all = cycle_reports(&report);
    assert!(all.len() <= 21 && report.ops < 140, "{} cycles: {report:?}", all.len());
    assert!(all.iter().all(|cycle| cycle.durable_ns.is_some()));
    let hours = Cycle { period_ns: 3_600_000_000_000, ..cycles(5, 10, [1, 0, 0, 0, 0]) };
    let report = fail(hours, Fsync::None, "close", 5);
    assert_eq!((cycle_reports(&report).len(), report.ops), (1, 5));
}

/// Files of one page each, and their cycles, on a small file system.
fn on(small: &SmallTmpfs, cycle: Cycle) -> WorkerReport {
    let root = Root::open(small.path()).unwrap();
    let dataset = Dataset::uniform(50, 4096, 2);
    make_dirs(&root, &dataset).unwrap();
    let mut state = DatasetState::default();
    let created =
        crate::support::run(small.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 4096));
    assert_eq!(created.error, None);
    crate::support::run(small.path(), &dataset, &mut state, &Phase::of_cycles("c", cycle, 4096))
}

#[test]
fn a_full_file_system_is_said_to_be_full() {
    // 60 pages: 50 are the dataset's, and some may be directories'.
    let Some(small) = SmallTmpfs::mount(60 * 4096) else { return };
    let report = on(&small, cycles(2, 50, [0, 0, 0, 0, 1]));
    let error = report.error.clone().unwrap();
    assert_eq!((&*error.call, error.errno), ("write", 28), "{error:?}");
    assert!(error.path.contains("/t00001-"), "{error:?}");
    assert_eq!((cycle_reports(&report).len(), error.op_index), (1, report.ops));
    assert!((5..=10).contains(&report.ops), "{report:?}");
}

#[test]
fn inodes_that_are_used_up_are_found_by_the_open() {
    // 1 for the root, 2 directories, 50 files.
    let Some(small) = SmallTmpfs::of_inodes(60) else { return };
    let report = on(&small, cycles(2, 50, [0, 0, 0, 0, 1]));
    let error = report.error.clone().unwrap();
    assert_eq!((&*error.call, error.errno), ("open", 28), "{error:?}");
    assert!(error.path.contains("/t00001-"), "{error:?}");
    assert_eq!((cycle_reports(&report).len(), error.op_index), (1, report.ops));
}

#[test]
fn a_second_load_can_fill_a_file_system() {
    let Some(small) = SmallTmpfs::mount(80 * 4096) else { return };
    let load = Load::Write { size_bytes: 1 << 30, bs_bytes: 4096, rate_bytes: 0 };
    let disturb = Some(Disturb { load, cycles: vec![] });
    let hours = Cycle { period_ns: 3_600_000_000_000, ..cycles(2, 50, [1, 0, 0, 0, 0]) };
    let stuck = Cycle { disturb: disturb.clone(), ..hours };
    let root = Root::open(small.path()).unwrap();
    let dataset = Dataset::uniform(50, 4096, 2);
    let mut state = DatasetState::default();
    crate::support::run(small.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 4096));
    let phase = Phase::of_cycles("c", stuck, 4096);
    let delay = fsarena_engine::InjectedDelay::from_ns(500_000_000);
    let job = Job { state, delay, ..Job::new(&dataset, &phase, seed(), seed()) };
    let report = job.run(&root).unwrap();
    let error = report.error.unwrap();
    assert_eq!((&*error.call, error.errno), ("write", 28), "{error:?}");
    assert_eq!(error.path, "disturb/written");
}
