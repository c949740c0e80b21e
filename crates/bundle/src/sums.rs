//! The list of hashes, in the form of sha256sum(1), and the names of files.

use crate::BundleError;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Name of the list.
pub const SUMS: &str = "SHA256SUMS";

/// Hexadecimal digits of a hash.
const DIGITS: usize = 64;
/// Longest name of a file, bytes.
const NAME_MOST: usize = 200;

/// How files are called that SQLite takes for a part of the database beside them.
const OF_DATABASES: [&str; 3] = ["-journal", "-shm", "-wal"];

/// Whether a file of a bundle may be called so: at most one directory, plain letters, and nothing
/// that would be played back into its database.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '=');
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_plain);
    let is_of_database = OF_DATABASES.iter().any(|ending| name.ends_with(ending));
    let is_plain = name.len() <= NAME_MOST && name.split('/').all(is_part);
    is_plain && !is_of_database && name.split('/').count() <= 2
}

/// A line of the list.
pub(crate) fn line(sum: &str, name: &str) -> String {
    format!("{sum}  {name}\n")
}

/// Name and hash of each file in the list.
///
/// # Errors
/// When a line has another form, or a name stands twice.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, BundleError> {
    let mut sums = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: &str| BundleError::Damaged(format!("{SUMS}:{}: {what}", at + 1));
        let (sum, name) = line.split_once("  ").ok_or_else(|| wrong("no hash and name"))?;
        if sum.len() != DIGITS || !sum.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong("no SHA-256"));
        }
        if !is_name(name) {
            return Err(wrong("no name of a file in a bundle"));
        }
        if sums.insert(name.to_owned(), sum.to_ascii_lowercase()).is_some() {
            return Err(wrong("a name for the second time"));
        }
    }
    Ok(sums)
}

/// A reader that computes the hash of what it has read.
pub(crate) struct Hashed<R> {
    from: R,
    digest: Sha256,
}

impl<R> Hashed<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, digest: Sha256::new() }
    }

    /// The hash in hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.digest.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_one_directory() {
        for name in ["results.db", "figures/small-files-create.svg", "a+b=c_1"] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(NAME_MOST + 1);
        for name in
            ["", "..", "../x", "/x", "a/../b", "a//b", "a/b/c", ".hidden", "a b", "ä", &long]
        {
            assert!(!is_name(name), "{name:?}");
        }
        for name in ["results.db-journal", "results.db-wal", "a/results.db-shm"] {
            assert!(!is_name(name), "{name:?} would be played back");
        }
    }

    #[test]
    fn a_list_says_which_line_is_wrong() {
        let sum = "0".repeat(DIGITS);
        assert_eq!(parse(&line(&sum, "x.db")).unwrap()["x.db"], sum);
        for (text, words) in [
            (format!("{sum}  a\nx\n"), "SHA256SUMS:2: no hash and name"),
            ("12  a\n".to_owned(), "SHA256SUMS:1: no SHA-256"),
            (format!("{sum}  ../a\n"), "no name of a file"),
            (format!("{sum}  a\n{sum}  a\n"), "SHA256SUMS:2: a name for the second time"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
