//! What targets have in common: a plain one, and seeds that are texts.

use crate::target::Target;

/// A target with one share of the time and inputs of up to 64 KiB.
pub(super) const PLAIN: Target =
    Target { name: "", reads: "", shares: 1, most_bytes: 64 << 10, seeds: Vec::new, run: |_| {} };

/// The seeds that are these texts.
pub(super) fn texts<const N: usize>(texts: [&str; N]) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The first byte, which says which of several parsers is meant, and the rest as text.
pub(super) fn choice(input: &[u8]) -> Option<(usize, String)> {
    let (first, rest) = input.split_first()?;
    Some((usize::from(*first), String::from_utf8_lossy(rest).into_owned()))
}

/// A seed for [`choice`].
pub(super) fn chosen(number: usize, text: &str) -> Vec<u8> {
    let number = u8::try_from(number).expect("few parsers share a target");
    [&[number], text.as_bytes()].concat()
}
