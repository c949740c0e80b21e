//! Each row of the table against images with known bytes, and near misses.

use super::*;

const SIZE: u64 = 1 << 30;

fn with(writes: &[(u64, &[u8])]) -> Vec<(&'static str, u64, String)> {
    with_size(SIZE, writes)
}

fn with_size(size_bytes: u64, writes: &[(u64, &[u8])]) -> Vec<(&'static str, u64, String)> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(size_bytes).unwrap();
    for (place, bytes) in writes {
        file.write_all_at(bytes, *place).unwrap();
    }
    let copies = find_copies(&file, size_bytes).unwrap();
    copies.into_iter().map(|copy| (copy.name, copy.at_byte, copy.rescue)).collect()
}

/// One copy and no more, with this name at this place.
#[track_caller]
fn only(name: &str, at_byte: u64, rescue: &str, writes: &[(u64, &[u8])]) {
    let found = with(writes);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1), (name, at_byte));
    assert!(found[0].2.contains(rescue), "{found:?}");
}

/// A superblock of ext4 that is the copy of this group.
fn ext(log_block: u32, group: u16, [compat, incompat, ro_compat]: [u32; 3]) -> Vec<u8> {
    let mut block = vec![0; 1024];
    block[24..28].copy_from_slice(&log_block.to_le_bytes());
    block[56..58].copy_from_slice(b"\x53\xef");
    block[90..92].copy_from_slice(&group.to_le_bytes());
    for (place, features) in [(92, compat), (96, incompat), (100, ro_compat)] {
        block[place..place + 4].copy_from_slice(&features.to_le_bytes());
    }
    block
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(with(&[]), []);
    assert_eq!(with(&[(0, &[0xff; 1 << 20]), (SIZE - (1 << 20), &[0xff; 1 << 20])]), []);
    assert_eq!(with_size(512, &[]), []);
    assert_eq!(with_size(0, &[]), []);
}

#[test]
fn a_superblock_of_ext_is_one_of_its_group_and_size() {
    let ext4 = [0x4, 0x40, 0x1];
    only("ext4", 8193 << 10, "e2fsck -b 8193 -B 1024", &[(8193 << 10, &ext(0, 1, ext4))]);
    only("ext4", 128 << 20, "e2fsck -b 32768 -B 4096", &[(128 << 20, &ext(2, 1, ext4))]);
    only("ext4", 384 << 20, "e2fsck -b 98304 -B 4096", &[(384 << 20, &ext(2, 3, ext4))]);
    only("ext3", 128 << 20, "e2fsck", &[(128 << 20, &ext(2, 1, [0x4, 0x2, 0x3]))]);
    only("ext2", 128 << 20, "e2fsck", &[(128 << 20, &ext(2, 1, [0, 0x2, 0x3]))]);
    for (place, block) in [
        (128 << 20, ext(2, 3, ext4)),
        (128 << 20, ext(0, 1, ext4)),
        (128 << 20, ext(9, 1, ext4)),
        (127 << 20, ext(2, 1, ext4)),
    ] {
        assert_eq!(with(&[(place, &block)]), []);
    }
    // The last group: sparse_super2 has a copy there and nowhere else.
    let last = 127_u64 * (8192 << 10) + (1 << 10);
    only("ext4", last, "e2fsck", &[(last, &ext(0, 127, ext4))]);
}

/// A superblock of xfs with groups of so many blocks of 4 KiB.
fn xfs(group_blocks: u32) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..4].copy_from_slice(b"XFSB");
    block[4..8].copy_from_slice(&4096_u32.to_be_bytes());
    block[84..88].copy_from_slice(&group_blocks.to_be_bytes());
    block
}

#[test]
fn groups_of_xfs_are_found_whatever_their_number() {
    let group = |count: u64| u32::try_from((SIZE / 4096).div_ceil(count)).unwrap();
    for count in [2, 3, 4, 5, 16, 32] {
        let place = u64::from(group(count)) * 4096;
        only("xfs", place, "xfs_repair", &[(place, &xfs(group(count)))]);
        let last = place * (count - 1);
        only("xfs", last, "xfs_repair", &[(last, &xfs(group(count)))]);
    }
    assert_eq!(with(&[(SIZE / 4, &xfs(1000))]), [], "of groups that do not end here");
    assert_eq!(with(&[(SIZE / 4, &xfs(0))]), []);
    let four = 4_u64 << 40;
    let largest = places::xfs(4 * four).iter().any(|place| place.at_byte == (1 << 40) - 4096);
    assert!(largest, "mkfs.xfs makes groups of 1 TiB less a block");
}

#[test]
fn a_superblock_of_btrfs_says_where_it_lies() {
    let mut block = vec![0; 4096];
    block[64..72].copy_from_slice(b"_BHRfS_M");
    assert_eq!(with(&[(64 << 20, &block)]), [], "the copy of another place");
    block[48..56].copy_from_slice(&(64_u64 << 20).to_le_bytes());
    only("btrfs", 64 << 20, "btrfs rescue super-recover", &[(64 << 20, &block)]);
}

#[test]
fn second_superblocks_and_boot_sectors_are_found() {
    only("f2fs", 5120, "fsck.f2fs", &[(5120, b"\x10\x20\xf5\xf2")]);
    only("jfs", 0xf000, "jfs_fsck", &[(0xf000, b"JFS1")]);
    let found = with_size(2 << 30, &[(1 << 30, b"OCFSV2")]);
    assert_eq!(found, [("ocfs2", 1 << 30, "fsck.ocfs2 -r 1".to_owned())]);
}

#[test]
fn boot_sectors_need_their_last_two_bytes() {
    let mark: &[u8] = b"\x55\xaa";
    let end = SIZE - 512;
    only("ntfs", end, "ntfsfix", &[(end + 3, b"NTFS    "), (end + 510, mark)]);
    assert_eq!(with(&[(end + 3, b"NTFS    ")]), []);
    for sector in [512, 4096] {
        let place = 12 * sector;
        let name: &[u8] = b"EXFAT   ";
        only("exfat", place, "fsck.exfat", &[(place + 3, name), (place + 510, mark)]);
        assert_eq!(with(&[(place + 3, name)]), []);
        let place = 6 * sector;
        let name: &[u8] = b"FAT32   ";
        only("vfat", place, "fsck.fat", &[(place + 82, name), (place + 510, mark)]);
        assert_eq!(with(&[(place + 82, name)]), []);
    }
}

#[test]
fn headers_of_hfs_lie_before_the_end() {
    let place = SIZE - 1024;
    only("hfsplus", place, "fsck.hfsplus", &[(place, b"H+\0\x04")]);
    only("hfsplus", place, "fsck.hfsplus", &[(place, b"HX\0\x05")]);
    only("hfs", place, "fsck.hfs", &[(place, b"BD"), (place + 20, &[0, 0, 2, 0])]);
    assert_eq!(with(&[(place, b"BD")]), [], "no size of a block");
}

#[test]
fn superblocks_of_ufs_are_found_in_either_byte_order() {
    for magic in [0x0001_1954_u32, 0x1954_0119] {
        for (place, sector) in [(16384, 32), (81920, 160), (98304, 192)] {
            let rescue = format!("fsck_ffs -b {sector}");
            only("ufs", place, &rescue, &[(place + 1372, &magic.to_le_bytes())]);
            only("ufs", place, &rescue, &[(place + 1372, &magic.to_be_bytes())]);
        }
    }
}

#[test]
fn the_table_of_a_smaller_disk_is_found_where_it_ended() {
    for (end, sector) in [(SIZE / 2, 512_u64), (SIZE / 4 * 3, 512), (256 << 20, 4096)] {
        let place = end - sector;
        let here = (place / sector).to_le_bytes();
        only("gpt", end - 4096, "gdisk", &[(place, b"EFI PART"), (place + 24, &here)]);
        assert_eq!(with(&[(place, b"EFI PART")]), [], "the header of another place");
    }
}

#[test]
fn headers_of_luks_are_found_without_their_magic_numbers() {
    let mut header = vec![0; 592];
    header[7] = 1;
    for slot in 0..8 {
        let state = if slot == 2 { 0x00ac_71f3_u32 } else { 0xdead };
        header[208 + 48 * slot..][..4].copy_from_slice(&state.to_be_bytes());
    }
    only("crypto_LUKS", 0, "cryptsetup", &[(0, &header)]);
    header[208] = 1;
    assert_eq!(with(&[(0, &header)]), []);
    for place in [0x1000, 0x5000, 0x40_1000] {
        only("crypto_LUKS", place, "cryptsetup", &[(place, b"{\"keyslots\":{}}  ")]);
    }
}

#[test]
fn metadata_of_lvm_are_found_at_both_ends() {
    for place in [4096, SIZE - (1 << 20)] {
        only("LVM2_member", place, "pvck --repair", &[(place + 4, b" LVM2 x[5A%r0N*>")]);
    }
}

#[test]
fn what_lies_where_partitions_begin_is_found() {
    for (place, name, write) in [
        (1024 + 56, "ext2", &b"\x53\xef"[..]),
        (0, "xfs", b"XFSB"),
        ((64 << 10) + 64, "btrfs", b"_BHRfS_M"),
        (512, "LVM2_member", b"LABELONE"),
        (4086, "swap", b"SWAPSPACE2"),
    ] {
        only(name, 1 << 20, "sfdisk", &[((1 << 20) + place, write)]);
        only(name, 63 * 512, "sfdisk", &[(63 * 512 + place, write)]);
    }
    let writes: [(u64, &[u8]); 2] = [((1 << 20) + 3, b"NTFS    "), ((1 << 20) + 510, b"\x55\xaa")];
    only("ntfs", 1 << 20, "sfdisk", &writes);
}

#[test]
fn the_number_of_reads_is_the_stated_one() {
    for size_bytes in [16 << 20, 1 << 30, 1 << 40, 20 << 40] {
        let places: usize = KNOWN.iter().map(|row| (row.places)(size_bytes).len()).sum();
        assert!(places <= 320, "{size_bytes}: {places}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    let error = find_copies(&file, SIZE).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
