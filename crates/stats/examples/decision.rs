//! How long a decision takes: 28 pairs of eight contenders after 32 blocks. `cargo run --release -p
//! fsarena-stats --example decision`.
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use fsarena_stats::{Family, LookInput, LookResult, PairSample, shapes_differ};
use std::hint::black_box;
use std::time::{Duration, Instant};

const CONTENDERS: usize = 8;
const BLOCKS: usize = 32;
const REPEATS: usize = 201;

fn main() {
    let columns: Vec<Vec<f64>> = (0..CONTENDERS).map(column).collect();
    let pairs: Vec<(usize, usize)> =
        (0..CONTENDERS).flat_map(|a| (a + 1..CONTENDERS).map(move |b| (a, b))).collect();
    let logs: Vec<Vec<f64>> = pairs
        .iter()
        .map(|&(a, b)| columns[a].iter().zip(&columns[b]).map(|(a, b)| a - b).collect())
        .collect();
    let (shapes, _) = median_time(|| {
        pairs.iter().map(|&(a, b)| shapes_differ(&columns[a], &columns[b])).collect::<Vec<_>>()
    });
    let looks: Vec<LookInput<'_>> = logs
        .iter()
        .map(|logs| {
            let sample = PairSample { logs, floor_sd: 1e-6, pooled: None };
            LookInput { sample, same_allowed: true }
        })
        .collect();
    let (look, found) = median_time(|| {
        let mut family = Family { asked: pairs.len(), differences: 0, sames: 0 };
        family.analyse(black_box(&looks), 0.0149, 1.02f64.ln())
    });
    let decided = found.iter().filter(|found: &&LookResult| found.decision.is_some()).count();
    let count = pairs.len();
    println!("Family::analyse of {count} pairs after {BLOCKS} blocks: {look:?}, {decided} decided");
    println!("shapes_differ of them: {shapes:?}");
}

/// Logarithms of one contender: half of them differ by a few percent, the rest hardly.
fn column(contender: usize) -> Vec<f64> {
    // A Weyl sequence: as even as noise is, and the same on every machine.
    let noise = |block: usize| ((block * CONTENDERS + contender) as f64 * 0.618_034).fract() - 0.5;
    let effect = if contender < CONTENDERS / 2 { 0.001 } else { 0.02 };
    (0..BLOCKS).map(|block| contender as f64 * effect + 0.1 * noise(block)).collect()
}

/// The median time of many runs, and what the last of them gave.
fn median_time<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut last = run();
    let mut times: Vec<Duration> = (0..REPEATS)
        .map(|_| {
            let started = Instant::now();
            last = run();
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[REPEATS / 2], last)
}
