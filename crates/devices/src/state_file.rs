//! Files of the state directory: what a journal says is done as this user, so that one is opened
//! only where it is a regular file of this user's that nobody else may write. Nothing is waited
//! for, and no link is followed.
//!
//! One is made under a temporary name, locked, and named when it is whole and on the disk: it is
//! never seen in part or without its lock, and where there is no room for it nothing is left.

use fsarena_process::{held, private};
use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, flock, renameat_with};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What is behind the name of a file that is being made.
pub const TEMPORARY: &str = "new";

/// Why a file is passed over, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}; it is passed over, remove it from there")]
pub struct Unfit {
    path: String,
    why: String,
}

impl Unfit {
    /// A file that is passed over.
    #[must_use]
    pub fn new(path: &Path, why: impl Into<String>) -> Self {
        Self { path: path.display().to_string(), why: why.into() }
    }
}

/// Opens a file of the state directory for reading; `None` where it is gone by now, or another
/// user's that this one may not read.
///
/// # Errors
/// Where it is no regular file, another user owns it or may write it, or it cannot be opened.
pub fn open(path: &Path) -> Result<Option<File>, Unfit> {
    let unfit = |why: &str| Unfit::new(path, why);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Ok(None),
                _ if path.is_symlink() => Err(unfit("it is a symbolic link")),
                _ => Err(unfit(&error.to_string())),
            };
        }
    };
    let meta = file.metadata().map_err(|error| unfit(&error.to_string()))?;
    let kind = meta.file_type();
    if !kind.is_file() {
        return Err(unfit(if kind.is_dir() {
            "it is a directory"
        } else if kind.is_fifo() {
            "it is a pipe"
        } else {
            "it is no regular file"
        }));
    }
    held::check_own(&file).map_err(|error| unfit(&error.to_string()))?;
    Ok(Some(file))
}

/// The name of `path` while it is being made.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(TEMPORARY);
    name.into()
}

/// Makes a file with these contents, open for appending and reading, and locked as long as it is
/// open. The contents and the name are on the disk when this returns.
///
/// # Errors
/// `AlreadyExists` where there is one of this name. Otherwise it could not be written. No part of
/// it is left.
pub fn create(path: &Path, contents: &[u8], lock: FlockOperation) -> io::Result<File> {
    let temporary = temporary(path);
    let mut file = match private::create_file(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let text = format!("{} is in the way: it is being made, or was", temporary.display());
            return Err(io::Error::other(text));
        }
        created => created?,
    };
    let whole = flock(&file, lock).map_err(io::Error::from);
    let whole = whole.and_then(|()| file.write_all(contents)).and_then(|()| file.sync_all());
    let named = whole.and_then(|()| {
        // Never over one that is there.
        renameat_with(CWD, &temporary, CWD, path, RenameFlags::NOREPLACE)?;
        Ok(())
    });
    if let Err(error) = named {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    if let Err(error) = sync_dir_of(path) {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Removes a file; it does not come back after a power cut.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    sync_dir_of(path)
}

fn sync_dir_of(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    const SHARED: FlockOperation = FlockOperation::NonBlockingLockShared;

    #[test]
    fn a_file_is_whole_locked_and_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fsarena-a.journal");
        let file = create(&path, b"first\n", SHARED).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first\n");
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let other = open(&path).unwrap().unwrap();
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_err());
        drop(file);
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_ok());
        let error = create(&path, b"second\n", SHARED).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary one");
        remove(&path).unwrap();
        assert!(remove(&path).is_err());
    }

    #[test]
    fn what_is_being_made_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fsarena-a.journal");
        fs::write(temporary(&path), "half").unwrap();
        let error = create(&path, b"first\n", SHARED).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("fsarena-a.journal.new is in the way"), "{error}");
        assert_eq!(fs::read(temporary(&path)).unwrap(), b"half");
    }
}
