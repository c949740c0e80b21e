//! A member of an archive, as it may be unpacked: cleaned, or refused with a reason.
//!
//! The archive of a user was surveyed before anything was written, but it may have been changed
//! since. So the same is refused again here: names and links that leave the folder, and kinds of
//! entries that no file system is measured with.

use fsarena_bounded::{HeaderLimit, MAX_HEADERS_BYTES};
use fsarena_corpus::own::{MemberKind, member_kind};
use std::io::{self, Read};

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Dir,
    Symlink,
    /// A further name of an earlier member.
    Hardlink,
}

/// A member; its memory is used for the next one again.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub kind: Option<Kind>,
    /// Names with one slash between them; nothing: the root itself.
    pub path: Vec<u8>,
    /// Of a symbolic link as it is written; of a hard link as `path`.
    pub target: Vec<u8>,
    pub size_bytes: u64,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Seconds and ns.
    pub mtime: (i64, u32),
    /// For who only looks, and follows no links: links out of the folder are taken as well, and
    /// members with holes, which then read as zeros.
    pub only_looks: bool,
}

/// Path of a member of an archive, and where its link leads; nothing where it is none.
pub type UnpackedName = (Vec<u8>, Vec<u8>);

/// Where each member of an archive of tar would be unpacked, and where its link leads: for the
/// targets of `fsarena-fuzz`.
///
/// # Errors
/// What cannot be read, or is refused.
#[doc(hidden)]
pub fn unpacked_names(archive: impl Read) -> Result<Vec<UnpackedName>, String> {
    let limit = HeaderLimit::new();
    let mut archive = tar::Archive::new(limit.reader(archive));
    let (mut member, mut names) = (Member::default(), Vec::new());
    for entry in archive.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        limit.before_member(entry.size());
        match member.take(&mut entry) {
            Ok(true) => names.push((member.path.clone(), member.target.clone())),
            Ok(false) => {}
            Err(Refusal::Read(error)) => return Err(error.to_string()),
            Err(Refusal::Member(what)) => return Err(what.to_owned()),
        }
    }
    Ok(names)
}

/// Why a member is not unpacked.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The archive cannot be read.
    Read(io::Error),
    /// What is wrong with the member.
    Member(&'static str),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl Member {
    /// Takes the next entry; `false`: it is none that anything is made of.
    pub fn take<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<bool, Refusal> {
        self.path.clear();
        self.target.clear();
        let raw = entry.path_bytes();
        self.path.extend_from_slice(&raw);
        drop(raw);
        let kind = match member_kind(entry.header().entry_type(), &self.path) {
            MemberKind::Global if entry.size() > MAX_HEADERS_BYTES => {
                return Err(Refusal::Member("holds PAX records of more than 1 MiB; repack it"));
            }
            MemberKind::Global => return Ok(false),
            MemberKind::File => Kind::File,
            MemberKind::Sparse if self.only_looks => Kind::File,
            MemberKind::Dir => Kind::Dir,
            MemberKind::Symlink => Kind::Symlink,
            MemberKind::HardLink => Kind::Hardlink,
            MemberKind::Sparse => return Err(Refusal::Member(SPARSE)),
            MemberKind::Device | MemberKind::Fifo => {
                return Err(Refusal::Member("is a device or FIFO; leave it out of the archive"));
            }
            MemberKind::Unknown(_) => {
                return Err(Refusal::Member("is of a kind that is not unpacked; repack it"));
            }
        };
        self.kind = Some(kind);
        self.path = cleaned(&self.path).map_err(Refusal::Member)?;
        if self.path.is_empty() && kind != Kind::Dir {
            return Err(Refusal::Member("has no name; the archive is damaged"));
        }
        self.numbers(entry)?;
        if matches!(kind, Kind::Symlink | Kind::Hardlink) {
            let target = entry.link_name_bytes().unwrap_or_default();
            self.link(kind, &target).map_err(Refusal::Member)?;
        }
        Ok(true)
    }

    /// Size, mode, owner and time.
    fn numbers<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<(), Refusal> {
        let mut exact = None;
        if let Some(extensions) = entry.pax_extensions()? {
            for extension in extensions {
                let extension = extension.map_err(|_| Refusal::Member(UNREAD))?;
                if extension.key_bytes() == b"mtime" {
                    exact = parse_time(extension.value_bytes());
                } else if extension.key_bytes().starts_with(b"GNU.sparse.") {
                    return Err(Refusal::Member(SPARSE));
                }
            }
        }
        let header = entry.header();
        let second = || i64::try_from(header.mtime()?).map_err(io::Error::other);
        self.mtime = match exact {
            Some(exact) => exact,
            None => (second()?, 0),
        };
        let number = |id: io::Result<u64>| match u32::try_from(id?) {
            Ok(id) if id != u32::MAX => Ok(id),
            _ => Err(Refusal::Member("has an owner beyond 32 bits; repack it")),
        };
        self.mode = header.mode()? & 0o7777;
        (self.uid, self.gid) = (number(header.uid())?, number(header.gid())?);
        self.size_bytes = if self.kind == Some(Kind::File) { entry.size() } else { 0 };
        Ok(())
    }

    /// The target of a link, which must stay in the folder.
    fn link(&mut self, kind: Kind, target: &[u8]) -> Result<(), &'static str> {
        if kind == Kind::Hardlink {
            self.target = cleaned(target)?;
            return if self.target.is_empty() { Err(LEAVES) } else { Ok(()) };
        }
        if target.is_empty() || target.contains(&0) {
            return Err("is a symbolic link without a target; the archive is damaged");
        }
        if self.only_looks {
            self.target.extend_from_slice(target);
            return Ok(());
        }
        let mut depth = self.path.iter().filter(|&&byte| byte == b'/').count();
        if target[0] == b'/' {
            return Err(LEAVES);
        }
        for name in target.split(|&byte| byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => depth = depth.checked_sub(1).ok_or(LEAVES)?,
                _ => depth += 1,
            }
        }
        self.target.extend_from_slice(target);
        Ok(())
    }
}

const LEAVES: &str = "is a link out of the folder; leave it out of the archive";
const UNREAD: &str = "has a PAX header that cannot be read (a line feed in a name is enough); repack \
                      it with --format=gnu";
const SPARSE: &str = "is a sparse member, which is not unpacked; repack it without --sparse";

/// A name without `.` and doubled slashes; one that leads anywhere else is refused.
fn cleaned(path: &[u8]) -> Result<Vec<u8>, &'static str> {
    if path.first() == Some(&b'/') {
        return Err("has an absolute name; repack it with relative ones");
    }
    if path.contains(&0) {
        return Err("has a NUL in its name; the archive is damaged");
    }
    let mut clean = Vec::with_capacity(path.len());
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return Err("has `..` in its name, which leaves the folder; repack it"),
            _ => {
                if !clean.is_empty() {
                    clean.push(b'/');
                }
                clean.extend_from_slice(name);
            }
        }
    }
    Ok(clean)
}

/// Time of a PAX header: decimal seconds with a fraction. `None` where it is none.
fn parse_time(text: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = seconds.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let ns = digits.fold(0, |ns: u32, digit| ns * 10 + u32::from(digit - b'0'));
    Some(match ns {
        0 => (whole, 0),
        // -1.25 is a quarter before -1.
        _ if seconds.starts_with('-') => (whole.checked_sub(1)?, 1_000_000_000 - ns),
        _ => (whole, ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_are_refused_and_others_cleaned() {
        for (path, clean) in
            [("./a//b/./c/", "a/b/c"), ("./", ""), ("a...", "a..."), ("..a", "..a")]
        {
            assert_eq!(cleaned(path.as_bytes()).unwrap(), clean.as_bytes());
        }
        for path in ["/a", "..", "a/../b", "a\0b"] {
            assert!(cleaned(path.as_bytes()).is_err(), "{path:?}");
        }
    }

    #[test]
    fn symbolic_links_stay_in_the_folder() {
        let stays = |path: &str, target: &str| {
            let mut member = Member { path: path.into(), ..Member::default() };
            member.link(Kind::Symlink, target.as_bytes()).is_ok()
        };
        for (path, target) in [("a", "b"), ("a/b", "../c"), ("a/b/c", "../../d"), ("a", "a/../b")] {
            assert!(stays(path, target), "{path} {target}");
        }
        for (path, target) in [("a", "../b"), ("a/b", "../../c"), ("a", "/etc"), ("a", "")] {
            assert!(!stays(path, target), "{path} {target}");
        }
    }

    #[test]
    fn times_have_fractions() {
        for (text, time) in [
            ("12", Some((12, 0))),
            ("12.5", Some((12, 500_000_000))),
            ("1.0000000019", Some((1, 1))),
            ("-1.25", Some((-2, 750_000_000))),
            ("-3", Some((-3, 0))),
            ("-9223372036854775808", Some((i64::MIN, 0))),
            ("-9223372036854775808.5", None),
            ("x", None),
            ("1.x", None),
        ] {
            assert_eq!(parse_time(text.as_bytes()), time, "{text}");
        }
    }
}
