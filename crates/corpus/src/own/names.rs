//! Names of archive members: whether they and their links stay inside the folder, and hashes that
//! remember names in little memory.
//!
//! Pure: no file system is asked, since nothing is unpacked yet. The two hashes of 64 bits that
//! represent a name are keyed at random, so that no archive can be made in which names collide.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

/// The parts of a name that lead downwards; `.` and empty parts are left out. Refused, with the
/// reason, are absolute names and those with `..`.
pub(super) fn parts(name: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    if name.starts_with(b"/") {
        return Err("has an absolute name");
    }
    let parts: Vec<&[u8]> = plain_parts(name).collect();
    if parts.contains(&&b".."[..]) {
        return Err("climbs out of its folder with \"..\"");
    }
    Ok(parts)
}

fn plain_parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// Joins parts to a name.
pub(super) fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.join(&b'/')
}

/// Why a symbolic link at `parts` that points to `target` may lead out of the folder. `is_link`
/// knows all symbolic links by their parts: through them, `..` does not lead where it seems to.
pub(super) fn leads_out(
    parts: &[&[u8]],
    target: &[u8],
    is_link: impl Fn(&[&[u8]]) -> bool,
) -> Option<&'static str> {
    if target.starts_with(b"/") {
        return Some("is a symbolic link to an absolute path");
    }
    let mut at: Vec<&[u8]> = parts[..parts.len().saturating_sub(1)].to_vec();
    let mut through_link = false;
    for part in plain_parts(target) {
        if part != b".." {
            at.push(part);
            through_link = through_link || is_link(&at);
            continue;
        }
        if through_link || at.pop().is_none() {
            return Some("is a symbolic link that leads out of its folder");
        }
    }
    None
}

/// Stands for a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NameHash(u64, u64);

/// Makes marks; those of different markers have nothing in common.
#[derive(Debug, Default)]
pub(super) struct NameHasher(RandomState, RandomState);

impl NameHasher {
    /// Those of the directories that a name of `parts` lies in, outermost first, and last its own.
    pub(super) fn hash_prefixes<'a>(
        &self,
        parts: &'a [&'a [u8]],
    ) -> impl Iterator<Item = NameHash> + use<'a> {
        let (mut one, mut other) = (self.0.build_hasher(), self.1.build_hasher());
        parts.iter().map(move |part| {
            for hasher in [&mut one, &mut other] {
                hasher.write(part);
                hasher.write_u8(b'/');
            }
            NameHash(one.finish(), other.finish())
        })
    }

    /// That of a name of `parts`; nothing where there are none.
    pub(super) fn hash_name(&self, parts: &[&[u8]]) -> Option<NameHash> {
        self.hash_prefixes(parts).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(name: &str, target: &str, links: &[&str]) -> bool {
        let is_link = |at: &[&[u8]]| links.iter().any(|link| joined(at) == link.as_bytes());
        leads_out(&parts(name.as_bytes()).unwrap(), target.as_bytes(), is_link).is_some()
    }

    #[test]
    fn names() {
        assert_eq!(joined(&parts(b"./a//b/./c/").unwrap()), b"a/b/c");
        assert!(parts(b"").unwrap().is_empty());
        assert!(parts(b"a/..b/c..").is_ok());
        for wrong in [&b"/etc"[..], b"..", b"a/../b", b"a/.."] {
            assert!(parts(wrong).is_err());
        }
    }

    #[test]
    fn links_that_stay_and_links_that_leave() {
        assert!(!out("a/b/link", "../../c", &[]));
        assert!(!out("link", "a/../b", &[]));
        assert!(!out("link", "link", &["link"]));
        assert!(!out("a/link", "..", &[]));
        assert!(out("link", "..", &[]));
        assert!(out("a/link", "../../x", &[]));
        assert!(out("a/link", "/etc/passwd", &[]));
        assert!(out("link", "a/../../b", &[]));
        // `here` points to the folder itself: from there, `..` is outside.
        assert!(out("link", "here/../x", &["here"]));
        assert!(out("a/link", "../here/here/../..", &["here", "here/here"]));
    }

    #[test]
    fn a_name_has_one_mark() {
        let hasher = NameHasher::default();
        let along: Vec<NameHash> = hasher.hash_prefixes(&[b"a", b"bc", b"d"]).collect();
        assert_eq!(along.len(), 3);
        assert_eq!(hasher.hash_name(&[b"a", b"bc"]), Some(along[1]));
        assert_eq!(hasher.hash_name(&[b"a", b"bc", b"d"]), Some(along[2]));
        assert_ne!(hasher.hash_name(&[b"ab", b"c"]), Some(along[1]));
        assert_ne!(along[0], along[1]);
        assert_eq!(hasher.hash_name(&[]), None);
    }
}
