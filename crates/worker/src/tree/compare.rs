//! Whether copies hold what their originals do: names, kinds, contents byte for byte, targets of
//! links, which names are one file, and modes and times of files.
//!
//! A copy may be a tree or a file; an original may also be an archive, whose members are then read
//! again as a stream, and a copy an archive that a tree was packed into. Modes and times of
//! directories are not compared (a later phase may have worked in them). A time may be the
//! original's cut to what the file system, or the archive, keeps.
//!
//! Differences are results, not errors. Nothing here is timed, so it is written for a clear answer.

use super::attributes::AttributeSetter;
use super::error::joined;
use super::member::{Kind, Member, Refusal};
use super::path_walker::{DIR_FLAGS, PathWalker, split_parent};
use fsarena_bounded::HeaderLimit;
use fsarena_engine::root::Root;
use fsarena_engine::verify::read_full;
use fsarena_model::job::{Compression, Source};
use fsarena_model::work::VerifyReport;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Examples kept in a report.
const MAX_EXAMPLES: usize = 16;
/// Bytes of one read.
const CALL_BYTES: usize = 256 * 1024;
/// Bytes that tell an archive: one block of tar.
const HEAD_BYTES: usize = 512;
/// All bits of a mode.
const MODE_BITS: u32 = 0o7777;

/// Compares each copy with its original (relative to the root, or absolute).
///
/// [`VerifyReport::files`] counts regular files that are right and [`VerifyReport::bytes`] theirs;
/// [`VerifyReport::bad_files`] counts all entries that are not: different, missing, or too many.
#[must_use]
pub fn compare(root: &Root, pairs: &[(PathBuf, PathBuf)], source: &Source) -> VerifyReport {
    let mut checker = Checker::default();
    for (copy, original) in pairs {
        checker.shown = copy.display().to_string();
        if let Err(wrong) = checker.pair(root, (copy, original), source) {
            checker.bad(b"", &wrong);
        }
    }
    checker.report
}

/// The check of one pair after the other.
#[derive(Default)]
struct Checker {
    report: VerifyReport,
    /// The copy, for examples.
    shown: String,
    /// Inode in the copy of files that have several names in the original.
    links: HashMap<(u64, u64), (u64, u64)>,
    buffers: (Vec<u8>, Vec<u8>),
}

impl Checker {
    fn good(&mut self, bytes: u64) {
        self.report.files += 1;
        self.report.bytes += bytes;
    }

    fn bad(&mut self, path: &[u8], wrong: &str) {
        self.report.bad_files += 1;
        if self.report.examples.len() < MAX_EXAMPLES {
            let slash = if path.is_empty() { "" } else { "/" };
            let path = String::from_utf8_lossy(path);
            self.report.examples.push(format!("{}{slash}{path}: {wrong}", self.shown));
        }
    }

    fn pair(
        &mut self,
        root: &Root,
        (copy, original): (&Path, &Path),
        source: &Source,
    ) -> Result<(), String> {
        self.links.clear();
        self.buffers = (vec![0; CALL_BYTES], vec![0; CALL_BYTES]);
        let open = |path: &Path, whose: &str| {
            open_top(root, path).map_err(|errno| match errno {
                Errno::NOENT => format!("{whose} is missing"),
                other => format!("{whose} cannot be opened: {other}"),
            })
        };
        let (copied, copy_kind) = open(copy, "it")?;
        let (wanted, kind) = open(original, "its original")?;
        match (copy_kind, kind) {
            (FileType::Directory, FileType::Directory) => {
                self.trees(&mut PathWalker::new(copied), &mut PathWalker::new(wanted));
                Ok(())
            }
            (FileType::RegularFile, FileType::RegularFile) => {
                let bytes = self.contents(&copied, &wanted)?;
                self.good(bytes);
                Ok(())
            }
            (FileType::Directory, FileType::RegularFile) => {
                // Where its first bytes are damaged, the reader says so.
                let known = packed_as(&wanted)?.or(source.archive);
                let compression = known.ok_or("it is a directory, but its original no archive")?;
                self.unpacked(PathWalker::new(copied), wanted, compression);
                Ok(())
            }
            (FileType::RegularFile, FileType::Directory) => {
                let known = packed_as(&copied)?;
                let compression = known.ok_or("it is no archive, but its original a directory")?;
                self.unpacked(PathWalker::new(wanted), copied, compression);
                Ok(())
            }
            _ => Err("it is not of the kind of its original".to_owned()),
        }
    }

    /// Two trees, entry by entry.
    fn trees(&mut self, copy: &mut PathWalker, original: &mut PathWalker) {
        let mut dirs = vec![Vec::new()];
        while let Some(dir) = dirs.pop() {
            let names = match (read_names(original, &dir), read_names(copy, &dir)) {
                (Ok(wanted), Ok(found)) => (wanted, found),
                (wanted, found) => {
                    let errors = [wanted.err(), found.err()];
                    let words: Vec<_> = errors.into_iter().flatten().collect();
                    self.bad(&dir, &words.join("; "));
                    continue;
                }
            };
            let (wanted, found) = names;
            for name in found.difference(&wanted) {
                self.bad(&super::error::joined(&dir, name), "is not in the original");
            }
            for name in &wanted {
                let path = super::error::joined(&dir, name);
                if !found.contains(name) {
                    self.bad(&path, "is missing");
                    continue;
                }
                match self.entry((copy, original), &dir, name) {
                    Ok(FileType::Directory) => dirs.push(path),
                    Ok(_) => {}
                    Err(wrong) => self.bad(&path, &wrong),
                }
            }
        }
    }

    /// An entry that is in both; what it is.
    fn entry(
        &mut self,
        (copy, original): (&mut PathWalker, &mut PathWalker),
        dir: &[u8],
        name: &[u8],
    ) -> Result<FileType, String> {
        let copy = copy.open_dir(dir, false).map_err(|(_, errno)| opened(errno))?;
        let original = original.open_dir(dir, false).map_err(|(_, errno)| opened(errno))?;
        let (found, wanted) = (stat_entry(copy, name)?, stat_entry(original, name)?);
        let kind = kind_of(&wanted);
        if kind_of(&found) != kind {
            return Err(format!("is {} instead of {}", word(&found), word(&wanted)));
        }
        if wanted.st_nlink > 1 && kind != FileType::Directory {
            let is = (found.st_dev, found.st_ino);
            let first = *self.links.entry((wanted.st_dev, wanted.st_ino)).or_insert(is);
            if first != is {
                return Err("is a file of its own instead of a further name of one".to_owned());
            }
        }
        match kind {
            FileType::RegularFile => {
                let times = [&found, &wanted].map(|it| (it.st_mtime, it.st_mtime_nsec));
                same_mode(found.st_mode, wanted.st_mode)?;
                same_time(times[0], times[1])?;
                let bytes = self.contents(&open_file(copy, name)?, &open_file(original, name)?)?;
                self.good(bytes);
            }
            FileType::Symlink => {
                let (found, wanted) = (target(copy, name)?, target(original, name)?);
                same_target(&found, &wanted)?;
            }
            _ => {}
        }
        Ok(kind)
    }

    /// Two open files, byte by byte; how many.
    fn contents(&mut self, copy: &OwnedFd, original: &OwnedFd) -> Result<u64, String> {
        let size = |file| rustix::fs::fstat(file).map(|it| it.st_size).map_err(opened);
        same_size(size(copy)?.cast_unsigned(), size(original)?.cast_unsigned())?;
        let (found, wanted) = (&mut self.buffers.0, &mut self.buffers.1);
        let mut offset = 0;
        loop {
            let got = read_full(copy, found).map_err(read)?;
            let due = read_full(original, wanted).map_err(read)?;
            same_bytes(&found[..got], &wanted[..due], offset)?;
            offset += got as u64;
            if got < found.len() {
                return Ok(offset);
            }
        }
    }
}

/// A copy or an original, and what it is.
fn open_top(root: &Root, path: &Path) -> Result<(OwnedFd, FileType), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(root.lookup(), path, flags, Mode::empty())?;
    let kind = kind_of(&rustix::fs::fstat(&opened)?);
    Ok((opened, kind))
}

fn kind_of(facts: &Stat) -> FileType {
    FileType::from_raw_mode(facts.st_mode)
}

/// How an archive is compressed, by its first bytes: one that a phase packed need not be what the
/// source is. The file is at its beginning again afterwards.
fn packed_as(file: &OwnedFd) -> Result<Option<Compression>, String> {
    let mut head = [0; HEAD_BYTES];
    let filled = read_full(file, &mut head).map_err(read)?;
    rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0)).map_err(read)?;
    Ok(fsarena_corpus::own::kind_of(&head[..filled]))
}

/// What an entry is, in words.
fn word(facts: &Stat) -> &'static str {
    match kind_of(facts) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        _ => "a special file",
    }
}

fn opened(errno: Errno) -> String {
    format!("cannot be opened: {errno}")
}

fn read(errno: Errno) -> String {
    format!("cannot be read: {errno}")
}

/// Names in a directory.
fn read_names(walker: &mut PathWalker, dir: &[u8]) -> Result<BTreeSet<Vec<u8>>, String> {
    let dir = walker.open_dir(dir, false).map_err(|(_, errno)| opened(errno))?;
    let mut names = BTreeSet::new();
    // The walker's descriptors are good for lookups only.
    let dir = rustix::fs::openat(dir, c".", DIR_FLAGS, Mode::empty()).map_err(opened)?;
    for entry in rustix::fs::Dir::new(dir).map_err(opened)? {
        let name = entry.map_err(read)?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.insert(name);
        }
    }
    Ok(names)
}

fn stat_entry(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, String> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| match errno {
        Errno::NOENT => "is missing".to_owned(),
        other => format!("cannot be looked at: {other}"),
    })
}

fn open_file(dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty()).map_err(opened)
}

fn target(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Vec<u8>, String> {
    rustix::fs::readlinkat(dir, name, Vec::new()).map(std::ffi::CString::into_bytes).map_err(read)
}

fn same_target(found: &[u8], wanted: &[u8]) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    let [found, wanted] = [found, wanted].map(String::from_utf8_lossy);
    Err(format!("points to {found:?} instead of {wanted:?}"))
}

fn same_size(found: u64, wanted: u64) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("has {found} bytes instead of {wanted}")) }
}

fn same_mode(found: u32, wanted: u32) -> Result<(), String> {
    let [found, wanted] = [found, wanted].map(|mode| mode & MODE_BITS);
    if found == wanted {
        return Ok(());
    }
    Err(format!("has mode {found:04o} instead of {wanted:04o}"))
}

/// Two times of last change; one may be the other cut to a coarser step.
fn same_time(found: (i64, u64), wanted: (i64, u64)) -> Result<(), String> {
    let [a, b] = [found, wanted].map(|(s, ns)| i128::from(s) * 1_000_000_000 + i128::from(ns));
    let steps_ns = [1, 100, 1000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000];
    let is_cut = |fine: i128, cut: i128| {
        steps_ns.into_iter().any(|step_ns| fine.div_euclid(step_ns) * step_ns == cut)
    };
    if is_cut(a, b) || is_cut(b, a) {
        return Ok(());
    }
    let [(s, ns), (due_s, due_ns)] = [found, wanted];
    Err(format!("was changed at {s}.{ns:09} s instead of {due_s}.{due_ns:09} s"))
}

fn same_bytes(found: &[u8], wanted: &[u8], offset: u64) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    match found.iter().zip(wanted).position(|(found, wanted)| found != wanted) {
        Some(at) => Err(format!(
            "byte {} is 0x{:02x} instead of 0x{:02x}",
            offset + at as u64,
            found[at],
            wanted[at]
        )),
        None => {
            let end = offset + found.len().min(wanted.len()) as u64;
            Err(format!("one ends at byte {end}, the other does not"))
        }
    }
}

/// What became of each member: bytes of a file that is right, nothing for another entry, or what is
/// wrong. Of members with one name the last counts, since it is the one that is left.
type Results = BTreeMap<Vec<u8>, Result<Option<u64>, String>>;

impl Checker {
    /// Whether the tree holds what the archive does.
    fn unpacked(&mut self, mut tree: PathWalker, archive: OwnedFd, compression: Compression) {
        let mut results = Results::new();
        let streamed = self.stream(&mut tree, File::from(archive), compression, &mut results);
        if let Err(wrong) = streamed {
            self.bad(b"", &format!("the archive cannot be read: {wrong}"));
        }
        self.surplus(&mut tree, &results);
        for (path, result) in &results {
            match result {
                Ok(Some(bytes)) => self.good(*bytes),
                Ok(None) => {}
                Err(wrong) => self.bad(path, wrong),
            }
        }
    }

    fn stream(
        &mut self,
        tree: &mut PathWalker,
        archive: File,
        compression: Compression,
        results: &mut Results,
    ) -> Result<(), String> {
        let words = |error: std::io::Error| error.to_string();
        let input = BufReader::with_capacity(CALL_BYTES, archive);
        let plain = fsarena_corpus::reader(compression, input).map_err(words)?;
        let header_limit = HeaderLimit::new();
        let plain = BufReader::with_capacity(CALL_BYTES, plain);
        let mut plain = tar::Archive::new(header_limit.reader(plain));
        // An archive that was packed of the user's tree may hold links that lead anywhere.
        let mut member = Member { only_looks: true, ..Member::default() };
        let setter = AttributeSetter::new();
        for entry in plain.entries().map_err(words)? {
            let mut entry = entry.map_err(words)?;
            header_limit.before_member(entry.size());
            match member.take(&mut entry) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(Refusal::Read(error)) => return Err(words(error)),
                Err(Refusal::Member(what)) => {
                    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                    return Err(format!("member {name:?} {what}"));
                }
            }
            if !member.path.is_empty() {
                let result = self.unpack_member(tree, &member, &mut entry, &setter);
                results.insert(member.path.clone(), result);
            }
        }
        Ok(())
    }

    /// A member against the entry of its name.
    fn unpack_member(
        &mut self,
        tree: &mut PathWalker,
        member: &Member,
        entry: &mut impl Read,
        setter: &AttributeSetter,
    ) -> Result<Option<u64>, String> {
        let facts = stat_path(tree, &member.path)?;
        let (parent, name) = split_parent(&member.path);
        match member.kind {
            Some(Kind::Hardlink) => {
                let first = stat_path(tree, &member.target)?;
                if (first.st_dev, first.st_ino) != (facts.st_dev, facts.st_ino) {
                    return Err("is a file of its own instead of a further name".to_owned());
                }
                // Its contents were compared under its first name.
                return Ok((kind_of(&facts) == FileType::RegularFile).then_some(0));
            }
            Some(Kind::Dir) => return is(&facts, FileType::Directory).map(|()| None),
            Some(Kind::Symlink) => is(&facts, FileType::Symlink)?,
            _ => is(&facts, FileType::RegularFile)?,
        }
        let dir = tree.open_dir(parent, false).map_err(|(_, errno)| opened(errno))?;
        if member.kind == Some(Kind::Symlink) {
            return same_target(&target(dir, name)?, &member.target).map(|()| None);
        }
        same_size(facts.st_size.cast_unsigned(), member.size_bytes)?;
        // Who is not root unpacks without the bits of the mask.
        same_mode(facts.st_mode, member.mode).or_else(|wrong| {
            same_mode(facts.st_mode, setter.masked(member.mode)).map_err(|_| wrong)
        })?;
        let (second, ns) = member.mtime;
        same_time((facts.st_mtime, facts.st_mtime_nsec), (second, u64::from(ns)))?;
        self.against(dir, name, entry).map(Some)
    }

    /// Contents of a file against those of a member; how many bytes.
    fn against(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        entry: &mut impl Read,
    ) -> Result<u64, String> {
        let file = open_file(dir, name)?;
        let (found, wanted) = (&mut self.buffers.0, &mut self.buffers.1);
        let mut offset = 0;
        loop {
            let mut due = 0;
            while due < wanted.len() {
                match entry.read(&mut wanted[due..]) {
                    Ok(0) => break,
                    Ok(more) => due += more,
                    Err(error) => return Err(format!("the archive cannot be read: {error}")),
                }
            }
            let got = read_full(&file, found).map_err(read)?;
            same_bytes(&found[..got], &wanted[..due], offset)?;
            offset += got as u64;
            if due < wanted.len() {
                return Ok(offset);
            }
        }
    }

    /// Entries of the tree that belong to no member. Directories that members lie in count as
    /// theirs.
    fn surplus(&mut self, tree: &mut PathWalker, results: &Results) {
        let stands = |path: &[u8]| {
            results.contains_key(path)
                || results
                    .range([path, b"/"].concat()..)
                    .next()
                    .is_some_and(|(next, _)| next.starts_with(&[path, b"/"].concat()))
        };
        let mut dirs = vec![Vec::new()];
        while let Some(dir) = dirs.pop() {
            let names = match read_names(tree, &dir) {
                Ok(names) => names,
                Err(wrong) => {
                    self.bad(&dir, &wrong);
                    continue;
                }
            };
            for name in names {
                let path = joined(&dir, &name);
                if !stands(&path) {
                    self.bad(&path, "is not in the archive");
                } else if stat_path(tree, &path)
                    .is_ok_and(|facts| kind_of(&facts) == FileType::Directory)
                {
                    dirs.push(path);
                }
            }
        }
    }
}

fn stat_path(tree: &mut PathWalker, path: &[u8]) -> Result<Stat, String> {
    let (parent, name) = split_parent(path);
    let dir = tree.open_dir(parent, false).map_err(|(_, errno)| match errno {
        rustix::io::Errno::NOENT => "is missing".to_owned(),
        other => opened(other),
    })?;
    stat_entry(dir, name)
}

fn is(facts: &Stat, kind: FileType) -> Result<(), String> {
    if kind_of(facts) == kind {
        return Ok(());
    }
    Err(format!("is {}, which the archive says it is not", word(facts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_cut_but_not_another() {
        for (a, b) in [
            ((7, 123_456_789), (7, 123_456_789)),
            ((7, 123_456_700), (7, 123_456_789)),
            ((7, 123_456_000), (7, 123_456_789)),
            ((7, 0), (7, 999_999_999)),
            ((6, 0), (7, 5)),
            ((-8, 0), (-7, 5)),
        ] {
            assert!(same_time(a, b).is_ok() && same_time(b, a).is_ok(), "{a:?} {b:?}");
        }
        for (a, b) in [((7, 1), (7, 2)), ((8, 0), (7, 999_999_999)), ((7, 0), (8, 0))] {
            assert!(same_time(a, b).is_err(), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_first_other_byte_is_named() {
        let wrong = same_bytes(b"abc", b"abd", 10).unwrap_err();
        assert_eq!(wrong, "byte 12 is 0x63 instead of 0x64");
        assert!(same_bytes(b"ab", b"abc", 0).unwrap_err().contains("byte 2"));
    }
}
