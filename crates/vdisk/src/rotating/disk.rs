//! The disk at work: its queue, the one request that its mechanics are busy with, and its cache.

use super::geometry::{Geometry, Location};
use super::read_cache::{Found, ReadCache};
use super::seek::SeekTable;
use crate::finished::{Finished, earlier, transfer_ns};
use crate::request::{ALL_TAGS, Completion, DeviceModel, Op, Request};
use crate::sheet::{Ordering, RotatingSheet};
use crate::splitmix::mixed;

/// A rotating disk.
#[derive(Clone, Debug)]
pub struct Rotating {
    sheet: RotatingSheet,
    geometry: Geometry,
    seeks: SeekTable,
    cache: ReadCache,
    /// What the angle is ahead of the time.
    phase_ns: u64,
    head: Head,
    /// Requests by tag; those that wait are in `waiting`, in the order of their arrival.
    slots: Vec<Slot>,
    waiting: Vec<u16>,
    busy: Option<Busy>,
    finished: Finished,
}

/// Where the head is.
#[derive(Clone, Copy, Debug)]
struct Head {
    cylinder: u64,
    surface: u64,
}

/// A request of the queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    arrived_ns: u64,
    /// When its command has been taken in, and of a write its data.
    ready_ns: u64,
    cylinder: u64,
    surface: u64,
    /// Angle of its first sector.
    angle_ns: u64,
    transfer_ns: u64,
}

/// What the mechanics do.
#[derive(Clone, Copy, Debug)]
struct Busy {
    until_ns: u64,
    /// When the request completes.
    done_ns: u64,
    tag: u16,
}

impl Rotating {
    /// A disk of this capacity; the seed decides at which angle it is at the time 0.
    #[must_use]
    pub fn new(sheet: &RotatingSheet, capacity_bytes: u64, seed: u64) -> Self {
        let geometry = Geometry::new(sheet, capacity_bytes);
        let seeks = SeekTable::new(sheet, geometry.cylinders());
        let none = Slot {
            request: Request::flush(0),
            arrived_ns: 0,
            ready_ns: 0,
            cylinder: 0,
            surface: 0,
            angle_ns: 0,
            transfer_ns: 0,
        };
        Self {
            sheet: sheet.clone(),
            phase_ns: mixed(seed) % geometry.revolution_ns,
            geometry,
            seeks,
            cache: ReadCache::new(sheet),
            head: Head { cylinder: 0, surface: 0 },
            slots: vec![none; ALL_TAGS],
            waiting: Vec::with_capacity(ALL_TAGS),
            busy: None,
            finished: Finished::new(),
        }
    }

    /// Its layout.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Everything that happens up to a time.
    fn advance(&mut self, now_ns: u64) {
        while let Some(busy) = self.busy.filter(|busy| busy.until_ns <= now_ns) {
            self.busy = None;
            self.complete(busy);
            self.start(busy.until_ns);
        }
    }

    /// The mechanics are done with a request.
    fn complete(&mut self, busy: Busy) {
        let request = self.slots[usize::from(busy.tag)].request;
        let last = self.geometry.locate(request.end() - 1);
        self.head = Head { cylinder: last.cylinder, surface: last.head };
        if request.op == Op::Read {
            let sectors = request.sector..request.end();
            self.cache.filled(busy.until_ns, &self.geometry, sectors);
        }
        self.finished.add(busy.tag, busy.done_ns);
    }

    /// Begins the next request, where there is one and the mechanics are free.
    fn start(&mut self, now_ns: u64) {
        if self.busy.is_some() || self.waiting.is_empty() {
            return;
        }
        if let Some(sector) = self.cache.stop(now_ns, &self.geometry) {
            let at = self.geometry.locate(sector.min(self.geometry.sectors() - 1));
            self.head = Head { cylinder: at.cylinder, surface: at.head };
        }
        let at = self.choose(now_ns);
        let tag = self.waiting.remove(at);
        let slot = self.slots[usize::from(tag)];
        let until_ns = now_ns + self.positioning_ns(now_ns, &slot) + slot.transfer_ns;
        self.busy = Some(Busy { until_ns, done_ns: until_ns, tag });
    }

    /// Which of the waiting requests is next.
    fn choose(&self, now_ns: u64) -> usize {
        let slot = |at: usize| &self.slots[usize::from(self.waiting[at])];
        let of_host = (0..self.waiting.len()).find(|at| !slot(*at).request.is_internal());
        if let Some(first) = of_host {
            let waits_long = now_ns.saturating_sub(slot(first).arrived_ns) > self.sheet.age_ns;
            if self.sheet.ordering == Ordering::Fifo || waits_long {
                return first;
            }
        }
        let (mut best, mut best_ns) = (0, u64::MAX);
        for at in 0..self.waiting.len() {
            let takes_ns = self.positioning_ns(now_ns, slot(at));
            if takes_ns < best_ns {
                (best, best_ns) = (at, takes_ns);
            }
        }
        best
    }

    /// The time until the first sector of a request is under the head.
    fn positioning_ns(&self, now_ns: u64, slot: &Slot) -> u64 {
        let waits_ns = slot.ready_ns.saturating_sub(now_ns);
        let distance = slot.cylinder.abs_diff(self.head.cylinder);
        let moves_ns = if distance == 0 {
            if slot.surface == self.head.surface { 0 } else { self.sheet.head_switch_ns }
        } else if slot.request.op == Op::Write {
            self.seeks.time_ns(distance) + self.sheet.write_settle_ns
        } else {
            self.seeks.time_ns(distance)
        };
        let there_ns = waits_ns + moves_ns;
        let revolution_ns = self.geometry.revolution_ns;
        let angle_ns = (now_ns + self.phase_ns + there_ns) % revolution_ns;
        let turn_ns = if slot.angle_ns >= angle_ns { 0 } else { revolution_ns };
        there_ns + turn_ns + slot.angle_ns - angle_ns
    }

    /// Puts a request into the queue.
    fn enqueue(&mut self, now_ns: u64, ready_ns: u64, request: Request) {
        let Location { cylinder, head, stream_ns } = self.geometry.locate(request.sector);
        let transfer_ns = self.geometry.end_ns(request.end() - 1) - stream_ns;
        self.slots[usize::from(request.tag)] = Slot {
            request,
            arrived_ns: now_ns,
            ready_ns,
            cylinder,
            surface: head,
            angle_ns: stream_ns % self.geometry.revolution_ns,
            transfer_ns,
        };
        self.waiting.push(request.tag);
        self.start(now_ns);
    }

    fn read(&mut self, now_ns: u64, request: Request) {
        let command_ns = now_ns + self.sheet.command_ns;
        let bus_ns = transfer_ns(request.bytes(), self.sheet.bus_bytes_per_s);
        let is_idle = self.busy.is_none();
        let (from, to) = (request.sector, request.end());
        match self.cache.find(now_ns, &self.geometry, from..to, is_idle) {
            Found::All => self.finished.add(request.tag, command_ns + bus_ns),
            Found::Until(until_ns) => {
                self.slots[usize::from(request.tag)].request = request;
                let done_ns = until_ns.max(command_ns + bus_ns);
                self.busy = Some(Busy { until_ns, done_ns, tag: request.tag });
            }
            Found::Nothing => self.enqueue(now_ns, command_ns, request),
        }
    }
}

impl DeviceModel for Rotating {
    fn submit(&mut self, now_ns: u64, request: Request) {
        self.advance(now_ns);
        match request.op {
            Op::Flush | Op::Discard => {
                self.finished.add(request.tag, now_ns + self.sheet.command_ns);
            }
            Op::Read => self.read(now_ns, request),
            Op::Write => {
                self.cache.written(now_ns, &self.geometry, request.sector..request.end());
                let ready_ns = if request.is_internal() {
                    now_ns
                } else {
                    let bus_ns = transfer_ns(request.bytes(), self.sheet.bus_bytes_per_s);
                    now_ns + self.sheet.command_ns + bus_ns
                };
                self.enqueue(now_ns, ready_ns, request);
            }
        }
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        self.advance(now_ns);
        self.finished.take(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.finished.next_ns(), self.busy.map(|busy| busy.until_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::seek::tests::sheet;
    use super::*;
    use crate::request::SECTOR_BYTES;

    const CAPACITY: u64 = 100_000_000_000;

    /// Submits one request and gives the time of its end.
    fn one(disk: &mut Rotating, now_ns: u64, request: Request) -> u64 {
        disk.submit(now_ns, request);
        loop {
            let next_ns = disk.next_event_ns().expect("a request is outstanding");
            if let Some(done) = disk.poll(next_ns) {
                return done.at_ns;
            }
        }
    }

    #[test]
    fn sequential_reads_run_at_the_rate_of_the_track() {
        let mut disk = Rotating::new(&sheet(), CAPACITY, 1);
        let mut now_ns = one(&mut disk, 0, Request::read(0, 0, 2048));
        let begin_ns = now_ns;
        for at in 1..=100 {
            now_ns = one(&mut disk, now_ns, Request::read(0, at * 2048, 2048));
        }
        let rate = 100.0 * 1024.0 * 1024.0 / (now_ns - begin_ns) as f64 * 1e3;
        // 1000 sectors a revolution, less the head switches.
        assert!((55.0..=61.5).contains(&rate), "{rate} MB/s");
    }

    #[test]
    fn writing_one_place_again_takes_a_revolution() {
        let mut disk = Rotating::new(&sheet(), CAPACITY, 1);
        let first_ns = one(&mut disk, 0, Request::write(0, 5000, 8));
        let second_ns = one(&mut disk, first_ns, Request::write(0, 5000, 8));
        assert_eq!(second_ns - first_ns, disk.geometry.revolution_ns);
    }

    #[test]
    fn a_repeated_read_comes_from_the_cache_until_it_is_written_to() {
        let mut disk = Rotating::new(&sheet(), CAPACITY, 1);
        let first_ns = one(&mut disk, 0, Request::read(0, 5000, 8));
        let again_ns = one(&mut disk, first_ns, Request::read(0, 5000, 8));
        assert_eq!(again_ns - first_ns, 100_000 + 4096 * 1_000 / 300);
        let written_ns = one(&mut disk, again_ns, Request::write(0, 5000, 8));
        let read_ns = one(&mut disk, written_ns, Request::read(0, 5000, 8));
        assert!(read_ns - written_ns > 1_000_000);
    }

    #[test]
    fn the_nearest_request_is_next_unless_the_order_is_kept() {
        let far = CAPACITY / SECTOR_BYTES - 1000;
        let order = |ordering| {
            let mut disk = Rotating::new(&RotatingSheet { ordering, ..sheet() }, CAPACITY, 1);
            disk.submit(0, Request::read(0, 0, 8));
            for (tag, sector) in [(1, far), (2, 100_000), (3, far - 100_000), (4, 200_000)] {
                disk.submit(1, Request::read(tag, sector, 8));
            }
            let mut tags = Vec::new();
            while let Some(next_ns) = disk.next_event_ns() {
                tags.extend(std::iter::from_fn(|| disk.poll(next_ns)).map(|done| done.tag));
            }
            tags
        };
        assert_eq!(order(Ordering::Fifo), [0, 1, 2, 3, 4]);
        let nearest = order(Ordering::Position);
        assert!(nearest[1..3].contains(&2) && nearest[1..3].contains(&4), "{nearest:?}");
    }
}
