//! What lies below the root: the wav files that are to be encoded, and the sizes of what was made.
//!
//! Symbolic links are never followed. Sizes are read only when the last clock has been.

use fsarena_engine::Root;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Ending of the files that are encoded.
const WAV: &[u8] = b".wav";

/// Names of the wav files of the directory `input`, in order: what `*.wav` is in a shell.
pub(super) fn wavs(root: &Root, input: &Path) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(open_dir(root, input)?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        let is_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
        if is_file && name.ends_with(WAV) && !name.starts_with(b".") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The name without its ending.
pub(super) fn stem(wav: &OsStr) -> &OsStr {
    let bytes = wav.as_bytes();
    OsStr::from_bytes(bytes.strip_suffix(WAV).unwrap_or(bytes))
}

fn open_dir(root: &Root, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(root.lookup(), path, flags, Mode::empty())
}

/// Bytes of the file at `path`; `None` where it is a directory.
pub(super) fn file_bytes(root: &Root, path: &Path) -> io::Result<Option<u64>> {
    let facts = statat(root.lookup(), path, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_dir = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
    Ok((!is_dir).then_some(facts.st_size.cast_unsigned()))
}

/// Bytes of all regular files below the directory `top`.
pub(super) fn tree_bytes(root: &Root, top: &Path) -> io::Result<u64> {
    let mut left: Vec<PathBuf> = vec![top.to_owned()];
    let mut sum = 0;
    while let Some(path) = left.pop() {
        let dir = open_dir(root, &path)?;
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let facts = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(facts.st_mode) {
                FileType::Directory => left.push(path.join(OsStr::from_bytes(name.to_bytes()))),
                FileType::RegularFile => sum += facts.st_size.cast_unsigned(),
                _ => {}
            }
        }
    }
    Ok(sum)
}
