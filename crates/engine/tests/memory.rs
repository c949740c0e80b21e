//! Memory does not grow with the number of files, but for the table of a random order.
#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use fsarena_engine::backend::null::Null;
use fsarena_engine::{Job, Prepared};
use fsarena_model::work::{Backend, Dataset, Io, Op, Order, Phase, Sharing};
use support::seed;

/// Most memory that this process ever had, KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The only test of its program: others would raise the peak.
#[test]
fn a_million_files_need_no_table_but_that_of_their_order() {
    let dataset = Dataset::uniform(1_000_000, 256, 1000);
    let run = |order, threads| {
        let io = Io { backend: Backend::Null, threads, sharing: Sharing::Shared, ..Io::default() };
        let phase = Phase { order, io, ..Phase::new("p", Op::Create, 4096) };
        let job = Job::new(&dataset, &phase, seed(), seed());
        let report = Prepared::new(&job).unwrap().run(&Null);
        assert_eq!((report.error, report.ops), (None, 1_000_000));
    };
    let before = peak_kib();
    run(Order::Sequential, 1);
    run(Order::Sequential, 2);
    let in_order = peak_kib() - before;
    assert!(in_order < 2048, "{in_order} KiB more");
    run(Order::Random, 2);
    let at_random = peak_kib() - before;
    assert!((3500..6500).contains(&at_random), "4 bytes a file: {at_random} KiB more");
}
