//! A write log in few bytes: sectors that bear a stamp are kept as the stamp, from which they are
//! made again, and zeros as their number.
//!
//! Numbers are little-endian. Head: `fspack1` and a zero. Then entries: kind (u8, as in the log),
//! sector, sectors, submitted_ns, completed_ns (u64 each); of a write its sectors follow as runs
//! until all are there: 0 and a count (u32) of sectors of zeros; 1, a count, seed (u64), file,
//! version and first sector (u32 each) of stamped ones that count up; 2, a count and the bytes.

use crate::stamp::{SECTOR, Sector, Stamp, fill, identify};
use fsarena_vdisk::{Completion, EntryKind, Outcome, Request, SECTORS_MOST, WriteLog};
use std::io::{self, Read, Write};

const MAGIC: [u8; 8] = *b"fspack1\0";
/// A run is at most so long, so that what is damaged asks for little memory.
const RUN_MOST: u32 = 1 << 16;
/// Sectors of all writes of a log, which is read into memory: what is damaged, or was made to do
/// harm, has runs of five bytes that ask for 32 MiB each.
const LOG_MOST_BYTES: u64 = 16 << 30;
const ZEROS: u8 = 0;
const STAMPED: u8 = 1;
const BYTES: u8 = 2;

/// A log that cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is no packed write log; it does not begin with `fspack1`")]
    NotPacked,
    #[error("entry {entry} is damaged")]
    Damaged { entry: usize },
    #[error(
        "its writes have more than {most_bytes} bytes, which is more than any log that is kept"
    )]
    TooLarge { most_bytes: u64 },
}

/// Writes a log.
///
/// # Errors
/// Of the log's file, and of `to`.
pub fn pack(log: &WriteLog, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    let mut data = Vec::new();
    for entry in log.entries() {
        to.write_all(&[code(entry.kind)])?;
        for number in [entry.sector, entry.sectors, entry.submitted_ns, entry.completed_ns] {
            to.write_all(&number.to_le_bytes())?;
        }
        if entry.kind.is_write() {
            data.resize(usize::try_from(entry.sectors).unwrap_or(0) * SECTOR, 0);
            log.data(entry, entry.sector, &mut data)?;
            pack_sectors(&data, to)?;
        }
    }
    Ok(())
}

/// Reads a log that was packed, into memory.
///
/// # Errors
/// What is none, or damaged.
pub fn unpack(from: &mut dyn Read) -> Result<WriteLog, UnpackError> {
    unpack_within(from, LOG_MOST_BYTES)
}

/// The same of a log whose writes have so many bytes at most.
///
/// # Errors
/// Those of [`unpack`].
pub fn unpack_within(from: &mut dyn Read, most_bytes: u64) -> Result<WriteLog, UnpackError> {
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| UnpackError::NotPacked)?;
    if magic != MAGIC {
        return Err(UnpackError::NotPacked);
    }
    let mut log = WriteLog::in_memory();
    let mut kind = [0];
    let mut left_sectors = most_bytes / SECTOR as u64;
    while from.read(&mut kind)? > 0 {
        let damaged = UnpackError::Damaged { entry: log.entries().len() };
        match unpack_entry(kind[0], from, &mut log, &mut left_sectors)? {
            Unpacked::Entry => {}
            Unpacked::Damaged => return Err(damaged),
            Unpacked::TooLarge => return Err(UnpackError::TooLarge { most_bytes }),
        }
    }
    Ok(log)
}

fn code(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::Write => 1,
        EntryKind::WriteFua => 2,
        EntryKind::WriteTorn => 3,
        EntryKind::Flush => 4,
        EntryKind::Discard => 5,
        EntryKind::Mark => 6,
        EntryKind::FlushLost => 7,
    }
}

fn pack_sectors(data: &[u8], to: &mut dyn Write) -> io::Result<()> {
    let kinds: Vec<Sector> = data.chunks(SECTOR).map(whole).collect();
    let mut at = 0;
    while at < kinds.len() {
        let goes_on = |next: usize| match &kinds[at] {
            Sector::Stamp { stamp, sector, .. } => {
                let expected = sector.wrapping_add((next - at) as u32);
                matches!(&kinds[next], Sector::Stamp { stamp: other, sector, .. }
                    if other == stamp && *sector == expected)
            }
            first => *first == kinds[next],
        };
        let most = kinds.len().min(at + RUN_MOST as usize);
        let end = (at..most).find(|next| !goes_on(*next)).unwrap_or(most);
        let count = ((end - at) as u32).to_le_bytes();
        match &kinds[at] {
            Sector::Zeros => {
                to.write_all(&[ZEROS])?;
                to.write_all(&count)?;
            }
            Sector::Stamp { stamp, sector, .. } => {
                to.write_all(&[STAMPED])?;
                to.write_all(&count)?;
                to.write_all(&stamp.seed.to_le_bytes())?;
                for number in [stamp.file, stamp.version, *sector] {
                    to.write_all(&number.to_le_bytes())?;
                }
            }
            _ => {
                to.write_all(&[BYTES])?;
                to.write_all(&count)?;
                to.write_all(&data[at * SECTOR..end * SECTOR])?;
            }
        }
        at = end;
    }
    Ok(())
}

/// What a sector is kept as: a stamp alone where all of it is the stamp's.
fn whole(data: &[u8]) -> Sector {
    match identify(data) {
        Sector::Zeros => Sector::Zeros,
        stamped @ Sector::Stamp { bytes, .. } if usize::from(bytes) == SECTOR => stamped,
        _ => Sector::Foreign,
    }
}

/// What became of an entry.
enum Unpacked {
    Entry,
    Damaged,
    TooLarge,
}

fn unpack_entry(
    kind: u8,
    from: &mut dyn Read,
    log: &mut WriteLog,
    left_sectors: &mut u64,
) -> io::Result<Unpacked> {
    let (sector, sectors) = (number(from)?, number(from)?);
    let (submitted_ns, at_ns) = (number(from)?, number(from)?);
    let Ok(count) = u32::try_from(sectors) else { return Ok(Unpacked::Damaged) };
    let end = sector.checked_add(sectors);
    if matches!(kind, 1..=3 | 5) && end.is_none_or(|end| end > SECTORS_MOST) {
        return Ok(Unpacked::Damaged);
    }
    let mut done = Completion { tag: 0, at_ns, outcome: Outcome::Done };
    let request = match kind {
        1 => Request::write(0, sector, count),
        2 => Request::write_fua(0, sector, count),
        3 => {
            done.outcome = Outcome::Torn { sectors: count };
            Request::write(0, sector, count)
        }
        4 | 7 => Request::flush(0),
        5 => Request::discard(0, sector, count),
        6 => return log.mark(at_ns, sector).map(|()| Unpacked::Entry),
        _ => return Ok(Unpacked::Damaged),
    };
    let mut data = Vec::new();
    if matches!(kind, 1..=3) {
        let Some(left) = left_sectors.checked_sub(sectors) else { return Ok(Unpacked::TooLarge) };
        *left_sectors = left;
        if unpack_sectors(count, from, &mut data)?.is_none() {
            return Ok(Unpacked::Damaged);
        }
    }
    log.completed(&request, submitted_ns, &done, &data)?;
    if kind == 7 {
        log.lose_flush(log.entries().len() - 1)?;
    }
    Ok(Unpacked::Entry)
}

/// `None`: damaged.
fn unpack_sectors(count: u32, from: &mut dyn Read, data: &mut Vec<u8>) -> io::Result<Option<()>> {
    let mut left = count;
    while left > 0 {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let run = half(from)?;
        if run == 0 || run > left.min(RUN_MOST) {
            return Ok(None);
        }
        left -= run;
        let begin = data.len();
        data.resize(begin + run as usize * SECTOR, 0);
        let to = &mut data[begin..];
        match kind[0] {
            ZEROS => {}
            STAMPED => {
                let seed = number(from)?;
                let stamp = Stamp { seed, file: half(from)?, version: half(from)? };
                let first = half(from)?;
                for (at, sector) in (0_u32..).zip(to.chunks_mut(SECTOR)) {
                    fill(sector, stamp, u64::from(first.wrapping_add(at)) * SECTOR as u64);
                }
            }
            BYTES => from.read_exact(to)?,
            _ => return Ok(None),
        }
    }
    Ok(Some(()))
}

fn number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn half(from: &mut dyn Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::Entry;
    use proptest::prelude::*;

    /// A log of every kind of entry; the numbers say what is in the sectors of the writes.
    fn log_of(kinds: &[(u8, Vec<u8>)]) -> WriteLog {
        let mut log = WriteLog::in_memory();
        for (at, (kind, sectors)) in (0_u64..).zip(kinds) {
            let count = sectors.len() as u32;
            let mut data = vec![0; sectors.len() * SECTOR];
            for (place, (what, sector)) in sectors.iter().zip(data.chunks_mut(SECTOR)).enumerate() {
                let stamp = Stamp { seed: 7, file: (what / 8).into(), version: 3 };
                match what % 4 {
                    0 => {}
                    1 => sector.fill(place as u8 + 1),
                    2 => fill(sector, stamp, place as u64 * 512),
                    // The last one of a file, or an append into it.
                    _ => fill(&mut sector[..200], stamp, place as u64 * 512),
                }
            }
            let mut done = Completion { tag: 0, at_ns: at * 10 + 5, outcome: Outcome::Done };
            let request = match kind % 7 {
                0 => Request::write(0, at, count),
                1 => Request::write_fua(0, at, count),
                2 => {
                    done.outcome = Outcome::Torn { sectors: count / 2 };
                    Request::write(0, at, count)
                }
                3 | 4 => Request::flush(0),
                5 => Request::discard(0, at, count),
                _ => {
                    log.mark(at * 10, 99).unwrap();
                    continue;
                }
            };
            log.completed(&request, at * 10, &done, &data).unwrap();
            if kind % 7 == 4 {
                log.lose_flush(log.entries().len() - 1).unwrap();
            }
        }
        log
    }

    /// Whether two entries are the same but for where their data are.
    fn is_same(one: &Entry, other: &Entry) -> bool {
        let of = |it: &Entry| {
            (it.kind, it.sector, it.sectors, it.submitted_ns, it.completed_ns, it.epoch)
        };
        of(one) == of(other)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn what_is_packed_is_the_same_again(
            kinds in prop::collection::vec(
                (0_u8..7, prop::collection::vec(0_u8..24, 1..20)), 0..12)
        ) {
            let log = log_of(&kinds);
            let mut bytes = Vec::new();
            pack(&log, &mut bytes).unwrap();
            let read = unpack(&mut &bytes[..]).unwrap();
            prop_assert_eq!(read.entries().len(), log.entries().len());
            for (one, other) in log.entries().iter().zip(read.entries()) {
                prop_assert!(is_same(one, other), "{:?} {:?}", one, other);
                if one.kind.is_write() && one.sectors > 0 {
                    let mut data = [(); 2].map(|()| vec![0; one.sectors as usize * SECTOR]);
                    log.data(one, one.sector, &mut data[0]).unwrap();
                    read.data(other, other.sector, &mut data[1]).unwrap();
                    prop_assert!(data[0] == data[1]);
                }
            }
            // Cut anywhere it is no log, or one that ends earlier.
            for cut in 0..bytes.len() {
                let count = unpack(&mut &bytes[..cut]).map(|read| read.entries().len());
                prop_assert!(count.map_or(true, |count| count < log.entries().len()));
            }
        }
    }

    #[test]
    fn stamped_sectors_take_few_bytes_and_nonsense_is_refused() {
        let mut log = WriteLog::in_memory();
        let mut data = vec![0; 1 << 20];
        fill(&mut data, Stamp { seed: 1, file: 2, version: 3 }, 8192);
        let done = Completion { tag: 0, at_ns: 1, outcome: Outcome::Done };
        log.completed(&Request::write(0, 0, 2048), 0, &done, &data).unwrap();
        let mut bytes = Vec::new();
        pack(&log, &mut bytes).unwrap();
        assert!(bytes.len() < 100, "{}", bytes.len());
        let refused = |bytes: &[u8]| unpack(&mut &bytes[..]).unwrap_err().to_string();
        assert!(refused(b"no log at all").contains("does not begin with"));
        let mut many = bytes.clone();
        many[42..46].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(refused(&many).contains("entry 0 is damaged"), "{}", refused(&many));
        for sector in [u64::MAX, SECTORS_MOST, SECTORS_MOST - 2047] {
            let mut beyond = bytes.clone();
            beyond[9..17].copy_from_slice(&u64::to_le_bytes(sector));
            assert!(refused(&beyond).contains("entry 0 is damaged"), "{}", refused(&beyond));
        }
        let within = |most| unpack_within(&mut &bytes[..], most).map_err(|error| error.to_string());
        assert_eq!(within(1 << 20).unwrap().entries().len(), 1);
        assert!(within((1 << 20) - 1).unwrap_err().contains("more than 1048575 bytes"));
        let mut unknown = bytes;
        unknown[8] = 99;
        assert!(refused(&unknown).contains("entry 0 is damaged"));
    }
}
