//! Tapes: the logarithms of simulated trials, in the order in which they were carried out.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// A portable generator and what is drawn from it.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform, from 0 up to 1.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of the numbers below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// Standard normal, by the polar method (Marsaglia and Bray, 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// The places 0 to `count` - 1 in random order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for end in (1..count).rev() {
            order.swap(end, self.below(end + 1));
        }
        order
    }
}

/// Noise of one trial after another; `sigma` is that of [`Noise::Normal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    Normal,
    /// Student's t with 3 degrees of freedom, scaled to the same standard deviation.
    HeavyTails,
    /// One trial in four slower by 2.18 sigma, with sigma ÷ 3 of jitter.
    Bimodal,
    /// Sigma ÷ 2 of jitter; one trial in twelve slower by an exponential with mean 6 sigma.
    Spikes,
    /// A wandering level (lag-1 correlation 0.9, deviation 2 sigma) and sigma ÷ 2 of jitter.
    Wandering,
    /// Each trial slower than the one before by sigma ÷ 2.
    Drift,
    /// A machine of two speeds.
    TwoPoint,
}

impl Noise {
    pub const ALL: [Self; 7] = [
        Self::Normal,
        Self::HeavyTails,
        Self::Bimodal,
        Self::Spikes,
        Self::Wandering,
        Self::Drift,
        Self::TwoPoint,
    ];

    /// Logarithms of `trials` consecutive trials of one configuration.
    pub fn tape(self, draw: &mut Draw, trials: usize, sigma: f64) -> Vec<f64> {
        let mut level = 2.0 * sigma * draw.normal();
        let mut tape = Vec::with_capacity(trials);
        for trial in 0..trials {
            level = 0.9 * level + (1.0f64 - 0.81).sqrt() * 2.0 * sigma * draw.normal();
            tape.push(match self {
                Self::Normal => sigma * draw.normal(),
                Self::HeavyTails => {
                    let chi = (0..3).map(|_| draw.normal().powi(2)).sum::<f64>();
                    sigma * draw.normal() / chi.sqrt()
                }
                Self::Bimodal => {
                    let slow = if draw.uniform() < 0.25 { 2.18 } else { 0.0 };
                    sigma * (slow + draw.normal() / 3.0)
                }
                Self::Spikes => {
                    let is_slow = draw.uniform() < 0.08;
                    let spike = if is_slow { -6.0 * (1.0 - draw.uniform()).ln() } else { 0.0 };
                    sigma * (spike + draw.normal() / 2.0)
                }
                Self::Wandering => level + sigma * draw.normal() / 2.0,
                Self::Drift => sigma * (draw.normal() + trial as f64 / 2.0),
                Self::TwoPoint if draw.uniform() < 0.5 => sigma,
                Self::TwoPoint => -sigma,
            });
        }
        tape
    }

    /// Blocks of one trial of each contender in random order: block × contender. `sigmas` and
    /// `effects` (logarithms) are by contender.
    pub fn blocks(
        self,
        draw: &mut Draw,
        blocks: usize,
        sigmas: &[f64],
        effects: &[f64],
    ) -> Vec<Vec<f64>> {
        let contenders = sigmas.len();
        // Drawn with sigma 1 and then scaled: what wanders does so for all of them.
        let tape = self.tape(draw, blocks * contenders, 1.0);
        tape.chunks(contenders)
            .map(|slots| {
                let mut row = vec![0.0; contenders];
                for (slot, contender) in slots.iter().zip(draw.order(contenders)) {
                    row[contender] = slot * sigmas[contender] + effects[contender];
                }
                row
            })
            .collect()
    }
}

/// t with 3 degrees of freedom has the variance 3, and normal ÷ √χ² is that ÷ √3.
#[test]
fn noises_have_the_spread_they_claim() {
    let mut draw = Draw::seeded(1);
    let spread = |noise: Noise, draw: &mut Draw| {
        let tape = noise.tape(draw, 400_000, 1.0);
        let mean = tape.iter().sum::<f64>() / tape.len() as f64;
        (tape.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / tape.len() as f64).sqrt()
    };
    let wanted = [
        (Noise::Normal, 1.0),
        (Noise::HeavyTails, 1.0),
        (Noise::Bimodal, (2.18f64.powi(2) * 0.1875 + 1.0 / 9.0).sqrt()),
        (Noise::Spikes, (0.25 + 0.08 * 72.0 - 0.48f64.powi(2)).sqrt()),
        (Noise::Wandering, 4.25f64.sqrt()),
        (Noise::TwoPoint, 1.0),
    ];
    for (noise, wanted) in wanted {
        let found = spread(noise, &mut draw);
        assert!((found / wanted - 1.0).abs() < 0.1, "{noise:?}: {found}, not {wanted}");
    }
}
