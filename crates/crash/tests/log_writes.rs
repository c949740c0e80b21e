//! The export for `log-writes` is replayed by a reader of its own and gives the same disk.

use fsarena_crash::log_writes::LogWriter;
use fsarena_crash::state::{Class, CrashPoints, EventStates, per_event, uniform, view};
use fsarena_vdisk::{Completion, Discarded, Op, Outcome, Request, Store, WriteLog};
use proptest::prelude::*;
use std::io::Cursor;

const DISK_SECTORS: u64 = 64;

/// Entries of an export as its format has them: sector, sectors, flags, data or text.
fn entries_of(bytes: &[u8]) -> Vec<(u64, u64, u64, &[u8])> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!((number(0), number(8)), (0x6a_736677_736872, 1));
    assert_eq!(bytes[24..28], 512_u32.to_le_bytes());
    let (mut at, mut entries) = (512, Vec::new());
    for _ in 0..number(16) {
        let [sector, sectors, flags, len] = [0, 8, 16, 24].map(|from| number(at + from));
        let inside = at + 32;
        at += 512;
        let is_mark = flags & 8 != 0;
        let from = if is_mark { inside } else { at };
        entries.push((sector, sectors, flags, &bytes[from..from + len as usize]));
        if !is_mark {
            at += (len as usize).next_multiple_of(512);
        }
    }
    assert_eq!(at, bytes.len());
    entries
}

/// What a replay up to a mark has written.
fn replayed(bytes: &[u8], mark: &str) -> Vec<u8> {
    let mut disk = vec![0; (DISK_SECTORS * 512) as usize];
    for (sector, sectors, flags, data) in entries_of(bytes) {
        let from = (sector * 512) as usize;
        let to = from..from + (sectors * 512) as usize;
        match flags {
            8 if data == mark.as_bytes() => return disk,
            4 => disk[to].fill(0),
            0 | 2 => disk[to].copy_from_slice(data),
            _ => {}
        }
    }
    panic!("no mark {mark}");
}

/// Requests that overlap in time: kind, sector, sectors, time that it takes.
fn log_of(steps: &[(u8, u64, u32, u64)]) -> WriteLog {
    let mut order: Vec<(u64, usize)> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| (at as u64 * 10 + 15 + step.3 * 10, at))
        .collect();
    order.sort_unstable();
    let mut log = WriteLog::in_memory();
    for (at_ns, at) in order {
        let (kind, sector, sectors, _) = steps[at];
        let (op, sector, sectors) = match kind {
            0 | 1 => (Op::Flush, 0, 0),
            2 => (Op::Discard, sector, sectors),
            _ => (Op::Write, sector, sectors),
        };
        let request = Request { tag: 0, op, sector, sectors, fua: kind == 3 };
        let done = Completion { tag: 0, at_ns, outcome: Outcome::Done };
        let data = vec![at as u8 + 1; sectors as usize * 512];
        log.completed(&request, at as u64 * 10 + 10, &done, &data).expect("memory");
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_replay_up_to_the_mark_is_the_state(
        steps in prop::collection::vec((0_u8..10, 0_u64..40, 1_u32..9, 0_u64..4), 0..16)
    ) {
        let log = log_of(&steps);
        let base = Store::in_memory(DISK_SECTORS * 512, Discarded::Zeros);
        let classes = vec![Class::Prefix, Class::Dropall, Class::Subset, Class::Torn,
            Class::Lying { younger_ns: 40 }];
        let points = CrashPoints { from_ns: 0, to_ns: 200, points: 25, seed: 3, classes };
        let bounds = EventStates { samples: 4, singles: 4, seed: 5 };
        for state in uniform(&log, &points).iter().chain(&per_event(&log, &bounds)) {
            let mut writer = LogWriter::new(Cursor::new(Vec::new())).unwrap();
            writer.state(&log, state).unwrap();
            writer.mark("crash").unwrap();
            let bytes = writer.finish().unwrap().into_inner();
            let mut disk = vec![0; (DISK_SECTORS * 512) as usize];
            view(&base, &log, state).read(0, &mut disk).unwrap();
            prop_assert!(replayed(&bytes, "crash") == disk, "{:?}", state);
        }
    }
}

/// A write that completed while a flush was under way comes behind it.
#[test]
fn a_flush_is_behind_what_it_covers_and_before_the_rest() {
    // Write 0 ends before the flush is sent, write 2 while it is under way.
    let log = log_of(&[(5, 0, 2, 0), (0, 0, 0, 4), (5, 8, 2, 0), (5, 16, 2, 9)]);
    let points =
        CrashPoints { from_ns: 100, to_ns: 101, points: 1, seed: 1, classes: vec![Class::Prefix] };
    let mut writer = LogWriter::new(Cursor::new(Vec::new())).unwrap();
    writer.state(&log, &uniform(&log, &points)[0]).unwrap();
    writer.mark(&"x".repeat(600)).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let flags: Vec<(u64, u64)> = entries_of(&bytes).iter().map(|it| (it.0, it.2)).collect();
    assert_eq!(flags, [(0, 0), (0, 1), (8, 0), (0, 8)], "the last write had not completed");
    assert_eq!(entries_of(&bytes)[3].3.len(), 480);
}
