//! ext2, ext3 and ext4: one format, three sets of features, made by mke2fs.
//!
//! What makes a difference is written out, and for the rest mke2fs goes by the defaults that are
//! built into it: it is run without a configuration, so that /etc/mke2fs.conf decides nothing. UUID
//! and hash seed are the same each time: they seed the order of names in hashed directories, which
//! would else differ from trial to trial.

use super::driver::FIRST_USE_BYTES;
use super::mkfs::ValueRule::{Computed, Number, PowerOfTwo, Text};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{Rule, discard_alone, kept_lines, key_value, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, LazyInit, MetadataRule};
use fsarena_model::account::FsLayout;
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::crash::Promises;
use geometry::{Geometry, Shape, TooManyInodes};
use std::collections::BTreeMap;
use std::path::Path;

mod geometry;
pub(super) mod layout;

/// One of the three.
pub(super) struct Ext {
    name: &'static str,
    summary: &'static str,
    /// Added to none, in this order.
    features: &'static [&'static [&'static str]],
}

/// Groups whose bitmaps are fetched ahead (`s_mb_prefetch` in fs/ext4/mballoc.c).
const PREFETCHED_GROUPS: u64 = 32;

const COMMON: [&str; 6] =
    ["sparse_super", "large_file", "filetype", "resize_inode", "dir_index", "ext_attr"];

/// ext2: no journal.
pub(super) const EXT2: Ext = Ext {
    name: "ext2",
    summary: "the second extended file system: block maps, no journal",
    features: &[&COMMON],
};

/// ext3: ext2 with a journal.
pub(super) const EXT3: Ext = Ext {
    name: "ext3",
    summary: "the third extended file system: ext2 with a journal",
    features: &[&["has_journal"], &COMMON],
};

/// ext4.
pub(super) const EXT4: Ext = Ext {
    name: "ext4",
    summary: "the fourth extended file system: journal, extents, checksums",
    features: &[
        &["has_journal", "extent", "huge_file", "flex_bg", "metadata_csum", "64bit"],
        &["dir_nlink", "extra_isize"],
        &COMMON,
    ],
};

static MKFS: Mkfs = Mkfs {
    command: "mke2fs -t {fs} -T default -F -q -b {block_size} [-C {cluster_size}] \
              -I {inode_size} -i {inode_ratio} -m {reserved_percent} -e continue \
              -O none,{features} [-J size={journal_size:M}] [-G {flex_bg_size}] \
              -U f5a2e4a0-0000-4000-8000-000000000001 \
              -E {discard},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0,\
              hash_seed=f5a2e4a0-0000-4000-8000-000000000002 {device}",
    programs: &["mke2fs", "dumpe2fs"],
    package: "e2fsprogs",
    options: &[
        MkfsOption::new(
            "features",
            "comma-separated additions to the features, ^name takes one away",
            Text(features),
        ),
        MkfsOption::new("block_size", "bytes of a block", PowerOfTwo(1024, 4096, 4096)),
        MkfsOption::new(
            "inode_size",
            "bytes of an inode: 128, 256 (default) to the block size",
            Computed(|r| r.power_of_two(128, r.values.number("block_size"), 256).map(Some)),
        ),
        MkfsOption::new(
            "cluster_size",
            "bytes of a cluster of blocks, 2 blocks to 128 MiB (ext4: bigalloc); none",
            Computed(cluster),
        ),
        MkfsOption::new(
            "journal_size",
            "bytes of the journal; by default as mke2fs chooses for the size",
            Computed(journal),
        ),
        MkfsOption::new("reserved_percent", "percent of blocks kept for root", Number(0, 50, 5)),
        MkfsOption::new(
            "inode_ratio",
            "bytes of the device for each inode, 1024 to 64 MiB; 16384, under 512 MiB 4096, with \
             clusters more where a group would have too many",
            Computed(ratio),
        ),
        MkfsOption::new(
            "flex_bg_size",
            "block groups whose metadata lies together; 16 (ext4)",
            Computed(flex_groups),
        ),
    ],
};

/// Features under which the layout is not the one that is known here.
const OTHER_LAYOUT: [&str; 4] = ["meta_bg", "sparse_super2", "mmp", "journal_dev"];

/// What decides the layout, by the options that have been read.
fn shape(values: &MkfsValues) -> Shape {
    let has = |name: &str| values.lists("features", name);
    let block = values.number("block_size");
    Shape {
        device: values.device_bytes,
        block,
        cluster: values.optional("cluster_size").unwrap_or(block),
        inode: values.number("inode_size"),
        ratio: values.number("inode_ratio"),
        journal: values.number("journal_size"),
        reserved_percent: values.number("reserved_percent"),
        wide: has("64bit"),
        resizes: has("resize_inode"),
        sparse: has("sparse_super"),
        extents: has("extent") || has("extents"),
    }
}

fn features(reader: &OptionReader<'_>) -> Result<String, IllegalLevel> {
    let ours = [EXT2, EXT3, EXT4].into_iter().find(|ext| ext.name == reader.rule.fs);
    let mut all: Vec<&str> = ours.map_or_else(Vec::new, |ext| ext.features.concat());
    let words = reader.text().into_iter().flat_map(|text| text.split(','));
    for word in words.map(str::trim) {
        let name = word.strip_prefix('^').unwrap_or(word);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(reader.rule.broken(
                format!("features: {word:?} is not the name of a feature"),
                "such as features = \"inline_data,^64bit\"",
            ));
        }
        all.retain(|feature| *feature != name);
        // It comes with the cluster size, and only once.
        let with_cluster = name == "bigalloc" && reader.gives("cluster_size");
        if !word.starts_with('^') && !with_cluster {
            all.push(name);
        }
    }
    if reader.gives("cluster_size") {
        all.push("bigalloc");
    }
    Ok(all.join(","))
}

/// Block groups whose metadata lies together, where they can.
fn flex_groups(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let groups = reader.power_of_two(1, 1 << 20, 16)?;
    let has = reader.values.lists("features", "flex_bg");
    if reader.text().is_some() && !has {
        let rule = "flex_bg_size needs the feature flex_bg";
        return Err(reader.rule.broken(rule, "use ext4, or leave it out"));
    }
    Ok(has.then_some(groups))
}

impl FileSystem for Ext {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        if values.lists("features", "has_journal") { 16 << 20 } else { 1 << 20 }
    }

    fn check_mount(&self, level: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name };
        if !values.lists("features", "has_journal") {
            let of_a_journal = ["data", "commit", "journal_checksum", "journal_async_commit"];
            let why = " needs a journal, and this has none";
            rule.no_mount_option(level, &of_a_journal, why, "use ext3 or ext4, or leave it out")?;
        }
        let orders = ["data=ordered", "data=writeback", "data=journal"];
        let is_odd =
            |option: &&String| key_value(option).0 == "data" && !orders.contains(&&***option);
        if let Some(option) = level.mount.iter().find(is_odd) {
            return Err(rule.broken(
                format!("mount option {option} is not known"),
                "use data=ordered, data=writeback or data=journal",
            ));
        }
        if self.name != "ext4" {
            let of_ext4 = ["delalloc", "auto_da_alloc", "dioread_nolock"];
            let remedy = "use ext4, or leave it out";
            rule.no_mount_option(level, &of_ext4, " is only for ext4", remedy)?;
        }
        Ok(())
    }

    /// Nothing is discarded where nothing is said. The kernel's own driver of ext2, which guests
    /// have, does not know `nodiscard`; that of ext4, which serves ext2 elsewhere, needs no word.
    fn mount_options(&self, level: &FsLevel, discard: Discard, _: Option<u64>) -> Vec<String> {
        let mut options = discard_alone(level, discard);
        if self.name != "ext2" && discard.is_none() {
            options.push("nodiscard".to_owned());
        }
        options
    }

    fn mkfs_env(&self) -> &'static [(&'static str, &'static str)] {
        // A file that is not there stands for the built-in one; nobody can make one in /proc.
        &[("MKE2FS_CONFIG", "/proc/nonexistent")]
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_dumpe2fs(&output_of("dumpe2fs", "e2fsprogs", &["-h"], device)?)
    }

    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        layout::layout(device)
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let values = self.mkfs_values(level, None).ok();
        let inline = values.as_ref().filter(|values| values.lists("features", "inline_data"));
        ContentRule {
            block_bytes: values.as_ref().map_or(4096, |values| values.number("block_size")),
            inline_max_bytes: inline.map_or(0, |values| values.number("inode_size")),
            compresses: false,
            metadata: self.metadata(level),
        }
    }

    /// `struct ext4_dir_entry_2`: 8 bytes and the name, to a multiple of 4. With the inode of the
    /// root come 32 blocks of inodes (`inode_readahead_blks`).
    fn metadata(&self, level: &FsLevel) -> Option<MetadataRule> {
        let values = self.mkfs_values(level, None).ok()?;
        let inode_bytes = values.number("inode_size");
        let dir_inline_bytes =
            if values.lists("features", "inline_data") { inode_bytes } else { 0 };
        let mount_bytes = 33 * values.number("block_size");
        Some(MetadataRule {
            inode_bytes,
            entry_bytes: 8,
            entry_align_bytes: 4,
            dir_inline_bytes,
            mount_bytes,
        })
    }

    /// Where groups cannot be marked as empty (ext2, ext3), the bitmaps of the first 32 are fetched
    /// ahead (`s_mb_prefetch`): Linux 6.18 read 24, 78, 156 and 156 KB of ext3 of 512 MiB and 2, 8
    /// and 16 GiB. Of these groups both bitmaps are taken.
    fn first_use_bytes(&self, level: &FsLevel, device_bytes: Option<u64>) -> u64 {
        let values = device_bytes.and_then(|bytes| self.mkfs_values(level, Some(bytes)).ok());
        let Some(values) = values else { return FIRST_USE_BYTES };
        if ["uninit_bg", "metadata_csum"].iter().any(|word| values.lists("features", word)) {
            return FIRST_USE_BYTES;
        }
        let block = values.number("block_size");
        // A bitmap has a bit for each block of its group.
        let groups = values.device_bytes.div_ceil(8 * block * block).min(PREFETCHED_GROUPS);
        FIRST_USE_BYTES.max(2 * groups * block)
    }

    /// A commit of the journal waits for its blocks and ends with a flush. Without a journal the
    /// inodes and directories are pages of the device: `sync_filesystem` writes them after
    /// `ext4_sync_fs` has sent its flush (fs/sync.c). Without barriers there is none to be had, as
    /// was asked for.
    fn syncs_to_device(&self, level: &FsLevel) -> bool {
        let has_journal = self
            .mkfs_values(level, None)
            .is_ok_and(|values| values.lists("features", "has_journal"));
        let mut options = level.mount.iter().flat_map(|option| option.split(','));
        has_journal || options.any(|option| matches!(option.trim(), "nobarrier" | "barrier=0"))
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let values = self.mkfs_values(level, Some(device_bytes)).ok()?;
        if OTHER_LAYOUT.iter().any(|feature| values.lists("features", feature)) {
            return None;
        }
        let shape = shape(&values);
        let geometry = Geometry::new(&shape).ok()?;
        let free_bytes =
            geometry.free.saturating_sub(geometry.reserved + geometry.held_back) * shape.block;
        Some(Capacity {
            predicted: Predicted { free_bytes, inodes: Some(geometry.inodes()) },
            kept_for_root_bytes: geometry.reserved * shape.block,
            unit_bytes: shape.cluster,
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: shape.cluster,
            moves_on_write: false,
        })
    }

    fn ignores_direct_io(&self, level: &FsLevel) -> Option<String> {
        let mut options = level.mount.iter().flat_map(|option| option.split(','));
        let journals_data = options.any(|option| option.trim() == "data=journal");
        (self.name != "ext2" && journals_data).then(|| {
            format!(
                "{} with data=journal ignores O_DIRECT and goes through the page cache",
                self.name
            )
        })
    }

    fn checksums(&self, features: &BTreeMap<String, String>) -> Option<bool> {
        Some(features.get("filesystem_features")?.contains("metadata_csum"))
    }

    fn lazy_init(&self) -> Option<&'static LazyInit> {
        (self.name == "ext4").then_some(&LAZY_INIT)
    }

    fn served_by(&self, sys_root: &Path, device: &Path) -> Option<String> {
        let name = device.file_name()?;
        let by_ext4 = sys_root.join("fs/ext4").join(name).exists();
        (self.name != "ext4" && by_ext4).then(|| "ext4".to_owned())
    }

    fn recovery(&self) -> Recovery {
        // ext2 has no journal: its documents ask for e2fsck before it is mounted.
        let has_journal = self.name() != "ext2";
        Recovery {
            without: has_journal.then_some("noload"),
            check: Some(Fsck::new("e2fsck", &["-fn"], &[0])),
            repair: Some(Fsck::new("e2fsck", &["-fy"], &[0, 1])),
            is_repaired_first: !has_journal,
            side_by_side: SideBySide::Always,
            ..Recovery::UNKNOWN
        }
    }

    fn promises(&self, options: &[&str]) -> Promises {
        if self.name() == "ext2" {
            return Promises::default();
        }
        let has = |option: &str| options.contains(&option);
        Promises {
            // Without delayed allocation, ordered data are written before the commit as well.
            replace_is_whole: has("data=journal")
                || (!has("data=writeback") && !has("noauto_da_alloc")),
            no_stale_bytes: !has("data=writeback"),
            replace_keeps_the_name: true,
            mounts_without_repair: true,
        }
    }
}

/// What of `dumpe2fs -h` describes the file system and not its momentary state.
const KEPT: [&str; 20] = [
    "Filesystem revision #",
    "Filesystem features",
    "Filesystem flags",
    "Default mount options",
    "Inode count",
    "Block count",
    "Reserved block count",
    "Block size",
    "Cluster size",
    "Fragment size",
    "Blocks per group",
    "Inodes per group",
    "Flex block group size",
    "Inode size",
    "Default directory hash",
    "Directory Hash Seed",
    "Journal features",
    "Total journal size",
    "Total journal blocks",
    "Checksum type",
];

/// Reads `dumpe2fs -h`; keys in lower case with underscores.
pub(super) fn parse_dumpe2fs(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let needed = &["filesystem_features", "block_size", "inode_size", "inode_count"];
    kept_lines("dumpe2fs", text, &KEPT, needed)
}

/// Inode tables (mke2fs(8), `lazy_itable_init`; fs/ext4/super.c, `ext4_run_lazyinit_thread`).
static LAZY_INIT: LazyInit = LazyInit {
    thread: "ext4lazyinit",
    program: "dumpe2fs",
    package: "e2fsprogs",
    count_groups,
    off_option: "noinit_itable",
    command: "pgrep ext4lazyinit # or: mkfs.ext4 -E lazy_itable_init=0,lazy_journal_init=0",
};

/// Counts the groups in the text of dumpe2fs.
pub(super) fn count_groups(text: &str) -> Result<(usize, usize), String> {
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("Group ")).collect();
    if heads.is_empty() {
        return Err("dumpe2fs names no group".to_owned());
    }
    // Without checksums of groups nothing is ever put off, and no flags are printed.
    let has_flags = text.contains("uninit_bg") || text.contains("metadata_csum");
    // With Group N: (Blocks a-b) csum 0x… [INODE_UNINIT, ITABLE_ZEROED]
    let left = heads.iter().filter(|line| has_flags && !line.contains("ITABLE_ZEROED"));
    Ok((left.count(), heads.len()))
}

/// Largest cluster: mke2fs takes 512 MiB, but makes no journal beyond this.
const MOST_CLUSTER_BYTES: u64 = 128 << 20;
/// Fewest inodes that mke2fs makes.
const MOST_RATIO_BYTES: u64 = 64 << 20;
/// Largest journal of mke2fs, blocks.
const MOST_JOURNAL_BLOCKS: u64 = 10_240_000;

/// The cluster size, where there are clusters.
fn cluster(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let (rule, values) = (&reader.rule, reader.values);
    let has = |names: &[&str]| names.iter().any(|name| values.lists("features", name));
    if reader.text().is_none() {
        if has(&["bigalloc"]) {
            return Err(rule.broken(
                "the feature bigalloc without a cluster_size",
                "say mkfs.cluster_size=64K; the feature comes with it",
            ));
        }
        return Ok(None);
    }
    if rule.fs != "ext4" {
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
    let cluster = reader.bytes(0)?;
    let least = 2 * values.number("block_size");
    if !cluster.is_power_of_two() || !(least..=MOST_CLUSTER_BYTES).contains(&cluster) {
        return Err(rule.broken(
            format!(
                "cluster_size = {cluster} is not a power of two from two blocks ({least}) to \
                 {MOST_CLUSTER_BYTES} (mke2fs makes no journal in larger ones)"
            ),
            "such as 16384, 65536 or 262144",
        ));
    }
    Ok(Some(cluster))
}

/// Bytes for each inode, as written or as the size of the device and of the clusters ask for.
fn ratio(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let (rule, shape) = (&reader.rule, shape(reader.values));
    let too_many = |ratio: u64| {
        let geometry = Geometry::new(&Shape { ratio, ..shape });
        geometry.err().filter(|_| shape.device != u64::MAX)
    };
    let ratio = if reader.text().is_none() {
        let least = if shape.device < 512 << 20 { 4096 } else { 16384 };
        let ratios = std::iter::successors(Some(least), |ratio| Some(ratio * 2));
        let mut ratios = ratios.take_while(|ratio| *ratio <= MOST_RATIO_BYTES);
        ratios.find(|ratio| too_many(*ratio).is_none()).unwrap_or(MOST_RATIO_BYTES)
    } else {
        let ratio = reader.bytes(0)?;
        if !(1024..=MOST_RATIO_BYTES).contains(&ratio) {
            return Err(rule.broken(
                format!("inode_ratio = {ratio} is not between 1024 and 64 MiB"),
                "such as 16384",
            ));
        }
        if let Some(TooManyInodes { inodes_per_group, most }) = too_many(ratio) {
            return Err(rule.broken(
                format!(
                    "inode_ratio = {ratio} with clusters of {} asks for {inodes_per_group} inodes \
                     in each group of blocks, and the bitmap of one has {most} bits",
                    shape.cluster
                ),
                format!("use inode_ratio = {} or more", ratio * inodes_per_group.div_ceil(most)),
            ));
        }
        ratio
    };
    if shape.device != u64::MAX {
        journal_fits(rule, &Shape { ratio, ..shape })?;
    }
    Ok(Some(ratio))
}

/// mke2fs: a journal takes at most half of what is free before it.
fn journal_fits(rule: &Rule<'_>, shape: &Shape) -> Result<(), IllegalLevel> {
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

/// Bytes of the journal, where there is one.
fn journal(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let (rule, values) = (&reader.rule, reader.values);
    if !values.lists("features", "has_journal") {
        if reader.text().is_some() {
            return Err(rule.broken(
                "journal_size: this file system has no journal",
                "use ext3 or ext4, or leave it out",
            ));
        }
        return Ok(None);
    }
    let (device, block) = (values.device_bytes, values.number("block_size"));
    let bytes = reader.bytes(default_journal(device, block))?;
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
    Ok(Some(bytes))
}

/// The size that mke2fs itself would choose (`ext2fs_default_journal_size`), bytes.
fn default_journal(device: u64, block: u64) -> u64 {
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

#[cfg(test)]
mod tests;
