//! Names of files and the order they are taken in.
//!
//! A name is written by a digit cursor into a fixed buffer: no `format!`, no list of names (50,000
//! of them would be 1.6 MB that the loop drags through the caches). The layout is that of
//! [`fsarena_model::work::Dataset`]: `d%05d/f%08d`, or `f%08d` in a flat set.

use fsarena_model::seed::Seed;
use fsarena_model::work::Dataset;
use std::ffi::CStr;

/// Names hold eight digits of file number.
pub const MAX_FILES: u64 = 100_000_000;
/// Names hold five digits of directory number.
pub const MAX_DIRS: u64 = 100_000;

/// `d00000/f00000000` and its terminating NUL.
const NAME_BYTES: usize = 17;
/// Where the digits of the directory begin.
const DIR_DIGITS: usize = 1;
/// Where the name of the file begins (a flat set has no more than that).
const FILE_START: usize = 7;
/// Where the digits of the file begin.
const FILE_DIGITS: usize = 8;

/// The dataset has more files or directories than its names have digits for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "dataset of {files} files in {dirs} directories: names hold at most {MAX_FILES} files and \
     {MAX_DIRS} directories; use fewer"
)]
pub struct TooManyNames {
    files: u64,
    dirs: u64,
}

/// A cursor over the names of a dataset.
#[derive(Debug, Clone)]
pub struct FileNames {
    text: [u8; NAME_BYTES],
    start: usize,
    /// Never 0.
    files_per_dir: u32,
    /// Files that remain in the directory of the current one, without it.
    left_in_dir: u32,
}

impl FileNames {
    /// A cursor at file 0.
    ///
    /// # Errors
    /// When the numbers do not fit into the names.
    pub fn new(dataset: &Dataset) -> Result<Self, TooManyNames> {
        if dataset.files > MAX_FILES || dataset.dirs > MAX_DIRS {
            return Err(TooManyNames { files: dataset.files, dirs: dataset.dirs });
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_FILES")]
        let files_per_dir = dataset.files_per_dir().max(1) as u32;
        let mut names = Self {
            text: *b"d00000/f00000000\0",
            start: if dataset.dirs == 0 { FILE_START } else { 0 },
            files_per_dir,
            left_in_dir: 0,
        };
        names.set(0);
        Ok(names)
    }

    /// Goes to any file.
    #[inline(always)]
    pub fn set(&mut self, file: u32) {
        let dir = file / self.files_per_dir;
        self.left_in_dir = self.files_per_dir - 1 - file % self.files_per_dir;
        // A directory has five digits, the last of the eight.
        let dir_digits = eight_digits(dir);
        self.text[DIR_DIGITS..FILE_START - 1].copy_from_slice(&dir_digits[3..]);
        self.text[FILE_DIGITS..NAME_BYTES - 1].copy_from_slice(&eight_digits(file));
    }

    /// Goes to the next file.
    #[inline(always)]
    pub fn advance(&mut self) {
        increment(&mut self.text, FILE_DIGITS, NAME_BYTES - 2);
        if self.left_in_dir == 0 {
            self.left_in_dir = self.files_per_dir;
            increment(&mut self.text, DIR_DIGITS, FILE_START - 2);
        }
        self.left_in_dir -= 1;
    }

    /// The current name.
    #[inline(always)]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        // SAFETY: the text ends with its only NUL: the cursor writes digits alone, and never to the
        // last byte. Checked by `names_are_those_of_the_dataset`.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.text[self.start..]) }
    }

    /// The current name as text, for messages.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.as_c_str().to_str().unwrap_or_default()
    }
}

/// Adds one to the decimal digits `first..=last` of `text`.
#[inline(always)]
fn increment(text: &mut [u8; NAME_BYTES], first: usize, last: usize) {
    let mut at = last;
    while at > first && text[at] == b'9' {
        text[at] = b'0';
        at -= 1;
    }
    text[at] = text[at].wrapping_add(1);
}

/// `number` (below 10^8) as eight digits, without a branch: three rounds that halve groups of
/// digits within one 64-bit word. 3 ns instead of 15 for eight divisions.
#[inline(always)]
fn eight_digits(number: u32) -> [u8; 8] {
    let number = u64::from(number);
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

/// Name of directory `dir` of a dataset, for preparation.
#[must_use]
pub fn dir_name(dir: u64) -> String {
    format!("d{dir:05}")
}

/// Where the loop goes: one of two, decided once a phase.
pub trait Walk {
    /// Puts `names` on the file of op `index` (called with 0, 1, 2 …) and gives its number.
    fn place(&self, names: &mut FileNames, index: u32) -> u32;
}

/// In the order of creation.
#[derive(Debug, Clone, Copy)]
pub struct InOrder;

impl Walk for InOrder {
    #[inline(always)]
    fn place(&self, names: &mut FileNames, index: u32) -> u32 {
        if index > 0 {
            names.advance();
        }
        index
    }
}

/// By a permutation made before the phase.
#[derive(Debug, Clone, Copy)]
pub struct Permuted<'a>(pub &'a [u32]);

impl Walk for Permuted<'_> {
    #[inline(always)]
    fn place(&self, names: &mut FileNames, index: u32) -> u32 {
        let file = self.0[index as usize];
        names.set(file);
        file
    }
}

/// The seeded permutation of `files` files (Fisher-Yates).
#[must_use]
pub fn random_order(files: u32, seed: &Seed) -> Vec<u32> {
    let mut order: Vec<u32> = (0..files).collect();
    seed.child("order", 0).rng().shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expected(dataset: &Dataset, file: u64) -> String {
        if dataset.dirs == 0 {
            format!("f{file:08}")
        } else {
            format!("d{:05}/f{file:08}", file / dataset.files_per_dir())
        }
    }

    #[test]
    fn names_are_those_of_the_dataset() {
        for (files, dirs) in [(1, 0), (2500, 0), (2500, 7), (2500, 2500), (3, 10), (120_000, 100)] {
            let dataset = Dataset { files, size_bytes: 1, dirs };
            let mut names = FileNames::new(&dataset).unwrap();
            let mut jumping = names.clone();
            for file in 0..files {
                InOrder.place(&mut names, file as u32);
                assert_eq!(names.as_str(), expected(&dataset, file));
                jumping.set(file as u32);
                assert_eq!(jumping.as_c_str(), names.as_c_str());
                assert_eq!(jumping.left_in_dir, names.left_in_dir);
            }
        }
    }

    #[test]
    fn too_many_are_refused() {
        let files = Dataset { files: MAX_FILES + 1, size_bytes: 0, dirs: 0 };
        assert!(FileNames::new(&files).unwrap_err().to_string().contains("use fewer"));
        let dirs = Dataset { files: 1, size_bytes: 0, dirs: MAX_DIRS + 1 };
        assert!(FileNames::new(&dirs).is_err());
        let largest = Dataset { files: MAX_FILES, size_bytes: 0, dirs: MAX_DIRS };
        let mut names = FileNames::new(&largest).unwrap();
        names.set(99_999_999);
        assert_eq!(names.as_str(), "d99999/f99999999");
    }

    #[test]
    fn random_order_is_a_permutation_and_the_seeds_own() {
        let order = random_order(1000, &Seed::from_number(7));
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        assert_eq!(order, random_order(1000, &Seed::from_number(7)));
        assert_ne!(order, random_order(1000, &Seed::from_number(8)));
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn eight_digits_are_those_of_format(number in 0u32..100_000_000) {
            let text = format!("{number:08}");
            prop_assert_eq!(&eight_digits(number)[..], text.as_bytes());
        }
    }
}
