//! Whether bytes are the copy of a signature that belongs at their place.

use super::places::CopyPlace;

/// `F2FS_SUPER_MAGIC`, as it lies on the device.
pub(super) const F2FS: &[u8] = b"\x10\x20\xf5\xf2";

/// Features of ext3 and ext4 that neither ext2 nor ext3 has: INCOMPAT beyond FILETYPE, RECOVER,
/// JOURNAL_DEV and META_BG, and RO_COMPAT beyond SPARSE_SUPER, LARGE_FILE and BTREE_DIR.
const EXT3_INCOMPAT: u32 = 0x2 | 0x4 | 0x8 | 0x10;
const EXT3_RO_COMPAT: u32 = 0x1 | 0x2 | 0x4;
/// COMPAT_HAS_JOURNAL.
const EXT_JOURNAL: u32 = 0x4;

fn le16(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

fn le32(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

fn le64(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

fn be32(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(place..)?.first_chunk()?))
}

fn has(bytes: &[u8], place: usize, magic: &[u8]) -> bool {
    bytes.get(place..).is_some_and(|rest| rest.starts_with(magic))
}

/// A superblock of ext2, ext3 or ext4 (`struct ext2_super_block`), and which of them.
fn ext_name(bytes: &[u8]) -> Option<&'static str> {
    if le16(bytes, 56)? != 0xef53 || le32(bytes, 24)? > 6 {
        return None;
    }
    let (compat, incompat, ro_compat) = (le32(bytes, 92)?, le32(bytes, 96)?, le32(bytes, 100)?);
    let is_ext4 = incompat & !EXT3_INCOMPAT != 0 || ro_compat & !EXT3_RO_COMPAT != 0;
    Some(match (is_ext4, compat & EXT_JOURNAL != 0) {
        (true, _) => "ext4",
        (false, true) => "ext3",
        (false, false) => "ext2",
    })
}

/// One that says that it is the copy of this group, with blocks of this size.
pub(super) fn ext(bytes: &[u8], place: &CopyPlace) -> Option<&'static str> {
    let name = ext_name(bytes)?;
    let is_of_group = u64::from(le16(bytes, 90)?) == place.group & 0xffff;
    let is_of_size = 1024_u64 << le32(bytes, 24)? == place.unit;
    (is_of_group && is_of_size).then_some(name)
}

/// A superblock of an allocation group: the groups before it end where it lies (`struct xfs_dsb`).
pub(super) fn xfs(bytes: &[u8], place: &CopyPlace) -> Option<&'static str> {
    let group_bytes = u64::from(be32(bytes, 84)?) * u64::from(be32(bytes, 4)?);
    let is_group = group_bytes > 0 && place.at_byte.is_multiple_of(group_bytes);
    (has(bytes, 0, b"XFSB") && is_group).then_some("xfs")
}

/// A superblock that says that it lies here (`struct btrfs_super_block`).
pub(super) fn btrfs(bytes: &[u8], place: &CopyPlace) -> Option<&'static str> {
    let is_here = le64(bytes, 48)? == place.at_byte;
    (has(bytes, 64, b"_BHRfS_M") && is_here).then_some("btrfs")
}

/// A boot sector with this name in it.
pub(super) fn boot_sector(bytes: &[u8], place: usize, name: &[u8]) -> bool {
    has(bytes, place, name) && has(bytes, 510, b"\x55\xaa")
}

/// A volume header of HFS+ and HFSX, or a master directory block of HFS, whose allocation blocks
/// have a whole number of sectors.
pub(super) fn hfs(bytes: &[u8], _place: &CopyPlace) -> Option<&'static str> {
    if has(bytes, 0, b"H+\0\x04") || has(bytes, 0, b"HX\0\x05") {
        return Some("hfsplus");
    }
    let block_bytes = be32(bytes, 20)?;
    let is_size = block_bytes > 0 && block_bytes.is_multiple_of(512);
    (has(bytes, 0, b"BD") && is_size).then_some("hfs")
}

/// `fs_magic` of UFS1 or UFS2, in either byte order.
pub(super) fn ufs(bytes: &[u8], _place: &CopyPlace) -> Option<&'static str> {
    let magic = le32(bytes, 1372)?;
    let is_magic = |known: u32| magic == known || magic == known.swap_bytes();
    (is_magic(0x0001_1954) || is_magic(0x1954_0119)).then_some("ufs")
}

/// The header of a GPT in the last sector, of 512 bytes or 4 KiB, which says that it lies here.
pub(super) fn gpt(bytes: &[u8], place: &CopyPlace) -> Option<&'static str> {
    [(3584, 512), (0, 4096)].into_iter().find_map(|(start, sector)| {
        let here = (place.at_byte + start as u64) / sector;
        let is_here = le64(bytes, start + 24)? == here;
        (has(bytes, start, b"EFI PART") && is_here).then_some("gpt")
    })
}

/// A header of LUKS1: version 1, eight key slots that are in use or not, and no magic number.
pub(super) fn luks1(bytes: &[u8], _place: &CopyPlace) -> Option<&'static str> {
    let is_state =
        |slot: usize| matches!(be32(bytes, 208 + 48 * slot), Some(0x00ac_71f3 | 0x0000_dead));
    (has(bytes, 6, b"\0\x01") && (0..8).all(is_state)).then_some("crypto_LUKS")
}

/// What begins here, as a partition would.
pub(super) fn at_start(bytes: &[u8], _place: &CopyPlace) -> Option<&'static str> {
    const KNOWN: [(usize, &[u8], &str); 10] = [
        (0, b"XFSB", "xfs"),
        (64 * 1024 + 64, b"_BHRfS_M", "btrfs"),
        (1024, F2FS, "f2fs"),
        (0x8000, b"JFS1", "jfs"),
        (0, b"LUKS\xba\xbe", "crypto_LUKS"),
        (512, b"LABELONE", "LVM2_member"),
        (4086, b"SWAPSPACE2", "swap"),
        (4096, b"\xfc\x4e\x2b\xa9", "linux_raid_member"),
        (1024, b"H+\0\x04", "hfsplus"),
        (32768, b"\x01CD001", "iso9660"),
    ];
    if let Some(name) = bytes.get(1024..).and_then(ext_name) {
        return Some(name);
    }
    for (place, magic, name) in [
        (3, b"NTFS    ", "ntfs"),
        (3, b"EXFAT   ", "exfat"),
        (82, b"FAT32   ", "vfat"),
        (54, b"FAT16   ", "vfat"),
        (54, b"FAT12   ", "vfat"),
    ] {
        if boot_sector(bytes, place, magic) {
            return Some(name);
        }
    }
    let known = KNOWN.into_iter().find(|(place, magic, _)| has(bytes, *place, magic));
    known.map(|(_, _, name)| name)
}
