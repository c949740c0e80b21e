//! Writing a file that the user named: whole or not at all, and never through a link, which
//! somebody else may have put there. Its directory is opened once: what is looked at there is what
//! is written. Under sudo it belongs to the user who called it.

use crate::context::Usage;
use anyhow::{Context as _, Result};
use fsarena_model::visible;
use fsarena_process::held::{HeldDir, HeldError};
use fsarena_process::owner::give_to_caller;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Everybody may read it; the user's umask takes from it.
const MODE: u32 = 0o644;

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
        Target::Stream(target) => {
            let mut stream = target.stream().with_context(place)?;
            stream.write_all(bytes).with_context(place)
        }
        Target::File(target) => {
            let new = NewFile::beside(path, target)?;
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
    HeldDir::make(dir, 0o755).map(drop).with_context(|| {
        format!("{option} {}: cannot be made; name another directory", dir.display())
    })
}

/// A regular file that is written in pieces before it has its name.
pub struct NewFile {
    shown: PathBuf,
    /// Before the directory that it is in.
    contents: Unplaced,
    target: Location,
}

/// A file that does not have its name yet.
enum Unplaced {
    /// None at all: it goes with this process, however that ends.
    Unnamed(File),
    /// Another one, on a file system that has no files without.
    Named(tempfile::NamedTempFile),
}

impl Unplaced {
    /// In the directory, with the rights that a new file usually has.
    fn in_dir(dir: &HeldDir) -> std::io::Result<Self> {
        if let Ok(file) = dir.unnamed_file(MODE) {
            return Ok(Self::Unnamed(file));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".fsarena-").permissions(fs::Permissions::from_mode(MODE));
        builder.tempfile_in(dir.path_of("")).map(Self::Named)
    }

    fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn replace(self, target: &Location) -> std::io::Result<()> {
        match self {
            Self::Unnamed(file) => target.dir.name_file(&file, &target.name),
            Self::Named(file) => file.persist(target.path()).map(drop).map_err(|error| error.error),
        }
    }

    fn place(self, target: &Location) -> std::io::Result<()> {
        match self {
            Self::Unnamed(file) => target.dir.name_new_file(&file, &target.name),
            Self::Named(file) => {
                file.persist_noclobber(target.path()).map(drop).map_err(|error| error.error)
            }
        }
    }
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

    fn beside(path: &Path, target: Location) -> Result<Self> {
        let contents = Unplaced::in_dir(&target.dir).with_context(|| cannot_be_written(path))?;
        Ok(Self { shown: path.to_owned(), contents, target })
    }

    /// What is written.
    pub fn file(&self) -> &File {
        self.contents.file()
    }

    /// Gives it its name, in place of an old file.
    ///
    /// # Errors
    /// Where it cannot be written down or renamed; the old one stays then.
    pub fn replace(self) -> Result<()> {
        self.written_down()?;
        let Self { shown, target, contents } = self;
        contents.replace(&target).with_context(|| cannot_be_written(&shown))
    }

    /// The same where there is no old one; `false`: there is.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn place(self) -> Result<bool> {
        self.written_down()?;
        let Self { shown, target, contents } = self;
        match contents.place(&target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            placed => placed.with_context(|| cannot_be_written(&shown)).map(|()| true),
        }
    }

    /// All of it on the disk, and the caller's under sudo.
    fn written_down(&self) -> Result<()> {
        give_to_caller(self.file());
        self.file().sync_all().with_context(|| cannot_be_written(&self.shown))
    }
}

/// Whether [`write()`] could write there now: for a name that is used at the end of long work.
///
/// # Errors
/// As [`write()`].
pub fn check_writable(path: &Path) -> Result<()> {
    let checked = target(path).and_then(|target| match target {
        Target::Stream(_) => Ok(()),
        // It goes again when it is dropped.
        Target::File(target) => NewFile::beside(path, target).map(drop),
    });
    checked.map_err(|error| Usage(format!("{error:#}")).into())
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written; name another file", path.display())
}

/// Where a file lies.
struct Location {
    dir: HeldDir,
    name: OsString,
}

impl Location {
    /// A path to it in the directory that is held.
    fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }

    /// Opens what is no regular file and is there: none is made or cut off.
    fn stream(&self) -> Result<File, HeldError> {
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = |more| openat(&self.dir, &self.name, flags | more, Mode::empty());
        let stream = match open(OFlags::NOFOLLOW) {
            // As `/dev/stdout` is.
            Err(Errno::LOOP) => {
                self.dir.check_link(&self.name)?;
                open(OFlags::empty())?
            }
            opened => opened?,
        };
        let stream = File::from(stream);
        match stream.metadata()?.is_file() {
            true => Err(std::io::Error::other("a file was put in its place").into()),
            false => Ok(stream),
        }
    }
}

/// What a name leads to.
enum Target {
    /// A regular file, or none yet.
    File(Location),
    /// A character device, a pipe, a socket.
    Stream(Location),
}

fn target(path: &Path) -> Result<Target> {
    let refused = |what: &str| refuse!("{}: is {what}; name a file to be written", path.display());
    let place = || cannot_be_written(path);
    let target = std::path::absolute(path)?;
    let (Some(dir), Some(name)) = (target.parent(), target.file_name()) else {
        return refused("a directory");
    };
    let dir = HeldDir::open(dir).with_context(place)?;
    let at = Location { dir, name: name.to_owned() };
    let found = |flags| match statat(&at.dir, &at.name, flags) {
        Err(Errno::NOENT) => Ok(None),
        stat => stat.map(|stat| Some(FileType::from_raw_mode(stat.st_mode))),
    };
    let is_link = found(AtFlags::SYMLINK_NOFOLLOW)? == Some(FileType::Symlink);
    match found(AtFlags::empty()).with_context(place)? {
        // `/dev/stdout` is a link, too.
        Some(FileType::CharacterDevice | FileType::Fifo | FileType::Socket | FileType::Unknown) => {
            Ok(Target::Stream(at))
        }
        _ if is_link => refused("a link"),
        Some(FileType::Directory) => refused("a directory"),
        Some(FileType::BlockDevice) => refused("a block device"),
        Some(_) if is_database(&at) => refused("a database"),
        Some(_) | None => Ok(Target::File(at)),
    }
}

/// Whether it begins as SQLite's files do (sqlite.org/fileformat.html, 1.3).
fn is_database(at: &Location) -> bool {
    let mut head = [0; 16];
    at.dir.open_file(&at.name).and_then(|mut file| file.read_exact(&mut head)).is_ok()
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

    /// Between a look and its use another user puts a link in the place of a directory.
    #[test]
    fn nothing_is_written_by_a_link_of_another_user() {
        use std::os::unix::fs::{chown, symlink};
        if !rustix::process::geteuid().is_root() {
            println!("not run: directories of other users are made by root alone");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let [theirs, ours] = ["theirs", "ours"].map(|name| dir.path().join(name));
        [&theirs, &ours].into_iter().for_each(|made| fs::create_dir(made).unwrap());
        fs::write(ours.join("x.html"), "ours").unwrap();
        chown(&theirs, Some(65_533), None).unwrap();
        write(&theirs.join("x.html"), "a directory of theirs").unwrap();
        let new = NewFile::begin(&theirs.join("y.html")).unwrap();
        fs::rename(&theirs, dir.path().join("aside")).unwrap();
        symlink(&ours, &theirs).unwrap();
        new.file().write_all(b"y").unwrap();
        new.replace().unwrap();
        assert!(dir.path().join("aside/y.html").is_file(), "in the directory that was opened");
        std::os::unix::fs::lchown(&theirs, Some(65_533), None).unwrap();
        let path = theirs.join("x.html");
        for error in [write(&path, "x"), create_dir("-o", &theirs.join("charts"))] {
            let error = format!("{:#}", error.unwrap_err());
            assert!(error.contains("theirs is not followed"), "{error}");
        }
        assert_eq!(fs::read(ours.join("x.html")).unwrap(), b"ours");
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 1);
        // A device behind a link is written to where the link is root's own.
        let null = dir.path().join("null");
        symlink("/dev/null", &null).unwrap();
        write(&null, "x").unwrap();
        std::os::unix::fs::lchown(&null, Some(65_533), None).unwrap();
        assert!(write(&null, "x").is_err());
    }

    /// Whatever ends this process, nothing is left of what was not whole.
    #[test]
    fn a_file_has_no_name_before_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.tar.zst");
        let begin = || {
            let new = NewFile::begin(&path).unwrap();
            new.file().write_all(b"half").unwrap();
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), usize::from(path.exists()));
            new
        };
        assert!(begin().place().unwrap());
        assert!(!begin().place().unwrap(), "there is one");
        begin().replace().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let named = tempfile::NamedTempFile::new_in(dir.path()).map(Unplaced::Named).unwrap();
        let Ok(Target::File(target)) = target(&path) else { panic!("it is a file") };
        named.replace(&target).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
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
