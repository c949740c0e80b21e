//! Signatures written by hand, where the program that makes them needs a kernel we do not have.

use super::fixture::put;
use std::path::Path;

/// CRC-32 of LVM: its own first value, no inversion at the end.
fn lvm_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0xf597_a6cf_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}

/// The label of an LVM2 physical volume in sector 1.
pub fn lvm2(image: &Path, _size: u64) {
    let mut label = vec![0_u8; 512];
    label[..8].copy_from_slice(b"LABELONE");
    label[8] = 1;
    label[20] = 32;
    label[24..32].copy_from_slice(b"LVM2 001");
    label[32..64].copy_from_slice(b"0123456789abcdef0123456789abcdef");
    let crc = lvm_crc(&label[20..]);
    label[16..20].copy_from_slice(&crc.to_le_bytes());
    put(image, 512, &label);
}

/// `mdp_superblock_s` of a RAID 1, version 0.90, in the last 64 KiB that begins on 64 KiB.
pub fn md_0_90(image: &Path, size: u64) {
    let mut words = vec![0_u32; 1024];
    words[..4].copy_from_slice(&[0xa92b_4efc, 0, 90, 0]);
    // set_uuid0, level, size, nr_disks, raid_disks
    words[5] = 0x1234_5678;
    words[7] = 1;
    words[8] = u32::try_from(size / 1024 - 64).unwrap();
    words[9] = 2;
    words[10] = 2;
    words[38] = words.iter().fold(0_u32, |sum, word| sum.wrapping_add(*word));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    put(image, (size & !0xffff) - 0x1_0000, &bytes);
}

/// `mdp_superblock_1` at this place.
fn md_1(image: &Path, size: u64, place: u64) {
    let mut block = vec![0_u8; 256];
    block[..4].copy_from_slice(&0xa92b_4efc_u32.to_le_bytes());
    block[4] = 1;
    block[16..32].copy_from_slice(b"fsarena-test-md1");
    block[72] = 1;
    block[80..88].copy_from_slice(&(size / 512 - 2048).to_le_bytes());
    block[92] = 2;
    block[128..136].copy_from_slice(&(if place == 0 { 2048 } else { 0_u64 }).to_le_bytes());
    block[136..144].copy_from_slice(&(size / 512 - 2048).to_le_bytes());
    block[144..152].copy_from_slice(&(place / 512).to_le_bytes());
    let sum = block
        .chunks(4)
        .fold(0_u64, |sum, word| sum + u64::from(u32::from_le_bytes(word.try_into().unwrap())));
    let sum = u32::try_from((sum & 0xffff_ffff) + (sum >> 32)).unwrap();
    block[216..220].copy_from_slice(&sum.to_le_bytes());
    put(image, place, &block);
}

pub fn md_1_0(image: &Path, size: u64) {
    md_1(image, size, (size / 512 - 16) / 8 * 8 * 512);
}

pub fn md_1_1(image: &Path, size: u64) {
    md_1(image, size, 0);
}

pub fn md_1_2(image: &Path, size: u64) {
    md_1(image, size, 4096);
}

fn uberblocks(image: &Path, label: u64, count: u64, big_endian: bool) {
    for index in 0..count {
        let magic = 0x00ba_b10c_u64;
        let bytes = if big_endian { magic.to_be_bytes() } else { magic.to_le_bytes() };
        put(image, label + (128 << 10) + index * 1024, &bytes);
    }
}

/// The first two labels of ZFS.
pub fn zfs(image: &Path, _size: u64) {
    uberblocks(image, 0, 8, false);
    uberblocks(image, 256 << 10, 8, false);
}

/// Only the last label, with a single uberblock of the other byte order.
pub fn zfs_end(image: &Path, size: u64) {
    uberblocks(image, size - (256 << 10), 1, true);
}

/// The primary volume descriptor of ISO 9660.
pub fn iso9660(image: &Path, _size: u64) {
    put(image, 32768, b"\x01CD001\x01\0");
    put(image, 32768 + 40, b"FSARENA                         ");
    put(image, 34816, b"\xffCD001\x01");
}

pub fn bcachefs(image: &Path, _size: u64) {
    let magic = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
    put(image, 4096 + 24, magic);
}

pub fn apfs(image: &Path, _size: u64) {
    put(image, 32, b"NXSB");
}

pub fn refs(image: &Path, _size: u64) {
    put(image, 0, b"\0\0\0ReFS\0");
}

pub fn geom(image: &Path, size: u64) {
    put(image, size - 512, b"GEOM::ELI\0\0\0");
}

pub fn luks2_second(image: &Path, _size: u64) {
    put(image, 0x4000, b"SKUL\xba\xbe\0\x02");
}

/// Header of a BitLocker volume of Windows 7 and later.
pub fn bitlocker(image: &Path, _size: u64) {
    put(image, 0, b"\xeb\x58\x90-FVE-FS-");
    put(image, 160, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01");
    put(image, 176, &(1_u64 << 20).to_le_bytes());
    put(image, 1 << 20, b"-FVE-FS-\0\0\x02\0");
}

pub fn vdo(image: &Path, _size: u64) {
    put(image, 0, b"dmvdo001");
}

pub fn oracleasm(image: &Path, _size: u64) {
    put(image, 32, b"ORCLDISK");
}

pub fn ceph(image: &Path, _size: u64) {
    put(image, 0, b"bluestore block device\n");
}

pub fn isw(image: &Path, size: u64) {
    put(image, size - 1024, b"Intel Raid ISM Cfg Sig. 1.0.00\0\0");
}

/// A GPT of which only the copy at the end is left.
pub fn gpt_backup(image: &Path, _size: u64) {
    put(image, 0, &vec![0; 1 << 20]);
}

/// A GPT of which only the protective MBR is left.
pub fn gpt_pmbr(image: &Path, size: u64) {
    put(image, 512, &vec![0; 1 << 20]);
    put(image, size - (64 << 10), &vec![0; 64 << 10]);
}

/// The superblock of a btrfs from the other file, at its place.
pub fn btrfs_superblock(image: &Path, other: &Path) {
    use std::os::unix::fs::FileExt as _;
    let mut block = vec![0; 4096];
    std::fs::File::open(other).unwrap().read_exact_at(&mut block, 64 << 10).unwrap();
    put(image, 64 << 10, &block);
}
