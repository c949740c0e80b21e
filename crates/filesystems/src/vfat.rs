//! FAT16 and FAT32 with long names, made by mkfs.fat (dosfstools), written by its manual page and
//! Documentation/filesystems/vfat.rst.
//!
//! mkfs.fat never discards, and says its version only when it makes one: fatlabel of the same
//! package is asked for it.

use super::driver::content_in_clusters;
use super::mkfs::ValueRule::{Computed, PowerOfTwo};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader, ValueRule};
use super::options::{Rule, complete, discard_alone, output_of, version_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::units::Bytes;
use std::collections::BTreeMap;
use std::path::Path;

/// The driver of FAT.
pub(super) struct Vfat;

/// No sector, and so no cluster, is smaller.
const SECTOR_BYTES: u64 = 512;
const SECTOR: ValueRule = PowerOfTwo(SECTOR_BYTES, 4096, SECTOR_BYTES);
/// By default FAT32 from this size on, as mkfs.fat.
const FAT32_BYTES: u64 = 512 << 20;
/// Least and most clusters of each: by their number Windows tells them apart, and Linux takes no
/// more.
const FAT16_CLUSTERS: (u64, u64) = (4085, 65_524);
const FAT32_CLUSTERS: (u64, u64) = (65_525, 268_435_444);

static MKFS: Mkfs = Mkfs {
    // -I: a whole disk too. --invariant: neither time nor chance in the identifier.
    command: "mkfs.fat -I --mbr=n --invariant -F {fat_bits} -S {sector_size} \
              -s {cluster_sectors} -n FSARENA {device}",
    programs: &["mkfs.fat", "fsck.fat", "fatlabel"],
    package: "dosfstools",
    options: &[
        MkfsOption::new("sector_size", "bytes of a sector of the device", SECTOR),
        MkfsOption::new(
            "fat_bits",
            "bits of an entry, 16 or 32; 32 from 512 MiB on",
            Computed(fat_bits),
        ),
        MkfsOption::new(
            "cluster_size",
            "bytes of a cluster, a power of two from 512 to 64K; by the size, as mkfs.fat",
            Computed(cluster_size),
        ),
        MkfsOption::new("cluster_sectors", "", Computed(cluster_sectors)),
    ],
};

fn fat_bits(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let default = if reader.values.device_bytes < FAT32_BYTES { 16 } else { 32 };
    match reader.number(16, 32, default)? {
        bits @ (16 | 32) => Ok(Some(bits)),
        bits => Err(reader.rule.broken(format!("fat_bits = {bits} is not known"), "use 16 or 32")),
    }
}

fn cluster_size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let device = reader.values.device_bytes;
    let is_fat32 = reader.values.number("fat_bits") == 32;
    let default = if is_fat32 {
        // Up to so many MiB, so many bytes.
        let by_size = [(260, 512), (8192, 4 << 10), (16_384, 8 << 10), (32_768, 16 << 10)];
        let found = by_size.into_iter().find(|(most_mib, _)| device <= most_mib << 20);
        let large = || least_cluster(device, FAT32_CLUSTERS.1).clamp(32 << 10, 64 << 10);
        found.map_or_else(large, |(_, bytes)| bytes)
    } else {
        least_cluster(device, FAT16_CLUSTERS.1).clamp(2048, 64 << 10)
    };
    let sector = reader.values.number("sector_size");
    reader.power_of_two(sector, 64 << 10, default.max(sector)).map(Some)
}

/// The least power of two of which no more than `most` are on the device.
fn least_cluster(device_bytes: u64, most: u64) -> u64 {
    (device_bytes / most).max(1).checked_next_power_of_two().unwrap_or(u64::MAX)
}

fn cluster_sectors(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    Ok(Some(reader.values.number("cluster_size") / reader.values.number("sector_size")))
}

impl FileSystem for Vfat {
    fn name(&self) -> &'static str {
        "vfat"
    }

    fn summary(&self) -> &'static str {
        "FAT16 and FAT32 with long names: what cards and sticks come with; no journal"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        FAT16_CLUSTERS.0 * SECTOR_BYTES
    }

    fn check_mount(&self, _: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        // The size is not known: neither is the number of clusters.
        if values.device_bytes == u64::MAX {
            return Ok(());
        }
        let (bits, cluster) = (values.number("fat_bits"), values.number("cluster_size"));
        let (least, most) = if bits == 32 { FAT32_CLUSTERS } else { FAT16_CLUSTERS };
        // Boot sectors, the root directory of FAT16, and what is lost by alignment.
        let bytes = values.device_bytes.saturating_sub((32 << 10) + 4 * cluster);
        // The tables take an entry for each cluster, twice.
        let clusters = bytes / (cluster + 2 * bits / 8);
        if (least..=most).contains(&clusters) {
            return Ok(());
        }
        Err(Rule { fs: self.name() }.broken(
            format!(
                "{clusters} clusters of {} are none that FAT{bits} may have ({least} to {most})",
                Bytes(cluster)
            ),
            "give another cluster_size, or fat_bits = \"16\" or \"32\"",
        ))
    }

    fn mount_options(&self, level: &FsLevel, discard: Discard, _: Option<u64>) -> Vec<String> {
        discard_alone(level, discard)
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_fsck(&output_of("fsck.fat", "dosfstools", &["-n", "-v"], device)?)
    }

    fn version(&self) -> Option<String> {
        version_of("fatlabel", &["-V"])
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        content_in_clusters(self, level)
    }

    /// No inodes: an entry has 32 bytes, and one more for each 13 characters of a long name.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 0,
            entry_bytes: 0,
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
            check: Some(Fsck::new("fsck.fat", &["-n"], &[0])),
            repair: Some(Fsck::new("fsck.fat", &["-a"], &[0, 1])),
            is_repaired_first: true,
            side_by_side: SideBySide::Always,
            ..Recovery::UNKNOWN
        }
    }
}

/// Reads `fsck.fat -n -v`: the number stands before what it is.
pub(super) fn parse_fsck(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    const LINES: [(&str, &str); 5] = [
        ("bytes per logical sector", "sector_bytes"),
        ("bytes per cluster", "cluster_bytes"),
        ("reserved sectors", "reserved_sectors"),
        ("root directory entries", "root_entries"),
        ("data clusters", "data_clusters"),
    ];
    let mut map = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((tables, bits)) = line.split_once(" FATs, ") {
            map.insert("tables".to_owned(), tables.to_owned());
            let bits = bits.split_whitespace().next().unwrap_or_default();
            map.insert("fat_bits".to_owned(), bits.to_owned());
        }
        let Some((number, what)) = line.split_once(' ') else { continue };
        let found = LINES.iter().find(|(words, _)| what.starts_with(words));
        if let (Some((_, key)), true) = (found, number.chars().all(|c| c.is_ascii_digit())) {
            map.insert((*key).to_owned(), number.to_owned());
        }
    }
    complete(map, "fsck.fat", &["fat_bits", "cluster_bytes", "data_clusters"], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FSCK: &str = "\
fsck.fat 4.2 (2021-01-31)
Boot sector contents:
Media byte 0xf8 (hard disk)
       512 bytes per logical sector
      2048 bytes per cluster
         4 reserved sectors
First FAT starts at byte 2048 (sector 4)
         2 FATs, 16 bit entries
     65536 bytes per FAT (= 128 sectors)
       512 root directory entries
     32695 data clusters (66959360 bytes)
32 sectors/track, 8 heads
";

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        let mkfs = mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FsLevel { mkfs, ..FsLevel::plain("vfat") }
    }

    #[test]
    fn what_fsck_prints_is_read() {
        let map = parse_fsck(FSCK).unwrap();
        let all: Vec<String> = map.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            all.join(" "),
            "cluster_bytes=2048 data_clusters=32695 fat_bits=16 reserved_sectors=4 \
             root_entries=512 sector_bytes=512 tables=2"
        );
        let text = parse_fsck("Usage: fsck.fat").unwrap_err().to_string();
        assert!(text.starts_with("fsck.fat: output not understood"), "{text}");
    }

    #[test]
    fn table_and_cluster_follow_the_size_of_the_device() {
        let argv = |mkfs: &[(&str, &str)], bytes| {
            let device = Path::new("/dev/loop0");
            Vfat.mkfs_argv(&level(mkfs), Discard::None, device, bytes).join(" ")
        };
        let all = "mkfs.fat -I --mbr=n --invariant";
        let end = "-n FSARENA /dev/loop0";
        assert_eq!(argv(&[], 64 << 20), format!("{all} -F 16 -S 512 -s 4 {end}"));
        assert_eq!(argv(&[], 511 << 20), format!("{all} -F 16 -S 512 -s 16 {end}"));
        assert_eq!(argv(&[], 1 << 30), format!("{all} -F 32 -S 512 -s 8 {end}"));
        assert_eq!(argv(&[], 64 << 30), format!("{all} -F 32 -S 512 -s 64 {end}"));
        let own = [("cluster_size", "32K"), ("fat_bits", "32")];
        assert_eq!(argv(&own, 8 << 30), format!("{all} -F 32 -S 512 -s 64 {end}"));
        let large = argv(&[("sector_size", "4K")], 320 << 20);
        assert_eq!(large, format!("{all} -F 16 -S 4096 -s 2 {end}"));
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            Vfat.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        for size in [16 << 20, 64 << 20, 300 << 20, 512 << 20, 2 << 30, 8 << 30, 64 << 30, 1 << 40]
        {
            assert_eq!(check(&[], size), Ok(()), "{size}");
        }
        assert!(check(&[], 1 << 20).unwrap_err().contains("too small"));
        assert!(check(&[], 8 << 20).unwrap_err().contains("none that FAT16 may have"));
        let text = check(&[("fat_bits", "32")], 200 << 20).map(|()| String::new());
        assert_eq!(text, Ok(String::new()), "clusters of a sector");
        let text = check(&[("cluster_size", "64K")], 1 << 30).unwrap_err();
        assert!(text.contains("FAT32 may have (65525 to"), "{text}");
        let text = check(&[("fat_bits", "16")], 8 << 30).unwrap_err();
        assert!(text.contains("FAT16 may have (4085 to 65524)"), "{text}");
        let text = check(&[("fat_bits", "32")], 20 << 20).unwrap_err();
        assert!(text.contains("FAT32 may have"), "{text}");
        assert!(check(&[("fat_bits", "20")], 1 << 30).unwrap_err().contains("use 16 or 32"));
        assert!(check(&[("block_size", "4K")], 1 << 30).unwrap_err().contains("cluster_size"));
    }

    #[test]
    fn nothing_is_discarded_unless_asked() {
        assert!(Vfat.mount_options(&level(&[]), Discard::None, None).is_empty());
        assert_eq!(Vfat.mount_options(&level(&[]), Discard::On, None), ["discard"]);
        assert!(!Vfat.syncs_to_device(&level(&[])) && !Vfat.freezes());
    }
}
