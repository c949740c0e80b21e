//! Between the first and the last clock read of a phase nothing is allocated or freed; this program
//! has an allocator that counts its calls.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op};
use fsarena_testkit::allocations::CountingAllocator;

mod blocking;
#[path = "../support/mod.rs"]
mod support;

use support::{phase, seed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Calls of the allocator in the run of each op over `files` files.
fn allocator_calls(files: u64, iodepth: u32) -> Vec<(Op, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::open(dir.path()).unwrap();
    let io = Io { backend: Backend::IoUring, iodepth, ..Io::default() };
    let ops = [
        Op::Mkdir,
        Op::Create,
        Op::Read,
        Op::Stat,
        Op::BigRead,
        Op::BigOverwrite,
        Op::RandRw,
        Op::RandTrim,
        Op::Delete,
        Op::Rmdir,
    ];
    let mut state = DatasetState::default();
    let run = |op: Op| {
        // A random phase keeps its files open in a table: one file, and more or fewer blocks of it.
        let dataset = if op.is_random() {
            Dataset::uniform(1, 2500, 1)
        } else {
            Dataset::uniform(files, 2500, 1)
        };
        let ops = op.is_random().then_some(files);
        let phase = phase(op, 1000, &Io { ops, ..io.clone() });
        let job = Job { state, latency: false, ..Job::new(&dataset, &phase, seed(), seed()) };
        state = phase.leaves(state);
        let mut prepared = Prepared::new(&job).unwrap();
        let before = CountingAllocator::calls();
        let report = prepared.run_on(&root);
        let made = CountingAllocator::calls() - before;
        assert_eq!((report.error, report.ops), (None, phase.count(&dataset)), "{op:?}");
        (op, made)
    };
    ops.into_iter().map(run).collect()
}

#[test]
fn many_ops_allocate_no_more_than_few() {
    let io = Io { backend: Backend::IoUring, ..Io::default() };
    if let Err(error) = fsarena_engine::uring::check(Op::Create, &io) {
        println!("not run: {error}");
        return;
    }
    for iodepth in [1, 8] {
        assert_eq!(allocator_calls(8, iodepth), allocator_calls(1000, iodepth), "{iodepth}");
    }
}
