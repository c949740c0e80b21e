//! The device itself, without a file system: what a file system costs is measured against it.
//!
//! Its work is one file, which is the device: a node of it, alone in a directory in memory. Nothing
//! is made on it; what can be done is to read and write its sectors.

use super::options::Rule;
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MountPlan};
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{Discard, FsLevel, RAW};
use fsarena_model::spec::TargetSpec;

/// The driver of no file system.
pub(super) struct Raw;

impl FileSystem for Raw {
    fn name(&self) -> &'static str {
        RAW
    }

    fn summary(&self) -> &'static str {
        "the device without a file system; for work in one large file"
    }

    fn kernel_type(&self) -> Option<&str> {
        None
    }

    fn check(&self, level: &FsLevel, _device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        if level.mkfs.is_empty() && level.mount.is_empty() {
            return Ok(());
        }
        Err(Rule { fs: self.name() }.broken(
            "no file system is made or mounted, so there are no mkfs or mount options",
            "leave them out, or name a file system such as ext4",
        ))
    }

    fn mount_options(&self, _: &FsLevel, _: Discard, _: Option<u64>) -> Vec<String> {
        Vec::new()
    }

    fn mount_plan(&self, _: &FsLevel, _: Discard, _: &TargetSpec) -> Result<MountPlan, FsError> {
        Ok(MountPlan::Node)
    }

    /// Sectors come as they are.
    fn content(&self, _: &FsLevel) -> ContentRule {
        ContentRule { block_bytes: 512, inline_max_bytes: 0, compresses: false, metadata: None }
    }

    fn capacity(&self, _: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        Some(Capacity {
            predicted: Predicted { free_bytes: device_bytes, inodes: None },
            kept_for_root_bytes: 0,
            unit_bytes: 512,
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: 1,
            moves_on_write: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn nothing_is_made_and_all_sectors_are_there() {
        let level = FsLevel::plain(RAW);
        assert!(Raw.check(&level, Some(1 << 30)).is_ok());
        let argv = Raw.mkfs_argv(&level, Discard::None, Path::new("/dev/loop0"), 1 << 30);
        assert!(argv.is_empty() && Raw.tools().is_empty());
        let capacity = Raw.capacity(&level, 1 << 30).unwrap();
        assert_eq!(capacity.predicted.free_bytes, 1 << 30);
        assert!(!Raw.freezes() && !Raw.syncs_to_device(&level), "its own flush is waited for");
    }

    #[test]
    fn options_are_refused() {
        let level = FsLevel { mount: vec!["noatime".to_owned()], ..FsLevel::plain(RAW) };
        let text = Raw.check(&level, None).unwrap_err().to_string();
        assert!(text.contains("no file system is made or mounted"), "{text}");
    }
}
