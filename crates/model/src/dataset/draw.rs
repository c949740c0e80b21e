//! Distributions of whole numbers, and values drawn from them by number.
//!
//! A value is drawn from all 64 bits of a hash of its number, so that rare values and the tail are
//! there. The same bits come out on every machine: logarithms and exponentials are computed in
//! software (libm), the rest is plain IEEE arithmetic. Nothing here grows with the numbers.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::LazyLock;

/// A distribution of whole numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Distribution {
    /// Each value from `min` to `max` is as likely.
    Uniform {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// The logarithm is normal: many small values and a long tail, as files in a home directory
    /// are (A. B. Downey, "The structural cause of file size distributions", 2001).
    Lognormal {
        /// Half of the values are no larger.
        median: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
        /// Smaller values become this.
        min: u64,
        /// Larger values become this.
        max: u64,
    },
    /// Some values, each in its share.
    Weighted {
        /// Value and weight.
        values: Vec<(u64, u32)>,
    },
}

impl Distribution {
    /// The largest value that can be drawn.
    #[must_use]
    pub fn max(&self) -> u64 {
        match self {
            Self::Uniform { max, .. } | Self::Lognormal { max, .. } => *max,
            Self::Weighted { values } => values.iter().map(|value| value.0).max().unwrap_or(0),
        }
    }

    /// The values by number; `salt` tells apart what is drawn.
    #[must_use]
    pub fn draw(&self, salt: u64) -> Draw {
        match self {
            Self::Uniform { min, max } => {
                Draw::Uniform { min: *min, further: max.saturating_sub(*min), salt }
            }
            Self::Lognormal { median, sigma, min, max } => {
                let curve = Curve::new(*median as f64, *sigma, (*min, *max));
                Draw::Lognormal { curve: Box::new(curve), salt }
            }
            Self::Weighted { values } => weighted(values, salt),
        }
    }
}

/// Values of a distribution by number; cheap to ask, without memory that grows with the numbers.
#[derive(Clone, PartialEq, Debug)]
pub enum Draw {
    /// Always the same.
    Fixed(u64),
    /// Each value is as likely.
    Uniform {
        /// Smallest.
        min: u64,
        /// Largest less smallest.
        further: u64,
        /// Tells apart what is drawn.
        salt: u64,
    },
    /// Some values, each in its share.
    Weighted {
        /// The values.
        values: Box<[u64]>,
        /// The hash at which the share of each ends, but of the last, which has no end.
        ends: Box<[u64]>,
        /// Tells apart what is drawn.
        salt: u64,
    },
    /// By the quantiles of a lognormal distribution.
    Lognormal {
        /// The quantiles.
        curve: Box<Curve>,
        /// Tells apart what is drawn.
        salt: u64,
    },
}

impl Draw {
    /// The value of number `index`.
    #[inline]
    #[must_use]
    pub fn value_at(&self, index: u64) -> u64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Uniform { min, further, salt } => {
                let span = u128::from(*further) + 1;
                min + part(u128::from(mix(index ^ salt)) * span)
            }
            Self::Weighted { values, ends, salt } => {
                let hash = mix(index ^ salt);
                values[ends.partition_point(|end| *end <= hash)]
            }
            Self::Lognormal { curve, salt } => curve.at(mix(index ^ salt)),
        }
    }

    /// The sum of what `of` makes of the values of these numbers. Adds all up where they are not
    /// all the same: some ns a number.
    #[must_use]
    pub fn sum(&self, numbers: Range<u64>, of: impl Fn(u64) -> u64) -> u64 {
        match self {
            Self::Fixed(value) => (numbers.end - numbers.start).saturating_mul(of(*value)),
            _ => numbers.map(|index| of(self.value_at(index))).fold(0, u64::saturating_add),
        }
    }

    /// A value that can be drawn and of which the sum with `more` is no multiple of `unit`.
    #[must_use]
    pub fn odd(&self, unit: u64, more: u64) -> Option<u64> {
        let odd = |value: &u64| !value.wrapping_add(more).is_multiple_of(unit);
        let range = |min: u64, max: u64| [min, max, max.saturating_sub(1).max(min)];
        match self {
            Self::Fixed(value) => Some(*value).filter(odd),
            Self::Uniform { min, further, .. } => {
                range(*min, min.saturating_add(*further)).into_iter().find(odd)
            }
            Self::Weighted { values, .. } => values.iter().copied().find(odd),
            Self::Lognormal { curve, .. } => range(curve.min, curve.max).into_iter().find(odd),
        }
    }

    /// No value is larger.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Uniform { min, further, .. } => min.saturating_add(*further),
            Self::Weighted { values, .. } => values.iter().copied().max().unwrap_or(0),
            Self::Lognormal { curve, .. } => curve.max,
        }
    }
}

/// The upper half of a product of two numbers of 64 bits.
#[inline]
fn part(product: u128) -> u64 {
    (product >> 64) as u64
}

fn weighted(values: &[(u64, u32)], salt: u64) -> Draw {
    let all: u64 = values.iter().map(|value| u64::from(value.1)).sum();
    let some: Vec<(u64, u32)> = values.iter().copied().filter(|value| value.1 > 0).collect();
    let Some((_, but_last)) = some.split_last() else {
        return Draw::Fixed(values.last().map_or(0, |value| value.0));
    };
    let mut sum = 0;
    let ends = but_last.iter().map(|value| {
        sum += u64::from(value.1);
        let end = (u128::from(sum) << 64) / u128::from(all);
        u64::try_from(end).expect("the last value has a share too")
    });
    Draw::Weighted {
        ends: ends.collect(),
        values: some.iter().map(|value| value.0).collect(),
        salt,
    }
}

/// Bits of a hash that choose a cell of a table, and cells of a table.
const CELL_BITS: u32 = 12;
const CELLS: usize = 1 << CELL_BITS;
/// Share beyond the outermost boundary, which stands for all that is rarer: less than one file in
/// the largest dataset.
const OUTERMOST: f64 = 1.0 / (1u64 << 28) as f64;

/// A lognormal distribution as the boundaries of equal parts; between two of them values are as
/// likely. The lowest and the highest part are divided once more: all of the tail is in them.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Boundaries of all parts, of the parts of the lowest, and of those of the highest.
    whole: Box<[f64]>,
    lowest: Box<[f64]>,
    highest: Box<[f64]>,
    min: u64,
    max: u64,
}

impl Curve {
    fn new(median: f64, sigma: f64, (min, max): (u64, u64)) -> Self {
        let value = |z: f64| (median * libm::exp(sigma * z)).clamp(min as f64, max as f64);
        let normal: &Normal = &NORMAL;
        let upper = |half: &[f64]| half.iter().rev().map(|z| value(-z)).collect::<Box<[f64]>>();
        let lower = normal.lower_half.iter().map(|z| value(*z));
        // The middle is in both halves.
        let whole = lower.chain(upper(&normal.lower_half).into_iter().skip(1));
        Self {
            whole: whole.collect(),
            lowest: normal.lowest.iter().map(|z| value(*z)).collect(),
            highest: upper(&normal.lowest),
            min,
            max,
        }
    }

    /// The value at a share of `hash` / 2^64.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cell has 12 bits; values are not below 0"
    )]
    fn at(&self, hash: u64) -> u64 {
        let (cell, rest) = ((hash >> (64 - CELL_BITS)) as usize, hash << CELL_BITS);
        let (table, cell, rest) = match cell {
            0 => (&self.lowest, (rest >> (64 - CELL_BITS)) as usize, rest << CELL_BITS),
            last if last == CELLS - 1 => {
                (&self.highest, (rest >> (64 - CELL_BITS)) as usize, rest << CELL_BITS)
            }
            cell => (&self.whole, cell, rest),
        };
        let (from, to) = (table[cell], table[cell + 1]);
        let within = (rest >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        ((from + (to - from) * within + 0.5) as u64).clamp(self.min, self.max)
    }
}

/// Quantiles of the standard normal distribution that every [`Curve`] is made from; the upper half
/// is the lower one with the other sign.
struct Normal {
    /// Boundaries of equal parts up to the middle.
    lower_half: Box<[f64]>,
    /// Boundaries of the parts of the lowest.
    lowest: Box<[f64]>,
}

static NORMAL: LazyLock<Normal> = LazyLock::new(|| {
    let boundary = |cell: usize, of: f64| (cell as f64 / of).max(OUTERMOST);
    let cells = CELLS as f64;
    Normal {
        lower_half: (0..=CELLS / 2).map(|cell| normal_quantile(boundary(cell, cells))).collect(),
        lowest: (0..=CELLS).map(|cell| normal_quantile(boundary(cell, cells * cells))).collect(),
    }
});

/// The standard normal quantile by bisection of erfc: the same bits on every machine, since libm
/// is computed in software. Only tables are made with it.
fn normal_quantile(part: f64) -> f64 {
    let below = |z: f64| libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0;
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < part { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014) over a Weyl sequence.
#[inline]
#[must_use]
pub fn mix(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SALT: u64 = 7;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // NIST: z of 0.975 is 1.959963985, of 0.5 is 0.
        assert!((normal_quantile(0.975) - 1.959_963_985).abs() < 1e-8);
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }

    #[test]
    fn every_value_of_a_uniform_distribution_can_be_drawn() {
        let drawn = Distribution::Uniform { min: 10, max: 10 + (1 << 40) }.draw(SALT);
        let distinct: HashSet<u64> = (0..100_000).map(|index| drawn.value_at(index)).collect();
        assert!(distinct.len() > 99_990, "{}", distinct.len());
        let few = Distribution::Uniform { min: 5, max: 7 }.draw(SALT);
        let counts = (0..30_000).fold([0; 3], |mut counts, index| {
            counts[(few.value_at(index) - 5) as usize] += 1;
            counts
        });
        assert!(counts.iter().all(|count| (9_700..10_300).contains(count)), "{counts:?}");
        let all = Distribution::Uniform { min: 0, max: u64::MAX }.draw(SALT);
        assert_eq!(all.value_at(3), mix(3 ^ SALT));
    }

    #[test]
    fn a_rare_value_is_drawn_in_its_share() {
        let values = vec![(1, 999_990), (2, 0), (3, 10)];
        let drawn = Distribution::Weighted { values }.draw(SALT);
        let rare = (0..10_000_000).filter(|&index| drawn.value_at(index) == 3).count();
        assert!((60..140).contains(&rare), "{rare} of about 100");
        assert_eq!(Distribution::Weighted { values: vec![(4, 0)] }.draw(SALT), Draw::Fixed(4));
    }

    #[test]
    fn a_lognormal_distribution_has_its_shape_and_its_tail() {
        let (median, sigma, max) = (1 << 22, 2.0, 1 << 44);
        let drawn = Distribution::Lognormal { median, sigma, min: 0, max }.draw(SALT);
        let n = 4_000_000u64;
        let mut values: Vec<u64> = (0..n).map(|index| drawn.value_at(index)).collect();
        values.sort_unstable();
        for z in [-4.0f64, -3.0, -1.0, 0.0, 1.0, 3.0, 4.0] {
            let share = libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0;
            let limit = median as f64 * libm::exp(sigma * z);
            let below = values.partition_point(|value| (*value as f64) < limit) as f64;
            let error = 4.0 * (n as f64 * share * (1.0 - share)).sqrt() + 1.0;
            assert!((below - n as f64 * share).abs() < error + 0.002 * n as f64 * share.min(0.1));
        }
        // The largest of 4 million lies at about 5.1 deviations.
        let largest = libm::log(values[values.len() - 1] as f64 / median as f64) / sigma;
        assert!((4.7..5.8).contains(&largest), "{largest}");
    }

    #[test]
    fn what_lies_beyond_the_limits_becomes_them() {
        let drawn = Distribution::Lognormal { median: 100, sigma: 3.0, min: 90, max: 110 };
        let drawn = drawn.draw(SALT);
        let of = |wanted: u64| (0..10_000).filter(|&index| drawn.value_at(index) == wanted).count();
        assert!(of(90) > 4_500 && of(110) > 4_500);
        assert!((0..10_000).all(|index| (90..=110).contains(&drawn.value_at(index))));
    }

    #[test]
    fn sizes_that_do_not_end_at_a_sector_are_found() {
        let odd = |distribution: Distribution| distribution.draw(SALT).odd(512, 0).is_some();
        assert!(odd(Distribution::Uniform { min: 512, max: 1024 }));
        assert!(!odd(Distribution::Uniform { min: 512, max: 512 }));
        assert!(odd(Distribution::Weighted { values: vec![(512, 1), (3, 1)] }));
        assert!(!odd(Distribution::Weighted { values: vec![(512, 1), (3, 0), (1024, 1)] }));
        assert!(odd(Distribution::Lognormal { median: 600, sigma: 1.0, min: 512, max: 1024 }));
        assert_eq!(Draw::Fixed(100).odd(512, 412), None);
        assert_eq!(Draw::Fixed(100).most(), 100);
    }
}
