//! Writing a file that the user named: whole or not at all, and never through a link, which
//! somebody else may have put there. Under sudo it belongs to the user who called it.

use crate::context::Usage;
use anyhow::{Context as _, Result};
use fsarena_model::visible;
use fsarena_process::owner::{create_dirs, give_to_caller};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Writes text to `path`: a new file, or in place of an old one, which stays as it is until the new
/// one is whole. What is no regular file (`/dev/null`, a pipe) is written to. Nothing in it is
/// hidden: JSON has its own escapes for that before it comes here.
///
/// # Errors
/// Where it cannot be written, is a link, a block device or a directory, or is a database.
pub fn write(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, visible::lines(text).as_bytes())
}

/// The same with what is no text: a picture.
///
/// # Errors
/// As [`write()`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let place = || cannot_be_written(path);
    match target(path)? {
        Target::Stream(target) => fs::write(&target, bytes).with_context(place),
        Target::File(target) => {
            let mut new = NewFile::beside(path, target)?;
            new.file().write_all(bytes).with_context(place)?;
            new.replace()
        }
    }
}

/// Makes a directory of ours in one that the user named; a link is not followed.
///
/// # Errors
/// Where it cannot be made, or is a link.
pub fn create_dir_in(option: &str, dir: &Path, name: &str) -> Result<PathBuf> {
    let inner = dir.join(name);
    if inner.is_symlink() {
        refuse!(
            "{option} {}: {name} in it is a link; remove it, or name another directory",
            dir.display()
        );
    }
    create_dir(option, &inner)?;
    Ok(inner)
}

/// Makes a directory that the user named, and those above it that are missing.
///
/// # Errors
/// Where it cannot be made; `option` is what named it.
pub fn create_dir(option: &str, dir: &Path) -> Result<()> {
    create_dirs(dir, 0o755).with_context(|| {
        format!("{option} {}: cannot be made; name another directory", dir.display())
    })
}

/// A regular file that is written in pieces before it has its name.
pub struct NewFile {
    shown: PathBuf,
    target: PathBuf,
    temporary: tempfile::NamedTempFile,
}

impl NewFile {
    /// Begins the file of this name.
    ///
    /// # Errors
    /// As [`write()`], and where the name leads to what is no regular file.
    pub fn begin(path: &Path) -> Result<Self> {
        match target(path)? {
            Target::File(target) => Self::beside(path, target),
            Target::Stream(_) => {
                refuse!("{}: is no regular file; name another one", path.display())
            }
        }
    }

    fn beside(path: &Path, target: PathBuf) -> Result<Self> {
        let temporary = temporary_file(&target).with_context(|| cannot_be_written(path))?;
        Ok(Self { shown: path.to_owned(), target, temporary })
    }

    /// What is written.
    pub fn file(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }

    /// Gives it its name, in place of an old file.
    ///
    /// # Errors
    /// Where it cannot be written down or renamed; the old one stays then.
    pub fn replace(self) -> Result<()> {
        let (temporary, target, shown) = self.whole()?;
        temporary.persist(&target).with_context(|| cannot_be_written(&shown))?;
        Ok(())
    }

    /// The same where there is no old one; `false`: there is.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn place(self) -> Result<bool> {
        let (temporary, target, shown) = self.whole()?;
        match temporary.persist_noclobber(&target) {
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
            placed => placed.with_context(|| cannot_be_written(&shown)).map(|_| true),
        }
    }

    /// All of it on the disk, and the caller's under sudo.
    fn whole(self) -> Result<(tempfile::NamedTempFile, PathBuf, PathBuf)> {
        let Self { shown, target, temporary } = self;
        give_to_caller(temporary.as_file());
        temporary.as_file().sync_all().with_context(|| cannot_be_written(&shown))?;
        Ok((temporary, target, shown))
    }
}

/// Whether [`write()`] could write there now: for a name that is used at the end of long work.
///
/// # Errors
/// As [`write()`].
pub fn check_writable(path: &Path) -> Result<()> {
    match target(path)? {
        Target::Stream(_) => Ok(()),
        // It goes again when it is dropped.
        Target::File(target) => temporary_file(&target)
            .map(drop)
            .map_err(|error| Usage(format!("{}: {error}", cannot_be_written(path))).into()),
    }
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written; name another file", path.display())
}

/// What a name leads to.
enum Target {
    /// A regular file, or none yet.
    File(PathBuf),
    /// A character device, a pipe, a socket.
    Stream(PathBuf),
}

fn target(path: &Path) -> Result<Target> {
    use std::os::unix::fs::FileTypeExt as _;
    let refused = |what: &str| refuse!("{}: is {what}; name a file to be written", path.display());
    let target = std::path::absolute(path)?;
    match fs::metadata(&target) {
        // `/dev/stdout` is a link, too.
        Ok(meta) if !meta.is_file() && !meta.is_dir() && !meta.file_type().is_block_device() => {
            Ok(Target::Stream(target))
        }
        _ if target.is_symlink() => refused("a link"),
        Ok(meta) if meta.is_dir() => refused("a directory"),
        Ok(meta) if meta.file_type().is_block_device() => refused("a block device"),
        Ok(_) if is_database(&target) => refused("a database"),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| cannot_be_written(path))
        }
        Ok(_) | Err(_) => Ok(Target::File(target)),
    }
}

/// A file in the same directory, with the rights that a new file usually has.
fn temporary_file(target: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fsarena-").permissions(permissions());
    builder.tempfile_in(dir.unwrap_or(Path::new(".")))
}

/// Everybody may read it; the user's umask takes from it.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o644)
}

/// Whether it begins as SQLite's files do (sqlite.org/fileformat.html, 1.3).
fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && &head == b"SQLite format 3\0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_is_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.html");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let link = dir.path().join("link.html");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let dangling = dir.path().join("dangling.html");
        std::os::unix::fs::symlink("new.html", &dangling).unwrap();
        for link in [&link, &dangling] {
            let error = write(link, "three").unwrap_err().to_string();
            assert!(error.contains("is a link; name a file"), "{error}");
            assert!(check_writable(link).is_err() && link.is_symlink());
        }
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o133, 0, "{mode:o}");
    }

    #[test]
    fn what_is_no_file_of_this_kind_stays() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("x.db");
        fs::write(&database, b"SQLite format 3\0 and more").unwrap();
        let error = write(&database, "page").unwrap_err().to_string();
        assert!(error.contains("is a database; name a file"), "{error}");
        let error = write(dir.path(), "page").unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
        let error = write(&dir.path().join("no/such/x.html"), "page").unwrap_err().to_string();
        assert!(error.contains("no/such/x.html: cannot be written"), "{error}");
        let error = check_writable(&dir.path().join("no/such/x.html")).unwrap_err();
        assert!(error.is::<Usage>(), "{error}");
        check_writable(&dir.path().join("y.html")).unwrap();
        assert!(!dir.path().join("y.html").exists(), "looking makes nothing");
        write(Path::new("/dev/null"), "page").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file(), "it is a device still");
        assert!(fs::read(&database).unwrap().starts_with(b"SQLite"));
    }
}
