//! The judge, its looks, what watchers find, and which factors explain a difference.

mod answers;
mod factors;
mod fit;
mod judge;
mod trials;
mod watchers;

use fsarena_model::record::TimeBase;
use fsarena_model::score::MemoryKind;
use fsarena_verdict::{Class, Point, Points, Usage};
use std::f64::consts::TAU;

pub const COLD: Class = Class { time_base: TimeBase::Wall, cold: true, memory: MemoryKind::Whole };
pub const WARM: Class = Class { time_base: TimeBase::Wall, cold: false, memory: MemoryKind::Whole };

/// SplitMix64 (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
pub struct Noise(pub u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Above 0, up to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
        order
    }
}

/// Cold values around a second, in random order in each block: the machine wanders by 5 % a block,
/// each value has noise of `sd` (in logarithms), and `log` adds the rest.
pub fn points(
    noise: &mut Noise,
    contenders: usize,
    blocks: u32,
    sd: f64,
    log: impl Fn(&Point) -> f64,
) -> Points {
    let mut all = Vec::new();
    let mut wander = 0.0;
    for block in 0..blocks {
        wander += 0.05 * noise.normal();
        let order = noise.order(contenders);
        for (place, &contender) in order.iter().enumerate() {
            let mut point = Point {
                block,
                position: place as u32,
                contender,
                previous: place.checked_sub(1).map(|before| order[before]),
                class: COLD,
                read: 1e9,
                value: 1e9,
                elapsed_ns: 2_000_000_000,
                usage: Usage::default(),
            };
            point.value *= (wander + sd * noise.normal() + log(&point)).exp();
            all.push(point);
        }
    }
    Points { all, ..Points::default() }
}
