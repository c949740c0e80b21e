//! The places of XFS: the superblock as xfs_db(8) shows it.

use super::Output;
use crate::fs::{FsError, output_of};
use fsarena_model::account::{Places, Range};
use std::path::Path;

/// Superblock, free space, inodes and free list of an allocation group, a sector each
/// (`xfs_sb`, `xfs_agf`, `xfs_agi`, `xfs_agfl`).
const HEADER_SECTORS: u64 = 4;

/// More groups than this are not believed.
const GROUPS_MAX: u64 = 1 << 20;

/// Asks the program about the file system on `device`.
pub(crate) fn of(device: &Path) -> Result<Places, FsError> {
    read(&output_of("xfs_db", "xfsprogs", &["-r", "-c", "sb 0", "-c", "p"], device)?)
}

/// Reads `xfs_db -r -c "sb 0" -c p`.
fn read(text: &str) -> Result<Places, FsError> {
    let output = Output { tool: "xfs_db", text };
    let number = |key| output.number(key, '=');
    let block = number("blocksize")?;
    let (group_blocks, groups) = (number("agblocks")?, number("agcount")?);
    let header_bytes = number("sectsize")?.saturating_mul(HEADER_SECTORS);
    if groups > GROUPS_MAX {
        return Err(output.odd(format!("agcount is {groups}")));
    }
    let mut metadata = Vec::new();
    for group in 0..groups {
        let start = output.blocks(group.saturating_mul(group_blocks), 1, block)?;
        metadata.push(Range { length_bytes: header_bytes, ..start });
    }
    let (start, count) = (number("logstart")?, number("logblocks")?);
    let (mut journal, mut notes) = (Vec::new(), Vec::new());
    if start == 0 {
        notes.push(
            "Its log lies on another device: what is written there is not in this account."
                .to_owned(),
        );
    } else {
        // The number of a block is that of its group and that in the group, side by side.
        let bits = u32::try_from(number("agblklog")?).ok().filter(|bits| *bits < 64);
        let bits = bits.ok_or_else(|| output.odd("agblklog is 64 or more"))?;
        let (group, block_in_group) = (start >> bits, start & ((1 << bits) - 1));
        let first = group.saturating_mul(group_blocks).saturating_add(block_in_group);
        journal.push(output.blocks(first, count, block)?);
    }
    let said_by = "xfs_db".to_owned();
    Ok(Places { journal, metadata, flags_metadata: true, said_by, notes, ..Places::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xfsprogs 6.1, `mkfs.xfs` on 400 MiB.
    const SUPERBLOCK: &str = "\
magicnum = 0x58465342
blocksize = 4096
logstart = 65542
agblocks = 25600
agcount = 4
logblocks = 16384
sectsize = 512
agblklog = 15
fname = \"\\000\\000\"
logsectsize = 0
crc = 0x3e0d6413 (correct)
";

    #[test]
    fn log_and_headers_are_read() {
        let places = read(SUPERBLOCK).unwrap();
        let start_bytes = (2 * 25600 + 6) * 4096;
        assert_eq!(places.journal, [Range { start_bytes, length_bytes: 64 << 20 }]);
        assert_eq!(places.metadata.len(), 4);
        assert_eq!(places.metadata[1], Range { start_bytes: 25600 * 4096, length_bytes: 2048 });
        assert!(places.flags_metadata && places.notes.is_empty());
    }

    #[test]
    fn blocks_of_64_kib_are_read() {
        let text = SUPERBLOCK
            .replace("blocksize = 4096", "blocksize = 65536")
            .replace("65542", "4102")
            .replace("25600", "1600")
            .replace("16384", "1024")
            .replace("agblklog = 15", "agblklog = 11");
        let places = read(&text).unwrap();
        let start_bytes = (2 * 1600 + 6) * 65536;
        assert_eq!(places.journal, [Range { start_bytes, length_bytes: 64 << 20 }]);
    }

    #[test]
    fn an_external_log_is_said_and_odd_numbers_are_named() {
        let external = read(&SUPERBLOCK.replace("65542", "0")).unwrap();
        assert!(external.journal.is_empty() && external.notes[0].contains("another device"));
        for (from, to) in [
            ("agcount = 4", "agcount = 4000000000"),
            ("agblklog = 15", "agblklog = 64"),
            ("blocksize = 4096", "blocksize = 18446744073709551615"),
            ("logblocks", "blocks"),
            ("sectsize = 512", "sectsize = 0x200"),
        ] {
            let text = read(&SUPERBLOCK.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(text.starts_with("xfs_db: output not understood"), "{text}");
        }
        for end in 0..=SUPERBLOCK.len() {
            let _ = (read(&SUPERBLOCK[..end]), read(&SUPERBLOCK[end..]));
        }
    }
}
