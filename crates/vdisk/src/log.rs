//! The write log: every write, flush and discard in the order of completion, with times, epochs and
//! data, in memory or in a file; and its bytes. `FORMAT.md` has the format.

mod entry;
mod index;

pub use entry::{Entry, EntryKind};
pub(crate) use index::BLOCK_SECTORS;

use crate::request::{Completion, Op, Outcome, Request, SECTOR_BYTES};
use index::Index;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// The first bytes of a log: name and version.
const MAGIC: [u8; 8] = *b"fsavlog1";
/// Bytes of the head of a log, and of an entry.
const HEAD: usize = 16;
const ENTRY: usize = 56;

/// Sectors of the largest disk: its size in bytes has 64 bits.
pub const SECTORS_MOST: u64 = u64::MAX / SECTOR_BYTES;

/// A log.
#[derive(Debug)]
pub struct WriteLog {
    entries: Vec<Entry>,
    bytes: LogBytes,
    end: u64,
    /// When each flush completed.
    flushed_ns: Vec<u64>,
    /// Made when it is asked for.
    index: OnceLock<Index>,
}

#[derive(Debug)]
enum LogBytes {
    Memory(Vec<u8>),
    File(File),
}

/// A log that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
    #[error("{path}: is no write log of a virtual disk; it does not begin with `fsavlog1`")]
    NotALog { path: String },
    #[error("{path}, byte {at}: entry {number} is damaged; the log ends before it")]
    Damaged { path: String, at: u64, number: usize },
}

impl WriteLog {
    /// An empty log in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        let mut bytes = Vec::from(MAGIC);
        bytes.resize(HEAD, 0);
        Self::with(LogBytes::Memory(bytes))
    }

    /// An empty log in a file, which is emptied where it is there.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn in_file(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(path)?;
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        file.write_all_at(&head, 0)?;
        Ok(Self::with(LogBytes::File(file)))
    }

    fn with(bytes: LogBytes) -> Self {
        let (entries, flushed_ns, index) = Default::default();
        Self { entries, bytes, end: HEAD as u64, flushed_ns, index }
    }

    /// Opens a log that was written before.
    ///
    /// # Errors
    /// What is no log; a damaged entry, but for one that was cut off at the end, which is left out.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let name = || path.display().to_string();
        let io = |source| LogError::Io { path: name(), source };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut head = [0; HEAD];
        if length < HEAD as u64 || file.read_exact_at(&mut head, 0).is_err() || head[..8] != MAGIC {
            return Err(LogError::NotALog { path: name() });
        }
        let mut log = Self::with(LogBytes::File(file));
        while log.end + ENTRY as u64 <= length {
            let mut bytes = [0; ENTRY];
            log.bytes.read(log.end, &mut bytes).map_err(io)?;
            let (at, number) = (log.end, log.entries.len());
            let damaged = || LogError::Damaged { path: name(), at, number };
            let entry = decode(&bytes, at + ENTRY as u64).ok_or_else(damaged)?;
            let next = (at + ENTRY as u64).saturating_add(data_bytes(&entry));
            if next > length {
                break;
            }
            log.take(entry, next);
        }
        Ok(log)
    }

    fn take(&mut self, entry: Entry, end: u64) {
        if entry.kind == EntryKind::Flush {
            self.flushed_ns.push(entry.completed_ns);
        }
        self.entries.push(entry);
        self.end = end;
        self.index.take();
    }

    /// The entries, in the order of completion.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Numbers of the entries that touch a block of 8 sectors, the latest first.
    pub(crate) fn touching(&self, block: u64) -> impl Iterator<Item = u32> {
        self.index.get_or_init(|| Index::new(&self.entries)).touching(block)
    }

    /// Bytes of the disk that its entries touch, in blocks of 8 sectors; discards of very many are
    /// not counted.
    #[must_use]
    pub fn touched_bytes(&self) -> u64 {
        let index = self.index.get_or_init(|| Index::new(&self.entries));
        index.blocks(&self.entries) * BLOCK_SECTORS * SECTOR_BYTES
    }

    /// Takes in a request that has completed; `data` are those of a write. Reads and errors leave
    /// nothing.
    ///
    /// # Errors
    /// Of the file.
    pub fn completed(
        &mut self,
        request: &Request,
        submitted_ns: u64,
        done: &Completion,
        data: &[u8],
    ) -> io::Result<()> {
        let (kind, sectors) = match (request.op, done.outcome) {
            (Op::Read, _) | (_, Outcome::MediumError) => return Ok(()),
            (Op::Write, Outcome::Torn { sectors }) => (EntryKind::WriteTorn, sectors),
            (Op::Write, _) if request.fua => (EntryKind::WriteFua, request.sectors),
            (Op::Write, _) => (EntryKind::Write, request.sectors),
            (Op::Flush, _) => (EntryKind::Flush, 0),
            (Op::Discard, _) => (EntryKind::Discard, request.sectors),
        };
        let epoch = self.flushed_ns.partition_point(|at_ns| *at_ns <= submitted_ns) as u64;
        let entry = Entry {
            kind,
            sector: request.sector,
            sectors: sectors.into(),
            submitted_ns,
            completed_ns: done.at_ns,
            epoch,
            data_at: self.end + ENTRY as u64,
        };
        let count = usize::try_from(data_bytes(&entry)).unwrap_or(0).min(data.len());
        self.append(entry, &data[..count])
    }

    /// Puts in a number of the driver's.
    ///
    /// # Errors
    /// Of the file.
    pub fn mark(&mut self, now_ns: u64, number: u64) -> io::Result<()> {
        let epoch = self.flushed_ns.len() as u64;
        let entry = Entry {
            kind: EntryKind::Mark,
            sector: number,
            sectors: 0,
            submitted_ns: now_ns,
            completed_ns: now_ns,
            epoch,
            data_at: self.end + ENTRY as u64,
        };
        self.append(entry, &[])
    }

    /// Makes a flush one that the device reported and did nothing for: what it covered stays in the
    /// cache until the next one. `false`: the entry in this place is no flush.
    ///
    /// # Errors
    /// Of the file.
    pub fn lose_flush(&mut self, place: usize) -> io::Result<bool> {
        let Some(entry) = self.entries.get_mut(place) else { return Ok(false) };
        if entry.kind != EntryKind::Flush {
            return Ok(false);
        }
        entry.kind = EntryKind::FlushLost;
        let (at, bytes) = (entry.data_at - ENTRY as u64, encode(entry));
        self.bytes.replace(at, &bytes)?;
        Ok(true)
    }

    fn append(&mut self, entry: Entry, data: &[u8]) -> io::Result<()> {
        self.bytes.write(self.end, &encode(&entry))?;
        self.bytes.write(entry.data_at, data)?;
        self.take(entry, entry.data_at + data.len() as u64);
        Ok(())
    }

    /// Writes it to an empty file, from which it can be [opened](Self::open).
    ///
    /// # Errors
    /// Of the files.
    pub fn copy_to(&self, file: &mut File) -> io::Result<()> {
        match &self.bytes {
            LogBytes::Memory(bytes) => file.write_all(bytes),
            LogBytes::File(own) => {
                let mut own = own.try_clone()?;
                own.seek(SeekFrom::Start(0))?;
                io::copy(&mut own.take(self.end), file).map(drop)
            }
        }
    }

    /// Reads from the data of a write, from a sector of it.
    ///
    /// # Errors
    /// Of the file.
    pub fn data(&self, entry: &Entry, sector: u64, data: &mut [u8]) -> io::Result<()> {
        self.bytes.read(entry.data_at + (sector - entry.sector) * SECTOR_BYTES, data)
    }

    /// Which of the first `count` entries are writes that survive any power cut there: what a flush
    /// that has completed covers, and what was forced. A flush covers the writes that completed
    /// before it was submitted.
    #[must_use]
    pub fn durable(&self, count: usize) -> Vec<bool> {
        let entries = &self.entries[..count.min(self.entries.len())];
        let flushes = entries.iter().filter(|entry| entry.kind == EntryKind::Flush);
        let covered_ns = flushes.map(|entry| entry.submitted_ns).max();
        let is_durable = |entry: &Entry| match entry.kind {
            EntryKind::WriteFua => true,
            kind => kind.is_write() && covered_ns.is_some_and(|at_ns| entry.completed_ns <= at_ns),
        };
        entries.iter().map(is_durable).collect()
    }
}

impl LogBytes {
    fn write(&mut self, at: u64, data: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(data, at),
            Self::Memory(bytes) => {
                debug_assert_eq!(at, bytes.len() as u64);
                bytes.extend_from_slice(data);
                Ok(())
            }
        }
    }

    /// Over bytes that are there.
    fn replace(&mut self, at: u64, data: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(data, at),
            Self::Memory(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX);
                let found = bytes.get_mut(from..from.saturating_add(data.len()));
                found.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(data);
                Ok(())
            }
        }
    }

    fn read(&self, at: u64, data: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(data, at),
            Self::Memory(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX);
                let found = bytes.get(from..from.saturating_add(data.len()));
                let found = found.ok_or(io::ErrorKind::UnexpectedEof)?;
                data.copy_from_slice(found);
                Ok(())
            }
        }
    }
}

/// Bytes of the data of an entry.
fn data_bytes(entry: &Entry) -> u64 {
    if entry.kind.is_write() { entry.sectors * SECTOR_BYTES } else { 0 }
}

fn encode(entry: &Entry) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[0] = entry.kind.code();
    let numbers =
        [entry.sector, entry.sectors, entry.submitted_ns, entry.completed_ns, entry.epoch];
    for (number, to) in numbers.iter().zip(bytes[8..].chunks_exact_mut(8)) {
        to.copy_from_slice(&number.to_le_bytes());
    }
    let check = checksum(&bytes[..ENTRY - 8]);
    bytes[ENTRY - 8..].copy_from_slice(&check.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; ENTRY], data_at: u64) -> Option<Entry> {
    let number = |at: usize| {
        let eight = bytes[8 + at * 8..16 + at * 8].try_into().ok()?;
        Some(u64::from_le_bytes(eight))
    };
    if number(5)? != checksum(&bytes[..ENTRY - 8]) {
        return None;
    }
    let entry = Entry {
        kind: EntryKind::from_code(bytes[0])?,
        sector: number(0)?,
        sectors: number(1)?,
        submitted_ns: number(2)?,
        completed_ns: number(3)?,
        epoch: number(4)?,
        data_at,
    };
    // The number of a mark is no place.
    let is_mark = entry.kind == EntryKind::Mark && entry.sectors == 0;
    let end = entry.sector.checked_add(entry.sectors);
    (is_mark || end.is_some_and(|end| end <= SECTORS_MOST)).then_some(entry)
}

/// FNV-1a with 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
