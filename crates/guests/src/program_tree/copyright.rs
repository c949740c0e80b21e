//! The licences that the copyright file of a Debian package names, where it is one of the
//! machine-readable form (copyright-format 1.0: fields `License`).

use fsarena_bounded::Bounded;
use std::path::Path;

/// Of a longer file the beginning is read.
const MOST_BYTES: u64 = 1 << 20;

/// Short names of the licences in the copyright file of `package` below `usr`, each once, in their
/// order; none where the file is free text or not there.
pub(super) fn licences(usr: &Path, package: &str) -> Vec<String> {
    let path = usr.join("share/doc").join(package).join("copyright");
    let text = Bounded::open(path, MOST_BYTES).and_then(|mut file| file.beginning());
    text.map(|bytes| named(&String::from_utf8_lossy(&bytes))).unwrap_or_default()
}

fn named(text: &str) -> Vec<String> {
    if !text.lines().any(|line| line.starts_with("Format:")) {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix("License:").map(str::trim).unwrap_or_default();
        if !name.is_empty() && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_fields_and_no_words_of_a_text() {
        let text = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n\
                    Files: *\nLicense: GPL-3+\n Text of License: x\n\nFiles: lib/*\n\
                    License: LGPL-2.1+\n\nLicense: GPL-3+\n text\n";
        assert_eq!(named(text), ["GPL-3+", "LGPL-2.1+"]);
        assert!(named("License: as you like\n").is_empty(), "free text");
        assert!(licences(Path::new("/nowhere"), "tar").is_empty());
    }
}
