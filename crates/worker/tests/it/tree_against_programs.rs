//! The engine's copy, delete and untar next to `cp -a`, `rm -rf` and `tar -x` on the same trees.
//!
//! Not a test of every day: it wants a quiet machine and a release build.
//!
//! ```text
//! FSARENA_TREE_PLACES=/dev/shm cargo test --release -p fsarena-worker \
//!     --test it tree_against_programs -- --nocapture
//! ```
//!
//! A tree of 20,000 files of 256 B in 200 directories; each pair does the same once by either side,
//! first one then the other in turn. A program's time goes from right before it is started to its
//! end, ours from the first to the last clock read, with every latency recorded.

use crate::{done, program, source, task};
#[allow(dead_code)] // others use the rest
use fsarena_engine::Root;
use fsarena_model::job::{Compression, JobKind, Origin, Source};
use fsarena_worker::tree::stage;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

const FILES: u64 = 20_000;
const PAIRS: usize = 7;

/// Time of the engine's job that makes `name` of `input`, ms.
fn ours(dir: &Path, name: &str, kind: JobKind, input: &str) -> f64 {
    let mut task = task(name, kind, Path::new(input));
    task.contents.files = FILES;
    let report = done(dir, &task);
    assert_eq!(report.ops, FILES + 200);
    (report.returned_monotonic_ns - report.start_monotonic_ns) as f64 / 1e6
}

/// Time of a program, ms.
fn theirs(dir: &Path, name: &str, args: &[&str]) -> f64 {
    let args: Vec<_> = args.iter().map(OsStr::new).collect();
    let start = Instant::now();
    program(name, dir, &args);
    start.elapsed().as_secs_f64() * 1e3
}

/// Both sides, the first one in turn; `clean` before each.
fn in_turn(
    turn: usize,
    clean: &dyn Fn(),
    one: &dyn Fn() -> f64,
    other: &dyn Fn() -> f64,
) -> [f64; 2] {
    let timed = |side: &dyn Fn() -> f64| {
        clean();
        side()
    };
    if turn.is_multiple_of(2) {
        [timed(one), timed(other)]
    } else {
        let other = timed(other);
        [timed(one), other]
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn tell(what: &str, pair: impl Fn(usize) -> [f64; 2]) {
    pair(0);
    let pairs: Vec<_> = (0..PAIRS).map(pair).collect();
    let ratios: Vec<f64> = pairs.iter().map(|[ours, theirs]| ours / theirs).collect();
    println!(
        "{what}: {:.1} ms, the program {:.1} ms; ratio {:.3} ({:.3} to {:.3})",
        median(pairs.iter().map(|pair| pair[0]).collect()),
        median(pairs.iter().map(|pair| pair[1]).collect()),
        median(ratios.clone()),
        ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratios.iter().copied().fold(0.0, f64::max),
    );
}

#[test]
fn trees_against_programs() {
    let Ok(places) = std::env::var("FSARENA_TREE_PLACES") else {
        println!("not run: a measurement; FSARENA_TREE_PLACES names no directories");
        return;
    };
    for place in places.split(',') {
        println!("{place}:");
        let dir = tempfile::Builder::new().prefix("fsarena-").tempdir_in(place).unwrap();
        let dir = dir.path();
        let description = fsarena_corpus::small(FILES, 256, 200);
        let origin = Origin::Made { description: description.to_toml() };
        stage(&Root::open(dir).unwrap(), &Source { origin, ..source(None) }, None).unwrap();
        theirs(dir, "tar", &["-czf", "data.tar.gz", "-C", "data", "."]);
        let clean = || {
            for name in ["made", "x"] {
                let _ = std::fs::remove_dir_all(dir.join(name));
            }
        };
        let cp = || theirs(dir, "cp", &["-a", "--reflink=never", "--", "data", "made"]);
        let cleaned: &dyn Fn() = &clean;
        tell("copy", |turn| {
            in_turn(turn, cleaned, &|| ours(dir, "made", JobKind::Copy, "data"), &cp)
        });
        let copied = || {
            clean();
            cp();
        };
        tell("delete", |turn| {
            let rm = || theirs(dir, "rm", &["-rf", "--", "made"]);
            in_turn(turn, &copied, &|| ours(dir, "x", JobKind::Delete, "made"), &rm)
        });
        for compression in [Compression::Gzip, Compression::None] {
            let input = format!("data.{}", compression.ending());
            if compression == Compression::None {
                theirs(dir, "tar", &["-cf", &input, "-C", "data", "."]);
            }
            let kind = JobKind::Untar { compression };
            tell(&format!("untar {}", compression.name()), |turn| {
                let tar = || {
                    std::fs::create_dir(dir.join("made")).unwrap();
                    theirs(dir, "tar", &["-xf", &input, "-C", "made"])
                };
                in_turn(turn, cleaned, &|| ours(dir, "made", kind.clone(), &input), &tar)
            });
        }
    }
}
