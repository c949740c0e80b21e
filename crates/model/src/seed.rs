//! The one derivation of seeds, and the portable generator fed by them.
//!
//! `experiment → block → trial → phase → file`: a child seed is
//! SHA-256(`"fsarena-seed-v1"` ‖ parent ‖ length of label (u64 LE) ‖ label ‖ index (u64 LE)).
//! The generator is ChaCha8; the shuffle and the bounded integer are written here, because those
//! of a library may change between versions and a schedule must be the same for ever.
//! Golden vectors in the tests below hold all of it fixed.

use crate::JsonSchema;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A 256-bit seed; its text form is 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed of an experiment, from the number a user writes (`--seed 2003`).
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self([0; 32]).child("experiment", number)
    }

    /// The seed of one named part, numbered within its parent.
    ///
    /// ```
    /// use fsarena_model::seed::Seed;
    ///
    /// let block = Seed::from_number(2003).child("block", 1);
    /// assert_eq!(block, Seed::from_number(2003).child("block", 1), "the same on every machine");
    /// assert_ne!(block, Seed::from_number(2003).child("block", 2));
    ///
    /// let mut order = [0, 1, 2, 3];
    /// block.rng().shuffle(&mut order);
    /// ```
    #[must_use]
    pub fn child(&self, label: &str, index: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"fsarena-seed-v1");
        hash.update(self.0);
        hash.update((label.len() as u64).to_le_bytes());
        hash.update(label.as_bytes());
        hash.update(index.to_le_bytes());
        Self(hash.finalize().into())
    }

    /// The generator that this seed starts.
    #[must_use]
    pub fn rng(&self) -> SeededRng {
        SeededRng(ChaCha8Rng::from_seed(self.0))
    }

    /// The first eight bytes as a number, for stamps and file ids.
    #[must_use]
    pub fn tag(&self) -> u64 {
        u64::from_le_bytes(*self.0.first_chunk().expect("a seed has 32 bytes"))
    }
}

impl From<Seed> for String {
    fn from(seed: Seed) -> Self {
        hex(&seed.0)
    }
}

impl TryFrom<String> for Seed {
    type Error = BadSeed;

    fn try_from(text: String) -> Result<Self, BadSeed> {
        let bad = || BadSeed(text.clone());
        if text.len() != 64 || !text.is_ascii() {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

/// The text is not 64 hex digits.
#[derive(Debug, thiserror::Error)]
#[error("seed {0:?}: expected 64 hex digits")]
pub struct BadSeed(String);

/// The portable generator: ChaCha8 with a bounded integer and a shuffle of our own.
#[derive(Debug, Clone)]
pub struct SeededRng(ChaCha8Rng);

impl SeededRng {
    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills `bytes` with the key stream (incompressible contents).
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// A number in `0..bound`, without bias.
    ///
    /// Multiply-shift with rejection: D. Lemire, "Fast random integer generation in an interval",
    /// ACM TOMACS 29:1 (2019), doi:10.1145/3230636.
    ///
    /// # Panics
    /// When `bound` is 0: there is no such number.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a bounded random number needs a bound above 0");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
            if (wide as u64) >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Puts `items` into random order: Fisher-Yates from the end (Knuth, TAOCP 2, 3.4.2 P).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// Lower-case hex digits of `bytes`.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_differs_by_label_index_and_parent() {
        let root = Seed::from_number(1);
        assert_ne!(root.child("block", 0), root.child("block", 1));
        assert_ne!(root.child("block", 0), root.child("trial", 0));
        assert_ne!(root.child("block", 0), Seed::from_number(2).child("block", 0));
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut rng = Seed::from_number(3).rng();
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    /// Changing these changes every schedule ever stored: never.
    #[test]
    fn golden_vectors() {
        let trial = Seed::from_number(2003).child("block", 1).child("trial", 2);
        assert_eq!(
            String::from(trial),
            "0434997642e606c20637ecf7db793c509c3251c140d334ead773404bc051230f"
        );
        let mut rng = trial.child("phase", 0).rng();
        let mut order: Vec<u32> = (0..12).collect();
        rng.shuffle(&mut order);
        assert_eq!(order, [2, 0, 8, 1, 7, 4, 6, 10, 11, 9, 5, 3]);
        assert_eq!((rng.next_u64(), rng.below(1000)), (6324171379109900939, 740));
        let mut bytes = [0; 5];
        rng.fill(&mut bytes);
        assert_eq!(bytes, [2, 146, 251, 46, 116]);
    }

    #[test]
    fn text_form_round_trips_and_refuses_others() {
        let seed = Seed::from_number(9);
        let text = String::from(seed);
        assert_eq!(Seed::try_from(text).unwrap(), seed);
        assert!(Seed::try_from("12".to_owned()).is_err());
        assert!(Seed::try_from("ä".repeat(32)).is_err());
        assert!(Seed::try_from("zz".repeat(32)).is_err());
    }
}
