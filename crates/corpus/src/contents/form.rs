//! Forms: lines with gaps for words, prepared once and then filled in by copying.
//!
//! A gap is one letter in braces: `{w}` a word, `{s}` some words of prose, `{n}` the name of the
//! file's package, `{v}` a version, `{h}` 64 digits of a hash.

use super::page::{Page, Slot};
use super::random::SplitMix;
use super::vocabulary::Vocabulary;

#[derive(Clone, Copy, Debug)]
enum Piece {
    /// At most 32 bytes of the form.
    Text {
        text: [u8; 32],
        len: u8,
    },
    Word,
    Prose,
    Name,
    Version,
    Hash,
}

pub(super) const HASH_DIGITS: u64 = 64;

#[derive(Debug)]
pub(super) struct Form(Vec<Piece>);

impl Form {
    /// The form `text` says.
    ///
    /// # Panics
    /// If a gap is not known: forms are part of this program.
    pub(super) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (before, behind) = rest.split_at(next_gap(rest).unwrap_or(rest.len()));
            for part in before.as_bytes().chunks(32) {
                let mut text = [0; 32];
                text[..part.len()].copy_from_slice(part);
                pieces.push(Piece::Text { text, len: part.len() as u8 });
            }
            if behind.is_empty() {
                break;
            }
            pieces.push(match &behind[..3] {
                "{w}" => Piece::Word,
                "{s}" => Piece::Prose,
                "{n}" => Piece::Name,
                "{v}" => Piece::Version,
                "{h}" => Piece::Hash,
                other => panic!("no gap {other} in a form"),
            });
            rest = &behind[3..];
        }
        Self(pieces)
    }

    /// All forms of `texts`, in order.
    pub(super) fn all(texts: &[&str]) -> Vec<Self> {
        texts.iter().map(|text| Self::new(text)).collect()
    }

    /// Writes the form with its gaps filled; `name` is that of the package.
    #[inline]
    pub(super) fn fill(
        &self,
        vocabulary: &Vocabulary,
        name: &Slot,
        rng: &mut SplitMix,
        page: &mut Page<'_>,
    ) {
        for piece in &self.0 {
            match piece {
                Piece::Text { text, len } => page.padded(text, usize::from(*len)),
                Piece::Word => page.slot(vocabulary.bare(rng)),
                Piece::Prose => vocabulary.words(3 + rng.below(8), rng, page),
                Piece::Name => page.slot(name),
                Piece::Version => page.slot(vocabulary.version(rng)),
                Piece::Hash => {
                    for _ in 0..HASH_DIGITS / 16 {
                        page.hex(rng.bits());
                    }
                }
            }
        }
    }
}

/// Where the next gap is. A brace behind a dollar, or of more than a letter, stands for itself.
fn next_gap(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_gap = |at: &usize| bytes.get(at + 2) == Some(&b'}') && !text[..*at].ends_with('$');
    text.match_indices('{').map(|(at, _)| at).find(is_gap)
}
