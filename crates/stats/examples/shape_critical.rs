//! Prints the table of critical values in `src/shape.rs`: `cargo run -p fsarena-stats --example
//! shape_critical`. Seeded: it prints the same every time.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use fsarena_stats::{quantile, shape};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

const SEED: u64 = 5;
const PAIRS: usize = 200_000;
const SIZES: [usize; 17] = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 32, 48, 64, 96];

/// The share of pairs of equal shape that each of the two checks may call different.
const SHARE: f64 = 0.01;

fn main() {
    let mut generator = ChaCha8Rng::seed_from_u64(SEED);
    for n in SIZES {
        let (mut ratios, mut gaps) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let (a, b) = (sample(&mut generator, n), sample(&mut generator, n));
            let measured = shape::measures(&a, &b).expect("finite values that are not all equal");
            ratios.push(measured.ratio);
            let (a, b) = (measured.gap_a, measured.gap_b);
            gaps.push((a.min(b), a.max(b)));
        }
        let ratio = quantile(&ratios, 1.0 - SHARE).expect("finite ratios");
        println!("    ({n}, {ratio:.2}, {:.2}),", gap_limit(&gaps));
    }
}

/// The limit that [`SHARE`] of the pairs (less, more) exceed with one gap, the other clearly below.
fn gap_limit(gaps: &[(f64, f64)]) -> f64 {
    let larger: Vec<f64> = gaps.iter().map(|gap| gap.1).collect();
    let at = |share| quantile(&larger, share).expect("finite gaps");
    let (mut low, mut high) = (at(0.9), at(1.0));
    for _ in 0..30 {
        let limit = f64::midpoint(low, high);
        let differ = |gap: &&(f64, f64)| gap.1 > limit && gap.0 < shape::CLEARLY_LESS * gap.1;
        let share = gaps.iter().filter(differ).count() as f64 / gaps.len() as f64;
        if share > SHARE { low = limit } else { high = limit }
    }
    high
}

/// Standard normal values.
fn sample(generator: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(generator)).collect()
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
