//! How mke2fs lays ext2, ext3 and ext4 out: groups, inodes, and what is left for contents.
//!
//! The figures follow `ext2fs_initialize` and `calc_reserved_gdt_blocks` of e2fsprogs (lib/ext2fs
//! and misc/mke2fs.c), and what ext4 then tells by statfs(2) (fs/ext4/super.c).

/// A group has so many clusters as its bitmap block has bits.
const BITS: u64 = 8;
/// The lost+found directory is made so large.
const LOST_FOUND_BYTES: u64 = 16 << 10;
/// Inodes that are taken from the start: ten reserved ones and lost+found.
const TAKEN_INODES: u64 = 11;
/// Most clusters that the kernel keeps back for metadata (`ext4_calculate_resv_clusters`).
const MOST_HELD_BACK: u64 = 4096;

/// What decides it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Size of the device, bytes.
    pub(super) device: u64,
    pub(super) block: u64,
    /// The block size where there are no clusters.
    pub(super) cluster: u64,
    pub(super) inode: u64,
    pub(super) ratio: u64,
    /// 0 where there is none.
    pub(super) journal: u64,
    pub(super) reserved_percent: u64,
    /// Features `64bit`, `resize_inode`, `sparse_super`, `extent`.
    pub(super) wide: bool,
    pub(super) resizes: bool,
    pub(super) sparse: bool,
    pub(super) extents: bool,
}

/// What comes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Geometry {
    pub(super) groups: u64,
    pub(super) inodes_per_group: u64,
    /// Blocks of the device that are used at all.
    pub(super) blocks: u64,
    /// Blocks for contents and directories, without the journal's.
    pub(super) free_before_journal: u64,
    /// Free blocks after the mount, for root.
    pub(super) free: u64,
    /// Of these, blocks that only root can have.
    pub(super) reserved: u64,
    /// Of these, blocks that the kernel keeps for itself.
    pub(super) held_back: u64,
}

/// More inodes in a group than a bitmap block has bits: mke2fs refuses that with bigalloc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyInodes {
    pub(super) inodes_per_group: u64,
    pub(super) most: u64,
}

impl Geometry {
    /// The geometry of a shape.
    pub(super) fn new(shape: &Shape) -> Result<Self, TooManyInodes> {
        let ratio = shape.cluster / shape.block;
        let first = u64::from(shape.cluster == 1024);
        let all = shape.device / shape.block / ratio * ratio;
        let mut blocks = all;
        let mut per_group = BITS * shape.block * ratio;
        let wanted = (shape.device / shape.ratio).max(TAKEN_INODES + 1);
        let most = BITS * shape.block;
        loop {
            let groups = (blocks - first).div_ceil(per_group).max(1);
            let mut inodes = wanted.div_ceil(groups);
            if inodes > most {
                if ratio > 1 || per_group <= 256 {
                    return Err(TooManyInodes { inodes_per_group: inodes, most });
                }
                per_group -= 8;
                blocks = all;
                continue;
            }
            let in_block = shape.block / shape.inode;
            inodes = inodes.min(65_536 - in_block);
            let table = (inodes * shape.inode).div_ceil(shape.block);
            let inodes = (table * in_block / 8 * 8).max(8);
            let supers = shape.copies(groups, per_group, blocks - first);
            let last = (blocks - first) % per_group;
            if groups > 1 && last > 0 && last < 2 + table + supers.blocks + 50 {
                // Too small a group at the end is left out.
                blocks -= last;
                continue;
            }
            return Ok(shape.rest(blocks, first, groups, inodes, table, supers));
        }
    }

    /// Inodes that are free after the mount.
    pub(super) fn inodes(&self) -> u64 {
        (self.groups * self.inodes_per_group).saturating_sub(TAKEN_INODES)
    }
}

/// Copies of the superblock and the descriptors.
#[derive(Clone, Copy)]
struct Supers {
    /// Groups that hold them.
    groups: u64,
    /// Blocks of one copy.
    blocks: u64,
}

impl Shape {
    fn copies(&self, groups: u64, per_group: u64, blocks: u64) -> Supers {
        let in_block = self.block / if self.wide { 64 } else { 32 };
        let descriptors = groups.div_ceil(in_block);
        let mut reserved = 0;
        if self.resizes {
            let most = blocks.saturating_mul(1024).min(u64::from(u32::MAX));
            let later = most.div_ceil(per_group).div_ceil(in_block);
            reserved = later.saturating_sub(descriptors).min(self.block / 4);
        }
        let holders = if self.sparse { sparse_groups(groups) } else { groups };
        Supers { groups: holders, blocks: 1 + descriptors + reserved }
    }

    fn rest(
        &self,
        blocks: u64,
        first: u64,
        groups: u64,
        inodes_per_group: u64,
        table: u64,
        supers: Supers,
    ) -> Geometry {
        let ratio = self.cluster / self.block;
        let whole = |blocks: u64| blocks.next_multiple_of(ratio);
        let tables = whole(supers.blocks + groups * (2 + table))
            + whole(supers.blocks) * supers.groups.saturating_sub(1);
        let dirs = 2 * ratio + whole(LOST_FOUND_BYTES.div_ceil(self.block).min(12));
        let left = blocks.saturating_sub(first + tables + dirs);
        let mut journal = self.journal / self.block;
        if !self.extents {
            // Blocks of its block map.
            journal += journal.div_ceil(self.block / 4);
        }
        let free = left.saturating_sub(whole(journal));
        let held_back = (blocks / ratio / 50).min(MOST_HELD_BACK) * ratio;
        let held_back = if self.extents { held_back } else { 0 };
        let reserved = blocks * self.reserved_percent / 100;
        let free_before_journal = left;
        Geometry {
            groups,
            inodes_per_group,
            blocks,
            free_before_journal,
            free,
            reserved,
            held_back,
        }
    }
}

/// Groups 0, 1 and the powers of 3, 5 and 7.
fn sparse_groups(groups: u64) -> u64 {
    let powers = |base: u64| {
        std::iter::successors(Some(base), move |power| power.checked_mul(base))
            .take_while(|power| *power < groups)
            .count() as u64
    };
    groups.min(2) + powers(3) + powers(5) + powers(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(gib: u64, cluster: u64, ratio: u64) -> Shape {
        Shape {
            device: gib << 30,
            block: 4096,
            cluster,
            inode: 256,
            ratio,
            journal: 64 << 20,
            reserved_percent: 5,
            wide: true,
            resizes: true,
            sparse: true,
            extents: true,
        }
    }

    /// What statfs told of file systems that mke2fs 1.47.0 made and Linux 6.18 mounted.
    #[test]
    fn predictions_are_those_of_real_file_systems() {
        let plain = Shape { journal: 32 << 20, ..shape(1, 4096, 16384) };
        let small = Shape { device: 512 << 20, journal: 16 << 20, ..plain };
        let of_1k = Shape { block: 1024, cluster: 1024, ..small };
        let real = [
            (plain, 249_189, 231_986, 65_525),
            (of_1k, 497_220, 466_910, 32_757),
            (Shape { inode: 4096, ..small }, 93_999, 84_825, 32_757),
            (Shape { ratio: 1024, ..small }, 92_694, 83_624, 524_277),
            (Shape { ratio: 64 << 20, ..of_1k }, 505_284, 474_974, 501),
            (shape(2, 65536, 65536), 505_744, 469_050, 32_757),
            (shape(8, 131_072, 131_072), 2_076_448, 1_929_671, 65_525),
            (shape(16, 262_144, 262_144), 4_173_504, 3_879_949, 65_525),
            (shape(10, 131_072, 131_072), 2_599_712, 2_416_224, 81_925),
        ];
        for (shape, free, avail, inodes) in real {
            let geometry = Geometry::new(&shape).unwrap();
            assert_eq!(geometry.inodes(), inodes, "{shape:?}");
            let near = |got: u64, real: u64| got.abs_diff(real) * 200 < real;
            assert!(near(geometry.free, free), "{} of {free}: {shape:?}", geometry.free);
            let got = geometry.free - geometry.reserved - geometry.held_back;
            assert!(near(got, avail), "{got} of {avail}: {shape:?}");
        }
    }

    #[test]
    fn inodes_of_a_group_of_clusters_have_a_limit() {
        let error = Geometry::new(&shape(8, 262_144, 131_072)).unwrap_err();
        assert_eq!((error.inodes_per_group, error.most), (65_536, 32_768));
        assert!(Geometry::new(&shape(8, 262_144, 262_144)).is_ok());
        // Without clusters groups become smaller.
        assert!(Geometry::new(&shape(1, 4096, 1024)).is_ok());
    }

    #[test]
    fn copies_of_the_superblock() {
        assert_eq!([1, 2, 8, 10, 50].map(sparse_groups), [1, 2, 5, 6, 9]);
    }
}
