//! The write log walked through once, entry by entry: which entries a power cut could take back at
//! each place, and a hash of what is on the medium.
//!
//! The hash is of the map from sectors to the entries that they are of, so that two states with an
//! equal hash hold the same bytes. It is carried along and costs a state only the sectors in which
//! it differs from the state with everything.

use crate::stamp::mixed;
use crate::survivors::{Survivors, Torn};
use fsarena_vdisk::{Entry, EntryKind, WriteLog};
use std::collections::{BTreeMap, HashMap};

/// Of sectors that no entry has written, and of those discarded: zeros, whoever discarded them.
const DISCARDED: u64 = u64::MAX;

/// The log up to a place.
pub(crate) struct Sweep<'a> {
    entries: &'a [Entry],
    count: usize,
    /// Entries that touched a sector, in their order.
    touching: HashMap<u64, Vec<u32>>,
    /// Of all sectors as they are when everything survives.
    hash: u64,
    /// Writes and discards that a power cut can take back, in their order.
    open: Vec<u32>,
    /// Of each place in the log, when the first of the entries from there on was submitted.
    first_submitted_ns: Vec<u64>,
}

/// What is there of the entries that a power cut can take back or bring.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Part {
    /// Of those that had completed.
    pub survivors: Survivors,
    /// Of those that were on their way, those that are there.
    pub in_flight: Vec<u32>,
    pub torn: Option<Torn>,
}

impl<'a> Sweep<'a> {
    pub fn new(log: &'a WriteLog) -> Self {
        let mut first_submitted_ns: Vec<u64> =
            log.entries().iter().map(|entry| entry.submitted_ns).collect();
        let mut first_ns = u64::MAX;
        for submitted_ns in first_submitted_ns.iter_mut().rev() {
            first_ns = first_ns.min(*submitted_ns);
            *submitted_ns = first_ns;
        }
        let (touching, open) = (HashMap::new(), Vec::new());
        Self { entries: log.entries(), count: 0, touching, hash: 0, open, first_submitted_ns }
    }

    /// Walks on to where the first `count` entries have completed.
    pub fn advance(&mut self, count: usize) {
        while self.count < count.min(self.entries.len()) {
            let (number, entry) = (self.count as u32, &self.entries[self.count]);
            self.count += 1;
            match entry.kind {
                EntryKind::Flush => {
                    let covered_ns = entry.submitted_ns;
                    let entries = self.entries;
                    self.open.retain(|at| entries[*at as usize].completed_ns > covered_ns);
                }
                EntryKind::Mark | EntryKind::FlushLost => {}
                _ => self.write(number, entry),
            }
        }
    }

    fn write(&mut self, number: u32, entry: &Entry) {
        if is_large(entry) {
            self.hash ^= part_of_large(number);
            self.open.push(number);
            return;
        }
        for sector in entry.sector..entry.sector.saturating_add(entry.sectors) {
            let touching = self.touching.entry(sector).or_default();
            self.hash ^= part_of(sector, touching.last(), self.entries);
            touching.push(number);
            self.hash ^= part_of(sector, Some(&number), self.entries);
        }
        if entry.kind != EntryKind::WriteFua && entry.sectors > 0 {
            self.open.push(number);
        }
    }

    /// Entries that a power cut can take back here.
    pub fn open(&self) -> &[u32] {
        &self.open
    }

    /// The same where only flushes count that had completed by a time: also forced writes can be
    /// taken back that completed after it.
    pub fn open_since(&self, honest_until_ns: u64) -> Vec<u32> {
        open_of(&self.entries[..self.count], honest_until_ns)
    }

    /// Writes and discards that were submitted before a time and have not completed here.
    pub fn in_flight(&self, at_ns: u64) -> Vec<u32> {
        let rest = (self.count..self.entries.len())
            .take_while(|at| self.first_submitted_ns[*at] < at_ns)
            .filter(|at| {
                let entry = &self.entries[*at];
                let has_contents = entry.kind.is_write() || entry.kind == EntryKind::Discard;
                has_contents && entry.sectors > 0 && entry.submitted_ns < at_ns
            });
        rest.map(|at| at as u32).collect()
    }

    /// The hash of what is there, when of `open` only the survivors are, and of those on their way
    /// those of the part.
    pub fn contents(&self, open: &[u32], part: &Part) -> u64 {
        let Part { survivors, in_flight, torn } = part;
        let is_lost =
            |number: u32| open.binary_search(&number).is_ok() && !survivors.contains(number);
        let is_cut = |number: u32, sector: u64| {
            torn.is_some_and(|torn| {
                let from = self.entries[number as usize].sector + u64::from(torn.sectors);
                torn.entry == number && sector >= from
            })
        };
        let is_in = |number: u32, sector: u64| {
            let entry = &self.entries[number as usize];
            let sectors = entry.sector..entry.sector.saturating_add(entry.sectors);
            !is_large(entry) && sectors.contains(&sector)
        };
        let mut hash = self.hash;
        // Each sector once, however many of these entries touched it.
        let mut changed = BTreeMap::new();
        let torn = torn.map(|torn| torn.entry).filter(|number| (*number as usize) < self.count);
        let lost = open.iter().copied().filter(|number| is_lost(*number));
        for number in lost.chain(torn).chain(in_flight.iter().copied()) {
            let entry = &self.entries[number as usize];
            if is_large(entry) {
                hash ^= part_of_large(number);
                continue;
            }
            for sector in entry.sector..entry.sector.saturating_add(entry.sectors) {
                changed.insert(sector, ());
            }
        }
        for sector in changed.into_keys() {
            let touching = self.touching.get(&sector).map_or(&[][..], Vec::as_slice);
            let completed = touching.iter().filter(|number| !is_lost(**number));
            let came = in_flight.iter().filter(|number| is_in(**number, sector));
            let owner = completed.chain(came).rfind(|number| !is_cut(**number, sector));
            hash ^= part_of(sector, touching.last(), self.entries);
            hash ^= part_of(sector, owner, self.entries);
        }
        hash
    }
}

/// A discard of so many sectors (32 MiB) counts as one, as one of a whole disk does: states that it
/// covers may be taken for different where they hold the same, and never the other way round.
const LARGE_SECTORS: u64 = 1 << 16;

fn is_large(entry: &Entry) -> bool {
    entry.kind == EntryKind::Discard && entry.sectors >= LARGE_SECTORS
}

/// What a large discard adds to the hash.
fn part_of_large(number: u32) -> u64 {
    mixed(!mixed(u64::from(number)))
}

/// What a sector adds to the hash.
fn part_of(sector: u64, owner: Option<&u32>, entries: &[Entry]) -> u64 {
    let Some(number) = owner else { return 0 };
    let is_discard = entries[*number as usize].kind == EntryKind::Discard;
    let owner = if is_discard { DISCARDED } else { u64::from(*number) };
    mixed(mixed(sector) ^ owner)
}

/// Writes and discards that no flush covers which had completed by a time, in their order.
pub(crate) fn open_of(entries: &[Entry], honest_until_ns: u64) -> Vec<u32> {
    let flushes = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Flush && entry.completed_ns <= honest_until_ns);
    let covered_ns = flushes.map(|entry| entry.submitted_ns).max();
    let is_open = |entry: &Entry| match entry.kind {
        EntryKind::Flush | EntryKind::FlushLost | EntryKind::Mark => false,
        EntryKind::WriteFua if entry.completed_ns <= honest_until_ns => false,
        _ => entry.sectors > 0 && covered_ns.is_none_or(|at_ns| entry.completed_ns > at_ns),
    };
    let open = (0_u32..).zip(entries).filter(|(_, entry)| is_open(entry));
    open.map(|(number, _)| number).collect()
}
