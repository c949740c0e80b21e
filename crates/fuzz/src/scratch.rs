//! Files for parsers that read files: one directory a thread, which goes with it.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

thread_local! {
    static DIR: OnceCell<TempDir> = const { OnceCell::new() };
}

fn dir() -> PathBuf {
    DIR.with(|dir| {
        let make = || TempDir::with_prefix("fsarena-fuzz-").expect("a temporary directory");
        dir.get_or_init(make).path().to_owned()
    })
}

/// A file of this name with these contents, and no other of its name beside it.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir().join(name);
    fs::write(&path, bytes).expect("a file in a directory of our own");
    path
}

/// An empty directory of this name.
pub(crate) fn empty_dir(name: &str) -> PathBuf {
    let path = dir().join(name);
    remove(&path);
    fs::create_dir(&path).expect("a directory in a directory of our own");
    path
}

/// Removes a file or a directory of [`file`] and [`empty_dir`], where it is there.
pub(crate) fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).expect("a directory of our own");
    } else if path.symlink_metadata().is_ok() {
        fs::remove_file(path).expect("a file of our own");
    }
}

/// A directory of this name, with what was in it before.
pub(crate) fn kept_dir(name: &str) -> PathBuf {
    let path = dir().join(name);
    fs::create_dir_all(&path).expect("a directory in a directory of our own");
    path
}
