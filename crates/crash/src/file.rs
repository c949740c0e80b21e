//! One file after a crash, held against its history: which inode the name stands for, which ops are
//! there and which are lost, what may not be missing.
//!
//! An acceptable file is a mix: each sector that was synced holds what was synced or what was
//! written to it later, and the size is one that the file had since. Nothing is demanded of an
//! inode of which nothing was synced.

mod sectors;

pub use sectors::SectorRun;

use crate::findings::ReplaceDamage;
use crate::history::{Contents, Effect, ExpectedSector, FileHistory, Step};
use crate::observation::ObservedFile;
use crate::op::Sync;
use crate::promise::Promise;
use crate::stamp::{SECTOR, Sector, Stamp};
use crate::workload::{file_of, has_second_name};

/// What was found under a name.
pub(crate) struct FoundFile {
    pub size_bytes: u64,
    /// Whether it was found under the second name of the file.
    has_second_name: bool,
    /// As many as the history can ask for; what could not be read is foreign.
    sectors: Vec<Sector>,
}

/// What became of an acknowledged op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Survived,
    /// Name or size, and where it wrote, its bytes.
    LostMetadata {
        with_data: bool,
    },
    LostData,
    /// A later op took its place: it cannot be told.
    Superseded,
}

/// A file and its history up to a crash.
pub(crate) struct FileAtCrash<'a> {
    history: &'a FileHistory,
    /// Stamp of the file, but for the version.
    stamp: Stamp,
    /// Ops that had begun, and how many of them were acknowledged: had ended before. At the same
    /// nanosecond is not before: in virtual time a whole call can pass in none.
    begun: &'a [Step],
    acknowledged: usize,
    /// The last acknowledged op after which name and contents were durable.
    floor: Option<usize>,
    found: Option<FoundFile>,
    /// Number of the inode that was found.
    pub generation: Option<u32>,
}

/// A broken promise of the contract.
pub(crate) struct Broken {
    pub promise: Promise,
    /// Place in the steps.
    pub step: usize,
}

impl FoundFile {
    /// Takes in what was seen, as far as a history of files of `most` bytes can ask for it.
    pub fn new(seen: &ObservedFile, most_bytes: u64) -> Self {
        let count = seen.size_bytes.min(most_bytes).div_ceil(SECTOR as u64) as usize;
        let mut sectors: Vec<Sector> = seen.contents.sectors().take(count).collect();
        sectors.resize(count, Sector::Foreign);
        let named = file_of(&seen.path);
        let has_second_name = named.is_some_and(|named| has_second_name(named.file));
        Self { size_bytes: seen.size_bytes, has_second_name, sectors }
    }

    /// Bytes of a sector that are in the file.
    fn bytes(&self, sector: u64) -> u16 {
        self.size_bytes.saturating_sub(sector * SECTOR as u64).min(SECTOR as u64) as u16
    }

    fn sector(&self, sector: u64) -> &Sector {
        usize::try_from(sector).ok().and_then(|at| self.sectors.get(at)).unwrap_or(&Sector::Zeros)
    }

    /// Whether a sector begins with these bytes of what is expected.
    fn holds(&self, stamp: Stamp, sector: u64, expected: ExpectedSector, bytes: u16) -> bool {
        if self.bytes(sector) < bytes {
            return false;
        }
        let found = self.sector(sector);
        match expected.version {
            Some(version) => found.holds(Stamp { version, ..stamp }, sector as u32, bytes),
            None => *found == Sector::Zeros,
        }
    }

    /// Whether a sector is as it is in these contents, or goes on behind their end.
    fn has_sector_of(&self, stamp: Stamp, contents: &Contents, sector: u64) -> bool {
        let expected = contents.sector(sector);
        if expected.bytes == 0 {
            return self.bytes(sector) == 0;
        }
        self.holds(stamp, sector, expected, expected.bytes)
    }

    fn is_exactly(&self, stamp: Stamp, contents: &Contents) -> bool {
        self.size_bytes == contents.size()
            && (0..sectors(contents)).all(|sector| self.has_sector_of(stamp, contents, sector))
    }
}

fn sectors(contents: &Contents) -> u64 {
    contents.size().div_ceil(SECTOR as u64)
}

/// Contents after a step; nothing after a delete.
fn contents(step: &Step) -> Option<&Contents> {
    step.contents.as_ref()
}

impl<'a> FileAtCrash<'a> {
    /// `file`: stamp of the file, with any version.
    pub fn new(
        history: &'a FileHistory,
        file: Stamp,
        at_ns: u64,
        seen: Option<&ObservedFile>,
    ) -> Self {
        let begun = history.steps.partition_point(|step| step.begin_ns <= at_ns);
        let begun = &history.steps[..begun];
        let acknowledged = begun.partition_point(|step| step.end_ns < at_ns);
        let sizes = history.steps.iter().filter_map(contents).map(Contents::size);
        let found = seen.map(|seen| FoundFile::new(seen, sizes.max().unwrap_or(0)));
        let floor = floor(&begun[..acknowledged]);
        let mut file =
            Self { history, stamp: file, begun, acknowledged, floor, found, generation: None };
        file.generation = file.attributed();
        file
    }

    /// The newest inode of which there are bytes; without any, the one that should be there.
    fn attributed(&self) -> Option<u32> {
        let found = self.found.as_ref()?;
        let versions = found.sectors.iter().filter_map(Sector::stamp);
        let own = versions.filter(|stamp| Stamp { version: 0, ..*stamp } == self.own());
        let known = own.filter_map(|stamp| self.history.generation_of.get(&stamp.version));
        let newest = known.copied().max();
        let last = |steps: &[Step]| {
            steps.iter().rev().find(|step| step.contents.is_some()).map(|step| step.generation)
        };
        newest.or_else(|| last(&self.begun[..self.acknowledged]).or_else(|| last(self.begun)))
    }

    fn own(&self) -> Stamp {
        Stamp { version: 0, ..self.stamp }
    }

    /// Whether contents were found that were written after the crash.
    pub fn is_later(&self) -> bool {
        let Some(begun) = self.begun.last() else { return self.found.is_some() };
        self.generation.is_some_and(|generation| generation > begun.generation)
    }

    /// Whether something must be there, or must be gone.
    pub fn has_acknowledged(&self) -> bool {
        self.floor.is_some()
    }

    pub fn acknowledged(&self) -> &'a [Step] {
        &self.begun[..self.acknowledged]
    }

    /// The place in the journal of a step.
    pub fn op(&self, step: usize) -> Option<u32> {
        self.begun.get(step).map(|step| step.op)
    }

    /// The last op that renamed another file over this one.
    pub fn last_replace(&self) -> Option<u32> {
        let mut steps = self.begun.iter().rev();
        steps.find(|step| step.effect == Effect::Replace).map(|step| step.op)
    }

    /// Steps of a generation that had begun, with their places.
    fn steps_of(&self, generation: u32) -> impl DoubleEndedIterator<Item = (usize, &'a Step)> {
        let of = move |(_, step): &(usize, &Step)| {
            step.generation == generation && step.contents.is_some()
        };
        self.begun.iter().enumerate().filter(of)
    }

    /// The promise of the contract that is broken, if one is.
    pub fn broken(&self) -> Option<Broken> {
        let from = self.floor.map_or(0, |floor| floor + 1);
        let Some(found) = &self.found else {
            let step = self.floor.filter(|floor| self.begun[*floor].contents.is_some())?;
            let mut later = self.begun[from..].iter();
            let may_be_absent =
                later.any(|step| matches!(step.effect, Effect::Delete | Effect::Replace));
            // Of a rename that nobody synced, neither name is promised.
            let is_renamed = self.since_name().iter().any(|step| step.effect == Effect::Rename);
            return (!may_be_absent && !is_renamed)
                .then_some(self.broken_at(step, Promise::SyncedName));
        };
        if let Some(step) = self.floor.filter(|_| self.is_misnamed(found)) {
            return Some(self.broken_at(step, Promise::SyncedName));
        }
        let floor = self.floor.map(|floor| &self.begun[floor]);
        let first = floor.filter(|step| step.contents.is_some()).map(|step| step.generation);
        let created = |step: &&Step| matches!(step.effect, Effect::Create | Effect::Replace);
        let later = self.begun[from..].iter().filter(created).map(|step| step.generation);
        let mut candidates: Vec<u32> = first.into_iter().chain(later).collect();
        candidates.dedup();
        if candidates.is_empty() {
            let step = self.floor?;
            return Some(self.broken_at(step, Promise::SyncedDelete));
        }
        if candidates.iter().any(|generation| self.satisfies(found, *generation)) {
            return None;
        }
        let blamed = self.generation.filter(|generation| candidates.contains(generation));
        let blamed = blamed.unwrap_or(candidates[0]);
        let step = self.contents_floor(blamed)?;
        let is_replace = self.begun[step].effect == Effect::Replace;
        let promise = if is_replace && self.floor.is_none_or(|floor| floor < step) {
            Promise::SyncedBeforeRename
        } else {
            Promise::SyncedContents
        };
        Some(self.broken_at(step, promise))
    }

    /// A promise that is broken, of the op that made it.
    fn broken_at(&self, step: usize, promise: Promise) -> Broken {
        let is_of_all = self.begun[step].sync == Sync::FileSystem;
        let promise = if is_of_all { Promise::SyncedFileSystem } else { promise };
        Broken { promise, step }
    }

    /// The last acknowledged op after which the name was durable, and those after it.
    fn since_name(&self) -> &'a [Step] {
        let named = self.acknowledged().iter().rposition(|step| step.sync.covers_name());
        &self.begun[named.unwrap_or(0)..]
    }

    /// Whether the file has a name that it did not have since its name was durable.
    fn is_misnamed(&self, found: &FoundFile) -> bool {
        !self.since_name().iter().any(|step| step.has_second_name == found.has_second_name)
    }

    /// The last op of a generation after which its contents were durable. A file that was synced
    /// before it got the name is so from the begin.
    fn contents_floor(&self, generation: u32) -> Option<usize> {
        let is_durable = |(at, step): &(usize, &Step)| {
            let is_acknowledged = *at < self.acknowledged || step.effect == Effect::Replace;
            step.sync.covers_contents() && is_acknowledged
        };
        self.steps_of(generation).rev().find(is_durable).map(|(at, _)| at)
    }

    /// Whether what was found is a mix of what the generation held since its contents were durable.
    fn satisfies(&self, found: &FoundFile, generation: u32) -> bool {
        let Some(from) = self.contents_floor(generation) else { return true };
        let since: Vec<&Contents> = self
            .steps_of(generation)
            .filter(|(at, _)| *at >= from)
            .filter_map(|(_, step)| contents(step))
            .collect();
        let sizes = || since.iter().map(|contents| contents.size());
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        if !(least..=most).contains(&found.size_bytes) {
            return false;
        }
        (0..least.div_ceil(SECTOR as u64)).all(|sector| {
            let bytes = (least - sector * SECTOR as u64).min(SECTOR as u64) as u16;
            since
                .iter()
                .any(|contents| found.holds(self.stamp, sector, contents.sector(sector), bytes))
        })
    }

    /// What became of each acknowledged op.
    pub fn fates(&self) -> Vec<Fate> {
        let (Some(found), Some(generation)) = (&self.found, self.generation) else {
            return self.fates_without_file();
        };
        let matches = self.newest_matches(found, generation);
        let largest_since = |at: usize| {
            let since = self.steps_of(generation).filter(|(other, _)| *other >= at);
            since.filter_map(|(_, step)| contents(step)).map(Contents::size).max()
        };
        let last_rename = self.begun.iter().rposition(|step| step.effect == Effect::Rename);
        let fate = |(at, step): (usize, &Step)| {
            if step.generation < generation || step.effect == Effect::Sync {
                return Fate::Superseded;
            }
            if step.generation > generation || step.effect == Effect::Delete {
                return lost_with_name(step);
            }
            if step.effect == Effect::Rename {
                return match step.has_second_name == found.has_second_name {
                    _ if last_rename != Some(at) => Fate::Superseded,
                    true => Fate::Survived,
                    false => lost_with_name(step),
                };
            }
            if step.effect == Effect::Truncate {
                let is_there = largest_since(at).is_some_and(|size| found.size_bytes <= size);
                let lost = Fate::LostMetadata { with_data: false };
                return if is_there { Fate::Survived } else { lost };
            }
            let written = step.from / SECTOR as u64..step.end.div_ceil(SECTOR as u64);
            let is_there = |sector: u64| {
                matches.get(sector as usize).is_some_and(|newest| newest.is_some_and(|it| it >= at))
            };
            if written.into_iter().all(is_there) { Fate::Survived } else { Fate::LostData }
        };
        self.acknowledged().iter().enumerate().map(fate).collect()
    }

    fn fates_without_file(&self) -> Vec<Fate> {
        let steps = self.acknowledged();
        let in_flight = &self.begun[self.acknowledged..];
        let is_delete = |step: &Step| step.effect == Effect::Delete;
        // A delete that had begun explains it.
        if in_flight.iter().any(is_delete) {
            return vec![Fate::Superseded; steps.len()];
        }
        let deleted = steps.iter().rposition(is_delete);
        let was_there = self.floor.is_some_and(|floor| {
            self.begun[floor].contents.is_some() && deleted.is_none_or(|at| floor > at)
        });
        let newest = steps.last().map_or(0, |step| step.generation);
        let fate = |(at, step): (usize, &Step)| match deleted {
            _ if step.effect == Effect::Sync => Fate::Superseded,
            Some(deleted) if at < deleted => Fate::Superseded,
            Some(deleted) if at == deleted => {
                let was_durable = self.floor.is_some_and(|floor| {
                    let is_gone = self.begun[floor].contents.is_none();
                    floor == at || (floor < at && !is_gone) || (floor > at && is_gone)
                });
                if was_durable { Fate::Survived } else { Fate::Superseded }
            }
            // Which of several inodes was the last under a name that was durable is not known.
            _ if was_there && step.generation < newest => Fate::Superseded,
            _ => lost_with_name(step),
        };
        steps.iter().enumerate().map(fate).collect()
    }

    /// Of each sector the last op of the generation after which the file held what was found.
    fn newest_matches(&self, found: &FoundFile, generation: u32) -> Vec<Option<usize>> {
        let largest = self.steps_of(generation).filter_map(|(_, step)| contents(step));
        let count = largest.map(sectors).max().unwrap_or(0);
        let newest = |sector: u64| {
            let holds = |(_, step): &(usize, &Step)| {
                contents(step).is_some_and(|it| found.has_sector_of(self.stamp, it, sector))
            };
            self.steps_of(generation).rev().find(holds).map(|(at, _)| at)
        };
        (0..count).map(newest).collect()
    }

    /// Bytes of the newest acknowledged contents that are not there.
    pub fn lost_bytes(&self) -> u64 {
        let Some(newest) = self.acknowledged().last() else { return 0 };
        let Some(expected) = contents(newest) else { return 0 };
        let (Some(found), Some(generation)) = (&self.found, self.generation) else {
            let deletes = self.begun[self.acknowledged..].iter();
            let is_deleted = deletes.into_iter().any(|step| step.effect == Effect::Delete);
            return if is_deleted { 0 } else { expected.size() };
        };
        if generation != newest.generation {
            return if generation < newest.generation { expected.size() } else { 0 };
        }
        let matches = self.newest_matches(found, generation);
        let mut last_writer = vec![0; sectors(expected) as usize];
        for (at, step) in self.steps_of(generation).filter(|(at, _)| *at < self.acknowledged) {
            let written = step.from / SECTOR as u64..step.end.div_ceil(SECTOR as u64);
            for sector in written {
                if let Some(last) = last_writer.get_mut(sector as usize) {
                    *last = at;
                }
            }
        }
        let lost = (0..).zip(last_writer).filter(|(sector, writer)| {
            let newest = matches.get(*sector as usize).copied().flatten();
            newest.is_none_or(|newest| newest < *writer)
        });
        lost.map(|(sector, _)| u64::from(expected.sector(sector).bytes)).sum()
    }

    /// Whether the file was acknowledged to be there and is not.
    pub fn is_name_lost(&self) -> bool {
        let is_there = self.acknowledged().last().is_some_and(|step| step.contents.is_some());
        let mut in_flight = self.begun[self.acknowledged..].iter();
        self.found.is_none() && is_there && !in_flight.any(|step| step.effect == Effect::Delete)
    }

    /// Whether its last inode was synced, whatever became of its name.
    pub fn was_synced(&self) -> bool {
        let last = self.acknowledged().last();
        last.is_some_and(|step| self.contents_floor(step.generation).is_some())
    }

    /// What became of a file that another one was renamed over; `None`: none was, or nothing had
    /// been durable before.
    pub fn replace_damage(&self) -> Option<ReplaceDamage> {
        let is_over =
            |pair: &[Step]| pair[0].contents.is_some() && pair[1].effect == Effect::Replace;
        let was_durable = self.floor.is_some_and(|floor| self.begun[floor].contents.is_some());
        if !was_durable || !self.begun.windows(2).any(is_over) || self.may_be_deleted() {
            return None;
        }
        let Some(found) = &self.found else { return Some(ReplaceDamage::Absent) };
        let states = self.begun.iter().filter_map(contents);
        if states.into_iter().any(|contents| found.is_exactly(self.stamp, contents)) {
            return Some(ReplaceDamage::Whole);
        }
        if found.size_bytes == 0 {
            return Some(ReplaceDamage::ZeroLength);
        }
        let worst = found.sectors.iter().zip(0..).map(|(sector, at)| self.damage(sector, at)).max();
        Some(worst.unwrap_or(ReplaceDamage::Partial))
    }

    fn may_be_deleted(&self) -> bool {
        let from = self.floor.unwrap_or(0);
        self.begun.iter().skip(from).any(|step| step.effect == Effect::Delete)
    }

    /// A sector of a file that is not whole.
    fn damage(&self, sector: &Sector, at: u32) -> ReplaceDamage {
        match sector {
            Sector::Foreign => ReplaceDamage::Foreign,
            _ if self.is_stale(sector, at) => ReplaceDamage::Stale,
            Sector::Zeros => ReplaceDamage::Zeros,
            _ => ReplaceDamage::Partial,
        }
    }

    /// Whether a sector belongs to another file or place, or to an inode that the name had before
    /// the one that is there.
    pub fn is_stale(&self, sector: &Sector, at: u32) -> bool {
        let Sector::Stamp { stamp, sector, .. } = sector else { return false };
        let generation = self.history.generation_of.get(&stamp.version).copied();
        Stamp { version: 0, ..*stamp } != self.own()
            || *sector != at
            || generation != self.generation
    }

    /// What is behind the part of a file that was synced, where ops appended to it that were not.
    pub fn append_tail(&self) -> Option<AppendTail> {
        let last = self.acknowledged().last().filter(|step| step.contents.is_some())?;
        let floor = self.contents_floor(last.generation);
        let is_append = |(at, step): &(usize, &Step)| {
            step.effect == Effect::Write
                && *at < self.acknowledged
                && floor.is_none_or(|floor| *at > floor)
                && contents(&self.begun[at - 1]).is_some_and(|before| step.from == before.size())
        };
        let appended = self.steps_of(last.generation).filter(is_append).count();
        if appended == 0 || self.may_be_deleted() {
            return None;
        }
        let Some(found) = &self.found else { return Some(AppendTail::Absent) };
        let expected = contents(last)?;
        let synced = floor.and_then(|at| contents(&self.begun[at])).map_or(0, Contents::size);
        let tail = (synced / SECTOR as u64) as usize;
        let sectors = (0..).zip(&found.sectors).skip(tail);
        if sectors
            .clone()
            .any(|(at, sector)| *sector == Sector::Foreign || self.is_stale(sector, at))
        {
            return Some(AppendTail::Stale);
        }
        let has_zeros = sectors.map(|(at, _)| u64::from(at)).any(|at| {
            let bytes = found.bytes(at);
            let newest = self.steps_of(last.generation).filter_map(|(_, step)| contents(step));
            let mut full = newest.filter(|contents| contents.sector(at).bytes >= bytes);
            !full.any(|it| found.holds(self.stamp, at, it.sector(at), bytes))
        });
        if has_zeros {
            return Some(AppendTail::Zeros);
        }
        let is_whole = found.size_bytes >= expected.size();
        Some(if is_whole { AppendTail::Whole } else { AppendTail::Prefix })
    }

    /// What was found, in words.
    pub fn words(&self) -> String {
        let Some(found) = &self.found else { return "the name is not there".to_owned() };
        let count = |counts: &dyn Fn(u32, &Sector) -> bool| {
            (0..).zip(&found.sectors).filter(|(at, sector)| counts(*at, sector)).count()
        };
        let zeros = count(&|_, sector| *sector == Sector::Zeros);
        let foreign = count(&|_, sector| *sector == Sector::Foreign);
        let stale = count(&|at, sector| self.is_stale(sector, at));
        let size = found.size_bytes;
        format!("{size} bytes; sectors of zeros {zeros}, stale {stale}, foreign {foreign}")
    }
}

/// What is behind the part that was synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AppendTail {
    Whole,
    Prefix,
    Zeros,
    Stale,
    Absent,
}

fn lost_with_name(step: &Step) -> Fate {
    match step.effect {
        Effect::Write => Fate::LostData,
        Effect::Create | Effect::Replace => Fate::LostMetadata { with_data: step.end > step.from },
        Effect::Truncate | Effect::Rename | Effect::Delete => {
            Fate::LostMetadata { with_data: false }
        }
        Effect::Sync => Fate::Superseded,
    }
}

/// The last of the acknowledged ops after which name and contents were durable.
fn floor(acknowledged: &[Step]) -> Option<usize> {
    let mut floor: Option<usize> = None;
    for (at, step) in acknowledged.iter().enumerate() {
        let known = floor.is_some_and(|floor| {
            acknowledged[floor].generation == step.generation
                && acknowledged[floor].contents.is_some()
        });
        let covers = match step.effect {
            Effect::Create | Effect::Replace | Effect::Rename | Effect::Delete => {
                step.sync.covers_name()
            }
            Effect::Sync => true,
            Effect::Write | Effect::Truncate => {
                step.sync.covers_name() || (known && step.sync.covers_contents())
            }
        };
        if covers {
            floor = Some(at);
        }
    }
    floor
}
