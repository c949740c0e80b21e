//! How a file system comes back after a crash: its ways to be mounted, its check and its repair.

use std::path::Path;

/// A check or a repair: a program, its arguments before the device, and the exit codes that say
/// that all is well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fsck {
    pub program: &'static str,
    pub args: &'static [&'static str],
    pub clean: &'static [i32],
}

impl Fsck {
    pub(super) const fn new(
        program: &'static str,
        args: &'static [&'static str],
        clean: &'static [i32],
    ) -> Self {
        Self { program, args, clean }
    }
}

/// Whether two file systems of the same UUID can be mounted at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SideBySide {
    Never,
    Always,
    /// With this option of a mount.
    With(&'static str),
    /// Where its kernel has this file.
    Where(&'static str),
}

impl SideBySide {
    /// Whether the running kernel can.
    #[must_use]
    pub fn is_here(self) -> bool {
        match self {
            Self::Never => false,
            Self::Always | Self::With(_) => true,
            Self::Where(path) => Path::new(path).exists(),
        }
    }
}

/// What of recovery is peculiar to a file system.
///
/// ```
/// use fsarena_filesystems::builtin_driver;
///
/// let xfs = builtin_driver("xfs").unwrap().recovery();
/// assert_eq!(xfs.check.unwrap().program, "xfs_repair");
/// assert_eq!(xfs.without, Some("norecovery"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// Option of a mount that replays no journal.
    pub without: Option<&'static str>,
    /// Looks and changes nothing.
    pub check: Option<Fsck>,
    pub repair: Option<Fsck>,
    /// Its documents, or its kernel when it mounts what was not unmounted, ask for the repair
    /// before the mount.
    pub is_repaired_first: bool,
    pub side_by_side: SideBySide,
    /// Words of the repair where it cannot replay the journal and goes on without: its exit code is
    /// that of success then.
    pub replay_failed: Option<&'static str>,
}

impl Recovery {
    /// One of which nothing is known: mounted as it is, and never checked.
    pub const UNKNOWN: Self = Self {
        without: None,
        check: None,
        repair: None,
        is_repaired_first: false,
        side_by_side: SideBySide::Never,
        replay_failed: None,
    };

    /// Programs of its check and its repair.
    pub fn programs(self) -> impl Iterator<Item = &'static str> {
        [self.check, self.repair].into_iter().flatten().map(|fsck| fsck.program)
    }

    /// Whether the text of a repair says that it could not replay the journal.
    #[must_use]
    pub fn names_a_failed_replay(&self, text: &str) -> bool {
        self.replay_failed.is_some_and(|words| text.contains(words))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Backing, builtin, builtin_driver};

    /// `jfs_fsck` says so in passing, reformats the log, and ends with 0.
    #[test]
    fn a_repair_without_replay_is_recognised_by_its_words() {
        let failed = "**Phase 0 - Replay Journal Log\n\
                      logredo failed (rc=-274).  fsck continuing.\n\
                      **Phase 9 - Reformat File System Log\nFilesystem is clean.\n";
        let replayed = "**Phase 0 - Replay Journal Log\nFilesystem is clean.\n";
        let of = |name: &str| builtin_driver(name).unwrap().recovery();
        assert!(of("jfs").names_a_failed_replay(failed));
        assert!(!of("jfs").names_a_failed_replay(replayed));
        assert!(!of("ext4").names_a_failed_replay(failed));
    }

    /// A new driver says how it is checked, or stands here.
    #[test]
    fn file_systems_on_devices_are_checked_after_a_crash() {
        // nilfs2 has no fsck, and makefs brings none.
        let without = ["nilfs2", "ufs1", "raw"];
        for driver in builtin().iter().filter(|driver| driver.backing() == Backing::Block) {
            let has_check = driver.recovery().check.is_some();
            assert_eq!(has_check, !without.contains(&driver.name()), "{}", driver.name());
        }
    }

    #[test]
    fn promises_are_those_of_the_documents() {
        let of = |name: &str, options: &[&str]| crate::promises(name, options);
        let ext4 = of("ext4", &["noatime"]);
        assert!(ext4.replace_is_whole && ext4.no_stale_bytes && ext4.mounts_without_repair);
        let writeback = of("ext3", &["data=writeback"]);
        assert!(!writeback.replace_is_whole && !writeback.no_stale_bytes);
        assert!(writeback.replace_keeps_the_name);
        assert!(!of("ext4", &["noauto_da_alloc"]).replace_is_whole);
        let xfs = of("xfs", &[]);
        assert!(!xfs.replace_is_whole && xfs.no_stale_bytes);
        assert!(of("f2fs", &[]).mounts_without_repair && of("nilfs2", &[]).no_stale_bytes);
        let none: [(&str, &[&str]); 5] = [
            ("ext2", &[]),
            ("ext4", &["nobarrier"]),
            ("jfs", &[]),
            ("vfat", &[]),
            ("a file system of others", &[]),
        ];
        for (name, options) in none {
            assert_eq!(of(name, options), Default::default(), "{name}");
        }
    }

    #[test]
    fn who_sends_no_flush_is_known() {
        let sends_none = crate::sends_no_flush;
        assert!(sends_none("jfs", "rw,relatime"));
        assert!(sends_none("ext4", "rw,relatime,nobarrier"));
        assert!(sends_none("reiserfs", "rw,barrier=none"));
        assert!(!sends_none("ext4", "rw,relatime") && !sends_none("xfs", ""));
    }
}
