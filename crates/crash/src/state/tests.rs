//! Tests of the states: against contents that are read, and against the definition.

use super::*;
use fsarena_vdisk::{Completion, Discarded, Op, Outcome, Request};
use proptest::prelude::*;
use std::collections::HashSet;

const DISK_SECTORS: u64 = 32;

/// A step of a driver: one request, submitted and completed a nanosecond later; a flush of 0.
#[derive(Clone, Debug)]
struct Step {
    op: Op,
    sector: u64,
    sectors: u32,
    fua: bool,
}

fn log_of(steps: &[Step]) -> WriteLog {
    let mut log = WriteLog::in_memory();
    for (at, step) in (0_u64..).zip(steps) {
        let (sector, sectors) =
            if step.op == Op::Flush { (0, 0) } else { (step.sector, step.sectors) };
        let request = Request { tag: 0, op: step.op, sector, sectors, fua: step.fua };
        let done = Completion { tag: 0, at_ns: at * 10 + 15, outcome: Outcome::Done };
        let bytes = if step.op == Op::Write { sectors as usize * 512 } else { 0 };
        let data = vec![at as u8 + 1; bytes];
        log.completed(&request, at * 10 + 10, &done, &data).unwrap();
    }
    log
}

/// The same, and each takes so many times 10 ns: some complete while others are on their way.
fn overlapping_log_of(steps: &[(Step, u64)]) -> WriteLog {
    let mut log = WriteLog::in_memory();
    let at_ns = |at: usize| at as u64 * 10 + 15 + steps[at].1 * 10;
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|at| at_ns(*at));
    for at in order {
        let step = &steps[at].0;
        let (sector, sectors) =
            if step.op == Op::Flush { (0, 0) } else { (step.sector, step.sectors) };
        let request = Request { tag: 0, op: step.op, sector, sectors, fua: step.fua };
        let done = Completion { tag: 0, at_ns: at_ns(at), outcome: Outcome::Done };
        let data = vec![at as u8 + 1; sectors as usize * 512];
        log.completed(&request, at as u64 * 10 + 10, &done, &data).unwrap();
    }
    log
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_u8..10, 0_u64..16, 1_u32..5).prop_map(|(kind, sector, sectors)| {
        let op = match kind {
            0 | 1 => Op::Flush,
            2 => Op::Discard,
            _ => Op::Write,
        };
        Step { op, sector, sectors, fua: kind == 3 }
    });
    prop::collection::vec(step, 0..14)
}

fn bytes(log: &WriteLog, state: &CrashState) -> Vec<u8> {
    let base = Store::in_memory(DISK_SECTORS * 512, Discarded::Zeros);
    let mut data = vec![0; (DISK_SECTORS * 512) as usize];
    view(&base, log, state).read(0, &mut data).unwrap();
    data
}

fn write(sector: u64) -> Step {
    Step { op: Op::Write, sector, sectors: 2, fua: false }
}

const FLUSH: Step = Step { op: Op::Flush, sector: 0, sectors: 0, fua: false };
const ALL: EventStates = EventStates { samples: 20, singles: 99, seed: 5 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Equal numbers are equal bytes, whatever was lost, cut or discarded.
    #[test]
    fn equal_hashes_are_equal_bytes(steps in steps(), younger_ns in 0_u64..80) {
        let log = log_of(&steps);
        let classes = vec![Class::Prefix, Class::Dropall, Class::Torn, Class::Subset,
            Class::DropOne, Class::KeepOne, Class::Lying { younger_ns }];
        let points = CrashPoints { from_ns: 0, to_ns: 160, points: 70, seed: 3, classes };
        let mut known: HashMap<u64, Vec<u8>> = HashMap::new();
        for state in uniform(&log, &points).iter().chain(&per_event(&log, &ALL)) {
            let bytes = bytes(&log, state);
            let first = known.entry(state.contents).or_insert_with(|| bytes.clone());
            prop_assert!(*first == bytes, "{:?}", state);
        }
    }

    /// The same where requests overlap, and what is there had been submitted.
    #[test]
    fn states_of_writes_on_their_way_are_what_they_say(
        steps in steps(),
        times in prop::collection::vec(0_u64..4, 14),
    ) {
        let steps: Vec<(Step, u64)> = steps.into_iter().zip(times).collect();
        let log = overlapping_log_of(&steps);
        let classes = vec![Class::Torn, Class::Subset, Class::KeepOne, Class::Dropall];
        let points = CrashPoints { from_ns: 0, to_ns: 190, points: 60, seed: 3, classes };
        let mut known: HashMap<u64, Vec<u8>> = HashMap::new();
        for state in uniform(&log, &points).iter().chain(&per_event(&log, &ALL)) {
            let bytes = bytes(&log, state);
            let first = known.entry(state.contents).or_insert_with(|| bytes.clone());
            prop_assert!(*first == bytes, "{:?}", state);
            for number in &state.in_flight {
                let entry = &log.entries()[*number as usize];
                prop_assert!(*number >= state.count && entry.submitted_ns < state.at_ns);
                prop_assert!(!matches!(state.class, Class::Prefix | Class::Dropall));
            }
            prop_assert!(state.in_flight.is_sorted());
        }
    }

    /// Per event no two states are the same map; every part of few open entries is among them.
    #[test]
    fn per_event_has_every_part_once(steps in steps()) {
        let log = log_of(&steps);
        let states = per_event(&log, &ALL);
        let hashes: HashSet<u64> = states.iter().map(|state| state.contents).collect();
        prop_assert_eq!(hashes.len(), states.len());
        let all: HashSet<Vec<u8>> = states.iter().map(|state| bytes(&log, state)).collect();
        let base = Store::in_memory(DISK_SECTORS * 512, Discarded::Zeros);
        for count in 0..=steps.len() {
            let durable = log.durable(count);
            let covered = open_of(&log.entries()[..count], u64::MAX);
            prop_assert!(covered.iter().all(|at| !durable[*at as usize]));
            for bits in 0_u32..if covered.len() <= 6 { 1 << covered.len() } else { 0 } {
                let survives = |at: usize| match covered.binary_search(&(at as u32)) {
                    Ok(place) => bits >> place & 1 == 1,
                    Err(_) => true,
                };
                let mut data = vec![0; (DISK_SECTORS * 512) as usize];
                View::new(&base, &log, count, survives).read(0, &mut data).unwrap();
                prop_assert!(all.contains(&data), "count {} bits {:b}", count, bits);
            }
        }
    }
}

/// One that is on its way beside six that had completed.
#[test]
fn what_is_on_its_way_does_not_make_parts_of_the_completed_fewer() {
    let writes: Vec<Step> = (0..7).map(|at| write(at * 2)).collect();
    let log = log_of(&writes);
    let base = Store::in_memory(DISK_SECTORS * 512, Discarded::Zeros);
    let contents = |view: View<'_>| {
        let mut data = vec![0; (DISK_SECTORS * 512) as usize];
        view.read(0, &mut data).unwrap();
        data
    };
    let states = per_event(&log, &EventStates { samples: 1, singles: 1, seed: 1 });
    let all: HashSet<Vec<u8>> =
        states.iter().map(|state| contents(view(&base, &log, state))).collect();
    for bits in 0..1 << 6 {
        let part = View::new(&base, &log, 6, |at| bits >> at & 1 == 1);
        assert!(all.contains(&contents(part)), "{bits:b}");
    }
}

#[test]
fn classes_are_what_their_texts_say() {
    // Durable 1; open 2, 3 and 4.
    let log = log_of(&[write(0), FLUSH, write(2), write(4), write(6)]);
    let states = per_event(&log, &ALL);
    let at_the_end = |class| {
        let of_class = states.iter().filter(move |state| state.count == 5 && state.class == class);
        of_class.map(|state| bytes(&log, state)).collect::<Vec<_>>()
    };
    let shown = |all: Vec<Vec<u8>>| {
        let sectors = |data: &Vec<u8>| [data[0], data[1024], data[2048], data[3072], data[3584]];
        all.iter().map(sectors).collect::<Vec<_>>()
    };
    assert_eq!(shown(at_the_end(Class::Prefix)), [[1, 3, 4, 5, 5]]);
    assert_eq!(shown(at_the_end(Class::Dropall)), [[1, 0, 0, 0, 0]]);
    assert!(shown(at_the_end(Class::DropOne)).contains(&[1, 0, 4, 5, 5]));
    assert!(shown(at_the_end(Class::KeepOne)).contains(&[1, 0, 0, 5, 5]));
    assert!(shown(at_the_end(Class::Torn)).contains(&[1, 3, 4, 5, 0]));
    let last = states.last().unwrap();
    assert_eq!((last.at_ns, last.sampling), (56, Sampling::PerEvent));
}

#[test]
fn the_latest_time_of_a_state_is_judged() {
    let log = log_of(&[write(0), FLUSH, write(0)]);
    let states = per_event(&log, &ALL);
    // Everything written before the flush is the state until the next write completes.
    let first = states.iter().find(|state| bytes(&log, state)[..1024] == [1; 1024]).unwrap();
    assert_eq!((first.count, first.at_ns, first.class), (3, 36, Class::Dropall));
}

#[test]
fn a_lying_disk_loses_what_young_flushes_covered() {
    let log = log_of(&[write(0), FLUSH, write(2), FLUSH, Step { fua: true, ..write(4) }]);
    let of = |younger_ns, at_ns| {
        let classes = vec![Class::Lying { younger_ns }];
        let points = CrashPoints { from_ns: at_ns, to_ns: at_ns + 1, points: 1, seed: 3, classes };
        let data = bytes(&log, &uniform(&log, &points)[0]);
        [data[0], data[1024], data[2048]]
    };
    assert_eq!(of(0, 100), [1, 3, 5]);
    assert_eq!(of(50, 100), [1, 3, 0], "the forced write was at 55");
    assert_eq!(of(60, 100), [1, 0, 0], "the second flush was at 45");
    assert_eq!(of(100, 100), [0, 0, 0]);
}

#[test]
fn times_are_uniform_and_nothing_is_no_error() {
    let log = log_of(&[write(0), write(2), FLUSH]);
    let classes = vec![Class::Prefix, Class::Dropall];
    let points = CrashPoints { from_ns: 1000, to_ns: 2000, points: 900, seed: 3, classes };
    let states = uniform(&log, &points);
    assert_eq!(states, uniform(&log, &points));
    assert_ne!(states, uniform(&log, &CrashPoints { seed: 4, ..points.clone() }));
    assert!(states.is_sorted_by_key(|state| state.at_ns));
    for third in 0..3 {
        let times = 1000 + third * 333..1000 + (third + 1) * 333;
        let count = states.iter().filter(|state| times.contains(&state.at_ns)).count();
        assert!((250..350).contains(&count), "{count}");
    }
    assert_eq!(states.iter().filter(|state| state.class == Class::Prefix).count(), 450);
    assert!(uniform(&log, &CrashPoints { to_ns: 1000, ..points.clone() }).is_empty());
    assert!(uniform(&log, &CrashPoints { classes: vec![], ..points }).is_empty());
    assert_eq!(per_event(&WriteLog::in_memory(), &ALL).len(), 1);
}

#[test]
fn bounds_hold_where_much_is_open() {
    let steps: Vec<Step> = (0..40).map(|at| write(at % 16)).collect();
    let states = per_event(&log_of(&steps), &EventStates { samples: 3, singles: 2, seed: 5 });
    let last = states.iter().filter(|state| state.count == 40).count();
    assert!((5..=2 + 2 * 4 + 3).contains(&last), "{last}");
    let text = serde_json::to_string(&states).unwrap();
    assert_eq!(serde_json::from_str::<Vec<CrashState>>(&text).unwrap(), states);
}

#[test]
fn a_write_on_its_way_is_there_or_not_and_never_where_all_that_had_completed_is() {
    // The first write takes 40 ns, and the second one ends in between.
    let log = overlapping_log_of(&[(write(0), 4), (write(4), 0)]);
    let of = |class| -> HashSet<[u8; 3]> {
        let points =
            CrashPoints { from_ns: 30, to_ns: 50, points: 40, seed: 3, classes: vec![class] };
        let seen = uniform(&log, &points).into_iter().map(|state| bytes(&log, &state));
        seen.map(|data| [data[0], data[512], data[2048]]).collect()
    };
    assert_eq!(of(Class::Prefix), HashSet::from([[0, 0, 2]]));
    assert_eq!(of(Class::Dropall), HashSet::from([[0, 0, 0]]));
    assert_eq!(of(Class::KeepOne), HashSet::from([[1, 1, 0], [0, 0, 2]]));
    assert_eq!(of(Class::Torn), HashSet::from([[1, 0, 2], [0, 0, 2]]));
    assert_eq!(of(Class::Subset).len(), 4);
    // Before anything has completed both are on their way.
    let states = per_event(&log, &ALL);
    let first = states.iter().filter(|state| state.count == 0).map(|state| bytes(&log, state));
    assert!(first.into_iter().any(|data| (data[0], data[2048]) == (1, 0)));
}

/// As where mkfs discards the whole disk.
#[test]
fn a_discard_of_a_whole_disk_counts_as_one() {
    let step = |op, sector, sectors| Step { op, sector, sectors, fua: false };
    let log = log_of(&[
        step(Op::Write, 8, 1),
        step(Op::Discard, 0, 1 << 30),
        step(Op::Write, 16, 1),
        step(Op::Flush, 0, 0),
    ]);
    let states = per_event(&log, &EventStates { samples: 8, singles: 8, seed: 1 });
    let of = |count: u32, class: Class| {
        let mut found = states.iter().filter(|state| state.count == count && state.class == class);
        found.next().map(|state| state.contents)
    };
    let all: Vec<u64> = (0..=3).filter_map(|count| of(count, Class::Prefix)).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{states:?}");
    let base = Store::in_memory(1 << 40, Discarded::Zeros);
    for state in &states {
        let view = view(&base, &log, state);
        let mut data = [0; 512];
        view.read(8, &mut data).unwrap();
        let has_discard = pieces(&log, state).any(|piece| piece.entry == 1);
        let has_write = pieces(&log, state).any(|piece| piece.entry == 0);
        assert_eq!(data[0], u8::from(has_write && !has_discard), "{state:?}");
    }
}
