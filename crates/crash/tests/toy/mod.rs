//! A small file system over a write log: one sector an inode with its name, contents in one piece.
//!
//! It is honest as POSIX wants it and no more: what is not synced is written in any order. It
//! flushes by itself every 2 s. Each of the [`Bugs`] is one that file systems have had.

use fsarena_crash::observation::{MountAttempt, MountStep, Observation, ObservedFile, Runs};
use fsarena_crash::op::{Action, Op, Sync};
use fsarena_crash::stamp::{Stamp, fill};
use fsarena_crash::workload::{Plan, identity, other_name, path};
use fsarena_vdisk::{Completion, Discarded, Outcome, Request, Store, View, WriteLog};
use std::collections::BTreeMap;

const SECTOR: u64 = 512;
const DISK_BYTES: u64 = 64 << 20;
/// Inodes are in the first sectors.
const INODES: u64 = 1024;
/// Every file has so many sectors; prefill files are longer and have some of them.
const PIECE: u64 = 512;
const FLUSH_PERIOD_NS: u64 = 2_000_000_000;
const WRITE_NS: u64 = 1000;

#[derive(Clone, Copy)]
pub struct Bugs {
    /// The flush with this number, of those that an op waits for, is not sent.
    pub lost_flush: Option<u32>,
    /// The name stands for the new inode before its contents are durable.
    pub renames_before_data: bool,
    /// Blocks of an inode that is gone are used again before that is durable.
    pub frees_at_once: bool,
    /// Not a bug: contents are not flushed before the inode is written that points to them.
    pub unordered: bool,
}

/// What is left of a run.
pub struct Run {
    pub seed: u64,
    pub begin_ns: u64,
    pub ops: Vec<Op>,
    pub base: Store,
    pub log: WriteLog,
}

#[derive(Clone, Copy)]
struct Inode {
    /// Number of the file, under the name that it has.
    name: u32,
    number: u64,
    first: u64,
    pieces: u64,
    size: u64,
}

pub struct Toy {
    bugs: Bugs,
    seed: u64,
    now_ns: u64,
    flushed_ns: u64,
    flushes: u32,
    log: WriteLog,
    files: BTreeMap<u32, Inode>,
    /// Sector of the inode of each name that there ever was.
    numbers: BTreeMap<u32, u64>,
    /// Pieces that can be used, and those that can once their inodes are durably gone.
    free: Vec<u64>,
    freed: Vec<u64>,
}

impl Toy {
    pub fn run(plan: &Plan, bugs: Bugs) -> Run {
        let free = (INODES / PIECE..DISK_BYTES / SECTOR / PIECE).rev().collect();
        let mut toy = Self {
            bugs,
            seed: plan.seed,
            now_ns: 0,
            flushed_ns: 0,
            flushes: 0,
            log: WriteLog::in_memory(),
            files: BTreeMap::new(),
            numbers: BTreeMap::new(),
            free,
            freed: Vec::new(),
        };
        let mut ops = Vec::new();
        for planned in &plan.actions {
            while toy.flushed_ns + FLUSH_PERIOD_NS < planned.at_ns.max(toy.now_ns) {
                toy.now_ns = toy.now_ns.max(toy.flushed_ns + FLUSH_PERIOD_NS);
                toy.flush();
            }
            toy.now_ns = toy.now_ns.max(planned.at_ns);
            let begin_ns = toy.now_ns;
            toy.act(&planned.action);
            let action = planned.action.clone();
            ops.push(Op { action, begin_ns, end_ns: toy.now_ns, error: None });
        }
        let base = Store::in_memory(DISK_BYTES, Discarded::Zeros);
        Run { seed: plan.seed, begin_ns: plan.begin_ns, ops, base, log: toy.log }
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Create { file, bytes, version, sync } => {
                self.write_new(file, bytes, Some(version), sync.covers_contents());
                self.sync(sync);
            }
            Action::Preallocate { file, bytes, sync } => {
                self.write_new(file, bytes, None, sync.covers_contents());
                self.sync(sync);
            }
            Action::Replace { target, bytes, version, sync } => {
                let flushes = sync.covers_contents() && !self.bugs.renames_before_data;
                self.write_new(target, bytes, Some(version), flushes);
                if sync.covers_name() {
                    self.sync(sync);
                }
            }
            Action::Append { file, bytes, version, sync } => {
                let mut inode = self.files[&identity(file)];
                let from = inode.size;
                inode.size += bytes;
                self.write(file, inode, from, inode.size, Some(version));
                self.flush_data(sync.covers_contents());
                self.write_inode(file, inode);
                self.sync(sync);
            }
            Action::Overwrite { file, offset, bytes, version, sync } => {
                self.write(
                    file,
                    self.files[&identity(file)],
                    offset,
                    offset + bytes,
                    Some(version),
                );
                self.sync(sync);
            }
            Action::Truncate { file, bytes, sync } => {
                let inode = Inode { size: bytes, ..self.files[&identity(file)] };
                self.write_inode(file, inode);
                self.sync(sync);
            }
            Action::Rename { file, sync } => {
                let inode = self.files[&identity(file)];
                self.write_inode(file, Inode { name: other_name(file), ..inode });
                self.sync(sync);
            }
            Action::Delete { file, sync } => {
                let inode = self.files.remove(&identity(file)).unwrap();
                self.release(inode);
                self.request(Request::write(0, inode.number, 1), &[0; 512]);
                self.sync(sync);
            }
        }
    }

    /// A new inode under a name.
    fn write_new(&mut self, file: u32, bytes: u64, version: Option<u32>, flushes: bool) {
        let known = self.files.get(&identity(file)).copied();
        let pieces = bytes.div_ceil(PIECE * SECTOR).max(1);
        let first = self.free.pop().unwrap();
        for at in 1..pieces {
            // At the begin they are in order.
            assert_eq!(self.free.pop().unwrap(), first + at);
        }
        let unused = self.numbers.len() as u64;
        let number = *self.numbers.entry(identity(file)).or_insert(unused);
        assert!(number < INODES);
        let inode = Inode { name: file, number, first: first * PIECE, pieces, size: bytes };
        self.write(file, inode, 0, bytes, version);
        self.flush_data(flushes);
        if let Some(old) = known {
            self.release(old);
        }
        self.write_inode(file, inode);
    }

    fn release(&mut self, inode: Inode) {
        let pieces = (0..inode.pieces).map(|at| inode.first / PIECE + at);
        if self.bugs.frees_at_once { &mut self.free } else { &mut self.freed }.extend(pieces.rev());
    }

    /// Sectors that the bytes touch; in the first one the file goes on, with the same version.
    fn write(&mut self, file: u32, inode: Inode, from: u64, end: u64, version: Option<u32>) {
        let base = from / SECTOR * SECTOR;
        let mut data = vec![0; ((end - base).div_ceil(SECTOR) * SECTOR) as usize];
        if let Some(version) = version {
            let stamp = Stamp { seed: self.seed, file: identity(file), version };
            fill(&mut data[..(end - base) as usize], stamp, base);
        }
        for (at, part) in data.chunks(16 * SECTOR as usize).enumerate() {
            let sector = inode.first + base / SECTOR + at as u64 * 16;
            let sectors = (part.len() as u64 / SECTOR) as u32;
            self.request(Request::write(0, sector, sectors), part);
        }
    }

    fn write_inode(&mut self, file: u32, inode: Inode) {
        self.files.insert(identity(file), inode);
        let mut data = [0; 512];
        data[..8].copy_from_slice(b"toyinode");
        data[8..12].copy_from_slice(&inode.name.to_le_bytes());
        data[16..24].copy_from_slice(&inode.first.to_le_bytes());
        data[24..32].copy_from_slice(&inode.size.to_le_bytes());
        self.request(Request::write(0, inode.number, 1), &data);
    }

    fn flush_data(&mut self, is_wanted: bool) {
        if is_wanted {
            self.sync(Sync::Data);
        } else if !self.bugs.unordered {
            self.flush();
        }
    }

    fn sync(&mut self, sync: Sync) {
        if sync == Sync::None {
            return;
        }
        self.flushes += 1;
        if self.bugs.lost_flush != Some(self.flushes) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.request(Request::flush(0), &[]);
        self.flushed_ns = self.now_ns;
        self.free.append(&mut self.freed);
    }

    fn request(&mut self, request: Request, data: &[u8]) {
        let submitted_ns = self.now_ns;
        self.now_ns += WRITE_NS;
        let done = Completion { tag: 0, at_ns: self.now_ns, outcome: Outcome::Done };
        self.log.completed(&request, submitted_ns, &done, data).unwrap();
    }
}

/// Mounts and reads everything.
pub fn observe(view: &View<'_>) -> Observation {
    let mut files = Vec::new();
    for number in 0..INODES {
        let mut data = [0; 512];
        view.read(number, &mut data).unwrap();
        if &data[..8] != b"toyinode" {
            continue;
        }
        let word = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        let (first, size_bytes) = (word(16), word(24));
        let mut contents = vec![0; (size_bytes.div_ceil(SECTOR) * SECTOR) as usize];
        view.read(first, &mut contents).unwrap();
        let mut runs = Runs::default();
        runs.take(&contents[..size_bytes as usize]);
        let path = path(word(8) as u32).unwrap();
        files.push(ObservedFile { path, size_bytes, contents: runs, errno: None });
    }
    let mounts =
        vec![MountAttempt { step: MountStep::ReadWrite, errno: None, began_ns: 0, duration_ns: 1 }];
    Observation { mounts, files, is_usable: Some(true), ..Observation::default() }
}
