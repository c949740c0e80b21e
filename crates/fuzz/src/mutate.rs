//! Changes of inputs at random: bytes, numbers, pieces of other inputs. They follow from the seed
//! alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// Changes of one input, at most.
const CHANGES_MOST: u64 = 8;
/// Longest piece that is moved, bytes.
const PIECE_MOST: usize = 256;
/// Bytes that mean something to many parsers.
const BYTES: &[u8] = b"\0\x01\x7f\x80\xff\n\r\t \"'\\/:;,.=-+%[]{}()<>#@~09aZ_";
/// Numbers at which arithmetic ends, as text.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "00",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
];

/// Numbers that follow from a seed.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// Those of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `end`; 0 where there is none.
    fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.0.next_u64() % end }
    }

    fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }
}

/// One of the inputs, changed; at most so long. There has to be one.
pub(crate) fn changed(inputs: &[&[u8]], most_bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut input = (*random.pick(inputs)).to_vec();
    for _ in 0..=random.below(CHANGES_MOST) {
        let other = *random.pick(inputs);
        change(&mut input, other, random);
        input.truncate(most_bytes);
    }
    input
}

fn change(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.index(input.len() + 1);
    let length = random.index(PIECE_MOST.min(input.len() - at) + 1);
    match random.below(10) {
        0 => {
            let bit = random.below(8);
            input.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
        }
        1 => {
            let new = *random.pick(BYTES);
            input.get_mut(at).into_iter().for_each(|byte| *byte = new);
        }
        2 => {
            let new = random.below(256) as u8;
            input.insert(at, new);
        }
        3 => {
            input.drain(at..at + length);
        }
        4 => {
            let piece = input[at..at + length].to_vec();
            let to = random.index(input.len() + 1);
            input.splice(to..to, piece);
        }
        5 | 6 => {
            let from = random.index(other.len() + 1);
            let count = random.index(PIECE_MOST.min(other.len() - from) + 1);
            let over = if random.below(2) == 0 { length } else { 0 };
            input.splice(at..at + over, other[from..from + count].iter().copied());
        }
        7 => number(input, at, random),
        8 => {
            let wide = random.0.next_u64() >> random.below(64);
            let bytes = wide.to_le_bytes();
            let width = *random.pick(&[2, 4, 8]);
            for (to, from) in input.iter_mut().skip(at).zip(&bytes[..width]) {
                *to = *from;
            }
        }
        _ => input.truncate(at),
    }
}

/// Puts another number in the place of the next one in decimal.
fn number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(begin) = input[at..].iter().position(is_digit).map(|more| at + more) else { return };
    let count = input[begin..].iter().take_while(|byte| is_digit(byte)).count();
    let new = *random.pick(&NUMBERS);
    input.splice(begin..begin + count, new.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_follow_from_the_seed_and_stay_within_the_limit() {
        let inputs: [&[u8]; 3] = [b"size = 64M, 3 of 12", b"{\"a\": [1, 2]}", b""];
        let of_seed = |seed| {
            let mut random = Random::new(seed);
            (0..500).map(|_| changed(&inputs, 40, &mut random)).collect::<Vec<_>>()
        };
        let all = of_seed(1);
        assert_eq!(all, of_seed(1));
        assert_ne!(all, of_seed(2));
        assert!(all.iter().all(|input| input.len() <= 40));
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert!(different.len() > 400, "only {}", different.len());
        let has =
            |number: &[u8]| all.iter().any(|one| one.windows(number.len()).any(|w| w == number));
        assert!(has(b"18446744073709551615"), "numbers are changed as numbers");
    }
}
