//! exFAT, made by mkfs.exfat (exfatprogs), written by its manual page.
//!
//! mkfs.exfat never discards; its volume serial is made of the time. It says its version and that
//! it has failed.

use super::driver::content_in_clusters;
use super::mkfs::ValueRule::Computed;
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{READ_LIMIT, discard_alone, kept_lines, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_process::cmd::{self, CmdError};
use std::collections::BTreeMap;
use std::path::Path;

/// The exFAT driver.
pub(super) struct ExFat;

/// mkfs.exfat refuses anything smaller than some 3 MiB.
const LEAST_BYTES: u64 = 4 << 20;

static MKFS: Mkfs = Mkfs {
    command: "mkfs.exfat -c {cluster_size} -L fsarena {device}",
    programs: &["mkfs.exfat", "dump.exfat"],
    package: "exfatprogs",
    options: &[MkfsOption::new(
        "cluster_size",
        "bytes of a cluster, a power of two from 512 to 32M; 4K to 256 MiB, 32K to 32 GiB, 128K",
        Computed(cluster_size),
    )],
};

/// By default as mkfs.exfat chooses.
fn cluster_size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let device = reader.values.device_bytes;
    let default = if device <= 256 << 20 {
        4 << 10
    } else if device <= 32 << 30 {
        32 << 10
    } else {
        128 << 10
    };
    reader.power_of_two(512, 32 << 20, default).map(Some)
}

impl FileSystem for ExFat {
    fn name(&self) -> &'static str {
        "exfat"
    }

    fn summary(&self) -> &'static str {
        "exFAT: what large cards come with; one table, a bitmap, no journal"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        LEAST_BYTES
    }

    fn mount_options(&self, level: &FsLevel, discard: Discard, _: Option<u64>) -> Vec<String> {
        discard_alone(level, discard)
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_dump(&output_of("dump.exfat", "exfatprogs", &[], device)?)
    }

    fn version(&self) -> Option<String> {
        let tool = cmd::find("mkfs.exfat")?;
        match cmd::run(&tool, &["-V"], READ_LIMIT) {
            Ok(ran) => cmd::first_line(&ran.stdout, &ran.stderr),
            Err(CmdError::Failed { last_lines, .. }) => cmd::first_line(&last_lines, ""),
            Err(_) => None,
        }
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        content_in_clusters(self, level)
    }

    /// No inodes: a file is an entry of 32 bytes, one of its stream, and one for each 15 characters
    /// of its name.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 0,
            entry_bytes: 64,
            entry_align_bytes: 32,
            dir_inline_bytes: 0,
            mount_bytes: 64 << 10,
        })
    }

    /// The kernel has no way to freeze it.
    fn freezes(&self) -> bool {
        false
    }

    fn punches_holes(&self, _: &FsLevel) -> bool {
        false
    }

    /// The kernel asks for fsck when it mounts one that was not unmounted.
    fn recovery(&self) -> Recovery {
        Recovery {
            check: Some(Fsck::new("fsck.exfat", &["-n"], &[0])),
            repair: Some(Fsck::new("fsck.exfat", &["-y"], &[0, 1])),
            is_repaired_first: true,
            side_by_side: SideBySide::Always,
            ..Recovery::UNKNOWN
        }
    }
}

/// What of `dump.exfat` describes the file system and not its momentary state.
const KEPT: [&str; 7] = [
    "Volume Length(sectors)",
    "FAT Offset(sector offset)",
    "FAT Length(sectors)",
    "Cluster Heap Offset (sector offset)",
    "Sector Size Bits",
    "Cluster size",
    "Total Clusters",
];

/// Reads `dump.exfat`.
pub(super) fn parse_dump(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    kept_lines("dump.exfat", text, &KEPT, &["cluster_size", "total_clusters"])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
exfatprogs version : 1.2.0
-------------- Dump Boot sector region --------------
Volume Length(sectors): \t\t524288
FAT Offset(sector offset): \t\t2048
Cluster Count: \t\t\t\t8128
Volume Serial: \t\t\t\t0xef0df296
Sector Size Bits: \t\t\t9

---------------- Show the statistics ----------------
Cluster size:  \t\t\t\t32768
Total Clusters: \t\t\t8128
Free Clusters: \t\t\t\t8125
";

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        let mkfs = mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FsLevel { mkfs, ..FsLevel::plain("exfat") }
    }

    #[test]
    fn the_dump_is_read() {
        let map = parse_dump(DUMP).unwrap();
        assert_eq!(map["cluster_size"], "32768");
        assert_eq!(map["total_clusters"], "8128");
        assert_eq!(map.len(), 5, "neither its serial nor what is free: {map:?}");
        assert!(parse_dump("exfatprogs version : 1.2.0").is_err());
    }

    #[test]
    fn the_cluster_follows_the_size_of_the_device() {
        let argv = |mkfs: &[(&str, &str)], bytes| {
            let device = Path::new("/dev/loop0");
            ExFat.mkfs_argv(&level(mkfs), Discard::None, device, bytes).join(" ")
        };
        assert_eq!(argv(&[], 256 << 20), "mkfs.exfat -c 4096 -L fsarena /dev/loop0");
        assert_eq!(argv(&[], 8 << 30), "mkfs.exfat -c 32768 -L fsarena /dev/loop0");
        assert_eq!(argv(&[], 64 << 30), "mkfs.exfat -c 131072 -L fsarena /dev/loop0");
        let own = argv(&[("cluster_size", "4K")], 8 << 30);
        assert_eq!(own, "mkfs.exfat -c 4096 -L fsarena /dev/loop0");
        assert_eq!(ExFat.content(&level(&[("cluster_size", "4K")])).block_bytes, 4096);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            ExFat.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], LEAST_BYTES), Ok(()));
        assert!(check(&[], LEAST_BYTES - 1).unwrap_err().contains("--on loop:4M"));
        assert!(check(&[("cluster_size", "3000")], 1 << 30).unwrap_err().contains("power of two"));
        assert!(check(&[("block_size", "4K")], 1 << 30).unwrap_err().contains("cluster_size"));
        assert!(ExFat.mount_options(&level(&[]), Discard::None, None).is_empty());
        assert_eq!(ExFat.mount_options(&level(&[]), Discard::On, None), ["discard"]);
    }
}
