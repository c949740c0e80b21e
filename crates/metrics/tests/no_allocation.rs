//! Reading allocates nothing once the files are open. Alone in its file: its allocator counts.
#![allow(clippy::unwrap_used)]

use fsarena_metrics::{KernelRoots, Samples, Snapshot, Sources, Watch};
use fsarena_testkit::allocations::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn reading_and_keeping_samples_allocates_nothing() {
    let disks = std::fs::read_dir("/sys/block").into_iter().flatten().take(2);
    let watch = Watch {
        devices: disks
            .map(|disk| disk.unwrap().file_name().to_string_lossy().into_owned())
            .collect(),
        memory_cgroup: None,
        worker_pid: Some(std::process::id()),
        network: true,
    };
    let opening = CountingAllocator::calls();
    let mut sources = Sources::open(&KernelRoots::default(), &watch).unwrap();
    let mut snapshot = Snapshot::empty();
    let mut samples = Samples::new(100_000_000);
    assert!(CountingAllocator::calls() > opening, "the counter counts");
    let before = CountingAllocator::calls();
    for _ in 0..100 {
        sources.read_into(&mut snapshot).unwrap();
        samples.push(&snapshot);
    }
    // Beyond the limit, thinning included.
    for _ in 0..3 * fsarena_metrics::SAMPLES_MAX {
        samples.push(&snapshot);
    }
    let after = CountingAllocator::calls();
    assert_eq!(after - before, 0);
    assert!(samples.len() <= fsarena_metrics::SAMPLES_MAX && samples.period_ns() > 100_000_000);
}
