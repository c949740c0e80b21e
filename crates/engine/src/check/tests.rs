//! Each mix that is refused, with its remedy, and what is accepted beside it.

use super::*;
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
    let (shared, own) = (Sharing::Shared, Sharing::Own);
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
        (Op::Mkdir, Io { threads: 2, sharing: shared, ..io() }, "use sharing = \"own\""),
        (Op::RandRw, Io { rwmixread_percent: 101, ..io() }, "use 0 to 100"),
        (Op::RandRead, Io { ops: Some(0), ..io() }, "0 ops"),
        (Op::BigRead, Io { ops: Some(5), ..io() }, "leave ops out"),
        (Op::Fio, io(), "fio is not an op over a dataset"),
        (Op::Job, io(), "job is not an op over a dataset"),
    ] {
        let text = refusal(op, io);
        assert!(text.starts_with("phase p: ") && text.contains(wanted), "{op:?}: {text}");
    }
    for io in [Io { threads: 2, sharing: own, ..io() }, Io { fsync: Fsync::Dir, ..io() }] {
        for op in Op::ALL {
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
