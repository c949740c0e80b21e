//! The stamp at the beginning of every sector that the engine writes.
//!
//! Every 512 B sector of a file (or its shorter tail) begins with a stamp of four little-endian
//! words, as far as they fit:
//!
//! | byte | what |
//! |---|---|
//! | 0 | `fsar`, layout version (u16), version of the file (u16) |
//! | 8 | tag of the dataset ([`crate::seed::Seed::tag`]) |
//! | 16 | number of the file |
//! | 24 | offset of the sector in the file, bytes |

/// Distance between stamps.
pub const SECTOR_BYTES: usize = 512;
/// Length of a stamp.
pub const STAMP_BYTES: usize = 32;
/// Layout described above.
pub const LAYOUT_VERSION: u16 = 1;
const MAGIC: [u8; 4] = *b"fsar";
/// Offset of the version in a sector, bytes.
pub const VERSION_BYTE: usize = 6;
/// Offset of the number of the file, bytes.
pub const FILE_WORD: usize = 16;
/// Offset of the place in the file, bytes.
pub const OFFSET_WORD: usize = 24;

/// A decoded stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    pub layout: u16,
    /// Version of the file.
    pub version: u16,
    pub dataset_tag: u64,
    /// Number of the file.
    pub file: u64,
    /// Offset of the sector, bytes.
    pub offset: u64,
}

impl Stamp {
    /// The stamp at the start of a sector; `None` where there is none.
    #[must_use]
    pub fn decode(sector: &[u8]) -> Option<Self> {
        let bytes: &[u8; STAMP_BYTES] = sector.first_chunk()?;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        (bytes[..4] == MAGIC).then(|| Self {
            layout: u16::from_le_bytes([bytes[4], bytes[5]]),
            version: u16::from_le_bytes([bytes[6], bytes[7]]),
            dataset_tag: word(8),
            file: word(FILE_WORD),
            offset: word(OFFSET_WORD),
        })
    }

    /// What [`Stamp::decode`] reads.
    #[must_use]
    pub fn encode(&self) -> [u8; STAMP_BYTES] {
        let mut bytes = [0; STAMP_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.layout.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.version.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.dataset_tag.to_le_bytes());
        bytes[FILE_WORD..OFFSET_WORD].copy_from_slice(&self.file.to_le_bytes());
        bytes[OFFSET_WORD..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }
}

/// Whether a sector at byte `place` of a device was written to the device itself: it carries a
/// stamp of file 0 and of its own place.
#[must_use]
pub fn is_of_device_itself(sector: &[u8], place: u64) -> bool {
    Stamp::decode(sector).is_some_and(|stamp| {
        stamp.layout == LAYOUT_VERSION && (stamp.file, stamp.offset) == (0, place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_the_device_itself_are_known_by_their_place() {
        let sector = |layout: u16, file: u64, offset: u64| {
            let stamp = Stamp { layout, version: 2, dataset_tag: 9, file, offset };
            let mut sector = [0xa5; SECTOR_BYTES];
            sector[..STAMP_BYTES].copy_from_slice(&stamp.encode());
            assert_eq!(Stamp::decode(&sector), Some(stamp));
            sector
        };
        let own = sector(LAYOUT_VERSION, 0, 1 << 20);
        assert!(is_of_device_itself(&own, 1 << 20));
        assert!(!is_of_device_itself(&own, 2 << 20), "it is of another place: of a file");
        assert!(!is_of_device_itself(&sector(LAYOUT_VERSION, 1, 512), 512), "of another file");
        assert!(!is_of_device_itself(&sector(7, 0, 512), 512), "of another layout");
        assert!(!is_of_device_itself(&[0; SECTOR_BYTES], 0));
    }
}
