//! Contents that say of each sector whose it is, so that a lost, old, foreign or torn sector found
//! after a crash is known for what it is.
//!
//! A sector is a header of 32 bytes and a filler that is derived from it; both are a function of
//! the [`Stamp`] and of the sector's place in its file. No byte of the filler, and not the first
//! one of the header, is zero: where a sector ends in zeros, its stamped part is what is before.
//!
//! Header, little-endian: `fsst`, seed (u64), file (u32), version (u32), sector (u32), checksum
//! (u64, no byte of it zero).

use serde::{Deserialize, Serialize};

/// Bytes of a sector: the smallest unit that a device writes whole.
pub const SECTOR: usize = 512;
/// Bytes of the header; a shorter piece does not say by itself whose it is.
pub const HEADER: usize = 32;
const MAGIC: [u8; 4] = *b"fsst";
/// Of the header, what the checksum is of.
const SUMMED: usize = 24;

/// Whose contents they are.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Serialize,
    Deserialize,
    crate::JsonSchema,
)]
pub struct Stamp {
    /// Of the plan: tells contents of this run from those of others.
    #[serde(rename = "s")]
    pub seed: u64,
    /// Number of the file.
    #[serde(rename = "f")]
    pub file: u32,
    /// Which contents of the file; each number stands for one writing of them.
    #[serde(rename = "v")]
    pub version: u32,
}

/// What a sector of a file, or its last part, was found to be.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub enum Sector {
    /// Written as this stamp's.
    #[serde(rename = "s")]
    Stamp {
        #[serde(flatten)]
        stamp: Stamp,
        /// Number of the sector in the file that it was written for.
        #[serde(rename = "n")]
        sector: u32,
        /// How many leading bytes are the stamp's; behind them are zeros or the end.
        #[serde(rename = "b")]
        bytes: u16,
    },
    /// All bytes are zero.
    #[serde(rename = "z")]
    Zeros,
    /// At most 31 bytes, with nothing but zeros or the end behind them: too few to say whose they
    /// are. Compare them with what is expected: [`Sector::holds`].
    #[serde(rename = "p")]
    Piece(Vec<u8>),
    /// Anything else, such as a sector torn inside.
    #[serde(rename = "o")]
    Foreign,
}

/// Fills `data`, which lies at a byte of a file, with the contents of a stamp. The byte need not
/// begin a sector: an append goes on where the file ends.
///
/// Files of up to 2 TiB: the number of a sector wraps there.
pub fn fill(data: &mut [u8], stamp: Stamp, at_byte: u64) {
    let mut sector = [0; SECTOR];
    let mut done = 0;
    while done < data.len() {
        let here = at_byte + done as u64;
        let from = (here % SECTOR as u64) as usize;
        let len = (SECTOR - from).min(data.len() - done);
        write_sector(&mut sector, stamp, sector_number(here));
        data[done..done + len].copy_from_slice(&sector[from..from + len]);
        done += len;
    }
}

/// Says whose a sector is, or the last part of one. Beyond 512 bytes nothing is looked at.
#[must_use]
pub fn identify(data: &[u8]) -> Sector {
    let data = &data[..data.len().min(SECTOR)];
    let used = data.len() - data.iter().rev().take_while(|byte| **byte == 0).count();
    if used == 0 {
        return Sector::Zeros;
    }
    if used < HEADER {
        return Sector::Piece(data[..used].to_vec());
    }
    let stamp = Stamp { seed: number(data, 4), file: half(data, 12), version: half(data, 16) };
    let sector = half(data, 20);
    let mut whole = [0; SECTOR];
    write_sector(&mut whole, stamp, sector);
    if data[..used] == whole[..used] {
        Sector::Stamp { stamp, sector, bytes: used as u16 }
    } else {
        Sector::Foreign
    }
}

impl Sector {
    /// Whether the first `bytes` bytes are those that the stamp has in this sector.
    #[must_use]
    pub fn holds(&self, expected: Stamp, expected_sector: u32, bytes: u16) -> bool {
        match self {
            Self::Stamp { stamp, sector, bytes: found } => {
                *stamp == expected && *sector == expected_sector && *found >= bytes
            }
            Self::Piece(found) if usize::from(bytes) < HEADER => {
                let mut whole = [0; SECTOR];
                write_sector(&mut whole, expected, expected_sector);
                let found = found.iter().copied().chain(std::iter::repeat(0));
                found.zip(&whole[..usize::from(bytes)]).all(|(found, byte)| found == *byte)
            }
            Self::Zeros => bytes == 0,
            _ => false,
        }
    }
}

/// The number of the sector with a byte.
#[must_use]
pub fn sector_number(at_byte: u64) -> u32 {
    (at_byte / SECTOR as u64) as u32
}

fn write_sector(to: &mut [u8; SECTOR], stamp: Stamp, sector: u32) {
    to[..4].copy_from_slice(&MAGIC);
    to[4..12].copy_from_slice(&stamp.seed.to_le_bytes());
    to[12..16].copy_from_slice(&stamp.file.to_le_bytes());
    to[16..20].copy_from_slice(&stamp.version.to_le_bytes());
    to[20..SUMMED].copy_from_slice(&sector.to_le_bytes());
    let sum = to[..SUMMED].chunks_exact(8).fold(0, |sum, word| mixed(sum ^ number(word, 0)));
    to[SUMMED..HEADER].copy_from_slice(&without_zero_bytes(sum).to_le_bytes());
    for (at, word) in to[HEADER..].chunks_exact_mut(8).enumerate() {
        let value = mixed(sum.wrapping_add(at as u64 + 1));
        word.copy_from_slice(&without_zero_bytes(value).to_le_bytes());
    }
}

/// Zero bytes become ones of 1: the end of a stamped part must be seen.
fn without_zero_bytes(word: u64) -> u64 {
    word | 0x0101_0101_0101_0101
}

/// The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
pub(crate) fn mixed(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Eight bytes as a number; missing ones are zero.
fn number(data: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(data.iter().skip(at)) {
        *to = *from;
    }
    u64::from_le_bytes(bytes)
}

fn half(data: &[u8], at: usize) -> u32 {
    (number(data, at) & u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { seed: 7, file: 3, version: 9 };

    fn contents(len: usize) -> Vec<u8> {
        let mut data = vec![0; len];
        fill(&mut data, STAMP, 0);
        data
    }

    proptest! {
        /// However a file was written, in which pieces and up to which size, each of its sectors
        /// says whose it is, and up to which byte.
        #[test]
        fn pieces_make_the_whole(
            size in 1_usize..4000, cut in 0_usize..4000, zeros in 0_usize..900
        ) {
            let cut = cut.min(size);
            let mut data = vec![0; size];
            fill(&mut data[..cut], STAMP, 0);
            fill(&mut data[cut..], STAMP, cut as u64);
            prop_assert_eq!(&data, &contents(size));
            data.resize(size + zeros, 0);
            for (at, sector) in data.chunks(SECTOR).enumerate() {
                let bytes = size.saturating_sub(at * SECTOR).min(SECTOR) as u16;
                let found = identify(sector);
                prop_assert!(found.holds(STAMP, at as u32, bytes));
                if usize::from(bytes) >= HEADER {
                    let known = Sector::Stamp { stamp: STAMP, sector: at as u32, bytes };
                    prop_assert_eq!(found, known);
                } else if bytes > 0 {
                    prop_assert!(!found.holds(STAMP, at as u32, bytes + 1 + HEADER as u16));
                    prop_assert!(!found.holds(STAMP, at as u32 + 1, bytes) || bytes <= 20);
                }
            }
        }

        /// A sector in which any byte is another one is foreign, as one made of two halves is.
        #[test]
        fn damage_is_seen(at in 0_usize..512, change in 1_u8..255) {
            let mut data = contents(512);
            data[at] ^= change;
            let found = identify(&data);
            prop_assert!(!found.holds(STAMP, 0, 512), "{:?}", found);
            // What became zero at the end is an end.
            if at < 511 || data[at] != 0 {
                prop_assert_eq!(found, Sector::Foreign);
            }
        }
    }

    #[test]
    fn torn_and_other_stamps_are_told_apart() {
        let (mut torn, mut other) = (contents(512), [0; 512]);
        fill(&mut other, Stamp { version: 8, ..STAMP }, 0);
        torn[256..].copy_from_slice(&other[256..]);
        assert_eq!(identify(&torn), Sector::Foreign);
        assert!(!identify(&other).holds(STAMP, 0, 512));
        assert!(!identify(&contents(512)).holds(STAMP, 1, 512));
        assert_eq!(identify(&[0; 512]), Sector::Zeros);
        assert_eq!(identify(&[]), Sector::Zeros);
        assert_eq!(identify(&contents(10)), Sector::Piece(contents(5)), "the seed ends in zeros");
        assert!(!identify(b"fsst0").holds(STAMP, 0, 10));
        assert!(!Sector::Zeros.holds(STAMP, 0, 10));
    }

    /// Stored observations hold stamps of earlier versions of this crate.
    #[test]
    fn the_bytes_do_not_change() {
        let data = contents(512);
        let head = "667373740700000000000000030000000900000000000000";
        assert_eq!(fsarena_model::seed::hex(&data[..SUMMED]), head);
        let sum = data.iter().fold(0_u64, |sum, byte| mixed(sum ^ u64::from(*byte)));
        assert_eq!(sum, GOLDEN_SUM);
    }

    const GOLDEN_SUM: u64 = 6_862_331_826_214_622_055;
}
