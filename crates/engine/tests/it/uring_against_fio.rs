//! 4 KiB random reads through io_uring next to fio with the same engine, file and settings.
//!
//! Not a test of every day: it wants a quiet machine, a release build and fio.
//!
//! ```text
//! FSARENA_FIO_PLACES=/dev/shm,/mnt/loop,/mnt/loop:direct \
//!     cargo test --release -p fsarena-engine --test it uring_against_fio -- --nocapture
//! ```
//!
//! Each pair reads the same blocks of one file of 256 MiB, each side as many as the other, first
//! one then the other side in turn. IOPS of fio are those it states; ours are ops by the time from
//! the first to the last clock read, with every latency recorded.

use crate::support::{phase, run, seed};
use fsarena_engine::{Job, Root};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op};
use std::path::Path;
use std::process::Command;

const FILE_BYTES: u64 = 256 << 20;
const BS_BYTES: u64 = 4096;
const PAIRS: usize = 11;

fn io(iodepth: u32, direct: bool, ops: u64) -> Io {
    Io { backend: Backend::IoUring, iodepth, direct, ops: Some(ops), ..Io::default() }
}

fn ours(dir: &Path, dataset: &Dataset, io: &Io) -> f64 {
    let root = Root::open(dir).unwrap();
    let phase = phase(Op::RandRead, BS_BYTES, io);
    let job = Job::new(dataset, &phase, seed(), seed());
    let report = Job { sector_bytes: root.sector_bytes(), ..job }.run(&root).unwrap();
    assert_eq!((report.error, Some(report.ops)), (None, io.ops));
    assert_eq!(Some(report.latency.unwrap().count()), io.ops);
    let elapsed_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
    report.ops as f64 * 1e9 / elapsed_ns as f64
}

fn fios(dir: &Path, io: &Io) -> f64 {
    let ops = io.ops.unwrap();
    let output = Command::new("fio")
        .args([
            "--name=randread",
            "--ioengine=io_uring",
            "--rw=randread",
            "--bs=4k",
            "--invalidate=0",
        ])
        .args(["--output-format=json", "--size=256m"])
        .arg(format!("--filename={}", dir.join("f00000000").display()))
        .arg(format!("--iodepth={}", io.iodepth))
        .arg(format!("--direct={}", u8::from(io.direct)))
        .arg(format!("--number_ios={ops}"))
        .arg(format!("--io_size={}", ops * BS_BYTES))
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let read = &json["jobs"][0]["read"];
    assert_eq!(read["total_ios"].as_u64(), Some(ops), "{json}");
    read["iops"].as_f64().unwrap()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn random_reads_against_fio() {
    let Ok(places) = std::env::var("FSARENA_FIO_PLACES") else {
        println!("not run: a measurement; FSARENA_FIO_PLACES names no directories");
        return;
    };
    let dataset = Dataset::uniform(1, FILE_BYTES, 0);
    for place in places.split(',') {
        let (path, direct) = place.strip_suffix(":direct").map_or((place, false), |p| (p, true));
        let dir = tempfile::Builder::new().prefix("fsarena-").tempdir_in(path).unwrap();
        let mut state = DatasetState::default();
        let report =
            run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 1 << 20, &Io::default()));
        assert_eq!(report.error, None);
        for iodepth in [1, 32] {
            let ops = if direct { 65_536 } else { 300_000 };
            let io = io(iodepth, direct, ops);
            let pair = |turn: usize| {
                if turn.is_multiple_of(2) {
                    let ours = ours(dir.path(), &dataset, &io);
                    (ours, fios(dir.path(), &io))
                } else {
                    let fios = fios(dir.path(), &io);
                    (ours(dir.path(), &dataset, &io), fios)
                }
            };
            pair(0);
            let pairs: Vec<_> = (0..PAIRS).map(pair).collect();
            let ratios: Vec<f64> = pairs.iter().map(|(ours, fios)| ours / fios).collect();
            println!(
                "{place} iodepth {iodepth}: {:.0} IOPS, fio {:.0}; ratio {:.3} ({:.3} to {:.3})",
                median(pairs.iter().map(|pair| pair.0).collect()),
                median(pairs.iter().map(|pair| pair.1).collect()),
                median(ratios.clone()),
                ratios.iter().copied().fold(f64::INFINITY, f64::min),
                ratios.iter().copied().fold(0.0, f64::max),
            );
        }
    }
}
