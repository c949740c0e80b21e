//! Nothing is allocated for a request: a model is asked inside drivers that must not wait for
//! memory.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_testkit::allocations::CountingAllocator;
use fsarena_vdisk::{DeviceOptions, Request, VirtualDevice};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn no_request_allocates() {
    for name in fsarena_vdisk::names() {
        let sheet = fsarena_vdisk::builtin(name).unwrap();
        let options = DeviceOptions { size_bytes: Some(64 << 20), ..DeviceOptions::default() };
        let mut device = VirtualDevice::new(&sheet, &options).unwrap();
        let depth = u64::from(device.queue_depth());
        let (mut now_ns, mut busy) = (0, [false; 256]);
        let before = CountingAllocator::calls();
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
        let count = CountingAllocator::calls() - before;
        assert_eq!(count, 0, "{name}");
    }
}
