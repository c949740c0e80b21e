//! NTFS by the kernel's driver ntfs3, made by mkntfs (ntfs-3g), written by its manual page and
//! Documentation/filesystems/ntfs3.rst.
//!
//! mkntfs never discards. Geometry and start of the partition, which only a boot loader of Windows
//! reads, are 0.

use super::mkfs::ValueRule::{PowerOfTwo, Switch};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues};
use super::options::{Rule, discard_alone, kept_lines, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::{Discard, FsLevel};
use std::collections::BTreeMap;
use std::path::Path;

/// The driver of NTFS.
pub(super) struct Ntfs3;

/// mkntfs refuses anything smaller.
const LEAST_BYTES: u64 = 2 << 20;
/// An MFT record: contents that fit beside name and attributes lie in it.
const RECORD_BYTES: u64 = 1024;
/// Largest cluster that may be compressed.
const COMPRESSED_MAX_BYTES: u64 = 4096;

static MKFS: Mkfs = Mkfs {
    command: "mkntfs -q -Q -F -T -p 0 -H 0 -S 0 -c {cluster_size} [{compression}] \
              -L fsarena {device}",
    programs: &["mkntfs", "ntfsinfo"],
    package: "ntfs-3g",
    options: &[
        MkfsOption::new("cluster_size", "bytes of a cluster", PowerOfTwo(512, 2 << 20, 4096)),
        MkfsOption::new("compression", "compress what is written", Switch(false, ["", "-C"])),
    ],
};

impl FileSystem for Ntfs3 {
    fn name(&self) -> &'static str {
        "ntfs3"
    }

    fn summary(&self) -> &'static str {
        "NTFS by the kernel's own driver: the file system of Windows; a journal of metadata"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        LEAST_BYTES
    }

    fn check_mount(&self, _: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        let cluster = values.number("cluster_size");
        if values.number("compression") == 1 && cluster > COMPRESSED_MAX_BYTES {
            return Err(Rule { fs: self.name() }.broken(
                format!("clusters of {cluster} bytes cannot be compressed"),
                "write cluster_size = \"4K\" or less",
            ));
        }
        Ok(())
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_info(&output_of("ntfsinfo", "ntfs-3g", &["-m"], device)?)
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let values = self.mkfs_values(level, None);
        let number = |name| values.as_ref().map_or(0, |values| values.number(name));
        ContentRule {
            block_bytes: number("cluster_size").max(512),
            inline_max_bytes: RECORD_BYTES,
            compresses: number("compression") == 1,
            metadata: self.metadata(level),
        }
    }

    /// A record of the master file table for each file; an entry of an index has 82 bytes and the
    /// name, small directories lie in their record.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: RECORD_BYTES,
            entry_bytes: 82,
            entry_align_bytes: 8,
            dir_inline_bytes: RECORD_BYTES,
            mount_bytes: 64 << 10,
        })
    }

    fn compression_options(&self) -> &'static [&'static str] {
        &["compress"]
    }

    /// Nothing is discarded where nothing is said; Linux 6.12 does not know `nodiscard`.
    fn mount_options(&self, level: &FsLevel, discard: Discard, _: Option<u64>) -> Vec<String> {
        discard_alone(level, discard)
    }

    /// The kernel has no way to freeze it.
    fn freezes(&self) -> bool {
        false
    }

    /// In sparse and compressed files alone.
    fn punches_holes(&self, level: &FsLevel) -> bool {
        let is_compressed = level.mkfs.contains_key("compression");
        let mut options = level.mount.iter().flat_map(|option| option.split(','));
        is_compressed || options.any(|option| matches!(option.trim(), "sparse" | "compress"))
    }

    /// No program for Linux checks all of it: ntfsfix looks at the most important structures, and
    /// takes the mark away that it was not unmounted.
    fn recovery(&self) -> Recovery {
        Recovery {
            check: Some(Fsck::new("ntfsfix", &["--no-action"], &[0])),
            repair: Some(Fsck::new("ntfsfix", &["--clear-dirty"], &[0])),
            side_by_side: SideBySide::Always,
            ..Recovery::UNKNOWN
        }
    }
}

/// What of `ntfsinfo -m` describes the file system and not its momentary state.
const KEPT: [&str; 6] = [
    "Volume Version",
    "Sector Size",
    "Cluster Size",
    "Index Block Size",
    "Volume Size in Clusters",
    "MFT Record Size",
];

/// Reads `ntfsinfo -m`.
pub(super) fn parse_info(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    kept_lines("ntfsinfo", text, &KEPT, &["volume_version", "cluster_size", "mft_record_size"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Discard;

    const INFO: &str = "\
Volume Information 
\tName of device: n
\tVolume Name: fsarena
\tVolume Flags: 0x0000
\tVolume Version: 3.1
\tSector Size: 512
\tCluster Size: 4096
\tVolume Size in Clusters: 65535
MFT Information 
\tMFT Record Size: 1024
\tMFT Zone Position: 4
";

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        let mkfs = mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FsLevel { mkfs, ..FsLevel::plain("ntfs3") }
    }

    #[test]
    fn what_ntfsinfo_prints_is_read() {
        let map = parse_info(INFO).unwrap();
        assert_eq!(map["volume_version"], "3.1");
        assert_eq!(map["volume_size_in_clusters"], "65535");
        assert_eq!(map.len(), 5, "neither its device nor its state: {map:?}");
        assert!(parse_info("Failed to open").is_err());
    }

    #[test]
    fn everything_is_written_out() {
        let argv = |mkfs: &[(&str, &str)]| {
            let device = Path::new("/dev/loop0");
            Ntfs3.mkfs_argv(&level(mkfs), Discard::None, device, 1 << 30).join(" ")
        };
        assert_eq!(argv(&[]), "mkntfs -q -Q -F -T -p 0 -H 0 -S 0 -c 4096 -L fsarena /dev/loop0");
        let own = argv(&[("cluster_size", "2K"), ("compression", "1")]);
        assert!(own.contains("-c 2048 -C -L"), "{own}");
        assert_eq!(Ntfs3.mount_options(&level(&[]), Discard::None, None), [""; 0]);
        assert!(Ntfs3.content(&level(&[("compression", "1")])).compresses);
        assert_eq!(Ntfs3.content(&level(&[("cluster_size", "64K")])).block_bytes, 64 << 10);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            Ntfs3.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], LEAST_BYTES), Ok(()));
        assert!(check(&[], LEAST_BYTES - 1).unwrap_err().contains("--on loop:2M"));
        let both = [("compression", "1"), ("cluster_size", "64K")];
        assert!(check(&both, 1 << 30).unwrap_err().contains("cannot be compressed"));
        assert!(check(&[("block_size", "4K")], 1 << 30).unwrap_err().contains("cluster_size"));
    }
}
