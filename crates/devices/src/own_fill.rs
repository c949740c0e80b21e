//! The bytes that fsarena itself fills images and devices with, and how they are recognised.
//!
//! They come from one fixed sequence of numbers. No byte of it is even, so that no block is empty,
//! and whatever has an even byte is not ours. Each block of 4 KiB is a piece of the sequence, its
//! first eight bytes replaced by a number of its own.

/// Alignment that every file system with direct I/O takes; each block has a mark of its own.
pub(crate) const BLOCK_BYTES: usize = 4096;
/// Bytes of one write at most.
pub(crate) const CHUNK_BYTES: usize = 4 << 20;
/// The mark at the beginning of each block, bytes.
const MARK_BYTES: usize = 8;
/// Numbers in the sequence: a chunk, wherever it begins in a block.
const WORDS: usize = (CHUNK_BYTES + BLOCK_BYTES) / 8;

/// Where the sequence begins.
const SEED: u64 = 0x0066_7361_7265_6e61;
/// Bits that are set in every number of it, so that no byte is even.
const ODD: u64 = 0x0101_0101_0101_0101;

/// Constants of splitmix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_ONE: u64 = 0xbf58_476d_1ce4_e5b9;
const MIX_TWO: u64 = 0x94d0_49bb_1331_11eb;

/// The next number of the generator splitmix64.
pub(crate) fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(MIX_ONE);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(MIX_TWO);
    mixed ^ (mixed >> 31)
}

/// The state after which splitmix64 gives this number.
fn state_of(number: u64) -> u64 {
    let mut mixed = number ^ (number >> 31) ^ (number >> 62);
    mixed = mixed.wrapping_mul(inverse(MIX_TWO));
    mixed = mixed ^ (mixed >> 27) ^ (mixed >> 54);
    mixed = mixed.wrapping_mul(inverse(MIX_ONE));
    mixed ^ (mixed >> 30) ^ (mixed >> 60)
}

/// What an odd number times this makes 1, modulo 2^64: each step of Newton's doubles the bits.
const fn inverse(odd: u64) -> u64 {
    let mut guess = odd;
    let mut step = 0;
    while step < 5 {
        guess = guess.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(guess)));
        step += 1;
    }
    guess
}

/// The whole sequence, with no even byte.
pub(crate) fn sequence() -> Vec<u8> {
    let mut state = SEED;
    let mut bytes = vec![0; WORDS * 8];
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&(splitmix(&mut state) | ODD).to_le_bytes());
    }
    bytes
}

/// Whether a block that begins on a whole number of blocks, or its first part at the end of a
/// device, is as we write it.
pub(crate) fn is_own_fill(block: &[u8]) -> bool {
    let is_odd = |byte: &u8| byte & 1 == 1;
    let Some((mark, rest)) = block.split_at_checked(MARK_BYTES) else { return false };
    if !is_odd(&mark[0]) || !rest.iter().all(is_odd) {
        return false;
    }
    let Some(first) = rest.first_chunk() else { return false };
    let Some(mut state) = state_before(u64::from_le_bytes(*first)) else { return false };
    rest.chunks(8).all(|word| {
        let next = (splitmix(&mut state) | ODD).to_le_bytes();
        next.starts_with(word)
    })
}

/// The state before this number of the sequence, in which a bit of each byte is lost.
fn state_before(number: u64) -> Option<u64> {
    (0..=u8::MAX).find_map(|lost| {
        let bits = (0..8).map(|bit| u64::from(lost >> bit & 1) << (8 * bit)).sum::<u64>();
        let state = state_of(number & !ODD | bits);
        let steps = state.wrapping_sub(SEED).wrapping_mul(inverse(STEP));
        (1..=WORDS as u64).contains(&steps).then(|| state.wrapping_sub(STEP))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Aligned;

    #[test]
    fn every_block_that_we_write_is_recognised() {
        let mut buffer = Aligned::filled();
        for salt in 0..8 {
            for block in buffer.varied(salt, 128 << 10).chunks(BLOCK_BYTES) {
                assert!(is_own_fill(block));
                assert!(is_own_fill(&block[..512]), "cut at the end of a device");
            }
        }
    }

    #[test]
    fn the_generator_is_undone() {
        let mut state = 7;
        for _ in 0..1000 {
            let number = splitmix(&mut state);
            assert_eq!(state_of(number), state);
        }
        assert_eq!(inverse(STEP).wrapping_mul(STEP), 1);
        let mut state = SEED.wrapping_add(STEP.wrapping_mul(WORDS as u64));
        assert_eq!(state_before(splitmix(&mut state) | ODD), None, "behind the end");
    }

    #[test]
    fn other_bytes_are_not_ours() {
        let mut buffer = Aligned::filled();
        let ours = buffer.varied(1, BLOCK_BYTES).to_vec();
        assert!(!is_own_fill(&[0; BLOCK_BYTES]) && !is_own_fill(&[1; BLOCK_BYTES]));
        assert!(!is_own_fill(&[]) && !is_own_fill(&ours[..8]));
        for place in [0, 8, 2048, BLOCK_BYTES - 1] {
            let mut changed = ours.clone();
            changed[place] ^= 1;
            assert!(!is_own_fill(&changed), "byte {place}");
            changed[place] ^= 3;
            assert!(place == 0 || !is_own_fill(&changed), "byte {place}");
        }
    }
}
