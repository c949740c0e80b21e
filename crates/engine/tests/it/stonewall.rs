//! Phases that end by the clock: every thread goes on to the largest count, and what follows finds
//! just what is there.

use crate::support::{by, phase, run as run_all, seed, temp_dir, verify};
use fsarena_engine::root::make_dirs;
use fsarena_engine::stonewall::OtherRanks;
use fsarena_engine::{EngineError, Job, Prepared, Root};
use fsarena_model::work::{
    Backend, Dataset, DatasetState, Fsync, Io, Op, Order, Phase, Sharing, WorkerReport,
};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const MS: u64 = 1_000_000;

fn walled(op: Op, bs_bytes: u64, wall_ns: u64, io: Io) -> Phase {
    phase(op, bs_bytes, &Io { stonewall_ns: Some(wall_ns), ..io })
}

/// Runs a phase with a stonewall and says what it leaves.
fn run_walled(dir: &Path, dataset: &Dataset, phase: &Phase) -> (WorkerReport, DatasetState) {
    let root = Root::open(dir).unwrap();
    make_dirs(&root, dataset).unwrap();
    let report = Job::new(dataset, phase, seed(), seed()).run(&root).unwrap();
    assert_eq!(report.error, None);
    let wall = report.stonewall.unwrap();
    let state = phase.leaves_at(DatasetState::default(), wall.each_ops);
    (report, state)
}

fn files_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let count = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => files_below(&entry.path()),
        false => 1,
    };
    entries.map(count).sum()
}

#[test]
fn later_phases_find_what_every_thread_made() {
    for sharing in [Sharing::Own, Sharing::Shared] {
        let dataset = Dataset::uniform(1_000_000, 700, 12);
        let dir = temp_dir();
        let create = walled(Op::Create, 4096, 40 * MS, by(3, sharing));
        let (report, mut state) = run_walled(dir.path(), &dataset, &create);
        let wall = report.stonewall.unwrap();
        assert!(wall.reached && wall.fewest_ops > 0, "{wall:?}");
        let each: Vec<u64> = report.threads.iter().map(|thread| thread.ops).collect();
        assert_eq!(each, [wall.each_ops; 3], "worn out to the same count");
        assert!(wall.ops <= report.ops && wall.ops + 3 >= 3 * wall.fewest_ops, "{wall:?}");
        assert_eq!(wall.asked_bytes, wall.ops * 700);
        assert_eq!(report.latency.unwrap().count(), report.ops);
        assert!(report.returned_monotonic_ns - report.start_monotonic_ns >= 40 * MS);
        let there = report.ops;
        assert_eq!((dataset.count_in(&state), files_below(dir.path())), (there, there));
        assert_eq!(dataset.bytes_in(&state), there * 700);

        for (op, threads, sharing, order) in [
            (Op::Stat, 3, sharing, Order::Sequential),
            (Op::Read, 2, Sharing::Own, Order::Random),
            (Op::Overwrite, 5, Sharing::Shared, Order::Sequential),
            (Op::Append, 1, Sharing::Own, Order::Random),
            (Op::BigRead, 4, Sharing::Own, Order::Sequential),
            (Op::Link, 5, Sharing::Own, Order::Sequential),
            (Op::Rename, 3, Sharing::Own, Order::Sequential),
        ] {
            let bs_bytes = if op == Op::Append { 4096 } else { 8192 };
            let phase = Phase { order, ..phase(op, bs_bytes, &by(threads, sharing)) };
            let report = run_all(dir.path(), &dataset, &mut state, &phase);
            assert_eq!((report.error, report.ops), (None, there), "{op:?} {sharing:?}");
        }
        let find = phase(Op::Find, 0, &by(4, Sharing::Own));
        let report = run_all(dir.path(), &dataset, &mut state, &find);
        assert_eq!((report.error, report.ops), (None, 2 * there + 12), "files and links");
        let found = verify(dir.path(), &dataset, &state, 4096);
        assert_eq!((found.files, found.bad_files), (there, 0), "{:?}", found.examples);
        let delete = phase(Op::Delete, 4096, &by(2, Sharing::Own));
        let delete = Phase { io: Io { fsync: Fsync::Dir, ..delete.io.clone() }, ..delete };
        let report = run_all(dir.path(), &dataset, &mut state, &delete);
        assert_eq!((report.error, report.ops), (None, there));
        assert_eq!(files_below(dir.path()), 0, "nothing else was there");
    }
}

#[test]
fn big_files_are_as_long_as_the_largest_count() {
    for (sharing, files) in [(Sharing::Own, 3), (Sharing::Interleaved, 1)] {
        let dataset = Dataset::uniform(files, 1 << 40, 0);
        let dir = temp_dir();
        let io = Io { fsync: Fsync::File, ..by(3, sharing) };
        let write = walled(Op::BigWrite, 47_008, 20 * MS, io);
        let (report, mut state) = run_walled(dir.path(), &dataset, &write);
        let wall = report.stonewall.unwrap();
        let each: Vec<u64> = report.threads.iter().map(|thread| thread.ops).collect();
        assert_eq!((each, wall.reached), (vec![wall.each_ops; 3], true));
        let all_bytes = 3 * wall.each_ops * 47_008;
        assert_eq!((report.asked_bytes, dataset.bytes_in(&state)), (all_bytes, all_bytes));
        assert_eq!(wall.asked_bytes, wall.ops * 47_008);
        let entries = std::fs::read_dir(dir.path()).unwrap().flatten();
        let lengths: u64 = entries.map(|entry| entry.metadata().unwrap().len()).sum();
        assert_eq!(lengths, all_bytes, "{sharing:?}");
        let io = Io { shift: 1, ..by(3, sharing) };
        let read = phase(Op::BigRead, 47_008, &io);
        let report = run_all(dir.path(), &dataset, &mut state, &read);
        assert_eq!((report.error, report.asked_bytes), (None, all_bytes));
        let found = verify(dir.path(), &dataset, &state, 1 << 16);
        assert_eq!((found.files, found.bad_files), (files, 0), "{:?}", found.examples);
    }
}

#[test]
fn a_wall_that_is_never_reached_cuts_nothing() {
    let dataset = Dataset::uniform(31, 2500, 4);
    let dir = temp_dir();
    let create = walled(Op::Create, 1000, 3_600_000 * MS, by(4, Sharing::Own));
    let (report, state) = run_walled(dir.path(), &dataset, &create);
    let wall = report.stonewall.unwrap();
    assert_eq!((wall.reached, wall.ops, wall.asked_bytes), (false, 31, 31 * 2500));
    assert_eq!((wall.fewest_ops, wall.each_ops), (7, 8));
    assert_eq!(dataset.count_in(&state), 31);
    let dataset = Dataset::uniform(1, 100_001, 0);
    let write = walled(Op::BigWrite, 1000, 3_600_000 * MS, by(4, Sharing::Interleaved));
    let (report, state) = run_walled(temp_dir().path(), &dataset, &write);
    let wall = report.stonewall.unwrap();
    assert_eq!((wall.ops, wall.asked_bytes, wall.each_ops), (101, 100_001, 26));
    assert_eq!(dataset.bytes_in(&state), 100_001);
}

/// Other ranks of which one has done so much more.
struct Ahead {
    by_ops: u64,
    said: AtomicU64,
}

impl OtherRanks for Ahead {
    fn say_most(&self, most_ops: u64) {
        assert_eq!(self.said.swap(most_ops, Ordering::SeqCst), 0, "said once");
    }

    fn hear_most(&self) -> Option<u64> {
        Some(self.said.load(Ordering::SeqCst) + self.by_ops)
    }
}

#[test]
fn a_rank_goes_on_to_the_count_of_another() {
    let dataset = Dataset::uniform(1_000_000, 10, 8);
    let dir = temp_dir();
    let root = Root::open(dir.path()).unwrap();
    make_dirs(&root, &dataset).unwrap();
    let io = Io { ranks: 2, ..by(4, Sharing::Own) };
    let create = walled(Op::Create, 4096, 20 * MS, io);
    let job = Job { rank: 1, ..Job::new(&dataset, &create, seed(), seed()) };
    let ahead = Ahead { by_ops: 57, said: AtomicU64::new(0) };
    let mut prepared = Prepared::new(&job).unwrap();
    let report = prepared.run_beside(&root, &mut |_| {}, Some(&ahead));
    let said = ahead.said.load(Ordering::SeqCst);
    assert!(said > 0);
    let each: Vec<u64> = report.threads.iter().map(|thread| thread.ops).collect();
    assert_eq!(each, [said + 57; 2]);
    assert_eq!(report.stonewall.unwrap().each_ops, said + 57);
}

#[test]
fn what_cannot_end_by_the_clock_is_refused() {
    let set = Dataset::uniform(100, 1000, 10);
    let refused = |dataset: &Dataset, phase: &Phase| match Prepared::new(&Job::new(
        dataset,
        phase,
        seed(),
        seed(),
    ))
    .unwrap_err()
    {
        EngineError::Mix { what, .. } => what,
        other => panic!("{other:?}"),
    };
    let of = |op, io| refused(&set, &walled(op, 1000, MS, io));
    assert_eq!(of(Op::Read, Io::default()), "a stonewall with read");
    assert_eq!(of(Op::RandWrite, Io::default()), "a stonewall with randwrite");
    let ring = Io { backend: Backend::IoUring, ..Io::default() };
    assert_eq!(of(Op::Create, ring), "a stonewall with backend io_uring");
    let rate = Io { rate: Some(5), ..Io::default() };
    assert_eq!(of(Op::Create, rate), "a stonewall with a rate");
    let dirs = Io { fsync: Fsync::Dir, ..Io::default() };
    assert_eq!(of(Op::Create, dirs), "a stonewall with fsync = dir");
    assert_eq!(
        of(Op::BigWrite, by(2, Sharing::Own)),
        "a stonewall over 100 big files by 2 threads"
    );
    let random = Phase { order: Order::Random, ..walled(Op::Create, 1000, MS, Io::default()) };
    assert_eq!(refused(&set, &random), "a stonewall in random order");
    let never = walled(Op::Create, 1000, 0, Io::default());
    assert_eq!(refused(&set, &never), "a stonewall of 0 ns");
}
