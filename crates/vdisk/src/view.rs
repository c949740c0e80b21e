//! What is on the medium after a power cut: the contents before the log, with those of its first
//! writes that survive. What is written to a view stays in the view.

use crate::log::{EntryKind, WriteLog};
use crate::request::SECTOR_BYTES;
use crate::store::Store;
use std::collections::HashMap;
use std::io;

/// Unit of the index, in sectors and bytes.
const BLOCK_SECTORS: u64 = 8;
const BLOCK: usize = (BLOCK_SECTORS * SECTOR_BYTES) as usize;

/// Contents after a power cut.
pub struct View<'a> {
    base: &'a Store,
    log: &'a WriteLog,
    /// Surviving entries that touch a block, in their order.
    touching: HashMap<u64, Vec<u32>>,
    written: HashMap<u64, Box<[u8]>>,
}

impl<'a> View<'a> {
    /// The power goes when the first `count` entries of the log have completed; everything that
    /// completed is on the medium. `base`: the contents before the log.
    #[must_use]
    pub fn prefix(base: &'a Store, log: &'a WriteLog, count: usize) -> Self {
        Self::new(base, log, count, |_| true)
    }

    /// The same, and the whole cache is lost: only what flushes and forced writes made durable.
    #[must_use]
    pub fn durable(base: &'a Store, log: &'a WriteLog, count: usize) -> Self {
        let durable = log.durable(count);
        Self::new(base, log, count, |at| durable[at])
    }

    /// The same with the writes that `survives` says; those that are durable survive in any case.
    #[must_use]
    pub fn new(
        base: &'a Store,
        log: &'a WriteLog,
        count: usize,
        survives: impl Fn(usize) -> bool,
    ) -> Self {
        let durable = log.durable(count);
        let mut touching: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, entry) in log.entries().iter().take(count).enumerate() {
            let counts = entry.kind.is_write() || entry.kind == EntryKind::Discard;
            if entry.sectors == 0 || !counts || !(durable[at] || survives(at)) {
                continue;
            }
            let blocks = entry.sector / BLOCK_SECTORS
                ..(entry.sector + entry.sectors).div_ceil(BLOCK_SECTORS);
            let number = u32::try_from(at).expect("entries of a log are counted in 32 bits");
            for block in blocks {
                touching.entry(block).or_default().push(number);
            }
        }
        Self { base, log, touching, written: HashMap::new() }
    }

    /// Reads whole sectors.
    ///
    /// # Errors
    /// Of the files of base and log.
    pub fn read(&self, sector: u64, data: &mut [u8]) -> io::Result<()> {
        for (at, piece) in (sector..).zip(data.chunks_mut(SECTOR_BYTES as usize)) {
            self.read_sector(at, piece)?;
        }
        Ok(())
    }

    fn read_sector(&self, sector: u64, data: &mut [u8]) -> io::Result<()> {
        let block = sector / BLOCK_SECTORS;
        if let Some(written) = self.written.get(&block) {
            let from = usize::try_from(sector % BLOCK_SECTORS).unwrap_or(0) * SECTOR_BYTES as usize;
            data.copy_from_slice(&written[from..from + data.len()]);
            return Ok(());
        }
        let entries = self.touching.get(&block).map_or(&[][..], Vec::as_slice);
        for number in entries.iter().rev() {
            let entry = &self.log.entries()[*number as usize];
            if (entry.sector..entry.sector + entry.sectors).contains(&sector) {
                if entry.kind == EntryKind::Discard {
                    data.fill(0);
                    return Ok(());
                }
                return self.log.data(entry, sector, data);
            }
        }
        self.base.read(sector, data)
    }

    /// Writes whole sectors, to this view alone.
    ///
    /// # Errors
    /// Of the files of base and log, which are read where a block is written in part.
    pub fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()> {
        for (at, piece) in (sector..).zip(data.chunks(SECTOR_BYTES as usize)) {
            let block = at / BLOCK_SECTORS;
            if !self.written.contains_key(&block) {
                let mut whole = vec![0; BLOCK].into_boxed_slice();
                let first = block * BLOCK_SECTORS;
                let left = (self.base.size_bytes() / SECTOR_BYTES).saturating_sub(first);
                let sectors = left.min(BLOCK_SECTORS) * SECTOR_BYTES;
                self.read(first, &mut whole[..usize::try_from(sectors).unwrap_or(BLOCK)])?;
                self.written.insert(block, whole);
            }
            let from = usize::try_from(at % BLOCK_SECTORS).unwrap_or(0) * SECTOR_BYTES as usize;
            if let Some(whole) = self.written.get_mut(&block) {
                whole[from..from + piece.len()].copy_from_slice(piece);
            }
        }
        Ok(())
    }

    /// Forgets what was written to it.
    pub fn reset(&mut self) {
        self.written.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Completion, Outcome, Request};
    use crate::store::Discarded;

    /// Three versions of one block; a flush after the first.
    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        for (tag, (from_ns, to_ns, byte)) in
            [(0, 10, 1), (30, 40, 2), (50, 60, 3)].iter().enumerate()
        {
            let request = Request::write(tag as u16, 8, 8);
            let done = Completion { tag: tag as u16, at_ns: *to_ns, outcome: Outcome::Done };
            log.completed(&request, *from_ns, &done, &[*byte; 4096]).unwrap();
            if tag == 0 {
                let done = Completion { tag: 9, at_ns: 25, outcome: Outcome::Done };
                log.completed(&Request::flush(9), 20, &done, &[]).unwrap();
            }
        }
        let done = Completion { tag: 0, at_ns: 80, outcome: Outcome::Done };
        log.completed(&Request::discard(0, 8, 4), 70, &done, &[]).unwrap();
        log
    }

    fn byte(view: &View<'_>, sector: u64) -> u8 {
        let mut data = [0; 512];
        view.read(sector, &mut data).unwrap();
        data[100]
    }

    #[test]
    fn a_view_shows_what_survived() {
        let (base, log) = (Store::in_memory(1 << 20, Discarded::Zeros), log());
        let prefixes: Vec<u8> = (0..=4).map(|n| byte(&View::prefix(&base, &log, n), 8)).collect();
        assert_eq!(prefixes, [0, 1, 1, 2, 3]);
        let whole = View::prefix(&base, &log, 5);
        assert_eq!((byte(&whole, 8), byte(&whole, 12)), (0, 3), "half of it was discarded");
        assert_eq!(byte(&View::durable(&base, &log, 1), 8), 0, "no flush yet");
        assert_eq!(byte(&View::durable(&base, &log, 4), 8), 1);
        let last_alone = View::new(&base, &log, 4, |at| at == 3);
        assert_eq!(byte(&last_alone, 8), 3);
    }

    #[test]
    fn what_is_written_to_a_view_stays_in_it() {
        let (base, log) = (Store::in_memory(1 << 20, Discarded::Zeros), log());
        let mut view = View::prefix(&base, &log, 4);
        view.write(9, &[7; 512]).unwrap();
        assert_eq!((byte(&view, 8), byte(&view, 9), byte(&view, 10)), (3, 7, 3));
        assert_eq!(byte(&View::prefix(&base, &log, 4), 9), 3);
        view.reset();
        assert_eq!(byte(&view, 9), 3);
    }
}
