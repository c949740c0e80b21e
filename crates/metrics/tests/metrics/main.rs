//! Counters of made-up kernels, and the sampler on the running kernel: no allocation, prompt stop,
//! bounded series. `no_allocation` counts a process's own.
#![allow(clippy::unwrap_used)]

mod kernels;

use fsarena_metrics::{
    KernelRoots, Sampler, Snapshot, Sources, Watch, host, monotonic_ns, process_start_ticks, series,
};
use fsarena_testkit::FakeTree;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const MS_NS: u64 = 1_000_000;

fn own() -> Watch {
    Watch { worker_pid: Some(std::process::id()), ..Watch::default() }
}

#[test]
fn this_kernel_is_understood() {
    let mut sources = Sources::open(&KernelRoots::default(), &own()).unwrap();
    let now = sources.read().unwrap();
    for name in ["cpu.user_ns", "vm.faults", "mem.free_bytes", "worker.user_ns", "sched.forks"] {
        assert!(now.get(name).is_some(), "{name} is missing on this kernel");
    }
    let host = host(&KernelRoots::default());
    assert!(host.cpus > 0 && host.memory_bytes > 0 && !host.kernel_release.is_empty());
    assert!(process_start_ticks(&KernelRoots::default(), std::process::id()).is_some());
}

#[test]
fn stopping_does_not_wait_for_the_period() {
    let sources = Sources::open(&KernelRoots::default(), &own()).unwrap();
    let sampler = Sampler::start(sources, 3600 * 1000 * MS_NS).unwrap();
    let begun = Instant::now();
    let (samples, cost) = sampler.stop().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60), "stopped by the flag, not by the period");
    assert!(samples.error().is_none());
    assert!(!samples.is_empty() && cost.samples as usize == samples.len());
    assert_eq!(cost.missed_deadlines, 0);
}

/// On a busy machine the thread may begin long after whatever is sampled has begun.
#[test]
fn the_first_sample_is_taken_when_sampling_has_started() {
    for _ in 0..20 {
        let sources = Sources::open(&KernelRoots::default(), &own()).unwrap();
        let sampler = Sampler::start(sources, 3600 * 1000 * MS_NS).unwrap();
        let started_ns = monotonic_ns();
        let (samples, _) = sampler.stop().unwrap();
        assert_eq!(samples.len(), 2, "the first and the last");
        assert!(samples.get(0).unwrap().monotonic_ns <= started_ns);
    }
}

#[test]
fn samples_make_a_series() {
    let sources = Sources::open(&KernelRoots::default(), &own()).unwrap();
    let sampler = Sampler::start(sources, 5 * MS_NS).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let (samples, cost) = sampler.stop().unwrap();
    let first = samples.get(0).unwrap();
    let start_ns = first.monotonic_ns + 1;
    let series = series(&samples, start_ns);
    assert_eq!(series.t_ns[0], -1, "a sample before the start is negative");
    assert_eq!(series.t_ns.len(), samples.len());
    assert!(series.t_ns.is_sorted());
    assert_eq!(series.period_ns, 5 * MS_NS);
    assert_eq!(series.columns["cpu.user_ns"][0], Some(0));
    assert!(series.columns.values().all(|column| column.len() == samples.len()));
    assert!(!series.columns.contains_key("device.reads"), "nobody watched a device");
    let last = samples.get(samples.len() - 1).unwrap();
    assert!(cost.cpu_ns > 0);
    assert!(cost.wall_ns >= last.monotonic_ns - first.monotonic_ns);
    assert!(samples.get(samples.len()).is_none());
}

/// A thread stands for the worker: procfs has a directory for its number too.
#[test]
fn a_worker_that_ends_becomes_missing() {
    let (tell, hear) = mpsc::channel();
    let (end, wait) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
        let _ = wait.recv();
    });
    let watch = Watch { worker_pid: Some(hear.recv().unwrap()), ..Watch::default() };
    let mut sources = Sources::open(&KernelRoots::default(), &watch).unwrap();
    assert!(sources.read().unwrap().get("worker.user_ns").is_some());
    drop(end);
    thread.join().unwrap();
    // Joining returns a moment before the kernel has taken the thread away.
    let deadline = Instant::now() + Duration::from_secs(60);
    while sources.read().unwrap().get("worker.user_ns").is_some() {
        assert!(Instant::now() < deadline, "still read after its end");
        std::thread::yield_now();
    }
    assert_eq!(sources.read().unwrap().get("worker.read_calls"), None);
}

#[test]
fn an_error_ends_sampling_and_is_told() {
    let tree = FakeTree::modern();
    let roots = KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() };
    let sources = Sources::open(&roots, &Watch::default()).unwrap();
    tree.put("proc/stat", "cpu 1 2 3 broken\n");
    let (samples, cost) = Sampler::start(sources, 5 * MS_NS).unwrap().stop().unwrap();
    assert!(samples.is_empty() && cost.samples == 0);
    assert!(samples.error().unwrap().to_string().contains("broken"));
}

#[test]
fn snapshots_of_another_length_are_filled_up() {
    let tree = FakeTree::modern();
    let roots = KernelRoots { proc: tree.proc(), sys: tree.sys(), etc: tree.etc() };
    let mut sources = Sources::open(&roots, &Watch::default()).unwrap();
    let mut short = Snapshot { monotonic_ns: 0, values: Vec::new() };
    sources.read_into(&mut short).unwrap();
    assert_eq!(short.values, sources.read().unwrap().values);
}
