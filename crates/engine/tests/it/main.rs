//! Phases as they are run below a root: loops, cycles, failures, fsync policies;
//! and here, what each fsync policy calls and how often: the contract between engine and reader.
//!
//! Programs of their own are: `descriptors` (counts those of its process), `allocations` (has an
//! allocator of its own) and `memory` (reads the peak of its process).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

mod calls;
mod cycle;
mod cycle_disturb;
mod cycle_failures;
mod failures;
#[path = "../support/full.rs"]
mod full;
mod latency_series;
mod ops;
mod phases;
mod ranks;
mod runtime;
mod stonewall;
#[path = "../support/mod.rs"]
mod support;
mod uring_against_fio;

use fsarena_engine::backend::sync::Sync;
use fsarena_engine::root::make_dirs;
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::work::{Dataset, DatasetState, Fsync, Io, Op, Order, Phase, Sharing};
use std::collections::BTreeMap;
use std::sync::Mutex;
use support::{Asking, seed};

const FILES: u64 = 24;
const DIRS: u64 = 4;

/// Calls of fsync, `open_dir` (each fsync of a directory has one) and sync in a phase that finds
/// its files made.
fn syncs(op: Op, order: Order, io: &Io) -> (u64, u64, u64) {
    let dir = support::temp_dir();
    let root = Root::open(dir.path()).unwrap();
    let dataset = Dataset::uniform(FILES, 3000, DIRS);
    let mut state = DatasetState::default();
    if op != Op::Mkdir {
        make_dirs(&root, &dataset).unwrap();
    }
    if op.needs_files() && op != Op::List {
        support::run(dir.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 1000));
    }
    let phase = Phase { order, ..support::phase(op, 1000, io) };
    let job = Job { state, ..Job::new(&dataset, &phase, seed(), seed()) };
    let counts = Mutex::new(BTreeMap::new());
    let ask = |call| {
        *counts.lock().unwrap().entry(call).or_insert(0) += 1;
        Ok(())
    };
    let backend = Asking { real: Sync::new(&root, io), ask };
    let report = Prepared::new(&job).unwrap().run(&backend);
    assert_eq!((report.error, report.ops), (None, phase.count(&dataset)), "{op:?}");
    let counts = counts.into_inner().unwrap();
    let of = |call| counts.get(call).copied().unwrap_or(0);
    // The one sync after the phase is none of its own.
    (of("fsync"), of("open_dir"), of("sync") - 1)
}

fn policy(fsync: Fsync) -> Io {
    Io { fsync, ..Io::default() }
}

#[test]
fn each_policy_syncs_what_it_says() {
    let calls = FILES * 3;
    for (op, fsync, wanted) in [
        (Op::Create, Fsync::None, (0, 0, 0)),
        (Op::Create, Fsync::Op, (FILES, 0, 0)),
        (Op::Create, Fsync::File, (FILES, 0, 0)),
        (Op::Create, Fsync::Dir, (DIRS, DIRS, 0)),
        (Op::Create, Fsync::End, (0, 0, 1)),
        (Op::Create, Fsync::Dsync, (0, 0, 0)),
        (Op::Overwrite, Fsync::Op, (FILES, 0, 0)),
        (Op::Append, Fsync::File, (FILES, 0, 0)),
        (Op::Append, Fsync::Dir, (DIRS, DIRS, 0)),
        (Op::Read, Fsync::Op, (0, 0, 0)),
        (Op::Stat, Fsync::Dir, (0, 0, 0)),
        (Op::Stat, Fsync::End, (0, 0, 0)),
        (Op::Rename, Fsync::Op, (FILES, FILES, 0)),
        (Op::Rename, Fsync::File, (0, 0, 0)),
        (Op::Rename, Fsync::Dir, (DIRS, DIRS, 0)),
        (Op::Delete, Fsync::Op, (FILES, FILES, 0)),
        (Op::Delete, Fsync::Dir, (DIRS, DIRS, 0)),
        (Op::Delete, Fsync::End, (0, 0, 1)),
        (Op::Mkdir, Fsync::Op, (DIRS, DIRS, 0)),
        (Op::Mkdir, Fsync::Dir, (1, 1, 0)),
        (Op::Rmdir, Fsync::Op, (DIRS, DIRS, 0)),
        (Op::Rmdir, Fsync::Dir, (1, 1, 0)),
        (Op::BigWrite, Fsync::Op, (calls, 0, 0)),
        (Op::BigWrite, Fsync::File, (FILES, 0, 0)),
        (Op::BigWrite, Fsync::Dir, (DIRS, DIRS, 0)),
        (Op::BigOverwrite, Fsync::Op, (calls, 0, 0)),
        (Op::BigRead, Fsync::File, (0, 0, 0)),
        (Op::RandWrite, Fsync::Op, (calls, 0, 0)),
        (Op::RandWrite, Fsync::File, (FILES, 0, 0)),
        (Op::RandWrite, Fsync::End, (0, 0, 1)),
        (Op::RandRead, Fsync::Op, (0, 0, 0)),
        (Op::RandTrim, Fsync::Op, (calls, 0, 0)),
        (Op::RandTrim, Fsync::File, (FILES, 0, 0)),
    ] {
        let orders: &[Order] = &[Order::Sequential, Order::Random];
        for &order in orders {
            assert_eq!(syncs(op, order, &policy(fsync)), wanted, "{op:?} {fsync:?} {order:?}");
        }
    }
    let (fsyncs, _, _) = syncs(Op::RandRw, Order::Sequential, &policy(Fsync::Op));
    assert!((20..52).contains(&fsyncs), "about half of 72 ops write: {fsyncs}");
}

#[test]
fn with_threads_each_syncs_its_own() {
    for (op, sharing, fsync, wanted) in [
        (Op::Create, Sharing::Own, Fsync::Dir, (DIRS, DIRS, 0)),
        // All three work in each directory.
        (Op::Create, Sharing::Shared, Fsync::Dir, (3 * DIRS, 3 * DIRS, 0)),
        (Op::Delete, Sharing::Shared, Fsync::Op, (FILES, FILES, 0)),
        (Op::Create, Sharing::Shared, Fsync::End, (0, 0, 3)),
        (Op::BigOverwrite, Sharing::Shared, Fsync::File, (3 * FILES, 0, 0)),
        (Op::BigOverwrite, Sharing::Own, Fsync::File, (FILES, 0, 0)),
        (Op::RandWrite, Sharing::Shared, Fsync::Op, (3 * FILES, 0, 0)),
    ] {
        let io = Io { threads: 3, sharing, fsync, ..Io::default() };
        assert_eq!(syncs(op, Order::Sequential, &io), wanted, "{op:?} {io:?}");
    }
}

/// A phase that is run again syncs again: nothing of the first run is left in it.
#[test]
fn a_second_run_syncs_as_the_first() {
    let dir = support::temp_dir();
    let root = Root::open(dir.path()).unwrap();
    let dataset = Dataset::uniform(FILES, 3000, DIRS);
    let mut state = DatasetState::default();
    support::run(dir.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 1000));
    let io = policy(Fsync::Dir);
    let phase = support::phase(Op::Overwrite, 1000, &io);
    let mut prepared = Prepared::new(&Job::new(&dataset, &phase, seed(), seed())).unwrap();
    let count = Mutex::new(0);
    let ask = |call: &str| {
        *count.lock().unwrap() += u64::from(call == "fsync");
        Ok(())
    };
    let backend = Asking { real: Sync::new(&root, &io), ask };
    for run in 1..3 {
        assert_eq!(prepared.run(&backend).error, None);
        assert_eq!(*count.lock().unwrap(), run * DIRS);
    }
}
