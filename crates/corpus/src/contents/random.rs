//! Numbers and bytes drawn from a key: whole numbers only, the same on every machine (SplitMix64).
//!
//! Bytes do not compress, or only a stated part of them does not: the rest are short patterns,
//! repeated.

use super::kind::Percent;

/// The distance between two states: odd, so all states are passed before one comes again.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of `x` over all bits of the result; no two inputs give the same.
pub(super) const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The key of number `number` below the key or seed `of`.
pub(super) const fn key(of: u64, number: u64) -> u64 {
    mix(mix(of.wrapping_add(STEP)) ^ mix(number.wrapping_mul(STEP)))
}

/// Number `index` of those drawn from `key`, without those before it.
pub(super) const fn nth(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
}

/// Numbers drawn one after the other.
#[derive(Debug)]
pub(super) struct SplitMix(u64);

impl SplitMix {
    pub(super) const fn new(key: u64) -> Self {
        Self(key)
    }

    /// The next 64 bits.
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number below `end`, which is not 0.
    pub(super) const fn below(&mut self, end: u32) -> u32 {
        (((self.bits() >> 32) * end as u64) >> 32) as u32
    }

    /// The next number below `end` as an index, low ones more often than high ones.
    pub(super) fn low_below(&mut self, end: usize) -> usize {
        let bits = self.bits();
        let of = |half: u64| ((half * end as u64) >> 32) as usize;
        of(bits >> 32).min(of(bits & 0xffff_ffff))
    }

    /// One of `all`, which is not empty.
    pub(super) const fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }
}

/// Word number `index` of the sequence of `key`: the halves of a product, one over the other
/// (the step of wyrand). One multiplication a word, which no compiler takes apart.
const fn nth_word(key: u64, index: u64) -> u64 {
    let at = key.wrapping_add(index.wrapping_mul(0xa076_1d64_78bd_642f));
    let product = (at as u128) * ((at ^ 0xe703_7ed1_a0b4_28db) as u128);
    (product >> 64) as u64 ^ product as u64
}

/// The bytes from `offset` on of the endless sequence of `key`.
pub(super) fn fill(key: u64, offset: u64, out: &mut [u8]) {
    let mut index = offset / 8;
    let within = (offset % 8) as usize;
    let (first, rest) = out.split_at_mut(if within == 0 { 0 } else { out.len().min(8 - within) });
    if !first.is_empty() {
        let word = nth_word(key, index).to_le_bytes();
        first.copy_from_slice(&word[within..within + first.len()]);
        index += 1;
    }
    let mut words = rest.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&nth_word(key, index).to_le_bytes());
        index += 1;
    }
    let last = words.into_remainder();
    let word = nth_word(key, index).to_le_bytes();
    last.copy_from_slice(&word[..last.len()]);
}

/// The length of a piece: first its random part, then its pattern.
const PIECE_BYTES: usize = 512;
const PATTERNS: usize = 16;

/// Patterns, each repeated to the length of a piece.
#[derive(Debug)]
pub(super) struct Patterns(Vec<[u8; PIECE_BYTES]>);

impl Patterns {
    pub(super) fn new(key: u64) -> Self {
        let mut rng = SplitMix::new(key);
        let rows = (0..PATTERNS).map(|_| {
            let period = 3 + rng.below(22) as usize;
            let mut pattern = [0; 32];
            fill(rng.bits(), 0, &mut pattern);
            std::array::from_fn(|at| pattern[at % period])
        });
        Self(rows.collect())
    }

    pub(super) fn fill(&self, key: u64, percent: Percent, offset: u64, out: &mut [u8]) {
        let random_bytes = PIECE_BYTES * usize::from(percent.get()) / 100;
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            let within = (at % PIECE_BYTES as u64) as usize;
            let is_random = within < random_bytes;
            let end = if is_random { random_bytes } else { PIECE_BYTES };
            let (part, others) = rest.split_at_mut((end - within).min(rest.len()));
            if is_random {
                fill(key, at, part);
            } else {
                // Not the key of the random part: the choice shares nothing with it.
                let drawn = nth(!key, at / PIECE_BYTES as u64);
                let row = &self.0[drawn as usize % PATTERNS];
                part.copy_from_slice(&row[within..within + part.len()]);
            }
            at += part.len() as u64;
            rest = others;
        }
    }
}
