//! Holds a tree that was found after a power cut against the model: what was made durable has to be
//! there, or what it became later.
//!
//! A value that was durable after n operations and changed later may be any that it had since: each
//! is known, so nothing else is accepted. What a persistence point covers is what fsync(2) says:
//! the file and not its name, the directory's entries and not what they lead to.

use super::model::{FileNode, History, Inode, InodeNumber, ROOT_INODE, SyncReach};
use super::op::{FileOp, ROOT};
use super::tree::{NodeKind, TreeEntry, TreeObservation, bytes_of_runs};
use crate::observation::MountStep;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Unit of reserved room.
const BLOCK: u64 = 4096;

/// Whose demand it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleClass {
    /// P0: of fsync(2), fdatasync(2), msync(2) and sync(2).
    Contract,
    /// P2: promised by nobody; Linux file systems do so, and have tests for it.
    Customary,
    /// The file system is not whole.
    Damage,
}

/// A demand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    SyncedContents,
    SyncedSize,
    SyncedAttribute,
    SyncedEntry,
    SyncedRemoval,
    Reachable,
    NameOfSyncedFile,
    NameOfSyncedDirectory,
    OtherNameOfSyncedFile,
    OldNameOfSyncedFile,
    RenameIsAtomic,
    SymlinkTarget,
    ReservedSpace,
    StrayBytes,
    UnknownName,
    LinkCount,
    MountsAsBefore,
    IsUsable,
    IsClean,
}

impl Rule {
    #[must_use]
    pub fn class(self) -> RuleClass {
        match self {
            Self::SyncedContents
            | Self::SyncedSize
            | Self::SyncedAttribute
            | Self::SyncedEntry
            | Self::SyncedRemoval
            | Self::Reachable => RuleClass::Contract,
            Self::NameOfSyncedFile
            | Self::NameOfSyncedDirectory
            | Self::OtherNameOfSyncedFile
            | Self::OldNameOfSyncedFile
            | Self::RenameIsAtomic
            | Self::SymlinkTarget
            | Self::ReservedSpace => RuleClass::Customary,
            Self::StrayBytes
            | Self::UnknownName
            | Self::LinkCount
            | Self::MountsAsBefore
            | Self::IsUsable
            | Self::IsClean => RuleClass::Damage,
        }
    }

    /// The demand in a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::SyncedContents => {
                "fsync(2): all modified data of the file can be retrieved after a crash"
            }
            Self::SyncedSize => "fsync(2): the file has the size that it had, or a later one",
            Self::SyncedAttribute => {
                "fsync(2): all changed information of the file can be retrieved, its extended \
                 attributes among it"
            }
            Self::SyncedEntry => "fsync(2) of the directory, or sync(2): its entries are there",
            Self::SyncedRemoval => {
                "fsync(2) of the directory, or sync(2): an entry that was removed is gone"
            }
            Self::Reachable => "fsync(2): data can be retrieved even after the system crashes",
            Self::NameOfSyncedFile => {
                "customary: a file has the name by which it was synced, without fsync of the \
                 directory"
            }
            Self::NameOfSyncedDirectory => {
                "customary: a directory that was synced can be reached, without fsync of the one \
                 above"
            }
            Self::OtherNameOfSyncedFile => {
                "customary: fsync of a file keeps its other names (hard links) too"
            }
            Self::OldNameOfSyncedFile => {
                "customary: a name that a file had before a rename is gone after fsync of the file"
            }
            Self::RenameIsAtomic => {
                "customary: after a rename that nothing synced, one of the two names is there, and \
                 not both"
            }
            Self::SymlinkTarget => "customary: a symbolic link that is there has its text",
            Self::ReservedSpace => {
                "customary: room that fallocate has reserved is kept by fsync, behind the end as \
                 well"
            }
            Self::StrayBytes => "a file holds what was written to it, or zeros",
            Self::UnknownName => "there are the names that were made, and no others",
            Self::LinkCount => "the link count of a file is the number of its names",
            Self::MountsAsBefore => "it can be mounted as before, without a repair",
            Self::IsUsable => "a file can be made, synced and deleted afterwards",
            Self::IsClean => "its check finds no damage afterwards",
        }
    }
}

/// A demand that a state does not meet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Broken {
    pub rule: Rule,
    /// `None`: the file system as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub expected: String,
    pub found: String,
}

/// How far a sequence was when the power went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Operations that had returned.
    pub returned: usize,
    /// Operations that had begun: as many, or one more.
    pub begun: usize,
}

/// All demands that are not met.
#[must_use]
pub fn judge(history: &History, progress: Progress, seen: &TreeObservation) -> Vec<Broken> {
    let begun = progress.begun.min(history.states.len() - 1);
    let returned = progress.returned.min(begun);
    let judge = Judge { history, progress: Progress { returned, begun }, seen };
    let mut broken = judge.whole();
    if seen.whole.mounted().is_some() {
        judge.directory(ROOT_INODE, "", &mut broken);
        judge.customs(&mut broken);
        judge.link_counts(&mut broken);
    }
    broken
}

struct Judge<'a> {
    history: &'a History,
    progress: Progress,
    seen: &'a TreeObservation,
}

/// From which state on each part of an inode may be seen.
struct Since {
    /// It exists.
    made: usize,
    everything: usize,
    data: usize,
    /// Bytes that are durable from a later state on.
    ranges: Vec<(usize, u64, u64)>,
}

impl Judge<'_> {
    fn whole(&self) -> Vec<Broken> {
        let whole = &self.seen.whole;
        let mut broken = Vec::new();
        let mut add = |rule, found: String| {
            broken.push(Broken { rule, path: None, expected: String::new(), found });
        };
        let first = whole.mounts.first();
        let errno = first.and_then(|mount| mount.errno);
        if let Some(errno) = errno {
            let messages = whole.kernel_messages.join(" | ");
            add(Rule::MountsAsBefore, format!("mount: errno {errno}; {messages}"));
        }
        if whole.mounted().is_none() {
            add(Rule::Reachable, "it cannot be mounted in any way".to_owned());
            return broken;
        }
        let is_repaired_first = first.is_some_and(|mount| mount.step == MountStep::AfterRepair);
        if whole.is_usable == Some(false) {
            add(Rule::IsUsable, "that fails".to_owned());
        }
        if let Some(fsck) = whole.fsck.filter(|fsck| !fsck.is_clean && !is_repaired_first) {
            add(Rule::IsClean, format!("its check exits with {}", fsck.exit_code));
        }
        broken
    }

    fn since(&self, inode: InodeNumber) -> Since {
        let states = &self.history.states;
        let is_there = |at: &usize| states[*at].inode(inode).is_some();
        let made = (0..states.len()).find(is_there).unwrap_or(0);
        let mut since = Since { made, everything: made, data: made, ranges: Vec::new() };
        for point in &self.history.persisted {
            let is_of = point.inode.is_none_or(|of| of == inode);
            if !is_of || point.step > self.progress.returned || point.step < made {
                continue;
            }
            match point.reach {
                SyncReach::Everything => (since.everything, since.data) = (point.step, point.step),
                SyncReach::Data => since.data = point.step,
                SyncReach::Range { offset, bytes } => {
                    since.ranges.push((point.step, offset, bytes))
                }
            }
        }
        since.ranges.retain(|(step, ..)| *step > since.data);
        since
    }

    /// Whether anything of an inode was ever made durable.
    fn was_persisted(&self, inode: InodeNumber, made: usize) -> bool {
        self.history.persisted.iter().any(|point| {
            point.inode.is_none_or(|of| of == inode)
                && (made..=self.progress.returned).contains(&point.step)
        })
    }

    /// Names in a directory, each with the values that it may have.
    fn directory(&self, inode: InodeNumber, prefix: &str, broken: &mut Vec<Broken>) {
        let states = &self.history.states;
        let since = self.since(inode);
        let mut allowed: BTreeMap<&str, BTreeSet<Option<InodeNumber>>> = BTreeMap::new();
        let mut ever: BTreeSet<&str> = BTreeSet::new();
        for (at, state) in states.iter().enumerate().take(self.progress.begun + 1) {
            let Some(entries) = state.directory(inode) else { continue };
            for name in entries.keys() {
                ever.insert(name);
                if at >= since.everything {
                    allowed.entry(name).or_default();
                }
            }
        }
        for state in &states[since.everything..=self.progress.begun] {
            let entries = state.directory(inode);
            for (name, values) in &mut allowed {
                values.insert(entries.and_then(|entries| entries.get(*name)).copied());
            }
        }
        for (name, values) in &allowed {
            self.name(&format!("{prefix}{name}"), values, broken);
        }
        for entry in &self.seen.entries {
            let name = entry.path.strip_prefix(prefix).filter(|rest| !rest.contains('/'));
            let Some(name) = name.filter(|name| !allowed.contains_key(name)) else { continue };
            let (rule, expected) = if ever.contains(name) {
                (Rule::SyncedRemoval, "gone")
            } else {
                (Rule::UnknownName, "no such name")
            };
            let found = entry_words(entry);
            let path = Some(entry.path.clone());
            broken.push(Broken { rule, path, expected: expected.to_owned(), found });
        }
    }

    /// One name, which may stand for any of these.
    fn name(&self, path: &str, values: &BTreeSet<Option<InodeNumber>>, broken: &mut Vec<Broken>) {
        let found = self.seen.find(path);
        let may_be_absent = values.contains(&None);
        let inodes: Vec<InodeNumber> = values.iter().copied().flatten().collect();
        let Some(entry) = found else {
            if !may_be_absent {
                let expected = self.expected_words(&inodes);
                let path = Some(path.to_owned());
                let found = "absent".to_owned();
                broken.push(Broken { rule: Rule::SyncedEntry, path, expected, found });
            }
            return;
        };
        if inodes.is_empty() {
            let (path, found) = (Some(path.to_owned()), entry_words(entry));
            let expected = "gone".to_owned();
            broken.push(Broken { rule: Rule::SyncedRemoval, path, expected, found });
            return;
        }
        let of_each = inodes.iter().filter_map(|inode| self.as_inode(*inode, entry));
        // The inode that explains best what is there.
        let weight =
            |problems: &Vec<Broken>| (problems.iter().filter(is_contract).count(), problems.len());
        match of_each.min_by_key(weight) {
            Some(problems) => broken.extend(problems),
            None => broken.push(Broken {
                rule: Rule::SyncedEntry,
                path: Some(path.to_owned()),
                expected: self.expected_words(&inodes),
                found: entry_words(entry),
            }),
        }
    }

    /// What is wrong with a name if it stands for this inode; `None`: it is of another kind.
    fn as_inode(&self, inode: InodeNumber, entry: &TreeEntry) -> Option<Vec<Broken>> {
        let mut broken = Vec::new();
        let states = &self.history.states[..=self.progress.begun];
        match (states.iter().find_map(|state| state.inode(inode))?, entry.kind) {
            (Inode::File(_), NodeKind::File) => self.file(inode, entry, &mut broken),
            (Inode::Directory(_), NodeKind::Directory) => {
                self.directory(inode, &format!("{}/", entry.path), &mut broken);
            }
            (Inode::Symlink(target), NodeKind::Symlink) => {
                if entry.target.as_ref() != Some(target) {
                    broken.push(Broken {
                        rule: Rule::SymlinkTarget,
                        path: Some(entry.path.clone()),
                        expected: format!("a link to {target}"),
                        found: entry_words(entry),
                    });
                }
            }
            _ => return None,
        }
        Some(broken)
    }

    /// The states of a file from one on.
    fn nodes(&self, inode: InodeNumber, from: usize) -> impl Iterator<Item = &FileNode> {
        let states = &self.history.states[from..=self.progress.begun];
        states.iter().filter_map(move |state| state.file(inode))
    }

    fn file(&self, inode: InodeNumber, entry: &TreeEntry, broken: &mut Vec<Broken>) {
        let since = self.since(inode);
        let path = || Some(entry.path.clone());
        if let Some(errno) = entry.errno {
            if self.was_persisted(inode, since.made) {
                let expected = "a file that can be read".to_owned();
                let found = format!("it cannot be read: errno {errno}");
                let rule = Rule::SyncedContents;
                broken.push(Broken { rule, path: path(), expected, found });
            }
            return;
        }
        let mut attributes = self.nodes(inode, since.everything).map(|file| &file.attribute);
        if !attributes.any(|attribute| *attribute == entry.attribute) {
            let last = self.nodes(inode, since.everything).last();
            let expected = format!("attribute {:?}", last.and_then(|file| file.attribute.as_ref()));
            let found = format!("attribute {:?}", entry.attribute);
            broken.push(Broken { rule: Rule::SyncedAttribute, path: path(), expected, found });
        }
        let sizes = |from| self.nodes(inode, from).map(|file| file.data.len() as u64);
        let promised = sizes(since.data).min().unwrap_or(0);
        let most = sizes(since.data).max().unwrap_or(0);
        let ends = since.ranges.iter().filter_map(|(from, offset, bytes)| {
            sizes(*from).map(|size| size.min(offset + bytes)).min()
        });
        let least = ends.max().unwrap_or(0).max(promised);
        if !(least..=most).contains(&entry.size_bytes) {
            let expected =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            let found = format!("{} bytes", entry.size_bytes);
            let expected = format!("{expected} bytes");
            broken.push(Broken { rule: Rule::SyncedSize, path: path(), expected, found });
        }
        self.contents(inode, &since, promised, entry, broken);
    }

    /// Bytes that are no version that may be seen. Of the first `promised` ones something was
    /// synced, and of what lies in a range.
    fn contents(
        &self,
        inode: InodeNumber,
        since: &Since,
        promised: u64,
        entry: &TreeEntry,
        broken: &mut Vec<Broken>,
    ) {
        let data = bytes_of_runs(&entry.contents);
        let (mut changed, mut stray) = (Vec::new(), Vec::new());
        for (at, byte) in data.iter().enumerate() {
            let offset = at as u64;
            let covers =
                |(_, from, bytes): &&(usize, u64, u64)| (*from..from + bytes).contains(&offset);
            let in_range = since.ranges.iter().filter(covers).map(|(step, ..)| *step).max();
            let had = |from| self.nodes(inode, from).any(|file| file.data.get(at) == Some(byte));
            if had(in_range.unwrap_or(since.data)) {
                continue;
            }
            if offset < promised || in_range.is_some() {
                changed.push(at);
            } else if *byte != 0 && !had(since.made) {
                stray.push(at);
            }
        }
        let path = || Some(entry.path.clone());
        if let (Some(first), Some(last)) = (changed.first(), changed.last()) {
            let expected = "what was synced, or was written since".to_owned();
            let what = if data[*first] == 0 { "zeros" } else { "other bytes" };
            let found = format!("{what} from {first} to {last} ({} bytes)", changed.len());
            broken.push(Broken { rule: Rule::SyncedContents, path: path(), expected, found });
        }
        if let (Some(first), Some(last)) = (stray.first(), stray.last()) {
            let expected = "bytes that were written there, or zeros".to_owned();
            let found = format!("others from {first} to {last} ({} bytes)", stray.len());
            broken.push(Broken { rule: Rule::StrayBytes, path: path(), expected, found });
        }
    }

    fn expected_words(&self, inodes: &[InodeNumber]) -> String {
        let states = &self.history.states[..=self.progress.begun];
        let words = inodes.iter().filter_map(|inode| {
            match states.iter().rev().find_map(|state| state.inode(*inode))? {
                Inode::File(file) => Some(format!("a file of {} bytes", file.data.len())),
                Inode::Directory(_) => Some("a directory".to_owned()),
                Inode::Symlink(target) => Some(format!("a link to {target}")),
            }
        });
        words.collect::<Vec<_>>().join(" or ")
    }

    /// What nobody promises and Linux file systems do.
    fn customs(&self, broken: &mut Vec<Broken>) {
        let steps: Vec<usize> = (1..=self.progress.returned).collect();
        let mut customs = Vec::new();
        for step in steps.into_iter().rev() {
            let path = match &self.history.ops[step - 1] {
                FileOp::Fsync { path } => path,
                FileOp::Fdatasync { file } | FileOp::MmapWrite { file, .. } => file,
                _ => continue,
            };
            self.synced_names(step, path, &mut customs);
        }
        self.renames(&mut customs);
        self.reserved(&mut customs);
        for custom in customs {
            // What breaks the contract, or was found at a later point, is told once.
            if !broken
                .iter()
                .any(|one| one.path == custom.path && one.rule.class() != RuleClass::Damage)
            {
                broken.push(custom);
            }
        }
    }

    /// Whether a name stands for the inode in all states from then on.
    fn stays(&self, path: &str, inode: Option<InodeNumber>, from: usize) -> bool {
        let states = &self.history.states[from..=self.progress.begun];
        states.iter().all(|state| state.lookup(path) == inode)
    }

    fn synced_names(&self, step: usize, used: &str, customs: &mut Vec<Broken>) {
        let state = &self.history.states[step];
        let Some(inode) = state.acted_on(used) else { return };
        if used == ROOT || !self.stays(used, Some(inode), step) {
            return;
        }
        let is_directory = state.directory(inode).is_some();
        let rule = if is_directory { Rule::NameOfSyncedDirectory } else { Rule::NameOfSyncedFile };
        let mut add = |rule, path: &str, expected: String, found: String| {
            customs.push(Broken { rule, path: Some(path.to_owned()), expected, found });
        };
        let found = self.seen.find(used);
        let is_it = |entry: &TreeEntry| {
            let problems = self.as_inode(inode, entry);
            problems.is_some_and(|problems| {
                is_directory || !problems.iter().any(|one| is_contract(&one))
            })
        };
        let expected = self.expected_words(&[inode]);
        match found {
            None => return add(rule, used, expected, "absent".to_owned()),
            Some(entry) if !is_it(entry) => return add(rule, used, expected, entry_words(entry)),
            Some(_) => {}
        }
        for path in state.paths_of(inode) {
            let is_lost = self.stays(&path, Some(inode), step) && self.seen.find(&path).is_none();
            if path != used && is_lost && !is_directory {
                let expected = expected.clone();
                add(Rule::OtherNameOfSyncedFile, &path, expected, "absent".to_owned());
            }
        }
        let before: BTreeSet<String> =
            self.history.states[..step].iter().flat_map(|state| state.paths_of(inode)).collect();
        for path in before.iter().filter(|path| self.stays(path, None, step)) {
            let Some(old) = self.seen.find(path) else { continue };
            if found.is_some_and(|new| new.inode == old.inode) {
                add(Rule::OldNameOfSyncedFile, path, "gone".to_owned(), entry_words(old));
            }
        }
    }

    /// Renames of names that were durable by sync, and which nothing has touched since.
    fn renames(&self, customs: &mut Vec<Broken>) {
        let states = &self.history.states;
        for (at, op) in self.history.ops.iter().enumerate().take(self.progress.begun) {
            let FileOp::Rename { from, to } = op else { continue };
            let Some(inode) = states[at].lookup(from) else { continue };
            let was_durable = self.history.persisted.iter().any(|point| {
                let is_sync = point.inode.is_none() && point.step <= at.min(self.progress.returned);
                is_sync && states[point.step..=at].iter().all(|one| one.lookup(from) == Some(inode))
            });
            let is_plain = states[at].paths_of(inode).len() == 1;
            let is_done = self.stays(to, Some(inode), at + 1) && self.stays(from, None, at + 1);
            if !was_durable || !is_plain || !is_done {
                continue;
            }
            let is_it = |entry: &&TreeEntry| {
                let problems = self.as_inode(inode, entry);
                problems.is_some_and(|problems| !problems.iter().any(|one| is_contract(&one)))
            };
            let (old, new) = (self.seen.find(from), self.seen.find(to));
            let found = match (old.filter(is_it), new.filter(is_it)) {
                (None, None) => "neither",
                (Some(old), Some(new)) if old.inode == new.inode => "both",
                _ => continue,
            };
            customs.push(Broken {
                rule: Rule::RenameIsAtomic,
                path: Some(from.clone()),
                expected: format!("it, or {to}"),
                found: found.to_owned(),
            });
        }
    }

    /// Room that was reserved and is kept since a persistence point of everything.
    fn reserved(&self, customs: &mut Vec<Broken>) {
        let states = &self.history.states;
        let now = &states[self.progress.begun];
        for inode in 0..now.inodes() {
            let since = self.since(inode);
            let is_durable = self.history.persisted.iter().any(|point| {
                point.step == since.everything
                    && point.reach == SyncReach::Everything
                    && point.inode.is_none_or(|of| of == inode)
            });
            let files = states[since.everything..=self.progress.begun]
                .iter()
                .filter_map(|state| state.file(inode));
            let kept = files
                .map(|file| file.reserved.clone())
                .reduce(|all, one| all.intersection(&one).copied().collect());
            let least = kept.map_or(0, |blocks| blocks.len() as u64 * BLOCK);
            for path in now.paths_of(inode).iter().filter(|_| is_durable && least > 0) {
                let Some(entry) = self.seen.find(path) else { continue };
                if entry.kind == NodeKind::File && entry.allocated_bytes < least {
                    customs.push(Broken {
                        rule: Rule::ReservedSpace,
                        path: Some(path.clone()),
                        expected: format!("{least} bytes on the disk"),
                        found: format!("{} bytes", entry.allocated_bytes),
                    });
                }
            }
        }
    }

    fn link_counts(&self, broken: &mut Vec<Broken>) {
        let files = || self.seen.entries.iter().filter(|entry| entry.kind == NodeKind::File);
        for entry in files() {
            let names = files().filter(|other| other.inode == entry.inode).count() as u64;
            if entry.links != names && entry.errno.is_none() {
                broken.push(Broken {
                    rule: Rule::LinkCount,
                    path: Some(entry.path.clone()),
                    expected: format!("{names}"),
                    found: format!("{}", entry.links),
                });
            }
        }
    }
}

fn is_contract(broken: &&Broken) -> bool {
    broken.rule.class() == RuleClass::Contract
}

fn entry_words(entry: &TreeEntry) -> String {
    match (entry.kind, &entry.target) {
        (NodeKind::File, _) => format!("a file of {} bytes", entry.size_bytes),
        (NodeKind::Directory, _) => "a directory".to_owned(),
        (NodeKind::Symlink, Some(target)) => format!("a link to {target:?}"),
        (NodeKind::Symlink, None) => "a link that cannot be read".to_owned(),
        (NodeKind::Other, _) => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests;
