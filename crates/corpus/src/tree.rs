//! A dataset resolved: every directory and file with its path, size, mode and time.
//!
//! All follows from the description, by whole numbers and by draws that have the same bits on every
//! machine. Contents are not held: they are made when they are asked for.

mod resolve;
mod sizes;

use crate::contents::{Generator, Kind};
use fsarena_model::dataset::mix;
use fsarena_model::job::Contents;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Blocks that [`Contents::block_bytes`] counts in, bytes.
const BLOCK_BYTES: u64 = 4096;
/// The latest time of a file, seconds since 1970: 2008-01-01.
const NEWEST_S: i64 = 1_199_145_600;
/// Files are this much older at most, seconds: four years.
const SPAN_S: u64 = 4 * 365 * 86_400;
/// Permissions of directories.
const DIR_MODE: u32 = 0o755;
/// Tells the hashes of times apart from others.
const TIME_SALT: u64 = 0x6673_6172_656e_6112;
/// Contents that [`Tree::digest`] makes at a time, bytes.
const PIECE_BYTES: usize = 1 << 20;

/// A dataset with every entry resolved; see [`crate::Description::tree`].
#[derive(Debug)]
pub struct Tree {
    maker: Generator,
    seed: u64,
    /// Names of the classes, and what is in their files.
    classes: Vec<String>,
    kinds: Vec<Kind>,
    modes: Vec<u32>,
    /// All paths, one behind the other.
    paths: String,
    nodes: Vec<Node>,
}

/// A directory or a file.
#[derive(Debug)]
struct Node {
    /// Where its path ends in `paths`; it begins where that of the one before ends.
    path_end: usize,
    /// The class of a file; absent: a directory.
    class: Option<u16>,
    /// Number of the contents, for the maker.
    number: u64,
    size_bytes: u64,
}

/// A directory or a file of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// Path below the root, parts parted by `/`.
    pub path: &'a str,
    /// What it is.
    pub kind: EntryKind,
    /// Permissions.
    pub mode: u32,
    /// Time of the last change, seconds since 1970; archives have it.
    pub mtime_unix_s: i64,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    Dir,
    /// A regular file.
    File {
        size_bytes: u64,
    },
}

/// One class of files in figures, for people; nothing here decides what is made.
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
    /// What is in it, counted.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        for entry in self.entries() {
            let path_bytes = entry.path.len() as u64;
            contents.longest_path_bytes = contents.longest_path_bytes.max(path_bytes);
            match entry.kind {
                EntryKind::Dir => contents.dirs += 1,
                EntryKind::File { size_bytes } => {
                    contents.files += 1;
                    contents.bytes += size_bytes;
                    contents.block_bytes += size_bytes.next_multiple_of(BLOCK_BYTES);
                    contents.largest_bytes = contents.largest_bytes.max(size_bytes);
                }
            }
        }
        contents
    }

    /// Every directory and file: a directory before what is in it, its files before the directories
    /// in it. The root is not among them.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + '_ {
        (0..self.nodes.len()).map(|at| self.entry(at))
    }

    /// Number `at` of [`Tree::entries`].
    pub(crate) fn entry(&self, at: usize) -> Entry<'_> {
        let node = &self.nodes[at];
        let start = if at == 0 { 0 } else { self.nodes[at - 1].path_end };
        let age_s = mix(at as u64 ^ mix(self.seed ^ TIME_SALT)) % SPAN_S;
        Entry {
            path: &self.paths[start..node.path_end],
            kind: match node.class {
                None => EntryKind::Dir,
                Some(_) => EntryKind::File { size_bytes: node.size_bytes },
            },
            mode: node.class.map_or(DIR_MODE, |class| self.modes[usize::from(class)]),
            mtime_unix_s: NEWEST_S - age_s as i64,
        }
    }

    /// The bytes of a file from `offset` on until `out` is full; `entry` is its number among
    /// [`Tree::entries`]. Nothing is done for a directory.
    ///
    /// # Panics
    /// If there is no such entry, or the range reaches past the end of the file.
    pub fn fill(&self, entry: usize, offset: u64, out: &mut [u8]) {
        let node = &self.nodes[entry];
        if let Some(class) = node.class {
            let kind = &self.kinds[usize::from(class)];
            self.maker.fill(kind, node.number, node.size_bytes, offset, out);
        }
    }

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

    /// SHA-256 over all paths, kinds, sizes, modes, times and contents, in hex. It is what a
    /// dataset is: equal digests mean equal trees.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut sum = Sha256::new();
        let mut buffer = Vec::new();
        for (at, entry) in self.entries().enumerate() {
            sum.update((entry.path.len() as u64).to_le_bytes());
            sum.update(entry.path);
            sum.update(entry.mode.to_le_bytes());
            sum.update(entry.mtime_unix_s.to_le_bytes());
            let EntryKind::File { size_bytes } = entry.kind else {
                sum.update([0]);
                continue;
            };
            sum.update([1]);
            sum.update(size_bytes.to_le_bytes());
            for_pieces(size_bytes, PIECE_BYTES, |offset, bytes| {
                buffer.resize(bytes, 0);
                self.fill(at, offset, &mut buffer);
                sum.update(&buffer);
            });
        }
        let mut hex = String::with_capacity(64);
        for byte in sum.finalize() {
            write!(hex, "{byte:02x}").expect("a string takes all");
        }
        hex
    }
}

/// The lower one of two.
fn median(sorted: &[u64]) -> u64 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(0)
}

/// Calls `work` with offset and length of each piece of a file, in order.
fn for_pieces(size_bytes: u64, most_bytes: usize, mut work: impl FnMut(u64, usize)) {
    let mut offset = 0;
    while offset < size_bytes {
        let bytes = (size_bytes - offset).min(most_bytes as u64) as usize;
        work(offset, bytes);
        offset += bytes as u64;
    }
}

#[cfg(test)]
mod tests;
