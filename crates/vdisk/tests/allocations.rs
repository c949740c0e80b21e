//! Nothing is allocated for a request: a model is asked inside drivers that must not wait for
//! memory.
#![allow(clippy::unwrap_used)] // helpers of tests
#![expect(unsafe_code, reason = "an allocator that counts has to be one")]

use fsarena_vdisk::{DeviceOptions, Request, VirtualDevice};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the memory is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_request_allocates() {
    for name in fsarena_vdisk::names() {
        let sheet = fsarena_vdisk::builtin(name).unwrap();
        let options = DeviceOptions { size_bytes: Some(64 << 20), ..DeviceOptions::default() };
        let mut device = VirtualDevice::new(&sheet, &options).unwrap();
        let depth = u64::from(device.queue_depth());
        let (mut now_ns, mut busy) = (0, [false; 256]);
        let before = COUNT.with(Cell::get);
        for number in 0..30_000_u64 {
            let tag = (number % depth) as u16;
            while busy[usize::from(tag)] {
                now_ns = device.next_event_ns().expect("it is outstanding").max(now_ns);
                while let Some(done) = device.poll(now_ns) {
                    busy[usize::from(done.tag)] = false;
                }
            }
            let sector = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (100_000 - 64) / 8 * 8;
            let request = match number % 16 {
                0..7 => Request::read(tag, sector, 8),
                7..13 => Request::write(tag, sector, 16),
                13 => Request::write_fua(tag, sector, 8),
                14 => Request::discard(tag, sector, 32),
                _ => Request::flush(tag),
            };
            device.submit(now_ns, request).unwrap();
            busy[usize::from(tag)] = true;
        }
        let count = COUNT.with(Cell::get) - before;
        assert_eq!(count, 0, "{name}");
    }
}
