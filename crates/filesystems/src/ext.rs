//! ext2, ext3 and ext4: one format, three sets of features, made by mke2fs.
//!
//! What makes a difference is written out, and for the rest mke2fs goes by the defaults that are
//! built into it: it is run without a configuration, so that /etc/mke2fs.conf decides nothing. UUID
//! and hash seed are the same each time: they seed the order of names in hashed directories, which
//! would else differ from trial to trial.

use super::options::{Rule, key_value, output_of, version_of};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, ToolNeed};
use fsarena_model::account::FsLayout;
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{Discard, FsLevel};
use geometry::{Geometry, Shape, TooManyInodes};
use std::collections::BTreeMap;
use std::path::Path;

mod geometry;
mod layout;

/// One of the three.
pub(super) struct Ext {
    name: &'static str,
    summary: &'static str,
    features: &'static [&'static str],
}

const COMMON: [&str; 6] =
    ["sparse_super", "large_file", "filetype", "resize_inode", "dir_index", "ext_attr"];

/// ext2: no journal.
pub(super) const EXT2: Ext = Ext {
    name: "ext2",
    summary: "the second extended file system: block maps, no journal",
    features: &COMMON,
};

/// ext3: ext2 with a journal.
pub(super) const EXT3: Ext = Ext {
    name: "ext3",
    summary: "the third extended file system: ext2 with a journal",
    features: &[
        "has_journal",
        "sparse_super",
        "large_file",
        "filetype",
        "resize_inode",
        "dir_index",
        "ext_attr",
    ],
};

/// ext4.
pub(super) const EXT4: Ext = Ext {
    name: "ext4",
    summary: "the fourth extended file system: journal, extents, checksums",
    features: &[
        "has_journal",
        "extent",
        "huge_file",
        "flex_bg",
        "metadata_csum",
        "64bit",
        "dir_nlink",
        "extra_isize",
        "sparse_super",
        "large_file",
        "filetype",
        "resize_inode",
        "dir_index",
        "ext_attr",
    ],
};

const UUID: &str = "f5a2e4a0-0000-4000-8000-000000000001";
const HASH_SEED: &str = "f5a2e4a0-0000-4000-8000-000000000002";

const OPTIONS: [(&str, &str); 8] = [
    ("block_size", "bytes of a block: 1024, 2048 or 4096 (default)"),
    ("cluster_size", "bytes of a cluster of blocks, 2 blocks to 128 MiB (ext4: bigalloc); none"),
    ("inode_size", "bytes of an inode: 128, 256 (default) to the block size"),
    (
        "inode_ratio",
        "bytes of the device for each inode, 1024 to 64 MiB; 16384, under 512 MiB 4096, with \
         clusters more where a group would have too many",
    ),
    ("journal_size", "bytes of the journal; by default as mke2fs chooses for the size"),
    ("features", "comma-separated additions to the features, ^name takes one away"),
    ("reserved_percent", "blocks kept for root, in percent; 5"),
    ("flex_bg_size", "block groups whose metadata lies together; 16 (ext4)"),
];

/// The values of a level, checked.
struct MkfsValues {
    block: u64,
    cluster: Option<u64>,
    inode: u64,
    ratio: u64,
    journal_mib: Option<u64>,
    reserved: u64,
    flex: Option<u64>,
    features: Vec<String>,
    shape: Shape,
}

/// Features under which the layout is not the one that is known here.
const OTHER_LAYOUT: [&str; 4] = ["meta_bg", "sparse_super2", "mmp", "journal_dev"];

impl Ext {
    fn mkfs_values(
        &self,
        level: &FsLevel,
        device: Option<u64>,
    ) -> Result<MkfsValues, IllegalLevel> {
        let rule = Rule { fs: self.name };
        let device = device.unwrap_or(u64::MAX);
        let features = self.features(level)?;
        let has = |name: &str| features.iter().any(|feature| feature == name);
        let block = rule.power_of_two(level, "block_size", 1024, 4096, 4096)?;
        let inode = rule.power_of_two(level, "inode_size", 128, block, 256)?;
        let cluster = self.cluster(level, block, &features)?;
        let journal_mib = self.journal(level, device, block, has("has_journal"))?;
        let shape = Shape {
            device,
            block,
            cluster: cluster.unwrap_or(block),
            inode,
            ratio: 0,
            journal: journal_mib.unwrap_or(0) << 20,
            reserved_percent: rule.number(level, "reserved_percent", 0, 50, 5)?,
            wide: has("64bit"),
            resizes: has("resize_inode"),
            sparse: has("sparse_super"),
            extents: has("extent") || has("extents"),
        };
        let shape = Shape { ratio: self.ratio(level, &shape)?, ..shape };
        if device != u64::MAX {
            self.journal_fits(&shape)?;
        }
        let flex = rule.power_of_two(level, "flex_bg_size", 1, 1 << 20, 16)?;
        if level.mkfs.contains_key("flex_bg_size") && !has("flex_bg") {
            return Err(
                rule.broken("flex_bg_size needs the feature flex_bg", "use ext4, or leave it out")
            );
        }
        Ok(MkfsValues {
            block,
            cluster,
            inode,
            ratio: shape.ratio,
            journal_mib,
            reserved: shape.reserved_percent,
            flex: has("flex_bg").then_some(flex),
            features,
            shape,
        })
    }

    fn features(&self, level: &FsLevel) -> Result<Vec<String>, IllegalLevel> {
        let rule = Rule { fs: self.name };
        let mut all: Vec<String> = self.features.iter().map(|name| (*name).to_owned()).collect();
        let Some(text) = level.mkfs.get("features") else { return Ok(all) };
        for word in text.split(',').map(str::trim) {
            let name = word.strip_prefix('^').unwrap_or(word);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(rule.broken(
                    format!("features: {word:?} is not the name of a feature"),
                    "such as features = \"inline_data,^64bit\"",
                ));
            }
            all.retain(|feature| feature != name);
            // It comes with the cluster size, and only once.
            let with_cluster = name == "bigalloc" && level.mkfs.contains_key("cluster_size");
            if !word.starts_with('^') && !with_cluster {
                all.push(name.to_owned());
            }
        }
        Ok(all)
    }

    fn check_mount(&self, level: &FsLevel, journal: bool) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name };
        rule.mount_words(level)?;
        for option in &level.mount {
            let (key, value) = key_value(option);
            let needs_journal =
                matches!(key, "data" | "commit" | "journal_checksum" | "journal_async_commit");
            if needs_journal && !journal {
                return Err(rule.broken(
                    format!("mount option {option} needs a journal, and this has none"),
                    "use ext3 or ext4, or leave it out",
                ));
            }
            if key == "data" && !matches!(value, Some("ordered" | "writeback" | "journal")) {
                return Err(rule.broken(
                    format!("mount option {option} is not known"),
                    "use data=ordered, data=writeback or data=journal",
                ));
            }
            if self.name != "ext4" && matches!(key, "delalloc" | "auto_da_alloc" | "dioread_nolock")
            {
                return Err(rule.broken(
                    format!("mount option {option} is only for ext4"),
                    "use ext4, or leave it out",
                ));
            }
        }
        Ok(())
    }
}

impl FileSystem for Ext {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn tools(&self) -> Vec<ToolNeed> {
        ToolNeed::all(&["mke2fs", "dumpe2fs"], "e2fsprogs")
    }

    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name };
        rule.known(level, &OPTIONS)?;
        let journal = self.features(level)?.iter().any(|feature| feature == "has_journal");
        rule.least_size(device_bytes, if journal { 16 << 20 } else { 1 << 20 })?;
        self.mkfs_values(level, device_bytes)?;
        self.check_mount(level, journal)
    }

    fn mkfs_argv(
        &self,
        level: &FsLevel,
        discard: Discard,
        device: &Path,
        device_bytes: u64,
    ) -> Vec<String> {
        let Ok(values) = self.mkfs_values(level, Some(device_bytes)) else {
            return Vec::new();
        };
        let discard = if discard.is_none() { "nodiscard" } else { "discard" };
        let mut argv: Vec<String> =
            ["mke2fs", "-t", self.name, "-T", "default", "-F", "-q"].map(str::to_owned).into();
        let mut add = |flag: &str, value: String| argv.extend([flag.to_owned(), value]);
        add("-b", values.block.to_string());
        if let Some(cluster) = values.cluster {
            add("-C", cluster.to_string());
        }
        add("-I", values.inode.to_string());
        add("-i", values.ratio.to_string());
        add("-m", values.reserved.to_string());
        add("-e", "continue".to_owned());
        let bigalloc = if values.cluster.is_some() { ",bigalloc" } else { "" };
        add("-O", format!("none,{}{bigalloc}", values.features.join(",")));
        if let Some(mib) = values.journal_mib {
            add("-J", format!("size={mib}"));
        }
        if let Some(flex) = values.flex {
            add("-G", flex.to_string());
        }
        add("-U", UUID.to_owned());
        add(
            "-E",
            format!(
                "{discard},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0,\
                 hash_seed={HASH_SEED}"
            ),
        );
        argv.push(device.display().to_string());
        argv
    }

    fn mkfs_env(&self) -> &'static [(&'static str, &'static str)] {
        // A file that is not there stands for the built-in one.
        &[("MKE2FS_CONFIG", "/nonexistent")]
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_dumpe2fs(&output_of("dumpe2fs", "e2fsprogs", &["-h"], device)?)
    }

    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        layout::layout(device)
    }

    fn version(&self) -> Option<String> {
        version_of("mke2fs", &["-V"])
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let values = self.mkfs_values(level, None).ok();
        let inline = values.as_ref().is_some_and(|w| w.features.iter().any(|f| f == "inline_data"));
        ContentRule {
            block_bytes: values.as_ref().map_or(4096, |values| values.block),
            inline_max_bytes: if inline { values.map_or(0, |values| values.inode) } else { 0 },
            compresses: false,
        }
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let values = self.mkfs_values(level, Some(device_bytes)).ok()?;
        if values.features.iter().any(|feature| OTHER_LAYOUT.contains(&&**feature)) {
            return None;
        }
        let geometry = Geometry::new(&values.shape).ok()?;
        let free_bytes =
            geometry.free.saturating_sub(geometry.reserved + geometry.held_back) * values.block;
        Some(Capacity {
            predicted: Predicted { free_bytes, inodes: Some(geometry.inodes()) },
            kept_for_root_bytes: geometry.reserved * values.block,
            unit_bytes: values.cluster.unwrap_or(values.block),
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: values.cluster.unwrap_or(values.block),
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

    fn freezes(&self) -> bool {
        true
    }

    fn served_by(&self, sys_root: &Path, device: &Path) -> Option<String> {
        let name = device.file_name()?;
        let by_ext4 = sys_root.join("fs/ext4").join(name).exists();
        (self.name != "ext4" && by_ext4).then(|| "ext4".to_owned())
    }

    fn mkfs_options(&self) -> &'static [(&'static str, &'static str)] {
        &OPTIONS
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
fn parse_dumpe2fs(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let mut map = BTreeMap::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if KEPT.contains(&key) {
            let key = key.trim_end_matches(" #").to_lowercase().replace(' ', "_");
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            map.insert(key, value);
        }
    }
    for needed in ["filesystem_features", "block_size", "inode_size", "inode_count"] {
        if !map.contains_key(needed) {
            let problem = format!("no line \"{}\"", needed.replace('_', " "));
            return Err(FsError::Malformed { tool: "dumpe2fs", problem });
        }
    }
    Ok(map)
}

/// Largest cluster: mke2fs takes 512 MiB, but makes no journal beyond this.
const MOST_CLUSTER_BYTES: u64 = 128 << 20;
/// Fewest inodes that mke2fs makes.
const MOST_RATIO_BYTES: u64 = 64 << 20;
/// Largest journal of mke2fs, blocks.
const MOST_JOURNAL_BLOCKS: u64 = 10_240_000;

impl Ext {
    /// The cluster size, where there are clusters.
    fn cluster(
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
    fn ratio(&self, level: &FsLevel, shape: &Shape) -> Result<u64, IllegalLevel> {
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
    fn journal_fits(&self, shape: &Shape) -> Result<(), IllegalLevel> {
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
    fn journal(
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
