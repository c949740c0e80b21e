//! What drivers read of the output of programs, by program: entries for the targets of
//! `fsarena-fuzz`, and for nothing else. What a program prints follows from what is on a device.

use crate::{FsError, btrfs, exfat, ext, f2fs, jfs, nilfs2, ntfs3, reiserfs, ufs1, vfat, xfs};
use fsarena_model::account::FsLayout;
use std::collections::BTreeMap;

/// What a reader of features makes of a text.
pub type Features = Result<BTreeMap<String, String>, FsError>;

/// A reader of features.
pub type FeaturesOf = fn(&str) -> Features;

/// A reader of the places of a file system.
pub type LayoutOf = fn(&str) -> Result<FsLayout, FsError>;

/// Readers of features, by program.
pub const FEATURES: [(&str, FeaturesOf); 11] = [
    ("btrfs dump-super", btrfs::parse_dump_super),
    ("dump.exfat", exfat::parse_dump),
    ("dumpe2fs -h", ext::parse_dumpe2fs),
    ("dump.f2fs", f2fs::parse_dump),
    ("jfs_tune", jfs::parse_tune),
    ("nilfs-tune", nilfs2::parse_tune),
    ("ntfsinfo", ntfs3::parse_info),
    ("debugreiserfs", reiserfs::parse_debug),
    ("od of ufs1", |text| Ok(ufs1::Superblock::parse(text)?.features())),
    ("fsck.fat", vfat::parse_fsck),
    ("xfs_info", xfs::parse_info),
];

/// Readers of places, by program; those of e2fsprogs take two texts, parted by a line `--`.
pub const LAYOUTS: [(&str, LayoutOf); 5] = [
    ("btrfs dump-tree", btrfs::parse_chunk_tree),
    ("xfs_db", xfs::parse_superblock),
    ("od of ufs1", |text| Ok(ufs1::Superblock::parse(text)?.layout())),
    ("dumpe2fs -h, -g", |text| {
        let (header, groups) = text.split_once("\n--\n").unwrap_or((text, ""));
        ext::layout::fixed(header, groups)
    }),
    ("debugfs", |text| {
        let mut layout = FsLayout::default();
        ext::layout::journal(text, 4096, &mut layout)?;
        Ok(layout)
    }),
];

/// Block groups that are not written, and all of them, in what dumpe2fs prints.
///
/// # Errors
/// When it names no group.
pub fn count_groups(text: &str) -> Result<(usize, usize), String> {
    ext::count_groups(text)
}
