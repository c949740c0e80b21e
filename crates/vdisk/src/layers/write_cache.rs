//! A volatile cache of writes over a disk: a write completes when its data have crossed the
//! interface; the cache writes them to the medium later, in the order of their places, adjacent
//! ones together.
//!
//! It writes when nothing was asked for a while, when it is more than half full, and on a flush,
//! which completes when everything that was written before it is on the medium.

use super::extents::{Extent, Extents};
use crate::finished::{Finished, earlier, transfer_ns};
use crate::request::{ALL_TAGS, Completion, DeviceModel, HOST_TAGS, Op, Request, SECTOR_BYTES};
use crate::sheet::WriteCacheSheet;
use std::collections::VecDeque;

/// A cache over a disk.
#[derive(Clone, Debug)]
pub struct WriteCache<M> {
    below: M,
    sheet: WriteCacheSheet,
    most_sectors: u64,
    most_extents: usize,
    destage_sectors: u64,
    dirty: Extents,
    /// What is on its way to the medium, by tag.
    on_the_way: Vec<Option<Extent>>,
    on_the_way_count: usize,
    on_the_way_sectors: u64,
    /// Where the last of them ended.
    position: u64,
    /// Number of the latest write.
    number: u64,
    /// Tag of a flush, and the number of the latest write before it.
    flushes: VecDeque<(u16, u64)>,
    /// Writes that wait for room.
    blocked: VecDeque<Request>,
    /// Requests of the driver that the disk below works on.
    passed: usize,
    bus_ns: u64,
    /// When the driver last asked for something.
    asked_ns: u64,
    finished: Finished,
}

impl<M: DeviceModel> WriteCache<M> {
    #[must_use]
    pub fn new(sheet: &WriteCacheSheet, below: M) -> Self {
        let most_extents = usize::try_from(sheet.extents).unwrap_or(1);
        let depth = usize::try_from(sheet.destage_depth).unwrap_or(1).min(ALL_TAGS - HOST_TAGS);
        Self {
            below,
            most_sectors: sheet.capacity_bytes / SECTOR_BYTES,
            most_extents,
            destage_sectors: sheet.destage_bytes / SECTOR_BYTES,
            // A request of the largest size may come to an empty cache; a discard may split.
            dirty: Extents::new(most_extents + ALL_TAGS),
            on_the_way: vec![None; depth],
            on_the_way_count: 0,
            on_the_way_sectors: 0,
            position: 0,
            number: 0,
            flushes: VecDeque::with_capacity(HOST_TAGS),
            blocked: VecDeque::with_capacity(HOST_TAGS),
            passed: 0,
            bus_ns: 0,
            asked_ns: 0,
            finished: Finished::new(),
            sheet: sheet.clone(),
        }
    }

    /// The disk below.
    pub fn below(&self) -> &M {
        &self.below
    }

    /// Dirty bytes, those on their way to the medium included.
    #[must_use]
    pub fn dirty_bytes(&self) -> u64 {
        (self.dirty.sectors() + self.on_the_way_sectors) * SECTOR_BYTES
    }

    /// Everything that happens up to a time.
    fn advance(&mut self, now_ns: u64) {
        while let Some(at_ns) = self.next_inside_ns().filter(|at_ns| *at_ns <= now_ns) {
            while let Some(done) = self.below.poll(at_ns) {
                self.completed(done);
            }
            self.destage(at_ns);
        }
    }

    /// When something happens below, or the cache begins to write because nothing is asked.
    fn next_inside_ns(&self) -> Option<u64> {
        earlier(self.below.next_event_ns(), self.idle_at_ns())
    }

    /// When it begins to write because nothing is asked; `None` where it writes already, or waits
    /// for the disk.
    fn idle_at_ns(&self) -> Option<u64> {
        let waits = !self.dirty.is_empty() && self.on_the_way_count == 0 && self.passed == 0;
        waits.then_some(self.asked_ns + self.sheet.idle_ns)
    }

    /// The disk below is done with something.
    fn completed(&mut self, done: Completion) {
        let own = usize::from(done.tag).checked_sub(HOST_TAGS);
        match own.and_then(|own| self.on_the_way[own].take()) {
            Some(extent) => {
                self.on_the_way_count -= 1;
                self.on_the_way_sectors -= extent.sectors();
                self.complete_flushes(done.at_ns);
                self.admit(done.at_ns);
            }
            None => {
                self.passed -= 1;
                self.finished.add_with(done.tag, done.at_ns, done.outcome);
            }
        }
    }

    /// Completes the flushes that have nothing to wait for any more.
    fn complete_flushes(&mut self, now_ns: u64) {
        if self.flushes.is_empty() {
            return;
        }
        let way = self.on_the_way.iter().flatten().map(|extent| extent.number).min();
        let oldest = earlier(self.dirty.earliest(), way).unwrap_or(u64::MAX);
        while let Some((tag, _)) = self.flushes.front().copied().filter(|(_, n)| *n < oldest) {
            self.flushes.pop_front();
            self.finished.add(tag, now_ns);
        }
    }

    /// Whether there is room for a write now.
    fn has_room(&self, request: &Request) -> bool {
        let sectors = self.dirty.sectors() + self.on_the_way_sectors;
        if self.dirty.is_empty() && self.on_the_way_count == 0 {
            return true;
        }
        let one_more = self.dirty.makes_one_more(&(request.sector..request.end()));
        sectors + u64::from(request.sectors) <= self.most_sectors
            && (!one_more || self.dirty.len() < self.most_extents)
    }

    /// Takes the writes that have room now, in their order.
    fn admit(&mut self, now_ns: u64) {
        while let Some(request) = self.blocked.front().copied() {
            if !self.has_room(&request) {
                break;
            }
            self.blocked.pop_front();
            self.accept(now_ns, request);
        }
    }

    /// Takes the data of a write.
    fn accept(&mut self, now_ns: u64, request: Request) {
        self.number += 1;
        self.dirty.add(request.sector..request.end(), self.number);
        let from_ns = self.bus_ns.max(now_ns + self.sheet.command_ns);
        self.bus_ns = from_ns + transfer_ns(request.bytes(), self.sheet.bus_bytes_per_s);
        self.finished.add(request.tag, self.bus_ns);
    }

    /// Whether dirty data are to be written now.
    fn is_to_destage(&self, now_ns: u64) -> bool {
        let is_pressed = !self.flushes.is_empty() || !self.blocked.is_empty();
        let sectors = self.dirty.sectors() + self.on_the_way_sectors;
        let is_half_full =
            sectors * 2 > self.most_sectors || self.dirty.len() * 2 > self.most_extents;
        let is_idle = self.passed == 0 && now_ns >= self.asked_ns + self.sheet.idle_ns;
        !self.dirty.is_empty() && (is_pressed || is_half_full || is_idle)
    }

    /// Sends dirty data to the medium.
    fn destage(&mut self, now_ns: u64) {
        while self.is_to_destage(now_ns) {
            let Some(own) = self.on_the_way.iter().position(Option::is_none) else { break };
            let taken = self.dirty.take_next(self.position, self.destage_sectors);
            let Some(extent) = taken else { break };
            self.position = extent.to;
            self.on_the_way[own] = Some(extent);
            self.on_the_way_count += 1;
            self.on_the_way_sectors += extent.sectors();
            let tag = u16::try_from(HOST_TAGS + own).unwrap_or(u16::MAX);
            let sectors = u32::try_from(extent.sectors()).unwrap_or(u32::MAX);
            self.below.submit(now_ns, Request::write(tag, extent.from, sectors));
        }
    }

    /// Hands a request of the driver down.
    fn pass(&mut self, now_ns: u64, request: Request) {
        self.passed += 1;
        self.below.submit(now_ns, request);
    }

    fn is_on_the_way(&self, request: &Request) -> bool {
        let mut all = self.on_the_way.iter().flatten();
        all.any(|extent| extent.from <= request.sector && request.end() <= extent.to)
    }
}

impl<M: DeviceModel> DeviceModel for WriteCache<M> {
    fn submit(&mut self, now_ns: u64, request: Request) {
        self.advance(now_ns);
        self.asked_ns = now_ns;
        let sectors = request.sector..request.end();
        match request.op {
            Op::Read if self.dirty.holds(&sectors) || self.is_on_the_way(&request) => {
                let bus_ns = transfer_ns(request.bytes(), self.sheet.bus_bytes_per_s);
                self.finished.add(request.tag, now_ns + self.sheet.command_ns + bus_ns);
            }
            Op::Read => self.pass(now_ns, request),
            Op::Write if request.fua => {
                self.dirty.remove(&sectors);
                self.pass(now_ns, request);
            }
            Op::Write if self.blocked.is_empty() && self.has_room(&request) => {
                self.accept(now_ns, request);
            }
            Op::Write => self.blocked.push_back(request),
            Op::Flush if self.dirty.is_empty() && self.on_the_way_count == 0 => {
                self.finished.add(request.tag, now_ns + self.sheet.command_ns);
            }
            Op::Flush => self.flushes.push_back((request.tag, self.number)),
            Op::Discard => {
                self.dirty.remove(&sectors);
                self.complete_flushes(now_ns);
                self.pass(now_ns, request);
            }
        }
        self.destage(now_ns);
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        self.advance(now_ns);
        self.finished.take(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.finished.next_ns(), self.next_inside_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::Constant;
    use crate::sheet::ConstantSheet;

    fn cache() -> WriteCache<Constant> {
        let disk = ConstantSheet {
            read_ns: 5_000_000,
            write_ns: 5_000_000,
            flush_ns: 0,
            discard_ns: 1000,
            bytes_per_s: 100_000_000,
            servers: 1,
        };
        let sheet = WriteCacheSheet {
            capacity_bytes: 64 << 10,
            extents: 8,
            destage_depth: 2,
            destage_bytes: 32 << 10,
            idle_ns: 10_000_000,
            command_ns: 50_000,
            bus_bytes_per_s: 100_000_000,
        };
        WriteCache::new(&sheet, Constant::new(&disk))
    }

    /// All completions, by tag, with their times.
    fn drain(cache: &mut WriteCache<Constant>) -> Vec<(u16, u64)> {
        let mut all = Vec::new();
        while let Some(next_ns) = cache.next_event_ns() {
            all.extend(std::iter::from_fn(|| cache.poll(next_ns)).map(|one| (one.tag, one.at_ns)));
        }
        all
    }

    #[test]
    fn a_write_completes_before_the_medium_has_it_and_a_flush_after() {
        let mut cache = cache();
        cache.submit(0, Request::write(1, 100, 8));
        assert_eq!(drain(&mut cache.clone()), [(1, 90_960)]);
        cache.submit(100_000, Request::flush(2));
        assert_eq!(drain(&mut cache), [(1, 90_960), (2, 5_140_960)]);
        assert_eq!(cache.dirty_bytes(), 0);
        cache.submit(9_000_000, Request::flush(3));
        assert_eq!(drain(&mut cache), [(3, 9_050_000)]);
    }

    #[test]
    fn an_idle_cache_empties_itself_and_serves_reads_of_what_it_holds() {
        let mut cache = cache();
        cache.submit(0, Request::write(1, 100, 8));
        cache.submit(0, Request::read(2, 102, 2));
        assert!(cache.poll(1_000_000).is_some() && cache.poll(1_000_000).is_some());
        assert_eq!((cache.dirty_bytes(), cache.next_event_ns()), (4096, Some(10_000_000)));
        assert!(drain(&mut cache).is_empty());
        assert_eq!(cache.dirty_bytes(), 0);
        cache.submit(20_000_000, Request::read(3, 102, 2));
        assert!(drain(&mut cache)[0].1 > 25_000_000, "the disk has it now");
    }

    #[test]
    fn adjacent_writes_go_to_the_medium_together() {
        let mut cache = cache();
        (0..4).for_each(|at| cache.submit(0, Request::write(at, u64::from(at) * 8, 8)));
        cache.submit(400_000, Request::flush(9));
        let done = drain(&mut cache);
        assert_eq!(done[4], (9, 400_000 + 5_000_000 + 163_840));
    }

    #[test]
    fn a_full_cache_lets_writes_wait_in_their_order() {
        let mut cache = cache();
        (0..6).for_each(|at| cache.submit(0, Request::write(at, u64::from(at) * 1000, 32)));
        let done = drain(&mut cache);
        assert_eq!(done.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert!(done[3].1 < 1_000_000 && done[4].1 > 5_000_000, "{done:?}");
    }

    #[test]
    fn force_unit_access_and_discard_leave_nothing_dirty_behind() {
        let mut cache = cache();
        cache.submit(0, Request::write(1, 100, 8));
        cache.submit(0, Request::write_fua(2, 100, 8));
        assert_eq!(cache.dirty_bytes(), 0);
        let done = drain(&mut cache);
        assert_eq!(done[1], (2, 5_040_960));
        cache.submit(6_000_000, Request::write(3, 100, 8));
        cache.submit(6_000_000, Request::discard(4, 96, 16));
        assert_eq!(cache.dirty_bytes(), 0);
        assert_eq!(drain(&mut cache).len(), 2);
    }
}
