//! The classes of a tree in figures, for people who want to know what a dataset is made of. Nothing
//! here decides what is made.

use super::Tree;
use crate::contents::Kind;

/// One class of files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassFigures {
    /// Its name in the description.
    pub name: String,
    /// What is in its files.
    pub contents: Kind,
    /// How many files there are.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Size of the smallest, bytes; 0 without files.
    pub smallest_bytes: u64,
    /// Size that half of them have at most, bytes; 0 without files.
    pub median_bytes: u64,
    /// Size of the largest, bytes; 0 without files.
    pub largest_bytes: u64,
}

impl Tree {
    /// Every class, in the order of the description.
    #[must_use]
    pub fn classes(&self) -> Vec<ClassFigures> {
        let mut sizes: Vec<Vec<u64>> = vec![Vec::new(); self.classes.len()];
        for node in &self.nodes {
            if let Some(class) = node.class {
                sizes[usize::from(class)].push(node.size_bytes);
            }
        }
        let parts = self.classes.iter().zip(&self.kinds).zip(sizes);
        let figures = parts.map(|((name, contents), mut sizes)| {
            sizes.sort_unstable();
            ClassFigures {
                name: name.clone(),
                contents: *contents,
                files: sizes.len() as u64,
                bytes: sizes.iter().sum(),
                smallest_bytes: sizes.first().copied().unwrap_or(0),
                median_bytes: median(&sizes),
                largest_bytes: sizes.last().copied().unwrap_or(0),
            }
        });
        figures.collect()
    }
}

/// The lower one of two.
fn median(sorted: &[u64]) -> u64 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(0)
}
