//! What is on the medium after a power cut: the contents before the log, with those of its first
//! writes that survive. What is written to a view stays in the view.

use crate::log::{Entry, EntryKind, WriteLog};
use crate::request::SECTOR_BYTES;
use crate::store::Store;
use std::collections::HashMap;
use std::io;
use std::ops::Range;

/// Unit of what is written, in sectors and bytes: that of the index of a log.
const BLOCK_SECTORS: u64 = crate::log::BLOCK_SECTORS;
const BLOCK: usize = (BLOCK_SECTORS * SECTOR_BYTES) as usize;
/// So much of a difference is in memory at one time.
const PART_SECTORS: u64 = 2048;

/// Sectors of an entry of the log that are on the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Place of the entry in the log.
    pub entry: u32,
    /// First sector, counted as those of the entry are, and how many.
    pub sector: u64,
    pub sectors: u64,
}

/// What is made of sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<'d> {
    /// Whole sectors.
    Data(&'d [u8]),
    /// So many of zeros.
    Zeros { sectors: u64 },
}

/// Contents after a power cut.
pub struct View<'a> {
    base: &'a Store,
    log: &'a WriteLog,
    /// In the order of their entries.
    pieces: Vec<Piece>,
    /// By entry, the place of its first piece; of the entry `n`, `first[n]..first[n + 1]` are all.
    first: Vec<u32>,
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

    /// Exactly these parts of entries are on the medium, later entries over earlier ones: also
    /// where a flush that was reported would promise more, and where a write was cut. What is no
    /// part of a write or a discard of the log is left out.
    #[must_use]
    pub fn of_pieces(
        base: &'a Store,
        log: &'a WriteLog,
        pieces: impl IntoIterator<Item = Piece>,
    ) -> Self {
        let known = |piece: Piece| within(piece, log.entries().get(piece.entry as usize)?);
        let mut pieces: Vec<Piece> = pieces.into_iter().filter_map(known).collect();
        pieces.sort_by_key(|piece| piece.entry);
        let mut first = Vec::with_capacity(log.entries().len() + 1);
        for (at, piece) in (0..).zip(&pieces) {
            first.resize(first.len().max(piece.entry as usize + 1), at);
        }
        first.push(u32::try_from(pieces.len()).expect("no more pieces than 32 bits count"));
        Self { base, log, pieces, first, written: HashMap::new() }
    }

    /// The pieces of an entry.
    fn pieces_of(&self, entry: u32) -> &[Piece] {
        let entry = entry as usize;
        let of_entry = self.first.get(entry).zip(self.first.get(entry + 1));
        let range = of_entry.map_or(0..0, |(from, to)| *from as usize..*to as usize);
        &self.pieces[range]
    }

    /// Reads whole sectors.
    ///
    /// # Errors
    /// Of the files of base and log.
    pub fn read(&self, sector: u64, data: &mut [u8]) -> io::Result<()> {
        let mut rest = data;
        for (block, sectors) in by_block(sector, rest.len()) {
            let (part, later) = rest.split_at_mut(bytes_of(&sectors));
            self.read_in_block(block, sectors, part)?;
            rest = later;
        }
        Ok(())
    }

    /// Reads sectors of one block.
    fn read_in_block(&self, block: u64, sectors: Range<u64>, data: &mut [u8]) -> io::Result<()> {
        if let Some(written) = self.written.get(&block) {
            data.copy_from_slice(&written[in_block(&sectors)]);
            return Ok(());
        }
        let overlaps = |piece: &&Piece| {
            piece.sector < sectors.end && sectors.start < piece.sector + piece.sectors
        };
        let mut entries = self.log.touching(block);
        let latest = entries.find_map(|at| self.pieces_of(at).iter().rev().find(overlaps));
        let Some(latest) = latest else { return self.base.read(sectors.start, data) };
        let is_whole = latest.sector <= sectors.start
            && sectors.end <= latest.sector + latest.sectors
            && self.pieces_of(latest.entry).len() == 1;
        if is_whole {
            return self.read_piece(latest, sectors.start, data);
        }
        for (at, one) in sectors.zip(data.chunks_mut(SECTOR_BYTES as usize)) {
            self.read_sector(block, at, one)?;
        }
        Ok(())
    }

    fn read_sector(&self, block: u64, sector: u64, data: &mut [u8]) -> io::Result<()> {
        let holds = |piece: &&Piece| (piece.sector..piece.sector + piece.sectors).contains(&sector);
        let mut entries = self.log.touching(block);
        match entries.find_map(|at| self.pieces_of(at).iter().rev().find(holds)) {
            Some(piece) => self.read_piece(piece, sector, data),
            None => self.base.read(sector, data),
        }
    }

    fn read_piece(&self, piece: &Piece, sector: u64, data: &mut [u8]) -> io::Result<()> {
        let entry = &self.log.entries()[piece.entry as usize];
        if entry.kind == EntryKind::Discard {
            data.fill(0);
            return Ok(());
        }
        self.log.data(entry, sector, data)
    }

    /// How many pieces both views of one log begin with.
    fn common_pieces(&self, other: &Self) -> usize {
        let both = self.pieces.iter().zip(&other.pieces);
        both.take_while(|(one, other)| one == other).count()
    }

    /// What makes its contents of those of another view of the same store and log, or of the
    /// store, in the order in which it has to be made.
    ///
    /// # Errors
    /// Of `take`, and of the files of store and log.
    pub fn each_difference(
        &self,
        from: Option<&Self>,
        take: &mut dyn FnMut(u64, Change<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut common = 0;
        if let Some(from) = from {
            common = self.common_pieces(from);
            for piece in &from.pieces[common..] {
                self.each_part(piece.sector, piece.sectors, take)?;
            }
            for (sector, data) in from.written() {
                self.each_part(sector, data.len() as u64 / SECTOR_BYTES, take)?;
            }
        }
        let mut data = Vec::new();
        for piece in &self.pieces[common..] {
            let entry = &self.log.entries()[piece.entry as usize];
            if entry.kind == EntryKind::Discard {
                take(piece.sector, Change::Zeros { sectors: piece.sectors })?;
                continue;
            }
            data.resize(usize::try_from(piece.sectors * SECTOR_BYTES).unwrap_or(0), 0);
            self.log.data(entry, piece.sector, &mut data)?;
            take(piece.sector, Change::Data(&data))?;
        }
        self.written().try_for_each(|(sector, data)| take(sector, Change::Data(data)))
    }

    /// The sectors in which it may differ from another view of the same store and log, ascending;
    /// those with at most `gap` others between them are one range.
    #[must_use]
    pub fn differing(&self, other: &Self, gap: u64) -> Vec<Range<u64>> {
        let common = self.common_pieces(other);
        let pieces = self.pieces[common..].iter().chain(&other.pieces[common..]);
        let pieces = pieces.map(|piece| piece.sector..piece.sector + piece.sectors);
        let blocks = self.written.keys().chain(other.written.keys());
        let blocks = blocks.map(|block| block * BLOCK_SECTORS..(block + 1) * BLOCK_SECTORS);
        let mut all: Vec<Range<u64>> = pieces.chain(blocks).collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in all {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(gap) => {
                    last.end = last.end.max(range.end);
                }
                _ => ranges.push(range),
            }
        }
        ranges
    }

    /// Its contents in so many sectors.
    fn each_part(
        &self,
        sector: u64,
        sectors: u64,
        take: &mut dyn FnMut(u64, Change<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut data = Vec::new();
        let (mut at, end) = (sector, sector + sectors);
        while at < end {
            let count = (end - at).min(PART_SECTORS);
            data.resize(bytes_of(&(0..count)), 0);
            self.read(at, &mut data)?;
            take(at, Change::Data(&data))?;
            at += count;
        }
        Ok(())
    }

    /// What was written to it, which comes after all pieces, in the order of sectors.
    fn written(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut blocks: Vec<_> = self.written.iter().collect();
        blocks.sort_unstable_by_key(|(block, _)| **block);
        let bytes = self.base.size_bytes();
        blocks.into_iter().map(move |(block, data)| {
            let sector = block * BLOCK_SECTORS;
            let left = bytes.saturating_sub(sector * SECTOR_BYTES);
            (sector, &data[..usize::try_from(left).unwrap_or(BLOCK).min(BLOCK)])
        })
    }

    /// Writes whole sectors, to this view alone.
    ///
    /// # Errors
    /// Of the files of base and log, which are read where a block is written in part.
    pub fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()> {
        let mut rest = data;
        for (block, sectors) in by_block(sector, rest.len()) {
            let (part, later) = rest.split_at(bytes_of(&sectors));
            if !self.written.contains_key(&block) {
                let whole = self.whole_block(block, part.len())?;
                self.written.insert(block, whole);
            }
            if let Some(whole) = self.written.get_mut(&block) {
                whole[in_block(&sectors)].copy_from_slice(part);
            }
            rest = later;
        }
        Ok(())
    }

    /// A block as it is, of which so many bytes will be written.
    fn whole_block(&self, block: u64, written: usize) -> io::Result<Box<[u8]>> {
        let mut whole = vec![0; BLOCK].into_boxed_slice();
        if written < BLOCK {
            let first = block * BLOCK_SECTORS;
            let left = (self.base.size_bytes() / SECTOR_BYTES).saturating_sub(first);
            let sectors = first..first + left.min(BLOCK_SECTORS);
            let bytes = bytes_of(&sectors);
            self.read_in_block(block, sectors, &mut whole[..bytes])?;
        }
        Ok(whole)
    }

    /// Forgets what was written to it.
    pub fn reset(&mut self) {
        self.written.clear();
    }
}

/// The blocks of sectors, each with those of them that lie in it.
fn by_block(sector: u64, bytes: usize) -> impl Iterator<Item = (u64, Range<u64>)> {
    let end = sector + bytes as u64 / SECTOR_BYTES;
    (sector / BLOCK_SECTORS..end.div_ceil(BLOCK_SECTORS)).map(move |block| {
        let first = block * BLOCK_SECTORS;
        (block, first.max(sector)..(first + BLOCK_SECTORS).min(end))
    })
}

fn bytes_of(sectors: &Range<u64>) -> usize {
    ((sectors.end - sectors.start) * SECTOR_BYTES) as usize
}

/// Where in their block the bytes of sectors are.
fn in_block(sectors: &Range<u64>) -> Range<usize> {
    let from = (sectors.start % BLOCK_SECTORS * SECTOR_BYTES) as usize;
    from..from + bytes_of(sectors)
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
    use proptest::prelude::*;

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

    proptest! {
        /// Reads and writes of any sectors are those of an array.
        #[test]
        fn a_view_is_an_array(
            logged in prop::collection::vec((0_u64..60, 1_u64..30, any::<bool>()), 0..12),
            there in prop::collection::vec((0_u32..12, 0_u64..60, 1_u64..30), 0..12),
            own in prop::collection::vec((0_u64..60, 1_usize..20), 0..4),
            read in (0_u64..60, 1_usize..20),
        ) {
            let mut base = Store::in_memory(100 * SECTOR_BYTES, Discarded::Zeros);
            base.write(3, &[99; 40 * SECTOR_BYTES as usize]).unwrap();
            let mut array = [0_u8; 100];
            array[3..43].fill(99);
            let mut log = WriteLog::in_memory();
            for (at, (sector, sectors, is_discard)) in (1_u8..).zip(&logged) {
                let length = *sectors as u32;
                let request = match is_discard {
                    true => Request::discard(0, *sector, length),
                    false => Request::write(0, *sector, length),
                };
                let done = Completion { tag: 0, at_ns: at.into(), outcome: Outcome::Done };
                let data = vec![at; (sectors * SECTOR_BYTES) as usize];
                log.completed(&request, 0, &done, &data).unwrap();
            }
            let mut pieces: Vec<Piece> = there
                .iter()
                .map(|(entry, sector, sectors)| Piece {
                    entry: *entry, sector: *sector, sectors: *sectors,
                })
                .collect();
            let mut view = View::of_pieces(&base, &log, pieces.iter().copied());
            pieces.sort_by_key(|piece| piece.entry);
            for piece in pieces {
                let Some((sector, sectors, is_discard)) = logged.get(piece.entry as usize) else {
                    continue;
                };
                for at in piece.sector.max(*sector)
                    ..(piece.sector + piece.sectors).min(sector + sectors)
                {
                    array[at as usize] = if *is_discard { 0 } else { piece.entry as u8 + 1 };
                }
            }
            for (number, (sector, sectors)) in (200_u8..).zip(own) {
                view.write(sector, &vec![number; sectors * SECTOR_BYTES as usize]).unwrap();
                array[sector as usize..sector as usize + sectors].fill(number);
            }
            let (sector, sectors) = read;
            let mut data = vec![0; sectors * SECTOR_BYTES as usize];
            view.read(sector, &mut data).unwrap();
            for (at, one) in (sector as usize..).zip(data.chunks(SECTOR_BYTES as usize)) {
                prop_assert!(one.iter().all(|byte| *byte == array[at]), "sector {}", at);
            }
        }
    }

    #[test]
    fn views_differ_where_one_has_what_the_other_has_not() {
        let base = Store::in_memory(1 << 20, Discarded::Zeros);
        let mut log = WriteLog::in_memory();
        for (number, sector) in [(0, 0), (1, 100), (2, 40), (3, 104)] {
            let done = Completion { tag: 0, at_ns: number, outcome: Outcome::Done };
            log.completed(&Request::write(0, sector, 8), number, &done, &[1; 4096]).unwrap();
        }
        let (mut two, four) = (View::prefix(&base, &log, 2), View::prefix(&base, &log, 4));
        assert_eq!(two.differing(&four, 0), [40..48, 104..112]);
        assert_eq!(four.differing(&two, 56).as_slice(), std::slice::from_ref(&(40..112)));
        assert_eq!(four.differing(&two, 55), [40..48, 104..112]);
        assert!(two.differing(&View::prefix(&base, &log, 2), 9).is_empty());
        two.write(111, &[7; 1024]).unwrap();
        assert_eq!(four.differing(&two, 0), [40..48, 104..120]);
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
