//! An allocator that counts, for tests of code that must not allocate.
#![expect(unsafe_code, reason = "an allocator that counts has to be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// By thread: the test harness allocates whenever it likes.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting. A test makes it its program's own by `#[global_allocator]`.
#[derive(Debug)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Calls of this thread so far: what was allocated, and what was freed.
    #[must_use]
    pub fn calls() -> u64 {
        CALLS.with(Cell::get)
    }
}

fn count() {
    // A thread that is ending has no counter any more; nothing is measured there.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: every request is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
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
