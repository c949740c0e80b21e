//! Unpacking what somebody else has made.

use crate::BundleError;
use crate::sums::{Hashed, SUMS, is_name, parse};
use fsarena_bounded::{Bounded, HeaderLimit, TooLong};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use tar::{Archive, EntryType};

/// Most bytes of all files together.
pub const MOST_BYTES: u64 = 4 << 30;
/// Most files.
const MOST_FILES: usize = 10_000;
/// Most bytes of the list of hashes.
const SUMS_MOST_BYTES: u64 = 4 << 20;
/// Most bytes of a name that are shown.
const SHOWN_MOST_BYTES: usize = 80;
/// Memory that zstd may take is two to this power, bytes.
const WINDOW_LOG_MOST: u32 = 27;

/// A bundle that was unpacked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unpacked {
    /// Its files but the list of hashes, by name.
    pub names: Vec<String>,
    /// What the list of hashes does not bear out, a sentence each; empty where all is as packed.
    pub wrong: Vec<String>,
}

/// Unpacks a bundle into `dir`, without the directory that it is in, and compares the hashes.
///
/// # Errors
/// When it is none, is cut off, has files that no bundle has or more than [`MOST_BYTES`], or they
/// cannot be written.
pub fn unpack(from: impl Read, dir: &Path) -> Result<Unpacked, BundleError> {
    let damaged = |error: io::Error| BundleError::Damaged(error.to_string());
    let mut decoder = zstd::Decoder::new(from).map_err(damaged)?;
    decoder.window_log_max(WINDOW_LOG_MOST).map_err(damaged)?;
    let heads = HeaderLimit::new();
    let mut archive = Archive::new(heads.reader(decoder));
    let mut found = BTreeMap::new();
    let mut left_bytes = MOST_BYTES;
    let mut entries = archive.entries().map_err(damaged)?;
    loop {
        heads.before_member(0);
        let Some(entry) = entries.next() else { break };
        let entry = entry.map_err(|error| match heads.is_reached() {
            true => BundleError::TooMuch("names and records of more than 1 MiB".to_owned()),
            false => damaged(error),
        })?;
        let name = name_of(&entry.path_bytes(), entry.header().entry_type())?;
        let size = entry.size();
        left_bytes = left_bytes
            .checked_sub(size)
            .ok_or_else(|| BundleError::TooMuch(format!("more than {} GiB", MOST_BYTES >> 30)))?;
        if found.len() == MOST_FILES {
            return Err(BundleError::TooMuch(format!("more than {MOST_FILES} files")));
        }
        heads.in_member();
        let sum = write(dir, &name, entry.take(size), size)?;
        if found.insert(name.clone(), sum).is_some() {
            return Err(BundleError::Damaged(format!("{name} is there twice")));
        }
    }
    if found.remove(SUMS).is_none() {
        return Err(BundleError::Damaged(format!("it has no {SUMS}")));
    }
    let wrong = compare(&listed(&dir.join(SUMS))?, &found);
    Ok(Unpacked { names: found.into_keys().collect(), wrong })
}

/// The name of a file behind the directory of the bundle.
fn name_of(path: &[u8], kind: EntryType) -> Result<String, BundleError> {
    let damaged = |why: &str| BundleError::Damaged(format!("{} {why}", shown(path)));
    if kind != EntryType::Regular {
        return Err(damaged("is no regular file"));
    }
    let text = std::str::from_utf8(path).map_err(|_| damaged("is no name in UTF-8"))?;
    let parts = text.split_once('/').filter(|(outer, name)| is_name(outer) && is_name(name));
    parts
        .map(|(_, name)| name.to_owned())
        .ok_or_else(|| damaged("is no name of a file in a bundle"))
}

/// A name for a message: of a long one its beginning.
fn shown(path: &[u8]) -> String {
    let beginning = String::from_utf8_lossy(&path[..path.len().min(SHOWN_MOST_BYTES)]);
    match path.len() > SHOWN_MOST_BYTES {
        true => format!("{beginning:?}… ({} bytes)", path.len()),
        false => format!("{beginning:?}"),
    }
}

/// Writes a file that is not there yet; its hash.
fn write(dir: &Path, name: &str, from: impl Read, size: u64) -> Result<String, BundleError> {
    let path = dir.join(name);
    let wrong = |source| BundleError::File { path: path.clone(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(wrong)?;
    }
    let mut file = File::create_new(&path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => BundleError::Damaged(format!("{name} is there twice")),
        _ => wrong(error),
    })?;
    let mut from = Hashed::new(from);
    let copied = io::copy(&mut from, &mut file).map_err(|error| match error.kind() {
        // Of the disk here; all others are of what is read.
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => wrong(error),
        _ => BundleError::Damaged(format!("{name}: {error}")),
    })?;
    if copied != size {
        return Err(BundleError::Damaged(format!("{name} is cut off")));
    }
    Ok(from.finish())
}

fn listed(path: &Path) -> Result<BTreeMap<String, String>, BundleError> {
    let wrong = |source| BundleError::File { path: path.to_owned(), source };
    let mut file = Bounded::open(path, SUMS_MOST_BYTES).map_err(wrong)?;
    let text = file.whole_text().map_err(|error| match TooLong::in_error(&error) {
        Some(too_long) => BundleError::TooMuch(format!("a {SUMS} of {too_long}")),
        None if error.kind() == io::ErrorKind::InvalidData => {
            BundleError::Damaged(format!("{SUMS}: {error}"))
        }
        None => wrong(error),
    })?;
    parse(&text)
}

/// What differs between the list and what was found.
fn compare(listed: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let of_list = listed.iter().filter_map(|(name, sum)| match found.get(name) {
        None => Some(format!("{name} is missing")),
        Some(own) if own != sum => Some(format!("{name} has another hash than {SUMS} says")),
        Some(_) => None,
    });
    let others = found.keys().filter(|name| !listed.contains_key(*name));
    of_list.chain(others.map(|name| format!("{name} is not in {SUMS}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contents, Part, pack};
    use std::io::Write as _;
    use tar::{Builder, Header};

    fn part(name: &str, text: &str) -> Part {
        Part { name: name.to_owned(), contents: Contents::Bytes(text.into()) }
    }

    fn packed(parts: &[Part]) -> Vec<u8> {
        let mut bundle = Vec::new();
        pack(&mut bundle, ("fsarena-3f2a9c01", 1_700_000_000), parts).unwrap();
        bundle
    }

    /// A bundle by hand, whose files need not be what a bundle has.
    fn by_hand(files: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let mut builder = Builder::new(Vec::new());
        for (name, kind, text) in files {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        encoder.write_all(&builder.into_inner().unwrap()).unwrap();
        encoder.finish().unwrap()
    }

    fn refused(bundle: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let error = unpack(bundle, &inner).unwrap_err().to_string();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something left the directory");
        error
    }

    #[test]
    fn what_is_packed_is_unpacked_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.db");
        fs::write(&file, [7; 70_000]).unwrap();
        let of_file = Part { name: "results.db".to_owned(), contents: Contents::File(file) };
        let parts = [part("README.txt", "read"), part("figures/a.svg", "<svg/>"), of_file];
        let bundle = packed(&parts);
        assert_eq!(bundle, packed(&parts), "equal parts make equal bundles");
        let to = dir.path().join("to");
        let unpacked = unpack(bundle.as_slice(), &to).unwrap();
        assert_eq!(unpacked.names, ["README.txt", "figures/a.svg", "results.db"]);
        assert_eq!(unpacked.wrong, [""; 0]);
        assert_eq!(fs::read(to.join("results.db")).unwrap(), [7; 70_000]);
        assert_eq!(fs::read_to_string(to.join("figures/a.svg")).unwrap(), "<svg/>");
    }

    #[test]
    fn what_was_changed_afterwards_is_named() {
        let sum = "0".repeat(64);
        let text = format!("{sum}  changed\n{sum}  gone\n");
        let dir = tempfile::tempdir().unwrap();
        let file = |name, text| (name, EntryType::Regular, text);
        let all = [file("x/changed", "1"), file("x/added", "2"), file("x/SHA256SUMS", &text)];
        let unpacked = unpack(by_hand(&all).as_slice(), dir.path()).unwrap();
        let expected = [
            "changed has another hash than SHA256SUMS says",
            "gone is missing",
            "added is not in SHA256SUMS",
        ];
        assert_eq!(unpacked.wrong, expected);
    }

    #[test]
    fn what_is_no_bundle_is_refused_and_nothing_leaves_the_directory() {
        assert!(refused(b"plain text").contains("is no bundle"));
        assert!(refused(b"").contains("is no bundle"));
        let whole = packed(&[part("a", &"text ".repeat(9000))]);
        assert!(refused(&whole[..whole.len() / 2]).contains("is no bundle"));
        let one = |name, kind| refused(&by_hand(&[(name, kind, "")]));
        for name in ["x/../../a", "/etc/x", "x", "x/a/b/c", "x/.ssh"] {
            assert!(one(name, EntryType::Regular).contains("no name of a file"), "{name}");
        }
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Directory] {
            assert!(one("x/a", kind).contains("is no regular file"), "{kind:?}");
        }
        assert!(one("x/a", EntryType::Regular).contains("it has no SHA256SUMS"));
        let twice = [("x/a", EntryType::Regular, "1"), ("y/a", EntryType::Regular, "2")];
        assert!(refused(&by_hand(&twice)).contains("a is there twice"));
    }

    /// A bundle whose first file has `size` bytes of zeros before it, as a long name or as records.
    fn with_headers(kind: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_path("././@LongLink").unwrap();
        header.set_size(size);
        header.set_cksum();
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.write_all(header.as_bytes()).unwrap();
        io::copy(&mut io::repeat(b'n').take(size), &mut encoder).unwrap();
        let mut file = Header::new_gnu();
        file.set_path("x/a").unwrap();
        file.set_size(0);
        file.set_cksum();
        encoder.write_all(file.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn headers_of_a_file_are_no_more_than_a_mebibyte() {
        for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
            let bundle = with_headers(kind, 64 << 20);
            assert!(bundle.len() < 20_000, "it is small: {} bytes", bundle.len());
            let error = refused(&bundle);
            assert!(error.contains("has names and records of more than 1 MiB"), "{error:.200}");
        }
    }

    #[test]
    fn a_long_name_is_shown_by_its_beginning() {
        let error = refused(&with_headers(EntryType::GNULongName, 512 << 10));
        assert!(error.contains("nnn\"… (524288 bytes) is no name of a file"), "{error:.200}");
        assert!(error.len() < 250, "{} bytes", error.len());
        let short = refused(&by_hand(&[("x/\u{202e}\u{1b}", EntryType::Regular, "")]));
        assert!(short.contains("\"x/\\u{202e}\\u{1b}\" is no name"), "{short}");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut header = Header::new_gnu();
        header.set_size(MOST_BYTES + 1);
        header.set_path("x/a").unwrap();
        header.set_cksum();
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.write_all(header.as_bytes()).unwrap();
        let bomb = encoder.finish().unwrap();
        assert!(refused(&bomb).contains("has more than 4 GiB"));
    }
}
