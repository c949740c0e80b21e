//! tmpfs: memory, without a device. Warm by nature.

use super::mkfs::MkfsValues;
use super::options::{Rule, key_value};
use super::{Backing, ContentRule, FileSystem, IllegalLevel, ToolNeed};
use fsarena_model::contender::{Discard, FsLevel};

/// The tmpfs driver.
pub(super) struct Tmpfs;

impl FileSystem for Tmpfs {
    fn name(&self) -> &'static str {
        "tmpfs"
    }

    fn summary(&self) -> &'static str {
        "memory of the kernel, without a device; never cold"
    }

    fn backing(&self) -> Backing {
        Backing::Memory
    }

    fn kernel_type(&self) -> Option<&str> {
        Some("tmpfs")
    }

    fn tools(&self) -> Vec<ToolNeed> {
        Vec::new()
    }

    fn check_mount(&self, level: &FsLevel, _: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        if let Some(option) =
            level.mount.iter().find(|option| matches!(key_value(option).0, "size" | "nr_blocks"))
        {
            return Err(rule.broken(
                format!("mount option {option}: the size is that of the target"),
                "use --on ram:SIZE",
            ));
        }
        let of_a_disk = ["barrier", "commit", "data", "discard", "journal_checksum", "nodiscard"];
        if let Some(option) =
            level.mount.iter().find(|option| of_a_disk.contains(&key_value(option).0))
        {
            return Err(rule.broken(
                format!("mount option {option} needs a journal or a device, and this has none"),
                "leave it out, or use ext4",
            ));
        }
        Ok(())
    }

    fn mount_options(&self, level: &FsLevel, _: Discard, size: Option<u64>) -> Vec<String> {
        let mut options = level.mount.clone();
        options.extend(size.map(|bytes| format!("size={bytes}")));
        let has = |name: &str| level.mount.iter().any(|option| key_value(option).0 == name);
        // The kernel's default is half of the machine's memory in inodes; 0 would be no limit.
        if !has("nr_inodes") {
            options.push("nr_inodes=0".to_owned());
        }
        if !has("mode") {
            options.push("mode=0755".to_owned());
        }
        options
    }

    fn content(&self, _level: &FsLevel) -> ContentRule {
        ContentRule { block_bytes: 4096, inline_max_bytes: 0, compresses: false }
    }

    fn ignores_direct_io(&self, _: &FsLevel) -> Option<String> {
        Some("tmpfs is the page cache: there is nothing direct about it".to_owned())
    }

    fn freezes(&self) -> bool {
        false
    }
}
