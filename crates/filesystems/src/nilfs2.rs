//! NILFS2, made by mkfs.nilfs2 (nilfs-tools), written by its manual page and
//! Documentation/filesystems/nilfs2.rst.
//!
//! It is mounted by the kernel alone: `mount.nilfs2` would start the cleaner `nilfs_cleanerd`,
//! which works whenever it likes. Space of overwritten and deleted files is therefore not given
//! back during a trial.

use super::options::{Rule, key_value, output_of, version_of};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, ToolNeed};
use fsarena_model::contender::{Discard, FsLevel};
use std::collections::BTreeMap;
use std::path::Path;

/// The NILFS2 driver.
pub(super) struct Nilfs2;

/// Segments that mkfs.nilfs2 insists on: 8 reserved ones and 8 for the user.
const LEAST_SEGMENTS: u64 = 16;

const OPTIONS: [(&str, &str); 4] = [
    ("block_size", "bytes of a block: 1024, 2048 or 4096 (default)"),
    ("blocks_per_segment", "blocks of a segment, a power of two from 16; 2048"),
    ("reserved_percent", "segments kept for the cleaner, in percent; 5"),
    ("block_count", "1: count blocks in each checkpoint; 0"),
];

struct MkfsValues {
    block: u64,
    segment: u64,
    reserved: u64,
    block_count: bool,
}

fn mkfs_values(level: &FsLevel) -> Result<MkfsValues, IllegalLevel> {
    let rule = Rule { fs: "nilfs2" };
    Ok(MkfsValues {
        block: rule.power_of_two(level, "block_size", 1024, 4096, 4096)?,
        segment: rule.power_of_two(level, "blocks_per_segment", 16, 1 << 20, 2048)?,
        reserved: rule.number(level, "reserved_percent", 1, 50, 5)?,
        block_count: rule.flag(level, "block_count", false)?,
    })
}

impl FileSystem for Nilfs2 {
    fn name(&self) -> &'static str {
        "nilfs2"
    }

    fn summary(&self) -> &'static str {
        "NILFS2: log-structured, continuous snapshots; its cleaner does not run here"
    }

    fn tools(&self) -> Vec<ToolNeed> {
        ToolNeed::all(&["mkfs.nilfs2", "nilfs-tune"], "nilfs-tools")
    }

    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        rule.known(level, &OPTIONS)?;
        let values = mkfs_values(level)?;
        let least = LEAST_SEGMENTS * values.segment * values.block + values.block;
        rule.least_size(device_bytes, least)?;
        rule.mount_words(level)?;
        if let Some(option) = level.mount.iter().find(|option| key_value(option).0 == "cp") {
            return Err(rule.broken(
                format!("mount option {option} mounts a snapshot, which cannot be written"),
                "leave it out",
            ));
        }
        Ok(())
    }

    fn mkfs_argv(
        &self,
        level: &FsLevel,
        discard: Discard,
        device: &Path,
        _device_bytes: u64,
    ) -> Vec<String> {
        let Ok(values) = mkfs_values(level) else { return Vec::new() };
        let mut argv: Vec<String> = ["mkfs.nilfs2", "-f", "-q"].map(str::to_owned).into();
        if discard.is_none() {
            argv.push("-K".to_owned());
        }
        let mut add = |flag: &str, value: String| argv.extend([flag.to_owned(), value]);
        add("-b", values.block.to_string());
        add("-B", values.segment.to_string());
        add("-m", values.reserved.to_string());
        let features = if values.block_count { "none,block_count" } else { "none" };
        add("-O", features.to_owned());
        argv.push(device.display().to_string());
        argv
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_tune(&output_of("nilfs-tune", "nilfs-tools", &["-l"], device)?)
    }

    fn version(&self) -> Option<String> {
        version_of("mkfs.nilfs2", &["-V"])
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let block_bytes = mkfs_values(level).map_or(4096, |values| values.block);
        ContentRule { block_bytes, inline_max_bytes: 0, compresses: false }
    }

    fn freezes(&self) -> bool {
        true
    }

    fn mkfs_options(&self) -> &'static [(&'static str, &'static str)] {
        &OPTIONS
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
fn parse_tune(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let mut map = BTreeMap::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if KEPT.contains(&key.trim()) {
            let key = key.trim().trim_matches(['#', '%', ' ']).to_lowercase().replace(' ', "_");
            map.insert(key, value.trim().to_owned());
        }
    }
    for needed in ["filesystem_features", "block_size", "of_blocks_per_segment"] {
        if !map.contains_key(needed) {
            let problem = format!("no line \"{}\"", needed.replace('_', " "));
            return Err(FsError::Malformed { tool: "nilfs-tune", problem });
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

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
