//! What a target is: a name, inputs to begin with, and a function that panics; and what most of
//! them have in common.

/// A parser of foreign input.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it is called, and the directory of its corpus.
    pub name: &'static str,
    /// What it reads.
    pub reads: &'static str,
    /// Time that it gets, in shares; most have one.
    pub shares: u32,
    /// Longest input, bytes.
    pub most_bytes: usize,
    /// Inputs to begin with, besides those of the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Panics where something that is promised does not hold.
    pub run: fn(&[u8]),
}

/// A target with one share of the time and inputs of up to 64 KiB.
pub(crate) const PLAIN: Target =
    Target { name: "", reads: "", shares: 1, most_bytes: 64 << 10, seeds: Vec::new, run: |_| {} };

/// The seeds that are these texts.
pub(crate) fn texts<const N: usize>(texts: [&str; N]) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The first byte, which says which of several parsers is meant, and the rest as text.
pub(crate) fn choice(input: &[u8]) -> Option<(usize, String)> {
    let (first, rest) = input.split_first()?;
    Some((usize::from(*first), String::from_utf8_lossy(rest).into_owned()))
}

/// A seed for [`choice`].
pub(crate) fn chosen(number: usize, text: &str) -> Vec<u8> {
    let number = u8::try_from(number).expect("few parsers share a target");
    [&[number], text.as_bytes()].concat()
}
