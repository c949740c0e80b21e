//! Between the first and the last clock read of a phase nothing is allocated or freed.
//!
//! A backend that passes every call on to the real one notes how often the allocator of this
//! thread had been called by then: the first call of a thread, the last one and all between must
//! see the same number. A second test closes the gap before the first call and after the last: a
//! phase of many ops calls the allocator exactly as often as one of few.

use crate::support::{Asking, seed};
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::root::make_dirs;
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::cycle::{Cycle, Overrun};
use fsarena_model::work::{Dataset, DatasetState, Fsync, Io, Op, Order, Phase, Sharing};
use fsarena_testkit::allocations::CountingAllocator;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// Allocator calls at this thread's first call of a phase: `None` before it.
    static FIRST: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// An order in which every op finds what it needs.
const OPS: [Op; 19] = [
    Op::Mkdir,
    Op::Create,
    Op::Read,
    Op::Overwrite,
    Op::Stat,
    Op::List,
    Op::BigRead,
    Op::BigOverwrite,
    Op::RandRead,
    Op::RandWrite,
    Op::RandRw,
    Op::RandTrim,
    Op::Rename,
    Op::Append,
    Op::Delete,
    Op::BigWrite,
    Op::Rename,
    Op::Delete,
    Op::Rmdir,
];

/// Whether `op` can be done with `io` over `dataset`: the rest is refused and tested elsewhere.
fn is_legal(op: Op, io: &Io, dataset: &Dataset) -> bool {
    let shared = io.sharing == Sharing::Shared && io.threads > 1;
    (!op.is_random() || dataset.size_bytes >= 1000)
        && !(shared && (op.is_about_dirs() || op == Op::BigWrite))
}

/// Runs every op over `dataset`; for each, how often the allocator was called by any thread from
/// its first call to its last, and in the whole of `run` by this one.
fn allocator_calls(dataset: &Dataset, order: Order, latency: bool, io: &Io) -> Vec<(Op, u64, u64)> {
    let dir = crate::support::temp_dir();
    let root = Root::open(dir.path()).unwrap();
    let mut state = DatasetState::default();
    let mut results = vec![];
    for op in OPS {
        if !is_legal(op, io, dataset) {
            if op == Op::Mkdir {
                make_dirs(&root, dataset).unwrap();
            }
            if op == Op::BigWrite {
                let create = Phase::new("instead", Op::Create, 1000);
                crate::support::run(dir.path(), dataset, &mut state, &create);
            }
            continue;
        }
        let phase = Phase { order, io: io.clone(), ..Phase::new("x", op, 1000) };
        let job = Job { state, latency, ..Job::new(dataset, &phase, seed(), seed()) };
        let mut prepared = Prepared::new(&job).unwrap();
        let most = AtomicU64::new(0);
        // Each phase has a number, by which a thread knows its first call in it.
        static PHASES: AtomicU64 = AtomicU64::new(0);
        let number = PHASES.fetch_add(1, Ordering::Relaxed);
        let ask = |call: &str| {
            // What makes all durable comes after the last clock read of the loop.
            if call != "sync" || io.fsync == Fsync::End {
                let (_, first) =
                    FIRST.get().filter(|first| first.0 == number).unwrap_or_else(|| {
                        FIRST.set(Some((number, CountingAllocator::calls())));
                        (number, CountingAllocator::calls())
                    });
                // The last sync is made by the thread that also collects what the others did.
                let between = CountingAllocator::calls() - first;
                if call != "sync" || io.threads == 1 {
                    most.fetch_max(between, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        let backend = Asking { real: Sync::new(&root, io), ask };
        let before = CountingAllocator::calls();
        let report = prepared.run(&backend);
        // The report's own buckets grow with the spread of the latencies: not part of the phase.
        let whole = CountingAllocator::calls() - before;
        if state.appended_bytes == 0 {
            assert_eq!((report.error, report.ops), (None, phase.count(dataset)), "{op:?}");
        } else {
            assert_eq!(report.error, None, "{op:?}");
        }
        results.push((op, most.load(Ordering::Relaxed), whole));
        state = phase.leaves(state);
        if op == Op::Delete {
            state.appended_bytes = 0;
        }
    }
    results
}

#[test]
fn nothing_is_allocated_from_the_first_call_to_syncfs() {
    let one = Io::default();
    for order in [Order::Sequential, Order::Random] {
        for size_bytes in [0, 256, 3500] {
            for latency in [true, false] {
                let dataset = Dataset::uniform(300, size_bytes, 7);
                for (op, between, _) in allocator_calls(&dataset, order, latency, &one) {
                    assert_eq!(between, 0, "{op:?} {order:?} {size_bytes}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_allocated_by_any_thread_or_policy() {
    let dataset = Dataset::uniform(90, 3500, 7);
    for sharing in [Sharing::Own, Sharing::Shared] {
        for fsync in [Fsync::None, Fsync::Op, Fsync::Dir, Fsync::End] {
            let io = Io { threads: 3, sharing, fsync, ..Io::default() };
            for (op, between, _) in allocator_calls(&dataset, Order::Sequential, true, &io) {
                assert_eq!(between, 0, "{op:?} {io:?}");
            }
        }
    }
}

#[test]
fn many_ops_allocate_no_more_than_few() {
    for order in [Order::Sequential, Order::Random] {
        for io in [Io::default(), Io { fsync: Fsync::Op, ..Io::default() }] {
            let calls =
                |files| allocator_calls(&Dataset::uniform(files, 1256, 1), order, false, &io);
            assert_eq!(calls(2), calls(300));
        }
    }
}

/// Each cycle is a stretch of its own: what its thread tells others lies between them.
#[test]
fn nothing_is_allocated_in_a_cycle() {
    for (overrun, fsync, latency) in [
        (Overrun::Queue, Fsync::None, true),
        (Overrun::Queue, Fsync::End, false),
        (Overrun::Overlap, Fsync::Op, true),
    ] {
        let dataset = Dataset::uniform(200, 3500, 7);
        let mut state = DatasetState::default();
        let dir = crate::support::temp_dir();
        crate::support::run(dir.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 4096));
        let root = Root::open(dir.path()).unwrap();
        let cycle = Cycle { overrun, ..crate::support::cycles::cycles(5, 150, [1; 5]) };
        let io = Io { fsync, ..Io::default() };
        let phase = Phase { io: io.clone(), ..Phase::of_cycles("x", cycle, 1000) };
        let job = Job { latency, ..Job::new(&dataset, &phase, seed(), seed()) };
        let mut prepared = Prepared::new(&job).unwrap();
        thread_local! {
            /// Allocator calls at the first call of the cycle: `None` before it.
            static BEGAN: Cell<Option<u64>> = const { Cell::new(None) };
        }
        let (most, cycles) = (AtomicU64::new(0), AtomicU64::new(0));
        let ask = |call: &str| {
            let began = BEGAN.get().unwrap_or_else(CountingAllocator::calls);
            most.fetch_max(CountingAllocator::calls() - began, Ordering::Relaxed);
            // The last call of a cycle, and with `end` the one before it.
            let is_over = call == "sync";
            cycles.fetch_add(u64::from(is_over), Ordering::Relaxed);
            BEGAN.set((!is_over).then_some(began));
            Ok(())
        };
        let backend = Asking { real: Sync::new(&root, &io), ask };
        let report = prepared.run(&backend);
        assert_eq!((report.error, report.ops), (None, 750));
        assert_eq!(most.load(Ordering::Relaxed), 0, "{overrun:?} {fsync:?}");
        let syncs = if fsync == Fsync::End { 10 } else { 5 };
        assert_eq!(cycles.load(Ordering::Relaxed), syncs);
    }
}
