//! Sizes of clusters, inodes and journals: what mke2fs takes, and what it chooses itself.

use super::Ext;
use super::geometry::{Geometry, Shape, TooManyInodes};
use crate::fs::IllegalLevel;
use crate::fs::options::Rule;
use fsarena_model::contender::FsLevel;

/// Largest cluster: mke2fs takes 512 MiB, but makes no journal beyond this.
const MOST_CLUSTER_BYTES: u64 = 128 << 20;
/// Fewest inodes that mke2fs makes.
const MOST_RATIO_BYTES: u64 = 64 << 20;
/// Largest journal of mke2fs, blocks.
const MOST_JOURNAL_BLOCKS: u64 = 10_240_000;

impl Ext {
    /// The cluster size, where there are clusters.
    pub(super) fn cluster(
        &self,
        level: &FsLevel,
        block: u64,
        features: &[String],
    ) -> Result<Option<u64>, IllegalLevel> {
        let rule = Rule { fs: self.name };
        let has = |names: &[&str]| features.iter().any(|feature| names.contains(&&**feature));
        if !level.mkfs.contains_key("cluster_size") {
            if has(&["bigalloc"]) {
                return Err(rule.broken(
                    "the feature bigalloc without a cluster_size",
                    "say mkfs.cluster_size=64K; the feature comes with it",
                ));
            }
            return Ok(None);
        }
        if self.name != "ext4" {
            return Err(rule.broken(
                "cluster_size: clusters (the feature bigalloc) are only for ext4, and the kernel \
                 mounts no ext2 or ext3 with them",
                "use ext4, or leave it out",
            ));
        }
        if !has(&["extent", "extents"]) {
            return Err(rule.broken(
                "cluster_size: clusters (the feature bigalloc) need the feature extent",
                "leave ^extent out of features",
            ));
        }
        let cluster = rule.bytes(level, "cluster_size", 0)?;
        if !cluster.is_power_of_two() || !(2 * block..=MOST_CLUSTER_BYTES).contains(&cluster) {
            return Err(rule.broken(
                format!(
                    "cluster_size = {cluster} is not a power of two from two blocks ({}) to {} \
                     (mke2fs makes no journal in larger ones)",
                    2 * block,
                    MOST_CLUSTER_BYTES
                ),
                "such as 16384, 65536 or 262144",
            ));
        }
        Ok(Some(cluster))
    }

    /// Bytes for each inode, as written or as the size of the device and of the clusters ask for.
    pub(super) fn ratio(&self, level: &FsLevel, shape: &Shape) -> Result<u64, IllegalLevel> {
        let rule = Rule { fs: self.name };
        let too_many = |ratio: u64| {
            let geometry = Geometry::new(&Shape { ratio, ..*shape });
            geometry.err().filter(|_| shape.device != u64::MAX)
        };
        if !level.mkfs.contains_key("inode_ratio") {
            let least = if shape.device < 512 << 20 { 4096 } else { 16384 };
            let ratios = std::iter::successors(Some(least), |ratio| Some(ratio * 2));
            let mut ratios = ratios.take_while(|ratio| *ratio <= MOST_RATIO_BYTES);
            return Ok(ratios.find(|ratio| too_many(*ratio).is_none()).unwrap_or(MOST_RATIO_BYTES));
        }
        let ratio = rule.bytes(level, "inode_ratio", 0)?;
        if !(1024..=MOST_RATIO_BYTES).contains(&ratio) {
            return Err(rule.broken(
                format!("inode_ratio = {ratio} is not between 1024 and 64 MiB"),
                "such as 16384",
            ));
        }
        match too_many(ratio) {
            None => Ok(ratio),
            Some(TooManyInodes { inodes_per_group, most }) => Err(rule.broken(
                format!(
                    "inode_ratio = {ratio} with clusters of {} asks for {inodes_per_group} inodes \
                     in each group of blocks, and the bitmap of one has {most} bits",
                    shape.cluster
                ),
                format!("use inode_ratio = {} or more", ratio * inodes_per_group.div_ceil(most)),
            )),
        }
    }

    /// mke2fs: a journal takes at most half of what is free before it.
    pub(super) fn journal_fits(&self, shape: &Shape) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name };
        let free = Geometry::new(shape).map_or(0, |geometry| geometry.free_before_journal);
        if free > 0 && shape.journal / shape.block <= free / 2 {
            return Ok(());
        }
        if free == 0 {
            return Err(rule.broken(
                format!(
                    "inodes of {} bytes for each {} bytes of the device take all of it",
                    shape.inode, shape.ratio
                ),
                "use a larger inode_ratio or a smaller inode_size",
            ));
        }
        Err(rule.broken(
            format!(
                "a journal of {} bytes takes more than half of the device's {} free ones",
                shape.journal,
                free * shape.block
            ),
            "use a larger device or a smaller journal_size",
        ))
    }

    /// The journal in MiB, where there is one.
    pub(super) fn journal(
        &self,
        level: &FsLevel,
        device: u64,
        block: u64,
        has: bool,
    ) -> Result<Option<u64>, IllegalLevel> {
        let rule = Rule { fs: self.name };
        if !has {
            if level.mkfs.contains_key("journal_size") {
                return Err(rule.broken(
                    "journal_size: this file system has no journal",
                    "use ext3 or ext4, or leave it out",
                ));
            }
            return Ok(None);
        }
        let bytes = rule.bytes(level, "journal_size", default_journal(device, block))?;
        let least = 1024 * block;
        if bytes < least || !bytes.is_multiple_of(1 << 20) {
            return Err(rule.broken(
                format!("journal_size = {bytes} is not a whole number of MiB from {least} up"),
                "a journal has 1024 blocks at least",
            ));
        }
        if bytes / block > MOST_JOURNAL_BLOCKS || bytes > device / 2 {
            return Err(rule.broken(
                format!(
                    "a journal of {bytes} bytes takes more than half of the device, or has more \
                     than {MOST_JOURNAL_BLOCKS} blocks"
                ),
                "use a larger device or a smaller journal_size",
            ));
        }
        Ok(Some(bytes >> 20))
    }
}

/// The size that mke2fs itself would choose (`ext2fs_default_journal_size`), bytes.
pub(super) fn default_journal(device: u64, block: u64) -> u64 {
    let blocks = device / block;
    let journal = match blocks {
        0..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..4_194_304 => 16_384,
        4_194_304..8_388_608 => 32_768,
        8_388_608..16_777_216 => 65_536,
        16_777_216..33_554_432 => 131_072,
        _ => 262_144,
    };
    journal * block
}
