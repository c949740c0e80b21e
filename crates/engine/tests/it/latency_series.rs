//! Latencies over the time of a phase: every op is in one period, by any backend.

use crate::support::{phase, run, seed, temp_dir};
use fsarena_engine::{EngineError, Prepared};
use fsarena_model::sample::LatencySeries;
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op, Phase, Sharing, WorkerReport};

const MS: u64 = 1_000_000;

fn with_period(op: Op, bs_bytes: u64, io: Io) -> Phase {
    phase(op, bs_bytes, &Io { latency_period_ns: Some(10 * MS), ..io })
}

fn series_of(report: &WorkerReport) -> &LatencySeries {
    assert_eq!(report.error, None);
    let series = report.latency_series.as_ref().unwrap();
    let ops: u64 = series.periods.iter().map(|one| one.ops).sum();
    assert_eq!(ops, report.ops, "each op is in one period");
    let all = report.latency.as_ref().unwrap();
    let longest = series.periods.iter().map(|one| one.max_ns).max();
    assert_eq!(longest, Some(all.max_ns), "the longest is in one of them");
    for period in &series.periods {
        assert!(period.p50_ns <= period.p99_ns && period.p99_ns <= period.max_ns, "{period:?}");
    }
    series
}

#[test]
fn periods_hold_all_ops_of_threads_and_rings() {
    let dir = temp_dir();
    let (dataset, mut state) = (Dataset::uniform(1, 1 << 20, 1), DatasetState::default());
    let write = with_period(Op::BigWrite, 4096, Io::default());
    series_of(&run(dir.path(), &dataset, &mut state, &write));
    let io = |backend, threads, iodepth| Io {
        backend,
        threads,
        iodepth,
        sharing: Sharing::Shared,
        ops: Some(5000),
        ..Io::default()
    };
    for (op, own) in [
        (Op::RandWrite, io(Backend::Sync, 3, 1)),
        (Op::RandRead, io(Backend::IoUring, 1, 8)),
        (Op::RandRw, io(Backend::IoUring, 2, 4)),
    ] {
        series_of(&run(dir.path(), &dataset, &mut state, &with_period(op, 4096, own)));
    }
}

#[test]
fn a_set_rate_is_in_every_period() {
    let dir = temp_dir();
    let (dataset, mut state) = (Dataset::uniform(1, 1 << 20, 1), DatasetState::default());
    run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 4096, &Io::default()));
    let io = Io { rate: Some(2000), ops: Some(400), ..Io::default() };
    let report = run(dir.path(), &dataset, &mut state, &with_period(Op::RandWrite, 4096, io));
    let series = series_of(&report);
    // 200 ms; on a busy machine ops are late, and none is left out.
    assert!(series.periods.len() >= 19, "{series:?}");
}

#[test]
fn what_has_no_latencies_of_its_own_is_refused() {
    let dataset = Dataset::uniform(4, 4096, 1);
    let refused = |io: Io| {
        let phase = with_period(Op::Create, 4096, io);
        let job = fsarena_engine::Job::new(&dataset, &phase, seed(), seed());
        match Prepared::new(&job) {
            Err(EngineError::Mix { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let wall = Io { stonewall_ns: Some(MS), ..Io::default() };
    assert!(refused(wall).contains("with a stonewall"));
    let threads = Io { threads: 65, ..Io::default() };
    assert!(refused(threads).contains("65 threads"));
}
