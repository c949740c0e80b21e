//! Reading allocates nothing once the files are open. Alone in its file: its allocator counts.
#![allow(clippy::unwrap_used)]
#![expect(unsafe_code, reason = "an allocator that counts")]

use fsarena_metrics::{Roots, Samples, Snapshot, Sources, Watch};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// By thread: the test harness allocates whenever it likes.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn reading_and_keeping_samples_allocates_nothing() {
    let device = std::fs::read_dir("/sys/block").ok().and_then(|mut disks| disks.next());
    let watch = Watch {
        device: device.map(|disk| disk.unwrap().file_name().to_string_lossy().into_owned()),
        memory_cgroup: None,
        worker_pid: Some(std::process::id()),
    };
    let opening = ALLOCATIONS.get();
    let mut sources = Sources::open(&Roots::default(), &watch).unwrap();
    let mut snapshot = Snapshot::empty();
    let mut samples = Samples::new(100_000_000);
    assert!(ALLOCATIONS.get() > opening, "the counter counts");
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        sources.read_into(&mut snapshot).unwrap();
        samples.push(&snapshot);
    }
    // Beyond the limit, thinning included.
    for _ in 0..3 * fsarena_metrics::SAMPLES_MAX {
        samples.push(&snapshot);
    }
    let after = ALLOCATIONS.get();
    assert_eq!(after - before, 0);
    assert!(samples.len() <= fsarena_metrics::SAMPLES_MAX && samples.period_ns() > 100_000_000);
}
