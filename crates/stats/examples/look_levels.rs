//! Prints the tables in `src/levels.rs`: `cargo run --release -p fsarena-stats --example
//! look_levels`. Seeded: it prints the same every time.
//!
//! Two contenders that do not differ are walked through 96 blocks, many times over; at each number
//! of blocks Student's t gives a probability. A level c of the last look holds where the looks,
//! at c · √(n ÷ cap), leave the truth out in 4.5 % of all walks, or in that divided by the number
//! of pairs. A level at the end of a budget spends what the looks before it have left.
#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

use fsarena_stats::{CAPS, FIRST_LOOK, Looks};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

const SEED: u64 = 13;
const WALKS: usize = 1 << 24;
/// Share of walks that may leave out the truth; the half point below 5 % is for noise that is not
/// normal.
const SHARE: f64 = 0.045;
const PAIRS: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];

/// Two contenders so far.
#[derive(Clone, Copy)]
struct Walk {
    sum: f64,
    squares: f64,
    /// Least of p ÷ √n over the looks so far.
    least: f32,
}

fn main() {
    let last = last_levels();
    println!("pub(crate) const LAST: [[f64; 5]; 8] = [");
    for row in &last {
        println!("    {},", numbers(row));
    }
    println!("];");
    end_levels(&last);
}

fn numbers(row: &[f64; 5]) -> String {
    let texts: Vec<String> = row.iter().zip(PAIRS).map(|(c, m)| format!("{:.5}", c * m)).collect();
    format!("[{}]", texts.join(", "))
}

/// For each cap and number of pairs, c: a walk is wrong by it where p ≤ c · √(n ÷ cap) at a look.
fn last_levels() -> Vec<[f64; 5]> {
    let mut levels = Vec::new();
    let after = |blocks: u32, walks: &[Walk]| {
        if CAPS.contains(&blocks) {
            let mut least: Vec<f32> = walks.iter().map(|walk| walk.least).collect();
            levels.push(PAIRS.map(|pairs| {
                let rank = (WALKS as f64 * SHARE / pairs) as usize;
                let (_, found, _) = least.select_nth_unstable_by(rank, f32::total_cmp);
                f64::from(*found) * f64::from(blocks).sqrt()
            }));
        }
    };
    walk(|_, _, _| {}, after);
    levels
}

/// For each cap and each number of blocks from the first look on, the level at which the last look
/// may be taken there.
fn end_levels(last: &[[f64; 5]]) {
    let mut tables: Vec<Vec<[f64; 5]>> = vec![Vec::new(); CAPS.len()];
    let before_look = |blocks: u32, walks: &[Walk], before: &[f32]| {
        if blocks < FIRST_LOOK {
            return;
        }
        let low = low_tail(walks, blocks);
        for (at, cap) in CAPS.iter().enumerate().filter(|(_, cap)| **cap >= blocks) {
            tables[at].push([0, 1, 2, 3, 4].map(|column| {
                let limit = (last[at][column] / f64::from(*cap).sqrt()) as f32;
                let spent = before.partition_point(|least| *least <= limit);
                let rank = (WALKS as f64 * SHARE / PAIRS[column]) as usize - spent;
                let alive = low.iter().filter(|(_, least)| *least > limit);
                let mut p: Vec<f64> = alive.map(|(p, _)| *p).collect();
                *p.select_nth_unstable_by(rank, f64::total_cmp).1
            }));
        }
    };
    walk(before_look, |_, _| {});
    for (cap, table) in CAPS.iter().zip(&tables) {
        println!("const END_{cap}: [[f64; 5]; {}] = [", table.len());
        for row in table {
            println!("    {},", numbers(row));
        }
        println!("];");
    }
}

/// The probabilities of walks that are about the share at most, each with its least of the looks
/// before.
fn low_tail(walks: &[Walk], blocks: u32) -> Vec<(f64, f32)> {
    let of = student(blocks);
    let from = of.inverse_cdf(1.0 - SHARE * 0.51);
    let is_low = |walk: &&Walk| t(walk, blocks) >= from;
    walks.iter().filter(is_low).map(|walk| (2.0 * of.sf(t(walk, blocks)), walk.least)).collect()
}

fn student(blocks: u32) -> StudentsT {
    StudentsT::new(0.0, 1.0, f64::from(blocks - 1)).expect("two blocks have a spread")
}

fn t(walk: &Walk, blocks: u32) -> f64 {
    let n = f64::from(blocks);
    let variance = (walk.squares - walk.sum * walk.sum / n) / (n - 1.0);
    (walk.sum / n).abs() / (variance / n).sqrt()
}

/// Walks through all blocks. After each, `before_look` gets the walks and, in ascending order, the
/// least of p ÷ √n of all looks before, where it is low; where there is a look after it, `after`
/// gets them with this look.
fn walk(mut before_look: impl FnMut(u32, &[Walk], &[f32]), mut after: impl FnMut(u32, &[Walk])) {
    let looks = Looks::with_cap(*CAPS.last().expect("there are caps")).expect("a known cap");
    let mut generator = ChaCha8Rng::seed_from_u64(SEED);
    let mut walks = vec![Walk { sum: 0.0, squares: 0.0, least: f32::INFINITY }; WALKS];
    let mut before: Vec<f32> = Vec::new();
    for blocks in 1..=looks.cap() {
        for walk in &mut walks {
            let value = normal(&mut generator);
            walk.sum += value;
            walk.squares += value * value;
        }
        before_look(blocks, &walks, &before);
        if looks.is_look(blocks) {
            note(&mut walks, blocks);
            after(blocks, &walks);
            before = walks.iter().map(|walk| walk.least).filter(|one| one.is_finite()).collect();
            before.sort_unstable_by(f32::total_cmp);
        }
    }
}

/// Takes a look at all walks.
fn note(walks: &mut [Walk], blocks: u32) {
    let of = student(blocks);
    let from = of.inverse_cdf(1.0 - SHARE / 2.0);
    let root = f64::from(blocks).sqrt();
    for walk in walks {
        let t = t(walk, blocks);
        if t >= from {
            walk.least = walk.least.min((2.0 * of.sf(t) / root) as f32);
        }
    }
}

/// One standard normal value, by the polar method: G. Marsaglia, T. Bray, "A convenient method for
/// generating normal variables", SIAM Rev. 6 (1964).
fn normal(generator: &mut ChaCha8Rng) -> f64 {
    loop {
        let (x, y) = (uniform(generator), uniform(generator));
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// Uniform from -1 to 1.
fn uniform(generator: &mut ChaCha8Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
