//! What a file may hold after ops of which some failed.
//!
//! What an op that synced and returned 0 has written must be there. What one that failed has
//! written may be there or not, in each sector, and what was there before must be there then: the
//! disk kept it. What is neither is damage. Of what nobody synced nothing is demanded.

use super::record::{Call, FailedCall};
use crate::observation::ObservedFile;
use crate::op::{Action, Op, Sync};
use crate::stamp::{SECTOR, Sector, Stamp};

/// What a sector begins with: so many bytes of a version; `None`: zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    version: Option<u32>,
    bytes: u16,
}

/// Written, and not known to be on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pending {
    held: Held,
    op: u32,
    /// Its op failed: the application was told.
    is_failed: bool,
    /// A later sync of the file returned 0 nevertheless.
    is_synced_later: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct SectorRule {
    /// What must be there where nothing later is, with the op that was acknowledged.
    known: Option<(Held, u32)>,
    /// In the order of their ops.
    pending: Vec<Pending>,
    /// A part of it was written behind bytes of an op that failed: what it holds is not known.
    is_blurred: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PendingSize {
    bytes: u64,
    is_failed: bool,
}

/// How the write of an op ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WriteEnd {
    Synced,
    NotSynced,
    /// `is_synced_later`: the same sync returned 0 when it was made again.
    Failed {
        is_synced_later: bool,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Inode {
    sectors: Vec<SectorRule>,
    /// As the running system has it.
    size: u64,
    /// What must be there, with the op that was acknowledged.
    known_size: (u64, Option<u32>),
    pending_sizes: Vec<PendingSize>,
}

impl Inode {
    fn write(&mut self, (from, end): (u64, u64), version: Option<u32>, op: u32, ended: WriteEnd) {
        match ended {
            WriteEnd::Synced => self.sync(),
            WriteEnd::NotSynced => {}
            WriteEnd::Failed { .. } => self.fail(),
        }
        self.size = self.size.max(end);
        let (first, last) = (from / SECTOR as u64, end.div_ceil(SECTOR as u64));
        let count = usize::try_from(last).unwrap_or(usize::MAX).max(self.sectors.len());
        self.sectors.resize(count, SectorRule::default());
        for (number, rule) in (0..last).zip(&mut self.sectors).skip(first as usize) {
            let begin = number * SECTOR as u64;
            let held = Held { version, bytes: (self.size - begin).min(SECTOR as u64) as u16 };
            let is_over_failed = rule.pending.iter().any(|pending| pending.is_failed);
            rule.is_blurred = from > begin && (rule.is_blurred || is_over_failed);
            if ended == WriteEnd::Synced {
                *rule = SectorRule { known: Some((held, op)), pending: Vec::new(), ..*rule };
            } else {
                let is_failed = ended != WriteEnd::NotSynced;
                rule.pending.push(Pending { held, op, is_failed, is_synced_later: false });
            }
        }
        match ended {
            WriteEnd::Synced => {
                self.known_size = (self.size, Some(op));
                self.pending_sizes.clear();
            }
            WriteEnd::NotSynced | WriteEnd::Failed { .. } => {
                let is_failed = ended != WriteEnd::NotSynced;
                self.pending_sizes.push(PendingSize { bytes: self.size, is_failed });
            }
        }
        if ended == (WriteEnd::Failed { is_synced_later: true }) {
            self.sync();
        }
    }

    /// A sync of it returned 0: what no op has failed with is on the disk.
    fn sync(&mut self) {
        for rule in &mut self.sectors {
            if let Some(at) = rule.pending.iter().rposition(|pending| !pending.is_failed) {
                let Pending { held, op, .. } = rule.pending[at];
                rule.known = Some((held, op));
                rule.pending.drain(..=at);
            }
            rule.pending.iter_mut().for_each(|pending| pending.is_synced_later = true);
        }
        if let Some(at) = self.pending_sizes.iter().rposition(|size| !size.is_failed) {
            self.known_size = (self.pending_sizes[at].bytes, self.known_size.1);
            self.pending_sizes.drain(..=at);
        }
    }

    /// A sync of it failed: the application was told of all that was not synced.
    fn fail(&mut self) {
        let pending = self.sectors.iter_mut().flat_map(|rule| &mut rule.pending);
        pending.for_each(|pending| pending.is_failed = true);
        self.pending_sizes.iter_mut().for_each(|size| size.is_failed = true);
    }

    fn judge(&self, stamp: Stamp, seen: &ObservedFile) -> FileVerdict {
        let found = SeenFile { stamp, seen, sectors: seen.contents.sectors().collect() };
        let mut verdict = FileVerdict::default();
        let sizes = self.pending_sizes.iter().map(|size| size.bytes);
        let most = sizes.clone().max().unwrap_or(0).max(self.known_size.0);
        let least = sizes.min().unwrap_or(u64::MAX).min(self.known_size.0);
        if seen.size_bytes < least
            && let Some(op) = self.known_size.1
        {
            let words = format!("{} bytes of {}", seen.size_bytes, self.known_size.0);
            verdict.lose(op, words);
        }
        if seen.size_bytes > most {
            verdict.damaged =
                Some(format!("{} bytes, and at most {most} were written", { seen.size_bytes }));
        }
        for (number, rule) in (0..).zip(&self.sectors) {
            if !rule.is_blurred {
                rule.judge(number, &found, &mut verdict);
            }
        }
        verdict
    }
}

impl SectorRule {
    fn judge(&self, number: u64, found: &SeenFile<'_>, verdict: &mut FileVerdict) {
        let newest = self.pending.last().filter(|pending| pending.is_failed);
        if let Some(newest) = newest.filter(|newest| !found.holds(number, newest.held)) {
            verdict.is_reported_missing = true;
            verdict.is_missing_after_sync |= newest.is_synced_later;
        }
        let is_pending = self.pending.iter().any(|pending| found.holds(number, pending.held));
        if is_pending || self.known.is_some_and(|(held, _)| found.holds(number, held)) {
            return;
        }
        match self.known {
            Some((held, op)) => verdict.lose(op, found.words(number, held)),
            // It is neither absent nor what was written.
            None if found.bytes(number) > 0 && newest.is_some() && verdict.damaged.is_none() => {
                let held = newest.map_or(Held { version: None, bytes: 0 }, |newest| newest.held);
                verdict.damaged = Some(found.words(number, held));
            }
            None => {}
        }
    }
}

/// A file as it was seen.
struct SeenFile<'a> {
    stamp: Stamp,
    seen: &'a ObservedFile,
    sectors: Vec<Sector>,
}

impl SeenFile<'_> {
    /// Bytes of a sector that are in the file.
    fn bytes(&self, number: u64) -> u16 {
        let behind = self.seen.size_bytes.saturating_sub(number * SECTOR as u64);
        behind.min(SECTOR as u64) as u16
    }

    /// `None`: it could not be read.
    fn sector(&self, number: u64) -> Option<&Sector> {
        usize::try_from(number).ok().and_then(|at| self.sectors.get(at))
    }

    fn holds(&self, number: u64, held: Held) -> bool {
        let Some(sector) = self.sector(number).filter(|_| self.bytes(number) >= held.bytes) else {
            return false;
        };
        match held.version {
            Some(version) => {
                sector.holds(Stamp { version, ..self.stamp }, number as u32, held.bytes)
            }
            None => *sector == Sector::Zeros,
        }
    }

    /// What was found in a sector, beside what should be there.
    fn words(&self, number: u64, held: Held) -> String {
        let expected = match held.version {
            Some(version) => format!("version {version}"),
            None => "zeros".to_owned(),
        };
        let found = match (self.sector(number), self.seen.errno) {
            (None, Some(errno)) => format!("reading it fails with error {errno}"),
            (None, None) => "no such sector".to_owned(),
            (Some(Sector::Zeros), _) => "zeros".to_owned(),
            (Some(Sector::Stamp { stamp, sector, bytes }), _) => {
                let own = Stamp { version: 0, ..*stamp } == Stamp { version: 0, ..self.stamp };
                match own && u64::from(*sector) == number {
                    true => format!("{bytes} bytes of version {}", stamp.version),
                    false => "bytes of another file or place".to_owned(),
                }
            }
            (Some(Sector::Piece(_) | Sector::Foreign), _) => "other bytes".to_owned(),
        };
        format!("sector {number}: {found} in place of {expected}")
    }
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FileVerdict {
    /// The last acknowledged op that is not there, and what was found in place of it.
    pub lost: Option<(u32, String)>,
    /// What an op that failed has left and is neither what was there before nor what it wrote.
    pub damaged: Option<String>,
    /// What an op that failed has written is not there.
    pub is_reported_missing: bool,
    /// The same, and a later sync of the file returned 0.
    pub is_missing_after_sync: bool,
}

impl FileVerdict {
    fn lose(&mut self, op: u32, words: String) {
        if self.lost.as_ref().is_none_or(|(known, _)| op > *known) {
            self.lost = Some((op, words));
        }
    }
}

/// Whether the name may be absent, with the op that decides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Name {
    #[default]
    MayBeAbsent,
    MustBeThere(u32),
    MustBeAbsent(u32),
}

/// A name and what it may stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ExpectedFile {
    name: Name,
    /// The running system has the last one; the others may be on the disk in its place.
    inodes: Vec<Inode>,
    /// Nobody knows any more what it should hold.
    pub is_unknown: bool,
    /// A part of an append was taken: where the next one begins is not known.
    is_end_unknown: bool,
}

impl ExpectedFile {
    /// Takes in the next op on the file.
    pub fn take(&mut self, number: u32, op: &Op, failed: Option<&FailedCall>) {
        let call = failed.map(|failed| failed.call);
        if self.is_unknown || call == Some(Call::Open) {
            return;
        }
        let again = failed.and_then(|failed| failed.again);
        let ended = match (call, op.action.sync().covers_contents()) {
            (None | Some(Call::Rename | Call::SyncDirectory), true) => WriteEnd::Synced,
            (None | Some(Call::Rename | Call::SyncDirectory), false) => WriteEnd::NotSynced,
            _ => WriteEnd::Failed { is_synced_later: again == Some(0) },
        };
        match op.action {
            Action::Create { bytes, version, sync, .. } => {
                self.create((bytes, Some(version)), number, ended, call.is_none().then_some(sync));
            }
            Action::Preallocate { bytes, sync, .. } => {
                self.create((bytes, None), number, ended, call.is_none().then_some(sync));
            }
            Action::Replace { bytes, version, sync, .. } => {
                self.replace((bytes, version), (number, sync), ended, call);
            }
            Action::Append { bytes, version, sync, .. } => {
                let from = self.inodes.last().map_or(0, |inode| inode.size);
                self.is_unknown |= self.is_end_unknown && call != Some(Call::Write);
                self.is_end_unknown = call == Some(Call::Write);
                self.write((from, from + bytes), (version, number), ended, call.is_none(), sync);
            }
            Action::Overwrite { offset, bytes, version, sync, .. } => {
                let extent = (offset, offset + bytes);
                self.write(extent, (version, number), ended, call.is_none(), sync);
            }
            // Not followed.
            Action::Truncate { .. } | Action::Rename { .. } => self.is_unknown = true,
            Action::Delete { sync, .. } => match call {
                Some(Call::Unlink) => {}
                None if sync.covers_name() => {
                    self.name = Name::MustBeAbsent(number);
                    self.inodes.clear();
                }
                _ => self.name = Name::MayBeAbsent,
            },
        }
    }

    /// `sync`: of an op that returned 0.
    fn create(
        &mut self,
        (bytes, version): (u64, Option<u32>),
        number: u32,
        ended: WriteEnd,
        sync: Option<Sync>,
    ) {
        let mut inode = Inode::default();
        inode.write((0, bytes), version, number, ended);
        self.inodes = vec![inode];
        self.name = match sync.is_some_and(Sync::covers_name) {
            true => Name::MustBeThere(number),
            false => Name::MayBeAbsent,
        };
    }

    fn replace(
        &mut self,
        (bytes, version): (u64, u32),
        (number, sync): (u32, Sync),
        ended: WriteEnd,
        call: Option<Call>,
    ) {
        let mut inode = Inode::default();
        inode.write((0, bytes), Some(version), number, ended);
        match call {
            None if sync.covers_name() => {
                self.inodes = vec![inode];
                self.name = Name::MustBeThere(number);
            }
            None | Some(Call::SyncDirectory) => self.inodes.push(inode),
            Some(Call::Rename) => self.inodes.insert(0, inode),
            // The name stands for what it stood for.
            Some(_) => {}
        }
    }

    fn write(
        &mut self,
        extent: (u64, u64),
        (version, number): (u32, u32),
        ended: WriteEnd,
        is_done: bool,
        sync: Sync,
    ) {
        let Some(inode) = self.inodes.last_mut() else {
            self.is_unknown = true;
            return;
        };
        inode.write(extent, Some(version), number, ended);
        if is_done && sync.covers_name() {
            self.inodes.drain(..self.inodes.len() - 1);
            self.name = Name::MustBeThere(number);
        }
    }

    /// Holds what was seen against it; `stamp`: of the file, with any version.
    pub fn judge(&self, stamp: Stamp, seen: Option<&ObservedFile>) -> FileVerdict {
        let mut verdict = FileVerdict::default();
        let Some(seen) = seen else {
            if let Name::MustBeThere(op) = self.name {
                verdict.lose(op, "the name is not there".to_owned());
            }
            let pending = self.inodes.iter().flat_map(|inode| &inode.sectors);
            verdict.is_reported_missing =
                pending.flat_map(|rule| &rule.pending).any(|pending| pending.is_failed);
            return verdict;
        };
        if let Name::MustBeAbsent(op) = self.name {
            verdict.lose(op, format!("a file of {} bytes, which was deleted", seen.size_bytes));
            return verdict;
        }
        let mut all = self.inodes.iter().rev().map(|inode| inode.judge(stamp, seen));
        let Some(newest) = all.next() else { return verdict };
        if newest.lost.is_none() && newest.damaged.is_none() {
            return newest;
        }
        let fits = |other: &FileVerdict| other.lost.is_none() && other.damaged.is_none();
        all.find(fits).map_or(newest, |older| FileVerdict { is_reported_missing: true, ..older })
    }
}
