//! Factors, trends and steady state: numbers of another implementation, and rates of false alarms
//! and of what is found, on seeded noise.
//!
//! Rates are compared with what the exact binomial distribution allows: each bound below is one
//! that a right program misses less than once in a thousand seeds, and the seeds are fixed.

mod factorial;
mod trend;

use fsarena_stats::steady::{mser5, shift};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::f64::consts::TAU;

/// A source of noise.
pub struct Noise(ChaCha8Rng);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Above 0, up to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Numbers 0 to `n` − 1 in random order.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, (self.uniform() * (last + 1) as f64).ceil() as usize - 1);
        }
        order
    }

    /// An autoregression of first order with innovations of variance 1, from its own distribution.
    pub fn autoregression(&mut self, phi: f64, n: usize) -> Vec<f64> {
        let mut value = self.normal() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                value = phi * value + self.normal();
                value
            })
            .collect()
    }
}

// The watch over the inside of a phase: false alarms and power as in the plan of the statistics
// (120 intervals; 5 %), and the cut of the warm-up.

const INTERVALS: usize = 120;
const REPEATS: usize = 2000;

fn alarms(phi: f64, alpha: f64, step: f64) -> f64 {
    let mut noise = Noise::new(2600 + (phi * 10.0) as u64);
    let deviation = 1.0 / (1.0 - phi * phi).sqrt();
    let mut count = 0;
    for _ in 0..REPEATS {
        let mut values = noise.autoregression(phi, INTERVALS);
        for value in &mut values[..INTERVALS / 4] {
            *value += step * deviation;
        }
        count += usize::from(shift(&values).is_some_and(|found| found.p < alpha));
    }
    count as f64 * 100.0 / REPEATS as f64
}

#[test]
fn false_alarms_stay_few_under_autocorrelation() {
    // Percent; a plain standard deviation gives 4, 25, 68 and 98.
    for (phi, most) in [(0.0, 6.0), (0.3, 8.0), (0.6, 10.0), (0.9, 18.0)] {
        let (at_five, at_one) = (alarms(phi, 0.05, 0.0), alarms(phi, 0.01, 0.0));
        println!("phi {phi}: {at_five} % at 5 %, {at_one} % at 1 %");
        assert!(at_five <= most && at_five >= 1.0, "phi {phi}: {at_five} %");
        assert!(at_one <= at_five / 1.5, "phi {phi}: {at_one} %");
    }
}

#[test]
fn a_shift_of_three_deviations_is_found() {
    for (phi, least) in [(0.0, 99.0), (0.3, 99.0), (0.6, 98.0), (0.9, 60.0)] {
        let found = alarms(phi, 0.05, 3.0);
        println!("phi {phi}: {found} %");
        assert!(found >= least, "phi {phi}: {found} %");
    }
}

#[test]
fn the_cut_takes_the_bias_of_a_warm_up() {
    let mut noise = Noise::new(2003);
    let (mut whole, mut after_cut, mut cut_of_steady) = (0.0, 0.0, 0);
    for _ in 0..REPEATS {
        let steady: Vec<f64> = (0..INTERVALS).map(|_| noise.normal()).collect();
        cut_of_steady += mser5(&steady).expect("long enough");
        let warming: Vec<f64> =
            steady.iter().enumerate().map(|(t, y)| y + 3.0 * (-(t as f64) / 12.0).exp()).collect();
        let cut = mser5(&warming).expect("long enough");
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        whole += mean(&warming) / REPEATS as f64;
        after_cut += mean(&warming[cut..]) / REPEATS as f64;
    }
    let usual_cut = cut_of_steady as f64 / REPEATS as f64;
    println!("bias {whole:.3}, after the cut {after_cut:.3}; cut of a steady one {usual_cut}");
    assert!(whole > 0.28 && after_cut < 0.11, "{whole} {after_cut}");
}
