//! Programs that root does not run: those that somebody else may write, or put another one in the
//! place of.
//!
//! `PATH` comes from whoever called sudo or su. What is found in it by name is run as root, so that
//! the file and every directory above it have to be root's, and written by nobody else. A program
//! whose path is written out may be run all the same, where the user says who may change it
//! ([`accept`]). In a user namespace and in a guest root is not the machine's, and nothing is
//! refused.

use fsarena_model::trust::TrustConsent;
use rustix::fs::FileType;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
/// Links that are followed on one way, as by the kernel.
pub(crate) const MOST_LINKS: usize = 40;

/// What the user has said of programs that others may change; from the command line alone, or from
/// the process of this program that has started this one.
static CONSENTS: Mutex<Vec<TrustConsent>> = Mutex::new(Vec::new());

/// Has this process start the programs that these consents name, as long as nobody else than those
/// that they name may change them.
pub fn accept(consents: &[TrustConsent]) {
    let mut accepted = CONSENTS.lock().unwrap_or_else(PoisonError::into_inner);
    accepted.extend(consents.iter().cloned());
}

/// All that were accepted, for other processes of this program.
#[must_use]
pub fn accepted() -> Vec<TrustConsent> {
    CONSENTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

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

impl std::error::Error for Untrusted {}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, place) = (self.program.display(), self.place.display());
        let writer = self.writer;
        write!(
            f,
            "{program} is not run as root: {place} {writer}; chown it to root and take that right \
             away, or use another one"
        )
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named =
            |name: Option<String>| name.map(|name| format!(" ({name})")).unwrap_or_default();
        match self {
            Self::User(uid) => write!(f, "belongs to user {uid}{}", named(name_in(USERS, *uid))),
            Self::Group(gid) => {
                write!(f, "may be written by group {gid}{}", named(name_in(GROUPS, *gid)))
            }
            Self::Everybody => f.write_str("may be written by everybody"),
            Self::Unknown => f.write_str("cannot be looked at"),
        }
    }
}

impl Writer {
    /// The word by which a user says that this one is trusted: the name of a user, or the number
    /// where it has none. Nothing where it is not known who it is.
    #[must_use]
    pub fn word(&self) -> Option<String> {
        match self {
            Self::User(uid) => Some(name_in(USERS, *uid).unwrap_or_else(|| uid.to_string())),
            Self::Group(gid) => {
                let name = name_in(GROUPS, *gid).unwrap_or_else(|| gid.to_string());
                Some(format!("group:{name}"))
            }
            Self::Everybody => Some("everybody".to_owned()),
            Self::Unknown => None,
        }
    }
}

/// Users and groups of the machine itself (passwd(5), group(5)).
const USERS: &str = "/etc/passwd";
const GROUPS: &str = "/etc/group";

/// The name of a number. One that could be taken for something else is none.
fn name_in(file: &str, id: u32) -> Option<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line =
        lines.find(|fields| fields.get(2).is_some_and(|number| *number == id.to_string()))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = line.first().filter(|name| !name.is_empty() && name.chars().all(is_plain))?;
    let is_taken = *name == "everybody" || name.bytes().all(|byte| byte.is_ascii_digit());
    (!is_taken).then(|| (*name).to_owned())
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
    all_untrusted(program).into_iter().next()
}

/// Who beside root may change a program that root would run by this path, each once, with the first
/// place. Nobody where this process is not root of the machine.
#[must_use]
pub fn writers_for_root(program: &Path) -> Vec<Untrusted> {
    let mut found = if is_root_of_machine() { all_untrusted(program) } else { Vec::new() };
    let mut known = Vec::new();
    found.retain(|one| {
        !known.contains(&one.writer) && {
            known.push(one.writer);
            true
        }
    });
    found
}

/// The first place in a tree, of whose contents root would run some, that somebody beside root may
/// change; what is above it counts, and what links lead to. Nothing where this process is not root
/// of the machine.
#[must_use]
pub fn writer_in_tree_for_root(tree: &Path) -> Option<Untrusted> {
    if !is_root_of_machine() {
        return None;
    }
    let mut found = untrusted(tree);
    let mut dirs = vec![tree.to_owned()];
    while let (None, Some(dir)) = (&found, dirs.pop()) {
        let unread = Untrusted { program: tree.to_owned(), place: dir, writer: Writer::Unknown };
        let Ok(entries) = fs::read_dir(&unread.place) else { return Some(unread) };
        for path in entries.flatten().map(|entry| entry.path()) {
            let about = fs::symlink_metadata(&path);
            let is_link = about.as_ref().is_ok_and(Metadata::is_symlink);
            let is_dir = about.as_ref().is_ok_and(Metadata::is_dir);
            found = match writer(&about) {
                Some(writer) => {
                    Some(Untrusted { program: tree.to_owned(), place: path.clone(), writer })
                }
                None if is_link && path.exists() => untrusted(&path),
                None => None,
            };
            if found.is_some() {
                break;
            }
            if is_dir {
                dirs.push(path);
            }
        }
    }
    found
}

/// Whether these consents name this program and exactly those who may change it.
#[must_use]
pub fn is_consented(program: &Path, found: &[Untrusted], consents: &[TrustConsent]) -> bool {
    let words: Option<BTreeSet<String>> = found.iter().map(|one| one.writer.word()).collect();
    let Some(words) = words else { return false };
    consents.iter().any(|one| is_for(one, program) && one.writers == words)
}

/// Whether a consent is for this program, by whatever path.
#[must_use]
pub fn is_for(consent: &TrustConsent, program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    consent.program == program || real(&consent.program) == real(program)
}

/// Refuses what root does not run, and for which no consent was accepted.
pub(crate) fn vet(program: &Path) -> Result<(), Untrusted> {
    let found = writers_for_root(program);
    match found.first() {
        Some(first) if !is_consented(program, &found, &accepted()) => Err(first.clone()),
        _ => Ok(()),
    }
}

fn all_untrusted(program: &Path) -> Vec<Untrusted> {
    let untrusted = |place: PathBuf| {
        let writer = writer(&fs::symlink_metadata(&place))?;
        Some(Untrusted { program: program.to_owned(), place, writer })
    };
    places_to(program).into_iter().filter_map(untrusted).collect()
}

/// Everything that the kernel comes by on its way to a program: who may write one of these decides
/// what is run. From the program up to the root, then what links lead to.
fn places_to(program: &Path) -> Vec<PathBuf> {
    let named = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    let mut places: Vec<PathBuf> = named.ancestors().map(Path::to_owned).collect();
    let mut add = |place: &Path| {
        if !places.iter().any(|known| known == place) {
            places.push(place.to_owned());
        }
    };
    let mut links = 0;
    let mut here = PathBuf::from("/");
    let mut ahead: Vec<OsString> = parts_reversed(&named);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        add(&next);
        match fs::read_link(&next) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                ahead.extend(parts_reversed(&target));
            }
            _ => here = next,
        }
    }
    places
}

/// The names of a path, the last one first; only `..` is left of the others.
pub(crate) fn parts_reversed(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

fn writer(found: &io::Result<Metadata>) -> Option<Writer> {
    let Ok(found) = found else { return Some(Writer::Unknown) };
    writer_of(found.mode(), found.uid(), found.gid())
}

/// Who beside root may change what has this mode and these owners.
pub(crate) fn writer_of(mode: u32, uid: u32, gid: u32) -> Option<Writer> {
    let has = |right: u32| mode & right != 0;
    let kind = FileType::from_raw_mode(mode);
    // Who may write a directory with this bit cannot take what is root's away.
    let is_guarded = kind == FileType::Symlink || (kind == FileType::Directory && has(STICKY));
    match () {
        () if uid != 0 => Some(Writer::User(uid)),
        () if is_guarded => None,
        () if has(OTHERS_WRITE) => Some(Writer::Everybody),
        () if has(GROUP_WRITES) && gid != 0 => Some(Writer::Group(gid)),
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
    fn every_link_on_the_way_is_looked_at() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: files of other users are made by root alone");
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let path = program(temporary.path());
        let dir = |name: &str| {
            let dir = temporary.path().join(name);
            fs::create_dir(&dir).unwrap();
            dir
        };
        // link -> theirs/second -> tool, and dir/tool where dir leads by theirs as well.
        let theirs = dir("theirs");
        symlink(&path, theirs.join("second")).unwrap();
        symlink("../outer/inner", theirs.join("inner")).unwrap();
        let (link, by_dir) = (temporary.path().join("link"), temporary.path().join("by-dir"));
        symlink("theirs/second", &link).unwrap();
        symlink("theirs/inner", &by_dir).unwrap();
        let by_dir = by_dir.join("tool");
        assert_eq!([untrusted(&link), untrusted(&by_dir)], [None, None]);
        chown(&theirs, Some(65_534), None).unwrap();
        for way in [&link, &by_dir] {
            let text = untrusted(way).expect("another user may exchange it").to_string();
            assert!(text.contains("theirs belongs to user 65534"), "{text}");
        }
        let round = temporary.path().join("round");
        symlink("round", &round).unwrap();
        assert_eq!(untrusted(&round), None, "root's own, and it leads nowhere");
    }

    #[test]
    fn all_who_may_write_are_named_each_once() {
        if !is_root_of_machine() {
            println!("not run: this is not root of the machine");
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let path = program(temporary.path());
        assert_eq!(writers_for_root(&path), []);
        for place in [&path, path.parent().unwrap()] {
            chown(place, Some(65_533), None).unwrap();
        }
        mode(path.parent().unwrap().parent().unwrap(), 0o777);
        let found = writers_for_root(&path);
        let writers: Vec<Writer> = found.iter().map(|one| one.writer).collect();
        assert_eq!(writers, [Writer::User(65_533), Writer::Everybody]);
        assert_eq!(found[0].place, path);
        let words: Vec<String> = writers.iter().filter_map(Writer::word).collect();
        assert_eq!(words, ["65533", "everybody"], "one without a name has its number");
    }

    #[test]
    fn users_are_called_by_names_that_mean_nothing_else() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/:\n7:x:8:8::/:\neverybody:x:9:9::/:\n\
                    a b:x:10:10::/:\nbad line\n";
        fs::write(file.path(), text).unwrap();
        let name = |id| name_in(file.path().to_str().unwrap(), id);
        assert_eq!(name(1000).as_deref(), Some("ann"));
        for id in [8, 9, 10, 11] {
            assert_eq!(name(id), None, "{id}");
        }
        assert_eq!(Writer::Unknown.word(), None);
        assert_eq!(Writer::Everybody.word().as_deref(), Some("everybody"));
    }

    #[test]
    fn what_cannot_be_looked_at_is_refused() {
        let gone = untrusted(Path::new("/dev/null/tool")).unwrap();
        assert_eq!(gone.writer, Writer::Unknown);
    }
}
