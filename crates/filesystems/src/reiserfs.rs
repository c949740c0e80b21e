//! ReiserFS 3.6, made by mkreiserfs (reiserfsprogs), written by its manual page and mount(8). Linux
//! 6.13 has taken it out of the kernel.
//!
//! Neither mkreiserfs nor its driver in the kernel discards: the discard level makes no difference.

use super::mkfs::ValueRule::{Computed, OneOf, PowerOfTwo};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{Rule, complete, output_of};
use super::recovery::{Fsck, Recovery};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::{Discard, FsLevel};
use std::collections::BTreeMap;
use std::path::Path;

/// The ReiserFS driver.
pub(super) struct ReiserFs;

/// Files up to this size may have their tail, or all they hold, in the tree.
const TAIL_BYTES: u64 = 16 << 10;

static MKFS: Mkfs = Mkfs {
    // -f -f: also on a whole disk, and without a question.
    command: "mkreiserfs -q -f -f --format 3.6 -b {block_size} -s {journal_blocks} \
              -t {transaction_blocks} -h {hash} -u {uuid} {device}",
    programs: &["mkreiserfs", "debugreiserfs"],
    package: "reiserfsprogs",
    options: &[
        MkfsOption::new("block_size", "bytes of a block", PowerOfTwo(1024, 4096, 4096)),
        MkfsOption::new("hash", "order of names", OneOf(&["r5", "tea", "rupasov"])),
        MkfsOption::new(
            "journal_blocks",
            "blocks of the journal, 513 to 32749 (less for small blocks); 8193",
            Computed(journal_blocks),
        ),
        MkfsOption::new("transaction_blocks", "", Computed(transaction_blocks)),
    ],
};

/// The journal lies between the superblock at 64 KiB and the second bitmap, which a bitmap of one
/// block for each bit is away.
fn journal_blocks(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let block = reader.values.number("block_size");
    let most = (8 * block - 65_536 / block - 2).min(32_749);
    reader.number(513, most, most.min(8193)).map(Some)
}

/// At most half of the journal, and 1024 blocks of 4096 bytes or as many as that in smaller ones.
fn transaction_blocks(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let most = 1024 * reader.values.number("block_size") / 4096;
    Ok(Some((reader.values.number("journal_blocks") / 2).min(most).max(256)))
}

impl FileSystem for ReiserFs {
    fn name(&self) -> &'static str {
        "reiserfs"
    }

    fn summary(&self) -> &'static str {
        "ReiserFS 3.6: one balanced tree, tails packed; in Linux up to 6.12"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn punches_holes(&self, _: &FsLevel) -> bool {
        false
    }

    /// The journal, the blocks before it, and room for a tree.
    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        (values.number("journal_blocks") + 1024) * values.number("block_size")
    }

    fn check_mount(&self, level: &FsLevel, _: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        if let Some(option) = level.mount.iter().find(|option| option.starts_with("jdev")) {
            return Err(rule.broken(
                format!("mount option {option} cannot be used here"),
                "only the device of the target is used; leave it out",
            ));
        }
        Ok(())
    }

    fn mount_options(&self, level: &FsLevel, _: Discard, _: Option<u64>) -> Vec<String> {
        level.mount.clone()
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_debug(&output_of("debugreiserfs", "reiserfsprogs", &[], device)?)
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let plain = level.mount.iter().any(|option| option == "notail");
        let block_bytes = self.mkfs_values(level, None).map_or(4096, |v| v.number("block_size"));
        let inline_max_bytes = if plain { 0 } else { TAIL_BYTES };
        let metadata = self.metadata(level);
        ContentRule { block_bytes, inline_max_bytes, compresses: false, metadata }
    }

    /// Items in leaves, each with a header of 24 bytes: an inode has 44, an entry 16 and the name.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 24 + 44,
            entry_bytes: 16,
            entry_align_bytes: 1,
            dir_inline_bytes: 0,
            mount_bytes: 64 << 10,
        })
    }

    /// A commit of the journal waits for its blocks and ends with a flush.
    fn syncs_to_device(&self, _: &FsLevel) -> bool {
        true
    }

    fn recovery(&self) -> Recovery {
        Recovery {
            check: Some(Fsck::new("reiserfsck", &["--check", "-y"], &[0])),
            repair: Some(Fsck::new("reiserfsck", &["--fix-fixable", "-y"], &[0, 1])),
            ..Recovery::UNKNOWN
        }
    }
}

/// Reads `debugreiserfs`: its lines are prose and `key: value`.
pub(super) fn parse_debug(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    const KEPT: [(&str, &str); 4] = [
        ("Count of blocks on the device", "blocks"),
        ("Blocksize", "block_size"),
        ("Number of bitmaps", "bitmaps"),
        ("Hash function used to sort names", "hash"),
    ];
    let mut map = BTreeMap::new();
    let mut keep = |name: &str, value: &str| {
        map.insert(name.to_owned(), value.trim().trim_matches('"').to_owned());
    };
    for line in text.lines().map(str::trim) {
        if let Some((key, value)) = line.split_once(':')
            && let Some((_, name)) = KEPT.iter().find(|(known, _)| *known == key)
        {
            keep(name, value);
        } else if let Some(format) = after(line, "of format ") {
            keep("format", format);
        } else if let Some(rest) = line.strip_prefix("Max transaction length ") {
            keep("transaction_max_blocks", first_word(rest));
        } else if let Some(rest) = line.strip_prefix("Size ") {
            keep("journal_blocks", first_word(rest));
        }
    }
    complete(map, "debugreiserfs", &["format", "block_size", "hash", "journal_blocks"], " ")
}

/// The word behind `mark`.
fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| first_word(rest))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBUG: &str = "
Filesystem state: consistent

Reiserfs super block in block 16 on 0x700 of format 3.6 with standard journal
Count of blocks on the device: 65536
Number of bitmaps: 2
Blocksize: 4096
Free blocks (count of blocks - used [journal, bitmaps, data, reserved] blocks): 57323
Hash function used to sort names: \"r5\"
Journal parameters:
\tDevice [0x0]
\tSize 8193 blocks (including 1 for journal header) (first block 18)
\tMax transaction length 1024 blocks
UUID: 5edc8b91-b88a-4b26-b405-8897056e7c92
";

    fn level(mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            mount: mount.iter().map(|option| (*option).to_owned()).collect(),
            ..FsLevel::plain("reiserfs")
        }
    }

    #[test]
    fn the_superblock_is_read() {
        let map = parse_debug(DEBUG).unwrap();
        for (key, value) in [
            ("format", "3.6"),
            ("block_size", "4096"),
            ("hash", "r5"),
            ("journal_blocks", "8193"),
            ("transaction_max_blocks", "1024"),
            ("blocks", "65536"),
        ] {
            assert_eq!(map.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert!(parse_debug("not a reiserfs").is_err());
    }

    #[test]
    fn every_default_is_written_out() {
        let argv = ReiserFs.mkfs_argv(&level(&[], &[]), Discard::None, Path::new("/dev/loop0"), 0);
        assert!(
            argv.join(" ").starts_with(
                "mkreiserfs -q -f -f --format 3.6 -b 4096 -s 8193 -t 1024 -h r5 -u f5a2e4a0-"
            ),
            "{argv:?}"
        );
        let none = ReiserFs.mount_options(&level(&[], &["notail"]), Discard::On, None);
        assert_eq!(none, ["notail"], "it knows no discard");
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], mount: &[&str], size| {
            ReiserFs.check(&level(mkfs, mount), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[], 37 << 20), Ok(()));
        assert!(check(&[], &[], 36 << 20).unwrap_err().contains("--on loop:37M"));
        assert!(check(&[("hash", "md5")], &[], 1 << 30).unwrap_err().contains("rupasov"));
        assert!(check(&[("journal_blocks", "512")], &[], 1 << 30).unwrap_err().contains("513"));
        let small = check(&[("block_size", "1024"), ("journal_blocks", "8193")], &[], 1 << 30);
        assert!(small.unwrap_err().contains("513 to 8126"));
        assert!(check(&[], &["jdev=/dev/sda"], 1 << 30).unwrap_err().contains("leave it out"));
        assert_eq!(ReiserFs.content(&level(&[], &["notail"])).inline_max_bytes, 0);
    }
}
