//! Texts of the repository inside the program: `build.rs` compresses them.

use flate2::read::DeflateDecoder;
use fsarena_bounded::Bounded;

/// No text is longer.
const MOST_BYTES: u64 = 16 << 20;

/// A text, compressed.
#[derive(Clone, Copy)]
pub(crate) struct CompressedText {
    /// Where it lies in the repository.
    pub path: &'static str,
    pub deflated: &'static [u8],
}

/// The text at a path of the repository, which is below one of `TEXTS` in `build.rs`.
macro_rules! compressed {
    ($($part:literal),+) => {
        crate::compressed::CompressedText {
            path: concat!($($part),+),
            deflated: include_bytes!(concat!(env!("OUT_DIR"), "/texts/", $($part),+)),
        }
    };
}

impl CompressedText {
    /// The text itself.
    ///
    /// # Panics
    /// Never: what was compressed is inside the program.
    pub(crate) fn text(self) -> String {
        let mut decoder = Bounded::new(DeflateDecoder::new(self.deflated), MOST_BYTES);
        decoder.whole_text().expect("a text that build.rs has compressed")
    }
}
