//! A tree against the members of an archive, read as a stream.

use super::{CALL_BYTES, Checker, fill, kind_of, look, open_file, opened, read, target};
use super::{same_bytes, same_mode, same_size, same_target, same_time};
use crate::tree::attributes::Giver;
use crate::tree::error::joined;
use crate::tree::member::{Kind, Member, Refusal};
use crate::tree::way::{Way, parted};
use fsarena_corpus::own::HeaderLimit;
use fsarena_model::job::Compression;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Stat};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

/// What became of each member: bytes of a file that is right, nothing for another entry, or what is
/// wrong. Of members with one name the last counts, since it is the one that is left.
type Results = BTreeMap<Vec<u8>, Result<Option<u64>, String>>;

impl Checker {
    /// Whether the tree holds what the archive does.
    pub(super) fn unpacked(&mut self, mut tree: Way, archive: OwnedFd, compression: Compression) {
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
        tree: &mut Way,
        archive: File,
        compression: Compression,
        results: &mut Results,
    ) -> Result<(), String> {
        let words = |error: std::io::Error| error.to_string();
        let input = BufReader::with_capacity(CALL_BYTES, archive);
        let plain = fsarena_corpus::reader(compression, input).map_err(words)?;
        let heads = HeaderLimit::new();
        let plain = BufReader::with_capacity(CALL_BYTES, plain);
        let mut plain = tar::Archive::new(heads.reader(plain));
        // An archive that was packed of the user's tree may hold links that lead anywhere.
        let mut member = Member { only_looks: true, ..Member::default() };
        let giver = Giver::new();
        for entry in plain.entries().map_err(words)? {
            let mut entry = entry.map_err(words)?;
            heads.before_member(entry.size());
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
                let result = self.member(tree, &member, &mut entry, &giver);
                results.insert(member.path.clone(), result);
            }
        }
        Ok(())
    }

    /// A member against the entry of its name.
    fn member(
        &mut self,
        tree: &mut Way,
        member: &Member,
        entry: &mut impl Read,
        giver: &Giver,
    ) -> Result<Option<u64>, String> {
        let facts = facts_of(tree, &member.path)?;
        let (parent, name) = parted(&member.path);
        match member.kind {
            Some(Kind::Hardlink) => {
                let first = facts_of(tree, &member.target)?;
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
        let dir = tree.go(parent, false).map_err(|(_, errno)| opened(errno))?;
        if member.kind == Some(Kind::Symlink) {
            return same_target(&target(dir, name)?, &member.target).map(|()| None);
        }
        same_size(facts.st_size.cast_unsigned(), member.size_bytes)?;
        // Who is not root unpacks without the bits of the mask.
        same_mode(facts.st_mode, member.mode).or_else(|wrong| {
            same_mode(facts.st_mode, giver.masked(member.mode)).map_err(|_| wrong)
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
            let got = fill(&file, found).map_err(read)?;
            same_bytes(&found[..got], &wanted[..due], offset)?;
            offset += got as u64;
            if due < wanted.len() {
                return Ok(offset);
            }
        }
    }

    /// Entries of the tree that no member stands for. Directories that members lie in count as
    /// theirs.
    fn surplus(&mut self, tree: &mut Way, results: &Results) {
        let stands = |path: &[u8]| {
            results.contains_key(path)
                || results
                    .range([path, b"/"].concat()..)
                    .next()
                    .is_some_and(|(next, _)| next.starts_with(&[path, b"/"].concat()))
        };
        let mut dirs = vec![Vec::new()];
        while let Some(dir) = dirs.pop() {
            let names = match super::names_of(tree, &dir) {
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
                } else if facts_of(tree, &path)
                    .is_ok_and(|facts| kind_of(&facts) == FileType::Directory)
                {
                    dirs.push(path);
                }
            }
        }
    }
}

fn facts_of(tree: &mut Way, path: &[u8]) -> Result<Stat, String> {
    let (parent, name) = parted(path);
    let dir = tree.go(parent, false).map_err(|(_, errno)| match errno {
        rustix::io::Errno::NOENT => "is missing".to_owned(),
        other => opened(other),
    })?;
    look(dir, name)
}

fn is(facts: &Stat, kind: FileType) -> Result<(), String> {
    if kind_of(facts) == kind {
        return Ok(());
    }
    Err(format!("is {}, which the archive says it is not", super::word(facts)))
}
