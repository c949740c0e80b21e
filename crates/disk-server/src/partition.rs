//! The partition table of a disk with one partition: a classic one, which kernels read without
//! further options.

use fsarena_vdisk::SECTOR_BYTES;

/// Where the four entries begin, and what ends the sector (Documentation/block of the kernel names
/// neither; `struct msdos_partition` in include/linux/msdos_partition.h, 0xAA55 in
/// block/partitions/msdos.c).
const ENTRIES_AT: usize = 446;
const MAGIC: [u8; 2] = [0x55, 0xAA];
/// Type of the partition: Linux.
const LINUX: u8 = 0x83;
/// Cylinder, head and sector that say "use the numbers of sectors".
const BEYOND_CYLINDERS: [u8; 3] = [0xFE, 0xFF, 0xFF];

/// A partition that the table cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PartitionError {
    #[error("a partition from sector {start} has no room on a disk of {size_bytes} bytes")]
    NoRoom { start: u32, size_bytes: u64 },
    #[error(
        "a disk of {0} bytes is larger than the 2 TiB of a classic partition table; use a smaller \
         one, or partition_start = \"none\""
    )]
    TooLarge(u64),
}

/// A table with one partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartitionTable {
    start: u32,
    sectors: u32,
}

impl PartitionTable {
    /// One partition from this sector to the end of a disk of so many bytes.
    ///
    /// # Errors
    /// Where nothing is left behind `start`, or the table has too few bits.
    pub fn of_rest(start: u32, size_bytes: u64) -> Result<Self, PartitionError> {
        let all = size_bytes / SECTOR_BYTES;
        let left = all.checked_sub(u64::from(start)).filter(|left| *left > 0);
        let left = left.ok_or(PartitionError::NoRoom { start, size_bytes })?;
        let sectors = u32::try_from(left).map_err(|_| PartitionError::TooLarge(size_bytes))?;
        Ok(Self { start, sectors })
    }

    /// The first sector of the disk.
    #[must_use]
    pub fn sector(&self) -> [u8; 512] {
        let mut sector = [0; 512];
        let entry = &mut sector[ENTRIES_AT..];
        entry[1..4].copy_from_slice(&BEYOND_CYLINDERS);
        entry[4] = LINUX;
        entry[5..8].copy_from_slice(&BEYOND_CYLINDERS);
        entry[8..12].copy_from_slice(&self.start.to_le_bytes());
        entry[12..16].copy_from_slice(&self.sectors.to_le_bytes());
        sector[510..].copy_from_slice(&MAGIC);
        sector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partx_reads_the_partition_that_was_written() {
        let sector = PartitionTable::of_rest(63, 1 << 30).unwrap().sector();
        assert_eq!(&sector[454..462], &[63, 0, 0, 0, 0xC1, 0xFF, 0x1F, 0]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), sector).unwrap();
        file.as_file().set_len(1 << 30).unwrap();
        let shown = std::process::Command::new("partx")
            .args(["--show", "--noheadings", "--output", "NR,START,SECTORS,TYPE"])
            .arg(file.path())
            .output()
            .unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        let fields: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(fields, ["1", "63", "2097089", "0x83"], "{text}");
    }

    #[test]
    fn what_a_table_cannot_hold_is_refused() {
        let no_room = PartitionError::NoRoom { start: 2048, size_bytes: 1 << 20 };
        assert_eq!(PartitionTable::of_rest(2048, 1 << 20), Err(no_room));
        assert!(PartitionTable::of_rest(63, 3 << 40).is_err());
    }
}
