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
}

impl<'a> Sweep<'a> {
    pub fn new(log: &'a WriteLog) -> Self {
        let (touching, open) = (HashMap::new(), Vec::new());
        Self { entries: log.entries(), count: 0, touching, hash: 0, open }
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
                EntryKind::Mark => {}
                _ => self.write(number, entry),
            }
        }
    }

    fn write(&mut self, number: u32, entry: &Entry) {
        for sector in entry.sector..entry.sector.saturating_add(entry.sectors) {
            let touching = self.touching.entry(sector).or_default();
            self.hash ^= part(sector, touching.last(), self.entries);
            touching.push(number);
            self.hash ^= part(sector, Some(&number), self.entries);
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

    /// The hash of what is there, when of `open` only the survivors are.
    pub fn contents(&self, open: &[u32], survivors: &Survivors, torn: Option<Torn>) -> u64 {
        let is_lost =
            |number: u32| open.binary_search(&number).is_ok() && !survivors.contains(number);
        let is_cut = |number: u32, sector: u64| {
            torn.is_some_and(|torn| {
                let from = self.entries[number as usize].sector + u64::from(torn.sectors);
                torn.entry == number && sector >= from
            })
        };
        let mut hash = self.hash;
        // Each sector once, however many of the lost entries touched it.
        let mut changed = BTreeMap::new();
        let torn = torn.map(|torn| torn.entry).filter(|number| (*number as usize) < self.count);
        for number in open.iter().copied().filter(|number| is_lost(*number)).chain(torn) {
            let entry = &self.entries[number as usize];
            for sector in entry.sector..entry.sector.saturating_add(entry.sectors) {
                changed.insert(sector, ());
            }
        }
        for sector in changed.into_keys() {
            let Some(touching) = self.touching.get(&sector) else { continue };
            let there = |number: &&u32| !is_lost(**number) && !is_cut(**number, sector);
            hash ^= part(sector, touching.last(), self.entries);
            hash ^= part(sector, touching.iter().rev().find(there), self.entries);
        }
        hash
    }
}

/// What a sector adds to the hash.
fn part(sector: u64, owner: Option<&u32>, entries: &[Entry]) -> u64 {
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
        EntryKind::Flush | EntryKind::Mark => false,
        EntryKind::WriteFua if entry.completed_ns <= honest_until_ns => false,
        _ => entry.sectors > 0 && covered_ns.is_none_or(|at_ns| entry.completed_ns > at_ns),
    };
    let open = (0_u32..).zip(entries).filter(|(_, entry)| is_open(entry));
    open.map(|(number, _)| number).collect()
}
