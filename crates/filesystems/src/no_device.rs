//! The two without a block device: tmpfs, which is memory and warm by nature, and a directory of a
//! file system that is there already, where nothing is made or mounted.

use super::mkfs::MkfsValues;
use super::options::{Rule, key_value};
use super::{Backing, FileSystem, IllegalLevel};
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

    fn check_mount(&self, level: &FsLevel, _: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let size = ": the size is that of the target";
        rule.no_mount_option(level, &["size", "nr_blocks"], size, "use --on ram:SIZE")?;
        let of_a_disk = ["barrier", "commit", "data", "discard", "journal_checksum", "nodiscard"];
        let why = " needs a journal or a device, and this has none";
        rule.no_mount_option(level, &of_a_disk, why, "leave it out, or use ext4")
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

    fn ignores_direct_io(&self, _: &FsLevel) -> Option<String> {
        Some("tmpfs is the page cache: there is nothing direct about it".to_owned())
    }
}

/// The directory driver.
pub(super) struct Directory;

impl FileSystem for Directory {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn summary(&self) -> &'static str {
        "a directory of a file system that is mounted already; needs no root"
    }

    fn backing(&self) -> Backing {
        Backing::Directory
    }

    fn kernel_type(&self) -> Option<&str> {
        None
    }

    fn check(&self, level: &FsLevel, _device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        if !level.mkfs.is_empty() || !level.mount.is_empty() {
            return Err(rule.broken(
                "a directory is neither made nor mounted, so it has no mkfs or mount options",
                "leave them out, or name a file system such as ext4",
            ));
        }
        Ok(())
    }

    fn mount_options(&self, _: &FsLevel, _: Discard, _: Option<u64>) -> Vec<String> {
        Vec::new()
    }
}
