//! Small files of the kernel: one value each, with the place in every error.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Something that has to be known and cannot be read or understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct Unread {
    /// Where.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
}

impl Unread {
    pub(super) fn new(path: &Path, problem: impl ToString) -> Self {
        Self { path: path.to_owned(), problem: problem.to_string() }
    }
}

/// The value, without the white space around it.
pub(super) fn text(path: &Path) -> Result<String, Unread> {
    fs::read(path).map(|bytes| trimmed(&bytes)).map_err(|error| Unread::new(path, error))
}

fn trimmed(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches(['\0', ' ', '\n', '\t']).to_owned()
}

/// The value, or `None` where there is no such file, or the driver behind it has gone.
pub(super) fn optional(path: &Path) -> Result<Option<String>, Unread> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(trimmed(&bytes))),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(Unread::new(path, error)),
    }
}

/// What the hardware says of itself: nothing where it is empty, or will not say.
pub(super) fn non_empty(path: &Path) -> Option<String> {
    text(path).ok().filter(|text| !text.is_empty())
}

pub(super) fn number(path: &Path) -> Result<u64, Unread> {
    let text = text(path)?;
    text.parse().map_err(|_| Unread::new(path, format!("{text:?} is no number")))
}

/// `0` or `1`.
pub(super) fn flag(path: &Path) -> Result<bool, Unread> {
    match text(path)?.as_str() {
        "0" => Ok(false),
        "1" => Ok(true),
        other => Err(Unread::new(path, format!("{other:?} is neither 0 nor 1"))),
    }
}

/// Names in a directory, sorted.
pub(super) fn names(dir: &Path) -> Result<Vec<String>, Unread> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            let name = entry?.file_name().into_string();
            names.push(name.map_err(|name| io::Error::other(format!("{name:?} is not UTF-8")))?);
        }
        names.sort();
        Ok(names)
    };
    read().map_err(|error| Unread::new(dir, error))
}

/// Names in a directory; none where there is no such directory.
pub(super) fn names_if_any(dir: &Path) -> Result<Vec<String>, Unread> {
    names(dir).or_else(|error| match fs::symlink_metadata(dir) {
        Err(gone) if gone.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        _ => Err(error),
    })
}

/// Whether the kernel says that what was asked for is not there (any more).
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH | libc::ENODEV | libc::ENXIO))
}
