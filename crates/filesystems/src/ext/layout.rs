//! The places of ext2, ext3 and ext4: dumpe2fs(8) and debugfs(8).

use crate::FsError;
use crate::options::{ToolOutput, output_of};
use fsarena_model::account::{FsLayout, Range};
use std::path::Path;

/// Asks the programs about the file system on `device`.
pub(super) fn layout(device: &Path) -> Result<FsLayout, FsError> {
    let header = output_of("dumpe2fs", "e2fsprogs", &["-h"], device)?;
    let groups = output_of("dumpe2fs", "e2fsprogs", &["-g"], device)?;
    let mut places = fixed(&header, &groups)?;
    let said = ToolOutput { tool: "dumpe2fs", text: &header };
    if let Some(inode) = said.value("Journal inode", ':') {
        let request = format!("stat <{inode}>");
        let stat = output_of("debugfs", "e2fsprogs", &["-R", &request], device)?;
        journal(&stat, block_bytes(&said)?, &mut places)?;
        places.reported_by.push_str(", debugfs");
    }
    Ok(places)
}

fn block_bytes(header: &ToolOutput<'_>) -> Result<u64, FsError> {
    header.number("Block size", ':')
}

/// Reads `dumpe2fs -h` and `dumpe2fs -g`: superblocks, group descriptors, bitmaps, inode tables.
pub(crate) fn fixed(header: &str, groups: &str) -> Result<FsLayout, FsError> {
    let header = ToolOutput { tool: "dumpe2fs", text: header };
    let groups = ToolOutput { tool: "dumpe2fs -g", text: groups };
    let block = block_bytes(&header)?;
    let table = header.number("Inode blocks per group", ':')?;
    let mut metadata = Vec::new();
    for line in groups.text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let columns: Vec<&str> = line.trim().split(':').collect();
        let [_, _, superblock, descriptors, block_bitmap, inode_bitmap, inode_table] = columns[..]
        else {
            return Err(groups.odd(format!("{line:?} has not seven columns")));
        };
        let mut add = |blocks: &str, count: u64| {
            if let Some((first, last)) = span(blocks) {
                let length = last.saturating_sub(first).saturating_add(count);
                metadata.push(groups.blocks(first, length, block)?);
            }
            Ok::<(), FsError>(())
        };
        add(superblock, 1)?;
        add(descriptors, 1)?;
        add(block_bitmap, 1)?;
        add(inode_bitmap, 1)?;
        add(inode_table, table)?;
    }
    if metadata.is_empty() {
        return Err(groups.odd("no groups"));
    }
    let mut notes = Vec::new();
    match header.value("Filesystem features", ':').unwrap_or_default() {
        features if !features.split(' ').any(|name| name == "has_journal") => {
            notes.push("It has no journal.".to_owned());
        }
        _ if header.value("Journal inode", ':').is_none() => notes.push(
            "Its journal is on another device: what is written there is not in this account."
                .to_owned(),
        ),
        _ => {}
    }
    let reported_by = "dumpe2fs".to_owned();
    Ok(FsLayout { metadata, flags_metadata: true, reported_by, notes, ..FsLayout::default() })
}

/// `3-7` or `3`; none for `-1`, which stands for nothing.
fn span(blocks: &str) -> Option<(u64, u64)> {
    match blocks.split_once('-') {
        Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
        None => blocks.parse().ok().map(|block| (block, block)),
    }
}

/// Reads `debugfs -R "stat <8>"`: contents are `(0-11):786-797`, blocks of the map `(IND):798` and
/// `(ETB0):33`; those written never have `[u]` in the brackets.
pub(crate) fn journal(stat: &str, block_bytes: u64, places: &mut FsLayout) -> Result<(), FsError> {
    let output = ToolOutput { tool: "debugfs", text: stat };
    let from = ["EXTENTS:", "BLOCKS:"].iter().find_map(|word| stat.split_once(word));
    let blocks = from.ok_or_else(|| output.odd("no blocks of the journal"))?.1;
    for item in blocks.split(|c: char| c == ',' || c.is_whitespace()) {
        let Some((what, blocks)) = item.split_once("):") else { continue };
        let odd = || output.odd(format!("{item:?} names no blocks"));
        let (first, last) = span(blocks).ok_or_else(odd)?;
        let count = last.checked_sub(first).and_then(|more| more.checked_add(1)).ok_or_else(odd)?;
        let range = output.blocks(first, count, block_bytes)?;
        match what.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit()) {
            true => join(&mut places.journal, range),
            false => places.metadata.push(range),
        }
    }
    match places.journal.is_empty() {
        true => Err(output.odd("no blocks of the journal")),
        false => Ok(()),
    }
}

/// Adds a range, to the last one where it goes on there.
fn join(ranges: &mut Vec<Range>, range: Range) {
    match ranges.last_mut() {
        Some(last) if last.end_bytes() == range.start_bytes => {
            last.length_bytes = last.length_bytes.saturating_add(range.length_bytes);
        }
        _ => ranges.push(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e2fsprogs 1.47.0, `mkfs.ext4 -b 1024` on 64 MiB.
    const HEADER: &str = "\
Filesystem features:      has_journal ext_attr resize_inode dir_index extent 64bit
First block:              1
Block size:               1024
Inode blocks per group:   512
Inode size:\t          256
Journal inode:            8
";
    const GROUPS: &str = "
group:block:super:gdt:bbitmap:ibitmap:itable
0:1:1:2-2:259:267:275
1:8193:8193:8194-8196:260:268:787
2:16385:-1:-1:261:269:1299
";
    const EXTENTS: &str = "\
Inode: 8   Type: regular    Mode:  0600   Flags: 0x80000
 ctime: 0x6b03258f:00000000 -- Sun Nov 22 17:25:35 2026
EXTENTS:
(ETB0):33, (0-4095):16385-20480, (4096-4097[u]):20481-20482, (4098):9

";
    /// ext3 on a device that debugfs has to walk by indirect blocks.
    const BLOCKS: &str = "\
Links: 1   Blockcount: 8226
BLOCKS:
(0-11):786-797, (IND):798, (12-267):799-1054, (DIND):1055
TOTAL: 270

";

    fn range(first: u64, count: u64) -> Range {
        Range { start_bytes: first * 1024, length_bytes: count * 1024 }
    }

    #[test]
    fn groups_are_read() {
        let places = fixed(HEADER, GROUPS).unwrap();
        assert_eq!(places.metadata.len(), 5 + 5 + 3);
        assert_eq!(places.metadata[..2], [range(1, 1), range(2, 1)]);
        assert_eq!(places.metadata[6], range(8194, 3));
        assert_eq!(places.metadata[12], range(1299, 512));
        assert!(places.flags_metadata && places.journal.is_empty() && places.notes.is_empty());
        let without = HEADER.replace("has_journal ", "");
        assert_eq!(fixed(&without, GROUPS).unwrap().notes, ["It has no journal."]);
        let external = HEADER.replace("Journal inode:            8", "Journal device: 0x0700");
        assert!(fixed(&external, GROUPS).unwrap().notes[0].contains("another device"));
    }

    #[test]
    fn the_journal_is_read_from_extents_and_from_blocks() {
        let mut places = FsLayout::default();
        journal(EXTENTS, 1024, &mut places).unwrap();
        assert_eq!(places.journal, [range(16385, 4098), range(9, 1)]);
        assert_eq!(places.metadata, [range(33, 1)]);
        let mut places = FsLayout::default();
        journal(BLOCKS, 1024, &mut places).unwrap();
        assert_eq!(places.journal, [range(786, 12), range(799, 256)]);
        assert_eq!(places.metadata, [range(798, 1), range(1055, 1)]);
    }

    #[test]
    fn what_is_odd_is_named() {
        let text = |result: Result<FsLayout, FsError>| result.unwrap_err().to_string();
        assert!(text(fixed("", GROUPS)).contains("dumpe2fs: output not understood: no Block size"));
        assert!(text(fixed(HEADER, "")).contains("no groups"));
        assert!(text(fixed(HEADER, "0:1:2\n")).contains("seven columns"));
        let beyond = GROUPS.replace("275", "18446744073709551615");
        assert!(text(fixed(HEADER, &beyond)).contains("is no block"));
        for stat in ["", "EXTENTS:\n", "BLOCKS:\n(0-3):7-x", "BLOCKS:\n(0-3):7-3"] {
            let error = journal(stat, 1024, &mut FsLayout::default()).unwrap_err().to_string();
            assert!(error.starts_with("debugfs: output not understood"), "{error}");
        }
    }

    #[test]
    fn no_cut_of_the_outputs_does_harm() {
        for end in 0..=GROUPS.len() {
            let _ = fixed(HEADER, &GROUPS[..end]);
            let _ = fixed(HEADER, &GROUPS[end..]);
        }
        for text in [EXTENTS, BLOCKS] {
            for end in 0..=text.len() {
                let _ = journal(&text[..end], u64::MAX / 2, &mut FsLayout::default());
                let _ = journal(&text[end..], 4096, &mut FsLayout::default());
            }
        }
        for end in 0..=HEADER.len() {
            let _ = fixed(&HEADER[end..], GROUPS);
        }
    }
}
