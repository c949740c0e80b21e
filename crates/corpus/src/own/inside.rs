//! Whether names and links of an archive stay inside its folder. Pure: nothing is asked of a file
//! system, since nothing is unpacked yet.

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
}
