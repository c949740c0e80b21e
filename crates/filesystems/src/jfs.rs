//! JFS, made by jfs_mkfs (jfsutils), written by its manual page and
//! Documentation/admin-guide/jfs.rst.

use super::mkfs::ValueRule::{Computed, Switch};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{kept_lines, output_of, version_of};
use super::recovery::{Fsck, Recovery};
use super::{FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::contender::FsLevel;
use std::collections::BTreeMap;
use std::path::Path;

/// The JFS driver.
pub(super) struct Jfs;

/// jfs_mkfs refuses anything smaller.
const LEAST_BYTES: u64 = 16 << 20;
/// Largest inline log, MiB.
const LOG_MAX_MIB: u64 = 128;

static MKFS: Mkfs = Mkfs {
    command: "jfs_mkfs -q [{case_insensitive}] -s {log_size:M} -L fsarena {device}",
    programs: &["jfs_mkfs", "jfs_tune"],
    package: "jfsutils",
    options: &[
        MkfsOption::new(
            "log_size",
            "bytes of the log, whole MiB; 0.4 % of the device, as jfs_mkfs chooses",
            Computed(log_size),
        ),
        MkfsOption::new("case_insensitive", "compare names as OS/2", Switch(false, ["", "-O"])),
    ],
};

fn log_size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let device = reader.values.device_bytes;
    let default_mib = (device / 250).div_ceil(1 << 20).clamp(1, LOG_MAX_MIB);
    let log = reader.bytes(default_mib << 20)?;
    let most = (LOG_MAX_MIB << 20).min((device / 10).max(1 << 20));
    if !log.is_multiple_of(1 << 20) || log == 0 || log > most {
        return Err(reader.rule.broken(
            format!("log_size = {log} is not a whole number of MiB from 1 MiB to {most} bytes"),
            format!("a log has {LOG_MAX_MIB} MiB and a tenth of the device at most"),
        ));
    }
    Ok(Some(log))
}

impl FileSystem for Jfs {
    fn name(&self) -> &'static str {
        "jfs"
    }

    fn summary(&self) -> &'static str {
        "JFS: the journaled file system of IBM, extents and B+ trees"
    }

    /// Inodes of 512 bytes; a directory has slots of 32 bytes, eight of them in its inode.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: 512,
            entry_bytes: 5,
            entry_align_bytes: 32,
            dir_inline_bytes: 256,
            mount_bytes: 64 << 10,
        })
    }

    /// jfs_mkfs never discards.
    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn punches_holes(&self, _: &FsLevel) -> bool {
        false
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        LEAST_BYTES
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_tune(&output_of("jfs_tune", "jfsutils", &["-l"], device)?)
    }

    fn version(&self) -> Option<String> {
        // It begins with the path that it was started by.
        let line = version_of("jfs_mkfs", &["-V"])?;
        Some(line.rsplit('/').next().unwrap_or(&line).to_owned())
    }

    fn recovery(&self) -> Recovery {
        Recovery {
            check: Some(Fsck::new("jfs_fsck", &["-n"], &[0])),
            repair: Some(Fsck::new("jfs_fsck", &["-a"], &[0, 1])),
            is_repaired_first: true,
            replay_failed: Some("logredo failed"),
            ..Recovery::UNKNOWN
        }
    }

    /// It writes its log with plain writes, and has no option for it.
    fn sends_no_flush(&self) -> bool {
        true
    }
}

/// What of `jfs_tune -l` describes the file system and not its momentary state.
const KEPT: [&str; 7] = [
    "JFS magic number",
    "JFS version",
    "JFS flags",
    "Aggregate block size",
    "Aggregate size",
    "Physical block size",
    "Allocation group size",
];

/// Reads `jfs_tune -l`; keys in lower case with underscores.
pub(super) fn parse_tune(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let needed = &["jfs_version", "jfs_flags", "aggregate_block_size"];
    kept_lines("jfs_tune", text, &KEPT, needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Discard;

    const TUNE: &str = "\
jfs_tune version 1.1.15, 04-Mar-2011

JFS filesystem superblock:

JFS magic number:\t'JFS1'
JFS version:\t\t1
JFS state:\t\tclean
JFS flags:\t\tJFS_LINUX  JFS_COMMIT  JFS_GROUPCOMMIT  JFS_INLINELOG  
Aggregate block size:\t4096 bytes
Aggregate size:\t\t521816 blocks
Filesystem creation:\tSat Nov 21 23:22:27 2026
Volume label:\t\t''
";

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..FsLevel::plain("jfs")
        }
    }

    #[test]
    fn the_superblock_is_read() {
        let map = parse_tune(TUNE).unwrap();
        assert_eq!(map["jfs_flags"], "JFS_LINUX JFS_COMMIT JFS_GROUPCOMMIT JFS_INLINELOG");
        assert_eq!(map["aggregate_block_size"], "4096 bytes");
        assert_eq!(map.len(), 5, "neither its date nor its state: {map:?}");
        assert!(parse_tune("jfs_tune version 1.1.15").is_err());
    }

    /// Its sync writes the log and sends no flush behind it: power cuts in guests show it.
    #[test]
    fn a_sync_is_not_behind_a_flush() {
        assert!(!Jfs.syncs_to_device(&level(&[])));
    }

    #[test]
    fn the_log_is_written_out_as_jfs_mkfs_would_choose_it() {
        let argv = |mkfs: &[(&str, &str)], bytes| {
            Jfs.mkfs_argv(&level(mkfs), Discard::None, Path::new("/dev/loop0"), bytes).join(" ")
        };
        assert_eq!(argv(&[], 256 << 20), "jfs_mkfs -q -s 2 -L fsarena /dev/loop0");
        assert_eq!(argv(&[], 1 << 40), "jfs_mkfs -q -s 128 -L fsarena /dev/loop0");
        let own = argv(&[("log_size", "8M"), ("case_insensitive", "1")], 256 << 20);
        assert_eq!(own, "jfs_mkfs -q -O -s 8 -L fsarena /dev/loop0");
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            Jfs.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], LEAST_BYTES), Ok(()));
        assert!(check(&[], 15 << 20).unwrap_err().contains("--on loop:16M"));
        assert!(check(&[("log_size", "64M")], 256 << 20).unwrap_err().contains("a tenth"));
        assert!(check(&[("log_size", "1000")], 1 << 30).unwrap_err().contains("whole number"));
        assert!(check(&[("block_size", "1024")], 1 << 30).unwrap_err().contains("unknown"));
    }
}
