//! What operations do to a file system that loses nothing: the states between which a power cut
//! falls.

use super::op::{Allocation, Extent, FileOp, ROOT, attribute_text, bytes_of, split};
use std::collections::{BTreeMap, BTreeSet};

/// Unit of reserved room.
const BLOCK: u64 = 4096;

/// Number of an inode of the model.
pub type InodeNumber = usize;
/// That of the root.
pub const ROOT_INODE: InodeNumber = 0;

/// An operation that the model says must fail.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{op}: {why}")]
pub struct ModelError {
    pub op: String,
    pub why: &'static str,
}

/// What an inode holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inode {
    File(FileNode),
    Directory(BTreeMap<String, InodeNumber>),
    Symlink(String),
}

/// A file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileNode {
    pub data: Vec<u8>,
    /// Blocks of 4 KiB that fallocate has reserved and nobody has given back.
    pub reserved: BTreeSet<u64>,
    pub attribute: Option<String>,
}

/// A file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    inodes: Vec<Inode>,
    open: BTreeMap<String, InodeNumber>,
}

impl Default for Model {
    fn default() -> Self {
        Self { inodes: vec![Inode::Directory(BTreeMap::new())], open: BTreeMap::new() }
    }
}

impl Model {
    /// `None`: it did not exist yet.
    #[must_use]
    pub fn inode(&self, number: InodeNumber) -> Option<&Inode> {
        self.inodes.get(number)
    }

    /// How many inodes there ever were.
    #[must_use]
    pub fn inodes(&self) -> usize {
        self.inodes.len()
    }

    #[must_use]
    pub fn lookup(&self, path: &str) -> Option<InodeNumber> {
        if path == ROOT {
            return Some(ROOT_INODE);
        }
        path.split('/').try_fold(ROOT_INODE, |within, name| {
            self.directory(within).and_then(|entries| entries.get(name)).copied()
        })
    }

    #[must_use]
    pub fn directory(&self, number: InodeNumber) -> Option<&BTreeMap<String, InodeNumber>> {
        match self.inodes.get(number)? {
            Inode::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    #[must_use]
    pub fn file(&self, number: InodeNumber) -> Option<&FileNode> {
        match self.inodes.get(number)? {
            Inode::File(file) => Some(file),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_open(&self, path: &str) -> bool {
        self.open.contains_key(path)
    }

    /// Names of files that are open.
    pub fn open_files(&self) -> impl Iterator<Item = &str> {
        self.open.keys().map(String::as_str)
    }

    /// All names of an inode, from the root.
    #[must_use]
    pub fn paths_of(&self, number: InodeNumber) -> Vec<String> {
        let mut found = Vec::new();
        if number == ROOT_INODE {
            found.push(ROOT.to_owned());
        }
        self.walk(ROOT_INODE, "", &mut |path, inode| {
            if inode == number {
                found.push(path.to_owned());
            }
        });
        found
    }

    fn walk(&self, within: InodeNumber, prefix: &str, take: &mut impl FnMut(&str, InodeNumber)) {
        for (name, inode) in self.directory(within).into_iter().flatten() {
            let path = format!("{prefix}{name}");
            take(&path, *inode);
            if self.directory(*inode).is_some() {
                self.walk(*inode, &format!("{path}/"), take);
            }
        }
    }

    /// The inode that an operation on a name acts on: of the open file, or of the name.
    #[must_use]
    pub fn acted_on(&self, path: &str) -> Option<InodeNumber> {
        self.open.get(path).copied().or_else(|| self.lookup(path))
    }

    /// Does it.
    ///
    /// # Errors
    /// Where it would fail on a file system; the model is as it was then.
    pub fn apply(&mut self, op: &FileOp) -> Result<(), ModelError> {
        let failed = |why| ModelError { op: op.to_string(), why };
        match op {
            FileOp::Open { file } => self.open(file),
            FileOp::Close { file } => self.open.remove(file).map(drop).ok_or("is not open"),
            FileOp::Mkdir { dir } => self.add(dir, Inode::Directory(BTreeMap::new())).map(drop),
            FileOp::Rmdir { dir } => self.rmdir(dir),
            FileOp::Remove { path } => match self.lookup(path) {
                Some(inode) if self.directory(inode).is_some() => self.rmdir(path),
                _ => self.unlink(path),
            },
            FileOp::Unlink { file } => self.unlink(file),
            FileOp::Write { file, extent } | FileOp::DirectWrite { file, extent } => {
                self.change(file, |file| file.write(*extent))
            }
            FileOp::MmapWrite { file, extent } => self.change(file, |file| {
                if (file.data.len() as u64) < extent.offset + extent.bytes {
                    file.fallocate(Allocation::Extend, extent.offset, extent.bytes);
                }
                file.write(*extent);
            }),
            FileOp::Fallocate { file, mode, offset, bytes } => {
                self.change(file, |file| file.fallocate(*mode, *offset, *bytes))
            }
            FileOp::Truncate { file, bytes } => self.change(file, |file| file.truncate(*bytes)),
            FileOp::Link { from, to } => self.link(from, to),
            FileOp::Symlink { target, link } => {
                self.add(link, Inode::Symlink(target.clone())).map(drop)
            }
            FileOp::Rename { from, to } => self.rename(from, to),
            FileOp::SetXattr { file, fill } => {
                self.change(file, |file| file.attribute = Some(attribute_text(*fill)))
            }
            FileOp::RemoveXattr { file } => {
                match self.acted_on(file).and_then(|at| self.file(at)) {
                    Some(FileNode { attribute: Some(_), .. }) => {
                        self.change(file, |file| file.attribute = None)
                    }
                    _ => Err("there is no attribute"),
                }
            }
            FileOp::Fsync { path } | FileOp::Fdatasync { file: path } => {
                self.acted_on(path).map(drop).ok_or("is not there")
            }
            FileOp::Sync | FileOp::Sleep { .. } => Ok(()),
        }
        .map_err(failed)
    }

    fn parent(&mut self, path: &str) -> Result<&mut BTreeMap<String, InodeNumber>, &'static str> {
        let inode = self.lookup(split(path).0).ok_or("its directory is not there")?;
        match &mut self.inodes[inode] {
            Inode::Directory(entries) => Ok(entries),
            _ => Err("its directory is none"),
        }
    }

    fn add(&mut self, path: &str, inode: Inode) -> Result<InodeNumber, &'static str> {
        let number = self.inodes.len();
        self.enter(path, number)?;
        self.inodes.push(inode);
        Ok(number)
    }

    fn enter(&mut self, path: &str, number: InodeNumber) -> Result<(), &'static str> {
        if self.lookup(path).is_some() {
            return Err("is there already");
        }
        let name = split(path).1.to_owned();
        self.parent(path)?.insert(name, number);
        Ok(())
    }

    fn leave(&mut self, path: &str) -> Result<(), &'static str> {
        let name = split(path).1;
        self.parent(path)?.remove(name).map(drop).ok_or("is not there")
    }

    fn open(&mut self, path: &str) -> Result<(), &'static str> {
        let inode = match self.lookup(path) {
            Some(inode) if self.file(inode).is_none() => return Err("is no file"),
            Some(inode) => inode,
            None => self.add(path, Inode::File(FileNode::default()))?,
        };
        self.open.insert(path.to_owned(), inode);
        Ok(())
    }

    fn rmdir(&mut self, path: &str) -> Result<(), &'static str> {
        let inode = self.lookup(path).ok_or("is not there")?;
        match self.directory(inode) {
            Some(entries) if entries.is_empty() => self.leave(path),
            Some(_) => Err("is not empty"),
            None => Err("is no directory"),
        }
    }

    fn unlink(&mut self, path: &str) -> Result<(), &'static str> {
        let inode = self.lookup(path).ok_or("is not there")?;
        if self.directory(inode).is_some() { Err("is a directory") } else { self.leave(path) }
    }

    fn link(&mut self, from: &str, to: &str) -> Result<(), &'static str> {
        let inode = self.lookup(from).ok_or("is not there")?;
        if self.directory(inode).is_some() {
            return Err("is a directory");
        }
        self.enter(to, inode)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), &'static str> {
        let moved = self.lookup(from).ok_or("is not there")?;
        if let Some(over) = self.lookup(to) {
            if over == moved {
                return Ok(()); // As rename(2) has it for two names of one file.
            }
            match (self.directory(moved), self.directory(over)) {
                (None, None) => {}
                (Some(_), Some(entries)) if entries.is_empty() => {}
                (Some(_), Some(_)) => return Err("the new name is a directory that is not empty"),
                _ => return Err("only one of them is a directory"),
            }
            self.leave(to)?;
        }
        self.leave(from)?;
        self.enter(to, moved)
    }

    fn change(
        &mut self,
        path: &str,
        change: impl FnOnce(&mut FileNode),
    ) -> Result<(), &'static str> {
        let inode = self.acted_on(path).ok_or("is not there")?;
        match &mut self.inodes[inode] {
            Inode::File(file) => {
                change(file);
                Ok(())
            }
            _ => Err("is no file"),
        }
    }
}

impl FileNode {
    fn write(&mut self, extent: Extent) {
        let (from, to) = (extent.offset as usize, (extent.offset + extent.bytes) as usize);
        if self.data.len() < to {
            self.data.resize(to, 0);
        }
        self.data[from..to].copy_from_slice(&bytes_of(extent));
    }

    fn truncate(&mut self, bytes: u64) {
        self.data.resize(bytes as usize, 0);
        self.reserved.retain(|block| *block < bytes.div_ceil(BLOCK));
    }

    fn fallocate(&mut self, mode: Allocation, offset: u64, bytes: u64) {
        let end = offset + bytes;
        if mode == Allocation::PunchHole {
            let inside = offset.div_ceil(BLOCK)..end / BLOCK;
            self.reserved.retain(|block| !inside.contains(block));
        } else {
            self.reserved.extend(offset / BLOCK..end.div_ceil(BLOCK));
        }
        if !mode.keeps_size() && (self.data.len() as u64) < end {
            self.data.resize(end as usize, 0);
        }
        if !matches!(mode, Allocation::Extend | Allocation::KeepSize) {
            let to = self.data.len().min(end as usize);
            let from = to.min(offset as usize);
            self.data[from..to].fill(0);
        }
    }
}

/// What an operation made durable when it returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Persisted {
    /// After so many operations.
    pub step: usize,
    /// `None`: of everything.
    pub inode: Option<InodeNumber>,
    pub reach: SyncReach,
}

/// What of an inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncReach {
    /// Data, size, attributes; of a directory its entries.
    Everything,
    /// Data and size.
    Data,
    /// Data in a range (msync).
    Range { offset: u64, bytes: u64 },
}

/// A sequence with the file system after each of its operations.
#[derive(Clone, Debug)]
pub struct History {
    /// `states[n]`: after n operations.
    pub states: Vec<Model>,
    pub persisted: Vec<Persisted>,
    pub ops: Vec<FileOp>,
}

impl History {
    /// Carries out the operations on an empty file system, which is durable.
    ///
    /// # Errors
    /// Of the first that must fail.
    pub fn new(ops: &[FileOp]) -> Result<Self, ModelError> {
        let mut states = vec![Model::default()];
        let everything = SyncReach::Everything;
        let mut persisted = vec![Persisted { step: 0, inode: None, reach: everything }];
        for (at, op) in ops.iter().enumerate() {
            let mut next = states[at].clone();
            next.apply(op)?;
            let (path, reach) = match op {
                FileOp::Fsync { path } => (Some(path), SyncReach::Everything),
                FileOp::Fdatasync { file } => (Some(file), SyncReach::Data),
                FileOp::MmapWrite { file, extent: Extent { offset, bytes, .. } } => {
                    (Some(file), SyncReach::Range { offset: *offset, bytes: *bytes })
                }
                _ => (None, SyncReach::Everything),
            };
            if op.persists() {
                let inode = path.and_then(|path| next.acted_on(path));
                persisted.push(Persisted { step: at + 1, inode, reach });
            }
            states.push(next);
        }
        Ok(Self { states, persisted, ops: ops.to_vec() })
    }
}
