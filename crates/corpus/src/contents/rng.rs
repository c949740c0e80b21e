//! Numbers drawn from a key: whole numbers only, the same on every machine (SplitMix64).

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
