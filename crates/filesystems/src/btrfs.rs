//! Btrfs, made by mkfs.btrfs with every default written out.

use super::mkfs::ValueRule::{Computed, OneOf, PowerOfTwo, Switch};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues};
use super::options::{Rule, ToolOutput, complete, key_value, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, Kernel, MetadataRule};
use fsarena_model::account::{Chunk, FsLayout, Range};
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::crash::Promises;
use fsarena_model::units::Bytes;
use std::collections::BTreeMap;
use std::path::Path;

/// The Btrfs driver.
pub(super) struct Btrfs;

/// mkfs.btrfs refuses anything smaller, with metadata in two copies and data in one.
const LEAST_BYTES: u64 = 114_294_784;

/// Profiles of metadata and of data, in the order of mkfs.btrfs(8), each default first.
const METADATA: [&str; 9] =
    ["dup", "single", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6"];
const DATA: [&str; 9] =
    ["single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6"];
/// What metadata are on several devices by default, as mkfs.btrfs makes it.
const SEVERAL_METADATA: &str = "raid1";
/// The two options.
const PROFILES: [&str; 2] = ["metadata_profile", "data_profile"];

/// How many devices a profile needs to be what its name says: mkfs takes fewer for some, and then
/// makes what is another profile by its layout (raid0 on one device is single).
fn devices_needed(profile: &str) -> usize {
    match profile {
        "raid0" | "raid1" => 2,
        "raid1c3" | "raid5" => 3,
        "raid1c4" | "raid10" | "raid6" => 4,
        _ => 1,
    }
}

/// The smallest device that mkfs.btrfs 6.2 takes where there are several, with nodes of 16 KiB.
fn least_member_bytes(values: &MkfsValues) -> u64 {
    let metadata_mib = match values.word("metadata_profile") {
        "single" => 0,
        "dup" => 64,
        _ => 24,
    };
    let data_mib = match values.word("data_profile") {
        "single" => 0,
        "dup" => 120,
        _ => 56,
    };
    (45 + metadata_mib + data_mib) << 20
}

const TREE: [&str; 2] = ["^free-space-tree", "free-space-tree"];

static MKFS: Mkfs = Mkfs {
    command: "mkfs.btrfs -f -q [{keep}] -n {nodesize} -s {sectorsize} -m {metadata_profile} \
              -d {data_profile} --checksum {checksum} -O extref,skinny-metadata,no-holes \
              -R {free_space_tree} -U {uuid} {device}",
    programs: &["mkfs.btrfs", "btrfs"],
    package: "btrfs-progs",
    options: &[
        MkfsOption::new(
            "sectorsize",
            "bytes of a data block, of which every kernel mounts 4096",
            PowerOfTwo(4096, 65536, 4096),
        ),
        MkfsOption::new(
            "nodesize",
            "bytes of a tree node: sectorsize to 65536; 16384",
            Computed(|r| r.power_of_two(r.values.number("sectorsize"), 65536, 16384).map(Some)),
        ),
        MkfsOption::new(
            "metadata_profile",
            "copies of metadata; raid1 by default on several devices",
            OneOf(&METADATA),
        ),
        MkfsOption::new(
            "data_profile",
            "copies of data; raid5 and raid6 are experimental in the kernel",
            OneOf(&DATA),
        ),
        MkfsOption::new(
            "checksum",
            "of data and metadata",
            OneOf(&["crc32c", "xxhash", "sha256", "blake2"]),
        ),
        MkfsOption::new("free_space_tree", "free space in a tree", Switch(true, TREE)),
    ],
};

/// Compressions of the mount option, with their levels; the kernel leaves it silently where one is
/// out of range, and the plan does not.
const COMPRESSIONS: [(&str, std::ops::RangeInclusive<i32>); 3] =
    [("zlib", 1..=9), ("zstd", -15..=15), ("lzo", 0..=0)];

/// Refuses a compression or a level of it that there is not.
fn compression(rule: &Rule<'_>, level: &FsLevel) -> Result<(), IllegalLevel> {
    let words = level.mount.iter().map(|option| (option, key_value(option)));
    for (option, (key, value)) in words {
        let Some(value) = value.filter(|_| matches!(key, "compress" | "compress-force")) else {
            continue;
        };
        let (name, number) = match value.split_once(':') {
            Some((name, number)) => (name, number.parse::<i32>().ok()),
            None => (value, Some(0)),
        };
        let plain = !value.contains(':');
        let known = COMPRESSIONS.iter().find(|known| known.0 == name);
        let legal = known.is_some_and(|(_, levels)| {
            plain || (name != "lzo" && number.is_some_and(|number| levels.contains(&number)))
        });
        let none = plain && matches!(name, "no" | "none");
        if !(legal || none) {
            return Err(rule.broken(
                format!("mount option {option}: there is no such compression or level of one"),
                "use zstd (levels -15 to 15), zlib (1 to 9), lzo (no levels), or no",
            ));
        }
    }
    Ok(())
}

/// Room that mkfs takes: 1 MiB before the first chunk, the system's chunk, and that of metadata.
fn chunks_bytes(metadata: &str, device: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    if metadata == "single" {
        return (1 + 4 + 8) * MIB;
    }
    (1 + 16) * MIB + 2 * metadata_chunk_bytes(device)
}

/// Size of a chunk of metadata in a file system of so many bytes.
fn metadata_chunk_bytes(total: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    match total {
        total if total > 50 << 30 => 1 << 30,
        total if total / 10 >= 256 * MIB => 256 * MIB,
        total => (total / 20).max(32 * MIB),
    }
}

/// What statfs will tell of several devices of one size with metadata in raid1; absent where this
/// is not known. Each device keeps 1 MiB; two of them have a chunk of the system, 8 MiB, and one of
/// metadata.
fn free_on_several(values: &MkfsValues, sizes_bytes: &[u64]) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    let (first, count) = (*sizes_bytes.first()?, sizes_bytes.len() as u64);
    let is_known = values.word("metadata_profile") == SEVERAL_METADATA
        && sizes_bytes.iter().all(|size| *size == first);
    if !is_known {
        return None;
    }
    let total = first.saturating_mul(count);
    let chunks = 8 * MIB + metadata_chunk_bytes(total);
    let all = total.saturating_sub(count * MIB + 2 * chunks);
    let copies = match values.word("data_profile") {
        "single" | "raid0" => return Some(all),
        "raid1" | "raid10" => 2,
        "raid1c3" => 3,
        "raid1c4" => 4,
        _ => return None,
    };
    match (count % copies, count / copies) {
        // statfs goes by the devices that have the least room: those with metadata.
        (_, 1) if values.word("data_profile") != "raid10" => {
            Some(first.saturating_sub(MIB + chunks))
        }
        (0, _) if copies == 2 => Some(all / 2),
        _ => None,
    }
}

/// How room is handed out.
fn room(values: &MkfsValues, free_bytes: u64, copies: u64) -> Capacity {
    Capacity {
        predicted: Predicted { free_bytes, inodes: None },
        kept_for_root_bytes: 0,
        unit_bytes: values.number("sectorsize"),
        inline_max_bytes: 0,
        inode_bytes: copies * FILE_BYTES,
        dir_unit_bytes: copies * 4096,
        moves_on_write: true,
    }
}

/// Items of a file in the trees: inode, reference, two entries of a directory, an extent and its
/// checksums, with nodes that are two thirds full.
const FILE_BYTES: u64 = 700;

impl FileSystem for Btrfs {
    fn name(&self) -> &'static str {
        "btrfs"
    }

    fn summary(&self) -> &'static str {
        "Btrfs: copy on write, checksums of data, snapshots"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        if values.word("data_profile") == "dup" { 2 * LEAST_BYTES } else { LEAST_BYTES }
    }

    /// Metadata are in two copies by default, on one device and on several: the profile is another.
    fn level_on(&self, level: &FsLevel, devices: usize) -> FsLevel {
        let mut level = level.clone();
        if devices > 1 {
            let metadata = level.mkfs.entry("metadata_profile".to_owned());
            metadata.or_insert_with(|| SEVERAL_METADATA.to_owned());
        }
        level
    }

    fn check_devices(&self, level: &FsLevel, sizes_bytes: &[u64]) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let level = &self.level_on(level, sizes_bytes.len());
        if let [one] = sizes_bytes {
            self.check(level, Some(*one))?;
        } else {
            self.check(level, None)?;
        }
        let values = self.mkfs_values(level, None)?;
        for name in PROFILES {
            let (profile, there) = (values.word(name), sizes_bytes.len());
            let needed = devices_needed(profile);
            if there < needed {
                let are = if there == 1 { "is one".to_owned() } else { format!("are {there}") };
                return Err(rule.broken(
                    format!("{name} = {profile} needs {needed} devices, and there {are}"),
                    format!("use --on loop:1G*{needed}, or another profile"),
                ));
            }
        }
        let least = least_member_bytes(&values);
        match sizes_bytes.iter().find(|size| sizes_bytes.len() > 1 && **size < least) {
            Some(small) => Err(rule.broken(
                format!(
                    "one of its devices has {}, and mkfs needs {} of each with these profiles",
                    Bytes(*small),
                    Bytes(least)
                ),
                format!("use loop:{}M or more for each", least >> 20),
            )),
            None => Ok(()),
        }
    }

    fn check_mount(&self, level: &FsLevel, _: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        compression(&rule, level)?;
        let plain = level.mount.iter().any(|option| matches!(&**option, "nodatacow" | "nodatasum"));
        let packed = level.mount.iter().find(|option| key_value(option).0.starts_with("compress"));
        if let (true, Some(option)) = (plain, packed) {
            return Err(rule.broken(
                format!("mount option {option} cannot go with nodatacow or nodatasum"),
                "leave one of them out",
            ));
        }
        Ok(())
    }

    fn mount_options(&self, level: &FsLevel, discard: Discard, _: Option<u64>) -> Vec<String> {
        let mut options = level.mount.clone();
        options.push(if discard.is_none() { "nodiscard" } else { "discard=async" }.to_owned());
        options
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        let args = ["inspect-internal", "dump-super", "-f"];
        parse_dump_super(&output_of("btrfs", "btrfs-progs", &args, device)?)
    }

    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        layout(device)
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let value = |name: &str| {
            level.mount.iter().map(|option| key_value(option)).find(|(key, _)| *key == name)
        };
        let inline = value("max_inline")
            .and_then(|(_, text)| text?.parse::<fsarena_model::units::Bytes>().ok())
            .map_or(2048, |bytes| bytes.0);
        let compresses = level.mount.iter().any(|option| {
            let (key, word) = key_value(option);
            matches!(key, "compress" | "compress-force") && !matches!(word, Some("no" | "none"))
        });
        let block_bytes = self.mkfs_values(level, None).map_or(4096, |v| v.number("sectorsize"));
        let metadata = self.metadata(level);
        ContentRule { block_bytes, inline_max_bytes: inline, compresses, metadata }
    }

    /// Items in leaves, each with a header of 25 bytes: an inode has 160, an entry that is looked
    /// up by its hash 30 and the name.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 25 + 160,
            entry_bytes: 25 + 30,
            entry_align_bytes: 1,
            dir_inline_bytes: 0,
            mount_bytes: 128 << 10,
        })
    }

    /// A commit ends with its superblock, behind a flush.
    fn syncs_to_device(&self, _: &FsLevel) -> bool {
        true
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let values = self.mkfs_values(level, None).ok()?;
        let metadata = values.word("metadata_profile");
        if values.word("data_profile") != "single" || !["dup", "single"].contains(&metadata) {
            return None;
        }
        let copies = if metadata == "dup" { 2 } else { 1 };
        let free_bytes = device_bytes.saturating_sub(chunks_bytes(metadata, device_bytes));
        Some(room(&values, free_bytes, copies))
    }

    fn capacity_on(&self, level: &FsLevel, sizes_bytes: &[u64]) -> Option<Capacity> {
        let level = &self.level_on(level, sizes_bytes.len());
        if let [one] = sizes_bytes {
            return self.capacity(level, *one);
        }
        let values = self.mkfs_values(level, None).ok()?;
        let free_bytes = free_on_several(&values, sizes_bytes)?;
        // Items of files are in two copies; where data are too, room is counted in such pairs.
        let copies = if ["single", "raid0"].contains(&values.word("data_profile")) { 2 } else { 1 };
        Some(room(&values, free_bytes, copies))
    }

    /// Sectors beyond a page are an experiment of the kernel's; three copies came with Linux 5.5.
    fn kernel_takes(&self, level: &FsLevel, kernel: &Kernel) -> Result<(), IllegalLevel> {
        for name in PROFILES {
            let profile = level.mkfs.get(name).map_or("", String::as_str);
            if matches!(profile, "raid1c3" | "raid1c4") && !kernel.is_at_least(5, 5) {
                return Err(Rule { fs: self.name() }.broken(
                    format!("{name} = {profile} came with Linux 5.5, and this is an older one"),
                    "use raid1",
                ));
            }
        }
        let sector = self.mkfs_values(level, None).map_or(0, |v| v.number("sectorsize"));
        if sector <= kernel.page_bytes {
            return Ok(());
        }
        let rule = Rule { fs: self.name() };
        Err(rule.broken(
            format!(
                "sectors of {sector} are larger than a page of memory, {}: kernels mount that \
                 only as an experiment (CONFIG_BTRFS_EXPERIMENTAL)",
                kernel.page_bytes
            ),
            format!("use sectorsize = {}", kernel.page_bytes),
        ))
    }

    fn reflinks(&self) -> Option<bool> {
        Some(true)
    }

    fn compression_options(&self) -> &'static [&'static str] {
        &["compress", "compress-force"]
    }

    fn checksums(&self, _: &BTreeMap<String, String>) -> Option<bool> {
        Some(true)
    }

    fn recovery(&self) -> Recovery {
        Recovery {
            without: Some("rescue=all"),
            check: Some(Fsck::new("btrfs", &["check", "--readonly"], &[0])),
            // Since Linux 6.7 the second one gets another UUID while it is mounted.
            side_by_side: SideBySide::Where("/sys/fs/btrfs/features/temp_fsid"),
            ..Recovery::UNKNOWN
        }
    }

    /// Copy on write.
    fn promises(&self, _options: &[&str]) -> Promises {
        Promises {
            no_stale_bytes: true,
            replace_keeps_the_name: true,
            mounts_without_repair: true,
            ..Promises::default()
        }
    }
}

/// What of the superblock describes the file system and not its momentary state.
const KEPT: [&str; 9] = [
    "csum_type",
    "total_bytes",
    "sectorsize",
    "nodesize",
    "stripesize",
    "num_devices",
    "compat_flags",
    "compat_ro_flags",
    "incompat_flags",
];

/// Reads `btrfs inspect-internal dump-super -f`; the names of flags become `features`.
pub(super) fn parse_dump_super(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let mut map = BTreeMap::new();
    let mut features: Vec<&str> = Vec::new();
    let mut below_flags = false;
    for line in text.lines() {
        // The names of flags stand below their number: `( MIXED_BACKREF |`, `  NO_HOLES )`.
        if line.starts_with('\t') && below_flags {
            let name = line.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            features.extend((!name.is_empty()).then_some(name));
            continue;
        }
        let Some((key, value)) = line.split_once(char::is_whitespace) else { continue };
        below_flags = key.starts_with("compat_") || key == "incompat_flags";
        if KEPT.contains(&key) && !map.contains_key(key) {
            map.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    features.sort_unstable();
    features.dedup();
    map.insert("features".to_owned(), features.join(" ").to_lowercase());
    let needed = &["csum_type", "sectorsize", "nodesize", "incompat_flags"];
    complete(map, "btrfs inspect-internal", needed, "_")
}

/// Where the copies of the superblock are (`btrfs_sb_offset`), as many as the device has room for.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;

/// Profiles of which each stripe holds the whole chunk.
const WHOLE: [&str; 2] = ["single", "DUP"];

/// Asks the program about the file system on `device`.
fn layout(device: &Path) -> Result<FsLayout, FsError> {
    let args = ["inspect-internal", "dump-tree", "-t", "chunk"];
    parse_chunk_tree(&output_of("btrfs", "btrfs-progs", &args, device)?)
}

/// A chunk while its lines are read.
struct FoundChunk {
    logical_bytes: u64,
    length_bytes: u64,
    kind: String,
    /// Device and place of each stripe.
    stripes: Vec<(u64, u64)>,
}

/// Reads `btrfs inspect-internal dump-tree -t chunk`.
pub(super) fn parse_chunk_tree(text: &str) -> Result<FsLayout, FsError> {
    let output = ToolOutput { tool: "btrfs inspect-internal dump-tree", text };
    let mut found: Vec<FoundChunk> = Vec::new();
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
                    found.push(FoundChunk { logical_bytes, length_bytes: 0, kind, stripes });
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
    layout_from_chunks(&output, &found)
}

fn layout_from_chunks(output: &ToolOutput<'_>, found: &[FoundChunk]) -> Result<FsLayout, FsError> {
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
    let reported_by = "btrfs inspect-internal".to_owned();
    let journal = Vec::new();
    Ok(FsLayout { journal, metadata, flags_metadata: true, chunks, reported_by, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
superblock: bytenr=65536, device=/dev/loop0
---------------------------------------------------------
csum_type\t\t0 (crc32c)
csum_size\t\t4
flags\t\t\t0x1
\t\t\t( WRITTEN )
total_bytes\t\t536870912
sectorsize\t\t4096
nodesize\t\t16384
compat_ro_flags\t\t0x3
\t\t\t( FREE_SPACE_TREE |
\t\t\t  FREE_SPACE_TREE_VALID )
incompat_flags\t\t0x341
\t\t\t( MIXED_BACKREF |
\t\t\t  NO_HOLES )
cache_generation\t0
sys_chunk_array[2048]:
\titem 0 key (FIRST_CHUNK_TREE CHUNK_ITEM 22020096)
\t\tio_align 65536 io_width 65536 sector_size 4096
";

    fn level(mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            mount: mount.iter().map(|option| (*option).to_owned()).collect(),
            ..FsLevel::plain("btrfs")
        }
    }

    #[test]
    fn superblock_is_read_and_its_chunks_are_not_features() {
        let map = parse_dump_super(DUMP).unwrap();
        assert_eq!(map["features"], "free_space_tree free_space_tree_valid mixed_backref no_holes");
        assert_eq!(map["csum_type"], "0 (crc32c)");
        assert_eq!(map["nodesize"], "16384");
        let text = parse_dump_super("ERROR: bad magic").unwrap_err().to_string();
        assert!(text.starts_with("btrfs inspect-internal: output not understood"), "{text}");
    }

    #[test]
    fn every_default_is_written_out() {
        let argv = Btrfs.mkfs_argv(&level(&[], &[]), Discard::None, Path::new("/dev/loop0"), 0);
        let text = argv.join(" ");
        assert!(
            text.starts_with(
                "mkfs.btrfs -f -q -K -n 16384 -s 4096 -m dup -d single --checksum crc32c -O \
                 extref,skinny-metadata,no-holes -R free-space-tree -U "
            ),
            "{text}"
        );
        let on = Btrfs.mkfs_argv(&level(&[], &[]), Discard::On, Path::new("/dev/loop0"), 0);
        assert!(!on.contains(&"-K".to_owned()));
        let none = Btrfs.mount_options(&level(&[], &["noatime"]), Discard::None, None);
        assert_eq!(none, ["noatime", "nodiscard"]);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], mount: &[&str], size| {
            Btrfs.check(&level(mkfs, mount), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[], 114_294_784), Ok(()));
        assert!(check(&[], &[], 100 << 20).unwrap_err().contains("--on loop:109M"));
        assert!(check(&[("nodsize", "4096")], &[], 1 << 30).unwrap_err().contains("nodesize"));
        assert!(check(&[("data_profile", "raid2")], &[], 1 << 30).unwrap_err().contains("dup"));
        for word in ["compress=zstd:15", "compress-force=zlib:9", "compress", "compress=no"] {
            assert_eq!(check(&[], &[word], 1 << 30), Ok(()), "{word}");
        }
        for word in ["compress=gzip", "compress=zstd:16", "compress=lzo:3", "compress=zlib:x"] {
            assert!(check(&[], &[word], 1 << 30).unwrap_err().contains("no such"), "{word}");
        }
        let both = check(&[], &["nodatacow", "compress=zstd"], 1 << 30).unwrap_err();
        assert!(both.contains("cannot go with"), "{both}");
    }

    /// What statfs told of file systems that btrfs-progs 6.2 made and Linux 6.18 mounted.
    #[test]
    fn predictions_are_those_of_real_file_systems() {
        for (mib, dup, single) in [
            (256, 44_800, 62_208),
            (512, 110_336, 127_744),
            (1024, 231_584, 258_816),
            (4096, 913_152, 1_045_248),
            (16384, 4_058_880, 4_190_976),
            (61440, 15_200_000, 15_725_312),
        ] {
            for (profile, blocks) in [("dup", dup), ("single", single)] {
                let level = level(&[("metadata_profile", profile)], &[]);
                let room = Btrfs.capacity(&level, mib << 20).unwrap();
                let found = Predicted { free_bytes: blocks * 4096, inodes: None };
                assert_eq!(room.predicted.is_off(&found), None, "{mib} {profile}");
            }
        }
    }

    #[test]
    fn profiles_are_checked_against_the_devices() {
        const GIB: u64 = 1 << 30;
        let check = |mkfs: &[(&str, &str)], sizes: &[u64]| {
            Btrfs.check_devices(&level(mkfs, &[]), sizes).map_err(|error| error.to_string())
        };
        for (profile, needed) in [
            ("raid0", 2),
            ("raid1", 2),
            ("raid1c3", 3),
            ("raid5", 3),
            ("raid1c4", 4),
            ("raid10", 4),
            ("raid6", 4),
        ] {
            for name in PROFILES {
                assert_eq!(check(&[(name, profile)], &vec![GIB; needed]), Ok(()), "{profile}");
                let text = check(&[(name, profile)], &vec![GIB; needed - 1]).unwrap_err();
                let said = format!("{name} = {profile} needs {needed} devices");
                assert!(text.contains(&said) && text.contains(&format!("1G*{needed}")), "{text}");
            }
        }
        assert_eq!(check(&[], &[69 << 20, 69 << 20]), Ok(()));
        let text = check(&[], &[GIB, 68 << 20]).unwrap_err();
        assert!(text.contains("one of its devices has 68 MiB") && text.contains("69M"), "{text}");
        let raid0 = [("data_profile", "raid0"), ("metadata_profile", "raid0")];
        assert_eq!(check(&raid0, &[125 << 20; 2]), Ok(()));
        assert!(check(&raid0, &[124 << 20; 2]).is_err());
        assert_eq!(check(&[("data_profile", "single")], &[GIB]), Ok(()));
        let old = Kernel { version: Some((5, 4)), page_bytes: 4096 };
        let takes =
            |profile| Btrfs.kernel_takes(&level(&[("data_profile", profile)], &[]), &old).is_ok();
        assert!(takes("raid1") && !takes("raid1c3"));
    }

    #[test]
    fn the_default_on_several_devices_is_written_out() {
        let devices = ["/dev/loop0", "/dev/loop1"].map(Path::new);
        let argv = |mkfs| {
            let sizes = [1 << 30; 2];
            Btrfs.mkfs_argv_on(&level(mkfs, &[]), Discard::None, &devices, &sizes).join(" ")
        };
        let text = argv(&[]);
        assert!(text.contains(" -m raid1 -d single ") && text.ends_with("/dev/loop0 /dev/loop1"));
        assert!(argv(&[("metadata_profile", "dup")]).contains(" -m dup -d single "));
        let one = Btrfs.mkfs_argv_on(&level(&[], &[]), Discard::None, &devices[..1], &[1 << 30]);
        let plain = Btrfs.mkfs_argv(&level(&[], &[]), Discard::None, devices[0], 1 << 30);
        assert_eq!(one, plain);
    }

    /// What statfs told, as above, on devices of one size with metadata in raid1.
    #[test]
    fn predictions_on_several_devices_are_those_of_real_file_systems() {
        for (devices, data, of_sizes) in [
            (2, "single", [110_080, 231_328, 467_264, 1_961_472, 8_252_928, 30_928_384]),
            (2, "raid0", [110_080, 231_328, 467_264, 1_961_472, 8_252_928, 30_928_384]),
            (2, "raid1", [55_040, 115_664, 233_632, 980_736, 4_126_464, 15_464_192]),
            (3, "raid1", [53_408, 109_120, 194_304, 980_736, 4_126_464, 15_464_192]),
            (3, "raid1c3", [53_408, 109_120, 194_304, 980_736, 4_126_464, 15_464_192]),
            (4, "raid1", [115_408, 233_376, 456_192, 2_029_056, 8_123_904, 31_192_576]),
            (4, "raid10", [115_408, 233_376, 456_192, 2_029_056, 8_123_904, 31_192_576]),
            (4, "raid1c3", [50_128, 102_560, 194_304, 980_736, 3_929_856, 15_464_192]),
        ] {
            let level = level(&[("data_profile", data)], &[]);
            for (mib, blocks) in [256, 512, 1024, 4096, 16384, 61440].into_iter().zip(of_sizes) {
                let room = Btrfs.capacity_on(&level, &vec![mib << 20; devices]).unwrap();
                let found = Predicted { free_bytes: blocks * 4096, inodes: None };
                assert_eq!(room.predicted.is_off(&found), None, "{devices} {data} {mib}");
            }
        }
        let unequal = Btrfs.capacity_on(&level(&[], &[]), &[1 << 30, 2 << 30]);
        assert_eq!(unequal, None, "not known");
    }

    #[test]
    fn sectors_beyond_a_page_are_refused() {
        let kernel = Kernel { version: Some((6, 18)), page_bytes: 4096 };
        let takes = |size| Btrfs.kernel_takes(&level(&[("sectorsize", size)], &[]), &kernel);
        assert!(takes("4096").is_ok());
        let level = FsLevel {
            mkfs: [("sectorsize".to_owned(), "8192".to_owned())].into(),
            ..FsLevel::plain("btrfs")
        };
        let text = Btrfs.kernel_takes(&level, &kernel).unwrap_err().to_string();
        assert!(text.contains("EXPERIMENTAL"), "{text}");
    }

    #[test]
    fn compression_and_inlining_are_known_to_the_cold_proof() {
        assert!(!Btrfs.content(&level(&[], &[])).compresses);
        assert!(Btrfs.content(&level(&[], &["compress=zstd:3"])).compresses);
        assert!(!Btrfs.content(&level(&[], &["compress=no"])).compresses);
        assert_eq!(Btrfs.content(&level(&[], &[])).inline_max_bytes, 2048);
        assert_eq!(Btrfs.content(&level(&[], &["max_inline=0"])).inline_max_bytes, 0);
    }

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
        let places = parse_chunk_tree(TREE).unwrap();
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
        let mixed = parse_chunk_tree(&TREE.replace("METADATA|DUP", "DATA|METADATA|DUP")).unwrap();
        assert_eq!((mixed.metadata.len(), mixed.chunks.len()), (3, 2));
        let striped = parse_chunk_tree(&TREE.replace("DATA|single", "DATA|RAID0")).unwrap();
        assert_eq!((striped.chunks.len(), striped.notes.len()), (1, 2));
        let two = parse_chunk_tree(&TREE.replace("stripe 1 devid 1", "stripe 1 devid 2")).unwrap();
        assert_eq!((two.chunks.len(), two.notes.len()), (1, 2));
    }

    #[test]
    fn odd_output_is_named_and_does_no_harm() {
        for text in ["", "ERROR: no btrfs", &TREE.replace("length", "size")] {
            let error = parse_chunk_tree(text).unwrap_err().to_string();
            assert!(error.contains("output not understood"), "{error}");
        }
        assert!(parse_chunk_tree(&TREE.replace("38797312", "none")).is_err());
        for end in 0..=TREE.len() {
            let _ = (parse_chunk_tree(&TREE[..end]), parse_chunk_tree(&TREE[end..]));
        }
    }
}
