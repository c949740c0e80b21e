//! A directory of a file system that is there already: nothing is made, nothing is mounted.

use super::{Backing, ContentRule, FileSystem, IllegalLevel, ToolNeed, options::Rule};
use fsarena_model::contender::{Discard, FsLevel};

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

    fn tools(&self) -> Vec<ToolNeed> {
        Vec::new()
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

    /// Nobody knows what lies below: no claim is made that contents must be read.
    fn content(&self, _level: &FsLevel) -> ContentRule {
        ContentRule { block_bytes: 512, inline_max_bytes: 0, compresses: true }
    }

    fn reflinks(&self) -> Option<bool> {
        None
    }

    /// It could be; but it is the user's own file system, and others work on it.
    fn freezes(&self) -> bool {
        false
    }
}
