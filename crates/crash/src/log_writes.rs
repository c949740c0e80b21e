//! A crash state as a log of device-mapper's target `log-writes` (version 1), which its tools
//! replay: what they have written when they come to the mark is what is on the medium in the state.
//!
//! Units are sectors of 512 bytes, numbers little-endian. Sector 0 is the head: magic number,
//! version, number of entries (u64 each), bytes of a sector (u32). Each entry is one sector: first
//! sector, number of sectors, flags, bytes of data (u64 each); then the data of a write, rounded up
//! to sectors. The text of a mark is in the sector of its entry.
//!
//! Writes are in the order in which they completed, and a flush is behind those that it covers: a
//! write that completed while the flush was under way comes after it. What the power cut took is
//! not in the log, so that replaying it up to the mark gives the state and nothing else.

use crate::state::{CrashState, pieces};
use fsarena_vdisk::{EntryKind, Piece, SECTOR_BYTES, WriteLog};
use std::io::{self, Seek, SeekFrom, Write};

const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;
const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
/// Bytes of the numbers of an entry.
const NUMBERS: usize = 32;

/// A log that is written entry by entry.
pub struct LogWriter<W> {
    to: W,
    entries: u64,
}

impl<W: Write + Seek> LogWriter<W> {
    /// An empty log.
    ///
    /// # Errors
    /// Of `to`.
    pub fn new(mut to: W) -> io::Result<Self> {
        to.write_all(&head(0))?;
        Ok(Self { to, entries: 0 })
    }

    /// Adds what is there of the work in a state, without a mark.
    ///
    /// # Errors
    /// Of the log and of `to`.
    pub fn state(&mut self, log: &WriteLog, state: &CrashState) -> io::Result<()> {
        let pieces: Vec<Piece> = pieces(log, state).collect();
        let entries = log.entries();
        let mut flushes: Vec<u32> = (0..state.count)
            .filter(|at| entries.get(*at as usize).is_some_and(|it| it.kind == EntryKind::Flush))
            .collect();
        flushes.sort_by_key(|at| entries[*at as usize].submitted_ns);
        let mut flushes = flushes.into_iter().peekable();
        for piece in pieces {
            let completed_ns = entries[piece.entry as usize].completed_ns;
            while flushes.next_if(|at| entries[*at as usize].submitted_ns < completed_ns).is_some()
            {
                self.entry([0, 0, FLUSH, 0], &[])?;
            }
            self.piece(log, &piece)?;
        }
        for _ in flushes {
            self.entry([0, 0, FLUSH, 0], &[])?;
        }
        Ok(())
    }

    fn piece(&mut self, log: &WriteLog, piece: &Piece) -> io::Result<()> {
        let entry = &log.entries()[piece.entry as usize];
        if piece.sectors == 0 {
            return Ok(());
        }
        if entry.kind == EntryKind::Discard {
            return self.entry([piece.sector, piece.sectors, DISCARD, 0], &[]);
        }
        if !entry.kind.is_write() {
            return Ok(());
        }
        let mut data = vec![0; usize::try_from(piece.sectors * SECTOR_BYTES).unwrap_or(0)];
        log.data(entry, piece.sector, &mut data)?;
        let flags = if entry.kind == EntryKind::WriteFua { FUA } else { 0 };
        self.entry([piece.sector, piece.sectors, flags, data.len() as u64], &[])?;
        self.to.write_all(&data)
    }

    /// Adds a mark; its text is cut behind 480 bytes.
    ///
    /// # Errors
    /// Of `to`.
    pub fn mark(&mut self, text: &str) -> io::Result<()> {
        let text = &text.as_bytes()[..text.len().min(SECTOR_BYTES as usize - NUMBERS)];
        self.entry([0, 0, MARK, text.len() as u64], text)
    }

    fn entry(&mut self, numbers: [u64; 4], text: &[u8]) -> io::Result<()> {
        let mut sector = [0; SECTOR_BYTES as usize];
        for (number, to) in numbers.iter().zip(sector.chunks_exact_mut(8)) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        sector[NUMBERS..NUMBERS + text.len()].copy_from_slice(text);
        self.entries += 1;
        self.to.write_all(&sector)
    }

    /// Writes the number of entries, without which the log is empty.
    ///
    /// # Errors
    /// Of `to`.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.seek(SeekFrom::Start(0))?;
        self.to.write_all(&head(self.entries))?;
        self.to.flush()?;
        Ok(self.to)
    }
}

fn head(entries: u64) -> [u8; SECTOR_BYTES as usize] {
    let mut head = [0; SECTOR_BYTES as usize];
    for (number, to) in [MAGIC, VERSION, entries].iter().zip(head.chunks_exact_mut(8)) {
        to.copy_from_slice(&number.to_le_bytes());
    }
    head[24..28].copy_from_slice(&(SECTOR_BYTES as u32).to_le_bytes());
    head
}
