//! Datasets: which files there are, how large, where, and under which names.
//!
//! Everything follows from the description alone: file 17 of a dataset has the same size, the same
//! directory and the same name in every trial, on every contender and on every machine.

mod draw;

pub use draw::{Curve, Distribution, Draw, mix};

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shortest and longest name of a file, bytes (NAME_MAX of limits.h).
pub const NAME_BYTES: std::ops::RangeInclusive<u32> = 2..=255;
/// Most levels of directories.
pub const MAX_DEPTH: u32 = 64;

/// The files of a workload.
///
/// File `i` is `f%08d`, padded with `x` to `name_bytes` where that is given (its number then has
/// `min(8, name_bytes - 1)` digits). Without `per_dir` it lies in leaf directory
/// `i / ceil(files / dirs)`; with it, the leaf directories hold as many files as the distribution
/// draws for each. A leaf directory is a path of `depth` components `d%05d`: its number written in
/// base [`Dataset::fanout`], the most significant first. With 0 directories all files lie in the
/// root of the file system.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// Number of files.
    pub files: u64,
    /// Size of each, bytes; with `sizes`, the largest that can be drawn.
    pub size_bytes: u64,
    /// Number of leaf directories; 0 is flat.
    pub dirs: u64,
    /// Levels of directories; 0 means 1, as older specs have it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub depth: u32,
    /// Length of the name of a file, bytes; absent: 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_bytes: Option<u32>,
    /// Sizes that are not all the same, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Distribution>,
    /// Files in each leaf directory where they are not all the same; `files` is their sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_dir: Option<Distribution>,
}

impl Dataset {
    /// `files` files of `size_bytes` each, spread over `dirs` directories of one level.
    #[must_use]
    pub fn uniform(files: u64, size_bytes: u64, dirs: u64) -> Self {
        Self { files, size_bytes, dirs, ..Self::default() }
    }

    /// Bytes of contents in the whole set. Adds all sizes up where they are drawn: some ns a file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.draw_sizes().sum(0..self.files, |size_bytes| size_bytes)
    }

    /// Whether all files have one size.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.sizes.is_none()
    }

    /// The sizes of the files, by number.
    #[must_use]
    pub fn draw_sizes(&self) -> Draw {
        match &self.sizes {
            None => Draw::Fixed(self.size_bytes),
            Some(sizes) => sizes.draw(SIZE_SALT),
        }
    }

    /// Files in each leaf directory but perhaps the last, where all hold the same number.
    #[must_use]
    pub fn files_per_dir(&self) -> u64 {
        if self.dirs == 0 { self.files } else { self.files.div_ceil(self.dirs) }
    }

    /// Number of the first file of each leaf directory, and at the end the number of files; absent
    /// where all directories hold the same number (see [`Dataset::files_per_dir`]).
    #[must_use]
    pub fn dir_starts(&self) -> Option<Vec<u64>> {
        let counts = self.per_dir.as_ref()?.draw(COUNT_SALT);
        let mut starts = Vec::new();
        let mut next = 0;
        for dir in 0..self.dirs {
            starts.push(next);
            next += counts.value_at(dir);
        }
        starts.push(next);
        Some(starts)
    }

    /// What `files` has to be for `dirs` directories of `per_dir` files.
    #[must_use]
    pub fn files_of(dirs: u64, per_dir: &Distribution) -> u64 {
        let counts = per_dir.draw(COUNT_SALT);
        (0..dirs).map(|dir| counts.value_at(dir)).sum()
    }

    /// Levels of directories; 0 in a flat set.
    #[must_use]
    pub fn levels(&self) -> u32 {
        if self.dirs == 0 { 0 } else { self.depth.max(1) }
    }

    /// Directories in one directory: the smallest number whose `levels`-th power is `dirs` or more.
    #[must_use]
    pub fn fanout(&self) -> u64 {
        let levels = self.levels();
        if levels <= 1 {
            return self.dirs.max(1);
        }
        let holds = |base: u64| base.checked_pow(levels).is_none_or(|leaves| leaves >= self.dirs);
        (1..=self.dirs.max(1)).find(|&base| holds(base)).unwrap_or(1)
    }

    /// All directories, inner ones with the leaves.
    #[must_use]
    pub fn directories(&self) -> u64 {
        let (levels, fanout) = (self.levels(), self.fanout());
        let mut at_level = self.dirs;
        let mut all = 0;
        for _ in 0..levels {
            all += at_level;
            at_level = at_level.div_ceil(fanout);
        }
        all
    }

    /// Length of a file's name, bytes.
    #[must_use]
    pub fn file_name_bytes(&self) -> u32 {
        self.name_bytes.unwrap_or(9)
    }

    /// Name of its first file, without directories.
    #[must_use]
    pub fn first_name(&self) -> String {
        let zeros = "0".repeat(self.name_digits() as usize);
        format!("{:x<width$}", format!("f{zeros}"), width = self.file_name_bytes() as usize)
    }

    /// Digits of a file's number in its name.
    #[must_use]
    pub fn name_digits(&self) -> u32 {
        self.file_name_bytes().saturating_sub(1).min(8)
    }
}

const SIZE_SALT: u64 = 0x6673_6172_656e_6101;
const COUNT_SALT: u64 = 0x6673_6172_656e_6102;

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: Distribution =
        Distribution::Lognormal { median: 4096, sigma: 2.0, min: 0, max: 1 << 20 };

    #[test]
    fn drawn_sizes_follow_their_distribution() {
        let set = Dataset { sizes: Some(HOME), ..Dataset::uniform(20_000, 1 << 20, 10) };
        let sizes = set.draw_sizes();
        let small = (0..20_000).filter(|&file| sizes.value_at(file) <= 4096).count();
        assert!((9_700..10_300).contains(&small), "{small}");
        assert_eq!(set.bytes(), (0..20_000).map(|file| sizes.value_at(file)).sum::<u64>());
        let weighted = Distribution::Weighted { values: vec![(1, 3), (100, 1)] };
        let drawn = weighted.draw(SIZE_SALT);
        let large = (0..10_000).filter(|&index| drawn.value_at(index) == 100).count();
        assert!((2_300..2_700).contains(&large), "{large}");
        let flat = Distribution::Uniform { min: 5, max: 6 }.draw(1);
        assert!((0..100).all(|index| (5..=6).contains(&flat.value_at(index))));
    }

    /// Sizes are part of what a workload is: they must never change.
    #[test]
    fn golden_sizes() {
        let set = Dataset { sizes: Some(HOME), ..Dataset::uniform(4, 1 << 20, 0) };
        let sizes = set.draw_sizes();
        let first: Vec<u64> = (0..4).map(|file| sizes.value_at(file)).collect();
        assert_eq!(first, GOLDEN);
    }
    const GOLDEN: [u64; 4] = [2091, 39018, 25521, 351];

    #[test]
    fn counts_of_directories() {
        let per_dir = Distribution::Uniform { min: 0, max: 10 };
        let files = Dataset::files_of(50, &per_dir);
        let set = Dataset { per_dir: Some(per_dir), ..Dataset::uniform(files, 1, 50) };
        let starts = set.dir_starts().unwrap();
        assert_eq!((starts.len(), starts[50]), (51, files));
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] <= 10));
        assert_eq!(Dataset::uniform(10, 1, 3).dir_starts(), None);
    }

    #[test]
    fn trees_of_directories() {
        let nested = |dirs, depth| Dataset { depth, ..Dataset::uniform(1000, 1, dirs) };
        assert_eq!((nested(0, 3).fanout(), nested(0, 3).directories()), (1, 0));
        assert_eq!((nested(100, 0).fanout(), nested(100, 1).directories()), (100, 100));
        assert_eq!((nested(8, 3).fanout(), nested(8, 3).directories()), (2, 14));
        assert_eq!((nested(9, 2).fanout(), nested(9, 2).directories()), (3, 12));
        assert_eq!((nested(10, 2).fanout(), nested(10, 2).directories()), (4, 13));
        assert_eq!(nested(1, 5).directories(), 5);
    }
}
