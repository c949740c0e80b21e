//! Numbers that look random and are a function of a number: the finaliser of splitmix64
//! (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).

/// A number in which every bit depends on every bit of the seed.
pub(crate) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of the reference generator with the seed 1234567.
    #[test]
    fn the_numbers_do_not_change() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let numbers: Vec<u64> =
            (0..3).map(|n| mixed(1_234_567_u64.wrapping_add(step.wrapping_mul(n)))).collect();
        let known =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, known);
    }
}
