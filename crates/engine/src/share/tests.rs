//! Shares against each other: nothing twice, nothing left out.

use super::*;
use fsarena_model::dataset::Distribution;
use fsarena_model::work::DatasetState;
use fsarena_model::work::Io;
use fsarena_model::work::Op;
use proptest::prelude::*;
use std::collections::HashSet;

fn phase(op: Op, threads: u32, sharing: Sharing) -> Phase {
    Phase { io: Io { threads, sharing, ..Io::default() }, ..Phase::new("p", op, 1000) }
}

fn shares(dataset: &Dataset, phase: &Phase) -> Vec<Share> {
    let seed = Seed::from_number(1);
    let share = |thread| Share::for_thread(dataset, phase, thread, &seed);
    (0..phase.io.threads).map(share).collect::<Result<_, _>>().unwrap()
}

/// All that the shares name, each as a number of its own; fails where one comes twice.
fn union(dataset: &Dataset, phase: &Phase) -> HashSet<u64> {
    let mut all = HashSet::new();
    let mut add = |number| assert!(all.insert(number), "{number} comes twice");
    for share in shares(dataset, phase) {
        match share {
            Share::Files(files) => {
                (0..files.count).for_each(|k| add(u64::from(files.file(k))));
            }
            Share::Find(share) => {
                (0..share.files.count).for_each(|k| add(u64::from(share.files.file(k))));
                let dirs = share.dirs().filter(|_| !share.is_flat);
                dirs.for_each(|dir| add(1 << 32 | u64::from(dir)));
            }
            Share::Dirs(dirs) => (0..dirs.count).for_each(|k| add(u64::from(dirs.first + k))),
            Share::Blocks(blocks) => (0..blocks.count).for_each(|k| {
                let (file, offset) = blocks.block(k);
                assert!(offset + blocks.bs_bytes <= dataset.size_bytes);
                add(u64::from(file) << 32 | offset);
            }),
            Share::Parts(part) => {
                let (from, to) = part.range(dataset.size_bytes);
                assert!(from.is_multiple_of(part.bs_bytes) || from == to);
                (from..to).for_each(&mut add);
            }
            Share::Interleaved(blocks) => {
                let blocks = offsets(&blocks, dataset.size_bytes).into_iter();
                blocks.for_each(|(from, to)| (from..to).for_each(&mut add));
            }
        }
    }
    all
}

/// From, to of each block in a file of `size_bytes`.
fn offsets(share: &InterleavedShare, size_bytes: u64) -> Vec<(u64, u64)> {
    let starts = (share.first_bytes..size_bytes).step_by(share.step_bytes as usize);
    starts.map(|from| (from, (from + share.bs_bytes).min(size_bytes))).collect()
}

#[test]
fn blocks_of_a_big_file_come_in_turn() {
    let set = Dataset::uniform(1, 5500, 0);
    let write = phase(Op::BigWrite, 4, Sharing::Interleaved);
    let blocks: Vec<_> = shares(&set, &write)
        .iter()
        .map(|share| {
            let Share::Interleaved(share) = share else { panic!("{share:?}") };
            offsets(share, 5500)
        })
        .collect();
    let wanted = [
        vec![(0, 1000), (4000, 5000)],
        vec![(1000, 2000), (5000, 5500)],
        vec![(2000, 3000)],
        vec![(3000, 4000)],
    ];
    assert_eq!(blocks, wanted);
    assert_eq!(union(&set, &write).len(), 5500);
    let alone = shares(&set, &phase(Op::BigWrite, 1, Sharing::Interleaved));
    assert!(matches!(alone[..], [Share::Files(_)]));
}

#[test]
fn own_is_whole_directories() {
    let per_dir = Distribution::Uniform { min: 0, max: 9 };
    let files = Dataset::files_of(20, &per_dir);
    let set = Dataset { per_dir: Some(per_dir), ..Dataset::uniform(files, 1, 20) };
    let starts = set.dir_starts().unwrap();
    for share in shares(&set, &phase(Op::Stat, 3, Sharing::Own)) {
        let Share::Files(files) = share else { panic!("{share:?}") };
        assert!(starts.contains(&u64::from(files.first)));
        assert!(starts.contains(&u64::from(files.first + files.count)));
    }
}

#[test]
fn shared_takes_turns() {
    let set = Dataset::uniform(10, 1, 0);
    let [Share::Files(first), Share::Files(second), Share::Files(third)] =
        shares(&set, &phase(Op::Create, 3, Sharing::Shared))[..]
    else {
        panic!()
    };
    assert_eq!((first.file(0), first.file(3), first.count), (0, 9, 4));
    assert_eq!((second.file(0), second.file(2), second.count), (1, 7, 3));
    assert_eq!((third.file(0), third.count), (2, 3));
}

#[test]
fn a_shifted_thread_has_the_share_of_another() {
    let set = Dataset::uniform(30, 5000, 5);
    for (op, sharing) in
        [(Op::Stat, Sharing::Own), (Op::Delete, Sharing::Shared), (Op::BigRead, Sharing::Shared)]
    {
        let plain = phase(op, 5, sharing);
        let shifted = Phase { io: Io { shift: 2, ..plain.io.clone() }, ..plain.clone() };
        let mut own = shares(&set, &plain);
        own.rotate_left(2);
        assert_eq!(shares(&set, &shifted), own, "{op:?}");
        assert_eq!(union(&set, &shifted), union(&set, &plain), "{op:?}");
    }
}

#[test]
fn more_ops_than_blocks_begin_again_in_another_order() {
    let mut randread = phase(Op::RandRead, 2, Sharing::Own);
    randread.io.ops = Some(30);
    let set = Dataset::uniform(2, 5500, 0);
    let places: Vec<_> = shares(&set, &randread)
        .iter()
        .flat_map(|share| {
            let Share::Blocks(blocks) = *share else { panic!() };
            (0..blocks.count).map(move |k| blocks.block(k))
        })
        .collect();
    assert_eq!(places.len(), 30);
    let turns: Vec<_> = places.chunks(10).collect();
    for turn in &turns {
        assert_eq!(turn.iter().collect::<HashSet<_>>().len(), 10, "each block once a turn");
    }
    assert!(turns[0] != turns[1] && turns[1] != turns[2]);
}

#[test]
fn threads_may_share_one_big_file() {
    let set = Dataset::uniform(1, 5500, 0);
    let read = phase(Op::BigRead, 4, Sharing::Shared);
    let ranges: Vec<(u64, u64)> = shares(&set, &read)
        .iter()
        .map(|share| {
            let Share::Parts(part) = share else { panic!("{share:?}") };
            part.range(5500)
        })
        .collect();
    assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ranges:?}");
    assert_eq!((ranges[0].0, ranges[3].1), (0, 5500));
    assert!(
        Share::for_thread(&set, &phase(Op::BigRead, 7, Sharing::Shared), 0, &Seed::from_number(1))
            .is_err()
    );
}

#[test]
fn less_to_do_than_threads_is_refused() {
    let refusal = |dataset: &Dataset, phase: &Phase| {
        Share::for_thread(dataset, phase, 0, &Seed::from_number(1)).unwrap_err().to_string()
    };
    let set = Dataset::uniform(3, 5000, 2);
    for sharing in [Sharing::Own, Sharing::Shared] {
        let text = refusal(&set, &phase(Op::Create, 4, sharing));
        assert!(text.contains("4 threads for 3 files"), "{text}");
    }
    let text = refusal(&set, &phase(Op::Create, 3, Sharing::Own));
    assert!(text.contains("3 threads for 2 directories") && text.contains("shared"), "{text}");
    let text = refusal(&set, &phase(Op::List, 3, Sharing::Own));
    assert!(text.contains("3 threads for 2 directories"), "{text}");
    for sharing in [Sharing::Own, Sharing::Shared] {
        let text = refusal(&Dataset::uniform(6, 5000, 0), &phase(Op::Find, 2, sharing));
        assert!(text.contains("2 threads for 0 directories"), "{text}");
    }
    let mut randread = phase(Op::RandRead, 3, Sharing::Own);
    randread.io.ops = Some(2);
    assert!(refusal(&set, &randread).contains("3 threads for 2 ops"));
    assert!(shares(&set, &phase(Op::BigRead, 3, Sharing::Own)).len() == 3);
    let none = phase(Op::RandRead, 1, Sharing::Own);
    assert!(refusal(&Dataset::uniform(3, 999, 0), &none).contains("no block"));
}

#[test]
fn a_thread_without_work_is_refused() {
    let refusal = |dataset: &Dataset, phase: &Phase| {
        Share::for_thread(dataset, phase, 0, &Seed::from_number(1)).unwrap_err().to_string()
    };
    // Two files in each of the first 12 directories.
    let text = refusal(&Dataset::uniform(24, 1, 16), &phase(Op::Create, 16, Sharing::Own));
    assert!(text.contains("16 threads, and one of them has nothing to do"), "{text}");
    // One call in each file: all of it would be one thread's.
    let text = refusal(&Dataset::uniform(8, 1000, 0), &phase(Op::BigRead, 4, Sharing::Shared));
    assert!(text.contains("nothing to do"), "{text}");
}

#[test]
fn more_ops_in_flight_than_there_are_is_refused() {
    let set = Dataset::uniform(20, 1000, 4);
    let ring = |op, threads, iodepth| {
        let mut phase = phase(op, threads, Sharing::Own);
        phase.io.iodepth = iodepth;
        enough(&set, &phase).map_err(|error| error.to_string())
    };
    assert_eq!(ring(Op::Create, 2, 10), Ok(()));
    let text = ring(Op::Create, 2, 11).unwrap_err();
    assert!(text.contains("iodepth 11, and a thread has 10 ops"), "{text}");
    assert!(ring(Op::RandRead, 1, 21).is_err() && ring(Op::RandRead, 1, 20).is_ok());
    assert!(ring(Op::Mkdir, 1, 8).is_ok());
}

proptest! {
    /// What the threads do is together the whole, and nothing is done twice.
    #[test]
    fn shares_are_disjoint_and_complete(
        files in 1u64..300, size_bytes in 1000u64..9000, dirs in 0u64..30, depth in 0u32..3,
        threads in 1u32..9, shared: bool, op in 0usize..Op::ALL.len(),
        drawn: bool,
    ) {
        let op = Op::ALL[op];
        // Its files are drawn, not shared.
        prop_assume!(op != Op::Cycle);
        let sharing = if shared { Sharing::Shared } else { Sharing::Own };
        let mut dataset = Dataset { depth, ..Dataset::uniform(files, size_bytes, dirs) };
        if drawn && dirs > 0 {
            let per_dir = Distribution::Uniform { min: 0, max: 11 };
            dataset.files = Dataset::files_of(dirs, &per_dir);
            dataset.per_dir = Some(per_dir);
        }
        let phase = phase(op, threads, sharing);
        prop_assume!(enough(&dataset, &phase).is_ok());
        let all = union(&dataset, &phase);
        for share in shares(&dataset, &phase) {
            let some = match share {
                Share::Files(files) => files.count > 0,
                Share::Parts(part) => part.range(size_bytes).0 < part.range(size_bytes).1,
                Share::Interleaved(blocks) => blocks.first_bytes < size_bytes,
                Share::Dirs(dirs) => dirs.count > 0 || threads == 1,
                Share::Find(share) => share.files.count > 0,
                Share::Blocks(blocks) => blocks.count > 0,
            };
            prop_assert!(some || dataset.files == 0, "{share:?}");
        }
        let wanted = match op {
            op if shared && threads > 1 && op.is_big() && !op.is_random() => size_bytes,
            op if op.is_big() && !op.is_random() => dataset.files,
            _ => phase.count(&dataset),
        };
        prop_assert_eq!(all.len() as u64, wanted);
    }

    /// What a stonewall leaves is what the first ops of each thread made, and later threads,
    /// however many there are, have all of that and nothing else.
    #[test]
    fn shares_are_of_what_a_stonewall_left(
        files in 1u64..300, dirs in 1u64..30, makers in 1u32..9, shared_makers: bool,
        each_ops in 0u64..60, threads in 1u32..9, shared: bool, op in 0usize..Op::ALL.len(),
        shift in 0u32..9,
    ) {
        let sharing = |shared| if shared { Sharing::Shared } else { Sharing::Own };
        let dataset = Dataset::uniform(files, 5000, dirs);
        let mut create = phase(Op::Create, makers, sharing(shared_makers));
        create.io.stonewall_ns = Some(1);
        prop_assume!(enough(&dataset, &create).is_ok());
        let state = create.leaves_at(DatasetState::default(), each_ops);
        let there = dataset.files_in(&state);
        let mut made: Vec<u64> = Vec::new();
        for share in shares(&dataset, &create) {
            let Share::Files(share) = share else { panic!("{share:?}") };
            let own = (0..share.count).map(|k| u64::from(share.file(k)));
            made.extend(own.take(usize::try_from(each_ops).unwrap()));
        }
        made.sort_unstable();
        let found: Vec<u64> = there.iter().cloned().flatten().collect();
        prop_assert_eq!(&made, &found);
        prop_assert_eq!(dataset.count_in(&state), made.len() as u64);
        prop_assert_eq!(dataset.bytes_in(&state), 5000 * made.len() as u64);

        let op = Op::ALL[op];
        let mut later = phase(op, threads, sharing(shared));
        later.io.shift = if op.takes_shift() { shift % threads } else { 0 };
        prop_assume!(op.takes_sharing(sharing(shared)) && enough(&dataset, &later).is_ok());
        let mut met: Vec<u64> = Vec::new();
        for share in shares(&dataset, &later) {
            let (share, which) = share.among(&there);
            let own = match share {
                Share::Files(files) => files,
                Share::Parts(part) => part.files,
                Share::Find(share) => share.files,
                _ => continue,
            };
            if let Share::Find(_) = share {
                // Only their number matters.
                met.extend(std::iter::repeat_n(0, own.count as usize));
                continue;
            }
            let which = which.unwrap_or_else(|| (0..own.count).collect());
            prop_assert_eq!(which.len(), own.count as usize);
            let met_here = which.into_iter().map(|k| u64::from(own.file(k)));
            met.extend(met_here);
        }
        met.sort_unstable();
        match op {
            Op::Find => prop_assert_eq!(met.len(), made.len()),
            op if op.is_about_dirs() || op.is_random() => prop_assert!(met.is_empty()),
            op if op.is_big() && shared && threads > 1 => {
                // Each thread has its part of every file.
                met.dedup();
                prop_assert_eq!(met, made);
            }
            _ => prop_assert_eq!(met, made),
        }
    }
}
