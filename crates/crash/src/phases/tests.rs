//! Plans of phases: what each op becomes, where syncs are, and what is refused.

use super::*;
use crate::workload::{history_of, path};
use fsarena_model::cycle::{Overrun, Shares};
use fsarena_model::work::Io;

const SECOND_NS: u64 = 1_000_000_000;
const EXTENT: Extent = Extent { duration_ns: 60 * SECOND_NS, prefill_bytes: 1 << 20 };

fn workload(dataset: Dataset, phases: Vec<Phase>) -> Workload {
    let title = String::new();
    let name = "own".to_owned();
    Workload { name, title, dataset, phases, fio: None, source: None, levels: None }
}

fn cycle(cycles: u32) -> Cycle {
    let shares = Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 };
    let overrun = Overrun::Overlap;
    Cycle { cycles, period_ns: 1, overrun, updates: 10, shares, disturb: None }
}

fn judged(plan: &Plan) -> Vec<&Action> {
    let of_work = plan.actions.iter().filter(|planned| planned.at_ns >= plan.begin_ns);
    of_work.map(|planned| &planned.action).collect()
}

/// A plan, after its ops were found to be a history.
fn planned(workload: &Workload) -> Plan {
    let (made, _) = plan(workload, 7, EXTENT).unwrap();
    assert_eq!(made, plan(workload, 7, EXTENT).unwrap().0);
    assert!(history_of(&made).is_ok(), "{:?}", history_of(&made).err());
    for action in judged(&made) {
        let path = path(action.file()).unwrap();
        let (directory, _) = path.rsplit_once('/').unwrap();
        assert!(made.directories.iter().any(|known| known == directory), "{path}");
    }
    made
}

#[test]
fn ops_are_spread_evenly_and_lie_in_the_directories_of_the_dataset() {
    let phases = vec![
        Phase::new("create", Op::Create, 4096),
        Phase { order: Order::Random, ..Phase::new("read", Op::Read, 4096) },
        Phase { order: Order::Random, ..Phase::new("delete", Op::Delete, 0) },
    ];
    let made = planned(&workload(Dataset::uniform(100, 4096, 8), phases));
    assert_eq!(made.directories[..3], ["prefill", "phases", "phases/d0001"]);
    assert_eq!(made.directories.len(), 10);
    let actions = judged(&made);
    let first =
        Action::Create { file: phase_file(1, 0), bytes: 4096, version: 1, sync: Sync::None };
    assert_eq!((actions.len(), actions[0]), (200, &first));
    assert_eq!(path(actions[13].file()).as_deref(), Some("phases/d0002/f000000"));
    let deletes: Vec<u32> = actions[100..].iter().map(|action| action.file()).collect();
    assert!(!deletes.is_sorted(), "in random order");
    let times: Vec<u64> = made.actions.iter().map(|planned| planned.at_ns).collect();
    assert!(times.is_sorted());
    assert_eq!(times[times.len() - 100] - made.begin_ns, 30 * SECOND_NS);
    assert!(made.ends_on_time);
}

#[test]
fn syncs_are_where_the_phase_makes_them() {
    let of = |fsync, op, bs_bytes| {
        let phase = Phase { io: Io { fsync, ..Io::default() }, ..Phase::new("p", op, bs_bytes) };
        let made = planned(&workload(Dataset::uniform(4, 3000, 2), vec![phase]));
        judged(&made).into_iter().map(Action::sync).collect::<Vec<_>>()
    };
    let (none, file) = (Sync::None, Sync::File);
    assert_eq!(of(Fsync::Op, Op::Create, 512), [file; 4]);
    assert_eq!(of(Fsync::Dsync, Op::Create, 512), [Sync::Data; 4]);
    assert_eq!(of(Fsync::End, Op::Create, 512), [none, none, none, Sync::FileSystem]);
    assert_eq!(of(Fsync::Dir, Op::Create, 512), [none, Sync::Directory, none, Sync::Directory]);
    // Two calls a file.
    assert_eq!(of(Fsync::File, Op::BigWrite, 2048), [none, file].repeat(4));
    assert_eq!(of(Fsync::Op, Op::BigWrite, 2048), [file; 8]);
}

/// Also where the phase has fewer ops than there are blocks, or reads among them.
#[test]
fn the_last_write_of_a_file_is_the_one_that_is_synced() {
    for (op, ops) in [(Op::RandWrite, Some(7)), (Op::RandRw, Some(9)), (Op::RandWrite, None)] {
        let io = Io { fsync: Fsync::File, ops, ..Io::default() };
        let phases = vec![Phase { io, ..Phase::new("p", op, 512) }];
        let made = planned(&workload(Dataset::uniform(3, 4096, 0), phases));
        let actions = judged(&made);
        assert!(!actions.is_empty());
        for file in (0..3).map(|number| phase_file(0, number)) {
            let of_file = actions.iter().filter(|action| action.file() == file);
            let syncs: Vec<Sync> = of_file.map(|action| action.sync()).collect();
            let Some((last, others)) = syncs.split_last() else { continue };
            assert_eq!(*last, Sync::File, "{op:?}: {syncs:?}");
            assert!(others.iter().all(|sync| *sync == Sync::None), "{op:?}: {syncs:?}");
        }
    }
}

#[test]
fn files_stay_as_long_as_their_phases_make_them() {
    let phases = vec![
        Phase::new("create", Op::Create, 4096),
        Phase::new("append", Op::Append, 100),
        Phase::new("append-again", Op::Append, 100),
        Phase::new("truncate", Op::Truncate, 700),
        Phase::new("append-within", Op::Append, 324),
        Phase::new("overwrite", Op::Overwrite, 4096),
        Phase::new("randwrite", Op::RandWrite, 512),
        Phase::new("rename", Op::Rename, 0),
        Phase::new("delete", Op::Delete, 0),
    ];
    let made = planned(&workload(Dataset::uniform(1, 600, 0), phases));
    let actions = judged(&made);
    let bytes = |action: &&Action| action.written_bytes();
    assert_eq!(
        actions.iter().map(bytes).collect::<Vec<_>>(),
        [600, 100, 100, 0, 324, 1024, 512, 512, 0, 0]
    );
    let last = path(actions[9].file());
    assert_eq!(last.as_deref(), Some("phases/r000000"), "deleted under its second name");
}

#[test]
fn what_the_first_phase_finds_is_synced_before_the_work() {
    let untimed = Phase { timed: false, ..Phase::new("append", Op::Append, 512) };
    let phases = vec![untimed, Phase::new("overwrite", Op::Overwrite, 4096)];
    let made = planned(&workload(Dataset::uniform(3, 512, 0), phases));
    let before = made.actions.iter().filter(|planned| planned.at_ns == 0);
    let before: Vec<&Action> =
        before.map(|planned| &planned.action).filter(|it| it.file() >= phase_file(0, 0)).collect();
    assert_eq!(before.len(), 6);
    assert!(matches!(before[2], Action::Create { bytes: 512, sync: Sync::None, .. }));
    assert!(matches!(before[5], Action::Append { sync: Sync::FileSystem, .. }));
    let sizes = judged(&made).into_iter().map(Action::written_bytes);
    assert_eq!(sizes.collect::<Vec<_>>(), [1024; 3]);
}

#[test]
fn cycles_update_files_in_each_way() {
    let cycles = Phase::of_cycles("c", cycle(20), 4096);
    let phases = vec![Phase::new("create", Op::Create, 4096), cycles];
    let made = planned(&workload(Dataset::uniform(40, 3000, 2), phases));
    let actions = judged(&made);
    let count = |counts: &dyn Fn(&Action) -> bool| actions.iter().filter(|it| counts(it)).count();
    let [replaces, cuts, creates, deletes, overwrites] = [
        count(&|action| matches!(action, Action::Replace { .. })),
        count(&|action| matches!(action, Action::Truncate { .. })),
        count(&|action| matches!(action, Action::Create { .. })) - 40,
        count(&|action| matches!(action, Action::Delete { .. })),
        count(&|action| matches!(action, Action::Overwrite { .. })),
    ];
    assert_eq!((creates, replaces + cuts + creates + overwrites), (deletes, 200));
    assert!([replaces, cuts, overwrites].iter().all(|count| (20..60).contains(count)));
}

#[test]
fn what_is_not_followed_is_said() {
    let io = Io { direct: true, ..Io::default() };
    let phases = vec![
        Phase { io, ..Phase::new("create", Op::Create, 4096) },
        Phase::new("link", Op::Link, 0),
        Phase::new("stat", Op::Stat, 0),
        Phase::of_cycles("update", cycle(2), 4096),
    ];
    let (made, notes) = plan(&workload(Dataset::uniform(4, 4096, 0), phases), 7, EXTENT).unwrap();
    assert!(judged(&made).len() >= 12);
    assert_eq!(
        notes,
        [
            "link: left out, as crash runs do not follow what it does",
            "create: by one thread with blocking calls through the page cache",
            "update: evenly over the time, without period and second load",
        ]
    );
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let refused =
        |dataset, phases| plan(&workload(dataset, phases), 7, EXTENT).unwrap_err().to_string();
    let create = || Phase::new("create", Op::Create, 4096);
    let small = || Dataset::uniform(4, 700, 2);
    let only_reads = refused(small(), vec![Phase::new("stat", Op::Stat, 0)]);
    assert!(only_reads.starts_with("own: no phase changes a file"), "{only_reads}");
    let many = refused(Dataset::uniform(5000, 1, 5000), vec![create()]);
    assert!(many.starts_with("own: 5000 directories, and crash runs follow 4095"), "{many}");
    let often = vec![create(), Phase::new("randwrite", Op::RandWrite, 4096)];
    let often = refused(Dataset::uniform(1, 64 << 20, 0), often);
    assert!(often.starts_with("own: 16385 ops on a file"), "{often}");
    let large = refused(Dataset::uniform(5, 1 << 29, 0), vec![create()]);
    assert!(large.starts_with("own: 2684354560 bytes written"), "{large}");
    let unaligned = refused(small(), vec![Phase::new("w", Op::BigWrite, 100)]);
    assert!(unaligned.starts_with("own, w: calls of 100 bytes"), "{unaligned}");
    let zeros = vec![Phase::new("f", Op::Fallocate, 0), Phase::new("a", Op::Append, 9)];
    let zeros = refused(small(), zeros);
    assert!(zeros.starts_with("own, a: bytes are appended within a sector of zeros"), "{zeros}");
    let fio = refused(small(), vec![Phase::new("job1", Op::Fio, 0)]);
    assert!(fio.starts_with("own, job1: its contents are those of fio"), "{fio}");
}
