//! Bytes of which a stated part is random and the rest short patterns over and over.

use super::draw::{Draw, nth};
use super::kind::Percent;
use super::random;

/// The length of a piece: first its random part, then its pattern.
const PIECE_BYTES: usize = 512;
const PATTERNS: usize = 16;

/// Patterns, each repeated to the length of a piece.
#[derive(Debug)]
pub(super) struct Patterns(Vec<[u8; PIECE_BYTES]>);

impl Patterns {
    pub(super) fn new(key: u64) -> Self {
        let mut draw = Draw::new(key);
        let rows = (0..PATTERNS).map(|_| {
            let period = 3 + draw.below(22) as usize;
            let mut pattern = [0; 32];
            random::fill(draw.bits(), 0, &mut pattern);
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
                random::fill(key, at, part);
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
