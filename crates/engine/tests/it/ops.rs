//! Every op by one thread and by three, with directories of their own and shared: what it leaves
//! behind is read again, byte by byte, and what it reports is what was done.

use crate::support::{by, phase, run, verify};
use fsarena_model::dataset::Distribution;
use fsarena_model::work::{
    Backend, Dataset, DatasetState, Fsync, Io, Op, Order, Phase, Sharing, WorkerReport,
};
use std::fs;
use std::path::Path;

fn whole(dir: &Path, dataset: &Dataset, state: &DatasetState, after: &str) {
    for bs_bytes in [700, 1 << 20] {
        let report = verify(dir, dataset, state, bs_bytes);
        assert_eq!((report.files, report.bad_files), (dataset.files, 0), "{after}: {report:#?}");
    }
}

fn honest(report: &WorkerReport, threads: u32, after: &str) {
    assert_eq!(report.error, None, "{after}");
    assert_eq!(report.latency.as_ref().unwrap().count(), report.ops, "{after}");
    assert_eq!(report.threads.len(), if threads > 1 { threads as usize } else { 0 });
    if threads > 1 {
        let sum = |of: fn(&fsarena_model::work::ThreadReport) -> u64| {
            report.threads.iter().map(of).sum::<u64>()
        };
        assert_eq!(sum(|thread| thread.ops), report.ops, "{after}");
        assert_eq!(sum(|thread| thread.asked_bytes), report.asked_bytes, "{after}");
        let last = report.threads.iter().map(|thread| thread.done_ns).max().unwrap();
        assert_eq!(last, report.returned_monotonic_ns - report.start_monotonic_ns);
        assert!(report.threads.iter().all(|thread| thread.started_ns <= thread.done_ns));
    }
}

/// Runs the phases one after the other and checks all contents after each.
fn workload(dataset: &Dataset, io: &Io, order: Order, bs_bytes: u64, ops: &[Op]) {
    let dir = crate::support::temp_dir();
    let mut state = DatasetState::default();
    for &op in ops {
        let phase = Phase { order, ..phase(op, bs_bytes, io) };
        let before = state;
        let report = run(dir.path(), dataset, &mut state, &phase);
        let after = format!("{op:?} {io:?} {order:?}");
        honest(&report, io.threads, &after);
        if before.appended_bytes == 0 {
            assert_eq!(report.ops, phase.count(dataset), "{after}");
        }
        let bytes = dataset.bytes() + dataset.files * before.appended_bytes;
        match op {
            Op::Append => assert_eq!(report.asked_bytes, dataset.files * bs_bytes, "{after}"),
            op if op.is_random() && op.moves_bytes() => {
                assert_eq!(report.asked_bytes, report.ops * bs_bytes, "{after}");
                assert_eq!(report.asked_written_bytes.is_some(), op == Op::RandRw);
                assert_eq!(report.write_latency.is_some(), op == Op::RandRw);
            }
            op if op.moves_bytes() => assert_eq!(report.asked_bytes, bytes, "{after}"),
            _ => assert_eq!(report.asked_bytes, 0, "{after}"),
        }
        if op == Op::Delete {
            state = DatasetState { appended_bytes: 0, ..state };
        } else if !matches!(op, Op::Mkdir | Op::Rmdir) {
            whole(dir.path(), dataset, &state, &after);
        }
    }
    if ops.last() == Some(&Op::Rmdir) {
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    }
}

const SMALL: [Op; 12] = [
    Op::Create,
    Op::Read,
    Op::Overwrite,
    Op::Stat,
    Op::Append,
    Op::Read,
    Op::Rename,
    Op::Overwrite,
    Op::Append,
    Op::Rename,
    Op::Read,
    Op::Delete,
];
const BIG: [Op; 8] = [
    Op::BigWrite,
    Op::BigRead,
    Op::BigOverwrite,
    Op::RandWrite,
    Op::RandRead,
    Op::RandRw,
    Op::RandTrim,
    Op::BigRead,
];

fn ways() -> [Io; 3] {
    [by(1, Sharing::Own), by(3, Sharing::Own), by(3, Sharing::Shared)]
}

#[test]
fn small_files_in_every_way() {
    for io in ways() {
        for order in [Order::Sequential, Order::Random] {
            for (size_bytes, bs_bytes) in [(256, 4096), (3000, 1000), (0, 10)] {
                workload(&Dataset::uniform(50, size_bytes, 7), &io, order, bs_bytes, &SMALL);
            }
        }
    }
}

#[test]
fn big_files_in_every_way() {
    for io in ways() {
        for (size_bytes, bs_bytes) in [(2_500_000, 65_536), (40_000, 4096), (9_000, 1000)] {
            let big = Dataset::uniform(3, size_bytes, 0);
            let shared = io.sharing == Sharing::Shared;
            let mut ops = BIG;
            if shared {
                // Only one thread can make a file.
                ops[0] = Op::Create;
                let dir = crate::support::temp_dir();
                let mut state = DatasetState::default();
                run(dir.path(), &big, &mut state, &phase(Op::Create, bs_bytes, &io));
                whole(dir.path(), &big, &state, "create");
            }
            workload(&big, &io, Order::Sequential, bs_bytes, &ops);
        }
    }
}

/// Blocks in turn, also of no multiple of a page or sector, hold what one thread would write.
#[test]
fn interleaved_blocks_in_every_way() {
    const BIG_FILES: [Op; 3] = [Op::BigWrite, Op::BigRead, Op::BigOverwrite];
    let by_turns = by(3, Sharing::Interleaved);
    for (files, size_bytes, bs_bytes) in
        [(1, 2_500_000, 47_008), (3, 40_000, 4096), (2, 9_001, 1000)]
    {
        let big = Dataset::uniform(files, size_bytes, 0);
        for fsync in [Fsync::None, Fsync::Op, Fsync::File, Fsync::Dir] {
            let io = Io { fsync, ..by_turns.clone() };
            workload(&big, &io, Order::Sequential, bs_bytes, &BIG_FILES);
        }
        for (iodepth, backend) in [(1, Backend::IoUring), (3, Backend::IoUring)] {
            let io = Io { iodepth, backend, ..by_turns.clone() };
            if let Err(error) = fsarena_engine::uring::check(Op::BigWrite, &io) {
                println!("not run: interleaved_blocks_in_every_way by io_uring: {error}");
                continue;
            }
            if big.fewest_ops(&phase(Op::BigWrite, bs_bytes, &io)) >= 3 {
                workload(&big, &io, Order::Sequential, bs_bytes, &BIG_FILES);
            }
        }
    }
    // An empty file is one too.
    let sizes = Distribution::Weighted { values: vec![(0, 1), (30_000, 1)] };
    let drawn = Dataset { sizes: Some(sizes), ..Dataset::uniform(12, 30_000, 2) };
    workload(&drawn, &by_turns, Order::Sequential, 700, &BIG_FILES);
}

#[test]
fn directories_in_every_way() {
    for (dirs, depth) in [(9, 1), (9, 2), (30, 3)] {
        let dataset = Dataset { depth, ..Dataset::uniform(60, 100, dirs) };
        let ops = [Op::Mkdir, Op::Create, Op::List, Op::Delete, Op::Rmdir];
        for order in [Order::Sequential, Order::Random] {
            let threads = if depth == 1 { 3 } else { 1 };
            if depth > 1 && order == Order::Random {
                continue;
            }
            for threads in [1, threads] {
                for fsync in [Fsync::None, Fsync::Op, Fsync::Dir] {
                    let io = Io { fsync, ..by(threads, Sharing::Own) };
                    workload(&dataset, &io, order, 4096, &ops);
                }
            }
        }
        let dir = crate::support::temp_dir();
        let mut state = DatasetState::default();
        run(dir.path(), &dataset, &mut state, &phase(Op::Create, 4096, &Io::default()));
        let list = phase(Op::List, 0, &by(3, Sharing::Own));
        let report = run(dir.path(), &dataset, &mut state, &list);
        assert_eq!((report.error, report.ops), (None, dataset.directories()));
    }
    let flat = Dataset::uniform(60, 100, 0);
    workload(&flat, &Io::default(), Order::Random, 64, &[Op::Create, Op::List, Op::Delete]);
}

#[test]
fn names_of_255_bytes_deep_below() {
    let dataset = Dataset { name_bytes: Some(255), depth: 4, ..Dataset::uniform(40, 300, 16) };
    for io in ways() {
        workload(&dataset, &io, Order::Random, 4096, &SMALL);
    }
    let dir = crate::support::temp_dir();
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::Create, 4096, &Io::default()));
    let name = format!("d00001/d00000/d00001/d00000/f00000030{}", "x".repeat(246));
    assert!(dir.path().join(name).exists(), "leaf 10 of 2^4 is 1010");
}

#[test]
fn sizes_and_directories_by_distribution() {
    let per_dir = Distribution::Uniform { min: 0, max: 12 };
    let files = Dataset::files_of(12, &per_dir);
    // Not log-normal: without optimisation its table takes long to make.
    let sizes = Distribution::Weighted {
        values: vec![(0, 1), (100, 3), (512, 2), (4096, 2), (5000, 3), (60_000, 1)],
    };
    let dataset = Dataset {
        sizes: Some(sizes),
        per_dir: Some(per_dir),
        depth: 2,
        ..Dataset::uniform(files, 60_000, 12)
    };
    for io in ways() {
        for bs_bytes in [4096, 65_536] {
            workload(&dataset, &io, Order::Random, bs_bytes, &SMALL);
            workload(&dataset, &io, Order::Sequential, bs_bytes, &SMALL);
        }
    }
    let ops = [Op::BigWrite, Op::BigRead, Op::BigOverwrite, Op::Overwrite];
    workload(&dataset, &by(3, Sharing::Own), Order::Random, 1000, &ops);
    let ops = [Op::Create, Op::BigRead, Op::BigOverwrite, Op::Read];
    workload(&dataset, &by(3, Sharing::Shared), Order::Sequential, 1000, &ops);
}

/// A walk sees every file and directory once, and tells those of one size that are new.
#[test]
fn find_counts_what_is_there() {
    let sizes = Distribution::Weighted { values: vec![(100, 1), (3901, 1)] };
    let nested = Dataset { sizes: Some(sizes), depth: 3, ..Dataset::uniform(60, 3901, 12) };
    let wanted = (0..60).filter(|&file| nested.draw_sizes().value_at(file) == 3901).count() as u64;
    for (dataset, threads) in [(&nested, 1), (&nested, 4), (&Dataset::uniform(60, 5, 0), 1)] {
        let dir = crate::support::temp_dir();
        let mut state = DatasetState::default();
        let mut run = |op, bs_bytes| {
            let io = by(threads, Sharing::Own);
            run(dir.path(), dataset, &mut state, &phase(op, bs_bytes, &io))
        };
        run(Op::Create, 4096);
        let report = run(Op::Find, 0);
        honest(&report, threads, "find");
        let found = report.find.unwrap();
        assert_eq!(found.entries, 60 + dataset.directories());
        assert_eq!((found.directories, report.ops), (dataset.directories(), found.entries));
        let is_nested = dataset.dirs > 0;
        let all = if is_nested { wanted } else { 60 };
        assert_eq!((found.matches, found.size_bytes), (all, dataset.size_bytes));
        assert_eq!(run(Op::Find, 17).find.unwrap().matches, 0, "no file is so long");
        run(Op::Link, 4096);
        assert_eq!(run(Op::Find, 0).find.unwrap().matches, 2 * all);
        // What the dataset does not have is an error, and so is what is missing.
        let place = dir.path().join(if is_nested { "d00000/d00000/d00000" } else { "" });
        fs::write(place.join("stranger"), "").unwrap();
        let error = run(Op::Find, 0).error.unwrap();
        assert_eq!((error.call.as_str(), error.path.as_str()), ("find", "."));
        assert!(error.text.contains("files seen, and the dataset has"), "{error:?}");
    }
}

#[test]
fn find_takes_what_is_newer_than_a_moment() {
    let dir = crate::support::temp_dir();
    let (dataset, mut state) = (Dataset::uniform(9, 5, 0), DatasetState::default());
    run(dir.path(), &dataset, &mut state, &phase(Op::Create, 4096, &Io::default()));
    let find = phase(Op::Find, 0, &Io::default());
    let root = fsarena_engine::Root::open(dir.path()).unwrap();
    let matches = |newer_than_unix_ns: u64| {
        let job = fsarena_engine::Job::new(
            &dataset,
            &find,
            crate::support::seed(),
            crate::support::seed(),
        );
        let job = fsarena_engine::Job { newer_than_unix_ns, ..job };
        let found = job.run(&root).unwrap().find.unwrap();
        assert_eq!(found.newer_than_unix_ns, newer_than_unix_ns);
        found.matches
    };
    assert_eq!((matches(0), matches(u64::MAX)), (9, 0));
}

/// A random write of whole sectors leaves the next version in those and in no other.
#[test]
fn random_writes_stamp_what_they_write() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(1, 64 * 1024, 0);
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 65_536, &Io::default()));
    let io = Io { ops: Some(5), ..Io::default() };
    run(dir.path(), &dataset, &mut state, &phase(Op::RandWrite, 4096, &io));
    assert_eq!((state.oldest_version, state.newest_version), (1, 2));
    let bytes = fs::read(dir.path().join("f00000000")).unwrap();
    let second = bytes.chunks(512).filter(|sector| sector[6] == 2).count();
    let first = bytes.chunks(512).filter(|sector| sector[6] == 1).count();
    assert_eq!((first, second), (128 - 40, 40));
    whole(dir.path(), &dataset, &state, "randwrite");
    // A version that no phase can have left is found.
    let mut wrong = bytes;
    wrong[512 * 9 + 6] = 3;
    fs::write(dir.path().join("f00000000"), wrong).unwrap();
    let report = verify(dir.path(), &dataset, &state, 4096);
    assert!(report.examples[0].contains("holds version 3, and 1 to 2"), "{report:?}");
}

#[test]
fn random_ops_repeat_beyond_the_blocks() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(2, 40_960, 0);
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 4096, &Io::default()));
    for threads in [1, 3] {
        let io = Io { ops: Some(110), rwmixread_percent: 70, ..by(threads, Sharing::Shared) };
        let report = run(dir.path(), &dataset, &mut state, &phase(Op::RandRw, 4096, &io));
        honest(&report, threads, "randrw");
        assert_eq!((report.ops, report.asked_bytes), (110, 110 * 4096));
        let written = report.asked_written_bytes.unwrap() / 4096;
        assert!((15..55).contains(&written), "about 33 of 110: {written}");
        assert_eq!(report.write_latency.unwrap().count(), written);
        whole(dir.path(), &dataset, &state, "randrw");
    }
}

#[test]
fn the_null_backend_touches_nothing_and_counts_all() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(60, 5000, 7);
    for op in Op::ALL.into_iter().filter(|op| *op != Op::Cycle) {
        let mut state = DatasetState::default();
        let io = Io { backend: Backend::Null, ..by(3, Sharing::Own) };
        let phase = phase(op, 1000, &io);
        let report = run(dir.path(), &dataset, &mut state, &phase);
        honest(&report, 3, op.name());
        assert_eq!(report.ops, phase.count(&dataset));
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn durable_writes_and_policies_leave_the_same_contents() {
    for fsync in [Fsync::Dsync, Fsync::Op, Fsync::File, Fsync::Dir, Fsync::End] {
        let io = Io { fsync, ..by(2, Sharing::Own) };
        workload(&Dataset::uniform(6, 5000, 2), &io, Order::Random, 1000, &SMALL);
        workload(&Dataset::uniform(2, 5000, 0), &io, Order::Sequential, 1000, &BIG);
    }
}

/// Direct I/O where the file system of the temporary directory has it.
#[test]
fn direct_io_writes_and_reads_the_same_contents() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let dataset = Dataset::uniform(3, 256 * 1024, 0);
    let direct = Io { direct: true, ..Io::default() };
    let mut state = DatasetState::default();
    let first = run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 65_536, &direct));
    if first.error.as_ref().is_some_and(|error| error.errno == 22) {
        println!("not run: direct_io needs a file system with O_DIRECT in /var/tmp");
        return;
    }
    honest(&first, 1, "direct");
    whole(dir.path(), &dataset, &state, "direct");
    for (op, threads) in
        BIG[1..].iter().flat_map(|&op| [(op, 1), (op, 3)]).chain([(Op::Append, 1), (Op::Read, 1)])
    {
        let io = Io { direct: true, ..by(threads, Sharing::Shared) };
        let report = run(dir.path(), &dataset, &mut state, &phase(op, 16_384, &io));
        honest(&report, threads, op.name());
        whole(dir.path(), &dataset, &state, op.name());
    }
    // A tail that is no whole sector can be read, if not written.
    let odd = Dataset::uniform(3, 10_001, 1);
    let mut state = DatasetState::default();
    run(dir.path(), &odd, &mut state, &phase(Op::Create, 4096, &Io::default()));
    for op in [Op::Read, Op::BigRead] {
        let report = run(dir.path(), &odd, &mut state, &phase(op, 4096, &direct));
        honest(&report, 1, op.name());
        assert_eq!(report.asked_bytes, 3 * 10_001);
    }
}

/// Memory copies in place of calls, in all that they can do.
#[test]
fn mappings_leave_the_same_contents() {
    let moved: Vec<Op> = BIG.into_iter().filter(|op| op.moves_bytes()).collect();
    for (threads, sharing) in [(1, Sharing::Own), (3, Sharing::Own), (3, Sharing::Shared)] {
        for fsync in [Fsync::None, Fsync::Op, Fsync::File] {
            let io = Io { backend: Backend::Mmap, fsync, ..by(threads, sharing) };
            let dataset = Dataset::uniform(3, 40_000, 0);
            if sharing == Sharing::Own {
                workload(&dataset, &io, Order::Sequential, 4096, &moved);
                continue;
            }
            let dir = crate::support::temp_dir();
            let mut state = DatasetState::default();
            run(dir.path(), &dataset, &mut state, &phase(Op::Create, 4096, &Io::default()));
            for &op in &moved[1..] {
                honest(&run(dir.path(), &dataset, &mut state, &phase(op, 4096, &io)), 3, "mmap");
                whole(dir.path(), &dataset, &state, op.name());
            }
        }
    }
}

/// The same work through io_uring, one op in flight and many.
#[test]
fn rings_leave_the_same_contents() {
    let dataset = Dataset::uniform(50, 3000, 7);
    let io = Io { backend: Backend::IoUring, ..Io::default() };
    let probe = fsarena_engine::uring::check(Op::Create, &io);
    if let Err(error) = probe {
        println!("not run: rings_leave_the_same_contents: {error}");
        return;
    }
    for (iodepth, threads, sharing) in
        [(1, 1, Sharing::Own), (8, 1, Sharing::Own), (4, 3, Sharing::Own), (4, 3, Sharing::Shared)]
    {
        let io = Io { iodepth, backend: Backend::IoUring, ..by(threads, sharing) };
        for order in [Order::Sequential, Order::Random] {
            workload(&dataset, &io, order, 1000, &SMALL);
        }
        if sharing == Sharing::Own {
            workload(&Dataset::uniform(3, 40_000, 0), &io, Order::Sequential, 4096, &BIG);
        }
    }
}
