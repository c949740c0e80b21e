//! F2FS, made by mkfs.f2fs (f2fs-tools), written by its manual page and
//! Documentation/filesystems/f2fs.rst.
//!
//! The share of over-provisioned segments is chosen by mkfs from the size where no option names it,
//! and is read back. Heap-based allocation is off, the default of mkfs since 1.9.

use super::mkfs::ValueRule::{Computed, Number, Text};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{Rule, complete, key_value, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::FsLevel;
use fsarena_model::crash::Promises;
use std::collections::BTreeMap;
use std::path::Path;

/// The F2FS driver.
pub(super) struct F2fs;

/// mkfs.f2fs refuses anything smaller, with one segment a section.
const LEAST_BYTES: u64 = 52 << 20;

/// Contents that lie in the inode: 923 addresses of 4 bytes, less the first and the place of
/// inline attributes where there are none.
const INLINE_BYTES: u64 = 3688;

/// Features of `-O`, and whether they need `extra_attr`. Left out: `casefold` (it needs an
/// encoding) and zoned devices.
const FEATURES: [(&str, bool); 11] = [
    ("encrypt", false),
    ("extra_attr", false),
    ("project_quota", true),
    ("inode_checksum", true),
    ("flexible_inline_xattr", true),
    ("quota", false),
    ("inode_crtime", true),
    ("lost_found", false),
    ("verity", false),
    ("sb_checksum", false),
    ("compression", true),
];

static MKFS: Mkfs = Mkfs {
    // -r: the same number in the first checkpoint each time.
    command: "mkfs.f2fs -f -q -r -t {discards} [-O {features}] [-o {overprovision_percent}] \
              -s {segments_per_section} -z {sections_per_zone} -R 0:0 -U {uuid} {device}",
    programs: &["mkfs.f2fs", "dump.f2fs"],
    package: "f2fs-tools",
    options: &[
        MkfsOption::new(
            "features",
            "comma-separated features of mkfs.f2fs -O; none",
            Text(features),
        ),
        MkfsOption::new(
            "overprovision_percent",
            "percent of segments kept for the cleaner; by default as mkfs.f2fs chooses",
            Computed(|r| r.optional(|| r.number(1, 60, 5))),
        ),
        MkfsOption::new(
            "segments_per_section",
            "segments of 2 MiB cleaned together",
            Number(1, 16, 1),
        ),
        MkfsOption::new(
            "sections_per_zone",
            "sections that each log is kept apart by",
            Number(1, 16, 1),
        ),
    ],
};

fn features(reader: &OptionReader<'_>) -> Result<String, IllegalLevel> {
    let rule = &reader.rule;
    let Some(text) = reader.text() else { return Ok(String::new()) };
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    for word in &words {
        let Some((_, needs_extra)) = FEATURES.iter().find(|(name, _)| name == word) else {
            let known: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
            return Err(rule.broken(
                format!("features: {word:?} is not known"),
                format!("known: {}", known.join(", ")),
            ));
        };
        if *needs_extra && !words.contains(&"extra_attr") {
            return Err(rule.broken(
                format!("features: {word} needs extra_attr"),
                format!("write features = \"extra_attr,{text}\""),
            ));
        }
    }
    Ok(words.join(","))
}

impl FileSystem for F2fs {
    fn name(&self) -> &'static str {
        "f2fs"
    }

    fn summary(&self) -> &'static str {
        "F2FS: log-structured, made for flash"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    /// What mkfs.f2fs asks for. A small share of over-provisioned segments needs a large device:
    /// the cleaner keeps twice its inverse in segments, and six more (`get_best_overprovision`).
    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        let percent = values.optional("overprovision_percent");
        let reserved = percent.map_or(0, |percent| 2 * (100 / percent + 1) + 6);
        let one = ((reserved << 21) + (32 << 20)).max(LEAST_BYTES);
        one * values.number("segments_per_section") * values.number("sections_per_zone")
    }

    fn check_mount(&self, level: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let packs = level.mount.iter().find(|option| key_value(option).0.starts_with("compress"));
        if let Some(option) = packs
            && !values.lists("features", "compression")
        {
            return Err(rule.broken(
                format!("mount option {option} needs the feature compression"),
                "write features = \"extra_attr,compression\"",
            ));
        }
        Ok(())
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_dump(&output_of("dump.f2fs", "f2fs-tools", &["-d", "1"], device)?)
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let plain = level.mount.iter().any(|option| option == "noinline_data");
        ContentRule {
            block_bytes: 4096,
            inline_max_bytes: if plain { 0 } else { INLINE_BYTES },
            compresses: level.mount.iter().any(|option| option.starts_with("compress")),
            metadata: self.metadata(level),
        }
    }

    /// Each inode is a block of its own, which may hold a small directory; an entry has 11 bytes
    /// and its name.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 4096,
            entry_bytes: 11,
            entry_align_bytes: 1,
            dir_inline_bytes: 4096,
            mount_bytes: 64 << 10,
        })
    }

    /// A checkpoint ends with a flush.
    fn syncs_to_device(&self, _: &FsLevel) -> bool {
        true
    }

    fn compression_options(&self) -> &'static [&'static str] {
        &["compress_algorithm"]
    }

    fn recovery(&self) -> Recovery {
        Recovery {
            without: Some("norecovery"),
            check: Some(Fsck::new("fsck.f2fs", &["-f", "--dry-run"], &[0])),
            repair: Some(Fsck::new("fsck.f2fs", &["-f", "-y"], &[0, 1])),
            side_by_side: SideBySide::Always,
            ..Recovery::UNKNOWN
        }
    }

    /// Documentation/filesystems/f2fs.rst: it comes back to the last checkpoint, which it writes
    /// twice, and rolls forward to what was synced behind that.
    fn promises(&self, _options: &[&str]) -> Promises {
        Promises {
            replace_keeps_the_name: true,
            mounts_without_repair: true,
            ..Promises::default()
        }
    }
}

/// What of the superblock and the checkpoint describes the file system and not its momentary state.
const KEPT: [&str; 15] = [
    "major_ver",
    "minor_ver",
    "log_sectorsize",
    "log_blocksize",
    "log_blocks_per_seg",
    "segs_per_sec",
    "secs_per_zone",
    "block_count",
    "segment_count",
    "segment_count_ckpt",
    "segment_count_sit",
    "segment_count_nat",
    "segment_count_main",
    "rsvd_segment_count",
    "overprov_segment_count",
];

/// Reads `dump.f2fs -d 1`: `segs_per_sec   [0x 1 : 1]`, and the names of the features.
pub(super) fn parse_dump(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let mut map = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Info: superblock features = ") {
            let names = rest.split_once(':').map_or("", |(_, names)| names.trim());
            map.insert("features".to_owned(), names.to_owned());
        }
        let Some((key, value)) = line.split_once('[') else { continue };
        let value = value.trim_end_matches(']').rsplit(':').next().unwrap_or_default().trim();
        if KEPT.contains(&key.trim()) {
            map.entry(key.trim().to_owned()).or_insert_with(|| value.to_owned());
        }
    }
    let needed = &["features", "log_blocksize", "segs_per_sec", "segment_count_main"];
    complete(map, "dump.f2fs", needed, "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Discard;

    const DUMP: &str = "\
Info: superblock features = 2928 :  extra_attr inode_checksum compression
Info: superblock encrypt level = 0, salt = 00
| Super block                                            |
magic                         \t\t[0xf2f52010 : 4076150800]
volum_name                    \t\t[]
log_blocksize                 \t\t[0x       c : 12]
segs_per_sec                  \t\t[0x       1 : 1]
segment_count_main            \t\t[0x      78 : 120]
checkpoint_ver                \t\t[0x6b8b4567 : 1804289383]
overprov_segment_count        \t\t[0x      25 : 37]
alloc_type[CURSEG_HOT_NODE]   \t\t[0x       0 : 0]
";

    fn level(mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            mount: mount.iter().map(|option| (*option).to_owned()).collect(),
            ..FsLevel::plain("f2fs")
        }
    }

    #[test]
    fn the_dump_is_read() {
        let map = parse_dump(DUMP).unwrap();
        assert_eq!(map["features"], "extra_attr inode_checksum compression");
        assert_eq!(map["segment_count_main"], "120");
        assert_eq!(map["overprov_segment_count"], "37");
        assert!(!map.contains_key("checkpoint_ver"), "{map:?}");
        let text = parse_dump("Error: Can't find a valid F2FS").unwrap_err().to_string();
        assert!(text.starts_with("dump.f2fs: output not understood"), "{text}");
    }

    #[test]
    fn nothing_is_discarded_unless_asked() {
        let argv = |discard| {
            F2fs.mkfs_argv(&level(&[], &[]), discard, Path::new("/dev/loop0"), 1 << 30).join(" ")
        };
        assert!(
            argv(Discard::None).starts_with("mkfs.f2fs -f -q -r -t 0 -s 1 -z 1 -R 0:0 -U f5a2e4a0")
        );
        assert!(argv(Discard::On).contains("-t 1"));
        assert_eq!(F2fs.mount_options(&level(&[], &[]), Discard::None, None), ["nodiscard"]);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], mount: &[&str], size| {
            F2fs.check(&level(mkfs, mount), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[], LEAST_BYTES), Ok(()));
        assert!(check(&[], &[], LEAST_BYTES - 1).unwrap_err().contains("--on loop:52M"));
        assert!(
            check(&[("overprovision_percent", "1")], &[], 1 << 28).unwrap_err().contains("448M")
        );
        let text = check(&[("features", "compression")], &[], 1 << 30).unwrap_err();
        assert!(text.contains("\"extra_attr,compression\""), "{text}");
        assert!(check(&[("features", "casefold")], &[], 1 << 30).unwrap_err().contains("known"));
        let text = check(&[], &["compress_algorithm=lz4"], 1 << 30).unwrap_err();
        assert!(text.contains("needs the feature compression"), "{text}");
        let packed = level(&[("features", "extra_attr,compression")], &["compress_extension=*"]);
        assert_eq!(F2fs.check(&packed, Some(1 << 30)), Ok(()));
        assert!(F2fs.content(&packed).compresses);
        assert_eq!(F2fs.content(&level(&[], &["noinline_data"])).inline_max_bytes, 0);
    }
}
