//! Room on XFS: what the kernel keeps back of a file system that mkfs.xfs made.
//!
//! Each allocation group reserves the blocks that its trees of shared extents and of free inodes
//! (and of reverse mappings) may come to need (`xfs_ag_resv_init`, `xfs_btree_calc_size` in
//! fs/xfs/libxfs), the whole a pool of 8192 blocks or a twentieth (`xfs_default_resblks`).

use super::Wanted;
use fsarena_model::capacity::{Capacity, Predicted};

/// Head of a block of a tree with checksums.
const HEAD_BYTES: u64 = 56;
/// Share of the device that inodes may take (`maxpct`), percent.
const INODES_PERCENT: u64 = 25;
/// Blocks of the reserve pool, at most.
const POOL_BLOCKS: u64 = 8192;
/// Blocks of each group that are set aside for its free lists, and its headers.
const ASIDE_BLOCKS: u64 = 12;
/// Inodes that are taken from the start.
const TAKEN_INODES: u64 = 3;

pub(super) fn capacity(wanted: &Wanted, device: u64) -> Capacity {
    let block = wanted.block;
    let blocks = device / block;
    let group = blocks / wanted.agcount;
    let log = wanted.log / block;
    let mut kept = (blocks / 20).min(POOL_BLOCKS);
    for number in 0..wanted.agcount {
        // The log lies in the middle one.
        let space = if number == wanted.agcount / 2 { group.saturating_sub(log) } else { group };
        kept += reserved(wanted, group, space) + ASIDE_BLOCKS;
    }
    let free = blocks.saturating_sub(log + kept);
    let in_block = block / wanted.inode;
    let most = blocks * INODES_PERCENT / 100 * in_block;
    let inodes = most.min(free * in_block).saturating_sub(TAKEN_INODES);
    Capacity {
        predicted: Predicted { free_bytes: free * block, inodes: Some(inodes) },
        kept_for_root_bytes: 0,
        unit_bytes: block,
        inline_max_bytes: 0,
        inode_bytes: wanted.inode,
        dir_unit_bytes: wanted.dir_block,
        moves_on_write: false,
    }
}

/// Blocks that one group keeps for its trees.
fn reserved(wanted: &Wanted, group: u64, space: u64) -> u64 {
    let tree = |record_bytes: u64, pointer_bytes: u64, records: u64| {
        tree_blocks(wanted.block, record_bytes, pointer_bytes, records)
    };
    let mut blocks = 0;
    if wanted.reflink {
        blocks += tree(12, 8, space);
    }
    if wanted.finobt {
        blocks += tree(16, 8, group * (wanted.block / wanted.inode) / 64);
    }
    if wanted.rmapbt {
        blocks += tree(24, 44, space).max(group / 100);
    }
    blocks
}

/// Blocks of a tree whose blocks are half full.
fn tree_blocks(block: u64, record_bytes: u64, pointer_bytes: u64, records: u64) -> u64 {
    let half = |bytes: u64| ((block - HEAD_BYTES) / bytes / 2).max(2);
    let mut level = records.div_ceil(half(record_bytes));
    let mut sum = level;
    while level > 1 {
        level = level.div_ceil(half(pointer_bytes));
        sum += level;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::wanted;
    use super::*;
    use fsarena_model::contender::FsLevel;

    /// Options, size in MiB; free bytes and inodes.
    type Real = (&'static [(&'static str, &'static str)], u64, u64, u64);

    /// What statfs told of file systems that mkfs.xfs 6.1.0 made and Linux 6.18 mounted.
    #[test]
    fn predictions_are_those_of_real_file_systems() {
        let real: [Real; 8] = [
            (&[("block_size", "1024")], 1024, 948_712 * 1024, 524_285),
            (&[("block_size", "2048")], 1024, 476_777 * 2048, 524_285),
            (&[], 1024, 235_783 * 4096, 524_285),
            (&[("inode_size", "2048")], 1024, 235_942 * 4096, 131_069),
            (&[("agcount", "8")], 1024, 235_730 * 4096, 524_285),
            (&[("block_size", "16384")], 1024, 57_948 * 16384, 524_285),
            (&[("block_size", "65536")], 1024, 14_457 * 65536, 524_285),
            (&[("block_size", "65536"), ("reflink", "0")], 300, 3_477 * 65536, 153_597),
        ];
        for (options, mib, free_bytes, inodes) in real {
            let mkfs = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let level = FsLevel { mkfs, ..FsLevel::plain("xfs") };
            let room = capacity(&wanted(&level, Some(mib << 20)).unwrap(), mib << 20);
            let found = Predicted { free_bytes, inodes: Some(inodes) };
            let (got, real) = (room.predicted.free_bytes, free_bytes);
            assert!(got.abs_diff(real) * 200 < real, "{got} of {real}: {options:?}");
            assert_eq!(room.predicted.is_off(&found), None, "{options:?}");
        }
    }
}
