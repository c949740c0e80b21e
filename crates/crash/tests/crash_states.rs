//! From plan to figures with a small file system of these tests, honest or with a planted bug: the
//! oracle must find each bug and must say nothing of the honest one, over thousands of states.

#![expect(clippy::unwrap_used, reason = "tests")]

mod toy;

use fsarena_crash::figures::{FigureOptions, figures};
use fsarena_crash::op::{Action, Sync};
use fsarena_crash::oracle::Oracle;
use fsarena_crash::promise::{Promise, Promises};
use fsarena_crash::state::{Class, CrashPoints, CrashState, EventStates, per_event, uniform, view};
use fsarena_crash::workload::{Extent, Kind, Plan, Planned, other_name, plan};
use fsarena_crash::{Findings, op};
use fsarena_model::cycle::{Cycle, Overrun, Shares};
use fsarena_model::work::{Dataset, Fsync, Io, Op, Phase, Workload};
use proptest::prelude::*;
use std::collections::BTreeMap;
use toy::{Bugs, Run, Toy, observe};

const SECOND_NS: u64 = 1_000_000_000;
const HONEST: Bugs =
    Bugs { lost_flush: None, renames_before_data: false, frees_at_once: false, unordered: true };
const STALE_BYTES: Promises = Promises {
    no_stale_bytes: true,
    replace_is_whole: false,
    replace_keeps_the_name: true,
    mounts_without_repair: true,
};

fn kind(name: &str) -> Kind {
    Kind::from_name(name).unwrap()
}

fn planned(kind: Kind, seed: u64) -> Plan {
    // A message is deleted after 20 s.
    let duration_ns = if kind.name() == "mail-spool" { 24 * SECOND_NS } else { 8 * SECOND_NS };
    plan(kind, seed, Extent { duration_ns, prefill_bytes: 2 << 20 })
}

fn judged(run: &Run, states: &[CrashState], promises: Promises) -> Vec<Findings> {
    // What is stored is what is judged.
    let ops = op::from_lines(&op::to_lines(&run.ops)).unwrap();
    let oracle = Oracle::new(&ops, run.seed, promises).unwrap();
    let judge = |state: &CrashState| {
        let seen = observe(&view(&run.base, &run.log, state));
        oracle.judge(state, &seen)
    };
    states.iter().map(judge).collect()
}

fn at_events(run: &Run) -> Vec<CrashState> {
    per_event(&run.log, &EventStates { samples: 2, singles: 2, seed: 9 })
}

fn at_times(run: &Run, points: u32, classes: &[Class]) -> Vec<CrashState> {
    let to_ns = run.begin_ns + 8 * SECOND_NS;
    let classes = classes.to_vec();
    uniform(&run.log, &CrashPoints { from_ns: run.begin_ns, to_ns, points, seed: 4, classes })
}

const HONEST_CLASSES: [Class; 6] =
    [Class::Prefix, Class::Dropall, Class::Subset, Class::DropOne, Class::KeepOne, Class::Torn];

#[test]
fn an_honest_file_system_breaks_no_contract() {
    let (mut states, mut acknowledged, mut lost_bytes) = (0, 0, 0);
    for kind in Kind::all() {
        for seed in 1..=2 {
            let run = Toy::run(&planned(kind, seed), HONEST);
            // Of each run about so many, so that the test takes seconds.
            let all = at_events(&run);
            let step = (all.len() / 600).max(1);
            let some: Vec<CrashState> = all.into_iter().step_by(step).collect();
            let chosen = [some, at_times(&run, 120, &HONEST_CLASSES)].concat();
            for found in judged(&run, &chosen, Promises::default()) {
                let place = (kind, seed, found.at_ns, found.class);
                assert_eq!(found.violations, [], "{place:?}");
                assert_eq!((found.later_files, found.unknown_files), (0, 0), "{place:?}");
                states += 1;
                acknowledged += u64::from(found.acknowledged_files);
                lost_bytes += found.lost_bytes;
            }
        }
    }
    // It says nothing although there was something to be lost, and something was.
    assert!(states >= 6000, "{states}");
    assert!(acknowledged > 30_000 && lost_bytes > 1_000_000, "{acknowledged} {lost_bytes}");
}

/// Broken promises over the states of a synced workload with a bug.
fn broken(kind: Kind, bugs: Bugs) -> Vec<Promise> {
    broken_of(&planned(kind, 1), bugs)
}

fn broken_of(plan: &Plan, bugs: Bugs) -> Vec<Promise> {
    let run = Toy::run(plan, bugs);
    let found = judged(&run, &at_events(&run), Promises::default());
    let all = found.iter().flat_map(|found| &found.violations);
    all.map(|violation| violation.promise).collect()
}

#[test]
fn one_lost_flush_is_found() {
    // The last flush of an op in each: the fourth op, a delivery, a record, a truncate.
    let ops = [
        (kind("synced"), 43),
        (kind("mail-spool"), 15),
        (kind("journal"), 30),
        (kind("truncated"), 64),
    ];
    for (kind, flush) in ops {
        let bugs = Bugs { lost_flush: Some(flush), ..HONEST };
        assert!(!broken(kind, bugs).is_empty(), "{kind:?}");
    }
}

/// Phases of every op that is followed, with this sync.
fn phases(fsync: Fsync) -> Workload {
    let io = Io { fsync, ..Io::default() };
    let phase =
        |name: &str, op, bs_bytes| Phase { io: io.clone(), ..Phase::new(name, op, bs_bytes) };
    let shares = Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 };
    let cycle = Cycle {
        cycles: 2,
        period_ns: SECOND_NS,
        overrun: Overrun::Queue,
        updates: 8,
        shares,
        disturb: None,
    };
    let cycles = Phase { io: io.clone(), ..Phase::of_cycles("cycle", cycle, 1000) };
    Workload {
        name: "all-ops".to_owned(),
        title: String::new(),
        dataset: Dataset::uniform(12, 3000, 3),
        phases: vec![
            phase("create", Op::Create, 4096),
            phase("append", Op::Append, 1000),
            phase("overwrite", Op::Overwrite, 4096),
            phase("rename", Op::Rename, 0),
            cycles,
            phase("truncate", Op::Truncate, 1024),
            phase("randwrite", Op::RandWrite, 512),
            phase("big-overwrite", Op::BigOverwrite, 512),
            phase("rename-back", Op::Rename, 0),
            phase("delete", Op::Delete, 0),
            phase("big-write", Op::BigWrite, 1024),
            phase("delete-big", Op::Delete, 0),
            phase("fallocate", Op::Fallocate, 0),
        ],
        fio: None,
        source: None,
        levels: None,
    }
}

fn planned_phases(fsync: Fsync, seed: u64) -> Plan {
    let extent = Extent { duration_ns: 8 * SECOND_NS, prefill_bytes: 2 << 20 };
    fsarena_crash::phases::plan(&phases(fsync), seed, extent).unwrap().0
}

const FSYNCS: [Fsync; 6] =
    [Fsync::None, Fsync::Op, Fsync::File, Fsync::Dir, Fsync::End, Fsync::Dsync];

#[test]
fn an_honest_file_system_keeps_what_phases_synced() {
    for fsync in FSYNCS {
        let run = Toy::run(&planned_phases(fsync, 1), HONEST);
        let all = at_events(&run);
        let step = (all.len() / 400).max(1);
        let some: Vec<CrashState> = all.into_iter().step_by(step).collect();
        let chosen = [some, at_times(&run, 120, &HONEST_CLASSES)].concat();
        let found = judged(&run, &chosen, Promises::default());
        for found in &found {
            let place = (fsync, found.at_ns, found.class);
            assert_eq!(found.violations, [], "{place:?}");
            assert_eq!((found.later_files, found.unknown_files), (0, 0), "{place:?}");
        }
        let acknowledged: u32 = found.iter().map(|found| found.acknowledged_files).sum();
        let is_promised = matches!(fsync, Fsync::End);
        assert_eq!(acknowledged > 0, is_promised, "{fsync:?}: {acknowledged}");
    }
}

#[test]
fn a_lost_sync_of_the_file_system_is_found() {
    let plan = planned_phases(Fsync::End, 1);
    let flushes: Vec<u32> = (1..40)
        .filter(|flush| !broken_of(&plan, Bugs { lost_flush: Some(*flush), ..HONEST }).is_empty())
        .collect();
    // Those of the prefill come first, and that of a phase is made good by the next one.
    assert!(flushes.len() >= 8, "{flushes:?}");
}

#[test]
fn a_rename_before_the_data_is_found() {
    let found = broken(kind("file-synced"), Bugs { renames_before_data: true, ..HONEST });
    assert!(found.contains(&Promise::SyncedBeforeRename), "{found:?}");
}

#[test]
fn blocks_that_are_reused_too_early_are_found() {
    let found = broken(kind("mail-spool"), Bugs { frees_at_once: true, ..HONEST });
    assert!(found.contains(&Promise::SyncedContents), "{found:?}");
}

#[test]
fn a_lying_disk_is_found_and_one_that_does_not_is_not() {
    let run = Toy::run(&planned(kind("synced"), 1), HONEST);
    let broken = |younger_ns| {
        let states = at_times(&run, 100, &[Class::Lying { younger_ns }]);
        let found = judged(&run, &states, Promises::default());
        found.iter().filter(|found| found.breaks_the_contract()).count()
    };
    assert_eq!(broken(0), 0);
    assert!(broken(2 * SECOND_NS) > 90, "{}", broken(2 * SECOND_NS));
}

/// Without an order between data and names bytes of deleted files appear; with it none do.
#[test]
fn stale_bytes_are_seen_where_data_are_not_ordered() {
    let stale = |unordered| {
        let run = Toy::run(&planned(kind("unsynced"), 1), Bugs { unordered, ..HONEST });
        let found = judged(&run, &at_times(&run, 60, &[Class::Subset]), STALE_BYTES);
        let broken = found.iter().flat_map(|found| &found.violations);
        let promises: Vec<Promise> = broken.map(|violation| violation.promise).collect();
        let bytes: u64 = found.iter().map(|found| found.stray.of_prefill_bytes).sum();
        assert!(promises.iter().all(|one| *one == Promise::NoStaleBytes), "{promises:?}");
        (promises.len(), bytes)
    };
    let (violations, bytes) = stale(true);
    assert!(violations > 10 && bytes > 10_000, "{violations} {bytes}");
    assert_eq!(stale(false), (0, 0));
}

/// It flushes every 2 s by itself: nothing older is lost, and about half of that is on average.
#[test]
fn the_loss_window_is_the_time_between_flushes() {
    let runs: Vec<Vec<Findings>> = (1..=10)
        .map(|seed| {
            let run = Toy::run(&planned(kind("unsynced"), seed), HONEST);
            judged(&run, &at_times(&run, 40, &[Class::Prefix, Class::Dropall]), Promises::default())
        })
        .collect();
    let all =
        figures(&runs, &FigureOptions { resamples: 300, ..FigureOptions::default() }).unwrap();
    let [(_, prefix), (_, dropall)] = &all[..] else { panic!("two classes: {}", all.len()) };
    assert_eq!((prefix.runs, prefix.crash_points), (10, 200));
    assert_eq!((prefix.loss_window.max_ns, prefix.is_prefix.hits), (0, 200));
    let window = dropall.loss_window;
    assert!(window.max_ns < 21 * SECOND_NS / 10 && window.max_ns > 19 * SECOND_NS / 10);
    let p50_s = window.p50_ns.value / SECOND_NS as f64;
    assert!((0.7..1.3).contains(&p50_s), "{p50_s}");
    assert_eq!((dropall.contract_broken.hits, dropall.is_prefix.hits), (0, 200));
    assert!(dropall.lost_bytes.value > 50_000.0);
}

/// The first file of phases, which have two names.
const FIRST: u32 = 1 << 31;

/// What an action is made of, before it is known what is there.
#[derive(Clone, Debug)]
struct Wish {
    kind: u8,
    file: u32,
    bytes: u64,
    at: u64,
    sync: Sync,
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let syncs = prop::sample::select(vec![
        Sync::None,
        Sync::None,
        Sync::Data,
        Sync::File,
        Sync::FileAndDirectory,
        Sync::Directory,
        Sync::FileSystem,
    ]);
    let wish = (0_u8..14, FIRST..FIRST + 3, 0_u64..2600, 0_u64..100, syncs)
        .prop_map(|(kind, file, bytes, at, sync)| Wish { kind, file, bytes, at, sync });
    prop::collection::vec(wish, 1..24)
}

/// The actions that the wishes come to, by the rules of actions.
fn actions(wishes: &[Wish]) -> Vec<Action> {
    // Size and last version of what is there, and the names of all.
    let mut known: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    let mut names: BTreeMap<u32, u32> = BTreeMap::new();
    let mut actions = Vec::new();
    for (wish, fresh) in wishes.iter().zip(1..) {
        let Wish { file: own, bytes, sync, .. } = *wish;
        let file = *names.entry(own).or_insert(own);
        let found = known.get(&own).copied();
        let sectors = found.map_or(0, |(size, _)| size / 512);
        match (found, wish.kind) {
            (None, 0) => {
                actions.push(Action::Preallocate { file, bytes: bytes / 512 * 512, sync });
                known.insert(own, (bytes / 512 * 512, 0));
            }
            (None, 1..=6) => {
                actions.push(Action::Create { file, bytes, version: fresh, sync });
                known.insert(own, (bytes, fresh));
            }
            (None | Some(_), 7 | 8) => {
                actions.push(Action::Replace { target: file, bytes, version: fresh, sync });
                known.insert(own, (bytes, fresh));
            }
            (Some((size, last)), 0..=3) => {
                let version = if size.is_multiple_of(512) { fresh } else { last };
                actions.push(Action::Append { file, bytes, version, sync });
                known.insert(own, (size + bytes, version));
            }
            (Some(_), 4 | 5) if sectors > 0 => {
                let from = wish.at % sectors;
                let count = 1 + bytes / 512 % (sectors - from);
                let (offset, bytes) = (from * 512, count * 512);
                actions.push(Action::Overwrite { file, offset, bytes, version: fresh, sync });
            }
            // On a border, so that any version may follow.
            (Some((_, last)), 9) if sectors > 0 => {
                let bytes = wish.at % sectors * 512;
                actions.push(Action::Truncate { file, bytes, sync });
                known.insert(own, (bytes, last));
            }
            (Some(_), 12 | 13) => {
                actions.push(Action::Rename { file, sync });
                names.insert(own, other_name(file));
            }
            (Some(_), 10 | 11) => {
                actions.push(Action::Delete { file, sync });
                known.remove(&own);
            }
            _ => {}
        }
    }
    actions
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is done in whatever order with whatever sync: of an honest file system nothing is
    /// said in any state, and when the power stays nothing is lost.
    #[test]
    fn no_history_makes_an_honest_file_system_guilty(wishes in wishes()) {
        let actions = actions(&wishes).into_iter();
        let actions = actions.map(|action| Planned { at_ns: 0, action }).collect();
        let plan = Plan { seed: 3, actions, ..planned(kind("synced"), 3) };
        let run = Toy::run(&Plan { begin_ns: 0, ..plan }, HONEST);
        let states = at_events(&run);
        let found = judged(&run, &states, Promises::default());
        for (state, found) in states.iter().zip(&found) {
            prop_assert!(found.violations.is_empty(), "{:?}: {:?}", state, found.violations);
            prop_assert_eq!(found.later_files, 0);
        }
        let end_ns = run.ops.last().map_or(0, |op| op.end_ns) + 1;
        let classes = vec![Class::Prefix];
        let points =
            CrashPoints { from_ns: end_ns, to_ns: end_ns + 1, points: 1, seed: 3, classes };
        let whole = judged(&run, &uniform(&run.log, &points), STALE_BYTES);
        prop_assert_eq!(&whole[0].violations, &vec![]);
        prop_assert_eq!((whole[0].loss_window.all_ns(), whole[0].lost_bytes), (0, 0));
        prop_assert!(whole[0].is_prefix && whole[0].replaced.damaged() == 0);
    }
}
