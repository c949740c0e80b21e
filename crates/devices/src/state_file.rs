//! Files of the state directory: what a journal says is done as this user, so that one is opened
//! only where it is a regular file of this user's that nobody else may write. Nothing is waited
//! for, and no link is followed.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

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
    let own = meta.uid() == rustix::process::geteuid().as_raw();
    if !own || meta.mode() & 0o022 != 0 {
        return Err(unfit("another user owns it or may write it, so it is not believed"));
    }
    Ok(Some(file))
}
