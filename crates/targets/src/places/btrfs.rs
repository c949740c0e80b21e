//! The places of Btrfs: its chunks, as `btrfs inspect-internal dump-tree` shows them.

use super::Output;
use crate::fs::{FsError, output_of};
use fsarena_model::account::{Chunk, Places, Range};
use std::path::Path;

/// Where the copies of the superblock are (`btrfs_sb_offset`), as many as the device has room for.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;

/// Profiles of which each stripe holds the whole chunk.
const WHOLE: [&str; 2] = ["single", "DUP"];

/// Asks the program about the file system on `device`.
pub(crate) fn of(device: &Path) -> Result<Places, FsError> {
    let args = ["inspect-internal", "dump-tree", "-t", "chunk"];
    read(&output_of("btrfs", "btrfs-progs", &args, device)?)
}

/// A chunk while its lines are read.
struct Found {
    logical_bytes: u64,
    length_bytes: u64,
    kind: String,
    /// Device and place of each stripe.
    stripes: Vec<(u64, u64)>,
}

/// Reads `btrfs inspect-internal dump-tree -t chunk`.
fn read(text: &str) -> Result<Places, FsError> {
    let output = Output { tool: "btrfs inspect-internal dump-tree", text };
    let mut found: Vec<Found> = Vec::new();
    let mut is_chunk = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| {
            let odd = || output.odd(format!("{:?}: no number", line.trim()));
            word.trim_end_matches(')').parse::<u64>().map_err(|_| odd())
        };
        match words[..] {
            ["item", _, "key", _, what, offset, ..] => {
                is_chunk = what == "CHUNK_ITEM";
                if is_chunk {
                    let (kind, stripes) = (String::new(), Vec::new());
                    let logical_bytes = number(offset)?;
                    found.push(Found { logical_bytes, length_bytes: 0, kind, stripes });
                }
            }
            ["length", length, "owner", _, "stripe_len", _, "type", kind] if is_chunk => {
                if let Some(chunk) = found.last_mut() {
                    (chunk.length_bytes, chunk.kind) = (number(length)?, kind.to_owned());
                }
            }
            ["stripe", _, "devid", device, "offset", offset] if is_chunk => {
                if let Some(chunk) = found.last_mut() {
                    chunk.stripes.push((number(device)?, number(offset)?));
                }
            }
            _ => {}
        }
    }
    sorted(&output, &found)
}

fn sorted(output: &Output<'_>, found: &[Found]) -> Result<Places, FsError> {
    let Some(device) = found.iter().find_map(|chunk| chunk.stripes.first()) else {
        return Err(output.odd("no chunks"));
    };
    let mut notes = vec![
        "Btrfs has no journal: fsync writes log trees, which have no place of their own and are \
         metadata."
            .to_owned(),
    ];
    let superblock =
        |start_bytes: &u64| Range { start_bytes: *start_bytes, length_bytes: SUPERBLOCK_BYTES };
    let mut metadata: Vec<Range> = SUPERBLOCKS.iter().map(superblock).collect();
    let mut chunks = Vec::new();
    for chunk in found {
        let kinds: Vec<&str> = chunk.kind.split('|').collect();
        if kinds.is_empty() || chunk.length_bytes == 0 || chunk.stripes.is_empty() {
            return Err(output.odd(format!("chunk {} has no length", chunk.logical_bytes)));
        }
        let is_plain = kinds.last().is_some_and(|profile| WHOLE.contains(profile));
        if !is_plain || chunk.stripes.iter().any(|stripe| stripe.0 != device.0) {
            notes.push(format!(
                "Chunk {} ({}) is spread over stripes or devices: what lies there is not known.",
                chunk.logical_bytes, chunk.kind
            ));
            continue;
        }
        let copies = chunk.stripes.iter().map(|stripe| stripe.1);
        if !kinds.contains(&"DATA") {
            let length_bytes = chunk.length_bytes;
            metadata.extend(copies.clone().map(|start_bytes| Range { start_bytes, length_bytes }));
        }
        let (logical_bytes, length_bytes) = (chunk.logical_bytes, chunk.length_bytes);
        chunks.push(Chunk { logical_bytes, length_bytes, copies_bytes: copies.collect() });
    }
    let said_by = "btrfs inspect-internal".to_owned();
    let journal = Vec::new();
    Ok(Places { journal, metadata, flags_metadata: true, chunks, said_by, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// btrfs-progs 6.2, on 400 MiB.
    const TREE: &str = "\
btrfs-progs v6.2
chunk tree
leaf 22036480 items 4 free space 15781 generation 6 owner CHUNK_TREE
leaf 22036480 flags 0x1(WRITTEN) backref revision 1
\titem 0 key (DEV_ITEMS DEV_ITEM 1) itemoff 16185 itemsize 98
\t\tdevid 1 total_bytes 419430400 bytes_used 92274688
\titem 1 key (FIRST_CHUNK_TREE CHUNK_ITEM 13631488) itemoff 16105 itemsize 80
\t\tlength 8388608 owner 2 stripe_len 65536 type DATA|single
\t\tio_align 65536 io_width 65536 sector_size 4096
\t\tnum_stripes 1 sub_stripes 1
\t\t\tstripe 0 devid 1 offset 13631488
\t\t\tdev_uuid 36add135-1e04-406c-b3e4-ea53f6a74cf1
\titem 3 key (FIRST_CHUNK_TREE CHUNK_ITEM 30408704) itemoff 15881 itemsize 112
\t\tlength 33554432 owner 2 stripe_len 65536 type METADATA|DUP
\t\tnum_stripes 2 sub_stripes 1
\t\t\tstripe 0 devid 1 offset 38797312
\t\t\tstripe 1 devid 1 offset 72351744
";

    #[test]
    fn chunks_and_their_copies_are_read() {
        let places = read(TREE).unwrap();
        let data = Chunk {
            logical_bytes: 13_631_488,
            length_bytes: 8 << 20,
            copies_bytes: vec![13_631_488],
        };
        assert_eq!(places.chunks[0], data);
        assert_eq!(places.chunks[1].copies_bytes, [38_797_312, 72_351_744]);
        assert_eq!(places.metadata.len(), 3 + 2, "superblocks and two copies");
        assert!(places.journal.is_empty() && places.notes[0].contains("log trees"));
    }

    #[test]
    fn mixed_chunks_are_no_place_of_metadata_and_stripes_are_not_known() {
        let mixed = read(&TREE.replace("METADATA|DUP", "DATA|METADATA|DUP")).unwrap();
        assert_eq!((mixed.metadata.len(), mixed.chunks.len()), (3, 2));
        let striped = read(&TREE.replace("DATA|single", "DATA|RAID0")).unwrap();
        assert_eq!((striped.chunks.len(), striped.notes.len()), (1, 2));
        let two = read(&TREE.replace("stripe 1 devid 1", "stripe 1 devid 2")).unwrap();
        assert_eq!((two.chunks.len(), two.notes.len()), (1, 2));
    }

    #[test]
    fn odd_output_is_named_and_does_no_harm() {
        for text in ["", "ERROR: no btrfs", &TREE.replace("length", "size")] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("output not understood"), "{error}");
        }
        assert!(read(&TREE.replace("38797312", "none")).is_err());
        for end in 0..=TREE.len() {
            let _ = (read(&TREE[..end]), read(&TREE[end..]));
        }
    }
}
