//! Names beside those of the dataset: `n00012-00000345` is the one that cycle 12 makes for file
//! 345, in the directory of that file.

use super::{FileNames, NameError, PATH_MAX, check, eight_digits};
use fsarena_model::work::Dataset;
use std::ffi::CStr;

/// Bytes of such a name.
const NAME_BYTES: usize = 15;

/// A cursor that follows one over the files.
#[derive(Debug, Clone)]
pub struct BesideNames {
    text: Box<[u8; PATH_MAX]>,
    /// Bytes of the path of a directory, with its last slash.
    dir_bytes: usize,
}

impl BesideNames {
    /// A cursor in cycle 0.
    ///
    /// # Errors
    /// When a path would be too long.
    pub fn new(dataset: &Dataset) -> Result<Self, NameError> {
        check(dataset)?;
        let levels = dataset.levels();
        let dir_bytes = levels as usize * super::COMPONENT_BYTES;
        let path_bytes = dir_bytes + NAME_BYTES + 1;
        if path_bytes > PATH_MAX {
            return Err(NameError::Path { levels, path_bytes });
        }
        let mut text = Box::new([0; PATH_MAX]);
        text[dir_bytes..dir_bytes + NAME_BYTES].copy_from_slice(b"n00000-00000000");
        Ok(Self { text, dir_bytes })
    }

    /// Takes the names of cycle `number` from now on.
    pub fn take_cycle(&mut self, number: u32) {
        let at = self.dir_bytes + 1;
        self.text[at..at + 5].copy_from_slice(&eight_digits(number % 100_000)[3..]);
    }

    /// Goes to the directory where `names` stands, and to `file`; `letter` tells kinds apart.
    #[inline(always)]
    pub fn set(&mut self, names: &FileNames, letter: u8, file: u32) -> &CStr {
        let dir = self.dir_bytes;
        self.text[..dir].copy_from_slice(&names.as_c_str().to_bytes()[..dir]);
        self.text[dir] = letter;
        self.text[dir + 7..dir + NAME_BYTES].copy_from_slice(&eight_digits(file));
        self.as_c_str()
    }

    /// The current name.
    #[inline(always)]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        let text = &self.text[..=self.dir_bytes + NAME_BYTES];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lie_in_the_directory_of_their_file() {
        for (depth, dirs, dir) in [(0, 0, ""), (1, 7, "d00002/"), (2, 7, "d00000/d00002/")] {
            let dataset = Dataset { depth, ..Dataset::uniform(700, 1, dirs) };
            let mut names = FileNames::new(&dataset).unwrap();
            names.set(234);
            let mut beside = BesideNames::new(&dataset).unwrap();
            beside.take_cycle(12);
            assert_eq!(
                beside.set(&names, b't', 234).to_str(),
                Ok(&*format!("{dir}t00012-00000234"))
            );
            beside.take_cycle(65_535);
            beside.set(&names, b'n', 99_999_999);
            assert_eq!(beside.as_str(), format!("{dir}n65535-99999999"));
        }
        let short = Dataset { name_bytes: Some(2), ..Dataset::uniform(9, 1, 0) };
        assert_eq!(BesideNames::new(&short).unwrap().as_str(), "n00000-00000000");
        let deep = Dataset { depth: 584, name_bytes: Some(7), ..Dataset::uniform(9, 1, 1) };
        FileNames::new(&deep).unwrap();
        assert!(matches!(BesideNames::new(&deep), Err(NameError::Path { levels: 584, .. })));
    }
}
