//! NILFS2, made by mkfs.nilfs2 (nilfs-tools), written by its manual page and
//! Documentation/filesystems/nilfs2.rst.
//!
//! It is mounted by the kernel alone: `mount.nilfs2` would start the cleaner `nilfs_cleanerd`,
//! which works whenever it likes. Space of overwritten and deleted files is therefore not given
//! back during a trial.

use super::mkfs::ValueRule::{Number, PowerOfTwo, Switch};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues};
use super::options::{Rule, kept_lines, output_of};
use super::recovery::Recovery;
use super::{FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::FsLevel;
use fsarena_model::crash::Promises;
use std::collections::BTreeMap;
use std::path::Path;

/// The NILFS2 driver.
pub(super) struct Nilfs2;

/// Segments that mkfs.nilfs2 insists on: 8 reserved ones and 8 for the user.
const LEAST_SEGMENTS: u64 = 16;

const FEATURES: [&str; 2] = ["none", "none,block_count"];

static MKFS: Mkfs = Mkfs {
    command: "mkfs.nilfs2 -f -q [{keep}] -b {block_size} -B {blocks_per_segment} \
              -m {reserved_percent} -O {block_count} {device}",
    programs: &["mkfs.nilfs2", "nilfs-tune"],
    package: "nilfs-tools",
    options: &[
        MkfsOption::new("block_size", "bytes of a block", PowerOfTwo(1024, 4096, 4096)),
        MkfsOption::new("blocks_per_segment", "blocks of a segment", PowerOfTwo(16, 1 << 20, 2048)),
        MkfsOption::new(
            "reserved_percent",
            "percent of segments kept for the cleaner",
            Number(1, 50, 5),
        ),
        MkfsOption::new("block_count", "count blocks in each checkpoint", Switch(false, FEATURES)),
    ],
};

impl FileSystem for Nilfs2 {
    fn name(&self) -> &'static str {
        "nilfs2"
    }

    fn summary(&self) -> &'static str {
        "NILFS2: log-structured, continuous snapshots; its cleaner does not run here"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn punches_holes(&self, _: &FsLevel) -> bool {
        false
    }

    /// Inodes of 128 bytes; `struct nilfs_dir_entry`: 12 bytes and the name, to a multiple of 8.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 128,
            entry_bytes: 12,
            entry_align_bytes: 8,
            dir_inline_bytes: 0,
            mount_bytes: 64 << 10,
        })
    }

    /// A segment ends with a flush.
    fn syncs_to_device(&self, _: &FsLevel) -> bool {
        true
    }

    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        let block = values.number("block_size");
        LEAST_SEGMENTS * values.number("blocks_per_segment") * block + block
    }

    fn check_mount(&self, level: &FsLevel, _: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let snapshot = " mounts a snapshot, which cannot be written";
        rule.no_mount_option(level, &["cp"], snapshot, "leave it out")
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_tune(&output_of("nilfs-tune", "nilfs-tools", &["-l"], device)?)
    }

    /// It has no fsck: the last log that is whole is found when it is mounted.
    fn recovery(&self) -> Recovery {
        Recovery { without: Some("norecovery"), ..Recovery::UNKNOWN }
    }

    /// Documentation/filesystems/nilfs2.rst: blocks are written in logs, each whole or not at all;
    /// with `order=strict` in the order of all operations.
    fn promises(&self, options: &[&str]) -> Promises {
        Promises {
            replace_is_whole: options.contains(&"order=strict"),
            replace_keeps_the_name: true,
            no_stale_bytes: true,
            mounts_without_repair: true,
        }
    }
}

/// What of `nilfs-tune -l` describes the file system and not its momentary state.
const KEPT: [&str; 12] = [
    "Filesystem revision #",
    "Filesystem features",
    "Device size",
    "First block",
    "Block size",
    "Inode size",
    "DAT entry size",
    "Checkpoint size",
    "Segment usage size",
    "Number of segments",
    "# of blocks per segment",
    "Reserved segments %",
];

/// Reads `nilfs-tune -l`; keys in lower case with underscores.
pub(super) fn parse_tune(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let needed = &["filesystem_features", "block_size", "of_blocks_per_segment"];
    kept_lines("nilfs-tune", text, &KEPT, needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Discard;

    fn level(mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            mount: mount.iter().map(|option| (*option).to_owned()).collect(),
            ..FsLevel::plain("nilfs2")
        }
    }

    #[test]
    fn every_default_is_written_out() {
        let argv = |discard| {
            Nilfs2.mkfs_argv(&level(&[], &[]), discard, Path::new("/dev/loop0"), 1 << 30).join(" ")
        };
        let none = "mkfs.nilfs2 -f -q -K -b 4096 -B 2048 -m 5 -O none /dev/loop0";
        assert_eq!(argv(Discard::None), none);
        assert!(!argv(Discard::On).contains("-K"));
        assert_eq!(Nilfs2.mount_options(&level(&[], &[]), Discard::On, None), ["discard"]);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], mount: &[&str], size| {
            Nilfs2.check(&level(mkfs, mount), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[], 134_221_824), Ok(()));
        assert!(check(&[], &[], 128 << 20).unwrap_err().contains("--on loop:129M"));
        assert_eq!(check(&[("blocks_per_segment", "16")], &[], 2 << 20), Ok(()));
        assert!(check(&[("block_size", "8192")], &[], 1 << 30).unwrap_err().contains("power"));
        assert!(check(&[], &["cp=3"], 1 << 30).unwrap_err().contains("snapshot"));
    }
}
