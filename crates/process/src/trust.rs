//! Programs that root does not run: those that somebody else may write, or put another one in the
//! place of.
//!
//! `PATH` comes from whoever called sudo or su. What is found in it by name is run as root, so that
//! the file and every directory above it have to be root's, and written by nobody else. In a user
//! namespace and in a guest root is not the machine's, and nothing is refused.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Why a program is not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untrusted {
    /// Where it was found.
    pub program: PathBuf,
    /// The program, or what it is in, that others may write.
    pub place: PathBuf,
    pub writer: Writer,
}

/// Who may write it, beside root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// It belongs to this user.
    User(u32),
    /// This group.
    Group(u32),
    Everybody,
    /// It cannot be looked at.
    Unknown,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, place) = (self.program.display(), self.place.display());
        write!(f, "{program} is not run as root: {place} ")?;
        match self.writer {
            Writer::User(uid) => write!(f, "belongs to user {uid}")?,
            Writer::Group(gid) => write!(f, "may be written by group {gid}")?,
            Writer::Everybody => f.write_str("may be written by everybody")?,
            Writer::Unknown => f.write_str("cannot be looked at")?,
        }
        write!(f, "; chown it to root and take that right away, or take it out of PATH")
    }
}

/// Whether this process is root of the machine, not of a user namespace or a guest.
pub(crate) fn is_root_of_machine() -> bool {
    let all_users = || {
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        map.split_whitespace().eq(["0", "0", "4294967295"])
    };
    let is_guest = || {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        cpu.contains("User Mode Linux")
    };
    rustix::process::geteuid().is_root() && all_users() && !is_guest()
}

/// Who beside root may change what is run by this path: links are looked at where they are and
/// where they lead to.
pub(crate) fn untrusted(program: &Path) -> Option<Untrusted> {
    let followed = program.canonicalize();
    let all = program.ancestors().chain(followed.iter().flat_map(|path| path.ancestors()));
    let mut places = all.filter(|place| !place.as_os_str().is_empty());
    places.find_map(|place| {
        let writer = writer(&fs::symlink_metadata(place))?;
        Some(Untrusted { program: program.to_owned(), place: place.to_owned(), writer })
    })
}

fn writer(found: &io::Result<Metadata>) -> Option<Writer> {
    let Ok(found) = found else { return Some(Writer::Unknown) };
    let has = |right: u32| found.mode() & right != 0;
    // Who may write a directory with this bit cannot take what is root's away.
    let is_guarded = found.is_symlink() || (found.is_dir() && has(STICKY));
    match () {
        () if found.uid() != 0 => Some(Writer::User(found.uid())),
        () if is_guarded => None,
        () if has(OTHERS_WRITE) => Some(Writer::Everybody),
        () if has(GROUP_WRITES) && found.gid() != 0 => Some(Writer::Group(found.gid())),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    /// A program in two directories of root.
    fn program(root: &Path) -> PathBuf {
        let dir = root.join("outer/inner");
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("tool");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        for place in [&path, &dir, dir.parent().unwrap()] {
            mode(place, 0o755);
        }
        path
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_write_is_refused_with_its_owner() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: files of other users are made by root alone");
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let path = program(temporary.path());
        assert_eq!(untrusted(&path), None, "also in a directory with the sticky bit");
        let dir = path.parent().unwrap();
        let told = |path: &Path| untrusted(path).unwrap().to_string();

        chown(&path, Some(65534), None).unwrap();
        let text = told(&path);
        assert!(
            text.contains("/tool is not run as root: ") && text.contains("user 65534"),
            "{text}"
        );
        chown(&path, Some(0), Some(0)).unwrap();
        mode(&path, 0o777);
        assert!(told(&path).contains("tool may be written by everybody"));
        mode(&path, 0o775);
        assert_eq!(untrusted(&path), None, "its group is root's");
        chown(&path, None, Some(65534)).unwrap();
        assert!(told(&path).contains("may be written by group 65534"));
        chown(&path, None, Some(0)).unwrap();

        mode(dir.parent().unwrap(), 0o777);
        assert!(told(&path).contains("outer may be written by everybody"), "any directory above");
        let link = temporary.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(told(&link).contains("outer may be written"), "behind a link");
        mode(dir.parent().unwrap(), 0o1777);
        assert_eq!(untrusted(&link), None);
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        assert!(told(&link).contains("link belongs to user 65534"), "who can change the link");
    }

    #[test]
    fn what_cannot_be_looked_at_is_refused() {
        let gone = untrusted(Path::new("/dev/null/tool")).unwrap();
        assert_eq!(gone.writer, Writer::Unknown);
    }
}
