//! Cycles of updates: what each kind does, when cycles start, and what is left behind.

use crate::support::cycles::{CycleFixture, MS, cycle_reports, cycles};
use crate::support::{Asking, seed};
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::{InjectedDelay, Job, Prepared, Root};
use fsarena_model::cycle::{Cycle, Overrun, UpdateKind};
use fsarena_model::dataset::Distribution;
use fsarena_model::work::{Backend, Dataset, Fsync, Io, Op, Order, Phase};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Barrier, Mutex};

const ONLY: [[u32; 5]; 5] =
    [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]];

/// Sizes from none to several calls.
fn drawn() -> Dataset {
    let sizes = Distribution::Lognormal { median: 3000, sigma: 1.2, min: 0, max: 40_000 };
    Dataset { sizes: Some(sizes), ..Dataset::uniform(120, 40_000, 7) }
}

/// Inode and size of each file of the dataset, by its path.
fn inodes(dir: &Path) -> BTreeMap<String, (u64, u64)> {
    let mut found = BTreeMap::new();
    for leaf in std::fs::read_dir(dir).unwrap() {
        for file in std::fs::read_dir(leaf.unwrap().path()).unwrap() {
            let file = file.unwrap();
            let meta = file.metadata().unwrap();
            found.insert(file.path().display().to_string(), (meta.ino(), meta.len()));
        }
    }
    found
}

#[test]
fn each_kind_does_what_it_says() {
    for (weights, kind) in ONLY.into_iter().zip(UpdateKind::ALL) {
        let name = kind.name();
        let mut fixture = CycleFixture::new(drawn());
        // A link holds the old inode, so that a new file cannot get its number.
        let held = crate::support::temp_dir();
        let before = inodes(fixture.path());
        for (index, path) in before.keys().enumerate() {
            std::fs::hard_link(path, held.path().join(index.to_string())).unwrap();
        }
        let (report, _) = fixture.done(&cycles(1, 120, weights));
        let after = inodes(fixture.path());
        assert_eq!(after.len(), before.len(), "{name}: temporary files are gone");
        let new_inode = matches!(kind, UpdateKind::Replace | UpdateKind::Recreate);
        for (path, (inode, size)) in &after {
            assert_eq!(*size, before[path].1, "{name}: {path} keeps its size");
            assert_eq!(*inode != before[path].0, new_inode, "{name}: {path}");
        }
        let [one] = cycle_reports(&report) else { panic!("{report:?}") };
        let count = |cycle_reports: usize| one.kinds[cycle_reports];
        assert_eq!(count(kind as usize), 120);
        assert_eq!((one.worst_kind, one.collisions, one.beside), (Some(kind), 0, 0));
        assert_eq!(one.asked_bytes, fixture.dataset.bytes());
        fixture.whole();
    }
}

/// The calls of each kind, counted: files of 3000 bytes in calls of 1000.
#[test]
fn each_kind_makes_its_calls() {
    for (weights, wanted) in ONLY.into_iter().zip([
        vec![("open_write", 9)],
        vec![("open_truncate", 9)],
        vec![("create", 9), ("rename", 9)],
        vec![("create", 9), ("unlink", 9)],
        vec![("create", 9), ("unlink", 9)],
    ]) {
        for (fsync, fsyncs, syncs) in [
            (Fsync::None, 0, 1),
            (Fsync::Op, 9, 1),
            (Fsync::File, 9, 1),
            (Fsync::End, 0, 2),
            (Fsync::Dsync, 0, 1),
        ] {
            let fixture = CycleFixture::new(Dataset::uniform(9, 3000, 2));
            let root = Root::open(fixture.path()).unwrap();
            let io = Io { fsync, ..Io::default() };
            let plain = Phase::of_cycles("c", cycles(1, 9, weights), 1000);
            let phase = Phase { io: io.clone(), ..plain };
            let counts = Mutex::new(BTreeMap::new());
            let ask = |call| {
                *counts.lock().unwrap().entry(call).or_insert(0) += 1;
                Ok(())
            };
            let backend = Asking { real: Sync::new(&root, &io), ask };
            let job = Job::new(&fixture.dataset, &phase, seed(), seed());
            let report = Prepared::new(&job).unwrap().run(&backend);
            assert_eq!(report.error, None);
            let mut all = BTreeMap::from([("close", 9), ("sync", syncs), ("write", 27)]);
            all.extend(wanted.iter().copied());
            all.extend((fsyncs > 0).then_some(("fsync", fsyncs)));
            assert_eq!(*counts.lock().unwrap(), all, "{weights:?} {fsync:?}");
        }
    }
}

#[test]
fn many_cycles_leave_every_byte_right() {
    for order in [Order::Sequential, Order::Random] {
        for latency in [true, false] {
            let mut fixture = CycleFixture { latency, ..CycleFixture::new(drawn()) };
            let cycle = cycles(4, 50, [3, 2, 2, 2, 1]);
            let phase = Phase { order, ..Phase::of_cycles("c", cycle.clone(), 1000) };
            let (report, events) = fixture.run(&phase);
            assert_eq!(report.error, None);
            crate::support::cycles::honest(&report, &cycle, &events);
            assert_eq!((report.ops, fixture.state.newest_version), (200, 5));
            assert_eq!(report.asked_written_bytes, None);
            fixture.whole();
            // What follows finds them, and the check is one.
            fixture.done(&cycles(1, 120, [1, 1, 1, 1, 1]));
            fixture.whole();
            let path = inodes(fixture.path()).into_iter().find(|(_, (_, size))| *size > 600);
            let path = path.unwrap().0;
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[599] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let report =
                crate::support::verify(fixture.path(), &fixture.dataset, &fixture.state, 4096);
            assert_eq!(report.bad_files, 1);
        }
    }
}

/// Each cycle writes a version of its own.
#[test]
fn a_cycle_writes_the_next_version() {
    let mut fixture = CycleFixture::new(Dataset::uniform(10, 1200, 0));
    fixture.done(&cycles(3, 10, [1, 1, 1, 1, 0]));
    for file in std::fs::read_dir(fixture.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert_eq!((bytes[6], bytes[512 + 6], bytes[7]), (4, 4, 0));
    }
    let renamed = Phase::new("rename", Op::Rename, 0);
    let dir = fixture.path().to_owned();
    crate::support::run(&dir, &fixture.dataset.clone(), &mut fixture.state, &renamed);
    fixture.done(&cycles(1, 10, [0, 0, 0, 1, 0]));
    fixture.whole();
}

#[test]
fn the_same_seed_takes_the_same_files() {
    let touched = |calls: &mut Vec<u64>| {
        let mut fixture = CycleFixture::new(drawn());
        let before = inodes(fixture.path());
        let (report, _) = fixture.done(&cycles(1, 30, [0, 0, 1, 0, 0]));
        calls.push(report.asked_bytes);
        let after = inodes(fixture.path());
        let changed = after.iter().filter(|(path, file)| before[*path] != **file);
        let names = changed.map(|(path, _)| path.rsplit_once("/d").unwrap().1.to_owned());
        names.collect::<Vec<_>>()
    };
    let mut bytes = vec![];
    let first = touched(&mut bytes);
    assert_eq!(first.len(), 30);
    assert_eq!(first, touched(&mut bytes));
    assert_eq!(bytes[0], bytes[1]);
}

/// Work of 200 ms at least in periods of 20 ms.
fn late(overrun: Overrun, number: u32) -> Cycle {
    Cycle { overrun, period_ns: 20 * MS, ..cycles(number, 20, [1, 1, 1, 1, 1]) }
}

fn slow() -> CycleFixture {
    CycleFixture {
        delay: InjectedDelay::from_ns(200 * MS),
        ..CycleFixture::new(Dataset::uniform(20, 5000, 3))
    }
}

#[test]
fn cycles_overlap_where_they_may() {
    let mut fixture = slow();
    let (report, _) = fixture.done(&late(Overrun::Overlap, 6));
    let cycles = cycle_reports(&report);
    assert_eq!(cycles[0].beside, 0);
    // Each works for ten periods.
    assert!(cycles[1..].iter().all(|cycle| cycle.beside >= 1), "{cycles:#?}");
    assert!(cycles.iter().all(|cycle| cycle.returned_ns - cycle.started_ns >= 200 * MS));
    fixture.whole();
}

/// The ninth waits for the first of eight that ends.
#[test]
fn a_start_beyond_the_limit_waits_and_shows_it() {
    let mut fixture = slow();
    let cycle = Cycle { period_ns: 1, ..late(Overrun::Overlap, 10) };
    let (report, _) = fixture.done(&cycle);
    let cycles = cycle_reports(&report);
    assert_eq!(cycles.iter().map(|cycle| cycle.beside).max(), Some(7));
    let first_end_ns = cycles[..8].iter().filter_map(|cycle| cycle.durable_ns).min().unwrap();
    assert!(cycles[8].started_ns >= first_end_ns && cycles[8].due_ns == 8);
    fixture.whole();
}

#[test]
fn starts_are_left_out_where_one_is_at_work() {
    let (report, _) = slow().done(&late(Overrun::Skip, 7));
    let cycles = cycle_reports(&report);
    let skipped = &report.cycles.as_ref().unwrap().skipped;
    assert!(skipped.len() >= 4, "{report:?}");
    assert!(cycles.iter().all(|cycle| cycle.beside == 0));
    let mut numbers: Vec<_> = cycles.iter().map(|c| c.number).chain(skipped.clone()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn starts_queue_where_they_shall() {
    let (report, _) = slow().done(&late(Overrun::Queue, 4));
    let cycles = cycle_reports(&report);
    assert_eq!(cycles.len(), 4);
    for pair in cycles.windows(2) {
        assert!(pair[1].started_ns >= pair[0].durable_ns.unwrap() && pair[1].beside == 0);
    }
}

#[test]
fn periods_that_are_long_enough_are_kept() {
    let mut fixture = CycleFixture::new(Dataset::uniform(20, 5000, 3));
    for overrun in Overrun::ALL {
        let name = overrun.name();
        let cycle = Cycle { overrun, period_ns: 100 * MS, ..cycles(3, 20, [1; 5]) };
        let (report, events) = fixture.done(&cycle);
        let over_ns = events.last().unwrap().monotonic_ns - report.start_monotonic_ns;
        assert!(over_ns >= 300 * MS, "{name}: the last period is whole");
    }
    fixture.whole();
}

/// Eight cycles at once over the same few files, which are away again and again.
#[test]
fn cycles_that_meet_on_a_file_do_not_fail() {
    let mut collisions = 0;
    for weights in [[0, 0, 0, 1, 0], [1, 1, 1, 2, 1]] {
        let mut fixture = CycleFixture::new(Dataset::uniform(10, 9000, 1));
        for _ in 0..10 {
            let overrun = Overrun::Overlap;
            let (report, _) = fixture.done(&Cycle { overrun, ..cycles(40, 10, weights) });
            collisions += cycle_reports(&report).iter().map(|cycle| cycle.collisions).sum::<u64>();
            assert!(cycle_reports(&report).iter().all(|cycle| cycle.collisions <= 10));
            fixture.whole();
        }
    }
    println!("{collisions} collisions in 8000 updates");
}

/// Two cycles unlink the only file before one of them makes it anew: one finds it away, or there.
#[test]
fn a_file_that_is_away_for_a_moment_is_a_collision() {
    let fixture = CycleFixture::new(Dataset::uniform(1, 3000, 1));
    let root = Root::open(fixture.path()).unwrap();
    let plain = Cycle { overrun: Overrun::Overlap, ..cycles(2, 1, [0, 0, 0, 1, 0]) };
    let phase = Phase::of_cycles("c", plain, 4096);
    let both = Barrier::new(2);
    let ask = |call| {
        if call == "create" {
            both.wait();
        }
        Ok(())
    };
    let backend = Asking { real: Sync::new(&root, &phase.io), ask };
    let job = Job::new(&fixture.dataset, &phase, seed(), seed());
    let report = Prepared::new(&job).unwrap().run(&backend);
    assert_eq!((&report.error, report.ops), (&None, 2));
    let collisions: Vec<_> = cycle_reports(&report).iter().map(|cycle| cycle.collisions).collect();
    assert!([[0, 1], [1, 0], [1, 1]].iter().any(|known| collisions == known), "{collisions:?}");
    let left = inodes(fixture.path());
    assert!(left.len() == 1 && left.values().all(|file| file.1 == 3000), "{left:?}");
}

/// Alone, a cycle that does not find its files has failed.
#[test]
fn a_missing_dataset_is_no_collision() {
    for weights in [ONLY[0], ONLY[1], ONLY[3]] {
        let mut fixture = CycleFixture::new(Dataset::uniform(5, 100, 0));
        std::fs::remove_file(fixture.path().join("f00000003")).unwrap();
        let phase = Phase::of_cycles("c", cycles(2, 5, weights), 4096);
        let (report, _) = fixture.run(&phase);
        let error = report.error.unwrap();
        assert_eq!((error.op_index, error.errno, &*error.path), (3, 2, "f00000003"));
        let [one] = &report.cycles.as_ref().unwrap().cycles[..] else { panic!("one cycle") };
        assert_eq!((one.ops, one.collisions), (3, 0));
    }
}

#[test]
fn the_null_backend_cycles_over_nothing() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(60, 5000, 7);
    let phase = Phase {
        io: Io { backend: Backend::Null, ..Io::default() },
        ..Phase::of_cycles("c", cycles(3, 40, [1; 5]), 1000)
    };
    let mut state = fsarena_model::work::DatasetState::default();
    let report = crate::support::run(dir.path(), &dataset, &mut state, &phase);
    assert_eq!((report.error, report.ops), (None, phase.count(&dataset)));
    assert_eq!(report.asked_bytes, 120 * 5000);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
