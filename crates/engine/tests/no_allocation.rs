//! Between the first and the last clock read of a phase nothing is allocated or freed.
//!
//! A backend that passes every call on to the real one notes how often the allocator of this
//! thread had been called by then: the first call of a phase, the last one and all between must see
//! the same number. A second test closes the gap before the first call and after the last: a phase
//! of many ops calls the allocator exactly as often as one of few.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_engine::backend::Backend;
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::phase::{Prepared, Root, make_dirs};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, Order, Phase};
use rustix::io::Errno;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::CStr;

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more; nothing is measured there.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

fn calls() -> u64 {
    CALLS.with(Cell::get)
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

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Real calls, and the range of allocator counts seen by them.
struct Watching<'a> {
    real: Sync<'a>,
    first: Cell<u64>,
    last: Cell<u64>,
}

impl Watching<'_> {
    fn look(&self) {
        let now = calls();
        self.first.set(self.first.get().min(now));
        self.last.set(self.last.get().max(now));
    }
}

impl<'a> Backend for Watching<'a> {
    type File = <Sync<'a> as Backend>::File;

    fn create(&self, path: &CStr) -> Result<Self::File, Errno> {
        self.look();
        self.real.create(path)
    }

    fn open(&self, path: &CStr) -> Result<Self::File, Errno> {
        self.look();
        self.real.open(path)
    }

    fn write(&self, file: Self::File, bytes: &[u8]) -> Result<usize, Errno> {
        self.look();
        self.real.write(file, bytes)
    }

    fn read(&self, file: Self::File, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.look();
        self.real.read(file, bytes)
    }

    fn close(&self, file: Self::File) -> Result<(), Errno> {
        self.look();
        self.real.close(file)
    }

    fn stat(&self, path: &CStr) -> Result<(), Errno> {
        self.look();
        self.real.stat(path)
    }

    fn unlink(&self, path: &CStr) -> Result<(), Errno> {
        self.look();
        self.real.unlink(path)
    }

    /// Comes after the last clock read of the loop.
    fn sync(&self) -> Result<(), Errno> {
        self.look();
        Ok(())
    }
}

/// Runs every op over `dataset`; for each, how often the allocator was called from the first call
/// to syncfs, and in the whole of `run`.
fn allocator_calls(dataset: &Dataset, order: Order, latency: bool) -> Vec<(Op, u64, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::open(dir.path()).unwrap();
    let seed = Seed::from_number(1);
    make_dirs(&root, dataset).unwrap();
    let ops = [Op::Create, Op::Read, Op::Stat, Op::Delete, Op::BigWrite, Op::BigRead, Op::Delete];
    let run = |op: Op| {
        let phase = Phase { name: "x".to_owned(), op, order, bs_bytes: 1000, timed: true };
        let mut prepared = Prepared::new(dataset, &phase, &seed, &seed, latency).unwrap();
        let (first, last) = (Cell::new(u64::MAX), Cell::new(0));
        let backend = Watching { real: Sync::new(&root), first, last };
        let before = calls();
        let report = prepared.run(&backend);
        // The report's own buckets grow with the spread of the latencies: not part of the phase.
        let whole = calls() - before;
        assert_eq!((report.error, report.ops), (None, op.count(dataset, 1000)), "{op:?}");
        (op, backend.last.get() - backend.first.get(), whole)
    };
    ops.into_iter().map(run).collect()
}

#[test]
fn nothing_is_allocated_from_the_first_call_to_syncfs() {
    for order in [Order::Sequential, Order::Random] {
        for size_bytes in [0, 256, 3500] {
            for latency in [true, false] {
                let dataset = Dataset { files: 300, size_bytes, dirs: 7 };
                for (op, between, _) in allocator_calls(&dataset, order, latency) {
                    assert_eq!(between, 0, "{op:?} {order:?} {size_bytes}");
                }
            }
        }
    }
}

#[test]
fn many_ops_allocate_no_more_than_few() {
    for order in [Order::Sequential, Order::Random] {
        let few = Dataset { files: 2, size_bytes: 256, dirs: 1 };
        let many = Dataset { files: 2000, size_bytes: 256, dirs: 1 };
        assert_eq!(allocator_calls(&few, order, false), allocator_calls(&many, order, false));
    }
}
