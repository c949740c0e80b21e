//! Ranks: several processes' worth of threads do what as many threads of one process do.

use crate::support::{seed, temp_dir};
use fsarena_engine::root::make_dirs;
use fsarena_engine::{EngineError, Job, Prepared, Root};
use fsarena_model::work::{Dataset, DatasetState, Io, Op, Order, Phase, Sharing};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RANKS: u32 = 4;

/// Every file below `dir` with its bytes.
fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let name = entry.path().strip_prefix(dir).unwrap().display().to_string();
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// Runs the ranks of a phase one after the other, as hosts would at one time; the sum of their ops.
fn run(dir: &Path, dataset: &Dataset, state: DatasetState, phase: &Phase) -> u64 {
    let root = Root::open(dir).unwrap();
    let ranks = (0..phase.io.ranks).map(|rank| {
        let job = Job { state, rank, ..Job::new(dataset, phase, seed(), seed()) };
        let report = Prepared::new(&job).unwrap().run_on(&root);
        assert_eq!(report.error, None, "rank {rank}");
        assert_eq!(report.threads.len(), phase.io.threads_of(rank).len(), "rank {rank}");
        report.ops
    });
    ranks.sum()
}

#[test]
fn ranks_with_one_thread_touch_the_files_of_one_rank_with_their_threads() {
    for (sharing, order) in [
        (Sharing::Own, Order::Sequential),
        (Sharing::Own, Order::Random),
        (Sharing::Shared, Order::Random),
    ] {
        let dataset = Dataset::uniform(50, 1500, 8);
        let trees = [1, RANKS].map(|ranks| {
            let dir = temp_dir();
            let io = Io { threads: RANKS, ranks, sharing, ..Io::default() };
            make_dirs(&Root::open(dir.path()).unwrap(), &dataset).unwrap();
            let phase = |op| Phase { order, io: io.clone(), ..Phase::new("p", op, 1000) };
            let create = phase(Op::Create);
            assert_eq!(run(dir.path(), &dataset, DatasetState::default(), &create), 50);
            let state = create.leaves(DatasetState::default());
            assert_eq!(run(dir.path(), &dataset, state, &phase(Op::Append)), 50);
            let state = phase(Op::Append).leaves(state);
            assert_eq!(run(dir.path(), &dataset, state, &phase(Op::Read)), 50);
            tree(dir.path())
        });
        assert_eq!(trees[0].len(), 50);
        assert_eq!(trees[0], trees[1], "{sharing:?} {order:?}");
    }
}

/// The random calls of all ranks are those of the threads of one: each block once.
#[test]
fn ranks_write_every_block_of_a_file_once() {
    let dataset = Dataset::uniform(1, 64 * 4096, 0);
    let dir = temp_dir();
    let root = Root::open(dir.path()).unwrap();
    let write = Phase::new("w", Op::BigWrite, 4096);
    Job::new(&dataset, &write, seed(), seed()).run(&root).unwrap();
    let state = write.leaves(DatasetState::default());
    let io = Io { threads: 6, ranks: 3, ..Io::default() };
    let phase = Phase { io, ..Phase::new("r", Op::RandRead, 4096) };
    assert_eq!(run(dir.path(), &dataset, state, &phase), 64);
}

/// A rank that is shifted works on what another one has made, and on nothing else.
#[test]
fn a_shifted_rank_deletes_what_its_neighbour_made() {
    let dataset = Dataset::uniform(40, 100, 4);
    let dir = temp_dir();
    let root = Root::open(dir.path()).unwrap();
    make_dirs(&root, &dataset).unwrap();
    let io = Io { threads: 2, ranks: 2, ..Io::default() };
    let create = Phase { io: io.clone(), ..Phase::new("c", Op::Create, 1000) };
    let alone = |rank, phase: &Phase| {
        let state = DatasetState::default();
        let job = Job { rank, state, ..Job::new(&dataset, phase, seed(), seed()) };
        assert_eq!(Prepared::new(&job).unwrap().run_on(&root).error, None);
    };
    alone(0, &create);
    let of_first = tree(dir.path());
    assert_eq!(of_first.len(), 20);
    alone(1, &create);
    let delete = Phase { io: Io { shift: 1, ..io }, ..Phase::new("d", Op::Delete, 1000) };
    alone(0, &delete);
    assert_eq!(tree(dir.path()), of_first);
    alone(1, &delete);
    assert!(tree(dir.path()).is_empty());
}

#[test]
fn a_rank_that_there_is_not_is_refused() {
    let dataset = Dataset::uniform(8, 0, 4);
    for (rank, ranks, threads) in [(2, 2, 2), (1, 2, 1), (0, 0, 1)] {
        let io = Io { threads, ranks, ..Io::default() };
        let phase = Phase { io, ..Phase::new("p", Op::Create, 1) };
        let job = Job { rank, ..Job::new(&dataset, &phase, seed(), seed()) };
        let refused = Prepared::new(&job).unwrap_err();
        assert!(matches!(refused, EngineError::Mix { .. }), "{refused}");
        assert!(refused.to_string().contains(&format!("rank {rank} of {ranks}")), "{refused}");
    }
}
