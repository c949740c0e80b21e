//! Between the first and the last clock read of a phase nothing is allocated or freed; this program
//! has an allocator that counts its calls.
#![expect(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

mod blocking;
#[path = "../support/mod.rs"]
mod support;

use support::{phase, seed};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system's allocator, counting.
pub struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Calls of this thread so far.
pub fn calls() -> u64 {
    CALLS.with(Cell::get)
}

fn count() {
    // A thread that is ending has no counter any more; nothing is measured there.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: every request is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: as above; the pointer came from `alloc` of the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

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
        Op::Delete,
        Op::Rmdir,
    ];
    let mut state = DatasetState::default();
    let run = |op: Op| {
        // A random phase keeps its files open in a table: one file, and more or fewer blocks of it.
        let dataset = if op == Op::RandRw {
            Dataset::uniform(1, 2500, 1)
        } else {
            Dataset::uniform(files, 2500, 1)
        };
        let ops = (op == Op::RandRw).then_some(files);
        let phase = phase(op, 1000, &Io { ops, ..io.clone() });
        let job = Job { state, latency: false, ..Job::new(&dataset, &phase, seed(), seed()) };
        state = phase.leaves(state);
        let mut prepared = Prepared::new(&job).unwrap();
        let before = calls();
        let report = prepared.run_on(&root);
        let made = calls() - before;
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
