//! What is on the medium after a power cut: the contents before the log, with those of its first
//! writes that survive. What is written to a view stays in the view.

use crate::log::{Entry, EntryKind, WriteLog};
use crate::request::SECTOR_BYTES;
use crate::store::Store;
use std::collections::HashMap;
use std::io;

/// Unit of the index, in sectors and bytes.
const BLOCK_SECTORS: u64 = 8;
const BLOCK: usize = (BLOCK_SECTORS * SECTOR_BYTES) as usize;

/// Sectors of an entry of the log that are on the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Place of the entry in the log.
    pub entry: u32,
    /// First sector, counted as those of the entry are, and how many.
    pub sector: u64,
    pub sectors: u64,
}

/// Contents after a power cut.
pub struct View<'a> {
    base: &'a Store,
    log: &'a WriteLog,
    pieces: Vec<Piece>,
    /// Places in `pieces` of those that touch a block, in their order.
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
        let entries = log.entries().iter().take(count).enumerate();
        let pieces = entries.filter(|(at, _)| durable[*at] || survives(*at)).map(|(at, entry)| {
            let number = u32::try_from(at).expect("entries of a log are counted in 32 bits");
            Piece { entry: number, sector: entry.sector, sectors: entry.sectors }
        });
        Self::of_pieces(base, log, pieces)
    }

    /// Exactly these parts of entries are on the medium, later ones over earlier ones: also where
    /// a flush that was reported would promise more, and where a write was cut. What is no part of
    /// a write or a discard of the log is left out.
    #[must_use]
    pub fn of_pieces(
        base: &'a Store,
        log: &'a WriteLog,
        pieces: impl IntoIterator<Item = Piece>,
    ) -> Self {
        let mut view =
            Self { base, log, pieces: vec![], touching: HashMap::new(), written: HashMap::new() };
        for piece in pieces {
            let entry = log.entries().get(piece.entry as usize);
            if let Some(piece) = entry.and_then(|entry| within(piece, entry)) {
                view.take(piece);
            }
        }
        view
    }

    fn take(&mut self, piece: Piece) {
        let number = u32::try_from(self.pieces.len()).expect("no more pieces than 32 bits count");
        let blocks =
            piece.sector / BLOCK_SECTORS..(piece.sector + piece.sectors).div_ceil(BLOCK_SECTORS);
        for block in blocks {
            self.touching.entry(block).or_default().push(number);
        }
        self.pieces.push(piece);
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
        let pieces = self.touching.get(&block).map_or(&[][..], Vec::as_slice);
        for number in pieces.iter().rev() {
            let piece = &self.pieces[*number as usize];
            if (piece.sector..piece.sector + piece.sectors).contains(&sector) {
                let entry = &self.log.entries()[piece.entry as usize];
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

/// What of a piece lies in its entry, where that has contents.
fn within(piece: Piece, entry: &Entry) -> Option<Piece> {
    let counts = entry.kind.is_write() || entry.kind == EntryKind::Discard;
    let sector = piece.sector.max(entry.sector);
    let end = piece.sector.saturating_add(piece.sectors).min(entry.sector + entry.sectors);
    (counts && sector < end).then(|| Piece { sector, sectors: end - sector, ..piece })
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
    fn pieces_are_what_is_there_and_nothing_else() {
        let (base, log) = (Store::in_memory(1 << 20, Discarded::Zeros), log());
        let piece = |entry, sector, sectors| Piece { entry, sector, sectors };
        let torn = View::of_pieces(&base, &log, [piece(0, 8, 8), piece(2, 8, 3)]);
        assert_eq!((byte(&torn, 10), byte(&torn, 11)), (2, 1));
        let without_the_durable = View::of_pieces(&base, &log, [piece(3, 0, 10)]);
        assert_eq!((byte(&without_the_durable, 9), byte(&without_the_durable, 10)), (3, 0));
        // A flush, a place outside of its entry and an entry that is not there.
        let none = [piece(1, 8, 8), piece(0, 16, 8), piece(0, 0, 8), piece(99, 8, 8)];
        assert_eq!(byte(&View::of_pieces(&base, &log, none), 8), 0);
        let discarded = View::of_pieces(&base, &log, [piece(0, 8, 8), piece(4, 8, 1)]);
        assert_eq!((byte(&discarded, 8), byte(&discarded, 9)), (0, 1));
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
