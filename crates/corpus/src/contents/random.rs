//! Bytes that no program makes smaller.

/// Word number `index` of the sequence of `key`: the halves of a product, one over the other
/// (the step of wyrand). One multiplication a word, which no compiler takes apart.
const fn nth(key: u64, index: u64) -> u64 {
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
        let word = nth(key, index).to_le_bytes();
        first.copy_from_slice(&word[within..within + first.len()]);
        index += 1;
    }
    let mut words = rest.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&nth(key, index).to_le_bytes());
        index += 1;
    }
    let last = words.into_remainder();
    let word = nth(key, index).to_le_bytes();
    last.copy_from_slice(&word[..last.len()]);
}
