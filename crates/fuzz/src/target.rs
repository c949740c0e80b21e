//! What a target is: a name, inputs to begin with, and a function that panics.

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
