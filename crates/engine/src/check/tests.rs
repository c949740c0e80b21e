//! Each mix that is refused, with its remedy, and what is accepted next to it.

use super::*;
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun, Shares};
use fsarena_model::dataset::Distribution;
use fsarena_model::work::Io;

fn set() -> Dataset {
    Dataset::uniform(100, 8192, 10)
}

fn refusal_of(dataset: &Dataset, phase: &Phase) -> String {
    super::phase(dataset, &DatasetState::default(), phase, 512)
        .map_or_else(|error| error.to_string(), |()| "accepted".to_owned())
}

fn refusal(op: Op, io: Io) -> String {
    refusal_of(&set(), &Phase { io, ..Phase::new("p", op, 4096) })
}

fn io() -> Io {
    Io::default()
}

#[test]
fn illegal_mixes_name_the_phase_and_the_remedy() {
    let (shared, own, turns) = (Sharing::Shared, Sharing::Own, Sharing::Interleaved);
    let mmap = Io { backend: Backend::Mmap, ..io() };
    for (op, io, wanted) in [
        (Op::Read, Io { iodepth: 8, ..io() }, "backend = \"io_uring\""),
        (Op::BigRead, Io { iodepth: 2, ..mmap.clone() }, "iodepth 2 with backend mmap"),
        (Op::Read, Io { iodepth: 0, ..io() }, "iodepth 0"),
        (Op::Read, Io { threads: 0, ..io() }, "0 threads"),
        (Op::RandRead, Io { threads: 1025, ..io() }, "at most 1024"),
        (Op::Stat, mmap.clone(), "backend mmap with stat"),
        (Op::Create, mmap.clone(), "backend mmap with create"),
        (Op::BigWrite, Io { direct: true, ..mmap.clone() }, "leave direct out"),
        (Op::RandWrite, Io { fsync: Fsync::Dsync, ..mmap.clone() }, "no write call"),
        (Op::BigWrite, Io { threads: 2, sharing: shared, ..io() }, "only one thread can make"),
        (Op::Read, Io { threads: 2, sharing: turns, ..io() }, "interleaved with read"),
        (Op::RandRead, Io { threads: 2, sharing: turns, ..io() }, "interleaved with randread"),
        (Op::BigWrite, Io { threads: 2, sharing: turns, ..mmap.clone() }, "with backend mmap"),
        (Op::Mkdir, Io { threads: 2, sharing: shared, ..io() }, "use sharing = \"own\""),
        (Op::RandRw, Io { rwmixread_percent: 101, ..io() }, "use 0 to 100"),
        (Op::RandRead, Io { ops: Some(0), ..io() }, "0 ops"),
        (Op::BigRead, Io { ops: Some(5), ..io() }, "leave ops out"),
        (Op::Create, Io { threads: 2, shift: 1, ..io() }, "shift 1 with create"),
        (Op::RandRead, Io { threads: 2, shift: 1, ..io() }, "shift 1 with randread"),
        (Op::Read, Io { threads: 2, shift: 2, ..io() }, "shift 2 of 2 thread(s)"),
        (Op::Read, Io { rate: Some(0), ..io() }, "a rate of 0"),
        (Op::Read, Io { rate: Some(9), backend: Backend::IoUring, ..io() }, "a rate with backend"),
        (Op::Fio, io(), "fio is not an op over a dataset"),
        (Op::Job, io(), "job is not an op over a dataset"),
    ] {
        let text = refusal(op, io);
        assert!(text.starts_with("phase p: ") && text.contains(wanted), "{op:?}: {text}");
    }
    for io in [Io { threads: 2, sharing: own, ..io() }, Io { fsync: Fsync::Dir, ..io() }] {
        for op in Op::ALL.into_iter().filter(|op| *op != Op::Cycle) {
            assert_eq!(refusal(op, io.clone()), "accepted", "{op:?}");
        }
    }
    assert_eq!(refusal(Op::RandRw, mmap), "accepted");
}

#[test]
fn directories_need_those_above_them() {
    let deep = Dataset { depth: 2, ..set() };
    let mkdir = Phase::new("m", Op::Mkdir, 0);
    let by_two = Phase { io: Io { threads: 2, ..io() }, ..mkdir.clone() };
    assert!(refusal_of(&deep, &by_two).contains("use depth = 1"));
    let random = Phase { order: Order::Random, ..mkdir.clone() };
    assert!(refusal_of(&deep, &random).contains("order = \"sequential\""));
    assert_eq!(refusal_of(&set(), &random), "accepted");
    assert!(refusal_of(&Dataset::uniform(5, 1, 0), &mkdir).contains("without directories"));
}

#[test]
fn direct_io_keeps_to_sectors() {
    let direct = |op, bs| Phase { io: Io { direct: true, ..io() }, ..Phase::new("p", op, bs) };
    let text = refusal_of(&set(), &direct(Op::BigRead, 1000));
    assert!(text.contains("calls of 1000 bytes") && text.contains("512"), "{text}");
    let odd = Dataset::uniform(10, 8193, 1);
    assert!(refusal_of(&odd, &direct(Op::Create, 4096)).contains("8193"));
    assert_eq!(refusal_of(&odd, &direct(Op::Read, 4096)), "accepted", "a tail can be read");
    assert_eq!(refusal_of(&odd, &direct(Op::RandWrite, 4096)), "accepted", "whole blocks only");
    let sizes = Some(Distribution::Weighted { values: vec![(512, 1), (700, 1)] });
    let drawn = Dataset { sizes, ..odd };
    assert!(refusal_of(&drawn, &direct(Op::Create, 4096)).contains("700"));
    let text = super::phase(&set(), &DatasetState::default(), &direct(Op::BigRead, 512), 4096);
    assert!(text.unwrap_err().to_string().contains("4096"));
}

#[test]
fn random_blocks_come_from_files_of_one_size() {
    let sizes = Some(Distribution::Uniform { min: 4096, max: 8192 });
    let drawn = Dataset { sizes, ..set() };
    let text = refusal_of(&drawn, &Phase::new("p", Op::RandRead, 4096));
    assert!(text.contains("leave sizes out"), "{text}");
    let small = Dataset::uniform(5, 4095, 0);
    assert!(refusal_of(&small, &Phase::new("p", Op::RandRw, 4096)).contains("no block"));
    let many = Dataset::uniform(50_000_000, 4096, 100_000);
    let text = refusal_of(&many, &Phase::new("p", Op::RandRead, 4096));
    assert!(text.contains("ulimit -n"), "{text}");
    assert!(refusal_of(&set(), &Phase::new("p", Op::Append, 0)).contains("bs_bytes is 0"));
}

fn cycles() -> Cycle {
    Cycle {
        cycles: 3,
        period_ns: 1_000_000,
        overrun: Overrun::Overlap,
        updates: 50,
        shares: Shares { in_place: 1, truncate: 0, replace: 1, recreate: 0, temporary: 2 },
        disturb: None,
    }
}

fn refusal_of_cycles(cycle: Cycle) -> String {
    refusal_of(&set(), &Phase::of_cycles("p", cycle, 4096))
}

#[test]
fn cycles_belong_to_their_op() {
    assert!(refusal(Op::Cycle, io()).contains("give it them (cycle)"));
    let other = Phase { op: Op::Overwrite, ..Phase::of_cycles("p", cycles(), 4096) };
    assert!(refusal_of(&set(), &other).contains("cycles for overwrite"));
    assert!(refusal_of(&set(), &Phase::of_cycles("p", cycles(), 0)).contains("bs_bytes is 0"));
    let with = |io| refusal_of(&set(), &Phase { io, ..Phase::of_cycles("p", cycles(), 4096) });
    for (io, wanted) in [
        (Io { backend: Backend::IoUring, ..io() }, "backend io_uring with cycle"),
        (Io { backend: Backend::Mmap, ..io() }, "backend mmap with cycle"),
        (Io { direct: true, ..io() }, "leave direct out"),
        (Io { threads: 2, ..io() }, "cycle by 2 threads"),
        (Io { iodepth: 2, ..io() }, "iodepth 2"),
        (Io { ops: Some(5), ..io() }, "leave ops out"),
        (Io { fsync: Fsync::Dir, ..io() }, "fsync = dir with cycle"),
    ] {
        let text = with(io);
        assert!(text.starts_with("phase p: ") && text.contains(wanted), "{text}");
    }
    for fsync in [Fsync::None, Fsync::Op, Fsync::File, Fsync::End, Fsync::Dsync] {
        assert_eq!(with(Io { fsync, ..io() }), "accepted", "{fsync:?}");
    }
    assert_eq!(with(Io { backend: Backend::Null, ..io() }), "accepted");
}

#[test]
fn cycles_have_numbers_that_can_be() {
    let no_shares = Shares { in_place: 0, truncate: 0, replace: 0, recreate: 0, temporary: 0 };
    for (cycle, wanted) in [
        (Cycle { cycles: 0, ..cycles() }, "0 cycles"),
        (Cycle { cycles: 65_535, ..cycles() }, "65534 versions left"),
        (Cycle { period_ns: 0, ..cycles() }, "a period of 0"),
        (Cycle { period_ns: u64::MAX / 3, ..cycles() }, "time has 64 bits"),
        (Cycle { updates: 0, ..cycles() }, "cycles of 0 updates"),
        (Cycle { updates: 101, ..cycles() }, "101 updates of 100 files"),
        (Cycle { shares: no_shares, ..cycles() }, "shares that are all 0"),
    ] {
        let text = refusal_of_cycles(cycle);
        assert!(text.starts_with("phase p: ") && text.contains(wanted), "{text}");
    }
    let large = Dataset::uniform(50_000, 1, 10);
    let many = Cycle { cycles: 2001, updates: 50_000, ..cycles() };
    let text = refusal_of(&large, &Phase::of_cycles("p", many, 4096));
    assert!(text.contains("at most 100000000"), "{text}");
    assert_eq!(refusal_of_cycles(Cycle { updates: 100, cycles: 65_534, ..cycles() }), "accepted");
}

#[test]
fn a_second_load_is_one() {
    let refused = |load, cycles_of: &[u32]| {
        let disturb = Some(Disturb { load, cycles: cycles_of.to_vec() });
        refusal_of_cycles(Cycle { disturb, ..cycles() })
    };
    let (size_bytes, bs_bytes, rate_bytes) = (4096, 0, 0);
    let create = Load::Create { files: 10, size_bytes, rate: 0 };
    assert_eq!(refused(create, &[1, 3]), "accepted");
    assert!(refused(create, &[0]).contains("in cycle 0 of 3"));
    assert!(refused(create, &[2, 4]).contains("in cycle 4 of 3"));
    assert!(refused(Load::Create { files: 0, size_bytes, rate: 0 }, &[]).contains("0 files"));
    let text = refused(Load::Write { size_bytes, bs_bytes, rate_bytes }, &[]);
    assert!(text.contains("that writes a file of 4096 bytes in calls of 0"), "{text}");
    let read = Load::Read { size_bytes: 0, bs_bytes: 1, rate_bytes };
    assert!(refused(read, &[]).contains("that reads a file of 0 bytes"));
    // To prepare it.
    let disturb = Some(Disturb { load: create, cycles: vec![2] });
    let none = Phase::of_cycles("p", Cycle { cycles: 0, disturb, ..cycles() }, 4096);
    assert!(refusal_of(&set(), &none).contains("0 cycles"));
    assert_eq!(refusal_of(&set(), &Phase { timed: false, ..none }), "accepted");
}
