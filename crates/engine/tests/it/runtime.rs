//! Random phases that end by the clock: by every interface, with several threads, in any number of
//! ops, and with the contents that they leave.

use crate::support::{by, phase, run, seed, temp_dir, verify};
use fsarena_engine::{EngineError, Job, Prepared, Root};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op, Sharing};
use std::time::{Duration, Instant};

const MS: u64 = 1_000_000;
const RUNTIME: Duration = Duration::from_millis(60);

fn timed(io: Io) -> Io {
    Io { runtime_ns: Some(60 * MS), ..io }
}

#[test]
fn a_random_phase_ends_when_its_time_is_over() {
    let dataset = Dataset::uniform(2, 256 << 10, 0);
    let uring = Io { backend: Backend::IoUring, iodepth: 4, ..Io::default() };
    let mapped = Io { backend: Backend::Mmap, ..Io::default() };
    for io in
        [Io::default(), by(3, Sharing::Own), uring.clone(), Io { threads: 2, ..uring }, mapped]
    {
        for op in [Op::RandRead, Op::RandWrite, Op::RandRw] {
            let dir = temp_dir();
            let mut state = DatasetState::default();
            let made = phase(Op::BigWrite, 65_536, &Io::default());
            run(dir.path(), &dataset, &mut state, &made);
            let root = Root::open(dir.path()).unwrap();
            let of_time = phase(op, 4096, &timed(io.clone()));
            let job = Job { latency: true, state, ..Job::new(&dataset, &of_time, seed(), seed()) };
            let began = Instant::now();
            let report = job.run(&root).unwrap();
            let took = began.elapsed();
            let name = format!("{} by {} {}", op.name(), io.backend.name(), io.threads);
            assert_eq!(report.error, None, "{name}");
            let ran_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
            assert!(ran_ns >= 60 * MS, "{name}: {ran_ns}");
            assert!(took < 50 * RUNTIME, "{name}: {took:?}");
            // Far more than one round over its 128 blocks, and each was counted.
            assert!(report.ops > 128, "{name}: {}", report.ops);
            assert_eq!(report.asked_bytes, report.ops * 4096, "{name}");
            assert_eq!(report.latency.unwrap().count(), report.ops, "{name}");
            let checked = verify(dir.path(), &dataset, &of_time.leaves(state), 4096);
            assert_eq!(checked.bad_files, 0, "{name}");
        }
    }
}

/// A thread that fails ends the phase, and the timer with it.
#[test]
fn a_phase_that_fails_does_not_wait_for_its_time() {
    let dataset = Dataset::uniform(1, 64 << 10, 0);
    let dir = temp_dir();
    let io = Io { runtime_ns: Some(3_600_000 * MS), ..by(2, Sharing::Own) };
    let began = Instant::now();
    let root = Root::open(dir.path()).unwrap();
    let of_time = phase(Op::RandRead, 4096, &io);
    let report = Job::new(&dataset, &of_time, seed(), seed()).run(&root).unwrap();
    assert_eq!(report.error.unwrap().call, "open");
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_runtime_is_for_random_ops_and_instead_of_their_number() {
    let dataset = Dataset::uniform(1, 64 << 10, 0);
    let refused = |op: Op, io: Io| {
        let phase = phase(op, 4096, &io);
        match Prepared::new(&Job::new(&dataset, &phase, seed(), seed())) {
            Err(EngineError::Mix { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let with = |runtime_ns| Io { runtime_ns: Some(runtime_ns), ..Io::default() };
    assert!(refused(Op::BigRead, with(MS)).contains("a runtime for big-read"));
    assert!(refused(Op::RandRead, with(0)).contains("a runtime of 0 ns"));
    let both = Io { ops: Some(4), ..with(MS) };
    assert!(refused(Op::RandRead, both).contains("ops and a runtime"));
}
