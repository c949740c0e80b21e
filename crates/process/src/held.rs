//! Directories that are opened once and held: what is done in one is done in the one that was
//! vetted, whatever its path leads to by then.
//!
//! The way to it is gone name by name, each from the descriptor of the one before, and judged by
//! the descriptor that was got: nothing can be exchanged between a look and its use. Root of the
//! machine (not of a user namespace or a guest) follows no link that somebody else could have put
//! there; openat2(2) would refuse the links that root itself has made as well. Other users go the
//! kernel's way.

use crate::owner::{SudoCaller, give_to_caller};
use crate::trust::{MOST_LINKS, Writer, is_root_of_machine, parts_reversed, writer_of};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::fs::{fstat, linkat, mkdirat, open, openat, readlinkat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// A directory as a place alone: it need not be readable.
const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Somebody who may change what a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stranger {
    /// What they may change.
    pub place: PathBuf,
    pub writer: Writer,
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place.display(), self.writer)
    }
}

/// Why a directory is not opened.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Root does not use it: somebody else may put another one in its place.
    #[error("{0}")]
    Stranger(Stranger),
    /// Root does not follow it: somebody else could have put it there.
    #[error("the link {} is not followed: {by}", link.display())]
    Link { link: PathBuf, by: Stranger },
}

impl HeldError {
    /// What kind of error of a call it is.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Io(error) => error.kind(),
            Self::Stranger(_) | Self::Link { .. } => io::ErrorKind::PermissionDenied,
        }
    }
}

impl From<Errno> for HeldError {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

impl From<HeldError> for io::Error {
    fn from(error: HeldError) -> Self {
        match error {
            HeldError::Io(error) => error,
            other => Self::new(io::ErrorKind::PermissionDenied, other.to_string()),
        }
    }
}

/// A directory that is held open.
#[derive(Debug)]
pub struct HeldDir {
    dir: OwnedFd,
    /// Absolute, as it was named.
    path: PathBuf,
    /// Who may put another one in its place; nobody where this is not root.
    stranger: Option<Stranger>,
}

impl HeldDir {
    /// Opens a directory; links that somebody else could have put there are not followed.
    ///
    /// # Errors
    /// When there is none, or a link is not followed.
    pub fn open(path: &Path) -> Result<Self, HeldError> {
        Self::judged(path, SudoCaller::from_env())
    }

    /// Opens one that root uses only where nobody else, but whoever called sudo, may put another
    /// one in its place.
    ///
    /// # Errors
    /// As [`Self::open`], and when somebody may.
    pub fn of_user(path: &Path) -> Result<Self, HeldError> {
        Self::open(path)?.without_stranger()
    }

    /// Opens one that root uses only where nobody else at all may put another one in its place, as
    /// with programs.
    ///
    /// # Errors
    /// As [`Self::open`], and when somebody may.
    pub fn of_root(path: &Path) -> Result<Self, HeldError> {
        Self::judged(path, None)?.without_stranger()
    }

    fn without_stranger(self) -> Result<Self, HeldError> {
        match &self.stranger {
            Some(stranger) => Err(HeldError::Stranger(stranger.clone())),
            None => Ok(self),
        }
    }

    fn judged(path: &Path, caller: Option<SudoCaller>) -> Result<Self, HeldError> {
        let path = absolute(path)?;
        if is_root_of_machine() {
            return walk(path, caller);
        }
        let dir = open(&path, PLACE | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Self { dir, path, stranger: None })
    }

    /// As [`Self::open`]; makes it and those above it that are missing. Each new one belongs to
    /// whoever called sudo.
    ///
    /// # Errors
    /// As [`Self::open`], and of the first that cannot be made.
    pub fn make(path: &Path, mode: u32) -> Result<Self, HeldError> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let path = absolute(path)?;
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Self::make(parent, mode)?.make_dir(name, mode),
            _ => Err(Errno::NOENT.into()),
        }
    }

    /// Opens a directory in it, which is made where it is missing. A link is none.
    ///
    /// # Errors
    /// When it can neither be made nor opened.
    pub fn make_dir(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<Self, HeldError> {
        let name = name.as_ref();
        let is_new = match mkdirat(&self.dir, name, Mode::from_raw_mode(mode)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno.into()),
        };
        let made = self.open_dir(name)?;
        if is_new {
            give_to_caller(&made.reopened()?);
        }
        Ok(made)
    }

    /// Opens a directory in it. A link is none.
    ///
    /// # Errors
    /// When there is none.
    pub fn open_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        let flags = PLACE | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let dir = openat(&self.dir, name, flags, Mode::empty())?;
        Ok(Self { dir, path: self.path.join(name), stranger: self.stranger.clone() })
    }

    /// Where it was, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path to what is in it, good in this process and as long as this value lives: for programs'
    /// libraries, and for calls that go by paths.
    #[must_use]
    pub fn path_of(&self, name: impl AsRef<Path>) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd())).join(name)
    }

    /// Another descriptor of it, for a list, a lock, or a change of its mode.
    ///
    /// # Errors
    /// When it may not be read.
    pub fn reopened(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.dir, ".", flags, Mode::empty())?.into())
    }

    /// Its owner and mode.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(fstat(&self.dir)?)
    }

    /// Who else may make files in it, as far as root minds.
    ///
    /// # Errors
    /// As [`Self::stat`].
    pub fn other_writer(&self) -> io::Result<Option<Stranger>> {
        let mut found = self.stat()?;
        // The bit keeps others from taking files away, not from making some.
        found.st_mode &= !STICKY;
        Ok(self.stranger_in(&found))
    }

    /// Who else may put something in the place of what root has in it.
    ///
    /// # Errors
    /// As [`Self::stat`].
    pub fn other_exchanger(&self) -> io::Result<Option<Stranger>> {
        Ok(self.stranger_in(&self.stat()?))
    }

    fn stranger_in(&self, found: &Stat) -> Option<Stranger> {
        let writer = writer_beside(found, SudoCaller::from_env());
        let writer = writer.filter(|_| is_root_of_machine())?;
        Some(Stranger { place: self.path.clone(), writer })
    }

    /// Makes sure that nobody else could have put the link of this name there.
    ///
    /// # Errors
    /// Where root does not follow it, or there is none.
    pub fn check_link(&self, name: impl AsRef<OsStr>) -> Result<(), HeldError> {
        if !is_root_of_machine() {
            return Ok(());
        }
        let link = self.path.join(name.as_ref());
        let found = statat(&self.dir, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW)?;
        let of_link = writer_beside(&found, SudoCaller::from_env());
        let of_link = of_link.map(|writer| Stranger { place: link.clone(), writer });
        match self.stranger.clone().or(self.other_exchanger()?).or(of_link) {
            Some(by) => Err(HeldError::Link { link, by }),
            None => Ok(()),
        }
    }

    /// Opens a regular file in it for reading, as [`open_regular`] does.
    ///
    /// # Errors
    /// Of that.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        open_regular_in(&self.dir, name.as_ref())
    }

    /// Likewise, one that this user alone may write.
    ///
    /// # Errors
    /// As [`Self::open_file`], and where another user owns it or may write it.
    pub fn open_own_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let file = self.open_file(name)?;
        check_own(&file)?;
        Ok(file)
    }

    /// Makes a file in it that has no name yet: whatever ends this process, nothing is left of it.
    /// The umask takes from its mode.
    ///
    /// # Errors
    /// When it cannot be made: not every file system has such files.
    pub fn unnamed_file(&self, mode: u32) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(openat(&self.dir, ".", flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Gives a file without a name its name, where nothing has it: `AlreadyExists` where something
    /// does.
    ///
    /// # Errors
    /// When it cannot be linked.
    pub fn name_new_file(&self, file: &File, name: impl AsRef<OsStr>) -> io::Result<()> {
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, &own, &self.dir, name.as_ref(), AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Gives a file without a name its name, in the place of what has it: there is the one or the
    /// other at every moment.
    ///
    /// # Errors
    /// When it cannot be linked, or a directory has the name.
    pub fn name_file(&self, file: &File, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = name.as_ref();
        match self.name_new_file(file, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => return linked,
        }
        let aside = format!(".fsarena-{}.new", std::process::id());
        let remove = || unlinkat(&self.dir, &aside, AtFlags::empty());
        // Of a process of this number that was killed between these two steps.
        let _ = remove();
        self.name_new_file(file, &aside)?;
        renameat(&self.dir, &aside, &self.dir, name).map_err(|errno| {
            let _ = remove();
            errno.into()
        })
    }
}

impl AsFd for HeldDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

/// Refuses a file that is open and not this user's alone to write.
///
/// # Errors
/// Where another user owns it or may write it.
pub fn check_own(file: &File) -> io::Result<()> {
    let found = fstat(file)?;
    let is_own = found.st_uid == rustix::process::geteuid().as_raw();
    if !is_own || found.st_mode & OTHERS_WRITE != 0 {
        let why = "another user owns it or may write it, so it is not believed";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// Opens a regular file for reading that somebody else has left: nothing is waited for, as at a
/// FIFO, and a link is not followed.
///
/// # Errors
/// When it is anything else, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_in(CWD, path.as_os_str())
}

fn open_regular_in(dir: impl AsFd, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file: File = match openat(dir, name, flags | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link")),
        opened => opened?.into(),
    };
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file),
        _ => Err(io::Error::other("it is no regular file")),
    }
}

/// A path from the root on; that of no name is this process's directory.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    match path.as_os_str().is_empty() {
        true => std::env::current_dir(),
        false => std::path::absolute(path),
    }
}

/// A place on the way.
struct Step {
    place: OwnedFd,
    path: PathBuf,
    found: Stat,
}

impl Step {
    fn new(place: OwnedFd, path: PathBuf) -> io::Result<Self> {
        let found = fstat(&place)?;
        Ok(Self { place, path, found })
    }

    fn next(&self, name: &OsStr) -> io::Result<Self> {
        let place = openat(&self.place, name, PLACE | OFlags::NOFOLLOW, Mode::empty())?;
        Self::new(place, self.path.join(name))
    }

    fn is(&self, kind: FileType) -> bool {
        FileType::from_raw_mode(self.found.st_mode) == kind
    }

    fn stranger(&self, caller: Option<SudoCaller>) -> Option<Stranger> {
        let writer = writer_beside(&self.found, caller)?;
        Some(Stranger { place: self.path.clone(), writer })
    }
}

/// Goes to a directory as root; `caller` counts as root does.
fn walk(path: PathBuf, caller: Option<SudoCaller>) -> Result<HeldDir, HeldError> {
    let root = open("/", PLACE | OFlags::DIRECTORY, Mode::empty())?;
    let mut at = Step::new(root, PathBuf::from("/"))?;
    let mut above: Vec<Step> = Vec::new();
    let mut ahead = parts_reversed(&path);
    let (mut links, mut stranger) = (0, None);
    while let Some(name) = ahead.pop() {
        if name == ".." {
            at = above.pop().unwrap_or(at);
            continue;
        }
        stranger = stranger.or_else(|| at.stranger(caller));
        let next = at.next(&name)?;
        if !next.is(FileType::Symlink) {
            above.push(std::mem::replace(&mut at, next));
            continue;
        }
        if let Some(by) = stranger.or_else(|| next.stranger(caller)) {
            return Err(HeldError::Link { link: next.path, by });
        }
        stranger = None;
        links += 1;
        if links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = readlinkat(&next.place, "", Vec::new())?.into_bytes();
        let target = PathBuf::from(OsString::from_vec(target));
        if target.is_absolute() && !above.is_empty() {
            at = above.swap_remove(0);
            above.clear();
        }
        ahead.extend(parts_reversed(&target));
    }
    match at.is(FileType::Directory) {
        true => Ok(HeldDir { dir: at.place, path, stranger }),
        false => Err(Errno::NOTDIR.into()),
    }
}

/// Who may change what was found, beside root and `caller`: with the group of the same number,
/// which is theirs alone where users have groups of their own.
fn writer_beside(found: &Stat, caller: Option<SudoCaller>) -> Option<Writer> {
    let of_caller = |id: u32| caller.is_some_and(|caller| caller.uid == id);
    let as_root = |id: u32| if of_caller(id) { 0 } else { id };
    writer_of(found.st_mode, as_root(found.st_uid), as_root(found.st_gid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    const ANN: u32 = 65_531;
    const EVE: u32 = 65_532;

    fn text(mut file: File) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    /// What a stranger does between the look and the use.
    fn exchange(dir: &Path, other: &Path) {
        fs::rename(dir, dir.with_extension("aside")).unwrap();
        fs::rename(other, dir).unwrap();
    }

    #[test]
    fn what_is_held_is_used_whatever_its_path_leads_to() {
        let base = tempfile::tempdir().unwrap();
        let (dir, theirs) = (base.path().join("dir"), base.path().join("theirs"));
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("note"), "theirs").unwrap();
        let held = HeldDir::of_root(&dir).unwrap();
        exchange(&dir, &theirs);
        assert_eq!(held.open_file("note").unwrap_err().kind(), io::ErrorKind::NotFound);
        let mut file = held.unnamed_file(0o600).unwrap();
        file.write_all(b"ours").unwrap();
        held.name_file(&file, "note").unwrap();
        assert_eq!(text(held.open_own_file("note").unwrap()), "ours");
        assert_eq!(fs::read(held.path_of("note")).unwrap(), b"ours");
        assert_eq!(fs::read(dir.join("note")).unwrap(), b"theirs", "it was not touched");
        held.make_dir("inner", 0o700).unwrap();
        assert!(held.reopened().unwrap().metadata().unwrap().is_dir());
        assert!(!dir.join("inner").exists());
        let entries = fs::read_dir(base.path().join("dir.aside")).unwrap();
        assert_eq!(entries.count(), 2, "the note and the directory");
    }

    /// A FIFO is not waited at, and the file that a link leads to is neither read nor written over.
    #[test]
    fn a_name_is_that_of_a_regular_file() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::write(at("secret"), "secret").unwrap();
        fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink(at("secret"), at("link")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        fs::create_dir(at("inner")).unwrap();
        let held = HeldDir::open(base.path()).unwrap();
        for (name, why) in [("link", "a symbolic link"), ("pipe", "no regular"), ("inner", "no r")]
        {
            let refused = held.open_file(name).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
            assert!(open_regular(&at(name)).is_err());
        }
        assert!(held.open_dir("link").is_err() && held.make_dir("link", 0o700).is_err());
        let file = held.unnamed_file(0o600).unwrap();
        held.name_file(&file, "link").unwrap();
        assert_eq!(fs::read(at("secret")).unwrap(), b"secret");
        assert!(!at("link").is_symlink());
        let again = held.unnamed_file(0o600).unwrap();
        assert!(
            held.name_new_file(&again, "link").is_err() && held.name_file(&again, "inner").is_err()
        );
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 4, "nothing is left beside them");
        fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o622)).unwrap();
        assert!(held.open_file("secret").is_ok());
        let refused = held.open_own_file("secret").unwrap_err().to_string();
        assert!(refused.contains("not believed"), "{refused}");
    }

    #[test]
    fn directories_are_made_down_to_the_last() {
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("a/b/c");
        for _ in 0..2 {
            HeldDir::make(&inner, 0o700).unwrap();
        }
        assert_eq!(inner.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(base.path().join("file"), "").unwrap();
        assert!(HeldDir::make(&base.path().join("file/x"), 0o700).is_err());
        symlink(base.path().join("none"), base.path().join("link")).unwrap();
        assert!(HeldDir::make(&base.path().join("link"), 0o700).is_err());
        assert!(!base.path().join("none").exists(), "what a link leads to is not made");
        assert!(HeldDir::open(Path::new("")).is_ok(), "that of this process");
    }

    #[test]
    fn root_goes_no_way_that_somebody_else_may_turn() {
        if !is_root_of_machine() {
            println!("not run: this is not root of the machine");
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir_all(at("theirs/inner")).unwrap();
        fs::create_dir(at("ours")).unwrap();
        symlink("../theirs/inner", at("ours/link")).unwrap();
        let link = at("ours/link");
        assert!(HeldDir::of_root(&link).is_ok(), "a link of root's own");
        assert!(HeldDir::of_root(&at("ours/../ours")).is_ok());
        chown(at("theirs"), Some(EVE), None).unwrap();
        let refused = HeldDir::of_user(&at("theirs/inner")).unwrap_err().to_string();
        assert!(refused.ends_with("/theirs belongs to user 65532"), "{refused}");
        assert!(HeldDir::of_root(&link).is_err(), "behind a link as well");
        assert!(HeldDir::open(&at("theirs/inner")).is_ok(), "without a link");

        // Whatever is a link on a way that goes through what is theirs could be theirs.
        symlink(at("ours"), at("theirs/way")).unwrap();
        let refused = HeldDir::open(&at("theirs/way")).unwrap_err().to_string();
        assert!(refused.contains("theirs/way is not followed: "), "{refused}");
        assert!(refused.ends_with("/theirs belongs to user 65532"), "{refused}");
        let held = HeldDir::open(&at("theirs")).unwrap();
        assert!(held.check_link("way").is_err());
        assert_eq!(held.other_exchanger().unwrap().unwrap().writer, Writer::User(EVE));

        // In a directory such as /tmp the link itself counts.
        lchown(&link, Some(EVE), None).unwrap();
        assert!(matches!(HeldDir::open(&link), Err(HeldError::Link { .. })));
        let ours = HeldDir::open(&at("ours")).unwrap();
        assert!(ours.check_link("link").is_err() && ours.other_writer().unwrap().is_none());
        fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o1777)).unwrap();
        let ours = HeldDir::of_root(&at("ours")).unwrap();
        assert_eq!(ours.other_writer().unwrap().unwrap().writer, Writer::Everybody);
        assert_eq!(ours.other_exchanger().unwrap(), None);
    }

    #[test]
    fn whoever_called_sudo_counts_as_root_with_the_group_of_their_own() {
        if !is_root_of_machine() {
            println!("not run: this is not root of the machine");
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let (outer, inner) = (base.path().join("outer"), base.path().join("outer/inner"));
        fs::create_dir_all(&inner).unwrap();
        let ann = Some(SudoCaller { uid: ANN, gid: ANN });
        let stranger = || walk(inner.clone(), ann).unwrap().stranger.map(|found| found.writer);
        let mode = |bits| fs::set_permissions(&outer, fs::Permissions::from_mode(bits)).unwrap();
        chown(&outer, Some(ANN), Some(ANN)).unwrap();
        mode(0o775);
        assert_eq!(stranger(), None);
        assert!(HeldDir::of_root(&inner).is_err(), "nobody called sudo");
        mode(0o777);
        assert_eq!(stranger(), Some(Writer::Everybody));
        mode(0o775);
        chown(&outer, None, Some(EVE)).unwrap();
        assert_eq!(stranger(), Some(Writer::Group(EVE)));
    }
}
