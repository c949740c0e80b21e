//! A permutation of any number of blocks, computed and not stored.
//!
//! A Feistel network of four rounds permutes the numbers of k bits, the smallest k with room for
//! all blocks; a result outside is permuted again until it is inside (cycle walking: Black and
//! Rogaway, "Ciphers with arbitrary finite domains", 2002), which takes less than two rounds on
//! average. It is no cipher: it only has to be without order that a disk or a cache could see.

use fsarena_model::dataset::mix;

const ROUNDS: u32 = 4;

/// A keyed permutation of `0..len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permutation {
    len: u64,
    /// Bits of the left half, and of the right.
    bits: (u32, u32),
    key: u64,
}

impl Permutation {
    /// The permutation of `0..len` that belongs to `key`.
    #[must_use]
    pub fn new(len: u64, key: u64) -> Self {
        let bits = 64 - len.saturating_sub(1).leading_zeros();
        Self { len, bits: (bits / 2, bits - bits / 2), key }
    }

    /// How many numbers there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same numbers in the order of another key.
    #[must_use]
    pub fn rekeyed(&self, round: u64) -> Self {
        Self { key: mix(self.key.wrapping_add(round)), ..*self }
    }

    /// The number at `index` (below the length).
    #[inline(always)]
    #[must_use]
    pub fn permute(&self, index: u64) -> u64 {
        let mut number = self.once(index);
        while number >= self.len {
            number = self.once(number);
        }
        number
    }

    #[inline(always)]
    fn once(&self, number: u64) -> u64 {
        let (mut left_bits, mut right_bits) = self.bits;
        let (mut left, mut right) = (number >> right_bits, number & low(right_bits));
        for round in 0..ROUNDS {
            let hash = hash(right ^ self.key.rotate_left(round * 16));
            (left, right) = (right, left ^ (hash & low(left_bits)));
            (left_bits, right_bits) = (right_bits, left_bits);
        }
        left << right_bits | right
    }
}

#[inline(always)]
fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Some bits that depend on all of `value`: one multiplication each way of the halves.
#[inline(always)]
fn hash(value: u64) -> u64 {
    let once = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let twice = (once ^ (once >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    twice >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn order_has_no_order() {
        let permutation = Permutation::new(100_000, 7);
        let mut neighbours = 0;
        let mut buckets = [0; 10];
        for index in 0..10_000 {
            let here = permutation.permute(index);
            neighbours += u32::from(permutation.permute(index + 1).abs_diff(here) < 100);
            buckets[(here / 10_000) as usize] += 1;
        }
        // Two random numbers of 100000 are nearer than 100 with a chance of 0.2 %.
        assert!(neighbours < 50, "{neighbours}");
        assert!(buckets.iter().all(|&hits| (850..1150).contains(&hits)), "{buckets:?}");
        let other = permutation.rekeyed(1);
        let same =
            (0..10_000).filter(|&index| permutation.permute(index) == other.permute(index)).count();
        assert!(same < 10, "{same}");
    }

    /// Which blocks a phase takes is part of what it is: it must never change.
    #[test]
    fn golden_order() {
        let permutation = Permutation::new(1000, 42);
        assert_eq!([0, 1, 2, 3].map(|index| permutation.permute(index)), GOLDEN);
    }
    const GOLDEN: [u64; 4] = [883, 162, 154, 523];

    proptest! {
        #[test]
        fn each_number_comes_once(len in 1u64..3000, key: u64) {
            let permutation = Permutation::new(len, key);
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let number = permutation.permute(index) as usize;
                prop_assert!(!seen[number]);
                seen[number] = true;
            }
        }
    }
}
