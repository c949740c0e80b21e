//! The contents of a virtual disk: sparse, in memory or in a file. What was never written is zeros.

use crate::request::SECTOR_BYTES;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Contents in memory are kept in pieces of this size.
const PIECE: u64 = 64 << 10;

/// Contents.
#[derive(Debug)]
pub struct Store {
    size_bytes: u64,
    discarded: Discarded,
    backing: Backing,
}

/// What a read gives after a discard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Discarded {
    #[default]
    Zeros,
    /// What was there before.
    Kept,
}

#[derive(Debug)]
enum Backing {
    Memory(BTreeMap<u64, Box<[u8]>>),
    File(File),
}

impl Store {
    /// An empty one in memory.
    #[must_use]
    pub fn in_memory(size_bytes: u64, discarded: Discarded) -> Self {
        Self { size_bytes, discarded, backing: Backing::Memory(BTreeMap::new()) }
    }

    /// A file with holes; one that is there is kept, and gets the size.
    ///
    /// # Errors
    /// Where it cannot be opened or resized.
    pub fn in_file(path: &Path, size_bytes: u64, discarded: Discarded) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        Self::over(file, size_bytes, discarded)
    }

    /// Over a file that is open; it gets the size.
    ///
    /// # Errors
    /// Where it cannot be resized.
    pub fn over(file: File, size_bytes: u64, discarded: Discarded) -> io::Result<Self> {
        file.set_len(size_bytes)?;
        Ok(Self { size_bytes, discarded, backing: Backing::File(file) })
    }

    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Reads whole sectors.
    ///
    /// # Errors
    /// Of the file; beyond the end.
    pub fn read(&self, sector: u64, data: &mut [u8]) -> io::Result<()> {
        let at = self.checked(sector, data.len())?;
        match &self.backing {
            Backing::File(file) => file.read_exact_at(data, at),
            Backing::Memory(pieces) => {
                for part in parts(at, data.len()) {
                    let to = &mut data[part.done..part.done + part.len];
                    match pieces.get(&part.piece) {
                        Some(piece) => to.copy_from_slice(&piece[part.from..part.from + part.len]),
                        None => to.fill(0),
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes whole sectors.
    ///
    /// # Errors
    /// Of the file, as where its file system is full; beyond the end.
    pub fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()> {
        let at = self.checked(sector, data.len())?;
        match &mut self.backing {
            Backing::File(file) => file.write_all_at(data, at),
            Backing::Memory(pieces) => {
                for part in parts(at, data.len()) {
                    let from = &data[part.done..part.done + part.len];
                    // A program that writes zeros over the whole disk takes no memory for it.
                    if !pieces.contains_key(&part.piece) && from.iter().all(|byte| *byte == 0) {
                        continue;
                    }
                    let piece = pieces
                        .entry(part.piece)
                        .or_insert_with(|| vec![0; PIECE as usize].into_boxed_slice());
                    piece[part.from..part.from + part.len].copy_from_slice(from);
                }
                Ok(())
            }
        }
    }

    /// Sectors are not needed any more.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn discard(&mut self, sector: u64, sectors: u64) -> io::Result<()> {
        if self.discarded == Discarded::Kept {
            return Ok(());
        }
        let mut at = sector * SECTOR_BYTES;
        let end = (at + sectors * SECTOR_BYTES).min(self.size_bytes);
        match &mut self.backing {
            Backing::File(file) => {
                use rustix::fs::{FallocateFlags, fallocate};
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Ok(fallocate(&*file, flags, at, end.saturating_sub(at))?)
            }
            Backing::Memory(pieces) => {
                while at < end {
                    let (piece, next) = (at / PIECE, (at / PIECE + 1) * PIECE);
                    let stop = next.min(end);
                    if stop - at == PIECE {
                        pieces.remove(&piece);
                    } else if let Some(piece) = pieces.get_mut(&piece) {
                        piece[within(at)..within(stop - 1) + 1].fill(0);
                    }
                    at = stop;
                }
                Ok(())
            }
        }
    }

    /// Hands over every piece that is not all zeros, with its place in bytes, in order: the same
    /// for equal contents, wherever they are kept.
    ///
    /// # Errors
    /// Of the file.
    pub fn each_piece(&self, take: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
        let mut give = |at: u64, data: &[u8]| {
            if data.iter().any(|byte| *byte != 0) {
                take(at, data);
            }
        };
        let file = match &self.backing {
            Backing::Memory(pieces) => {
                for (piece, data) in pieces {
                    give(
                        piece * PIECE,
                        &data[..PIECE.min(self.size_bytes - piece * PIECE) as usize],
                    );
                }
                return Ok(());
            }
            Backing::File(file) => file,
        };
        let mut data = vec![0; PIECE as usize];
        let mut at = 0;
        while at < self.size_bytes {
            use rustix::fs::{SeekFrom, seek};
            at = match seek(file, SeekFrom::Data(at)) {
                Ok(found) => at.max(found / PIECE * PIECE),
                Err(rustix::io::Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            let len = PIECE.min(self.size_bytes - at) as usize;
            file.read_exact_at(&mut data[..len], at)?;
            give(at, &data[..len]);
            at += PIECE;
        }
        Ok(())
    }

    /// Writes its contents to another store of at least its size, which has none yet.
    ///
    /// # Errors
    /// Of the files.
    pub fn copy_to(&self, to: &mut Self) -> io::Result<()> {
        let mut copied = Ok(());
        self.each_piece(&mut |at, data| {
            if copied.is_ok() {
                copied = to.write(at / SECTOR_BYTES, data);
            }
        })?;
        copied
    }

    /// Puts what was written where a crash of this machine does not reach it.
    ///
    /// # Errors
    /// Of the file.
    pub fn sync(&self) -> io::Result<()> {
        match &self.backing {
            Backing::File(file) => file.sync_data(),
            Backing::Memory(_) => Ok(()),
        }
    }

    fn checked(&self, sector: u64, len: usize) -> io::Result<u64> {
        let at = sector.saturating_mul(SECTOR_BYTES);
        if at.saturating_add(len as u64) > self.size_bytes {
            let text = format!("sector {sector} and {len} bytes: beyond the end of the disk");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(at)
    }
}

/// A place within its piece.
fn within(at: u64) -> usize {
    usize::try_from(at % PIECE).unwrap_or(0)
}

/// A part of a transfer that lies in one piece.
struct Part {
    piece: u64,
    /// Where in the piece, and where in the data.
    from: usize,
    done: usize,
    len: usize,
}

fn parts(at: u64, len: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let here = at + done as u64;
        let from = within(here);
        let len = (PIECE as usize - from).min(len - done);
        let part = Part { piece: here / PIECE, from, done, len };
        done += len;
        (len > 0).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both kinds of store, and one array, get the same steps.
    fn same(steps: &[(u64, u64, u8)]) {
        const SECTORS: u64 = 1024;
        let dir = tempfile::tempdir().unwrap();
        let size = SECTORS * SECTOR_BYTES;
        let mut memory = Store::in_memory(size, Discarded::Zeros);
        let mut file =
            Store::in_file(&dir.path().join("disk.img"), size, Discarded::Zeros).unwrap();
        let mut known = vec![0_u8; size as usize];
        for &(sector, sectors, byte) in steps {
            let sectors = sectors.min(SECTORS - sector);
            let (from, len) = ((sector * SECTOR_BYTES) as usize, (sectors * SECTOR_BYTES) as usize);
            if byte == 0 {
                memory.discard(sector, sectors).unwrap();
                file.discard(sector, sectors).unwrap();
            } else {
                let data = vec![byte; len];
                memory.write(sector, &data).unwrap();
                file.write(sector, &data).unwrap();
            }
            known[from..from + len].fill(byte);
        }
        for store in [&memory, &file] {
            let mut read = vec![1; size as usize];
            store.read(0, &mut read).unwrap();
            assert!(read == known);
            let mut pieces = vec![0_u8; size as usize];
            let mut last = None;
            store
                .each_piece(&mut |at, data| {
                    assert!(last < Some(at) && at % PIECE == 0);
                    last = Some(at);
                    pieces[at as usize..at as usize + data.len()].copy_from_slice(data);
                })
                .unwrap();
            assert!(pieces == known);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn memory_and_file_hold_what_was_written(
            steps in prop::collection::vec((0_u64..1024, 1_u64..300, 0_u8..4), 1..20)
        ) {
            same(&steps);
        }
    }

    #[test]
    fn the_end_is_kept_and_a_discard_may_keep_what_was() {
        let mut store = Store::in_memory(8192, Discarded::Kept);
        assert!(store.write(15, &[1; 1024]).unwrap_err().to_string().contains("beyond the end"));
        store.write(8, &[7; 4096]).unwrap();
        store.discard(8, 8).unwrap();
        let mut read = [0; 512];
        store.read(8, &mut read).unwrap();
        assert_eq!(read, [7; 512]);
    }
}
