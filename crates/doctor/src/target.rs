//! What the user named: a block device or a directory, or something that is neither.

use rustix::fs::FileType;
use std::path::{Path, PathBuf};

/// What is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The machine alone.
    Host,
    /// A block device.
    Device(PathBuf),
    /// A directory, and the device below it.
    Directory(PathBuf),
}

/// A path that cannot be looked at.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct NotATarget {
    /// The path as written.
    pub path: PathBuf,
    /// What is wrong, and what to name instead.
    pub problem: String,
}

impl Target {
    /// What this path leads to. Nothing is opened.
    ///
    /// # Errors
    /// When there is nothing, it may not be seen, or it is no block device or directory.
    pub fn from_path(written: &Path) -> Result<Self, NotATarget> {
        let refuse =
            |problem: &str| NotATarget { path: written.to_owned(), problem: problem.to_owned() };
        let path = written.canonicalize().map_err(|error| {
            let text = error.to_string();
            refuse(text.split(" (os error").next().unwrap_or_default())
        })?;
        let stat = rustix::fs::stat(&path).map_err(|error| refuse(&error.to_string()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => Ok(Self::Device(path)),
            FileType::Directory => {
                let may = rustix::fs::Access::READ_OK | rustix::fs::Access::EXEC_OK;
                rustix::fs::access(&path, may)
                    .map_err(|_| refuse("no permission to look into this directory"))?;
                Ok(Self::Directory(path))
            }
            FileType::RegularFile => {
                Err(refuse("is a file; name the directory it is in, or a block device"))
            }
            FileType::CharacterDevice => {
                Err(refuse("is a character device; name a block device (fsarena devices)"))
            }
            _ => Err(refuse("is neither a block device nor a directory")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_what_they_lead_to() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        let real = dir.path().canonicalize().unwrap();
        assert_eq!(Target::from_path(&link), Ok(Target::Directory(real)));
        let problem = |path: &Path| Target::from_path(path).unwrap_err().to_string();
        assert!(
            problem(&file).ends_with("is a file; name the directory it is in, or a block device")
        );
        assert!(problem(Path::new("/dev/null")).starts_with("/dev/null: is a character device"));
        let missing = dir.path().join("missing");
        assert_eq!(problem(&missing), format!("{}: No such file or directory", missing.display()));
    }
}
