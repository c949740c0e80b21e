//! An archive of the user's, read to its end: what is in it, and whether it may be unpacked.
//!
//! What tar programs do with strange members differs; all that could lead out of the folder is
//! refused, and so is all that is not a file, a directory or a link.

use super::entry::TopLevel;
use super::entry::{MemberKind, member_kind};
use super::names::{NameHash, NameHasher};
use super::names::{joined, leads_out, parts};
use crate::CorpusError;
use crate::compress::reader;
use fsarena_bounded::{HeaderLimit, MAX_HEADERS_BYTES};
use fsarena_model::job::{Compression, Contents};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use tar::{Archive, Entry};

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// Blocks that [`Contents::block_bytes`] counts in, bytes.
const BLOCK_BYTES: u64 = 4096;
/// Longest name of a member: 16 times what a path may have in one call.
const MAX_NAME_BYTES: usize = 64 << 10;
/// Longest target of a symbolic link: what Linux takes.
const MAX_TARGET_BYTES: usize = 4095;

const REMEDY: &str = "pack it again without this member";

/// What is remembered of an archive, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Members, and directories that they lie in.
    pub(super) entries: u64,
    /// Names and targets of symbolic links, bytes.
    pub(super) link_bytes: u64,
}

/// Those of users' archives.
pub(super) const LIMITS: Limits = Limits { entries: 20_000_000, link_bytes: 1 << 30 };

/// Counts the members of an archive, and checks them. Asks `stop` at every read.
pub(super) fn survey(
    path: &Path,
    compression: Compression,
    file: File,
    limits: Limits,
    stop: &dyn Fn() -> bool,
) -> Result<(Contents, TopLevel), CorpusError> {
    let damaged = |members, error| CorpusError::Damaged { path: path.to_owned(), members, error };
    let input = BufReader::with_capacity(BUFFER_BYTES, file);
    let input = reader(compression, input).map_err(|error| damaged(0, error))?;
    let heads = HeaderLimit::new();
    let input = heads.reader(BufReader::with_capacity(BUFFER_BYTES, input));
    let mut archive = Archive::new(input);
    let mut survey = Survey::new(path, limits);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut entries = archive.entries().map_err(|error| damaged(0, error))?;
    loop {
        if stop() {
            return Err(CorpusError::Stopped);
        }
        heads.before_member(0);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(|error| match heads.is_reached() {
            true => survey.unusable(&error.to_string(), "pack it again with shorter ones"),
            false => damaged(survey.members, error),
        })?;
        survey.member(&mut entry).map_err(|error| match error {
            Fault::Read(error) => damaged(survey.members, error),
            Fault::Refused(refused) => refused,
        })?;
        heads.in_member();
        let drained = drain(&mut entry, &mut buffer, stop);
        if !drained.map_err(|error| damaged(survey.members, error))? {
            return Err(CorpusError::Stopped);
        }
        survey.members += 1;
    }
    // What follows holds the sums of the compressor, and nothing else.
    let rest = archive.into_inner().into_inner();
    if !only_zeros(rest, stop).map_err(|error| damaged(survey.members, error))? {
        return Err(CorpusError::Stopped);
    }
    survey.finish(stop)
}

/// Reads a member to its end; `false`: it had to stop.
fn drain(
    entry: &mut Entry<'_, impl Read>,
    buffer: &mut [u8],
    stop: &dyn Fn() -> bool,
) -> io::Result<bool> {
    let mut left_bytes = entry.size();
    while left_bytes > 0 {
        if stop() {
            return Ok(false);
        }
        match entry.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => left_bytes = left_bytes.saturating_sub(bytes as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Reads to the end; anything but zeros is an error, `false`: it had to stop.
fn only_zeros(mut rest: impl Read, stop: &dyn Fn() -> bool) -> io::Result<bool> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let bytes = match rest.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if stop() {
            return Ok(false);
        }
        if buffer[..bytes].iter().any(|byte| *byte != 0) {
            return Err(io::Error::other("something follows the end of the archive"));
        }
    }
}

enum Fault {
    Read(io::Error),
    Refused(CorpusError),
}

struct Survey<'a> {
    path: &'a Path,
    limits: Limits,
    contents: Contents,
    top: TopLevel,
    /// Members that were read to their end.
    members: u64,
    hasher: NameHasher,
    /// Files, with their further names.
    files: HashSet<NameHash>,
    /// Directories: members, and those that members lie in.
    dirs: HashSet<NameHash>,
    symlinks: HashSet<NameHash>,
    /// Names and targets of symbolic links.
    links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Bytes of `links`.
    link_bytes: u64,
}

impl<'a> Survey<'a> {
    fn new(path: &'a Path, limits: Limits) -> Self {
        Self {
            path,
            limits,
            contents: Contents::default(),
            top: TopLevel::default(),
            members: 0,
            hasher: NameHasher::default(),
            files: HashSet::new(),
            dirs: HashSet::new(),
            symlinks: HashSet::new(),
            links: Vec::new(),
            link_bytes: 0,
        }
    }

    /// An error of the archive as a whole.
    fn unusable(&self, what: &str, remedy: &str) -> CorpusError {
        CorpusError::Own {
            path: self.path.to_owned(),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    fn refused(&self, name: &[u8], what: impl Into<String>) -> CorpusError {
        self.refused_but(name, what, REMEDY)
    }

    /// The refusal of a member.
    fn refuse<T>(&self, name: &[u8], what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Refused(self.refused(name, what)))
    }

    fn refused_but(
        &self,
        name: &[u8],
        what: impl Into<String>,
        remedy: &'static str,
    ) -> CorpusError {
        CorpusError::Refused {
            path: self.path.to_owned(),
            member: String::from_utf8_lossy(name).into_owned(),
            what: what.into(),
            remedy,
        }
    }

    /// Takes a member in.
    fn member(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<(), Fault> {
        self.within_limits()?;
        let raw = entry.path_bytes();
        if raw.len() > MAX_NAME_BYTES {
            let (start, what) =
                (&raw[..64], format!("has a name longer than {MAX_NAME_BYTES} bytes"));
            return self.refuse(start, what);
        }
        let name = raw.into_owned();
        let refused = |survey: &Self, what: &str| Err(Fault::Refused(survey.refused(&name, what)));
        let kind = member_kind(entry.header().entry_type(), &name);
        if kind == MemberKind::Global {
            if entry.size() > MAX_HEADERS_BYTES {
                return refused(self, "holds PAX records for all members, of more than 1 MiB");
            }
            return Ok(());
        }
        if name.is_empty() || name.contains(&0) {
            return refused(self, "has no name that a file can have");
        }
        let member = match parts(&name) {
            Ok(member) => member,
            Err(what) => return refused(self, what),
        };
        self.records(entry, &name)?;
        match kind {
            MemberKind::Dir => self.dir(&name, &member)?,
            MemberKind::File => self.file(&name, &member, entry)?,
            MemberKind::Symlink => self.symlink(entry, &name, &member)?,
            MemberKind::HardLink => self.hard_link(entry, &name, &member)?,
            MemberKind::Sparse => return Err(self.sparse(&name)),
            MemberKind::Device => return refused(self, "is a device node"),
            MemberKind::Fifo => return refused(self, "is a FIFO"),
            MemberKind::Global => {}
            MemberKind::Unknown(letter) => {
                let letter = char::from(letter);
                return refused(self, &format!("is of the kind {letter:?}, which is not known"));
            }
        }
        let length = joined(&member).len() as u64;
        self.contents.longest_path_bytes = self.contents.longest_path_bytes.max(length);
        Ok(())
    }

    /// Refuses an archive of which too much would have to be remembered.
    fn within_limits(&self) -> Result<(), Fault> {
        let Limits { entries, link_bytes } = self.limits;
        let found = self.members.max(self.dirs.len() as u64);
        let what = if found >= entries {
            format!("it has more than {entries} entries, and their names have to be remembered")
        } else if self.link_bytes > link_bytes {
            format!("its symbolic links have more than {link_bytes} bytes of names and targets")
        } else {
            return Ok(());
        };
        Err(Fault::Refused(self.unusable(&what, "make several archives of it, and give one")))
    }

    /// Checks the records of PAX. Holes that are told there are not known to who unpacks.
    fn records(&self, entry: &mut Entry<'_, impl Read>, name: &[u8]) -> Result<(), Fault> {
        let Some(records) = entry.pax_extensions().map_err(Fault::Read)? else { return Ok(()) };
        for record in records {
            let Ok(record) = record else {
                let what = "has a PAX header that cannot be read (a line feed in a name is enough)";
                let remedy = "pack it again with `tar --format=gnu`";
                return Err(Fault::Refused(self.refused_but(name, what, remedy)));
            };
            if record.key_bytes().starts_with(b"GNU.sparse.") {
                return Err(self.sparse(name));
            }
        }
        Ok(())
    }

    fn sparse(&self, name: &[u8]) -> Fault {
        let what = "is sparse (packed without its holes), which is not unpacked";
        Fault::Refused(self.refused_but(name, what, "pack it again without --sparse"))
    }

    fn symlink(
        &mut self,
        entry: &Entry<'_, impl Read>,
        name: &[u8],
        member: &[&[u8]],
    ) -> Result<(), Fault> {
        let target = entry.link_name_bytes().unwrap_or_default().into_owned();
        let refuse = |survey: &Self, what: &str| Fault::Refused(survey.refused(name, what));
        let Some(mark) = self.hasher.hash_name(member).filter(|_| !target.is_empty()) else {
            return Err(refuse(self, "is a symbolic link without name or target"));
        };
        if target.len() > MAX_TARGET_BYTES {
            let what = "is a symbolic link to more than 4095 bytes, which Linux cannot make";
            return Err(refuse(self, what));
        }
        self.lies_in(name, member)?;
        self.contents.symlinks += 1;
        self.symlinks.insert(mark);
        let here = joined(member);
        self.link_bytes += (here.len() + target.len()) as u64;
        self.links.push((here, target));
        Ok(())
    }

    fn hard_link(
        &mut self,
        entry: &Entry<'_, impl Read>,
        name: &[u8],
        member: &[&[u8]],
    ) -> Result<(), Fault> {
        let target = entry.link_name_bytes().unwrap_or_default().into_owned();
        let shown = String::from_utf8_lossy(&target).into_owned();
        let refuse = |survey: &Self, what: String| Fault::Refused(survey.refused(name, what));
        let to = parts(&target).map_err(|_| {
            refuse(self, format!("is a hard link to {shown:?}, which is outside of its folder"))
        })?;
        let is_there = |to| self.files.contains(&to) || self.symlinks.contains(&to);
        let there = self.hasher.hash_name(&to).is_some_and(is_there);
        let Some(mark) = self.hasher.hash_name(member).filter(|_| there) else {
            let what = format!("is a hard link to {shown:?}, which is not before it");
            return Err(refuse(self, what));
        };
        self.no_dir(mark, name, "a hard link")?;
        self.lies_in(name, member)?;
        self.contents.files += 1;
        self.top.count(member);
        self.files.insert(mark);
        Ok(())
    }

    fn dir(&mut self, name: &[u8], member: &[&[u8]]) -> Result<(), Fault> {
        self.lies_in(name, member)?;
        let Some(mark) = self.hasher.hash_name(member) else { return Ok(()) };
        if self.files.contains(&mark) {
            let what = "is a directory, and a file before it has this name";
            return self.refuse(name, what);
        }
        self.dirs.insert(mark);
        Ok(())
    }

    fn file(
        &mut self,
        name: &[u8],
        member: &[&[u8]],
        entry: &Entry<'_, impl Read>,
    ) -> Result<(), Fault> {
        let Some(mark) = self.hasher.hash_name(member) else {
            let what = "is a file in the place of the folder";
            return self.refuse(name, what);
        };
        self.no_dir(mark, name, "a file")?;
        self.lies_in(name, member)?;
        self.files.insert(mark);
        self.top.count(member);
        let (bytes, contents) = (entry.size(), &mut self.contents);
        let blocks = bytes.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(u64::MAX);
        contents.files += 1;
        contents.bytes = contents.bytes.saturating_add(bytes);
        contents.block_bytes = contents.block_bytes.saturating_add(blocks);
        contents.largest_bytes = contents.largest_bytes.max(bytes);
        Ok(())
    }

    /// Refuses what would take the place of a directory.
    fn no_dir(&self, mark: NameHash, name: &[u8], what: &str) -> Result<(), Fault> {
        if !self.dirs.contains(&mark) {
            return Ok(());
        }
        let what = format!("is {what}, and a directory before it has this name");
        self.refuse(name, what)
    }

    /// Takes the directories in that a member lies in.
    fn lies_in(&mut self, name: &[u8], member: &[&[u8]]) -> Result<(), Fault> {
        let around = &member[..member.len().saturating_sub(1)];
        for (depth, mark) in self.hasher.hash_prefixes(around).enumerate() {
            if self.dirs.insert(mark) && self.files.contains(&mark) {
                let file = joined(&around[..=depth]);
                let file = String::from_utf8_lossy(&file);
                let what = format!("lies in {file:?}, which is a file");
                return self.refuse(name, what);
            }
        }
        Ok(())
    }

    /// Checks what needs all members: where links lead, and whether something lies behind one.
    fn finish(mut self, stop: &dyn Fn() -> bool) -> Result<(Contents, TopLevel), CorpusError> {
        let is_link = |at: &[&[u8]]| {
            self.hasher.hash_name(at).is_some_and(|mark| self.symlinks.contains(&mark))
        };
        for (name, target) in &self.links {
            if stop() {
                return Err(CorpusError::Stopped);
            }
            let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
            if self.hasher.hash_name(&parts).is_some_and(|mark| self.dirs.contains(&mark)) {
                let what = "is a symbolic link, and other members lie behind it";
                return Err(self.refused(name, what));
            }
            if let Some(what) = leads_out(&parts, target, is_link) {
                let target = String::from_utf8_lossy(target);
                return Err(self.refused(name, format!("{what} ({target:?})")));
            }
        }
        self.contents.dirs = self.dirs.len() as u64;
        if self.contents.entries() == 0 {
            return Err(self.unusable("the archive is empty", "give one with something in it"));
        }
        Ok((self.contents, self.top))
    }
}
