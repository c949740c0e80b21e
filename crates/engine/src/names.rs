//! Names of files and directories, written by cursors into fixed buffers.
//!
//! No `format!`, no list of names (50,000 of them would be 1.6 MB that the loop drags through the
//! caches). The layout is that of [`Dataset`]: `depth` components `d%05d`, then `f%08d` padded with
//! `x`, or the name after a rename, which begins with `r`. What [`FileNames::set`] needs of a
//! dataset whose directories hold different numbers of files is one number a directory, shared by
//! all threads.

use fsarena_model::dataset::NAME_BYTES;
use fsarena_model::work::Dataset;
use std::ffi::CStr;
use std::sync::Arc;

/// Most directories in one directory: their names have five digits.
pub const MAX_FANOUT: u64 = 100_000;
/// Longest path and its NUL, bytes (limits.h).
pub const PATH_MAX: usize = 4096;

/// First letter of the hard link to a file.
pub(crate) const LINK: u8 = b'l';
/// First letter of the symbolic link to a file.
pub(crate) const SYMLINK: u8 = b's';

/// `d00000/`.
const COMPONENT_BYTES: usize = 7;
/// Where the name of the file begins; the directories end right before it.
const FILE_START: usize = PATH_MAX;
/// Room for the longest name and its NUL.
const TEXT_BYTES: usize = FILE_START + 256;

/// The names of a dataset cannot be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NameError {
    /// More files than the digits of a name hold.
    #[error(
        "dataset of {files} files: names of {name_bytes} bytes hold at most {most} files; use \
         fewer, or longer names (name_bytes, 9 or more for 100000000 files)"
    )]
    Files {
        /// Files of the dataset.
        files: u64,
        /// Length of a name.
        name_bytes: u32,
        /// What it holds.
        most: u64,
    },
    /// More directories than names hold.
    #[error(
        "dataset of {dirs} directories, {fanout} in one: a directory holds at most {MAX_FANOUT}; \
         use fewer, or more levels (depth)"
    )]
    Dirs {
        /// Leaf directories of the dataset.
        dirs: u64,
        /// Directories in one.
        fanout: u64,
    },
    /// A name that no file system takes.
    #[error("names of {name_bytes} bytes: give name_bytes from 2 to 255 (NAME_MAX)")]
    Length {
        /// Length of a name.
        name_bytes: u32,
    },
    /// A path that the kernel does not take.
    #[error(
        "dataset of {levels} levels of directories: its paths have {path_bytes} bytes, more than \
         {PATH_MAX} with their NUL (PATH_MAX); use a smaller depth or shorter names"
    )]
    Path {
        /// Levels of directories.
        levels: u32,
        /// Length of a path with its NUL.
        path_bytes: usize,
    },
    /// `files` is not what `per_dir` draws.
    #[error(
        "dataset of {files} files: its distribution per_dir draws {drawn} for {dirs} directories; \
         set files to that"
    )]
    Drawn {
        /// What the dataset says.
        files: u64,
        /// What the distribution says.
        drawn: u64,
        /// Leaf directories.
        dirs: u64,
    },
}

/// Checks what both kinds of cursors rely on.
fn check(dataset: &Dataset) -> Result<(), NameError> {
    let name_bytes = dataset.file_name_bytes();
    if !NAME_BYTES.contains(&name_bytes) {
        return Err(NameError::Length { name_bytes });
    }
    let most = 10u64.pow(dataset.name_digits());
    if dataset.files > most {
        return Err(NameError::Files { files: dataset.files, name_bytes, most });
    }
    let levels = dataset.levels();
    let path_bytes =
        (levels as usize).saturating_mul(COMPONENT_BYTES).saturating_add(name_bytes as usize + 1);
    if path_bytes > PATH_MAX {
        return Err(NameError::Path { levels, path_bytes });
    }
    let refused = |fanout| Err(NameError::Dirs { dirs: dataset.dirs, fanout });
    if dataset.dirs > u64::from(u32::MAX) || (levels <= 1 && dataset.dirs > MAX_FANOUT) {
        return refused(dataset.dirs);
    }
    if dataset.fanout() > MAX_FANOUT || dataset.directories() > u64::from(u32::MAX) {
        return refused(dataset.fanout());
    }
    Ok(())
}

/// Which files are in which leaf directory.
#[derive(Debug, Clone)]
enum Layout {
    /// As many in each but perhaps the last; never 0. A flat set is one such directory.
    Even(u32),
    /// First file of each directory, and at the end the number of files.
    Drawn(Arc<[u32]>),
}

impl Layout {
    /// Directory of `file`, and the files that follow it there.
    #[inline(always)]
    fn locate(&self, file: u32) -> (u32, u32) {
        match self {
            Self::Even(files) => (file / files, files - 1 - file % files),
            Self::Drawn(starts) => {
                let next = starts.partition_point(|&start| start <= file).min(starts.len() - 1);
                #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 directories")]
                let dir = next.saturating_sub(1) as u32;
                (dir, starts[next].saturating_sub(file + 1))
            }
        }
    }
}

/// A cursor over the files of a dataset. A clone has a buffer of its own.
#[derive(Debug, Clone)]
pub struct FileNames {
    text: Box<[u8; TEXT_BYTES]>,
    start: usize,
    /// Behind the NUL.
    end: usize,
    digits: usize,
    levels: u32,
    fanout: u32,
    layout: Layout,
    dir: u32,
    /// Files that remain in the directory of the current one, without it.
    left_in_dir: u32,
}

impl FileNames {
    /// A cursor at file 0.
    ///
    /// # Errors
    /// When the numbers do not fit into the names, or the names into a path.
    #[expect(clippy::cast_possible_truncation, reason = "checked first")]
    pub fn new(dataset: &Dataset) -> Result<Self, NameError> {
        check(dataset)?;
        let layout = match dataset.dir_starts() {
            Some(starts) if dataset.dirs > 0 => {
                let drawn = starts.last().copied().unwrap_or(0);
                if drawn != dataset.files {
                    let (files, dirs) = (dataset.files, dataset.dirs);
                    return Err(NameError::Drawn { files, drawn, dirs });
                }
                Layout::Drawn(starts.into_iter().map(|start| start as u32).collect())
            }
            _ => Layout::Even(dataset.files_per_dir().max(1) as u32),
        };
        let (levels, name_bytes) = (dataset.levels(), dataset.file_name_bytes() as usize);
        let mut text = Box::new([b'0'; TEXT_BYTES]);
        let start = FILE_START - levels as usize * COMPONENT_BYTES;
        for component in text[start..FILE_START].chunks_exact_mut(COMPONENT_BYTES) {
            component.copy_from_slice(b"d00000/");
        }
        let digits = dataset.name_digits() as usize;
        let end = FILE_START + name_bytes;
        text[FILE_START] = b'f';
        text[FILE_START + 1 + digits..end].fill(b'x');
        text[end] = 0;
        let fanout = dataset.fanout() as u32;
        let (dir, left_in_dir) = (0, 0);
        let end = end + 1;
        let mut names = Self { text, start, end, digits, levels, fanout, layout, dir, left_in_dir };
        names.set(0);
        Ok(names)
    }

    /// Uses the names after a rename (`r…`) or before it (`f…`) from now on.
    pub fn use_renamed_name(&mut self, renamed: bool) {
        self.text[FILE_START] = if renamed { b'r' } else { b'f' };
    }

    /// Takes names of its own kind from now on: `l…` for links, `s…` for symbolic links.
    pub fn use_letter(&mut self, letter: u8) {
        self.text[FILE_START] = letter;
    }

    /// The current name without its directory.
    #[inline(always)]
    #[must_use]
    pub fn file_name(&self) -> &CStr {
        // SAFETY: the end of the text of `as_c_str`, with its NUL.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.text[FILE_START..self.end]) }
    }

    /// Goes to any file.
    #[inline(always)]
    pub fn set(&mut self, file: u32) {
        let (dir, left) = self.layout.locate(file);
        self.left_in_dir = left;
        if self.levels > 0 {
            self.write_dir(dir);
        }
        let digits = eight_digits(file);
        if self.digits == 8 {
            self.text[FILE_START + 1..FILE_START + 9].copy_from_slice(&digits);
        } else {
            let end = FILE_START + 1 + self.digits;
            self.text[FILE_START + 1..end].copy_from_slice(&digits[8 - self.digits..]);
        }
    }

    /// Goes to the next file.
    #[inline(always)]
    pub fn advance(&mut self) {
        increment(&mut self.text[FILE_START + 1..=FILE_START + self.digits]);
        if self.left_in_dir == 0 {
            self.next_dir();
        } else {
            self.left_in_dir -= 1;
        }
    }

    /// Goes to the next directory that holds a file.
    fn next_dir(&mut self) {
        let mut dir = self.dir + 1;
        self.left_in_dir = match &self.layout {
            Layout::Even(files) => files - 1,
            Layout::Drawn(starts) => {
                let files = |dir: u32| {
                    let at = dir as usize;
                    starts.get(at + 1).map(|&next| next - starts[at])
                };
                while files(dir) == Some(0) {
                    dir += 1;
                }
                files(dir).map_or(0, |files| files - 1)
            }
        };
        self.write_dir(dir);
    }

    #[inline(always)]
    fn write_dir(&mut self, dir: u32) {
        self.dir = dir;
        let mut rest = dir;
        let mut end = FILE_START - 1;
        for level in (0..self.levels).rev() {
            let mut number = rest;
            if level > 0 {
                number = rest % self.fanout;
                rest /= self.fanout;
            }
            self.text[end - 5..end].copy_from_slice(&eight_digits(number)[3..]);
            end -= COMPONENT_BYTES;
        }
    }

    /// Number of the current leaf directory; 0 in a flat set.
    #[inline(always)]
    #[must_use]
    pub fn dir(&self) -> u32 {
        self.dir
    }

    /// Leaf directory of any file; 0 in a flat set.
    #[must_use]
    pub fn dir_of(&self, file: u32) -> u32 {
        self.layout.locate(file).0
    }

    /// Takes the current place of `other`, a cursor over the same dataset, under the own first
    /// letter: a copy of some bytes.
    #[inline(always)]
    pub fn follow(&mut self, other: &Self) {
        let letter = self.text[FILE_START];
        let (start, end) = (other.start, other.end);
        self.text[start..end].copy_from_slice(&other.text[start..end]);
        self.text[FILE_START] = letter;
    }

    /// The current name.
    #[inline(always)]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        // SAFETY: the text up to `end` ends with its only NUL: the cursor writes digits alone, and
        // never to the last byte. Checked by `names_are_those_of_the_dataset`.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.text[self.start..self.end]) }
    }

    /// Gives `then` the path of the directory that holds the current file.
    #[inline(always)]
    pub fn with_parent<T>(&mut self, then: impl FnOnce(&CStr) -> T) -> T {
        if self.levels == 0 {
            return then(c".");
        }
        self.text[FILE_START - 1] = 0;
        let path = &self.text[self.start..FILE_START];
        let result = then(CStr::from_bytes_with_nul(path).unwrap_or(c"."));
        self.text[FILE_START - 1] = b'/';
        result
    }

    /// The current name as text, for messages.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.as_c_str().to_str().unwrap_or_default()
    }
}

/// A cursor over the directories of a dataset, inner ones before the leaves.
#[derive(Debug, Clone)]
pub struct DirNames {
    text: Box<[u8; PATH_MAX]>,
    /// Number of the first directory of each level, and at the end that of all.
    starts: Vec<u32>,
    fanout: u32,
    /// Level of the current one, from 1; 0: the root of a flat set.
    level: usize,
    /// Its number within the level.
    number: u32,
}

impl DirNames {
    /// A cursor at the first directory.
    ///
    /// # Errors
    /// As [`FileNames::new`].
    #[expect(clippy::cast_possible_truncation, reason = "checked first")]
    pub fn new(dataset: &Dataset) -> Result<Self, NameError> {
        check(dataset)?;
        let (levels, fanout) = (dataset.levels(), dataset.fanout());
        let mut at_level = vec![dataset.dirs as u32; levels as usize];
        for level in (1..at_level.len()).rev() {
            at_level[level - 1] = at_level[level].div_ceil(fanout as u32);
        }
        let mut starts = vec![0];
        for count in at_level {
            starts.push(starts[starts.len() - 1] + count);
        }
        let mut text = Box::new([0; PATH_MAX]);
        text[0] = b'.';
        let fanout = fanout as u32;
        let mut names = Self { text, starts, fanout, level: 0, number: 0 };
        if names.count() > 0 {
            names.set(0);
        }
        Ok(names)
    }

    /// Directories; 0 in a flat set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.starts[self.starts.len() - 1]
    }

    /// Goes to directory `dir` of [`DirNames::count`], counted from the root to the leaves; the
    /// root itself in a flat set.
    #[inline(always)]
    pub fn set(&mut self, dir: u32) {
        if self.starts.len() > 1 {
            (self.level, self.number) = self.place_of(dir);
            self.write();
        }
    }

    /// Level and number of directory `dir` of a set that is not flat.
    fn place_of(&self, dir: u32) -> (usize, u32) {
        let level = self.starts.partition_point(|&start| start <= dir).min(self.starts.len() - 1);
        (level, dir - self.starts[level - 1])
    }

    fn write(&mut self) {
        let mut rest = self.number;
        for level in (0..self.level).rev() {
            let mut number = rest;
            if level > 0 {
                number = rest % self.fanout;
                rest /= self.fanout;
            }
            let at = level * COMPONENT_BYTES;
            self.text[at] = b'd';
            self.text[at + 1..at + 6].copy_from_slice(&eight_digits(number)[3..]);
            self.text[at + 6] = b'/';
        }
        self.text[self.level * COMPONENT_BYTES - 1] = 0;
    }

    /// Level and number of the directory that holds the current one.
    #[must_use]
    pub fn parent(&self) -> (usize, u32) {
        self.above((self.level, self.number))
    }

    /// Level and number of the directory that holds `dir`.
    #[must_use]
    pub fn parent_of(&self, dir: u32) -> (usize, u32) {
        self.above(self.place_of(dir))
    }

    fn above(&self, (level, number): (usize, u32)) -> (usize, u32) {
        if level <= 1 { (0, 0) } else { (level - 1, number / self.fanout) }
    }

    /// The current path.
    #[inline(always)]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.text[..]).unwrap_or(c".")
    }

    /// The current path as text, for messages.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.as_c_str().to_str().unwrap_or_default()
    }

    /// Gives `then` the path of a directory named by [`DirNames::parent`]; the cursor does not
    /// move.
    pub fn with<T>(&mut self, (level, number): (usize, u32), then: impl FnOnce(&CStr) -> T) -> T {
        if level == 0 {
            return then(c".");
        }
        let current = (self.level, self.number);
        (self.level, self.number) = (level, number);
        self.write();
        let result = then(self.as_c_str());
        (self.level, self.number) = current;
        self.write();
        result
    }
}

/// Bytes of a name that is not one of the dataset's.
const SIBLING_NAME_BYTES: usize = 15;

/// A cursor over further names in the directories of the dataset, which follows one over the files:
/// `n00012-00000345` is the one that cycle 12 makes for file 345, in the directory of that file.
#[derive(Debug, Clone)]
pub struct SiblingNames {
    text: Box<[u8; PATH_MAX]>,
    /// Bytes of the path of a directory, with its last slash.
    dir_bytes: usize,
}

impl SiblingNames {
    /// A cursor in cycle 0.
    ///
    /// # Errors
    /// When a path would be too long.
    pub fn new(dataset: &Dataset) -> Result<Self, NameError> {
        check(dataset)?;
        let levels = dataset.levels();
        let dir_bytes = levels as usize * COMPONENT_BYTES;
        let path_bytes = dir_bytes + SIBLING_NAME_BYTES + 1;
        if path_bytes > PATH_MAX {
            return Err(NameError::Path { levels, path_bytes });
        }
        let mut text = Box::new([0; PATH_MAX]);
        text[dir_bytes..dir_bytes + SIBLING_NAME_BYTES].copy_from_slice(b"n00000-00000000");
        Ok(Self { text, dir_bytes })
    }

    /// Takes the names of cycle `number` from now on.
    pub fn take_cycle(&mut self, number: u32) {
        let at = self.dir_bytes + 1;
        self.text[at..at + 5].copy_from_slice(&eight_digits(number % 100_000)[3..]);
    }

    /// Goes to the current directory of `names`, and to `file`; `letter` marks the kind.
    #[inline(always)]
    pub fn set(&mut self, names: &FileNames, letter: u8, file: u32) -> &CStr {
        let dir = self.dir_bytes;
        self.text[..dir].copy_from_slice(&names.as_c_str().to_bytes()[..dir]);
        self.text[dir] = letter;
        self.text[dir + 7..dir + SIBLING_NAME_BYTES].copy_from_slice(&eight_digits(file));
        self.as_c_str()
    }

    /// The current name.
    #[inline(always)]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        let text = &self.text[..=self.dir_bytes + SIBLING_NAME_BYTES];
        // SAFETY: the last byte is 0 and never written; all before it are digits, letters, a dash
        // and slashes, copied from a path without a NUL or written here.
        unsafe { CStr::from_bytes_with_nul_unchecked(text) }
    }

    /// The current name as text, for messages.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.as_c_str().to_str().unwrap_or_default()
    }
}

/// Adds one to the decimal digits of `text`.
#[inline(always)]
fn increment(text: &mut [u8]) {
    for digit in text.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
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

#[cfg(test)]
mod tests;
