//! Seeded noise and random orders, the same on every machine.

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
